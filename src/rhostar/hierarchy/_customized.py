"""The class CustomizedHierarchy: an index of shortest paths for one row of weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import ArrayError, EdgeError, RhostarError, WeightError
from rhostar.graph import Graph

LARGEST_WHOLE = 2.0**53 - 1
"""Sums of integers are exact up to here: 2**53 + 1 is rounded to 2**53, so a sum that is there may be wrong."""


class IndexPath(NamedTuple):
    """A shortest path; without one, `cost` is inf and the arrays are empty."""

    cost: float
    """The sum of its weights."""
    path: NDArray[np.int32]
    """The vertices, from the source to the target."""
    edges: NDArray[np.int32]
    """The edges between them."""


class CustomizedHierarchy:
    """An index of shortest paths for one row of weights; :meth:`Hierarchy.customize` returns one.

    Answers are exact. With integer weights, distances are exact below 2**53, and larger ones raise an error. With
    floating-point weights, all answers are sums in float64, and a path, summed in order from its source, costs at most
    1 + 2 · edges · 2**-53 times what Dijkstra's algorithm finds.

    :meth:`distance`, :meth:`path` and :meth:`matrix` add in the same order. The length of an arc of the hierarchy is
    the sum of the two arcs that it replaces. The upward part of a path is summed from the source, the downward part
    from the target, and then both are added. If no sum is rounded, the order makes no difference.

    Where several paths are shortest, the answer is one of them, always the same one. Other searches may return another.

    Parameters
    ----------
    graph
        The graph.
    kernel
        The arcs and their lengths.
    whole
        Whether the weights are integers.

    Attributes
    ----------
    graph
        The graph.
    n
        Number of vertices.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(10, 10)
    >>> today = rs.Hierarchy(graph).customize(graph.length)
    >>> today.distance(0, 99), today.path(0, 99).path.size
    (18.0, 19)
    """

    graph: Graph
    n: int

    _heuristic: Any = None
    """The distances under its weights as a heuristic; :func:`rhostar.heuristics.as_heuristic` makes it."""
    _most_work = -1
    """Above it, updates customize in full (in pairs of arcs); -1 stands for what that itself takes. For tests."""

    def __init__(self, graph: Graph, kernel: _core.Customization, *, whole: bool) -> None:
        self.graph, self.n, self._kernel, self._whole = graph, graph.n, kernel, whole

    @property
    def nbytes(self) -> int:
        """Memory in bytes for the weights and the lengths of the arcs, without the hierarchy."""
        return self._kernel.nbytes

    def distance(self, source: int, target: int) -> float:
        """Return the cost of a shortest path.

        Parameters
        ----------
        source, target
            Vertices.

        Returns
        -------
        float
            inf if there is no path; 0 if both are the same vertex.

        Raises
        ------
        VertexError
            If one of them is not a vertex.
        WeightError
            If the weights are integers and the cost is 2**53 or more.

        Examples
        --------
        >>> import rhostar as rs
        >>> graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
        >>> today = rs.Hierarchy(graph).customize([2, 1, 2, 4])
        >>> today.distance(0, 3), today.distance(3, 0)
        (4.0, inf)
        """
        s, t = arrays.vertex(source, "source", self.n), arrays.vertex(target, "target", self.n)
        return self._exact(self._kernel.distance(s, t), s, t)

    def path(self, source: int, target: int) -> IndexPath:
        """Return a shortest path.

        Parameters
        ----------
        source, target
            Vertices.

        Returns
        -------
        IndexPath
            Its cost, vertices and edges.

        Raises
        ------
        VertexError
            If one of them is not a vertex.
        WeightError
            If the weights are integers and the cost is 2**53 or more.

        Examples
        --------
        >>> import rhostar as rs
        >>> graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
        >>> today = rs.Hierarchy(graph).customize([2, 1, 2, 4])
        >>> found = today.path(0, 3)
        >>> found.cost, found.path.tolist(), found.edges.tolist()
        (4.0, [0, 1, 3], [0, 2])
        """
        s, t = arrays.vertex(source, "source", self.n), arrays.vertex(target, "target", self.n)
        found = self._kernel.path(s, t)
        failures.require_done(found.ending)
        return IndexPath(self._exact(found.cost, s, t), found.vertices, found.edges)

    def distances(
        self, source: int, targets: ArrayLike | None = None, *, max_cost: float = np.inf
    ) -> NDArray[np.float64]:
        """Return the costs of shortest paths from one vertex to many.

        Parameters
        ----------
        source
            A vertex.
        targets
            Vertices; None for all.
        max_cost
            Costs above it become inf; a low limit saves work.

        Returns
        -------
        numpy.ndarray
            One cost per target; inf if there is no path. Costs are summed from the source, so they may differ from
            :meth:`distance` in the last bits where sums round.

        Raises
        ------
        VertexError, ArrayError, InputError
            If one of them is not a vertex; if `max_cost` is negative or NaN.
        WeightError
            If the weights are integers and a cost is 2**53 or more.

        Examples
        --------
        >>> import rhostar as rs
        >>> graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
        >>> today = rs.Hierarchy(graph).customize([2, 1, 2, 4])
        >>> today.distances(0).tolist(), today.distances(0, [3], max_cost=3).tolist()
        ([0.0, 2.0, 1.0, 4.0], [inf])
        """
        return self._sweep(arrays.vertex(source, "source", self.n), targets, "targets", max_cost, against=False)

    def distances_to(
        self, target: int, sources: ArrayLike | None = None, *, max_cost: float = np.inf
    ) -> NDArray[np.float64]:
        """Return the costs of shortest paths from many vertices to one.

        Parameters
        ----------
        target
            A vertex.
        sources
            Vertices; None for all.
        max_cost
            Costs above it become inf; a low limit saves work.

        Returns
        -------
        numpy.ndarray
            One cost per source; inf if there is no path.

        Raises
        ------
        VertexError, ArrayError, InputError, WeightError
            As in :meth:`distances`.

        Examples
        --------
        >>> import rhostar as rs
        >>> graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
        >>> today = rs.Hierarchy(graph).customize([2, 1, 2, 4])
        >>> today.distances_to(3).tolist()
        [4.0, 2.0, 4.0, 0.0]
        """
        return self._sweep(arrays.vertex(target, "target", self.n), sources, "sources", max_cost, against=True)

    def matrix(self, sources: ArrayLike, targets: ArrayLike) -> NDArray[np.float64]:
        """Return the costs of shortest paths from each source to each target.

        Parameters
        ----------
        sources, targets
            Vertices.

        Returns
        -------
        numpy.ndarray
            (number of sources, number of targets) as :meth:`distance` returns them, bit for bit.

        Raises
        ------
        VertexError, ArrayError
            If one of them is not a vertex.
        WeightError
            If the weights are integers and a cost is 2**53 or more.

        Examples
        --------
        >>> import rhostar as rs
        >>> graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
        >>> today = rs.Hierarchy(graph).customize([2, 1, 2, 4])
        >>> today.matrix([0, 1], [2, 3]).tolist()
        [[1.0, 4.0], [inf, 2.0]]
        """
        rows, columns = arrays.vertices(sources, "sources", self.n), arrays.vertices(targets, "targets", self.n)
        found = self._kernel.matrix(rows, columns, None)
        failures.require_done(found.ending)
        return self._all_exact(found.cost).reshape(rows.size, columns.size)

    def update(self, edges: ArrayLike, weights: ArrayLike, *, in_place: bool = False) -> CustomizedHierarchy:
        """Return an index in which some edges have new weights.

        It is the same, bit for bit, as customizing with all weights again, and much faster if few edges change. If the
        change spreads so far that customizing is less work, that is done instead.

        Parameters
        ----------
        edges
            The edges. If an edge occurs several times, its last weight counts.
        weights
            Their new weights, or one for all of them; inf closes an edge.
        in_place
            Whether this index itself takes the new weights, which saves a copy. Queries of other threads see the old
            weights or the new ones, never some of each.

        Returns
        -------
        CustomizedHierarchy
            A new index, and this one stays as it is; with `in_place`, this one.

        Raises
        ------
        EdgeError, ArrayError
            If one of them is not an edge, or there is not one weight for each.
        WeightError
            If a weight is negative or NaN, all weights of the graph would be infinite, or a path could cost more than
            the largest float64; if the index was made for integers and a weight is neither an integer below 2**53 nor
            inf. Nothing is changed then.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 3, 3])
        >>> today = rs.Hierarchy(graph).customize([2, 1, 2, 4])
        >>> later = today.update([2], np.inf)
        >>> today.distance(0, 3), later.distance(0, 3)
        (4.0, 5.0)
        """
        chosen = arrays.as_array(edges, "edges")
        if chosen.ndim != 1 or (chosen.dtype.kind not in "iu" and chosen.size):
            raise ArrayError(f"edges must be a one-dimensional array of integers, got {chosen.dtype}{chosen.shape}")
        given = arrays.as_array(weights, "weights")
        if given.dtype.kind not in "iuf":
            raise ArrayError(f"weights must be numbers, got dtype {given.dtype}")
        if given.shape != chosen.shape:
            if given.shape:
                raise ArrayError(
                    f"weights must have one value for each of the {arrays.counted(chosen.size, 'edge')}, or one for "
                    f"all, got shape {given.shape}"
                )
            given = np.broadcast_to(given, chosen.shape)
        whole = self._whole or given.dtype.kind != "f"
        changes = np.ascontiguousarray(chosen, dtype=np.int64), np.ascontiguousarray(given, dtype=np.float64)
        kernel = self._kernel
        if in_place:
            ending = kernel.update_in_place(*changes, whole, self._most_work, None)
        else:
            kernel = kernel.updated(*changes, whole, self._most_work, None)
            ending = kernel.ending
        if ending.status is not _core.Status.DONE:
            raise self._update_failure(ending, chosen, given)
        if not in_place:
            return CustomizedHierarchy(self.graph, kernel, whole=self._whole)
        self._heuristic = None
        return self

    def _update_failure(self, ending: _core.Ending, edges: NDArray[Any], weights: NDArray[Any]) -> RhostarError:
        at = ending.offender
        match ending.status:
            case _core.Status.NO_PATH:
                return WeightError("weights must leave a finite value for at least one edge; all would be infinite")
            case _core.Status.OVERFLOW:
                return WeightError("weights are too large: with them a path costs more than the largest float64")
            case _core.Status.BAD_INPUT if at >= 0:
                return EdgeError(f"edges[{at}] must be an edge in 0..{self.graph.m - 1}, got {edges[at]}")
            case _core.Status.BAD_WEIGHT:
                what = f"weights[{at}] (edge {self.graph._edge_name(edges[at])})"
                if not weights[at] >= 0:
                    return failures.failure(ending, what=what, limit="", value=weights[at])
                note = " or inf, as the index was made for integers" if self._whole else ""
                return WeightError(f"{what} must be an integer below 2**53{note}; got {weights[at]}")
            case _:
                return failures.failure(ending)

    def _sweep(
        self, one: int, many: ArrayLike | None, name: str, max_cost: float, *, against: bool
    ) -> NDArray[np.float64]:
        most = arrays.number(max_cost, "max_cost", "a number that is not negative", lambda x: x >= 0)
        found = self._kernel.distances(
            one, None if many is None else arrays.vertices(many, name, self.n), against, most, None
        )
        failures.require_done(found.ending)
        return self._all_exact(found.cost)

    def _all_exact(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._whole and ((costs > LARGEST_WHOLE) & (costs < np.inf)).any():
            raise WeightError("a path costs 2**53 or more; sums of integers are exact only below it")
        return costs

    def _exact(self, cost: float, source: Any, target: Any) -> float:
        if self._whole and LARGEST_WHOLE < cost < np.inf:
            raise WeightError(
                f"the path from {source} to {target} costs 2**53 or more; sums of integers are exact only below it"
            )
        return cost

    def __repr__(self) -> str:
        return f"CustomizedHierarchy({self.n} vertices)"
