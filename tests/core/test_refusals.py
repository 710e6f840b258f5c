"""Bindings that are called past the Python side refuse what does not fit, and end at once if a stop is set.

Python looks at all arguments first, so no public function gets here: this is the second line of defense.
"""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar import _core
from rhostar._core import Status

GRAPH = rs.Graph.grid(4, 4, neighbors=8)
KERNEL, LENGTH = GRAPH._kernel, GRAPH.length
HIERARCHY = rs.Hierarchy(GRAPH)
TODAY = HIERARCHY.customize(LENGTH)._kernel
NOBODY = np.array([0, 99], dtype=np.int32)
ALL = np.arange(GRAPH.n, dtype=np.int32)
EDGE, WEIGHT = np.array([3]), np.array([2.0])
OTHER = rs.Graph.grid(2, 2)


def day(graph: rs.Graph) -> _core.TimeOfDay:
    return _core.TimeOfDay(np.array([0.0, 1.0]), np.inf, np.ones((2, graph.m)), None, None, None)


def links(graph: rs.Graph) -> _core.Links:
    data: list[Any] = [{} for _ in range(graph.m)]
    return _core.Links(graph.first_out, graph.head, data, list(range(graph.n)), False)


REFUSED: dict[str, Callable[[], Any]] = {
    "paths": lambda: TODAY.paths(NOBODY, NOBODY, None),
    "distances of nobody": lambda: TODAY.distances(99, None, False, np.inf, None),
    "distances to nobody": lambda: TODAY.distances(0, NOBODY, True, np.inf, None),
    "matrix": lambda: TODAY.matrix(ALL, NOBODY, None),
    "update": lambda: TODAY.updated(EDGE, np.ones(2), False, 9, None),
    "update in place": lambda: TODAY.update_in_place(EDGE, np.ones(2), False, 9, None),
    "dissect": lambda: KERNEL.dissect(np.ones((3, 2)), None, None),
    "another day": lambda: KERNEL.search_at(day(OTHER), 0, 1, 0.0, False, None, -1, None),
    "no time": lambda: KERNEL.search_at(day(GRAPH), 0, 1, np.nan, False, None, -1, None),
    "no goal": lambda: KERNEL.search_at(day(GRAPH), 0, 99, 0.0, False, None, -1, None),
    "explore": lambda: KERNEL.explore(LENGTH, None, 99, False, np.inf, None, 1, -1, None),
    "two networkx graphs": lambda: links(GRAPH).bidirectional("weight", links(OTHER), 0, 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    found = REFUSED[name]()
    assert getattr(found, "ending", found).status == Status.BAD_INPUT
    assert TODAY.distance(0, 3) == 3.0


def test_nobody_has_no_path() -> None:
    assert np.isnan(TODAY.path(0, 99).cost)
    assert np.isnan(TODAY.distance(-1, 0))


def test_arrays_of_other_lengths_raise() -> None:
    with pytest.raises(ValueError, match="weights do not fit"):
        KERNEL.cut(np.ones(3))
    with pytest.raises(TypeError, match="weights"):
        KERNEL.reaches(np.ones(3), 0)
    with pytest.raises(IndexError, match="goal"):
        KERNEL.reaches(None, 99)
    with pytest.raises(TypeError, match="10 arguments"):
        KERNEL.solve()
    with pytest.raises(ValueError, match="differ in shape"):
        _core.landmark_potential(np.ones((16, 2)), np.ones((16, 3)), 9.0, 1.0)


def test_parts_of_a_potential_must_fit_each_other() -> None:
    rank, rows, ranks = _core.guide_rows(TODAY)
    up, down, roundings, beyond, _ = _core.guide_lengths(TODAY, True)

    def made(*parts: Any) -> Any:
        return _core.hierarchy_potential(*parts, roundings, beyond, 1.0, entering)

    entering = None

    assert made(rank, rows, ranks, up, down) is not None
    assert made(rank, rows[:-1].copy(), ranks, up, down) is None
    assert made(rank, rows, ranks, up, down[:-1].copy()) is None
    assert made(rank, rows, ranks, up, down.astype(np.float64)) is None
    assert made(rank, rows, ranks, up.astype(np.int64), down.astype(np.int64)) is None
    assert made(np.zeros_like(rank), rows, ranks, up, down) is None  # not a permutation
    against = KERNEL.transpose()
    first, edge, usual = against.first_out, against.edge, np.ones(against.edge.size)
    entering = first, edge, usual
    assert made(rank, rows, ranks, up, down) is not None
    for damaged in ((first[1:].copy(), edge, usual), (first, edge, usual[1:].copy()), (first, edge + 1, usual)):
        entering = damaged
        assert made(rank, rows, ranks, up, down) is None


STOPPABLE: dict[str, Callable[[_core.Stop], Any]] = {
    "paths": lambda stop: TODAY.paths(ALL, ALL[::-1].copy(), stop),
    "values": lambda stop: _core.metric_potential("octile", np.ones((16, 2)), 1.0).values(ALL[:1], None, stop),
    "check weights": lambda stop: _core.check_weights(np.ones((3, GRAPH.m)), stop),
}


@pytest.mark.parametrize("name", STOPPABLE)
def test_a_stop_that_is_set_ends_the_call(name: str) -> None:
    stop = _core.Stop()
    assert STOPPABLE[name](stop).ending.status == Status.DONE
    stop.set()
    assert STOPPABLE[name](stop).ending.status == Status.STOPPED


def test_a_cycle_through_the_edges_of_a_networkx_graph_is_collected() -> None:
    class Mark:
        pass

    mark = Mark()
    made = _core.Links.__new__(_core.Links)  # older than its lists, so it is the first to be cleared
    data: list[Any] = [{"mark": mark} for _ in range(OTHER.m)]
    made.__init__(OTHER.first_out, OTHER.head, data, [0, 1, 2, 3], False)
    data[0]["links"] = made
    seen = weakref.ref(mark)
    del mark, data, made
    gc.collect()
    assert seen() is None
