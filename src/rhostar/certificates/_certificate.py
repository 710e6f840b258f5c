"""A certificate: what is bounded, by which theorem, under which assumptions."""

from __future__ import annotations

import json
import math
import operator
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import partial
from typing import Any, Literal, TypeVar, get_args

from rhostar import _arrays as arrays
from rhostar._arrays import Algorithm
from rhostar._display import html_paragraphs, html_unfolding
from rhostar.certificates._sentence import THIS_RHO, outward, sentence
from rhostar.certificates._summary import summary
from rhostar.errors import InputError

Side = Literal["upper", "lower"]
Scope = Literal["this rho", "every rho", "every rho of the family"]
Role = Literal["guarantee", "certain", "comparison"]
Statistic = Literal["mean", "quantile", "every"]
_CHOSEN = {"Side": Side, "Scope": Scope, "Role": Role, "Statistic": Statistic, "Algorithm": Algorithm}
CHOICES = {name: get_args(kind) for name, kind in _CHOSEN.items()}
"""By the name of an annotation, the words that are accepted."""
SHARES = ("delta", "share", "clipped", "unsolved")
"""Fields between 0 and 1."""
Plain = TypeVar("Plain")


@dataclass(frozen=True)
class Certificate:
    """One bound on what happens on new instances, in three forms with the same meaning.

    ``certificate.summary`` is one line for readers without statistics, ``certificate.sentence`` has all conditions, and
    ``certificate.to_json()`` has the parts; :func:`json_schema` describes it. ``print(certificate)`` shows the first
    two, its theorem and its assumptions. It is immutable. Writing it as JSON and reading it back gives an equal
    certificate.

    Attributes
    ----------
    label
        The code of the bound, such as "H4 betting" or "U2".
    utility, subject
        What is bounded: its key, such as "suboptimality", and in words: "the mean cost above the optimum", or without
        "the mean" for single answers.
    algorithm, reopen, budget
        Which search was run: "astar" or "gbfs"; whether closed vertices are reopened, None where that makes no
        difference; the most expansions of a run, None for no limit.
    goals
        Where searches lead, in words: "to goal 7".
    heuristic, factor, candidates, chosen_here
        What guided it, in words: "this rho", or "this rho (scaled by 1.2)"; that factor; how many heuristics were
        compared on these instances, of which this one is the best; and whether it was chosen by looking at them.
    population
        Which instances it is about, in words.
    side, value
        What is bounded is at most ("upper") or at least ("lower") this value; inf where nothing is known.
    observed
        The bounded quantity on the instances that the bound was computed on; None where it was not measured or is not
        finite.
    limit
        H, where values are clipped at it; None where they are not.
    delta
        The bound, taken by itself, is wrong with at most this probability; 0 where it is certain.
    samples, unit
        How many independent draws it was computed on, and of what: instances, snapshots or groups.
    needed
        If the bound is far above what was measured: how many draws would bring it within a tenth of its range, if these
        draws are typical. None if the bound is near, or if the number is not known.
    holds_for
        For which heuristics the theorem holds at once, each with its own measurement.
    reference
        The theorem.
    role
        "guarantee" for the bound that was fixed beforehand; "certain" for one without probability; "comparison" for
        another bound, valid by itself if it had been chosen beforehand.
    statistic, share
        Whether the mean, a quantile or every answer is bounded; the share of answers that a quantile is about.
    optimal
        Whether it says that every answer is optimal, up to the rounding of sums.
    clipped
        The share of the instances whose value was above H; None where nothing is clipped.
    unsolved
        The share of the instances on which no path was found.
    conditions
        What else must hold on new instances, in words.
    assumptions
        What the theorem assumes, in words.
    measured
        What else went into it: ln K, 2R, the mean inconsistency and the like.
    goal, category
        The goal or category that it is about, where there are several; a goal has a category, too, such as "goal 7".
    """

    label: str
    utility: str
    subject: str
    algorithm: Algorithm
    population: str
    side: Side
    value: float
    observed: float | None
    limit: float | None
    delta: float
    samples: int
    holds_for: Scope
    reference: str
    goals: str = ""
    reopen: bool | None = True
    budget: int | None = None
    heuristic: str = THIS_RHO
    factor: float = 1.0
    candidates: int = 1
    chosen_here: bool = False
    role: Role = "comparison"
    statistic: Statistic = "mean"
    share: float | None = None
    optimal: bool = False
    clipped: float | None = None
    unsolved: float = 0.0
    unit: str = "instance"
    needed: int | None = None
    conditions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    measured: Mapping[str, float] = field(default_factory=dict)
    goal: int | None = None
    category: str | None = None

    @property
    def vacuous(self) -> bool:
        """Whether the bound says no more than the range [0, H]."""
        if self.side == "lower":
            return self.value <= 0
        return math.isinf(self.value) or (self.limit is not None and self.value >= self.limit)

    @property
    def summary(self) -> str:
        """The bound in one line, for readers without statistics."""
        return summary([self])

    @property
    def sentence(self) -> str:
        """The bound in one sentence with all its conditions."""
        return sentence(self)

    @property
    def weakness(self) -> str:
        """A sentence on how many draws would help, if the bound is far above what was measured; else empty."""
        if self.needed is None or math.isinf(self.value):
            return ""
        return (
            f"This is a weak guarantee, because it is based on only {arrays.counted(self.samples, self.unit)}. About "
            f"{self.needed:,} {self.unit}s would bring the bound within a tenth of the range of the measured value, if "
            "these are typical."
        )

    @property
    def claim(self) -> str:
        """The bound as a number, such as "<= 0.164"."""
        return f"{'<=' if self.side == 'upper' else '>='} {outward(self.value, self.side, 5)}"

    def __repr__(self) -> str:
        what = self.statistic if self.share is None else f"{self.share:g} quantile"
        where = f", {self.category}" if self.category else ""
        nothing = ", vacuous" if self.vacuous else ""
        return f"Certificate({self.label}: {what} {self.claim} for {self.holds_for}{where}{nothing})"

    @property
    def _details(self) -> list[str]:
        """What unfolds below the summary: the sentence, the theorem and what it assumes."""
        return [f"{self.label}: {self.sentence}", f"By {self.reference}. Assumed:", *self.assumptions]

    def __str__(self) -> str:
        said, theorem, *assumed = self._details
        lines = [line for text in (self.summary, self.weakness) for line in textwrap.wrap(text, 80)]
        lines += ["", *(line for text in (said, theorem) for line in textwrap.wrap(text, 80))]
        for text in assumed:
            lines += textwrap.wrap(text, 80, initial_indent="  - ", subsequent_indent="    ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_unfolding([self.summary, self.weakness], html_paragraphs(self._details))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON, with the summary and the sentence among them.

        Returns
        -------
        dict
            Plain values by name, as :func:`json_schema` describes them; an infinite `value` is None.
        """
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        value = self.value if math.isfinite(self.value) else None
        return plain | {"value": value, "summary": self.summary, "sentence": self.sentence}

    def to_json(self) -> str:
        """Return JSON; numbers come back bit for bit.

        Returns
        -------
        str
            JSON.
        """
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """Return the certificate that :meth:`to_dict` described.

        Parameters
        ----------
        values
            What :meth:`to_dict` returned.

        Returns
        -------
        Certificate

        Raises
        ------
        InputError
            If a field is missing, unknown or damaged.
        """
        given = values
        if _object(values):
            given = {name: value for name, value in values.items() if name not in ("summary", "sentence")}
            if given.get("value", 0) is None:
                given["value"] = math.inf
        found = from_plain(cls, given)
        if found.statistic == "quantile" and found.share is None:
            raise InputError("a certificate about a quantile must have a share")
        for name in SHARES:
            if (value := getattr(found, name)) is not None and not 0 <= value <= 1:
                raise InputError(f"{name} of a certificate must be between 0 and 1, got {value!r}")
        return found

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Return the certificate that :meth:`to_json` wrote.

        Parameters
        ----------
        text
            What :meth:`to_json` returned.

        Returns
        -------
        Certificate
        """
        return cls.from_dict(parse(text))


@dataclass(frozen=True)
class Dropped:
    """A bound that was not computed, and why."""

    label: str
    """The code of the bound."""
    reason: str
    """Why not, in words."""
    category: str | None = None
    """The category that it was for, if any."""


# ---------------------------------------------------------------- from JSON


def parse(text: str) -> Any:
    """Return what a JSON text holds, or raise :class:`InputError`."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"this is not JSON: {error}") from None


def _object(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not math.isnan(value) if isinstance(value, float) else abs(value) < 2**63


_FITS: dict[str, Callable[[Any], bool]] = {
    "str": lambda x: isinstance(x, str),
    "bool": lambda x: isinstance(x, bool),
    "int": lambda x: _number(x) and isinstance(x, int) and x >= 0,
    "float": _number,
    "None": lambda x: x is None,
    "tuple[str, ...]": lambda x: isinstance(x, list | tuple) and all(isinstance(text, str) for text in x),
    "Mapping[str, float]": lambda x: _object(x) and all(map(_number, x.values())),
    **{name: partial(operator.contains, words) for name, words in CHOICES.items()},
    **dict.fromkeys(("tuple[Certificate, ...]", "tuple[Dropped, ...]"), lambda x: isinstance(x, tuple)),
}
"""Whether a plain value fits a field, by the annotation of the field."""


def from_plain(cls: type[Plain], values: Any) -> Plain:
    """Return an object of a dataclass from plain values.

    Raises
    ------
    InputError
        If a field is missing, unknown, or has a value of another kind.
    """
    name = cls.__name__
    if not _object(values):
        raise InputError(f"a {name} must be a JSON object, got {type(values).__name__}")
    known = {entry.name: entry for entry in fields(cls)}  # type: ignore[arg-type]
    if unknown := [key for key in values if key not in known]:
        raise InputError(f"{name} has no field {unknown[0]!r}")
    for key, entry in known.items():
        if key not in values:
            if entry.default is MISSING and entry.default_factory is MISSING:
                raise InputError(f"{name} lacks its field {key!r}")
        elif not any(_FITS[kind](values[key]) for kind in str(entry.type).split(" | ")):
            raise InputError(f"{key} of a {name} must be of the kind {entry.type}, got {str(values[key])[:80]!r}")
    return cls(**{key: tuple(value) if isinstance(value, list) else value for key, value in values.items()})
