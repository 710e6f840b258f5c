"""What guides the searches of a router: the user's heuristic, as far as the allowed excess lets it be used.

Let b be weights for which ρ is consistent, or at or above which it never overestimates, and let c be the lowest w / b,
at most 1. Then c · ρ never overestimates under w: along any path it falls by at most c · b ≤ w on each edge. So A* with
(1 + ε) · c · ρ finds a path that costs at most 1 + ε times the optimum; with ρ itself, at most 1 / c times.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import InputError
from rhostar.graph import Graph
from rhostar.heuristics import Heuristic, as_heuristic
from rhostar.routing import _work as work

_LEAST = 0.05
"""A heuristic scaled down to less than this is left out: it costs more than it saves."""


class Aim(NamedTuple):
    """What a search takes."""

    rho: NDArray[np.float64] | _core.Potential
    rate: float
    """The work of an expansion."""
    reopen: bool
    share: float | None
    """The optimum is at least this share of the answer; None if nothing is known."""


class Guide:
    """The heuristic of a router.

    Parameters
    ----------
    graph
        The graph.
    given
        What the user passed as a heuristic, or None.
    max_excess, mean_excess
        As for :class:`rhostar.Router`.
    """

    def __init__(self, graph: Graph, given: Any, max_excess: float, mean_excess: float | None) -> None:
        accepted = "a share that is not negative", lambda x: 0 <= x < np.inf
        self.max_excess = arrays.number(max_excess, "max_excess", *accepted)
        self.mean_excess = None if mean_excess is None else arrays.number(mean_excess, "mean_excess", *accepted)
        self.heuristic = None if given is None else as_heuristic(given, graph, name="heuristic")
        self.certificate = getattr(given, "certificate", None)
        self.none = Aim(np.zeros(graph.n), work.TABLE, True, 1.0)
        if self.mean_excess is not None and self.max_excess > 0:
            raise InputError("max_excess and mean_excess exclude each other: give one of them")
        if self.heuristic is None:
            if self.max_excess > 0 or self.mean_excess is not None:
                raise InputError("max_excess and mean_excess need a heuristic; without one every answer is optimal")
        elif self.mean_excess is None and self._basis() is None:
            raise InputError(
                "no weights are known at which the heuristic never overestimates, so no excess is certain: "
                "allow one on average (mean_excess), or leave the heuristic out"
            )

    def _basis(self) -> NDArray[np.float64] | None:
        """Return weights at or above which the heuristic does not overestimate."""
        assert self.heuristic is not None
        return self.heuristic.lower if self.heuristic.lower is not None else self.heuristic.consistent_for

    def on(self, row: NDArray[Any]) -> OnRow:
        """Return what guides searches on a row of weights."""
        if self.heuristic is None:
            return OnRow(None, row, self.none, True, 1.0)
        chosen, basis = self.heuristic.on(row), self._basis()
        least = 0.0 if basis is None else _least_ratio(row, basis)
        consistent = basis is not None and self.heuristic.consistent_for is not None
        if self.mean_excess is not None:
            return OnRow(chosen, row, self.none, True, least if least > 0 else None)
        factor = least * (1 + self.max_excess)
        if factor < _LEAST:
            return OnRow(None, row, self.none, True, 1.0)
        usable = chosen if factor == 1.0 else chosen.scaled(factor)
        return OnRow(usable, row, self.none, self.max_excess == 0 or not consistent, 1 / (1 + self.max_excess))

    @property
    def guarantee(self) -> str:
        """What holds for the costs of routes."""
        if self.mean_excess is not None:
            return (
                f"Routes found by search cost at most {self.mean_excess:.3g} more than the optimum, as a share of it "
                "and on average, if the heuristic keeps the target of its learning; those of the hierarchy are optimal."
            )
        if self.max_excess > 0:
            return f"Every route costs at most {self.max_excess:.3g} more than the optimum, as a share of it."
        return "Every route is optimal."


class OnRow:
    """What guides searches on one row of weights."""

    def __init__(
        self, heuristic: Heuristic | None, row: NDArray[Any], none: Aim, reopen: bool, share: float | None
    ) -> None:
        self.heuristic, self._row, self._none, self._reopen, self._share = heuristic, row, none, reopen, share

    def at(self, goal: int) -> Aim:
        """Return what a search to a goal takes; goals for which there are no values are searched without."""
        if self.heuristic is None or not self.heuristic.serves(goal):
            return self._none
        rho = self.heuristic.kernel(goal, self._row)
        rate = work.TABLE if isinstance(rho, np.ndarray) else work.GUIDED
        return Aim(rho, rate, self._reopen, self._share)


def _least_ratio(row: NDArray[Any], basis: NDArray[np.float64]) -> float:
    """Return the lowest weight / bound, at most 1."""
    if (row >= basis).all():
        return 1.0
    below = row < basis
    return float((row[below] / basis[below]).min())
