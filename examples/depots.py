"""A road network from OSMnx, a history of travel times and three depots: exact and learned values, and a report.

Nothing is downloaded: `streets` makes a MultiDiGraph with the shape and the attributes of
``osmnx.graph_from_place(...)``, and a table of travel times like that of a traffic provider, with one row per street
and time. The recipe itself is the first half of `recipe`: eleven lines.

    python examples/depots.py [folder for the report]
"""

import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

import rhostar as rs

SPEED_LIMIT = 12.0  # meters per second: no street is ever faster, so the exact values stay exact


def recipe(streets: nx.MultiDiGraph, times: pd.DataFrame, depots: list[int], folder: Path) -> None:
    """From the graph and the table to a report."""
    network = rs.interop.from_osmnx(streets, "seconds", history=times)
    goals = [network.graph.vertex(depot) for depot in depots]
    trips = network.sample(1500, goal=goals, seed=0)
    past, last_day = rs.datasets.split_by_day(trips)
    free_flow = network.graph.length / SPEED_LIMIT
    exact = rs.learn(past, lower=free_flow)
    learned = rs.learn(past, mean_excess=0.01)
    utility = rs.utilities.Suboptimality(limit=600.0)
    tables = [
        rs.certify(exact, last_day, utility, lower=free_flow, groups=False, duplicates="allow"),
        rs.certify(learned, last_day, utility, groups=False, duplicates="allow"),
    ]
    methods = {"Dijkstra": np.zeros(network.graph.n), "exact": exact, "within 1 %": learned}
    rs.report.write(rs.report.build(last_day, methods, cost_unit="s"), folder / "depots.html")

    print(rs.audit(exact, last_day, groups=False))
    for name, method in methods.items():
        runs = rs.solve_many(last_day, method)
        print(f"{name:12}{runs.expanded.mean():10.1f} vertices per trip{runs.cost.mean():10.2f} seconds")
    for table in tables:  # trips were drawn independently, so those of a day need not count as one (groups=False)
        print(table.summary)
    print(folder / "depots.html")


def streets(side: int = 30, days: int = 5, seed: int = 0) -> tuple[nx.MultiDiGraph, pd.DataFrame]:
    """Return a made-up town and its travel times, every three hours."""
    rng = np.random.default_rng(seed)
    town = nx.MultiDiGraph(crs="epsg:4326")
    ids = (10**9 + rng.permutation(side * side)).reshape(side, side)
    for (row, column), osmid in np.ndenumerate(ids):
        town.add_node(int(osmid), x=11.5 + 0.001 * column, y=48.1 + 0.001 * row, street_count=4)
    for (row, column), osmid in np.ndenumerate(ids):
        for r, c in ((row + 1, column), (row, column + 1)):
            if r < side and c < side:
                data = {"length": float(rng.uniform(80, 120)), "highway": "residential", "oneway": False}
                town.add_edge(int(osmid), int(ids[r, c]), **data)
                town.add_edge(int(ids[r, c]), int(osmid), **data)
    hours = pd.date_range("2024-03-04", periods=8 * days, freq="3h")
    rush = 1 + 0.8 * np.exp(-(((hours.hour.to_numpy() % 12) - 6) ** 2) / 8)
    ends = [(u, v, data["length"]) for u, v, data in town.edges(data=True)]
    seconds = np.outer(rush, [length / SPEED_LIMIT for *_, length in ends]) * rng.uniform(
        1, 1.5, (len(hours), len(ends))
    )
    table = pd.DataFrame(
        {
            "time": np.repeat(hours, len(ends)),
            "u": np.tile([u for u, *_ in ends], len(hours)),
            "v": np.tile([v for _, v, _ in ends], len(hours)),
            "seconds": seconds.ravel(),
        }
    )
    return town, table


if __name__ == "__main__":
    made, measured = streets()
    crossings = list(made)
    where = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    recipe(made, measured, [crossings[0], crossings[437], crossings[-1]], where)
