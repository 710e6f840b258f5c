"""Certificates for a heuristic: every bound that applies, computed on instances, with δ divided among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rhostar.bounds import _checks as checks
from rhostar.certificates import _assumptions as assumptions
from rhostar.certificates._certificate import Certificate, CertificateTable, Dropped, ordered
from rhostar.certificates._one_goal import certify_goal
from rhostar.certificates._request import Request
from rhostar.errors import AssumptionError, InputError, InstanceError
from rhostar.families import Family, FullTable
from rhostar.instances import InstanceSet, Provenance
from rhostar.search import Algorithm, Rho
from rhostar.search._rho import chooses, values_for
from rhostar.utilities import Utility


def certify(
    rho_or_learner: Rho,
    *,
    train: InstanceSet | None = None,
    holdout: InstanceSet | None = None,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    utility: Utility,
    family: Family | Mapping[int, Family] | None = None,
    weight_bounds: Any = None,
    integer_weights: int | None = None,
    out_degree: int | None = None,
    delta: float = 0.05,
) -> CertificateTable:
    """Bound the mean utility of a heuristic on instances nobody has seen, in every way that applies.

    Instances of `holdout` bound the mean of this ρ alone (H4). Instances of `train` bound it for every ρ of the family
    at once, so they may have been used to choose it (H1-kl, H2, H3p). The suboptimality of A* is also bounded
    through inconsistency (U1, U2, and U3, which is certain). With probability at least 1 − δ all bounds of the table
    hold.

    Parameters
    ----------
    rho_or_learner
        As `rho` of :func:`rhostar.astar`: an array of n values, a mapping from goals to such arrays, a fitted learner
        or a :class:`rhostar.Model`.
    train
        Instances drawn independently from the distribution in question; ρ may have been chosen by looking at them.
    holdout
        Instances drawn likewise that had no part in choosing ρ.
    algorithm, reopen, budget
        How ρ is run; see :func:`rhostar.astar`. Bounds through inconsistency need A* without a budget.
    utility
        What is bounded, with its limit H fixed beforehand.
    family
        The heuristics among which ρ was chosen; by default those of the learner, or all of them. What shaped the
        family must not come from `train`.
    weight_bounds
        (least, largest) weight that any instance can have, numbers or arrays by edge, known beforehand.
    integer_weights
        ℓ, where the weights of all instances are integers in {0..ℓ}.
    out_degree
        A bound on the number of children of any vertex, known beforehand.
    delta
        Probability with which any bound of the table may be wrong. It is divided by the number of goals, then by the
        number of bounds.

    Returns
    -------
    CertificateTable
        Tightest bound first. ``table.rho`` is the heuristic that was measured: where a bound needs exact sums or
        differences below the largest weights, ρ is moved a little, and `notes` say how far.

    Raises
    ------
    AssumptionError
        If the instances, the heuristic or the family break an assumption that can be checked.
    InputError
        If an argument is out of range, nothing is to be certified on, or the algorithm does not support the claim.
    NotFittedError, ModelError
        If the learner is not fitted; if it or a model is for another graph or another goal.
    InstanceError
        If a set has fewer than two instances for a goal, or one has no path.
    UtilityError
        If a utility is negative or NaN.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(6, 6)
    >>> weights = np.random.default_rng(0).uniform(1, 1.2, size=(6000, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=35)
    >>> train, holdout = instances.split(0.8, seed=0)
    >>> rho = 1.1 * rs.distances_to(graph, train.weights[train.rows].mean(axis=0), goal=35)
    >>> table = rs.certify(rho, train=train, holdout=holdout, algorithm="astar",
    ...                    utility=rs.utilities.Suboptimality(limit=5.0), weight_bounds=(1.0, 1.2), delta=0.05)
    >>> [(row.label, round(row.value, 3), row.holds_for) for row in table.rows]
    [('H4 betting', 0.164, 'this rho'), ('H4 Bernstein', 0.203, 'this rho'), ('H4 Chernoff', 0.224, 'this rho'),
     ('U2', 1.533, 'every rho'), ('H1-kl Q64', 1.79, 'every rho'), ('H2 Q64', 4.133, 'every rho'),
     ('U1', 5.0, 'every rho')]
    >>> print(table.best.sentence)
    With probability at least 0.95 over the draw of the 1200 instances, the mean suboptimality (clipped at 5) of A* with
    this rho is at most 0.164413 on new instances (measured 0.136485).
    """
    request = Request(
        algorithm=checks.algorithm(algorithm),
        reopen=bool(reopen),
        budget=budget,
        utility=_utility(utility),
        integer_weights=integer_weights,
        out_degree=out_degree,
        delta=checks.probability(delta),
    )
    sets = {"train": train, "holdout": holdout}
    graph = _check_sets(sets)
    for name, part in sets.items():
        assumptions.check_distinct(part, name)
    family = family if family is not None else getattr(rho_or_learner, "family_", None)
    _check_untouched(sets, getattr(rho_or_learner, "trained_on_", None))
    stated = assumptions.bounds(weight_bounds, integer_weights, graph.m)
    if weight_bounds is not None and algorithm == "gbfs":
        raise InputError("weight_bounds serve bounds through inconsistency, which algorithm='gbfs' does not have")
    assumptions.check_degree(graph, out_degree)
    given = {name: part for name, part in sets.items() if part is not None}
    keys = {name: assumptions.survey(part, stated, name) for name, part in given.items()}
    notes = [note for name, key in keys.items() for note in assumptions.repetitions(key, given[name], name)]
    if train is not None and holdout is not None:
        notes += assumptions.between(keys["train"], keys["holdout"], train, holdout)

    if chooses(rho_or_learner) and train is not None:
        raise InputError(
            "train cannot serve a heuristic that chooses among tables: bounds for every rho at once would have to "
            "count all combinations of tables and all rules; leave train out and certify on a holdout"
        )
    goals = sorted({int(goal) for part in given.values() for goal in np.unique(part.goals)})
    rows: list[Certificate] = []
    dropped: list[Dropped] = []
    measured: dict[int, Any] = {}
    for goal in goals:
        found = certify_goal(
            request,
            goal,
            {name: _of_goal(part, goal, name) for name, part in given.items()},
            FullTable() if family is None else _family_for(family, goal),
            stated,
            request.delta / len(goals),
            rho_or_learner if chooses(rho_or_learner) else values_for(rho_or_learner, graph, goal),
        )
        label = goal if len(goals) > 1 else None
        rows += [replace(row, goal=label) for row in found.rows]
        dropped += [replace(entry, goal=label) for entry in found.dropped]
        notes += [note if label is None else f"goal {goal}: {note}" for note in found.notes]
        measured[goal] = found.rho
    return CertificateTable(
        ordered(rows),
        tuple(dropped),
        request.delta,
        request.title,
        tuple(notes),
        measured[goals[0]] if len(goals) == 1 else measured,
    )


# ---------------------------------------------------------------- what was asked


def _utility(utility: Any) -> Utility:
    if not isinstance(utility, Utility):
        raise InputError(f"utility must be one Utility, got {utility!r}")
    return utility


def _check_sets(sets: Mapping[str, InstanceSet | None]) -> Any:
    given = {name: part for name, part in sets.items() if part is not None}
    if not given:
        raise InputError("train or holdout must be given: a certificate is computed on instances")
    for name, part in given.items():
        if not isinstance(part, InstanceSet):
            raise InputError(f"{name} must be an InstanceSet, got {type(part).__name__}")
        if len(part) < 2:
            raise InstanceError(f"{name} must hold at least 2 instances, got {len(part)}")
    graphs = [part.graph for part in given.values()]
    if len(graphs) == 2 and graphs[0] != graphs[1]:
        raise InputError("train and holdout must be on one graph")
    return graphs[0]


def _check_untouched(sets: Mapping[str, InstanceSet | None], trained_on: Any) -> None:
    train, holdout = sets["train"], sets["holdout"]
    if holdout is None:
        return
    if train is not None and (shared := holdout.overlap(train)):
        raise AssumptionError(f"holdout must be untouched: {shared} of its instances are in train too")
    seen = np.zeros(len(holdout), dtype=bool)
    for part in _provenances(trained_on):
        seen |= part.among(holdout)
    if shared := int(seen.sum()):
        raise AssumptionError(f"holdout must be untouched: the learner was trained on {shared} of its instances")


def _provenances(trained_on: Any) -> Iterator[Provenance]:
    """Yield what a learner says that it saw: nothing, one, several, or a mapping from goals to these."""
    if isinstance(trained_on, Provenance):
        yield trained_on
    elif trained_on is not None:
        for part in trained_on.values() if isinstance(trained_on, Mapping) else trained_on:
            yield from _provenances(part)


def _of_goal(part: InstanceSet, goal: int, name: str) -> InstanceSet:
    own = part if (part.goals == goal).all() else part[np.flatnonzero(part.goals == goal)]
    if len(own) < 2:
        raise InstanceError(f"{name} must hold at least 2 instances for each goal, got {len(own)} for goal {goal}")
    return own


def _family_for(family: Family | Mapping[int, Family], goal: int) -> Family:
    if not isinstance(family, Mapping):
        return family
    if goal not in family:
        raise InputError(f"family has no entry for goal {goal}; it has {', '.join(map(str, list(family)[:5]))}")
    return family[goal]
