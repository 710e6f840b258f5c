"""Where other libraries go wrong on a heuristic that never overestimates but is not consistent."""

import json
import subprocess
import sys

import numpy as np
import pytest

import rhostar as rs
from support.cases import ADMISSIBLE, DETOUR


def test_rustworkx_never_reopens_and_returns_a_longer_path() -> None:
    rustworkx = pytest.importorskip("rustworkx")
    graph, weights = DETOUR
    peer = rustworkx.PyDiGraph()
    peer.add_nodes_from(range(graph.n))
    for tail, head, weight in zip(graph.tail.tolist(), graph.head.tolist(), weights.tolist(), strict=True):
        peer.add_edge(tail, head, weight)
    path = rustworkx.digraph_astar_shortest_path(peer, 0, lambda v: v == 3, float, lambda v: ADMISSIBLE[v])
    assert list(path) == [0, 2, 3]  # costs 6
    run = rs.astar(graph, weights, 0, 3, ADMISSIBLE)
    assert (run.cost, run.path.tolist()) == (5.0, [0, 1, 2, 3])


_IGRAPH = """
import igraph, json, sys
n, edges, weights, rho = json.loads(sys.argv[1])
graph = igraph.Graph(n=n, edges=edges, directed=True)
print(graph.get_shortest_path_astar(0, 3, heuristics=lambda g, u, v: rho[u], weights=weights, output="vpath"))
"""


def test_igraph_dies_on_it(sanitized: bool) -> None:
    pytest.importorskip("igraph")
    if sanitized:
        pytest.skip("a sanitizer would catch igraph's crash, not ours")
    graph, weights = DETOUR
    edges = list(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))

    def ask(rho: np.ndarray) -> subprocess.CompletedProcess[str]:
        query = json.dumps([graph.n, edges, weights.tolist(), rho.tolist()])
        return subprocess.run([sys.executable, "-c", _IGRAPH, query], capture_output=True, text=True, check=False)

    consistent = rs.distances_to(graph, weights, 3)
    assert ask(consistent).stdout.strip() == "[0, 1, 2, 3]"
    assert ask(ADMISSIBLE).returncode < 0  # killed by a signal
    assert rs.astar(graph, weights, 0, 3, ADMISSIBLE).cost == 5.0


def test_costs_agree_with_networkx_and_scipy(rng: np.random.Generator) -> None:
    networkx = pytest.importorskip("networkx")
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    graph = rs.Graph.grid(12, 15, neighbors=8)
    weights = rng.uniform(0.5, 2, graph.m)
    goal = graph.n - 1
    network = graph.to_networkx(weights)
    turned = graph.reverse()
    matrix = csr_array((weights[turned.edges], turned.graph.head, turned.graph.first_out), shape=(graph.n, graph.n))
    distances = rs.distances_to(graph, weights, goal)
    np.testing.assert_allclose(distances, dijkstra(matrix, indices=goal), rtol=1e-12)
    for source in (0, 17, 100):
        run = rs.astar(graph, weights, source, goal, rs.heuristics.octile(graph, goal, scale=0.5))
        assert run.cost == pytest.approx(networkx.shortest_path_length(network, source, goal, "weight"), rel=1e-12)
        assert run.cost == pytest.approx(distances[source], rel=1e-12)
