"""Utilities: each by hand, clipped at H, refused below 0; heuristics beside them."""

import pickle
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
import sklearn.exceptions

import rhostar as rs
from rhostar.errors import InputError, UtilityError
from rhostar.utilities import (
    Cost,
    Custom,
    Expansions,
    Generated,
    PeakOpen,
    Ratio,
    SolvedWithin,
    Suboptimality,
    Utility,
    by_name,
    registry,
)
from rhostar.utilities import _measures as base
from support.cases import ADMISSIBLE, DETOUR


@pytest.fixture
def detour() -> rs.InstanceSet:
    return rs.InstanceSet(*DETOUR, [0, 2], 3)


def values(instances: rs.InstanceSet, utility: Utility, rho=ADMISSIBLE, **options) -> list[float]:
    options = {"reopen": False} | options
    return rs.evaluate(rho, instances, [utility], **options)[0].values.tolist()


@pytest.mark.parametrize(
    ("utility", "expected"),
    [
        (Cost(100), [6, 3]),
        (Cost(5), [5, 3]),
        (Suboptimality(10), [1, 0]),
        (Ratio(10), [6 / 5, 1]),
        (Expansions(10), [3, 1]),
        (Generated(10), [4, 2]),
        (PeakOpen(10), [2, 1]),
        (SolvedWithin(1), [0, 1]),
        (SolvedWithin(1.2), [1, 1]),
    ],
)
def test_by_hand(detour: rs.InstanceSet, utility: Utility, expected: list[float]) -> None:
    assert values(detour, utility) == expected
    if utility.needs_optimum:
        given = rs.evaluate(ADMISSIBLE, detour, [utility], reopen=False, optimum=[5.0, 3.0])
        assert given[0].values.tolist() == expected


def test_the_clipped_share_is_reported(detour: rs.InstanceSet) -> None:
    result = rs.evaluate(ADMISSIBLE, detour, [Cost(5), Cost(6), Cost(2)], reopen=False)
    assert [score.clipped for score in result] == [0.5, 0.0, 1.0]
    assert [score.mean for score in result] == [4.0, 4.5, 2.0]
    assert "50.0%" in str(result)
    assert result["cost"] is result[0]
    with pytest.raises(InputError, match="no utility 'ratio'"):
        result["ratio"]


def test_a_run_without_an_answer_counts_as_the_limit(detour: rs.InstanceSet) -> None:
    # After one expansion a path is known, but the run is not solved.
    for utility in (Cost(50), Suboptimality(50), Ratio(50)):
        result = rs.evaluate(np.zeros(4), detour, [utility], budget=1)[0]
        assert result.values.tolist() == [50, utility.raw(rs.solve_many(detour, np.zeros(4)), np.array([5.0, 3.0]))[1]]
        assert result.clipped == 0.5
    assert values(detour, SolvedWithin(9), budget=1) == [0, 1]
    assert values(detour, Expansions(9), budget=1) == [1, 1]


def test_ratios_of_zero() -> None:
    graph = rs.Graph.from_edges(4, [0, 0, 1, 2], [1, 2, 2, 3])
    instances = rs.InstanceSet(graph, [0.0, 3.0, 0.0, 0.0], [0, 1], 3)
    assert values(instances, Ratio(7), ADMISSIBLE) == [7, 1]  # cost 3 against 0; 0 against 0
    assert values(instances, Suboptimality(7), ADMISSIBLE) == [3, 0]
    assert values(instances, SolvedWithin(2), ADMISSIBLE) == [0, 1]


def test_suboptimality_is_never_negative_by_rounding(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(15, 15, neighbors=8)
    instances = rs.InstanceSet(graph, rng.uniform(0.1, 0.2, (100, graph.m)), 0, 224)
    result = rs.evaluate(rng.uniform(0, 1, 225), instances, [Suboptimality(1e-3), Ratio(2)])
    assert (result[0].values >= 0).all()
    assert (result[1].values >= 1).all()


def test_a_given_optimum_may_be_off_by_rounding(rng: np.random.Generator) -> None:
    graph = rs.Graph.grid(12, 12, neighbors=8)
    instances = rs.InstanceSet(graph, rng.uniform(0.1, 0.2, (60, graph.m)), 0, 143)
    optimum = [rs.distances_to(graph, i.weights, 143)[0] for i in instances]  # added up from the other end
    assert (optimum != rs.solve_many(instances, np.zeros(144)).cost).any()
    result = rs.evaluate(np.zeros(144), instances, [Suboptimality(9), SolvedWithin(1), Ratio(2)], optimum=optimum)
    assert [score.mean for score in result] == [0, 1, 1]


def _widest(instance: rs.instances.Instance, trace: rs.search.Trace) -> float:
    return max(len(state.open) for state in trace.states())


@pytest.mark.parametrize("algorithm", ["astar", "gbfs"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_custom_sees_the_whole_run(rng: np.random.Generator, algorithm: str, jobs: int) -> None:
    graph = rs.Graph.grid(6, 6)
    instances = rs.InstanceSet(graph, rng.uniform(1, 2, (20, graph.m)), rng.integers(0, 30, 20), goal=35)
    rho = rs.heuristics.euclidean(graph, 35)

    def length(instance: rs.instances.Instance, trace: rs.search.Trace) -> float:
        return float(instance.weights[instance.graph.edge_index(trace.path[:-1], trace.path[1:])].sum())

    both = rs.evaluate(
        rho, instances, [Custom(99, _widest), Custom(99, length, "length")], algorithm=algorithm, n_jobs=jobs
    )
    np.testing.assert_allclose(both["length"].values, both.runs.cost)
    peak = both.runs.peak_open
    # Greedy search returns midway, with the selected vertex and its children still in OPEN.
    assert (both["_widest"].values >= peak).all()
    if algorithm == "astar":
        assert both["_widest"].values.tolist() == peak.tolist()


@pytest.mark.parametrize("value", [-1e-9, np.nan])
def test_raw_values_below_zero_raise(detour: rs.InstanceSet, value: float) -> None:
    with pytest.raises(UtilityError, match="of instance 0 must be at least 0, got"):
        values(detour, Custom(5, lambda instance, trace: value))
    assert values(detour, Custom(5, lambda instance, trace: np.inf)) == [5, 5]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Cost(0),
        lambda: Cost(-1),
        lambda: Cost(-np.inf),
        lambda: Cost(np.nan),
        lambda: Cost("9"),
        lambda: SolvedWithin(0.5),
        lambda: SolvedWithin(np.nan),
        lambda: SolvedWithin("1"),
        lambda: Cost(np.array([1, 2])),
        lambda: Custom(0, len),
    ],
)
def test_bad_limits(make) -> None:
    with pytest.raises(UtilityError):
        make()


def test_bad_evaluations(detour: rs.InstanceSet) -> None:
    for utilities in ([], [3], [Cost]):
        with pytest.raises(InputError, match="utilities must"):
            rs.evaluate(ADMISSIBLE, detour, utilities)
    assert rs.evaluate(ADMISSIBLE, detour, Cost(9))["cost"].mean == 4.0  # one utility needs no list
    for optimum in ([5.0, np.nan], [5.0, -1.0], [5.0, 3.1]):
        with pytest.raises(InputError, match=r"optimum\[1\] = .* is not an optimal cost"):
            rs.evaluate(ADMISSIBLE, detour, Ratio(2), optimum=optimum)
    with pytest.raises(InputError, match="optimum must have one value per instance"):
        rs.evaluate(ADMISSIBLE, detour, [Ratio(2)], optimum=[1.0])


def test_utilities_are_values() -> None:
    assert Cost(5) == Cost(5) != Cost(6)
    assert Cost(5) != Expansions(5)
    assert SolvedWithin(1.5) != SolvedWithin(2)
    assert repr(Suboptimality(limit=40.0)) == "Suboptimality(limit=40.0)"
    assert (SolvedWithin(2).limit, SolvedWithin(2).better, Cost(1).better) == (1.0, "higher", "lower")


def test_every_utility_registers_itself_under_its_key() -> None:
    keys = ["cost", "suboptimality", "ratio", "expansions", "generated", "peak_open", "solved_within"]
    assert list(registry) == keys
    for key, kind in registry.items():
        utility = by_name(key, 2.0, n=10)
        assert (type(utility), utility.name, kind.key) == (kind, key, key)
        assert utility.words


def test_a_utility_by_name_has_a_natural_limit_or_asks_for_one() -> None:
    assert by_name("expansions", n=12) == Expansions(12.0)
    assert by_name("peak-open", n=12) == PeakOpen(12.0)  # as it is typed on a command line
    assert by_name("solved-within", n=12) == SolvedWithin(1.05)
    assert by_name("solved_within", 1.5, n=12) == SolvedWithin(1.5)
    with pytest.raises(UtilityError, match="cost needs a limit"):
        by_name("cost", n=12)
    with pytest.raises(UtilityError, match=r"must be one of cost, suboptimality, .*, got 'speed'"):
        by_name("speed", n=12)


def test_a_utility_of_your_own_needs_one_class(detour: rs.InstanceSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "registered", registered := dict(registry))

    class TwiceExpanded(Utility):
        key = "twice_expanded"
        words = "twice the expanded vertices"

        def raw(self, runs: rs.search.Runs, optimum: object) -> np.ndarray:
            return 2.0 * runs.expanded

    class Unnamed(TwiceExpanded):
        pass

    assert registered["twice_expanded"] is TwiceExpanded
    assert "unnamed" not in registered
    found = rs.evaluate(ADMISSIBLE, detour, [TwiceExpanded(9), Unnamed(9)], reopen=False)
    assert found["twice_expanded"].values.tolist() == found["unnamed"].values.tolist() == [6, 2]
    with pytest.raises(UtilityError, match=r"the key 'cost' is already used by rhostar\.utilities\._measures\.Cost"):
        type("Mine", (Utility,), {"key": "cost"})
    with pytest.raises(UtilityError, match="lower-case ASCII"):
        type("Mine", (Utility,), {"key": "Läufe"})


def test_an_evaluation_is_a_short_sequence_of_scores(detour: rs.InstanceSet) -> None:
    found = rs.evaluate(ADMISSIBLE, detour, [Cost(5), Custom(9, _widest, "<widest>")], reopen=False)
    assert len(found) == 2
    assert list(found) == [found["cost"], found["<widest>"]] == [found[0], found[1]]
    assert repr(found) == "Evaluation(cost 4, <widest> 1.5; 2 of 2 solved)"
    assert repr(found["cost"]) == "Score(cost: mean 4 over 2 instances, 50.0% clipped)"
    assert str(found).splitlines()[0].split() == ["utility", "mean", "std", "max", "limit", "clipped"]
    page = found._repr_html_()
    assert "&lt;widest&gt;" in page
    assert "<widest>" not in page
    assert "2 of 2 solved" in page


@pytest.mark.parametrize("module", [rs.utilities, rs.heuristics, rs.errors])
def test_completion_shows_public_names_alone(module: ModuleType) -> None:
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
    assert not {"np", "Any", "annotations", "map_chunks"} & set(dir(module))


def test_not_fitted_is_the_error_of_scikit_learn(detour: rs.InstanceSet) -> None:
    with pytest.raises(sklearn.exceptions.NotFittedError, match="this MeanDistance is not fitted yet") as caught:
        rs.evaluate(rs.learners.MeanDistance(), detour, rs.utilities.Expansions(10))
    assert isinstance(caught.value, rs.errors.NotFittedError)
    assert isinstance(caught.value, InputError)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), rs.errors.NotFittedError)
    code = "import sys, rhostar.errors, rhostar; rhostar.evaluate; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


class TestHeuristics:
    def test_they_never_overestimate_on_their_grids(self) -> None:
        for neighbors, heuristic in (
            (4, rs.heuristics.euclidean),
            (8, rs.heuristics.euclidean),
            (8, rs.heuristics.octile),
        ):
            graph = rs.Graph.grid(9, 13, neighbors=neighbors)
            exact = rs.distances_to(graph, graph.length, 40)
            rho = heuristic(graph, 40)
            assert rho[40] == 0
            assert (rho <= exact + 1e-12).all()
        np.testing.assert_allclose(rho, exact)  # octile is exact on the empty grid

    def test_haversine(self) -> None:
        graph = rs.Graph.from_edges(3, [0], [1], coordinates=[(0, 0), (180, 0), (0, 90)])
        half_way_round = np.pi * 6_371_008.8
        np.testing.assert_allclose(rs.heuristics.haversine(graph, 0), [0, half_way_round, half_way_round / 2])
        np.testing.assert_allclose(rs.heuristics.haversine(graph, 0, scale=0.5)[2], half_way_round / 4)
        with pytest.raises(rs.errors.GraphError, match="degrees"):
            rs.heuristics.haversine(rs.Graph.from_edges(2, [0], [1], coordinates=[(0, 0), (500, 100)]), 0)

    def test_bad_input(self) -> None:
        bare, grid = rs.Graph.from_edges(2, [0], [1]), rs.Graph.grid(2, 2)
        for heuristic in (rs.heuristics.euclidean, rs.heuristics.octile, rs.heuristics.haversine):
            with pytest.raises(rs.errors.GraphError, match="no coordinates"):
                heuristic(bare, 0)
            with pytest.raises(rs.errors.VertexError, match="goal"):
                heuristic(grid, 4)
            for scale in (-1, np.nan, np.inf):
                with pytest.raises(InputError, match="scale"):
                    heuristic(grid, 0, scale=scale)
