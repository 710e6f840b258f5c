"""The class Hierarchy: the part of an index of shortest paths that depends on the graph alone."""

from __future__ import annotations

import os

from numpy.typing import ArrayLike

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import InputError, LimitError, WeightError
from rhostar.graph import Graph
from rhostar.hierarchy._customized import CustomizedHierarchy
from rhostar.hierarchy._order import elimination_order
from rhostar.hierarchy._storage import read_hierarchy, write_hierarchy

_BYTES_PER_ARC = 28
"""Memory for one arc, at least: its length and its edge in both directions, and what it may stand for."""

_PAIRS_PER_EDGE = 100_000
"""Pairs of arcs to be compared for each edge, at most. With more, customizing takes longer than a thousand searches."""


class Hierarchy:
    """An index of a graph, made once, that takes new weights quickly and then answers in microseconds.

    The vertices are put into an order by nested dissection, which depends on the graph alone (customizable contraction
    hierarchies, Dibbelt, Strasser and Wagner). :meth:`customize` then finds, for one row of weights, the lengths of the
    arcs that join each vertex to vertices later in the order; with these, a distance takes microseconds. On road
    networks, customizing takes about as long as one search over all vertices.

    It pays for graphs with small separators, such as road networks and grids. Graph and order are remembered: a second
    ``Hierarchy(graph)`` costs nothing.

    Parameters
    ----------
    graph
        The graph.
    memory_limit
        Bytes that the hierarchy and one set of weights may take; None for half of the machine's memory.
    verbose
        1 shows a progress bar on standard error while vertices are put in order, which takes almost all of the time.

    Attributes
    ----------
    graph
        The graph.

    Raises
    ------
    InputError
        If `graph` is not a Graph.
    LimitError
        If the hierarchy would take more memory, or customizing would take more time than about a thousand searches,
        because the graph has no small separators. This is checked before anything large is allocated.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(40, 40)
    >>> hierarchy = rs.Hierarchy(graph)
    >>> today = hierarchy.customize(np.random.default_rng(0).uniform(1, 2, graph.m))
    >>> round(today.distance(0, 1599), 3)
    99.121
    >>> today.path(0, 1599).path[-2:].tolist()
    [1559, 1599]
    """

    graph: Graph

    def __init__(self, graph: Graph, *, memory_limit: int | None = None, verbose: int = 0) -> None:
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        limit = _half_of_memory() if memory_limit is None else arrays.integer(memory_limit, "memory_limit", 0)
        kernel = graph._hierarchy
        if kernel is None or kernel.nbytes + 16 * kernel.arcs > limit:
            kernel = _make(graph, limit, verbose)
            object.__setattr__(graph, "_hierarchy", kernel)
        self.graph, self._kernel = graph, kernel

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return self._kernel.arcs

    @property
    def nbytes(self) -> int:
        """Memory in bytes, without the graph."""
        return self._kernel.nbytes

    def customize(self, weights: ArrayLike) -> CustomizedHierarchy:
        """Return an index of shortest paths for one row of weights.

        Parameters
        ----------
        weights
            (m,) the weights, at least 0; inf for an edge that is absent. They are copied.

        Returns
        -------
        CustomizedHierarchy

        Raises
        ------
        ArrayError, WeightError
            If the weights are not one number per edge; if one is negative or NaN, all are infinite, or a path could
            cost more than the largest float64.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> hierarchy = rs.Hierarchy(rs.Graph.from_edges(3, [0, 1, 0], [1, 2, 2]))
        >>> [hierarchy.customize(weights).distance(0, 2) for weights in ([1, 5, 1], [1, 5, 9])]
        [2.0, 5.0]
        """
        row = arrays.weight_row(weights, "weights", self.graph.m)
        made = self._kernel.customize(row, None)
        if made.ending.status is _core.Status.NO_PATH:
            raise WeightError("weights must have a finite value for at least one edge; all are infinite")
        if made.ending.status is not _core.Status.DONE:
            raise failures.search_failure(made.ending, self.graph, row)
        return CustomizedHierarchy(self.graph, made, whole=row.dtype.kind == "i")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the hierarchy, without weights, to a file, completely or not at all.

        Parameters
        ----------
        path
            The file to write or replace.

        Raises
        ------
        StorageError
            If the file cannot be written; an old file stays as it was.
        """
        write_hierarchy(path, self._kernel, self.graph)

    @classmethod
    def load(cls, path: str | os.PathLike[str], graph: Graph) -> Hierarchy:
        """Open a file that :meth:`save` wrote.

        The arrays are mapped, so that processes on one machine share them. They are checked once, now: checksums, and
        that all numbers are in their ranges, so that no query reads outside of the arrays. Replacing the file later is
        fine; changing it while it is in use is not supported.

        Parameters
        ----------
        path
            The file.
        graph
            The graph that the hierarchy was made for. It remembers the hierarchy, if it has none.

        Returns
        -------
        Hierarchy

        Raises
        ------
        InputError
            If `graph` is not a Graph.
        StorageError
            If the file is missing, damaged, not a hierarchy, or that of another graph.

        Examples
        --------
        >>> import rhostar as rs, tempfile
        >>> graph = rs.Graph.grid(10, 10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rs.Hierarchy(graph).save(f"{folder}/grid.npz")
        ...     hierarchy = rs.Hierarchy.load(f"{folder}/grid.npz", graph)
        >>> hierarchy.customize(graph.length).distance(0, 99)
        18.0
        """
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        found = cls.__new__(cls)
        found.graph, found._kernel = graph, read_hierarchy(path, graph)
        if graph._hierarchy is None:
            object.__setattr__(graph, "_hierarchy", found._kernel)
        if graph._elimination_order is None:  # ranks are one, too
            object.__setattr__(graph, "_elimination_order", found._kernel.parts[0])
        return found

    def __repr__(self) -> str:
        return f"Hierarchy({self.graph.n} vertices, {self.n_arcs} arcs)"


def _make(graph: Graph, limit: int, verbose: int) -> _core.Hierarchy:
    most = min(limit // _BYTES_PER_ARC, arrays.LARGEST_INDEX // 2)  # both directions are numbered with 32 bits
    order = elimination_order(graph, verbose=verbose)
    parts = graph._kernel.skeleton_parts(order, most, _PAIRS_PER_EDGE * graph.m, None)
    if parts.ending.status is _core.Status.LIMIT:
        raise LimitError(
            f"a hierarchy of this graph is not worthwhile: it needs more than {parts.ending.at} arcs, "
            f"{parts.ending.at / graph.n:.0f} per vertex, because the graph has no small separators. Use landmarks"
            + (f", or raise memory_limit, which is {limit} bytes" if parts.ending.at > most else "")
        )
    failures.require_done(parts.ending)
    if parts.bytes > limit:
        raise LimitError(
            f"a hierarchy of this graph takes {parts.bytes} bytes with one set of weights, and memory_limit allows "
            f"{limit}. Raise it, or use landmarks"
        )
    kernel = graph._kernel.open_hierarchy([parts.vertex, parts.begin, parts.list_first, parts.list])
    assert kernel is not None, "parts that were just made fit"
    return kernel


def _half_of_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):  # not on every system
        return 4 * 2**30
