"""The function certify_training: bounds that hold although ρ was chosen by looking at the instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._draws import (
    check_degree,
    check_independent,
    check_set,
    check_weights,
    population,
    unknown_origin,
)
from rhostar.certificates._excess import (
    WeightBounds,
    bound_every_answer,
    bound_excess,
    by_edge,
    exceeding,
    most_excess_below,
    project,
    weight_bounds,
)
from rhostar.certificates._families import Family, FullTable
from rhostar.certificates._holdout import find_bound
from rhostar.certificates._measure import (
    Search,
    SearchOptions,
    Tables,
    check_utility,
    find_tables,
    goal_name,
    goal_words,
    losses,
    measure,
    optimal_paths,
)
from rhostar.certificates._sentence import THIS_RHO, scaled_words
from rhostar.certificates._table import CertificateTable, make_table
from rhostar.certificates._training_bounds import Bound, Measured, Setting, choose_bounds, choose_guarantee
from rhostar.errors import AssumptionError, InputError
from rhostar.graph import Graph
from rhostar.heuristics import HeuristicLike, as_heuristic
from rhostar.heuristics._storage import digest
from rhostar.instances import InstanceSet
from rhostar.instances._provenance import Provenance
from rhostar.search import Runs
from rhostar.utilities import Score, SolvedWithin, Utility

# Caps from other data: this quantile of the weights of each edge. Lower caps give tighter bounds and more work.
CAP_QUANTILE = 0.1


def certify_training(
    heuristic: HeuristicLike,
    train: InstanceSet,
    utility: Utility,
    *,
    family: Family | Mapping[int, Family] | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    caps: ArrayLike | InstanceSet | None = None,
    integer_weights: int | None = None,
    out_degree: int | None = None,
    bound: str | None = None,
    duplicates: Literal["raise", "allow"] = "raise",
    delta: float = 0.05,
    **search: Unpack[SearchOptions],
) -> CertificateTable:
    """Bound the performance of a heuristic on unseen instances, from the instances that it was learned from.

    Each bound holds for every heuristic of the family at once, and therefore for one that was chosen by looking at
    `train`. The guarantee is the bound with the smallest width that can be computed beforehand, unless answers are
    certain to be optimal (U3, U5). A bound through inconsistency (U1, U2) shares δ with the best other bound if their
    planned widths are similar. The glossary explains these codes. :func:`rhostar.certify` on untouched instances gives
    tighter bounds.

    Parameters
    ----------
    heuristic
        As for :func:`rhostar.certify`, with tables for its goals; no list.
    train
        Instances drawn independently from the distribution in question.
    utility
        What is bounded, with its limit H fixed beforehand.
    family
        The heuristics among which ρ was chosen, fixed before `train` was seen: for instance
        :class:`rhostar.certificates.Linear`; one, or one for each goal. By default all of them, as for every learner.
    lower, upper
        Lower and upper bounds on the weights of all instances, numbers or arrays by edge, known beforehand.
    caps
        For U2: the most that ρ may rise along each edge, fixed without looking at `train`. Or instances of other days;
        the caps are then the 10 % quantiles of their weights. ρ is lowered to these caps.
    integer_weights
        ℓ, where the weights of all instances are integers in {0..ℓ}.
    out_degree
        A bound on the number of children of any vertex, known beforehand.
    bound
        The bound to use as the guarantee, such as "U2", "H1-kl" or "U5". Choose it without looking at the result.
    duplicates
        "raise" if instances are equal or share snapshots; "allow" states that each of them was drawn independently.
    delta
        Probability with which the guarantee may be wrong; divided by the number of goals.
    **search
        How the heuristic is run: `algorithm`, `reopen` and `budget`, as for :func:`rhostar.solve_many`. Bounds through
        inconsistency need A* without a budget.

    Returns
    -------
    CertificateTable
        ``table.best`` is the guarantee. ``table.rho`` is the heuristic that was measured: where a bound needs exact
        sums or differences below the caps, ρ is moved a little, and `notes` say how far.

    Raises
    ------
    AssumptionError
        If the instances, the heuristic or the family break an assumption that can be checked.
    InputError
        If an argument is out of range, or the algorithm does not support the claim.
    NotFittedError, ModelError
        If the learner is not fitted; if it or a model is for another graph or another goal.
    InstanceError
        If there are fewer than two instances, or one has no path.
    UtilityError
        If a utility is negative or NaN.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(6, 6)
    >>> weights = np.random.default_rng(0).uniform(1, 1.2, size=(4800, graph.m))
    >>> train = rs.InstanceSet(graph, weights, sources=0, goal=35)
    >>> learner = rs.learners.MeanDistance().fit(train)
    >>> table = rs.certify_training(learner, train, rs.utilities.Suboptimality(limit=5.0), lower=1.0, upper=1.2)
    >>> [(row.label, round(row.value, 3), row.role) for row in table.rows]
    [('U2', 0.31, 'guarantee'), ('U5', 0.61, 'certain'), ('H1-kl Q64', 1.492, 'comparison'),
     ('H2 Q64', 3.938, 'comparison'), ('U1', 4.538, 'comparison')]
    """
    utility, run, delta = check_utility(utility), Search.of(search), arrays.probability(delta)
    graph = check_set(train, "train").graph
    through_inconsistency = run.measures_excess(utility) and run.budget is None
    if (lower is not None or upper is not None) and run.algorithm == "gbfs":
        raise InputError("lower and upper are for bounds through inconsistency, which algorithm='gbfs' does not have")
    if caps is not None and not through_inconsistency:
        raise InputError("caps are for U2, which needs the suboptimality of A* without a budget")
    stated = weight_bounds(lower, upper, integer_weights, graph.m)
    degree = check_degree(graph, out_degree)
    check_independent(train, duplicates)
    given = as_heuristic(heuristic, graph)
    tables = find_tables(given, train)
    if tables.computed == "weights":
        raise InputError("a heuristic that chooses among tables has no bound for every rho; certify it on a holdout")
    if tables.computed:
        raise InputError("rho is computed for any goal: use rhostar.certificates.certify_any_goal")
    if stated.given:
        check_weights(train, stated, "train")
    limits = _caps(caps, stated, graph, train)
    goals = list(tables.measured)
    category = {goal: goal_name(graph, goal) if len(goals) > 1 else None for goal in goals}

    notes = unknown_origin(given)
    families, placed, above = {}, {}, {}
    chosen_from = FullTable() if family is None else family
    largest_g = 0.0 if run.algorithm == "gbfs" else None
    if largest_g is None and stated.integers is not None:
        largest_g = float((graph.n - 1) * stated.integers)
    for goal, rho in tables.measured.items():
        own_family = families[goal] = _family_for(chosen_from, goal)
        own_family.check_fixed(train)
        own_family.check(rho, goal)
        into = own_family.into_class(rho, largest_g)
        placed[goal], moves = into.rho, [(into.how, rho, into.rho)]
        over = int(exceeding(graph, into.rho, limits, goal).sum()) if through_inconsistency else 0
        if over and own_family.every_rho:
            placed[goal] = project(graph, into.rho, limits, goal)
            what = "upper bound" if caps is None else "cap"
            how = f"lowered where rho_v - rho_c was above the {what} ({over} edges)"
            moves.append((how, into.rho, placed[goal]))
        elif over:
            above[goal] = f"rho exceeds the cap on {over} edges"
        notes += [_in_category(category[goal], note) for move in moves for note in _moved(*move)]
    exact = all(own.exact_sums(largest_g) for own in families.values())

    rows: list[Certificate] = []
    dropped: list[Dropped] = []
    raw: list[NDArray[np.float64]] = []
    runs: list[Runs] = []
    answer = stated.largest_answer((*placed.values(), *(tables.others or {}).values()), utility.limit)
    for goal in goals:
        own = train if len(goals) == 1 else train[np.flatnonzero(train.goals == goal)]
        if len(own) < 2:
            dropped.append(Dropped("bounds on train", "a single instance says nothing", category[goal]))
            continue
        excess = np.inf
        if through_inconsistency and run.reopen:
            excess = most_excess_below(graph, goal, limits, stated.lower)
        setting = Setting(
            n=graph.n,
            samples=len(own),
            limit=utility.limit,
            delta=delta / len(goals),
            rows=families[goal].capacities(
                graph.n, run.algorithm, integer_weights=integer_weights, out_degree=degree, reopen=run.reopen
            ),
            scope="every rho" if families[goal].every_rho else "every rho of the family",
            stated=stated,
            caps=limits,
            caps_given=caps is not None,
            caps_checked=isinstance(caps, InstanceSet),
            excess=excess,
            exact=families[goal].exact_sums(largest_g),
            answer=answer,
            measures_excess=run.measures_excess(utility),
            budgeted=run.budget is not None,
        )
        kept, skipped = choose_bounds(setting)
        dropped += [replace(entry, category=category[goal]) for entry in skipped]
        applicable = [one for one in kept if goal not in above or not one.below_caps]
        notes += [
            _in_category(category[goal], f"{one.label} does not apply: {above[goal]}")
            for one in kept
            if one not in applicable
        ]
        score, own_runs, measured = _measure(setting, own, placed[goal], utility, run)
        raw.append(score.raw)
        runs.append(own_runs)
        common = {
            **run.fields,
            "heuristic": scaled_words(THIS_RHO, given.factor),
            "factor": given.factor,
            "goals": goal_words(graph, [goal]),
            "utility": utility.name,
            "subject": utility.mean_words,
            "population": population(own),
            "side": "lower" if utility.better == "higher" else "upper",
            "samples": len(own),
            "unsolved": float(1 - own_runs.solved.mean()),
            "chosen_here": True,
            "goal": goal if len(goals) > 1 else None,
            "category": category[goal],
        }
        fixed = choose_guarantee(applicable)
        best, share = min(fixed, key=lambda one: one[0].value(measured, one[1] * setting.delta), default=(None, 1.0))
        shared = " and ".join(f"{one.label} at {part:g}" for one, part in fixed) if len(fixed) > 1 else ""
        rows += [
            _certificate(setting, one, measured, score, common, True, share, shared)
            if one is best
            else _certificate(setting, one, measured, score, common)
            for one in applicable
        ]
        if best is None:
            rows.append(_range(utility, common))
        notes += [_in_category(category[goal], note) for note in _advice(setting, own, run, degree, families[goal])]
    every = Tables(placed, tables.others)
    moved = not all(np.array_equal(placed[goal], rho) for goal, rho in tables.measured.items())
    # Values that were moved do not have the bounds of the heuristic.
    measured_one = given.with_facts(lower=None) if moved else given
    bound_on_excess = None
    if through_inconsistency:
        bound_on_excess = bound_excess(measured_one, every, graph, stated, run, utility.limit, answer, exact=exact)
    certain: list[Certificate] = []
    missing: list[Dropped] = []
    if runs:
        certain, missing = bound_every_answer(
            measured_one,
            placed,
            goals,
            graph,
            stated,
            utility,
            run,
            bound_on_excess,
            np.concatenate(raw),
            runs,
            answer,
            exact=exact,
        )
    every_row = _with_guarantee(rows, certain, bound)
    handed_out: Any = placed | (tables.others or {})
    if len(handed_out) == 1:
        handed_out = next(iter(handed_out.values()))
    if bound_on_excess is not None and bound_on_excess.by_search:
        # Bare values would not be lowered by searches, which is what this guarantee rests on.
        by_search = any(row.role == "guarantee" and row.label == "U5" for row in every_row)
        handed_out = measured_one if by_search else handed_out
    about = digest(as_heuristic(handed_out, graph) if moved else given)
    return make_table(every_row, (*dropped, *missing), delta, run.title(utility, delta), notes, handed_out, about)


def _measure(
    setting: Setting, own: InstanceSet, rho: NDArray[np.float64], utility: Utility, run: Search
) -> tuple[Score, Runs, Measured]:
    paths = optimal_paths(own) if utility.needs_optimum else None
    score, runs = measure(rho, own, utility, run, None if paths is None else paths.cost)
    largest = float(np.abs(rho).max())
    rounding = setting.stated.rounding(rho.size, largest, utility.limit, setting.answer, exact=setting.exact)
    inconsistency = None if paths is None else paths.inconsistency(rho)
    return score, runs, Measured(losses(score), paths, inconsistency, setting.caps, rounding)


def _advice(setting: Setting, own: InstanceSet, run: Search, degree: int | None, family: Family) -> list[str]:
    """Return what would give a tighter guarantee: weights that are integers, if they were known to be."""
    if setting.stated.integers is not None or run.algorithm == "gbfs" or own._stored.dtype.kind not in "iu":
        return []
    largest = int(own.weights.max())
    rows = family.capacities(setting.n, run.algorithm, integer_weights=largest, out_degree=degree, reopen=run.reopen)
    widths = [
        min((one.planned for one, _ in choose_guarantee(choose_bounds(known)[0])), default=setting.limit)
        for known in (setting, replace(setting, rows=rows))
    ]
    if not widths[1] < 0.9 * widths[0]:
        return []
    return [
        f"the weights are integers up to {largest}: if it is known beforehand that no weight is above that, state "
        f"integer_weights={largest}; the planned width is then {widths[1]:.3g} instead of {widths[0]:.3g}"
    ]


def _certificate(
    setting: Setting,
    bound: Bound,
    measured: Measured,
    score: Score,
    common: Mapping[str, Any],
    guarantee: bool = False,
    share: float = 1.0,
    shared: str = "",
) -> Certificate:
    """Return a bound computed on the training instances, with a share of δ; `shared` says with which others."""
    value = bound.value(measured, share * setting.delta)
    observed = score.mean if bound.clips else float(score.raw.mean())
    if common["side"] == "lower":
        value = min(max(0.0, setting.limit - value), observed)
    return Certificate(
        **common,
        label=bound.label,
        value=value if common["side"] == "lower" else max(value, observed),
        observed=observed,
        limit=setting.limit if bound.clips else None,
        clipped=score.clipped if bound.clips and not isinstance(score.utility, SolvedWithin) else None,
        delta=setting.delta,
        holds_for=bound.holds_for,
        reference=bound.reference,
        role="guarantee" if guarantee else "comparison",
        conditions=bound.conditions,
        assumptions=(*bound.assumptions, *([f"it is the lower one of {shared} of delta"] if shared else [])),
        measured=bound.measured(measured),
    )


def _range(utility: Utility, common: Mapping[str, Any]) -> Certificate:
    """Return what is true where no bound says anything: the utility is in its range."""
    return Certificate(
        **common,
        label="range",
        value=0.0 if utility.better == "higher" else utility.limit,
        observed=None,
        limit=utility.limit,
        delta=0.0,
        holds_for="this rho",
        reference="the range of the utility",
        role="guarantee",
        assumptions=("nothing",),
    )


def _with_guarantee(rows: list[Certificate], certain: list[Certificate], bound: str | None) -> list[Certificate]:
    """Return all rows; the guarantee is the user's choice, or a certain row that says that answers are optimal."""
    chosen = min((row for row in certain if row.optimal), key=lambda row: len(row.conditions), default=None)
    if bound is not None:
        chosen = find_bound(bound, [*rows, *certain])
    if chosen is None:
        return [*rows, *certain]
    found = [replace(row, role="comparison") if row.role == "guarantee" else row for row in (*rows, *certain)]
    # One row for each goal, where the user's choice is a bound on train.
    return [replace(row, role="guarantee") if row.label == chosen.label else row for row in found]


def _caps(caps: Any, stated: WeightBounds, graph: Graph, train: InstanceSet) -> NDArray[np.float64]:
    """Return D by edge."""
    if caps is None:
        return np.broadcast_to(stated.caps, graph.m)
    if isinstance(caps, InstanceSet):
        if caps.graph != graph:
            raise InputError("caps must be instances on the same graph")
        if shared := int(Provenance.of(caps).among(train).sum()):
            raise AssumptionError(f"caps must come from other data: {shared} instances of train are among them")
        return _quantiles(caps, CAP_QUANTILE)
    values = by_edge(caps, "caps", graph.m)
    if not (values >= 0).all():
        raise InputError(f"caps must be at least 0, got {values.min()}")
    return np.ascontiguousarray(np.broadcast_to(values, graph.m))


def _quantiles(instances: InstanceSet, share: float) -> NDArray[np.float64]:
    """Return a quantile of the weights of each edge over the snapshots that a set uses; absent counts as inf."""
    used = np.unique(instances._stored_rows)
    found = np.empty(instances.graph.m)
    width = max(1, (1 << 22) // used.size)  # a few edges at a time, so that a mapped set is not read into memory
    for begin in range(0, instances.graph.m, width):
        columns = np.asarray(instances._stored[used, begin : begin + width], dtype=np.float64)
        found[begin : begin + width] = np.quantile(columns, share, axis=0, method="lower")
    return found


def _family_for(family: Any, goal: int) -> Family:
    if isinstance(family, Mapping):
        if goal not in family:
            raise InputError(f"family has no entry for goal {goal}; it has {', '.join(map(str, list(family)[:5]))}")
        family = family[goal]
    if not isinstance(family, Family):
        raise InputError(f"family must be a Family, got {family!r}")
    return family


def _moved(how: str, before: NDArray[np.float64], after: NDArray[np.float64]) -> list[str]:
    change = float(np.abs(after - before).max())
    if not change > 0:
        return []
    moved = int(np.count_nonzero(after != before))
    return [f"rho was {how}: {moved} values moved, by {change:.3g} at most; run table.rho"]


def _in_category(category: str | None, note: str) -> str:
    return note if category is None else f"{category}: {note}"
