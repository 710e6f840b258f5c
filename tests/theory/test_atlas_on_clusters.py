"""The atlas on Dask, Ray and other processes: the same files as on one thread."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import rhostar as rs
from support.clusters import CLUSTERS, Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture(scope="module", params=CLUSTERS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with CLUSTERS[request.param]() as made:
        yield made


def test_the_atlas(cluster: Cluster, tmp_path: Path) -> None:
    kinds = [rs.theory.Kind(4, "gbfs", True, "expanded", "unit"), rs.theory.Kind(4, "astar", True, "cost", "small")]
    expected = rs.theory.atlas.search(tmp_path / "one", rounds=2, only=kinds)
    with cluster.configured():
        assert rs.theory.atlas.search(tmp_path / "many", rounds=2, only=kinds) == expected
    for path in (tmp_path / "one").iterdir():
        assert (tmp_path / "many" / path.name).read_bytes() == path.read_bytes()
