"""Routes by time of day: a router against Dijkstra's algorithm on the same weights in the same core.

    make bench-router                         this and the other benchmarks of routers
    python benchmarks/by_time.py              about a minute
    python benchmarks/by_time.py 10000        as many queries of each kind; a first argument of 10000 takes 20 minutes
    python benchmarks/by_time.py --quick      a small city; writes nothing

The weights are minutes at each full hour: of a generated city, the median of twenty days that are drawn for that hour,
so there is the daily pattern, and noise that differs from hour to hour. They repeat every day. Sources, targets and
times are random: times over the whole day, or within twenty minutes, as for a dispatcher. "First" counts the searches
that do without a window, and customizing those that pay; "later" asks the same for the sixth time, when windows that
recur are ready. All costs must be equal.
Times are processor time of one core. Results go to benchmarks/results/by_time.json and into docs/routing.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from any_goal import clock

import rhostar as rs

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "routing.md"
BEGIN, END = "<!-- time of day: begin -->\n", "<!-- time of day: end -->"
CITIES = {"city 40k": 40_000, "city 160k": 160_000}
HOURS, DAYS = 24, 20


def rows_of(city: Any) -> np.ndarray:
    """Return minutes for each hour and edge."""
    return np.stack(
        [
            np.median(city.snapshots(DAYS, seed=100 + hour, hours=np.full(DAYS, float(hour))), axis=0)
            for hour in range(HOURS)
        ]
    )


def measure(day: Any, router: rs.Router, against: bool, queries: list[tuple[int, int, float]]) -> dict[str, float]:
    """Return milliseconds per query, with costs that are compared."""
    begin = clock()
    plain = [day._run(s, t, time, against, None) for s, t, time in queries]
    spent = {"dijkstra": clock() - begin}
    word = "arrive" if against else "depart"
    for label in ("first", *[""] * 4, "later"):
        begin = clock()
        found = [router.route(s, t, **{word: time}) for s, t, time in queries]
        spent[label] = clock() - begin
        worst = max(
            abs(a.cost - b.cost) / max(a.cost, 1e-300) for a, b in zip(plain, found, strict=True) if a.cost < np.inf
        )
        assert worst < 1e-12, worst
        assert all((a.cost == np.inf) == (b.cost == np.inf) for a, b in zip(plain, found, strict=True))
    facts = {f"{label}, ms": 1e3 * seconds / len(queries) for label, seconds in spent.items() if label}
    facts["minutes"] = float(np.mean([run.cost for run in plain if run.cost < np.inf]))
    return facts | {"windows": len(day._kept)}


def one(n: int, count: int) -> dict[str, Any]:
    city = rs.datasets.city(n, seed=0)
    graph, rows = city.graph, rows_of(city)
    router = rs.Router(graph)
    router.prepare()
    begin = clock()
    router.update_by_time(rows, np.arange(HOURS) * 60.0, period=24 * 60.0)
    facts: dict[str, Any] = {"vertices": graph.n, "edges": graph.m, "update, ms": 1e3 * (clock() - begin)}
    spread, step = rows.max(axis=0) / rows.min(axis=0), np.abs(np.log(rows / np.roll(rows, 1, axis=0)))
    facts["spread"] = np.quantile(spread, [0.05, 0.5, 0.95]).tolist()
    facts["hour to hour"] = np.expm1(np.quantile(step, [0.5, 0.95])).tolist()
    rng = np.random.default_rng(0)
    for against in (False, True):
        for label, first, last in (
            ("10:00 to 10:20", 600.0, 620.0),
            ("7:30 to 7:50", 450.0, 470.0),
            ("all day", 0.0, 1440.0),
        ):
            pairs = rng.integers(0, graph.n, (count, 2)).tolist()
            queries = [
                (s, t, time) for (s, t), time in zip(pairs, rng.uniform(first, last, count).tolist(), strict=True)
            ]
            router.update_by_time(rows, np.arange(HOURS) * 60.0, period=24 * 60.0)  # no windows are kept
            word = "arrive" if against else "depart"
            facts[f"{word}, {label}"] = measure(router._by_time, router, against, queries)
    return facts


def table(networks: dict[str, dict[str, Any]]) -> str:
    lines = [
        "| network | query | Dijkstra, ms | router at first, ms | later, ms | faster | windows |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for name, facts in networks.items():
        for label, found in facts.items():
            if isinstance(found, dict):
                times = [found[f"{key}, ms"] for key in ("dijkstra", "first", "later")]
                cells = " | ".join(f"{time:.3g}" for time in times)
                lines.append(f"| {name} | {label} | {cells} | {times[0] / times[2]:.1f} | {found['windows']} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="?", type=int, default=300, help="of each kind")
    parser.add_argument("--quick", action="store_true", help="a small city; writes nothing")
    given = parser.parse_args()
    networks: dict[str, dict[str, Any]] = {}
    for name, n in ({"city 4k": 4000} if given.quick else CITIES).items():
        networks[name] = one(n, given.queries)
        print(json.dumps(networks[name], indent=1), table(networks), sep="\n", flush=True)
    if given.quick:
        return
    (HERE / "results" / "by_time.json").write_text(json.dumps({"networks": networks}, indent=1) + "\n")
    text = PAGE.read_text()
    at = text.index(BEGIN) + len(BEGIN)
    PAGE.write_text(text[:at] + table(networks) + "\n" + text[text.index(END, at) :])


if __name__ == "__main__":
    main()
