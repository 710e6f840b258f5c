"""The answers that have paths: :class:`Route` for one, :class:`Routes` for many."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import GraphError
from rhostar.search._outcome import Paths

if TYPE_CHECKING:
    from rhostar import _core
    from rhostar.routing._edges import UserEdges


class Found(NamedTuple):
    """A path that a search found; what the hierarchy finds has the same attributes."""

    cost: float
    vertices: NDArray[np.int32]
    edges: NDArray[np.int32]


class Route:
    """A path from :meth:`Router.route`, shortest unless the router allows an excess; later updates do not change it.

    Parameters
    ----------
    found
        The path in the numbers of the graph.
    cost
        Its cost.
    bound
        No path costs less.
    known
        The edges as the user knows them.
    cheapest
        The user's edge behind each edge of the graph; None if they are the same.

    Attributes
    ----------
    cost
        The sum of its weights; inf if there is no path, 0 if source and target are the same.
    bound
        No path costs less than this, for certain; it equals `cost` for an exact answer. None if nothing is known.

    Examples
    --------
    >>> import rhostar as rs
    >>> router = rs.Router.from_edges(3, [0, 1, 0], [1, 2, 2], labels=["home", "shop", "work"])
    >>> router.update([1.0, 2.0, 4.0])
    >>> route = router.route("home", "work")
    >>> route.cost, route.path.tolist(), route.edges.tolist(), route.labels
    (3.0, [0, 1, 2], [0, 1], ('home', 'shop', 'work'))
    """

    __slots__ = ("_cheapest", "_found", "_known", "bound", "cost")
    cost: float
    bound: float | None

    def __init__(
        self,
        found: Found | _core.IndexPath,
        cost: float,
        bound: float | None,
        known: UserEdges,
        cheapest: NDArray[np.int64] | None,
    ) -> None:
        self._found, self.cost, self.bound, self._known, self._cheapest = found, cost, bound, known, cheapest

    @property
    def path(self) -> NDArray[np.int32]:
        """The vertices by number, from source to target; empty if there is no path."""
        return self._found.vertices

    @property
    def edges(self) -> NDArray[Any]:
        """The edges by the user's numbers; of parallel ones the cheapest."""
        edges = self._found.edges
        return edges if self._cheapest is None else self._cheapest[edges]

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The labels of the vertices; their numbers if there are no labels."""
        return self._known.names.labels(self._found.vertices)

    @property
    def edge_labels(self) -> tuple[Hashable, ...]:
        """The labels of the edges; their numbers if there are no labels."""
        labels, edges = self._known.labels, self.edges.tolist()
        return tuple(edges if labels is None else (labels[edge] for edge in edges))

    def to_geojson(self) -> dict[str, Any]:
        """Return the route as a GeoJSON feature, ready for :func:`json.dumps`.

        Returns
        -------
        dict
            A LineString through the coordinates of the vertices, which GeoJSON takes as (longitude, latitude); a Point
            if source and target are the same; no geometry if there is no path. Its properties are the cost and the
            labels.

        Raises
        ------
        GraphError
            If the graph has no coordinates.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router(rs.Graph.from_edges(2, [0], [1], coordinates=[(13.4, 52.5), (13.5, 52.6)]))
        >>> router.update([7.5])
        >>> router.route(0, 1).to_geojson()["geometry"]
        {'type': 'LineString', 'coordinates': [[13.4, 52.5], [13.5, 52.6]]}
        """
        coordinates = self._known.graph.coordinates
        if coordinates is None:
            raise GraphError("the graph has no coordinates, so the route has no place on a map")
        points = coordinates[self.path].tolist()
        geometry: dict[str, Any] | None = None
        if len(points) == 1:
            geometry = {"type": "Point", "coordinates": points[0]}
        elif points:
            geometry = {"type": "LineString", "coordinates": points}
        cost = self.cost if np.isfinite(self.cost) else None  # JSON has no inf
        properties = {"cost": cost, "labels": list(self.labels)}
        return {"type": "Feature", "geometry": geometry, "properties": properties}

    def __repr__(self) -> str:
        if not np.isfinite(self.cost):
            return "Route(no path)"
        edges = self._found.edges.size
        return f"Route(cost {self.cost:.6g}, {edges} edge{'' if edges == 1 else 's'})"


class Routes(Sequence[Route]):
    """The answers of :meth:`Router.routes`: ``routes[i]`` is a :class:`Route`, and the costs are an array.

    Parameters
    ----------
    cost, bound
        One number for each route.
    path, edges
        The vertices and edges of each, in the numbers of the graph.
    known, cheapest
        As for :class:`Route`.

    Attributes
    ----------
    cost
        The cost of each route; inf if there is no path.
    path
        The vertices of each route: a sequence of arrays.

    Examples
    --------
    >>> import rhostar as rs
    >>> router = rs.Router(rs.Graph.grid(3, 3))
    >>> router.update(router.graph.length)
    >>> routes = router.routes([(0, 8), (3, 3)])
    >>> routes.cost.tolist(), routes[1].path.tolist()
    ([4.0, 0.0], [3])
    """

    def __init__(
        self,
        cost: NDArray[np.float64],
        bound: list[float | None],
        path: Paths,
        edges: Paths,
        known: UserEdges,
        cheapest: NDArray[np.int64] | None,
    ) -> None:
        self.cost, self.path, self._bound, self._edges, self._known, self._cheapest = (
            cost,
            path,
            bound,
            edges,
            known,
            cheapest,
        )

    def __len__(self) -> int:
        return self.cost.size

    @overload
    def __getitem__(self, i: int) -> Route: ...
    @overload
    def __getitem__(self, i: slice) -> list[Route]: ...
    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        i = range(len(self))[i]
        found = Found(float(self.cost[i]), self.path[i], self._edges[i])
        return Route(found, found.cost, self._bound[i], self._known, self._cheapest)

    def __repr__(self) -> str:
        return f"Routes({len(self)} routes)"
