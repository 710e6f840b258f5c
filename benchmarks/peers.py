"""Other libraries as contestants: each is prepared outside the clock and answers one query inside it.

A contestant is a function that runs a query and returns (seconds, cost). The clock measures the library's own search.
It leaves out the conversion of the graph and, if the library takes one, of the heuristic; only the comparison of short
calls includes that, because overhead is what it measures.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rhostar as rs

Contestant = Callable[[], tuple[float, float]]


def clocked(call: Callable[[], object], cost: Callable[[object], float]) -> Contestant:
    """Return a contestant whose clock runs during `call`."""

    def run() -> tuple[float, float]:
        start = time.perf_counter()
        answer = call()
        return time.perf_counter() - start, cost(answer)

    return run


def rhostar(graph, weights, source, goal, rho, **options) -> Contestant:
    return clocked(lambda: rs.astar(graph, weights, source, goal, rho, **options), lambda run: run.cost)


class NetworKit:
    """NetworKit's A* (an addressable binary heap; it reopens)."""

    def __init__(self, graph: rs.Graph, weights: np.ndarray) -> None:
        import networkit

        networkit.setNumberOfThreads(1)
        self.kit = networkit
        tail, head = graph.tail.astype(np.uint64), graph.head.astype(np.uint64)
        self.network = networkit.GraphFromCoo((weights, (tail, head)), n=graph.n, weighted=True, directed=True)

    def astar(self, source: int, goal: int, rho: np.ndarray) -> Contestant:
        values = rho.tolist()

        def run() -> tuple[float, float]:
            search = self.kit.distance.AStar(self.network, values, source, goal, False)
            start = time.perf_counter()
            search.run()
            return time.perf_counter() - start, search.getDistance()

        return run

    def call(self, source: int, goal: int, rho: np.ndarray) -> Contestant:
        values = rho.tolist()

        def call() -> object:
            search = self.kit.distance.AStar(self.network, values, source, goal, True)
            search.run()
            search.getPath()
            return search

        return clocked(call, lambda search: search.getDistance())


class Scipy:
    """scipy's Dijkstra: it has no goal and visits all vertices, or those within a `limit`."""

    def __init__(self, graph: rs.Graph, weights: np.ndarray) -> None:
        from scipy.sparse import csr_matrix

        self.matrix = csr_matrix((weights, graph.head, graph.first_out), shape=(graph.n, graph.n))

    def dijkstra(self, source: int, goal: int, limit: float = np.inf) -> Contestant:
        from scipy.sparse.csgraph import dijkstra

        return clocked(lambda: dijkstra(self.matrix, indices=source, limit=limit), lambda row: float(row[goal]))


class Igraph:
    """igraph: Dijkstra in C; its A* calls Python for every value of rho."""

    def __init__(self, graph: rs.Graph, weights: np.ndarray) -> None:
        import igraph

        self.network = igraph.Graph(n=graph.n, edges=np.stack([graph.tail, graph.head], 1), directed=True)
        self.weights = weights.tolist()

    def dijkstra(self, source: int, goal: int) -> Contestant:
        return clocked(lambda: self.network.distances(source, goal, weights=self.weights), lambda table: table[0][0])

    def astar(self, source: int, goal: int, rho: np.ndarray) -> Contestant:
        values = rho.tolist()
        return clocked(
            lambda: self.network.get_shortest_path_astar(
                source, goal, heuristics=lambda g, u, v: values[u], weights=self.weights, output="epath"
            ),
            lambda path: sum(self.weights[e] for e in path),
        )


_IGRAPH_ALONE = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from peers import Igraph
data = np.load(sys.argv[2])
import rhostar as rs
graph = rs.Graph(data["first_out"], data["head"])
print(Igraph(graph, data["weights"]).astar(int(data["source"]), int(data["goal"]), data["rho"])())
"""


def igraph_alone(graph: rs.Graph, weights: np.ndarray, source: int, goal: int, rho: np.ndarray) -> str:
    """Run igraph's A* in a process of its own and say how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "query.npz"
        np.savez(file, first_out=graph.first_out, head=graph.head, weights=weights, source=source, goal=goal, rho=rho)
        child = subprocess.run(
            [sys.executable, "-c", _IGRAPH_ALONE, str(Path(__file__).parent), str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
    return "finished" if child.returncode == 0 else f"killed by signal {-child.returncode}"


class Rustworkx:
    """rustworkx: calls Python for weights, goal test and rho; it never reopens."""

    def __init__(self, graph: rs.Graph, weights: np.ndarray) -> None:
        import rustworkx

        self.lib = rustworkx
        self.network = rustworkx.PyDiGraph()
        self.network.add_nodes_from(range(graph.n))
        self.network.add_edges_from(list(zip(graph.tail.tolist(), graph.head.tolist(), weights.tolist(), strict=True)))
        self.graph, self.weights = graph, weights

    def _cost(self, path) -> float:
        path = np.fromiter(path, dtype=np.int32)
        return float(self.weights[self.graph.edge_index(path[:-1], path[1:])].sum())

    def astar(self, source: int, goal: int, rho: np.ndarray) -> Contestant:
        values = rho.tolist()
        return clocked(
            lambda: self.lib.digraph_astar_shortest_path(
                self.network, source, lambda v: v == goal, float, lambda v: values[v]
            ),
            self._cost,
        )

    def dijkstra(self, source: int, goal: int) -> Contestant:
        return clocked(
            lambda: self.lib.digraph_dijkstra_shortest_path_lengths(self.network, source, float, goal=goal),
            lambda lengths: lengths[goal],
        )


class Networkx:
    """networkx: plain Python throughout; it reopens."""

    def __init__(self, graph: rs.Graph, weights: np.ndarray) -> None:
        import networkx

        self.lib = networkx
        self.network = networkx.DiGraph()
        self.network.add_nodes_from(range(graph.n))
        self.network.add_weighted_edges_from(
            zip(graph.tail.tolist(), graph.head.tolist(), weights.tolist(), strict=True)
        )

    def astar(self, source: int, goal: int, rho: np.ndarray) -> Contestant:
        values = rho.tolist()
        return clocked(
            lambda: self.lib.astar_path(self.network, source, goal, heuristic=lambda u, v: values[u]),
            lambda path: self.lib.path_weight(self.network, path, "weight"),
        )


def versions() -> dict[str, str]:
    """Return the versions of all contestants."""
    from importlib.metadata import version

    return {name: version(name) for name in ("rhostar", "networkit", "rustworkx", "networkx", "scipy", "igraph")}


if __name__ == "__main__":
    print(json.dumps(versions()))
