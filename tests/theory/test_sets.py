"""The constructions by name: sizes are written once, and every set is shattered."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError, WitnessError
from rhostar.theory import constructions

CASES = [(name, algorithm) for name, known in constructions.items() for algorithm in known.algorithms]


def test_the_parity_code_is_among_them() -> None:
    assert set(constructions) == {
        "theorem5",
        "sharper",
        "parity",
        "cost",
        "interval",
        "expansions",
        "reopening",
        "star",
    }


@pytest.mark.parametrize(("name", "algorithm"), CASES)
@pytest.mark.parametrize("n", [7, 8, 21, 40])
def test_sizes_are_those_of_the_sets(name: str, algorithm: str, n: int) -> None:
    known = constructions[name]
    size = known.size(n, algorithm)
    if size < 1:
        with pytest.raises(InputError, match="too few"):
            known.build(n, algorithm)
        return
    if name == "star" and n > 12:
        return  # a number of instances, not of vertices, makes its patterns too many to hold
    found = known.build(n, algorithm)
    assert (len(found), found.algorithm, found.instances.graph.n) == (size, algorithm, n)
    assert known.utility in (found.utility.name, "any")


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_every_pattern_comes_out(name: str, algorithm: str) -> None:
    found = constructions[name].build(9, algorithm)
    assert found.verify(most=50) == (2 ** len(found) if len(found) <= 12 else 50)


def test_a_wrong_threshold_is_seen() -> None:
    found = constructions["theorem5"].build(7)
    np.add(found.thresholds, 1.0, out=found.thresholds)
    with pytest.raises(WitnessError, match=r"cost of instance \d is 3.0, which contradicts its pattern"):
        found.verify()


def test_what_a_construction_is_not_for() -> None:
    with pytest.raises(InputError, match="'cost' is for astar, not for gbfs"):
        constructions["cost"].build(9, "gbfs")
    with pytest.raises(InputError, match="algorithm must be"):
        constructions["theorem5"].build(9, "dfs")
    assert constructions["star"].build(7).algorithm == "gbfs"
    assert repr(constructions["parity"]) == "Construction(parity: cost of astar and gbfs)"
    assert repr(rs.theory.theorem5_instances(5)) == "ShatteredSet(1 instance on 5 vertices, cost of gbfs)"


def test_the_rows_of_the_pseudo_dimension_are_these_sets() -> None:
    for n in (5, 20, 133, 300):
        assert len(rs.theory.parity_code(n)) == rs.pseudo_dimension(n, "gbfs")["P"]
        assert len(rs.theory.cost_code(n)) == rs.pseudo_dimension(n, reopen=False)["Pc"]
    assert len(rs.theory.parity_code(1000)) == rs.pseudo_dimension(1000, "gbfs").lower


def test_weights_and_degrees_are_those_that_the_rows_state() -> None:
    code = rs.theory.parity_code(300)
    for _, weights, _, _ in code.instances:
        present = np.isfinite(weights)
        assert np.bincount(code.instances.graph.tail[present]).max() <= 2, "no vertex has more than two children"
    for bits in range(1, 5):
        weights = rs.theory.cost_code(60, bits=bits).instances.weights
        assert weights[np.isfinite(weights)].max() <= 128 << bits
