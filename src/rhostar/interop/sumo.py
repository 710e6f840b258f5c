"""Reads networks and travel times of SUMO, and writes the landmark tables that SUMO's own A* takes.

SUMO routes over edges: the connections of junctions say which edge may follow which. So the vertices here are SUMO's
edges, named by their ids, and the edges here are turns. A turn from a to b costs the time on b, and the time inside the
junction. What SUMO calls the cost of a route also includes the time on its first edge.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _files as files
from rhostar.errors import ArrayError, InputError, ReadError
from rhostar.graph import Graph
from rhostar.instances import Network
from rhostar.search import distances_to

__all__ = ["SumoNetwork", "from_sumo", "write_landmarks"]

FilePath = str | os.PathLike[str]


class SumoNetwork(Network):
    """A network of SUMO: its edges as vertices, its turns as edges. Made by :func:`from_sumo`.

    Attributes
    ----------
    edge_times
        (K, n) the travel time of each SUMO edge in each snapshot, in seconds.
    turn_times
        (m,) the time inside the junction of each turn, with its penalty.
    edge_names
        The ids of all edges in the order of the file, those for other vehicles too.

    Examples
    --------
    >>> import rhostar as rs
    >>> issubclass(rs.interop.sumo.SumoNetwork, rs.instances.Network)
    True
    """

    edge_times: NDArray[np.float64]
    turn_times: NDArray[np.float64]
    edge_names: tuple[str, ...]


def from_sumo(
    net: FilePath,
    edge_data: FilePath | Sequence[FilePath] | None = None,
    *,
    vehicle_class: str = "passenger",
    minor_penalty: float = 1.5,
    turnaround_penalty: float = 5.0,
) -> SumoNetwork:
    """Read a network of SUMO, and a history of travel times.

    Parameters
    ----------
    net
        A ``net.xml``, compressed or not.
    edge_data
        Dumps of ``<edgeData .../>``: each interval is a snapshot. Several files are several days, in this order. An
        edge without a ``traveltime`` in an interval was empty: its travel time is that at the speed limit. Shorter
        times are raised to that one, as SUMO's routers do. None gives one snapshot, at the speed limits.
    vehicle_class
        The class of the vehicles; lanes that do not allow it are left out.
    minor_penalty, turnaround_penalty
        Seconds that a turn without the right of way costs, and a turn back, as ``--weights.minor-penalty`` and
        ``--weights.turnaround-penalty`` of ``duarouter``, with its defaults.

    Returns
    -------
    SumoNetwork
        Labels are SUMO's edge ids, coordinates the ends of the edges. Snapshots are named after the beginnings of their
        intervals.

    Raises
    ------
    ReadError
        If a file is not of the format, or names an edge that the network lacks.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import rhostar as rs
    >>> lane = '<lane id="{0}_0" index="0" speed="10" length="{1}" shape="0,0 {1},0"/>'
    >>> sizes = {"a": 50, "b": 80}
    >>> edges = "".join(f'<edge id="{e}">{lane.format(e, size)}</edge>' for e, size in sizes.items())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "net.xml")
    ...     turn = '<connection from="a" to="b" fromLane="0" toLane="0" dir="s" state="M"/>'
    ...     _ = path.write_text(f"<net>{edges}{turn}</net>")
    ...     network = rs.interop.from_sumo(path)
    >>> network.graph.labels, network.edge_times.tolist(), network.weights.tolist()
    (('a', 'b'), [[5.0, 8.0]], [[8.0]])
    """
    penalties = (
        arrays.not_negative(minor_penalty, "minor_penalty"),
        arrays.not_negative(turnaround_penalty, "turnaround_penalty"),
    )
    edges, order, inside, turns, places = _read_net(net, vehicle_class, *penalties)
    if not edges or not turns:
        raise ReadError(str(net), None, f"it has no edges, or no connections, for vehicles of class {vehicle_class}")
    number = {name: v for v, name in enumerate(edges)}
    cost: dict[tuple[int, int], float] = {}
    for start, end, via, penalty in turns:
        if start in number and end in number and start != end:
            pair, spent = (number[start], number[end]), penalty + _through(via, inside)
            cost[pair] = min(spent, cost.get(pair, np.inf))
    tail, head = np.array(list(cost), dtype=np.int32).reshape(-1, 2).T
    graph = Graph.from_edges(len(edges), tail, head, labels=list(edges), coordinates=np.array(places))
    turn_times = graph.arrange(np.array(list(cost.values())))
    free = np.array(list(edges.values()))
    given = [] if edge_data is None else [edge_data] if isinstance(edge_data, str | os.PathLike) else list(edge_data)
    names: list[Any] = []
    times: list[NDArray[np.float64]] = []
    days: list[int] = []
    for day, path in enumerate(given):
        for begin, found in _read_intervals(path, number, free):
            names.append((day, begin) if len(given) > 1 else begin)
            times.append(found)
            days.append(day)
    if given and not times:
        raise ReadError(str(given[0]), None, "it has no intervals")
    matrix = np.array(times) if times else free[None]
    weights = np.ascontiguousarray(matrix[:, graph.head] + turn_times)
    network = SumoNetwork(graph, weights, tuple(names) if names else None, np.array(days) if len(given) > 1 else None)
    more = {"edge_times": arrays.frozen(matrix), "turn_times": arrays.frozen(turn_times), "edge_names": tuple(order)}
    for name, value in more.items():
        object.__setattr__(network, name, value)
    return network


def write_landmarks(
    path: FilePath, network: SumoNetwork, lower: ArrayLike, *, landmarks: int = 16, seed: int = 0
) -> Path:
    """Write a table for ``--astar.landmark-distances`` of SUMO's programs.

    SUMO's A* then returns what its Dijkstra returns, as long as no time is below `lower`.

    Parameters
    ----------
    path
        The file to write.
    network
        What :func:`from_sumo` returned. The order of its edges is that of the file of the network.
    lower
        (n,) the lowest travel time of each SUMO edge, in seconds: what it takes at the speed limit, or learned lower
        bounds.
    landmarks
        How many landmarks; each is far from the ones before it.
    seed
        Seed for the choice of the first landmark.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    InputError, ArrayError
        If an argument is out of range.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import rhostar as rs
    >>> lane = '<lane id="{0}_0" index="0" speed="10" length="50" shape="0,0 5,0"/>'
    >>> edges = "".join(f'<edge id="{e}">{lane.format(e)}</edge>' for e in "ab")
    >>> turns = "".join(f'<connection from="{a}" to="{b}" fromLane="0" toLane="0"/>' for a, b in ("ab", "ba"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "net.xml")
    ...     _ = path.write_text(f"<net>{edges}{turns}</net>")
    ...     network = rs.interop.from_sumo(path)
    ...     table = rs.interop.sumo.write_landmarks(path, network, network.edge_times[0], landmarks=1)
    ...     print(table.read_text(), end="")
    a
    a 0.0 0.0
    b 0.0 0.0
    """
    graph = network.graph
    times = np.asarray(lower, dtype=np.float64)
    if times.shape != (graph.n,) or not (times >= 0).all():
        raise ArrayError(f"lower must have one time of at least 0 for each of the {graph.n} edges, got {times.shape}")
    count = arrays.integer(landmarks, "landmarks", 1, graph.n)
    # The time on the last edge belongs to no turn: distances are of what lies strictly between two edges.
    weights = times[graph.head] + network.turn_times
    back = graph.reverse()
    back_weights = np.asarray(weights[back.edges])
    chosen: list[int] = []
    to, away = np.empty((count, graph.n)), np.empty((count, graph.n))
    far = distances_to(graph, weights, int(np.random.default_rng(seed).integers(graph.n)))
    for k in range(count):
        far[~np.isfinite(far)] = -1.0
        spot = int(np.argmax(far))
        chosen.append(spot)
        to[k], away[k] = distances_to(graph, weights, spot), distances_to(back.graph, back_weights, spot)
        far = np.minimum(far, to[k])
        to[k] -= times[spot]
        away[k] -= times
        to[k, spot] = away[k, spot] = 0.0
    columns = np.stack([away.T, to.T], axis=2).reshape(graph.n, 2 * count)
    columns = np.where(np.isfinite(columns), np.maximum(columns, 0.0), -1.0)  # -1 says that there is no way
    names = graph.labels
    assert names is not None
    rows = {name: " ".join(map(repr, row)) for name, row in zip(names, columns.tolist(), strict=True)}
    nothing = " ".join(["-1"] * (2 * count))  # of edges for other vehicles
    lines = [*(str(names[spot]) for spot in chosen), *(f"{x} {rows.get(x, nothing)}" for x in network.edge_names)]
    target = Path(path)
    with files.replacing(target) as beside:
        beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target


# ---------------------------------------------------------------- files


Lanes = dict[str, tuple[float, str | None]]
"""Of each lane inside a junction: the time on it with the penalties that follow, and the lane after it."""


def _read_net(
    path: FilePath, kind: str, minor: float, turnaround: float
) -> tuple[dict[str, float], list[str], Lanes, list[Any], list[Any]]:
    """Return the time on each edge, the names of all, the lanes inside junctions, the turns, and the places."""
    edges: dict[str, float] = {}
    order: list[str] = []
    inside: Lanes = {}
    turns: list[tuple[str, str, str | None, float]] = []
    places: list[tuple[float, float]] = []
    closed: set[tuple[str, str]] = set()
    for element in _elements(path, ("edge", "connection")):
        if element.tag == "edge":
            lanes = element.findall("lane")
            name, function = element.get("id", ""), element.get("function", "normal")
            closed |= {(name, lane.get("index", "")) for lane in lanes if not _allows(lane, kind)}
            own = [lane for lane in lanes if _allows(lane, kind)]
            if function != "internal":
                order.append(name)
            if not own:
                continue
            length, speed = float(own[0].get("length", 0)), max(float(lane.get("speed", 0)) for lane in own)
            if function == "internal":
                for lane in own:
                    inside[lane.get("id", "")] = float(lane.get("length", 0)) / float(lane.get("speed", 1)), None
            elif function == "normal":
                edges[name] = length / speed
                x, y = own[0].get("shape", "0,0").split()[-1].split(",")[:2]
                places.append((float(x), float(y)))
            continue
        start, end, via = element.get("from", ""), element.get("to", ""), element.get("via")
        if (start, element.get("fromLane", "")) in closed or (end, element.get("toLane", "")) in closed:
            continue
        # SUMO adds penalties to lanes inside junctions; without such lanes there are none.
        back, minor_link = element.get("dir") == "t", element.get("state") == "m"
        penalty = 0.0 if via is None else turnaround if back else minor if minor_link else 0.0
        if start.startswith(":"):
            lane = f"{start}_{element.get('fromLane')}"
            if via is not None and lane in inside:  # a junction that is crossed in two steps
                inside[lane] = inside[lane][0] + penalty, via
        else:
            turns.append((start, end, via, penalty))
    return edges, order, inside, turns, places


def _through(via: str | None, inside: Lanes) -> float:
    """Return the time inside a junction."""
    spent = 0.0
    while via is not None and via in inside:
        time, via = inside[via]
        spent += time
    return spent


def _allows(lane: Any, kind: str) -> bool:
    allowed, forbidden = lane.get("allow"), lane.get("disallow")
    if allowed is not None and allowed != "all":
        return kind in allowed.split()
    return forbidden is None or (forbidden != "all" and kind not in forbidden.split())


def _read_intervals(
    path: FilePath, number: dict[str, int], free: NDArray[np.float64]
) -> Iterator[tuple[float, NDArray[np.float64]]]:
    for element in _elements(path, ("interval",)):
        times = free.copy()
        for edge in element.findall("edge"):
            name, value = edge.get("id", ""), edge.get("traveltime")
            if value is None or name not in number:  # inside a junction, or for other vehicles
                continue
            times[number[name]] = max(float(value), times[number[name]])
        yield float(element.get("begin", 0)), times


def _elements(path: FilePath, tags: Iterable[str]) -> Iterator[Any]:
    """Yield the elements with these tags as they are read, and forget them afterwards."""
    wanted = set(tags)
    try:
        with (gzip.open if os.fspath(path).endswith(".gz") else open)(path, "rb") as file:
            for _, element in ElementTree.iterparse(file):
                if element.tag in wanted:
                    yield element
                    element.clear()
    except ElementTree.ParseError as error:
        raise ReadError(str(path), None, f"this is not XML: {error}") from None
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"could not read {os.fspath(path)!r}: {error}") from None
