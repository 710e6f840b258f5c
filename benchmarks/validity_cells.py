"""Cells of the simulation of guarantees: whole pipelines whose truth is known, one kind of guarantee each.

Instances are drawn, certified, and the sentence that is printed is read back as text and compared with the truth.
Broken twins must be found by the same test. benchmarks/validity.py runs all of them many times, and
tests/certificates/test_certificate_validity.py some of them a few times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from scipy import stats

import rhostar as rs
from rhostar.certificates import _evidence, _holdout, _progressive
from rhostar.certificates._looks import forget_looks
from rhostar.utilities import Cost, Expansions, Ratio, SolvedWithin, Suboptimality

EDGE = rs.Graph.from_edges(2, [0], [1])
"""Its cost is the weight of its edge: any distribution on [0, 1] is one of costs."""
TRAP = rs.Graph.from_edges(4, [0, 1, 0, 3], [1, 2, 3, 2])
"""From 0 to 2 by way of 1, which costs w, or of 3, which costs nothing but has ρ = 1: A* pays w above the optimum."""
TRAP_RHO = np.array([0.0, 0.0, 0.0, 1.0])
Values = np.ndarray
Draw = Callable[[np.random.Generator, int], Values]


@dataclass(frozen=True)
class Law:
    """A distribution on [0, 1]: how to draw from it, its mean, and the share of values up to a number."""

    draw: Draw
    mean: float
    below: Callable[[float], float]


def coin(p: float, high: float = 1.0) -> Law:
    """Return the law of a value that is `high` with probability p, else 0."""
    return Law(lambda rng, N: np.where(rng.random(N) < p, high, 0.0), p * high, lambda x: 1.0 if x >= high else 1 - p)


def known(law: Any) -> Law:
    """Return a law of scipy."""
    return Law(lambda rng, N: law.rvs(N, random_state=rng), float(law.mean()), lambda x: float(law.cdf(x)))


LAWS = {
    "coin": coin(0.5),
    "5% lost": coin(0.05),
    "5% uniform": Law(
        lambda rng, N: (rng.random(N) < 0.05) * rng.random(N), 0.025, lambda x: 0.95 + 0.05 * min(max(x, 0.0), 1.0)
    ),
    "mostly the limit": coin(0.9),
    "beta": known(stats.beta(1, 9)),
    "two humps": known(stats.beta(0.1, 0.3)),
    "uniform": known(stats.uniform()),
    "heavy tail": Law(
        lambda rng, N: np.minimum(0.01 * (1 + rng.pareto(1.1, N)), 1.0),
        0.01 * (1.1 - 0.01**0.1) / 0.1,
        lambda x: 1.0 if x >= 1 else max(0.0, 1 - (0.01 / max(x, 0.01)) ** 1.1),
    ),
}


def edges(values: Values, **options: Any) -> rs.InstanceSet:
    """Return instances whose cost is a value each."""
    return rs.InstanceSet(EDGE, values[:, None], sources=0, goal=1, **options)


def trap(values: Values) -> rs.InstanceSet:
    """Return instances whose cost above the optimum is a value each."""
    weights = np.zeros((values.size, TRAP.m))
    weights[:, TRAP.edge_index([1], [2])[0]] = values
    return rs.InstanceSet(TRAP, weights, sources=0, goal=2)


def said(text: str) -> float:
    """Return the number that a sentence promises."""
    found = re.search(r" (?:is|of|have) (?:a [a-z ]+ of )?(?:at most|at least) ([\d.e+-]+) on ", " ".join(text.split()))
    assert found, text
    return float(found[1])


Said = tuple[bool, bool]
"""Whether a run was wrong, and whether what it said was vacuous."""
Run = Callable[[np.random.Generator, float], Said]


def certify(rho: Any, holdout: rs.InstanceSet, utility: Any, delta: float, **options: Any) -> Any:
    """Return the guarantee."""
    forget_looks()
    return rs.certify(rho, holdout, utility, delta=delta, duplicates="allow", **options).best


@dataclass(frozen=True)
class Cell:
    """One kind of guarantee on one distribution."""

    name: str
    delta: float
    run: Run


def mean_cell(law: Law, N: int, **options: Any) -> Run:
    """Return a run of the mean of a cost."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = certify(np.zeros(2), edges(law.draw(rng, N)), Cost(limit=1.0), delta, **options)
        return said(found.sentence) < law.mean - 1e-12, found.vacuous

    return run


def range_cell(law: Law, N: int) -> Run:
    """Return a run of the mean excess, with the certain range of U5 in place of H."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = certify(TRAP_RHO, trap(law.draw(rng, N)), Suboptimality(limit=5.0), delta, lower=0.0, bound="betting")
        return said(found.sentence) < law.mean - 1e-12, found.value >= 1

    return run


def any_time_cell(law: Law, sizes: tuple[int, ...]) -> Run:
    """Return a run of somebody who looks at several sizes, and quotes the bound when it is wrong, if ever."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        values = law.draw(rng, sizes[-1])
        found = [certify(np.zeros(2), edges(values[:N]), Cost(limit=1.0), delta, bound="any time") for N in sizes]
        return any(said(one.sentence) < law.mean - 1e-12 for one in found), found[-1].vacuous

    return run


def quantile_cell(law: Law, share: float, N: int) -> Run:
    """Return a run of a quantile."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = certify(np.zeros(2), edges(law.draw(rng, N)), Cost(limit=1.0), delta, quantile=share)
        if found.vacuous:
            assert found.sentence.startswith("Nothing is guaranteed")
            return False, True
        return law.below(said(found.sentence)) < share, False

    return run


def share_cell(p: float, N: int) -> Run:
    """Return a run of a share of optimal answers."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = certify(TRAP_RHO, trap(1.0 * (rng.random(N) < p)), SolvedWithin(1.0), delta)
        return said(found.sentence) > 1 - p + 1e-12, found.vacuous

    return run


def days_cell(days: int, *, by_label: bool, each_trip: bool = False) -> Run:
    """Return a run on days with levels of their own: the days of the set, or labels, are the draws."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        level = np.repeat(np.where(rng.random(days) < 0.3, 0.8, 0.1), 10)
        values, day = level + rng.uniform(-0.05, 0.05, level.size), np.repeat(np.arange(days), 10)
        holdout = edges(values, **({} if by_label else {"days": day}))
        groups = {"groups": False} if each_trip else {"groups": day} if by_label else {}
        found = certify(np.zeros(2), holdout, Cost(limit=1.0), delta, **groups)
        assert found.samples == (len(holdout) if each_trip else days)
        return said(found.sentence) < 0.31 - 1e-12, found.vacuous

    return run


def snapshots_cell(snapshots: int) -> Run:
    """Return a run on snapshots with two trips each: snapshots are the draws."""
    graph = rs.Graph.from_edges(3, [0, 1], [2, 2])

    def run(rng: np.random.Generator, delta: float) -> Said:
        level = np.where(rng.random(snapshots) < 0.3, 0.8, 0.0)
        weights = level[:, None] + rng.uniform(0, 0.1, (snapshots, 2))
        rows = np.repeat(np.arange(snapshots), 2)
        holdout = rs.InstanceSet(graph, weights, np.tile([0, 1], snapshots), 2, rows=rows)
        found = certify(np.zeros(3), holdout, Cost(limit=1.0), delta)
        assert found.samples == snapshots
        return said(found.sentence) < 0.29 - 1e-12, found.vacuous

    return run


def categories_cell(N: int) -> Run:
    """Return a run of eight depots at once."""
    means, depot = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.4, 0.3, 0.2]), np.arange(N) % 8

    def run(rng: np.random.Generator, delta: float) -> Said:
        forget_looks()
        values = (rng.random(N) < means[depot]).astype(float)
        table = rs.certify(np.zeros(2), edges(values), Cost(limit=1.0), delta=delta, duplicates="allow", by=depot)
        wrong = any(said(row.sentence) < means[int(row.category)] - 1e-12 for row in table.guarantees)
        return wrong, any(row.vacuous for row in table.guarantees)

    return run


def fan(size: int) -> tuple[rs.Graph, list[np.ndarray]]:
    """Return a graph with a way for each of `size` heuristics, and these."""
    middle = list(range(2, size + 2))
    graph = rs.Graph.from_edges(size + 2, [0] * size + middle, middle + [1] * size)
    rhos = []
    for k in range(size):
        rho = np.ones(size + 2)
        rho[1], rho[2 + k] = 0.0, -1.0
        rhos.append(rho)
    return graph, rhos


def candidates_cell(size: int, N: int, quantile: float | None = None, *, together: bool = True) -> Run:
    """Return a run of the luckiest of several heuristics of equal worth, which are counted or not."""
    graph, rhos = fan(size)
    last = graph.edge_index(list(range(2, size + 2)), [1] * size)

    def run(rng: np.random.Generator, delta: float) -> Said:
        weights = np.zeros((N, graph.m))
        weights[:, last] = rng.random((N, size)) if quantile else rng.random((N, size)) < 0.5
        holdout = rs.InstanceSet(graph, weights, sources=0, goal=1)
        given = [rhos] if together else rhos
        options: dict[str, Any] = {"algorithm": "gbfs", "quantile": quantile}
        found = [certify(one, holdout, Cost(limit=1.0), delta, **options) for one in given]
        return any(said(one.sentence) < (quantile or 0.5) for one in found), found[0].vacuous

    return run


def training_cell(N: int, bound: str) -> Run:
    """Return a run of the luckiest of all heuristics of the trap, certified on the instances that it was chosen on."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        values = np.where(rng.random(N) < 0.5, 1.0, 0.0)
        # The luckiest ρ of the class: it goes the way that costs w if that looked better than it is.
        rho = TRAP_RHO if values.mean() < 0.5 else np.zeros(4)
        options: dict[str, Any] = {"lower": 0.0, "upper": 1.0, "delta": delta, "duplicates": "allow", "bound": bound}
        found = rs.certify_training(rho, trap(values), Suboptimality(limit=1.0), **options)
        truth = 0.5 if (np.asarray(found.rho)[3] > 0) else 0.0
        return said(found.best.sentence) < truth, found.best.vacuous

    return run


def lucky_cell(size: int, N: int) -> Run:
    """Return a run of the luckiest of several heuristics of equal worth, certified where it was chosen (H1-kl)."""
    graph, rhos = fan(size)
    last = graph.edge_index(list(range(2, size + 2)), [1] * size)

    def run(rng: np.random.Generator, delta: float) -> Said:
        weights = np.zeros((N, graph.m))
        weights[:, last] = rng.random((N, size)) < 0.5
        train, lucky = rs.InstanceSet(graph, weights, sources=0, goal=1), int(weights[:, last].mean(axis=0).argmin())
        options: dict[str, Any] = {"algorithm": "gbfs", "delta": delta, "duplicates": "allow", "bound": "H1-kl"}
        found = rs.certify_training(rhos[lucky], train, Cost(limit=1.0), **options).best
        return said(found.sentence) < 0.5, found.vacuous

    return run


class OnTheLuckySide(rs.learners.Learner):
    """Goes the way that costs w if that looked cheap on what it learns from."""

    def _learn(self, instances: rs.InstanceSet) -> dict[str, Any]:
        """Return the table."""
        lucky = instances.weights[instances.rows].sum(axis=1).mean() < 0.5
        return {"rho_": TRAP_RHO if lucky else np.zeros(4)}


def learning_cell(N: int) -> Run:
    """Return a run of progressive validation with a learner whose tables differ."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        instances = trap(np.where(rng.random(N) < 0.5, 1.0, 0.0))
        utility = Suboptimality(limit=1.0)
        found = rs.certificates.progressive(OnTheLuckySide(), instances, utility, delta=delta, groups=False)
        truth = sum(share * 0.5 * (table[3] > 0) for share, table in zip(found.weights, found.tables, strict=True))
        return said(found.certificate.sentence) < truth - 1e-12, found.certificate.vacuous

    return run


def progressive_cell(means: np.ndarray) -> Run:
    """Return a run of a bound on means that change."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        found = rs.bounds.running_mean((rng.random(means.size) < means) * 1.0, 1.0, delta=delta)
        return found < means.mean(), found >= 1

    return run


def weight_cell(N: int) -> Run:
    """Return a run of the choice of a factor: it is wrong if one passes whose mean loss is just above the target."""
    factors, means = (1.0, 1.2, 1.4), (0.002, 0.0101, 0.03)

    def run(rng: np.random.Generator, delta: float) -> Said:
        loss = [np.where(rng.random(N) < 0.2, rng.beta(1, 4, N) * 25 * mean, 0.0) for mean in means]
        ones = np.ones(3 * N)
        log = rs.certificates.QueryLog(
            ones, cost=1 + np.concatenate(loss), factor=np.repeat(factors, N), effort=np.repeat([3.0, 2.0, 1.0], N)
        )
        choice = rs.choose_weight(log, mean_excess=0.01, confidence=1 - delta)
        return bool(set(choice.passed) & {1.2, 1.4}), choice.factor is None

    return run


# ---------------------------------------------------------------- searches on a small city


class City(NamedTuple):
    """A grid with heuristics for any goal, and trips on it; the truth is that of 100,000 other trips."""

    graph: rs.Graph
    heuristics: dict[str, Any]

    @staticmethod
    @cache
    def learned() -> City:
        """Return the city."""
        city = City(rs.Graph.grid(4, 4), {})
        train = city.trips(np.random.default_rng(11), 60)
        to_one = rs.InstanceSet(train.graph, train.weights, 0, 15)
        city.heuristics.update(
            {
                "any goal": rs.learners.Potentials("median").fit(train).heuristic_,
                "any goal, scaled": rs.learners.Potentials("median").fit(train).heuristic_.scaled(1.6),
                "any goal, portfolio": rs.learners.Potentials("median", n_clusters=3).fit(train).heuristic_.scaled(1.3),
                "one goal, portfolio": rs.learners.Portfolio(n_clusters=3).fit(to_one).heuristic_.scaled(1.5),
            }
        )
        return city

    def trips(self, rng: np.random.Generator, N: int, *, one_goal: bool = False) -> rs.InstanceSet:
        """Return trips on days that are slow here and fast there."""
        weights = rng.lognormal(0, 0.5, (N, self.graph.m)) * np.where(rng.random((N, 1)) < 0.3, 1.7, 1.0)
        if one_goal:
            return rs.InstanceSet(self.graph, weights, rng.integers(0, 15, N), 15)
        goals = rng.choice([3, 5, 12, 15], N)
        return rs.InstanceSet(self.graph, weights, (goals + rng.integers(1, 16, N)) % 16, goals)

    @cache  # noqa: B019
    def values(self, name: str, utility: Any, search: tuple[tuple[str, Any], ...]) -> np.ndarray:
        """Return the utilities of other trips."""
        trips = self.trips(np.random.default_rng(12), 100_000, one_goal=name.startswith("one goal"))
        return rs.evaluate(self.heuristics[name], trips, utility, **dict(search))[0].raw

    def __hash__(self) -> int:
        return id(self.graph)


def city_cell(name: str, utility: Any, N: int, quantile: float | None = None, **search: Any) -> Run:
    """Return a run of searches with a heuristic of the city."""

    def run(rng: np.random.Generator, delta: float) -> Said:
        city = City.learned()
        trips = city.trips(rng, N, one_goal=name.startswith("one goal"))
        found = certify(city.heuristics[name], trips, utility, delta, quantile=quantile, **search)
        values = city.values(name, utility, tuple(search.items()))
        # What the measured truth itself may be off by is in favor of the sentence: three standard errors.
        off = 3 / np.sqrt(values.size)
        if quantile is not None:
            assert not found.vacuous
            return np.mean(values <= said(found.sentence)) < quantile - off * np.sqrt(quantile * (1 - quantile)), False
        clipped = np.minimum(values, utility.limit)
        sign = -1 if utility.better == "higher" else 1
        return sign * (clipped.mean() - said(found.sentence)) > off * clipped.std(), found.vacuous

    return run


def every_goal_cell(N: int) -> Run:
    """Return a run of weights per edge for every goal, certified on the trips that they were learned from (U6)."""
    graph = rs.Graph.grid(2, 3)

    def trips(rng: np.random.Generator, N: int) -> rs.InstanceSet:
        return rs.InstanceSet(graph, rng.uniform(1, 1.5, (N, graph.m)), rng.integers(0, 3, N), rng.integers(3, 6, N))

    def run(rng: np.random.Generator, delta: float) -> Said:
        train = trips(rng, N)
        learner = rs.learners.Potentials("median").fit(train)
        found = rs.certificates.certify_any_goal(learner, train, caps=1.5, limit=2.0, delta=delta)
        truth = rs.evaluate(learner, trips(rng, 1000), Suboptimality(limit=2.0))[0].values.mean()
        return said(found.sentence) < truth - 0.01, found.vacuous

    return run


def certain_cell(share: float = 1.0) -> Run:
    """Return a run of a bound on every single answer, compared with the worst of 100 with wild weights (U5)."""
    graph = rs.Graph.grid(3, 3)

    def run(rng: np.random.Generator, delta: float) -> Said:
        forget_looks()
        rho = rs.distances_to(graph, np.ones(graph.m), 8) * rng.uniform(1, 2) + rng.uniform(0, 1, 9)
        rho[8] = 0.0

        def trips(N: int) -> rs.InstanceSet:
            return rs.InstanceSet(graph, 1 + rng.choice([0, 1e-3, 0.5, 3], (N, graph.m)), rng.integers(0, 8, N), 8)

        table = rs.certify(
            rho, trips(20), Suboptimality(limit=50.0), lower=1.0, bound="U5", delta=0.05, duplicates="allow"
        )
        worst = rs.evaluate(rho, trips(100), Suboptimality(limit=50.0))[0].raw.max()
        return worst > share * said(table.best.sentence), table.best.vacuous

    return run


def monitor_cell(law: Law, steps: int) -> Run:
    """Return a run of a monitor while everything is exactly as guaranteed: an alarm is wrong."""
    rng = np.random.default_rng(0)
    made = certify(np.zeros(2), edges(law.draw(rng, 300)), Cost(limit=1.0), 0.05)
    exact = replace(made, value=law.mean)

    def run(rng: np.random.Generator, delta: float) -> Said:
        return rs.Monitor(exact, alpha=delta).extend(law.draw(rng, steps)), False

    return run


def cells() -> Iterator[Cell]:
    """Yield all cells; sizes are such that bounds say something."""
    found: list[tuple[str, Run]] = []
    for name, law in LAWS.items():
        sizes = (100, 400) if name in ("5% lost", "5% uniform", "heavy tail") else (30, 150)
        found += [(f"mean, {name}, N = {N}", mean_cell(law, N)) for N in sizes]
        if name in ("coin", "5% lost", "beta", "heavy tail"):
            found.append((f"any time, {name}", any_time_cell(law, (sizes[1] // 3, sizes[1]))))
            found.append((f"range of U5, {name}", range_cell(law, sizes[1])))
    for name in ("coin", "beta", "uniform", "two humps", "heavy tail"):
        found += [
            (f"{share:g} quantile, {name}, N = {N}", quantile_cell(LAWS[name], share, N))
            for share, N in ((0.5, 20), (0.9, 100), (0.99, 500))
        ]
    found += [(f"share {p:g}, N = {N}", share_cell(p, N)) for p in (0.05, 0.3) for N in (40, 200)]
    found += [(f"days of the set, {n}", days_cell(n, by_label=False)) for n in (12, 40)]
    found += [(f"groups, {n}", days_cell(n, by_label=True)) for n in (12, 40)]
    found += [(f"snapshots, {n}", snapshots_cell(n)) for n in (20, 60)]
    found += [("eight categories", categories_cell(320)), ("best of 10", candidates_cell(10, 60))]
    found.append(("best of 10, median", candidates_cell(10, 60, 0.5)))
    found += [(f"training, {bound}", training_cell(200, bound)) for bound in ("U2", "H1-kl")]
    found += [("training, luckiest of 10", lucky_cell(10, 200)), ("training, every goal", every_goal_cell(300))]
    rising = np.linspace(0.0, 0.4, 300)
    found += [
        (f"running mean, {name}", progressive_cell(means))
        for name, means in (("rising", rising), ("falling", rising[::-1]), ("constant", np.full(300, 0.05)))
    ]
    found.append(("progressive validation", learning_cell(120)))
    found += [(f"chosen weight, N = {N}", weight_cell(N)) for N in (1000, 3000)]
    found += [
        ("any goal, excess", city_cell("any goal", Suboptimality(limit=3.0), 120)),
        ("any goal, factor, no reopening", city_cell("any goal, scaled", Suboptimality(limit=3.0), 120, reopen=False)),
        ("any goal, factor, budget, expansions", city_cell("any goal, scaled", Expansions(limit=8), 80, budget=8)),
        ("any goal, factor, budget, share", city_cell("any goal, scaled", SolvedWithin(1.1), 100, budget=5)),
        ("any goal, factor, 0.9 quantile", city_cell("any goal, scaled", Ratio(limit=np.inf), 80, 0.9, reopen=False)),
        ("any goal, portfolio, factor", city_cell("any goal, portfolio", Ratio(limit=4.0), 100)),
        (
            "portfolio, factor, greedy",
            city_cell("one goal, portfolio", Suboptimality(limit=5.0), 100, algorithm="gbfs"),
        ),
        ("portfolio, factor, budget", city_cell("one goal, portfolio", Cost(limit=20.0), 80, budget=9, reopen=False)),
    ]
    found += [(f"monitor, {name}", monitor_cell(LAWS[name], 400)) for name in ("coin", "5% lost", "beta")]
    tight = ("mean, coin, N = 150", "share 0.3, N = 200", "0.9 quantile, uniform, N = 100", "running mean, rising")
    yield Cell("every answer, wild weights", 0.0, certain_cell())
    for name, run in found:
        yield Cell(name, 0.05, run)
        if name in tight:
            yield Cell(name, 0.01, run)


def runs_needed(delta: float, level: float, power: float = 0.9) -> int:
    """Return how many runs find a bound that fails twice as often as it says, at a level, with a probability."""
    N = 50
    while True:
        least = int(stats.binom.isf(level, N, delta)) + 1  # so many misses are too many
        if stats.binom.sf(least - 1, N, 2 * delta) >= power:
            return N
        N = int(N * 1.02) + 1


def narrow(label: str, share: float, level: float = 1.0) -> Any:
    """Return a patch that keeps only a share of the width of a bound, or computes it at a multiple of δ."""

    def broken(bound: _holdout.HoldoutBound) -> _holdout.HoldoutBound:
        def upper(values: np.ndarray, limit: float, delta: float) -> float:
            assert bound.upper is not None
            return float(values.mean() + share * (bound.upper(values, limit, level * delta) - values.mean()))

        return replace(bound, upper=upper) if bound.label == label else bound

    return mock.patch.object(_holdout, "ON_HOLDOUT", tuple(map(broken, _holdout.ON_HOLDOUT)))


def lower_rank(values: np.ndarray, p: float, *, delta: float) -> Any:
    """Return the order statistic two ranks below the right one."""
    from rhostar.bounds._quantiles import QuantileBound

    rank = rs.bounds.quantile_rank(p, values.size, delta=delta)
    assert rank is not None
    return QuantileBound(float(np.sort(values)[rank - 3]), rank - 2, p, delta, values.size)


def narrow_running(module: Any, share: float) -> Any:
    """Return a patch that keeps only a share of the width of the bound on a running mean."""
    whole = rs.bounds.running_mean

    def broken(values: np.ndarray, limit: float, *, delta: float) -> float:
        return float(values.mean() + share * (whole(values, limit, delta=delta) - values.mean()))

    return mock.patch.object(module, "running_mean", broken)


class Rich(_evidence.Capital):
    """A bettor who begins with five times the money."""

    def bet(self, loss: float, m: float) -> None:
        """Take the next loss."""
        super().bet(loss, m)
        self.value *= 5


@dataclass(frozen=True)
class Twin:
    """A broken guarantee: in which cell, and how it is broken."""

    cell: str
    patch: Callable[[], Any] = mock.MagicMock
    run: Run | None = None


def _refutes(values: np.ndarray, limit: float, mean: float, *, delta: float, anytime: bool) -> bool:
    return _true_refutes(values, limit, mean, delta=15 * delta, anytime=anytime)


def _finite_kl(mean: float, log_count: float, samples: int, limit: float, *, delta: float) -> float:
    return _true_finite_kl(mean, 0.0, samples, limit, delta=3 * delta)


_true_refutes, _true_finite_kl = rs.bounds.refutes, rs.bounds.finite_kl
BETTING, EXACT, ANY_TIME = "H4 betting", "H4 Clopper-Pearson", "H9 any time"
TWINS: dict[str, Twin] = {
    "mean, a fifth of the width": Twin("mean, coin, N = 150", lambda: narrow(BETTING, 0.2)),
    "mean, half the width": Twin("mean, coin, N = 150", lambda: narrow(BETTING, 0.5)),
    "mean, 40 % of the width, rare losses": Twin("mean, 5% lost, N = 400", lambda: narrow(BETTING, 0.4)),
    "mean, 30 % of the width, spread losses": Twin("mean, beta, N = 150", lambda: narrow(BETTING, 0.3)),
    "any time, a third of the width": Twin("any time, coin", lambda: narrow(ANY_TIME, 0.33)),
    "any time, half the width": Twin("any time, coin", lambda: narrow(ANY_TIME, 0.5)),
    "range of U5, 40 % of the width": Twin("range of U5, 5% lost", lambda: narrow(BETTING, 0.4)),
    "share, at three times delta": Twin("share 0.3, N = 200", lambda: narrow(EXACT, 1.0, 3.0)),
    "quantile, two ranks too low": Twin(
        "0.9 quantile, uniform, N = 100", lambda: mock.patch.object(rs.bounds, "quantile", lower_rank)
    ),
    "days, each trip counted": Twin("days of the set, 40", run=days_cell(40, by_label=False, each_trip=True)),
    "groups, half the width": Twin("groups, 40", lambda: narrow(BETTING, 0.5)),
    "categories, half the width": Twin("eight categories", lambda: narrow(BETTING, 0.5)),
    "best of 10, not counted": Twin("best of 10, median", run=candidates_cell(10, 60, 0.5, together=False)),
    "training, ln K left out, at three times delta": Twin(
        "training, luckiest of 10", lambda: mock.patch.object(rs.bounds, "finite_kl", _finite_kl)
    ),
    "running mean, 30 % of the width": Twin("running mean, rising", lambda: narrow_running(rs.bounds, 0.3)),
    "progressive validation, a fifth of the width": Twin(
        "progressive validation", lambda: narrow_running(_progressive, 0.2)
    ),
    "a chosen weight, at 15 times delta": Twin(
        "chosen weight, N = 3000", lambda: mock.patch.object(rs.bounds, "refutes", _refutes)
    ),
    "any goal, factor, 30 % of the width": Twin("any goal, factor, no reopening", lambda: narrow(BETTING, 0.3)),
    "monitor, five times the money": Twin(
        "monitor, coin", lambda: mock.patch("rhostar.certificates._evidence.Capital", Rich)
    ),
    "every answer, half of the bound": Twin("every answer, wild weights", run=certain_cell(0.5)),
}
"""Broken guarantees by name. Most are wrong by little: by about as much as the cells must find."""


def simulate(name: str, delta: float, runs: int, seed: int, twin: str = "") -> tuple[int, int]:
    """Return how many runs of a cell were wrong, and how many said nothing."""
    cell = next(cell for cell in cells() if (cell.name, cell.delta) == (name, delta))
    broken = TWINS.get(twin, Twin(name))
    rng, run = np.random.default_rng([seed, runs]), broken.run or cell.run
    with broken.patch():
        found = [run(rng, delta) for _ in range(runs)]
    return sum(bool(wrong) for wrong, _ in found), sum(bool(nothing) for _, nothing in found)


def p_value(wrong: int, runs: int, delta: float) -> float:
    """Return the probability of as many misses or more, if at most a share δ of the runs is wrong."""
    return float(stats.binom.sf(wrong - 1, runs, delta))
