"""The shortest-path functions of networkx, run by the core: the same results, ties included, and the same exceptions.

Each function has the name and the arguments of its counterpart in networkx, with a :class:`~._networkx_links.Links`
instead of the graph. Where Python would calculate in a way the core does not, such as with fractions, a function raises
:class:`RefusedError`, and networkx can take over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar._core import Status
from rhostar.errors import HeuristicError, WeightError
from rhostar.heuristics import as_heuristic
from rhostar.heuristics._below import shortfall
from rhostar.interop._networkx_links import Links


class RefusedError(NotImplementedError):
    """These arguments are for networkx itself."""


REASONS = {
    Status.BAD_WEIGHT: "a weight is not an int or a float, or sums of integers reach 2**53",
    Status.BAD_RHO: "a heuristic value is not an int or a float, or is NaN",
    Status.LIMIT: "the search is too long",
    Status.CONTRADICTION: "negative weights lead A* around in a circle",
}
"""Why a search that has begun goes to networkx."""
_CUTOFF = "the cutoff is not an int or a float"


def astar_path(
    links: Links,
    source: Any,
    target: Any,
    heuristic: Any = None,
    weight: Any = "weight",
    *,
    cutoff: Any = None,
) -> list[Any]:
    """As ``networkx.astar_path``; `heuristic` may also be an array, a mapping or a learner."""
    start, goal = _ends(links, source, target)
    given = heuristic if heuristic is None or callable(heuristic) else estimates(links, heuristic, goal, weight)
    answer = links.core.astar(weight, start, goal, given, _limit(cutoff or None))
    if answer.ending.status is Status.NO_PATH:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    if answer.ending.status is Status.BAD_RHO and isinstance(given, np.ndarray):
        node = links.nodes[answer.ending.offender]
        raise HeuristicError(f"the heuristic value of the node {node!r} is not a number")
    return _solved(links, answer, weight).path


def astar_path_length(
    links: Links,
    source: Any,
    target: Any,
    heuristic: Any = None,
    weight: Any = "weight",
    *,
    cutoff: Any = None,
) -> Any:
    """As ``networkx.astar_path_length``."""
    if _vertex(links, source) is None or _vertex(links, target) is None:
        raise nx.NodeNotFound(f"Either source {source} or target {target} is not in G")
    path = astar_path(links, source, target, heuristic, weight, cutoff=cutoff)
    # networkx adds the weights once more, by sum(), which may round in another way than the search does.
    total = sum(links.weight(u, v, weight) for u, v in pairwise(path))
    return total.item() if isinstance(total, np.generic) else total


def dijkstra_path(links: Links, source: Any, target: Any, weight: Any = "weight") -> Any:
    """As ``networkx.dijkstra_path``."""
    return single_source_dijkstra(links, source, target=target, weight=weight)[1]


def dijkstra_path_length(links: Links, source: Any, target: Any, weight: Any = "weight") -> Any:
    """As ``networkx.dijkstra_path_length``."""
    start = _vertex(links, source)
    if start is None:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    answer = _to_target(links, [start], target, weight, math.inf)
    if answer is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return answer.cost


def bidirectional_dijkstra(links: Links, source: Any, target: Any, weight: Any = "weight") -> tuple[Any, list[Any]]:
    """As ``networkx.bidirectional_dijkstra``."""
    start, goal = _ends(links, source, target)
    if start == goal:
        return (0, [source])
    answer = links.core.bidirectional(weight, links.back, start, goal)
    if answer.ending.status is Status.NO_PATH:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    if answer.ending.status is Status.CONTRADICTION:
        raise ValueError("Contradictory paths found: negative weights?")
    return (_solved(links, answer, weight).cost, answer.path)


def single_source_dijkstra(
    links: Links, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """As ``networkx.single_source_dijkstra``."""
    return multi_source_dijkstra(links, {source}, target, cutoff, weight)


def single_source_dijkstra_path(
    links: Links, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, list[Any]]:
    """As ``networkx.single_source_dijkstra_path``."""
    return multi_source_dijkstra_path(links, {source}, cutoff, weight)


def single_source_dijkstra_path_length(
    links: Links, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    """As ``networkx.single_source_dijkstra_path_length``."""
    return multi_source_dijkstra_path_length(links, {source}, cutoff, weight)


def multi_source_dijkstra(
    links: Links, sources: Collection[Any], target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Any, Any]:
    """As ``networkx.multi_source_dijkstra``."""
    starts = _starts(links, sources)
    if target in sources:
        return (0, [target])
    if target is None:
        tree = _tree(links, starts, weight, cutoff, paths=True)
        return (tree.distance, tree.paths)
    answer = _to_target(links, starts, target, weight, _limit(cutoff))
    if answer is None:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return (answer.cost, answer.path)


def multi_source_dijkstra_path(
    links: Links, sources: Collection[Any], cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, list[Any]]:
    """As ``networkx.multi_source_dijkstra_path``."""
    return _tree(links, _starts(links, sources), weight, cutoff, paths=True).paths


def multi_source_dijkstra_path_length(
    links: Links, sources: Collection[Any], cutoff: Any = None, weight: Any = "weight"
) -> dict[Any, Any]:
    """As ``networkx.multi_source_dijkstra_path_length``."""
    return _tree(links, _starts(links, sources), weight, cutoff).distance


def dijkstra_predecessor_and_distance(
    links: Links, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> tuple[dict[Any, list[Any]], dict[Any, Any]]:
    """As ``networkx.dijkstra_predecessor_and_distance``."""
    start = _vertex(links, source)
    if start is None:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    tree = _tree(links, [start], weight, cutoff, predecessors=True)
    return (tree.predecessors, tree.distance)


def shortest_path(links: Links, source: Any, target: Any = None, weight: Any = "weight", method: Any = None) -> Any:
    """As ``networkx.shortest_path`` from one source with weights, by Dijkstra's algorithm."""
    if target is None:
        return single_source_dijkstra_path(links, source, weight=weight)
    return bidirectional_dijkstra(links, source, target, weight)[1]


def shortest_path_length(
    links: Links, source: Any, target: Any = None, weight: Any = "weight", method: Any = None
) -> Any:
    """As ``networkx.shortest_path_length`` from one source with weights, by Dijkstra's algorithm."""
    if target is None:
        return single_source_dijkstra_path_length(links, source, weight=weight)
    return dijkstra_path_length(links, source, target, weight)


def estimates(links: Links, heuristic: Any, goal: int, weight: Any) -> Any:
    """Return heuristic values in any form but a function, as a function of two nodes or a float64 array.

    A learner that guarantees optimal answers compares all weights of the graph with its bounds; its values are lowered
    where it must.

    Raises
    ------
    HeuristicError, ArrayError, ModelError, NotFittedError
        If they are not for this graph or this goal.
    """
    if isinstance(heuristic, Mapping):
        table = heuristic.get(links.nodes[goal])
        if not isinstance(table, np.ndarray | list | tuple):
            return _by_node(heuristic)
        heuristic = table
    elif not isinstance(heuristic, np.ndarray | list | tuple):
        graph = links.graph
        found = as_heuristic(heuristic, graph, [goal], name="heuristic")
        needed = found.lower is not None or found.uses_weights
        weights = links.weights(weight) if needed else None
        heuristic = found.table(goal, weights)
        below = None if weights is None else shortfall(found, graph, weights)
        if below is not None:
            heuristic, kept = below.lower_table(heuristic, reopen=True)
            below.warn(kept, stacklevel=6)
    if _is_table(heuristic, len(links.nodes)):
        return heuristic  # the search looks at what it reads: a short query does not pay for all vertices
    return arrays.per_vertex(heuristic, "heuristic", len(links.nodes))


def as_function(links: Links, heuristic: Any, target: Any, weight: Any) -> Callable[[Any, Any], Any]:
    """Return heuristic values in any form but a function, as networkx takes them."""
    values = estimates(links, heuristic, links.number[target], weight)
    return values if callable(values) else lambda node, _: float(values[links.number[node]])


def _is_table(values: Any, n: int) -> bool:
    plain = isinstance(values, np.ndarray) and values.dtype == np.float64 and values.shape == (n,)
    return plain and values.flags.c_contiguous and values.flags.aligned


def _by_node(values: Mapping[Any, Any]) -> Any:
    def estimate(node: Any, _: Any) -> Any:
        try:
            return values[node]
        except KeyError:
            raise HeuristicError(f"the heuristic has no value for the node {node!r}") from None

    return estimate


def _vertex(links: Links, node: Any) -> int | None:
    try:
        return links.number.get(node)
    except TypeError:  # not hashable, so it is no node
        return None


def _ends(links: Links, source: Any, target: Any) -> tuple[int, int]:
    start, goal = _vertex(links, source), _vertex(links, target)
    if start is None:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    if goal is None:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return start, goal


def _starts(links: Links, sources: Collection[Any]) -> list[int]:
    if not sources:
        raise ValueError("sources must not be empty")
    starts = []
    for source in sources:
        start = _vertex(links, source)
        if start is None:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
        starts.append(start)
    return starts


def _limit(cutoff: Any) -> float:
    """Return a cutoff as a float that compares with sums as the given one does."""
    if cutoff is None:
        return math.inf
    if isinstance(cutoff, float) or (isinstance(cutoff, int) and abs(cutoff) <= 2**53):
        return float(cutoff)
    raise RefusedError(_CUTOFF)


def _to_target(links: Links, starts: list[int], target: Any, weight: Any, cutoff: float) -> _core.PathAnswer | None:
    """Return the answer of Dijkstra's algorithm, None if the target cannot be reached."""
    goal = _vertex(links, target)
    if goal is None:  # networkx searches for it all the same, and may come to a weight that it objects to
        _tree(links, starts, weight, cutoff)
        return None
    answer = links.core.dijkstra(weight, starts, goal, cutoff)
    if answer.ending.status is Status.NO_PATH:
        return None
    if answer.ending.status is Status.CONTRADICTION:
        raise ValueError("Contradictory paths found:", "negative weights?")
    return _solved(links, answer, weight)


def _tree(
    links: Links, starts: list[int], weight: Any, cutoff: Any, *, paths: bool = False, predecessors: bool = False
) -> _core.TreeAnswer:
    tree = links.core.tree(weight, starts, _limit(cutoff), paths, predecessors)
    if tree.ending.status is Status.CONTRADICTION:
        raise ValueError("Contradictory paths found:", "negative weights?")
    if tree.ending.status is not Status.DONE:
        raise _refusal(links, tree.ending, weight)
    return tree


def _solved(links: Links, answer: _core.PathAnswer, weight: Any) -> _core.PathAnswer:
    if answer.ending.status is not Status.SOLVED:
        raise _refusal(links, answer.ending, weight)
    return answer


def _refusal(links: Links, ending: _core.Ending, weight: Any) -> Exception:
    """Return why the core does not answer. NaN is an error: with it networkx may search for ever."""
    if ending.status is Status.BAD_WEIGHT:
        for u, v in links.edges(ending.offender):
            if any(isinstance(value, float) and math.isnan(value) for value in links.parallel_weights(u, v, weight)):
                return WeightError(f"the weight of the edge {u!r} -> {v!r} is not a number: nan")
    return RefusedError(REASONS[ending.status])
