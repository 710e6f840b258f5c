"""Families of tables: what is in them, and which instances shaped them."""

import numpy as np
import pytest

import rhostar as rs
from rhostar.families import FullTable, Linear, Quantised
from rhostar.instances import Provenance, Provenances, provenance
from support.instances import grid_instances


def test_a_family_knows_the_instances_that_shaped_it() -> None:
    train, other = grid_instances(3, 3, 10).split(0.5, seed=0)
    family = Linear(base=np.zeros(9), features=np.ones((9, 1)), built_from=(Provenance.of(train[:3]),))
    assert family.overlap(train) == 3
    assert family.overlap(other) == 0
    assert family.overlap(grid_instances(3, 3, 10)) == 0, "another origin"
    assert FullTable().overlap(train) == 0


def test_what_was_seen_adds_up_by_origin() -> None:
    first, second = grid_instances(3, 3, 10), grid_instances(3, 3, 10)
    one = provenance(first[:4], Provenance.of(first[2:6]))
    assert isinstance(one, Provenance)
    assert one.indices.tolist() == [0, 1, 2, 3, 4, 5]
    assert (one.size, one.parts) == (6, (one,))
    both = provenance(one, second[9:], provenance(first[8:], second[:1]))
    assert isinstance(both, Provenances)
    assert [part.indices.tolist() for part in both.parts] == [[0, 1, 2, 3, 4, 5, 8, 9], [0, 9]]
    assert both.among(second).tolist() == [True, *[False] * 8, True]
    assert both.overlap(first[5:]) == 3


def test_linear_family() -> None:
    features = np.array([[1.0, 2.0, 1.0], [3.0, 4.0, 1.0], [5.0, 7.0, 1.0], [0.0, 0.0, 1.0]])
    family = Linear(base=np.array([0.0, 1.0, 0.0, 0.0]), features=features)
    assert (family.parameters, family.rank) == (3, 2), "a constant column decides no comparison"
    rho = family.table([0.5, -1.0, 2.0])
    assert rho.tolist() == [0.5, 0.5, -2.5, 2.0]
    assert family.contains(rho)
    assert not Linear(base=np.zeros(4), features=features[:, :1]).contains(rho)


@pytest.mark.parametrize(
    ("base", "features"),
    [([0.0, 0.0], [[1.0], [1.0], [1.0]]), ([0.0, 0.0], [1.0, 1.0]), ([0.0, np.nan], [[1.0], [1.0]]), ([0.0], [[]])],
)
def test_linear_family_refuses(base: list[float], features: list[object]) -> None:
    with pytest.raises(rs.errors.ArrayError):
        Linear(base=np.array(base), features=np.array(features))


def test_quantised_family() -> None:
    family = Quantised(levels=np.array([4.0, 0.0, 1.0, 1.0]), goal=2)
    assert family.levels.tolist() == [0.0, 1.0, 4.0]
    rho = family.nearest([0.4, 2.6, 9.9, -3.0])
    assert rho.tolist() == [0.0, 4.0, 0.0, 0.0]
    assert family.contains(rho)
    assert not family.contains([0.0, 4.0, 0.0, 0.5])
    assert not family.contains([0.0, 4.0, 9.9, 0.0]), "B to the n − 1 tables: the goal's value is not free"
    other = Quantised(levels=np.array([0.0, 4.0]), goal=2, goal_value=9.9)
    assert other.contains([0.0, 4.0, 9.9, 0.0])
    with pytest.raises(rs.errors.InputError, match="goal_value"):
        Quantised(levels=np.zeros(1), goal=0, goal_value=np.inf)
    with pytest.raises(rs.errors.InputError):
        Quantised(levels=np.array([]), goal=0)
