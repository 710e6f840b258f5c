"""Random cases in which two implementations must agree; ``tools/fuzz.py`` runs many, the tests some.

A case is made from its number, so a failure can be looked at again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from support import sequences
from support.cases import assert_same, random_case

Rng = np.random.Generator


def kernel(case: int, seed: int = 0) -> None:
    """Everything that a search returns, against the plain Python reference; a third with its trace."""
    made = random_case(np.random.default_rng([seed, 101, case]))
    assert_same(made.run(trace=case % 3 == 0), made.expected())


def calls(case: int, seed: int = 0) -> None:
    """A sequence of 40 calls on a router and a hierarchy, against an independent Dijkstra search."""
    sequences.run(case, seed=seed)


def outcome(call: Callable[[], Any]) -> tuple[str, Any]:
    """Return the result with its types and orders, or the exception."""
    import networkx as nx

    try:
        return "result", described(call())
    except (nx.NetworkXException, ValueError, TypeError, NotImplementedError, KeyError) as error:
        return type(error).__name__, error.args


def described(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, described(entry)) for key, entry in value.items()]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(described, value)]
    if inspect.isgenerator(value):
        return [described(entry) for entry in value]
    if isinstance(value, np.generic):  # a backend must not return these
        value = value.item()
    return type(value).__name__, value


def same(name: str, G: Any, *args: Any, **kwargs: Any) -> None:
    """Call a function of networkx through the backend and without it."""
    import networkx as nx

    mine = outcome(lambda: getattr(nx, name)(G, *args, backend="rhostar", **kwargs))
    theirs = outcome(lambda: getattr(nx, name)(G, *args, backend="networkx", **kwargs))
    if mine[0] == "NotImplementedError":
        assert theirs[0] == "TypeError"  # of parallel edges, one has a number and another None
    else:
        assert mine == theirs


def backend(case: int, seed: int = 0) -> None:
    """A networkx graph that changes in every way, between calls of the backend and of networkx itself."""
    import networkx as nx

    rng = np.random.default_rng([seed, 102, case])
    kinds = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
    G = kinds[int(rng.integers(4))]()
    n = int(rng.integers(2, 10))
    G.add_nodes_from(rng.permutation(n).tolist())
    whole = rng.random() < 0.5

    def weight() -> Any:
        value = int(rng.integers(0, 5))
        return value if whole else [value, value / 2, 0.1 * value, float("inf"), None][int(rng.integers(5))]

    def one() -> int:
        return list(G)[int(rng.integers(len(G)))]

    for _ in range(3 * n):
        G.add_edge(one(), one(), weight=weight())
    for _ in range(12):
        edges = list(G.edges(data=True))
        change = int(rng.integers(7))
        if change == 0:
            G.add_edge(one(), one(), weight=weight())
        elif change == 1 and edges:
            G.remove_edge(*edges[int(rng.integers(len(edges)))][:2])
        elif change == 2 and edges:
            edges[int(rng.integers(len(edges)))][2]["weight"] = weight()  # networkx is not told
        elif change == 3:
            G.add_node(n := n + 1)
        elif change == 4 and len(G) > 2:
            G.remove_node(one())
        elif change == 5:
            nx.set_edge_attributes(G, weight(), "weight")
        _ask(rng, G, one)


def _ask(rng: Rng, G: Any, one: Callable[[], int]) -> None:
    source, target, cutoff = one(), one(), [None, 2, 3.5][int(rng.integers(3))]
    values = dict(zip(G, rng.integers(0, 4, len(G)).tolist(), strict=True))
    match int(rng.integers(7)):
        case 0:
            same("astar_path", G, source, target, lambda u, v: values[u], cutoff=cutoff)
        case 1:
            same("astar_path_length", G, source, target, lambda u, v: values[u])
        case 2:
            same("bidirectional_dijkstra", G, source, target)
        case 3:
            same("single_source_dijkstra", G, source, cutoff=cutoff)
        case 4:
            same("multi_source_dijkstra", G, [source, one()], target)
        case 5:
            same("dijkstra_predecessor_and_distance", G, source, cutoff=cutoff)
        case _:
            same("shortest_path", G, source, target, "weight")


DIFFERENTIAL: dict[str, Callable[[int, int], None]] = {"kernel": kernel, "router calls": calls}
if find_spec("networkx") is not None:
    DIFFERENTIAL["backend"] = backend
