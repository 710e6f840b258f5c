"""Every bound on training instances that certify knows, each with its name, theorem, assumptions and scope.

Which of them are computed, and which one carries the promise where there is no holdout, is decided from N, H, the
capacity, the caps and δ alone, before any utility is seen. A bound that could not be worth anything for this N, or that
another one always beats, is named and skipped.

A new bound is a function of numbers in :mod:`rhostar.bounds` and an entry in :data:`REGISTRY`. An entry takes a
:class:`Setting` and yields bounds, or says why there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rhostar import bounds
from rhostar.bounds import Capacity
from rhostar.bounds import _capacity as capacity
from rhostar.certificates._certificate import Dropped, Scope
from rhostar.certificates._measured import Measured
from rhostar.certificates._request import ROUNDS, Setting

WORTH = 0.95
"""A bound is skipped if losses of zero throughout would still leave it above this share of H."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound that can be computed: with the training instances of a goal and a share of δ it has a value."""

    label: str
    reference: str
    holds_for: Scope
    value: Callable[[Measured, float], float]
    """From what was measured and a share of δ to the bound on the mean loss."""
    least: float
    """No data make it smaller."""
    planned: float
    """Its width as far as it is known beforehand: the least decides which bound carries the promise."""
    assumptions: tuple[str, ...]
    measured: Callable[[Measured], Mapping[str, float]] = field(default=lambda _: {})
    """What else went into it."""
    below_caps: bool = False
    """Whether it is about those ρ only that rise by no more than the caps along every edge."""
    clips: bool = True
    """Whether the loss is clipped at H; not where a certain range is smaller."""
    conditions: tuple[str, ...] = ()
    """What must hold on new instances besides."""
    detail: str = ""
    """Added to the reason where it is skipped."""


Entry = Callable[[Setting], Iterator[Bound | Dropped]]
Width = Callable[[float], float]
"""From a share of δ to a width."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The bounds that are computed and those that are skipped."""

    kept: tuple[Bound, ...]
    dropped: tuple[Dropped, ...]


def choose(setting: Setting) -> Choice:
    """Return which bounds to compute, without looking at any utility."""
    kept, dropped = [], []
    for entry in REGISTRY:
        for found in entry(setting):
            if isinstance(found, Dropped):
                dropped.append(found)
            elif found.least >= WORTH * setting.limit:
                dropped.append(Dropped(found.label, _not_worth(found.least, setting.limit) + found.detail))
            else:
                kept.append(found)
    return Choice(tuple(kept), tuple(dropped))


def _not_worth(least: float, limit: float) -> str:
    shown, whole = f"{least:.4g}", f"{limit:.4g}"
    return f"cannot get below {shown}, " + ("the whole range" if shown == whole else f"nearly the range {whole}")


def drawn(data: str, limit: float | None) -> tuple[str, ...]:
    """Return what every bound with a probability assumes."""
    independent = f"the instances of {data} and those to come are drawn independently from one distribution"
    return (independent, *([] if limit is None else [f"the limit {limit:g} was fixed beforehand"]))


# ---------------------------------------------------------------- for every ρ of the family, on train


def _smallest(setting: Setting) -> Capacity:
    """Return the least count of runs that holds on all instances together."""
    finite = (row for row in setting.rows if row.finite and row.origin == "sharper")
    return min(finite, key=lambda row: row.log_count)


def _counted(setting: Setting, row: Capacity) -> tuple[str, ...]:
    """Return what a bound assumes that counts by this row."""
    checked = [f"{text} (checked here)" for text in row.assumes]
    rounds = [ROUNDS] if row.exact_sums and not setting.exact else []
    return (*drawn("train", setting.limit), "the family was fixed without looking at train", *checked, *rounds)


def on_train(
    label: str,
    reference: str,
    bound: Callable[[NDArray[np.float64], float, int, float, float], float],
    planned: Callable[[Setting], float],
) -> Entry:
    """Return the entry of a bound for each of K runs; `bound` takes losses, ln K, N, H and a share of δ."""

    def entry(setting: Setting) -> Iterator[Bound]:
        N, row, limit = setting.samples, _smallest(setting), setting.limit
        yield Bound(
            f"{label} {row.label}",
            f"{reference} for each of K runs, K by row {row.label}",
            setting.scope,
            value=lambda measured, level: bound(measured.losses, row.log_count, N, limit, level),
            least=bound(np.zeros(N), row.log_count, N, limit, setting.delta),
            planned=planned(setting),
            assumptions=_counted(setting, row),
            measured=lambda _: {"ln K": row.log_count},
        )

    return entry


def _chernoff(losses: NDArray[np.float64], log_count: float, N: int, limit: float, level: float) -> float:
    return bounds.finite_kl(float(losses.mean()), log_count, N, limit, delta=level)


def _bernstein(losses: NDArray[np.float64], log_count: float, N: int, limit: float, level: float) -> float:
    return bounds.finite_bernstein(float(losses.mean()), float(losses.var(ddof=1)), log_count, N, limit, delta=level)


def _plain_width(setting: Setting) -> float:
    """Return the width of H1, which others must beat."""
    log_count = _smallest(setting).log_count
    return bounds.finite_width(log_count, setting.samples, setting.limit, delta=setting.delta, side="upper")


def _by_variance(setting: Setting) -> float:
    """Return the width of H2 that is known beforehand: none that is below H1's, as the variance is not known."""
    return math.inf


def plain_union(setting: Setting) -> Iterator[Dropped]:
    """Never used: H1-kl is never wider."""
    width = _plain_width(setting)
    yield Dropped(f"H1 {_smallest(setting).label}", f"width {width:.4g}; H1-kl is never wider")


def by_width(
    label: str,
    reference: str,
    applies: Callable[[Capacity], bool],
    width_for: Callable[[Capacity, int, float], Width],
    *,
    said: str = "",
) -> Entry:
    """Return the entry of a bound mean + width, for each count of runs that it applies to."""

    def entry(setting: Setting) -> Iterator[Bound | Dropped]:
        N, limit, plain = setting.samples, setting.limit, _plain_width(setting)
        for row in filter(applies, setting.rows):
            name, width = f"{label} {row.label}", width_for(row, N, limit)
            least = width(setting.delta)
            if least >= WORTH * limit:
                wide = f"width {least:.4g}, the range is {limit:.4g}"
                yield Dropped(name, said + ("N is below the pseudo-dimension" if math.isinf(least) else wide))
            elif least >= plain:
                yield Dropped(name, f"{said}width {least:.4g}; H1 {_smallest(setting).label} has {plain:.4g}")
            else:
                yield Bound(
                    name,
                    f"{reference} by row {row.label}",
                    setting.scope,
                    value=_mean_plus(width, limit),
                    least=least,
                    planned=least,
                    assumptions=_counted(setting, row),
                )

    return entry


def _mean_plus(width: Width, limit: float) -> Callable[[Measured, float], float]:
    return lambda measured, level: min(limit, measured.mean_loss + width(level))


def _dimension_width(row: Capacity, N: int, limit: float) -> Width:
    dimension = row.pseudo_dimension
    return lambda level: bounds.dimension_width(dimension, N, limit, delta=level)


def _growth_width(row: Capacity, N: int, limit: float) -> Width:
    return lambda level: bounds.growth_width(row.log_growth, N, limit, delta=level).width


# ---------------------------------------------------------------- suboptimality of A*, through inconsistency


def through_inconsistency(label: str, make: Callable[[Setting, int], Bound | Dropped]) -> Entry:
    """Return the entry of a bound on E[min(cost − opt, H)] through inconsistency (L1)."""

    def entry(setting: Setting) -> Iterator[Bound | Dropped]:
        if not setting.request.of_excess:
            return
        if setting.request.through_inconsistency:
            yield make(setting, setting.samples)
        else:
            yield Dropped(label, "a run that a budget ends has no bound through inconsistency")

    return entry


def _with_rounding(bound: Callable[[Measured, float], float], limit: float) -> Callable[[Measured, float], float]:
    """Return the bound with what the rounding of sums may add to cost − opt."""
    return lambda measured, level: min(limit, bound(measured, level) + measured.rounding)


def _inconsistency_by_dimension(setting: Setting, N: int) -> Bound:
    limit, dimension = setting.limit, capacity.inconsistency(setting.graph.n).pseudo_dimension

    def value(measured: Measured, level: float) -> float:
        return min(limit, measured.inconsistency(limit) + bounds.dimension_width(dimension, N, limit, delta=level))

    width = bounds.dimension_width(dimension, N, limit, delta=setting.delta)
    return Bound(
        "U1",
        "the paper's Theorem 6 with constants, through inconsistency (L1)",
        "every rho",
        value=_with_rounding(value, limit),
        least=min(limit, width),
        planned=width,
        assumptions=(*drawn("train", limit), *setting.stated.integers_assumed, *setting.rounding_assumed),
        measured=lambda found: {"dimension": float(dimension), "mean inconsistency": found.inconsistency(limit)},
        detail=f" (dimension {dimension}, N = {N})",
    )


def _inconsistency_by_edge(setting: Setting, N: int) -> Bound | Dropped:
    if not setting.caps_known:
        return Dropped("U2", "needs the largest possible weights (weight_bounds), or caps from other data (caps)")
    # Where the caps themselves bound every answer, that bound takes the place of H.
    certain = setting.excess < setting.limit
    limit = max(min(setting.limit, setting.excess), np.finfo(np.float64).tiny)

    def value(measured: Measured, level: float) -> float:
        return bounds.rademacher_bound(measured.inconsistency(limit), measured.complexity(limit), N, limit, delta=level)

    finite = np.isfinite(setting.caps)
    # Edges without a cap do not count here: the rule only has to be fixed beforehand.
    spreads = np.maximum(setting.caps - setting.stated.low, 0.0)[finite]
    below = "the caps were fixed by other data" if setting.caps_given else "the largest weights were known beforehand"
    return Bound(
        "U2 local" if setting.caps_given else "U2",
        "edge-local Rademacher complexity of inconsistency (L1)",
        "every rho",
        value=_with_rounding(value, setting.limit),
        least=bounds.rademacher_bound(0.0, 0.0, N, limit, delta=setting.delta),
        planned=bounds.edge_local_width(setting.graph.n, spreads, N, limit, delta=setting.delta),
        assumptions=(
            *drawn("train", None if certain else setting.limit),
            f"{below} (checked here)",
            *setting.stated.integers_assumed,
            *setting.rounding_assumed,
            "every rho means every rho with rho_v - rho_c at most the cap of the edge; table.rho is one",
        ),
        measured=lambda found: {
            "2R": 2 * found.complexity(limit),
            "mean inconsistency": found.inconsistency(limit),
            "range": limit,
        },
        below_caps=True,
        clips=not certain,
        conditions=setting.stated.conditions if certain else (),
    )


REGISTRY: tuple[Entry, ...] = (
    on_train("H1-kl", "Chernoff's bound", _chernoff, _plain_width),
    on_train("H2", "Maurer and Pontil (2009)", _bernstein, _by_variance),
    plain_union,
    by_width(
        "H3",
        "Mohri et al. (2018), Theorem 11.8, dimension",
        lambda row: row.origin == "paper",
        _dimension_width,
        said="the paper's own bound; ",
    ),
    by_width(
        "H3p",
        "ghost sample and Serfling's inequality, growth",
        lambda row: row.origin == "sharper" and not row.finite,
        _growth_width,
    ),
    through_inconsistency("U1", _inconsistency_by_dimension),
    through_inconsistency("U2", _inconsistency_by_edge),
)
"""In the order in which they are printed; what they yield may depend on the setting, never on the data."""
