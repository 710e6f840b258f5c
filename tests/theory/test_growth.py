"""Growth functions beside their bounds, instances with many behaviours, exact values for few vertices, and pictures."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.search import reference
from rhostar.theory._most_behaviours import climb, known_instances
from rhostar.theory._set_search import Kind


@pytest.fixture
def counted() -> rs.theory.Growth:
    return rs.theory.growth(rs.theory.theorem5_instances(8).instances, "astar", rs.utilities.Cost(3))


# ---------------------------------------------------------------- growth


def test_every_prefix_is_counted_as_if_it_were_alone(counted: rs.theory.Growth) -> None:
    instances = rs.theory.theorem5_instances(8).instances
    for k in range(1, 5):
        alone = rs.theory.joint_behaviours(instances[:k])
        assert counted.behaviours[k - 1] == len(alone)
        assert counted.vectors[k - 1] == len(alone.vectors(rs.utilities.Cost(3))[0]) == 2**k
    assert counted.all_vectors.shape == (16, 4)


@pytest.mark.parametrize("algorithm", ["gbfs", "astar"])
def test_counts_stay_below_every_bound(algorithm: str) -> None:
    rng = np.random.default_rng(0)
    n = 5
    tail, head = np.nonzero(~np.eye(n, dtype=bool))
    graph = rs.Graph.from_edges(n, tail, head)
    for fixed in (True, False):
        weights = rng.integers(0, 4, size=(4, graph.m))
        sources = 0 if fixed else rng.integers(0, n - 1, 4)
        found = rs.theory.growth(rs.InstanceSet(graph, weights, sources, n - 1), algorithm, rs.utilities.Expansions(20))
        assert ("C1p" in found.bounds) == (algorithm == "astar")
        for label, values in found.bounds.items():
            assert (np.log2(found.behaviours) <= values + 1e-9).all(), label
        assert (found.vectors <= found.behaviours).all()
        assert (np.diff(found.vectors) >= 0).all()


def test_rademacher_complexity_of_a_shattered_set(counted: rs.theory.Growth) -> None:
    """Costs are 2 or 3, each freely: the best choice for signs σ gives the mean of σ·2 + [σ > 0], whose mean is 1/2."""
    assert counted.rademacher == pytest.approx([0.5] * 4)
    assert (counted.massart >= counted.rademacher).all()
    assert (counted.monte_carlo >= counted.rademacher).all()
    signs = np.array(list(itertools.product([-1, 1], repeat=4)))
    assert np.mean((counted.all_vectors @ signs.T).max(axis=0)) / 4 == pytest.approx(counted.rademacher[-1])


def test_it_prints_within_eighty_columns_where_few_bounds_apply() -> None:
    text = str(rs.theory.growth(rs.theory.theorem5_instances(7).instances, "gbfs", rs.utilities.Cost(3)))
    assert max(map(len, text.splitlines())) <= 80
    with pytest.raises(rs.errors.InputError, match="Utility"):
        rs.theory.growth(rs.theory.theorem5_instances(7).instances, "astar", "cost")
    with pytest.raises(rs.errors.LimitError):
        rs.theory.growth(rs.theory.theorem5_instances(8).instances, "astar", rs.utilities.Cost(3), max_behaviours=10)


# ---------------------------------------------------------------- many behaviours of one instance


@pytest.mark.parametrize("n", range(3, 9))
def test_the_most_behaviours_without_reopening(n: int) -> None:
    """A sequence of distinct vertices before the goal, any of them: s → v for all v."""
    wide = rs.theory.instance_set(n, [{(n - 2, v): 1 for v in range(n) if v != n - 2}], n - 2, n - 1)
    most = sum(math.factorial(n - 2) // math.factorial(j) for j in range(n - 1))
    assert len(rs.theory.joint_behaviours(wide, reopen=False)) == most
    assert n == 3 or most == math.floor(math.e * math.factorial(n - 2))


def test_the_instances_in_the_package() -> None:
    found = known_instances()
    assert {(c.n, c.search) for c in found} == set(
        itertools.product(range(4, 9), ("gbfs", "astar-reopen", "astar-closed"))
    )
    for one in found:
        algorithm, reopen = ("gbfs", True) if one.search == "gbfs" else ("astar", one.search == "astar-reopen")
        if one.behaviours < 50_000:
            assert len(rs.theory.joint_behaviours(one.instance(), algorithm, reopen)) == one.behaviours
        most = math.floor(math.e * math.factorial(one.n - (3 if one.search == "gbfs" else 2)))
        assert one.behaviours <= max(2, most) or one.search == "astar-reopen"
        if one.search == "astar-reopen" and one.weights == "large":
            assert one.behaviours > most


def test_climbing_is_the_same_again() -> None:
    kind = Kind(5, "astar", True, "cost", "large")
    first = climb(kind, 1, tries=100)
    assert first == climb(kind, 1, tries=100)
    assert first is not None
    assert len(rs.theory.joint_behaviours(first.instance())) == first.behaviours


# ---------------------------------------------------------------- exact pseudo-dimensions of greedy search


def all_functions(n: int, of_path: bool) -> list[int]:
    """Every function of the order of ρ that some instance and threshold show, as a set of orders; one of each pair of
    complements. With `of_path` every set of paths may be called expensive, whether weights can make it so or not.
    """
    goal = n - 1
    orders = list(itertools.permutations(range(n - 1)))
    everything = (1 << len(orders)) - 1
    found = set()
    for source in range(n - 1):
        inner = [v for v in range(n - 1) if v != source]
        edges = [(source, v) for v in inner] + [(u, v) for u in inner for v in [*inner, goal] if u != v]
        local = {order: k for k, order in enumerate(itertools.permutations(inner))}
        which = [local[tuple(v for v in order if v != source)] for order in orders]
        seen = set()
        for mask in range(1 << len(edges)):
            chosen = sorted(edge for k, edge in enumerate(edges) if mask >> k & 1)
            children = reference.children_of(n, [u for u, _ in chosen], [v for _, v in chosen], [1.0] * len(chosen))
            if not children[source] or not any(goal == v for _, v in chosen):
                continue
            outcomes = []
            for order in local:
                rho = [0.0] * n
                for k, v in enumerate(order):
                    rho[v] = k
                run = reference.gbfs(children, source, goal, rho)
                if run.status != "solved":
                    break
                outcomes.append(tuple(run.path) if of_path else run.expanded)
            if len(outcomes) < len(local) or tuple(outcomes) in seen:
                continue
            seen.add(tuple(outcomes))
            values = sorted(set(outcomes))
            cuts = [values[k:] for k in range(1, len(values))]
            if of_path:
                cuts = [c for size in range(1, len(values)) for c in itertools.combinations(values, size)]
            for high in cuts:
                function = sum(1 << i for i, k in enumerate(which) if outcomes[k] in high)
                found.add(min(function, everything ^ function))
    return sorted(found)


def shattered(functions: list[int], points: int, size: int) -> bool:
    def extend(classes: list[int], begin: int, left: int) -> bool:
        if left == 0:
            return True
        least = 1 << (left - 1)
        for k in range(begin, len(functions)):
            parts = [part for c in classes for part in (c & functions[k], c & ~functions[k])]
            if all(part.bit_count() >= least for part in parts) and extend(parts, k + 1, left - 1):
                return True
        return False

    return extend([(1 << points) - 1], 0, size)


@pytest.mark.parametrize("of_path", [True, False])
def test_greedy_search_on_four_vertices(of_path: bool) -> None:
    functions = all_functions(4, of_path)
    assert shattered(functions, 6, 2)
    assert not shattered(functions, 6, 3)


@pytest.mark.slow
@pytest.mark.parametrize("of_path", [True, False])
def test_greedy_search_on_five_vertices(of_path: bool) -> None:
    """All instances tried: the pseudo-dimension is 3, one less than lg 4!, for expansions and paths."""
    functions = all_functions(5, of_path)
    assert shattered(functions, 24, 3)
    assert not shattered(functions, 24, 4)


# ---------------------------------------------------------------- pictures


def test_growth_is_drawn(counted: rs.theory.Growth, tmp_path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    ax = counted.plot()
    assert ax.get_legend() is not None
    ax.figure.savefig(tmp_path / "growth.png")
    assert (tmp_path / "growth.png").stat().st_size > 20_000
