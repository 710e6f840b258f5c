"""What people do with certificates that they should not, or only with care: each is refused, said, or made right."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import AssumptionError, UtilityError
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
    assert certify(learner, holdout=copy, duplicates="allow").best.samples == 100, "declared as independent draws"
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
    for options in ({"groups": False}, {"duplicates": "allow"}):
        found = certify(np.zeros(25), holdout=tenfold, **options)
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
    with pytest.raises(AssumptionError, match="drawn one by one"):
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
