"""Counting behaviours: reference values, exact integers beside the logarithms, exhaustive counts, orderings."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar.bounds import _capacity as capacity
from rhostar.bounds import _dimension as dimension
from rhostar.bounds import _logcount as logcount
from rhostar.bounds import capacities
from rhostar.errors import InputError
from support.calls import count_calls

# ---------------------------------------------------------------- logarithms of counts


@given(st.integers(0, 10**6), st.integers(0, 400))
def test_products_and_binomials_against_exact_integers(top: int, count: int) -> None:
    exact = math.prod(range(top - count + 1, top + 1)) if count <= top else 0
    expected = math.log(exact) if exact else -math.inf
    assert logcount.log_falling(top, count) == pytest.approx(expected, rel=1e-13, abs=1e-12)
    binomial = math.comb(top, count)
    assert logcount.log_binomial(top, count) == pytest.approx(
        math.log(binomial) if binomial else -math.inf, rel=1e-12, abs=1e-11
    )


@pytest.mark.parametrize(
    ("top", "count"), [(10**20, 206), (10**30, 10**4), (2**190, 5000), (2**400, 70), (10**5, 10**4)]
)
def test_products_of_huge_numbers_do_not_cancel(top: int, count: int) -> None:
    exact = math.log(math.prod(range(top - count + 1, top + 1)))
    assert logcount.log_falling(top, count) == pytest.approx(exact, rel=1e-13)


def cells(k: int, M: int) -> int:
    total = term = 1
    for i in range(1, min(k, M) + 1):
        term = term * (M - i + 1) // i
        total += term
    return total


@given(st.integers(0, 300), st.integers(0, 900))
def test_cells_against_exact_sums(k: int, M: int) -> None:
    exact = math.log(cells(k, M))
    assert logcount.log_cells(k, M) == pytest.approx(exact, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("share", [0.3, 0.49, 0.4999, 0.5, 0.5001, 0.51, 0.7, 0.999])
def test_cells_cut_short_are_an_upper_bound_within_a_millionth(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    M = 6_000
    k = int(share * M)
    exact = math.log(cells(k, M))
    monkeypatch.setattr(logcount, "_MOST_TERMS", 60)  # far fewer than there are
    bound = logcount.log_cells(k, M)
    assert exact * (1 - 1e-13) <= bound <= exact * (1 + 1e-4)
    monkeypatch.undo()
    bound = logcount.log_cells(k, M)
    assert exact * (1 - 1e-13) <= bound <= exact * (1 + 1e-6)


@pytest.mark.parametrize(("k", "M"), [(10**8, 2 * 10**8), (10**8, 2 * 10**8 - 3), (10**7, 10**9), (10**8, 10**8 + 5)])
def test_cells_of_long_sums_lie_between_simple_bounds(k: int, M: int) -> None:
    value = logcount.log_cells(k, M)
    assert logcount.log_binomial(M, k) <= value <= M * math.log(2) * (1 + 1e-15)
    if 2 * k <= M:  # the entropy bound, a theorem of its own
        share = k / M
        assert value <= -M * (share * math.log(share) + (1 - share) * math.log1p(-share)) * (1 + 1e-12)


def test_cells_of_a_logarithm() -> None:
    for k, M in ((3, 10**50), (200, 10**45), (5, 7), (10, 10**12)):
        exact = math.log(cells(k, M))
        assert exact * (1 - 1e-12) <= logcount.log_cells_of(k, math.log(M)) <= exact * (1 + 1e-6)


def test_simple_paths_are_counted_one_by_one() -> None:
    for n in range(2, 8):
        inner = range(n - 2)
        exact = sum(1 for r in range(n - 1) for _ in itertools.permutations(inner, r))
        assert logcount.simple_paths(n) == exact
        assert logcount.log_simple_paths(n) == pytest.approx(math.log(exact), abs=1e-13)
    assert logcount.simple_paths(4) == 5, "the paper's intermediate sum says 4"
    assert logcount.simple_paths(12) == math.floor(math.e * math.factorial(10))
    assert 1 + math.lgamma(60) == pytest.approx(math.log(logcount.simple_paths(61)), rel=1e-14)


# ---------------------------------------------------------------- the rows

REFERENCE = {"G": 1299, "A": 541_857, "Ap": 532_228, "D": 179_813, "Dp": 174_348, "I": 10_606, "C1": 3_852, "U1": 3_907}


def test_reference_values() -> None:
    n = 207
    found = {row.label: row.value for row in rs.pseudo_dimension(n, integer_weights=10, out_degree=4).rows}
    found |= {row.label: row.value for row in rs.pseudo_dimension(n, "gbfs").rows if row.origin != "lower"}
    assert {label: found[label] for label in REFERENCE} == REFERENCE
    assert capacity.quantized(n, 2**64).pseudo_dimension == 13_184
    assert capacity.quantized(n, 256).pseudo_dimension == 8 * (n - 1)
    assert capacity.quantized(n, 2).pseudo_dimension == n - 1, "K is a power of two: rounding must not lose one"


@given(st.integers(2, 12), st.integers(1, 4), st.integers(1, 4))
def test_rows_against_their_formulas_in_integers(n: int, bound: int, d: int) -> None:
    """Every row evaluated a second time, as written, with integers that do not round."""
    L, N, e = (n - 1) * bound, 3, math.e
    p = sum(math.factorial(n - 2) // math.factorial(j) for j in range(n - 1))
    q = sum(math.factorial(n - 3) // math.factorial(j) for j in range(n - 2)) if n > 2 else 0
    degree_paths = sum(d**k for k in range(n - 1))
    expected = {
        "G": math.factorial(n),
        "Gp": math.factorial(n - 1),
        "Ap": cells(n - 1, N * (math.comb(n - 2, 2) * q * q + (n - 2) * q * p)),
        "Dp": cells(n - 1, N * math.comb(n, 2) * degree_paths**2),
        "C1": math.prod(L * n + i for i in range(2, n + 1)),
        "C1p": math.prod((n - 1) * (n - 2) * bound + i for i in range(2, n + 1)),
        "C2": cells(2, math.comb(n, 2) * (2 * L + 1)),
        "C3": cells(2, math.comb(n - 1, 2)),
        "C4": cells(2, N * min(math.comb(n - 2, 2) * q * q + (n - 2) * q * p, math.comb(n, 2) * degree_paths**2)),
        "U1": cells(n - 1, N * (n - 2)) * cells(n - 1, N),
    }
    logs = {label: math.log(value) for label, value in expected.items()}
    for label, x in (("A", math.factorial(n)), ("D", n * (n - 1) * d ** (n - 2)), ("I", n * n * bound)):
        logs[label] = math.log(2) + n * math.log(e * N * math.comb(x, 2))
    rows = [*capacities(n, "astar", integer_weights=bound, out_degree=d, parameters=2), capacity.inconsistency(n)]
    rows += capacities(n, "gbfs", parameters=2)
    seen = set()
    for row in rows:
        if row.label in logs:
            seen.add(row.label)
            # Rows known by the logarithm of their hyperplanes alone take the next integer.
            assert row.log_growth(N) == pytest.approx(logs[row.label], rel=1e-11, abs=1e-10 if row.finite else 0.35)
            assert row.log_growth(N) >= logs[row.label] * (1 - 1e-12) - 1e-12, row.label
    assert seen == set(logs)


@given(st.integers(2, 400), st.integers(1, 50), st.integers(1, 8))
def test_orderings(n: int, bound: int, d: int) -> None:
    value = {r.label: r.value for r in rs.pseudo_dimension(n, integer_weights=bound, out_degree=d).rows}
    greedy = {r.label: r.value for r in rs.pseudo_dimension(n, "gbfs").rows}
    assert value["C1p"] <= value["C1"] <= value["I"]
    assert value["Ap"] <= value["A"]
    assert value["Dp"] <= value["D"]
    assert greedy["Gp"] <= greedy["G"]
    lower = max(dimension.lower_paper(n), dimension.lower(n, "astar"))
    if n >= 4:
        assert lower <= min(value[label] for label in ("C1", "I", "A", "Ap", "Q64")) or bound < 3
        assert dimension.lower(n, "gbfs") <= greedy["Gp"]
        assert dimension.lower_for_some_utility(n) <= min(greedy["Gp"], value["C1p"], value["Ap"])


def test_fixed_source_never_costs_more() -> None:
    for n in range(2, 60):
        free, fixed = (rs.pseudo_dimension(n, integer_weights=3, fixed_source=f) for f in (False, True))
        assert fixed["C1p"] <= free["C1p"]
        assert fixed["Ap"] <= free["Ap"]
        assert capacity.greedy(n, fixed_source=True).pseudo_dimension <= capacity.greedy(n).pseudo_dimension


def test_on_integer_weights_the_sharper_capacity_is_at_most_two_fifths_of_the_papers() -> None:
    every = [*range(10, 300), *range(300, 10_000, 61), 10_000]
    ratios = [
        capacity.catalan_in_open(n, 10).pseudo_dimension / capacity.integer_paper(n, 10).pseudo_dimension for n in every
    ]
    assert max(ratios) <= 0.4
    assert min(ratios) < 0.31, "and not because the paper's own is overstated"


def all_rows(n: int) -> None:
    rs.pseudo_dimension(n, integer_weights=10, out_degree=4, parameters=min(n - 1, 10**4), levels=256)
    rs.pseudo_dimension(n, "gbfs", parameters=3)


@pytest.mark.parametrize("n", [2, 3, 10**3, 10**6, 10**8])
def test_all_rows_take_as_much_work_for_many_vertices_as_for_few(n: int) -> None:
    all_rows(2)  # what is imported at the first call
    thousand, found = count_calls(lambda: all_rows(10**3)), count_calls(lambda: all_rows(n))
    assert found["call"] < 3 * thousand["call"]
    assert found["c_call"] < 3 * thousand["c_call"]
    tracemalloc.start()
    all_rows(n)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000, "an array with a number for each vertex would take more"


@given(st.integers(2, 200))
def test_no_larger_set_is_claimed_to_be_shattered(n: int) -> None:
    for row in capacities(n, integer_weights=7, out_degree=3, parameters=2):
        N = row.pseudo_dimension
        assert row.log_growth(N + 1) < (N + 1) * math.log(2) * (1 + 1e-9)
        if N:
            assert row.log_growth(N) >= N * math.log(2) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"n": 1}, "n"),
        ({"n": 2.5}, "n"),
        ({"n": 5, "algorithm": "ida"}, "algorithm"),
        ({"n": 5, "integer_weights": 0}, "integer_weights"),
        ({"n": 5, "out_degree": 0}, "out_degree"),
        ({"n": 5, "parameters": -1}, "parameters"),
        ({"n": 5, "levels": 0}, "levels"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        rs.pseudo_dimension(**arguments)


# ---------------------------------------------------------------- the arrangement behind C1p, counted


def regions(n: int, near: int, far: int) -> int:
    """Regions of ρ_i − ρ_j = c, |c| ≤ near among vertices 1.., |c| ≤ far with vertex 0, by the finite field method.

    The number of points of F_q^n off all hyperplanes is a polynomial in q for large primes; its value at −1 counts
    the regions (Zaslavsky). Vertex 0 is put at 0, which divides by q.
    """
    primes = [q for q in range(2 * n * far + 3, 400) if all(q % f for f in range(2, int(q**0.5) + 1))][:n]
    counts = []
    for q in primes:
        allowed = np.array([min(x, q - x) > far for x in range(q)])
        apart = np.array([[min((x - y) % q, (y - x) % q) > near for y in range(q)] for x in range(q)])
        apart &= allowed[:, None] & allowed[None, :]
        places = [allowed]
        for _ in range(n - 2):  # places so far × one more, all pairs apart
            grid = places[-1]
            new = grid[..., None] & allowed
            for axis in range(grid.ndim):
                shape = [1] * (grid.ndim + 1)
                shape[axis] = shape[-1] = q
                new = new & apart.reshape(shape)
            places.append(new)
        counts.append(int(places[-1].sum()))
    # The polynomial of degree n − 1 through the counts, at −1, exactly.
    from fractions import Fraction

    total = Fraction(0)
    for i, x in enumerate(primes):
        term = Fraction(counts[i])
        for j, y in enumerate(primes):
            if i != j:
                term *= Fraction(-1 - y, x - y)
        total += term
    return abs(int(total))


@pytest.mark.parametrize(("n", "bound"), [(3, 1), (3, 2), (3, 5), (4, 1), (4, 2)])
def test_the_products_count_regions(n: int, bound: int) -> None:
    L = (n - 1) * bound
    assert regions(n, L, L) == round(math.exp(capacity.catalan(n, bound).log_count))
    near, far = (n - 3) * bound, (n - 2) * bound
    assert regions(n, near, far) == round(math.exp(capacity.catalan_in_open(n, bound).log_count))
    if n > 3:
        expected = round(math.exp(capacity.catalan_in_open(n, bound, fixed_source=True).log_count))
        assert regions(n - 1, near, far) == expected


def test_scores_in_open_differ_by_no_more_than_the_smaller_arrangement_says() -> None:
    """Behind C1p: |g_i − g_j| ≤ (n−3)ℓ for two vertices in OPEN, (n−2)ℓ if one is the goal, reopening included."""
    rng = np.random.default_rng(5)
    largest = {False: 0.0, True: 0.0}
    n, bound = 4, 2
    for trial in range(4000):
        graph = rs.Graph.from_edges(n, *zip(*itertools.permutations(range(n), 2), strict=True))
        weights = np.where(rng.random(graph.m) < 0.2, np.inf, rng.integers(0, bound + 1, graph.m))
        rho = rng.normal(0, 5, n)
        run = rs.astar(graph, weights, 0, n - 1, rho, reopen=bool(trial % 2), trace=True)
        for state in run.trace.states():
            g = dict(state.g)
            for i, j in itertools.combinations(state.open, 2):
                with_goal = n - 1 in (i, j)
                largest[with_goal] = max(largest[with_goal], abs(g[i] - g[j]))
    assert largest == {False: (n - 3) * bound, True: (n - 2) * bound}, "reached, and never exceeded"


def test_all_behaviours_of_a_small_class_are_no_more_than_counted() -> None:
    """n = 3, weights in {absent, 0, 1}, all instances to one goal, a fine grid of ρ with ties: joint behaviours ≤ K."""
    n, bound = 3, 1
    graph = rs.Graph.from_edges(n, *zip(*itertools.permutations(range(n), 2), strict=True))
    snapshots = np.array(list(itertools.product([np.inf, 0.0, 1.0], repeat=graph.m)))
    instances = [
        rs.InstanceSet(graph, snapshots, np.full(len(snapshots), source), goal=2, infeasible="drop")
        for source in (0, 1)
    ]
    grid = np.arange(-3, 3.1, 0.5)
    astar, greedy = set(), set()
    for a, b in itertools.product(grid, repeat=2):
        rho = np.array([a, b, 0.0])
        for found, algorithm in ((astar, "astar"), (greedy, "gbfs")):
            runs = [rs.solve_many(part, rho, algorithm=algorithm) for part in instances]
            found.add(b"".join(r.path.vertices.tobytes() + r.expanded.tobytes() + r.reopened.tobytes() for r in runs))
    assert 1 < len(astar) <= round(math.exp(capacity.catalan_in_open(n, bound).log_count)) == 20
    assert 1 <= len(greedy) <= round(math.exp(capacity.greedy(n).log_count)) == 2


# ---------------------------------------------------------------- lower bounds, run


def patterns(
    instances: list[rs.instances.Instance], tables: np.ndarray, algorithm: str, threshold: float
) -> set[tuple[bool, ...]]:
    search = rs.astar if algorithm == "astar" else rs.gbfs
    return {tuple(bool(search(*x, rho).cost > threshold) for x in instances) for rho in tables}


def test_the_instances_of_t5_prime_are_shattered() -> None:
    n, t = 5, 4
    rng = np.random.default_rng(0)
    tables = rng.uniform(0, 6, size=(3000, n))
    tables[:, t] = 0
    astar = []
    for i in range(n - 1):
        s = 0 if i else 1
        graph = rs.Graph.from_edges(n, [s, i, s], [i, t, t])
        astar.append(rs.instances.Instance(graph, graph.arrange([1.0, 1.0, 3.0]), s, t))
    assert len(astar) == dimension.lower(n, "astar")
    assert len(patterns(astar, tables, "astar", 2.5)) == 2 ** len(astar)
    greedy = []
    for j in range(1, n - 1):
        s = 1 if j != 1 else 2
        graph = rs.Graph.from_edges(n, [s, s, 0, j], [0, j, t, t])
        greedy.append(rs.instances.Instance(graph, graph.arrange([1.0, 1.0, 1.0, 2.0]), s, t))
    assert len(greedy) == dimension.lower(n, "gbfs")
    assert len(patterns(greedy, tables, "gbfs", 2.5)) == 2 ** len(greedy)


def test_the_instances_of_t5_are_shattered() -> None:
    n = 7
    s, r, t, m = 4, 5, 6, n - 4  # labels 1..n−3 of the paper are vertices 0..n−4
    instances = []
    for i in range(n - 4):
        edges = [(s, v) for v in range(n - 3)] + [(v, t) for v in range(i + 1, n - 3)] + [(i, r), (r, t)]
        graph = rs.Graph.from_edges(n, [e[0] for e in edges], [e[1] for e in edges])
        instances.append(rs.instances.Instance(graph, np.ones(graph.m), s, t))
    tables = []
    for chosen in itertools.product([False, True], repeat=n - 4):
        rho = np.full(n, float(n))
        rho[[r, t]] = 0
        for i in range(n - 3):
            if i == m or chosen[i]:
                rho[i] = i + 3
        tables.append(rho)
    assert len(instances) == dimension.lower_paper(n)
    for algorithm in ("astar", "gbfs"):
        assert len(patterns(instances, np.array(tables), algorithm, 2.5)) == 2 ** len(instances)


def test_the_star_has_as_many_behaviours_as_r1_counts() -> None:
    n = 6
    s, t, m = 4, 5, 0
    graph = rs.Graph.from_edges(n, [s] * (n - 2) + [m], [*range(n - 2), t])
    runs = set()
    for order in itertools.permutations(range(n - 2)):
        rho = np.zeros(n)
        rho[list(order)] = np.arange(n - 2)
        run = rs.gbfs(graph, np.ones(graph.m), s, t, rho, trace=True)
        runs.add(tuple(tuple(sorted(state.closed)) for state in run.trace.states()))
    assert len(runs) == math.floor(math.e * math.factorial(n - 3))
    assert dimension.lower_for_some_utility(n) == math.floor(math.log2(len(runs)))
    assert dimension.lower_for_some_utility(61) == logcount.simple_paths(60).bit_length() - 1
