"""Families of obstacle worlds for greedy search, and the recipe of fits that ``learn`` is compared with.

From the lower left corner to the upper right one, 8 neighbors, corners may be cut. There are three kinds of families:
the eight of ``rhostar.datasets.obstacle_worlds``, with seeds of their own; shapes that only this file draws; and the
pictures of ``RHOSTAR_DATA/worlds``, split in two ways. Each has 200 worlds to learn from, 100 to decide on (for the
recipe), and up to 300 to report on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sources import MissingError, data

import rhostar as rs

BUDGET = 20_000
"""How many vertices a run may expand when it is judged."""
TRAIN, VALIDATION, TEST = 200, 100, 300


class Family(NamedTuple):
    """Worlds of one kind."""

    name: str
    train: rs.InstanceSet
    validation: rs.InstanceSet
    test: rs.InstanceSet
    rules: bool
    """Whether rules of `learn` were made with it in view; on the others they were only reported."""


# ---------------------------------------------------------------- shapes


def rooms(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return 3 x 3 rooms with a door or two in each wall, of which some are shut."""
    blocked = np.zeros((size, size), dtype=bool)
    walls = [size // 3, 2 * size // 3]
    for wall in walls:
        blocked[wall - 1 : wall + 2, :] = blocked[:, wall - 1 : wall + 2] = True
    for wall in walls:
        for k in range(3):
            for turned in (blocked, blocked.T):
                for _ in range(rng.integers(1, 3)):
                    door = k * size // 3 + int(rng.uniform(0.15, 0.75) * size / 3)
                    turned[wall - 1 : wall + 2, door : door + max(3, size // 25)] = False
    return blocked


def slanted(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return slanted walls that start at either side and leave a passage."""
    row, column = np.mgrid[:size, :size] / size
    blocked = np.zeros((size, size), dtype=bool)
    for k in range(4):
        slope = rng.uniform(-0.3, 0.3)
        near = np.abs(row - (0.2 + 0.2 * k) - slope * (column - 0.5)) < 0.02
        gap = rng.uniform(0.15, 0.35)
        blocked |= near & ((column > gap) if rng.random() < 0.7 else (column < 1 - gap))
    return blocked


def discs(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return round ponds, larger and denser near the middle."""
    row, column = np.mgrid[:size, :size] / size
    blocked = np.zeros((size, size), dtype=bool)
    for _ in range(14):
        x, y = rng.normal(0.5, 0.2, 2)
        blocked |= (row - x) ** 2 + (column - y) ** 2 < rng.uniform(0.04, 0.12) ** 2
    return blocked


def zigzag(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return a corner of a wall that moves, with a narrow passage in one of its two legs, and some crates."""
    blocked = np.zeros((size, size), dtype=bool)
    for center in (0.35, 0.65):
        corner = int(size * (center + rng.uniform(-0.08, 0.08)))
        thick, wide = max(2, size // 60), max(4, size // 30)
        blocked[corner : corner + thick, : size - 1 - corner] = True
        blocked[: corner + thick, size - 1 - corner : size - 1 - corner + thick] = True
        if rng.random() < 0.6:
            door = int(rng.uniform(0.1, 0.9) * (size - 2 - corner - wide))
            blocked[corner : corner + thick, door : door + wide] = False
        else:
            door = int(rng.uniform(0.1, 0.9) * (corner - wide))
            blocked[door : door + wide, size - 1 - corner : size - 1 - corner + thick] = False
    for _ in range(25):
        row, column = rng.integers(0, size - size // 20, 2)
        blocked[row : row + size // 25, column : column + size // 25] = True
    return blocked


def courtyards(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return three walls around each other, each open to one side or two, and rubble between them."""
    blocked = rng.random((size, size)) < 0.04
    wide = max(4, size // 25)
    for ring in (0.12, 0.25, 0.38):
        first, last = int(ring * size), int((1 - ring) * size)
        blocked[first, first:last] = blocked[last, first:last] = True
        blocked[first:last, first] = blocked[first : last + 1, last] = True
        for side in rng.permutation(4)[: rng.integers(1, 3)]:
            door = int(rng.uniform(first + 1, last - wide))
            wall = first if side % 2 == 0 else last
            turned = blocked if side < 2 else blocked.T
            turned[wall, door : door + wide] = False
    # The start and the goal are outside; every second world has a wall between them that leads through the courtyards.
    if rng.random() < 0.5:
        diagonal = np.arange(size)
        outside = (diagonal < 0.12 * size) | (diagonal > 0.88 * size)
        blocked[diagonal[outside], diagonal[outside]] = True
        blocked[diagonal[outside][1:], diagonal[outside][:-1]] = True
        blocked[diagonal[outside][:-1], diagonal[outside][1:]] = True
    return blocked


def rivers(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return two winding rivers with a few bridges each, one of which is always near one bank of the map."""
    row, column = np.mgrid[:size, :size] / size
    blocked = np.zeros((size, size), dtype=bool)
    for middle in (0.33, 0.67):
        bend = 0.08 * np.sin(2 * np.pi * (rng.uniform(1, 2.5) * column + rng.random()))
        water = np.abs(row - middle - bend) < rng.uniform(0.02, 0.035)
        for bridge in (*rng.uniform(0.05, 0.95, rng.integers(0, 3)), rng.uniform(0.02, 0.2)):
            water &= np.abs(column - bridge) > 0.015
        blocked |= water
    return blocked


def sticks(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return fallen trunks: straight obstacles of all directions, most of them across the way."""
    row, column = np.mgrid[:size, :size] / size
    blocked = np.zeros((size, size), dtype=bool)
    for _ in range(22):
        x, y, turn = *rng.uniform(0.05, 0.95, 2), rng.normal(np.pi / 4, 0.6)
        along = (row - x) * np.cos(turn) + (column - y) * np.sin(turn)
        across = (row - x) * np.sin(turn) - (column - y) * np.cos(turn)
        blocked |= (np.abs(across) < 0.012) & (np.abs(along) < rng.uniform(0.06, 0.16))
    return blocked


SHAPES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "rooms": rooms,
    "slanted walls": slanted,
    "ponds": discs,
    "zigzag": zigzag,
    "courtyards": courtyards,
    "rivers": rivers,
    "fallen trunks": sticks,
}


def drawn(shape: str, size: int, count: int, seed: int) -> np.ndarray:
    """Return worlds with a path from the lower left to the upper right corner."""
    from scipy.ndimage import label

    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        cells = SHAPES[shape](rng, size)
        cells[-5:, :5] = cells[:5, -5:] = False
        parts, _ = label(~cells, structure=np.ones((3, 3)))
        if parts[-1, 0] == parts[0, -1]:
            found.append(cells)
    return np.array(found)


# ---------------------------------------------------------------- families


def generated(name: str, size: int, seed: int, rules: bool) -> Family:
    """Draw a family."""
    graph = rs.Graph.grid(size, size, neighbors=8)
    sets = []
    for k, count in enumerate((TRAIN, VALIDATION, TEST)):
        if name in SHAPES:
            worlds = rs.datasets.Worlds(drawn(name, size, count, 10 * seed + k))
        else:
            worlds = rs.datasets.obstacle_worlds(name, size=size).worlds(count, 10 * seed + k)
        sets.append(worlds.instances(graph=graph, dtype=np.float32))
    return Family(f"{name.replace('_', ' ')}, {size} a side", *sets, rules)


def pictures(name: str, given: bool) -> Family:
    """Read a family: split as its folders are, or so that no world to report on is in another part.

    Many pictures of gaps are in several folders, byte for byte. For the second kind of split a third of the different
    worlds, at most 300, is drawn, and every copy of them is taken out of the other parts.
    """
    read = {
        part: rs.datasets.read_worlds(data("worlds", name, part)).blocked for part in ("train", "validation", "test")
    }
    title = f"{name.replace('_', ' ')}, pictures"
    if given:
        parts, title = list(read.values()), f"{title}, folders"
    else:
        every = {world.tobytes(): world for part in read.values() for world in part}
        names, order = sorted(every), np.random.default_rng(0).permutation(len(every))
        held = {names[k]: every[names[k]] for k in order[: min(TEST, len(every) // 3)]}
        kept = ([world for world in read[part] if world.tobytes() not in held] for part in ("train", "validation"))
        parts = [*map(np.array, kept), np.array(list(held.values()))]
    parts[0] = parts[0][:TRAIN]
    graph = rs.Graph.grid(*parts[0].shape[1:], neighbors=8)
    sets = [rs.datasets.Worlds(part).instances(graph=graph, dtype=np.float32, infeasible="drop") for part in parts]
    return Family(title, *sets, rules=name == "alternating_gaps")


def copies(family: Family) -> int:
    """Return how many of the worlds to report on were learned from."""
    seen = {world.tobytes() for world in family.train.weights}
    return sum(world.tobytes() in seen for world in family.test.weights)


EIGHT = (
    *("alternating_gaps", "shifting_gaps", "forest", "mazes", "single_bugtrap", "multiple_bugtraps"),
    *("bugtrap_forest", "gaps_and_forest"),
)
SIZE = 101
"""Cells a side of what is drawn here; pictures have 201."""
GENERATED = {
    **dict.fromkeys(("rooms", "slanted walls", "ponds", "zigzag"), True),
    **dict.fromkeys(EIGHT, False),
    **dict.fromkeys(("courtyards", "rivers", "fallen trunks"), False),
}
"""Whether rules were made with a family in view. Seeds are new: those from 100 on were used to make the rules."""
FIRST_SEED = 300
PUBLISHED = {"alternating_gaps": 0.039, "shifting_gaps": 0.104, "forest": 0.036, "mazes": 0.103}
"""The families with pictures, and mean rescaled expansions of SaIL (Choudhury et al. 2018) on its own test bed."""


def families(words: str | None = None, log: Callable[[str], Any] = print) -> Iterator[Family]:
    """Yield the families that can be made here, or those with these words in their names."""
    for seed, (name, rules) in enumerate(GENERATED.items(), start=FIRST_SEED):
        if words is None or words in name:
            yield generated(name, SIZE, seed, rules)
    for name in PUBLISHED:
        for given in (False, True):
            if words is None or words in f"{name}, pictures":
                try:
                    family = pictures(name, given)
                    if not given or copies(family):
                        yield family
                except MissingError as error:
                    log(f"{name}, pictures, are left out: {error}")


# ---------------------------------------------------------------- the recipe


def expansions(instances: rs.InstanceSet, rho: Any) -> float:
    """Return the mean over the set."""
    return float(rs.solve_many(instances, rho, algorithm="gbfs", budget=BUDGET).expanded.mean())


class Tried(NamedTuple):
    """Learned values, and how they were found."""

    name: str
    rho: np.ndarray
    validation: float
    seconds: float


def recipe(family: Family) -> list[Tried]:
    """Return what was tried, the best on the validation worlds first: closed forms, all rounds of ranking, bumps."""
    tried: list[Tried] = []

    def add(name: str, learner: rs.learners.Learner) -> Tried:
        began = time.process_time()
        rho = learner.fit(family.train).rho_
        seconds = time.process_time() - began
        tried.append(Tried(name, rho, expansions(family.validation, rho), seconds))
        return tried[-1]

    weights = rs.learners.MeanWeights
    mean = add("mean distance", rs.learners.MeanDistance())
    for penalty in (3, 10, 30, 100):
        add(f"soft {penalty}", weights(penalty=penalty))
    for penalty in (10, 100):
        add(f"soft {penalty}, blurred", weights(penalty=penalty, blur=2))
    ranked = [
        add(
            f"ranking from {start.name}",
            rs.learners.SelfImitatedRanking(start.rho, validation=family.validation, random_state=0),
        )
        for start in (mean, min(tried[1:], key=lambda one: one.validation))
    ]
    for start in (mean, min(ranked, key=lambda one: one.validation)):
        add(f"bumps after {start.name}", rs.learners.BumpSearch(start.rho, random_state=0))
    return sorted(tried, key=lambda one: one.validation)
