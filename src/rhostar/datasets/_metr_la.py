"""Reads METR-LA, the speeds of loop detectors on the freeways of Los Angeles, from one ``.npz`` archive.

The archive holds ``speed_mph`` (snapshots x sensors, every 5 minutes), ``affinity`` (sensors x sensors,
exp(-(d/sigma)^2) of the road distance d, 0 where there is no road), ``latlon`` and ``sensor_id``.

There is an edge u -> v where the affinity is positive. Its length is d = sigma * sqrt(-ln affinity), at least `floor`;
its travel time is d * (1/v_u + 1/v_v) / 2 with the speeds of both sensors, clipped to `speeds` first: a detector that
reports 0 or 1 mph measures a traffic jam or is broken, and in both cases cars do not stand still forever.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _files as files
from rhostar._archives import read_arrays
from rhostar.datasets._formats import reader
from rhostar.datasets._text_files import require_plausible
from rhostar.errors import InputError, ReadError, StorageError
from rhostar.graph import Graph
from rhostar.instances import Network

_METERS_PER_SECOND = 0.44704
"""of one mile per hour."""
_SNAPSHOTS_A_DAY = 288
_SMALL = 1 << 30
"""Bytes that the weights of any archive may take."""


@reader("metr-la", "METR-LA traffic archive", suffixes=(".npz",))
def read_metr_la(
    path: str | os.PathLike[str],
    *,
    speeds: tuple[float, float] = (5.0, 70.0),
    sigma: float = 2600.0,
    floor: float = 50.0,
    strong: bool = True,
    max_bytes: int | None = None,
) -> Network:
    """Read the archive; weights are travel times in seconds.

    Parameters
    ----------
    path
        The ``.npz`` file.
    speeds
        Lowest and highest speed in miles per hour; measured speeds are clipped to this range. So the bounds of the
        weights are known beforehand: ``network.edge_bounds``.
    sigma
        The scale of the affinities in meters. The source does not state it; 2600 fits the straight-line distances.
    floor
        Minimum length of an edge in meters.
    strong
        Whether to keep only the largest strongly connected part, so that every pair of vertices is feasible.
    max_bytes
        How much memory the arrays and the weights may each take. By default the arrays may take 64 MiB or 200 times
        the size of the file, the weights 1 GiB or 1000 times, whichever is more; the week that is published takes
        24 MB.

    Returns
    -------
    Network
        All snapshots in time order, with ``days``; labels are the sensors' ids, coordinates (longitude,
        latitude), lengths meters. ``names`` counts the minutes since the first snapshot.

    Raises
    ------
    ReadError
        If the archive is damaged, an array is missing or has the wrong shape, or a speed or affinity is not a number.

    Examples
    --------
    >>> import rhostar as rs
    >>> network = rs.datasets.read_metr_la("metr-la.npz")  # doctest: +SKIP
    >>> train, holdout = rs.datasets.split_by_day(network.sample(1000, goal=0))  # doctest: +SKIP
    """
    low, high = (arrays.number(v, "speeds", "two positive numbers", lambda x: 0 < x < np.inf) for v in speeds)
    if low >= high:
        raise InputError(f"speeds must be (lowest, highest), got {speeds!r}")
    sigma = arrays.number(sigma, "sigma", "positive", lambda x: 0 < x < np.inf)
    floor = arrays.number(floor, "floor", "positive", lambda x: 0 < x < np.inf)
    most = None if max_bytes is None else arrays.integer(max_bytes, "max_bytes", 1)
    speed, affinity, places, sensors = _read_archive(path, most)
    tail, head = np.nonzero(affinity)
    needed = 8 * len(speed) * tail.size
    bound = max(_SMALL, 1000 * os.stat(path).st_size) if most is None else most
    what = f"bytes of weights ({len(speed)} snapshots of {tail.size} edges)"
    require_plausible(path, None, needed, what, bound, "max_bytes")
    apart = tail != head
    tail, head = tail[apart], head[apart]
    distance = np.maximum(sigma * np.sqrt(-np.log(affinity[tail, head].astype(np.float64))), floor)
    graph = Graph.from_edges(len(sensors), tail, head, coordinates=places[:, ::-1], labels=sensors, length=distance)
    if strong:
        part = graph.largest_strong_part()
        graph, speed = part.graph, speed[:, part.vertices]
    assert graph.length is not None
    times = files.spacious((len(speed), graph.m))
    least, largest = (graph.length / (limit * _METERS_PER_SECOND) for limit in (high, low))
    for row, now in zip(times, speed, strict=True):
        slowness = 0.5 / (np.clip(now.astype(np.float64), low, high) * _METERS_PER_SECOND)
        row[:] = (slowness[graph.tail] + slowness[graph.head]) * graph.length
        # Sums in another order may differ in the last digit, but a bound must hold to the last digit.
        np.minimum(least, row, out=least)
        np.maximum(largest, row, out=largest)
    count = np.arange(len(times))
    return Network(graph, times, tuple((count * 5).tolist()), count // _SNAPSHOTS_A_DAY, (least, largest))


def _read_archive(
    path: str | os.PathLike[str], max_bytes: int | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], list[str]]:
    wanted = ("speed_mph", "affinity", "latlon", "sensor_id")
    try:
        archive = read_arrays(path, wanted, strict=False, max_bytes=max_bytes)
    except OSError as error:
        raise ReadError(path, None, f"cannot be read: {error.strerror or error}") from None
    except StorageError as error:
        raise ReadError(path, None, str(error).removeprefix(f"{path}: ")) from None
    missing = [name for name in wanted if name not in archive]
    if missing:
        raise ReadError(path, None, f"the array {missing[0]!r} is missing; expected {', '.join(wanted)}")
    speed, affinity, places, sensors = (archive[name] for name in wanted)
    for name, array, kinds in (
        ("speed_mph", speed, "fiu"),
        ("affinity", affinity, "fiu"),
        ("latlon", places, "fiu"),
        ("sensor_id", sensors, "USiu"),
    ):
        if array.dtype.kind not in kinds:
            raise ReadError(
                path, None, f"{name} must contain numbers{' or names' * (kinds[0] == 'U')}, got {array.dtype}"
            )
    n = affinity.shape[0] if affinity.ndim else 0
    for name, array, shape in (
        ("affinity", affinity, (n, n)),
        ("speed_mph", speed, (len(speed) if speed.ndim else 0, n)),
        ("latlon", places, (n, 2)),
        ("sensor_id", sensors, (n,)),
    ):
        if array.shape != shape or 0 in shape:
            raise ReadError(path, None, f"{name} must have shape {shape} to match affinity, got {array.shape}")
    for name, array, good in (
        ("affinity", affinity, lambda a: (a >= 0) & (a <= 1)),
        ("speed_mph", speed, lambda a: (a >= 0) & (a < np.inf)),
        ("latlon", places, np.isfinite),
    ):
        bad = ~good(array)
        if bad.any():
            at = tuple(int(k) for k in np.argwhere(bad)[0])
            raise ReadError(path, None, f"{name}[{', '.join(map(str, at))}] is {array[at]}, expected a number in range")
    try:
        return speed, affinity, places, [str(name) for name in sensors]
    except ValueError as error:
        raise ReadError(path, None, f"sensor_id contains a name that is not text: {error}") from None
