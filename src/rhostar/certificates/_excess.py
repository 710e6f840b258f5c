"""Bounds that hold with certainty for every answer of A*: it is optimal (U3), or not far above the optimum (U5).

With reopening and without a budget, on every instance whose weights are at least `lower`,

    cost − opt ≤ B = max over v of (ρ_v − ρ_t − dist_lower(v, t))⁺.

If the answer is not optimal, then at the moment t is selected some vertex v of an optimal path is in OPEN with its true
cost g*_v. So cost + ρ_t ≤ g*_v + ρ_v, and opt = g*_v + dist(v, t) ≥ g*_v + dist_lower(v, t). Without reopening this
argument fails, and so does the bound: an admissible ρ that is not consistent has B = 0, but answers may be suboptimal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._measure import Search, Tables, goal_words, heuristic_fields
from rhostar.certificates._sentence import outward
from rhostar.errors import ArrayError, InputError
from rhostar.graph import Graph
from rhostar.heuristics import Heuristic
from rhostar.search import Runs, distances_to
from rhostar.utilities import Utility

# Assumed where bounds count what searches can do under real numbers.
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

    def largest_answer(self, tables: Iterable[NDArray[np.float64]], limit: float, longest: float = 0.0) -> float:
        """Return the cost of an answer up to which rounding is bounded where nothing is known about large weights.

        It is fixed by what is known before anything is measured: a thousand times the largest of |ρ|, the lower bounds
        and H, or the longest distance of values that are computed, rounded up to one digit; inf where all of these
        are 0 or not known.
        """
        scale = max((float(np.abs(rho).max()) for rho in tables), default=0.0)
        finite = self.lower[np.isfinite(self.lower)]
        scale = max(scale, float(finite.max(initial=0.0)), limit if math.isfinite(limit) else 0.0)
        most = max(1000 * scale, longest)
        return float(outward(most, "upper", 1)) if most > 0 else math.inf

    def conditions(self, answer: float, *, exact: bool) -> tuple[str, ...]:
        """Return what must hold on new instances for a bound that is certain.

        Parameters
        ----------
        answer
            Up to which cost of an answer rounding is bounded.
        exact
            Whether no sum rounds.
        """
        found = ["no weight falls below its lower bound"] if (self.lower > 0).any() else []
        found += [] if self.integers is None else [f"all weights are integers up to {self.integers}"]
        return (*found, *self.rounding_conditions(answer, exact=exact))

    def rounding_conditions(self, answer: float, *, exact: bool) -> tuple[str, ...]:
        """Return what must hold on new instances so that sums round by no more than was counted."""
        if exact:
            return ()
        if self.bounded:
            return ("no weight rises above its upper bound",)
        return (f"no answer costs more than {f'{answer:,.0f}' if 1 <= answer < 1e9 else f'{answer:g}'}",)

    @property
    def integers_assumed(self) -> tuple[str, ...]:
        """What is assumed besides where weights are integers."""
        return () if self.integers is None else (f"all weights are integers in 0..{self.integers} (checked here)",)

    def rounding(self, n: int, largest: float, limit: float, answer: float, *, exact: bool) -> float:
        """Return by how much cost − opt may exceed its bound as sums round.

        With u = 2⁻⁵³, G the largest g and R the largest |ρ|, a score is off by at most u(G + R), so along the proof of
        L1 each of at most n edges adds 2u(G + R). The sums of a path and of S* add uG each, Δ clipped at H adds
        u(4R + H), and the differences of ρ that are compared with caps u(R + G). The proof of U5 compares scores once
        and adds up a path of the lower bounds: that is less.

        If weights have upper bounds, G is at most the sum of n − 1 of the largest. If they have none, only answers that
        cost at most C (`answer`) are spoken of. A vertex that is expanded before the goal is selected has a score of
        at most C + R, so its g is at most C + 2R, but for rounding; a child of it on the optimal path, whose edges cost
        at most C, has a g of at most 2C + 2R. Values that are not negative and never overestimate are at most C
        where they matter: at these vertices.

        Parameters
        ----------
        n
            Number of vertices.
        largest
            R.
        limit
            H.
        answer
            C.
        exact
            Whether no sum rounds.
        """
        if exact:
            return 0.0
        largest_g = (n - 1) * float(self.caps.max()) if self.bounded else 2 * (answer + largest)
        return 8 * n * 2.0**-53 * (largest_g + largest + min(limit, largest_g))


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
    """Return B, the most by which A* with reopening can exceed the optimum where weights are at least `lower`.

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
    """How far any answer can be above the optimum (U5).

    Attributes
    ----------
    exact, most
        For exact sums, and with what rounding may add.
    conditions
        What must hold on new instances, in words.
    by_search
        Whether searches see to it by themselves.
    """

    exact: float
    most: float
    conditions: tuple[str, ...]
    by_search: bool = False

    @property
    def reference(self) -> str:
        """The theorem."""
        if self.by_search:
            return "U5: each search compares the weights with the bounds of the values and lowers what is too high"
        return "U5: when the goal is selected, a vertex of an optimal path is open with its true cost"

    def seen(self, raw: NDArray[np.float64], runs: Runs, stated: WeightBounds, answer: float) -> bool:
        """Return whether all that was measured is as it says."""
        return float(raw.max()) <= self.most and (stated.bounded or float(runs.cost.max()) <= answer)


def bound_excess(
    heuristic: Heuristic,
    tables: Tables,
    graph: Graph,
    stated: WeightBounds,
    search: Search,
    limit: float,
    answer: float,
    *,
    exact: bool,
) -> Excess | None:
    """Return U5 for A* without a budget, for the worst of the goals; None where it is not known.

    Parameters
    ----------
    heuristic, tables
        The heuristic and its tables.
    graph, stated
        The graph, and what is known of the weights.
    search, limit
        How it is run, and H.
    answer
        Up to which cost of an answer rounding is bounded.
    exact
        Whether no sum g + ρ rounds for the goals that were measured.
    """
    if search.budget is not None:
        return None
    lower, consistent = heuristic.lower, heuristic.consistent_for
    if lower is not None and (search.reopen or (consistent is not None and (consistent <= lower).all())):
        # Searches keep to the bounds of the heuristic by themselves, so nothing is asked of the weights.
        free = weight_bounds(None, None, None, graph.m)
        largest = answer if tables.computed else max(map(_largest, tables.measured.values()))
        off = free.rounding(graph.n, largest, limit, answer, exact=False)
        return Excess(0.0, off, free.rounding_conditions(answer, exact=False), by_search=True)
    if not search.reopen:
        return None
    if tables.computed:
        if consistent is None or heuristic.uses_weights or not (consistent <= stated.lower).all():
            return None
        # Values that are consistent for ŵ ≤ lower never overestimate.
        off = stated.rounding(graph.n, min(answer, longest(heuristic)), limit, answer, exact=False)
        return Excess(0.0, off, stated.conditions(answer, exact=False))
    if tables.others is None:
        return None
    exact = exact and not tables.others
    found = [
        (
            largest_excess(graph, rho, goal, stated.lower),
            stated.rounding(graph.n, _largest(rho), limit, answer, exact=exact),
        )
        for goal, rho in (tables.measured | tables.others).items()
    ]
    most = max(excess + rounding for excess, rounding in found)
    return Excess(max(excess for excess, _ in found), most, stated.conditions(answer, exact=exact))


def _largest(rho: NDArray[np.float64]) -> float:
    return float(np.abs(rho).max())


def longest(heuristic: Heuristic) -> float:
    """Return what no distance under the weights of a heuristic exceeds: the sum of all of them; 0 if it has none."""
    weights = heuristic.consistent_for if heuristic.lower is None else heuristic.lower
    return 0.0 if weights is None else float(weights[np.isfinite(weights)].sum())


def bound_every_answer(
    heuristic: Heuristic,
    tables: Mapping[int, NDArray[np.float64]],
    goals: Sequence[int],
    graph: Graph,
    stated: WeightBounds,
    utility: Utility,
    search: Search,
    excess: Excess | None,
    raw: NDArray[np.float64],
    runs: Sequence[Runs],
    answer: float,
    *,
    exact: bool,
) -> tuple[list[Certificate], list[Dropped]]:
    """Return the rows U3 and U5, and why one is missing.

    Parameters
    ----------
    heuristic, tables
        The heuristic, and ρ by goal; the latter is empty where it is computed.
    goals
        The goals that occur.
    graph, stated, utility, search
        What was asked for, and what is known of the weights.
    excess
        U5, where it is known.
    raw, runs
        The excess of each run, and the runs.
    answer
        Up to which cost of an answer rounding is bounded.
    exact
        Whether no sum g + ρ rounds.
    """
    if not search.measures_excess(utility) or not (stated.given or (excess is not None and excess.by_search)):
        return [], []
    if search.budget is not None:
        return [], [Dropped("U3", "a run that is ended by a budget has no bound through inconsistency")]
    rows: list[Certificate] = []
    dropped: list[Dropped] = []
    largest, dearest = float(raw.max()), max(float(part.cost.max()) for part in runs)

    def add(
        label: str, value: float, reference: str, conditions: tuple[str, ...], *, optimal: bool, **more: Any
    ) -> None:
        if not stated.bounded and not exact and dearest > answer:
            seen = f"an answer cost {dearest:.6g}, more than {answer:.6g}"
            dropped.append(Dropped(label, f"{seen}: state upper bounds on the weights, so that rounding is bounded"))
        elif largest > value or math.isinf(value):  # the former only where exact sums were said to be
            seen = f"an answer was {largest:.6g} above the optimum"
            dropped.append(Dropped(label, f"{seen}: sums round by more than was assumed"))
        else:
            rows.append(
                Certificate(
                    label=label,
                    utility=utility.name,
                    subject=utility.quantity,
                    **search.fields,
                    goals=goal_words(graph, goals, every=True),
                    **heuristic_fields(heuristic, search),
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
                    conditions=conditions,
                    assumptions=conditions,
                    **more,
                )
            )

    if not stated.given:
        dropped.append(Dropped("U3", "needs lower bounds on the weights (lower)"))
    elif not tables:
        dropped.append(Dropped("U3", "rho is computed; U5 says whether it ever overestimates"))
    elif any(exceeding(graph, rho, np.broadcast_to(stated.lower, graph.m), goal).any() for goal, rho in tables.items()):
        dropped.append(Dropped("U3", "rho is not consistent under the lower bounds"))
    else:
        off = stated.rounding(graph.n, max(map(_largest, tables.values())), utility.limit, answer, exact=exact)
        reference = "consistency under the lower bounds: A* is optimal, up to the rounding of sums"
        add("U3", off, reference, stated.conditions(answer, exact=exact), optimal=True)
    if excess is not None:
        measured = {"overestimate": excess.exact}
        add("U5", excess.most, excess.reference, excess.conditions, optimal=excess.exact == 0, measured=measured)
    elif not search.reopen:
        dropped.append(Dropped("U5", "does not hold without reopening: an admissible rho may then give longer paths"))
    else:
        dropped.append(Dropped("U5", "rho is computed and may overestimate, so the worst case is not known"))
    return rows, dropped
