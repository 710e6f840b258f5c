"""The pseudo-dimension: every upper bound that applies to a class, with the known lower bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rhostar import _arrays as arrays
from rhostar._display import LabeledRows, html_table
from rhostar.bounds import _capacity as capacity
from rhostar.bounds import _logcount as logcount
from rhostar.bounds import _sizes as sizes
from rhostar.bounds import _transcripts as transcripts
from rhostar.bounds._capacity import Capacity


def capacities(
    n: int,
    algorithm: arrays.Algorithm = "astar",
    *,
    integer_weights: int | None = None,
    out_degree: int | None = None,
    parameters: int | None = None,
    rank: int | None = None,
    levels: int | None = None,
    fixed_source: bool = False,
    reopen: bool = True,
) -> tuple[Capacity, ...]:
    """Return every count of runs that applies. Any of them may be used; choosing the lowest uses no δ.

    Parameters
    ----------
    n, algorithm, integer_weights, out_degree, parameters, rank, levels, fixed_source, reopen
        As for :func:`pseudo_dimension`.

    Returns
    -------
    tuple of Capacity
        Those of the paper first.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from rhostar.bounds import capacities
    >>> [row.label for row in capacities(50, "astar", integer_weights=10)]
    ['A', 'I', 'Ap', 'Wp', 'C1', 'C1p', 'Q64']
    """
    n = arrays.integer(n, "n", 2)  # all arguments are checked here, and not again for each row
    greedy = arrays.algorithm(algorithm) == "gbfs"
    integers = arrays.optional_integer(integer_weights, "integer_weights", 1)
    d = arrays.optional_integer(out_degree, "out_degree", 1)
    k = arrays.optional_integer(parameters, "parameters", 0)
    r = k if rank is None or k is None else min(k, arrays.integer(rank, "rank", 0))
    b = arrays.optional_integer(levels, "levels", 1)
    rows: list[Capacity]
    if greedy:
        rows = [capacity.greedy_paper(n), capacity.greedy(n, fixed_source=fixed_source)]
    else:
        rows = [capacity.astar_paper(n)]
        rows += [] if d is None else [capacity.degree_paper(n, d)]
        rows += [] if integers is None else [capacity.integer_paper(n, integers)]
        rows += [capacity.astar(n, fixed_source=fixed_source)]
        rows += [] if d is None else [capacity.degree(n, d, fixed_source=fixed_source)]
        rows += [transcripts.astar(n, reopen=reopen)]
        if integers is not None:
            rows += [capacity.catalan(n, integers)]
            rows += [capacity.catalan_in_open(n, integers, fixed_source=fixed_source)]
    if r is not None:
        if greedy:
            rows += [capacity.linear_greedy(n, r)]
        else:
            rows += [] if integers is None else [capacity.linear_integer(n, r, integers)]
            rows += [capacity.linear_real(n, r, d)]
    if b is not None:
        rows += [capacity.quantized(n, b)]
    return (*rows, capacity.floats(n if k is None else min(k, n)))


# ---------------------------------------------------------------- lower bounds


def lower_paper(n: int) -> int:
    """Return T5, n − 4 (the paper's Theorem 5): unweighted instances from one start, with the cost as utility.

    Examples
    --------
    >>> from rhostar.bounds._dimension import lower_paper
    >>> lower_paper(8)
    4
    """
    return max(0, arrays.integer(n, "n", 2) - 4)


def lower(n: int, algorithm: arrays.Algorithm, *, fixed_source: bool = False) -> int:
    """Return T5p, for n ≥ 4 and the cost as utility: n − 2 for greedy search, n − 1 for A*; one less from one start.

    Greedy: instance j has s → 0, s → j, 0 → t at cost 1 and j → t at cost 2; the bit is ρ_0 < ρ_j. A*: instance i has
    s → i (1), i → t (1), s → t (3); the bit is ρ_i − ρ_t < 2. Each reads a value of its own, so all patterns occur.

    Examples
    --------
    >>> from rhostar.bounds._dimension import lower
    >>> lower(8, "gbfs"), lower(8, "astar")
    (6, 7)
    """
    n = arrays.integer(n, "n", 2)
    if n < 4:
        return 0
    return n - (2 if arrays.algorithm(algorithm) == "gbfs" else 1) - fixed_source


def lower_expansions(
    n: int, algorithm: arrays.Algorithm, *, integer_weights: int | None = None, reopen: bool = True
) -> int:
    """Return E, for the number of expansions as utility: of order n lg n, from one start.

    The size of the largest code of :mod:`rhostar.theory` whose weights are in the class: B·⌊(n − 2ᴮ⁺¹)/2⌋ for any B,
    with unit weights, for both algorithms; 2(n − 6) for greedy search and 2(n − 3) for A* (weights up to 10); and
    B·(n − 2 − 2ᴮ) for A* with reopening (weights up to 2ᴮ⁺³).

    Examples
    --------
    >>> from rhostar.bounds._dimension import lower_expansions
    >>> lower_expansions(207, "gbfs"), lower_expansions(207, "astar"), lower_expansions(10_000, "gbfs")
    (402, 865, 40392)
    """
    n, greedy = arrays.integer(n, "n", 2), arrays.algorithm(algorithm) == "gbfs"
    most = math.inf if integer_weights is None else arrays.integer(integer_weights, "integer_weights", 1)
    bits = range(1, n.bit_length())
    found = [0, *(sizes.expansions(n, b) for b in bits)]
    if greedy or most >= 10:
        found.append(sizes.interval(n, algorithm))
    if not greedy and reopen:
        found += [sizes.reopening(n, b) for b in bits if 8 << b <= most]
    return max(found)


def lower_for_some_utility(n: int) -> int:
    """Return R1, ⌊lg ⌊e(n−3)!⌋⌋, for some utility that the paper's Assumption 3 allows.

    Let one instance have B behaviors, make ⌊lg B⌋ copies that differ in a detail no run reads (an edge leaving t) and
    let u(copy j, run) be bit j of the number of the run: the copies are shattered. The star s → M with one m → t has
    ⌊e(n−3)!⌋ greedy behaviors with unit weights, and no fewer for A*.

    Examples
    --------
    >>> from rhostar.bounds._dimension import lower_for_some_utility
    >>> lower_for_some_utility(207)
    1277
    """
    n = arrays.integer(n, "n", 2)
    if n < 3:
        return 0
    if n <= 60:
        return logcount.simple_paths(n - 1).bit_length() - 1
    # ⌊e(n−3)!⌋ exceeds e(n−3)! − 1; the slack makes up for that and for rounding, downwards.
    return math.floor((1 + math.lgamma(n - 2)) * (1 - 1e-12) / math.log(2))


def lower_with_reopening(n: int, integer_weights: int | None = None) -> int:
    """Return R2, for some utility and A* with reopening: of order 2·n·lg n, from one start.

    As R1, with the instance of :func:`rhostar.theory.leaves`, whose leaves have h(k + 1) + 1 courses each. It is larger
    than R1 for n ≥ 53.

    Examples
    --------
    >>> from rhostar.bounds._dimension import lower_with_reopening
    >>> lower_with_reopening(207), lower_with_reopening(207, integer_weights=2)
    (1449, 0)
    """
    n = arrays.integer(n, "n", 2)
    return math.floor(sizes.leaf_courses(n, *sizes.best_leaves(n, integer_weights)) * (1 - 1e-12))


# ---------------------------------------------------------------- all of it


@dataclass(frozen=True)
class Row:
    """One bound on a pseudo-dimension."""

    label: str
    origin: str
    """paper, sharper or lower."""
    value: int
    meaning: str
    of_runs: bool = True
    """Whether it is about all utilities of a run; else about the inconsistency."""
    of_cost: bool = False
    """Whether it is a lower bound with the cost as utility."""


@dataclass(frozen=True)
class PseudoDimension(LabeledRows[Row]):
    """Bounds on a pseudo-dimension: prints as a table; ``int()`` gives the upper bound.

    It is a sequence of rows, which can also be indexed by label.

    Examples
    --------
    >>> import rhostar as rs
    >>> found = rs.pseudo_dimension(207, "gbfs")
    >>> found
    PseudoDimension(n = 207, between 231 and 1,291)
    >>> len(found), found["G"], [row.label for row in found]
    (8, 1299, ['G', 'Gp', 'Q64', 'T5', 'T5p', 'P', 'E', 'R1'])
    """

    n: int
    """Number of vertices."""
    rows: tuple[Row, ...]
    """The bounds."""

    @property
    def upper(self) -> int:
        """The lowest upper bound for utilities of a run."""
        return min(row.value for row in self.rows if row.origin != "lower" and row.of_runs)

    @property
    def paper(self) -> int | None:
        """The lowest of the paper's own upper bounds that apply; None where none does."""
        return min((row.value for row in self.rows if row.origin == "paper"), default=None)

    @property
    def lower(self) -> int:
        """The largest lower bound for the cost as utility; 0 where none is known."""
        return max((row.value for row in self.rows if row.of_cost), default=0)

    def __index__(self) -> int:
        return self.upper

    def __int__(self) -> int:
        return self.upper

    def __getitem__(self, label: str) -> int:
        """Return the value of a row; raises InputError if there is no such row."""
        return self.row(label).value

    def __repr__(self) -> str:
        return f"PseudoDimension(n = {self.n:,}, between {self.lower:,} and {self.upper:,})"

    def _repr_html_(self) -> str:
        cells = [
            (row.label, f"{'≥' if row.origin == 'lower' else '≤'} {row.value:,}", row.origin, row.meaning)
            for row in self.rows
        ]
        return html_table(f"pseudo-dimension, n = {self.n:,}", ("row", "bound", "origin", "holds for"), cells)

    def __str__(self) -> str:
        lines = [f"pseudo-dimension, n = {self.n}"]
        for row in self.rows:
            sign = "≥" if row.origin == "lower" else "≤"
            lines.append(f"  {row.label:<4} {sign} {row.value:>22,}  {row.origin:<8} {row.meaning}")
        return "\n".join(lines)


def pseudo_dimension(
    n: int,
    algorithm: arrays.Algorithm = "astar",
    *,
    integer_weights: int | None = None,
    out_degree: int | None = None,
    parameters: int | None = None,
    rank: int | None = None,
    levels: int | None = None,
    fixed_source: bool = False,
    reopen: bool = True,
) -> PseudoDimension:
    """Return every bound on the pseudo-dimension of the utilities of a class of heuristics.

    Parameters
    ----------
    n
        Number of vertices.
    algorithm
        "astar" or "gbfs".
    integer_weights
        ℓ, where all weights are integers in {0..ℓ}. Multiples of 1/q count as integers after scaling by q.
    out_degree
        d, where no vertex has more than d children.
    parameters
        k, where ρ = b + Φθ with θ in R^k and b, Φ fixed beforehand.
    rank
        The rank of the column-centered Φ, where it is below k: it decides the comparisons.
    levels
        B, where every ρ_v but that of the goal is one of B values fixed beforehand.
    fixed_source
        Whether every instance starts at the same vertex.
    reopen
        Whether A* may reopen vertices. Upper bounds for True hold for False too.

    Returns
    -------
    PseudoDimension

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import rhostar as rs
    >>> print(rs.pseudo_dimension(207, "astar", integer_weights=10))
    pseudo-dimension, n = 207
      A    ≤                541,857  paper    A*, any weights
      I    ≤                 10,606  paper    A*, weights in 0..10
      Ap   ≤                532,228  sharper  A*, any weights
      Wp   ≤                111,893  sharper  A*, any weights
      C1   ≤                  3,852  sharper  A*, weights in 0..10
      C1p  ≤                  3,849  sharper  A*, weights in 0..10
      Q64  ≤                 13,248  sharper  functions of 207 float64 numbers
      U1   ≤                  3,907  sharper  inconsistency of A* along the optimal path
      T5   ≥                    203  lower    cost, unit weights
      T5p  ≥                    206  lower    cost
      P    ≥                    231  lower    cost, unit weights
      E    ≥                    408  lower    expansions, with reopening
      R1   ≥                  1,277  lower    some utility, unit weights
    """
    found = capacities(
        n,
        algorithm,
        integer_weights=integer_weights,
        out_degree=out_degree,
        parameters=parameters,
        rank=rank,
        levels=levels,
        fixed_source=fixed_source,
        reopen=reopen,
    )
    rows = [Row(row.label, row.origin, row.pseudo_dimension, row.meaning) for row in found]
    if algorithm == "astar":
        row = capacity.inconsistency(n)
        rows.append(Row(row.label, row.origin, row.pseudo_dimension, row.meaning, of_runs=False))
    if parameters is None and levels is None:
        rows += _lower_rows(n, algorithm, integer_weights, out_degree, fixed_source, reopen)
    return PseudoDimension(n, tuple(rows))


def _lower_rows(
    n: int, algorithm: arrays.Algorithm, integers: int | None, out_degree: int | None, fixed_source: bool, reopen: bool
) -> list[Row]:
    """Return the lower bounds whose instances are in the class: stars have large out-degrees, T5p weights up to 3."""
    rows = []
    if out_degree is None or out_degree >= n - 3:
        rows.append(Row("T5", "lower", lower_paper(n), "cost, unit weights", of_cost=True))
    needed = 3 if algorithm == "astar" else 2
    if (integers is None or integers >= needed) and (out_degree is None or out_degree >= 2):
        rows.append(Row("T5p", "lower", lower(n, algorithm, fixed_source=fixed_source), "cost", of_cost=True))
    if out_degree is None or out_degree >= 2:
        rows.append(Row("P", "lower", sizes.largest_parity(n), "cost, unit weights", of_cost=True))
    if out_degree is None:
        closed = algorithm == "astar" and not reopen
        if closed and (value := sizes.largest_cost(n, integers)):
            rows.append(Row("Pc", "lower", value, "cost, without reopening", of_cost=True))
        value = lower_expansions(n, algorithm, integer_weights=integers, reopen=reopen)
        how = ", without reopening" if closed else ", with reopening" if algorithm == "astar" else ""
        rows.append(Row("E", "lower", value, f"expansions{how}"))
    if out_degree is None or out_degree >= n - 2:
        one = lower_for_some_utility(n)
        rows.append(Row("R1", "lower", one, "some utility, unit weights"))
        if algorithm == "astar" and reopen and (value := lower_with_reopening(n, integers)) > one:
            rows.append(Row("R2", "lower", value, "some utility, with reopening"))
    return rows
