"""Graphs for which a hierarchy does not pay are declined before anything large is made."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import LimitError
from rhostar.hierarchy._order import elimination_order


@pytest.mark.parametrize("degree", [2, 20])
def test_a_random_graph_is_declined(degree: int) -> None:
    n = 20_000
    graph = rs.Graph.from_edges(n, *np.random.default_rng(0).integers(0, n, (2, degree * n)))
    with pytest.raises(LimitError, match=r"is not worthwhile: .* no small separators\. Use landmarks$"):
        rs.Hierarchy(graph)
    # Counting stopped long before all arcs were counted.
    parts = graph._kernel.skeleton_parts(elimination_order(graph), 10**9, 1000 * graph.m, None)
    assert 0 < parts.ending.at < 0.1 * n * n / 2


def test_memory_is_known_before_it_is_taken() -> None:
    for graph in (rs.Graph.grid(30, 30, neighbors=8), rs.datasets.city(2000, seed=0).graph):
        hierarchy = rs.Hierarchy(graph)
        today = hierarchy.customize(np.ones(graph.m))
        parts = graph._kernel.skeleton_parts(elimination_order(graph), 10**9, 10**12, None)
        taken = hierarchy.nbytes + today.nbytes
        assert taken <= parts.bytes <= 1.15 * taken
        again = rs.Graph(graph.first_out, graph.head, coordinates=graph.coordinates)
        assert rs.Hierarchy(again, memory_limit=parts.bytes).n_arcs == hierarchy.n_arcs
        again = rs.Graph(graph.first_out, graph.head, coordinates=graph.coordinates)
        with pytest.raises(LimitError, match=rf"takes {parts.bytes} bytes .* allows {parts.bytes - 1}"):
            rs.Hierarchy(again, memory_limit=parts.bytes - 1)
