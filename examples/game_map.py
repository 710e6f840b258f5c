"""A game map whose doors open and close: one map, one treasure, heroes that start anywhere.

Reads a MovingAI map of 64 rooms if RHOSTAR_DATA names a folder that has it, and otherwise generates a map. A door is a
free cell between two walls; at any moment each door is shut with probability 0.3. Learns ρ from 120 states of the doors
and compares on 60 others.

    python examples/game_map.py [folder for the picture]
"""

import os
import sys
import tempfile
import textwrap
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import rhostar as rs

DATA = Path(os.environ.get("RHOSTAR_DATA", "")) / "movingai" / "room-64-64-8.map"
STATES, SHUT = 180, 0.3


def rooms(path: Path) -> Path:
    """Write a map of 6 x 6 rooms in the MovingAI format, a door in nearly every wall."""
    rng = np.random.default_rng(1)
    cells = np.full((55, 55), ".")
    cells[::9, :] = cells[:, ::9] = "@"
    for k in range(9, 54, 9):
        for begin in range(0, 54, 9):
            if rng.random() < 0.9:
                cells[k, begin + rng.integers(1, 9)] = "."
            if rng.random() < 0.9:
                cells[begin + rng.integers(1, 9), k] = "."
    path.write_text("type octile\nheight 55\nwidth 55\nmap\n" + "".join("".join(row) + "\n" for row in cells))
    return path


def doors(free: np.ndarray) -> np.ndarray:
    """Return the free cells between two walls, left and right or above and below."""
    wall = np.pad(~free, 1, constant_values=True)
    between = (wall[1:-1, :-2] & wall[1:-1, 2:]) | (wall[:-2, 1:-1] & wall[2:, 1:-1])
    return free & between


def main(folder: Path) -> None:
    """Learn on some states of the doors, compare on others, draw one of them."""
    with tempfile.TemporaryDirectory() as place:
        town = rs.datasets.read_map(DATA if DATA.is_file() else rooms(Path(place) / "rooms.map"))
    graph = town.graph
    goal = rs.datasets.choose_goal(graph, town.weights[0])
    rng = np.random.default_rng(0)
    door = doors(~town.blocked)
    door.ravel()[goal] = False
    shut = door & (rng.random((STATES, *door.shape)) < SHUT)
    states = rs.datasets.Network(graph, town.closing(shut))
    train = states.sample(600, goal=goal, seed=1, rows=range(120))
    test = states.sample(300, goal=goal, seed=2, rows=range(120, STATES))

    heuristics = {
        "Dijkstra (ρ = 0)": np.zeros(graph.n),
        "A*, octile distance": rs.heuristics.octile(graph, goal),
        "A*, ρ = mean cost-to-go": rs.learners.MeanDistance().fit(train).rho_,
    }
    print(f"{door.sum()} doors, {np.sum(~town.blocked):,} free cells; {len(test)} queries with doors as never before:")
    print(f"{'':30}{'expanded':>10}{'cost / optimum':>16}")
    for name, rho in heuristics.items():
        result = rs.evaluate(rho, test, [rs.utilities.Expansions(10 * graph.n), rs.utilities.Ratio(3.0)])
        print(f"{name:30}{result['expansions'].mean:10.0f}{result['ratio'].mean:16.4f}")

    # A guarantee needs independent instances: new doors for every query.
    fresh = town.closing(door & (rng.random((400, *door.shape)) < SHUT))
    starts = np.random.default_rng(3).choice(np.delete(np.arange(graph.n), goal), len(fresh))
    holdout = rs.InstanceSet(graph, fresh, starts, goal, infeasible="drop")
    rho = heuristics["A*, ρ = mean cost-to-go"]
    # Few doors have few states, so some draws are equal by chance: groups=False says that draws are independent.
    table = rs.certify(rho, holdout, rs.utilities.Ratio(2.0), groups=False)
    print("\n" + textwrap.fill(table.best.sentence, 80) + "\n")

    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / "game_map.png"
    cost = rs.solve_many(test, heuristics["Dijkstra (ρ = 0)"]).cost
    query = int(np.argsort(cost)[int(0.9 * len(test))])  # longer than nine tenths of them
    draw(town, shut[test.snapshot_indices[test.rows[query]]], test[query], heuristics, picture)
    print(f"One of these queries as a picture: {picture}")


def draw(
    town: rs.datasets.GridMap, shut: np.ndarray, query: rs.instances.Instance, heuristics: dict, picture: Path
) -> None:
    """Draw the map with its shut doors, and for each heuristic what was expanded and the path."""
    graph = town.graph
    figure, axes = plt.subplots(1, len(heuristics), figsize=(15, 5.4), layout="constrained")
    for axis, (name, rho) in zip(axes, heuristics.items(), strict=True):
        run = rs.astar(*query, rho, trace=True)
        order = np.full(graph.n, np.nan)
        order[run.trace.selected] = np.linspace(0, 1, len(run.trace))
        axis.imshow(np.where(town.blocked, 0.15, 1.0), cmap="gray", vmin=0, vmax=1)
        axis.imshow(order.reshape(graph.shape), cmap="viridis", alpha=0.85)
        y, x = np.nonzero(shut)
        axis.plot(x, y, "s", color="#c22", markersize=3.2, label="shut door")
        axis.plot(*graph.coordinates[run.path].T, color="#ff8c42", linewidth=2.2, label="path")
        axis.plot(*graph.coordinates[[query.goal]].T, "*", color="#ff8c42", markeredgecolor="k", markersize=16)
        axis.set_title(f"{name}: {run.expanded:,} expansions", loc="left", fontsize=11)
        axis.set_axis_off()
    axes[0].legend(loc="lower left", fontsize=9)
    figure.savefig(picture, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
