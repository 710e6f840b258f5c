"""Certificates for one goal: choose the bounds, adjust ρ to their class, measure it, compute the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.certificates._assumptions import Bounds
from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._measured import Measured
from rhostar.certificates._paths import optimal_paths
from rhostar.certificates._projection import exceeding, projected
from rhostar.certificates._registry import Bound, choose
from rhostar.certificates._request import Request, Setting
from rhostar.errors import AssumptionError, InputError
from rhostar.families import Family
from rhostar.instances import InstanceSet
from rhostar.search._rho import chooses


@dataclass(frozen=True, eq=False)
class Found:
    """What there is to say about one goal."""

    rows: tuple[Certificate, ...]
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]
    rho: Any
    """The heuristic that was measured."""


def certify_goal(
    request: Request,
    goal: int,
    sets: Mapping[str, InstanceSet],
    family: Family,
    stated: Bounds,
    delta: float,
    rho: Any,
) -> Found:
    """Return the certificates of ρ for one goal.

    Parameters
    ----------
    request
        What was asked for.
    goal
        The goal of all instances.
    sets
        "train", "holdout" or both.
    family
        The heuristics among which ρ was chosen.
    stated
        What is known of all weights.
    delta
        The share of δ that this goal has.
    rho
        The heuristic as it was given: a table, or what chooses one for each instance.
    """
    if chooses(rho):
        return _certify_choice(make_setting(request, goal, sets, family, stated, delta), sets["holdout"], rho)
    check_family(family, rho, goal, sets)
    setting = make_setting(request, goal, sets, family, stated, delta)
    choice = choose(setting)
    placed = into_class(setting, family, rho)
    measured = measure(setting, sets, placed.rho)
    share = delta / max(1, len(choice.kept))
    applicable = [bound for bound in choice.kept if placed.below_caps or not bound.below_caps]
    rows = [
        certificate(setting, bound, data, share)
        for name, data in measured.items()
        for bound in applicable
        if bound.data == name
    ]
    certain = consistency(setting, placed.rho)
    rows += [row for row in certain if isinstance(row, Certificate)]
    dropped = [*choice.dropped, *(entry for entry in certain if isinstance(entry, Dropped))]
    # The share of a bound that does not apply is not given to others: they were chosen before ρ was looked at.
    notes = [*placed.notes, *(f"{b.label} does not apply: {placed.above}" for b in choice.kept if b not in applicable)]
    return Found(tuple(rows) or (whole_range(setting),), tuple(dropped), tuple(notes), placed.rho)


def _certify_choice(setting: Setting, holdout: InstanceSet, rho: Any) -> Found:
    """Return the certificates of what chooses a table for each instance: it is one heuristic, on a holdout."""
    choice = choose(setting)
    paths = optimal_paths(holdout) if setting.request.utility.needs_optimum else None
    measured = Measured(setting, holdout, rho, paths, 0.0)
    rows = [certificate(setting, bound, measured, setting.delta / len(choice.kept)) for bound in choice.kept]
    return Found(tuple(rows) or (whole_range(setting),), choice.dropped, (), rho)


# ---------------------------------------------------------------- before any utility is seen


def check_family(family: Family, rho: NDArray[np.float64], goal: int, sets: Mapping[str, InstanceSet]) -> None:
    """Raise unless ρ belongs to the family, and the family was fixed without looking at these instances."""
    if not isinstance(family, Family):
        raise InputError(f"family must be a Family, got {family!r}")
    for name, part in sets.items():
        if shaped := family.overlap(part):
            raise AssumptionError(f"the family was built from {shaped} instances of {name}; fix it without them")
    family.check(rho, goal)


def make_setting(
    request: Request,
    goal: int,
    sets: Mapping[str, InstanceSet],
    family: Family,
    stated: Bounds,
    delta: float,
) -> Setting:
    """Return what is known of the goal before any utility is seen."""
    graph, counted = next(iter(sets.values())).graph, "train" in sets
    given = {"integer_weights": request.integer_weights, "out_degree": request.out_degree}
    return Setting(
        request=request,
        graph=graph,
        goal=goal,
        stated=stated,
        delta=delta,
        samples={name: len(part) for name, part in sets.items()},
        rows=family.capacities(graph.n, request.algorithm, **given) if counted else (),
        scope="every rho" if family.every_rho else "every rho of the family",
        exact=family.exact_sums(request.largest_g(graph.n), counted=counted),
    )


@dataclass(frozen=True, eq=False)
class InClass:
    """ρ after it was brought into the class that the bounds are about."""

    rho: NDArray[np.float64]
    notes: tuple[str, ...]
    """What was done to it."""
    above: str = ""
    """Where it still rises by more than the largest weight, in words; empty where it does not."""

    @property
    def below_caps(self) -> bool:
        """Whether it rises by no more than the largest weight along every edge."""
        return not self.above


def into_class(setting: Setting, family: Family, rho: NDArray[np.float64]) -> InClass:
    """Return ρ with exact sums where the family has them, and below the largest weights where a bound needs that."""
    counted = "train" in setting.samples
    placed = family.into_class(rho, setting.request.largest_g(setting.graph.n), counted=counted)
    notes = _moved(placed.how, rho, placed.rho)
    if not (counted and setting.request.through_inconsistency and setting.caps_known):
        return InClass(placed.rho, notes)
    caps = setting.stated.caps
    over = int(exceeding(setting.graph, placed.rho, caps, setting.goal).sum())
    if not over:
        return InClass(placed.rho, notes)
    if not family.every_rho:
        return InClass(placed.rho, notes, f"rho exceeds the largest weight on {over} edges")
    lowered = projected(setting.graph, placed.rho, caps, setting.goal)
    how = f"lowered where rho_v - rho_c was above the largest weight ({over} edges)"
    return InClass(lowered, notes + _moved(how, placed.rho, lowered))


def _moved(how: str, before: NDArray[np.float64], after: NDArray[np.float64]) -> tuple[str, ...]:
    change = float(np.abs(after - before).max())
    if not change > 0:
        return ()
    moved = int(np.count_nonzero(after != before))
    return (f"rho was {how}: {moved} values moved, by {change:.3g} at most; run table.rho",)


def rounding(setting: Setting, rho: NDArray[np.float64]) -> float:
    """Return by how much cost − opt may exceed Δ as sums round; without bounds on the weights, as those with ρ do.

    With u = 2⁻⁵³, G the largest g and R the largest |ρ|, a score is off by at most u(G + R), so along the proof of
    L1 each of at most n edges adds 2u(G + R). The sums of a path and of S* add uG each, Δ clipped at H adds
    u(4R + H), and the differences of ρ that are compared with caps u(R + G).
    """
    if setting.exact:
        return 0.0
    n = setting.graph.n
    largest_g = (n - 1) * float(setting.stated.caps.max()) if setting.caps_known else 0.0
    return 8 * n * 2.0**-53 * (largest_g + float(np.abs(rho).max()) + setting.limit)


# ---------------------------------------------------------------- on the instances


def measure(setting: Setting, sets: Mapping[str, InstanceSet], rho: NDArray[np.float64]) -> dict[str, Measured]:
    """Return what bounds ask of each set; optimal paths are found here, the rest when it is asked for."""
    off = rounding(setting, rho)
    return {
        name: Measured(setting, part, rho, optimal_paths(part) if setting.request.utility.needs_optimum else None, off)
        for name, part in sets.items()
    }


def certificate(setting: Setting, bound: Bound, measured: Measured, share: float) -> Certificate:
    """Return a bound computed on its set with its share of δ."""
    request, limit = setting.request, setting.limit
    flip = request.utility.better == "higher"
    data, value = bound.of(measured), bound.value(measured, share)
    return Certificate(
        label=bound.label,
        subject=request.subject,
        side="lower" if flip else "upper",
        value=max(0.0, limit - value) if flip else value,
        mean=limit - data.mean if flip else data.mean,
        limit=limit,
        delta=share,
        total_delta=request.delta,
        samples=len(measured.instances),
        holds_for=bound.holds_for,
        reference=bound.reference,
        assumptions=bound.assumptions,
        measured={"clipped": data.clipped, **bound.measured(measured)},
    )


# ---------------------------------------------------------------- without probability


def consistency(setting: Setting, rho: NDArray[np.float64]) -> tuple[Certificate | Dropped, ...]:
    """Return U3: where ρ is consistent under the least possible weights, A* is optimal on all instances."""
    if not setting.request.through_inconsistency or not setting.stated.given:
        return ()
    low = np.broadcast_to(setting.stated.low, setting.graph.m)
    if exceeding(setting.graph, rho, low, setting.goal).any():
        return (Dropped("U3", "rho is not consistent under the least weights"),)
    off, assumed = rounding(setting, rho), setting.rounding_assumed
    found = _certain(
        setting,
        "U3",
        min(off, setting.limit),
        "consistency under the least weights: A* is optimal, up to the rounding of sums",
        "no weight is ever below its least",
        *(["no weight is ever above its largest"] if off and not assumed else []),
        *assumed,
    )
    return (found,)


def whole_range(setting: Setting) -> Certificate:
    """Return what is true where no bound says anything: the utility lies in its range."""
    higher = setting.request.utility.better == "higher"
    return _certain(setting, "range", 0.0 if higher else setting.limit, "the range of the utility", "nothing")


def _certain(setting: Setting, label: str, value: float, reference: str, *assumed: str) -> Certificate:
    utility = setting.request.utility
    return Certificate(
        label=label,
        subject=setting.request.subject,
        side="lower" if utility.better == "higher" else "upper",
        value=value,
        mean=value,
        limit=utility.limit,
        delta=0.0,
        total_delta=setting.request.delta,
        samples=next(iter(setting.samples.values())),
        holds_for="this rho",
        reference=reference,
        assumptions=assumed,
    )
