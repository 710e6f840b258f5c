"""The audit against the definitions, in every form in which a heuristic and a graph can be given."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.certificates import QueryLog, read_log
from rhostar.errors import ArrayError, AssumptionError, HeuristicError, InputError, InstanceError


def town(seed: int = 0, side: int = 6) -> nx.DiGraph:
    rng = np.random.default_rng(seed)
    G = nx.DiGraph()
    for u, v in nx.grid_2d_graph(side, side).to_directed().edges:
        G.add_edge(u, v, weight=float(rng.integers(1, 5)))
    return G


def manhattan(u: tuple[int, int], v: tuple[int, int]) -> float:
    return 2.0 * (abs(u[0] - v[0]) + abs(u[1] - v[1]))


def pairs_of(G: nx.DiGraph, count: int, seed: int) -> list[tuple[Any, Any]]:
    rng, nodes = np.random.default_rng(seed), list(G)
    found = []
    while len(found) < count:
        u, v = (nodes[k] for k in rng.integers(0, len(nodes), 2))
        if u != v:
            found.append((u, v))
    return found


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_the_numbers_are_those_of_networkx(seed: int) -> None:
    G = town(seed, 5)
    pairs = pairs_of(G, 30, seed)
    found = rs.audit(manhattan, G, pairs=pairs)
    optimum = np.array([nx.dijkstra_path_length(G, u, v) for u, v in pairs])
    estimate = np.array([manhattan(u, v) for u, v in pairs])
    assert found["too high"].measured == np.mean(estimate > optimum)
    assert found.log.loss(0.0).max() == 0
    # networkx breaks ties in another order, but where our answer is optimal for all ties both agree on the optimum.
    loss = found.log.loss(1.0)
    assert found["not optimal"].measured == np.mean(loss > 0)
    assert np.allclose(found.log.optimum[found.log.rows(1.0)], optimum)
    assert found["mean loss"].measured == pytest.approx(np.minimum(loss, 1).mean())
    # Every pair of vertices was looked at.
    assert found.values is not None
    assert found.values.every_goal
    ratios = [
        nx.dijkstra_path_length(G, u, v) / manhattan(u, v) for u in G for v in G if u != v and manhattan(u, v) > 0
    ]
    assert found.values.admissible_scale == pytest.approx(min(ratios))
    wrong = [(u, v) for u, v, w in G.edges(data="weight") for t in G if manhattan(u, t) - manhattan(v, t) > w]
    assert found.values.edges.size == len(set(wrong))
    if min(ratios) < 1:
        assert found.fix is not None
        assert min(ratios) - 1e-3 < found.fix.factor <= min(ratios)
        assert found.fix.not_optimal == 0


def test_every_form_of_a_heuristic_gives_the_same_audit() -> None:
    G = town()
    pairs = pairs_of(G, 60, 1)
    nodes = list(G)
    matrix = np.array([[manhattan(u, v) for v in nodes] for u in nodes])
    graph = rs.Graph.from_networkx(G)
    weights = graph.weights_of(G, "weight")
    sources, goals = ([nodes.index(pair[k]) for pair in pairs] for k in (0, 1))
    instances = rs.InstanceSet(graph, weights, sources, goals)
    expected = [(one.key, one.measured, one.low, one.high) for one in rs.audit(manhattan, G, pairs=pairs).statements]
    columns = {v: np.ascontiguousarray(matrix[:, v]) for v in range(graph.n)}
    router = rs.Router(graph)
    router.update(weights)
    forms = [manhattan, matrix, columns, rs.heuristics.Function(manhattan, graph)]
    for heuristic in forms:
        for where, ends in (
            (G, pairs),
            (rs.instances.Network(graph, weights), pairs),
            (router, pairs),
            (instances, None),
        ):
            found = rs.audit(heuristic, where, pairs=ends)
            assert [(one.key, one.measured, one.low, one.high) for one in found.statements] == expected
    undirected = nx.Graph(nx.grid_2d_graph(5, 5))
    assert rs.audit(lambda u, v: 0.5 * manhattan(u, v), undirected).values.admissible, "edges without a weight count 1"


def test_one_table_for_one_goal() -> None:
    instances = rs.datasets.city(200, seed=3).draw(200, seed=1)
    goal = int(instances.goals[0])
    train, holdout = instances.split(0.3, seed=0)
    learner = rs.learners.MeanDistance().fit(train)
    found = rs.audit(learner, holdout)
    assert found.values.scope == f"goal {goal} on {len(holdout)} snapshots"
    assert not found.values.admissible
    assert "not known" not in " ".join(found.notes)
    bare = rs.audit(learner.rho_, holdout)
    assert [one.text for one in bare.statements] == [one.text for one in found.statements]
    assert "What the heuristic was learned from is not known" in " ".join(bare.notes)
    with pytest.raises(AssumptionError, match="seen in training"):
        rs.audit(learner, instances)
    # The lower bounds of the city are never undercut, so this one is right, and says so.
    safe = rs.audit(rs.learners.LowerEnvelope(rs.datasets.city(200, seed=3).edge_bounds[0]).fit(train), holdout)
    assert safe.values.admissible
    assert safe.fix is None
    assert any("returns shortest paths, for certain" in text for text in safe.sentences)
    assert safe["mean loss"].measured == 0


def test_a_heuristic_that_is_lowered_where_it_must_be() -> None:
    graph = rs.Graph.grid(6, 6)
    past = np.random.default_rng(0).uniform(2, 3, (40, graph.m))
    learned = rs.learn(rs.InstanceSet(graph, past, 0, 35), lower=2.0)
    today = np.random.default_rng(1).uniform(1, 3, (60, graph.m))
    with pytest.warns(rs.errors.RhostarWarning, match="below the lower bounds"):
        found = rs.audit(learned, rs.InstanceSet(graph, today, 0, 35))
    assert found["not optimal"].measured == 0
    assert not found.values.admissible
    assert "lowers its values where weights are below them" in " ".join(found.notes)


def test_days_and_snapshots_are_the_draws() -> None:
    graph = rs.Graph.grid(4, 4)
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 2, (12, graph.m))
    rows = np.repeat(np.arange(12), 5)
    sources = np.tile(np.arange(5), 12)
    by_snapshot = rs.audit(rs.heuristics.octile(graph), rs.InstanceSet(graph, weights, sources, 15, rows=rows))
    assert "60 queries of 12 snapshots" in by_snapshot.conditions
    assert "needs independent queries" in " ".join(by_snapshot.notes)
    days = rs.InstanceSet(graph, weights, sources, 15, rows=rows, days=np.arange(12) // 4)
    by_day = rs.audit(rs.heuristics.octile(graph), days)
    assert "60 queries of 3 days" in by_day.conditions
    assert "on new days drawn as these 3 were" in by_day.conditions
    assert by_day["mean loss"].high > by_snapshot["mean loss"].high, "three draws say less than twelve"
    alone = rs.audit(rs.heuristics.octile(graph), days, groups=np.arange(60))
    assert "60 queries of 60 groups" in alone.conditions


def test_a_log_says_what_the_searches_say(tmp_path: Path) -> None:
    instances = rs.datasets.city(200, seed=3).draw(600, seed=1)
    heuristic = rs.heuristics.euclidean(instances.graph).scaled(2.5)
    found = rs.audit(heuristic, instances)
    log, path = found.log, tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "factor", "estimate", "cost", "true cost", "expanded", "remark"])
        for i in range(len(log)):
            cells = (log.factor[i], log.estimate[i], log.cost[i], log.optimum[i], log.effort[i])
            writer.writerow([f"q{i % 600:03}", *(repr(float(x)) for x in cells), "x"])
    read = rs.audit(read_log(path))
    assert [(one.key, one.text) for one in read.statements] == [(one.key, one.text) for one in found.statements]
    assert read.values is None
    assert rs.choose_weight(read_log(path), limit=2.0).tested == (1.0,)
    # Only (estimate, true cost): the sentences about estimates.
    both = zip(log.estimate[:600], log.optimum[:600], strict=True)
    path.write_text("estimate,true cost\n" + "".join(f"{e},{o}\n" for e, o in both))
    short = rs.audit(read_log(path))
    assert [one.key for one in short.statements] == ["too high", "fix"]
    assert short["too high"].measured == found["too high"].measured
    assert short["too high"].high < found["too high"].high, "two statements share the confidence, not six"
    json.loads(found.to_json())
    assert found.to_dict()["statements"][0]["measured"] == found["too high"].measured


def test_answers_that_were_not_found() -> None:
    log = QueryLog([1.0] * 500, cost=[math.inf] * 20 + [1.0] * 480)
    found = rs.audit(log)
    assert found["mean loss"].measured == pytest.approx(0.04)
    assert found["quantile"].high == math.inf
    assert any("no answer, query 0" in text for text in found.sentences)
    assert json.loads(found.to_json())["statements"][2]["high"] is None


def test_no_factor_helps_where_the_true_cost_is_0() -> None:
    G = nx.DiGraph([(0, 1, {"weight": 0.0}), (1, 2, {"weight": 1.0})])
    found = rs.audit(lambda u, v: 1.0, G, pairs=[(0, 1), (1, 2), (0, 2)])
    assert found.fix is None
    assert "No factor makes it admissible" in found.sentences[-1]


def test_what_is_printed_is_all_there() -> None:
    found = rs.audit(manhattan, town(), pairs=500)
    text, page = str(found), found._repr_html_()
    for sentence in (*found.sentences, found.conditions):
        assert " ".join(sentence.split()) in " ".join(text.split())
    assert page.count("<li>") == len(found.sentences)
    assert "pairs of vertices drawn uniformly at random" in found.conditions
    assert repr(found).startswith("Audit(too high 0.")
    with pytest.raises(InputError, match="there is no statement 'speed'"):
        found["speed"]


def test_bad_input() -> None:
    G = town()
    with pytest.raises(InputError, match="confidence must be a number strictly between 0 and 1"):
        rs.audit(manhattan, G, confidence=95)
    with pytest.raises(InputError, match="must be an InstanceSet, a Network, a Router or a networkx graph, got list"):
        rs.audit(manhattan, [])
    with pytest.raises(InputError, match="a set of instances has its own"):
        rs.audit(np.zeros(4), rs.InstanceSet(rs.Graph.grid(2, 2), np.ones((2, 8)), 0, 3), pairs=5)
    with pytest.raises(HeuristicError, match=r"heuristic of \(0, 0\) to .* must be a number, got None"):
        rs.audit(lambda u, v: None, G)
    with pytest.raises(HeuristicError, match="must be finite, got nan"):
        rs.audit(lambda u, v: math.nan, G)
    with pytest.raises(InputError, match="needs no instances"):
        rs.audit(QueryLog([1.0], cost=[1.0]), G)
    with pytest.raises(InstanceError, match="at least 2"):
        rs.audit(manhattan, G, pairs=[((0, 0), (1, 1))])
    with pytest.raises(InputError, match=r"cost\[1\] must not be below optimum\[1\]"):
        QueryLog([1.0, 2.0], cost=[1.0, 1.5])
    with pytest.raises(InputError, match=r"optimum\[0\] must be a finite number"):
        QueryLog([math.nan], cost=[1.0])
    with pytest.raises(ArrayError, match="one number for each of the 2 rows"):
        QueryLog([1.0, 2.0], cost=[1.0])
    with pytest.raises(InputError, match="needs the column estimate, or the column cost"):
        QueryLog([1.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("estimate,cost\n1,2\n", "must have the column optimum"),
        ("estimate,optimum\n1,two\n", "line 2: optimum must be a number, got 'two'"),
        ("estimate,optimum\n", "at least one row"),
        ("query,factor,cost,optimum\na,1,2,2\na,1,2,2\n", "one row for each query"),
    ],
)
def test_bad_logs(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_log(path)


# ---------------------------------------------------------------- the curve, and a choice


def test_the_curve_is_what_searches_do() -> None:
    instances = rs.datasets.city(200, seed=3).draw(300, seed=1)
    heuristic = rs.heuristics.euclidean(instances.graph)
    curve = rs.weight_curve(heuristic, instances, factors=(1, 2, 3), exact=10)
    optimum = rs.solve_many(instances, np.zeros(instances.graph.n)).cost
    for k, f in enumerate((1.0, 2.0, 3.0)):
        runs = rs.solve_many(instances, heuristic.scaled(f))
        assert curve.effort[k] == runs.expanded.mean()
        assert curve.loss[k] == pytest.approx(np.minimum(runs.cost / optimum - 1, 1).mean(), abs=1e-9)
        assert curve.loss_low[k] <= curve.loss[k] <= curve.loss_high[k]
        assert curve.saved_low[k] <= curve.saved[k] <= curve.saved_high[k]
        few = rs.solve_many(instances[:10], heuristic.scaled(f))
        assert curve.exact_effort.at(f) == few.expanded.mean()
        assert curve.exact_loss.at(f) == pytest.approx((few.cost / optimum[:10]).mean())
    assert "hold at once with 95% confidence" in str(curve)
    assert curve.plot().get_xlabel() == "factor on the heuristic"


def test_the_fastest_of_those_that_pass_is_chosen() -> None:
    rng = np.random.default_rng(0)
    count, factors = 2000, (1.0, 1.2, 1.4, 1.6)
    rows = {"factor": [], "cost": [], "effort": []}
    for f, mean, work in zip(factors, (0.0, 0.002, 0.004, 0.05), (90, 40, 50, 10), strict=True):
        rows["factor"] += [f] * count
        rows["cost"] += (1 + rng.exponential(mean, count) if mean else np.ones(count)).tolist()
        rows["effort"] += [work] * count
    log = QueryLog(optimum=[1.0] * (4 * count), **rows)
    choice = rs.choose_weight(log, mean_excess=0.01)
    assert choice.passed == (1.0, 1.2, 1.4)
    assert choice.tested == factors
    assert choice.factor == 1.2, "the third needs more work"
    assert "the factor 1.2 has a mean loss of at most 1%" in choice.sentence
    assert "1.6 did not pass" in choice.conditions
    # A later factor is not tested, however good it is.
    assert rs.choose_weight(log, mean_excess=0.01, factors=(1.6, 1.0)).factor is None
    without = QueryLog(log.optimum, cost=log.cost, factor=log.factor)
    assert rs.choose_weight(without).factor == 1.4, "without effort, the last that passed"
    assert rs.weight_curve(without).factors == factors


def test_too_few_queries_are_said_to_be() -> None:
    for limit, fewest in ((1.0, 299), (5.0, 1497)):
        for count, chosen in ((fewest - 1, None), (fewest, 1.0)):
            choice = rs.choose_weight(QueryLog([1.0] * count, cost=[1.0] * count), limit=limit)
            assert (choice.factor, choice.fewest) == (chosen, fewest)
        assert f"{fewest:,} independent" in choice.conditions
    few = rs.choose_weight(QueryLog([1.0] * 10, cost=[1.0] * 10, group=[k // 5 for k in range(10)]))
    assert "299 independent groups are needed, and there are 2" in few.sentence
    with pytest.raises(InputError, match="mean_excess must be"):
        rs.choose_weight(QueryLog([1.0], cost=[1.0]), mean_excess=2.0)
    with pytest.raises(InputError, match="factors must be different finite numbers above 0"):
        rs.choose_weight(QueryLog([1.0], cost=[1.0]), factors=[0.0])
    with pytest.raises(InputError, match="the log has no rows with factor 3"):
        rs.choose_weight(QueryLog([1.0], cost=[1.0]), factors=[3.0])


# ---------------------------------------------------------------- the arguments of networkx.astar_path


def streets_of(kind: type[nx.Graph]) -> nx.Graph:
    rng, made = np.random.default_rng(0), kind()
    for u, v in nx.grid_2d_graph(7, 7).edges:
        made.add_edge(u, v, seconds=float(rng.uniform(1, 3)))
        if made.is_directed():
            made.add_edge(v, u, seconds=float(rng.uniform(1, 3)))
        if made.is_multigraph() and rng.random() < 0.4:
            made.add_edge(u, v, seconds=float(rng.uniform(1, 3)))
    return made


def away(u: tuple[int, int], v: tuple[int, int]) -> float:
    return 1.4 * (abs(u[0] - v[0]) + abs(u[1] - v[1]))


def twice(u: Any, v: Any, data: Any) -> float | None:
    """Hides the edges out of (3, 3); in a multigraph it gets all parallel edges."""
    cost = data["seconds"] if "seconds" in data else min(one["seconds"] for one in data.values())
    return None if u == (3, 3) else 2 * cost


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("weight", ["seconds", twice])
def test_the_same_arguments_as_astar_path(kind: type[nx.Graph], weight: Any) -> None:
    G = streets_of(kind)
    pairs = [((0, 0), (6, 6)), ((2, 5), (6, 0)), ((5, 5), (0, 1)), ((6, 3), (0, 3))]
    log = rs.audit(away, G, pairs=pairs, weight=weight).log
    expected = [nx.dijkstra_path_length(G, s, t, weight) for s, t in pairs]
    np.testing.assert_allclose(log.optimum[log.rows(1.0)], expected)
    answers = [nx.astar_path_length(G, s, t, away, weight) for s, t in pairs]
    np.testing.assert_allclose(log.cost[log.rows(1.0)], answers)
    assert log.estimate[log.rows(1.0)].tolist() == [away(s, t) for s, t in pairs]


def test_weights_are_never_guessed_in_silence() -> None:
    G = streets_of(nx.DiGraph)
    with pytest.raises(InputError, match="no edge of the graph has the attribute 'second'"):
        rs.audit(away, G, weight="second")
    del G[(0, 0)][(0, 1)]["seconds"]
    with pytest.warns(rs.errors.RhostarWarning, match=r"1 of 168 edges have no attribute 'seconds' and cost 1"):
        rs.audit(away, G, weight="seconds", pairs=20)
    with pytest.raises(rs.errors.WeightError, match="must not be negative, got -1"):
        rs.audit(away, G, weight=lambda u, v, data: -1)
    with pytest.raises(rs.errors.WeightError, match="the weight function must return numbers"):
        rs.audit(away, G, weight=lambda u, v, data: "far")
    assert rs.audit(away, nx.grid_2d_graph(5, 5), pairs=20).log.optimum.min() >= 1, "without weights each edge costs 1"


def test_a_router_and_tables_of_values() -> None:
    G = streets_of(nx.DiGraph)
    expected = rs.audit(away, G, weight="seconds", pairs=80)
    network = rs.interop.from_networkx(G, "seconds")
    graph = network.graph
    router = rs.Router(graph)
    router.update(network.weights[0])
    full = np.array([[away(u, v) for v in graph.labels] for u in graph.labels])
    for heuristic in (away, full, full.tolist(), {v: full[:, k] for k, v in enumerate(graph.labels)}):
        assert rs.audit(heuristic, router, pairs=80).statements == expected.statements
    assert rs.audit(full.astype(np.float32), router, pairs=80)["not optimal"] == expected["not optimal"]
    rng = np.random.default_rng(1)
    one = rs.InstanceSet(graph, rng.uniform(1, 3, (40, graph.m)), rng.integers(0, 40, 40), 48)
    by_label = {v: away(v, graph.labels[48]) for v in graph.labels}
    said = rs.audit(full[:, 48], one).statements
    assert rs.audit(by_label, one).statements == said
    assert rs.audit({graph.labels[48]: full[:, 48]}, one).statements == said
    del by_label[(2, 2)]
    with pytest.raises(InputError, match=r"must have a value for each vertex; \(2, 2\) has none"):
        rs.audit(by_label, one)
    with pytest.raises(InputError, match="must not be a mapping of mappings"):
        rs.audit({(0, 0): {(0, 1): 3.0}}, one)
    with pytest.raises(InputError, match="heuristic must be given"):
        rs.audit(None, one)


def test_the_same_graph_with_edges_removed() -> None:
    """The router is made once; each time other edges are closed, and the audit is about what is left."""
    G = streets_of(nx.DiGraph)
    graph = rs.Graph.from_networkx(G)
    router = rs.Router(graph)
    pairs = [((0, 0), (6, 6)), ((2, 5), (6, 0)), ((5, 5), (0, 1))]
    for seed in range(3):
        after = G.copy()
        gone = [list(G.edges)[k] for k in np.random.default_rng(seed).choice(G.number_of_edges(), 20, replace=False)]
        after.remove_edges_from(gone)
        router.update(graph.weights_of(after, "seconds"))
        converted = rs.audit(away, after, weight="seconds", pairs=pairs).log
        kept = rs.audit(away, router, pairs=pairs).log
        for name in ("optimum", "cost"):
            np.testing.assert_allclose(getattr(kept, name), getattr(converted, name))
        router.update(graph.weights_of(G, "seconds"))
        router.update(edges=gone, weights=[np.inf] * len(gone))  # the same by name
        np.testing.assert_allclose(rs.audit(away, router, pairs=pairs).log.optimum, kept.optimum)


def test_how_the_queries_were_answered_is_said() -> None:
    """The factor and the missing reopening were dropped: the text was the same for any of them."""
    graph = rs.Graph.grid(4, 4)
    rng = np.random.default_rng(0)
    queries = rs.InstanceSet(graph, rng.uniform(1, 2, (60, graph.m)), rng.integers(0, 14, 60), 15)
    steps = rs.heuristics.Table(rs.distances_to(graph, np.ones(graph.m), 15), 15)
    assert rs.audit(steps, queries).conditions.startswith("From 60 queries. ")
    both = rs.audit(steps.scaled(1.5), queries, reopen=False)
    words = "From 60 queries, answered by A* without reopening with the heuristic (scaled by 1.5). "
    assert both.conditions.startswith(words)
    assert words.strip() in both.to_dict()["conditions"]
    text = " ".join(str(rs.audit(steps.scaled(1.5), queries)).split())
    assert "answered by A* with the heuristic (scaled by 1.5)." in text


def test_no_factor_is_promised_where_it_does_not_multiply_the_values() -> None:
    """Scaling by 0.83 "would make it admissible", for certain: but the delay at the goal is not scaled."""
    graph = rs.Graph.from_edges(3, [0, 0, 1], [1, 2, 2])
    today = np.array([1.0, 12.0, 9.0])
    queries = rs.InstanceSet(graph, np.tile(today, (60, 1)), sources=0, goal=2)
    learned = rs.heuristics.DistanceHeuristic(graph, [10.0, 4.0, 1.0], goal_delay=True)
    found = rs.audit(learned, queries)
    assert found.values is not None
    scaled = learned.scaled(found.values.admissible_scale)
    assert scaled.table(2, today)[0] > rs.distances_to(graph, today, 2)[0]
    assert not learned.multiplies
    assert "caled by" not in str(found)
    assert "Scaling by" not in str(found)
    assert "No factor" not in str(found)
    assert "delay at the goal is not multiplied" in " ".join(str(found).split())
    assert [one.key for one in found.statements] == ["too high", "not optimal", "mean loss", "effort"]
    assert all(one.delta == pytest.approx(0.05 / 4) for one in found.statements)
    plain = rs.audit(rs.heuristics.DistanceHeuristic(graph, [20.0, 20.0, 20.0]), queries)
    assert "Scaling by" in str(plain)
