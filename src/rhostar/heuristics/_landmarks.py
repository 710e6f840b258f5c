"""Lower bounds by landmarks (ALT: A*, landmarks, triangle inequality)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import ArrayError, InputError, WeightError
from rhostar.graph import Graph
from rhostar.heuristics._base import Parts, scale_of
from rhostar.heuristics._computed import Computed


class Landmarks(Computed):
    """Lower bounds by the triangle inequality, for every goal.

    d(v, t) is at least d(v, l) − d(t, l) and d(l, t) − d(l, v) for every landmark l; ρ is the largest of these, and 0.
    If the landmarks show that there is no path from v to t, ρ is the largest finite distance to or from a landmark.

    Parameters
    ----------
    graph
        The graph.
    to, away
        (k, n) distances from every vertex to each of k landmarks, and from each landmark to every vertex, under the
        same weights; inf where there is no path.
    scale
        A factor on all values.

    Raises
    ------
    ArrayError, WeightError
        If they are not k distances for each vertex, or one is negative or NaN.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(1, 4)
    >>> ends = [rs.distances_to(graph, graph.length, v) for v in (0, 3)]  # the same in both directions
    >>> rs.heuristics.Landmarks(graph, ends, ends).table(2).tolist()
    [2.0, 1.0, 0.0, 1.0]
    """

    kind = "landmarks"

    def __init__(self, graph: Graph, to: ArrayLike, away: ArrayLike, *, scale: float = 1.0) -> None:
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        columns = [_columns(given, name, graph.n) for given, name in ((to, "to"), (away, "away"))]
        if columns[0].shape != columns[1].shape:
            raise ArrayError(f"to and away must have equal shapes, got {np.shape(to)} and {np.shape(away)}")
        self._to, self._away = columns
        self.n, self.fingerprint, self.scale = graph.n, graph.fingerprint, scale_of(scale)
        self._kernel = self._make_kernel()

    def _make_kernel(self) -> _core.Potential:
        self._to, self._away = (np.require(part, np.float64, ["C", "A"]) for part in (self._to, self._away))
        beyond = max(float(part[np.isfinite(part)].max(initial=0.0)) for part in (self._to, self._away))
        return _core.landmark_potential(self._to, self._away, beyond, self.scale)

    def _own_parts(self) -> tuple[Parts, dict[str, Any]]:
        return {"to": self._to, "away": self._away}, {"scale": self.scale}

    @classmethod
    def _of_own_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Landmarks:
        found = cls.__new__(cls)
        to, away = parts["to"], parts["away"]
        if to.ndim != 2 or to.shape != away.shape or not ((to >= 0).all() and (away >= 0).all()):
            raise InputError("it has no distances")
        found.n, found._to, found._away, found.scale = len(to), to, away, scale_of(facts["scale"])
        found._kernel = found._make_kernel()
        return found


def _columns(given: ArrayLike, name: str, n: int) -> NDArray[np.float64]:
    """Return distances with a row for each vertex: the values of a vertex are then together in memory."""
    array = arrays.as_array(given, name)
    if array.ndim != 2 or array.shape[1] != n or array.shape[0] == 0 or array.dtype.kind not in "iuf":
        raise ArrayError(f"{name} must have a row of {n} distances for each landmark, got shape {array.shape}")
    bad = ~(array >= 0)
    if bad.any():
        k, v = (int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
        raise WeightError(f"{name}[{k}, {v}] must be at least 0 and not NaN, got {array[k, v]}")
    return np.ascontiguousarray(array.T, dtype=np.float64)
