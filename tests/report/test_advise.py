"""rs.advise: the fastest option that is good enough, and from how many queries another one is."""

import math
import re

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
    assert advice(100, goals=1).best.name == "elsewhere"
    assert advice(20, goals=10).best.name == "elsewhere"  # what a snapshot costs is shared by its goals
    assert advice(1000).best.name == "tables"


def test_break_even_is_where_both_take_as_long() -> None:
    found = advice(10)
    tables = found.options[1]
    turn = found.break_even(tables)
    assert turn == pytest.approx(200)
    assert found.seconds(tables, turn) == pytest.approx(found.seconds(found.best, turn))
    assert math.isinf(found.break_even(found.options[0]))
    # At 84 queries "elsewhere" is the fastest; at 200 it is better than tables, too, so that line is left out.
    assert "From 84 queries, elsewhere is faster." in str(found)
    assert "tables is faster" not in str(found)
    assert "Use envelope: 5.0 times as fast as Dijkstra." in str(found)
    alone = Advice(found.options[:1], 10, 1, 0.0, "")
    assert "Use Dijkstra: nothing that is good enough is faster." in str(alone)
    assert "learned is faster" not in str(found)  # not good enough at this mean_excess


def test_the_tail_of_what_is_not_exact() -> None:
    assert [line for line in str(advice(1)).splitlines() if "99 %" in line] == [
        "learned: 99 % within 10.00 %, worst 20.00 %"
    ]
    town = rs.datasets.city(400, seed=1).draw(500, seed=0)
    found = rs.advise(town, 3)
    learned = found.options[4]
    train, test = town.split(0.5, seed=0, groups=town.rows)
    runs = rs.solve_many(test, rs.learners.MeanDistance().fit(train))
    over = runs.cost / rs.solve_many(test, np.zeros(test.graph.n)).cost - 1
    tail = np.quantile(over, 0.99, method="inverted_cdf")
    assert 0 < over.mean() < tail < over.max()
    assert (learned.excess, learned.excess_99, learned.worst) == pytest.approx((over.mean(), tail, over.max()))
    line = f"A* with learned mean distances: 99 % within {100 * tail:.2f} %, worst {100 * over.max():.2f} %"
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
        assert by_name["Dijkstra"].excess == by_name["costs-to-go, once per snapshot"].excess == 0
        assert by_name["A* with learned mean distances"].guarantee == MEASURED
        assert all(o.per_query > 0 and o.worst >= o.excess >= 0 for o in found.options)
        assert by_name["costs-to-go, once per snapshot"].per_goal > 0
        assert re.search(
            r"^Use .*: ([\d.]+ times as fast as Dijkstra|nothing .* is faster)\.$", str(found), flags=re.MULTILINE
        )


def test_bad_input() -> None:
    instances = rs.datasets.city(100, seed=1).draw(10, seed=0)
    with pytest.raises(rs.errors.InputError, match="two snapshots or more"):
        rs.advise(instances[:1], 5)
    with pytest.raises(rs.errors.InputError, match="queries must be a number above 0"):
        rs.advise(instances, 0)
    with pytest.raises(rs.errors.InputError, match="mean_excess"):
        rs.advise(instances, 1, mean_excess=-1)


def test_a_hierarchy_is_measured_and_its_answers_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    town = rs.datasets.city(400, seed=1).draw(20, seed=0)
    found = rs.advise(town, 5)
    option = found.options[-1]
    assert (option.name, option.guarantee) == ("hierarchy, customized per snapshot", ALWAYS)
    assert option.worst < 1e-9
    assert option.per_snapshot > 0
    assert found.left_out == ""

    def too_large(graph: rs.Graph) -> None:
        raise rs.errors.LimitError("it needs 7 arcs")

    monkeypatch.setattr("rhostar.report._advise.Hierarchy", too_large)
    found = rs.advise(town, 5)
    assert found.options[-1].name == "A* with learned mean distances"
    assert str(found).endswith("A hierarchy was not measured: it needs 7 arcs.")


def test_any_goal_is_served_by_potentials() -> None:
    drawn = rs.datasets.city(400, seed=1).draw(40, seed=0)
    rng = np.random.default_rng(0)
    ends = np.array([rng.choice(drawn.graph.n, 2, replace=False) for _ in range(40)]).T
    instances = rs.InstanceSet(drawn.graph, drawn.weights, *ends, rows=drawn.rows, infeasible="drop")
    found = rs.advise(instances, 1, mean_excess=0.5)
    by_name = {option.name: option for option in found.options}
    assert by_name["A* with the lower envelope"].excess == pytest.approx(0.0, abs=1e-9)
    assert 0 <= by_name["A* with learned mean weights"].excess < 0.5
    assert "with 1 query\n" in str(found)


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
