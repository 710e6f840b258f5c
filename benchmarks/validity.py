"""Simulates whole pipelines whose truth is known, and counts how often the last sentence is false.

Each cell is one kind of guarantee on one distribution: instances are drawn, certified, and the sentence that is printed
is read back as text and compared with the truth. A cell is tested at the level 0.05 divided by the number of cells,
with enough runs to find a bound that fails twice as often as it says with a probability of 0.9. Broken twins must be
found by the same test. ``python benchmarks/validity.py --quick`` runs a few cells, and so does
tests/certificates/test_certificate_validity.py.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy import stats

import rhostar as rs
from rhostar.certificates import _holdout
from rhostar.certificates._looks import forget_looks
from rhostar.utilities import Cost, SolvedWithin, Suboptimality

RESULTS = Path(__file__).parent / "results"
EDGE = rs.Graph.from_edges(2, [0], [1])
"""Its cost is the weight of its edge: any distribution on [0, 1] is one of costs."""
TRAP = rs.Graph.from_edges(4, [0, 1, 0, 3], [1, 2, 3, 2])
"""From 0 to 2 by way of 1, which costs w, or of 3, which costs nothing but has ρ = 1: A* pays w above the optimum."""
TRAP_RHO = np.array([0.0, 0.0, 0.0, 1.0])
Values = np.ndarray
Draw = Callable[[np.random.Generator, int], Values]


@dataclass(frozen=True)
class Law:
    """A distribution on [0, 1]: how to draw from it, its mean, and the share of values up to a number."""

    draw: Draw
    mean: float
    below: Callable[[float], float]


def coin(p: float, high: float = 1.0) -> Law:
    """Return the law of a value that is `high` with probability p, else 0."""
    return Law(lambda rng, N: np.where(rng.random(N) < p, high, 0.0), p * high, lambda x: 1.0 if x >= high else 1 - p)


def known(law: Any) -> Law:
    """Return a law of scipy."""
    return Law(lambda rng, N: law.rvs(N, random_state=rng), float(law.mean()), lambda x: float(law.cdf(x)))


LAWS = {
    "coin": coin(0.5),
    "5% lost": coin(0.05),
    "5% uniform": Law(
        lambda rng, N: (rng.random(N) < 0.05) * rng.random(N), 0.025, lambda x: 0.95 + 0.05 * min(max(x, 0.0), 1.0)
    ),
    "mostly the limit": coin(0.9),
    "beta": known(stats.beta(1, 9)),
    "two humps": known(stats.beta(0.1, 0.3)),
    "uniform": known(stats.uniform()),
    "heavy tail": Law(
        lambda rng, N: np.minimum(0.01 * (1 + rng.pareto(1.1, N)), 1.0),
        0.01 * (1.1 - 0.01**0.1) / 0.1,
        lambda x: 1.0 if x >= 1 else max(0.0, 1 - (0.01 / max(x, 0.01)) ** 1.1),
    ),
}


def edges(values: Values, **options: Any) -> rs.InstanceSet:
    """Return instances whose cost is a value each."""
    return rs.InstanceSet(EDGE, values[:, None], sources=0, goal=1, **options)


def trap(values: Values) -> rs.InstanceSet:
    """Return instances whose cost above the optimum is a value each."""
    weights = np.zeros((values.size, TRAP.m))
    weights[:, TRAP.edge_index([1], [2])[0]] = values
    return rs.InstanceSet(TRAP, weights, sources=0, goal=2)


def said(text: str) -> float:
    """Return the number that a sentence promises."""
    found = re.search(r" (?:is|of|have) (?:a [a-z ]+ of )?(?:at most|at least) ([\d.e+-]+) on ", " ".join(text.split()))
    assert found, text
    return float(found[1])


Said = tuple[bool, bool]
"""Whether a run was wrong, and whether what it said was vacuous."""


def certify(rho: Any, holdout: rs.InstanceSet, utility: Any, delta: float, **options: Any) -> Any:
    """Return the guarantee."""
    forget_looks()
    return rs.certify(rho, holdout, utility, delta=delta, duplicates="allow", **options).best


@dataclass(frozen=True)
class Cell:
    """One kind of guarantee on one distribution."""

    name: str
    delta: float
    run: Callable[[np.random.Generator, float], Said]


def mean_cell(law: Law, N: int, **options: Any) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of the mean of a cost."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = certify(np.zeros(2), edges(law.draw(rng, N)), Cost(limit=1.0), delta, **options)
        return said(found.sentence) < law.mean - 1e-12, found.vacuous

    return run


def range_cell(law: Law, N: int) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of the mean excess, with the certain range of U5 in place of H."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = certify(TRAP_RHO, trap(law.draw(rng, N)), Suboptimality(limit=5.0), delta, lower=0.0, bound="betting")
        return said(found.sentence) < law.mean - 1e-12, found.value >= 1

    return run


def any_time_cell(law: Law, sizes: tuple[int, ...]) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of somebody who looks at several sizes, and quotes the bound when it is wrong, if ever."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        values = law.draw(rng, sizes[-1])
        found = [certify(np.zeros(2), edges(values[:N]), Cost(limit=1.0), delta, bound="any time") for N in sizes]
        return any(said(one.sentence) < law.mean - 1e-12 for one in found), found[-1].vacuous

    return run


def quantile_cell(law: Law, share: float, N: int) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of a quantile."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = certify(np.zeros(2), edges(law.draw(rng, N)), Cost(limit=1.0), delta, quantile=share)
        return law.below(found.value) < share, not np.isfinite(found.value)

    return run


def share_cell(p: float, N: int) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of a share of optimal answers."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = certify(TRAP_RHO, trap(1.0 * (rng.random(N) < p)), SolvedWithin(1.0), delta)
        return said(found.sentence) > 1 - p + 1e-12, found.vacuous

    return run


def days_cell(days: int, *, by_label: bool) -> Callable[[np.random.Generator, float], Said]:
    """Return a run on days with levels of their own: the days of the set, or labels, are the draws."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        level = np.repeat(np.where(rng.random(days) < 0.3, 0.8, 0.1), 10)
        values, day = level + rng.uniform(-0.05, 0.05, level.size), np.repeat(np.arange(days), 10)
        holdout = edges(values, **({} if by_label else {"days": day}))
        found = certify(np.zeros(2), holdout, Cost(limit=1.0), delta, **({"groups": day} if by_label else {}))
        assert found.samples == days
        return said(found.sentence) < 0.31 - 1e-12, found.vacuous

    return run


def snapshots_cell(snapshots: int) -> Callable[[np.random.Generator, float], Said]:
    """Return a run on snapshots with two trips each: snapshots are the draws."""
    graph = rs.Graph.from_edges(3, [0, 1], [2, 2])

    def run(rng: np.random.Generator, delta: float) -> Said:
        level = np.where(rng.random(snapshots) < 0.3, 0.8, 0.0)
        weights = level[:, None] + rng.uniform(0, 0.1, (snapshots, 2))
        rows = np.repeat(np.arange(snapshots), 2)
        holdout = rs.InstanceSet(graph, weights, np.tile([0, 1], snapshots), 2, rows=rows)
        found = certify(np.zeros(3), holdout, Cost(limit=1.0), delta)
        assert found.samples == snapshots
        return said(found.sentence) < 0.29 - 1e-12, found.vacuous

    return run


def categories_cell(N: int) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of three depots at once."""
    means, depot = (0.1, 0.5, 0.8), np.arange(N) % 3

    def run(rng: np.random.Generator, delta: float) -> Said:
        forget_looks()
        values = (rng.random(N) < np.take(means, depot)).astype(float)
        table = rs.certify(np.zeros(2), edges(values), Cost(limit=1.0), delta=delta, duplicates="allow", by=depot)
        wrong = any(said(row.sentence) < means[int(row.category)] - 1e-12 for row in table.guarantees)
        return wrong, table.best.vacuous

    return run


def fan(size: int) -> tuple[rs.Graph, list[np.ndarray]]:
    """Return a graph with a way for each of `size` heuristics, and these."""
    middle = list(range(2, size + 2))
    graph = rs.Graph.from_edges(size + 2, [0] * size + middle, middle + [1] * size)
    rhos = []
    for k in range(size):
        rho = np.ones(size + 2)
        rho[1], rho[2 + k] = 0.0, -1.0
        rhos.append(rho)
    return graph, rhos


def candidates_cell(size: int, N: int) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of the luckiest of several heuristics of equal worth."""
    graph, rhos = fan(size)
    last = graph.edge_index(list(range(2, size + 2)), [1] * size)

    def run(rng: np.random.Generator, delta: float) -> Said:
        weights = np.zeros((N, graph.m))
        weights[:, last] = rng.random((N, size)) < 0.5
        holdout = rs.InstanceSet(graph, weights, sources=0, goal=1)
        found = certify(rhos, holdout, Cost(limit=1.0), delta, algorithm="gbfs")
        return said(found.sentence) < 0.5, found.vacuous

    return run


def training_cell(N: int, bound: str) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of the luckiest of all heuristics of the trap, certified on the instances that it was chosen on."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        values = np.where(rng.random(N) < 0.5, 1.0, 0.0)
        train = trap(values)
        # The luckiest ρ of the class: it goes the way that costs w if that looked better than it is.
        rho = TRAP_RHO if values.mean() < 0.5 else np.zeros(4)
        found = rs.certify_training(
            rho, train, Suboptimality(limit=1.0), lower=0.0, upper=1.0, delta=delta, duplicates="allow", bound=bound
        )
        truth = 0.5 if (np.asarray(found.rho)[3] > 0) else 0.0
        return found.best.value < truth, found.best.value >= 1

    return run


def progressive_cell(means: np.ndarray) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of a bound on means that change."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = rs.bounds.running_mean((rng.random(means.size) < means) * 1.0, 1.0, delta=delta)
        return found < means.mean(), found >= 1

    return run


def weight_cell(N: int) -> Callable[[np.random.Generator, float], Said]:
    """Return a run of the choice of a factor: it is wrong if one passes whose mean loss is just above the target."""
    factors, means = (1.0, 1.2, 1.4), (0.002, 0.0101, 0.03)

    def run(rng: np.random.Generator, delta: float) -> Said:
        loss = [np.where(rng.random(N) < 0.2, rng.beta(1, 4, N) * 25 * mean, 0.0) for mean in means]
        ones = np.ones(3 * N)
        log = rs.certificates.QueryLog(
            ones, cost=1 + np.concatenate(loss), factor=np.repeat(factors, N), effort=np.repeat([3.0, 2.0, 1.0], N)
        )
        choice = rs.choose_weight(log, mean_excess=0.01, confidence=1 - delta)
        return bool(set(choice.passed) & {1.2, 1.4}), choice.factor is None

    return run


def cells() -> Iterator[Cell]:
    """Yield all cells; sizes are such that bounds say something."""
    found: list[tuple[str, Callable[[np.random.Generator, float], Said]]] = []
    for name, law in LAWS.items():
        sizes = (100, 400) if name in ("5% lost", "5% uniform", "heavy tail") else (30, 150)
        found += [(f"mean, {name}, N = {N}", mean_cell(law, N)) for N in sizes]
        if name in ("coin", "5% lost", "beta", "heavy tail"):
            found.append((f"any time, {name}", any_time_cell(law, (sizes[1] // 3, sizes[1]))))
            found.append((f"range of U5, {name}", range_cell(law, sizes[1])))
    for name in ("coin", "beta", "uniform", "two humps", "heavy tail"):
        found += [
            (f"{share:g} quantile, {name}, N = {N}", quantile_cell(LAWS[name], share, N))
            for share, N in ((0.5, 20), (0.9, 100), (0.99, 500))
        ]
    found += [(f"share {p:g}, N = {N}", share_cell(p, N)) for p in (0.05, 0.3) for N in (40, 200)]
    found += [(f"days of the set, {n}", days_cell(n, by_label=False)) for n in (12, 40)]
    found += [(f"groups, {n}", days_cell(n, by_label=True)) for n in (12, 40)]
    found += [(f"snapshots, {n}", snapshots_cell(n)) for n in (20, 60)]
    found += [("three categories", categories_cell(120)), ("best of 10", candidates_cell(10, 60))]
    found += [(f"training, {bound}", training_cell(200, bound)) for bound in ("U2", "H1-kl")]
    rising = np.linspace(0.0, 0.4, 300)
    found += [
        (f"running mean, {name}", progressive_cell(means))
        for name, means in (("rising", rising), ("falling", rising[::-1]), ("constant", np.full(300, 0.05)))
    ]
    found += [(f"chosen weight, N = {N}", weight_cell(N)) for N in (1000, 3000)]
    tight = ("mean, coin, N = 150", "share 0.3, N = 200", "0.9 quantile, uniform, N = 100", "running mean, rising")
    for name, run in found:
        yield Cell(name, 0.05, run)
        if name in tight:
            yield Cell(name, 0.01, run)


def runs_needed(delta: float, level: float, power: float = 0.9) -> int:
    """Return how many runs find a bound that fails twice as often as it says, at a level, with a probability."""
    N = 50
    while True:
        least = int(stats.binom.isf(level, N, delta)) + 1  # so many misses are too many
        if stats.binom.sf(least - 1, N, 2 * delta) >= power:
            return N
        N = int(N * 1.02) + 1


def narrow(label: str, share: float) -> Any:
    """Return a patch that keeps only a share of the width of a bound."""
    from dataclasses import replace

    def broken(bound: _holdout.HoldoutBound) -> _holdout.HoldoutBound:
        def upper(values: np.ndarray, limit: float, delta: float) -> float:
            assert bound.upper is not None
            return float(values.mean() + share * (bound.upper(values, limit, delta) - values.mean()))

        return replace(bound, upper=upper) if bound.label == label else bound

    return mock.patch.object(_holdout, "ON_HOLDOUT", tuple(map(broken, _holdout.ON_HOLDOUT)))


def plain_quantile(values: np.ndarray, p: float, *, delta: float) -> Any:
    """Return the quantile of the sample, as if it were that of the distribution."""
    from rhostar.bounds._quantiles import QuantileBound

    return QuantileBound(float(np.quantile(values, p)), None, p, delta, values.size)


TWINS: dict[str, tuple[str, Callable[[], Any]]] = {
    "mean, a fifth of the width": ("mean, coin, N = 150", lambda: narrow("H4 betting", 0.2)),
    "mean, a fifth of the width, small losses": ("mean, 5% lost, N = 400", lambda: narrow("H4 betting", 0.2)),
    "any time, a fifth of the width": ("any time, coin", lambda: narrow("H9 any time", 0.2)),
    "share, a fifth of the width": ("share 0.3, N = 200", lambda: narrow("H4 Clopper-Pearson", 0.2)),
    "groups, a fifth of the width": ("groups, 40", lambda: narrow("H4 betting", 0.2)),
    "best of 10, a fifth of the width": ("best of 10", lambda: narrow("H4 betting", 0.2)),
    "quantile of the sample": (
        "0.9 quantile, uniform, N = 100",
        lambda: mock.patch.object(rs.bounds, "quantile", plain_quantile),
    ),
    "running mean by the mean": (
        "running mean, rising",
        lambda: mock.patch.object(rs.bounds, "running_mean", lambda values, limit, *, delta: float(values.mean())),
    ),
    "a chosen weight by the mean": (
        "chosen weight, N = 3000",
        lambda: mock.patch.object(
            rs.bounds, "refutes", lambda values, limit, mean, *, delta, anytime: bool(np.mean(values) < mean)
        ),
    ),
    "training, the measured mean": (
        "training, H1-kl",
        lambda: mock.patch.object(rs.bounds, "finite_kl", lambda mean, *given, delta: mean),
    ),
}
"""Broken bounds by name: in which cell, and how they are broken."""


def simulate(name: str, delta: float, runs: int, seed: int, twin: str = "") -> tuple[int, int]:
    """Return how many runs of a cell were wrong, and how many said nothing."""
    cell = next(cell for cell in cells() if (cell.name, cell.delta) == (name, delta))
    rng = np.random.default_rng([seed, runs])
    with TWINS[twin][1]() if twin else mock.MagicMock():
        found = [cell.run(rng, delta) for _ in range(runs)]
    return sum(wrong for wrong, _ in found), sum(nothing for _, nothing in found)


def main(arguments: list[str]) -> int:
    """Run all cells and all twins, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", type=float, default=1.0, metavar="SHARE", help="a share of the runs; nothing is kept"
    )
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    every = list(cells())
    level = 0.05 / len(every)
    runs = {delta: max(10, round(runs_needed(delta, level) * options.quick)) for delta in {one.delta for one in every}}
    start, rows = time.process_time(), []
    with ProcessPoolExecutor(options.jobs) as pool:
        asked = [(one.name, one.delta, runs[one.delta], k, "") for k, one in enumerate(every)]
        asked += [(cell, 0.05, runs[0.05], k, twin) for k, (twin, (cell, _)) in enumerate(TWINS.items())]
        for (name, delta, count, _, twin), (wrong, nothing) in zip(asked, pool.map(_star, asked), strict=True):
            p = float(stats.binomtest(wrong, count, delta, alternative="greater").pvalue)
            row = {
                "cell": name,
                "twin": twin,
                "delta": delta,
                "runs": count,
                "wrong": wrong,
                "vacuous": nothing,
                "p": p,
            }
            rows.append(row)
            print(
                f"{twin or name:45s} delta {delta:g}: {wrong} of {count} wrong, {nothing} vacuous, p = {p:.3g}",
                flush=True,
            )
    bad = [row for row in rows if not row["twin"] and row["p"] < level]
    missed = [row for row in rows if row["twin"] and row["p"] >= level]
    caught = len(TWINS) - len(missed)
    print(f"{len(every)} cells, level {level:.3g}: {len(bad)} fail; {caught} of {len(TWINS)} twins are found")
    if options.quick == 1:
        RESULTS.joinpath("validity.json").write_text(json.dumps({"level": level, "rows": rows}, indent=1) + "\n")
        RESULTS.joinpath("validity.md").write_text(table(rows, level))
    print(f"{time.process_time() - start:.0f} s in this process")
    return 1 if bad or (missed and options.quick == 1) else 0


def _star(asked: tuple[str, float, int, int, str]) -> tuple[int, int]:
    return simulate(*asked)


def table(rows: list[dict[str, Any]], level: float) -> str:
    """Return the results as a page."""
    own, twins = ([row for row in rows if bool(row["twin"]) is broken] for broken in (False, True))
    runs = {row["delta"]: row["runs"] for row in own}
    lines = [
        "# How often guarantees were false",
        "",
        f"Made by `make validity`: {sum(row['runs'] for row in own):,} whole pipelines in {len(own)} cells. Each "
        "sentence was read back as text and compared with the truth. A cell fails if it is wrong too often at the "
        f"level {level:.2g}, which is 0.05 divided by the number of cells. With "
        + " and ".join(f"{count:,} runs at δ = {delta:g}" for delta, count in sorted(runs.items(), reverse=True))
        + ", a bound that fails twice as often as it says is found with a probability of 0.9.",
        "",
        f"Of the {len(own)} cells, {sum(row['p'] < level for row in own)} fail; the smallest p-value is "
        f"{min(row['p'] for row in own):.3g}. {sum(row['vacuous'] for row in own):,} of "
        f"{sum(row['runs'] for row in own):,} sentences were vacuous.",
        "",
        "| guarantee | δ | runs | wrong | allowed | vacuous | p |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {row['cell']} | {row['delta']:g} | {row['runs']:,} | {row['wrong']} | {row['delta'] * row['runs']:.0f} | "
        f"{row['vacuous']} | {row['p']:.3g} |"
        for row in own
    ]
    lines += [
        "",
        "Broken bounds, which the same test must find:",
        "",
        "| broken | in | wrong | p |",
        "|---|---|--:|--:|",
    ]
    lines += [f"| {row['twin']} | {row['cell']} | {row['wrong']} of {row['runs']} | {row['p']:.2g} |" for row in twins]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
