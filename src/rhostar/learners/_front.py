"""The trade-off among candidates: expansions against excess, for all candidates that no other one beats in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rhostar._display import LabeledRows, html_table, text_table
from rhostar.errors import StorageError
from rhostar.learners._validation import Candidate, estimate, undominated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_APART = 0.05
"""Rows of a table differ by at least this share of the expansions."""
_EACH = "what was chosen for each goal"
_HEAD = ("", "expansions", "mean excess", "99 % of paths", "learner")


@dataclass(frozen=True)
class FrontRow:
    """A candidate, judged on instances that it was not fitted on. Errors are standard errors over snapshots or days."""

    label: str
    expanded: float
    """Mean number of expansions."""
    expanded_error: float
    mean_excess: float
    """The mean share by which paths cost more than the optimum."""
    mean_excess_error: float
    excess_99: float
    """99 % of the paths cost at most this share more."""
    excess_99_error: float
    on_front: bool
    """Whether no other candidate has both fewer expansions and a lower mean excess."""
    chosen: bool
    """Whether it is the one that was chosen."""
    exact: bool
    """Whether its answers are always optimal where no weight is below the bounds."""

    def cells(self) -> tuple[str, ...]:
        """Return what a table shows."""
        return (
            "chosen" if self.chosen else "optimal" if self.exact else "",
            f"{self.expanded:,.1f} ± {self.expanded_error:,.1f}",
            f"{100 * self.mean_excess:.3f} % ± {100 * self.mean_excess_error:.3f}",
            f"{100 * self.excess_99:.2f} % ± {100 * self.excess_99_error:.2f}",
            self.label,
        )


class Front(LabeledRows[FrontRow]):
    """The trade-off that :func:`rhostar.learn` could choose from: expansions against mean excess, by cross-validation.

    ``print(front)`` shows the candidates that no other one beats in both expansions and mean excess, the fastest one
    whose answers are always optimal, and the one that was chosen. Iterating over it gives all candidates. To get
    another point, call ``learn`` with its mean excess.

    Parameters
    ----------
    rows
        The candidates.
    unit
        What errors are computed over: "snapshots" or "days".

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 3, size=(80, graph.m))
    >>> learned = rs.learn(rs.InstanceSet(graph, weights, sources=0, goal=63), mean_excess=0.01)
    >>> front = learned.front_
    >>> len(front) > len(front.best) > 3
    True
    >>> front.best[0].mean_excess, next(row for row in front if row.chosen).mean_excess < 0.01
    (0.0, True)
    """

    def __init__(self, rows: Sequence[FrontRow], unit: str = "snapshots") -> None:
        self.rows, self.unit = tuple(rows), unit

    @property
    def best(self) -> tuple[FrontRow, ...]:
        """Undominated candidates, each at least 5 % faster than the one before; also the exact and the chosen one."""
        exact = min((row.expanded for row in self.rows if row.exact), default=np.nan)
        shown: list[FrontRow] = []
        least = np.inf
        for row in sorted(self.rows, key=lambda row: -row.expanded):
            faster = row.on_front and row.expanded < (1 - _APART) * least
            if faster or row.chosen or (row.exact and row.expanded == exact):
                shown.append(row)
                least = min(least, row.expanded)
        return tuple(shown)

    @classmethod
    def of(cls, candidates: Sequence[Candidate], chosen: Candidate, unit: str = "snapshots") -> Front:
        """Return the front of candidates of A* that were judged on the same instances.

        Parameters
        ----------
        candidates
            Those that were judged.
        chosen
            The one that was chosen, one of them.
        unit
            As for the class.

        Returns
        -------
        Front
        """
        front = {id(one) for one in undominated(candidates)}
        rows = []
        for one in candidates:
            expanded, mean = estimate(one.expansions, one.groups), estimate(one.excess, one.groups)
            high, error = _quantile(one.excess, one.groups, 0.99)
            marks = {"on_front": id(one) in front, "chosen": one is chosen, "exact": one.bound == 0}
            rows.append(FrontRow(one.label, *expanded, *mean, high, error, **marks))
        return cls(rows, unit)

    @classmethod
    def over(cls, parts: Sequence[tuple[Sequence[Candidate], Front]]) -> Front:
        """Return the front of learners that were judged for several goals, each time with a front of its own.

        Parameters
        ----------
        parts
            For each goal, the candidates that were judged, and their front.

        Returns
        -------
        Front
            Of those that were judged for every goal, and what was chosen for each.
        """
        by_label = [{one.label: one for one in candidates} for candidates, _ in parts]
        common = [label for label in by_label[0] if all(label in found for found in by_label)]
        best = [
            next(one for one, row in zip(candidates, front, strict=True) if row.chosen) for candidates, front in parts
        ]
        joined = [_joined([found[label] for found in by_label]) for label in common]
        found = cls.of([*joined, _joined(best)], joined[0], parts[0][1].unit)
        *rows, last = found.rows
        return cls([*(replace(row, chosen=False) for row in rows), replace(last, label=_EACH, chosen=True)], found.unit)

    def __str__(self) -> str:
        rows = [row.cells() for row in self.best]
        width = max(len(row[-1]) for row in rows)
        table = text_table([(*row[:-1], row[-1].ljust(width)) for row in (_HEAD, *rows)])
        return f"{table}\n± standard errors over {self.unit}, by cross-validation"

    def _repr_html_(self) -> str:
        below = [f"± standard errors over {self.unit}, by cross-validation"]
        return html_table("What a mean excess saves", _HEAD, [row.cells() for row in self.best], below)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as a model file keeps it.

        Returns
        -------
        dict
        """
        return {"unit": self.unit, "rows": [asdict(row) for row in self.rows]}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Front:
        """Return the front that :meth:`to_dict` described.

        Parameters
        ----------
        given
            The plain values.

        Returns
        -------
        Front

        Raises
        ------
        StorageError
            If they are of another kind.
        """
        try:
            return cls([_row(one) for one in given["rows"]], str(given["unit"]))
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(f"the front is damaged ({type(error).__name__}: {error})") from None

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean excess and that of 99 % of the paths against expansions.

        Parameters
        ----------
        ax
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        if ax is None:
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=(7, 4), layout="constrained")
        best = self.best
        x = [row.expanded for row in best]
        sideways = [row.expanded_error for row in best]
        for name, color, what in (("mean_excess", "tab:blue", "mean"), ("excess_99", "tab:red", "99 % of paths")):
            y, error = ([100 * getattr(row, name + end) for row in best] for end in ("", "_error"))
            ax.errorbar(x, y, error, sideways, fmt="o-", ms=3, lw=1, elinewidth=0.7, color=color, label=what)
            for row in best:
                if row.chosen:
                    ax.plot(row.expanded, 100 * getattr(row, name), "o", ms=9, mfc="none", color=color)
        every = [row.expanded for row in self], [100 * row.mean_excess for row in self]
        ax.plot(*every, ".", ms=2, color="gray", label="mean, all compared")
        ax.set_xscale("log")
        ax.set_yscale("symlog", linthresh=0.1)
        ax.set_ylim(bottom=0)
        ax.set_xlabel("expansions per query")
        ax.set_ylabel("above the optimum (%)")
        ax.legend()
        return ax


def _joined(candidates: Sequence[Candidate]) -> Candidate:
    """Return a candidate that was judged on the instances of several."""
    expansions, excess, groups = (
        np.concatenate([getattr(one, name) for one in candidates]) for name in ("expansions", "excess", "groups")
    )
    means, bound = (float(expansions.mean()), float(excess.mean())), max(one.bound for one in candidates)
    return Candidate(candidates[0].learner, *means, bound, expansions, (), expansions, excess, groups)


def _row(given: Mapping[str, Any]) -> FrontRow:
    """Return a row of plain values; numbers that are not finite are text there."""
    kinds: dict[str, Any] = {"str": str, "float": float, "bool": bool}
    return FrontRow(**{one.name: kinds[str(one.type)](given[one.name]) for one in fields(FrontRow)})


def _quantile(values: NDArray[np.float64], groups: NDArray[np.int64], level: float) -> tuple[float, float]:
    """Return a quantile with its standard error: half the way between those at the level ± its own error (Woodruff)."""
    high = float(np.quantile(values, level, method="inverted_cdf"))
    error = estimate((values <= high).astype(np.float64), groups).error
    below, above = np.quantile(values, np.clip([level - error, level + error], 0, 1), method="inverted_cdf")
    return high, float(above - below) / 2
