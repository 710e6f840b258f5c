"""``learn --max-excess``, ``--mean-excess``, ``--weight-bounds``: what it guarantees, and whether that holds."""

from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from support.commands import answer, run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of trips to a depot, with free-flow times in a table."""
    city = rs.datasets.city(300, seed=2)
    graph, drawn = city.graph, city.draw(200, seed=0)
    names = [f"x{v}" for v in range(graph.n)]
    graph = rs.Graph.from_edges(graph.n, graph.tail, graph.head, labels=names)
    rs.InstanceSet(graph, drawn.weights, drawn.sources, drawn.goal, rows=drawn.rows).save(tmp_path / "trips")
    rows = [f"x{t},x{h},{w!r}" for t, h, w in zip(graph.tail, graph.head, city.edge_bounds[0].tolist(), strict=True)]
    (tmp_path / "free.csv").write_text("tail,head,weight\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_the_default_is_exact_and_certain(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    model = folder / "exact.npz"
    found = answer(capsys, "learn", folder / "trips", "-o", model, "--weight-bounds", folder / "free.csv")
    assert found["guarantee"].startswith("every answer of A* is optimal.")
    assert "no weight is below the bounds in free.csv" in found["guarantee"]
    assert "edges_without_a_bound" not in found
    instances, loaded = rs.InstanceSet.load(folder / "trips"), rs.Model.load(model)
    runs, optimum = rs.solve_many(instances, loaded), rs.solve_many(instances, np.zeros(instances.graph.n))
    assert np.allclose(runs.cost, optimum.cost)
    assert runs.expanded.sum() < optimum.expanded.sum() / 2
    _, out, err = run(capsys, "certify", folder / "trips", "-m", model, "-u", "suboptimality", "-H", 10)
    said = " ".join(out.split())
    assert err == ""
    assert said.startswith(
        'Every answer of A* to goal "x144" with reopening and these values, which each search lowers'
    )
    assert "is the best route, to within" in said
    assert said.endswith("as long as no answer costs more than 10,000. All bounds and conditions: --full")
    # The same words would be false of values that overestimate.
    rs.Model.of(rs.learners.MeanDistance().fit(instances[:100]), instances.graph).save(folder / "bold.npz")
    out = run(capsys, "certify", folder / "trips", "-m", folder / "bold.npz", "-u", "suboptimality", "-H", 10)[1]
    assert "is the best route" not in out


def test_bounds_from_the_data_say_if(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    model, trips = folder / "data.npz", folder / "uneven"
    instances = rs.InstanceSet.load(folder / "trips")
    weights = instances.weights * np.random.default_rng(0).uniform(1, 1.2, instances.weights.shape)
    instances = rs.InstanceSet(instances.graph, weights, instances.sources, instances.goal, rows=instances.rows)
    instances.save(trips)
    found = answer(capsys, "learn", trips, "-o", model, "--weight-bounds", "from-data")
    assert "Values hold if no weight is below the lowest in the training set" in found["guarantee"]
    code, out, err = run(capsys, "certify", trips, "-m", model, "-u", "suboptimality", "-H", 10)
    # Unseen trips have weights below the lowest that were seen: searches see to it, and certify says what they do.
    assert (instances.weights < rs.Model.load(model).heuristic.lower).any()
    assert (code, err) == (0, "")
    assert out.startswith('Every answer of A* to goal "x144" with reopening and these values, which each')
    methods = answer(capsys, "evaluate", trips, "-m", model)["methods"]
    assert methods[-1]["excess_max"] < 1e-9, "learn, evaluate and certify agree"
    runs, optimum = (rs.solve_many(instances, rho) for rho in (rs.Model.load(model), np.zeros(instances.graph.n)))
    assert np.allclose(runs.cost, optimum.cost), "and the answers are optimal all the same"


def test_shares(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    model, trips = folder / "m.npz", folder / "trips"
    found = answer(capsys, "learn", trips, "-o", model, "--mean-excess", "1%")
    assert found["guarantee"].startswith("none: 1% above the optimum on average is a target")
    assert rs.Model.load(model).heuristic.lower is None
    found = answer(capsys, "learn", trips, "-o", model, "--mean-excess", "inf", "--effort", "quick", "--force")
    assert found["guarantee"].startswith("none about costs")
    found = answer(capsys, "learn", trips, "-o", model, "--max-excess", "0.1", "--force")
    assert found["guarantee"].startswith(
        "every path of A* costs at most 10% more than the optimum, if no weight is below"
    )
    found = answer(capsys, "learn", trips, "-o", model, "-a", "gbfs", "--effort", "quick", "--force")
    assert found["guarantee"].startswith("none about costs")


def test_notes_are_printed(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    rs.InstanceSet.load(folder / "trips")[:4].save(folder / "few")
    few = ("learn", folder / "few", "-o", folder / "m.npz", "--mean-excess", "1%", "--fraction", 1)
    code, _, err = run(capsys, *few)
    assert code == 0
    assert "nothing faster than exact values keeps a mean excess of 0.01" in " ".join(err.split())
    code, _, err = run(capsys, *few, "--time-limit", 0.1, "--force")
    assert code == 0


def test_tables_of_bounds(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    trips, table = folder / "trips", folder / "some.csv"
    lines = (folder / "free.csv").read_text().splitlines()
    table.write_text("\n".join([*lines[:-3], "x0,nowhere,5"]) + "\n")
    found = answer(capsys, "learn", trips, "-o", folder / "m.npz", "--weight-bounds", table)
    assert found["edges_without_a_bound"] == f"3 of {len(lines) - 1:,}, taken as 0"
    assert found["bounds_for_other_edges"] == "1, not used"
    assert (rs.Model.load(folder / "m.npz").heuristic.consistent_for == 0).sum() == 3
    high = folder / "high.csv"  # the first edge has a bound above weights that were seen
    high.write_text("\n".join([lines[0], lines[1].rpartition(",")[0] + ",500", *lines[2:]]) + "\n")
    code, _, err = run(capsys, "learn", trips, "-o", folder / "h.npz", "--weight-bounds", high)
    assert (code, "--weight-bounds FILE,from-data" in err) == (2, True)
    found = answer(capsys, "learn", trips, "-o", folder / "h.npz", "--weight-bounds", f"{high},from-data")
    assert found["bounds_lowered"] == f"1 of {len(lines) - 1:,}, to the lowest weight in the training set"
    assert "bounds in high.csv, or the lowest in the training set" in found["guarantee"]
    found = answer(capsys, "learn", trips, "-o", folder / "n.npz", "--weight-bounds", "0,60")
    assert (rs.Model.load(folder / "n.npz").heuristic.consistent_for == 0).all()
    for k, bounds in enumerate(("0,60", table)):
        answer(capsys, "learn", trips, "-o", folder / f"any{k}.npz", "--any-goal", "--weight-bounds", bounds)
        kept = rs.Model.load(folder / f"any{k}.npz").heuristic.consistent_for
        assert kept is not None
        assert (kept == 0).sum() == (kept.size, 3)[k]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--weight-bounds", "nothing.csv"], "'nothing.csv' is not a file, not two numbers, and not from-data"),
        (["--weight-bounds", "1,2,3"], "'1,2,3' is not a file"),
        (["--weight-bounds", "1000,2000"], "edges have training weights below lower"),
        (
            ["--weight-bounds", "{folder}/other.csv"],
            "has no edge of the graph; its vertices are 1, 2, and those of the graph x0, x1, x2, ...",
        ),
        (["--weight-bounds", "{folder}/short.csv"], "the column 'tail' is missing; the table has a, b"),
        (["--mean-excess", "little"], "--mean-excess must be a share such as 1% or 0.01, got 'little'"),
        (["--max-excess", "-1%"], "--max-excess must be a share such as 1% or 0.01, got '-1%'"),
        (["--max-excess", "0", "-a", "gbfs"], "greedy search ignores what a path costs"),
        (["--mean-excess", "1%", "--max-excess", "1%"], "max_excess and mean_excess cannot be combined"),
        (["--mean-excess", "1%", "--weight-bounds", "0,1"], "lower belongs to max_excess"),
        (
            ["--mean-excess", "1%", "--effort", "much"],
            "'much' is not one of 'quick', 'normal', 'thorough'",
        ),
        (["-l", "MeanDistance", "--mean-excess", "1%"], "--learner MeanDistance has its own parameters"),
    ],
)
def test_what_fit_refuses(capsys: pytest.CaptureFixture[str], folder: Path, words: list[str], complaint: str) -> None:
    (folder / "other.csv").write_text("tail,head,weight\n1,2,3\n")
    (folder / "short.csv").write_text("a,b\n1,2\n")
    given = [word.format(folder=folder) for word in words]
    code, out, err = run(capsys, "learn", folder / "trips", "-o", folder / "m.npz", *given)
    assert (code, out) == (2, "")
    assert complaint in err
    assert not (folder / "m.npz").exists()


def test_nothing_is_overwritten(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    model = folder / "m.npz"
    model.write_text("mine")
    code, _, err = run(capsys, "learn", folder / "trips", "-o", model)
    assert code == 2
    assert "--force" in err
    assert model.read_text() == "mine"


def test_a_quantile_needs_no_limit(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    model, trips = folder / "m.npz", folder / "trips"
    answer(capsys, "learn", trips, "-o", model, "-l", "MeanDistance")
    words = ("certify", trips, "-m", model, "-u", "suboptimality", "--quantile", 0.9)
    free = answer(capsys, *words)
    assert free["rows"] == answer(capsys, *words, "-H", 10)["rows"]
    assert free["summary"].startswith("At least 90% of the answers of A*")
    assert "needs a limit" in run(capsys, *words[:-2])[2]


def test_days_as_groups(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    graph, rng = rs.Graph.grid(5, 5), np.random.default_rng(0)
    weights, days = rng.uniform(1, 2, (60, graph.m)), np.arange(60) // 2
    rs.InstanceSet(graph, weights, 0, 24, days=days).save(tmp_path / "set")
    answer(capsys, "learn", tmp_path / "set", "-o", tmp_path / "m.npz", "-l", "MeanDistance")
    words = ["certify", tmp_path / "set", "-m", tmp_path / "m.npz", "-u", "suboptimality", "-H", 3]
    loaded, instances = rs.Model.load(tmp_path / "m.npz"), rs.InstanceSet.load(tmp_path / "set")
    held = instances[~loaded.heuristic.trained_on.among(instances)]
    words.append("--full")
    said = " ".join(run(capsys, *words, "--groups", "day")[1].split())
    assert f"over the draw of the {np.unique(held.days[held.rows]).size} " in said
    assert f"over the draw of the {len(held)} instances" in " ".join(run(capsys, *words, "--groups", "none")[1].split())
    assert "'hour' is not one of 'day', 'none'" in run(capsys, *words, "--groups", "hour")[2]
    rs.InstanceSet(graph, weights, 0, 24).save(tmp_path / "set")
    assert "have no time stamps" in run(capsys, *words, "--groups", "day")[2]


def test_a_mean_excess_with_confidence(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    model, trips = folder / "m.npz", folder / "trips"
    words = ("learn", trips, "-o", model, "--mean-excess", "5%", "--confidence", 0.9, "--effort", "quick")
    found = answer(capsys, *words)
    assert found["guarantee"].startswith("With 90% confidence over the draw of the ")
    assert "has a mean loss of at most 5%" in found["guarantee"]
    assert "a loss above 100% counts as 100%" in found["guarantee"]
    assert answer(capsys, "info", model)["guarantee"].startswith("with 90% confidence paths of A* cost at most 5% more")
    code, _, err = run(capsys, *words[:4], "--mean-excess", "1%", "--confidence", 0.95, "--force")
    assert code == 2
    assert "needs about 375" in err
    code, _, err = run(capsys, "learn", trips, "-o", model, "--confidence", 0.95, "--force")
    assert code == 2
    assert "--confidence needs --mean-excess" in err
