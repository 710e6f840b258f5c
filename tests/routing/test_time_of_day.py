"""Routes by time of day equal those of exact arithmetic, by departure and by arrival, on any multigraph."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import ArrayError, InputError, VertexError, WeightError
from support.random_queries import seeds
from support.time_of_day import Day


class Case(Day):
    """A small multigraph with random weights by time of day."""

    def __init__(self, rng: np.random.Generator) -> None:
        n = int(rng.integers(2, 8))
        m = int(rng.integers(1, 4 * n))
        tail, head = rng.integers(0, n, (2, m))
        undirected = bool(rng.random() < 0.3)
        router = rs.Router.from_edges(n, tail, head, undirected=undirected)
        super().__init__(rng, router, list(zip(tail.tolist(), head.tolist(), strict=True)), undirected)


@pytest.mark.parametrize("seed", seeds(80, each=6))
def test_routes_equal_exact_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = Case(rng)
    for _ in range(6):
        s, depart = int(rng.integers(case.n)), case.moment(rng)
        earliest = case.exact.earliest(s, Fraction(depart), case.n)
        for t in range(case.n):
            case.check_departure(s, t, depart, earliest)
        case.check_arrival(s, int(rng.integers(case.n)), case.moment(rng))


def city(n: int, bins: int, seed: int) -> tuple[rs.Graph, np.ndarray]:
    """Return a city and weights in hours that double in two rush hours."""
    town = rs.datasets.city(n, seed=seed)
    hour = np.arange(bins) * 24 / bins
    rush = 1 + np.exp(-((hour - 8) ** 2) / 2) + np.exp(-((hour - 17) ** 2) / 3)
    base = town.snapshots(1, seed=0)[0]
    share = np.random.default_rng(seed).uniform(0, 1, base.size)
    return town.graph, base / base[np.isfinite(base)].mean() / 60 * (1 + (rush[:, None] - 1) * share)


def test_all_engines_agree_on_a_city() -> None:
    graph, weights = city(900, 24, 3)
    router = rs.Router(graph)
    router.update_by_time(weights, np.arange(24), period=24)
    day = router._by_time
    rng = np.random.default_rng(0)
    for s, t in rng.integers(0, graph.n, (60, 2)).tolist():
        depart = float(rng.uniform(0, 24))
        route = router.route(s, t, depart=depart)
        plain = day._run(s, t, depart, False, None)
        assert route.cost == pytest.approx(plain.cost, rel=1e-12)
        back = router.route(s, t, arrive=float(depart))
        plain = day._run(s, t, depart, True, None)
        assert back.cost == pytest.approx(plain.cost, rel=1e-12)
        if 0 <= back.depart < 24 and s != t:
            assert router.route(s, t, depart=back.depart).arrive == pytest.approx(depart, rel=1e-9)
    assert len(day._kept) > 1  # windows were customized


def test_windows_cover_their_queries_and_are_lower_bounds() -> None:
    rng = np.random.default_rng(1)
    for seed in range(30):
        case = Case(np.random.default_rng(seed))
        day = case.router._by_time
        for _ in range(30):
            begin = case.moment(rng) + float(rng.uniform(0, 0.1))
            end = begin + float(rng.choice([0.01, 0.3, 1.0, 5.0]) * rng.random())
            key = day._window(begin, end)
            first, last = day._limits(key)
            if key != (0, 0):
                assert first <= begin <= end <= last
                low = day.lowest(first, last)
                for time in np.linspace(begin, end, 5):
                    assert (low <= day._row_at(float(time))).all()


def test_kept_windows_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    from rhostar.routing import _time_of_day

    graph, weights = city(400, 24, 0)
    router = rs.Router(graph)
    router.update_by_time(weights, np.arange(24), period=24)
    monkeypatch.setattr(_time_of_day, "_KEPT_BYTES", 100_000)
    for depart in np.linspace(0, 23.9, 40).tolist():
        for _ in range(3):
            router.route(0, 399, depart=depart)
    kept = router._by_time._kept
    assert 2 <= len(kept) < 12
    assert (0, 0) in kept


def test_the_end_of_the_horizon() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    router = rs.Router(graph)
    router.update_by_time([[1.0, 1.0], [4.0, 3.0]], [0, 3])  # the last weights stay
    assert router.route(0, 2, depart=3).arrive == 10.0
    assert router.route(0, 2, depart=0).times.tolist() == [0.0, 1.0, 1.0 + 1 + 2 / 3]
    assert router.route(0, 2, arrive=3).depart == pytest.approx(0.1)
    assert router.route(0, 2, arrive=2).depart == -np.inf  # it would have to depart before the first time
    router.update_by_time([[1.0, 1.0], [4.0, 3.0]], [0, 3], period=6)  # 6 is as 0
    assert router.route(0, 2, depart=3).arrive == pytest.approx(8 + 2 / 3)
    assert router.route(0, 2, depart=4.5).arrive == pytest.approx(7.0 + 1 + 2 / 3)
    assert router.route(0, 1, arrive=0.0).depart == -3.5  # on the day before


def test_waiting_for_a_gate() -> None:
    router = rs.Router.from_edges(2, [0, 0], [1, 1], edge_labels=["gate", "bypass"])
    weights = np.array([[np.inf, 9.0], [np.inf, 9.0], [1.0, 9.0], [1.0, 9.0]])
    with pytest.raises(
        WeightError, match=r"weights\[1, 0\] \(edge 'gate'\) is inf at time 4 and 1 at 8: .*waiting=True"
    ):
        router.update_by_time(weights, [0, 4, 8, 12])
    router.update_by_time(weights, [0, 4, 8, 12], waiting=True)
    early, late = router.route(0, 1, depart=0), router.route(0, 1, depart=5)
    assert early.arrive == 9.0  # by the bypass, or after 8 hours at the gate
    assert (late.arrive, late.cost, late.edge_labels) == (9.0, 4.0, ("gate",))
    assert router.route(0, 1, arrive=10).depart == 9.0


def test_bad_input() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2], labels=["a", "b", "c"])
    router = rs.Router(graph)
    with pytest.raises(InputError, match="call update_by_time"):
        router.route("a", "c", depart=1.0)
    with pytest.raises(WeightError, match=r"weights\[1, 1\] \(edge 'b' -> 'c'\) is 5 at time 2 and 1 at 4"):
        router.update_by_time([[1, 1], [1, 5], [1, 1]], [0, 2, 4])
    with pytest.raises(WeightError, match=r"weights\[1, 0\] .* is 5 at time 2 and 1 at 4: who enters later"):
        router.update_by_time([[1, 1], [5, 1]], [0, 2], period=4)
    with pytest.raises(
        WeightError, match=r"weights\[1, 0\] \(edge 'a' -> 'b'\) must be at least 0 and not NaN, got -1"
    ):
        router.update_by_time([[1, 1], [-1, 1]], [0, 2])
    with pytest.raises(ArrayError, match=r"shape \(2, 2\)"):
        router.update_by_time([[1, 1, 1], [1, 1, 1]], [0, 2])
    with pytest.raises(InputError, match=r"times must increase; times\[2\] = 1 is not above 2"):
        router.update_by_time(np.ones((3, 2)), [0, 2, 1])
    with pytest.raises(InputError, match=r"times\[1\] must be finite, got inf"):
        router.update_by_time(np.ones((2, 2)), [0, np.inf])
    with pytest.raises(ArrayError, match="at least two numbers"):
        router.update_by_time(np.ones((1, 2)), [0])
    with pytest.raises(InputError, match="period must be a number above the 2"):
        router.update_by_time(np.ones((2, 2)), [0, 2], period=2)
    router.update_by_time(np.ones((2, 2)), [0, 2])
    for depart in (-1.0, 2.5, np.nan, np.inf, "8:00"):
        with pytest.raises(InputError, match="depart must be a time from 0 to 2, got"):
            router.route("a", "c", depart=depart)
    with pytest.raises(InputError, match="one of depart and arrive"):
        router.route("a", "c", depart=1.0, arrive=2.0)
    router.update_by_time(np.ones((2, 2)), [0, 2], period=24)
    with pytest.raises(InputError, match="arrive must be a time of day, at least 0 and below 24, got 24"):
        router.route("a", "c", arrive=24)
    router.update_by_time(np.full((2, 2), 1.5e308), [0, 2], period=24)
    with pytest.raises(WeightError, match=r"weights\[1\] \(edge 'b' -> 'c'\) is 1.5e\+308: with it a path costs more"):
        router.route("a", "c", depart=1.0)
    router.update_by_time(np.ones((2, 2)), [0, 2], period=24)
    with pytest.raises(VertexError, match="target"):
        router.route("a", "x", depart=1.0)
    with pytest.raises(WeightError):
        router.update_by_time([[1, 1], [1, 5], [1, 1]], [0, 2, 4])
    assert router.route("a", "c", depart=23.5).arrive == 25.5  # the old weights stay
