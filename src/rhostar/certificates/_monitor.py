"""A certificate holds for the distribution that its instances came from; a monitor says when that has changed."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal

from rhostar import _arrays as arrays
from rhostar.bounds import _checks as checks
from rhostar.certificates._certificate import Certificate
from rhostar.certificates._evidence import Capital, Watched
from rhostar.certificates._sentence import percent
from rhostar.certificates._table import CertificateTable
from rhostar.errors import InputError, UtilityError

_NEXT = object()
"""Ends an iteration."""


class Monitor:
    """Watches the utilities of live queries and raises an alarm when they have become worse than was promised.

    It assumes that every utility, given those before it, has a mean no worse than the promise; ``print(monitor)`` says
    so. If that is true, the alarm is ever raised with probability at most α. A promise about the mean of a whole week
    does not imply it: at every rush hour the mean is higher, and the monitor will raise the alarm although nothing has
    changed. If your queries have a daily cycle, use one of these:

    - **by**: one promise for each category, such as the hour of the day, and one gambler for each.
    - **window**: the mean of a whole window, such as a day, counts as one value. The alarm then takes some windows.

    A promise about a quantile is watched too: by the share of answers that miss it. One about every answer is broken by
    the first answer that misses it. Where a certain bound on every answer served as the range of a mean, an answer
    beyond it raises the alarm at once.

    Parameters
    ----------
    certificate
        What was promised: a certificate, a table, or a mapping from categories to certificates. A table of
        ``certify(by=...)`` has one promise for each category, and so has the monitor.
    alpha
        Probability of a false alarm over all time.
    by
        Where `certificate` is the promise for each category alike: the categories, or how many there will be.
    window
        How many utilities make a window, in each category; or "label" if each utility comes with the label of its
        window, such as its day. A window is judged when it is full, or when the next label comes; in each category its
        mean is one value.

    Attributes
    ----------
    count
        How many utilities were seen.
    evidence
        The capital against the promise; the alarm is raised when it reaches 1/alpha. With k categories it is the mean
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
    >>> table = rs.certify(rho, holdout=holdout, algorithm="astar", utility=rs.utilities.Expansions(100))
    >>> monitor = rs.Monitor(table, alpha=0.01)
    >>> monitor.extend(rs.solve_many(holdout, rho).expanded)  # as before
    False
    >>> monitor.extend(rs.solve_many(holdout, 0.8 * rho).expanded)  # from the 401st on something is wrong
    True
    >>> monitor
    Monitor(alarm at 415, 800 seen, mean 46.377, promised 22.144)

    The same with one promise for each category, here day and night:

    >>> hours = np.where(np.arange(400) % 24 < 12, "night", "day")
    >>> table = rs.certify(rho, holdout=holdout, utility=rs.utilities.Expansions(100), by=hours)
    >>> monitor = rs.Monitor(table)
    >>> monitor.extend(rs.solve_many(holdout, rho).expanded, hours)
    False
    """

    def __init__(
        self,
        certificate: Certificate | CertificateTable | Mapping[Any, Certificate],
        *,
        alpha: float = 0.01,
        by: Iterable[Hashable] | int | None = None,
        window: int | Literal["label"] | None = None,
    ) -> None:
        self.alpha = checks.probability(alpha, "alpha")
        self.window = window if window in (None, "label") else arrays.integer(window, "window", 1)
        promises, self._most = _promises(certificate, by)
        self._for_all = certificate if isinstance(by, int) else None
        self._on_windows = self.window is not None
        self._watched = {
            category: Watched(promise, on_windows=self._on_windows) for category, promise in promises.items()
        }
        for promise in [*promises.values(), *([certificate] if self._for_all is not None else [])]:
            _check_kind(promise, self.window)
        self._together = Capital(on_windows=self._on_windows)
        self._label: Hashable = None
        self.count, self._sum = 0, 0.0
        self.evidence = 1.0
        self.alarm_at: int | None = None
        self.alarm_for: str | None = None

    @property
    def certificates(self) -> dict[str | None, Certificate]:
        """The promise of each category that is known; under None if there are no categories."""
        return {category: watched.certificate for category, watched in self._watched.items()}

    @property
    def promised(self) -> float | dict[str | None, float]:
        """The value that was promised; if there are categories, the value for each."""
        found = {category: promise.value for category, promise in self.certificates.items()}
        return found if self._most is not None else found[None]

    @property
    def alarm(self) -> bool:
        """Whether the alarm was raised; it stays."""
        return self.alarm_at is not None

    @property
    def mean(self) -> float:
        """The mean of what was seen, clipped where the promise is; NaN before the first."""
        return self._sum / self.count if self.count else math.nan

    @property
    def assumes(self) -> str:
        """What the probability of a false alarm rests on, in words."""
        given = "given those judged before it"
        if self.window is not None:
            size = "one label" if self.window == "label" else f"{self.window} utilities"
            what = f"the mean of every window of {size}, {given},"
        else:
            what = f"every utility, {given},"
        if self._most is None:
            has = self._watched[None].words
            if self.window is not None:
                has = has.replace("a mean of", "an expectation of").replace("a probability", "an expected share")
        else:
            has = "an expectation no worse than the promise of its category"
        cyclic = self.window is None and self._most is None and self._watched[None].m > 0
        cycle = _CYCLE if cyclic else ""
        return f"{what} has {has}.{cycle}"

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
        elif watched.in_window(loss) == self.window:
            self._judge(watched, watched.close())
        return self.alarm

    def extend(
        self,
        utilities: Iterable[Any],
        categories: Iterable[Hashable] | None = None,
        windows: Iterable[Hashable] | None = None,
    ) -> bool:
        """Take many, one by one, with categories and labels of windows; return whether the alarm is raised.

        Raises
        ------
        InputError
            If there are more or fewer categories or labels than utilities; those before have been taken.
        UtilityError
            As for :meth:`update`.
        """
        others = [None if given is None else iter(given) for given in (categories, windows)]
        for utility in utilities:
            labels = [None if given is None else next(given, _NEXT) for given in others]
            if _NEXT in labels:
                raise InputError("there must be one category and one label of a window for each utility")
            self.update(utility, *labels)
        if any(given is not None and next(given, _NEXT) is not _NEXT for given in others):
            raise InputError("there are more categories or labels of windows than utilities")
        return self.alarm

    def _of(self, category: Hashable) -> Watched:
        """Return what is watched for a category; a new one, if there is still room."""
        if self._most is None:
            if category is not None:
                raise InputError(f"this monitor has one promise for all and no categories, got {category!r}")
            return self._watched[None]
        if category is None:
            raise InputError(
                f"category must be given: there is one promise for each of {self._most} categories; "
                "Monitor(table.best) watches the weakest of them without categories"
            )
        key = str(category)
        if key not in self._watched:
            if self._for_all is None or len(self._watched) == self._most:
                known = ", ".join(map(str, list(self._watched)[:8]))
                raise InputError(f"category {key!r} is not one of the {self._most} that were fixed beforehand: {known}")
            assert isinstance(self._for_all, Certificate | CertificateTable)
            self._watched[key] = Watched(_one(self._for_all), on_windows=self._on_windows)
        return self._watched[key]

    def _close_all(self) -> None:
        for watched in self._watched.values():
            if watched.opened:
                self._judge(watched, watched.close())

    def _judge(self, watched: Watched, loss: float) -> None:
        watched.capital.bet(loss, watched.m)
        if self._most is None:
            self.evidence = watched.capital.value
        else:
            self._together.bet(loss, watched.m)
            waiting = self._most - len(self._watched)  # categories that were not seen yet still have a capital of 1
            capitals = sum(each.capital.value for each in self._watched.values())
            self.evidence = (capitals + waiting + self._together.value) / (self._most + 1)
        if self.alarm_at is None and self.evidence >= 1 / self.alpha:
            self.alarm_at = self.count
            worst = max(self._watched, key=lambda category: self._watched[category].capital.value)
            self.alarm_for = worst if self._watched[worst].capital.value >= self._together.value else None

    def __repr__(self) -> str:
        state = "quiet" if self.alarm_at is None else f"alarm at {self.alarm_at}"
        state += f" for {self.alarm_for}" if self.alarm_for is not None else ""
        if self._most is not None:
            return f"Monitor({state}, {self.count} seen in {arrays.counted(self._most, 'category', 'categories')})"
        (watched,) = self._watched.values()
        promise = watched.certificate
        if promise.statistic == "mean":
            return f"Monitor({state}, {self.count} seen, mean {self.mean:.5g}, promised {promise.value:.5g})"
        beyond = f"{'below' if promise.side == 'lower' else 'above'} {promise.value:.5g}"
        most = f"at most {percent(watched.m)}" if watched.m > 0 else "none"
        return f"Monitor({state}, {self.count} seen, {watched.total:.0f} {beyond}, promised {most})"

    def __str__(self) -> str:
        text = f"A false alarm has probability at most {self.alpha:g}, if {self.assumes}"
        return "\n".join([repr(self), *textwrap.wrap(text, 80)])


_CYCLE = " A daily cycle breaks this although nothing has changed: use by= or window= then."


def _promises(certificate: Any, by: Any) -> tuple[dict[str | None, Certificate], int | None]:
    """Return the promise of each category that is known, and how many categories there can be; None for none."""
    several: Mapping[Any, Certificate] | None = None
    if isinstance(certificate, Mapping):
        several = certificate
    elif isinstance(certificate, CertificateTable) and len(certificate.promises) > 1:
        several = {promise.where: promise for promise in certificate.promises}
    if several is not None:
        if by is not None:
            raise InputError("by must be left out: the certificates say which categories there are")
        if not several:
            raise InputError("certificate must have at least one category")
        return {str(category): promise for category, promise in several.items()}, len(several)
    one = _one(certificate)
    if by is None:
        return {None: one}, None
    if isinstance(by, int) and by is not True:
        Watched(one)  # refuses now what would be refused at the first utility
        return {}, arrays.integer(by, "by", 1)
    named = isinstance(by, Iterable) and not isinstance(by, str)
    categories = [str(category) for category in by] if named else []
    if not categories or len(set(categories)) < len(categories):
        raise InputError(f"by must be the categories, each once, or their number, got {by!r}")
    return dict.fromkeys(categories, one), len(categories)


def _one(certificate: Any) -> Certificate:
    return certificate.best if isinstance(certificate, CertificateTable) else certificate


def _check_kind(certificate: Any, window: Any) -> None:
    promise = _one(certificate)
    if promise.statistic == "every" and window is not None:
        raise InputError("a promise about every answer needs no window: the first answer that misses it breaks it")
    if promise.unit != "instance" and window is None:
        raise InputError(
            f"this promise is about the mean over new {promise.unit}s, each counting the same: give window= so that "
            f"each {promise.unit} is judged as one"
        )
