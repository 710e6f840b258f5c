"""The arguments of `certify`, checked, and all that is known about a goal before any utility is measured."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rhostar.bounds import Capacity
from rhostar.certificates._assumptions import Bounds
from rhostar.certificates._certificate import Scope
from rhostar.certificates._sentence import running
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
    quantile: float | None = None
    candidates: int = 1
    random_state: int = 0
    labels: Sequence[Hashable] | None = None
    """The names of the vertices, if they have any."""

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

    def run(
        self, goals: Sequence[int], category: str = "", *, every: bool = False, chosen_on_these: bool = False
    ) -> str:
        """Return the search, its goals (drawn as these were, or every one of them) and its heuristic, in words."""
        several = f"to any of these {len(goals)} goals" if every else f"to goals drawn as these {len(goals)} were"
        where = f"to goal {self.name_of(goals[0])}" if len(goals) == 1 else several
        if category.startswith("goal "):
            vertex = category.removeprefix("goal ")
            where = f"to goal {self.name_of(int(vertex)) if vertex.isdigit() else vertex}"
        elif category:
            where += f" in category {category}"
        return running(
            self.algorithm,
            reopen=self.reopen,
            budget=self.budget,
            where=where,
            candidates=1 if chosen_on_these else self.candidates,
            chosen_on_these=chosen_on_these,
        )

    def name_of(self, vertex: int) -> Hashable:
        """Return the label of a vertex, or its number if there are no labels."""
        return vertex if self.labels is None or vertex >= len(self.labels) else self.labels[vertex]

    @property
    def flip(self) -> bool:
        """Whether higher is better, so that the loss is H − u."""
        return self.utility.better == "higher"

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

    @property
    def per_answer(self) -> bool:
        """Whether every single answer has a bound (U5): the suboptimality of A* with reopening and no budget."""
        return self.through_inconsistency and self.reopen

    def largest_g(self, n: int) -> float | None:
        """Return the largest cost of a path, if weights are integers; 0 for greedy search, which adds no costs to ρ."""
        if self.algorithm == "gbfs":
            return 0.0
        return None if self.integer_weights is None else float((n - 1) * self.integer_weights)


@dataclass(frozen=True, eq=False)
class Setting:
    """What is known of one goal and its training instances before any utility is seen; bounds are chosen by it."""

    request: Request
    graph: Graph
    goal: int
    stated: Bounds
    caps: NDArray[np.float64]
    """D by edge: U2 is about the ρ that rise by no more than this along each edge; inf where nothing is known."""
    caps_given: bool
    """Whether these caps came from other data, and are not the largest possible weights."""
    excess: float
    """No answer is further above the optimum than this, for every ρ below the caps; inf where nothing says so."""
    delta: float
    """The share of δ that this goal has."""
    samples: int
    """How many training instances there are."""
    rows: tuple[Capacity, ...]
    """How many runs the family has."""
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
        """Whether any edge has a cap."""
        return bool(np.isfinite(self.caps).any())

    @property
    def rounding_assumed(self) -> tuple[str, ...]:
        """What a bound through inconsistency must assume where the rounding of g has no bound."""
        return rounding_assumed(self.stated, exact=self.exact)


ROUNDS = "comparisons of g + rho are exact, although float64 sums round"
"""Assumed where nothing says how far g goes."""


def weights_assumed(stated: Bounds, *, exact: bool) -> tuple[str, ...]:
    """Return what a bound that is certain assumes about the weights of new instances."""
    above = ("no weight is ever above its stated largest",) if stated.bounded and not exact else ()
    return (*stated.conditions, *above, *stated.integers_assumed, *rounding_assumed(stated, exact=exact))


def rounding_assumed(stated: Bounds, *, exact: bool) -> tuple[str, ...]:
    """Return what must be assumed where sums round and nothing says how far g goes."""
    return () if exact or stated.bounded else (ROUNDS,)


def rounding(stated: Bounds, rho: NDArray[np.float64], limit: float, *, exact: bool) -> float:
    """Return by how much cost − opt may exceed its bound as sums round; without largest weights, as those with ρ do.

    With u = 2⁻⁵³, G the largest g and R the largest |ρ|, a score is off by at most u(G + R), so along the proof of
    L1 each of at most n edges adds 2u(G + R). The sums of a path and of S* add uG each, Δ clipped at H adds
    u(4R + H), and the differences of ρ that are compared with caps u(R + G). The proof of U5 compares scores once and
    adds up a path of the least weights: that is less.
    """
    if exact:
        return 0.0
    largest_g = (rho.size - 1) * float(stated.caps.max()) if stated.bounded else 0.0
    return 8 * rho.size * 2.0**-53 * (largest_g + float(np.abs(rho).max()) + limit)
