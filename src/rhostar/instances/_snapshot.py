"""The class Snapshot: the weights of one moment, checked once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import InputError
from rhostar.graph import Graph

Found = TypeVar("Found")


class Snapshot:
    """Today's weights: an immutable copy, checked once; accepted wherever one row of weights is.

    A plain array may have changed between queries. So every query has to check all weights again: whether one is below
    the bounds of the heuristic, and which table fits them. A snapshot remembers the answers.

    Parameters
    ----------
    graph
        The graph.
    weights
        (m,) one weight per edge, in the order of the graph: float64, float32 or integers, kept as given. ``inf`` marks
        an absent edge.

    Attributes
    ----------
    graph
        The graph.
    weights
        The weights, read-only.

    Raises
    ------
    InputError
        If `graph` is not a Graph.
    ArrayError
        If the weights are not one number per edge.
    WeightError
        If a weight is negative, NaN, or an integer beyond 2**53.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(20, 20)
    >>> past = np.random.default_rng(0).uniform(1, 2, size=(50, graph.m))
    >>> learned = rs.learn(rs.InstanceSet(graph, past, sources=0, goal=399))
    >>> today = rs.Snapshot(graph, past[7])
    >>> [round(rs.astar(graph, today, source, 399, learned).cost, 2) for source in (0, 21, 210)]
    [48.42, 46.21, 23.0]
    """

    __slots__ = ("__weakref__", "_known", "graph", "weights")
    graph: Graph
    weights: NDArray[Any]
    _known: WeakKeyDictionary[Any, dict[str, Any]]

    def __init__(self, graph: Graph, weights: ArrayLike) -> None:
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        row = arrays.weight_row(weights, "weights", graph.m)
        # An array that owns its memory can be made writeable again; one over bytes cannot.
        own = np.frombuffer(row.tobytes(), dtype=row.dtype)
        found = _core.check_weights(own[None, :], None)
        if found.ending.status is not _core.Status.DONE:
            raise failures.search_failure(found.ending, graph, own)
        self._put(graph, own)

    def _put(self, graph: Graph, own: NDArray[Any]) -> None:
        object.__setattr__(self, "graph", graph)
        object.__setattr__(self, "weights", own)
        object.__setattr__(self, "_known", WeakKeyDictionary())

    @classmethod
    def _of_checked(cls, graph: Graph, row: NDArray[Any]) -> Snapshot:
        """Return a snapshot of weights that were checked; it keeps the array, which must not be written to."""
        made = cls.__new__(cls)
        made._put(graph, np.frombuffer(row.data.toreadonly(), dtype=row.dtype))
        return made

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Snapshot cannot be changed")

    def on(self, graph: Graph) -> NDArray[Any]:
        """Return the weights.

        Parameters
        ----------
        graph
            The graph of a query.

        Returns
        -------
        array
            One weight for each edge.

        Raises
        ------
        InputError
            If they are of another graph.
        """
        if self.graph is not graph and self.graph != graph:
            raise InputError(f"weights are a Snapshot of another graph, with {self.graph.m} edges")
        return self.weights

    def remember(self, owner: object, what: str, find: Callable[[NDArray[Any]], Found]) -> Found:
        """Return what an object found out about the weights; it is found out once, and forgotten with either of them.

        Parameters
        ----------
        owner
            Whose knowledge it is.
        what
            Its name.
        find
            Computes it from the weights.

        Returns
        -------
        object
            What `find` returned.
        """
        known = self._known.setdefault(owner, {})
        if what not in known:
            known[what] = find(self.weights)
        found: Found = known[what]
        return found

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.weights, dtype=dtype, copy=copy)

    def __reduce__(self) -> tuple[Any, ...]:
        return Snapshot, (self.graph, self.weights)

    def __repr__(self) -> str:
        return f"Snapshot({self.weights.size} weights, {self.weights.dtype})"
