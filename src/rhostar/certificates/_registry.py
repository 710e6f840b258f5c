"""Every bound that certify knows, each with its name, theorem, assumptions and scope; and which of them are computed.

That is decided from N, H, the capacity and δ alone. A bound that could not be worth anything for this N, or that
another one always beats, is named and skipped, which uses no δ: δ is divided by the number of the others.

A new bound is a function of numbers in :mod:`rhostar.bounds` and an entry in :data:`REGISTRY`. An entry takes a
:class:`Setting` and yields bounds, or says why there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import bounds
from rhostar.bounds import Capacity, ConfidenceInterval
from rhostar.bounds import _capacity as capacity
from rhostar.certificates._certificate import Dropped, Scope
from rhostar.certificates._measured import Data, Measured
from rhostar.certificates._request import ROUNDS, Setting

WORTH = 0.95
"""A bound is skipped if losses of zero throughout would still leave it above this share of H."""


def _losses(measured: Measured) -> Data:
    return measured.losses


def _inconsistency(measured: Measured) -> Data:
    return measured.inconsistency


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound that can be computed: with a set of instances and a share of δ it has a value."""

    label: str
    reference: str
    holds_for: Scope
    data: Literal["train", "holdout"]
    """The set that it is computed on."""
    value: Callable[[Measured, float], float]
    """From what was measured and a share of δ to the bound on the mean loss."""
    least: float
    """No data make it smaller."""
    assumptions: tuple[str, ...]
    of: Callable[[Measured], Data] = _losses
    """The numbers whose mean is its empirical term."""
    measured: Callable[[Measured], Mapping[str, float]] = field(default=lambda _: {})
    """What else went into it."""
    below_caps: bool = False
    """Whether it is about those ρ only that rise by no more than the largest weight along every edge."""
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


def _drawn(setting: Setting, data: str) -> tuple[str, ...]:
    return (
        f"the instances of {data} and those to come are drawn independently from one distribution",
        f"the range [0, {setting.limit:g}] was fixed beforehand",
    )


# ---------------------------------------------------------------- for this ρ, on holdout


def on_holdout(label: str, reference: str, bound: Callable[..., ConfidenceInterval], *, binary: bool) -> Entry:
    """Return the entry of a bound on the mean of one heuristic (H4), for utilities of 0 and H alone or for others."""

    def entry(setting: Setting) -> Iterator[Bound]:
        N = setting.samples.get("holdout")
        if N is None or setting.request.binary != binary:
            return
        limit = setting.limit

        def upper(losses: NDArray[np.float64], level: float) -> float:
            return bound(losses, limit, delta=level, side="upper").high

        yield Bound(
            label,
            reference,
            "this rho",
            "holdout",
            value=lambda measured, level: upper(measured.losses.values, level),
            least=upper(np.zeros(N), setting.delta),
            assumptions=(*_drawn(setting, "holdout"), "holdout had no part in choosing rho"),
        )

    return entry


def hoeffding(setting: Setting) -> Iterator[Dropped]:
    """Never used: others are never wider."""
    if "holdout" in setting.samples:
        exact = "Clopper-Pearson is exact for utilities of 0 and H"
        yield Dropped("H4 Hoeffding", exact if setting.request.binary else "H4 Chernoff is never wider")


# ---------------------------------------------------------------- for every ρ of the family, on train


def _smallest(setting: Setting) -> Capacity:
    """Return the least count of runs that holds on all instances together."""
    finite = (row for row in setting.rows if row.finite and row.origin == "sharper")
    return min(finite, key=lambda row: row.log_count)


def _counted(setting: Setting, row: Capacity) -> tuple[str, ...]:
    """Return what a bound assumes that counts by this row."""
    checked = [f"{text} (checked here)" for text in row.assumes]
    rounds = [ROUNDS] if row.exact_sums and not setting.exact else []
    return (*_drawn(setting, "train"), "the family was fixed without looking at train", *checked, *rounds)


def on_train(
    label: str, reference: str, bound: Callable[[NDArray[np.float64], float, int, float, float], float]
) -> Entry:
    """Return the entry of a bound for each of K runs; `bound` takes losses, ln K, N, H and a share of δ."""

    def entry(setting: Setting) -> Iterator[Bound]:
        N = setting.samples.get("train")
        if N is None:
            return
        row, limit = _smallest(setting), setting.limit
        yield Bound(
            f"{label} {row.label}",
            f"{reference} for each of K runs, K by row {row.label}",
            setting.scope,
            "train",
            value=lambda measured, level: bound(measured.losses.values, row.log_count, N, limit, level),
            least=bound(np.zeros(N), row.log_count, N, limit, setting.delta),
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
    log_count, N = _smallest(setting).log_count, setting.samples["train"]
    return bounds.finite_width(log_count, N, setting.limit, delta=setting.delta, side="upper")


def plain_union(setting: Setting) -> Iterator[Dropped]:
    """Never used: H1-kl is never wider."""
    if "train" in setting.samples:
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
        if "train" not in setting.samples:
            return
        N, limit, plain = setting.samples["train"], setting.limit, _plain_width(setting)
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
                    "train",
                    value=_mean_plus(width, limit),
                    least=least,
                    assumptions=_counted(setting, row),
                )

    return entry


def _mean_plus(width: Width, limit: float) -> Callable[[Measured, float], float]:
    return lambda measured, level: min(limit, measured.losses.mean + width(level))


def _dimension_width(row: Capacity, N: int, limit: float) -> Width:
    dimension = row.pseudo_dimension
    return lambda level: bounds.dimension_width(dimension, N, limit, delta=level)


def _growth_width(row: Capacity, N: int, limit: float) -> Width:
    return lambda level: bounds.growth_width(row.log_growth, N, limit, delta=level).width


# ---------------------------------------------------------------- suboptimality of A*, through inconsistency


def through_inconsistency(label: str, make: Callable[[Setting, int], Bound | Dropped]) -> Entry:
    """Return the entry of a bound on E[min(cost − opt, H)] through inconsistency (L1)."""

    def entry(setting: Setting) -> Iterator[Bound | Dropped]:
        if "train" not in setting.samples or not setting.request.of_excess:
            return
        if setting.request.through_inconsistency:
            yield make(setting, setting.samples["train"])
        else:
            yield Dropped(label, "a run that a budget ends has no bound through inconsistency")

    return entry


def _with_rounding(bound: Callable[[Measured, float], float], limit: float) -> Callable[[Measured, float], float]:
    """Return the bound with what the rounding of sums may add to cost − opt."""
    return lambda measured, level: min(limit, bound(measured, level) + measured.rounding)


def _inconsistency_by_dimension(setting: Setting, N: int) -> Bound:
    limit, dimension = setting.limit, capacity.inconsistency(setting.graph.n).pseudo_dimension

    def value(measured: Measured, level: float) -> float:
        return min(limit, measured.inconsistency.mean + bounds.dimension_width(dimension, N, limit, delta=level))

    return Bound(
        "U1",
        "the paper's Theorem 6 with constants, through inconsistency (L1)",
        "every rho",
        "train",
        value=_with_rounding(value, limit),
        least=min(limit, bounds.dimension_width(dimension, N, limit, delta=setting.delta)),
        assumptions=(*_drawn(setting, "train"), *setting.rounding_assumed),
        of=_inconsistency,
        measured=lambda _: {"dimension": float(dimension)},
        detail=f" (dimension {dimension}, N = {N})",
    )


def _inconsistency_by_edge(setting: Setting, N: int) -> Bound | Dropped:
    if not setting.caps_known:
        return Dropped("U2", "needs the largest possible weights: state weight_bounds")
    limit = setting.limit

    def value(measured: Measured, level: float) -> float:
        return bounds.rademacher_bound(measured.inconsistency.mean, measured.complexity, N, limit, delta=level)

    return Bound(
        "U2",
        "edge-local Rademacher complexity of inconsistency (L1)",
        "every rho",
        "train",
        value=_with_rounding(value, limit),
        least=bounds.rademacher_bound(0.0, 0.0, N, limit, delta=setting.delta),
        assumptions=(
            *_drawn(setting, "train"),
            "the largest weights were known beforehand (checked here)",
            *setting.rounding_assumed,
            "every rho means every rho with rho_v - rho_c at most the largest weight of the edge; table.rho is one",
        ),
        of=_inconsistency,
        measured=lambda measured: {"2R": 2 * measured.complexity},
        below_caps=True,
    )


REGISTRY: tuple[Entry, ...] = (
    on_holdout("H4 Clopper-Pearson", "Clopper and Pearson (1934)", bounds.clopper_pearson, binary=True),
    on_holdout("H4 betting", "Waudby-Smith and Ramdas (2023), hedged capital", bounds.betting, binary=False),
    on_holdout("H4 Chernoff", "Chernoff's bound in its relative-entropy form", bounds.kullback_leibler, binary=False),
    on_holdout("H4 Bernstein", "Maurer and Pontil (2009), Theorem 4", bounds.empirical_bernstein, binary=False),
    hoeffding,
    on_train("H1-kl", "Chernoff's bound", _chernoff),
    on_train("H2", "Maurer and Pontil (2009)", _bernstein),
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
