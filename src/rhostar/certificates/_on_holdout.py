"""Bounds for one heuristic on instances that had no part in choosing it: the mean (H4, H9) or a quantile (H6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rhostar import bounds
from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._registry import drawn
from rhostar.certificates._request import Request
from rhostar.certificates._sample import Sample
from rhostar.errors import AssumptionError, InputError
from rhostar.utilities import Score

Upper = Callable[[NDArray[np.float64], float, float, int], float]
"""From values, their range, δ and a seed to an upper bound on the mean."""


@dataclass(frozen=True)
class MeanBound:
    """A bound on the mean of one heuristic."""

    label: str
    reference: str
    upper: Upper
    binary: bool = False
    """Whether it is for values of 0 and H alone."""
    asked: bool = False
    """Whether it is computed only where it is asked for by name."""
    assumed: tuple[str, ...] = ()


def _betting(values: NDArray[np.float64], limit: float, delta: float, seed: int) -> float:
    return bounds.betting(values, limit, delta=delta, random_state=seed).high


def _any_time(values: NDArray[np.float64], limit: float, delta: float, seed: int) -> float:
    return float(bounds.betting_sequence(values, limit, delta=delta)[-1])


def _chernoff(values: NDArray[np.float64], limit: float, delta: float, seed: int) -> float:
    return bounds.kullback_leibler(values, limit, delta=delta, side="upper").high


def _bernstein(values: NDArray[np.float64], limit: float, delta: float, seed: int) -> float:
    return bounds.empirical_bernstein(values, limit, delta=delta, side="upper").high


def _exact(values: NDArray[np.float64], limit: float, delta: float, seed: int) -> float:
    return bounds.clopper_pearson(values, limit, delta=delta, side="upper").high


ON_HOLDOUT: tuple[MeanBound, ...] = (
    MeanBound("H4 Clopper-Pearson", "Clopper and Pearson (1934)", _exact, binary=True),
    MeanBound("H4 betting", "Waudby-Smith and Ramdas (2023), averaged over random orders", _betting),
    MeanBound("H4 Chernoff", "Chernoff's bound in its relative-entropy form", _chernoff),
    MeanBound("H4 Bernstein", "Maurer and Pontil (2009), Theorem 4", _bernstein),
    MeanBound(
        "H9 any time",
        "Waudby-Smith and Ramdas (2023), a confidence sequence: valid at every sample size at once",
        _any_time,
        asked=True,
        assumed=("the instances are stored in the order in which they were drawn",),
    ),
)
"""In the order in which they are printed. The first that fits the utility carries the promise."""


@dataclass(frozen=True, eq=False)
class Range:
    """The range of the losses: [0, H], or a smaller one that is certain (U5)."""

    value: float
    certain: bool = False
    conditions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Judged:
    """A holdout, what was measured on it, and what goes into every certificate on it."""

    request: Request
    sample: Sample
    score: Score
    range: Range
    goals: Sequence[int]
    known: bool
    """Whether it is known what ρ was learned from, so that the holdout could be checked."""

    @property
    def binary(self) -> bool:
        """Whether every draw has the value 0 or H; means of groups have others."""
        return self.request.binary and self.sample.groups is None

    @property
    def losses(self) -> NDArray[np.float64]:
        """What is bounded from above, one per instance."""
        if self.range.certain:
            return self.score.raw
        return self.score.utility.limit - self.score.values if self.request.flip else self.score.values

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What every bound on the holdout assumes."""
        untouched = "holdout had no part in choosing rho"
        if self.request.candidates > 1:
            untouched = f"holdout had no part in making the {self.request.candidates} candidates"
        unchecked = "" if self.known else " (not checked: rho is an array)"
        free = self.range.certain or self.request.binary or self.request.quantile is not None
        limit = None if free else self.request.utility.limit
        return (*drawn("holdout", limit), untouched + unchecked, *self.range.assumptions)


def default_bound(judged: Judged) -> str:
    """Return the label of the bound that carries the promise, decided before any utility is seen."""
    if judged.request.quantile is not None:
        return "H6 quantile"
    return next(bound.label for bound in ON_HOLDOUT if bound.binary == judged.binary)


def on_holdout(judged: Judged, asked: str) -> tuple[list[Certificate], list[Dropped]]:
    """Return the promise for all instances together, then one for each category at its share of δ.

    Parameters
    ----------
    judged
        The holdout and what was measured on it.
    asked
        The label of the bound that carries the promise.
    """
    request, sample = judged.request, judged.sample
    rows = [
        _mean(judged, bound, request.delta)
        for bound in ON_HOLDOUT
        if bound.binary == judged.binary and (not bound.asked or bound.label == asked)
    ]
    if request.quantile is not None:
        rows.append(_quantile(judged, request.delta))
    share = request.delta / max(1, len(sample.categories))
    for category, positions in sample.categories.items():
        if asked == "H6 quantile":
            rows.append(_quantile(judged, share, category, positions))
        else:
            bound = next((bound for bound in ON_HOLDOUT if bound.label == asked), None)
            if bound is None:
                raise InputError(f"by needs a bound on the holdout, got bound={asked!r}")
            rows.append(_mean(judged, bound, share, category, positions))
    exact = "Clopper-Pearson is exact for utilities of 0 and H"
    return rows, [Dropped("H4 Hoeffding", exact if judged.binary else "H4 Chernoff is never wider")]


def _mean(
    judged: Judged,
    bound: MeanBound,
    delta: float,
    category: str | None = None,
    positions: NDArray[np.int64] | None = None,
) -> Certificate:
    request, sample = judged.request, judged.sample
    values = sample.values(judged.losses, positions)
    limit = judged.range.value
    computed = bound.upper(values, limit, delta / request.candidates, request.random_state)
    observed = float(values.mean())
    upper = max(computed, observed)  # draws that are independent hardly ever give less; see `looks`
    clips = not judged.range.certain and not request.binary
    raw = judged.score.raw if positions is None else judged.score.raw[positions]
    return Certificate(
        label=bound.label,
        subject=request.utility.mean_words,
        run=request.run(judged.goals, category or ""),
        population=sample.population,
        side="lower" if request.flip else "upper",
        value=max(0.0, limit - upper) if request.flip else upper,
        observed=limit - observed if request.flip else observed,
        limit=None if judged.range.certain else limit,
        clipped=float(np.mean(raw > limit)) if clips else None,
        delta=delta,
        samples=values.size,
        unit=sample.unit,
        holds_for="this rho",
        reference=bound.reference,
        conditions=judged.range.conditions,
        assumptions=(*judged.assumptions, *bound.assumed),
        measured={"range": limit, "instances": float(raw.size)} | ({"raised": 1.0} if computed < observed else {}),
        category=category,
    )


def _quantile(
    judged: Judged, delta: float, category: str | None = None, positions: NDArray[np.int64] | None = None
) -> Certificate:
    request, sample = judged.request, judged.sample
    share = request.quantile
    assert share is not None
    if request.binary:
        raise InputError("quantile needs a utility with more values than 0 and 1; the share itself is the mean")
    if sample.groups is not None:
        raise AssumptionError(
            f"a quantile needs instances that were drawn one by one, and these come in {sample.unit}s; "
            "draw them with InstanceSet.draw, or say groups=False if they were"
        )
    raw = judged.score.raw if positions is None else judged.score.raw[positions]
    if request.flip:  # the least of the best: counted from the other end
        found = bounds.quantile_rank(share, raw.size, delta=delta / request.candidates)
        value = 0.0 if found is None else float(np.sort(raw)[::-1][found - 1])
        observed = float(np.sort(raw)[::-1][math.ceil(share * raw.size) - 1])
    else:
        value = bounds.quantile(raw, share, delta=delta / request.candidates).value
        observed = float(np.sort(raw)[math.ceil(share * raw.size) - 1])
    return Certificate(
        label="H6 quantile",
        subject=request.utility.quantity,
        run=request.run(judged.goals, category or ""),
        population=sample.population,
        side="lower" if request.flip else "upper",
        value=value,
        observed=observed,
        limit=None,
        delta=delta,
        samples=raw.size,
        holds_for="this rho",
        reference="the order statistic, by the binomial distribution; no range is needed",
        statistic="quantile",
        share=share,
        assumptions=judged.assumptions,
        category=category,
    )


def looks(judged: Judged, rows: Sequence[Certificate]) -> list[str]:
    """Return warnings about what was measured: draws that look dependent, and a limit that was read off the data."""
    found = [
        f"Warning: {row.label} came out below the measured mean and was raised to it: the draws look dependent"
        for row in rows
        if "raised" in row.measured
    ]
    losses, limit = judged.losses, judged.range.value
    raw = judged.score.raw
    p = bounds.order_test(losses) if judged.sample.instances.pool is None and judged.sample.groups is None else 1.0
    if p < 1e-3:
        found.append(
            f"Warning: in the order of storage these utilities do not look like independent draws (p = {p:.1g}). "
            "That is harmless if somebody sorted them. It is not if they follow each other in time: then use groups= "
            "(such as days) or by= (such as hours)"
        )
    if not judged.range.certain and not judged.request.binary and judged.request.quantile is None:
        largest = float(raw.max())
        if 0.98 * limit < largest <= limit:
            found.append(
                f"Warning: the limit {limit:g} is just above the largest utility seen, {largest:.6g}. The promise "
                "holds only if the limit was fixed without looking at these instances"
            )
    return found
