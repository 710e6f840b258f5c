"""A certificate holds for the distribution that its instances came from; a monitor says when that has changed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.bounds import _checks as checks
from rhostar.certificates._certificate import Certificate
from rhostar.certificates._table import CertificateTable
from rhostar.errors import InputError, UtilityError

_STAKES = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8])
"""Shares of the largest bet that cannot ruin: timid ones see small rises, bold ones see large ones soon."""


class Monitor:
    """Watches the utilities of live queries and raises an alarm when their mean has risen above what was promised.

    While every utility, given those before it, has a mean no worse than the promise m, a gambler who bets on values
    above m cannot expect to win: each capital Π(1 + λ(u − m)) is a non-negative supermartingale. The monitor spreads a
    capital of 1 over several stakes λ and over all starting times j = 1, 2, … (a share of 1/(j(j+1)) waits for time j),
    so that a long good time does not delay the alarm by more than 2 ln j in the logarithm. That sum is a
    supermartingale too, and by Ville's inequality it ever reaches 1/α with probability at most α: the chance of a
    false alarm, over all time.

    Parameters
    ----------
    certificate
        What was promised; for a table, its best row.
    alpha
        Probability of a false alarm over all time.

    Attributes
    ----------
    promised
        The mean that was promised.
    count
        How many utilities were seen.
    evidence
        The capital against the promise; the alarm is raised when it reaches 1/alpha.
    alarm_at
        The number of the utility that raised the alarm, from 1; None before that.

    Raises
    ------
    InputError
        If the certificate is vacuous (no mean can break it) or `alpha` is not between 0 and 1.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(10, 10)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(400, graph.m))
    >>> holdout = rs.InstanceSet(graph, weights, sources=0, goal=99)
    >>> rho = 1.5 * rs.distances_to(graph, np.ones(graph.m), goal=99)
    >>> table = rs.certify(rho, holdout=holdout, algorithm="astar", utility=rs.utilities.Expansions(100))
    >>> monitor = rs.Monitor(table, alpha=0.01)
    >>> monitor.extend(rs.solve_many(holdout, rho).expanded)  # as before
    False
    >>> monitor.extend(rs.solve_many(holdout, 0.8 * rho).expanded)  # from the 401st on something is wrong
    True
    >>> monitor
    Monitor(alarm at 415, 800 seen, mean 46.377, promised 22.427)
    """

    def __init__(self, certificate: Certificate | CertificateTable, *, alpha: float = 0.01) -> None:
        if isinstance(certificate, CertificateTable):
            certificate = certificate.best
        if not isinstance(certificate, Certificate):
            raise InputError(f"certificate must be a Certificate or a table, got {type(certificate).__name__}")
        if certificate.vacuous:
            raise InputError("certificate promises no more than the range of the utility: nothing can break it")
        self.certificate, self.alpha = certificate, checks.probability(alpha, "alpha")
        self.promised, self.limit = certificate.value, certificate.limit
        # In terms of a loss within [0, 1] whose mean was promised to be at most m.
        self._flip = certificate.side == "lower"
        m = self.promised / self.limit
        self._m = 1 - m if self._flip else max(m, 0.0)
        largest = 1 / self._m if self._m > 0 else math.inf
        # A promised mean of 0 is broken by the first positive value: any stake may be lost, none is.
        self._bets: NDArray[np.float64] = _STAKES * min(largest, 1e12)
        self._capital = np.zeros(_STAKES.size)
        self.count, self._sum = 0, 0.0
        self.alarm_at: int | None = None
        self.evidence = 1.0

    @property
    def alarm(self) -> bool:
        """Whether the alarm was raised; it stays."""
        return self.alarm_at is not None

    @property
    def mean(self) -> float:
        """The mean of what was seen; NaN before the first."""
        return self._sum / self.count if self.count else math.nan

    def update(self, utility: float) -> bool:
        """Take the utility of one query and return whether the alarm is raised; values above the limit count as it.

        Raises
        ------
        UtilityError
            If the value is negative or NaN; the monitor then stays as it was.
        """
        value = float(utility)
        if not value >= 0:
            raise UtilityError(f"utility {self.count} must be at least 0, got {value}")
        clipped = min(value, self.limit)
        loss = clipped / self.limit
        loss = 1 - loss if self._flip else loss
        self.count += 1
        self._sum += clipped
        share = 1 / (self.count * (self.count + 1))
        with np.errstate(over="ignore"):
            self._capital = (self._capital + share) * (1 + self._bets * (loss - self._m))
        np.minimum(self._capital, 1e300, out=self._capital)
        self.evidence = float(self._capital.mean()) + 1 / (self.count + 1)
        if self.alarm_at is None and self.evidence >= 1 / self.alpha:
            self.alarm_at = self.count
        return self.alarm

    def extend(self, utilities: Iterable[Any]) -> bool:
        """Take many, one by one; return whether the alarm is raised."""
        for utility in utilities:
            self.update(utility)
        return self.alarm

    def __repr__(self) -> str:
        state = "quiet" if self.alarm_at is None else f"alarm at {self.alarm_at}"
        return f"Monitor({state}, {self.count} seen, mean {self.mean:.5g}, promised {self.promised:.5g})"
