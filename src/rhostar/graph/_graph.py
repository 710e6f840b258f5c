"""The class Graph: the vertices, and all edges that any instance may have. It is immutable.

The names are those of road routers: the edges leaving vertex ``v`` are ``first_out[v]`` to ``first_out[v + 1] - 1``;
edge ``e`` goes from ``tail[e]`` to ``head[e]``. Children are in index order. Vertices are 0..n-1, and **their order is
the tie-breaking order** (Assumption 2 of the paper).

Allowed: a single vertex, no edges at all, vertices without edges, zero lengths. A user's own edges may come in any
order, with loops (dropped: no cheapest path uses one) and parallels (merged; :meth:`Graph.arrange` keeps the cheapest).
A graph has fewer than 2**31 vertices and edges.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar import _failures as failures
from rhostar.errors import ArrayError, GraphError, VertexError
from rhostar.graph import _derived as derived
from rhostar.graph._edges import Given, grid_edges, sort_edges
from rhostar.graph._lookup import cell_vertex, edge_positions, labeled_vertex
from rhostar.graph._turns import TurnGraph, Turns, with_turns

if TYPE_CHECKING:
    import networkx as nx

# With more vertices than this, the records of a search no longer fit into the nearest caches, and it pays to keep those
# of neighbors together: along a Hilbert curve if there are coordinates, otherwise in breadth-first order. Users do not
# see it: ids, paths, traces and ties stay in their order.
_LARGE = 50_000
# An order must bring the ends of an edge closer by this many bits on average. If it gains less, reading weights and
# rho, which stay in the user's order, costs more than the records gain.
_LEAST_GAIN = 6.0


class Graph:
    """An immutable directed graph in compressed sparse row form.

    Most users call :meth:`from_edges`, :meth:`grid`, :meth:`from_scipy` or :meth:`from_networkx`.
    Graphs compare by content and are hashable.

    Parameters
    ----------
    first_out
        n + 1 offsets into `head`.
    head
        Where each edge ends; increasing among the edges of one vertex.
    coordinates
        Optional (n, 2) array of (x, y), or (longitude, latitude).
    labels
        Optional names of the vertices: n distinct hashable values.
    length
        Optional geometric length of each edge.
    shape
        (rows, columns) if the vertices are the cells of a grid, row by row.

    Raises
    ------
    GraphError
        If the arrays are not a graph without loops and parallel edges; the message names the first error.
    ArrayError
        If an array has the wrong type or shape.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.from_edges(3, tail=[0, 1, 0], head=[1, 2, 2])
    >>> graph
    Graph(n=3, m=3)
    >>> graph.tail.tolist(), graph.head.tolist()
    ([0, 0, 1], [1, 2, 2])
    """

    first_out: NDArray[np.int32]
    head: NDArray[np.int32]
    coordinates: NDArray[np.float64] | None
    labels: tuple[Hashable, ...] | None
    length: NDArray[np.float64] | None
    shape: tuple[int, int] | None
    _kernel: _core.Graph
    _given: Given | None = None
    _index: dict[Hashable, int]
    _elimination_order: NDArray[np.int32] | None = None  # rhostar.hierarchy makes it, and the hierarchy
    _hierarchy: _core.Hierarchy | None = None
    _copies: dict[Any, Any]

    def __init__(
        self,
        first_out: ArrayLike,
        head: ArrayLike,
        *,
        coordinates: ArrayLike | None = None,
        labels: Sequence[Hashable] | None = None,
        length: ArrayLike | None = None,
        shape: tuple[int, int] | None = None,
    ) -> None:
        offsets, heads = arrays.indices(first_out, "first_out"), arrays.indices(head, "head")
        if offsets.size < 2:
            raise GraphError("a graph needs at least one vertex")
        ending = _core.check(offsets, heads)
        if ending.status is not _core.Status.DONE:
            raise failures.graph_failure(ending, heads)
        n, m = offsets.size - 1, heads.size
        put = super().__setattr__
        put("first_out", arrays.frozen(offsets))
        put("head", arrays.frozen(heads))
        put("coordinates", None if coordinates is None else arrays.coordinates(coordinates, n))
        put("labels", None if labels is None else arrays.labels(labels, n))
        put("length", None if length is None else arrays.length(length, m))
        put("shape", None if shape is None else _shape(shape, n))
        put("_kernel", _core.Graph(self.first_out, self.head))
        if n >= _LARGE:
            self._kernel.rearrange(self.coordinates, _LEAST_GAIN)
        put("_copies", {})  # by cluster, what refers to the copy there; rhostar._workers makes it

    # ------------------------------------------------------------ constructors

    @classmethod
    def from_edges(
        cls,
        n: int,
        tail: ArrayLike,
        head: ArrayLike | None = None,
        *,
        coordinates: ArrayLike | None = None,
        labels: Sequence[Hashable] | None = None,
        length: ArrayLike | None = None,
    ) -> Graph:
        """Make a graph from edges in any order; loops and parallel edges are allowed.

        Parameters
        ----------
        n
            Number of vertices.
        tail, head
            Where each edge begins and ends.
        coordinates, labels
            As for :class:`Graph`.
        length
            Length of each edge *in the order given*; it is reordered as by :meth:`arrange`.

        Returns
        -------
        Graph
            It remembers the order given, so that :meth:`arrange` can put further arrays into graph order.

        Raises
        ------
        VertexError
            If a tail or head is not in 0..n-1; the message names the first.
        ArrayError
            If there are not as many heads as tails.

        Examples
        --------
        >>> import rhostar as rs
        >>> graph = rs.Graph.from_edges(2, tail=[1, 0, 0, 0], head=[0, 1, 1, 0])
        >>> graph.m  # one of the parallel edges and the loop are gone
        2
        >>> graph.arrange([5.0, 7.0, 3.0, 1.0]).tolist()
        [3.0, 5.0]
        """
        n = arrays.integer(n, "n", 1, arrays.LARGEST_INDEX - 1)  # there is one offset more
        if head is None:
            raise ArrayError(
                "head must be given: tails and heads are two arrays; from_edges(n, *zip(*pairs)) takes pairs"
            )
        tails, heads = arrays.vertices(tail, "tail", n), arrays.vertices(head, "head", n)
        if tails.size != heads.size:
            raise ArrayError(f"tail and head must have equal lengths, got {tails.size} and {heads.size}")
        first_out, kept_heads, given = sort_edges(n, tails, heads)
        graph = cls(first_out, kept_heads, coordinates=coordinates, labels=labels)
        object.__setattr__(graph, "_given", given)
        if length is not None:
            object.__setattr__(graph, "length", arrays.length(graph.arrange(length), graph.m))
        return graph

    @classmethod
    def grid(cls, rows: int, columns: int, *, neighbors: int = 4) -> Graph:
        """Make a grid; the cell (row, column) is vertex ``row * columns + column``.

        Parameters
        ----------
        rows, columns
            The size of the grid.
        neighbors
            4, or 8 with diagonals.

        Returns
        -------
        Graph
            With lengths (1, and sqrt(2) for diagonals) and coordinates (x = column, y = row).

        Raises
        ------
        InputError
            If `neighbors` is neither 4 nor 8 or a size is not positive.

        Examples
        --------
        >>> import rhostar as rs
        >>> graph = rs.Graph.grid(2, 3, neighbors=8)
        >>> graph.n, graph.m, graph.vertex((1, 2))
        (6, 22, 5)
        """
        rows, columns = arrays.integer(rows, "rows", 1), arrays.integer(columns, "columns", 1)
        first_out, head, length = grid_edges(rows, columns, neighbors)
        row, column = np.divmod(np.arange(rows * columns), columns)
        coordinates = np.stack([column, row], axis=1)
        return cls(first_out, head, coordinates=coordinates, length=length, shape=(rows, columns))

    @classmethod
    def from_scipy(cls, matrix: Any, *, coordinates: ArrayLike | None = None) -> Graph:
        """Make a graph from a square sparse matrix: each stored entry (i, j), even a zero, is an edge.

        Its weights are ``graph.arrange(matrix.tocoo().data)``.

        Parameters
        ----------
        matrix
            A square sparse matrix of scipy.
        coordinates
            As for :class:`Graph`.

        Returns
        -------
        Graph
            It remembers the order of the entries, for :meth:`arrange`.

        Raises
        ------
        GraphError
            If the matrix is not sparse and square.

        Examples
        --------
        >>> import rhostar as rs, scipy.sparse as sp
        >>> matrix = sp.csr_array(([4.0, 2.0], ([0, 1], [1, 0])), shape=(2, 2))
        >>> graph = rs.Graph.from_scipy(matrix)
        >>> graph.arrange(matrix.tocoo().data).tolist()
        [4.0, 2.0]
        """
        if not hasattr(matrix, "tocoo") or len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"matrix must be a square scipy sparse matrix, got {type(matrix).__name__}")
        entries = matrix.tocoo()
        return cls.from_edges(matrix.shape[0], entries.row, entries.col, coordinates=coordinates)

    @classmethod
    def from_networkx(cls, network: nx.Graph, *, length: str | None = None) -> Graph:
        """Make a graph from a networkx Graph, DiGraph, MultiGraph or MultiDiGraph.

        Vertices follow the order of ``network.nodes``, whose ids become the labels; an undirected
        edge becomes one edge each way. If every node has numbers ``x`` and ``y``, these are the
        coordinates. :meth:`weights_of` reads the weights.

        Parameters
        ----------
        network
            The graph.
        length
            Edge attribute to keep as the geometric length.

        Returns
        -------
        Graph
            With the ids of the nodes as labels.

        Examples
        --------
        >>> import networkx as nx, rhostar as rs
        >>> network = nx.DiGraph()
        >>> network.add_edge("home", "work", minutes=12)
        >>> graph = rs.Graph.from_networkx(network)
        >>> graph.labels, graph.weights_of(network, "minutes").tolist()
        (('home', 'work'), [12.0])
        """
        from rhostar.interop.networkx import read_networkx

        return read_networkx(cls, network, length)

    # ------------------------------------------------------------ queries

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.first_out.size - 1

    @property
    def m(self) -> int:
        """Number of edges."""
        return self.head.size

    @property
    def tail(self) -> NDArray[np.int32]:
        """Where each edge begins; weights follow the order of `tail` and `head`."""
        return self._once(
            "_tail", lambda: arrays.frozen(np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.first_out)))
        )

    @property
    def fingerprint(self) -> str:
        """A hash of the vertices and edges, the same in every process."""
        parts = (np.ascontiguousarray(part, dtype="<i4").data for part in (self.first_out, self.head))
        return self._once("_fingerprint", lambda: _digest(parts))

    def vertex(self, label: Hashable) -> int:
        """Return the vertex with this label, or of the cell (row, column) on a grid without labels.

        Parameters
        ----------
        label
            A label, or (row, column) on a grid without labels.

        Returns
        -------
        int
            The vertex.

        Raises
        ------
        VertexError
            If there is none.
        """
        if self.labels is not None:
            labels = self.labels
            return labeled_vertex(self._once("_index", lambda: {name: v for v, name in enumerate(labels)}), label)
        if self.shape is None:
            raise VertexError(f"the graph has no labels; its vertices are 0..{self.n - 1}")
        return cell_vertex(self.shape, label)

    def _name_of(self, vertex: int) -> str:
        """Return how to call a vertex in messages: by its label, or by its number if there are no labels."""
        return str(vertex) if self.labels is None else repr(self.labels[vertex])

    def _vertex_and_label(self, vertex: Any) -> str:
        """Return a vertex as programs number it, with its label in brackets if there are labels."""
        if not isinstance(vertex, int | np.integer):
            return repr(vertex)
        if self.labels is None or not 0 <= vertex < self.n:
            return str(vertex)
        return f"{vertex} ({self.labels[vertex]!r})"

    def _edge_name(self, edge: int) -> str:
        """Return how to call an edge in messages: by its ends."""
        return f"{self._name_of(int(self.tail[edge]))} -> {self._name_of(int(self.head[edge]))}"

    def edge_index(self, tail: ArrayLike, head: ArrayLike, *, missing: int | None = None) -> NDArray[np.int32]:
        """Return the positions of the edges tail -> head.

        Parameters
        ----------
        tail, head
            Vertices, arrays of equal length (or one pair).
        missing
            What to return for an edge that does not exist; None raises.

        Returns
        -------
        array
            One position for each pair, in the edge order of the graph.

        Raises
        ------
        EdgeError
            If an edge does not exist and `missing` is None; the message names the first.

        Examples
        --------
        >>> import rhostar as rs
        >>> rs.Graph.from_edges(3, [0, 0, 1], [1, 2, 2]).edge_index([1, 0], [2, 1]).tolist()
        [2, 0]
        """
        return edge_positions(self, tail, head, missing)

    def arrange(self, values: ArrayLike) -> NDArray[Any]:
        """Put values in the order given to :meth:`from_edges` into the order of the graph.

        Parameters
        ----------
        values
            One value per given edge, or an array of such rows.

        Returns
        -------
        array
            The last axis follows `tail` and `head`: loops are dropped, the minimum of parallel edges kept.

        Raises
        ------
        ArrayError
            If the last axis does not have one value per given edge.
        """
        array = arrays.as_array(values, "values")
        count = self.m if self._given is None else self._given.size
        if array.ndim == 0 or array.shape[-1] != count:
            raise ArrayError(f"values must have one entry per edge ({count}) on the last axis, got shape {array.shape}")
        return np.ascontiguousarray(array) if self._given is None else self._given.arrange(array)

    def weights_of(
        self,
        network: nx.Graph,
        attribute: str | Callable[[Any, Any, Any], float | None] = "weight",
        *,
        default: float | None = None,
    ) -> NDArray[np.float64]:
        """Return the weights of a networkx graph with the same labels, in the order of this graph.

        Edges of this graph that the network lacks become absent (+inf); of parallel edges the
        cheapest counts. This turns a history of networks into snapshots of one graph.

        Parameters
        ----------
        network
            A graph whose nodes are labels of this one.
        attribute
            The edge attribute with the weight, or a function of (u, v, data) as in networkx. If it returns None, the
            edge is hidden.
        default
            Weight of edges without that attribute; None raises.

        Returns
        -------
        array
            One weight for each edge of this graph.

        Raises
        ------
        VertexError, EdgeError
            If the network has a node or edge that this graph lacks.
        WeightError
            If an edge has no such attribute and there is no default.
        """
        from rhostar.interop.networkx import read_weights

        return read_weights(self, network, attribute, default)

    # ------------------------------------------------------------ other graphs

    def reverse(self) -> derived.Derived:
        """Return the graph with every edge reversed.

        Returns
        -------
        Derived
            The graph, and where its vertices and edges come from.

        Examples
        --------
        >>> import rhostar as rs
        >>> turned = rs.Graph.from_edges(3, [0, 0, 1], [1, 2, 2]).reverse()
        >>> turned.graph.tail.tolist(), turned.graph.head.tolist(), turned.edges.tolist()
        ([1, 2, 2], [0, 0, 1], [0, 1, 2])
        """
        return derived.reverse(self)

    def subgraph(self, vertices: ArrayLike) -> derived.Derived:
        """Return the part of the graph on some vertices, which keep their order.

        Parameters
        ----------
        vertices
            The vertices to keep, or a mask.

        Returns
        -------
        Derived
            The graph, and where its vertices and edges come from.

        Raises
        ------
        VertexError
            If one of them is not a vertex.
        GraphError
            If there are none.
        """
        return derived.subgraph(self, vertices)

    def largest_strong_part(self) -> derived.Derived:
        """Return the largest part in which every vertex reaches every other.

        Of several equally large parts, it is the one with the smallest vertex.

        Returns
        -------
        Derived
            The graph, and where its vertices and edges come from.

        Examples
        --------
        >>> import rhostar as rs
        >>> rs.Graph.from_edges(4, [0, 1, 2, 3], [1, 2, 1, 0]).largest_strong_part().vertices.tolist()
        [1, 2]
        """
        return derived.largest_strong_part(self)

    def with_turns(
        self, costs: Mapping[Any, float] | Callable[[Turns], ArrayLike] | None = None, *, u_turns: float = 0.0
    ) -> TurnGraph:
        """Return a graph in which turns cost something, or are forbidden.

        Its vertices are the edges of this one, so a path may visit a vertex twice: around the block instead of a left
        turn. Parallel edges are one edge with one set of turns.

        Parameters
        ----------
        costs
            A mapping (a, b, c) -> cost of the turn at b, coming from a and going to c, by labels or numbers; turns
            that it does not name cost nothing. Or a function that takes all turns at once
            (:class:`rhostar.graph.Turns`) and returns one cost for each. inf forbids a turn.
        u_turns
            The extra cost of a U-turn; inf forbids all U-turns, even at the end of a dead-end street.

        Returns
        -------
        TurnGraph
            The graph whose vertices are edges of this one. It converts weights for its own edges, and its paths back to
            edges of this graph.

        Raises
        ------
        EdgeError, VertexError
            If `costs` names a turn that does not exist.
        WeightError, ArrayError
            If a cost is negative, or there is not one for each turn.

        See Also
        --------
        rhostar.routing.TurnRouter : Routes with turn costs, in the edges and vertices of this graph.

        Examples
        --------
        >>> import numpy as np, rhostar as rs
        >>> graph = rs.Graph.grid(3, 3)
        >>> graph.with_turns({((0, 0), (0, 1), (1, 1)): np.inf}, u_turns=np.inf)
        TurnGraph(9 vertices, 24 streets, 43 turns)
        >>> graph.with_turns(lambda turns: np.where(turns.angle > 30, 15.0, 0.0))  # left turns take 15 seconds
        TurnGraph(9 vertices, 24 streets, 68 turns)
        """
        return with_turns(self, costs, u_turns)

    def to_networkx(self, weights: ArrayLike | None = None, *, attribute: str = "weight") -> nx.DiGraph:
        """Return a networkx DiGraph whose nodes are the labels, or the vertices if there are no labels.

        Parameters
        ----------
        weights
            Optional weights; edges of weight +inf are left out.
        attribute
            The edge attribute that holds them.

        Returns
        -------
        networkx.DiGraph
            With attributes x and y where there are coordinates, and length where there are lengths.
        """
        from rhostar.interop.networkx import to_networkx

        return to_networkx(self, weights, attribute=attribute)

    # ------------------------------------------------------------ comparing, hashing, pickling

    def __repr__(self) -> str:
        grid = "" if self.shape is None else f", grid={self.shape[0]}x{self.shape[1]}"
        return f"Graph(n={self.n}, m={self.m}{grid})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (
            np.array_equal(self.first_out, other.first_out)
            and np.array_equal(self.head, other.head)
            and _same(self.coordinates, other.coordinates)
            and _same(self.length, other.length)
            and self.labels == other.labels
            and self.shape == other.shape
        )

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @property
    def _token(self) -> str:
        """A hash of everything in the graph, labels and coordinates included."""
        return self._once("_content", lambda: _digest(pickle.dumps(part, protocol=5) for part in self.__reduce__()[1]))

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what is kept under a name, and make it when it is first needed."""
        if name not in self.__dict__:
            self.__dict__[name] = make()
        return self.__dict__[name]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Graph is immutable; {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.first_out, self.head, self.coordinates, self.labels, self.length, self.shape)
        return _rebuild, (*parts, self._given)


def _rebuild(first_out: Any, head: Any, coordinates: Any, labels: Any, length: Any, shape: Any, given: Any) -> Graph:
    graph = Graph(first_out, head, coordinates=coordinates, labels=labels, length=length, shape=shape)
    object.__setattr__(graph, "_given", given)
    return graph


def _digest(parts: Iterable[Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _shape(shape: tuple[int, int], n: int) -> tuple[int, int]:
    try:
        rows, columns = (arrays.integer(part, "shape", 1) for part in shape)
    except (TypeError, ValueError):
        rows, columns = 0, 0
    if rows * columns != n:
        raise GraphError(f"shape must be (rows, columns) with {n} cells in all, got {shape!r}")
    return rows, columns


def _same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    return (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
