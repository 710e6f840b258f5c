"""The arguments of `certify`, checked, and all that is known about a goal before any utility is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rhostar.bounds import Capacity
from rhostar.certificates._assumptions import Bounds
from rhostar.certificates._certificate import Scope
from rhostar.graph import Graph
from rhostar.search import Algorithm
from rhostar.utilities import SolvedWithin, Suboptimality, Utility


@dataclass(frozen=True)
class Request:
    """What was asked for, checked."""

    algorithm: Algorithm
    reopen: bool
    budget: int | None
    utility: Utility
    integer_weights: int | None
    out_degree: int | None
    delta: float

    @property
    def title(self) -> str:
        """Heads the table."""
        how = (
            "greedy best-first search"
            if self.algorithm == "gbfs"
            else "A*" + ("" if self.reopen else " without reopening")
        )
        limit = "" if self.budget is None else f", at most {self.budget} expansions"
        return f"{self.utility.name} of {how}{limit}, H = {self.utility.limit:g}, delta = {self.delta:g}"

    @property
    def subject(self) -> str:
        """What is bounded, in a sentence."""
        how = "greedy best-first search" if self.algorithm == "gbfs" else "A*"
        return f"the mean {self.utility.name} (clipped at {self.utility.limit:g}) of {how}"

    @property
    def binary(self) -> bool:
        """Whether the utility is 0 or H and nothing between."""
        return isinstance(self.utility, SolvedWithin)

    @property
    def of_excess(self) -> bool:
        """Whether the suboptimality of A* is asked for."""
        return self.algorithm == "astar" and isinstance(self.utility, Suboptimality)

    @property
    def through_inconsistency(self) -> bool:
        """Whether the claim follows from inconsistency (L1): the suboptimality of A* without a budget."""
        return self.of_excess and self.budget is None

    def largest_g(self, n: int) -> float | None:
        """Return the largest cost of a path, if weights are integers; 0 for greedy search, which adds no costs to ρ."""
        if self.algorithm == "gbfs":
            return 0.0
        return None if self.integer_weights is None else float((n - 1) * self.integer_weights)


@dataclass(frozen=True, eq=False)
class Setting:
    """What is known of one goal before any utility is seen: all that bounds are chosen by."""

    request: Request
    graph: Graph
    goal: int
    stated: Bounds
    delta: float
    """The share of δ that this goal has."""
    samples: Mapping[str, int]
    """How many instances there are in "train" and "holdout", as far as they are given."""
    rows: tuple[Capacity, ...]
    """How many runs the family has; empty without "train"."""
    scope: Scope
    """For whom a bound on train holds."""
    exact: bool
    """Whether no sum g + ρ rounds."""

    @property
    def limit(self) -> float:
        """H."""
        return self.request.utility.limit

    @property
    def caps_known(self) -> bool:
        """Whether every weight has a largest value that is known."""
        return self.stated.bounded

    @property
    def rounding_assumed(self) -> tuple[str, ...]:
        """What a bound through inconsistency must assume where the rounding of g has no bound."""
        return () if self.exact or self.caps_known else (ROUNDS,)


ROUNDS = "comparisons of g + rho are exact, although float64 sums round"
"""Assumed where nothing says how far g goes."""
