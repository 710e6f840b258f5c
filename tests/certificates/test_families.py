"""Families of heuristics: what is in them, which instances shaped them, what a new one takes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.bounds import _capacity as capacity
from rhostar.certificates import Family, FullTable, Linear, Quantized
from rhostar.instances._provenance import Provenance, provenance
from support.instances import grid_instances


def draw(count: int) -> rs.InstanceSet:
    graph = rs.Graph.grid(3, 3)
    weights = np.random.default_rng(count).uniform(1, 2, size=(count, graph.m))
    return rs.InstanceSet(graph, weights, sources=0, goal=8)


def test_a_family_knows_the_instances_that_shaped_it() -> None:
    train, other = grid_instances(3, 3, 10).split(0.5, seed=0)
    family = Linear(base=np.zeros(9), features=np.ones((9, 1)), built_from=(Provenance.of(train[:3]),))
    assert family.overlap(train) == 3
    assert family.overlap(other) == 0
    assert family.overlap(grid_instances(3, 3, 10)) == 3, "equal content in another set"
    assert family.overlap(grid_instances(3, 3, 10, seed=1)) == 0, "another set"
    assert FullTable().overlap(train) == 0


def test_what_was_seen_adds_up_by_origin() -> None:
    first, second = grid_instances(3, 3, 10), grid_instances(3, 3, 10, seed=1)
    one = provenance(first[:4], Provenance.of(first[2:6]))
    assert one.indices.tolist() == [0, 1, 2, 3, 4, 5]
    assert (one.size, one.parts) == (6, (one,))
    both = provenance(one, second[9:], provenance(first[8:], second[:1]))
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


def test_quantized_family() -> None:
    family = Quantized(levels=np.array([4.0, 0.0, 1.0, 1.0]), goal=2)
    assert family.levels.tolist() == [0.0, 1.0, 4.0]
    rho = family.nearest([0.4, 2.6, 9.9, -3.0])
    assert rho.tolist() == [0.0, 4.0, 0.0, 0.0]
    assert family.contains(rho)
    assert not family.contains([0.0, 4.0, 0.0, 0.5])
    assert not family.contains([0.0, 4.0, 9.9, 0.0]), "B to the n − 1 tables: the goal's value is not free"
    other = Quantized(levels=np.array([0.0, 4.0]), goal=2, goal_value=9.9)
    assert other.contains([0.0, 4.0, 9.9, 0.0])
    with pytest.raises(rs.errors.InputError, match="goal_value"):
        Quantized(levels=np.zeros(1), goal=0, goal_value=np.inf)
    with pytest.raises(rs.errors.InputError):
        Quantized(levels=np.array([]), goal=0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Scaled(Family):
    """Every ρ = θ · shape with a whole θ up to `most`: written as a user would, nothing else is touched for it."""

    shape: np.ndarray
    most: int = 7

    def contains(self, rho: Any) -> bool:
        theta = np.round(rho[0] / self.shape[0])
        return bool(0 <= theta <= self.most and np.array_equal(theta * self.shape, rho))

    def capacities(self, n: int, algorithm: Any, **_: Any) -> tuple[rs.bounds.Capacity, ...]:
        return (capacity.quantized(2, self.most + 1),)


def test_a_new_family_is_one_class() -> None:
    train = draw(300)
    shape = rs.distances_to(train.graph, np.ones(train.graph.m), goal=8)
    family = Scaled(shape=shape, built_from=(Provenance.of(draw(3)),))
    table = rs.certify_training(2 * shape, train, rs.utilities.Expansions(limit=9.0), family=family)
    assert table["H1-kl Q"].measured["ln K"] == pytest.approx(math.log(8))
    assert table["H1-kl Q"].holds_for == "every rho of the family"
    with pytest.raises(rs.errors.AssumptionError, match=r"not in the family .* \(Scaled\)"):
        rs.certify_training(shape + 0.5, train, rs.utilities.Expansions(limit=9.0), family=family)


def test_what_is_exact_and_what_is_moved() -> None:
    rho = np.array([0.1, 0.2, 0.0])
    full, linear = FullTable(), Linear(base=np.zeros(3), features=rho[:, None])
    levels = Quantized(levels=rho, goal=2)
    for family, exact in ((full, True), (linear, True), (levels, False)):
        assert family.exact_sums(0.0), "greedy search adds nothing to ρ"
        assert family.exact_sums(10.0) == exact
        assert not family.exact_sums(None)
    for family, g in ((full, None), (full, 0.0), (levels, 10.0)):
        assert family.into_class(rho, g) == (rho, "")
    for family, g in ((full, 10.0), (linear, 10.0), (linear, 0.0), (linear, None)):
        placed = family.into_class(rho, g)
        assert placed.how
        assert placed.rho == pytest.approx(rho, rel=1e-5)
