"""A first search: one landscape whose travel times change from day to day, three heuristics.

Solves new days with Dijkstra's algorithm, A* with a handcrafted heuristic and A* with values learned
from past days, and draws the cells that each search expanded.

    python examples/first_search.py [folder for the picture]
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

import rhostar as rs

ROWS, COLUMNS, DAYS = 60, 110, 250


def smooth(rng: np.random.Generator, width: float) -> np.ndarray:
    """Return a smooth random field of mean 0 and standard deviation 1."""
    field = gaussian_filter(rng.normal(size=(ROWS, COLUMNS)), width)
    return (field - field.mean()) / field.std()


def main(folder: Path) -> None:
    """Learn on most of the days, compare on the rest, draw one of them."""
    rng = np.random.default_rng(7)
    grid = rs.Graph.grid(ROWS, COLUMNS, neighbors=8)
    start, goal = grid.vertex((ROWS - 4, 3)), grid.vertex((3, COLUMNS - 4))

    # How slow each cell is: the terrain stays, every day adds its own. At best a step takes its length.
    terrain = smooth(rng, 4).ravel()
    slow = 1 + np.exp(terrain + 0.4 * rng.normal(size=(DAYS, grid.n)))
    times = grid.length * (slow[:, grid.tail] + slow[:, grid.head]) / 2
    days = rs.InstanceSet(grid, times, start, goal)
    past, new = days.split(0.8, seed=0)

    # The simplest learner there is: the mean cost-to-go over past days.
    learned = np.mean([rs.distances_to(grid, day.weights, goal) for day in past], axis=0)

    heuristics = {
        "Dijkstra (ρ = 0)": np.zeros(grid.n),
        "A*, octile distance": rs.heuristics.octile(grid, goal),
        f"A*, ρ learned on {len(past)} days": learned,
    }
    print(f"{len(new)} new days, {grid.n:,} cells:")
    print(f"{'':30}{'expanded':>10}{'cost / optimum':>16}")
    utilities = [rs.utilities.Expansions(10 * grid.n), rs.utilities.Ratio(2.0)]
    for name, rho in heuristics.items():
        result = rs.evaluate(rho, new, utilities, n_jobs=2)
        print(f"{name:30}{result['expansions'].mean:10.0f}{result['ratio'].mean:16.4f}")

    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / "first_search.png"
    draw(grid, new[0], slow[new.indices[0]], heuristics, picture)
    print(f"The first of these days as a picture: {picture}")


def draw(grid: rs.Graph, day: rs.instances.Instance, slow: np.ndarray, heuristics: dict, picture: Path) -> None:
    """Draw the cells that each search expanded, early ones dark, and the path it found."""
    figure, axes = plt.subplots(len(heuristics), 1, figsize=(7.2, 12.6), layout="constrained")
    for axis, (name, rho) in zip(axes, heuristics.items(), strict=True):
        run = rs.astar(*day, rho, trace=True)
        order = np.full(grid.n, np.nan)
        order[run.trace.selected] = np.linspace(0, 1, len(run.trace))
        axis.imshow(np.log(slow).reshape(grid.shape), cmap="Greys", vmin=0, vmax=5)
        axis.imshow(order.reshape(grid.shape), cmap="viridis", alpha=0.7)
        x, y = grid.coordinates[run.path].T
        axis.plot(x, y, color="#e4572e", linewidth=2.2)
        axis.plot(x[[0, -1]], y[[0, -1]], "o", color="#e4572e", markeredgecolor="white", markersize=8)
        axis.set_title(f"{name}: {run.expanded:,} expansions, cost {run.cost:.1f}", loc="left", fontsize=11)
        axis.set_axis_off()
    figure.savefig(picture, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
