"""Hierarchies in files: the same again, or an error that says what is wrong."""

import contextlib
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.errors import InputError, RhostarError, StorageError
from rhostar.hierarchy._storage import PARTS, hierarchy_parts, open_hierarchy
from support.digraphs import random_digraph, random_weights


def copy_of(graph: rs.Graph) -> rs.Graph:
    """Return an equal graph that remembers nothing."""
    return rs.Graph(graph.first_out, graph.head)


@pytest.mark.parametrize("seed", range(30))
def test_a_loaded_hierarchy_is_the_same(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    graph = rs.Graph.grid(17, 30, neighbors=8) if seed == 0 else random_digraph(rng, [1, 2, 60][seed % 3])
    rs.Hierarchy(graph).save(tmp_path / "file.npz")
    fresh = copy_of(graph)
    loaded = rs.Hierarchy.load(tmp_path / "file.npz", fresh)
    assert rs.Hierarchy(fresh)._kernel is loaded._kernel
    assert loaded.n_arcs == rs.Hierarchy(graph).n_arcs
    weights = random_weights(rng, graph.m)
    one, other = loaded.customize(weights), rs.Hierarchy(graph).customize(weights)
    edges = rng.integers(0, max(graph.m, 1), min(graph.m, 3))
    for each in (one, other):
        each.update(edges, weights[edges] + 1, in_place=True)
    assert one._kernel.lengths.tobytes() == other._kernel.lengths.tobytes()
    for s, t in rng.integers(0, graph.n, (20, 2)):
        assert one.path(s, t).path.tolist() == other.path(s, t).path.tolist()


def test_saving_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file.npz"
    small, large = rs.Graph.grid(3, 3), rs.Graph.grid(20, 20)
    rs.Hierarchy(large).save(path)
    loaded = rs.Hierarchy.load(path, copy_of(large))
    rs.Hierarchy(small).save(path)
    assert loaded.customize(large.length).distance(0, 399) == 38.0  # the old file is still mapped
    assert rs.Hierarchy.load(path, small).n_arcs == rs.Hierarchy(small).n_arcs
    assert [each.name for each in tmp_path.iterdir()] == ["file.npz"]
    with pytest.raises(StorageError, match="could not write"):
        rs.Hierarchy(small).save(tmp_path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    graph = rs.Graph.grid(6, 6)
    path = tmp_path / "file.npz"
    with pytest.raises(StorageError, match=r"there is no hierarchy at .*file\.npz"):
        rs.Hierarchy.load(path, graph)
    rs.Hierarchy(graph).save(path)
    with pytest.raises(StorageError, match="is the hierarchy of another graph"):
        rs.Hierarchy.load(path, rs.Graph.grid(6, 6, neighbors=8))
    with pytest.raises(InputError, match="graph must be a Graph, got str"):
        rs.Hierarchy.load(path, "graph")
    rs.Model.of(np.zeros(36), graph).save(path)
    with pytest.raises(StorageError, match="does not belong there"):
        rs.Hierarchy.load(path, graph)
    np.savez(path, facts=np.zeros(3, dtype=np.uint8))
    with pytest.raises(StorageError, match="is damaged or not a hierarchy"):
        rs.Hierarchy.load(path, graph)


def test_files_that_were_cut_or_altered_are_refused(tmp_path: Path) -> None:
    graph = rs.Graph.grid(12, 12)
    path = tmp_path / "file.npz"
    rs.Hierarchy(graph).save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for size in [0, 1, len(whole) - 1, *rng.integers(0, len(whole), 20)]:
        path.write_bytes(whole[:size])
        with pytest.raises(StorageError):
            rs.Hierarchy.load(path, graph)
    expected = hierarchy_parts(rs.Hierarchy(graph)._kernel)
    for at in rng.integers(0, len(whole), 200):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            found = hierarchy_parts(rs.Hierarchy.load(path, copy_of(graph))._kernel)
        except StorageError:
            continue
        assert all(np.array_equal(found[name], expected[name]) for name in PARTS)  # it was padding


@pytest.mark.parametrize("name", PARTS)
def test_altered_arrays_with_right_checksums_read_nothing_outside(name: str) -> None:
    # Run with sanitizers, too. Most changes are found; the others may only make answers wrong.
    town = rs.datasets.city(400, seed=0)
    graph, weights = town.graph, town.snapshots(1, seed=0)[0]
    good = hierarchy_parts(rs.Hierarchy(graph)._kernel)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(60):
        parts = {key: part.copy() for key, part in good.items()}
        part = parts[name]
        at = rng.integers(part.size)
        part[at] = rng.choice([-1, 0, part[at] + 1, part[at] - 1, part.max(), part.size, 2**31 - 1, -(2**31)])
        if rng.random() < 0.2:
            parts[name] = part[: rng.integers(part.size)].copy()
        kernel = open_hierarchy(parts, copy_of(graph))
        if kernel is None:
            refused += 1
            continue
        made = kernel.customize(weights, None)
        edges = rng.integers(0, graph.m, 5)
        made.update_in_place(edges, weights[edges] * 2, False, 2**62, None)
        today = rs.hierarchy.CustomizedHierarchy(graph, made, whole=False)
        today.distances(0)
        for s, t in rng.integers(0, graph.n, (10, 2)):
            with contextlib.suppress(RhostarError):
                today.path(s, t)
    assert refused > 30
    assert open_hierarchy({**good, name: good[name].astype(np.int64)}, graph) is None
