"""Certified gaps of single answers (U4), summarized over a set: they hold with certainty on every instance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rhostar import _arrays as arrays
from rhostar.errors import ArrayError, UtilityError


class GapSummary(NamedTuple):
    """A summary of the gaps of many answers; every cost is within its own gap of the optimum."""

    answers: int
    """The number of answers."""
    optimal: float
    """The share of answers that are certainly optimal."""
    mean: float
    """The mean gap."""
    median: float
    """The median gap."""
    largest: float
    """The largest gap."""

    def __str__(self) -> str:
        return (
            f"{self.answers} answers: {self.optimal:.1%} certainly optimal, "
            f"gap {self.mean:.5g} on average, median {self.median:.5g}, largest {self.largest:.5g}"
        )


def summarize_gaps(gaps: ArrayLike | None) -> GapSummary:
    """Return a summary of ``runs.gap`` (U4).

    For any π that never overestimates on the instance, opt ≥ min(cost, min over OPEN of g + π) at the end of A*, where
    without reopening the minimum also includes g_new + π for improvements of closed vertices that were ignored. The
    difference to the cost is the gap. It needs ``lower_bound=`` in the search, such as the distances under the lowest
    weights.

    Parameters
    ----------
    gaps
        One gap for each answer; inf where no path was found.

    Returns
    -------
    GapSummary

    Raises
    ------
    ArrayError
        If there are none, as where no lower bound was given.
    UtilityError
        If one is negative or NaN.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(10, 10)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(50, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=99)
    >>> lowest = rs.distances_to(graph, np.ones(graph.m), goal=99)
    >>> print(rs.bounds.summarize_gaps(rs.solve_many(instances, 1.3 * lowest, lower_bound=lowest).gap))
    50 answers: 0.0% certainly optimal, gap 4.076 on average, median 4.1859, largest 4.9433
    """
    if gaps is None:
        raise ArrayError("gaps are None: the searches were given no lower_bound")
    values = np.asarray(gaps, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ArrayError(f"gaps must be an array of at least one number, got shape {values.shape}")
    arrays.require_all(values >= 0, values, "gaps", "at least 0", UtilityError)
    return GapSummary(
        values.size, float((values == 0).mean()), float(values.mean()), float(np.median(values)), float(values.max())
    )
