"""Routers in files: the same answers after loading, and damaged files are refused."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError, StorageError


def streets() -> rs.Router:
    return rs.Router.from_edges(
        4,
        [0, 0, 1, 2, 3],
        [1, 1, 2, 2, 1],
        undirected=True,
        labels=["a", ("b", 1), 3, 4.5],
        edge_labels=list("vwxyz"),
        coordinates=[(0, 0), (1, 0), (2, 0), (3, 0)],
    )


@pytest.mark.parametrize("prepared", [False, True])
def test_a_router_comes_back(tmp_path: Path, prepared: bool) -> None:
    router = streets()
    if prepared:
        router.prepare()
    router.save(tmp_path / "streets.npz")
    again = rs.Router.load(tmp_path / "streets.npz")
    with pytest.raises(InputError, match="no weights yet"):
        again.route("a", 3)
    for one in (router, again):
        one.update([5.0, 2.0, 4.0, 0.0, 1.0])
    assert again.graph == router.graph
    for source in router.graph.labels:
        for target in router.graph.labels:
            ways = [one.route(source, target) for one in (router, again)]
            assert ways[0].cost == ways[1].cost
            assert ways[0].edge_labels == ways[1].edge_labels
    assert ("read from a file" in again.explain().order) == prepared
    again.update(edges=["w"], weights=[np.inf])
    assert again.route(("b", 1), "a").edge_labels == ("v",)


def test_a_heuristic_comes_along(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(15, 15)
    past = rng.uniform(1, 2, (20, graph.m))
    learned = rs.learners.Potentials(lower=past.min(axis=0)).fit(rs.InstanceSet(graph, past, 0, 224))
    router = rs.Router(graph, rs.Model.of(learned, graph, certificate={"sentence": "It holds."}), max_excess=0.1)
    router.prepare()
    router.save(tmp_path / "grid.npz")
    again = rs.Router.load(tmp_path / "grid.npz")
    for one in (router, again):
        one.update(past[3])
        one.route(0, 224)
    assert again.explain()._replace(order="") == router.explain()._replace(order="")
    assert again.explain().certificate == "It holds."
    again.routes(rng.integers(0, 225, (50, 2)), n_jobs=2)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "streets.npz"
    router = streets()
    router.prepare()
    router.save(file)
    whole = file.read_bytes()
    with pytest.raises(StorageError, match="there is no router"):
        rs.Router.load(tmp_path / "other.npz")
    rng = np.random.default_rng(0)
    refused = errors = 0
    for k in range(60):
        data = bytearray(whole)
        if k % 3 == 0:
            data = data[: rng.integers(len(data))]
        else:
            data[rng.integers(len(data))] ^= int(rng.integers(1, 256))
        file.write_bytes(data)
        try:
            loaded = rs.Router.load(file)
        except StorageError as error:
            refused += str(file) in str(error)
            errors += 1
        else:  # a byte that does not matter, such as padding
            loaded.update([5.0, 2.0, 4.0, 0.0, 1.0])
            assert loaded.route("a", 3).cost == 6.0 or loaded.graph != router.graph
    assert refused == errors > 30
    file.write_bytes(whole)
    rs.Hierarchy(router.graph).save(file)
    with pytest.raises(StorageError, match=r"does not belong there|not a router"):
        rs.Router.load(file)


def test_arrays_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    """Also where checksums agree: somebody may have written the file by hand."""
    router = streets()
    router.prepare()
    router.save(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as file:
        parts = dict(file)
    for name, good in parts.items():
        if name == "facts" or not good.size:
            continue
        for change in (good[:-1], good + 1, good.astype(np.float32)):
            with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
                for other, part in (parts | {name: change}).items():
                    stream = io.BytesIO()
                    np.save(stream, part)
                    archive.writestr(f"{other}.npy", stream.getvalue())
            try:
                loaded = rs.Router.load(tmp_path / "bad.npz")
            except StorageError:
                continue
            # Coordinates, and the same numbers in another type, are still a router: it must answer, not crash.
            loaded.update(np.ones(loaded.n_edges))
            loaded.prepare()
            loaded.matrix(loaded.graph.labels, loaded.graph.labels)
