"""Traffic: one road network, travel times that change every five minutes, one goal.

Reads a week of traffic in Los Angeles (METR-LA) if RHOSTAR_DATA names a folder that has it, and otherwise generates a
city with rush hours and closed roads. Learns ρ from past snapshots, and compares on unseen ones twice: drawn at random
from the same days, as bounds for i.i.d. instances assume, and on the last day, which is unseen.

    python examples/traffic.py [folder for the picture]
"""

import os
import sys
import textwrap
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

import rhostar as rs

DATA = Path(os.environ.get("RHOSTAR_DATA", "")) / "metr_la" / "metr_la_week.npz"


def main(folder: Path) -> None:
    """Learn on past snapshots, compare on new ones, draw one of them."""
    if DATA.is_file():
        network = rs.datasets.read_metr_la(DATA, speeds=(5, 70))
        straight = rs.heuristics.haversine
        name, top_speed = "Los Angeles, seconds", 70 * 0.44704  # meters per second
        longest_delay = 120.0
    else:
        network = rs.datasets.city(900, seed=4).history(days=7, seed=0, per_day=96)
        straight = rs.heuristics.euclidean
        name, top_speed = "a random city, minutes", 1.0  # kilometers per minute: 60 km/h
        longest_delay = 2.0
    goal = rs.datasets.choose_goal(network.graph)
    instances = network.sample(3000, goal=goal, seed=0)
    by_chance = instances.split(0.8, seed=0, groups=instances.rows)
    by_day = rs.datasets.split_by_day(instances)

    print(f"{name}: {network.graph.n} vertices, {network.graph.m} edges, {len(network.weights)} snapshots")
    print(f"{'':32}{'random split':>22}{'last day':>22}")
    print(f"{'':32}{'expanded':>11}{'cost/opt':>11}{'expanded':>11}{'cost/opt':>11}")
    utilities = [rs.utilities.Expansions(10 * network.graph.n), rs.utilities.Ratio(3.0)]
    crow = straight(network.graph, goal, scale=1 / top_speed)
    rows: dict[str, str] = {}
    for train, test in (by_chance, by_day):
        heuristics = {
            "Dijkstra (ρ = 0)": np.zeros(network.graph.n),
            "A*, as the crow flies": crow,
            "A*, ρ = mean cost-to-go": rs.learners.MeanDistance().fit(train).rho_,
        }
        for label, rho in heuristics.items():
            result = rs.evaluate(rho, test, utilities)
            text = f"{result['expansions'].mean:11.1f}{result['ratio'].mean:11.4f}"
            rows[label] = rows.get(label, f"{label:32}") + text
    print("\n".join(rows.values()))

    # A guarantee for a random trip at a random time of this week: new draws that ρ has not seen.
    learner = rs.learners.MeanDistance().fit(by_chance[0])
    holdout = network.sample(2000, goal=goal, seed=1)
    table = rs.certify(learner, holdout, rs.utilities.Suboptimality(longest_delay))
    print("\n" + textwrap.fill(table.best.sentence, 80) + "\n")

    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / "traffic.png"
    last_day = by_day[1]
    draw(last_day[int(np.argmax(far(last_day)))], heuristics, picture)
    print(f"One trip of the last day as a picture: {picture}")


def far(instances: rs.InstanceSet) -> np.ndarray:
    """Return how far each start is from the goal, by coordinates."""
    places = instances.graph.coordinates
    return np.hypot(*(places[instances.sources] - places[instances.goal]).T)


def draw(trip: rs.instances.Instance, heuristics: dict, picture: Path) -> None:
    """Draw the network, slow roads red, and for each heuristic what was expanded and the path."""
    graph = trip.graph
    places = graph.coordinates
    speed = graph.length / trip.weights
    figure, axes = plt.subplots(1, len(heuristics), figsize=(15, 5.4), layout="constrained")
    for axis, (name, rho) in zip(axes, heuristics.items(), strict=True):
        run = rs.astar(*trip, rho, trace=True)
        lines = LineCollection(np.stack([places[graph.tail], places[graph.head]], axis=1), array=speed, cmap="RdYlGn")
        lines.set(linewidth=1.0, alpha=0.5)
        axis.add_collection(lines)
        axis.scatter(*places[run.trace.selected].T, s=14, color="#33539e", zorder=2, label="expanded")
        axis.plot(*places[run.path].T, color="black", linewidth=2.2, zorder=3, label="path")
        axis.plot(*places[[trip.goal]].T, "*", color="black", markersize=16, zorder=4, label="goal")
        axis.set_title(f"{name}: {run.expanded} expansions", loc="left", fontsize=11)
        axis.set_aspect("equal")
        axis.set_axis_off()
    axes[0].legend(loc="lower left", frameon=False)
    figure.savefig(picture, dpi=110, bbox_inches="tight")
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
