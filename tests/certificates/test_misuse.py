"""What people do with certificates that they should not, or only with care: each is refused, said, or made right."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import AssumptionError, UtilityError
from rhostar.instances._provenance import ContentKeys
from rhostar.utilities import Cost, Custom, Expansions, Suboptimality

GRAPH = rs.Graph.grid(5, 5)
GOAL = 24
UTILITY = Suboptimality(limit=4.0)


def draw(N: int, seed: int = 0) -> rs.InstanceSet:
    rng = np.random.default_rng(seed)
    return rs.InstanceSet(GRAPH, rng.uniform(1, 2, size=(N, GRAPH.m)), rng.integers(0, 23, N), GOAL)


def copied(instances: rs.InstanceSet, change: Any = lambda weights: weights) -> rs.InstanceSet:
    weights = change(instances.weights[instances.rows].copy())
    return rs.InstanceSet(GRAPH, weights, instances.sources, GOAL)


def certify(rho: Any, *, holdout: Any, utility: Any = UTILITY, **options: Any) -> rs.certificates.CertificateTable:
    return rs.certify(rho, holdout, utility, **options)


def on_train(rho: Any, *, train: Any, utility: Any = UTILITY, **options: Any) -> rs.certificates.CertificateTable:
    return rs.certify_training(rho, train, utility, **options)


def test_an_array_on_its_training_rows() -> None:
    """Nothing is known about an array: the table says so, among the notes and among the assumptions."""
    train = draw(200)
    learner = rs.learners.MeanDistance().fit(train)
    table = certify(learner.rho_, holdout=train)
    assert any("it is not known what rho was learned from" in note for note in table.notes)
    assert any("not checked: it is not known what rho was learned from" in text for text in table.best.assumptions)
    assert "not checked" not in str(certify(learner, holdout=draw(200, seed=1)))


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: weights,
        lambda weights: weights.astype(np.float32),
        lambda weights: weights * (1 + 1e-12),
        lambda weights: weights + np.random.default_rng(0).normal(scale=1e-9, size=weights.shape),
    ],
    ids=["copy", "float32", "scaled", "jitter"],
)
def test_copies_of_the_training_set(change: Any) -> None:
    """A copy is found by its content."""
    train, fresh = draw(100), draw(60, seed=1)
    learner = rs.learners.MeanDistance().fit(train)
    copy = copied(train, change)
    both = rs.InstanceSet(
        GRAPH,
        np.concatenate([copy.weights.astype(float), fresh.weights]),
        np.concatenate([copy.sources, fresh.sources]),
        GOAL,
    )
    with pytest.raises(AssumptionError, match=r"holdout must be untouched: 100 of its 100 instances"):
        certify(learner, holdout=copy)
    with pytest.raises(AssumptionError, match=r"100 of its 160 instances"):
        certify(learner, holdout=both)
    found = certify(learner, holdout=both, duplicates="drop").best
    assert found.samples == 60
    assert "on new instances drawn as these were and not seen in training" in found.sentence
    with pytest.raises(AssumptionError, match="100 of its 100 instances equal one seen in training, but only 0"):
        certify(learner, holdout=copy, duplicates="allow")  # independent draws would not all be equal
    labels = np.arange(160) % 2
    kept = certify(learner, holdout=both, duplicates="drop", by=labels)
    assert [row.samples for row in kept.guarantees] == [30, 30], "labels follow the instances that are kept"
    with pytest.raises(AssumptionError, match="none is left"):
        certify(learner, holdout=copy, duplicates="drop")


def test_copies_are_found_through_files(tmp_path: Path) -> None:
    """The model was saved, and the same recordings were read from another file."""
    train = draw(100)
    rs.Model.of(rs.learners.MeanDistance().fit(train), GRAPH).save(tmp_path / "m.npz")
    copied(train).save(tmp_path / "again")
    model, again = rs.Model.load(tmp_path / "m.npz"), rs.InstanceSet.load(tmp_path / "again")
    with pytest.raises(AssumptionError, match="100 of its 100 instances were seen in training"):
        certify(model, holdout=again)


def test_a_repeated_holdout() -> None:
    holdout = draw(50)
    tenfold = rs.InstanceSet(GRAPH, np.tile(holdout.weights, (10, 1)), np.tile(holdout.sources, 10), GOAL)
    for repeated in (tenfold, holdout[np.tile(np.arange(50), 10)]):
        with pytest.raises(AssumptionError, match="450 of 500 instances repeat an earlier one"):
            certify(np.zeros(25), holdout=repeated)
    with pytest.raises(AssumptionError, match="repeat an earlier one"):
        certify(np.zeros(25), holdout=holdout[np.tile(np.arange(50), 10)], groups=False)
    with pytest.raises(AssumptionError, match="450 of 500 instances repeat an earlier one"):
        certify(np.zeros(25), holdout=tenfold, groups=False)  # says nothing about equal instances
    found = certify(np.zeros(25), holdout=tenfold, duplicates="allow")
    assert found.best.samples == 500, "declared as independent draws"


def test_starts_that_share_snapshots() -> None:
    """Twenty snapshots with twenty starts each are twenty draws, and the guarantee is about new snapshots."""
    weights = np.random.default_rng(0).uniform(1, 2, size=(20, GRAPH.m))
    holdout = rs.InstanceSet(GRAPH, weights, np.tile(np.arange(20), 20), GOAL, rows=np.repeat(np.arange(20), 20))
    rho = 1.5 * rs.distances_to(GRAPH, np.ones(GRAPH.m), GOAL)
    table = certify(rho, holdout=holdout)
    assert table.best.samples == 20
    assert "over the draw of the 20 snapshots" in table.best.sentence
    assert "on new snapshots drawn as these 20 were, each counting the same" in table.best.sentence
    apart = certify(rho, holdout=holdout, groups=False)
    assert apart.best.samples == 400
    assert "on new trips on one of these 20 snapshots" in apart.best.sentence
    assert apart.best.value < table.best.value
    with pytest.raises(AssumptionError, match="train: 400 instances share 20 snapshots"):
        on_train(rho, train=holdout, utility=Expansions(limit=25.0))
    with pytest.raises(AssumptionError, match="drawn independently"):
        certify(rho, holdout=holdout, quantile=0.9)


def test_draws_from_recorded_days() -> None:
    """Draws from ten recorded days are about these days; new days need groups."""
    days = draw(10)
    drawn = days.draw(1000, seed=0)
    rho = 1.5 * rs.distances_to(GRAPH, np.ones(GRAPH.m), GOAL)
    table = certify(rho, holdout=drawn)
    assert table.best.samples == 1000
    assert "on new draws from this pool of 10 instances" in table.best.sentence
    per_day = certify(rho, holdout=drawn, groups=drawn.rows)
    assert per_day.best.samples == 10
    assert "on new groups drawn as these 10 were" in per_day.best.sentence
    assert per_day.best.value > table.best.value
    learner = rs.learners.MeanDistance().fit(days.draw(500, seed=1))
    assert "draws from this pool" in certify(learner, holdout=drawn).best.sentence, "another draw is fresh randomness"
    with pytest.raises(AssumptionError, match="1000 of its 1000 instances were seen"):
        certify(rs.learners.MeanDistance().fit(days.draw(1000, seed=0)), holdout=drawn)


def test_instances_that_follow_each_other_in_time() -> None:
    """A level that drifts from hour to hour is seen in the order of storage."""
    rng = np.random.default_rng(0)
    level = 1 + 0.5 * np.sin(np.arange(300) / 20)
    weights = level[:, None] * rng.uniform(1, 1.3, size=(300, GRAPH.m))
    table = certify(np.zeros(25), holdout=rs.InstanceSet(GRAPH, weights, 0, GOAL), utility=Cost(limit=40.0))
    assert any("do not look like independent draws" in text for text in table.warnings)
    assert table.notes[0].startswith("Warning: ")
    assert "do not look like independent draws" in " ".join(str(table).split())
    shuffled = rs.InstanceSet(GRAPH, rng.permutation(weights), 0, GOAL)
    assert not certify(np.zeros(25), holdout=shuffled, utility=Cost(limit=40.0)).warnings


def test_a_limit_read_off_the_data() -> None:
    holdout = draw(200)
    largest = rs.solve_many(holdout, np.zeros(25)).cost.max()
    table = certify(np.zeros(25), holdout=holdout, utility=Cost(limit=1.001 * largest))
    assert any("just above the largest utility seen" in text for text in table.warnings)
    assert not certify(np.zeros(25), holdout=holdout, utility=Cost(limit=1.5 * largest)).warnings


def test_least_weights_taken_from_data() -> None:
    """It is certain only if no weight falls below them, and the sentence says so."""
    train, holdout = draw(300), draw(100, seed=1)
    least = np.minimum(train.weights.min(axis=0), holdout.weights.min(axis=0))
    safe = rs.learners.LowerEnvelope(least).fit(train)
    found = certify(safe.rho_, holdout=holdout, lower=least).best  # bare values, which no search lowers
    assert found.label == "U3"
    assert found.sentence.startswith("As long as no weight falls below its lower bound and no answer costs more than")
    later = draw(500, seed=2)
    lower = (later.weights < least).any(axis=1)
    excess = rs.evaluate(safe.rho_, later, UTILITY)[0].values
    assert lower.any(), "which does happen"
    assert (excess[~lower] <= found.value).all()


def test_a_utility_that_returns_an_array() -> None:
    with pytest.raises(UtilityError, match=r"must return one number, got array\(.*\) for instance 0"):
        certify(np.zeros(25), holdout=draw(20), utility=Custom(9.0, lambda instance, trace: np.ones(3)))
    with pytest.raises(UtilityError, match="must return one number"):
        certify(np.zeros(25), holdout=draw(20), utility=Custom(9.0, lambda instance, trace: None))


def test_infeasible_instances() -> None:
    """What was dropped is said; what is kept counts as H and is part of the clipped share."""
    weights = draw(400).weights.copy()
    blocked = np.arange(400) % 2 == 0
    weights[np.ix_(blocked, np.flatnonzero(GRAPH.head == GOAL))] = np.inf
    half = rs.InstanceSet(GRAPH, weights, 0, GOAL, infeasible="drop")
    text = certify(np.zeros(25), holdout=half, utility=Cost(limit=40.0)).best.sentence
    assert "given that there is a path (50% of draws had a path)" in text
    whole = rs.InstanceSet(GRAPH, weights, 0, GOAL, infeasible="keep")
    text = certify(np.zeros(25), holdout=whole, utility=Cost(limit=40.0)).best.sentence
    assert "(values above 40 count as 40; 50% did; 50% of the runs found no path)" in text


def test_edges_that_may_be_absent() -> None:
    """Two edges without a largest weight do not cost the bound for every ρ."""
    instances = draw(3000)
    weights = instances.weights.copy()
    weights[::7, 3] = np.inf
    weights[::11, 20] = np.inf
    train = rs.InstanceSet(GRAPH, weights, instances.sources, GOAL)
    high = np.full(GRAPH.m, 2.0)
    high[[3, 20]] = np.inf
    rho = 1.4 * rs.distances_to(GRAPH, np.ones(GRAPH.m), GOAL)
    table = on_train(rho, train=train, lower=1.0, upper=high)
    assert table.best.label == "U2"
    assert table.best.value < 4.0
    every = on_train(rho, train=instances, lower=1.0, upper=2.0).best
    assert every.value <= table.best.value


def test_a_family_of_arrays_learned_from_train() -> None:
    """Features that are raw arrays have no provenance, so bounds on train are refused until somebody says."""
    train, other = draw(400), draw(100, seed=1)
    shape = rs.learners.MeanDistance().fit(train)
    earlier = rs.learners.MeanDistance().fit(other)

    def certify(learner: Any, built_from: Any) -> Any:
        family = rs.certificates.Linear(base=np.zeros(25), features=learner.rho_[:, None], built_from=built_from)
        return on_train(1.5 * learner.rho_, train=train, utility=Expansions(limit=25.0), family=family)

    with pytest.raises(AssumptionError, match="unknown origin"):
        certify(shape, None)
    for seen in (train, shape.heuristic_.trained_on):
        with pytest.raises(AssumptionError, match=r"built from 400 instances of train"):
            certify(shape, [seen])
    assert certify(earlier, [earlier.heuristic_.trained_on, other]).best.samples == 400


# ---------------------------------------------------------------- what was new?


def trips(weights: np.ndarray, per_snapshot: int = 10, **options: Any) -> rs.InstanceSet:
    count = len(weights)
    starts = np.tile(np.arange(per_snapshot), count)
    return rs.InstanceSet(GRAPH, weights, starts, GOAL, rows=np.repeat(np.arange(count), per_snapshot), **options)


def recorded(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(1, 2, size=(count, GRAPH.m))


def test_other_trips_on_the_snapshots_that_were_trained_on() -> None:
    """Nothing can be said about new snapshots; about new trips on these it can, and the sentence says that."""
    weights = recorded(12)
    every = trips(weights)
    even = np.arange(len(every)) % 2 == 0
    learner = rs.learners.MeanDistance().fit(every[even])
    again = rs.InstanceSet(GRAPH, weights.astype(np.float32), every.sources[~even], GOAL, rows=every.rows[~even])
    for holdout in (every[~even], again):
        with pytest.raises(AssumptionError, match=r"60 of its 60 instances have a snapshot or day that was seen"):
            certify(learner, holdout=holdout)
        found = certify(learner, holdout=holdout, groups=False).best
        assert "on new trips on one of these 12 snapshots, drawn as these were" in found.sentence
    one_each = every[~even][::5]  # each snapshot once, so that nothing in the holdout itself is shared
    with pytest.raises(AssumptionError, match="nothing can be said about new instances"):
        certify(learner, holdout=one_each)
    assert "on new trips on one of these 12 snapshots" in certify(learner, holdout=one_each, groups=False).best.sentence
    single = trips(recorded(1), 24)
    found = certify(rs.learners.MeanDistance().fit(single[:12]), holdout=single[12:]).best
    assert "on new trips on this one snapshot" in found.sentence


def test_a_split_keeps_snapshots_and_days_together() -> None:
    every = trips(recorded(20))
    train, holdout = every.split(0.5, seed=0)
    assert (len(train), len(holdout)) == (100, 100)
    assert not set(train.snapshot_indices) & set(holdout.snapshot_indices)
    found = certify(rs.learners.MeanDistance().fit(train), holdout=holdout).best
    assert "on new snapshots drawn as these 10 were" in found.sentence
    train, holdout = every.split(0.5, seed=0, groups=False)
    assert set(train.snapshot_indices) & set(holdout.snapshot_indices)
    by_day = trips(recorded(20), days=np.arange(20) // 4)
    train, holdout = by_day.split(0.6, seed=0)
    assert not set(train.days) & set(holdout.days)
    assert (np.unique(train.days).size, np.unique(holdout.days).size) == (3, 2)
    with pytest.raises(rs.errors.InputError, match=r"cannot split 5 days at 0.01: .* groups=False"):
        by_day.split(0.01, seed=0)
    drawn = by_day.draw(100, seed=0)
    train, holdout = drawn.split(0.5, seed=0)
    assert (len(train), holdout.pool) == (50, drawn.pool), "draws are independent"


def test_days_are_the_draws_by_default() -> None:
    """Three days with a hundred trips each are three draws."""
    holdout = trips(recorded(30), days=np.arange(30) // 10)
    found = certify(np.zeros(25), holdout=holdout)
    assert (found.best.samples, found.best.unit) == (3, "day")
    assert "on new days drawn as these 3 were, each counting the same" in found.best.sentence
    assert any("300 instances of 3 days" in note for note in found.notes)
    assert certify(np.zeros(25), holdout=holdout, groups=holdout.rows).best.samples == 30
    with pytest.raises(AssumptionError, match=r"at least two days.*groups=holdout.rows"):
        certify(np.zeros(25), holdout=holdout[:100])
    learner = rs.learners.MeanDistance().fit(holdout[:50])
    with pytest.raises(AssumptionError, match="a snapshot or day that was seen in training"):
        certify(learner, holdout=holdout[50:])  # other snapshots, but one of the days
    assert certify(learner, holdout=holdout[100:]).best.samples == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: weights.round(2),
        lambda weights: weights.round(3),
        lambda weights: weights + np.random.default_rng(0).uniform(-1e-3, 1e-3, weights.shape),
    ],
    ids=["2 decimals", "3 decimals", "jitter"],
)
def test_rounded_and_slightly_changed_copies(change: Any) -> None:
    """With a learner that knows every snapshot by heart such a holdout proves nothing: a warning says so."""
    train = draw(100)
    learner = rs.learners.MeanDistance().fit(train)
    table = certify(learner, holdout=copied(train, change))
    assert any("100 snapshots of holdout are much closer to one seen in training" in text for text in table.warnings)
    assert not certify(learner, holdout=draw(100, seed=1)).warnings


@pytest.mark.parametrize("code", [1e6, 1e9])
def test_huge_codes_for_closed_roads(code: float) -> None:
    """Independent snapshots stay independent, and copies are still found."""
    rng = np.random.default_rng(0)
    shape = (100, GRAPH.m)
    closed = [np.where(rng.random(shape) < 0.1, code, rng.uniform(1, 2, shape)) for _ in range(2)]
    sets = [rs.InstanceSet(GRAPH, weights, 0, GOAL) for weights in closed]
    learner = rs.learners.MeanDistance().fit(sets[0])
    assert certify(learner, holdout=sets[1]).best.samples == 100
    with pytest.raises(AssumptionError, match="100 of its 100 instances were seen in training"):
        certify(learner, holdout=copied(sets[0]))


def test_independent_although_equal() -> None:
    """Few values repeat by chance. Saying so allows that, and nothing else."""
    rng = np.random.default_rng(0)
    few = rs.Graph.from_edges(3, [0, 1], [1, 2])

    def days(count: int) -> rs.InstanceSet:
        return rs.InstanceSet(few, rng.integers(1, 4, size=(count, 2)).astype(float), 0, 2)

    train, holdout = days(60), days(60)
    learner = rs.learners.MeanDistance().fit(train)
    with pytest.raises(AssumptionError, match="repeat an earlier one"):
        certify(learner, holdout=holdout)
    with pytest.raises(AssumptionError, match="repeat an earlier one"):
        certify(learner, holdout=holdout, groups=False)
    assert certify(learner, holdout=holdout, duplicates="allow").best.samples == 60
    with pytest.raises(AssumptionError, match="60 of its 60 instances were seen in training"):
        certify(learner, holdout=train, duplicates="allow")  # the very same ones


# ---------------------------------------------------------------- choices


def test_looks_at_one_holdout_are_counted() -> None:
    """The best of many on one holdout, and peeking at growing parts of it: the second look and later ones are told."""
    holdout = draw(400)
    base = rs.distances_to(GRAPH, np.ones(GRAPH.m), GOAL)
    first = certify(base, holdout=holdout)
    assert not any("guarantees were made" in note for note in first.notes)
    assert certify(base, holdout=holdout).notes == first.notes, "the same look again"
    notes = certify(1.2 * base, holdout=holdout).notes
    assert any("2 guarantees were made on these instances" in n and "candidates=2" in n for n in notes)
    for k in range(3, 6):
        notes = certify(base, holdout=copied(holdout[: 50 * k])).notes  # copies of growing parts
        assert any(f"{k} guarantees were made" in note for note in notes)
    assert any("6 guarantees" in note for note in certify(base, holdout=holdout, utility=Cost(limit=40.0)).notes)
    told = certify(1.3 * base, holdout=holdout, candidates=7)
    assert not any("guarantees were made" in note for note in told.notes)
    assert "guarantees were made" not in str(certify(base, holdout=draw(400, seed=1))), "another holdout"
    pool = draw(10)
    for seed in range(3):
        assert "guarantees were made" not in str(certify(base, holdout=pool.draw(100, seed=seed))), "other draws"


def test_choosing_a_factor_and_audits_are_looks_too() -> None:
    """A factor was chosen on a holdout and certified on the same one, without a word."""
    holdout = draw(400)
    base = rs.heuristics.Table(rs.distances_to(GRAPH, np.ones(GRAPH.m), GOAL), GOAL)
    rs.choose_weight(base, holdout, mean_excess=0.05, factors=(1.0, 1.2, 1.5))
    rs.choose_weight(base, holdout, mean_excess=0.10, factors=(1.0, 1.2, 1.5))  # the same runs
    notes = certify(base.scaled(1.5), holdout=holdout).notes
    assert any("4 guarantees were made on these instances" in n and "candidates=4" in n for n in notes)
    notes = rs.audit(base, holdout).notes
    assert any(n.startswith("5 heuristics or settings were measured on these queries") for n in notes)
    other = draw(400, seed=1)
    assert not any("were measured" in n for n in rs.audit(base, other).notes)
    assert not any("were measured" in n for n in rs.audit(base, other).notes), "the same look again"
    assert any("2 guarantees" in n for n in certify(base, holdout=other).notes)


def test_the_certificate_of_another_model() -> None:
    train, holdout = draw(100), draw(200, seed=1)
    mine, other = (
        rs.Model.of(rs.learners.Scaled(rs.learners.MeanDistance(), factor).fit(train), GRAPH) for factor in (1.0, 1.5)
    )
    table = certify(mine, holdout=holdout)
    assert mine.with_certificate(table.to_dict()).certificate["about"] == table.about != ""
    with pytest.raises(rs.errors.ModelError, match="the certificate is about another heuristic"):
        other.with_certificate(table.to_dict())
    assert certify(lambda u, v: 0.0, holdout=holdout).about == "", "a function has no hash"


def test_progressive_validation_with_a_validation_set_of_its_own() -> None:
    instances = draw(120)
    learner = rs.learners.SelfImitatedRanking(validation=instances[:20], iterations=1)
    with pytest.raises(AssumptionError, match="validation of the learner has 20 of them"):
        rs.certificates.progressive(learner, instances, UTILITY, batches=3)
    fitted = rs.learners.BumpSearch(rs.learners.MeanDistance().fit(instances[:50]), max_bumps=1, random_state=0)
    with pytest.raises(AssumptionError, match="initial of the learner has 50 of them"):
        rs.certificates.progressive(fitted, instances, UTILITY, batches=3)


def test_weight_bounds_never_worsen_the_guarantee_on_train() -> None:
    """The measured inconsistency may be far above the excess: U2 is not taken without a look at the other bound."""
    graph = rs.Graph.grid(3, 3)
    weights = np.random.default_rng(0).integers(1, 4, size=(20_000, graph.m)).astype(np.int32)
    train = rs.InstanceSet(graph, weights, sources=0, goal=8)
    learner = rs.learners.MeanDistance().fit(train)
    plain, stated, integers = (
        rs.certify_training(learner, train, Suboptimality(limit=6.0), duplicates="allow", **options)
        for options in ({}, {"lower": 1.0, "upper": 3.0}, {"integer_weights": 3})
    )
    assert stated.best.value < 1.05 * plain.best.value
    assert stated.best.label == plain.best.label
    assert integers.best.value < 0.6 * plain.best.value
    for table in (plain, stated):
        assert any("state integer_weights=3" in note for note in table.notes)
    assert not any("integer_weights=" in note for note in integers.notes)


def test_trips_from_vertex_0_are_not_taken_for_each_other() -> None:
    """The hash of snapshot a with the ends (0, b) was that of snapshot b with the ends (0, a)."""
    goals = np.array([1, 2, 3, 5, 4, 6, 7, 8] * 2)
    for shift in range(1, 9):
        weights = np.random.default_rng(shift).uniform(1, 2, size=(16, GRAPH.m))
        trips = rs.InstanceSet(GRAPH, weights, 0, np.roll(goals, shift))
        assert not ContentKeys.of(trips).repeats().any()
    again = rs.InstanceSet(GRAPH, weights, 0, 5, rows=[0, 3, 0])
    assert ContentKeys.of(again).repeats().tolist() == [False, False, True]
