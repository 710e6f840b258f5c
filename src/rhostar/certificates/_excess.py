"""What is certain about every single answer of A*, without a distribution: it is optimal (U3), or not far above (U5).

With reopening and without a budget, on every instance whose weights are at least `lower`,

    cost − opt ≤ B = max over v of (ρ_v − ρ_t − dist_lower(v, t))⁺.

If the answer is not optimal, then at the moment t is selected some vertex v of an optimal path is in OPEN with its true
cost g*_v. So cost + ρ_t ≤ g*_v + ρ_v, and opt = g*_v + dist(v, t) ≥ g*_v + dist_lower(v, t). Without reopening that
argument fails, and so does the bound: an admissible ρ that is not consistent has B = 0 and may be suboptimal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._measure import Search, Tables, goal_words
from rhostar.errors import ArrayError, InputError
from rhostar.graph import Graph
from rhostar.heuristics import Heuristic
from rhostar.search import distances_to
from rhostar.utilities import Utility

# Assumed where nothing says how large g can get.
ROUNDS = "comparisons of g + rho are exact, although float64 sums round"


@dataclass(frozen=True, eq=False)
class WeightBounds:
    """What the user says about the weights of all instances, given and to come.

    Attributes
    ----------
    lower, upper
        One number, or one for each edge.
    integers
        ℓ, where weights are integers in {0..ℓ}.
    given
        Whether anything was said.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    integers: int | None
    given: bool

    @property
    def caps(self) -> NDArray[np.float64]:
        """The largest possible weight of each edge; an integer where weights are."""
        return self.upper if self.integers is None else np.minimum(np.floor(self.upper), float(self.integers))

    @property
    def bounded(self) -> bool:
        """Whether every weight has a largest value that is known."""
        return bool(np.isfinite(self.caps).all())

    @property
    def conditions(self) -> tuple[str, ...]:
        """What must hold on new instances for a bound that is certain; nothing where the lower bounds are 0."""
        return ("no weight falls below its lower bound",) if (self.lower > 0).any() else ()

    @property
    def integers_assumed(self) -> tuple[str, ...]:
        """What is assumed besides where weights are integers."""
        return () if self.integers is None else (f"all weights are integers in 0..{self.integers} (checked here)",)

    def rounding_assumed(self, *, exact: bool) -> tuple[str, ...]:
        """Return what must be assumed where sums round and nothing says how large g can get."""
        return () if exact or self.bounded else (ROUNDS,)

    def assumed(self, *, exact: bool) -> tuple[str, ...]:
        """Return what a bound that is certain assumes about the weights of new instances."""
        above = ("no weight rises above its upper bound",) if self.bounded and not exact else ()
        return (*self.conditions, *above, *self.integers_assumed, *self.rounding_assumed(exact=exact))

    def rounding(self, rho: NDArray[np.float64], limit: float, *, exact: bool) -> float:
        """Return by how much cost − opt may exceed its bound as sums round; without upper bounds, as those with ρ do.

        With u = 2⁻⁵³, G the largest g and R the largest |ρ|, a score is off by at most u(G + R), so along the proof of
        L1 each of at most n edges adds 2u(G + R). The sums of a path and of S* add uG each, Δ clipped at H adds
        u(4R + H), and the differences of ρ that are compared with caps u(R + G). The proof of U5 compares scores once
        and adds up a path of the lower bounds: that is less.
        """
        if exact:
            return 0.0
        largest_g = (rho.size - 1) * float(self.caps.max()) if self.bounded else 0.0
        return 8 * rho.size * 2.0**-53 * (largest_g + float(np.abs(rho).max()) + limit)


def weight_bounds(lower: Any, upper: Any, integer_weights: int | None, m: int) -> WeightBounds:
    """Return what the three arguments say, or raise :class:`InputError`."""
    integers = None if integer_weights is None else arrays.integer(integer_weights, "integer_weights", 1)
    low = by_edge(0.0 if lower is None else lower, "lower", m)
    high = by_edge(np.inf if upper is None else upper, "upper", m)
    bad = np.broadcast_to(~((low >= 0) & (low <= high) & np.isfinite(low)), m)
    if bad.any():
        e = int(np.argmax(bad))
        raise InputError(
            f"the bounds on weights must satisfy 0 <= lower <= upper, and lower must be finite: edge {e} has lower "
            f"{low[e % low.size]} and upper {high[e % high.size]}"
        )
    return WeightBounds(low, high, integers, not (lower is None and upper is None and integers is None))


def by_edge(value: ArrayLike, name: str, m: int) -> NDArray[np.float64]:
    """Return one number, or one for each edge, or raise :class:`ArrayError`."""
    wanted = f"{name} must be one number, or one for each of the {m} edges"
    try:
        array = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise ArrayError(f"{wanted}, got {value!r}") from None
    if array.shape not in ((1,), (m,)) or np.isnan(array).any():
        raise ArrayError(f"{wanted}, got shape {array.shape}{' with NaN' if np.isnan(array).any() else ''}")
    return np.ascontiguousarray(array)


def largest_excess(graph: Graph, rho: ArrayLike, goal: int, lower: ArrayLike) -> float:
    """Return B: by how much any answer of A* with reopening can exceed the optimum where weights are at least `lower`.

    Parameters
    ----------
    graph
        The graph.
    rho
        Heuristic values, one per vertex.
    goal
        The goal.
    lower
        A lower bound on the weight of each edge, or one number for all; inf for edges that are always absent.

    Returns
    -------
    float
        B, for exact sums. Vertices that can never reach the goal do not count.

    Raises
    ------
    VertexError, ArrayError, HeuristicError, WeightError
        If an argument cannot be used.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(5, 5)
    >>> lower = np.ones(graph.m)
    >>> exact = rs.distances_to(graph, lower, goal=24)
    >>> from rhostar.certificates import largest_excess
    >>> largest_excess(graph, exact, 24, lower), largest_excess(graph, 1.5 * exact, 24, lower)
    (0.0, 4.0)
    """
    goal = arrays.vertex(goal, "goal", graph.n)
    table = arrays.per_vertex(rho, "rho", graph.n)
    return float(np.maximum(table - table[goal] - _distances(graph, goal, lower), 0.0).max())


def limited_excess(graph: Graph, rho: ArrayLike, goal: int, lower: ArrayLike, most: float) -> NDArray[np.float64]:
    """Return ρ lowered so that no answer exceeds the optimum by more than `most` where weights are at least `lower`.

    ρ′_v = min(ρ_v, ρ_t + dist_lower(v, t) + most): the largest ρ′ ≤ ρ with B ≤ `most`.

    Parameters
    ----------
    graph, rho, goal, lower
        As for :func:`largest_excess`.
    most
        The excess that is allowed, at least 0.

    Returns
    -------
    ndarray

    Raises
    ------
    InputError
        If `most` is negative or not finite.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates import largest_excess, limited_excess
    >>> graph = rs.Graph.grid(5, 5)
    >>> lower = np.ones(graph.m)
    >>> rho = limited_excess(graph, 1.5 * rs.distances_to(graph, lower, goal=24), 24, lower, most=1.0)
    >>> largest_excess(graph, rho, 24, lower)
    1.0
    """
    goal = arrays.vertex(goal, "goal", graph.n)
    table = arrays.per_vertex(rho, "rho", graph.n)
    most = arrays.number(most, "most", "finite and not negative", lambda x: 0 <= x < np.inf)
    return np.minimum(table, table[goal] + _distances(graph, goal, lower) + most)


def most_excess_below(graph: Graph, goal: int, caps: NDArray[np.float64], lower: NDArray[np.float64]) -> float:
    """Return the largest B of any ρ with ρ_v − ρ_c ≤ D on every edge: max over v of dist_D(v, t) − dist_lower(v, t).

    Such a ρ has ρ_v − ρ_t ≤ dist_D(v, t). It is inf where a vertex reaches the goal only by edges without a cap.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._excess import most_excess_below
    >>> graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    >>> most_excess_below(graph, 2, np.array([1.5, 2.0]), np.array([1.0]))
    1.5
    """
    lowest = _distances(graph, goal, lower)
    reaching = np.isfinite(lowest)
    return float(np.max(np.maximum(_distances(graph, goal, caps)[reaching] - lowest[reaching], 0.0), initial=0.0))


def _distances(graph: Graph, goal: int, weights: ArrayLike) -> NDArray[np.float64]:
    by_edge = np.broadcast_to(np.asarray(weights, dtype=np.float64), (graph.m,))
    return distances_to(graph, np.ascontiguousarray(by_edge), goal)


# ---------------------------------------------------------------- differences of ρ along edges


def exceeding(graph: Graph, rho: NDArray[np.float64], caps: NDArray[np.float64], goal: int) -> NDArray[np.bool_]:
    """Return for each edge whether ρ_v − ρ_c is above the cap; edges that leave the goal do not count."""
    return (rho[graph.tail] > rho[graph.head] + caps) & (graph.tail != goal)


def project(graph: Graph, rho: NDArray[np.float64], caps: NDArray[np.float64], goal: int) -> NDArray[np.float64]:
    """Return the largest ρ′ ≤ ρ with ρ′_v − ρ′_c ≤ D on every edge that does not leave the goal, whose value stays.

    This is the class that U2 is about. Caps are at least 0. ρ′_v = min_u (ρ_u + dist_D(v, u)): distances to one more
    vertex, to which every vertex has an edge.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> from rhostar.certificates._excess import project
    >>> graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    >>> project(graph, np.array([9.0, 5.0, 0.0]), np.array([2.0]), goal=2).tolist()
    [4.0, 2.0, 0.0]
    """
    caps = np.broadcast_to(caps, graph.m)
    if not exceeding(graph, rho, caps, goal).any():
        return rho
    kept = graph.tail != goal
    n, lowest = graph.n, float(rho.min())
    tail = np.concatenate([graph.tail[kept], np.arange(n, dtype=np.int32)])
    head = np.concatenate([graph.head[kept], np.full(n, n, dtype=np.int32)])
    wider = Graph.from_edges(n + 1, tail, head)
    distance = distances_to(wider, wider.arrange(np.concatenate([caps[kept], rho - lowest])), goal=n)
    result = np.minimum(rho, distance[:n] + lowest)
    result[goal] = rho[goal]
    while True:  # what rounding left over the cap; ends at once, or nearly
        over = exceeding(graph, result, caps, goal)
        if not over.any():
            return result
        np.minimum.at(result, graph.tail[over], result[graph.head[over]] + caps[over])


# ---------------------------------------------------------------- certificates about every answer


class Excess(NamedTuple):
    """How far any answer can be above the optimum (U5): for exact sums, and with what rounding may add."""

    exact: float
    most: float


def bound_excess(
    heuristic: Heuristic, tables: Tables, graph: Graph, stated: WeightBounds, limit: float, *, exact: bool
) -> Excess | None:
    """Return U5 for A* with reopening, for the worst of the goals; None where it is not known.

    Parameters
    ----------
    heuristic, tables
        The heuristic and its tables.
    graph, stated
        The graph, and what is known of the weights.
    limit
        H.
    exact
        Whether no sum g + ρ rounds for the goals that were measured.
    """
    if tables.computed:
        weights = heuristic.consistent_for
        if weights is None or heuristic.uses_weights or not (weights <= stated.lower).all():
            return None
        # Values that are consistent for ŵ ≤ lower never overestimate, and none is above the sum of all ŵ.
        longest = np.full(graph.n, float(weights[np.isfinite(weights)].sum()))
        return Excess(0.0, stated.rounding(longest, limit, exact=False))
    if tables.others is None:
        return None
    exact = exact and not tables.others
    found = [
        (largest_excess(graph, rho, goal, stated.lower), stated.rounding(rho, limit, exact=exact))
        for goal, rho in (tables.measured | tables.others).items()
    ]
    return Excess(max(excess for excess, _ in found), max(excess + rounding for excess, rounding in found))


def bound_every_answer(
    tables: Mapping[int, NDArray[np.float64]],
    goals: Sequence[int],
    graph: Graph,
    stated: WeightBounds,
    utility: Utility,
    search: Search,
    excess: Excess | None,
    largest: float,
    *,
    exact: bool,
) -> tuple[list[Certificate], list[Dropped]]:
    """Return the rows U3 and U5, and why one is missing.

    Parameters
    ----------
    tables
        ρ by goal; empty where it is computed.
    goals
        The goals that occur.
    graph, stated, utility, search
        What was asked for, and what is known of the weights.
    excess
        U5, where it is known.
    largest
        The largest excess that was seen.
    exact
        Whether no sum g + ρ rounds.
    """
    if not search.measures_excess(utility) or not stated.given:
        return [], []
    if search.budget is not None:
        return [], [Dropped("U3", "a run that a budget ends has no bound through inconsistency")]
    rows: list[Certificate] = []
    dropped: list[Dropped] = []

    def add(label: str, value: float, reference: str, *, optimal: bool, **more: Any) -> None:
        if largest > value:  # possible only where nothing says how far sums round
            seen = f"an answer was {largest:.6g} above the optimum"
            dropped.append(Dropped(label, f"{seen}: sums round by more than was assumed"))
            return
        rows.append(
            Certificate(
                label=label,
                subject=utility.quantity,
                **search.fields,
                goals=goal_words(graph, goals, every=True),
                population="on every instance",
                side="upper",
                value=value,
                observed=largest,
                limit=None,
                delta=0.0,
                samples=0,
                holds_for="this rho",
                reference=reference,
                role="certain",
                statistic="every",
                optimal=optimal,
                conditions=stated.conditions,
                assumptions=stated.assumed(exact=exact),
                **more,
            )
        )

    if not tables:
        dropped.append(Dropped("U3", "rho is computed; U5 says whether it ever overestimates"))
    elif any(exceeding(graph, rho, np.broadcast_to(stated.lower, graph.m), goal).any() for goal, rho in tables.items()):
        dropped.append(Dropped("U3", "rho is not consistent under the lower bounds"))
    else:
        off = max(stated.rounding(rho, utility.limit, exact=exact) for rho in tables.values())
        reference = "consistency under the lower bounds: A* is optimal, up to the rounding of sums"
        add("U3", off, reference, optimal=True)
    if not search.reopen:
        dropped.append(Dropped("U5", "does not hold without reopening: an admissible rho may then give longer paths"))
    elif excess is None:
        dropped.append(Dropped("U5", "rho is computed and may overestimate, so the worst case is not known"))
    else:
        reference = "U5: when the goal is selected, a vertex of an optimal path is open with its true cost"
        add("U5", excess.most, reference, optimal=excess.exact == 0, measured={"overestimate": excess.exact})
    return rows, dropped
