"""Progressive validation: learns and certifies on the same instances, by testing on each batch before learning from it.

The instances are cut into batches. The table ρ_b is learned from the batches before b and measured on batch b, so batch
b was not used to choose it. The tables differ, and so do their expected utilities: the betting bound, which assumes
that all utilities have one expectation, is not valid here. A bound on running means is
(:func:`rhostar.bounds.running_mean`). It bounds the mean utility of a table drawn among those that were measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds import running_mean
from rhostar.certificates._certificate import Certificate
from rhostar.certificates._draws import check_repeats, check_set, check_weights, find_draws
from rhostar.certificates._excess import WeightBounds, limited_excess, weight_bounds
from rhostar.certificates._measure import Search, SearchOptions, check_utility, goal_words, losses, measure
from rhostar.certificates._sentence import scaled_words
from rhostar.errors import AssumptionError, InputError
from rhostar.heuristics import as_heuristic
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import provenance
from rhostar.utilities import Score, SolvedWithin, Utility

# Heuristic values; a mapping where goals differ.
Table = NDArray[np.float64] | Mapping[int, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Progressive:
    """The guarantee of progressive validation, and the tables that it applies to.

    ``print(result)`` shows the guarantee. It holds on average for a table drawn from `tables` with the probabilities
    `weights`; :meth:`draw` draws one. The table that was learned last is the one you would like to run, but it has no
    guarantee: no batch was left to test it.

    Attributes
    ----------
    certificate
        The guarantee.
    tables
        The tables that were measured, in the order in which they were learned.
    weights
        The probability of each: the share of the instances that it was measured on.
    means
        The mean utility of each table, on the batch that tested it.
    values
        What went into the bound, one value for each independent draw, in the order in which they were measured.
    last
        The table learned from all batches. It has no guarantee.
    """

    certificate: Certificate
    tables: tuple[Table, ...]
    weights: NDArray[np.float64]
    means: NDArray[np.float64]
    values: NDArray[np.float64]
    last: Table

    def draw(self, seed: int | np.random.Generator | None = None) -> Table:
        """Return one of the measured tables, drawn with the probabilities that the guarantee is about.

        Parameters
        ----------
        seed
            Seed of the draw, chosen without looking at the tables.

        Returns
        -------
        ndarray or mapping
            ρ; a mapping from goals to arrays where goals differ.
        """
        return self.tables[int(np.random.default_rng(seed).choice(len(self.tables), p=self.weights))]

    def __repr__(self) -> str:
        return f"Progressive({len(self.tables)} tables, mean {self.certificate.claim})"

    def __str__(self) -> str:
        return (
            f"{self.certificate}\ndraw() returns the table that this is about; the table learned last has no guarantee."
        )


def progressive(
    learner: Any,
    instances: InstanceSet,
    utility: Utility,
    *,
    batches: int | Sequence[int] = 10,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    largest_excess: float | None = None,
    groups: ArrayLike | Literal[False] | None = None,
    delta: float = 0.05,
    seed: int = 0,
    **search: Unpack[SearchOptions],
) -> Progressive:
    """Learn from all instances and bound the performance of a table drawn from the learned ones, without a holdout.

    Parameters
    ----------
    learner
        A learner; it is cloned and fitted once for each batch. Its parameters must not come from these instances.
    instances
        Independent draws from the distribution in question. They are put in random order first.
    utility
        What is bounded, with its limit H fixed beforehand.
    batches
        How many batches of equal size, or the size of each. The first is used for training only. A large first batch
        gives better tables, and leaves fewer instances to test them.
    lower, upper
        Bounds on the weights, as for :func:`rhostar.certify_training`; they are used for `largest_excess`.
    largest_excess
        For the suboptimality of A* with reopening: each table is lowered so that no answer exceeds the optimum by more
        than this cost (U5). It then replaces H as the range. Fix it beforehand; it needs `lower`.
    groups
        As for :func:`rhostar.certify`: instances of one group depend on each other and stay in one batch.
    delta
        Probability with which the guarantee may be wrong.
    seed
        Seed of the order of the instances.
    **search
        How ρ is run: `algorithm`, `reopen` and `budget`, as for :func:`rhostar.solve_many`.

    Returns
    -------
    Progressive
        Its `certificate` is the guarantee, its method `draw` returns the table that the guarantee is about.

    Raises
    ------
    InputError
        If an argument is out of range, `learner` cannot be fitted, or `largest_excess` does not apply here.
    AssumptionError
        If a weight is not within its bounds, instances repeat, or a parameter of the learner was made from them.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(6, 6)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(600, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=35)
    >>> found = rs.certificates.progressive(rs.learners.MeanDistance(), instances,
    ...                                     rs.utilities.Suboptimality(limit=3.0), batches=6)
    >>> print(found.certificate.sentence)
    With probability at least 0.95 over the draw of the 500 instances, the mean cost above the optimum (values
    above 3 count as 3; none did) of A* to goal 35 with reopening and a table drawn among 5, each with the share of
    the instances that it was measured on, is at most 0.138195 on new instances drawn as these were (measured
    0.0921275).
    >>> rho = found.draw(seed=0)
    """
    from sklearn.base import clone

    if not (hasattr(learner, "fit") and hasattr(learner, "get_params")):
        raise InputError(f"learner must have fit and get_params, as learners do, got {type(learner).__name__}")
    check_set(instances, "instances")
    utility, run, delta = check_utility(utility), Search.of(search), arrays.probability(delta)
    order_seed = arrays.integer(seed, "seed", 0)
    _check_parameters(learner, instances)
    check_repeats(instances, "instances", independent=groups is False, say="groups=False")
    stated = weight_bounds(lower, upper, None, instances.graph.m)
    most = _check_excess(instances, utility, run, stated, largest_excess)
    reach = utility.limit if most is None else most
    draws = find_draws(instances, groups=groups)
    unit = np.arange(len(instances)) if draws.groups is None else draws.groups
    order = np.random.default_rng(order_seed).permutation(int(unit.max()) + 1)
    sizes = _sizes(batches, order.size)
    ends = np.cumsum(sizes)
    goals = np.unique(instances.goals).tolist()

    tables: list[Table] = []
    scores: list[Score] = []
    values: list[NDArray[np.float64]] = []
    solved, factors = 0, set[float]()
    answer = stated.largest_answer([], utility.limit)
    conditions = () if most is None else stated.conditions(answer, exact=False)
    for b in range(1, sizes.size + 1):
        taught, tested = order[: ends[b - 1]], order[ends[b - 1] : ends[min(b, sizes.size - 1)]]
        fitted = clone(learner).fit(instances[np.flatnonzero(np.isin(unit, taught))])
        try:
            heuristic = as_heuristic(fitted, instances.graph, goals)
        except InputError as error:
            raise InputError(f"the table learned before batch {b} does not serve all goals: {error}") from None
        factors.add(heuristic.factor)
        found = {goal: heuristic.table(goal) for goal in goals}
        if most is not None:
            found = {
                goal: _lower(rho, instances, goal, stated, utility.limit, answer, most) for goal, rho in found.items()
            }
        tables.append(found[goals[0]] if len(goals) == 1 else found)
        if tested.size:
            positions = np.flatnonzero(np.isin(unit, tested))
            score, runs = measure(tables[-1], instances[positions], utility, run)
            scores.append(score)
            solved += int(runs.solved.sum())
            own = _losses(scores[-1], most)
            count = np.bincount(unit[positions], minlength=order.size)
            means = np.bincount(unit[positions], weights=own, minlength=order.size)[tested] / count[tested]
            values.append(np.clip(means, own.min(), own.max()))  # a sum may round up, beyond the range of its terms
    joined, raw = np.concatenate(values), np.concatenate([score.raw for score in scores])
    higher, clips = utility.better == "higher", most is None and not isinstance(utility, SolvedWithin)
    bound, observed = running_mean(joined, reach, delta=delta), float(joined.mean())
    factor = factors.pop() if len(factors) == 1 else 1.0
    tested_on = f"each with the share of the {draws.unit}s that it was measured on"
    certificate = Certificate(
        label="PV running mean",
        utility=utility.name,
        subject=utility.mean_words,
        **run.fields,
        goals=goal_words(instances.graph, goals),
        heuristic=f"{scaled_words('a table', factor)} drawn among {len(scores)}, {tested_on}",
        factor=factor,
        population=draws.population,
        side="lower" if higher else "upper",
        value=max(0.0, reach - bound) if higher else bound,
        observed=reach - observed if higher else observed,
        limit=reach if most is None else None,
        clipped=float(np.mean(raw > reach)) if clips else None,
        unsolved=1 - solved / raw.size,
        delta=delta,
        samples=joined.size,
        unit=draws.unit,
        holds_for="this rho",
        reference="Howard, Ramdas, McAuliffe and Sekhon (2021): a bound on means that change (progressive validation)",
        role="guarantee",
        conditions=conditions,
        assumptions=(
            "these instances and those to come are drawn independently from one distribution",
            *([f"the limit {reach:g} was fixed beforehand"] if clips else []),
            "the learner and its parameters were fixed without looking at these instances",
            *conditions,
        ),
        measured={"range": reach, "tables": float(len(scores)), "instances": float(raw.size)},
    )
    return Progressive(
        certificate,
        tuple(tables[:-1]),
        sizes[1:] / sizes[1:].sum(),
        np.array([reach - v.mean() if higher else v.mean() for v in values]),
        joined,
        tables[-1],
    )


def _check_excess(
    instances: InstanceSet, utility: Utility, run: Search, stated: WeightBounds, largest_excess: float | None
) -> float | None:
    """Return the largest excess that is allowed, or None."""
    if stated.given != (largest_excess is not None):
        raise InputError(
            "lower, upper and largest_excess belong together: give largest_excess with lower, or none of them"
        )
    if largest_excess is None:
        return None
    if not run.measures_excess(utility) or not run.reopen or run.budget is not None:
        raise InputError(
            "largest_excess bounds the suboptimality of A* with reopening and without a budget, nothing else"
        )
    most = arrays.positive(largest_excess, "largest_excess")
    if most >= utility.limit:
        raise InputError(f"largest_excess must be below the limit {utility.limit:g} of the utility, got {most:g}")
    check_weights(instances, stated, "instances")
    return most


def _lower(
    rho: NDArray[np.float64],
    instances: InstanceSet,
    goal: int,
    stated: WeightBounds,
    limit: float,
    answer: float,
    most: float,
) -> NDArray[np.float64]:
    """Return ρ lowered until no answer can exceed the optimum by more than `most`, rounding included."""
    off = stated.rounding(rho.size, float(np.abs(rho).max()), limit, answer, exact=False)
    if off >= most:
        raise InputError(f"largest_excess must be above {off:.3g}, by which sums of these weights may round")
    return limited_excess(instances.graph, rho, goal, stated.lower, most - off)


def _losses(score: Score, most: float | None) -> NDArray[np.float64]:
    if most is None:
        return losses(score)
    if score.raw.max() > most:  # possible only where nothing says how far sums round
        raise AssumptionError(
            f"an answer was {score.raw.max():.6g} above the optimum: sums round by more than was assumed"
        )
    return score.raw


def _check_parameters(learner: Any, instances: InstanceSet) -> None:
    """Raise :class:`AssumptionError` if a parameter of the learner is made of these instances."""
    for name, value in learner.get_params(deep=True).items():
        fitted = getattr(value, "heuristic_", None)
        seen = value if isinstance(value, InstanceSet) else getattr(fitted, "trained_on", None)
        if seen is not None and (shared := provenance(seen).overlap(instances)):
            raise AssumptionError(
                f"instances: {name} of the learner has {shared} of them, so no batch would be untouched when it is "
                "measured; pass other instances there"
            )


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
