"""Several heuristics, of which one is chosen by the weights of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import ArrayError, HeuristicError, InputError
from rhostar.heuristics._base import Heuristic, Parts, Table, Weights, common_factor
from rhostar.heuristics._computed import Computed
from rhostar.heuristics._storage import members_from_parts, members_to_parts
from rhostar.instances import InstanceSet, Snapshot

BEYOND = 4.0
"""Weights that differ from all usual ones by more than this factor, and absent edges, count as that factor."""


class ChosenByWeights(Heuristic):
    """Several heuristics, one for each kind of day; the weights of a query choose among them.

    A few edges are the probes. A query uses the heuristic whose usual weights on the probes are nearest to its own. The
    distance is the sum of the squared logarithms of their ratios, so that one jam cannot outweigh all other edges. A
    :class:`rhostar.Snapshot` remembers the choice.

    Parameters
    ----------
    members
        Tables for the same goal, or heuristics for every goal.
    probes
        The edges to look at.
    usual
        (k, number of probes) the usual weights of these edges for each member, positive and finite.
    m
        Number of edges of the graph.
    low, high
        The weight of each probe is clipped to this range, also if it is 0, or inf for an absent edge. None takes a
        quarter of its smallest and 4 times its largest usual weight.

    Raises
    ------
    InputError, ArrayError, VertexError
        If there are no members or they are of different kinds or sizes; if a probe is not an edge, `usual` has another
        shape, or a value is not positive and finite.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(10, 10)
    >>> calm, rush = (rs.heuristics.DistanceHeuristic(graph, level * graph.length) for level in (1.0, 3.0))
    >>> choice = rs.heuristics.ChosenByWeights([calm, rush], [0, 7], [[1.0, 1.0], [3.0, 3.0]], graph.m)
    >>> choice.which(2.5 * graph.length)
    1
    """

    kind = "chosen by weights"
    m: int

    def __init__(
        self,
        members: Sequence[Heuristic],
        probes: ArrayLike,
        usual: ArrayLike,
        m: int,
        *,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
    ) -> None:
        self.members = tuple(
            one.with_tables({}) if isinstance(one, Computed) and one._known else one for one in members
        )
        if not self.members:
            raise InputError("members must contain at least one heuristic")
        first = self.members[0]
        kinds = all(isinstance(one, Table) for one in self.members) or all(
            isinstance(one, Computed) for one in self.members
        )
        same = all((one.n, one.goals) == (first.n, first.goals) for one in self.members)
        if not kinds or not same or len({one.fingerprint for one in self.members}) > 1:
            raise InputError("members must be tables for one goal, or heuristics for every goal, all for one graph")
        self.n, self.m, self.fingerprint = first.n, arrays.integer(m, "m", 0), first.fingerprint
        self.probes = arrays.frozen(arrays.edges(probes, "probes", self.m))
        self.usual = np.array(usual, dtype=np.float64, order="C")
        count = self.probes.size
        if self.usual.shape != (len(self.members), count):
            shape = self.usual.shape
            raise ArrayError(f"usual must have {len(self.members)} rows of {count} weights, got shape {shape}")
        smallest, largest = self.usual.min(axis=0, initial=np.inf), self.usual.max(axis=0, initial=0.0)
        self.low = np.array(smallest / BEYOND if low is None else low, dtype=np.float64)
        self.high = np.array(largest * BEYOND if high is None else high, dtype=np.float64)
        if self.low.shape != (count,) or self.high.shape != (count,):
            raise ArrayError(f"low and high must have {count} values, one for each probe")
        for name in ("usual", "low", "high"):
            value = getattr(self, name)
            if not (np.isfinite(value) & (value > 0)).all():
                raise ArrayError(f"{name} must be positive and finite")
        self._centers = np.log(self.usual)
        self._half = (self._centers**2).sum(axis=1) / 2
        # Products are rounded in an order that depends on the machine, and on where a row is: equal scores may differ.
        widest = np.maximum(np.abs(np.log(self.low)), np.abs(np.log(self.high)))
        self._same = 1e-12 * (1.0 + float(self._half.max(initial=0.0)) + float((widest**2).sum()))

    @property
    def words(self) -> str:
        """What a sentence calls it."""
        what = arrays.counted(len(self.members), "table" if isinstance(self.members[0], Table) else "heuristic")
        return f"this portfolio of {what}, of which the weights choose one"

    @property
    def factor(self) -> float:
        """The factor on all its members."""
        return common_factor(self.members)

    @property
    def goals(self) -> tuple[int, ...] | None:
        """The goals of its members."""
        return self.members[0].goals

    @property
    def uses_weights(self) -> bool:
        """True: the values depend on the weights of the query."""
        return True

    @property
    def multiplies(self) -> bool:
        """Whether :meth:`scaled` multiplies the values of all members."""
        return all(member.multiplies for member in self.members)

    def which(self, weights: Weights) -> int:
        """Return the number of the member that is used for these weights.

        Parameters
        ----------
        weights
            One weight per edge.

        Returns
        -------
        int
        """
        if isinstance(weights, Snapshot):
            return weights.remember(self, "chosen", self._nearest)
        return self._nearest(weights)

    def _nearest(self, weights: NDArray[Any]) -> int:
        seen = np.minimum(weights.take(self.probes), self.high)
        np.log(np.maximum(seen, self.low, out=seen), out=seen)
        score = self._centers.dot(seen)
        score -= self._half
        return int((score >= score.max() - self._same).argmax())

    def which_of(self, instances: InstanceSet) -> NDArray[np.int32]:
        """Return the number of the member for each instance.

        Parameters
        ----------
        instances
            The set.

        Returns
        -------
        array
            One number for each instance.
        """
        rows, of = np.unique(instances._stored_rows, return_inverse=True)
        found = [self._nearest(instances._stored[row]) for row in rows]
        return np.array(found, dtype=np.int32)[of]

    def on(self, weights: Weights) -> Heuristic:
        """Return the member for these weights."""
        return self.members[self.which(weights)]

    def table(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64]:
        """Return the values that these weights choose; see :meth:`Heuristic.table`."""
        if weights is None:
            raise HeuristicError("this heuristic chooses by the weights of the query: pass weights")
        return self.on(weights).table(goal, weights)

    def kernel(self, goal: int, weights: Weights | None = None) -> NDArray[np.float64] | _core.Potential:
        """Return what the compiled search takes for one query."""
        assert weights is not None
        return self.on(weights).kernel(goal, weights)

    def for_instances(self, instances: InstanceSet) -> tuple[list[Any], NDArray[np.int32]]:
        """Return what searches on a set take, and for each instance the index of its own."""
        found: list[Any] = []
        for member in self.members:
            found += member.for_instances(instances[:1])[0]
        return found, self.which_of(instances)

    def scaled(self, factor: float) -> ChosenByWeights:
        """Return `factor` times this heuristic, with the same rule; see :meth:`Heuristic.scaled`."""
        facts = self._scaled_facts(factor)
        return self._changed(members=tuple(member.scaled(factor) for member in self.members), **facts)

    def __repr__(self) -> str:
        return f"ChosenByWeights({len(self.members)} members, {self.n} vertices, {self.probes.size} probes)"

    def _parts(self) -> tuple[Parts, dict[str, Any]]:
        parts, members = members_to_parts(self.members)
        own = {"probes": self.probes, "usual": self.usual, "low": self.low, "high": self.high}
        return parts | own, {"members": members, "m": self.m}

    @classmethod
    def _of_parts(cls, parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> ChosenByWeights:
        members = members_from_parts(parts, facts["members"])
        rule = {name: parts[name] for name in ("low", "high")}
        return cls(members, parts["probes"], parts["usual"], facts["m"], **rule)
