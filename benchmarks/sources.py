"""Where learned values are tried: traffic of several simulators and of detectors, latencies, worlds of obstacles.

A *source* of A* is a network with snapshots that know their days. Days, never single snapshots, are dealt out: some to
learn from, some to decide on while rules are made, some to report on. A *family* of worlds is split by worlds.

SUMO and UXsim simulate their days here, on the first run; what they return is kept in ``build/sources``. A source whose
package or data is missing is left out with a message. ``python benchmarks/sources.py`` shows them all.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rhostar as rs

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "sources"
sys.path.append(str(ROOT / "examples"))

PARTS = ("train", "validation", "test")
SHARES = (0.6, 0.15, 0.25)
"""Of the days."""


class Source(NamedTuple):
    """Snapshots of a network, by days."""

    name: str
    network: rs.instances.Network
    rules: bool
    """Whether rules of `learn` were made with it in view; on the others they were only reported."""

    def days(self, seed: int | None = None) -> dict[str, np.ndarray]:
        """Return the days of each part: in order of time, or dealt out at random."""
        every = np.unique(self.network.days)
        order = every if seed is None else np.random.default_rng(seed).permutation(every)
        ends = np.maximum(1, np.round(np.cumsum(SHARES[:2]) * every.size)).astype(int)
        return dict(zip(PARTS, np.split(order, ends), strict=True))

    def goals(self) -> np.ndarray:
        """Return the vertices that are connected both ways: any of them may be a goal."""
        return rs.Graph.largest_strong_part(self.network.graph).vertices

    def part(
        self, name: str, count: int, *, goal: int | None = None, seed: int | None = None, snapshots: int | None = None
    ) -> rs.InstanceSet:
        """Return queries on the days of one part, or on some of its snapshots: to any goal, or to a given one."""
        days = self.days(seed)[name]
        rows = np.flatnonzero(np.isin(self.network.days, days))
        draw = zlib.crc32(f"{self.name} {name} {goal} {seed}".encode())
        if snapshots is not None:
            rows = np.sort(np.random.default_rng(draw).permutation(rows)[:snapshots])
        return self.network.sample(count, goal=self.goals() if goal is None else goal, seed=draw, rows=rows)

    def a_goal(self, seed: int = 0) -> int:
        """Return a random goal."""
        return int(np.random.default_rng([seed, zlib.crc32(self.name.encode())]).choice(self.goals()))


class MissingError(Exception):
    """A package or a file is not there."""


def kept(name: str, make: Callable[[], rs.instances.Network]) -> rs.instances.Network:
    """Return a network that was made before, or make it and keep it."""
    path = KEPT / f"{name.replace(' ', '_').replace(',', '')}.npz"
    if not path.exists():
        network = make()
        graph = network.graph
        KEPT.mkdir(parents=True, exist_ok=True)
        arrays = {"tail": graph.tail, "head": graph.head, "coordinates": graph.coordinates}
        np.savez(path, n=graph.n, weights=network.weights, days=network.days, **arrays)
    with np.load(path) as found:
        graph = rs.Graph.from_edges(
            int(found["n"]), found["tail"], found["head"], coordinates=found["coordinates"].astype(np.float64)
        )
        return rs.instances.Network(graph, found["weights"], None, found["days"])


def need(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise MissingError(f"the package {package} is not installed (make .venv/.peers)")


def data(*parts: str) -> Path:
    folder = os.environ.get("RHOSTAR_DATA")
    path = Path(folder or "", *parts)
    if not folder or not path.exists():
        raise MissingError(f"RHOSTAR_DATA names no folder with {'/'.join(parts)}")
    return path


# ---------------------------------------------------------------- generated, measured


def city() -> rs.instances.Network:
    """Return twelve days of a generated city of 3,600 crossings, with closures."""
    return rs.datasets.city(3600, seed=41).history(12, seed=42)


def metr_la() -> rs.instances.Network:
    """Return a week of the roads of Los Angeles, every ten minutes."""
    network = rs.datasets.read_metr_la(data("metr_la", "metr_la_week.npz"), speeds=(3.0, 70.0))
    return rs.instances.Network(network.graph, network.weights[::2], None, network.days[::2])


def sumo_given() -> rs.instances.Network:
    """Return the six days of the data folder: a random network, a rush hour, heavy jams."""
    with np.load(data("sumo", "days.npz")) as found:
        graph = rs.Graph.from_edges(int(found["n"]), found["tail"], found["head"], coordinates=found["xy"])
        weights = np.stack([graph.arrange(row.astype(np.float64)) for row in found["weights"]])
        return rs.instances.Network(graph, weights, None, found["day"].astype(np.int64))


def overlay() -> rs.instances.Network:
    """Return latencies of an overlay of 400 servers, in milliseconds, every hour of ten days.

    Servers are in 12 regions, on a sphere unrolled to a map; each keeps links to its 6 nearest servers and to 4 random
    ones. A link takes its distance at 200 km/ms times a detour (1.2 to 2, fixed), plus 0.3 ms, plus queues: log-normal,
    more during the day of its region. Heavy tails: with probability 0.02 a server is busy for an hour, and all of its
    links take a Pareto (shape 1.3) number of 5 ms more; with probability 0.004 a link is down for an hour.
    """
    rng = np.random.default_rng(61)
    n, days, hours = 400, 10, 24
    centers = rng.uniform((0, 0), (20_000, 8_000), (12, 2))
    region = rng.integers(0, 12, n)
    places = centers[region] + rng.normal(0, 400, (n, 2))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    near = np.argsort(apart, axis=1)[:, 1:7]
    pairs = np.concatenate(
        [np.stack([np.repeat(np.arange(n), 6), near.ravel()]), rng.integers(0, n, (2, 4 * n))], axis=1
    )
    pairs = pairs[:, pairs[0] != pairs[1]]
    tail, head = np.unique(np.concatenate([pairs, pairs[::-1]], axis=1), axis=1)
    graph = rs.Graph.from_edges(n, tail, head, coordinates=places)
    tail, head = graph.tail, graph.head
    alone = apart[tail, head] / 200 * rng.uniform(1.2, 2, graph.m) + 0.3
    weights = np.empty((days * hours, graph.m))
    for k in range(len(weights)):
        local = (k % hours + 24 * centers[region[tail], 0] / 20_000) % 24
        load = 0.3 + 0.7 * np.exp(-(((local - 15) / 5) ** 2))
        queue = load * rng.lognormal(0.0, 0.8, graph.m)
        busy = np.where(rng.random(n) < 0.02, 5 * rng.pareto(1.3, n), 0.0)
        weights[k] = alone + queue + busy[tail] + busy[head]
        weights[k, rng.random(graph.m) < 0.004] = np.inf
    return rs.instances.Network(graph, weights, None, np.repeat(np.arange(days), hours))


# ---------------------------------------------------------------- simulated by others

NETWORKS: dict[str, tuple[object, ...]] = {
    "grid": ("--grid", "--grid.number", 16, "--grid.length", 150, "--default.lanenumber", 2),
    "random": ("--rand", "--rand.iterations", 450, "--rand.bidi-probability", 1, "--seed", 17),
    "spider": ("--spider", "--spider.arm-number", 14, "--spider.circle-number", 14, "--spider.space-radius", 100),
}
CARS = {"grid": (9500, 13000), "random": (5500, 9000), "spider": (5500, 9000)}
DAYS = 8


def sumo(kind: str, cars: int) -> rs.instances.Network:
    """Return eight mornings simulated by SUMO: 45 minutes of cars, most of them to one corner of the town."""
    need("sumo")
    import sumo_days  # the example

    folder = Path(tempfile.mkdtemp())
    try:
        net = folder / "net.xml"
        sumo_days.program("netgenerate", *NETWORKS[kind], "-o", net)
        graph = rs.interop.from_sumo(net).graph
        rng = np.random.default_rng([cars, zlib.crc32(kind.encode())])
        counts = (cars * rng.lognormal(0, 0.15, DAYS)).astype(int)
        days = [
            sumo_days.day(folder, net, graph, day, int(count), 2700, *("--device.rerouting.probability", 0.5))
            for day, count in enumerate(counts)
        ]
        return rs.interop.from_sumo(net, days)
    finally:
        shutil.rmtree(folder)


def uxsim() -> rs.instances.Network:
    """Return eight mornings of a town of 15 x 15 junctions simulated by UXsim: its travel times every 5 minutes."""
    need("uxsim")
    import uxsim as simulator

    side, minutes, rows, number = 15, 90, [], {}
    for day in range(DAYS):
        rng = np.random.default_rng([71, day])
        fixed = np.random.default_rng(72)  # the town is the same every day
        world = simulator.World(
            name="", deltan=10, tmax=60 * minutes, print_mode=0, save_mode=0, show_mode=0, random_seed=day
        )
        nodes = [world.addNode(f"{k}", k % side, k // side) for k in range(side * side)]
        for i, a in enumerate(nodes):
            for j in (i + 1, i - 1, i + side, i - side):
                beside = abs(i % side - j % side) + abs(i // side - j // side) == 1
                if 0 <= j < len(nodes) and beside:
                    number[f"{i}-{j}"] = (i, j)
                    speed, length = fixed.uniform(8, 20), fixed.uniform(300, 600)
                    world.addLink(f"{i}-{j}", a, nodes[j], length=length, free_flow_speed=speed)
        demand = rng.lognormal(0, 0.2)
        for _ in range(250):
            start, end = int(rng.integers(len(nodes))), int(rng.integers(len(nodes)))
            if rng.random() < 0.6:  # the rush, to the middle
                end = int((side // 2 + rng.integers(-1, 2)) * side + side // 2 + rng.integers(-1, 2))
            if start != end:
                first = rng.uniform(0, 3000)
                world.adddemand(f"{start}", f"{end}", first, first + 1800, 0.06 * demand)
        world.exec_simulation()
        every = max(1, int(300 / world.DELTAT))
        times = np.array([link.traveltime_instant for link in world.LINKS])
        rows.append(times[:, every::every].T)
        names = [link.name for link in world.LINKS]
    tail, head = np.array([number[name] for name in names]).T
    graph = rs.Graph.from_edges(
        side * side,
        tail,
        head,
        coordinates=np.stack([np.arange(side * side) % side, np.arange(side * side) // side], 1),
    )
    weights = np.stack([graph.arrange(row) for row in np.concatenate(rows)])
    return rs.instances.Network(graph, weights, None, np.repeat(np.arange(DAYS), [len(found) for found in rows]))


MADE: dict[str, tuple[Callable[[], rs.instances.Network], bool]] = {
    "generated city": (city, True),
    "METR-LA": (metr_la, True),
    "SUMO, data folder": (sumo_given, True),
    **{
        f"SUMO, {kind}, {cars:,} cars": (lambda kind=kind, cars=cars: sumo(kind, cars), kind == "spider")
        for kind, levels in CARS.items()
        for cars in levels
    },
    "UXsim": (uxsim, False),
    "overlay latencies": (overlay, False),
}


def sources(words: str | None = None, log: Callable[[str], Any] = print) -> Iterator[Source]:
    """Yield the sources for A* that can be made here, or those with these words in their names."""
    for name, (make, rules) in MADE.items():
        if words is None or words in name:
            try:
                network = kept(name, make) if make.__name__ not in ("metr_la", "sumo_given") else make()
            except MissingError as error:
                log(f"{name} is left out: {error}")
            else:
                yield Source(name, network, rules)


if __name__ == "__main__":
    for source in sources():
        graph, weights = source.network.graph, source.network.weights
        print(f"{source.name}: {graph.n:,} vertices, {graph.m:,} edges, {len(weights):,} snapshots", flush=True)
