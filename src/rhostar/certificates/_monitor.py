"""A certificate holds for the distribution that its instances came from; a monitor shows when that has changed."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal

from rhostar import _arrays as arrays
from rhostar.certificates._certificate import Certificate
from rhostar.certificates._evidence import Capital, Watched
from rhostar.certificates._sentence import percent
from rhostar.certificates._table import CertificateTable
from rhostar.errors import InputError, UtilityError

_MISSING = object()


class Monitor:
    """Watches the utilities of live queries and raises an alarm if they become worse than guaranteed.

    It assumes that every utility, given those before it, has a mean no worse than the guarantee; ``print(monitor)``
    says so. If that is true, the probability of ever raising the alarm is at most α. A guarantee for the mean of a
    whole week does not imply it. The alarm may then be raised although nothing has changed, for two reasons:

    - **A cycle**: at every rush hour the mean is higher.
    - **Dependence**: some days are bad from morning to night, so that after some bad answers more are to be expected,
      at any hour.

    There are two ways to prevent it:

    - **window**: the mean of a whole window, such as a day, counts as one value. That helps against both, if windows
      are independent. The alarm then takes some windows.
    - **by**: one guarantee for each category, such as the hour of the day, and one bettor for each. That helps
      against a cycle, not against dependence.

    A guarantee for a quantile is watched too: by the share of answers that miss it. One about every answer is broken by
    the first answer that misses it. If the range of a mean came from a certain bound on every answer, an answer beyond
    it raises the alarm at once.

    Parameters
    ----------
    certificate
        What was guaranteed: a certificate, a table, or a mapping from categories to certificates. A table of
        ``certify(by=...)`` has one guarantee for each category, and so has the monitor.
    alpha
        Probability of a false alarm over all time.
    by
        The categories, if `certificate` is the same guarantee for each of them.
    window
        How many utilities make a window, in each category; or "label" if each utility comes with the label of its
        window, such as its day. A window is judged when it is full, or when the next label comes; in each category its
        mean is one value.

    Attributes
    ----------
    count
        How many utilities were seen.
    evidence
        The capital against the guarantee; the alarm is raised when it reaches 1/alpha. With k categories it is the mean
        of k + 1 capitals: one for each category, one for all of them together.
    alarm_at
        The number of the utility that raised the alarm, from 1; None before that.
    alarm_for
        The category with most of the evidence at that time; None if they show it only together.

    Raises
    ------
    InputError
        If a certificate is vacuous (nothing can break it), is about snapshots or groups and there is no window, or an
        argument is out of range.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(10, 10)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(400, graph.m))
    >>> holdout = rs.InstanceSet(graph, weights, sources=0, goal=99)
    >>> rho = 1.5 * rs.distances_to(graph, np.ones(graph.m), goal=99)
    >>> table = rs.certify(rho, holdout, rs.utilities.Expansions(100))
    >>> monitor = rs.Monitor(table, alpha=0.01)
    >>> monitor.extend(rs.solve_many(holdout, rho).expanded)  # as before
    False
    >>> monitor.extend(rs.solve_many(holdout, 0.8 * rho).expanded)  # from the 401st on something is wrong
    True
    >>> monitor
    Monitor(alarm at 415, 800 seen, mean 46.377, guaranteed 22.023)

    The same with one guarantee for each category, here day and night:

    >>> hours = np.where(np.arange(400) % 24 < 12, "night", "day")
    >>> table = rs.certify(rho, holdout, rs.utilities.Expansions(100), by=hours)
    >>> monitor = rs.Monitor(table)
    >>> monitor.extend(rs.solve_many(holdout, rho).expanded, hours)
    False
    """

    def __init__(
        self,
        certificate: Certificate | CertificateTable | Mapping[Any, Certificate],
        *,
        alpha: float = 0.01,
        by: Iterable[Hashable] | None = None,
        window: int | Literal["label"] | None = None,
    ) -> None:
        self.alpha = arrays.probability(alpha, "alpha")
        self.window = window if window in (None, "label") else arrays.integer(window, "window", 1)
        on_windows = self.window is not None
        self._watched = {
            category: Watched(guarantee, on_windows=on_windows)
            for category, guarantee in _guarantees(certificate, by).items()
        }
        for watched in self._watched.values():
            _check_kind(watched.certificate, self.window)
        self._together = Capital(on_windows=on_windows)
        self._label: Hashable = None
        self.count, self._sum = 0, 0.0
        self.evidence = 1.0
        self.alarm_at: int | None = None
        self.alarm_for: str | None = None

    @property
    def certificates(self) -> dict[str | None, Certificate]:
        """The guarantee of each category that is known; under None if there are no categories."""
        return {category: watched.certificate for category, watched in self._watched.items()}

    @property
    def guaranteed(self) -> float | dict[str | None, float]:
        """The guaranteed value; if there are categories, the value for each."""
        found = {category: guarantee.value for category, guarantee in self.certificates.items()}
        return found.get(None, found)

    @property
    def alarm(self) -> bool:
        """Whether the alarm was raised; it is never reset."""
        return self.alarm_at is not None

    @property
    def mean(self) -> float:
        """The mean of what was seen, clipped where the guarantee is; NaN before the first."""
        return self._sum / self.count if self.count else math.nan

    @property
    def assumes(self) -> str:
        """What the probability of a false alarm depends on, in words."""
        given = "given those judged before it"
        if self.window is not None:
            size = "one label" if self.window == "label" else f"{self.window} utilities"
            what = f"the mean of every window of {size}, {given},"
        else:
            what = f"every utility, {given},"
        if None in self._watched:
            has = self._watched[None].words(windows=self.window is not None)
        else:
            has = "an expectation no worse than the guarantee of its category"
        if all(watched.m == 0 for watched in self._watched.values()):
            return f"{what} has {has}."
        broken = (
            _DEPENDENT_WINDOWS if self.window is not None else _DEPENDENT if None in self._watched else _IN_CATEGORY
        )
        return f"{what} has {has}. {broken}"

    def update(self, utility: float, category: Hashable = None, window: Hashable = None) -> bool:
        """Take the utility of one query and return whether the alarm is raised; values above the limit count as it.

        Parameters
        ----------
        utility
            The utility, at least 0.
        category
            Its category, if there are any.
        window
            The label of its window, if windows have labels.

        Returns
        -------
        bool
            Whether the alarm is raised.

        Raises
        ------
        UtilityError
            If the value is negative or NaN; the monitor then stays as it was.
        InputError
            If a category or label is missing, unknown or not expected; the monitor then stays as it was.
        """
        value = float(utility)
        if not value >= 0:
            raise UtilityError(f"utility {self.count} must be at least 0, got {value}")
        if (window is None) == (self.window == "label"):
            raise InputError("window must be given with every utility if, and only if, the monitor has window='label'")
        watched = self._of(category)
        if self.window == "label" and window != self._label:
            self._close_all()
            self._label = window
        self.count += 1
        self._sum += watched.shown(value)
        loss = watched.loss(value)
        watched.total += loss
        if self.window is None or math.isinf(loss):
            self._judge(watched, loss)
        else:
            watched.window.append(loss)
            if len(watched.window) == self.window:
                self._judge(watched, watched.close())
        return self.alarm

    def extend(
        self,
        utilities: Iterable[Any],
        categories: Iterable[Hashable] | None = None,
        windows: Iterable[Hashable] | None = None,
    ) -> bool:
        """Take many utilities, one by one, and return whether the alarm is raised.

        Parameters
        ----------
        utilities
            The utility of each query.
        categories, windows
            For each query its category and the label of its window, if there are any.

        Returns
        -------
        bool
            Whether the alarm is raised.

        Raises
        ------
        InputError
            If there are more or fewer categories or labels than utilities; those before have been taken.
        UtilityError
            As for :meth:`update`.
        """
        given: list[Iterable[Any]] = [utilities, *(labels for labels in (categories, windows) if labels is not None)]
        for values in itertools.zip_longest(*given, fillvalue=_MISSING):
            if _MISSING in values:
                raise InputError("there must be one category and one label of a window for each utility")
            utility, *labels = values
            self.update(utility, None if categories is None else labels[0], None if windows is None else labels[-1])
        return self.alarm

    def _of(self, category: Hashable) -> Watched:
        """Return what is watched for a category."""
        if None in self._watched:
            if category is not None:
                raise InputError(f"this monitor has one guarantee for all and no categories, got {category!r}")
            return self._watched[None]
        if category is None:
            raise InputError(
                f"category must be given: there is one guarantee for each of {len(self._watched)} categories; "
                "Monitor(table.best) watches the weakest of them without categories"
            )
        if str(category) not in self._watched:
            known = f"{len(self._watched)} that were fixed beforehand: {', '.join(map(str, list(self._watched)[:8]))}"
            raise InputError(f"category {str(category)!r} is not one of the {known}")
        return self._watched[str(category)]

    def _close_all(self) -> None:
        for watched in self._watched.values():
            if watched.window:
                self._judge(watched, watched.close())

    def _judge(self, watched: Watched, loss: float) -> None:
        watched.capital.bet(loss, watched.m)
        if None in self._watched:
            self.evidence = watched.capital.value
        else:
            self._together.bet(loss, watched.m)
            capitals = sum(each.capital.value for each in self._watched.values())
            self.evidence = (capitals + self._together.value) / (len(self._watched) + 1)
        if self.alarm_at is None and self.evidence >= 1 / self.alpha:
            self.alarm_at = self.count
            worst = max(self._watched, key=lambda category: self._watched[category].capital.value)
            self.alarm_for = worst if self._watched[worst].capital.value >= self._together.value else None

    def __repr__(self) -> str:
        state = "quiet" if self.alarm_at is None else f"alarm at {self.alarm_at}"
        state += f" for {self.alarm_for}" if self.alarm_for is not None else ""
        if None not in self._watched:
            number = arrays.counted(len(self._watched), "category", "categories")
            return f"Monitor({state}, {self.count} seen in {number})"
        watched = self._watched[None]
        guarantee = watched.certificate
        if guarantee.statistic == "mean":
            return f"Monitor({state}, {self.count} seen, mean {self.mean:.5g}, guaranteed {guarantee.value:.5g})"
        beyond = f"{'below' if guarantee.side == 'lower' else 'above'} {guarantee.value:.5g}"
        most = f"at most {percent(watched.m, 'upper')}" if watched.m > 0 else "none"
        return f"Monitor({state}, {self.count} seen, {watched.total:.0f} {beyond}, guaranteed {most})"

    def __str__(self) -> str:
        text = f"A false alarm has probability at most {self.alpha:g}, if {self.assumes}"
        return "\n".join([repr(self), *textwrap.wrap(text, 80)])


_DEPENDENT = (
    "Two things break this although nothing has changed: a daily cycle, since the mean is higher at some hours, and "
    "dependence, such as days that are bad from morning to night, since after bad answers more are to be expected. "
    "Use window= (such as a day) then, or by= (such as the hour) against the cycle."
)
_IN_CATEGORY = (
    "Dependence breaks this although nothing has changed: on a day that is bad from morning to night, after some bad "
    "answers more are to be expected. Use window= (such as a day) then."
)
_DEPENDENT_WINDOWS = (
    "Dependence between windows breaks this, such as bad weeks where a window is a day, and so does a cycle that is "
    "longer than a window. Take longer windows then."
)


def _guarantees(certificate: Any, by: Any) -> dict[str | None, Certificate]:
    """Return the guarantee of each category; under None if there are no categories."""
    several: Mapping[Any, Certificate] | None = certificate if isinstance(certificate, Mapping) else None
    if isinstance(certificate, CertificateTable) and len(certificate.guarantees) > 1:
        several = {guarantee.category: guarantee for guarantee in certificate.guarantees}
    if several is not None:
        if by is not None:
            raise InputError("by must be left out: the certificates say which categories there are")
        if not several:
            raise InputError("certificate must have at least one category")
        return {str(category): guarantee for category, guarantee in several.items()}
    one = certificate.best if isinstance(certificate, CertificateTable) else certificate
    if by is None:
        return {None: one}
    named = isinstance(by, Iterable) and not isinstance(by, str)
    categories = [str(category) for category in by] if named else []
    if not categories or len(set(categories)) < len(categories):
        raise InputError(f"by must be the categories, each once, got {by!r}")
    return dict.fromkeys(categories, one)


def _check_kind(guarantee: Certificate, window: Any) -> None:
    if guarantee.statistic == "every" and window is not None:
        raise InputError("a guarantee for every answer needs no window: the first answer that exceeds it violates it")
    if guarantee.unit != "instance" and window is None:
        raise InputError(
            f"this guarantee is about the mean over new {guarantee.unit}s, each counting the same: give window= so "
            f"that each {guarantee.unit} is judged as one"
        )
