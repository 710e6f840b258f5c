"""Mixes all calls on many threads and compares every answer; ``make test-threads`` runs it with the thread sanitizer.

Threads share a graph, a router, a hierarchy and models; others make such objects, use them once and drop them. Each
answer must be the one on the weights of some moment. Prints how often each call ran; the exit status is 1 if an answer
was wrong, and the sanitizer's if it saw a race. With ``--race`` there is one on purpose, so it must see it.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rhostar as rs
from rhostar import _core

GOAL = 99
Rng = np.random.Generator


class World:
    """What the threads share: one graph, three rows of weights, a router that changes between them, and models."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        self.folder = folder
        self.graph = rs.Graph.grid(10, 10, neighbors=8)
        self.rows = [rng.uniform(1, 2, self.graph.m) for _ in range(3)]
        self.instances = rs.InstanceSet(self.graph, np.stack(self.rows), sources=[0, 5, 17], goal=GOAL)
        everyone = np.arange(self.graph.n)
        self.hierarchy = rs.Hierarchy(self.graph)
        self.exact = [self.hierarchy.customize(row).matrix(everyone, everyone) for row in self.rows]
        self.learner = rs.learners.LowerEnvelope().fit(self.instances)
        self.rho = self.learner.rho_
        self.router = rs.Router(self.graph, self.learner)
        self.router.update(self.rows[0])
        self.today = self.hierarchy.customize(self.rows[0])
        self.snapshots = [rs.Snapshot(self.graph, row) for row in self.rows]

    def some(self, found: float, s: int, t: int) -> None:
        """Compare with the answers on all rows."""
        assert any(abs(found - exact[s, t]) <= 1e-9 for exact in self.exact), (found, s, t)


def query(world: World, rng: Rng, number: int) -> None:
    k, s = int(rng.integers(3)), int(rng.integers(GOAL))
    found = rs.astar(world.graph, world.rows[k], s, GOAL, world.learner if k else world.rho)
    assert abs(found.cost - world.exact[k][s, GOAL]) <= 1e-9
    found = rs.astar(world.graph, world.snapshots[k], s, GOAL, world.learner)
    assert abs(found.cost - world.exact[k][s, GOAL]) <= 1e-9


def many(world: World, rng: Rng, number: int) -> None:
    found = rs.solve_many(world.instances, world.rho, n_jobs=2)
    exact = [world.exact[k][s, GOAL] for k, s in enumerate(world.instances.sources.tolist())]
    np.testing.assert_allclose(found.cost, exact)


def route(world: World, rng: Rng, number: int) -> None:
    s, t, k = (int(x) for x in rng.integers([100, 100, 3]))
    world.some(world.router.route(s, t).cost, s, t)
    old = world.router.route(s, t, snapshot=world.snapshots[k]).cost
    assert abs(old - world.exact[k][s, t]) <= 1e-9


def matrix(world: World, rng: Rng, number: int) -> None:
    some = rng.integers(100, size=4)
    found = world.router.matrix(some, some)
    ok = [np.allclose(found, exact[np.ix_(some, some)], rtol=0, atol=1e-9) for exact in world.exact]
    assert any(ok), "one matrix is of one set of weights"
    s = int(some[0])
    nearest = world.router.nearest(s, some[1:])
    world.some(float(nearest.costs[0]), s, int(nearest.goals[0]))
    assert world.router.within(s, 3.0).vertices.size
    [route.cost for route in world.router.routes([(s, int(t)) for t in some])]


def update(world: World, rng: Rng, number: int) -> None:
    k = int(rng.integers(3))
    if rng.random() < 0.3:
        world.router.update(world.rows[k])
    else:  # all edges by number, so that nobody sees a mixture
        world.router.update(world.rows[k], edges=np.arange(world.graph.m))
    if rng.random() < 0.5:
        world.router.prepare()
    str(world.router.explain())


def customize(world: World, rng: Rng, number: int) -> None:
    k, s, t = (int(x) for x in rng.integers([3, 100, 100]))
    today = world.today
    fresh = world.hierarchy.customize(world.rows[k]) if rng.random() < 0.5 else None
    fresh = fresh or today.update(np.arange(world.graph.m), world.rows[k])
    assert abs(fresh.distance(s, t) - world.exact[k][s, t]) <= 1e-9
    world.some(today.distance(s, t), s, t)
    world.today = fresh


def fit(world: World, rng: Rng, number: int) -> None:
    made = [rs.learners.MeanDistance, rs.learners.LowerEnvelope, rs.learners.MeanWeights][int(rng.integers(3))]()
    assert made.fit(world.instances).rho_[GOAL] == 0


def files(world: World, rng: Rng, number: int) -> None:
    own = world.folder / str(number)
    world.instances.save(own / "set")
    assert rs.InstanceSet.load(own / "set").graph == world.graph
    rs.Model.of(world.learner, world.graph).save(own / "model.npz")
    assert rs.astar(world.graph, world.rows[0], 0, GOAL, rs.Model.load(own / "model.npz")).cost > 0
    shared = world.folder / "shared.npz"  # all threads write the same file
    world.router.save(shared)
    again = rs.Router.load(shared)
    again.update(world.rows[1])
    assert abs(again.route(0, GOAL).cost - world.exact[1][0, GOAL]) <= 1e-9
    world.hierarchy.save(own / "hierarchy.npz")
    rs.Hierarchy.load(own / "hierarchy.npz", world.graph)


def drop(world: World, rng: Rng, number: int) -> None:
    graph = rs.Graph.grid(10, 10, neighbors=8)
    router = rs.Router(graph, rs.learners.LowerEnvelope().fit(world.instances))
    router.update(world.rows[2])
    world.some(router.route(3, 8).cost, 3, 8)
    router.prepare()
    snapshot = router.snapshot
    router.update(world.rows[1])
    del graph, router
    assert snapshot.graph == world.graph
    world.snapshots[int(rng.integers(3))].on(world.graph)
    gc.collect(0)


def race(world: World, rng: Rng, number: int) -> None:
    """Write weights while another thread searches on them; numpy's own writes would not be seen."""
    if number % 2:
        ctypes.memmove(world.rows[0].ctypes.data, world.rows[0].tobytes(), world.rows[0].nbytes)
    else:
        rs.distances_to(world.graph, world.rows[0], GOAL)


CALLS: list[Callable[[World, Rng, int], None]] = [query, many, route, matrix, update, customize, fit, files, drop]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the threads go on")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--race", action="store_true", help="make a race, to see that it is noticed")
    options = parser.parse_args()
    build = os.environ.get("RHOSTAR_SANITIZED")
    assert not build or Path(_core.__file__).is_relative_to(build), f"{_core.__file__} is not the build in {build}"
    calls = [race] if options.race else CALLS
    done: Counter[str] = Counter()
    errors: list[BaseException] = []
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        until = time.monotonic() + options.seconds

        def work(number: int) -> None:
            rng = np.random.default_rng([options.seed, number])
            while time.monotonic() < until and not errors:
                call = calls[int(rng.choice(len(calls)))]
                try:
                    call(world, rng, number)
                except BaseException as error:
                    errors.append(error)
                done[call.__name__] += 1

        threads = [threading.Thread(target=work, args=(k,)) for k in range(options.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(f"{sum(done.values())} calls on {options.threads} threads: " + ", ".join(f"{n} {c}" for c, n in done.items()))
    for error in errors[:3]:
        sys.excepthook(type(error), error, error.__traceback__)
    return min(len(errors), 1)


if __name__ == "__main__":
    sys.exit(main())
