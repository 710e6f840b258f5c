"""Progressive validation: no table is judged on what taught it, and the final sentence is true as often as it says."""

import re
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import binomtest

import rhostar as rs
from rhostar.certificates import Progressive, largest_excess, progressive
from rhostar.errors import AssumptionError, InputError

GADGETS = 20
"""Source i reaches the goal for 1 by way of vertex GADGETS + i, or directly for 2."""


def town(N: int, seed: int) -> rs.InstanceSet:
    """Draw instances that start at a uniform source; the direct way is taken where rho is high beside it."""
    rng = np.random.default_rng(seed)
    first, second, goal = np.arange(GADGETS), np.arange(GADGETS, 2 * GADGETS), 2 * GADGETS
    tail = np.concatenate([first, first, second])
    head = np.concatenate([np.full(GADGETS, goal), second, np.full(GADGETS, goal)])
    graph = rs.Graph.from_edges(goal + 1, tail, head)
    base = graph.arrange(np.repeat([2.0, 0.5, 0.5], GADGETS))
    weights = np.where(base == 2.0, base + rng.uniform(0, 1e-3, size=(N, graph.m)), base)
    return rs.InstanceSet(graph, weights, rng.integers(0, GADGETS, N), goal)


class Misled(rs.learners.Learner):
    """Learns values that mislead at some gadgets: more and more of them, fewer and fewer, or those seen most."""

    seen: ClassVar[list[np.ndarray]] = []

    def __init__(self, how: str = "rising", total: int = 300) -> None:
        self.how, self.total = how, total

    def _learn(self, instances: rs.InstanceSet) -> dict[str, Any]:
        self.seen.append(instances.indices)
        share = len(instances) / self.total
        wrong = np.arange(GADGETS) < GADGETS * 0.4 * {"rising": share, "falling": 1 - share}.get(self.how, 0)
        if self.how == "by data":
            wrong = np.bincount(instances.sources, minlength=GADGETS) > len(instances) / GADGETS
        rho = np.zeros(instances.graph.n)
        rho[GADGETS:-1][wrong] = 3.0
        return {"rho_": rho}


def truth(found: Progressive) -> float:
    """Return the expected excess of a drawn table: the share of gadgets at which it misleads."""
    shares = [np.mean(np.asarray(table)[GADGETS:-1] > 0) for table in found.tables]
    return float(np.dot(found.weights, shares))


def stated(sentence: str) -> float:
    """Return the number that a sentence states."""
    (number,) = re.findall(r"is at most (\S+) on new instances", sentence)
    return float(number)


@pytest.mark.parametrize("how", ["rising", "falling", "by data"])
def test_the_sentence_is_true_and_betting_would_not_be(how: str) -> None:
    delta, trials = 0.1, 150
    wrong = betting = 0
    for seed in range(trials):
        found = progressive(Misled(how), town(300, seed), rs.utilities.Suboptimality(1.0), batches=15, delta=delta)
        wrong += stated(found.certificate.sentence) < truth(found)
        betting += rs.bounds.betting_sequence(found.values, 1.0, delta=delta)[-1] < truth(found)
    assert binomtest(wrong, trials, delta, alternative="greater").pvalue > 1e-3
    if how == "rising":
        assert binomtest(betting, trials, delta, alternative="greater").pvalue < 1e-3, "the twin is not valid"


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("batches", [4, [10, 20, 30, 60]])
def test_no_table_is_judged_on_what_taught_it(batches: Any, grouped: bool) -> None:
    instances = town(120 if not grouped else 240, 1)
    groups = np.repeat(np.random.default_rng(0).permutation(120), 2) if grouped else None
    Misled.seen.clear()
    utility = rs.utilities.Suboptimality(1.0)
    found = progressive(Misled("by data"), instances, batches=batches, utility=utility, groups=groups)
    seen = list(Misled.seen)
    assert len(seen) == 4, "the last one has no batch to judge it"
    assert len(found.tables) == 3
    for b, table in enumerate(found.tables):
        batch = np.setdiff1d(seen[b + 1], seen[b])
        if grouped:
            assert groups is not None
            assert not np.intersect1d(groups[seen[b]], groups[batch]).size
        values = rs.evaluate(table, instances[batch], utility)[0].values
        assert found.means[b] == pytest.approx(values.mean())
        assert np.array_equal(table, Misled("by data").fit(instances[seen[b]]).rho_)
    sizes = np.diff([10, 30, 60, 120]) if isinstance(batches, list) else np.array([30, 30, 30])
    assert found.weights == pytest.approx(sizes / sizes.sum())
    assert found.certificate.samples == found.values.size == sizes.sum()
    assert found.certificate.observed == pytest.approx(np.dot(found.weights, found.means))
    assert sorted(seen[-1]) == list(range(len(instances)))


def test_what_is_drawn_is_what_the_bound_is_about() -> None:
    found = progressive(Misled(), town(100, 0), batches=[40, 10, 50], utility=rs.utilities.Suboptimality(1.0))
    assert found.weights.tolist() == pytest.approx([1 / 6, 5 / 6])
    rng = np.random.default_rng(0)
    first = sum(found.draw(rng) is found.tables[0] for _ in range(600))
    assert binomtest(first, 600, 1 / 6).pvalue > 1e-3
    assert found.draw(7) is found.draw(7)
    assert all(found.last is not table for table in found.tables)
    sentence = found.certificate.sentence
    assert "a table drawn among 2, each with the share of the instances that it was measured on," in sentence
    assert "60 instances" in sentence
    assert found.certificate.role == "guarantee"
    assert "no guarantee" in str(found)
    assert rs.certificates.Certificate.from_json(found.certificate.to_json()) == found.certificate


def test_the_order_of_storage_does_not_matter() -> None:
    """Sorted draws are put in random order, so a learner that has seen the small ones is not judged on the others."""
    instances = town(300, 3)
    backwards = instances[np.argsort(instances.sources)[::-1].copy()]
    found = progressive(Misled("rising"), backwards, batches=10, utility=rs.utilities.Suboptimality(1.0))
    assert abs(found.certificate.observed - truth(found)) < 0.06  # type: ignore[operator]


def test_a_certain_range_for_every_table() -> None:
    instances = town(300, 0)
    utility = rs.utilities.Suboptimality(5.0)
    low = np.where(instances.weights[0] >= 2.0, 2.0, 0.5)
    found = progressive(Misled(), instances, utility=utility, lower=low, upper=low + 1e-3, largest_excess=1.2)
    plain = progressive(Misled(), instances, utility=utility)
    assert found.certificate.value < plain.certificate.value
    goal = 2 * GADGETS
    for table in (*found.tables, found.last):
        assert largest_excess(instances.graph, np.asarray(table), goal, low) <= 1.2
    assert max(largest_excess(instances.graph, np.asarray(table), goal, low) for table in plain.tables) > 2
    assert (found.certificate.limit, found.certificate.measured["range"]) == (None, 1.2)
    assert "if no weight falls below its lower bound" in found.certificate.sentence
    assert not rs.Monitor(found.certificate).extend(found.values)
    with pytest.raises(AssumptionError, match="but lower is"):
        progressive(Misled(), instances, utility=utility, lower=low + 1e-4, upper=low + 1, largest_excess=1.2)


def test_higher_is_better() -> None:
    found = progressive(Misled(), town(300, 0), utility=rs.utilities.SolvedWithin(1), budget=5)
    assert found.certificate.side == "lower"
    assert found.certificate.value < found.certificate.observed < 1  # type: ignore[operator]
    assert found.certificate.observed == pytest.approx(np.dot(found.weights, found.means))
    assert "is at least" in found.certificate.sentence


def test_repeated_instances_are_refused_unless_they_were_drawn() -> None:
    """A copy in a later batch would judge a table that it taught."""
    instances, utility = town(60, 0), rs.utilities.Suboptimality(1.0)
    twice = rs.InstanceSet(
        instances.graph,
        instances.weights,
        np.tile(instances.sources, 2),
        2 * GADGETS,
        rows=np.tile(instances.rows, 2),
    )
    with pytest.raises(AssumptionError, match=r"repeat.*groups=False"):
        progressive(Misled(), twice, utility=utility)
    drawn = progressive(Misled(), instances.draw(120, seed=0), utility=utility).certificate.sentence
    assert "60 instances" in drawn, "it is about draws from this pool"


def test_several_goals() -> None:
    graph = rs.Graph.grid(4, 4)
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 2, size=(200, graph.m))
    instances = rs.InstanceSet(graph, weights, rng.integers(2, 16, 200), rng.integers(0, 2, 200))
    learner, utility = rs.learners.PerGoal(rs.learners.MeanDistance()), rs.utilities.Suboptimality(3.0)
    found = progressive(learner, instances, batches=4, utility=utility)
    assert set(found.draw(0)) == {0, 1}
    assert "goals drawn as these 2 were" in found.certificate.sentence
    rare = instances[np.flatnonzero((instances.goals == 0) | (np.arange(200) == np.argmax(instances.goals == 1)))]
    with pytest.raises(InputError, match=r"does not serve all goals: .* 1"):
        progressive(learner, rare, batches=len(rare), utility=utility)


def test_bad_arguments() -> None:
    instances, utility = town(50, 0), rs.utilities.Suboptimality(3.0)
    options: dict[str, Any]
    for options, message in (
        ({"batches": 1}, "batches"),
        ({"batches": 51}, "batches"),
        ({"batches": [50]}, "add up to 50"),
        ({"batches": [20, 20]}, "add up to 50"),
        ({"batches": [50, 0]}, "batches"),
        ({"delta": 1.0}, "delta"),
        ({"algorithm": "dfs"}, "algorithm"),
        ({"largest_excess": 1.0}, "belong together"),
        ({"lower": 0.1}, "belong together"),
        ({"lower": 0.1, "upper": 3.0, "largest_excess": 3.0}, "below the limit"),
        ({"lower": 0.1, "upper": 3.0, "largest_excess": 1e-16}, "round"),
        ({"lower": 0.1, "upper": 3.0, "largest_excess": 1.0, "reopen": False}, "with reopening"),
        ({"lower": 0.1, "upper": 3.0, "largest_excess": 1.0, "budget": 5}, "without a budget"),
        ({"groups": [1, 2]}, "groups"),
    ):
        with pytest.raises(InputError, match=message):
            progressive(Misled(), instances, utility=utility, **options)
    with pytest.raises(InputError, match="learner must"):
        progressive(np.zeros(41), instances, utility=utility)
    with pytest.raises(InputError, match="utility must"):
        progressive(Misled(), instances, utility="cost")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="InstanceSet"):
        progressive(Misled(), [1, 2], utility=utility)  # type: ignore[arg-type]
