"""Tables for a graph that is known already, and several files, against a reference in plain Python."""

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs

POLICIES = ("error", "closed", "last", "median")


def reference(edges: list, table: list, history: list, policy: str, directed: bool) -> list[float] | None:
    """Return one weight per edge by name, or None if one is missing and that is an error."""
    found: dict[tuple[str, str], float] = {}
    for tail, head, weight in table:
        for ends in [(tail, head)] if directed else [(tail, head), (head, tail)]:
            if weight is not None:
                found[ends] = min(found.get(ends, math.inf), weight)
    row = []
    for e, ends in enumerate(edges):
        if ends not in found:
            if policy == "error":
                return None
            past = [snapshot[e] for snapshot in history]
            row.append({"closed": math.inf, "last": past[-1], "median": float(np.median(past))}[policy])
        else:
            row.append(found[ends])
    return row


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_snapshot_is_what_plain_python_reads(data: st.DataObject) -> None:
    names = data.draw(st.sampled_from([["a", "b", "c", "d"], ["10", "7", "300", "4"], ["x 1", "y,2", "ü", "-"]]))
    pairs = [(u, v) for u in range(4) for v in range(4) if u != v]
    some = sorted(data.draw(st.sets(st.sampled_from(pairs), min_size=1)))
    labels = [int(name) for name in names] if names[0] == "10" and data.draw(st.booleans()) else names
    graph = rs.Graph.from_edges(4, *zip(*some, strict=True), labels=labels)
    edges = [(names[t], names[h]) for t, h in zip(graph.tail, graph.head, strict=True)]
    weights = st.one_of(st.none(), st.just(math.inf), st.integers(0, 50).map(float))
    cell = st.tuples(st.sampled_from([*names, "elsewhere"]), st.sampled_from(names), weights)
    table = [*data.draw(st.lists(cell, min_size=1)), (*edges[0], 7.0)]
    if data.draw(st.booleans()):
        table += [(*ends, 9.0) for ends in edges]
    table = data.draw(st.permutations(table))
    history = data.draw(
        st.lists(st.lists(st.integers(1, 9), min_size=graph.m, max_size=graph.m), min_size=1, max_size=3)
    )
    policy, directed = data.draw(st.sampled_from(POLICIES)), data.draw(st.booleans())
    expected = reference(edges, table, history, policy, directed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "today.csv"
        cells = [(f'"{t}"', f'"{h}"', "" if w is None else repr(w)) for t, h, w in table]
        path.write_text("tail,head,weight\n" + "\n".join(",".join(row) for row in cells) + "\n")
        how = {"missing": policy, "directed": directed, "history": np.array(history)}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rhostar.datasets._edge_table._warn_of_others", lambda *_: None)
            if expected is None:
                with pytest.raises(rs.errors.ReadError, match=f"of {graph.m} weights"):
                    rs.datasets.read_snapshot(path, graph, **how)
            else:
                assert rs.datasets.read_snapshot(path, graph, **how).tolist() == expected


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_several_files_are_what_one_would_be(data: st.DataObject) -> None:
    stamps = data.draw(st.booleans())
    names = [f"2024-05-{k:02}T08:00" if stamps else f"s{k}" for k in data.draw(st.permutations(range(1, 6)))]
    ends = st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))
    blocks = [
        [f"{t},{h},{w},{name}" for (t, h), w in data.draw(st.lists(st.tuples(ends, st.integers(1, 9)), min_size=1))]
        + [f"a,b,5,{name}"]
        for name in names
    ]
    cuts = sorted(data.draw(st.sets(st.integers(1, 4), min_size=1)))
    parts = [blocks[i:j] for i, j in zip([0, *cuts], [*cuts, 5], strict=True)]
    with tempfile.TemporaryDirectory() as folder:

        def written(name: str, blocks: list[list[str]]) -> Path:
            path = Path(folder) / name
            path.write_text("tail,head,weight,snapshot\n" + "\n".join(row for block in blocks for row in block) + "\n")
            return path

        whole = rs.datasets.read_edge_table(written("whole.csv", blocks), missing="closed")
        files = [written(f"{k}.csv", part) for k, part in enumerate(parts)]
        found = rs.datasets.read_edge_table(files, missing="closed")
    assert found.names == whole.names
    assert found.graph == whole.graph
    assert (found.weights == whole.weights).all()
    assert found.reading == whole.reading


EDGES = [(u, (u + k) % 20) for u in range(20) for k in (1, 3)]


def rows(day: int) -> list[str]:
    rng = np.random.default_rng(day)
    return [
        f"j{u},j{v},{rng.uniform(1, 2):.4f},2024-05-{day:02}T{8 + hour:02}:00" for hour in range(3) for u, v in EDGES
    ]


def write(path: Path, *days: int) -> Path:
    lines = [line for day in days for line in rows(day)]
    path.write_text("tail,head,weight,snapshot\n" + "\n".join(lines) + "\n")
    return path


def test_a_new_table_on_a_known_graph(tmp_path: Path) -> None:
    known = rs.datasets.read_edge_table(write(tmp_path / "old.csv", 1, 2))
    table = tmp_path / "new.csv"
    table.write_text("tail,head,weight,snapshot\n" + "\n".join(reversed(rows(3)[2:])) + "\n")
    with pytest.raises(rs.errors.ReadError, match=r"2 of 120 weights are missing: 'j0' -> 'j1' in snapshot .*no row"):
        rs.datasets.read_edge_table(table, graph=known.graph)
    new = rs.datasets.read_edge_table(table, graph=known.graph, missing="last")
    assert new.graph is known.graph
    everything = rs.datasets.read_edge_table(write(tmp_path / "all.csv", 3)).weights
    assert (new.weights[1:] == everything[1:]).all()
    gaps = known.graph.edge_index([0, 0], [known.graph.vertex("j1"), known.graph.vertex("j3")])
    assert (new.weights[0, gaps] == everything[1, gaps]).all(), "before the first known weight, the next"
    others = np.setdiff1d(np.arange(known.graph.m), gaps)
    assert (new.weights[0, others] == everything[0, others]).all()


def test_a_known_graph_both_ways(tmp_path: Path) -> None:
    graph = rs.Graph.from_edges(4, [0, 1, 1, 2], [1, 0, 2, 1])
    table = tmp_path / "x.csv"
    table.write_text("tail,head,weight\n0,1,5\n2,1,7\n")
    assert rs.datasets.read_snapshot(table, graph, directed=False).tolist() == [5, 5, 7, 7]
    with pytest.raises(rs.errors.ReadError, match="2 of 4 weights are missing"):
        rs.datasets.read_snapshot(table, graph)
    table.write_text("tail,head,weight\n0,1,5\n0,1,4\n1,2,7\n3,1,1\n")
    with pytest.warns(rs.errors.RhostarWarning, match="ignored 1 edge of the table"):
        assert rs.datasets.read_snapshot(table, graph, directed=False).tolist() == [4, 4, 7, 7]
    for wrong, match in (
        ({"missing": "last"}, "needs history"),
        ({"missing": "last", "history": np.ones((2, 3))}, r"history must have shape \(K, 4\)"),
    ):
        with pytest.raises(rs.errors.InputError, match=match):
            rs.datasets.read_snapshot(table, graph, **wrong)
    for read in (rs.datasets.read_snapshot, lambda path, g: rs.datasets.read_edge_table(path, graph=g)):
        with pytest.raises(rs.errors.InputError, match="graph must be a Graph"):
            read(table, "roads")
    alike = rs.Graph.from_edges(2, [0, 1], [1, 0], labels=[1, "1"])
    with pytest.raises(rs.errors.InputError, match="cannot distinguish"):
        rs.datasets.read_snapshot(table, alike)
