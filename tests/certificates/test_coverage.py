"""The last sentence of the whole pipeline is false no more often than it says: many kinds of data, and broken twins.

Every case is a search: weights are drawn, `certify` runs A* on them, and the sentence it prints is read back as text
and compared with the truth, which is known because the distribution is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rhostar as rs
from rhostar.bounds._quantiles import QuantileBound
from rhostar.certificates import _holdout
from rhostar.utilities import Cost, SolvedWithin, Suboptimality

DELTA = 0.1
EDGE = rs.Graph.from_edges(2, [0], [1])
"""Cost is the weight of its edge: any distribution on [0, 1] is one of costs."""
TRAP = rs.Graph.from_edges(4, [0, 1, 0, 3], [1, 2, 3, 2])
"""From 0 to 2 by way of 1, which costs w, or of 3, which costs nothing but has ρ = 1: A* pays w above the optimum."""
TRAP_RHO = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.fixture(autouse=True)
def no_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """A weak guarantee says how many draws would help; to plan that thousands of times takes a minute."""
    monkeypatch.setattr(_holdout, "_needed", lambda *_: None)


@dataclass(frozen=True)
class Law:
    """A distribution on [0, 1] with its mean and its distribution function."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    mean: float
    below: Callable[[float], float]


def coin(p: float, high: float = 1.0, low: float = 0.0) -> Law:
    return Law(
        lambda rng, N: np.where(rng.random(N) < p, high, low),
        low + p * (high - low),
        lambda x: (1 - p if x < high else 1.0) if x >= low else 0.0,
    )


def scipy_law(law: Any) -> Law:
    return Law(lambda rng, N: law.rvs(N, random_state=rng), float(law.mean()), lambda x: float(law.cdf(x)))


def clipped_pareto(shape: float) -> Law:
    scale = 0.01
    mean = scale * (shape - scale ** (shape - 1)) / (shape - 1)  # of min(scale·Pareto, 1)
    return Law(
        lambda rng, N: np.minimum(scale * (1 + rng.pareto(shape, N)), 1.0),
        mean,
        lambda x: 1.0 if x >= 1 else max(0.0, 1 - (scale / max(x, scale)) ** shape),
    )


LAWS = {
    "rare": coin(0.002),
    "unlikely": coin(0.02),
    "coin": coin(0.5),
    "mostly the limit": coin(0.95),
    "rare and small": coin(0.01, 0.2, 0.01),
    "beta": scipy_law(stats.beta(1, 9)),
    "two humps": scipy_law(stats.beta(0.1, 0.3)),
    "uniform": scipy_law(stats.uniform()),
    "heavy tail": clipped_pareto(1.1),
    "heavier tail": clipped_pareto(0.5),
    "constant": coin(1.0, 0.3),
}
SIZES = (2, 10, 60, 400, 1000)


def edges(values: np.ndarray, goals: Any = 1) -> rs.InstanceSet:
    return rs.InstanceSet(EDGE, values[:, None], sources=0, goal=goals)


def trap(values: np.ndarray) -> rs.InstanceSet:
    weights = np.zeros((values.size, TRAP.m))
    weights[:, TRAP.edge_index([1], [2])[0]] = values
    return rs.InstanceSet(TRAP, weights, sources=0, goal=2)


@dataclass(frozen=True)
class Said:
    """What a sentence says."""

    probability: float
    value: float
    share: float | None


def said(text: str) -> Said:
    found = re.fullmatch(
        r"With probability at least ([\d.]+) over the draw of the \d+ \w+, "
        r"(?:the mean .*? is|at least ([\d.]+)% of the answers .*? of) (?:at most|at least) ([\d.e+-]+|Infinity) .*",
        text,
    )
    assert found, text
    return Said(float(found[1]), float(found[3]), None if found[2] is None else float(found[2]) / 100)


def too_often(failures: int, runs: int, delta: float = DELTA) -> bool:
    return stats.binomtest(failures, runs, delta, alternative="greater").pvalue < 1e-4


def means_missed(law: Law, N: int, runs: int, *, in_trap: bool, **options: Any) -> int:
    """Return how many guaranteed means were below the truth."""
    rng = np.random.default_rng([N, 7])
    missed = 0
    for _ in range(runs):
        values = law.draw(rng, N)
        if in_trap:
            table = rs.certify(
                TRAP_RHO, trap(values), Suboptimality(limit=5.0), lower=0.0, delta=DELTA, duplicates="allow", **options
            )  # fmt: skip
            assert table.best.measured["range"] < 1.0001, "by U5"
        else:
            table = rs.certify(np.zeros(2), edges(values), Cost(limit=1.0), delta=DELTA, duplicates="allow", **options)
        guarantee = said(table.best.sentence)
        assert guarantee.probability == 1 - DELTA
        assert guarantee.value >= values.mean() - 1e-12, "never below what was measured"
        missed += guarantee.value < law.mean
    return missed


@pytest.mark.parametrize("N", SIZES)
@pytest.mark.parametrize("name", LAWS)
def test_guaranteed_means(name: str, N: int) -> None:
    assert not too_often(means_missed(LAWS[name], N, 120, in_trap=False), 120)


@pytest.mark.parametrize("name", ["rare", "coin", "beta", "heavier tail"])
def test_guaranteed_means_with_the_certain_range(name: str) -> None:
    assert not too_often(means_missed(LAWS[name], 100, 120, in_trap=True), 120)


def narrow(monkeypatch: pytest.MonkeyPatch, label: str) -> None:
    """Break a bound: it keeps a fifth of its width."""

    def broken(bound: _holdout.HoldoutBound) -> _holdout.HoldoutBound:
        def upper(values: np.ndarray, limit: float, delta: float) -> float:
            return values.mean() + (bound.upper(values, limit, delta) - values.mean()) / 5

        return replace(bound, upper=upper) if bound.label == label else bound

    monkeypatch.setattr(_holdout, "ON_HOLDOUT", tuple(map(broken, _holdout.ON_HOLDOUT)))


def any_time_missed(law: Law, runs: int) -> int:
    """Look after every twentieth instance and quote the bound as soon as it is below the truth, if ever."""
    rng, missed = np.random.default_rng(3), 0
    for _ in range(runs):
        values = law.draw(rng, 120)
        missed += any(
            said(
                rs.certify(
                    np.zeros(2), edges(values[:n]), Cost(limit=1.0), delta=DELTA, duplicates="allow", bound="any time"
                ).best.sentence
            ).value < law.mean
            for n in range(20, 121, 20)
        )  # fmt: skip
    return missed


@pytest.mark.parametrize("name", ["unlikely", "coin", "beta", "heavy tail"])
def test_guarantees_at_any_time(name: str) -> None:
    assert not too_often(any_time_missed(LAWS[name], 40), 40)


def test_narrower_guarantees_at_any_time_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow(monkeypatch, "H9 any time")
    assert too_often(any_time_missed(LAWS["coin"], 40), 40)


def quantiles_missed(law: Law, share: float, N: int, runs: int) -> int:
    rng, missed = np.random.default_rng(N), 0
    for _ in range(runs):
        table = rs.certify(
            np.zeros(2), edges(law.draw(rng, N)), Cost(limit=1e-3), delta=DELTA, duplicates="allow", quantile=share
        )  # fmt: skip
        guarantee = said(table.best.sentence)
        assert guarantee.share == share
        missed += law.below(guarantee.value) < share
    return missed


@pytest.mark.parametrize("name", ["uniform", "beta", "coin", "heavier tail", "two humps"])
@pytest.mark.parametrize(("share", "N"), [(0.5, 10), (0.9, 50), (0.99, 400)])
def test_guaranteed_quantiles(name: str, share: float, N: int) -> None:
    assert not too_often(quantiles_missed(LAWS[name], share, N, 60), 60)


def test_the_quantile_of_the_sample_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(values: np.ndarray, p: float, *, delta: float) -> QuantileBound:
        return QuantileBound(float(np.quantile(values, p)), None, p, delta, values.size)

    monkeypatch.setattr("rhostar.bounds.quantile", plain)
    assert too_often(quantiles_missed(LAWS["uniform"], 0.9, 50, 60), 60)


def shares_missed(runs: int) -> int:
    rng, missed = np.random.default_rng(4), 0
    for _ in range(runs):
        table = rs.certify(
            TRAP_RHO, trap(1.0 * (rng.random(40) < 0.3)), SolvedWithin(1.0), delta=DELTA, duplicates="allow"
        )
        found = re.search(r"the share of optimal answers .* is at least ([\d.]+) on", table.best.sentence)
        assert found
        missed += float(found[1]) > 0.7
    return missed


def test_guaranteed_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not too_often(shares_missed(150), 150)
    narrow(monkeypatch, "H4 Clopper-Pearson")
    assert too_often(shares_missed(150), 150), "the twin: a fifth of the width"


def groups_missed(runs: int, *, grouped: bool) -> int:
    """Each day has its own level; thirty trips a day, twelve days."""
    rng, missed = np.random.default_rng(5), 0
    for _ in range(runs):
        level = np.repeat(rng.random(12) < 0.3, 30)
        values = np.where(level, 0.9, 0.1) + rng.uniform(-0.05, 0.05, 360)
        days = np.repeat(np.arange(12), 30) if grouped else False
        table = rs.certify(np.zeros(2), edges(values), Cost(limit=1.0), delta=DELTA, groups=days, duplicates="allow")
        assert table.best.samples == (12 if grouped else 360)
        missed += said(table.best.sentence).value < 0.34
    return missed


def test_groups_are_the_draws() -> None:
    assert not too_often(groups_missed(100, grouped=True), 100)
    assert too_often(groups_missed(300, grouped=False), 300), "the twin: days taken for independent trips"


def test_snapshots_that_repeat_are_groups_by_default() -> None:
    """Twenty snapshots, fifty starts on each: the guarantee is about new snapshots."""
    graph = rs.Graph.from_edges(3, [0, 1], [2, 2])
    rng, missed = np.random.default_rng(6), 0
    for _ in range(60):
        weights = np.repeat((rng.random(20) < 0.3)[:, None], 2, axis=1) * 0.8 + rng.uniform(0, 0.1, (20, 2))
        rows = np.repeat(np.arange(20), 2)
        holdout = rs.InstanceSet(graph, weights, np.tile([0, 1], 20), 2, rows=rows)
        table = rs.certify(np.zeros(3), holdout, Cost(limit=1.0), delta=DELTA)
        assert "over the draw of the 20 snapshots" in table.best.sentence
        assert "on new snapshots drawn as these 20 were, each counting the same" in table.best.sentence
        missed += said(table.best.sentence).value < 0.3 * 0.8 + 0.05
    assert not too_often(missed, 60)


def test_categories_hold_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three depots at δ/3 each: all three guarantees hold at once with probability 1 − δ."""
    assert not too_often(categories_missed(100), 100)
    narrow(monkeypatch, "H4 betting")
    assert too_often(categories_missed(100), 100), "the twin: a fifth of the widths"


def categories_missed(runs: int) -> int:
    rng, any_missed = np.random.default_rng(7), 0
    means = (0.1, 0.5, 0.9)
    depot = np.arange(90) % 3
    for _ in range(runs):
        values = (rng.random(90) < np.take(means, depot)).astype(float)
        table = rs.certify(np.zeros(2), edges(values), Cost(limit=1.0), delta=DELTA, duplicates="allow", by=depot)
        found = [said(row.sentence) for row in table.guarantees]
        assert [row.category for row in sorted(table.guarantees, key=lambda row: row.category)] == ["0", "1", "2"]
        assert all(abs(guarantee.probability - (1 - DELTA / 3)) < 1e-4 for guarantee in found)
        any_missed += any(said(row.sentence).value < means[int(row.category)] for row in table.guarantees)
    return any_missed


def candidates_missed(runs: int, *, honest: bool) -> int:
    """Twenty heuristics of the same worth; the luckiest on the holdout is certified."""
    graph = rs.Graph.from_edges(22, [0] * 20 + list(range(2, 22)), [*range(2, 22), *[1] * 20])
    rng, missed = np.random.default_rng(8), 0
    rhos = []
    for k in range(20):
        rho = np.ones(22)
        rho[1], rho[2 + k] = 0.0, -1.0
        rhos.append(rho)
    for _ in range(runs):
        weights = np.zeros((40, graph.m))
        weights[:, graph.edge_index(list(range(2, 22)), [1] * 20)] = rng.random((40, 20)) < 0.5
        holdout = rs.InstanceSet(graph, weights, sources=0, goal=1)
        utility, options = Cost(limit=1.0), {"algorithm": "gbfs", "delta": DELTA}
        if honest:
            table = rs.certify(rhos, holdout, utility, **options)
            assert "the best of 20 candidates" in table.best.sentence
        else:
            table = min(
                (rs.certify(rho, holdout, utility, **options) for rho in rhos), key=lambda table: table.best.value
            )
        missed += said(table.best.sentence).value < 0.5
    return missed


def test_the_best_of_several_candidates() -> None:
    assert not too_often(candidates_missed(45, honest=True), 45)
    assert too_often(candidates_missed(45, honest=False), 45), "the twin: the winner certified as if it were alone"


def test_order_of_storage_does_not_matter() -> None:
    """Draws are independent but stored sorted: the guarantee is the same as for any other order, and holds."""
    law, rng, missed = LAWS["unlikely"], np.random.default_rng(9), 0
    for _ in range(80):
        values = law.draw(rng, 300)
        options: dict[str, Any] = {"delta": DELTA, "duplicates": "allow"}
        tables = [
            rs.certify(np.zeros(2), edges(order), Cost(limit=1.0), **options) for order in (values, np.sort(values))
        ]
        assert tables[0].best.sentence == tables[1].best.sentence
        missed += said(tables[1].best.sentence).value < law.mean
    assert not too_often(missed, 80)


def test_narrower_sentences_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin of the guaranteed means."""
    narrow(monkeypatch, "H4 betting")
    assert too_often(means_missed(LAWS["coin"], 60, 100, in_trap=False), 100)
    assert too_often(means_missed(LAWS["coin"], 100, 100, in_trap=True), 100)


# ---------------------------------------------------------------- chosen by looking at the same instances

GRID = rs.Graph.grid(3, 3)


def days(N: int, rng: np.random.Generator) -> rs.InstanceSet:
    return rs.InstanceSet(GRID, rng.choice([1.0, 1.2, 3.0], size=(N, GRID.m)), sources=0, goal=8)


def chosen_missed(runs: int, **options: Any) -> int:
    """Of forty heuristics the one whose excess on train is furthest below the truth is certified on train alone."""
    rng = np.random.default_rng(10)
    fresh, missed = days(1500, rng), 0
    base = rs.distances_to(GRID, np.full(GRID.m, 1.7), 8)
    rhos = [base * factor for factor in rng.uniform(0.6, 2.5, size=(40, 9))]
    for _ in range(runs):
        train = days(40, rng)
        excess = [
            rs.evaluate(rho, fresh, Suboptimality(9.0))[0].mean - rs.evaluate(rho, train, Suboptimality(9.0))[0].mean
            for rho in rhos
        ]
        table = rs.certify_training(
            rhos[int(np.argmax(excess))], train, Suboptimality(9.0), lower=1.0, upper=3.0, delta=DELTA,
            duplicates="allow", bound="U2 local" if options else "U2", **options,
        )  # fmt: skip
        assert "though it was chosen by looking at these instances" in table.best.sentence
        truth = rs.evaluate(table.rho, fresh, Suboptimality(9.0))[0].mean
        missed += said(table.best.sentence).value < truth
    return missed


def test_guarantees_on_train_hold_for_the_luckiest_rho(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = days(60, np.random.default_rng(11))
    assert not too_often(chosen_missed(25), 25)
    assert not too_often(chosen_missed(25, caps=earlier), 25)
    monkeypatch.setattr("rhostar.bounds.rademacher_bound", lambda *given, delta: 0.0)
    assert too_often(chosen_missed(25), 25), "the twin: nothing but the measured excess"
