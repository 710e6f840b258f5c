"""Shattering and the constructions of the proofs, each checked with the reference alone."""

import dataclasses
import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.theory._shattering import split
from support.cases import binary_counter
from support.symbolic_oracle import reference_runs

COST = rs.utilities.Cost(1000)


# ---------------------------------------------------------------- thresholds


@settings(max_examples=200)
@given(st.data())
def test_thresholds_against_trying_all(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 3)] * size), min_size=1, max_size=24, unique=True))
    values = np.array(sorted(rows), dtype=float)
    choices = itertools.product([0.5, 1.5, 2.5], repeat=size)
    possible = any(len({tuple(row) for row in values > np.array(z)}) == 2**size for z in choices)
    thresholds, which = split(values)
    assert (thresholds is not None) == possible
    if thresholds is not None:
        for pattern, row in enumerate(values[which] > thresholds):
            assert row.tolist() == [bool(pattern >> i & 1) for i in range(size)]


def test_not_shattered_is_proved() -> None:
    one = rs.theory.theorem5_instances(7).instances
    answer = rs.theory.shattering([one[0], one[0]], "gbfs", COST)  # a copy has always the same cost
    assert not answer
    assert sorted(map(tuple, answer.vectors.tolist())) == [(2.0, 2.0), (3.0, 3.0)]
    with pytest.raises(rs.errors.InputError, match="not shattered"):
        answer.witness()
    with pytest.raises(rs.errors.InputError, match="not shattered"):
        answer.verify()


# ---------------------------------------------------------------- the constructions


def check_all_patterns(shattered: rs.theory.ShatteredSet, reopen: bool) -> None:
    size = len(shattered)
    for pattern in itertools.product([False, True], repeat=size):
        rho = shattered.rho(pattern).tolist()
        runs = reference_runs(shattered.instances, rho, shattered.algorithm, reopen)
        assert [run.cost > z for run, z in zip(runs, shattered.thresholds, strict=True)] == list(pattern)


@pytest.mark.parametrize("n", range(5, 13))
@pytest.mark.parametrize("algorithm", ["gbfs", "astar"])
def test_theorem_5(n: int, algorithm: str) -> None:
    shattered = rs.theory.theorem5_instances(n, algorithm)
    assert len(shattered) == n - 4
    for reopen in (True, False):
        check_all_patterns(shattered, reopen)
    assert set(shattered.instances.weights[np.isfinite(shattered.instances.weights)]) == {1.0}


@pytest.mark.parametrize("n", range(4, 13))
@pytest.mark.parametrize("algorithm", ["gbfs", "astar"])
def test_sharper_than_theorem_5(n: int, algorithm: str) -> None:
    shattered = rs.theory.sharper_instances(n, algorithm)
    assert len(shattered) == n - (2 if algorithm == "gbfs" else 1)
    for reopen in (True, False) if n < 11 else (True,):
        check_all_patterns(shattered, reopen)


@pytest.mark.parametrize("n", [6, 7])
def test_the_engine_finds_the_same_sets_shattered(n: int) -> None:
    for algorithm in ("gbfs", "astar"):
        for make in (rs.theory.theorem5_instances, rs.theory.sharper_instances):
            answer = rs.theory.shattering(make(n, algorithm).instances, algorithm, COST)
            assert answer
            assert answer.verify() == len(make(n, algorithm))


@pytest.mark.parametrize("n", range(5, 10))
def test_the_star_has_many_behaviours(n: int) -> None:
    greedy = len(rs.theory.joint_behaviours(rs.theory.star(n), "gbfs"))
    assert greedy == math.floor(math.e * math.factorial(n - 3))
    assert len(rs.theory.joint_behaviours(rs.theory.star(n))) > greedy


@pytest.mark.parametrize("n", [4, 5, 6, 7])
def test_copies_of_the_star(n: int) -> None:
    copies = rs.theory.star_copies(n)
    assert len(copies) == len(rs.theory.joint_behaviours(rs.theory.star(n), "gbfs")).bit_length() - 1
    for pattern in itertools.product([False, True], repeat=len(copies)):
        score = rs.evaluate(copies.rho(pattern), copies.instances, copies.utility, algorithm="gbfs")[0]
        assert (score.values > copies.thresholds).tolist() == list(pattern)
    answer = rs.theory.shattering(copies.instances, "gbfs", copies.utility)
    assert answer.verify() == len(copies)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
def test_powers_of_two(n: int) -> None:
    instance = rs.theory.powers_of_two(n)
    paths = sum(math.factorial(n - 2) // math.factorial(j) for j in range(n - 1))
    assert paths == math.floor(math.e * math.factorial(n - 2))
    for v in range(1, n):
        assert len(rs.theory.path_costs(instance, v)) == paths
    wrong = sum(math.factorial(k) for k in range(n - 1))  # the paper's count
    assert wrong < paths <= math.factorial(n - 1) if n > 3 else wrong == paths == 2
    assert sorted(instance.weights.tolist()) == [2**e for e in range(n * (n - 1))]


@pytest.mark.parametrize("n", range(3, 15))
def test_martelli(n: int) -> None:
    instance, rho = rs.theory.martelli(n)
    assert rs.astar(*instance, rho).expanded == 2 ** (n - 2)
    assert rs.astar(*instance, rho, reopen=False).expanded == n - 1
    assert rs.astar(*instance, np.zeros(n)).expanded == n - 1
    graph, weights, source, goal, other = binary_counter(n - 1)
    assert rs.astar(graph, weights, source, goal, other).expanded == 2 ** (n - 2)
    if n < 10:
        children = reference_runs(
            rs.InstanceSet(*instance[:2], instance.source, instance.goal), rho.tolist(), "astar", True
        )
        assert children[0].expanded == 2 ** (n - 2)


def test_constructions_refuse_sizes_they_do_not_have() -> None:
    for make, n in (
        (rs.theory.theorem5_instances, 4),
        (rs.theory.sharper_instances, 3),
        (rs.theory.star, 3),
        (rs.theory.star_copies, 3),
        (rs.theory.powers_of_two, 8),
        (rs.theory.martelli, 2),
    ):
        with pytest.raises(rs.errors.InputError, match="n must be"):
            make(n)


# ---------------------------------------------------------------- witnesses on disk


@pytest.fixture
def witness() -> rs.theory.Witness:
    return rs.theory.shattering(rs.theory.sharper_instances(5).instances, "astar", COST).witness()


def test_a_witness_survives_its_file(witness: rs.theory.Witness, tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    witness.save(path)
    assert rs.theory.Witness.load(path) == witness
    assert rs.theory.verify(witness) == 4
    assert [p.name for p in tmp_path.iterdir()] == ["w.json"]
    assert json.loads(path.read_text())["size"] == 4


@pytest.mark.parametrize(
    "change",
    [
        lambda w: {"rho": (w.rho[1], w.rho[0], *w.rho[2:])},
        lambda w: {"thresholds": (w.thresholds[0] + 1, *w.thresholds[1:])},
        lambda w: {"rho": w.rho[:-1]},
        lambda w: {"algorithm": "gbfs"},
        lambda w: {"utility": "beauty"},
        lambda w: {"arcs": (((0, 9, 1),), *w.arcs[1:])},
        lambda w: {"arcs": (tuple((u, v, -1) for u, v, _ in w.arcs[0]), *w.arcs[1:])},
        lambda w: {"sources": (w.goal, *w.sources[1:])},
        lambda w: {"bits": 50},
        lambda w: {"rho": (w.rho[0][:-1], *w.rho[1:])},
    ],
)
def test_a_wrong_witness_is_seen(witness: rs.theory.Witness, change) -> None:
    with pytest.raises(rs.errors.WitnessError):
        rs.theory.verify(dataclasses.replace(witness, **change(witness)))


def test_damaged_files(witness: rs.theory.Witness, tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    text = witness.to_json()
    for damaged in (text[: len(text) // 2], text.replace("shattered", "scattered"), '{"kind": 3}', "[]"):
        path.write_text(damaged)
        with pytest.raises(rs.errors.StorageError):
            rs.theory.Witness.load(path)
    with pytest.raises(rs.errors.StorageError, match="cannot read"):
        rs.theory.Witness.load(tmp_path / "none.json")
    with pytest.raises(rs.errors.StorageError, match="could not write"):
        witness.save(path / "w.json")


def test_utilities_that_no_file_can_name() -> None:
    answer = rs.theory.shattering(rs.theory.sharper_instances(5).instances, "astar", rs.utilities.Suboptimality(9))
    assert answer
    with pytest.raises(rs.errors.InputError, match="a witness cannot store the utility"):
        answer.witness()
