"""Fails the first, second, third ... call of the system inside an operation, until the operation succeeds.

``make faults`` runs every operation with every kind of fault. After each the files must be the old ones or the new ones
with nothing beside them, the error must be one of rhostar (MemoryError for memory), and no descriptor and no object of
the core may be left over. The operations are in ``OPERATIONS``; a new one is one function. It runs in a process of its
own, which preloads ``shim.cpp``.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rhostar as rs
import rhostar._core
from rhostar.errors import RhostarError

KINDS = ["open", "read", "write", "fsync", "rename", "mmap", "close", "memory"]
"""Calls for files, and allocations by the core."""
SMALLEST = 1024
"""Bytes of allocations that may fail. Smaller ones are left out: nanobind converts arguments and notes owners in
functions that must not throw, so without these bytes it ends the process. numpy's are left out: it crashed without."""
MOST = 100_000
SIDE = 24
N = SIDE * SIDE
"""So many vertices that an array with two bytes for each is not left out."""


class Operation(NamedTuple):
    """What is done under a fault, and how to find out what it left."""

    old: Callable[[], Any]
    """Makes everything as it was before; returns what the next two get."""
    act: Callable[[Any], Any]
    """What may fail."""
    state: Callable[[Any], Any]
    """Returns what is there now, to be compared; must not fail."""
    files: bool = True
    """Whether the files are listed, too."""


Made = Iterator[tuple[str, Operation]]


def _set(k: float) -> rs.InstanceSet:
    graph = rs.Graph.grid(SIDE, SIDE)
    weights = np.random.default_rng(int(k)).uniform(1, 2, (3, graph.m))
    return rs.InstanceSet(graph, weights, [int(k), 1, 2], goal=N - 1)


def _model(k: float) -> rs.Model:
    instances = _set(k)
    return rs.Model.of(rs.learners.LowerEnvelope().fit(instances), instances.graph)


def _router(k: float) -> rs.Router:
    graph = rs.Graph.grid(SIDE, SIDE + int(k))
    router = rs.Router(graph)
    router.prepare()
    return router


def saves(folder: Path) -> Made:
    """Each kind of thing that is saved: over an old one, and loaded again."""
    page = rs.report.build(_set(1), {"Dijkstra": np.zeros(N)})
    named: dict[str, tuple[Callable[[float], Any], Callable[[Any, Path], Any], Callable[[Path], Any]]] = {
        "set": (_set, lambda x, p: x.save(p), lambda p: rs.InstanceSet.load(p, mmap=False).weights.tobytes()),
        "mapped set": (_set, lambda x, p: x.save(p), lambda p: rs.InstanceSet.load(p).weights.tobytes()),
        "model": (_model, lambda x, p: x.save(p), lambda p: rs.Model.load(p).heuristic.table(N - 1).tobytes()),
        "router": (_router, lambda x, p: x.save(p), lambda p: rs.Router.load(p).graph.n),
        "hierarchy": (
            lambda k: rs.Hierarchy(rs.Graph.grid(SIDE, SIDE)),
            lambda x, p: x.save(p),
            lambda p: (
                rs.Hierarchy.load(p, rs.Graph.grid(SIDE, SIDE))
                .customize(np.ones(4 * SIDE * (SIDE - 1)))
                .distance(0, N - 1)
            ),
        ),
        "report": (lambda k: page, rs.report.write, lambda p: len(p.read_bytes())),
    }
    path = folder / "thing"
    for name, (make, save, load) in named.items():
        old, new = make(0), make(1)

        def again(old: Any = old, save: Any = save) -> Path:
            shutil.rmtree(folder)
            folder.mkdir()
            save(old, path)
            return path

        yield f"save {name}", Operation(again, lambda p, new=new, save=save: save(new, p), load)
        if name != "report":  # nobody loads one
            yield f"load {name}", Operation(again, load, load)


def reads(folder: Path) -> Made:
    """Read the files of others, and turn them into a set."""
    table = folder / "days.csv"

    def old() -> Path:
        shutil.rmtree(folder)
        folder.mkdir()
        rows = [f"{k % 9},{(k + 1) % 9},{1 + k % 5},day{k // 18}\n" for k in range(90)]
        table.write_text("tail,head,weight,snapshot\n" + "".join(rows))
        return table

    def imported(path: Path) -> None:
        days = rs.datasets.read_edge_table(path, missing="closed")
        days.sample(6, goal=0, seed=0).save(folder / "set")

    def state(path: Path) -> Any:
        home = folder / "set"
        return rs.InstanceSet.load(home).weights.tobytes() if (home / "rhostar.json").exists() else None

    yield "import", Operation(old, imported, state)


def checkpoints(folder: Path) -> Made:
    """Compute with parts kept in a folder, and again with what is left of them."""
    instances, rho = _set(1), np.zeros(N)

    def old() -> rs.InstanceSet:
        shutil.rmtree(folder)
        folder.mkdir()
        return instances.resumable(folder / "parts")

    def kept() -> rs.InstanceSet:
        made = old()
        rs.solve_many(made, rho)
        return made

    def state(some: rs.InstanceSet) -> Any:
        return rs.solve_many(some, rho).cost.tobytes()

    yield "compute parts", Operation(old, lambda some: rs.solve_many(some, rho), state, files=False)
    yield "use parts", Operation(kept, lambda some: rs.solve_many(some, rho), state, files=False)


def routing(folder: Path) -> Made:
    """Updates, customizing and questions: the router answers on the old weights or on the new ones."""
    graph = rs.Graph.grid(SIDE, SIDE)
    rows = np.random.default_rng(0).uniform(1, 2, (2, graph.m))
    some = np.arange(0, N, 13)

    def old(index: bool) -> Callable[[], rs.Router]:
        def made() -> rs.Router:
            router = rs.Router(graph)
            router.update(rows[0])
            if index:
                router.prepare()
            return router

        return made

    def asked(router: rs.Router) -> None:
        router.routes([(0, N - 1), (7, 3)])
        router.matrix([0, 3], [5, 35])
        router.nearest(3, [8, 30, 11], k=2)
        router.within(4, 3.0)
        router.next_hops([0, 4])

    def state(router: rs.Router) -> Any:
        return np.round([router.route(s, N - 1 - s).cost for s in range(0, N, 97)], 9).tobytes()

    few = np.array([3, 5, 8])
    for index in (False, True):
        how = "index" if index else "search"
        yield f"update all, {how}", Operation(old(index), lambda r: r.update(rows[1]), state)
        yield f"update some, {how}", Operation(old(index), lambda r: r.update(rows[1][few], edges=few), state)
        yield f"ask, {how}", Operation(old(index), asked, state)
    yield "prepare", Operation(old(False), lambda r: r.prepare(), state)

    def fresh_order() -> rs.Router:
        router = rs.Router(rs.Graph.grid(SIDE, SIDE))
        router.update(rows[0])
        return router

    yield "order and prepare", Operation(fresh_order, lambda r: r.prepare(), state)

    def customized(today: Any) -> Any:
        return today.matrix(some, some).tobytes()

    def today() -> Any:
        return rs.Hierarchy(rs.Graph.grid(SIDE, SIDE)).customize(rows[0])

    yield "customize", Operation(today, lambda t: rs.Hierarchy(t.graph).customize(rows[1]), customized)
    many = np.arange(0, graph.m, 5)
    for name, edges in (("few", few), ("many", many)):
        for where in (False, True):
            act = partial(_update, edges=edges, weights=rows[1][edges], in_place=where)
            yield f"update {name} of a hierarchy{' in place' * where}", Operation(today, act, customized)


def _update(today: Any, edges: Any, weights: Any, in_place: bool) -> None:
    today.update(edges, weights, in_place=in_place)


def learning(folder: Path) -> Made:
    """Searches and fits: the next one works as if nothing had happened."""

    def search(some: rs.InstanceSet) -> Any:
        rho = np.linspace(0, 1, N)
        return [rs.astar(*instance, rho).cost for instance in some] + rs.solve_many(some, rho).cost.tolist()

    def fit(make: Callable[[], Any]) -> Callable[[Any], Any]:
        return lambda some: make().fit(some).rho_.tobytes()

    yield "graph", Operation(lambda: _set(1), lambda some: rs.Graph.grid(20, 20, neighbors=8), search)
    yield "search", Operation(lambda: _set(1), search, search)
    for kind in ("MeanDistance", "LowerEnvelope", "MeanWeights", "InconsistencyLP", "Landmarks"):
        fixed: dict[str, Any] = {"random_state": 0, "k": 1} if kind == "Landmarks" else {}
        made = fit(partial(getattr(rs.learners, kind), **fixed))
        yield f"fit {kind}", Operation(lambda: _set(1), made, made)


OPERATIONS = (saves, reads, checkpoints, routing, learning)
ONLY_MEMORY = (routing, learning)
"""These open no files."""


class Shim:
    """The preloaded library."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(os.environ["LD_PRELOAD"].split(":")[0])
        self.library.fault_live.restype = self.library.fault_disarm.restype = ctypes.c_long
        self.library.fault_arm.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
        self.library.fault_range.argtypes = [ctypes.c_uint64] * 3
        for line in Path("/proc/self/maps").read_text().splitlines():
            words = line.split()
            if words[1] == "r-xp" and words[-1] == rs._core.__file__:
                self.library.fault_range(*(int(word, 16) for word in words[0].split("-")), SMALLEST)
        _ = [rs._core.Stop() for _ in range(10_000)]  # nanobind's table of owners does not grow after this

    def arm(self, kind: str, folder: Path, k: int, stays: bool) -> None:
        self.library.fault_arm(KINDS.index(kind) + 1, os.fsencode(folder), k, stays)

    def disarm(self) -> int:
        """Return how many calls there were."""
        return self.library.fault_disarm()

    def live(self) -> int:
        gc.collect()
        return self.library.fault_live()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def listed(folder: Path, files: bool) -> list[str]:
    """Return the names of files; the tokens of a set's files are left out."""
    paths = sorted(path.relative_to(folder) for path in folder.rglob("*")) if files else []
    return sorted(str(path).rsplit("-", 1)[0] for path in paths)


def run(
    shim: Shim, name: str, operation: Operation, folder: Path, kind: str, stays: bool, most: int
) -> tuple[int, int]:
    """Return how many faults there were, and after how many of them the operation succeeded all the same."""

    def outcome(made: Any) -> tuple[Any, list[str]]:
        return operation.state(made), listed(folder, operation.files)

    made = operation.old()
    before = operation.state(made)
    operation.act(made)
    after = outcome(made)
    for _ in range(2):  # whatever is kept for the next time is there
        made = operation.old()
        operation.act(made)
        operation.state(made)
    del made
    gc.collect()
    gc.freeze()  # what is there by now need not be looked at again
    live, open_files = shim.live(), descriptors()
    harmless = 0
    for k in range(1, MOST):
        if k > most:
            return most, harmless
        made = operation.old()
        failed: BaseException | None = None
        shim.arm(kind, folder, k, stays)
        try:
            operation.act(made)
        except BaseException as error:
            failed = error
        calls = shim.disarm()
        what = f"{name}, {kind} {k}{' and after' if stays else ''}"
        if calls < k:
            assert failed is None, f"{what}: failed without a fault: {failed!r}"
            return k - 1, harmless
        if failed is None:
            harmless += 1
        elif not isinstance(failed, MemoryError if kind == "memory" else RhostarError):
            raise AssertionError(f"{what}: {type(failed).__name__}") from failed
        found = operation.state(made)
        assert found in ([after[0]] if failed is None else [before, after[0]]), f"{what}: neither old nor new"
        operation.act(made)
        assert outcome(made) == after, f"{what}: the next time is not like the first"
        del made, failed
        assert shim.live() <= live, f"{what}: {shim.live() - live} objects of the core are left"
        assert descriptors() == open_files, f"{what}: a descriptor is left open"
    raise AssertionError(f"{name}, {kind}: still failing after {MOST} faults")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="words in the names of operations")
    parser.add_argument("--kinds", nargs="*", default=KINDS, choices=KINDS)
    parser.add_argument("--most", type=int, default=MOST, help="faults for each operation and kind")
    options = parser.parse_args()
    if "shim" not in os.environ.get("LD_PRELOAD", ""):
        return _restarted()
    warnings.simplefilter("ignore")
    shim, begin = Shim(), time.process_time()
    total = bad = 0
    for group in OPERATIONS:
        with tempfile.TemporaryDirectory() as home:
            folder = Path(os.path.realpath(home)) / "folder"
            folder.mkdir()
            for name, operation in group(folder):
                if options.only and not any(word in name for word in options.only):
                    continue
                counts = []
                for kind in options.kinds:
                    if group in ONLY_MEMORY and kind != "memory":
                        continue
                    for stays in (False, True):  # once, and from then on: a full disk, a broken one
                        try:
                            faults, harmless = run(shim, name, operation, folder, kind, stays, options.most)
                        except Exception:
                            shim.disarm()
                            traceback.print_exc(limit=-6, file=sys.stdout)
                            bad += 1
                            continue
                        total += faults
                        if faults:
                            counts.append(f"{kind}{'+' * stays} {faults}{f' ({harmless} harmless)' * bool(harmless)}")
                print(f"{name}: {', '.join(counts)}", flush=True)
    print(f"{total} faults, {bad} failures, {time.process_time() - begin:.1f} s of processor time")
    return min(bad, 100)


def _restarted() -> int:
    """Compile the shim and run again with it."""
    with tempfile.TemporaryDirectory() as home:
        library = Path(home) / "shim.so"
        source = Path(__file__).with_name("shim.cpp")
        compiler = os.environ.get("CXX", "g++")
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        environment = os.environ | {"LD_PRELOAD": str(library)}
        return subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
