"""A learner whose mean excess holds with a given confidence: a part of the instances is held out to choose a factor."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rhostar import _arrays as arrays
from rhostar import bounds
from rhostar.certificates import WeightChoice, choose_weight
from rhostar.errors import AssumptionError, InputError, InstanceError, RhostarWarning
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import provenance
from rhostar.learners._base import Learner, Seed
from rhostar.learners._potentials import Potentials
from rhostar.learners._validation import Split, resolved, units
from rhostar.learners._weights import LowerEnvelope
from rhostar.learners._wrappers import Scaled, Wrapper

_FACTORS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4)
"""The factors on what was learned, in the order of the test; fixed beforehand."""
_LEARN = 0.2
"""At least this share of the snapshots is learned from."""
_ENOUGH = 4
"""At most this many times the fewest snapshots that the test needs are kept for it."""


class WithConfidence(Wrapper):
    """Learns from a part of the instances and chooses a factor on the rest, so that a mean excess is guaranteed.

    The learner inside is fitted on the first part. Then :func:`rhostar.choose_weight` tests its values times 0.5, 0.6
    and so on up to 1.4, in this order, on the other part. It chooses the fastest of those that keep the mean excess. If
    none does, it falls back to exact values, whose answers are optimal.

    Parameters
    ----------
    learner
        What to fit; it is cloned. None is :class:`MeanDistance`; :func:`rhostar.learn` passes :class:`Auto`.
    mean_excess
        How far paths of A* may exceed the optimum on average over new instances, as a fraction of it.
    confidence
        The probability with which `mean_excess` holds, over the draw of the instances.
    limit
        H, fixed beforehand: a path that costs more than H above the optimum, as a share of it, counts as H.
    split
        What was drawn independently: a "snapshot", or a "day". None takes days if the set knows several, otherwise
        snapshots. Draws from a declared pool (:meth:`InstanceSet.draw`) count one by one, except with "day".
    random_state
        Deals out the two parts.

    Attributes
    ----------
    learner_
        The learner inside, fitted on the first part.
    choice_
        The :class:`WeightChoice`: ``choice_.sentence`` is the guarantee.
    front_
        That of the learner inside, if it has one.
    notes_
        What the user should know, as sentences.

    Raises
    ------
    InstanceError
        Raised by ``fit`` if there are too few snapshots: even if every path is optimal, 299 must be held out for a mean
        excess of 1 % at 95 % confidence and H = 100 %.
    AssumptionError
        Raised by ``fit`` if snapshots of the two parts are equal, so that they are not independent draws.
    InputError
        Raised by ``fit`` if a parameter is out of range.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(1000, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=63)
    >>> learner = rs.learners.WithConfidence(rs.learners.MeanDistance(), mean_excess=0.02).fit(instances)
    >>> learner.choice_.factor, learner.choice_.units, learner.choice_.fewest
    (1.0, 500, 149)
    """

    consistency = "That of the learner inside, times the factor."
    least_instances = 2
    one_goal = False

    choice_: WeightChoice
    notes_: list[str]

    def __init__(
        self,
        learner: Learner | None = None,
        *,
        mean_excess: float = 0.01,
        confidence: float = 0.95,
        limit: float = 1.0,
        split: Split | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.learner, self.mean_excess, self.confidence, self.limit = learner, mean_excess, confidence, limit
        self.split, self.random_state = split, random_state

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        inner = self._inner()
        if inner.algorithm == "gbfs":
            raise InputError("greedy search ignores what a path costs: it keeps no mean excess")
        split = resolved(instances, self.split)
        learned_from, kept = self._parts(instances)
        fitted = clone(inner).fit(learned_from)
        # Days are the draws where they are known, unless the user says that snapshots are.
        by_snapshot = kept.pool is None and kept.days is not None and split == "snapshot"
        try:
            choice = choose_weight(
                fitted,
                kept,
                mean_excess=self.mean_excess,
                confidence=self.confidence,
                limit=self.limit,
                factors=_FACTORS,
                groups=kept._stored_rows if by_snapshot else None,
            )
        except AssumptionError as error:
            raise AssumptionError(f"the part that was kept to choose a factor on: {error}") from error
        notes = [*getattr(fitted, "notes_", ())]
        if choice.factor is None:
            exact = exact_values(instances).fit(instances)  # nothing is tested; so it has all goals, and all weights
            notes.append(
                f"no factor was shown to keep a mean excess of {self.mean_excess:g} with a confidence of "
                f"{self.confidence:g}, so exact values are used: every answer is optimal. {choice.sentence}"
            )
            warnings.warn(notes[-1], RhostarWarning, stacklevel=4)
            heuristic = exact.heuristic_
        else:
            heuristic = fitted.heuristic_ if choice.factor == 1 else fitted.heuristic_.scaled(choice.factor)
        learned = {"learner_": fitted, "choice_": choice, "notes_": notes, "heuristic_": heuristic}
        if hasattr(fitted, "front_"):
            learned["front_"] = fitted.front_
        return learned | {"trained_on": provenance(instances, fitted._seen)}

    def _parts(self, instances: InstanceSet) -> tuple[InstanceSet, InstanceSet]:
        """Return the instances to learn from, and those to choose on."""
        target = arrays.number(
            self.mean_excess, "mean_excess", "a number between 0 and limit", lambda x: 0 < x < self.limit
        )
        level = arrays.probability(self.confidence, "confidence")
        fewest = bounds.fewest_to_refute(self.limit, target, delta=1 - level)
        split = resolved(instances, self.split)
        by = None if instances.pool is not None and split == "snapshot" else units(instances, split)
        count = len(instances) if by is None else np.unique(by).size
        most = count - max(2, math.ceil(_LEARN * count))
        if most < fewest:
            what = "draws" if by is None else f"{split}s"
            needed = math.ceil(fewest / (1 - _LEARN)) + 1
            other = "With split='snapshot', snapshots count as independent draws. " if split == "day" else ""
            raise InstanceError(
                f"a mean excess of {target:g} with a confidence of {level:g} needs about {needed:,} {what}: {fewest:,} "
                f"to test it on, even if no path costs more than the optimum, and some to learn from; there are "
                f"{count:,}. {other}Without confidence, mean_excess is a target that is judged by cross-validation"
            )
        test = min(most, _ENOUGH * fewest, max(count // 2, 2 * fewest))
        return instances.split((count - test) / count, self.random_state, groups=by)


_INSTANCES_PER_GOAL = 8
"""With fewer instances per goal, one weight per edge is learned for all goals."""

_MOST_TABLES = 64
"""With more goals than this, exact values are computed for any goal instead of stored for each."""


def few_goals(instances: InstanceSet) -> bool:
    """Return whether there are enough instances of each goal, on average, to learn a table for each."""
    return np.unique(instances.goals).size <= max(1, len(instances) / _INSTANCES_PER_GOAL)


def has_every_goal(instances: InstanceSet, goals: NDArray[np.int64]) -> bool:
    """Return whether there are enough instances of each of these goals to learn a table for each and to compare."""
    found, count = np.unique(instances.goals, return_counts=True)
    return few_goals(instances) and bool(np.isin(goals, found).all() and count.min() >= 2)


def exact_values(instances: InstanceSet, max_excess: float = 0.0, lower: Any = None) -> Learner:
    """Return the learner whose answers are certain: a table for each goal, or values for any goal if there are many."""
    if not few_goals(instances) or np.unique(instances.goals).size > _MOST_TABLES:
        return Potentials(lower=lower, scale=1 + max_excess)
    return Scaled(LowerEnvelope(lower), 1 + max_excess) if max_excess > 0 else LowerEnvelope(lower)
