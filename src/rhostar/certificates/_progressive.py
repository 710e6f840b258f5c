"""Progressive validation: learns and certifies on the same instances, because each batch tests before it teaches.

The instances are cut into batches. The table ρ_b is learned from the batches before b and judged on batch b, so batch b
had no part in choosing it. The tables differ, and so do their expected utilities: betting, which assumes that all
utilities have one expectation, does not hold here. A bound on running means does (:func:`rhostar.bounds.running_mean`).
It promises the mean utility of a table drawn among those that were judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds import _checks as checks
from rhostar.bounds import running_mean
from rhostar.certificates import _assumptions as assumptions
from rhostar.certificates._assumptions import Bounds
from rhostar.certificates._certificate import Certificate
from rhostar.certificates._measured import score
from rhostar.certificates._per_answer import limited_excess
from rhostar.certificates._request import Request, rounding, weights_assumed
from rhostar.certificates._sample import Sample, sample
from rhostar.certificates._seen import check_repeats
from rhostar.errors import AssumptionError, InputError
from rhostar.instances import InstanceSet
from rhostar.search import Algorithm
from rhostar.search._rho import values_for
from rhostar.utilities import Score, Utility

Table = NDArray[np.float64] | Mapping[int, NDArray[np.float64]]
"""Heuristic values; a mapping where goals differ."""


@dataclass(frozen=True, eq=False)
class Progressive:
    """The promise of progressive validation, and the tables that it is about.

    ``print(result)`` shows the promise. It is about a table drawn among `tables_` with the probabilities `weights`, on
    average over that draw: :meth:`draw` makes it. The table that was learned last is the one you would like to run, but
    nothing was promised for it: no batch was left to judge it.
    """

    certificate: Certificate
    tables_: tuple[Table, ...]
    """The tables that were judged, in the order in which they were learned."""
    weights: NDArray[np.float64]
    """The probability of each: the share of the instances that it was judged on."""
    means: NDArray[np.float64]
    """The mean utility of each table, on the batch that judged it."""
    values: NDArray[np.float64]
    """What went into the bound, one value for each independent draw, in the order in which they were judged."""
    without_promise: Table
    """The table learned from all batches. It has no promise."""

    def draw(self, random_state: int | np.random.Generator | None = None) -> Table:
        """Return one of the judged tables, drawn with the probabilities that the promise is about.

        Parameters
        ----------
        random_state
            Seed of the draw, chosen without looking at the tables.

        Returns
        -------
        ndarray or mapping
            ρ; a mapping from goals to arrays where goals differ.
        """
        return self.tables_[int(np.random.default_rng(random_state).choice(len(self.tables_), p=self.weights))]

    def __repr__(self) -> str:
        return f"Progressive({len(self.tables_)} tables, mean {self.certificate.claim})"

    def __str__(self) -> str:
        return (
            f"{self.certificate}\ndraw() returns the table that this is about; the table learned last has no promise."
        )


def progressive(
    learner: Any,
    instances: InstanceSet,
    *,
    batches: int | Sequence[int] = 10,
    utility: Utility,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    weight_bounds: Any = None,
    excess: float | None = None,
    groups: ArrayLike | Literal[False] | None = None,
    delta: float = 0.05,
    random_state: int = 0,
) -> Progressive:
    """Learn from all instances and promise what a table drawn among the learned ones will do, without a holdout.

    Parameters
    ----------
    learner
        A learner; it is cloned and fitted once for each batch. Its parameters must not come from these instances.
    instances
        Independent draws from the distribution in question. They are put in random order first.
    batches
        How many batches of equal size, or the size of each. The first only teaches. A large first batch gives better
        tables, and leaves fewer instances to judge them.
    utility
        What is bounded, with its limit H fixed beforehand.
    algorithm, reopen, budget
        How ρ is run; see :func:`rhostar.astar`.
    weight_bounds
        (least, largest) weight that any instance can have, as for :func:`rhostar.certify`; needed for `excess`.
    excess
        For the suboptimality of A* with reopening: each table is lowered so that no answer exceeds the optimum by more
        than this (U5), which then is the range in place of H. To be fixed beforehand.
    groups
        As for :func:`rhostar.certify`: instances of one group depend on each other and stay in one batch.
    delta
        Probability with which the promise may be wrong.
    random_state
        Seed of the order of the instances.

    Returns
    -------
    Progressive
        Its `certificate` is the promise, its method `draw` returns the table that the promise is about.

    Raises
    ------
    InputError
        If an argument is out of range, `learner` cannot be fitted, or `excess` does not apply here.
    AssumptionError
        If a weight breaks `weight_bounds`, or instances repeat.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(6, 6)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(600, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=35)
    >>> found = rs.certificates.progressive(rs.learners.MeanDistance(), instances, batches=6,
    ...                                     utility=rs.utilities.Suboptimality(limit=3.0))
    >>> print(found.certificate.sentence)
    With probability at least 0.95 over the draw of the 500 instances, the mean cost above the optimum (clipped at 3;
    none of these was) of A* to goal 35 with reopening and a rho drawn among 5 tables, each with the share of the
    instances that it was judged on, is at most 0.140325 on new instances drawn as these were (measured 0.0921275).
    >>> rho = found.draw(random_state=0)
    """
    request = Request(
        algorithm=checks.algorithm(algorithm),
        reopen=bool(reopen),
        budget=budget,
        utility=utility,
        integer_weights=None,
        out_degree=None,
        delta=checks.probability(delta),
        random_state=arrays.integer(random_state, "random_state", 0),
    )
    _check(learner, instances, request)
    check_repeats(instances, "instances", independent=groups is False)
    limits = _Limits.of(request, instances, weight_bounds, excess)
    whole = sample(instances, groups=groups, by=None)
    order, unit = _shuffled(whole, request.random_state)
    sizes = _sizes(batches, order.size)
    ends = np.cumsum(sizes)
    goals = np.unique(instances.goals).tolist()

    tables: list[Table] = []
    scores: list[Score] = []
    values: list[NDArray[np.float64]] = []
    for b in range(1, sizes.size + 1):
        taught, tested = order[: ends[b - 1]], order[ends[b - 1] : ends[min(b, sizes.size - 1)]]
        fitted = _clone(learner).fit(instances[np.flatnonzero(np.isin(unit, taught))])
        tables.append(limits.table(fitted, goals, b))
        if tested.size:
            positions = np.flatnonzero(np.isin(unit, tested))
            scores.append(score(request, instances[positions], tables[-1], None))
            losses = limits.losses(request, scores[-1])
            count = np.bincount(unit[positions], minlength=order.size)
            values.append(np.bincount(unit[positions], weights=losses, minlength=order.size)[tested] / count[tested])
    joined = np.concatenate(values)
    return Progressive(
        _certificate(request, whole, limits, goals, scores, joined),
        tuple(tables[:-1]),
        sizes[1:] / sizes[1:].sum(),
        np.array([limits.range - v.mean() if request.flip else v.mean() for v in values]),
        joined,
        tables[-1],
    )


@dataclass(frozen=True, eq=False)
class _Limits:
    """The range of the losses, fixed before any table is learned, and what keeps each table within it."""

    request: Request
    instances: InstanceSet
    stated: Bounds
    excess: float | None

    @classmethod
    def of(cls, request: Request, instances: InstanceSet, weight_bounds: Any, excess: float | None) -> _Limits:
        if (weight_bounds is None) != (excess is None):
            raise InputError("weight_bounds and excess belong together: give both or neither")
        stated = assumptions.bounds(weight_bounds, None, instances.graph.m)
        if excess is None:
            return cls(request, instances, stated, None)
        if not request.per_answer:
            raise InputError("excess bounds the suboptimality of A* with reopening and without a budget, nothing else")
        most = checks.positive(excess, "excess")
        if most >= request.utility.limit:
            raise InputError(f"excess must be below the limit {request.utility.limit:g} of the utility, got {most:g}")
        assumptions.check_weights(instances, stated, "instances")
        return cls(request, instances, stated, most)

    @property
    def range(self) -> float:
        """The largest loss."""
        return self.request.utility.limit if self.excess is None else self.excess

    def table(self, fitted: Any, goals: Sequence[int], batch: int) -> Table:
        """Return the values of a fitted learner, lowered where `excess` asks for it."""
        found = {}
        for goal in goals:
            try:
                rho = values_for(fitted, self.instances.graph, goal)
            except InputError as error:
                name = self.instances.graph._name_of(goal)
                raise InputError(
                    f"the table learned before batch {batch} does not serve goal {name}: {error}"
                ) from None
            found[goal] = rho if self.excess is None else self._lowered(rho, goal)
        return found[goals[0]] if len(goals) == 1 else found

    def _lowered(self, rho: NDArray[np.float64], goal: int) -> NDArray[np.float64]:
        assert self.excess is not None
        off = rounding(self.stated, rho, self.request.utility.limit, exact=False)
        if off >= self.excess:
            raise InputError(f"excess must be above {off:.3g}, by which sums of these weights may round")
        return limited_excess(self.instances.graph, rho, goal, self.stated.low, self.excess - off)

    def losses(self, request: Request, score: Score) -> NDArray[np.float64]:
        """Return what is bounded from above, one per instance."""
        if self.excess is None:
            return request.utility.limit - score.values if request.flip else score.values
        if score.raw.max() > self.excess:  # possible only where nothing says how far sums round
            raise AssumptionError(
                f"an answer was {score.raw.max():.6g} above the optimum: sums round by more than was assumed"
            )
        return score.raw

    @property
    def assumed(self) -> tuple[str, ...]:
        independent = "these instances and those to come are drawn independently from one distribution"
        fixed = "the learner and its parameters were fixed without looking at these instances"
        weights = () if self.excess is None else weights_assumed(self.stated, exact=False)
        free = self.excess is not None or self.request.binary
        limit = () if free else (f"the limit {self.range:g} was fixed beforehand",)
        return (independent, *limit, fixed, *weights)


def _check(learner: Any, instances: Any, request: Request) -> None:
    if not (hasattr(learner, "fit") and hasattr(learner, "get_params")):
        raise InputError(f"learner must have fit and get_params, as learners do, got {type(learner).__name__}")
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    if not isinstance(request.utility, Utility):
        raise InputError(f"utility must be one Utility, got {request.utility!r}")


def _clone(learner: Any) -> Any:
    from sklearn.base import clone

    return clone(learner)


def _shuffled(whole: Sample, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the independent draws in random order, and for each instance the draw that it belongs to."""
    unit = np.arange(len(whole.instances)) if whole.groups is None else whole.groups
    return np.random.default_rng(seed).permutation(int(unit.max()) + 1), unit


def _sizes(batches: Any, count: int) -> NDArray[np.int64]:
    """Return the sizes of the batches."""
    if isinstance(batches, Sequence | np.ndarray) and not isinstance(batches, str):
        sizes = np.array([arrays.integer(size, "batches", 1) for size in batches], dtype=np.int64)
        if sizes.size < 2 or sizes.sum() != count:
            raise InputError(f"batches must be at least two sizes that add up to {count}, got {list(batches)}")
        return sizes
    number = arrays.integer(batches, "batches", 2, count)
    ends = np.linspace(0, count, number + 1).round().astype(np.int64)
    return ends[1:] - ends[:-1]


def _certificate(
    request: Request,
    whole: Sample,
    limits: _Limits,
    goals: Sequence[int],
    scores: Sequence[Score],
    values: NDArray[np.float64],
) -> Certificate:
    upper = running_mean(values, limits.range, delta=request.delta)
    observed = float(values.mean())
    clips = limits.excess is None and not request.binary
    raw = np.concatenate([score.raw for score in scores])
    tables = arrays.counted(len(scores), "table")
    drawn_rho = f"a rho drawn among {tables}, each with the share of the {whole.unit}s that it was judged on,"
    return Certificate(
        label="PV running mean",
        subject=request.utility.mean_words,
        run=request.run(goals).removesuffix("this rho") + drawn_rho,
        population=whole.population,
        side="lower" if request.flip else "upper",
        value=max(0.0, limits.range - upper) if request.flip else upper,
        observed=limits.range - observed if request.flip else observed,
        limit=limits.range if limits.excess is None else None,
        clipped=float(np.mean(raw > limits.range)) if clips else None,
        delta=request.delta,
        samples=values.size,
        unit=whole.unit,
        holds_for="this rho",
        reference="Howard, Ramdas, McAuliffe and Sekhon (2021): a bound on means that change (progressive validation)",
        role="promise",
        conditions=limits.stated.conditions if limits.excess is not None else (),
        assumptions=limits.assumed,
        measured={"range": limits.range, "tables": float(len(scores)), "instances": float(raw.size)},
    )
