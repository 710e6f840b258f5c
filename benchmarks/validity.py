"""Simulates whole pipelines whose truth is known, and counts how often the last sentence is false.

A cell (benchmarks/validity_cells.py) is one kind of guarantee on one distribution. It is tested at the level 0.05
divided by the number of cells, with enough runs to find a bound that fails twice as often as it says with a probability
of 0.9. Broken twins must be found by the same test. What is done is kept in build/, so that an interrupted run goes on
where it stopped, as long as the code is the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from validity_cells import TWINS, cells, p_value, runs_needed, simulate

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
Asked = tuple[str, float, int, int, str]
"""A cell, δ, the number of runs, the seed and the twin, if any."""


def code() -> str:
    """Return a hash of the code that is tested, and of the cells."""
    found = hashlib.blake2b(digest_size=8)
    for path in sorted(
        [*ROOT.glob("src/rhostar/**/*.py"), *ROOT.glob("src/core/**/*.?pp"), *ROOT.glob("benchmarks/val*.py")]
    ):
        found.update(path.read_bytes())
    return found.hexdigest()


def read(kept: Path) -> dict[Asked, tuple[int, int, float]]:
    """Return what is done."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    return {tuple(one): tuple(said) for one, said in map(json.loads, lines)}  # type: ignore[misc]


def timed(asked: Asked) -> tuple[int, int, float]:
    """Return what was counted, and the processor time that it took."""
    start = time.process_time()
    return *simulate(*asked), time.process_time() - start


def main(arguments: list[str]) -> int:
    """Run all cells and all twins, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="a share of the runs; nothing is kept")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("K", "OF"), help="every OF-th cell only")
    options = parser.parse_args(arguments)
    every = list(cells())
    level = 0.05 / len(every)
    runs = {delta: max(10, round(runs_needed(delta or 0.05, level) * options.share)) for delta in (0.0, 0.05, 0.01)}
    asked: list[Asked] = [(one.name, one.delta, runs[one.delta], k, "") for k, one in enumerate(every)]
    of = {one.name: one.delta for one in reversed(every)}
    asked += [(twin.cell, of[twin.cell], runs[0.05], k, name) for k, (name, twin) in enumerate(TWINS.items())]
    kept = ROOT / "build" / f"validity-{code()}.jsonl"
    kept.parent.mkdir(exist_ok=True)
    first, step = options.part
    done = read(kept)
    with ProcessPoolExecutor(options.jobs) as pool, kept.open("a") as file:
        left = [one for one in asked[first::step] if one not in done]
        for one, said in zip(left, pool.map(timed, left), strict=True):
            file.write(json.dumps([one, said]) + "\n")
            file.flush()
            name, delta, count, _, twin = one
            p = p_value(said[0], count, delta)
            print(
                f"{twin or name:45s} {delta:g}: {said[0]} of {count} wrong, {said[1]} vacuous, p = {p:.3g}", flush=True
            )
    done = read(kept)
    if not done.keys() >= set(asked):
        print("the other parts are not done yet")
        return 0
    rows = [
        {"cell": one[0], "twin": one[4], "delta": one[1], "runs": one[2], "wrong": done[one][0]}
        | {"vacuous": done[one][1], "p": p_value(done[one][0], one[2], one[1])}
        for one in asked
    ]
    bad = [row for row in rows if not row["twin"] and row["p"] < level]
    missed = [row for row in rows if row["twin"] and row["p"] >= level]
    spent = sum(said[2] for said in done.values())
    print(f"{len(every)} cells, level {level:.3g}: {len(bad)} fail; {len(missed)} of {len(TWINS)} twins are not found")
    print(f"{spent:.0f} s of processor time")
    if options.share == 1:
        RESULTS.joinpath("validity.json").write_text(json.dumps({"level": level, "rows": rows}, indent=1) + "\n")
        RESULTS.joinpath("validity.md").write_text(table(rows, level))
    return 1 if bad or (missed and options.share == 1) else 0


def table(rows: list[dict[str, Any]], level: float) -> str:
    """Return the results as a page."""
    own, twins = ([row for row in rows if bool(row["twin"]) is broken] for broken in (False, True))
    runs = {row["delta"]: row["runs"] for row in own if row["delta"]}
    lines = [
        "# How often guarantees were false",
        "",
        f"Made by `make validity`: {sum(row['runs'] for row in own):,} whole pipelines in {len(own)} cells. Each "
        "sentence was read back as text and compared with the truth. A cell fails if it is wrong too often at the "
        f"level {level:.2g}, which is 0.05 divided by the number of cells. With "
        + " and ".join(f"{count:,} runs at δ = {delta:g}" for delta, count in sorted(runs.items(), reverse=True))
        + ", a bound that fails twice as often as it says is found with a probability of 0.9. "
        "Where δ = 0, a single miss fails.",
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
