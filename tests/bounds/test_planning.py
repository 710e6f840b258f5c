"""Sample size and accuracy are the unknowns of one equation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.errors import InputError


@settings(max_examples=15)
@given(
    st.integers(4, 100), st.floats(0.05, 0.5), st.sampled_from(["astar", "gbfs"]), st.sampled_from(["both", "upper"])
)
def test_one_is_the_inverse_of_the_other(n: int, accuracy: float, algorithm: str, side: str) -> None:
    of = {"n": n, "algorithm": algorithm, "limit": 2.0, "integer_weights": 5, "out_degree": 4, "side": side}
    sizes = rs.sample_size(epsilon=accuracy, **of)
    for row in sizes.rows:
        N = int(row.value)
        assert rs.deviation(samples=N, **of)[row.label] <= accuracy
        assert N == 1 or rs.deviation(samples=N - 1, **of)[row.label] > accuracy
    assert int(sizes) == sizes.best <= sizes.paper


def test_closed_form_of_h1() -> None:
    plans = rs.sample_size(n=30, algorithm="gbfs", epsilon=0.1, delta=0.05, limit=1.0)
    assert plans["H1 with Gp"] == math.ceil((math.lgamma(30) + math.log(2 / 0.05)) / (2 * 0.1**2))
    assert plans.best == plans["H1 with Gp"]


def test_families_need_fewer() -> None:
    of = {"n": 1000, "algorithm": "astar", "epsilon": 0.1, "limit": 1.0}
    full = int(rs.sample_size(**of))
    assert int(rs.sample_size(parameters=3, **of)) < full / 100
    assert int(rs.sample_size(levels=16, **of)) < full / 10
    assert int(rs.sample_size(levels=16, **of)) == math.ceil(50 * (999 * math.log(16) + math.log(40)))


def test_edge_local_plan() -> None:
    spreads = np.full(200, 0.1)
    plans = rs.sample_size(n=50, epsilon=0.5, limit=10.0, spreads=spreads)
    width = rs.bounds.edge_local_width(50, spreads, int(plans["U2"]), 10.0)
    assert 0.49 < width <= 0.5
    with pytest.raises(InputError, match="spreads"):
        rs.sample_size(n=50, epsilon=0.5, limit=10.0, spreads=[1.0, np.inf])


def test_printed_at_80_columns() -> None:
    plans = rs.deviation(n=10**8, samples=10**6, limit=1.0, integer_weights=10, out_degree=4)
    assert max(map(len, str(plans).splitlines())) <= 80
    dimensions = rs.pseudo_dimension(10**8, integer_weights=10, out_degree=4)
    assert max(map(len, str(dimensions).splitlines())) <= 100


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"limit": 0.0}, "limit"),
        ({"n": 1}, "n"),
        ({"side": "up"}, "side"),
    ],
)
def test_bad_input(changed: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        rs.sample_size(**({"n": 10, "epsilon": 0.1, "limit": 1.0} | changed))
