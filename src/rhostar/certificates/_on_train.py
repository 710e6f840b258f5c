"""Bounds on the training instances of one goal: choose them, adjust ρ to their class, compute them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._measured import Measured
from rhostar.certificates._paths import optimal_paths
from rhostar.certificates._projection import exceeding, projected
from rhostar.certificates._registry import Bound, choose
from rhostar.certificates._request import Request, Setting, rounding
from rhostar.certificates._sample import population
from rhostar.errors import InputError
from rhostar.families import Family
from rhostar.graph import Graph
from rhostar.instances import InstanceSet


@dataclass(frozen=True, eq=False)
class Caps:
    """D by edge, and whether they came from other data."""

    values: NDArray[np.float64]
    given: bool


@dataclass(frozen=True, eq=False)
class InClass:
    """ρ after it was brought into the class that the bounds are about."""

    rho: NDArray[np.float64]
    notes: tuple[str, ...]
    """What was done to it."""
    exact: bool
    """Whether no sum g + ρ rounds."""
    above: str = ""
    """Where it still rises by more than the cap, in words; empty where it does not."""

    @property
    def below_caps(self) -> bool:
        """Whether it rises by no more than the cap along every edge."""
        return not self.above


def check_family(family: Family, rho: NDArray[np.float64], goal: int, train: InstanceSet | None) -> None:
    """Raise unless ρ belongs to the family, and the family was fixed without looking at the training instances."""
    if not isinstance(family, Family):
        raise InputError(f"family must be a Family, got {family!r}")
    if train is not None:
        family.check_fixed({"train": train})
    family.check(rho, goal)


def into_class(
    request: Request,
    graph: Graph,
    goal: int,
    family: Family,
    caps: Caps,
    rho: NDArray[np.float64],
    *,
    counted: bool,
) -> InClass:
    """Return ρ with exact sums where the family has them, and below the caps where a bound needs that.

    Parameters
    ----------
    request, graph, goal, family, caps, rho
        What was asked for, the heuristics among which ρ was chosen, and the heuristic as it was given.
    counted
        Whether there are training instances, so that a bound for every ρ is wanted.
    """
    largest_g = request.largest_g(graph.n)
    placed = family.into_class(rho, largest_g, counted=counted)
    exact = family.exact_sums(largest_g, counted=counted)
    notes = _moved(placed.how, rho, placed.rho)
    if not (counted and request.through_inconsistency and np.isfinite(caps.values).any()):
        return InClass(placed.rho, notes, exact)
    over = int(exceeding(graph, placed.rho, caps.values, goal).sum())
    if not over:
        return InClass(placed.rho, notes, exact)
    if not family.every_rho:
        return InClass(placed.rho, notes, exact, f"rho exceeds the cap on {over} edges")
    lowered = projected(graph, placed.rho, caps.values, goal)
    what = "cap" if caps.given else "largest weight"
    how = f"lowered where rho_v - rho_c was above the {what} ({over} edges)"
    return InClass(lowered, notes + _moved(how, placed.rho, lowered), exact)


def _moved(how: str, before: NDArray[np.float64], after: NDArray[np.float64]) -> tuple[str, ...]:
    change = float(np.abs(after - before).max())
    if not change > 0:
        return ()
    moved = int(np.count_nonzero(after != before))
    return (f"rho was {how}: {moved} values moved, by {change:.3g} at most; run table.rho",)


@dataclass(frozen=True, eq=False)
class Found:
    """What the training instances of one goal say."""

    rows: tuple[Certificate, ...]
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]
    promised: str
    """The label of the bound with the smallest width known beforehand."""
    largest: float
    """The largest utility that was seen."""


def on_train(setting: Setting, instances: InstanceSet, placed: InClass) -> Found:
    """Return the bounds that hold for ρ although it was chosen by looking at these instances.

    Parameters
    ----------
    setting
        What is known of the goal before any utility is seen.
    instances
        The training instances of the goal.
    placed
        ρ in the class of the bounds.
    """
    choice = choose(setting)
    applicable = [bound for bound in choice.kept if placed.below_caps or not bound.below_caps]
    paths = optimal_paths(instances) if setting.request.utility.needs_optimum else None
    off = rounding(setting.stated, placed.rho, setting.limit, exact=placed.exact)
    measured = Measured(setting, instances, placed.rho, paths, off)
    rows = [certificate(setting, bound, measured) for bound in applicable]
    notes = tuple(f"{b.label} does not apply: {placed.above}" for b in choice.kept if b not in applicable)
    promised = min(applicable, key=lambda bound: bound.planned).label if applicable else "range"
    rows = rows or [whole_range(setting, instances)]
    return Found(tuple(rows), choice.dropped, notes, promised, float(measured.score.raw.max()))


def certificate(setting: Setting, bound: Bound, measured: Measured) -> Certificate:
    """Return a bound computed on the training instances."""
    request, limit, score = setting.request, setting.limit, measured.score
    value = bound.value(measured, setting.delta)
    observed = score.mean if bound.clips else float(score.raw.mean())
    value = max(0.0, limit - value) if request.flip else value
    return Certificate(
        label=bound.label,
        subject=request.utility.mean_words,
        run=request.run([setting.goal], chosen_on_these=True),
        population=population(measured.instances),
        side="lower" if request.flip else "upper",
        value=min(value, observed) if request.flip else max(value, observed),
        observed=observed,
        limit=limit if bound.clips else None,
        clipped=score.clipped if bound.clips and not request.binary else None,
        delta=setting.delta,
        samples=setting.samples,
        holds_for=bound.holds_for,
        reference=bound.reference,
        conditions=bound.conditions,
        assumptions=bound.assumptions,
        measured=bound.measured(measured),
    )


def whole_range(setting: Setting, instances: InstanceSet) -> Certificate:
    """Return what is true where no bound says anything: the utility lies in its range."""
    flip = setting.request.flip
    return Certificate(
        label="range",
        subject=setting.request.utility.mean_words,
        run=setting.request.run([setting.goal]),
        population=population(instances),
        side="lower" if flip else "upper",
        value=0.0 if flip else setting.limit,
        observed=None,
        limit=setting.limit,
        delta=0.0,
        samples=setting.samples,
        holds_for="this rho",
        reference="the range of the utility",
        assumptions=("nothing",),
    )
