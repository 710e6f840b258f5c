"""Weights of today from a file: the command route, and the reader behind it."""

from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from support.commands import answer, city_with_names, run

COLUMNS = ("--columns", "tail=from,head=to,weight=seconds")


def write(path: Path, graph: rs.Graph, weights: np.ndarray, *, seed: int = 0, extra: str = "") -> list[int]:
    """Write the edges in another order, and return it."""
    order = np.random.default_rng(seed).permutation(graph.m).tolist()
    lines = [f"{graph.labels[graph.tail[e]]},{graph.labels[graph.head[e]]},{float(weights[e])!r}" for e in order]
    path.write_text("from,to,seconds\n" + "\n".join(lines) + "\n" + extra)
    return order


@pytest.fixture
def city(tmp_path: Path) -> Path:
    return city_with_names(tmp_path)


@pytest.mark.parametrize("factor", [1.0, 1.7, 0.5])
def test_route_takes_the_weights_of_today(capsys: pytest.CaptureFixture[str], city: Path, factor: float) -> None:
    trips = rs.InstanceSet.load(city / "trips")
    graph = trips.graph
    rng = np.random.default_rng(1)
    weights = factor * trips.weights[3] * rng.uniform(1, 1.2, graph.m)
    write(city / "today.csv", graph, weights)
    for source in ("x5", "x71", "x200"):
        words = ["route", city / "trips", "-m", city / "exact.npz", "--weights", city / "today.csv", *COLUMNS]
        code, out, err = run(capsys, *words, "--from", source, "--to", f"x{trips.goal}")
        expected = rs.astar(graph, weights, graph.vertex(source), trips.goal, np.zeros(graph.n))
        assert code == 0
        assert max(map(len, (line for line in out.splitlines() if "today.csv" not in line))) <= 80
        # Where roads are faster than in training, the answer is optimal all the same.
        assert err == ""
        found = {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in out.splitlines() if line[0] != " "}
        assert float(found["cost"]) == pytest.approx(expected.cost, rel=1e-5)
        assert (found["source"], found["target"]) == (source, f"x{trips.goal}")
        assert found["weights"] == str(city / "today.csv")
    # The order of the edges matters: in the order of the file, the weights would be others.
    other = rs.astar(graph, weights[write(city / "x.csv", graph, weights)], 5, trips.goal, np.zeros(graph.n))
    assert other.cost != pytest.approx(rs.astar(graph, weights, 5, trips.goal, np.zeros(graph.n)).cost)


def test_route_without_a_model(capsys: pytest.CaptureFixture[str], city: Path) -> None:
    graph = rs.InstanceSet.load(city / "trips").graph
    weights = np.random.default_rng(4).uniform(1, 9, graph.m)
    write(city / "today.csv", graph, weights)
    words = ["route", city / "trips", "--weights", city / "today.csv", *COLUMNS, "--from", "x5", "--to", "x9"]
    found = answer(capsys, *words)
    expected = rs.astar(graph, weights, 5, 9, np.zeros(graph.n))
    assert found["cost"] == expected.cost
    assert found["path"] == [f"x{v}" for v in expected.path]


def test_edges_that_today_lacks(capsys: pytest.CaptureFixture[str], city: Path) -> None:
    trips = rs.InstanceSet.load(city / "trips")
    graph, today = trips.graph, city / "today.csv"
    order = write(today, graph, trips.weights[0])
    lines = today.read_text().splitlines()
    closed, empty = order[6], order[9]
    ends = lines[10].rsplit(",", 1)[0]
    today.write_text("\n".join([*lines[:7], *lines[8:10], f"{ends},", *lines[11:], "x0,nowhere,3", "x1,x1,2"]) + "\n")
    words = ["route", city / "trips", "--weights", today, *COLUMNS, "--from", "x5", "--to", "x9"]
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    first = sorted([(closed, "no row"), (empty, "line 10")])
    names = [f"'x{graph.tail[e]}' -> 'x{graph.head[e]}' ({where})" for e, where in first]
    assert err.startswith(f"rhostar: {today}: 2 of {graph.m} weights are missing: {', '.join(names)}; set missing (--m")
    filled = {
        "closed": (np.inf, "closed"),
        "last": (trips.weights[-1, [closed, empty]], "as in the snapshot before"),
        "median": (np.median(trips.weights[:, [closed, empty]], axis=0), "the median of the edge"),
    }
    for policy, (values, said) in filled.items():
        found = answer(capsys, *words, "--missing", policy)
        weights = trips.weights[0].copy()
        weights[[closed, empty]] = values
        # The router adds the weights in another order.
        expected = rs.astar(graph, weights, 5, 9, np.zeros(graph.n)).cost
        assert found["cost"] == pytest.approx(expected, rel=1e-14)
        assert found["missing_weights"] == f"2 of {graph.m}: {said}"
        assert found["edges_not_in_the_set"] == "1, not used"
        with pytest.warns(rs.errors.RhostarWarning, match="ignored 1 edge of the table, not in the graph"):
            row = rs.datasets.read_snapshot(
                today, graph, tail="from", head="to", weight="seconds", missing=policy, history=trips.weights
            )
        assert (row == weights).all()


@pytest.mark.parametrize(
    ("text", "words", "complaint"),
    [
        ("from,to,seconds\nx0,x1,fast\n", [], "today.csv, line 2: weight must be a number, got 'fast'"),
        ("from,to,seconds\nx0,x1,-4\n", [], "today.csv, line 2: weight must be a non-negative number"),
        ("tail,head,weight\nx0,x1,4\n", [], "the column 'from' is missing"),
        ("from,to,seconds\n4,5,1\n", [], "has no edge of the graph; its vertices are 4, 5, and those of the graph x0"),
        ("from,to,seconds\n", [], "the table has no rows"),
        ("from,to,seconds\nx0,x0,1\nx1,x0,3\n", [], "no edge of the graph, though it has vertices of it; are tail"),
        (
            "from,to,seconds,snapshot\nx{0},x{1},4,8:00\nx{0},x{1},5,9:00\n",
            ["--missing", "last"],
            "expected one snapshot, got 2: 8:00, 9:00; say which with time",
        ),
        ("from,to,seconds\nx0,x1,4\n", ["--missing", "zero"], "missing must be one of error, closed, last, median"),
    ],
)
def test_what_route_refuses(
    capsys: pytest.CaptureFixture[str], city: Path, text: str, words: list[str], complaint: str
) -> None:
    graph = rs.InstanceSet.load(city / "trips").graph
    assert graph.edge_index([1], [0], missing=-1) == -1
    (city / "today.csv").write_text(text.format(graph.tail[0], graph.head[0]))
    asked = ["route", city / "trips", "--from", "x5", "--to", "x9", "--weights", city / "today.csv"]
    code, out, err = run(capsys, *asked, *COLUMNS, *words)
    assert (code, out, complaint in err) == (2, "", True), err


def test_options_of_a_table_need_one(capsys: pytest.CaptureFixture[str], city: Path) -> None:
    for words in (COLUMNS, ("--missing", "last")):
        code, _, err = run(capsys, "route", city / "trips", "--from", "x5", "--to", "x9", *words)
        assert (code, "--columns and --missing are about the table of --weights" in err) == (2, True)
