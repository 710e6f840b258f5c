"""Finds how many held-out instances a guarantee for one heuristic needs, by simulating the bound that will be used."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds._betting import betting
from rhostar.bounds._holdout import clopper_pearson
from rhostar.errors import InputError, UtilityError

_LARGEST_SIMULATED = 16_000
_LARGE_PILOT = 300
"""Smaller pilots often miss events of one per cent."""
_STEP = 1.1
"""Sizes are found to within this factor."""


@dataclass(frozen=True)
class HoldoutPlan:
    """How many instances to hold out, and what the guarantee will probably be.

    Examples
    --------
    >>> import rhostar as rs
    >>> plan = rs.bounds.holdout_size(limit=1.0, epsilon=0.05, mean=0.1)
    >>> plan.samples, plan.extrapolated
    (294, False)
    >>> rs.bounds.holdout_size(limit=1.0, epsilon=0.05, mean=0.1, share=True).samples
    175
    """

    samples: int
    """N, to within ten per cent."""
    epsilon: float
    """How far above the measured mean the bound may be."""
    assurance: float
    """Share of simulated draws in which it was no further than that."""
    delta: float
    """The probability with which the bound may be wrong."""
    extrapolated: bool
    """Whether N is beyond what was simulated; the width then follows from 1/sqrt(N)."""
    bound: str = "betting"
    """The bound that was planned with: the one that :func:`rhostar.certify` will use."""
    pilot: int | None = None
    """How many values the pilot had; None if the mean was guessed."""

    def __str__(self) -> str:
        how = "extrapolated" if self.extrapolated else "simulated"
        supposed = "the mean is as guessed" if self.pilot is None else "the pilot is typical"
        text = (
            f"Hold out {self.samples} instances: if {supposed}, the bound is then at most {self.epsilon:g} above the "
            f"measured mean in {self.assurance:.0%} of draws ({how} with {self.bound}, delta = {self.delta:g})."
        )
        if self.pilot is not None and self.pilot < _LARGE_PILOT:
            text += f" A pilot of {self.pilot} can miss rare large values; then more are needed."
        return text


def holdout_size(
    *,
    limit: float,
    epsilon: float,
    pilot: ArrayLike | None = None,
    mean: float | None = None,
    share: bool = False,
    delta: float = 0.05,
    assurance: float = 0.8,
    trials: int = 40,
    random_state: int = 0,
) -> HoldoutPlan:
    """Return how many untouched instances bound the mean of one heuristic to within `epsilon` (H4).

    Utilities are drawn from a pilot sample. Without one, they are drawn from the worst case for a given mean: 0 or H.
    The bound that :func:`rhostar.certify` will use is computed on many simulated draws of each size: Clopper-Pearson
    for shares, else betting. The plan is only as good as the pilot: if large values are rare, a small pilot may contain
    none.

    Parameters
    ----------
    limit
        H.
    epsilon
        How far the bound may be above the measured mean.
    pilot
        Utilities of a few instances; they need not be used again. Give this or `mean`.
    mean
        A guess of the mean utility, where there is no pilot.
    share
        Whether every utility is 0 or H, as that of :class:`rhostar.utilities.SolvedWithin`.
    delta
        Probability with which the guarantee may be wrong.
    assurance
        The fraction of draws in which the bound should be that close.
    trials
        Simulated draws of each size.
    random_state
        Seed of the simulation.

    Returns
    -------
    HoldoutPlan

    Raises
    ------
    InputError
        If an argument is out of range, or not exactly one of `pilot` and `mean` is given.
    UtilityError
        If a value of the pilot is outside [0, limit], or with `share` neither 0 nor `limit`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> pilot = np.random.default_rng(0).beta(1, 9, size=100)
    >>> print(rs.bounds.holdout_size(limit=1.0, epsilon=0.02, pilot=pilot))
    Hold out 294 instances: if the pilot is typical, the bound is then at most 0.02 above the measured mean in 80% of
    draws (simulated with betting, delta = 0.05). A pilot of 100 can miss rare large values; then more are needed.
    """
    limit, delta = arrays.positive(limit, "limit"), arrays.probability(delta)
    epsilon, assurance = arrays.positive(epsilon, "epsilon"), arrays.probability(assurance, "assurance")
    trials, seed = arrays.integer(trials, "trials", 1), arrays.integer(random_state, "random_state", 0)
    if (pilot is None) == (mean is None):
        raise InputError("give either pilot (utilities of a few instances) or mean (a guess)")
    if mean is not None:
        guess = arrays.not_negative(mean, "mean") / limit
        if guess > 1:
            raise InputError(f"mean must be at most the limit {limit}, got {mean}")
    else:
        values = arrays.utilities(np.asarray(pilot, dtype=np.float64), limit) / limit
        if share and not np.isin(values, (0, 1)).all():
            raise UtilityError(f"with share every value of pilot must be 0 or the limit {limit:g}")
    upper, name = (clopper_pearson, "Clopper-Pearson") if share else (betting, "betting")
    known = None if mean is not None else values.size

    def width(size: int) -> float:
        rng = np.random.default_rng([seed, size])
        found = np.empty(trials)
        for k in range(trials):
            draw: NDArray[np.float64]
            draw = (rng.random(size) < guess).astype(np.float64) if mean is not None else rng.choice(values, size)
            found[k] = upper(draw, 1.0, delta=delta).high - draw.mean()
        return float(np.quantile(found, assurance)) * limit

    size = 10
    while (found := width(size)) > epsilon and size < _LARGEST_SIMULATED:
        size *= 2
    if found > epsilon:
        return HoldoutPlan(math.ceil(size * (found / epsilon) ** 2), epsilon, assurance, delta, True, name, known)
    low, high = max(1.0, size / 2), float(size)
    while high > _STEP * low and high - low > 1:
        middle = math.sqrt(low * high)
        if width(math.ceil(middle)) > epsilon:
            low = middle
        else:
            high = middle
    return HoldoutPlan(math.ceil(high), epsilon, assurance, delta, False, name, known)
