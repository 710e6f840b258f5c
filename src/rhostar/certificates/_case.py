"""A case: the request, the sets and the heuristic, checked, with all that is known before any utility is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar.certificates import _assumptions as assumptions
from rhostar.certificates._assumptions import Bounds
from rhostar.certificates._certain import Excess, never_over, per_answer
from rhostar.certificates._on_train import Caps, InClass, check_family, into_class
from rhostar.certificates._request import Request
from rhostar.certificates._sample import Sample, sample, shared_snapshots
from rhostar.certificates._seen import Policy, check_repeats, unknown_origin, untouched
from rhostar.errors import AssumptionError, InputError, InstanceError
from rhostar.families import Family, FullTable
from rhostar.graph import Graph
from rhostar.instances import InstanceSet, Provenance
from rhostar.search import Rho
from rhostar.search._rho import chooses, potential_for, values_for, values_of

CAP_QUANTILE = 0.1
"""Caps from other data: this quantile of the weights of each edge. Lower caps promise more and search more."""


@dataclass(frozen=True, eq=False)
class Case:
    """Everything that is known before any utility is measured."""

    request: Request
    graph: Graph
    sets: Mapping[str, InstanceSet]
    """"train", "holdout" or both; without what was seen and dropped."""
    sample: Sample | None
    """The holdout."""
    stated: Bounds
    caps: Caps
    goals: Mapping[str, Sequence[int]]
    """The goals of each set."""
    families: Mapping[int, Family]
    placed: Mapping[int, InClass]
    """ρ by goal, in the class of the bounds."""
    others: dict[int, NDArray[np.float64]]
    """ρ for goals that occur in no set."""
    computed: Rho | None
    """ρ itself, where a potential computes it for any goal; `placed` is then empty."""
    excess: Excess | None
    """U5 for the worst goal of ρ; None where it does not apply."""
    known: bool
    """Whether it is known what ρ was learned from."""
    dependent: str
    """Why the training instances are not independent draws; empty if nothing speaks against it."""
    notes: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether no sum g + ρ rounds."""
        return bool(self.placed) and all(part.exact for part in self.placed.values())

    @property
    def measured(self) -> Any:
        """The heuristic that is measured: ρ by goal for the goals of the sets, or what computes it."""
        return {goal: part.rho for goal, part in self.placed.items()} if self.computed is None else self.computed

    @property
    def handed_out(self) -> Any:
        """The heuristic that was measured: an array where there is one goal, else a mapping, or what computes it."""
        if self.computed is not None:
            return self.computed
        tables = self.measured | self.others
        return next(iter(tables.values())) if len(tables) == 1 else tables


def make_case(
    request: Request,
    rho: Rho,
    sets: Mapping[str, InstanceSet | None],
    *,
    family: Family | Mapping[int, Family] | None,
    weight_bounds: Any,
    caps: ArrayLike | InstanceSet | None,
    by: Any,
    groups: Any,
    seen: Policy,
) -> Case:
    """Check everything that `certify` was given and return it as a case; raises as `certify` does."""
    given = _check_sets(sets)
    graph = next(iter(given.values())).graph
    if chooses(rho) and "train" in given:
        raise InputError(
            "train cannot serve a heuristic that chooses among tables: bounds for every rho at once would have to "
            "count all combinations of tables and all rules; leave train out and certify on a holdout"
        )
    _check_options(request, given, weight_bounds, caps, by, groups)
    stated = assumptions.bounds(weight_bounds, request.integer_weights, graph.m)
    assumptions.check_degree(graph, request.out_degree)
    notes: list[str] = []
    for name, part in given.items():
        check_repeats(part, name, independent=groups is not None)
    drawn = None
    if "holdout" in given:
        clean = untouched(given["holdout"], given.get("train"), getattr(rho, "trained_on_", None), seen)
        given["holdout"] = _large_enough(clean.instances, "holdout")
        notes += clean.notes
        labels = {"groups": _of_kept(groups, clean.kept), "by": _of_kept(by, clean.kept)}
        drawn = sample(clean.instances, unseen=clean.dropped > 0, **labels)
        notes += drawn.notes
    unknown = unknown_origin(rho)
    notes += unknown
    for name, part in given.items():
        assumptions.check_weights(part, stated, name)
    limits = _caps(caps, stated, graph, given.get("train"))

    goals = {name: np.unique(part.goals).tolist() for name, part in given.items()}
    everywhere = sorted({goal for own in goals.values() for goal in own})
    potential = potential_for(rho, graph, np.array(everywhere, dtype=np.int32))
    if potential is not None and "holdout" not in given:
        raise InputError("rho is computed for any goal: on train, use rhostar.certificates.certify_any_goal")
    computed = potential is not None or chooses(rho)
    families, placed = {}, {}
    chosen_from = family if family is not None else getattr(rho, "family_", None)
    for goal in everywhere if not computed else []:
        values, counted = values_for(rho, graph, goal), goal in goals.get("train", ())
        families[goal] = FullTable() if chosen_from is None else _family_for(chosen_from, goal)
        check_family(families[goal], values, goal, given["train"] if counted else None)
        placed[goal] = into_class(request, graph, goal, families[goal], limits, values, counted=counted)
    notes += [
        note if len(placed) == 1 else f"goal {request.name_of(goal)}: {note}"
        for goal, part in placed.items()
        for note in part.notes
    ]
    others = None if computed else _other_goals(rho, graph, placed)
    exact = all(part.exact for part in placed.values())
    excess = None
    if request.per_answer and potential is not None:
        excess = never_over(request, graph, stated, rho, potential)
    elif request.per_answer and others is not None:
        tables = {goal: part.rho for goal, part in placed.items()} | others
        excess = per_answer(request, graph, stated, tables, exact=exact and not others)
    return Case(
        request=request,
        graph=graph,
        sets=given,
        sample=drawn,
        stated=stated,
        caps=limits,
        goals=goals,
        families=families,
        placed=placed,
        others=others or {},
        computed=rho if computed else None,
        excess=excess,
        known=not unknown,
        dependent=_dependent(given, groups)
        if potential is None
        else "rho is computed for any goal; see certify_any_goal",
        notes=tuple(notes),
    )


def _check_sets(sets: Mapping[str, InstanceSet | None]) -> dict[str, InstanceSet]:
    given = {name: part for name, part in sets.items() if part is not None}
    if not given:
        raise InputError("train or holdout must be given: a certificate is computed on instances")
    for name, part in given.items():
        if not isinstance(part, InstanceSet):
            raise InputError(f"{name} must be an InstanceSet, got {type(part).__name__}")
        _large_enough(part, name)
    graphs = [part.graph for part in given.values()]
    if len(graphs) == 2 and graphs[0] != graphs[1]:
        raise InputError("train and holdout must be on one graph")
    return given


def _large_enough(part: InstanceSet, name: str) -> InstanceSet:
    if len(part) < 2:
        raise InstanceError(f"{name} must hold at least 2 instances, got {len(part)}")
    return part


def _check_options(
    request: Request,
    given: Mapping[str, InstanceSet],
    weight_bounds: Any,
    caps: Any,
    by: Any,
    groups: Any,
) -> None:
    if weight_bounds is not None and request.algorithm == "gbfs":
        raise InputError("weight_bounds serve bounds through inconsistency, which algorithm='gbfs' does not have")
    if caps is not None and not ("train" in given and request.through_inconsistency):
        raise InputError("caps serve U2: they need train, and the suboptimality of A* without a budget")
    if "holdout" in given:
        return
    for name, value in (
        ("by", by),
        ("groups", None if groups is False else groups),
        ("quantile", request.quantile),
        ("candidates", None if request.candidates == 1 else request.candidates),
    ):
        if value is not None:
            raise InputError(f"{name} is about instances of holdout, and none is given")


def _of_kept(labels: Any, kept: NDArray[np.int64]) -> Any:
    """Return the labels of the instances that were kept."""
    array = np.asarray(labels)
    fits = array.ndim == 1 and array.size > int(kept[-1])  # else the complaint is for the function that reads them
    return array[kept] if fits else labels


def _caps(caps: Any, stated: Bounds, graph: Graph, train: InstanceSet | None) -> Caps:
    if caps is None:
        return Caps(np.broadcast_to(stated.caps, graph.m), given=False)
    if isinstance(caps, InstanceSet):
        if caps.graph != graph:
            raise InputError("caps must be instances on the same graph")
        assert train is not None
        if shared := int(Provenance.of(caps).among(train).sum()):
            raise AssumptionError(f"caps must come from other data: {shared} instances of train are among them")
        return Caps(quantiles(caps, CAP_QUANTILE), given=True)
    values = np.asarray(caps, dtype=np.float64)
    if values.shape not in ((), (graph.m,)) or not (values >= 0).all():
        raise InputError(f"caps must be one number at least 0, or one for each of the {graph.m} edges")
    return Caps(np.ascontiguousarray(np.broadcast_to(values, graph.m)), given=True)


def quantiles(instances: InstanceSet, share: float) -> NDArray[np.float64]:
    """Return a quantile of the weights of each edge over the snapshots that a set uses; absent counts as inf."""
    used = np.unique(instances.rows)
    found = np.empty(instances.graph.m)
    width = max(1, (1 << 22) // used.size)  # a few edges at a time, so that a mapped set is not read into memory
    for begin in range(0, instances.graph.m, width):
        columns = np.asarray(instances.weights[used, begin : begin + width], dtype=np.float64)
        found[begin : begin + width] = np.quantile(columns, share, axis=0, method="lower")
    return found


def _family_for(family: Family | Mapping[int, Family], goal: int) -> Family:
    if not isinstance(family, Mapping):
        return family
    if goal not in family:
        raise InputError(f"family has no entry for goal {goal}; it has {', '.join(map(str, list(family)[:5]))}")
    return family[goal]


def _other_goals(rho: Rho, graph: Graph, placed: Mapping[int, InClass]) -> dict[int, NDArray[np.float64]] | None:
    """Return ρ for the goals that occur in no set; None where nobody knows which goals there are."""
    values = values_of(rho, graph)
    if isinstance(values, Mapping):
        return {int(goal): values_for(rho, graph, goal) for goal in values if goal not in placed}
    return {} if len(placed) == 1 else None


def _dependent(given: Mapping[str, InstanceSet], groups: Any) -> str:
    """Return why the training instances are not independent; raise where they are all there is."""
    if "train" not in given:
        return ""
    why = shared_snapshots(given["train"], groups)
    if why and "holdout" not in given:
        raise AssumptionError(f"train: {why}")
    return why
