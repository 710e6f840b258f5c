"""How a router counts work, and how it explains what it did.

The unit is one expansion of Dijkstra's search. What other operations cost in this unit was measured on generated
cities of 40,000 to a million crossings and on a grid of 300 by 300 cells, by processor time; ``make bench-router``
measures it again. A choice that rests on counts is the same on every machine and in every run; on another machine the
rates may be off by some factor, and then the bound of two becomes one of two times that factor.
"""

from __future__ import annotations

from typing import NamedTuple

from rhostar._arrays import counted

GUIDED = 2.0
"""An expansion with a heuristic that is computed for every goal, or with the distances of a customized hierarchy."""
TABLE = 1.0
"""An expansion with a table, or without a heuristic."""
PER_ARC, PER_TRIANGLE = 0.085, 0.004
"""Customizing, for each arc of the hierarchy, and for each pair of arcs that begin at one vertex."""
GUESS_PER_VERTEX = 0.5
"""Customizing, for each vertex, as long as the hierarchy has not been built and its arcs are not known."""
UPDATE, UPDATE_PER_EDGE = 0.1, 0.005
"""Following an update of some edges, as a share of customizing in full: the copy, and each edge."""

ON_ROUTES = 2.0
"""Following a change of edges that routes use, as a multiple of one of any edges: more arcs stand for them."""


def following(edges: int, m: int) -> float:
    """Return the work of following an update of some of m edges, as a share of customizing in full."""
    return UPDATE + edges * max(UPDATE_PER_EDGE, 100 / max(m, 1))  # in a small graph, every edge concerns much of it


class Explanation(NamedTuple):
    """What a router did with the current weights, and why; ``print`` shows it in words."""

    engine: str
    """What answers the next query: "search" or "hierarchy"."""
    heuristic: str
    """What guides searches."""
    searches: int
    """Searches since the last update."""
    spent: float
    """Their work, in expansions of Dijkstra's search."""
    customizing: float
    """The work of customizing the hierarchy, in the same unit."""
    order: str
    """Whether the order of the vertices has been built, and how long it took; or why there is no hierarchy."""
    guarantee: str
    """What holds for the costs of routes."""
    certificate: str | None
    """What the certificate of the heuristic says."""

    def __str__(self) -> str:
        if self.engine == "hierarchy":
            now = "The hierarchy is customized to these weights and answers all queries."
        else:
            now = f"Queries are answered by searches ({self.heuristic})."
        lines = [
            now,
            f"Since the last update {counted(self.searches, 'search', 'searches')} took {self.spent:,.0f} expansions; "
            f"customizing takes as much work as {self.customizing:,.0f}.",
            self.order,
            self.guarantee,
        ]
        return "\n".join([*lines, *([] if self.certificate is None else [f"Certificate: {self.certificate}"])])
