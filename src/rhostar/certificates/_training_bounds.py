"""Every bound on training instances that certify_training knows, each with its name, theorem, assumptions and scope.

Which of them are computed, and which one is the guarantee, is decided from N, H, the capacity, the caps and δ alone,
before any utility is seen. A bound that would be vacuous for this N, or is never better than another one, is named and
skipped.

A new bound is a function of numbers in :mod:`rhostar.bounds` and an entry in :data:`REGISTRY`. An entry takes a
:class:`Setting` and yields bounds, or says why there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rhostar import bounds
from rhostar.bounds import Capacity
from rhostar.bounds import _capacity as capacity
from rhostar.certificates._certificate import Dropped, Scope
from rhostar.certificates._draws import assume_draws
from rhostar.certificates._excess import ROUNDS, WeightBounds
from rhostar.certificates._measure import OptimalPaths

# A bound is skipped if losses of zero throughout would still leave it above this share of H.
WORTH = 0.95


@dataclass(frozen=True, eq=False)
class Setting:
    """What is known of one goal and its training instances before any utility is seen; bounds are chosen by it.

    Attributes
    ----------
    n, samples, limit, delta
        The numbers of vertices and of instances, H, and the share of δ that this goal has.
    rows, scope
        How many runs the family has, and for whom a bound holds.
    stated
        What is known of the weights.
    caps, caps_given, caps_checked
        D by edge, inf where nothing is known: U2 is about the ρ that rise by no more than this along each edge;
        whether these caps came from other data, and are not the upper bounds on weights; and whether that was checked.
    excess
        No answer is further above the optimum than this, for every ρ below the caps; inf where nothing says so.
    exact
        Whether no sum g + ρ rounds.
    answer
        Up to which cost of an answer rounding is bounded, where weights have no upper bounds.
    measures_excess, budgeted
        Whether the suboptimality of A* is measured, and whether a budget ends runs.
    """

    n: int
    samples: int
    limit: float
    delta: float
    rows: tuple[Capacity, ...]
    scope: Scope
    stated: WeightBounds
    caps: NDArray[np.float64]
    caps_given: bool
    caps_checked: bool
    excess: float
    exact: bool
    answer: float
    measures_excess: bool
    budgeted: bool


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured on the training instances of one goal.

    Attributes
    ----------
    losses
        One for each instance.
    paths, inconsistency
        Optimal paths and Δ along them, where the utility needs the optimum; else None.
    caps
        D by edge.
    rounding
        By how much cost − opt may exceed the inconsistency, as sums round.
    """

    losses: NDArray[np.float64]
    paths: OptimalPaths | None
    inconsistency: NDArray[np.float64] | None
    caps: NDArray[np.float64]
    rounding: float

    def mean_inconsistency(self, limit: float) -> float:
        """Return the mean of Δ along the optimal paths, clipped at a limit."""
        assert self.inconsistency is not None
        return float(np.minimum(self.inconsistency, limit).mean())

    def complexity(self, limit: float) -> float:
        """Return R̂ of U2 for Δ clipped at a limit."""
        assert self.paths is not None
        return bounds.edge_local_complexity(self.paths.edges, self.paths.weights, self.caps, self.losses.size, limit)


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound that can be computed: with what was measured and a share of δ it has a value.

    Attributes
    ----------
    label, reference, holds_for
        As in a certificate.
    value
        From what was measured and a share of δ to the bound on the mean loss.
    smallest
        No data make it smaller.
    planned
        Its width as far as it is known beforehand: the smallest decides which bound is the guarantee.
    assumptions, conditions
        What it assumes, and what must hold on new instances besides.
    measured
        What else went into it.
    below_caps
        Whether it is about those ρ only that rise by no more than the caps along every edge.
    clips
        Whether the loss is clipped at H; not where a certain range is smaller.
    detail
        Added to the reason where it is skipped.
    """

    label: str
    reference: str
    holds_for: Scope
    value: Callable[[Measured, float], float]
    smallest: float
    planned: float
    assumptions: tuple[str, ...]
    measured: Callable[[Measured], Mapping[str, float]] = field(default=lambda _: {})
    below_caps: bool = False
    clips: bool = True
    conditions: tuple[str, ...] = ()
    detail: str = ""


Entry = Callable[[Setting], Iterator[Bound | Dropped]]

# A bound through inconsistency shares δ with another one whose planned width is at most this many times its own.
_WITHIN = 8.0
# The shares of both: the other one counts runs and hardly depends on δ.
_SHARES = (0.9, 0.1)


def choose_guarantee(applicable: Sequence[Bound]) -> list[tuple[Bound, float]]:
    """Return the bound with the smallest planned width, or two that share δ, with their shares.

    The lower one of the two is then the guarantee.

    A bound through inconsistency adds its width to the mean inconsistency, which may be far above the mean excess that
    it bounds, and how far is not known beforehand. So it does not stand alone where a bound that adds its width to the
    mean excess itself is planned to be of the same size: both have a fixed share of δ, and the lower one holds with
    probability at least 1 − δ, since both do.
    """
    if not applicable:
        return []
    first = min(applicable, key=lambda one: one.planned)
    if not first.label.startswith("U"):
        return [(first, 1.0)]
    direct = [one for one in applicable if not one.label.startswith("U") and one.planned <= _WITHIN * first.planned]
    both = [first, *([min(direct, key=lambda one: one.planned)] if direct else [])]
    return list(zip(both, _SHARES if direct else (1.0,), strict=True))


def choose_bounds(setting: Setting) -> tuple[list[Bound], list[Dropped]]:
    """Return which bounds to compute, and which not, without looking at any utility."""
    kept, dropped = [], []
    for entry in REGISTRY:
        for found in entry(setting):
            if isinstance(found, Dropped):
                dropped.append(found)
            elif found.smallest >= WORTH * setting.limit:
                reason = f"vacuous: at least {found.smallest:.4g} of {setting.limit:.4g}{found.detail}"
                dropped.append(Dropped(found.label, reason))
            else:
                kept.append(found)
    return kept, dropped


# ---------------------------------------------------------------- for each of K runs


def _fewest(setting: Setting) -> Capacity:
    """Return the smallest count of runs that holds on all instances together."""
    finite = (row for row in setting.rows if row.finite and row.origin == "sharper")
    return min(finite, key=lambda row: row.log_count)


def _counted(setting: Setting, row: Capacity) -> tuple[str, ...]:
    """Return what a bound assumes that counts by this row."""
    checked = [f"{text} (checked here)" for text in row.assumes]
    rounds = [ROUNDS] if row.exact_sums and not setting.exact else []
    fixed = "the family was fixed without looking at train"
    return (*assume_draws("train", setting.limit), fixed, *checked, *rounds)


def _plain_width(setting: Setting) -> float:
    """Return the width of H1, which others must beat."""
    log_count = _fewest(setting).log_count
    return bounds.finite_width(log_count, setting.samples, setting.limit, delta=setting.delta, side="upper")


def by_chernoff(setting: Setting) -> Iterator[Bound]:
    """H1-kl: Chernoff's bound for each of K runs."""
    row, N, limit = _fewest(setting), setting.samples, setting.limit

    def value(losses: NDArray[np.float64], level: float) -> float:
        return bounds.finite_kl(float(losses.mean()), row.log_count, N, limit, delta=level)

    yield _for_each_run(setting, row, "H1-kl", "Chernoff's bound", value, _plain_width(setting))


def by_variance(setting: Setting) -> Iterator[Bound]:
    """H2: an empirical Bernstein bound for each of K runs; its width is not known beforehand."""
    row, N, limit = _fewest(setting), setting.samples, setting.limit

    def value(losses: NDArray[np.float64], level: float) -> float:
        mean, variance = float(losses.mean()), float(losses.var(ddof=1))
        return bounds.finite_bernstein(mean, variance, row.log_count, N, limit, delta=level)

    yield _for_each_run(setting, row, "H2", "Maurer and Pontil (2009)", value, math.inf)


def _for_each_run(
    setting: Setting,
    row: Capacity,
    label: str,
    reference: str,
    value: Callable[[NDArray[np.float64], float], float],
    planned: float,
) -> Bound:
    return Bound(
        f"{label} {row.label}",
        f"{reference} for each of K runs, K by row {row.label}",
        setting.scope,
        value=lambda measured, level: value(measured.losses, level),
        smallest=value(np.zeros(setting.samples), setting.delta),
        planned=planned,
        assumptions=_counted(setting, row),
        measured=lambda _: {"ln K": row.log_count},
    )


# ---------------------------------------------------------------- mean + width


def by_dimension(setting: Setting) -> Iterator[Bound | Dropped]:
    """H3: the paper's own bound, by pseudo-dimension."""
    N, limit = setting.samples, setting.limit
    for row in (row for row in setting.rows if row.origin == "paper"):

        def width(level: float, dimension: int = row.pseudo_dimension) -> float:
            return bounds.dimension_width(dimension, N, limit, delta=level)

        reference = "Mohri et al. (2018), Theorem 11.8, dimension"
        yield _mean_and_width(setting, row, "H3", reference, width, "the paper's own bound; ")


def by_growth(setting: Setting) -> Iterator[Bound | Dropped]:
    """H3p: by growth functions."""
    N, limit = setting.samples, setting.limit
    for row in (row for row in setting.rows if row.origin == "sharper" and not row.finite):

        def width(level: float, row: Capacity = row) -> float:
            return bounds.growth_width(row.log_growth, N, limit, delta=level).width

        yield _mean_and_width(setting, row, "H3p", "ghost sample and Serfling's inequality, growth", width)


def _mean_and_width(
    setting: Setting, row: Capacity, label: str, reference: str, width: Callable[[float], float], said: str = ""
) -> Bound | Dropped:
    limit, plain = setting.limit, _plain_width(setting)
    name, smallest = f"{label} {row.label}", width(setting.delta)
    if smallest >= WORTH * limit:
        wide = f"vacuous: width {smallest:.4g}, the range is {limit:.4g}"
        return Dropped(name, said + ("N is below the pseudo-dimension" if math.isinf(smallest) else wide))
    if smallest >= plain:
        return Dropped(name, f"{said}width {smallest:.4g}; H1 {_fewest(setting).label} has {plain:.4g}")
    return Bound(
        name,
        f"{reference} by row {row.label}",
        setting.scope,
        value=lambda measured, level: min(limit, float(measured.losses.mean()) + width(level)),
        smallest=smallest,
        planned=smallest,
        assumptions=_counted(setting, row),
    )


# ---------------------------------------------------------------- suboptimality of A*, through inconsistency (L1)


def through_inconsistency(setting: Setting) -> Iterator[Bound | Dropped]:
    """U1 and U2: E[min(cost − opt, H)] for A* without a budget."""
    if setting.measures_excess and setting.budgeted:
        yield from (
            Dropped(label, "a run that is ended by a budget has no bound through inconsistency")
            for label in ("U1", "U2")
        )
    elif setting.measures_excess:
        yield _by_inconsistency(setting)
        yield _by_edges(setting)


def _by_inconsistency(setting: Setting) -> Bound:
    """Return U1, by the pseudo-dimension of inconsistency."""
    N, limit, dimension = setting.samples, setting.limit, capacity.inconsistency(setting.n).pseudo_dimension

    def value(measured: Measured, level: float) -> float:
        found = measured.mean_inconsistency(limit) + bounds.dimension_width(dimension, N, limit, delta=level)
        return min(limit, min(limit, found) + measured.rounding)

    width = bounds.dimension_width(dimension, N, limit, delta=setting.delta)
    return Bound(
        "U1",
        "the paper's Theorem 6 with constants, through inconsistency (L1)",
        "every rho",
        value=value,
        smallest=min(limit, width),
        planned=width,
        assumptions=(
            *assume_draws("train", limit),
            *setting.stated.integers_assumed,
            *setting.stated.rounding_conditions(setting.answer, exact=setting.exact),
        ),
        measured=lambda found: {
            "dimension": float(dimension),
            "mean inconsistency": found.mean_inconsistency(limit),
        },
        detail=f" (dimension {dimension}, N = {N})",
    )


def _by_edges(setting: Setting) -> Bound | Dropped:
    """Return U2, by the edge-local complexity of inconsistency below caps."""
    finite = np.isfinite(setting.caps)
    if not finite.any():
        return Dropped("U2", "needs upper bounds on weights (upper), or caps from other data (caps)")
    # Where the caps themselves bound every answer, that bound takes the place of H.
    N, certain = setting.samples, setting.excess < setting.limit
    limit = max(min(setting.limit, setting.excess), float(np.finfo(np.float64).tiny))

    def value(measured: Measured, level: float) -> float:
        complexity = measured.complexity(limit)
        found = bounds.rademacher_bound(measured.mean_inconsistency(limit), complexity, N, limit, delta=level)
        return min(setting.limit, found + measured.rounding)

    # Edges without a cap do not count here: the rule only has to be fixed beforehand.
    spreads = np.maximum(setting.caps - setting.stated.lower, 0.0)[finite]
    below = "the upper bounds were known beforehand; no weight here is above them (checked here)"
    if setting.caps_given:
        checked = "checked here" if setting.caps_checked else "not checked"
        below = f"the caps were fixed by other data ({checked})"
    return Bound(
        "U2 local" if setting.caps_given else "U2",
        "edge-local Rademacher complexity of inconsistency (L1)",
        "every rho",
        value=value,
        smallest=bounds.rademacher_bound(0.0, 0.0, N, limit, delta=setting.delta),
        planned=bounds.edge_local_width(setting.n, spreads, N, limit, delta=setting.delta),
        assumptions=(
            *assume_draws("train", None if certain else setting.limit),
            below,
            *setting.stated.integers_assumed,
            *setting.stated.rounding_conditions(setting.answer, exact=setting.exact),
            "every rho means every rho with rho_v - rho_c at most the cap of the edge; table.rho is one",
        ),
        measured=lambda found: {
            "2R": 2 * found.complexity(limit),
            "mean inconsistency": found.mean_inconsistency(limit),
            "range": limit,
        },
        below_caps=True,
        clips=not certain,
        conditions=setting.stated.conditions(setting.answer, exact=setting.exact) if certain else (),
    )


# In the order in which they are printed; what they yield may depend on the setting, never on the data.
REGISTRY: tuple[Entry, ...] = (by_chernoff, by_variance, by_dimension, by_growth, through_inconsistency)
