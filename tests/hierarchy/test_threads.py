"""Queries on many threads during updates: each answer belongs to one set of weights, whole."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rhostar as rs

ALWAYS = 2**62
"""Work after which updates customize in full: never."""

READERS = 6
UPDATES = 60


class Answers:
    """What each kind of query answers on each of several rows of weights."""

    def __init__(self, hierarchy: rs.Hierarchy, rows: np.ndarray) -> None:
        self.n = hierarchy.graph.n
        rng = np.random.default_rng(5)
        self.pairs = rng.integers(0, self.n, (8, 2)).tolist()
        self.some = rng.integers(0, self.n, 25)
        self.known = [self.ask(hierarchy.customize(row), kind) for row in rows for kind in range(4)]
        assert len(set(self.known)) == len(self.known)

    def ask(self, today: rs.hierarchy.CustomizedHierarchy, kind: int) -> bytes:
        (s, t), (u, v) = self.pairs[:2]
        match kind:
            case 0:
                found = today.path(s, t)
                return found.path.tobytes() + np.float64(found.cost).tobytes()
            case 1:
                return today.distances(u).tobytes()
            case 2:
                return today.distances_to(v, self.some).tobytes()
            case _:
                return today.matrix(self.some, self.some).tobytes()

    def rows_of(self, answer: bytes, kind: int) -> list[int]:
        return [k // 4 for k in range(kind, len(self.known), 4) if self.known[k] == answer]


def random_rows(graph: rs.Graph) -> np.ndarray:
    return np.random.default_rng(3).uniform(1, 9, (3, graph.m))


@pytest.mark.parametrize("most_work", [ALWAYS, 0])
def test_updates_in_place_are_seen_whole(most_work: int) -> None:
    graph = rs.datasets.city(1500, seed=0).graph
    hierarchy, rows = rs.Hierarchy(graph), random_rows(graph)
    answers = Answers(hierarchy, rows)
    today = hierarchy.customize(rows[0])
    today._most_work = most_work
    done = threading.Event()

    def read(reader: int) -> set[int]:
        seen: set[int] = set()
        kind = reader % 4
        while not done.is_set():
            found = answers.rows_of(answers.ask(today, kind), kind)
            assert len(found) == 1, "an answer of no single set of weights"
            seen.update(found)
        return seen

    with ThreadPoolExecutor(READERS) as pool:
        readers = [pool.submit(read, k) for k in range(READERS)]
        try:
            for k in range(UPDATES):
                today.update(np.arange(graph.m), rows[(k + 1) % 3], in_place=True)
        finally:
            done.set()
        assert set().union(*(reader.result() for reader in readers)) <= {0, 1, 2}
    assert answers.rows_of(answers.ask(today, 1), 1) == [UPDATES % 3]


def test_new_indices_never_change_under_their_readers() -> None:
    graph = rs.datasets.city(1500, seed=0).graph
    hierarchy, rows = rs.Hierarchy(graph), random_rows(graph)
    answers = Answers(hierarchy, rows)
    current = (hierarchy.customize(rows[0]), 0)
    done = threading.Event()

    def read(reader: int) -> int:
        asked = 0
        while not done.is_set() or not asked:
            today, row = current  # both at once
            for kind in range(4):
                assert answers.rows_of(answers.ask(today, kind), kind) == [row]
            asked += 1
        return asked

    with ThreadPoolExecutor(READERS) as pool:
        readers = [pool.submit(read, k) for k in range(READERS)]
        try:
            for k in range(UPDATES):
                row = (k + 1) % 3
                today, _ = current
                today._most_work = ALWAYS if k % 2 else 0
                fresh = hierarchy.customize(rows[row]) if k % 5 == 0 else today.update(np.arange(graph.m), rows[row])
                current = (fresh, row)
        finally:
            done.set()
        assert all(reader.result() > 0 for reader in readers)


def test_updates_in_place_from_several_threads_all_arrive() -> None:
    graph = rs.Graph.grid(20, 20)
    hierarchy = rs.Hierarchy(graph)
    today = hierarchy.customize(np.ones(graph.m))
    after = np.random.default_rng(0).integers(2, 50, graph.m).astype(float)

    def write(part: np.ndarray) -> None:
        for edge in part:
            today.update([edge], after[[edge]], in_place=True)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, np.array_split(np.random.default_rng(1).permutation(graph.m), 4)))
    assert today._kernel.lengths.tobytes() == hierarchy.customize(after)._kernel.lengths.tobytes()
