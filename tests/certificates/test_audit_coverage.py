"""The sentences of an audit are false no more often than they say: read back as text, and compared with the truth.

Columns are drawn from distributions whose truth is known, the audit writes its sentences, and these are parsed. Broken
twins of each bound must be found out by the same test. ``make validity`` runs this with 2,000 audits each.
"""

import math
import os
import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import rhostar as rs
from rhostar.bounds import ConfidenceInterval
from rhostar.certificates import QueryLog, _statements
from rhostar.certificates._statements import Sample

RUNS = int(os.environ.get("RHOSTAR_VALIDITY_RUNS", "250"))
CONFIDENCE = 0.7
"""Low, so that a bound that fails too often is found with few runs."""
LIMIT = 0.5
NUMBER = r"([\d.e+-]+)%"


class World:
    """Queries with a known truth: 30 % of answers lose Beta(1, 9) times 0.9; days share a part of it."""

    def __init__(self, *, grouped: bool) -> None:
        self.grouped = grouped

    def draw(self, rng: np.random.Generator, size: int) -> QueryLog:
        days = size // 10
        lost = rng.random(size) < 0.3
        if self.grouped:  # all queries of a day lose, or none does
            lost = np.repeat(rng.random(days) < 0.3, 10)
        loss = np.where(lost, 0.9 * rng.beta(1, 9, size), 0.0)
        if self.grouped:
            loss = np.where(lost, np.repeat(0.9 * rng.beta(1, 9, days), 10), 0.0)
        optimum, share = rng.uniform(1, 9, size), rng.beta(2, 5, size) * 1.2
        ratio = rng.uniform(0.5, 1.5, size)
        twice = np.tile(optimum, 2)
        return QueryLog(
            optimum=twice,
            estimate=np.tile(optimum * ratio, 2),
            cost=np.concatenate([optimum, optimum * (1 + loss)]),
            factor=np.repeat([0.0, 1.0], size),
            effort=np.concatenate([np.full(size, 1000.0), 1000 * share]),
            group=np.tile(np.repeat(np.arange(days), 10), 2) if self.grouped else None,
            queries=tuple(map(str, range(size))),
        )

    def below(self, loss: float) -> float:
        """Return the share of answers that lose at most this."""
        return 0.7 + 0.3 * float(stats.beta(1, 9).cdf(loss / 0.9))

    mean = 0.3 * float(0.9 * stats.beta(1, 9).expect(lambda x: min(x, LIMIT / 0.9)))
    effort = float(stats.beta(2, 5).expect(lambda x: min(1.2 * x, 1.0)))


def wrong(found: rs.certificates.Audit, world: World) -> dict[str, bool]:
    """Return which sentences are false, by their text."""
    said = {}
    for one in found.statements:
        if one.key in ("too high", "not optimal"):
            numbers = re.search(rf"of new \w+ between {NUMBER} and {NUMBER}\.$", one.text)
            low, high = (float(number) / 100 for number in numbers.groups())
            said[one.key] = not low <= {"too high": 0.5, "not optimal": 0.3}[one.key] <= high
        elif one.key == "mean loss":
            said[one.key] = (
                float(re.search(rf"new answers at most {NUMBER} on average", one.text)[1]) / 100 < world.mean
            )
        elif one.key == "quantile":
            most = float(re.search(rf"cost at most {NUMBER} more than the optimum\.$", one.text)[1]) / 100
            said[one.key] = world.below(most) < 0.99
        elif one.key == "effort":
            most = float(re.search(rf"needs at most {NUMBER} of the effort", one.text)[1]) / 100
            said[one.key] = most < world.effort
        else:
            assert one.key == "fix"
            factor = float(re.search(r"[Ss]caled by ([\d.]+)", one.text)[1])
            share = float(re.search(rf"[Aa]t most {NUMBER} of new", one.text)[1]) / 100
            over = max(0.0, 1.5 - 1 / factor)  # the share of estimates above optimum / factor
            said[one.key] = share < (over if not world.grouped else 1 - (1 - over) ** 10)
    return said


def failures(world: World, size: int, runs: int = RUNS, *, anytime: bool = False) -> dict[str, tuple[int, float]]:
    """Return how often each sentence was false, and how often it may be."""
    rng = np.random.default_rng([size, 1])
    counts: dict[str, list[float]] = {}
    for _ in range(runs):
        log = world.draw(rng, size)
        found = rs.audit(log, confidence=CONFIDENCE, limit=LIMIT, anytime=anytime)
        false = wrong(found, world)
        for one in found.statements:
            count = counts.setdefault(one.key, [0, one.delta])
            count[0] += false[one.key]
        together = counts.setdefault("any of them", [0, 1 - CONFIDENCE])
        together[0] += any(false.values())
    return {key: (int(count), delta) for key, (count, delta) in counts.items()}


def too_often(count: int, delta: float, runs: int = RUNS) -> bool:
    return stats.binomtest(count, runs, delta, alternative="greater").pvalue < 1e-4


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("size", [60, 700])
def test_no_sentence_is_false_too_often(size: int, grouped: bool) -> None:
    found = failures(World(grouped=grouped), size)
    assert len(found) == 7 if size == 700 and not grouped else 6
    assert not [key for key, (count, delta) in found.items() if too_often(count, delta)], found


def share_as_measured(self: Sample, counted: np.ndarray, delta: float) -> tuple[float, float]:
    return 0.97 * counted.mean(), 1.03 * counted.mean()


def mean_as_measured(self: Sample, values: np.ndarray, limit: float, delta: float) -> float:
    return float(np.minimum(values, limit).mean())


def quantile_as_measured(self: Sample, values: np.ndarray, delta: float) -> float:
    return float(np.quantile(values, 0.99))


@pytest.mark.parametrize(
    ("name", "twin", "keys"),
    [
        ("share", share_as_measured, ["not optimal"]),
        ("mean", mean_as_measured, ["mean loss", "effort"]),
        ("quantile", quantile_as_measured, ["quantile"]),
    ],
)
def test_broken_twins_are_found_out(
    monkeypatch: pytest.MonkeyPatch, name: str, twin: Callable[..., object], keys: list[str]
) -> None:
    monkeypatch.setattr(Sample, name, twin)
    found = failures(World(grouped=False), 700, 150)
    for key in keys:
        assert too_often(*found[key], 150), (key, found)


def test_a_wrong_count_of_draws_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries of one day taken for independent ones, and a fix from a tenth of the level."""
    monkeypatch.setattr(QueryLog, "means", lambda self, values, factor: values)
    found = failures(World(grouped=True), 700, 150)
    assert too_often(*found["mean loss"], 150)
    assert too_often(*found["fix"], 150), "one in ten days, not one in ten queries"
    monkeypatch.setattr(_statements.math, "expm1", lambda x: math.exp(x / 10) - 1)
    assert too_often(*failures(World(grouped=False), 60, 150)["fix"], 150)


def test_sentences_about_a_log_that_grows() -> None:
    """One looks at the log at many sizes: no look may be wrong."""
    world, sizes = World(grouped=False), (500, 550, 600, 700, 800, 1000)
    rng = np.random.default_rng(3)
    runs = max(60, RUNS // 6)
    ever: dict[str, int] = {}
    delta = 0.0
    for _ in range(runs):
        whole = world.draw(rng, sizes[-1])
        false: dict[str, bool] = {}
        for size in sizes:
            rows = np.concatenate([np.arange(size), sizes[-1] + np.arange(size)])
            names = ("optimum", "estimate", "cost", "factor", "effort")
            part = QueryLog(
                **{name: getattr(whole, name)[rows] for name in names}, queries=tuple(map(str, range(size)))
            )
            found = rs.audit(part, confidence=CONFIDENCE, limit=LIMIT, anytime=True)
            assert "at every size of a log that grows" in found.conditions
            delta = found.statements[0].delta
            for key, bad in wrong(found, world).items():
                false[key] = false.get(key, False) or bad
        for key, bad in false.items():
            ever[key] = ever.get(key, 0) + bad
    assert set(ever) == {"too high", "not optimal", "mean loss", "quantile", "effort"}
    assert not [key for key, count in ever.items() if too_often(count, delta, runs)], ever


# ---------------------------------------------------------------- the choice of a weight


FACTORS = (1.0, 1.2, 1.4, 1.6)
MEANS = (0.001, 0.004, 0.0102, 0.03)


def weights(rng: np.random.Generator, size: int) -> QueryLog:
    loss = [np.where(rng.random(size) < 0.2, rng.beta(1, 4, size) * 25 * mean, 0.0) for mean in MEANS]
    ones, cost = np.ones(4 * size), 1 + np.concatenate(loss)
    return QueryLog(ones, cost=cost, factor=np.repeat(FACTORS, size), effort=ones)


def bad_choices(runs: int, delta: float, *, anytime: bool) -> tuple[int, int]:
    """Return how often a factor passed whose mean is above the target, and how often one was chosen at all."""
    rng, bad, chosen = np.random.default_rng(5), 0, 0
    for _ in range(runs):
        log = weights(rng, 2500)
        passed: set[float] = set()
        for size in (1000, 1700, 2500) if anytime else (2500,):  # one looks again while the log grows
            rows = np.concatenate([2500 * k + np.arange(size) for k in range(4)])
            part = QueryLog(log.optimum[rows], cost=log.cost[rows], factor=log.factor[rows], effort=log.effort[rows])
            choice = rs.choose_weight(part, mean_excess=0.01, confidence=1 - delta, anytime=anytime)
            said = re.search(r"the factor ([\d.]+) has a mean loss of at most 1%", choice.sentence)
            passed |= {*choice.passed, *([float(said[1])] if said else [])}
        chosen += bool(passed)
        bad += bool(passed & {1.4, 1.6})
    return bad, chosen


@pytest.mark.parametrize("anytime", [False, True])
def test_a_chosen_weight_keeps_its_target(monkeypatch: pytest.MonkeyPatch, anytime: bool) -> None:
    delta = 0.2
    bad, chosen = bad_choices(RUNS, delta, anytime=anytime)
    assert chosen > 0.9 * RUNS, "the test has something to test"
    assert not too_often(bad, delta)
    twin = lambda values, limit, mean, *, delta, anytime: bool(np.mean(values) < mean)  # noqa: E731
    monkeypatch.setattr(rs.bounds, "refutes", twin)
    assert too_often(bad_choices(250, delta, anytime=anytime)[0], delta, 250)


def test_the_whole_band_holds_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def missed(runs: int) -> int:
        rng, count = np.random.default_rng(6), 0
        for _ in range(runs):
            curve = rs.weight_curve(weights(rng, 400), confidence=0.8)
            count += bool(((curve.loss_low > MEANS) | (curve.loss_high < MEANS)).any())
        return count

    assert not too_often(missed(RUNS), 0.2)

    def twin(values: np.ndarray, limit: float, *, delta: float, side: str) -> ConfidenceInterval:
        return ConfidenceInterval(0.95 * values.mean(), 1.05 * values.mean(), side, delta)

    monkeypatch.setattr(rs.bounds, "stakes", twin)
    assert too_often(missed(100), 0.2, 100)


def test_searches_and_their_sentence() -> None:
    """The same through searches: A* takes the road that costs u more, since it believes the other one too long."""
    graph = rs.Graph.from_edges(4, [0, 1, 0, 3], [1, 2, 3, 2])
    rho = np.array([0.0, 0.0, 0.0, 9.0])
    rng, false, runs = np.random.default_rng(7), 0, max(60, RUNS // 4)
    for _ in range(runs):
        weights = np.full((50, graph.m), 0.5)
        weights[:, graph.edge_index([1], [2])[0]] += rng.beta(1, 9, 50)
        found = rs.audit(rho, rs.InstanceSet(graph, weights, 0, 2), confidence=CONFIDENCE)
        assert found["not optimal"].measured == 1.0
        most = float(re.search(rf"new answers at most {NUMBER} on average", found["mean loss"].text)[1]) / 100
        false += most < 0.1
    assert not too_often(false, found["mean loss"].delta, runs)
