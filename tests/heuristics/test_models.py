"""Model files: everything comes back, another graph is refused, and nothing in a file is trusted."""

import contextlib
import io
import json
import mmap
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError, ModelError, NotFittedError, RhostarError, StorageError
from rhostar.heuristics import PerGoal, Table, as_heuristic
from rhostar.heuristics._storage import digest
from support.failures import no_space
from support.instances import grid_instances


@pytest.fixture
def instances() -> rs.InstanceSet:
    return grid_instances(4, 5, 30)


class Fitted:
    """What a model needs of a learner."""

    algorithm = "gbfs"

    def __init__(self, rho: Any, **facts: Any) -> None:
        kind = PerGoal(rho, 20) if isinstance(rho, dict) else Table.of_values(rho, 20, "rho")
        self.heuristic_ = kind.with_facts(**facts)

    def get_params(self) -> dict:
        return {"rate": np.float64(0.5), "inner": object, "steps": (1, 2), "table": np.zeros((2, 3)), "top": np.inf}


def test_everything_comes_back(instances: rs.InstanceSet, tmp_path: Path) -> None:
    learner = rs.learners.LowerEnvelope().fit(instances)
    model = rs.Model.of(learner, instances.graph, certificate={"sentence": "at most 3", "value": 3.0})
    model.save(tmp_path / "deep" / "model.npz")
    found = rs.Model.load(tmp_path / "deep" / "model.npz")
    assert np.array_equal(found.heuristic.table(19), learner.rho_)
    assert not found.heuristic.table(19).flags.writeable
    assert np.array_equal(found.heuristic.lower, learner.heuristic_.lower)
    assert found.heuristic.consistent_for is found.heuristic.lower
    assert (found.learner, found.goals) == ("LowerEnvelope", [19])
    assert found.heuristic.trained_on.overlap(instances) == 30
    assert found.certificate == {"sentence": "at most 3", "value": 3.0}
    assert set(found.versions) == {"rhostar", "python", "numpy"}
    assert found.search_with() == "astar"
    assert found.search_with("gbfs") == "gbfs"
    # It is taken where a learner is.
    assert rs.report.compare(instances, {"model": found})[0].kind == "learned"


def test_instances_of_several_origins_are_remembered(instances: rs.InstanceSet, tmp_path: Path) -> None:
    other = rs.InstanceSet(instances.graph, 2 * instances.weights, instances.sources, instances.goals)
    learner = rs.learners.SelfImitatedRanking(validation=other[:4], iterations=1).fit(instances)
    rs.Model.of(learner, instances.graph).save(tmp_path / "model.npz")
    found = rs.Model.load(tmp_path / "model.npz").heuristic.trained_on
    assert (found.overlap(instances), found.overlap(other), found.size) == (30, 4, 34)
    assert found.among(other).tolist() == [True] * 4 + [False] * 26


def test_a_model_keeps_the_content_of_what_it_saw(instances: rs.InstanceSet, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    rs.Model.of(rs.learners.MeanDistance().fit(instances), instances.graph).save(path)
    copy = rs.InstanceSet(instances.graph, instances.weights.astype(np.float32), instances.sources, instances.goals)
    assert rs.Model.load(path).heuristic.trained_on.overlap(copy) == 30
    with np.load(path) as stored:
        parts = {name: stored[name] for name in stored.files}
    names = [name for name in parts if name.startswith("trained_on_0_")]
    assert len(names) == 4
    np.savez(path, **{name: part for name, part in parts.items() if name not in names})
    bare = rs.Model.load(path).heuristic.trained_on
    assert (bare.keys, bare.overlap(instances), bare.overlap(copy)) == (None, 30, 0)
    for wrong in ({names[0]: parts[names[0]][:3]}, {"trained_on_0": parts["trained_on_0"].astype(float)}):
        np.savez(path, **(parts | wrong))
        with pytest.raises(StorageError, match="cannot be used"):
            rs.Model.load(path)


def test_parameters_that_are_no_plain_values_are_kept_as_they_print(instances: rs.InstanceSet, tmp_path: Path) -> None:
    rs.Model.of(Fitted(np.zeros(20)), instances.graph).save(tmp_path / "m.npz")
    found = rs.Model.load(tmp_path / "m.npz")
    assert found.parameters == {
        "rate": 0.5,
        "inner": repr(object),
        "steps": [1, 2],
        "table": "array of shape (2, 3)",
        "top": "inf",
    }
    assert found.search_with() == "gbfs"
    inside = rs.learners.PerGoal(rs.learners.LowerEnvelope(instances.weights.min(axis=0))).fit(instances)
    assert len(rs.Model.of(inside, instances.graph).parameters["learner"]) < 80, "not one number per edge"


@pytest.mark.parametrize(
    "learner",
    [
        rs.learners.Potentials(),
        rs.learners.Potentials(goal_delay=True),
        rs.learners.Potentials("median", n_clusters=3, max_excess=0.5, goal_delay=True),
        rs.learners.Scaled(rs.learners.Potentials(goal_delay=True), 0.8),
        rs.learners.Landmarks(3),
        rs.learners.PerGoal(rs.learners.Portfolio(n_clusters=2)),
        rs.learners.PerGoal(rs.learners.ChosenTables(n_clusters=2)),
    ],
    ids=repr,
)
def test_every_kind_of_heuristic_comes_back_from_a_file(learner: Any, tmp_path: Path) -> None:
    """A file of values with a delay at the goal was written, but not read again; ties between tables fell otherwise."""
    rng, graph = np.random.default_rng(0), rs.Graph.grid(5, 6)
    trips = rs.InstanceSet(graph, rng.uniform(1, 2, (40, graph.m)), rng.integers(0, 20, 40), rng.integers(26, 29, 40))
    learner.fit(trips)
    rs.Model.of(learner, graph).save(tmp_path / "m.npz")
    found = rs.Model.load(tmp_path / "m.npz")
    later = rs.InstanceSet(graph, rng.uniform(0.9, 3, (40, graph.m)), trips.sources, trips.goals)
    for algorithm in ("astar", "gbfs"):
        runs = [rs.solve_many(later, rho, algorithm=algorithm) for rho in (learner, found)]
        assert runs[0].expanded.tolist() == runs[1].expanded.tolist()
        assert runs[0].cost.tolist() == runs[1].cost.tolist()
    assert digest(found.heuristic) == digest(learner.heuristic_)


def test_several_goals(instances: rs.InstanceSet, tmp_path: Path) -> None:
    tables = {3: np.zeros(20), 7: np.ones(20)}
    model = rs.Model.of(Fitted(tables), instances.graph)
    model.save(tmp_path / "m.npz")
    found = rs.Model.load(tmp_path / "m.npz")
    assert found.goals == [3, 7]
    assert found.heuristic.table(7).tolist() == [1.0] * 20
    assert repr(found) == "Model(Fitted, 20 vertices, 2 goals)"


def test_another_graph_is_refused(instances: rs.InstanceSet) -> None:
    model = rs.Model.of(rs.learners.MeanDistance().fit(instances), instances.graph)
    as_heuristic(model, rs.Graph.grid(4, 5))  # the same edges again
    with pytest.raises(ModelError, match="another graph: 20 vertices"):
        as_heuristic(model, rs.Graph.grid(5, 4))


def test_what_is_not_fitted_or_does_not_fit_is_refused(instances: rs.InstanceSet) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        rs.Model.of(rs.learners.MeanDistance(), instances.graph)
    with pytest.raises(InputError, match="one value for each of the 20 vertices"):
        rs.Model.of(Fitted(np.zeros(7)), instances.graph)
    with pytest.raises(InputError, match="finite"):
        rs.Model.of(Fitted(np.full(20, np.nan)), instances.graph)
    with pytest.raises(InputError, match="at least one goal"):
        rs.Model.of(Fitted({}), instances.graph)


def test_damaged_files_are_refused_and_never_unpickled(instances: rs.InstanceSet, tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    rs.Model.of(Fitted(np.zeros(20)), instances.graph).save(path)
    whole = path.read_bytes()
    for wrong in (b"", b"nonsense", whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(wrong)
        with pytest.raises(StorageError, match="not a model of rhostar, or a damaged one"):
            rs.Model.load(path)
    rng = np.random.default_rng(0)
    for _ in range(60):  # a changed byte is refused, or harmless: checksums of the archive see it
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(changed)
        with contextlib.suppress(RhostarError):
            assert np.array_equal(rs.Model.load(path).heuristic.table(19), np.zeros(20))
    bomb = tmp_path / "hit"

    class Bomb:
        def __reduce__(self) -> tuple:
            return Path.touch, (bomb,)

    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.array([Bomb()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, stream.getvalue() if name == "values.npy" else old.read(name))
    with pytest.raises(StorageError):
        rs.Model.load(path)
    assert not bomb.exists()
    path.write_bytes(pickle.dumps({"rho": 1}))
    with pytest.raises(StorageError):
        rs.Model.load(path)


def test_files_of_another_kind_or_with_impossible_values_are_refused(tmp_path: Path) -> None:
    facts = {"format": "something else", "version": 1}
    for parts in (
        {"facts": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)},
        {"facts": np.frombuffer(b"[1", dtype=np.uint8)},
        {"rho": np.zeros(3)},
    ):
        np.savez(tmp_path / "m.npz", **parts)
        with pytest.raises(StorageError, match="not a model"):
            rs.Model.load(tmp_path / "m.npz")
    with pytest.raises(StorageError, match="there is no model"):
        rs.Model.load(tmp_path / "none.npz")
    with pytest.raises(StorageError, match="cannot be read"):
        rs.Model.load(tmp_path)


def test_a_failed_save_leaves_the_old_file(
    instances: rs.InstanceSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.npz"
    model = rs.Model.of(Fitted(np.zeros(20)), instances.graph)
    model.save(path)
    before = path.read_bytes()

    for failure, expected in (
        (no_space, StorageError),
        (lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt), KeyboardInterrupt),
    ):
        monkeypatch.setattr(np.lib.format, "write_array", failure)
        with pytest.raises(expected):
            model.save(path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["m.npz"]


def test_potentials_stay_in_the_file_and_are_checked(instances: rs.InstanceSet, tmp_path: Path) -> None:
    graph, path = instances.graph, tmp_path / "m.npz"
    learner = rs.learners.Potentials(n_clusters=2).fit(instances)
    rs.Model.of(learner, graph).save(path)
    whole = path.read_bytes()
    found = rs.Model.load(path)
    for member, own in zip(found.heuristic.members, learner.heuristic_.members, strict=True):
        for name, part in member._arrays.items():
            assert not part.flags.owndata
            assert not part.flags.writeable
            assert isinstance(_owner(part), mmap.mmap), name
            assert part.ctypes.data % 64 == 0
            assert np.array_equal(part, own._arrays[name])
        assert np.array_equal(member.table(3), own.table(3))
    assert found.heuristic.members[1]._arrays["rows"] is found.heuristic.members[0]._arrays["rows"]
    # Another model may take its place while it is in use.
    rs.Model.of(Fitted(np.zeros(20)), graph).save(path)
    assert np.array_equal(found.heuristic.members[0].table(5), learner.heuristic_.members[0].table(5))
    with np.load(io.BytesIO(whole)) as numpy_reads_it:
        assert np.array_equal(numpy_reads_it["0_rank"], learner.heuristic_.members[0]._arrays["rank"])
        assert "1_rank" not in numpy_reads_it.files, "what depends on the graph alone is there once"
        assert "1_up" in numpy_reads_it.files
    # Every changed byte is refused or harmless, also in what is mapped.
    rng, refused = np.random.default_rng(1), 0
    for _ in range(100):
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(changed)
        try:
            again = rs.Model.load(path).heuristic
        except StorageError:
            refused += 1
        else:
            assert np.array_equal(again.members[1].table(3), learner.heuristic_.members[1].table(3))
    assert refused > 50
    # An archive that numpy wrote is not aligned: it is read instead.
    with np.load(io.BytesIO(whole)) as parts:
        np.savez(path, **parts)
    again = rs.Model.load(path).heuristic.members[0]
    assert np.array_equal(again.table(3), learner.heuristic_.members[0].table(3))


def _owner(array: np.ndarray) -> object:
    owner: object = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return owner
