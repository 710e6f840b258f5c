"""Which bounds to compute, decided from N, H, the capacity and δ alone; and how each is computed with its share of δ.

A bound that could not be worth anything for this N, or that another one beats whatever the data is, is named, dropped
beforehand and costs nothing. δ is divided by the number of the others. Losses are what is bounded from above: u, or
H − u where higher is better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rhostar.bounds import Capacity, betting
from rhostar.bounds import _capacity as capacity
from rhostar.bounds import _holdout as holdout
from rhostar.bounds import _uniform as uniform
from rhostar.certificates._certificate import Dropped, Scope

WORTH = 0.95
"""A bound is dropped beforehand if losses of zero throughout would still leave it above this share of H."""

ROUNDS = "comparisons of g + rho are exact, although float64 sums round"
"""Assumed where nothing says how far g goes."""


@dataclass(frozen=True)
class Bound:
    """A bound that will be computed: from losses, or inconsistencies, and its share of δ to a value."""

    label: str
    reference: str
    holds_for: Scope
    data: str
    """"train" or "holdout"."""
    of_inconsistency: bool
    value: Callable[[NDArray[np.float64], float], float]
    assumption: str = ""
    measured: tuple[tuple[str, float], ...] = ()


@dataclass
class Choice:
    """The bounds that are kept and those that are dropped."""

    kept: list[Bound]
    dropped: list[Dropped]

    def consider(self, bound: Bound, least: float, limit: float, why: str = "") -> None:
        """Keep a bound unless even its least possible value says next to nothing."""
        if least >= WORTH * limit:
            worth = f"at least {least:.4g} whatever the data, of a range of {limit:.4g}"
            self.dropped.append(Dropped(bound.label, f"{worth}{why}"))
        else:
            self.kept.append(bound)


def for_this_rho(N: int, limit: float, delta: float, binary: bool, choice: Choice) -> None:
    """Consider the bounds for one heuristic on N untouched instances (H4)."""
    zeros = np.zeros(N)

    def of(bound: Callable[..., holdout.Interval]) -> Callable[[NDArray[np.float64], float], float]:
        return lambda losses, level: bound(losses, limit, delta=level, side="upper").high

    methods = [("H4 Clopper-Pearson", "Clopper and Pearson (1934)", holdout.clopper_pearson)]
    if not binary:
        methods = [
            ("H4 betting", "Waudby-Smith and Ramdas (2023), hedged capital", betting),
            ("H4 Chernoff", "Chernoff's bound in its relative-entropy form", holdout.kullback_leibler),
            ("H4 Bernstein", "Maurer and Pontil (2009), Theorem 4", holdout.empirical_bernstein),
        ]
    for label, reference, bound in methods:
        row = Bound(label, reference, "this rho", "holdout", False, of(bound))
        choice.consider(row, row.value(zeros, delta), limit)
    beats = "Clopper-Pearson is exact for utilities of 0 and H" if binary else "Chernoff's is never wider"
    choice.dropped.append(Dropped("H4 Hoeffding", beats))


def for_every_rho(
    rows: Sequence[Capacity], N: int, limit: float, delta: float, scope: Scope, sums_are_exact: bool, choice: Choice
) -> None:
    """Consider the bounds for a class of heuristics on N instances, which may have been used to choose among them."""
    usable = [row for row in rows if row.origin == "sharper"]
    finite = min((row for row in usable if row.finite), key=lambda row: row.log_count)
    log_count = finite.log_count
    assumption = _exactness(finite, sums_are_exact)
    measured = (("ln K", log_count),)

    def chernoff(losses: NDArray[np.float64], level: float) -> float:
        return uniform.finite_kl(float(losses.mean()), log_count, N, limit, delta=level)

    def bernstein(losses: NDArray[np.float64], level: float) -> float:
        variance = float(losses.var(ddof=1))
        return uniform.finite_bernstein(float(losses.mean()), variance, log_count, N, limit, delta=level)

    zeros = np.zeros(N)
    for label, reference, value in (
        (f"H1-kl {finite.label}", f"Chernoff's bound for each of K runs, K by row {finite.label}", chernoff),
        (f"H2 {finite.label}", f"Maurer and Pontil (2009) for each of K runs, K by row {finite.label}", bernstein),
    ):
        bound = Bound(label, reference, scope, "train", False, value, assumption, measured)
        choice.consider(bound, value(zeros, delta), limit)
    plain = uniform.finite_width(log_count, N, limit, delta=delta, side="upper")
    choice.dropped.append(Dropped(f"H1 {finite.label}", f"width {plain:.4g}; H1-kl is never wider"))
    for row in rows:
        if row.finite and row.origin == "sharper":
            continue
        if row.origin == "paper":
            label, width = f"H3 {row.label}", uniform.dimension_width(row.pseudo_dimension, N, limit, delta=delta)
            reference, why = (
                f"Mohri et al. (2018), Theorem 11.8, dimension by row {row.label}",
                "the paper's own bound, ",
            )
        else:
            label, width = f"H3′ {row.label}", uniform.growth_width(row.log_growth, N, limit, delta=delta).width
            reference, why = f"ghost sample and Serfling's inequality, growth by row {row.label}", ""
        if width >= WORTH * limit:
            said = "N is below the pseudo-dimension" if math.isinf(width) else f"width {width:.4g}"
            choice.dropped.append(Dropped(label, f"{why}{said}, of a range of {limit:.4g}"))
        elif width >= plain:
            choice.dropped.append(Dropped(label, f"{why}width {width:.4g}; H1 {finite.label} has {plain:.4g}"))
        else:
            bound = Bound(
                label, reference, scope, "train", False, _fixed(row, N, limit), _exactness(row, sums_are_exact)
            )
            choice.kept.append(bound)


def _fixed(row: Capacity, N: int, limit: float) -> Callable[[NDArray[np.float64], float], float]:
    if row.origin == "paper":
        dimension = row.pseudo_dimension
        return lambda losses, level: min(
            limit, float(losses.mean()) + uniform.dimension_width(dimension, N, limit, delta=level)
        )
    return lambda losses, level: min(
        limit, float(losses.mean()) + uniform.growth_width(row.log_growth, N, limit, delta=level).width
    )


def _exactness(row: Capacity, sums_are_exact: bool) -> str:
    return "" if sums_are_exact or not row.exact_sums else ROUNDS


def for_suboptimality(
    n: int, N: int, limit: float, delta: float, local: Callable[[], float] | None, choice: Choice
) -> None:
    """Consider the bounds on E[min(cost − opt, H)] through inconsistency; `local` returns R̂ of U2."""
    dimension = capacity.inconsistency(n).pseudo_dimension

    def through_dimension(inconsistencies: NDArray[np.float64], level: float) -> float:
        width = uniform.dimension_width(dimension, N, limit, delta=level)
        return min(limit, float(inconsistencies.mean()) + width)

    row = Bound(
        "U1", "the paper's Theorem 6 with constants, through inconsistency (L1)", "every rho", "train", True,
        through_dimension, measured=(("dimension", float(dimension)),),
    )  # fmt: skip
    least = uniform.dimension_width(dimension, N, limit, delta=delta)
    choice.consider(row, min(limit, least), limit, f" (dimension {dimension}, N = {N})")
    if local is None:
        choice.dropped.append(Dropped("U2", "needs the largest possible weights: state weight_bounds"))
        return
    complexity = local

    def edge_local(inconsistencies: NDArray[np.float64], level: float) -> float:
        return uniform.rademacher_bound(float(inconsistencies.mean()), complexity(), N, limit, delta=level)

    row = Bound(
        "U2", "edge-local Rademacher complexity of inconsistency (L1)", "every rho", "train", True, edge_local,
        "every rho means every rho with rho_v - rho_c at most the largest weight of the edge; table.rho is one",
    )  # fmt: skip
    choice.consider(row, uniform.rademacher_bound(0.0, 0.0, N, limit, delta=delta), limit)
