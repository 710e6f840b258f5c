"""Building and customizing: progress, and after Ctrl-C or a stop the old state."""

import numpy as np
import pytest

import rhostar as rs
from rhostar import _core
from rhostar._core import Status
from rhostar.hierarchy._order import elimination_order
from support.failures import ctrl_c


def stopped() -> _core.Stop:
    stop = _core.Stop()
    stop.set()
    return stop


def bits(today: rs.hierarchy.CustomizedHierarchy) -> bytes:
    return today._kernel.lengths.tobytes()


@pytest.fixture(scope="module")
def grid() -> rs.Graph:
    return rs.Graph.grid(120, 120, neighbors=8)  # large enough for customizing to ask whether it should stop


def test_reports_rise_to_one() -> None:
    shares: list[float] = []
    graph = rs.datasets.city(20_000, seed=0).graph
    assert graph._kernel.dissect(graph.coordinates, shares.append, None).ending.status is Status.DONE
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] == 1.0
    one = rs.Graph([0, 0], [])
    one._kernel.dissect(None, shares.append, None)
    assert shares[-1] == 1.0


def test_an_error_in_a_report_is_passed_on() -> None:
    graph = rs.Graph.grid(3, 3)

    def fail(share: float) -> None:
        raise ValueError(f"at {share}")

    with pytest.raises(ValueError, match=r"at 1\.0"):
        graph._kernel.dissect(None, fail, None)


def test_a_bar_is_shown_if_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    rs.Hierarchy(rs.Graph.grid(30, 30))
    assert capsys.readouterr().err == ""
    rs.Hierarchy(rs.Graph.grid(30, 30), verbose=1)
    shown = capsys.readouterr().err
    assert "Order of 900 vertices" in shown
    assert "100%" in shown


def test_a_stopped_order_is_not_kept(grid: rs.Graph) -> None:
    graph = rs.Graph(grid.first_out, grid.head)
    assert graph._kernel.dissect(None, None, stopped()).ending.status is Status.STOPPED
    order = elimination_order(graph)
    assert graph._kernel.skeleton_parts(order, 10**9, 10**12, stopped()).ending.status is Status.STOPPED
    assert sorted(order.tolist()) == list(range(graph.n))


def test_ctrl_c_while_vertices_are_put_in_order() -> None:
    graph = rs.Graph.grid(1200, 1200, neighbors=8)
    with pytest.raises(KeyboardInterrupt), ctrl_c():
        rs.Hierarchy(graph, memory_limit=10**12)  # whole, it takes half a minute
    assert graph._elimination_order is None
    assert graph._hierarchy is None


def test_stopped_customizing_leaves_the_old_weights(grid: rs.Graph) -> None:
    hierarchy = rs.Hierarchy(grid)
    rng = np.random.default_rng(0)
    weights, others = rng.uniform(1, 2, (2, grid.m))
    today = hierarchy.customize(weights)
    before = bits(today)
    edges = np.arange(grid.m)
    assert hierarchy._kernel.customize(others, stopped()).ending.status is Status.STOPPED
    assert today._kernel.update_in_place(edges, others, False, 0, stopped()).status is Status.STOPPED
    assert today._kernel.updated(edges, others, False, 0, stopped()).ending.status is Status.STOPPED
    assert bits(today) == before
    assert today.distances(5)[-1] == hierarchy.customize(weights).distances(5)[-1]
    assert bits(today.update(edges, others)) == bits(hierarchy.customize(others))  # memory was used again


def test_ctrl_c_while_customizing(grid: rs.Graph) -> None:
    hierarchy = rs.Hierarchy(grid)
    rng = np.random.default_rng(1)
    rows = rng.uniform(1, 2, (2, grid.m))
    edges = np.arange(grid.m)
    today = hierarchy.customize(rows[0])
    today._most_work = 0

    def update_for_long() -> None:
        for k in range(20_000):
            today.update(edges, rows[k % 2], in_place=True)

    with pytest.raises(KeyboardInterrupt), ctrl_c(0.3):
        update_for_long()
    assert bits(today) in {bits(hierarchy.customize(row)) for row in rows}
