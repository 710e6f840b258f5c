"""The monitor: a supermartingale exactly, few false alarms, quick true ones, daily cycles, bad input."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import rhostar as rs
from rhostar.errors import InputError, UtilityError
from support.real_data import FOLDER, needs_data


def bounded(value: float, limit: float | None = 1.0, side: str = "upper", **other: Any) -> rs.certificates.Certificate:
    return rs.certificates.Certificate(
        label="H4 betting",
        utility="cost",
        subject="the mean cost",
        algorithm="astar",
        population="on new instances",
        side=side,  # type: ignore[arg-type]
        value=value,
        observed=value,
        limit=limit,
        delta=0.05,
        samples=100,
        holds_for="this rho",
        reference="a theorem",
        **other,
    )


QUANTILE = bounded(19.0, None, statistic="quantile", share=0.9)
EVERY = bounded(194.0, None, statistic="every")


# ---------------------------------------------------------------- the evidence


@pytest.mark.parametrize(
    ("m", "side"), [(0.1, "upper"), (0.5, "upper"), (0.9, "upper"), (0.3, "lower"), (0.8, "lower")]
)
@pytest.mark.parametrize("window", [None, 2])
def test_the_evidence_is_a_martingale(m: float, side: str, window: int | None) -> None:
    """All sequences of coins with mean m, each with its chance: the expected evidence stays 1; below m it falls."""
    for p, equal in ((m, True), (m / 2 if side == "upper" else (1 + m) / 2, False)):
        total = 0.0
        for coins in itertools.product([0.0, 1.0], repeat=8):
            monitor = rs.Monitor(bounded(2 * m, 2.0, side), window=window)
            monitor.extend(2 * x for x in coins)
            total += p ** sum(coins) * (1 - p) ** (8 - sum(coins)) * monitor.evidence
        assert total == pytest.approx(1.0) if equal else total < 1.0


@pytest.mark.parametrize("window", [None, 2, "label"])
def test_the_evidence_of_several_categories_is_a_martingale(window: Any) -> None:
    """Each coin has the mean that its own category is guaranteed, and the order of categories is mixed."""
    means = {"a": 0.2, "b": 0.7, "c": 0.5}  # nothing of c is seen
    order = "aababbab"
    labels = [1, 1, 1, 1, 2, 2, 2, 3] if window == "label" else None
    for factor, equal in ((1.0, True), (0.8, False)):
        total = 0.0
        for coins in itertools.product([0.0, 1.0], repeat=8):
            monitor = rs.Monitor({name: bounded(mean) for name, mean in means.items()}, window=window)
            monitor.extend(coins, order, labels)
            chance = [
                factor * means[name] if x else 1 - factor * means[name] for x, name in zip(coins, order, strict=True)
            ]
            total += math.prod(chance) * monitor.evidence
        assert total == pytest.approx(1.0) if equal else total < 1.0


def test_the_evidence_against_a_quantile_is_a_martingale() -> None:
    total = 0.0
    for misses in itertools.product([False, True], repeat=8):
        monitor = rs.Monitor(QUANTILE)
        monitor.extend(25.0 if miss else 19.0 for miss in misses)
        total += math.prod(0.1 if miss else 0.9 for miss in misses) * monitor.evidence
    assert total == pytest.approx(1.0)


# ---------------------------------------------------------------- false alarms and true ones


def alarms(monitors: Any, means: np.ndarray, trials: int, categories: Any = None) -> list[bool]:
    """Whether each of many monitors raised the alarm on coins with these means."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(trials):
        monitor = monitors()
        for k, u in enumerate((rng.random(means.size) < means).astype(float)):
            if monitor.update(u, None if categories is None else categories[k]):
                break
        found.append(monitor.alarm)
    return found


def often(found: list[bool], alpha: float) -> bool:
    """Whether alarms came more often than alpha allows."""
    return bool(binomtest(sum(found), len(found), alpha, alternative="greater").pvalue < 1e-3)


def test_false_alarms_are_rare_over_all_time_and_true_ones_come() -> None:
    means = np.full(1500, 0.3)
    assert not often(alarms(lambda: rs.Monitor(bounded(0.3), alpha=0.1), means, 200), 0.1)
    true = alarms(lambda: rs.Monitor(bounded(0.3), alpha=0.1), means + 0.1, 60)
    assert often(true, 0.1), "the twin: too low a bound"
    assert np.mean(true) > 0.9


MEANS = {"a": 0.05, "b": 0.15, "c": 0.45, "d": 0.55}
CYCLE = np.tile(np.repeat(list(MEANS.values()), 25), 10)
PHASE = np.tile(np.repeat(list(MEANS), 25), 10)
BY_PHASE = {name: bounded(mean) for name, mean in MEANS.items()}


@pytest.mark.parametrize(
    ("options", "labeled", "false"),
    [
        ({"certificate": bounded(0.3)}, False, True),  # the mean of the whole cycle, exactly
        ({"certificate": bounded(0.3), "window": 100}, False, False),
        ({"certificate": BY_PHASE}, True, False),
        ({"certificate": dict(zip("abcd", reversed(BY_PHASE.values()), strict=True))}, True, True),
        ({"certificate": bounded(0.3), "by": MEANS}, True, True),
        ({"certificate": bounded(0.55), "by": MEANS}, True, False),
    ],
)
def test_a_daily_cycle_is_no_alarm_by_phase_or_window(options: dict, labeled: bool, false: bool) -> None:
    """The plain monitor raises the alarm, and so does one with the guarantees of other phases: these are the twins."""
    found = alarms(lambda: rs.Monitor(alpha=0.1, **options), CYCLE, 100, PHASE if labeled else None)
    assert often(found, 0.1) == false


def test_drift_is_found_by_phase_and_by_window() -> None:
    rng = np.random.default_rng(0)
    worse = np.concatenate([CYCLE, np.minimum(2.2 * np.tile(CYCLE, 3), 1.0)])
    coins = (rng.random(worse.size) < worse).astype(float)
    by_phase = rs.Monitor(BY_PHASE)
    assert by_phase.extend(coins, np.tile(PHASE, 4))
    assert by_phase.alarm_at is not None
    assert 1000 < by_phase.alarm_at < 1100, "within a day"
    by_window = rs.Monitor(bounded(0.32), window=100)
    assert by_window.extend(coins)
    assert by_window.alarm_at is not None
    assert 1000 < by_window.alarm_at <= 2400, "within two weeks"
    one = rs.Monitor(BY_PHASE)
    only_b = np.where(PHASE == "b", 0.9, CYCLE)
    assert one.extend((rng.random(only_b.size) < only_b).astype(float), PHASE)
    assert one.alarm_for == "b"
    assert "for b" in repr(one)


def test_labels_close_windows_of_all_categories() -> None:
    numbered = rs.Monitor({k: bounded(0.3) for k in "ab"}, window=3)
    labeled = rs.Monitor({k: bounded(0.3) for k in "ab"}, window="label")
    values, names, days = [0, 1, 1, 1, 0, 1] * 4, "ababab" * 4, np.repeat([1, 2, 3, 4], 6)
    numbered.extend(values, names)
    labeled.extend(values, names, days)
    assert labeled.evidence != numbered.evidence, "the last day is not over"
    labeled.update(0, "a", 5)
    assert labeled.evidence == numbered.evidence


def test_a_long_good_time_does_not_delay_the_alarm() -> None:
    rng = np.random.default_rng(1)
    monitor = rs.Monitor(bounded(0.5), alpha=0.01)
    assert not monitor.extend(rng.random(20_000) < 0.2)
    assert monitor.extend(rng.random(300) < 0.9)
    assert monitor.alarm_at is not None
    assert 20_000 < monitor.alarm_at < 20_120
    assert monitor.update(0.0), "an alarm stays"


def test_higher_is_better() -> None:
    monitor = rs.Monitor(bounded(0.8, side="lower"), alpha=0.01)
    assert not monitor.extend(np.ones(500))
    assert monitor.extend(np.zeros(50))


# ---------------------------------------------------------------- other guarantees


def test_a_guarantee_of_zero_is_broken_at_once() -> None:
    monitor = rs.Monitor(bounded(0.0), alpha=0.01)
    assert not monitor.extend(np.zeros(100_000 // 10))
    assert monitor.update(1e-3)


def test_a_quantile_is_watched_by_the_share_that_misses_it() -> None:
    monitor = rs.Monitor(QUANTILE)
    assert not monitor.extend([5.0] * 95 + [1e9] * 5)
    assert repr(monitor) == "Monitor(quiet, 100 seen, 5 above 19, guaranteed at most 10%)"
    assert monitor.extend([20.0] * 20)
    least = rs.Monitor(bounded(0.5, None, "lower", statistic="quantile", share=0.9))
    assert not least.extend([0.9] * 100)
    assert least.extend([0.1] * 20)


def test_one_answer_breaks_a_guarantee_for_every_answer() -> None:
    monitor = rs.Monitor(EVERY)
    assert not monitor.extend([0.0, 193.9, 194.0] * 1000)
    assert monitor.update(194.1)
    assert repr(monitor) == "Monitor(alarm at 3001, 3001 seen, 1 above 194, guaranteed none)"
    with pytest.raises(InputError, match="no window"):
        rs.Monitor(EVERY, window=10)


def test_an_answer_beyond_a_certain_range_breaks_the_guarantee_at_once() -> None:
    """Where nothing is clipped, a certain bound on every answer is the range."""
    certain = bounded(2.0, None, measured={"range": 190.0})
    monitor = rs.Monitor(certain, window=50)
    assert not monitor.extend([1.9] * 1000)
    assert monitor.update(191.0)
    clipped = rs.Monitor(bounded(2.0, 190.0))
    assert not clipped.extend([0.0] * 1000 + [191.0])
    with pytest.raises(InputError, match="neither a limit nor a range"):
        rs.Monitor(bounded(2.0, None))
    with pytest.raises(InputError, match="nothing can violate"):
        rs.Monitor(replace(certain, value=190.0))


def test_guarantees_for_groups_need_windows() -> None:
    days = bounded(0.3, unit="group")
    with pytest.raises(InputError, match="give window="):
        rs.Monitor(days)
    assert not rs.Monitor(days, window="label").extend([0.1] * 10, windows=range(10))


# ---------------------------------------------------------------- state, words and bad input


def test_values_and_state() -> None:
    monitor = rs.Monitor(bounded(1.0, limit=4.0))
    assert math.isnan(monitor.mean)
    monitor.update(9.0)
    assert (monitor.count, monitor.mean) == (1, 4.0), "clipped at the limit"
    before = monitor.evidence
    for bad in (-0.1, float("nan")):
        with pytest.raises(UtilityError, match="utility 1"):
            monitor.update(bad)
    assert (monitor.count, monitor.evidence) == (1, before)
    assert "quiet" in repr(monitor)
    assert monitor.guaranteed == 1.0


def test_it_says_what_it_assumes() -> None:
    plain, by = rs.Monitor(bounded(0.3)), rs.Monitor({"day": bounded(0.3), "night": bounded(0.1)})
    assert "every utility, given those judged before it, has a mean of at most 0.3." in plain.assumes
    assert "daily cycle" in plain.assumes
    assert "probability at most 0.01" in str(plain)
    assert "has a mean of at least 0.3" in rs.Monitor(bounded(0.3, side="lower")).assumes
    assert "guarantee of its category" in by.assumes
    assert by.guaranteed == {"day": 0.3, "night": 0.1}
    windows = rs.Monitor(bounded(0.3), window=288).assumes
    assert windows.startswith("the mean of every window of 288 utilities,")
    assert "dependence" in plain.assumes, "26 of 100 false alarms by a cycle, 43 of 100 by days that are random"
    assert "ependence between windows breaks this" in windows
    assert "Dependence breaks this" in by.assumes
    assert "daily cycle" not in windows + by.assumes
    assert "a probability of at most 0.1 to be above 19" in rs.Monitor(QUANTILE).assumes
    assert rs.Monitor(EVERY).assumes.endswith("has no chance to be above 194.")
    for shown in (plain, by):
        assert max(map(len, str(shown).splitlines())) <= 80


def test_categories_are_fixed_beforehand() -> None:
    monitor = rs.Monitor(bounded(0.3), by=["day", "night"])
    monitor.extend([0, 0, 0], ["day", "night", "day"])
    assert monitor.count == 3
    for wrong, message in ((None, "category must be given"), ("noon", "fixed beforehand")):
        with pytest.raises(InputError, match=message):
            monitor.update(0.0, wrong)
    assert monitor.count == 3
    with pytest.raises(InputError, match="no categories"):
        rs.Monitor(bounded(0.3)).update(0.0, "day")


def test_a_table_by_category_makes_a_monitor_by_category() -> None:
    graph = rs.Graph.grid(4, 4)
    weights = np.random.default_rng(0).uniform(1, 2, size=(200, graph.m))
    holdout = rs.InstanceSet(graph, weights, sources=0, goal=15)
    hours = np.arange(200) % 2
    options: dict[str, Any] = {"holdout": holdout, "utility": rs.utilities.Expansions(16)}
    table = rs.certify(np.zeros(16), by=hours, **options)
    monitor = rs.Monitor(table)
    assert set(monitor.certificates) == {"0", "1"}
    assert not monitor.extend(rs.solve_many(holdout, np.zeros(16)).expanded, hours)
    plain = rs.Monitor(rs.certify(np.zeros(16), **options))
    assert set(plain.certificates) == {None}


def test_bad_arguments() -> None:
    for bad in (bounded(1.0), bounded(0.0, side="lower"), replace(QUANTILE, value=math.inf)):
        with pytest.raises(InputError, match="nothing can violate"):
            rs.Monitor(bad)
    with pytest.raises(InputError, match="alpha"):
        rs.Monitor(bounded(0.5), alpha=0.0)
    for wrong in (0.5, {"a": 0.5}):
        with pytest.raises(InputError, match="certificate must"):
            rs.Monitor(wrong)  # type: ignore[arg-type]
    for by in ([], ["a", "a"], 0, 2, "day", True):
        with pytest.raises(InputError, match="by must be"):
            rs.Monitor(bounded(0.5), by=by)
    with pytest.raises(InputError, match="by must be left out"):
        rs.Monitor({"a": bounded(0.5)}, by=2)
    with pytest.raises(InputError, match="at least one category"):
        rs.Monitor({})
    for window in (0, 1.5, "day"):
        with pytest.raises(InputError, match="window"):
            rs.Monitor(bounded(0.5), window=window)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="window must be given"):
        rs.Monitor(bounded(0.5), window="label").update(0.1)
    with pytest.raises(InputError, match="window must be given"):
        rs.Monitor(bounded(0.5)).update(0.1, window=3)
    for categories in ("a", "aaa"):
        with pytest.raises(InputError, match=r"one category|more categories"):
            rs.Monitor(bounded(0.5), by=["a"]).extend([0.1, 0.1], categories)
    with pytest.raises(InputError, match="one of the 1"):
        rs.Monitor(bounded(0.5), by=["a"]).update(0.1, "b")


# ---------------------------------------------------------------- METR-LA


@needs_data
def test_a_week_of_traffic_in_order() -> None:
    """A certificate from independent draws of the week, watched in order of time: rush hours are no drift."""
    network = rs.datasets.read_metr_la(FOLDER / "metr_la" / "metr_la_week.npz", speeds=(10.0, 70.0))
    goal = rs.datasets.choose_goal(network.graph)
    learner = rs.learners.MeanDistance().fit(network.sample(3000, goal=goal, seed=0))
    holdout = network.sample(20_000, goal=goal, seed=1)
    options: dict[str, Any] = {"holdout": holdout, "groups": False, "utility": rs.utilities.Expansions(195)}
    for_all = rs.certify(learner, **options)
    by_hour = rs.certify(learner, by=holdout.snapshot_indices[holdout.rows] % 288 // 12, **options)
    others = np.delete(np.arange(network.graph.n), goal)
    every = network.instances(np.tile(others, 2016), goal, rows=np.repeat(np.arange(2016), others.size))
    assert rs.solve_many(every, learner).expanded.mean() <= for_all.best.value, "the guarantee is kept"
    time = np.arange(2016)
    hours, days = time % 288 // 12, time // 288
    for seed in range(3):
        starts = np.random.default_rng(seed).choice(others, time.size)
        week = network.instances(starts, goal, rows=time)
        effort = rs.solve_many(week, learner).expanded
        plain, daily = rs.Monitor(for_all), rs.Monitor(for_all, window=288)
        hourly, both = rs.Monitor(by_hour), rs.Monitor(by_hour, window="label")
        assert plain.extend(effort), "a plain monitor takes rush hours for drift"
        assert not daily.extend(effort)
        assert not hourly.extend(effort, hours)
        assert not both.extend(effort, hours, days)

        slower = rs.InstanceSet(
            network.graph, 2 * week.weights, starts, goal, rows=time
        )  # all roads take twice as long
        worse = rs.solve_many(slower, learner).expanded
        assert worse.mean() > 2 * effort.mean()
        for monitor, more, soon in (
            (daily, (), 7 * 288),
            (hourly, (hours,), 288),
            (both, (hours, days), 3 * 288),
        ):
            assert monitor.extend(worse, *more)
            assert monitor.alarm_at is not None
            assert monitor.alarm_at <= time.size + soon
