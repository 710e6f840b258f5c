"""Turn costs: a left turn takes longer than driving straight on, and some turns are forbidden.

In the edge-expanded graph every street is a vertex, and every turn from one street into the next is an edge, which
costs the next street and the turn. Then everything works as usual. A trip goes from a street to a street.

    python examples/turn_costs.py
"""

import networkx as nx
import numpy as np

import rhostar as rs

LEFT, BACK = 15.0, np.inf  # seconds; no U-turns


def turn_cost(places: dict, u: int, v: int, w: int) -> float:
    """Return what the turn at v costs, coming from u and going to w."""
    if w == u:
        return BACK
    before, after = places[v] - places[u], places[w] - places[v]
    return LEFT if before[0] * after[1] - before[1] * after[0] > 1e-9 else 0.0


def expanded(streets: nx.DiGraph, weight: str) -> nx.DiGraph:
    """Return the graph whose nodes are the streets."""
    places = {v: np.array([data["x"], data["y"]]) for v, data in streets.nodes(data=True)}
    turns = nx.DiGraph()
    turns.add_nodes_from(streets.edges)
    for u, v in streets.edges:
        for _, w, data in streets.edges(v, data=True):
            cost = turn_cost(places, u, v, w)
            if np.isfinite(cost):
                turns.add_edge((u, v), (v, w), **{weight: data[weight] + cost})
    return turns


def main() -> None:
    """Compare routes with and without turn costs, and learn on the expanded graph."""
    side = 12
    streets = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side).to_directed(), ordering="sorted")
    rng = np.random.default_rng(0)
    for v, data in streets.nodes(data=True):
        data["x"], data["y"] = float(v % side), float(v // side)
    nx.set_edge_attributes(streets, {edge: float(rng.uniform(20, 40)) for edge in streets.edges}, "seconds")
    turns = expanded(streets, "seconds")
    network = rs.interop.from_networkx(turns, "seconds")
    graph, goal = network.graph, network.graph.vertex((side * side - 2, side * side - 1))
    weights = network.weights[0] * rng.uniform(1, 1.5, (60, graph.m))  # an evening per snapshot
    trips = rs.datasets.Network(graph, weights).sample(300, goal=goal, seed=0)
    past, new = trips.split(0.5, seed=0, groups=trips.rows)
    safe = rs.learners.LowerEnvelope(network.weights[0]).fit(past)
    print(f"{len(streets.edges)} streets, {graph.m} turns")
    for name, rho in {"Dijkstra": np.zeros(graph.n), "exact": safe}.items():
        runs = rs.solve_many(new, rho)
        print(f"{name:10}{runs.expanded.mean():8.1f} streets per trip{runs.cost.mean():10.2f} seconds")
    path = rs.astar_path(turns, (0, 1), graph.labels[goal], safe, weight="seconds")
    print(" ".join(str(u) for u, _ in path), path[-1][1])


if __name__ == "__main__":
    main()
