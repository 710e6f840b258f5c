"""Counts the behaviors of a class of heuristics, which a bound for every ρ at once depends on.

K is a number of behaviors that holds on all instances together; Π(N) is the most on any N instances (the growth
function). Rows marked "paper" are the inequalities of Sakaue and Oki (2022), unchanged and solved numerically;
"sharper" ones are proved here. All of them hold for runs with and without reopening, with or without a budget, and for
any utility that is a function of the run.

**Ties cost nothing.** Only the truth of g_i + ρ_i ≤ g_j + ρ_j for i < j matters. With ρ′_i = ρ_i + ε·i, ε small, every
such comparison becomes a strict one, so the patterns are open cells of an arrangement of hyperplanes ρ_i − ρ_j = c.
In a family ρ = b + Φθ, where ρ′ may be no member, raise every right-hand side by the same small amount instead: that
moves the hyperplanes, but not their number, which is all that C2 to C4 use. Adding a constant to ρ changes no
hyperplane: their rank is at most n − 1, and n − 2 where the start is the same in all instances, as ρ_s is then never
compared.

**Exact comparisons.** The counts for A* assume that g + ρ does not round (the rows Q and Q64 and greedy search do not
need this). With integer weights, ρ in multiples of 2^−k and g + abs(ρ) < 2^(52−k), float64 sums are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from rhostar import _arrays as arrays
from rhostar.bounds import _logcount as logcount
from rhostar.bounds._bisection import first_integer
from rhostar.errors import InputError

_SLACK = 1e-12
"""What rounding may have taken from a logarithm, as a share of it: many times more than it does."""


@dataclass(frozen=True)
class Capacity:
    """An upper bound on the number of different behaviors of the searches of a class on N instances.

    Parameters
    ----------
    label
        The row, such as "C1p".
    origin
        "paper" or "sharper".
    meaning
        For which class it holds.
    log_growth
        ln Π(N), a function of N.
    finite
        Whether it is the same number, ln K, for every N.
    exact_sums
        Whether it assumes that no sum g + ρ rounds.
    thresholds
        Whether it counts patterns of u ≥ threshold, instead of runs: it then bounds the pseudo-dimension alone.
    assumes
        What it assumes of all instances, in words.
    """

    label: str
    origin: Literal["paper", "sharper"]
    meaning: str
    log_growth: Callable[[int], float] = field(repr=False)
    finite: bool
    exact_sums: bool = False
    thresholds: bool = False
    assumes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Capacity({self.label}, {self.origin}: {self.meaning})"

    @property
    def log_count(self) -> float:
        """Ln K.

        Raises
        ------
        InputError
            If the count grows with N.
        """
        if not self.finite:
            raise InputError(f"{self.label} grows with the number of instances; ask log_growth(N)")
        return self.log_growth(1)

    @property
    def pseudo_dimension(self) -> int:
        """The largest N with Π(N) ≥ 2^N; ⌊lg K⌋ where K is finite.

        Any N with Π(N) < 2^N proves that no N instances are shattered, hence fewer in every larger set: the search
        need not find the first such N to be right.
        """
        if self.finite:
            return math.floor(self.log_count * (1 + _SLACK) / math.log(2) + _SLACK)

        def may_shatter(N: int) -> bool:
            return self.log_growth(N) * (1 + _SLACK) + _SLACK >= N * math.log(2)

        return first_integer(lambda N: not may_shatter(N)) - 1


def _degree_assumed(d: int) -> tuple[str, ...]:
    return (f"no vertex has more than {d} children",)


def _integers_assumed(largest: int) -> tuple[str, ...]:
    return (f"all weights are integers in 0..{largest}",)


def _constant(label: str, origin: Literal["paper", "sharper"], meaning: str, log_count: float) -> Capacity:
    return Capacity(label, origin, meaning, lambda _: log_count, finite=True)


def _regions_by_pairs(label: str, meaning: str, n: int, log_scores: float, assumes: tuple[str, ...] = ()) -> Capacity:
    """Return the paper's 2·(e·N·C(x, 2))ⁿ regions, x pairs of a vertex and a g."""
    log_pairs = logcount.log_pairs_of(log_scores)

    def log_growth(N: int) -> float:
        return math.log(2) + n * (1 + math.log(N) + log_pairs)

    return Capacity(label, "paper", meaning, log_growth, finite=False, exact_sums=True, assumes=assumes)


def _cells(label: str, meaning: str, rank: int, log_hyperplanes: float, assumes: tuple[str, ...] = ()) -> Capacity:
    """Return Φ_rank(N·hyperplanes)."""

    def log_growth(N: int) -> float:
        return logcount.log_cells_of(rank, log_hyperplanes + math.log(N)) if log_hyperplanes > -math.inf else 0.0

    return Capacity(label, "sharper", meaning, log_growth, finite=False, exact_sums=True, assumes=assumes)


# ---------------------------------------------------------------- greedy best-first search


def greedy_paper(n: int) -> Capacity:
    """Row G (the paper's Theorem 1): the order of n values of ρ decides every run, K = n!.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.greedy_paper(207).pseudo_dimension
    1299
    """
    return _constant("G", "paper", "greedy search, any instances", math.lgamma(n + 1))


def greedy(n: int, *, fixed_source: bool = False) -> Capacity:
    """Row Gp: greedy search returns when the goal is generated and never reads ρ_t, so K = (n − 1)!.

    Where every instance starts at the same vertex, that one is alone in OPEN when it is selected: K = (n − 2)!.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.greedy(207).pseudo_dimension
    1291
    """
    return _constant("Gp", "sharper", "greedy search, one goal", math.lgamma(n - 1 if fixed_source else n))


def linear_greedy(n: int, parameters: int) -> Capacity:
    """Row C3: greedy search with ρ = b + Φθ, θ ∈ R^k: C(n − 1, 2) hyperplanes in R^k, K = Φ_k(C(n − 1, 2)).

    `parameters` may be the rank of the column-centered Φ, as a constant added to ρ decides nothing.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.linear_greedy(207, 1).pseudo_dimension
    14
    """
    log_count = logcount.log_cells(parameters, math.comb(n - 1, 2))
    return _constant("C3", "sharper", f"greedy search, {parameters} parameters", log_count)


# ---------------------------------------------------------------- A*, any weights


def astar_paper(n: int) -> Capacity:
    """Row A (the paper's Theorem 2): Π(N) ≤ 2·(e·N·C(n!, 2))ⁿ.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.astar_paper(207).pseudo_dimension
    541857
    """
    return _regions_by_pairs("A", "A*, any weights", n, math.lgamma(n + 1))


def _log_open_pairs(n: int) -> float:
    """Return ln of the comparisons that one instance can need: C(n−2, 2)·q² + (n−2)·q·p."""
    p, q = logcount.log_simple_paths(n), logcount.log_simple_paths(n - 1) if n > 2 else -math.inf
    others = math.log(math.comb(n - 2, 2)) + 2 * q if n > 3 else -math.inf
    with_goal = math.log(n - 2) + q + p if n > 2 else -math.inf
    return logcount.log_add(others, with_goal)


def astar(n: int, *, fixed_source: bool = False) -> Capacity:
    """Row Ap: Π(N) ≤ Φ_{n−1}(N·(C(n−2, 2)·q² + (n−2)·q·p)).

    A vertex other than the goal is reached by simple paths that avoid the goal, as A* never expands it: q of them,
    p to the goal itself (P1). The start is never compared. So one instance needs at most that many hyperplanes.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.astar(207).pseudo_dimension
    532228
    """
    return _cells("Ap", "A*, any weights", n - 1 - fixed_source, _log_open_pairs(n))


def degree_paper(n: int, out_degree: int) -> Capacity:
    """Row D (the paper's Theorem 3): as A with n(n−1)d^{n−2} in place of n!.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.degree_paper(207, 4).pseudo_dimension
    179813
    """
    scores = math.log(n) + math.log(n - 1) + (n - 2) * math.log(out_degree)
    return _regions_by_pairs("D", f"A*, out-degree at most {out_degree}", n, scores, _degree_assumed(out_degree))


def _log_degree_pairs(n: int, d: int) -> float:
    return math.log(math.comb(n, 2)) + 2 * logcount.log_bounded_degree_paths(n, d)


def degree(n: int, out_degree: int, *, fixed_source: bool = False) -> Capacity:
    """Row Dp: Π(N) ≤ Φ_{n−1}(N·C(n, 2)·p²), p = Σ_{k=0}^{n−2} d^k paths to one vertex.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.degree(207, 4).pseudo_dimension
    174348
    """
    rank, planes = n - 1 - fixed_source, _log_degree_pairs(n, out_degree)
    return _cells("Dp", f"A*, out-degree at most {out_degree}", rank, planes, _degree_assumed(out_degree))


def linear_real(n: int, parameters: int, out_degree: int | None = None) -> Capacity:
    """Row C4: A* with ρ = b + Φθ and any weights, Π(N) ≤ Φ_k(N·hyperplanes of one instance), as in Ap or Dp.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.linear_real(207, 1, out_degree=4).pseudo_dimension
    844
    """
    planes, assumes = _log_open_pairs(n), tuple[str, ...]()
    if out_degree is not None and _log_degree_pairs(n, out_degree) < planes:
        planes, assumes = _log_degree_pairs(n, out_degree), _degree_assumed(out_degree)
    return _cells("C4", f"A*, {parameters} parameters, any weights", parameters, planes, assumes)


# ---------------------------------------------------------------- A*, integer weights


def integer_paper(n: int, integer_weights: int) -> Capacity:
    """Row I (the paper's Theorem 4), weights in {0..ℓ}: Π(N) ≤ 2·(e·N·C(n²ℓ, 2))ⁿ.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.integer_paper(207, 10).pseudo_dimension
    10606
    """
    scores = 2 * math.log(n) + math.log(integer_weights)
    return _regions_by_pairs("I", f"A*, weights in 0..{integer_weights}", n, scores, _integers_assumed(integer_weights))


def catalan(n: int, integer_weights: int) -> Capacity:
    """Row C1: K = Π_{i=2}^{n} (Ln + i), L = (n−1)ℓ, for all instances together.

    On integer weights every difference g_j − g_i is an integer in [−L, L]. So the hyperplanes ρ_i − ρ_j = c with c in
    that range decide all runs on all instances: the extended Catalan arrangement, whose regions are counted exactly.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.catalan(207, 10).pseudo_dimension
    3852
    """
    log_count = logcount.log_falling((n - 1) * integer_weights * n + n, n - 1)
    return _exact("C1", f"A*, weights in 0..{integer_weights}", log_count, integer_weights)


def catalan_in_open(n: int, integer_weights: int, *, fixed_source: bool = False) -> Capacity:
    """Row C1p: K = Π_{i=2}^{n} ((n−1)(n−2)ℓ + i), and Π_{i=2}^{n−1} ((n²−4n+5)ℓ + i) where the start is fixed.

    Two vertices i, j that are compared are in OPEN at the same time, and then their g differ by at most (n−3)ℓ, or
    (n−2)ℓ if one of them is the goal. For suppose that g_i − g_j exceeds (n−3)ℓ, i not the goal. Then g_i is the length
    of a path P with n − 2 edges, through all vertices but the goal, and as none of its weights exceeds ℓ, each of them
    exceeds g_j. The path that gave j its g begins with an edge (s, c) of weight at most g_j. The start is expanded
    first, so the g of c is at most g_j afterwards; but c is on P, where its g was at least the weight of the first
    edge of P. With i the goal the path has n − 1 edges, and the rest is the same. By the finite field method (points
    on a cycle of q places with a gap between neighbors of (n−3)ℓ, or (n−2)ℓ on both sides of the goal) the
    arrangement with these two ranges has the stated number of regions.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.catalan_in_open(207, 10).pseudo_dimension
    3849
    """
    if fixed_source and n > 2:
        log_count = logcount.log_falling((n * n - 4 * n + 5) * integer_weights + n - 1, n - 2)
    else:
        log_count = logcount.log_falling((n - 1) * (n - 2) * integer_weights + n, n - 1)
    return _exact("C1p", f"A*, weights in 0..{integer_weights}", log_count, integer_weights)


def linear_integer(n: int, parameters: int, integer_weights: int) -> Capacity:
    """Row C2: A* with ρ = b + Φθ, θ ∈ R^k, weights in {0..ℓ}: K = Φ_k(C(n, 2)·(2L + 1)), L = (n−1)ℓ.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.linear_integer(207, 1, 10).pseudo_dimension
    26
    """
    log_count = logcount.log_cells(parameters, math.comb(n, 2) * (2 * (n - 1) * integer_weights + 1))
    return _exact("C2", f"A*, {parameters} parameters, weights in 0..{integer_weights}", log_count, integer_weights)


def _exact(label: str, meaning: str, log_count: float, largest: int) -> Capacity:
    assumes = _integers_assumed(largest)
    return Capacity(label, "sharper", meaning, lambda _: log_count, finite=True, exact_sums=True, assumes=assumes)


# ---------------------------------------------------------------- few values


def quantized(n: int, levels: int, *, goal_fixed: bool = True) -> Capacity:
    """Row Q: any algorithm, any weights, ρ_v among B values fixed beforehand and ρ_t fixed: K = B^{n−1}.

    With B = 2⁶⁴ it counts every ρ of float64 numbers, however sums round (2⁶⁴ⁿ where ρ_t is free too).

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.quantized(207, 256).pseudo_dimension, capacity.quantized(207, 2**64).pseudo_dimension
    (1648, 13184)
    """
    free = n - 1 if goal_fixed else n
    return _constant("Q", "sharper", f"{free} values, {_power(levels)} levels each", free * math.log(levels))


def floats(values: int) -> Capacity:
    """Row Q64, for heuristics that are a fixed function of `values` float64 numbers: K = 2^(64·values).

    Any ρ is n of them; ρ = b + Φθ, as it is computed, is a function of the k numbers in θ.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.floats(2).pseudo_dimension
    128
    """
    return _constant("Q64", "sharper", f"functions of {values} float64 numbers", values * 64 * math.log(2))


def _power(levels: int) -> str:
    return f"2^{levels.bit_length() - 1}" if levels > 1024 and levels.bit_count() == 1 else str(levels)


# ---------------------------------------------------------------- inconsistency


def inconsistency(n: int) -> Capacity:
    """Row U1: patterns of min(Δ, Ĥ) ≥ threshold on N instances, at most Φ_{n−1}(N(n−2))·Φ_{n−1}(N).

    Δ is the inconsistency along the optimal path (the paper's Theorem 6 with constants): at most N(n−2) kinks cut Rⁿ
    into cells; inside a cell each Δ_ρ(x_k) is linear in ρ and N thresholds cut it again.

    Examples
    --------
    >>> from rhostar.bounds import _capacity as capacity
    >>> capacity.inconsistency(207).pseudo_dimension
    3907
    """
    n = arrays.integer(n, "n", 2)

    def log_growth(N: int) -> float:
        return logcount.log_cells(n - 1, N * (n - 2)) + logcount.log_cells(n - 1, N)

    meaning = "inconsistency of A* along the optimal path"
    return Capacity("U1", "sharper", meaning, log_growth, finite=False, thresholds=True)
