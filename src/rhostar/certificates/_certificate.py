"""A certificate: what is promised, by which theorem, under which assumptions."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from rhostar.certificates._sentence import outward, sentence
from rhostar.errors import InputError

Scope = Literal["this rho", "every rho", "every rho of the family"]
Role = Literal["promise", "certain", "alone"]
Statistic = Literal["mean", "quantile", "every"]


@dataclass(frozen=True)
class Certificate:
    """One bound on what happens on new instances.

    ``print(certificate)`` shows the promise in one sentence, its theorem and its assumptions. It is immutable, and
    equal to itself after a round trip through JSON.
    """

    label: str
    """The key of the bound, such as "H4 betting" or "U2"."""
    subject: str
    """What is bounded, in words: "the mean cost above the optimum", or without "the mean" for single answers."""
    run: str
    """The search and its heuristic, in words."""
    population: str
    """Which instances it is about, in words."""
    side: Literal["upper", "lower"]
    value: float
    """What is bounded is at most (upper) or at least (lower) this."""
    observed: float | None
    """The bounded quantity itself on the instances that the bound was computed on; None where it was not measured."""
    limit: float | None
    """H, where values are clipped at it; None where they are not."""
    delta: float
    """The promise, taken by itself, is wrong with at most this probability; 0 where it is certain."""
    samples: int
    """How many independent draws it was computed on."""
    holds_for: Scope
    """For which heuristics the theorem holds at once, each with its own measurement."""
    reference: str
    """The theorem."""
    role: Role = "alone"
    """"promise" for the bound that was fixed beforehand; "certain" for one without probability; "alone" for what
    another bound would have promised in its place, with all of δ."""
    statistic: Statistic = "mean"
    share: float | None = None
    """The share of answers that a quantile is about."""
    clipped: float | None = None
    """The share of the instances whose value was above H; None where nothing is clipped."""
    unit: str = "instance"
    """What was drawn independently: an instance, a snapshot or a group."""
    conditions: tuple[str, ...] = ()
    """What must hold on new instances besides, in words."""
    assumptions: tuple[str, ...] = ()
    measured: Mapping[str, float] = field(default_factory=dict)
    """What else went into it: ln K, 2R, the mean inconsistency and the like."""
    goal: int | None = None
    """The goal that it is about, where there are several."""
    goal_label: str | None = None
    """The label of that goal, if vertices have labels."""
    category: str | None = None
    """The category that it is about."""

    @property
    def width(self) -> float:
        """How far the bound is from what was measured; inf where nothing was."""
        return math.inf if self.observed is None else abs(self.value - self.observed)

    @property
    def vacuous(self) -> bool:
        """Whether it says no more than the range [0, H] does."""
        if self.side == "lower":
            return self.value <= 0
        return math.isinf(self.value) or (self.limit is not None and self.value >= self.limit)

    @property
    def sentence(self) -> str:
        """What is promised, in one plain sentence."""
        return sentence(self)

    @property
    def claim(self) -> str:
        """The bound as a number, such as "<= 0.164"."""
        return f"{'<=' if self.side == 'upper' else '>='} {outward(self.value, self.side, 5)}"

    @property
    def where(self) -> str:
        """Its goal or category, where there are several."""
        if self.category is not None:
            return self.category
        name = self.goal if self.goal_label is None else self.goal_label
        return "" if self.goal is None else f"goal {name}"

    def __repr__(self) -> str:
        what = self.statistic if self.share is None else f"{self.share:g} quantile"
        where = f", {self.where}" if self.where else ""
        nothing = ", vacuous" if self.vacuous else ""
        return f"Certificate({self.label}: {what} {self.claim} for {self.holds_for}{where}{nothing})"

    def __str__(self) -> str:
        lines = [f"{self.label}: {self.sentence}", f"By {self.reference}. Assumed:"]
        lines = [line for text in lines for line in textwrap.wrap(text, 80)]
        for text in self.assumptions:
            lines += textwrap.wrap(text, 80, initial_indent="  - ", subsequent_indent="    ")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON, with the sentence among them."""
        plain = asdict(self) | {"measured": dict(self.measured)}
        plain |= {name: list(getattr(self, name)) for name in ("assumptions", "conditions")}
        return plain | {"sentence": self.sentence}

    def to_json(self) -> str:
        """Return JSON; numbers come back bit for bit."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Certificate:
        """Return the certificate that :meth:`to_dict` described.

        Raises
        ------
        InputError
            If a field is missing or unknown.
        """
        known = {name: value for name, value in values.items() if name != "sentence"}
        return cls(**from_plain(cls, known, assumptions=tuple, conditions=tuple))

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Return the certificate that :meth:`to_json` wrote."""
        return cls.from_dict(parsed(text))


@dataclass(frozen=True)
class Dropped:
    """A bound that was not computed, and why."""

    label: str
    reason: str
    goal: int | None = None
    goal_label: str | None = None


def parsed(text: str) -> Any:
    """Return the JSON object in a text, or raise :class:`InputError`."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise InputError(f"this is no JSON: {error}") from None
    if not isinstance(values, dict):
        raise InputError(f"a JSON object is expected, got {type(values).__name__}")
    return values


def from_plain(cls: type, values: Mapping[str, Any], **convert: Any) -> dict[str, Any]:
    """Return the arguments of a dataclass from plain values, refusing what does not fit."""
    known = {entry.name for entry in fields(cls)}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise InputError(f"{cls.__name__} has no field {unknown[0]!r}")
    found = {name: convert.get(name, lambda x: x)(value) for name, value in values.items()}
    for name in ("value", "delta"):
        if name in found and not (isinstance(found[name], int | float) and not math.isnan(found[name])):
            raise InputError(f"{name} must be a number, got {found[name]!r}")
    try:
        cls(**found)
    except TypeError as error:
        raise InputError(f"not a {cls.__name__}: {error}") from None
    return found
