"""Seen data is found whatever it went through, and draws from a declared pool are not taken for it."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.certificates._draws import check_repeats, find_unseen, unknown_origin
from rhostar.errors import AssumptionError, InputError
from rhostar.instances._provenance import Provenance, provenance

GRAPH = rs.Graph.grid(5, 5)
GOAL = 24


def draw(N: int, seed: int = 0) -> rs.InstanceSet:
    rng = np.random.default_rng(seed)
    return rs.InstanceSet(GRAPH, rng.uniform(1, 2, (N, GRAPH.m)), rng.integers(0, GOAL, N), GOAL)


def copy(instances: rs.InstanceSet, change: Callable[[np.ndarray], np.ndarray] = np.copy) -> rs.InstanceSet:
    return rs.InstanceSet(GRAPH, change(instances.weights), instances.sources, instances.goals, rows=instances.rows)


def fit(instances: rs.InstanceSet) -> rs.learners.MeanDistance:
    return rs.learners.MeanDistance().fit(instances)


def through_a_file(instances: rs.InstanceSet, folder: Path) -> Any:
    rs.Model.of(fit(instances), GRAPH).save(folder / "model.npz")
    return rs.Model.load(folder / "model.npz").heuristic.trained_on


# ---------------------------------------------------------------- seen


@pytest.mark.parametrize("told", ["learner", "model", "pickle", "several", "by goal", "train"])
@pytest.mark.parametrize(
    "change",
    [np.copy, lambda w: w.astype(np.float32), lambda w: w * (1 + 1e-12)],
    ids=["copy", "float32", "jitter"],
)
def test_copies_are_refused_or_dropped(change: Callable[[Any], Any], told: str, tmp_path: Path) -> None:
    whole = draw(60)
    train = whole[:40]
    seen: Any = {
        "learner": lambda: fit(train).heuristic_.trained_on,
        "model": lambda: through_a_file(train, tmp_path),
        "pickle": lambda: pickle.loads(pickle.dumps(fit(train))).heuristic_.trained_on,
        "several": lambda: provenance(draw(5, seed=1), train),
        "by goal": lambda: {GOAL: fit(train[:7]).heuristic_.trained_on, 3: (fit(train[7:]).heuristic_.trained_on,)},
        "train": lambda: train,
    }[told]()
    holdout = copy(whole, change)
    with pytest.raises(
        AssumptionError, match=r"40 of its 60 instances were seen in training.*duplicates='drop' .* duplicates='allow'"
    ):
        find_unseen(holdout, seen)
    assert find_unseen(holdout, seen, "drop")[0].tolist() == list(range(40, 60))
    with pytest.raises(AssumptionError, match=r"only 0 of the .* equal another one. That is not due to chance"):
        find_unseen(holdout, seen, "allow")
    kept, notes = find_unseen(draw(60, seed=2), seen)
    assert (kept.tolist(), notes) == (list(range(60)), [])
    with pytest.raises(AssumptionError, match="none is left"):
        find_unseen(holdout[:40], seen, "drop")
    with pytest.raises(AssumptionError, match="40 of its 60 instances"):
        find_unseen(whole, train, "allow")  # the very same instances


def test_another_process_finds_them(tmp_path: Path) -> None:
    train = draw(30)
    rs.Model.of(fit(train), GRAPH).save(tmp_path / "model.npz")
    copy(train[:20], lambda w: w.astype(np.float32)).save(tmp_path / "copy")
    code = (
        "import sys, rhostar as rs\n"
        "from rhostar.certificates._draws import find_unseen\n"
        "model = rs.Model.load(sys.argv[1] + '/model.npz')\n"
        "find_unseen(rs.InstanceSet.load(sys.argv[1] + '/copy'), model.heuristic.trained_on)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "20 of its 20 instances were seen in training" in done.stderr


def test_there_are_three_ways() -> None:
    with pytest.raises(InputError, match="'raise', 'drop' or 'allow'"):
        find_unseen(draw(30), None, "keep")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "learner",
    [
        rs.learners.PerGoal(rs.learners.MeanDistance()),
        rs.learners.Auto(effort="quick"),
        rs.learners.Scaled(rs.learners.MeanDistance(), 1.5),
        rs.learners.Landmarks(random_state=0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_every_learner_remembers_content(learner: Any) -> None:
    train = draw(30)
    seen = learner.fit(train).heuristic_.trained_on
    assert all(part.keys is not None for part in seen.parts)
    assert seen.overlap(copy(train)) == 30
    assert seen.overlap(draw(30, seed=1)) == 0
    if hasattr(learner, "partial_fit"):
        learner.partial_fit(draw(10, seed=1))
        assert learner.heuristic_.trained_on.overlap(copy(draw(10, seed=1))) == 10


# ---------------------------------------------------------------- pools


def test_draws_from_a_pool_may_share_instances_but_not_be_the_same() -> None:
    pool = draw(20)
    train, holdout = pool.draw(100, seed=0), pool.draw(80, seed=1)
    for seen in (fit(train).heuristic_.trained_on, fit(pool).heuristic_.trained_on):
        kept, (note,) = find_unseen(holdout, (train, seen))
        assert kept.size == 80
        assert re.search("7[0-9] of 80 instances|80 of 80 instances", note)
        assert "draws from this pool of 20 instances" in note
    # The same call again, in whatever process, is the same draw.
    seen = fit(train).heuristic_.trained_on
    with pytest.raises(AssumptionError, match="100 of its 100 instances were seen"):
        find_unseen(draw(20).draw(100, seed=0), seen)
    # Two parts of one draw are independent.
    first, second = train.split(0.5, seed=0)
    assert find_unseen(second, (first, fit(first).heuristic_.trained_on))[0].size == len(second)
    with pytest.raises(AssumptionError, match="10 of its 60 instances"):
        find_unseen(train[:60], Provenance.of(train[50:]))
    # Instances of the pool itself are no draws: the learner has seen them.
    with pytest.raises(AssumptionError, match="were seen in training"):
        find_unseen(pool, seen)


def test_one_sampler_with_one_seed_is_no_fresh_draw() -> None:
    town = rs.datasets.city(30)
    seen = fit(town.draw(50, seed=0)).heuristic_.trained_on
    assert find_unseen(town.draw(30, seed=1), seen)[0].size == 30
    with pytest.raises(AssumptionError, match=r"30 of its 30 .* drawn with the same seed; draw them with another"):
        find_unseen(town.draw(30, seed=0), seen)


# ---------------------------------------------------------------- repeats


def test_repeats_are_refused_outside_a_declared_pool() -> None:
    base = draw(40)
    check_repeats(base, "holdout")
    tenfold = rs.InstanceSet(GRAPH, np.tile(base.weights, (10, 1)), np.tile(base.sources, 10), GOAL)
    with pytest.raises(
        AssumptionError,
        match=r"holdout: 360 of 400 instances repeat .* instance 40, which is equal in content to instance 0",
    ):
        check_repeats(tenfold, "holdout")
    jittered = rs.InstanceSet(
        GRAPH, np.r_[base.weights, base.weights[:1] * (1 + 1e-12)], np.r_[base.sources, base.sources[0]], GOAL
    )
    with pytest.raises(AssumptionError, match="train: 1 of 41 instances repeats"):
        check_repeats(jittered, "train")
    with pytest.raises(AssumptionError, match="instance 3, which is the same as instance 1; every"):
        check_repeats(base[[3, 7, 5, 7]], "holdout")
    drawn = base.draw(500, seed=0)
    check_repeats(drawn, "holdout")
    check_repeats(drawn.split(0.5, seed=0)[1], "holdout")
    with pytest.raises(AssumptionError, match="same as instance 0"):
        check_repeats(drawn[[0, 0, 1]], "holdout")
    with pytest.raises(AssumptionError, match="equal in content"):  # groups of a draw are no draws from the pool
        check_repeats(drawn.split(0.5, seed=0, groups=drawn.rows)[1], "holdout")


# ---------------------------------------------------------------- unknown


def test_what_is_not_known_is_said() -> None:
    train = draw(20)
    learner = fit(train)

    def notes(given: Any) -> list[str]:
        return unknown_origin(rs.heuristics.as_heuristic(given, GRAPH))

    for given in (learner.rho_, {GOAL: learner.rho_}, rs.Model(rs.heuristics.Table(learner.rho_))):
        assert notes(given) == ["it is not known what rho was learned from"]
    assert notes(learner) == notes(rs.Model.of(learner, GRAPH)) == notes(learner.heuristic_) == []
    improved = rs.learners.BumpSearch(learner.rho_, max_bumps=1, random_state=0).fit(train)
    for found in (improved, rs.Model.of(improved, GRAPH), rs.learners.PerGoal(improved).fit(train)):
        assert notes(found) == ["initial is an array of unknown origin"]
    assert notes(rs.learners.BumpSearch(learner, max_bumps=1, random_state=0).fit(train)) == []


def test_records_without_content_keys_still_work() -> None:
    whole = draw(10)
    bare = Provenance(whole.origin, np.arange(4))
    assert bare.overlap(whole) == 4
    assert bare.overlap(copy(whole)) == 0
    merged = provenance(bare, whole[2:6])
    assert (merged.overlap(whole), merged.overlap(copy(whole))) == (6, 4)
    both = provenance(bare, draw(3, seed=1))
    assert both.copies(copy(draw(3, seed=1))).all()
    assert not both.recorded(copy(draw(3, seed=1))).any()


@pytest.mark.parametrize("limit", [0.1, 0.2])
def test_the_mean_of_a_day_never_exceeds_its_trips(limit: float) -> None:
    """(0.2 + 0.2 + 0.2) / 3 rounds to more than 0.2: a day on which every trip reached the limit ended in an error."""
    graph = rs.Graph.from_edges(3, [0, 0, 1], [1, 2, 2])
    weights = np.tile([1.0, 5.0, 1.0], (90, 1)) * np.linspace(1, 2, 90)[:, None]
    trips = rs.InstanceSet(graph, weights, sources=0, goal=2, days=np.arange(90) // 3)
    rho = rs.heuristics.Table([0.0, 50.0, 0.0], 2)  # always the long way
    assert rs.certify(rho, trips, rs.utilities.Suboptimality(limit)).best.observed == pytest.approx(limit)
    assert rs.audit(rho, trips, limit=limit)["mean loss"].measured == pytest.approx(limit)
    assert rs.choose_weight(rho, trips, mean_excess=limit / 2, limit=limit, factors=(1.0,)).factor is None
    learner = rs.learners.MeanWeights(statistic="min")
    assert rs.certificates.progressive(learner, trips, rs.utilities.Cost(limit), batches=3) is not None
