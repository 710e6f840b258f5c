"""Whatever has heuristic values is accepted everywhere, and what does not fit is rejected."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, HeuristicError, InputError, ModelError, NotFittedError, VertexError
from rhostar.heuristics import PerGoal, Table, as_heuristic
from rhostar.lines._means import dual
from rhostar.lines._pieces import pieces

GRAPH = rs.Graph.grid(4, 5)
GOAL = 19
UTILITY = rs.utilities.Expansions(limit=100.0)


def draw(goals: Any = GOAL, graph: rs.Graph = GRAPH, seed: int = 0) -> rs.InstanceSet:
    weights = np.random.default_rng(seed).uniform(1, 2, size=(12, graph.m))
    return rs.InstanceSet(graph, weights, sources=0, goal=goals)


INSTANCES = draw()
LEARNER = rs.learners.MeanDistance().fit(INSTANCES)
VALUES = LEARNER.rho_


def forms() -> dict[str, Any]:
    return {
        "list": VALUES.tolist(),
        "mapping": {GOAL: VALUES, 3: np.zeros(20)},
        "learner": LEARNER,
        "per goal": rs.learners.PerGoal(rs.learners.MeanDistance()).fit(INSTANCES),
        "model": rs.Model.of(LEARNER, GRAPH),
        "function": lambda u, v: float(VALUES[u]),
        "heuristic": LEARNER.heuristic_,
        "per goal by hand": PerGoal({GOAL: Table(VALUES), 3: np.zeros(20)}, 20),
    }


def takers() -> dict[str, Callable[[Any, rs.InstanceSet], Any]]:
    """Everything that takes ρ, and a number that depends on it."""
    return {
        "astar": lambda rho, i: rs.astar(*i[0], rho).expanded,
        "gbfs": lambda rho, i: rs.gbfs(*i[0], rho).expanded,
        "trace": lambda rho, i: len(rs.astar(*i[0], rho, trace=True).trace),
        "lower_bound": lambda rho, i: rs.astar(*i[0], np.zeros(20), lower_bound=rho).gap,
        "solve_many": lambda rho, i: rs.solve_many(i, rho).expanded.tolist(),
        "evaluate": lambda rho, i: rs.evaluate(rho, i, UTILITY)[0].mean,
        "custom": lambda rho, i: (
            rs.evaluate(rho, i, rs.utilities.Custom(100.0, lambda _, trace: float(len(trace))))[0].mean
        ),
        "certify": lambda rho, i: rs.certify(rho, draw(i.goals, i.graph, 1), UTILITY).best.value,
        "pieces": lambda rho, i: len(pieces(*i[0], np.zeros(20), rho, 0, 1)),
        "dual": lambda rho, i: dual(np.zeros(20), rho, 0, 1, i, "astar", UTILITY).value,
        "report": lambda rho, i: rs.report.compare(i, {"this": rho})[0].expansions,
        "audit": lambda rho, i: rs.audit(rho, draw(i.goals, i.graph, 1)).values.vertex_excess.tolist(),
    }


@pytest.mark.parametrize("taker", takers())
@pytest.mark.parametrize("form", forms())
def test_every_form_is_taken_everywhere(form: str, taker: str) -> None:
    take = takers()[taker]
    assert take(forms()[form], INSTANCES) == take(VALUES, INSTANCES)


@pytest.mark.parametrize("taker", takers())
def test_what_does_not_fit_is_refused_everywhere(taker: str) -> None:
    take = takers()[taker]
    with pytest.raises(NotFittedError, match="this MeanDistance is not fitted yet: call fit first"):
        take(rs.learners.MeanDistance(), INSTANCES)
    elsewhere = rs.Graph.grid(5, 4)
    for rho in (LEARNER, rs.Model.of(LEARNER, GRAPH)):
        with pytest.raises(ModelError, match="fitted on another graph: 20 vertices"):
            take(rho, draw(graph=elsewhere))
    other = draw(goals=7)
    for rho in (LEARNER, rs.Model.of(LEARNER, GRAPH), LEARNER.heuristic_):
        with pytest.raises(ModelError, match=f"was fitted for goal {GOAL}, not for goal 7"):
            take(rho, other)
    several = PerGoal({GOAL: VALUES, 3: VALUES}, 20).with_facts(fingerprint=GRAPH.fingerprint)
    with pytest.raises(ModelError, match=f"was fitted for goals {GOAL}, 3, not for goal 7"):
        take(several, other)
    with pytest.raises(HeuristicError, match=f"has no values for goal 7; it has values for {GOAL}"):
        take({GOAL: VALUES}, other)
    with pytest.raises(ArrayError, match="one value for each of the 20 vertices"):
        take(VALUES[:5].tolist(), INSTANCES)
    with pytest.raises(ModelError, match="for a graph with 5 vertices; this one has 20"):
        take(Table(VALUES[:5]), INSTANCES)


@pytest.mark.parametrize("taker", ["astar", "gbfs", "solve_many", "evaluate", "certify", "report", "audit"])
def test_tables_that_are_chosen_by_the_weights_are_for_one_graph(taker: str) -> None:
    take = takers()[taker]
    learner = rs.learners.Portfolio(n_clusters=2).fit(INSTANCES)
    several = rs.learners.PerGoal(rs.learners.Portfolio(n_clusters=2)).fit(INSTANCES)
    weighted = rs.learners.Potentials(n_clusters=2).fit(INSTANCES)
    for rho in (learner, rs.Model.of(learner, GRAPH), several, rs.Model.of(several, GRAPH), weighted):
        assert take(rho, INSTANCES) is not None
        with pytest.raises(ModelError, match="fitted on another graph: 20 vertices"):
            take(rho, draw(graph=rs.Graph.grid(5, 4)))


def test_an_exact_learner_promises_nothing_on_another_graph() -> None:
    """With as many edges, its bounds would be compared with the weights of other edges, and answers be too long."""
    ring, back = [(v, (v + 1) % 6) for v in range(6)], [(v, (v + 5) % 6) for v in range(6)]
    there, other = (rs.Graph.from_edges(6, *zip(*edges, strict=True)) for edges in (ring, back))
    exact = rs.learn(rs.InstanceSet(there, np.ones((2, 6)), sources=1, goal=0))
    assert exact.heuristic_.fingerprint == there.fingerprint
    with pytest.raises(ModelError, match="fitted on another graph"):
        rs.astar(other, np.ones(6), 1, 0, exact)


def test_a_learner_that_holds_for_any_goal_is_asked_for_it() -> None:
    landmarks = rs.learners.Landmarks(k=3, random_state=0).fit(INSTANCES)
    other = draw(goals=7)
    assert rs.solve_many(other, landmarks).expanded.tolist() == (
        rs.solve_many(other, landmarks.heuristic_.table(7)).expanded.tolist()
    )
    assert rs.astar(*other[0], landmarks).expanded == rs.astar(*other[0], landmarks.heuristic_.table(7)).expanded


def test_a_list_of_goals_is_no_goal() -> None:
    for rho in (VALUES, {GOAL: VALUES}, LEARNER):
        with pytest.raises(VertexError, match=r"goal must be a vertex .* got \[19, 7\]"):
            rs.astar(GRAPH, GRAPH.length, 0, [19, 7], rho)


def test_a_goal_given_as_text_is_seen_in_the_message() -> None:
    with pytest.raises(HeuristicError, match="has no values for goal 19; it has values for '19'"):
        rs.solve_many(INSTANCES, {"19": VALUES})


def test_many_goals_are_not_all_listed() -> None:
    with pytest.raises(HeuristicError, match=r"it has values for 0, 1, 2, 3, 4 and 11 more$"):
        rs.astar(GRAPH, GRAPH.length, 0, GOAL, dict.fromkeys(range(16), VALUES))


def test_arrays_are_checked_and_never_copied() -> None:
    goals = np.array([3, 19, 7, 3], dtype=np.int32)
    other = np.ones(20)
    tables, of = as_heuristic({3: VALUES, 19: other, 7: VALUES}, GRAPH, goals).tables(goals)
    assert all(any(table is own for own in (VALUES, other)) for table in tables)
    assert [tables[k] is VALUES for k in of] == [True, False, True, True]
    with pytest.raises(HeuristicError, match=r"rho\[19\]\[0\] must be finite"):
        as_heuristic({3: VALUES, 19: other * np.nan, 7: VALUES}, GRAPH, goals).tables(goals)


def test_what_carries_nothing_is_named() -> None:
    with pytest.raises(InputError, match="rho must be an array of numbers"):
        rs.astar(GRAPH, GRAPH.length, 0, GOAL, object())
