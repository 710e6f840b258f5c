"""The router's choice between searching and customizing, in counted work."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.errors import InputError

GRAPH = rs.Graph.grid(12, 12)
ZERO = np.zeros(GRAPH.n)


def expansions(weights: np.ndarray, s: int, t: int) -> int:
    return rs.astar(GRAPH, weights, s, t, ZERO).expanded


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 143), st.integers(0, 143)), max_size=12), st.integers(0, 5), st.booleans())
def test_at_most_twice_the_better_choice(pairs: list[tuple[int, int]], seed: int, known: bool) -> None:
    """Searches alone, or customizing first: what the router spends is at most twice the less of both."""
    weights = np.random.default_rng(seed).uniform(1, 2, GRAPH.m)
    router = rs.Router(GRAPH)
    if known:
        router.prepare()  # the order is built, so the number of arcs is known
    router.update(weights)
    customizing = router.explain().customizing
    searches = 0
    for s, t in pairs:
        before = router.explain()
        router.route(s, t)
        after = router.explain()
        if before.engine == "hierarchy":
            assert after.spent == before.spent
            continue
        cost = expansions(weights, s, t)
        if searches + cost <= customizing:
            searches += cost
            assert (after.engine, after.spent) == ("search", searches)
        else:
            # The search was stopped at the limit, not later and not before.
            assert after.engine == "hierarchy"
            assert customizing - 1 < after.spent <= customizing
    hindsight = sum(expansions(weights, s, t) for s, t in pairs)
    done = router.explain()
    total = done.spent + (customizing if done.engine == "hierarchy" else 0.0)
    assert total <= 2 * min(hindsight, customizing)


def test_an_update_starts_again() -> None:
    router = rs.Router(GRAPH)
    router.update(GRAPH.length)
    for _ in range(10):
        router.route(0, 143)
    assert router.explain().engine == "hierarchy"
    router.update(GRAPH.length)
    assert (router.explain().engine, router.explain().spent) == ("search", 0.0)


def test_few_changes_are_followed() -> None:
    """What an update of some edges costs is less than customizing, and so the hierarchy follows earlier."""
    rng = np.random.default_rng(4)
    router = rs.Router(graph := rs.Graph.grid(60, 60))
    today = rng.uniform(1, 2, graph.m)
    router.update(today)
    router.prepare()
    full = router.explain().customizing
    for k in range(6):
        for _ in range(1 + k % 3):  # several updates may come before the next query
            some = rng.integers(0, graph.m, 3)
            today[some] = rng.choice([0.0, 0.5, 4.0, np.inf], 3)
            router.update(edges=some, weights=today[some])
        assert router.explain().engine == "search"
        assert router.explain().customizing < 0.3 * full
        s, t = rng.integers(0, graph.n, 2).tolist()
        assert router.route(s, t).cost == pytest.approx(rs.astar(graph, today, s, t, np.zeros(graph.n)).cost)
        router.prepare()
        assert router.route(s, t).cost == rs.Hierarchy(graph).customize(today).distance(s, t)
    router.update(edges=np.arange(1000), weights=today[:1000])
    assert router.explain().customizing == full


def test_bulk_decides_before_it_starts() -> None:
    rng = np.random.default_rng(0)
    router = rs.Router(GRAPH)
    router.prepare()
    router.update(GRAPH.length)
    router.routes(rng.integers(0, GRAPH.n, (2000, 2)))
    assert (router.explain().engine, router.explain().searches) == ("hierarchy", 0)
    router.update(GRAPH.length)
    router.matrix(range(100), range(100))
    assert (router.explain().engine, router.explain().searches) == ("hierarchy", 0)
    router.update(GRAPH.length)
    router.routes([(0, 1), (2, 3)])
    assert (router.explain().engine, router.explain().spent) == ("search", 3.0)


def test_within_does_not_count() -> None:
    router = rs.Router(GRAPH)
    router.update(GRAPH.length)
    for _ in range(20):
        router.within(0, np.inf)
        router.next_hops([5])
    assert (router.explain().engine, router.explain().spent) == ("search", 0.0)


def test_a_heuristic_guides_the_searches() -> None:
    rng = np.random.default_rng(1)
    lower = rng.uniform(1, 2, GRAPH.m)
    learned = rs.learners.Potentials(lower=lower).fit(rs.InstanceSet(GRAPH, [lower], [0], 143))
    plain, guided = rs.Router(GRAPH), rs.Router(GRAPH, learned)
    for factor in (1.1, 0.8):
        for router in (plain, guided):
            router.update(factor * lower)
        ways = [router.route(3, 40) for router in (plain, guided)]
        assert ways[0].cost == pytest.approx(ways[1].cost)
        assert ways[1].bound == ways[1].cost
        assert guided.explain().spent < plain.explain().spent
    assert "Every route is optimal" in str(guided.explain())


@pytest.mark.parametrize("excess", [0.0, 0.1, 1.0])
def test_a_certain_excess(excess: float) -> None:
    rng = np.random.default_rng(2)
    usual = rng.uniform(1, 2, GRAPH.m)
    heuristic = rs.heuristics.DistanceHeuristic(GRAPH, usual).with_facts(consistent_for=usual)
    router = rs.Router(GRAPH, heuristic, max_excess=excess)
    for _ in range(20):
        today = usual * rng.uniform(0.7, 1.5, GRAPH.m)
        router.update(today)
        s, t = rng.integers(0, GRAPH.n, 2).tolist()
        route, best = router.route(s, t), rs.astar(GRAPH, today, s, t, ZERO).cost
        assert route.bound is not None
        assert route.bound <= best * (1 + 1e-12)
        assert best <= route.cost * (1 + 1e-12)
        assert route.cost <= (1 + excess) * best * (1 + 1e-12)
        assert route.cost <= (1 + excess) * route.bound * (1 + 1e-12)


def test_a_mean_excess_uses_what_was_learned() -> None:
    rng = np.random.default_rng(3)
    weights = rng.uniform(1, 2, size=(60, GRAPH.m))
    learned = rs.learners.MeanDistance().fit(rs.InstanceSet(GRAPH, weights[:50], rng.integers(0, 100, 50), 143))
    with pytest.raises(InputError, match="mean_excess"):
        rs.Router(GRAPH, learned)
    router = rs.Router(GRAPH, learned, mean_excess=0.05)
    for today in weights[50:]:
        router.update(today)
        route, run = router.route(0, 143), rs.astar(GRAPH, today, 0, 143, learned)
        assert (route.cost, router.explain().spent) == (run.cost, run.expanded)
        assert route.bound is None or route.bound <= rs.astar(GRAPH, today, 0, 143, ZERO).cost
        assert router.route(0, 50).cost == pytest.approx(rs.astar(GRAPH, today, 0, 50, ZERO).cost)
    assert "on average" in router.explain().guarantee


def test_excesses_are_checked() -> None:
    lower = rs.heuristics.DistanceHeuristic(GRAPH, GRAPH.length).with_facts(lower=GRAPH.length)
    for options, message in (
        ({"max_excess": -0.1}, "max_excess"),
        ({"mean_excess": np.nan}, "mean_excess"),
        ({"max_excess": 0.1, "mean_excess": 0.1}, "exclude"),
    ):
        with pytest.raises(InputError, match=message):
            rs.Router(GRAPH, lower, **options)
    with pytest.raises(InputError, match="need a heuristic"):
        rs.Router(GRAPH, max_excess=0.1)


def test_others_search_while_one_customizes() -> None:
    router = rs.Router(GRAPH)
    router.update(GRAPH.length)
    with router._engine.customizing:  # as the thread that customizes
        for _ in range(5):
            assert router.route(0, 143).cost == 22.0
            assert router.matrix([0, 1], [143, 142]).tolist() == [[22.0, 21.0], [21.0, 20.0]]
        assert router.explain().engine == "search"
    assert router.explain().spent > 3 * router.explain().customizing
    router.route(0, 143)
    assert router.explain().engine == "hierarchy"


def test_an_interrupt_while_customizing_keeps_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    router = rs.Router(GRAPH)
    router.update(GRAPH.length)
    before = router.snapshot

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rs.Hierarchy, "customize", interrupted)
        for ask in (router.prepare, lambda: router.routes([(0, 143)] * 50)):
            with pytest.raises(KeyboardInterrupt):
                ask()
    assert router.snapshot is before
    assert router.route(0, 143).cost == 22.0
    router.prepare()
    assert router.explain().engine == "hierarchy"


def test_building_the_order_shows_progress(capsys: pytest.CaptureFixture[str]) -> None:
    for prepare_first in (True, False):
        for verbose in (0, 1):
            router = rs.Router(rs.Graph.grid(30, 30))
            if not prepare_first:
                router.update(router.graph.length)
            router.prepare(verbose=verbose)
            assert ("Order of 900" in capsys.readouterr().err) == bool(verbose)
            router.update(router.graph.length)
            assert "The order of the vertices was built in" in str(router.explain())
