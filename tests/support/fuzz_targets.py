"""The file formats that rhostar reads, each with a small sound example and the ways to damage it, for fuzzing.

A damaged file must be read, or refused with an error of rhostar. ``tools/fuzz.py`` runs many thousands of cases with
capped memory; the tests run a few of each.
"""

import dataclasses
import io
import json
import shutil
import tempfile
import zlib
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rhostar as rs
from rhostar.cli._trips import read as read_trips
from rhostar.errors import RhostarError
from support import mutations as damage


class Target(NamedTuple):
    """A format: how to make its files in a folder, how to damage them and how to read them."""

    make: Callable[[Path], None]
    damage: Callable[[np.random.Generator, Path], None]
    read: Callable[[Path], Any]


GR = "c small\np sp 6 8\na 1 2 803\na 2 3 158\na 3 1 12\na 3 4 1.5\na 4 5 7\na 5 6 0\na 6 1 9\na 6 2 4\n"
CO = "c places\np aux sp co 6\n" + "".join(f"v {v} {v * 10} {v * v}\n" for v in range(1, 7))
MAP = "type octile\nheight 4\nwidth 5\nmap\n.@.TT\n.....\nWW.S.\n@...G\n"
SCEN = "version 1\n" + "".join(f"{k}\tx.map\t5\t4\t{k}\t1\t0\t0\t{k + 0.5}\n" for k in range(5))
NODES = "".join(f"{v} {v}.5 -2e1\n" for v in range(6))
EDGES = "".join(f"{e} {e} {e + 1} 12.{e}\n" for e in range(5))
CSV = "tail,head,weight,snapshot\n" + "".join(f"{k % 3},{(k + 1) % 3},{k}.5,day{k // 4}\n" for k in range(12))

TODAY = "tail,head,weight\n" + "".join(f"{v},{(v + 1) % 6},{v}.25\n" for v in range(6))
TRIPS = "source,goal,snapshot\n0,3,mon\n1,2,tue\n5,4,mon\n2,0,tue\n"
LOG = "query,estimate,optimum,cost,factor,effort,day\n" + "".join(
    f"q{k % 3},{k}.5,{k + 1},{k + 2}e0,{1 + k // 3},{9 - k},mon\n" for k in range(6)
)


def _text(name: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content) and None


def _one(name: str, how: damage.Damage) -> Callable[[np.random.Generator, Path], None]:
    def apply(rng: np.random.Generator, folder: Path) -> None:
        path = folder / name
        path.write_bytes(how(rng, path.read_bytes()))

    return apply


def _any(how: damage.Damage) -> Callable[[np.random.Generator, Path], None]:
    def apply(rng: np.random.Generator, folder: Path) -> None:
        files = sorted(folder.iterdir())
        _one(files[int(rng.integers(len(files)))].name, how)(rng, folder)

    return apply


def _circle() -> rs.InstanceSet:
    graph = rs.Graph.from_edges(6, np.arange(6), (np.arange(6) + 1) % 6)
    return rs.InstanceSet(graph, np.ones((2, 6)), [0, 1], goal=5)


def _coordinates(folder: Path) -> None:
    (folder / "x.gr").write_text(GR)
    (folder / "x.co").write_text(CO)


def _node_edge(folder: Path) -> None:
    (folder / "nodes.txt").write_text(NODES)
    (folder / "edges.txt").write_text(EDGES)


def _parquet(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"tail": [0, 1, 2, 0], "head": [1, 2, 0, 1], "weight": [1.0, 2.5, 3.0, 9.0], "snapshot": list("aabb")}
    pq.write_table(pa.table(columns), folder / "x.parquet")


def _damaged_parquet(rng: np.random.Generator, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "x.parquet"
    if rng.random() < 0.6:
        path.write_bytes(damage.damaged_bytes(rng, path.read_bytes()))
        return
    odd: list[list[Any]] = [[[0], [1]], [None, 1], [1.5, 2.5], ["a", "b"], [True, False], [b"x", b"y"], [{"a": 1}] * 2]
    odd += [[np.datetime64(1, "s"), np.datetime64(2, "s")], ["", "b"], [2**62, -1], [float("nan"), 1.0], [0, 1], [1, 0]]
    names = ["tail", "head", "weight", "snapshot"]
    columns = {name: odd[int(rng.integers(len(odd)))] for name in names}
    for name in names[: int(rng.integers(3))]:
        columns[name] = [0, 1]
    pq.write_table(pa.table({name: pa.array(column) for name, column in columns.items()}), path)


def _worlds(folder: Path) -> None:
    from PIL import Image

    for k in range(2):
        cells = np.random.default_rng(k).integers(0, 2, (9, 7), dtype=np.uint8) * 255
        Image.fromarray(cells).save(folder / f"{k}.png")


def _metr_la(folder: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez_compressed(
        folder / "x.npz",
        speed_mph=rng.uniform(0, 70, (6, 4)).astype(np.float32),
        affinity=np.round(rng.uniform(0, 1, (4, 4)), 1).astype(np.float32),
        latlon=rng.uniform(0, 1, (4, 2)),
        sensor_id=np.array(["7", "8", "9", "10"]),
    )


def _instances() -> rs.InstanceSet:
    rng = np.random.default_rng(0)
    graph = rs.Graph.from_edges(
        6, [0, 1, 2, 3, 4, 0, 0, 1], [1, 2, 3, 4, 5, 5, 1, 1], labels=["a", "b", 3, "d", 5, (6, 7)]
    )
    weights = graph.arrange(rng.uniform(1, 2, (4, 8)))
    return rs.InstanceSet(graph, weights, [0, 1, 2, 3, 4], goal=5, rows=[0, 1, 2, 3, 3])


def _model(folder: Path) -> None:
    instances = _instances()
    learner = rs.learners.MeanDistance().fit(instances)
    table = {"promise": "none", "rows": [1, 2.5]}
    model = rs.Model.of(learner, instances.graph, certificate=table)
    heuristic = model.heuristic.with_facts(lower=np.ones(instances.graph.m))
    dataclasses.replace(model, heuristic=heuristic).save(folder / "x.npz")


def _use_model(folder: Path) -> None:
    model = rs.Model.load(folder / "x.npz")
    assert model.heuristic.n > 0
    repr(model)
    json.dumps({"goals": model.goals, "parameters": model.parameters, "versions": model.versions}, default=str)
    model.search_with()


def _damaged_set(rng: np.random.Generator, folder: Path) -> None:
    """Damage a file, or a file with a new checksum in the index, or the index with a new checksum of its own."""
    home = folder / "set"
    if rng.random() < 0.2:
        files = sorted(home.iterdir())
        _one(files[int(rng.integers(len(files)))].name, damage.damaged_bytes)(rng, home)
        return
    path = home / "rhostar.json"
    index = json.loads(path.read_text())
    index.pop("checksum")
    if rng.random() < 0.5:
        names = sorted(index["files"])
        entry = index["files"][names[int(rng.integers(len(names)))]]
        file = home / entry["file"]
        content = damage.damaged_array(rng, file.read_bytes())
        file.write_bytes(content)
        entry |= {"bytes": len(content), "crc32": zlib.crc32(content)}
        try:
            array = np.load(io.BytesIO(content), allow_pickle=False)
            entry |= {"dtype": array.dtype.str, "shape": list(array.shape)}
        except Exception:  # the header is damaged
            pass
    else:
        index = damage.damaged_value(rng, index)
    checksum = zlib.crc32(json.dumps(index, sort_keys=True).encode())
    whole = {**index, "checksum": checksum} if isinstance(index, dict) else index
    path.write_text(json.dumps(whole))


def _use_set(folder: Path) -> None:
    for mmap in (True, False):
        instances = rs.InstanceSet.load(folder / "set", mmap=mmap)
        repr(instances)
        instances.graph.arrange(np.zeros(8) if instances.graph._given else np.zeros(instances.graph.m))
        rs.solve_many(instances, np.zeros(instances.graph.n))


def _router(folder: Path) -> None:
    router = rs.Router.from_edges(
        6, [0, 1, 2, 3, 4, 0, 1], [1, 2, 3, 4, 5, 5, 1], labels=list("abcdef"), edge_labels=list("tuvwxyz")
    )
    router.prepare()
    router.save(folder / "x.npz")


def _use_router(folder: Path) -> None:
    router = rs.Router.load(folder / "x.npz")
    router.update(np.ones(router.n_edges))
    router.prepare()
    repr(router)
    if router.graph.n:
        everyone = list(router.graph.labels or range(router.graph.n))[:8]
        router.matrix(everyone, everyone)
        router.route(everyone[0], everyone[-1]).edges.tolist()


def _ladder() -> rs.Graph:
    return rs.Graph.grid(3, 4)


def _use_hierarchy(folder: Path) -> None:
    graph = _ladder()
    today = rs.Hierarchy.load(folder / "x.npz", graph).customize(graph.length)
    everyone = np.arange(graph.n)
    found = today.matrix(everyone, everyone)
    assert found.tobytes() == rs.Hierarchy(graph).customize(graph.length).matrix(everyone, everyone).tobytes()
    [today.path(s, 11) for s in range(graph.n)]


def _certificate(folder: Path) -> None:
    graph = rs.Graph.grid(3, 3)
    weights = graph.length * np.random.default_rng(0).uniform(1, 2, (20, graph.m))
    instances = rs.InstanceSet(graph, weights, sources=0, goal=8)
    table = rs.certify(np.zeros(9), instances, rs.utilities.Expansions(9))
    (folder / "x.json").write_text(table.to_json())


def _use_certificate(folder: Path) -> None:
    try:
        text = (folder / "x.json").read_text()
    except UnicodeDecodeError:
        return
    table = rs.certificates.CertificateTable.from_json(text)
    str(table)


def _parts(folder: Path) -> None:
    rs.solve_many(_instances().resumable(folder), np.zeros(6))


def _use_parts(folder: Path) -> None:
    """What is damaged is computed again: the results are the same, whatever is in the files."""
    found = rs.solve_many(_instances().resumable(folder), np.zeros(6))
    assert found.cost.tolist() == rs.solve_many(_instances(), np.zeros(6)).cost.tolist()


def _witness(folder: Path) -> None:
    rs.theory.atlas.entries()["gbfs-cost-small-4"].save(folder / "x.json")


def _use_witness(folder: Path) -> None:
    rs.theory.verify(rs.theory.Witness.load(folder / "x.json"))


TARGETS: dict[str, Target] = {
    "gr": Target(_text("x.gr", GR), _one("x.gr", damage.damaged_text), lambda f: rs.datasets.read_dimacs(f / "x.gr")),
    "co": Target(
        _coordinates,
        _one("x.co", damage.damaged_text),
        lambda f: rs.datasets.read_dimacs(f / "x.gr", f / "x.co"),
    ),
    "map": Target(_text("x.map", MAP), _one("x.map", damage.damaged_text), lambda f: rs.datasets.read_map(f / "x.map")),
    "scen": Target(
        _text("x.scen", SCEN),
        _one("x.scen", damage.damaged_text),
        lambda f: rs.datasets.read_scenario(f / "x.scen"),
    ),
    "nodes": Target(
        _node_edge,
        _any(damage.damaged_text),
        lambda f: rs.datasets.read_node_edge(f / "nodes.txt", f / "edges.txt"),
    ),
    "csv": Target(
        _text("x.csv", CSV),
        _one("x.csv", damage.damaged_text),
        lambda f: rs.datasets.read_edge_table(f / "x.csv", missing="closed"),
    ),
    "snapshot": Target(
        _text("x.csv", TODAY),
        _one("x.csv", damage.damaged_text),
        lambda f: rs.datasets.read_snapshot(f / "x.csv", _circle().graph, missing="closed"),
    ),
    "trips": Target(
        _text("x.csv", TRIPS),
        _one("x.csv", damage.damaged_text),
        lambda f: read_trips(f / "x.csv", _circle(), ["mon", "tue"]),
    ),
    "log": Target(
        _text("x.csv", LOG),
        _one("x.csv", damage.damaged_text),
        lambda f: rs.audit(rs.certificates.read_log(f / "x.csv")).to_json(),
    ),
    "parquet": Target(
        _parquet, _damaged_parquet, lambda f: rs.datasets.read_edge_table(f / "x.parquet", missing="closed")
    ),
    "worlds": Target(_worlds, _any(damage.damaged_picture), rs.datasets.read_worlds),
    "metr-la": Target(_metr_la, _one("x.npz", damage.damaged_archive), lambda f: rs.datasets.read_metr_la(f / "x.npz")),
    "model": Target(_model, _one("x.npz", partial(damage.damaged_archive, json_member="facts.npy")), _use_model),
    "router": Target(_router, _one("x.npz", partial(damage.damaged_archive, json_member="facts.npy")), _use_router),
    "hierarchy": Target(
        lambda folder: rs.Hierarchy(_ladder()).save(folder / "x.npz"),
        _one("x.npz", partial(damage.damaged_archive, json_member="facts.npy")),
        _use_hierarchy,
    ),
    "certificate": Target(_certificate, _one("x.json", damage.damaged_json), _use_certificate),
    "parts": Target(_parts, _any(partial(damage.damaged_archive, json_member="form.npy")), _use_parts),
    "set": Target(lambda folder: _instances().save(folder / "set"), _damaged_set, _use_set),
}
if find_spec("rhostar.theory") is not None:
    TARGETS["witness"] = Target(_witness, _one("x.json", damage.damaged_json), _use_witness)


class Sound:
    """The sound files of a target, kept in memory, so that each case begins with them quickly."""

    def __init__(self, name: str) -> None:
        self.target, self.number = TARGETS[name], list(TARGETS).index(name)
        with tempfile.TemporaryDirectory() as folder:
            self.target.make(Path(folder))
            files = [path for path in Path(folder).rglob("*") if path.is_file()]
            self.files = {path.relative_to(folder): path.read_bytes() for path in files}

    def write(self, folder: Path, case: int | None, seed: int) -> None:
        """Write the files, damaged as the number of the case says; None leaves them sound."""
        for name, content in self.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
        if case is not None:
            self.target.damage(np.random.default_rng([seed, self.number, case]), folder)

    def run(self, case: int | Path | None, seed: int = 0) -> bool:
        """Return whether the files could be read; an error that is not one of rhostar is passed on.

        A path instead of the number of a case is a folder with files that replace the sound ones.
        """
        with tempfile.TemporaryDirectory() as folder:
            self.write(Path(folder), None if isinstance(case, Path) else case, seed)
            if isinstance(case, Path):
                shutil.copytree(case, folder, dirs_exist_ok=True)
            try:
                self.target.read(Path(folder))
            except RhostarError:
                return False
            return True

    def keep(self, case: int, seed: int, folder: Path) -> None:
        """Write the files of a case that differ from the sound ones."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.write(folder, case, seed)
        for name, content in self.files.items():
            if (folder / name).is_file() and (folder / name).read_bytes() == content:
                (folder / name).unlink()


CORPUS = Path(__file__).parents[1] / "faults" / "corpus"
"""Damaged files that were not refused properly once, in a folder for each format; the tests read them all."""
