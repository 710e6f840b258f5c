"""Days of traffic simulated by SUMO: read them, compare with SUMO's own router, learn, audit.

``python examples/sumo_days.py [folder]`` needs the packages eclipse-sumo and sumolib. It makes a random town of 4,504
streets, lets thousands of cars drive to one corner of it on several mornings, reads the travel times of every five
minutes, learns a heuristic from all mornings but the last, and audits it there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

import rhostar as rs


def program(name: str, *words: object) -> None:
    """Run one of SUMO's programs."""
    import sumo  # noqa: PLC0415

    home = Path(sumo.SUMO_HOME)
    command = [str(home / "bin" / name), *map(str, words)]
    done = subprocess.run(
        command, env={**os.environ, "SUMO_HOME": str(home)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-500:]}")


def town(folder: Path, iterations: int = 1500) -> Path:
    """Return the file of a random network."""
    path = folder / "net.xml"
    size = ("--rand.iterations", iterations, "--rand.bidi-probability", 1, "--seed", 7)
    program("netgenerate", "--rand", *size, "-o", path)
    return path


def write_trips(path: Path, graph: rs.Graph, count: int, seconds: int, seed: int, *, rush: float = 0.8) -> Path:
    """Write trips at random times; a share of them, `rush`, leads to a dozen streets in one corner."""
    rng = np.random.default_rng(seed)
    inner = rs.graph.Graph.largest_strong_part(graph).vertices
    corner = inner[np.argsort(graph.coordinates[inner].sum(axis=1))[:12]]
    goals = np.where(rng.random(count) < rush, rng.choice(corner, count), rng.choice(inner, count))
    starts = rng.choice(inner, count)
    times = np.sort(rng.uniform(0, seconds, count))
    lines = [
        f'<trip id="{k}" depart="{t:.2f}" from="{graph.labels[s]}" to="{graph.labels[g]}"/>'
        for k, (t, s, g) in enumerate(zip(times, starts, goals, strict=True))
        if s != g
    ]
    path.write_text("<routes>" + "\n".join(lines) + "</routes>")
    return path


def day(
    folder: Path, net: Path, graph: rs.Graph, seed: int, cars: int = 4000, seconds: int = 1800, *words: object
) -> Path:
    """Simulate one morning; return the travel times of every five minutes."""
    trips = write_trips(folder / f"trips{seed}.xml", graph, cars, seconds, seed)
    times, asked = folder / f"day{seed}.xml", folder / f"asked{seed}.xml"
    asked.write_text(f'<additional><edgeData id="d" file="{times}" freq="300" excludeEmpty="defaults"/></additional>')
    quiet = ("--no-step-log", "--no-warnings", "--ignore-route-errors", *words)
    end = seconds + 900
    program("sumo", "-n", net, "-r", trips, "--additional-files", asked, "--mesosim", "true", "-e", end, *quiet)
    return times


def one_interval(times: Path, number: int, path: Path) -> Path:
    """Write one interval of a day as weights for ``duarouter`` that are valid at all times."""
    interval = ElementTree.parse(times).getroot().findall("interval")[number]
    interval.set("begin", "0")
    interval.set("end", "1000000")
    whole = ElementTree.Element("meandata")
    whole.append(interval)
    ElementTree.ElementTree(whole).write(path)
    return path


def duarouter(
    folder: Path, net: Path, trips: Path, weights: Path, *words: object
) -> tuple[dict[str, tuple[str, str, float]], float]:
    """Return the first edge, the last edge and the cost of each trip by SUMO's router, and its seconds."""
    out, begin = folder / "routes.xml", time.perf_counter()
    always = ("--weight-period", 1000000, "--ignore-errors", "--no-step-log")
    program("duarouter", "-n", net, "-r", trips, "-w", weights, "-o", out, *always, *words)
    spent = time.perf_counter() - begin
    found = {}
    for vehicle in ElementTree.parse(folder / "routes.alt.xml").getroot().findall("vehicle"):
        route = vehicle.find(".//route")
        edges = route.get("edges").split()
        found[vehicle.get("id")] = edges[0], edges[-1], float(route.get("cost"))
    return found, spent


def main(words: Sequence[str]) -> None:
    """Run the whole recipe."""
    folder = Path(words[0] if words else tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    net = town(folder)
    free = rs.interop.from_sumo(net)
    days = [day(folder, net, free.graph, seed) for seed in range(3)]
    network = rs.interop.from_sumo(net, days)
    slower = network.edge_times / free.edge_times[0]
    print(
        f"{network}; times / times at the speed limit: mean {slower.mean():.2f}, 99 % {np.quantile(slower, 0.99):.1f}"
    )

    # The same costs as SUMO's own router, on the busiest five minutes of the last day.
    last = np.flatnonzero(network.days == 2)
    busiest = int(last[np.argmax(slower[last].mean(axis=1))])
    weights = one_interval(days[2], busiest - int(last[0]), folder / "weights.xml")
    trips = write_trips(folder / "trips.xml", free.graph, 1200, 1000, seed=99, rush=0.0)
    table = rs.interop.sumo.write_landmarks(folder / "landmarks.txt", free, free.edge_times[0])
    router = rs.Router(network.graph)
    router.update(network.weights[busiest])
    landmarks = ("--routing-algorithm", "astar", "--astar.landmark-distances", table)
    ways = {"Dijkstra": (), "its A*": ("--routing-algorithm", "astar"), "A* with our landmarks": landmarks}
    for name, how in {**ways, "CCH": ("--routing-algorithm", "CCH")}.items():
        found, spent = duarouter(folder, net, trips, weights, *how)
        starts, goals, costs = zip(*found.values(), strict=True)
        first = network.edge_times[busiest][[network.graph.vertex(s) for s in starts]]
        ours = router.routes(list(zip(starts, goals, strict=True))).cost + first
        wrong = int((np.abs(np.array(costs) - ours) > 0.011).sum())  # SUMO prints two digits
        print(f"duarouter, {name:22} {len(found)} trips, {wrong} cost other than ours, {spent:.2f} s in all")

    # Learn from two mornings, and audit on the third.
    inner = rs.graph.Graph.largest_strong_part(network.graph).vertices
    past = network.sample(600, goal=inner, seed=0, rows=np.flatnonzero(network.days < 2))
    tomorrow = network.sample(600, goal=inner, seed=1, rows=last)
    learned = rs.learn(past, mean_excess=0.01)
    print(rs.audit(learned, tomorrow))


if __name__ == "__main__":
    main(sys.argv[1:])
