"""The function certify: checks what it is given, measures ρ, and returns the promise with all other bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

from numpy.typing import ArrayLike

from rhostar import _arrays as arrays
from rhostar.bounds import _checks as checks
from rhostar.certificates._case import make_case
from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._parts import certainties, judged, learned
from rhostar.certificates._promise import best_of, candidate_list, promised, warnings_first
from rhostar.certificates._request import Request
from rhostar.certificates._seen import Policy
from rhostar.certificates._table import CertificateTable, ordered
from rhostar.errors import InputError
from rhostar.families import Family
from rhostar.instances import InstanceSet
from rhostar.search import Algorithm, Rho
from rhostar.utilities import Utility

Named = TypeVar("Named", Certificate, Dropped)


def certify(
    rho_or_learner: Rho | Sequence[Any],
    *,
    train: InstanceSet | None = None,
    holdout: InstanceSet | None = None,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    utility: Utility,
    family: Family | Mapping[int, Family] | None = None,
    weight_bounds: Any = None,
    caps: ArrayLike | InstanceSet | None = None,
    integer_weights: int | None = None,
    out_degree: int | None = None,
    bound: str | None = None,
    quantile: float | None = None,
    by: Literal["goal"] | ArrayLike | None = None,
    groups: ArrayLike | Literal[False] | None = None,
    candidates: int = 1,
    seen: Policy = "refuse",
    delta: float = 0.05,
    random_state: int = 0,
) -> CertificateTable:
    """Promise what a heuristic will do on instances nobody has seen.

    The promise is made by one bound, which is fixed before any utility is seen and so has all of δ: betting on the
    holdout (H4), exact for utilities of 0 and H; or, if there is only `train`, the bound with the smallest width known
    beforehand. What is certain without any instances is shown too (U3, U5), and carries the promise where it says that
    answers are optimal. The other bounds are shown as the promise that each would have made in its place.

    Parameters
    ----------
    rho_or_learner
        As `rho` of :func:`rhostar.astar`: an array of n values, a mapping from goals to such arrays, a fitted learner
        or a :class:`rhostar.Model`. Or a list of these: all are judged on the holdout, and the best one is certified,
        at δ divided by their number (H8).
    train
        Instances drawn independently from the distribution in question; ρ may have been chosen by looking at them.
    holdout
        Instances drawn likewise that had no part in choosing ρ. Instances that share snapshots are not independent:
        each snapshot then counts as one draw (H7), unless they are draws from a pool (:meth:`InstanceSet.draw`).
    algorithm, reopen, budget
        How ρ is run; see :func:`rhostar.astar`. Bounds through inconsistency need A* without a budget.
    utility
        What is bounded, with its limit H fixed beforehand.
    family
        The heuristics among which ρ was chosen; by default those of the learner, or all of them. What shaped the
        family must not come from `train`.
    weight_bounds
        (least, largest) weight that any instance can have, numbers or arrays by edge, known beforehand. The least
        weights bound every single answer of A* with reopening (U5), which also sharpens the promise on the holdout.
    caps
        For U2 on `train`: the most that ρ may rise along each edge, fixed by other data, or the instances of other
        days, whose 10 % quantiles are taken. ρ is lowered to these caps.
    integer_weights
        ℓ, where the weights of all instances are integers in {0..ℓ}.
    out_degree
        A bound on the number of children of any vertex, known beforehand.
    bound
        The bound that shall carry the promise, such as "U2", "U5", "any time" or "Bernstein": to be chosen without
        looking at the result.
    quantile
        Promise a quantile in place of the mean: 0.99 gives "at least 99 % of answers have at most …" (H6), without H.
    by
        "goal", or a label for each instance of the holdout (depot, hour): one promise for each category, at δ divided
        by their number.
    groups
        A label for each instance of the holdout (day): instances of one group depend on each other, the groups are
        independent draws (H7). False says that every instance was drawn by itself although snapshots repeat.
    candidates
        How many heuristics were compared on this holdout before; ρ is the best of them (H8).
    seen
        What to do with instances of the holdout that were seen in training, by content: "refuse", or "drop" them.
        "draws" says that equal instances are independent draws that happen to be equal.
    delta
        Probability with which the promise may be wrong. If there is only `train`, it is divided by the number of goals.
    random_state
        Seed of the orders that betting averages over; to be fixed beforehand.

    Returns
    -------
    CertificateTable
        ``table.best`` is the promise. ``table.rho`` is the heuristic that was measured: where a bound needs exact sums
        or differences below the caps, ρ is moved a little, and `notes` say how far.

    Raises
    ------
    AssumptionError
        If the instances, the heuristic or the family break an assumption that can be checked.
    InputError
        If an argument is out of range, nothing is to be certified on, or the algorithm does not support the claim.
    NotFittedError, ModelError
        If the learner is not fitted; if it or a model is for another graph or another goal.
    InstanceError
        If a set has fewer than two instances, or one has no path.
    UtilityError
        If a utility is negative or NaN.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(6, 6)
    >>> weights = np.random.default_rng(0).uniform(1, 1.2, size=(6000, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=35)
    >>> train, holdout = instances.split(0.8, seed=0)
    >>> learner = rs.learners.MeanDistance().fit(train)
    >>> table = rs.certify(learner, train=train, holdout=holdout, algorithm="astar",
    ...                    utility=rs.utilities.Suboptimality(limit=5.0), weight_bounds=(1.0, 1.2), delta=0.05)
    >>> print(table.best.sentence)
    With probability at least 0.95 over the draw of the 1200 instances, the mean cost above the optimum of A* to goal 35
    with reopening and this rho is at most 0.0201973 on new instances drawn as these were, if no weight is ever below
    its stated least (measured 0.0175073).
    >>> [(row.label, round(row.value, 3), row.role) for row in table.rows]
    [('H4 betting', 0.02, 'promise'), ('U5', 0.611, 'certain'), ('H4 Bernstein', 0.024, 'alone'),
     ('H4 Chernoff', 0.026, 'alone'), ('U2', 0.31, 'alone'), ('H1-kl Q64', 1.492, 'alone'), ('H2 Q64', 3.938, 'alone'),
     ('U1', 4.539, 'alone')]
    """
    options = {name: value for name, value in locals().items() if name != "rho_or_learner"}
    if (several := candidate_list(rho_or_learner)) is not None:
        return best_of([partial(certify, one) for one in several], options)
    request = Request(
        algorithm=checks.algorithm(algorithm),
        reopen=bool(reopen),
        budget=budget,
        utility=_utility(utility),
        integer_weights=integer_weights,
        out_degree=out_degree,
        delta=checks.probability(delta),
        quantile=None if quantile is None else checks.probability(quantile, "quantile"),
        candidates=arrays.integer(candidates, "candidates", 1),
        random_state=arrays.integer(random_state, "random_state", 0),
        labels=next((part.graph.labels for part in (holdout, train) if isinstance(part, InstanceSet)), None),
    )
    case = make_case(
        request,
        rho_or_learner,
        {"train": train, "holdout": holdout},
        family=family,
        weight_bounds=weight_bounds,
        caps=caps,
        by=by,
        groups=groups,
        seen=seen,
    )
    parts = [judged(case, bound)] if case.sample is not None else []
    parts += [learned(case)] if "train" in case.sets else []
    parts.append(certainties(case, max(part.largest for part in parts)))
    rows = ordered(promised([row for part in parts for row in part.rows], parts, bound))
    return CertificateTable(
        tuple(_named(_of_goal(row, by), request) for row in rows),
        tuple(_named(entry, request) for part in parts for entry in part.dropped),
        request.delta,
        request.title,
        warnings_first([*case.notes, *(note for part in parts for note in part.notes)]),
        case.handed_out,
    )


def _of_goal(row: Certificate, by: Any) -> Certificate:
    """Return a row with its goal, if its category is one."""
    if row.category is None or not isinstance(by, str):
        return row
    return replace(row, goal=int(row.category.removeprefix("goal ")))


def _named(entry: Named, request: Request) -> Named:
    """Return a row with the label of its goal, if vertices have labels."""
    if entry.goal is None or request.labels is None:
        return entry
    name = str(request.name_of(entry.goal))
    change = {"goal_label": name}
    if getattr(entry, "category", None) is not None:
        change["category"] = f"goal {name}"
    return replace(entry, **change)  # type: ignore[arg-type]


def _utility(utility: Any) -> Utility:
    if not isinstance(utility, Utility):
        raise InputError(f"utility must be one Utility, got {utility!r}")
    return utility
