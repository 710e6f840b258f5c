"""Which rows a class gets: the upper bounds by transcripts, and the best construction as the lower bound."""

from __future__ import annotations

import pytest

import rhostar as rs
from rhostar.bounds import _sizes as sizes
from rhostar.bounds import _transcripts as transcripts
from rhostar.bounds import capacities
from rhostar.bounds._dimension import lower_expansions


def test_rows_by_transcripts() -> None:
    for reopen, label in ((True, "Wp"), (False, "W")):
        found = rs.pseudo_dimension(300, reopen=reopen)
        assert found[label] == transcripts.astar(300, reopen=reopen).pseudo_dimension
        labels = {row.label for row in capacities(300, reopen=reopen)}
        assert labels & {"W", "Wp"} == {label}
    assert not {row.label for row in capacities(300, "gbfs")} & {"W", "Wp"}
    real = [row for row in capacities(300) if not row.finite]
    assert min(real, key=lambda row: row.pseudo_dimension).label == "Wp", "the least for real ρ"


@pytest.mark.parametrize("n", [5, 20, 133, 300, 1000, 5000, 20_000])
def test_the_lower_bound_for_the_cost_is_the_best_set_that_can_be_built(n: int) -> None:
    parity = max(sizes.parity(n, m) for m in sizes.PARITY_BITS)
    assert rs.pseudo_dimension(n, "gbfs").lower == max(parity, n - 2)
    assert rs.pseudo_dimension(n).lower == max(parity, n - 1)
    assert rs.pseudo_dimension(n, reopen=False).lower == max(parity, n - 1, sizes.largest_cost(n))


def test_a_known_case() -> None:
    assert rs.pseudo_dimension(1000, "gbfs").lower == 1441
    assert rs.pseudo_dimension(1000, reopen=False).lower == 5642


def test_lower_bounds_stay_below_upper_ones() -> None:
    for n in [*range(2, 200), 1000, 10_000, 10**6]:
        for reopen in (True, False):
            for weights in (None, 1, 100, 10**6):
                found = rs.pseudo_dimension(n, reopen=reopen, integer_weights=weights)
                assert max((row.value for row in found.rows if row.origin == "lower"), default=0) <= found.upper
        greedy = rs.pseudo_dimension(n, "gbfs")
        assert max(row.value for row in greedy.rows if row.origin == "lower") <= greedy.upper


def test_lower_bounds_only_where_their_instances_are_in_the_class() -> None:
    def labels(**of: object) -> set[str]:
        return {row.label for row in rs.pseudo_dimension(1000, **of).rows if row.origin == "lower"}  # type: ignore[arg-type]

    assert "P" in labels(out_degree=2)
    assert "P" not in labels(out_degree=1)
    assert "Pc" not in labels()
    assert "Pc" not in labels(reopen=False, out_degree=4)
    assert "Pc" not in labels(reopen=False, integer_weights=255)
    assert "Pc" in labels(reopen=False, integer_weights=256)


def test_expansions_without_reopening_do_not_use_the_code_that_needs_it() -> None:
    assert lower_expansions(207, "astar") == 865
    assert lower_expansions(207, "astar", reopen=False) == 408 == sizes.interval(207, "astar")
