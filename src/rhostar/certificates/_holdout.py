"""The function certify: bounds for one heuristic on instances that were not used to choose it (H4, H6, H9)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import bounds
from rhostar.certificates._certificate import Certificate
from rhostar.certificates._draws import (
    Draws,
    Duplicates,
    assume_draws,
    check_repeats,
    check_set,
    check_weights,
    find_draws,
    find_unseen,
    unknown_origin,
)
from rhostar.certificates._excess import WeightBounds, bound_every_answer, bound_excess, longest, weight_bounds
from rhostar.certificates._looks import count_looks
from rhostar.certificates._measure import (
    Search,
    SearchOptions,
    check_utility,
    find_tables,
    goal_words,
    heuristic_fields,
    losses,
    measure,
    optimal_paths,
)
from rhostar.certificates._summary import looseness
from rhostar.certificates._table import CertificateTable, make_table
from rhostar.errors import AssumptionError, InputError
from rhostar.heuristics import Heuristic, HeuristicLike, as_heuristic
from rhostar.heuristics._storage import digest
from rhostar.instances import InstanceSet
from rhostar.search import Runs
from rhostar.utilities import Score, SolvedWithin, Utility

# From values, their range and δ to an upper bound on the mean.
Upper = Callable[[NDArray[np.float64], float, float], float]


@dataclass(frozen=True)
class HoldoutBound:
    """A bound for one heuristic.

    Attributes
    ----------
    label, reference
        Its code and its theorem.
    upper
        The bound on the mean; None for a quantile.
    binary
        Whether it is for values of 0 and H alone.
    asked
        Whether it is computed only where it is asked for.
    assumed
        What it assumes besides.
    """

    label: str
    reference: str
    upper: Upper | None
    binary: bool = False
    asked: bool = False
    assumed: tuple[str, ...] = ()


ON_HOLDOUT: tuple[HoldoutBound, ...] = (
    HoldoutBound(
        "H4 Clopper-Pearson",
        "Clopper and Pearson (1934)",
        lambda values, limit, delta: bounds.clopper_pearson(values, limit, delta=delta, side="upper").high,
        binary=True,
    ),
    HoldoutBound(
        "H4 betting",
        "Waudby-Smith and Ramdas (2023), averaged over random orders",
        lambda values, limit, delta: bounds.betting(values, limit, delta=delta).high,
    ),
    HoldoutBound(
        "H4 Chernoff",
        "Chernoff's bound in its relative-entropy form",
        lambda values, limit, delta: bounds.kullback_leibler(values, limit, delta=delta, side="upper").high,
    ),
    HoldoutBound(
        "H4 Bernstein",
        "Maurer and Pontil (2009), Theorem 4",
        lambda values, limit, delta: bounds.empirical_bernstein(values, limit, delta=delta, side="upper").high,
    ),
    HoldoutBound(
        "H9 any time",
        "Waudby-Smith and Ramdas (2023), a confidence sequence: valid at every sample size at once",
        lambda values, limit, delta: float(bounds.betting_sequence(values, limit, delta=delta)[-1]),
        asked=True,
        assumed=("the instances are stored in the order in which they were drawn",),
    ),
)
"""In the order in which they are printed. The first that fits the utility is the guarantee."""
QUANTILE = HoldoutBound("H6 quantile", "the order statistic, by the binomial distribution; no range is needed", None)


def certify(
    heuristic: HeuristicLike | Sequence[Any],
    holdout: InstanceSet,
    utility: Utility,
    *,
    lower: ArrayLike | None = None,
    bound: str | None = None,
    quantile: float | None = None,
    by: Literal["goal"] | ArrayLike | None = None,
    groups: ArrayLike | Literal[False] | None = None,
    candidates: int = 1,
    duplicates: Duplicates = "raise",
    delta: float = 0.05,
    **search: Unpack[SearchOptions],
) -> CertificateTable:
    """Bound the performance of a heuristic on unseen instances, from instances that were not used to choose it.

    The guarantee is one bound: betting (H4), or Clopper-Pearson for utilities of 0 and H. It is fixed before any
    utility is seen, so it may use all of δ. Bounds that are certain without any instances are shown too (U3, U5). They
    are the guarantee if they say that answers are optimal. Other bounds are shown for comparison. The glossary explains
    these codes.

    Parameters
    ----------
    heuristic
        As `rho` of :func:`rhostar.astar`: an array of n values, a mapping from goals to such arrays, a fitted learner
        or a :class:`rhostar.Model`. Or a list of these: all are measured on the holdout, and the best one is certified,
        at δ divided by their number (H8).
    holdout
        Instances drawn independently from the distribution in question. Instances that share snapshots are not
        independent: each snapshot then counts as one draw (H7), and each day where days are known, unless they are
        draws from a pool (:meth:`InstanceSet.draw`).
    utility
        What is bounded, with its limit H fixed beforehand. A quantile needs no limit, so H may be inf.
    lower
        Lower bounds on the weights of all instances, one number or one per edge, known beforehand. They bound every
        single answer of A* with reopening (U5), which also sharpens the guarantee. A heuristic with bounds of its own
        needs none: searches compare the weights with them and stay optimal.
    bound
        The bound to use as the guarantee, such as "any time", "Bernstein" or "U5". Choose it without looking at the
        result.
    quantile
        Bound a quantile in place of the mean: 0.99 gives "at least 99 % of the answers have at most …" (H6), without H.
    by
        "goal", or a label for each instance (depot, hour): one guarantee for each category, at δ divided by their
        number.
    groups
        A label for each instance (day): instances of one group depend on each other, the groups are independent draws
        (H7). By default days where they are known, else snapshots. False states that every instance was drawn
        independently although snapshots repeat; the guarantee is then about new trips on these snapshots.
    candidates
        How many heuristics have been compared on this holdout already, of which this one is the best (H8).
    duplicates
        What to do with instances that were seen in training, by content: "raise", or "drop" them. "allow" states that
        equal instances are independent draws that happen to be equal, as in draws from few values; more of them than
        chance explains still raise an error.
    delta
        Probability with which the guarantee may be wrong.
    **search
        How the heuristic is run: `algorithm`, `reopen` and `budget`, as for :func:`rhostar.solve_many`. Bounds on every
        answer need A* without a budget.

    Returns
    -------
    CertificateTable
        ``table.best`` is the guarantee, ``table.rho`` the heuristic: of a list, the best one.

    Raises
    ------
    AssumptionError
        If the instances or the heuristic break an assumption that can be checked.
    InputError
        If an argument is out of range, or the algorithm does not support the claim.
    NotFittedError, ModelError
        If the learner is not fitted; if it or a model is for another graph or another goal.
    InstanceError
        If there are fewer than two instances, or one has no path.
    UtilityError
        If a utility is negative or NaN.

    See Also
    --------
    certify_training : Bounds that hold although the heuristic was chosen by looking at the instances.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(6, 6)
    >>> weights = np.random.default_rng(0).uniform(1, 1.2, size=(6000, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=35)
    >>> train, holdout = instances.split(0.8, seed=0)
    >>> learner = rs.learners.MeanDistance().fit(train)
    >>> table = rs.certify(learner, holdout, rs.utilities.Suboptimality(limit=5.0), lower=1.0)
    >>> print(table.best.sentence)
    With probability at least 0.95 over the draw of the 1200 instances, the mean cost above the optimum of A* to goal 35
    with reopening and this rho is at most 0.0200852 on new instances drawn as these were, if no weight falls below
    its lower bound and no answer costs more than 20,000 (measured 0.0175073).
    >>> [(row.label, round(row.value, 3), row.role) for row in table.rows]
    [('H4 betting', 0.02, 'guarantee'), ('U5', 0.611, 'certain'), ('H4 Bernstein', 0.024, 'comparison'),
     ('H4 Chernoff', 0.026, 'comparison')]
    """
    share = None if quantile is None else arrays.probability(quantile, "quantile")
    utility = check_utility(utility, mean=share is None)
    run, delta = Search.of(search), arrays.probability(delta)
    given = _candidates(heuristic)
    among = arrays.integer(candidates, "candidates", 1) * len(given)
    check_set(holdout, "holdout")
    several = [as_heuristic(one, holdout.graph) for one in given]
    stated = weight_bounds(lower, None, None, holdout.graph.m)
    if stated.given and run.algorithm == "gbfs":
        raise InputError("lower is for bounds on every answer, which algorithm='gbfs' does not have")
    check_repeats(holdout, "holdout", independent=(groups is not None and groups is not False) or duplicates == "allow")
    unseen = [find_unseen(holdout, one.trained_on, duplicates) for one in several]
    if stated.given:
        check_weights(holdout, stated, "holdout")
    optimum = optimal_paths(holdout).cost if utility.needs_optimum else None
    tables = []
    for one, (kept, notes) in zip(several, unseen, strict=True):
        instances = check_set(holdout[kept], "holdout") if kept.size < len(holdout) else holdout
        draws = find_draws(
            instances,
            groups=_of(groups, kept),
            by=_of(by, kept),
            dropped=len(holdout) - len(instances),
            trained_on=one.trained_on,
            duplicates=duplicates,
        )
        score, runs = measure(one, instances, utility, run, None if optimum is None else optimum[kept])
        found = _bound(one, instances, draws, score, runs, run, stated, bound, share, isinstance(by, str), among, delta)
        tables.append(replace(found, notes=(*found.notes, *notes)))
    settings = repr((utility, run, lower, bound, quantile, by, groups, delta))
    looks = count_looks(holdout, [(table.about, settings) for table in tables])
    if looks > among:
        offer = (
            f"{looks} guarantees were made on these instances in this process, for other heuristics or settings. "
            f"Each holds by itself; for the best of them pass candidates={looks}"
        )
        tables = [replace(table, notes=(*table.notes, offer)) for table in tables]
    best = min(range(len(tables)), key=lambda k: looseness(tables[k].best))
    if len(tables) == 1:
        return tables[0]
    values = ", ".join(table.best.claim for table in tables[:8]) + (", …" if len(tables) > 8 else "")
    note = f"candidate {best} (counted from 0) is the best of {len(tables)}; their bounds are {values}"
    return replace(tables[best], notes=(*tables[best].notes, note))


def _bound(
    heuristic: Heuristic,
    instances: InstanceSet,
    draws: Draws,
    score: Score,
    runs: Runs,
    run: Search,
    stated: WeightBounds,
    bound: str | None,
    quantile: float | None,
    by_goal: bool,
    candidates: int,
    delta: float,
) -> CertificateTable:
    """Return all bounds on one heuristic, by what was measured on the holdout."""
    graph, utility, limit = instances.graph, score.utility, score.utility.limit
    goals, tables = np.unique(instances.goals).tolist(), find_tables(heuristic, instances)
    known = (*tables.measured.values(), *(tables.others or {}).values())
    answer = stated.largest_answer(known, limit, longest(heuristic) if tables.computed else 0.0)
    excess = None
    if run.measures_excess(utility):
        excess = bound_excess(heuristic, tables, graph, stated, run, limit, answer, exact=False)
    certain, dropped = bound_every_answer(
        heuristic, tables.measured, goals, graph, stated, utility, run, excess, score.raw, [runs], answer, exact=False
    )
    # Where no answer can be further above the optimum than this, it takes the place of H.
    sharper = excess is not None and excess.most < limit and excess.seen(score.raw, runs, stated, answer)
    sharper = sharper and quantile is None
    # A range of 0 leaves nothing to bound; the smallest number is as good.
    reach = max(excess.most, float(np.finfo(np.float64).tiny)) if excess is not None and sharper else limit
    sample = score.raw if sharper else losses(score)
    binary, higher = isinstance(utility, SolvedWithin), utility.better == "higher"
    clips = not sharper and not binary
    options = [entry for entry in ON_HOLDOUT if entry.binary == (binary and draws.groups is None)]
    default = options[0] if quantile is None else QUANTILE
    chosen = _choose(bound, default, options, certain)
    if bound is not None and draws.categories and isinstance(chosen, Certificate):
        raise InputError(f"by needs a bound on the holdout, got bound={bound!r}")
    unknown = unknown_origin(heuristic)
    making = "choosing rho" if candidates == 1 else f"making the {candidates} candidates"
    assumed = (
        *assume_draws("holdout", limit if clips and quantile is None else None),
        f"holdout had no part in {making}" + (f" (not checked: {unknown[0]})" if unknown else ""),
        *(excess.conditions if excess is not None and sharper else ()),
    )
    warnings: list[str] = []

    def row(entry: HoldoutBound, level: float, category: str | None = None, at: Any = slice(None)) -> Certificate:
        raw, solved = score.raw[at], runs.solved[at]
        fields: dict[str, Any] = {
            "label": entry.label,
            "reference": entry.reference,
            **run.fields,
            "utility": utility.name,
            "goals": goal_words(graph, np.unique(instances.goals[at]).tolist()),
            **heuristic_fields(heuristic, run),
            "candidates": candidates,
            "population": draws.population,
            "side": "lower" if higher else "upper",
            "delta": level,
            "unit": draws.unit,
            "holds_for": "this rho",
            "unsolved": float(1 - solved.mean()),
            "assumptions": (*assumed, *entry.assumed),
            "goal": int(instances.goals[at][0]) if by_goal and category is not None else None,
            "category": category,
        }
        if entry.upper is None:
            assert quantile is not None
            _check_quantile(utility, draws)
            value, observed = _quantile(raw, quantile, level / candidates, higher=higher)
            return Certificate(
                **fields,
                subject=utility.quantity,
                value=value,
                observed=observed if math.isfinite(observed) else None,
                limit=None,
                samples=raw.size,
                statistic="quantile",
                share=quantile,
                needed=_fewest(quantile, raw.size, level / candidates),
            )
        values = draws.values(sample, None if category is None else at)
        computed, observed = entry.upper(values, reach, level / candidates), float(values.mean())
        if computed < observed:  # independent draws hardly ever give less
            warnings.append(
                f"Warning: {entry.label} came out below the measured mean and was raised to it: draws look dependent"
            )
        upper = max(computed, observed)
        return Certificate(
            **fields,
            subject=utility.mean_words,
            value=max(0.0, reach - upper) if higher else upper,
            observed=reach - observed if higher else observed,
            limit=None if sharper else limit,
            clipped=float(np.mean(raw > reach)) if clips else None,
            samples=values.size,
            conditions=excess.conditions if excess is not None and sharper else (),
            needed=_needed(entry.upper, values, reach, upper, level / candidates) if entry is chosen else None,
            measured={"range": reach, "instances": float(raw.size)},
        )

    if quantile is None:
        made = [(entry, row(entry, delta)) for entry in options if not entry.asked or entry is chosen]
    else:
        made = [(QUANTILE, row(QUANTILE, delta))]
    if draws.categories:
        each = chosen if isinstance(chosen, HoldoutBound) else default
        level = delta / len(draws.categories)
        made += [(each, row(each, level, category, at)) for category, at in draws.categories.items()]
    rows = [
        replace(one, role="guarantee") if entry is chosen and (one.category or not draws.categories) else one
        for entry, one in made
    ]
    rows += [replace(one, role="guarantee") if one is chosen else one for one in certain]
    warnings += _look(sample, reach, score, draws, instances, compare=clips and quantile is None)
    notes = [*dict.fromkeys(warnings), *draws.notes, *unknown]
    return make_table(rows, dropped, delta, run.title(utility, delta), notes, heuristic, digest(heuristic))


def _choose(
    bound: str | None, default: HoldoutBound, options: Sequence[HoldoutBound], certain: Sequence[Certificate]
) -> HoldoutBound | Certificate:
    """Return what is the guarantee: the user's choice; or that answers are certainly optimal; or the default bound."""
    if bound is None:
        # Of several, the one that asks for less.
        return min((row for row in certain if row.optimal), key=lambda row: len(row.conditions), default=default)
    entries = [*options, *([] if default in options else [default]), *certain]
    return find_bound(bound, entries)


def find_bound(bound: str, entries: Sequence[Any]) -> Any:
    """Return the entry that a user's words name: "H1-kl Q64" has these names: itself, "H1-kl" and "Q64".

    Raises
    ------
    InputError
        If none has this name.
    """
    wanted = bound.strip().lower().replace("-", " ")
    for entry in entries:
        first, _, rest = entry.label.lower().partition(" ")
        if wanted in {text.replace("-", " ") for text in (entry.label.lower(), first, rest) if text}:
            return entry
    labels = ", ".join(dict.fromkeys(entry.label for entry in entries))
    raise InputError(f"bound {bound!r} is not among those that apply here: {labels}")


def _check_quantile(utility: Utility, draws: Draws) -> None:
    if isinstance(utility, SolvedWithin):
        raise InputError("quantile needs a utility with more values than 0 and 1; the share itself is the mean")
    if draws.groups is not None:
        raise AssumptionError(
            f"a quantile needs instances that were drawn independently, but these come in {draws.unit}s; "
            "draw them with InstanceSet.draw, or pass groups=False if they were"
        )


def _quantile(raw: NDArray[np.float64], share: float, delta: float, *, higher: bool) -> tuple[float, float]:
    """Return the bound on a quantile, and the quantile of the sample."""
    rank = math.ceil(share * raw.size) - 1
    if not higher:
        return bounds.quantile(raw, share, delta=delta).value, float(np.sort(raw)[rank])
    falling = np.sort(raw)[::-1]  # counted from the other end
    found = bounds.quantile_rank(share, raw.size, delta=delta)
    return 0.0 if found is None else float(falling[found - 1]), float(falling[rank])


WEAK = 0.1
"""A guarantee is weak if it is further than this share of the range from what was measured."""
_TYPICAL = 30
"""With at least this many values, further ones are assumed to be like them; with fewer, as spread out as possible."""


def _needed(upper: Upper, values: NDArray[np.float64], limit: float, bound: float, delta: float) -> int | None:
    """Return about how many draws would make a guarantee that is not weak; None if this one is not.

    The width of the bound is computed for two sizes, on samples whose quantiles are those of the values, and falls like
    a power of the size in between and beyond.
    """
    mean, wanted = float(values.mean()), WEAK * limit
    if bound - mean <= wanted:
        return None
    ordered, count = np.sort(values), values.size

    def width(size: int) -> float:
        if count < _TYPICAL:
            like = np.where(np.arange(size) < round(size * mean / limit), limit, 0.0)
        else:
            like = ordered[(2 * np.arange(size) + 1) * count // (2 * size)]
        return upper(like, limit, delta) - float(like.mean())

    first = max(width(count), 1.01 * wanted)
    size = math.ceil(count * (first / wanted) ** 1.8) + 1
    second = width(size)
    power = max(0.4, math.log(first / second) / math.log(size / count)) if second > 0 else 1.0
    return max(count + 1, math.ceil(count * (first / wanted) ** (1 / power)))


def _fewest(share: float, count: int, delta: float) -> int | None:
    """Return how many instances a bound on a quantile needs; None if there are as many."""
    fewest = math.ceil(math.log(delta) / math.log(share))
    return fewest if count < fewest else None


def _look(
    sample: NDArray[np.float64], limit: float, score: Score, draws: Draws, instances: InstanceSet, *, compare: bool
) -> list[str]:
    """Return warnings about draws that look dependent, and about a limit that was read off the data."""
    found = []
    p = bounds.order_test(sample) if instances.pool is None and draws.groups is None else 1.0
    if p < 1e-3:
        found.append(
            f"Warning: in the order of storage these utilities do not look like independent draws (p = {p:.1g}). "
            "That is harmless if somebody sorted them. It is not if they follow each other in time: then use groups= "
            "(such as days) or by= (such as hours)"
        )
    largest = float(score.raw.max())
    if compare and 0.98 * limit < largest <= limit:
        found.append(
            f"Warning: the limit {limit:g} is just above the largest utility seen, {largest:.6g}. The guarantee "
            "holds only if the limit was fixed without looking at these instances"
        )
    return found


def _candidates(heuristic: Any) -> list[Any]:
    """Return the candidates; a list of numbers is one heuristic."""
    if not isinstance(heuristic, list | tuple) or all(isinstance(x, int | float | np.number) for x in heuristic):
        return [heuristic]
    return list(heuristic)


def _of(labels: Any, kept: NDArray[np.int64]) -> Any:
    """Return the labels of the instances that were kept."""
    array = np.asarray(labels)
    fits = array.ndim == 1 and array.size > int(kept[-1])  # else the complaint is for the function that reads them
    return array[kept] if fits else labels
