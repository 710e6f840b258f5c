"""All kinds of calls on random digraphs agree with an independent Dijkstra search; the benchmark does 10**6 pairs."""

import pytest

from support.hierarchies import compare_random_digraphs


@pytest.mark.parametrize("seed", range(1, 5))
def test_all_pairs_of_random_digraphs(seed: int) -> None:
    assert compare_random_digraphs(seed, pairs=15_000) >= 15_000
