"""Several potentials, of which the weights of a query choose one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, InputError
from rhostar.graph import Graph
from rhostar.instances import InstanceSet
from rhostar.potentials._base import Potential


class Clustered(Potential):
    """Several potentials, one for each kind of day; the weights of a query choose among them.

    A few edges serve as probes. A search uses the potential whose usual weights on the probes are nearest to those of
    its query (least squares, relative to the mean). It is chosen once for each snapshot.

    Parameters
    ----------
    graph
        The graph.
    potentials
        Potentials for this graph.
    probes
        Edges to look at.
    usual
        (k, number of probes) the usual weights of these edges for each potential.

    Raises
    ------
    InputError, ArrayError, ModelError
        If there is no potential or one is for another graph; if `usual` has another shape, or a value that is not
        positive and finite.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(10, 10)
    >>> calm, rush = (rs.potentials.Hierarchy(graph, level * graph.length) for level in (1.0, 3.0))
    >>> choice = rs.potentials.Clustered(graph, [calm, rush], probes=[0, 7], usual=[[1.0, 1.0], [3.0, 3.0]])
    >>> choice.on(2.5 * graph.length) is rush
    True
    """

    def __init__(self, graph: Graph, potentials: Sequence[Potential], probes: ArrayLike, usual: ArrayLike) -> None:
        if not isinstance(graph, Graph):
            raise InputError(f"graph must be a Graph, got {type(graph).__name__}")
        self._set(graph.fingerprint, potentials, arrays.vertices(probes, "probes", graph.m, what="edge"), usual)
        self.n = graph.n

    def _set(
        self, fingerprint: str, potentials: Sequence[Potential], probes: NDArray[np.int32], usual: ArrayLike
    ) -> None:
        self.potentials = tuple(potentials)
        if not self.potentials or not all(isinstance(potential, Potential) for potential in self.potentials):
            raise InputError("potentials must have at least one Potential, and nothing else")
        if any(potential.fingerprint != fingerprint or potential.chooses for potential in self.potentials):
            raise InputError("potentials must all be for this graph, and none of them may choose among others itself")
        values = np.array(usual, dtype=np.float64)
        if values.shape != (len(self.potentials), probes.size):
            raise ArrayError(
                f"usual must have {len(self.potentials)} rows of {probes.size} weights, got shape {values.shape}"
            )
        if not (np.isfinite(values) & (values > 0)).all():
            raise ArrayError("usual must hold positive and finite weights")
        self.fingerprint, self.scale, self.n = fingerprint, self.potentials[0].scale, self.potentials[0].n
        self.probes, self.usual = arrays.frozen(probes), arrays.frozen(values)
        self._unit = values.mean(axis=0)
        self._centres = values / self._unit
        self._kernel = self.potentials[0]._kernel

    @property
    def chooses(self) -> bool:
        """True: it depends on the weights of the query."""
        return True

    def which(self, weights: NDArray[Any]) -> int:
        """Return the number of the potential that is used for these weights.

        Parameters
        ----------
        weights
            One weight per edge; edges that are absent do not count.

        Returns
        -------
        int
        """
        probe = weights[self.probes] / self._unit
        apart = np.where(np.isfinite(probe), self._centres - probe, 0.0)
        return int(np.argmin(np.einsum("kp,kp->k", apart, apart)))

    def on(self, weights: NDArray[Any]) -> Potential:
        """Return the potential for these weights."""
        return self.potentials[self.which(weights)]

    def on_each(self, instances: InstanceSet) -> tuple[list[Potential], NDArray[np.int32]]:
        """Return all potentials, and for each instance the number of its own."""
        rows, of = np.unique(instances.rows, return_inverse=True)
        chosen = np.array([self.which(instances.weights[row]) for row in rows.tolist()], dtype=np.int32)
        return list(self.potentials), np.ascontiguousarray(chosen[of])

    def scaled(self, factor: float) -> Clustered:
        """Return `factor` times this potential."""
        members = [member.scaled(factor) for member in self.potentials]
        return _restored(self.fingerprint, members, self.probes, self.usual)

    def _values(self, goals: NDArray[np.int32]) -> NDArray[np.float64]:
        return self.potentials[0]._values(goals)

    def __repr__(self) -> str:
        return f"Clustered({len(self.potentials)} potentials, {self.n} vertices)"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.fingerprint, self.potentials, self.probes, self.usual)


def _restored(
    fingerprint: str, potentials: Sequence[Potential], probes: NDArray[np.int32], usual: NDArray[np.float64]
) -> Clustered:
    potential = Clustered.__new__(Clustered)
    potential._set(fingerprint, potentials, probes, usual)
    return potential
