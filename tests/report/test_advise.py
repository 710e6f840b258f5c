"""rs.advise: the fastest option that is good enough, and from how many queries another one is."""

import re
import time
from importlib.util import find_spec

import numpy as np
import pytest

import rhostar as rs
from rhostar.report import Advice, Option
from rhostar.report._advise import ALWAYS, MEASURED, WHILE


def advice(queries: float, mean_excess: float = 0.0, goals: int = 1) -> Advice:
    """One with times that were made up, to check the arithmetic."""
    options = (
        Option("Dijkstra", 0, 0, 0, 100e-6, 0, 0, 0, ALWAYS),
        Option("tables", 0, 0, 3e-3, 5e-6, 0, 0, 0, ALWAYS),
        Option("envelope", 1, 0, 0, 20e-6, 0, 0, 0, WHILE),
        Option("learned", 1, 0, 0, 10e-6, 0.01, 0.1, 0.2, MEASURED),
        Option("elsewhere", 1, 1e-3, 0, 8e-6, 0, 0, 0, ALWAYS),
    )
    return Advice(options, queries, goals, mean_excess, "")


def test_the_fastest_that_is_good_enough() -> None:
    assert advice(1).best.name == "envelope"
    assert advice(1, mean_excess=0.02).best.name == "learned"
    assert advice(1, mean_excess=0.005).best.name == "envelope"
    assert advice(100).best.name == "elsewhere"  # 1.8 ms, the envelope takes 2 ms
    assert advice(1000).best.name == "tables"
    assert advice(1000, goals=2).best.name == "elsewhere"  # a table for each goal
    found = advice(1000, goals=1000)
    tables = found.options[1]
    assert found.seconds(tables) == pytest.approx(1000 * (3e-3 + 5e-6))  # customizing counts in full, and so do tables
    assert found.seconds(tables, 10) == pytest.approx(10 * (3e-3 + 5e-6))  # goals that differ still do
    assert advice(1000, goals=5).seconds(tables, 10) == pytest.approx(5 * 3e-3 + 10 * 5e-6)
    assert found.seconds(found.options[4]) == pytest.approx(1e-3 + 1000 * 8e-6)


def test_other_numbers_of_queries() -> None:
    found = advice(10)
    for queries in (1, 50, 83, 84, 1000):
        assert found.best_for(queries).name == advice(queries).best.name
    assert "The fastest by queries per update: from 1 envelope; from 100 elsewhere; from\n1,000 tables." in str(found)
    assert "Use envelope: 5.0 times as fast as Dijkstra, after 1 s once." in str(found)
    alone = Advice(found.options[:1], 10, 1, 0.0, "")
    assert "Use Dijkstra: no accepted option is faster." in str(alone)
    assert "from 1 learned" not in str(found)  # not good enough at this mean_excess


def test_times_that_do_not_grow_evenly() -> None:
    """A router searches at first, and then customizes."""
    option = Option("Router", 1, 5.0, 0, 0.5, 0, 0, 0, ALWAYS, ((0, 1.0), (1, 3.0), (10, 12.0)))
    assert [option.seconds(k, k) for k in (0, 0.5, 1, 4, 10, 20)] == [1.0, 2.0, 3.0, 6.0, 12.0, 17.0]


def test_the_tail_of_what_is_not_exact() -> None:
    assert [line for line in str(advice(1)).splitlines() if "99 %" in line] == [
        "learned: 99 % within 10.00 %, worst 20.00 %"
    ]
    town = rs.datasets.city(400, seed=1).draw(500, seed=0)
    found = rs.advise(town, 3)
    learned = found.options[5]
    assert learned.name == "A*, learned mean distances"
    train, test = town.split(0.5, seed=0, groups=town.rows)
    runs = rs.solve_many(test, rs.learners.MeanDistance().fit(train))
    over = runs.cost / rs.solve_many(test, np.zeros(test.graph.n)).cost - 1
    tail = np.quantile(over, 0.99, method="inverted_cdf")
    assert 0 < over.mean() < tail < over.max()
    assert (learned.excess, learned.excess_99, learned.worst) == pytest.approx((over.mean(), tail, over.max()))
    line = f"A*, learned mean distances: 99 % within {100 * tail:.2f} %, worst {100 * over.max():.2f} %"
    assert line in str(found).splitlines()
    assert max(map(len, str(found).splitlines())) <= 80


def test_measured_on_a_city() -> None:
    town = rs.datasets.city(400, seed=1)
    drawn = town.draw(40, seed=0)
    sources = np.random.default_rng(0).integers(0, town.graph.n, 40)
    goals = np.where(np.arange(40) % 2, 7, 11)
    sources[(sources == 7) | (sources == 11)] = 0
    instances = rs.InstanceSet(drawn.graph, drawn.weights, sources, goals, rows=drawn.rows)
    for given, count in ((drawn, 1), (instances, 2)):
        found = rs.advise(given, 3, mean_excess=0.5)
        assert found.goals == count
        by_name = {option.name: option for option in found.options}
        assert by_name["Dijkstra"].excess == by_name["tables of costs-to-go"].excess == 0
        assert by_name["A*, learned mean distances"].guarantee == MEASURED
        assert all(o.per_query > 0 and o.worst >= o.excess >= 0 for o in found.options)
        assert by_name["tables of costs-to-go"].per_goal > 0
        assert re.search(
            r"^Use .*: ([\d.]+ times as fast as Dijkstra.*|nothing .* is faster)\.$", str(found), flags=re.MULTILINE
        )


def test_bad_input() -> None:
    instances = rs.datasets.city(100, seed=1).draw(10, seed=0)
    with pytest.raises(rs.errors.InputError, match="two snapshots or more"):
        rs.advise(instances[:1], 5)
    with pytest.raises(rs.errors.InputError, match="queries must be a number above 0"):
        rs.advise(instances, 0)
    with pytest.raises(rs.errors.InputError, match="mean_excess"):
        rs.advise(instances, 1, mean_excess=-1)


def test_a_router_is_measured_and_its_answers_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    town, usual = rs.datasets.city(400, seed=1).draw(20, seed=0), rs.Router.prepare

    def slowly(router: rs.Router) -> None:
        end = time.process_time() + 0.01
        while time.process_time() < end:
            pass
        usual(router)

    monkeypatch.setattr(rs.Router, "prepare", slowly)
    found = rs.advise(town, 5)
    option = found.options[0]
    assert (option.name, option.guarantee, found.left_out) == ("Router", ALWAYS, "")
    assert option.worst < 1e-9
    assert option.per_update > 0.01  # customizing is counted in full
    assert option.curve[0][1] > 0
    assert [k for k, _ in option.curve] == [0, 1, 2, 5, 10, 20, 50, 100, 200]
    assert found.seconds(option, 200) == option.curve[-1][1]


def test_a_graph_without_a_hierarchy(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(graph: rs.Graph, **_: object) -> None:
        raise rs.errors.LimitError("it needs 7 arcs")

    monkeypatch.setattr("rhostar.routing._state.Hierarchy", too_large)
    found = rs.advise(rs.datasets.city(400, seed=1).draw(20, seed=0), 5)
    assert [option.name for option in found.options][-1] == "A*, learned mean distances"
    assert str(found).endswith("There is no hierarchy: it needs 7 arcs.")


@pytest.mark.skipif(find_spec("pyroutingkit") is None, reason="pyroutingkit is not installed")
def test_rounding_for_routing_kit_makes_no_excess() -> None:
    """Also without coordinates: RoutingKit gets our order."""
    town = rs.datasets.city(900, seed=1)
    graph = rs.Graph(town.graph.first_out, town.graph.head)
    weights = town.snapshots(20, seed=0)
    weights[3, 7] = np.inf
    rng = np.random.default_rng(0)
    sources = rng.integers(0, graph.n, 20)
    instances = rs.InstanceSet(graph, weights, sources, (sources + 1 + rng.integers(0, 800, 20)) % graph.n)
    kit = rs.advise(instances, 5).options[-1]
    assert kit.name == "RoutingKit"
    assert 0 <= kit.worst < 1e-7
    assert kit.per_update > 0


def test_goals_that_were_never_seen() -> None:
    town = rs.datasets.city(400, seed=1).draw(20, seed=0)
    found = rs.advise(town, 1000, goals=1000)
    names = [option.name for option in found.options]
    assert "A*, learned mean weights" in names  # a table would not serve them
    assert str(found).startswith("1,000 queries per update, to 1,000 different goals\n")
    tables = found.options[2]
    assert found.seconds(tables) > 1000 * tables.per_goal > 0
    assert len(str(found).splitlines()) < 24
    assert max(map(len, str(found).splitlines())) <= 80
    with pytest.raises(rs.errors.InputError, match="goals must be at least 1"):
        rs.advise(town, 5, goals=0)


def test_any_goal_is_served_by_potentials() -> None:
    drawn = rs.datasets.city(400, seed=1).draw(40, seed=0)
    rng = np.random.default_rng(0)
    ends = np.array([rng.choice(drawn.graph.n, 2, replace=False) for _ in range(40)]).T
    instances = rs.InstanceSet(drawn.graph, drawn.weights, *ends, rows=drawn.rows, infeasible="drop")
    found = rs.advise(instances, 1, mean_excess=0.5)
    by_name = {option.name: option for option in found.options}
    assert by_name["A*, lower envelope"].excess == pytest.approx(0.0, abs=1e-9)
    assert 0 <= by_name["A*, learned mean weights"].excess < 0.5
    assert str(found).startswith("1 query per update, to 1 goal\n")
    assert rs.advise(instances, 50).goals == np.unique(instances.goals).size


def test_instances_without_a_path_are_left_out() -> None:
    graph = rs.Graph.grid(4, 4)
    weights = np.random.default_rng(0).uniform(1, 2, size=(12, graph.m))
    weights[::3, graph.head == 15] = np.inf  # nothing leads to the goal
    kept = rs.InstanceSet(graph, weights, sources=0, goal=15, infeasible="keep")
    found = rs.advise(kept, 3)
    assert {option.excess for option in found.options if option.exact} == {0.0}
    weights[:, graph.head == 15] = np.inf
    with pytest.raises(rs.errors.InfeasibleError, match="none of the 6 instances"):
        rs.advise(rs.InstanceSet(graph, weights, sources=0, goal=15, infeasible="keep"), 3)
