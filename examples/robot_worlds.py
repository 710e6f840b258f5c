"""Robot worlds: one grid with different obstacles every time, and paths from the lower left to the upper right.

Reads published mazes (PNG files) if RHOSTAR_DATA names a folder that has them, and otherwise generates smaller ones at
random. Learns ρ for greedy best-first search from 60 of them, compares on unseen mazes, and then on worlds of another
kind that no training world resembles, to see how much of what was learned is specific to mazes.

    python examples/robot_worlds.py [folder for the picture]
"""

import os
import sys
import textwrap
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rhostar as rs

DATA = Path(os.environ.get("RHOSTAR_DATA", "")) / "worlds" / "mazes"
TRAIN, TEST = 60, 30


def main(folder: Path) -> None:
    """Learn on some worlds, compare on other worlds of the same and of another kind, and draw one of each."""
    if DATA.is_dir():
        past, new = (rs.datasets.read_worlds(DATA / part) for part in ("train", "test"))
    else:
        both = rs.datasets.obstacle_worlds("mazes", size=101).worlds(TRAIN + TEST, seed=0)
        past, new = both[:TRAIN], both[TRAIN:]
    grid = past.graph
    goal = grid.vertex((0, grid.shape[1] - 1))
    train = past[:TRAIN].instances(graph=grid, dtype=np.float32)
    strange = rs.datasets.obstacle_worlds("gaps_and_forest", size=grid.shape[0]).worlds(TEST, seed=1)
    tests = {
        "new mazes": rs.datasets.without(new[:TEST].instances(graph=grid, dtype=np.float32), train),
        "gaps and forest": strange.instances(graph=grid, dtype=np.float32),
    }
    heuristics = {
        "straight line": rs.heuristics.euclidean(grid, goal),
        "ρ = mean cost-to-go": rs.learners.MeanDistance().fit(train).rho_,
        "ρ by imitation": rs.learners.SelfImitatedRanking(random_state=0).fit(train).rho_,
    }

    print(f"Greedy search on {grid.shape[0]} x {grid.shape[1]} cells, ρ learned on {len(train)} mazes:")
    print(f"{'':24}" + "".join(f"{name:>26}" for name in tests))
    print(f"{'':24}" + f"{'expanded':>13}{'cost/opt':>13}" * len(tests))
    utilities = [rs.utilities.Expansions(grid.n), rs.utilities.Ratio(10.0)]
    for name, rho in heuristics.items():
        results = [rs.evaluate(rho, test, utilities, algorithm="gbfs") for test in tests.values()]
        print(f"{name:24}" + "".join(f"{r['expansions'].mean:13.0f}{r['ratio'].mean:13.3f}" for r in results))
    table = rs.certify(
        heuristics["ρ by imitation"],
        rs.datasets.deduplicate(tests["new mazes"]),  # every maze counts once
        rs.utilities.Expansions(4000.0),
        algorithm="gbfs",
    )
    print("\n" + textwrap.fill(table.best.sentence, 80) + "\n")

    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / "robot_worlds.png"
    draw(grid, {name: hard(test, heuristics["straight line"]) for name, test in tests.items()}, heuristics, picture)
    print(f"One world of each kind as a picture: {picture}")


def hard(worlds: rs.InstanceSet, rho: np.ndarray) -> rs.instances.Instance:
    """Return a world that is harder than three quarters of them."""
    order = np.argsort(rs.solve_many(worlds, rho, algorithm="gbfs").expanded)
    return worlds[int(order[int(0.75 * len(worlds))])]


def draw(grid: rs.Graph, worlds: dict, heuristics: dict, picture: Path) -> None:
    """Draw what greedy search expands in each world with each heuristic, and the path it returns."""
    figure, axes = plt.subplots(len(worlds), len(heuristics), figsize=(13.5, 9.4), layout="constrained")
    for row, (kind, world) in zip(axes, worlds.items(), strict=True):
        # A cell is blocked where every edge that leaves it is absent.
        blocked = np.minimum.reduceat(world.weights, grid.first_out[:-1]) == np.inf
        for axis, (name, rho) in zip(row, heuristics.items(), strict=True):
            run = rs.gbfs(*world, rho, trace=True)
            order = np.full(grid.n, np.nan)
            order[run.trace.selected] = np.linspace(0, 1, len(run.trace))
            axis.imshow(np.where(blocked, 0.15, 1.0).reshape(grid.shape), cmap="gray", vmin=0, vmax=1)
            axis.imshow(order.reshape(grid.shape), cmap="viridis", alpha=0.85)
            axis.plot(*grid.coordinates[run.path].T, color="#ff8c42", linewidth=2.4)
            axis.set_title(f"{kind}, {name}: {run.expanded:,} expansions", loc="left", fontsize=9)
            axis.set_axis_off()
    figure.savefig(picture, dpi=90)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
