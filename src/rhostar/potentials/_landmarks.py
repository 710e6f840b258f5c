"""Bounds by landmarks as a potential (ALT: A*, landmarks, triangle inequality)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import ArrayError, InputError, WeightError
from rhostar.graph import Graph
from rhostar.potentials._base import Potential, scale_of


class Landmarks(Potential):
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
    >>> rs.potentials.Landmarks(graph, ends, ends).rho_for(2).tolist()
    [2.0, 1.0, 0.0, 1.0]
    """

    def __init__(self, graph: Graph, to: ArrayLike, away: ArrayLike, *, scale: float = 1.0) -> None:
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        columns = [_columns(given, name, graph.n) for given, name in ((to, "to"), (away, "away"))]
        if columns[0].shape != columns[1].shape:
            raise ArrayError(f"to and away must have equal shapes, got {np.shape(to)} and {np.shape(away)}")
        self._set(graph.fingerprint, columns[0], columns[1], scale_of(scale))

    def _set(self, fingerprint: str, to: NDArray[np.float64], away: NDArray[np.float64], scale: float) -> None:
        self.n, self.fingerprint, self.scale = len(to), fingerprint, scale
        self._to, self._away = arrays.frozen(to), arrays.frozen(away)
        beyond = max(float(part[np.isfinite(part)].max(initial=0.0)) for part in (to, away))
        self._kernel = _core.landmark_potential(self._to, self._away, beyond, scale)

    def scaled(self, factor: float) -> Landmarks:
        """Return `factor` times this potential."""
        return _restored(self.fingerprint, self._to, self._away, scale_of(self.scale * scale_of(factor)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.fingerprint, self._to, self._away, self.scale)


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


def _restored(fingerprint: str, to: NDArray[np.float64], away: NDArray[np.float64], scale: float) -> Landmarks:
    potential = Landmarks.__new__(Landmarks)
    to, away = (np.require(part, requirements=["C", "A"]) for part in (to, away))
    potential._set(fingerprint, to, away, scale)
    return potential
