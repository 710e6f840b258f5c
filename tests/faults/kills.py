"""Kills workers that compute, on Dask, Ray and joblib's processes: results must stay the same to the last bit.

``make test-kills`` kills 30 workers of each. Nothing is guessed: a worker leaves a file in a folder while it runs a
chunk. One that has computed on its chunk is stopped; if its file is still there, it is killed, and its chunk was not
done. What was killed otherwise does not count.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parents[1]))

import rhostar as rs
from rhostar import _workers as workers
from support.clusters import CLUSTERS

COMPUTED = 0.02
"""Seconds of the processor that a worker has spent on its chunk when it is killed."""


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Make workers leave a file in `folder` while they run a chunk."""
    real = workers.work, workers._numbered
    place = str(folder)

    def work(*arguments: Any) -> bytes:  # sent by value, so workers need not import this file
        import os
        from pathlib import Path

        from rhostar._workers import work as one

        sign = Path(place, str(os.getpid()))
        sign.touch()
        try:
            return one(*arguments)
        finally:
            sign.unlink()

    workers.work = work
    workers._numbered = lambda k, *arguments: (k, work(*arguments))
    try:
        yield
    finally:
        workers.work, workers._numbered = real


class Killer(threading.Thread):
    """Kills workers in the middle of a chunk, until `wanted` of them are dead or it is ended."""

    def __init__(self, folder: Path, wanted: int) -> None:
        super().__init__(daemon=True)
        self.folder, self.wanted, self.killed = folder, wanted, 0
        self.over = threading.Event()

    def run(self) -> None:
        seen: dict[Path, tuple[int, float]] = {}
        while self.killed < self.wanted and not self.over.wait(0.002):
            for sign in self.folder.iterdir():
                with suppress(OSError, psutil.Error):
                    begun, pid = sign.stat().st_mtime_ns, int(sign.name)
                    spent = sum(psutil.Process(pid).cpu_times()[:2])
                    chunk, before = seen.get(sign, (0, 0.0))
                    if chunk != begun:
                        seen[sign] = begun, spent
                    elif spent >= before + COMPUTED:
                        self._kill(sign, pid, begun)

    def _kill(self, sign: Path, pid: int, begun: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        try:
            while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
                time.sleep(0.001)
            if sign.stat().st_mtime_ns == begun:
                os.kill(pid, signal.SIGKILL)
                sign.unlink()
                self.killed += 1
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        self.over.set()
        self.join()


def operations() -> dict[str, Callable[[], Any]]:
    """Return what is run, each as a function whose results can be compared."""
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(100, 100, neighbors=8)
    rows, goal = graph.length * rng.uniform(1, 2, (12, graph.m)), graph.n - 1
    trips = {"sources": rng.integers(goal, size=4000), "rows": rng.integers(12, size=4000)}
    instances = rs.InstanceSet(graph, rows, goal=goal, **trips)
    rho = 0.9 * rs.heuristics.octile(graph, goal)
    pairs, some = rng.integers(graph.n, size=(8000, 2)), rng.integers(graph.n, size=2500)

    def router() -> rs.Router:
        made = rs.Router(graph)
        made._engine.declined = True  # searches take longer than the index, so there is something to interrupt
        made.update(rows[0])
        return made

    def routes() -> Any:
        found = router().routes(pairs)
        return found.cost.tobytes(), [route.path.tobytes() for route in found]

    def learned() -> Any:
        return rs.learn(instances[:60], mean_excess=np.inf, effort="quick").heuristic_.table(goal).tobytes()

    limit = rs.utilities.Suboptimality(9.0)
    return {
        "routes": routes,
        "matrix": lambda: router().matrix(some, some[:500]).tobytes(),
        "certify": lambda: rs.certify(rho, instances, limit, lower=1.0, groups=False, duplicates="allow").to_json(),
        "learn": learned,
    }


def attack(engine: str, kills: int) -> int:
    """Kill at least so many workers of an engine, and return how many results were wrong."""
    wrong = 0
    total: dict[str, int] = {}
    expected = {name: call() for name, call in operations().items()}
    with tempfile.TemporaryDirectory() as home, CLUSTERS[engine]() as cluster:
        folder = Path(home)
        with watched(folder), cluster.configured():
            while sum(total.values()) < kills:
                for name, call in operations().items():
                    killer = Killer(folder, wanted=1 + sum(total.values()) % 2)
                    killer.start()
                    try:
                        same = call() == expected[name]
                    finally:
                        killer.end()
                    wrong += not same
                    total[name] = total.get(name, 0) + killer.killed
                    print(f"{engine}, {name}: {killer.killed} killed, {'same' if same else 'WRONG'}", flush=True)
    print(f"{engine}: {sum(total.values())} busy workers killed, {wrong} results differ: {total}", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30, help="workers to kill of each engine")
    parser.add_argument("--engines", nargs="*", default=list(CLUSTERS), choices=list(CLUSTERS))
    options = parser.parse_args()
    return min(sum(attack(engine, options.kills) for engine in options.engines), 100)


if __name__ == "__main__":
    sys.exit(main())
