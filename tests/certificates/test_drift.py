"""The monitor: a supermartingale exactly, few false alarms, quick true ones, bad input."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

import rhostar as rs
from rhostar.errors import InputError, UtilityError


def promise(value: float, limit: float = 1.0, side: str = "upper") -> rs.Certificate:
    return rs.Certificate(
        "H4 betting", "the mean cost", side, value, value, limit, 0.05, 0.05, 100, "this rho", "a theorem"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("m", "side"), [(0.1, "upper"), (0.5, "upper"), (0.9, "upper"), (0.3, "lower"), (0.8, "lower")]
)
def test_the_evidence_is_a_martingale(m: float, side: str) -> None:
    """All sequences of coins with mean m, each with its chance: the expected evidence stays 1; below m it falls."""
    for p, equal in ((m, True), (m / 2 if side == "upper" else (1 + m) / 2, False)):
        total = 0.0
        for coins in itertools.product([0.0, 1.0], repeat=9):
            monitor = rs.Monitor(promise(2 * m, 2.0, side))
            monitor.extend(2 * x for x in coins)
            total += p ** sum(coins) * (1 - p) ** (9 - sum(coins)) * monitor.evidence
        assert total == pytest.approx(1.0) if equal else total < 1.0


def alarms(mean: float, promised: float, trials: int, steps: int) -> list[int | None]:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(trials):
        monitor = rs.Monitor(promise(promised), alpha=0.1)
        for u in (rng.random(steps) < mean).astype(float):
            if monitor.update(u):
                break
        found.append(monitor.alarm_at)
    return found


def test_false_alarms_are_rare_over_all_time_and_true_ones_come() -> None:
    false = [at is not None for at in alarms(0.3, 0.3, 200, 1500)]
    assert binomtest(sum(false), len(false), 0.1, alternative="greater").pvalue > 1e-3
    true = [at is not None for at in alarms(0.4, 0.3, 60, 1500)]
    assert binomtest(sum(true), len(true), 0.1, alternative="greater").pvalue < 1e-3, "the twin: too low a promise"
    assert np.mean(true) > 0.9


def test_a_long_good_time_does_not_delay_the_alarm() -> None:
    rng = np.random.default_rng(1)
    monitor = rs.Monitor(promise(0.5), alpha=0.01)
    assert not monitor.extend(rng.random(20_000) < 0.2)
    assert monitor.extend(rng.random(300) < 0.9)
    assert monitor.alarm_at is not None
    assert 20_000 < monitor.alarm_at < 20_120
    assert monitor.update(0.0), "an alarm stays"


def test_higher_is_better() -> None:
    monitor = rs.Monitor(promise(0.8, side="lower"), alpha=0.01)
    assert not monitor.extend(np.ones(500))
    assert monitor.extend(np.zeros(50))


def test_a_promise_of_zero_is_broken_at_once() -> None:
    monitor = rs.Monitor(promise(0.0), alpha=0.01)
    assert not monitor.extend(np.zeros(1000))
    assert monitor.update(1e-3)


def test_values_and_state() -> None:
    monitor = rs.Monitor(promise(1.0, limit=4.0))
    assert math.isnan(monitor.mean)
    monitor.update(9.0)
    assert (monitor.count, monitor.mean) == (1, 4.0), "clipped at the limit"
    before = monitor.evidence
    for bad in (-0.1, float("nan")):
        with pytest.raises(UtilityError, match="utility 1"):
            monitor.update(bad)
    assert (monitor.count, monitor.evidence) == (1, before)
    assert "quiet" in repr(monitor)


def test_bad_certificates() -> None:
    with pytest.raises(InputError, match="nothing can break"):
        rs.Monitor(promise(1.0))
    with pytest.raises(InputError, match="alpha"):
        rs.Monitor(promise(0.5), alpha=0.0)
    with pytest.raises(InputError, match="certificate must"):
        rs.Monitor(0.5)
    assert rs.Monitor(replace(promise(0.5), side="lower")).promised == 0.5
