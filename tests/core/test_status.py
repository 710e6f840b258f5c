"""The core's list of endings: what Python sees of it, and that every failure becomes one exception."""

import ast
import string
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar import _core
from rhostar import _failures as failures

STUB = Path(failures.__file__).with_name("_core.pyi")
OF_RUNS = (_core.Status.SOLVED, _core.Status.NO_PATH, _core.Status.BUDGET)


def stub_class(name: str) -> ast.ClassDef:
    return next(node for node in ast.parse(STUB.read_text()).body if getattr(node, "name", None) == name)


@pytest.mark.parametrize("enum", [_core.Status, _core.Event])
def test_the_stub_lists_what_the_core_has(enum) -> None:
    names = [node.targets[0].id for node in stub_class(enum.__name__).body if isinstance(node, ast.Assign)]
    assert names == [member.name for member in enum]


def test_the_stub_has_every_class_and_attribute() -> None:
    stub = {node.name: node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ClassDef)}
    classes = {name: kind for name, kind in vars(_core).items() if isinstance(kind, type)}
    assert set(classes) == {name for name in stub if not name.startswith("_")}
    for name, kind in classes.items():
        bases = [stub[base.id] for base in stub[name].bases if base.id in stub]
        fields = {
            node.target.id for one in (stub[name], *bases) for node in one.body if isinstance(node, ast.AnnAssign)
        }
        if fields:
            assert fields <= set(dir(kind)), name


@pytest.mark.parametrize("status", _core.Status, ids=lambda status: status.name)
def test_every_ending_has_a_message(status: _core.Status) -> None:
    assert status.message
    assert status.message == status.message.strip()
    assert all(name is None or name for _, name, _, _ in string.Formatter().parse(status.message)), "gaps have names"


def test_the_public_statuses_are_the_first_three() -> None:
    assert [status.name.lower() for status in OF_RUNS] == list(rs.search.Status)
    assert list(_core.Status)[:3] == list(OF_RUNS)


def ending(first_out: list[int], head: list[int]) -> _core.Ending:
    return _core.check(np.array(first_out, dtype=np.int32), np.array(head, dtype=np.int32))


def test_an_ending_says_what_and_where() -> None:
    failures.require_done(ending([0, 1, 1], [1]))
    bad = ending([0, 1, 1], [7])
    assert (bad.status, bad.at, bad.offender) == (_core.Status.BAD_HEAD, -1, 0)
    with pytest.raises(AttributeError):
        bad.offender = 1  # type: ignore[misc]
    with pytest.raises(rs.errors.GraphError, match=r"^here: head\[0\] is not a vertex: 7$"):
        failures.require_done(bad, "here: ", index=0, head=7)


def test_arguments_that_do_not_fit_end_with_bad_input() -> None:
    """The kernels never read out of bounds: what does not fit is an ending like any other."""
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    zero, rho = np.zeros(1, dtype=np.int32), np.zeros(3)
    options = _core.SearchOptions(False, True, -1)
    good, wrong = (_core.Instances(np.ones((1, m)), np.zeros(1, dtype=np.int64), zero, zero + 2) for m in (2, 5))
    kernel = graph._kernel
    assert kernel.touched(good, options, rho, None).ending.status is _core.Status.DONE
    found = [
        kernel.touched(wrong, options, rho, None),
        kernel.touched(good, options, np.zeros(2), None),
        kernel.spend(wrong, options, rho, 10, None),
        kernel.rank(good, options, rho, np.array([0], dtype=np.int32), np.array([1]), None),
        kernel.solve_many(good, options, [rho], zero + 1, [], [], zero[:0], None),
        kernel.optimal_paths(wrong, None),
        kernel.distances_to(np.ones(5), 0, None),
    ]
    endings = [one.ending for one in found]
    endings.append(kernel.solve(False, np.ones(5), 0, 2, rho, True, None, None, False, None))
    for one in endings:
        assert (one.status, one.at, one.offender) == (_core.Status.BAD_INPUT, -1, -1)
        with pytest.raises(rs.errors.InputError, match="do not fit"):
            failures.require_done(one)


def test_an_array_keeps_its_result_alive() -> None:
    graph = rs.Graph.grid(30, 30)
    distance = graph._kernel.distances_to(graph.length, 0, None).distance
    expected = distance.copy()
    for _ in range(50):
        graph._kernel.distances_to(graph.length, 5, None)
    assert (distance == expected).all()
