"""The command line: every command, its exit codes, and one clear line for whatever goes wrong."""

import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli.main import _notes, main
from rhostar.datasets import _formats
from support.commands import answer, run
from support.failures import no_space


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved set, a model fitted on a part of it, and a set on another graph."""
    home = tmp_path_factory.mktemp("cli")
    graph = rs.Graph.grid(6, 7)
    weights = np.random.default_rng(0).integers(1, 9, size=(60, graph.m)).astype(float)
    rs.InstanceSet(graph, weights, sources=np.arange(30).repeat(2), goal=41).save(home / "set")
    other = rs.Graph.grid(7, 6)
    rs.InstanceSet(other, other.length, sources=[0, 1], goal=41).save(home / "other")
    assert main(["learn", str(home / "set"), "-o", str(home / "model.npz"), "-l", "MeanDistance", "--json"]) == 0
    (home / "edges.csv").write_text("tail,head,weight\na,b,1\nb,c,2\nc,a,3\nc,d,1\n")
    return home


# ---------------------------------------------------------------- what commands do


def test_import_and_info(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    found = answer(capsys, "import", data / "edges.csv", "-o", tmp_path / "set", "-n", 50, "--goal", "d", "--seed", 3)
    assert (found["instances"], found["vertices"], found["edges"], found["goals"]) == (50, 4, 4, ["d"])
    shown = answer(capsys, "info", tmp_path / "set")
    assert {key: found[key] for key in shown} == shown
    code, out, _ = run(capsys, "info", data / "model.npz")
    assert code == 0
    assert "MeanDistance" in out
    assert "42 unseen" not in out
    assert answer(capsys, "info", data / "model.npz")["learned_from"] == 42


@pytest.mark.parametrize(
    ("files", "n"),
    [
        (["roads/rome99.gr"], 3353),
        (["movingai/room-64-64-8.map"], 4096),
        (["roads/TG.cnode.txt", "roads/TG.cedge.txt"], 18263),
        (["metr_la/metr_la_week.npz"], 195),
    ],
    ids=["dimacs", "map", "nodes", "metr-la"],
)
def test_import_reads_real_files(capsys: pytest.CaptureFixture[str], tmp_path: Path, files: list[str], n: int) -> None:
    home = os.environ.get("RHOSTAR_DATA")
    if not home:
        pytest.skip("RHOSTAR_DATA names no folder with real data")
    found = answer(capsys, "import", *(Path(home) / f for f in files), "-o", tmp_path / "set", "-n", 20)
    assert found["vertices"] == n
    assert found["instances"] == 20


def test_fit_takes_parameters_and_splits(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.npz"
    found = answer(
        capsys, "learn", data / "set", "-o", out, "-l", "MeanDistance", "-s", "statistic=min", "--fraction", 0.5
    )
    assert (found["learned_from"], found["unseen"]) == (30, 30)
    model = rs.Model.load(out)
    assert model.parameters["statistic"] == "min"
    instances = rs.InstanceSet.load(data / "set")
    train = instances.split(0.5, 0)[0]
    assert np.array_equal(model.heuristic.values, rs.learners.MeanDistance(statistic="min").fit(train).rho_)
    assert (
        answer(capsys, "learn", data / "set", "-o", out, "-l", "MeanDistance", "--fraction", 1, "--force")["unseen"]
        == 0
    )
    code, _, err = run(capsys, "evaluate", data / "set", "-m", out)
    assert code == 2
    assert "all 60 instances were learned from" in err
    assert run(capsys, "evaluate", data / "set", "-m", out, "--all")[0] == 0


def test_route_finds_what_the_library_finds(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    instances = rs.InstanceSet.load(data / "set")
    graph, weights, *_ = instances[9]
    found = answer(capsys, "route", data / "set", "--snapshot", instances.rows[9], "--from", "0,3", "--to", "12")
    expected = rs.astar(graph, weights, 3, 12, np.zeros(graph.n))
    assert (found["cost"], found["path"][0], found["path"][-1]) == (expected.cost, 3, 12)
    assert answer(capsys, "route", data / "set", "--snapshot", 0, "--from", "4", "--to", "4")["cost"] == 0


def test_exit_codes_tell_what_happened(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2])
    rs.InstanceSet(graph, [1.0, 1.0], [0], 2).save(tmp_path / "line")
    assert run(capsys, "route", tmp_path / "line", "--from", "0", "--to", "2")[0] == 0
    code, out, err = run(capsys, "route", tmp_path / "line", "--from", "2", "--to", "0")
    assert (code, err) == (1, "")
    assert "\ncost      inf\n" in out
    code, out, err = run(capsys, "route", tmp_path / "line", "--from", "2", "--to", "0", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)["cost"] is None


def test_evaluate_counts_as_the_library_does(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    instances, model = rs.InstanceSet.load(data / "set"), rs.Model.load(data / "model.npz")
    test = instances[~np.isin(instances.indices, model.heuristic.trained_on.indices)]
    found = answer(capsys, "evaluate", data / "set", "-m", f"mine={data / 'model.npz'}", "-b", "zero", "-b", "octile")
    assert found["instances"] == len(test) == 18
    assert [m["name"] for m in found["methods"]] == ["Dijkstra", "octile", "mine"]
    assert found["methods"][2]["expansions"] == rs.solve_many(test, model.heuristic.values).expanded.mean()
    assert found["methods"][1]["excess_max"] == 0  # scaled so that it never overestimates
    excess = rs.solve_many(test, model.heuristic.values).cost / rs.solve_many(test, np.zeros(42)).cost - 1
    quantile = np.quantile(excess, 0.99, method="inverted_cdf")
    shares = [found["methods"][2][key] for key in ("excess", "excess_99", "excess_max")]
    assert shares == pytest.approx([excess.mean(), quantile, excess.max()])


def test_the_table_of_evaluate_has_the_tail_and_fits_the_screen(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    graph = rs.Graph.grid(7, 7)
    instances = rs.InstanceSet(graph, np.random.default_rng(0).uniform(1, 4, size=(300, graph.m)), 0, 48)
    instances.save(tmp_path / "set")
    train, test = instances.split(0.5, 0)
    rho = rs.learners.MeanDistance().fit(train).rho_
    answer(capsys, "learn", tmp_path / "set", "-o", tmp_path / "a.npz", "-l", "MeanDistance", "--fraction", 0.5)
    words = ("evaluate", tmp_path / "set", "-m", f"a long name={tmp_path / 'a.npz'}", "-b", "zero")
    code, out, _ = run(capsys, *words)
    first, head, *rows = out.splitlines()
    assert (code, first) == (0, "150 unseen instances; A*")
    assert head.split() == ["heuristic", "expanded", "fewer", "ms", "excess", "%", "99", "%", "worst"]
    excess = rs.solve_many(test, rho).cost / rs.solve_many(test, np.zeros(49)).cost - 1
    high = np.quantile(excess, 0.99, method="inverted_cdf")
    assert 0 < excess.mean() < high < excess.max()
    shown = [float(word) for word in rows[1].split()[-3:]]
    assert shown == pytest.approx([100 * excess.mean(), 100 * high, 100 * excess.max()], rel=1e-3)

    answer(capsys, "learn", tmp_path / "set", "-o", tmp_path / "g.npz", "-l", "SelfImitatedRanking", "-a", "gbfs")
    both = (*words, "-m", f"greedy={tmp_path / 'g.npz'}", "-b", "euclidean", "--no-reopen", "--all", "--budget", 40)
    code, out, _ = run(capsys, *both)
    first, head, *rows = out.splitlines()
    assert code == 0
    assert first == "300 instances, learned from or not; A* without reopening and greedy search"
    assert (head.split()[1], head.split()[-1]) == ("search", "solved")
    assert [row[head.index("search") :].split()[0] for row in rows] == ["A*", "A*", "A*", "greedy"]
    assert max(map(len, out.splitlines())) <= 80


def test_certify_refuses_copies_of_what_the_model_was_learned_from(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    instances, model = rs.InstanceSet.load(data / "set"), rs.Model.load(data / "model.npz")
    weights = instances.weights.astype(np.float32)
    rs.InstanceSet(instances.graph, weights, instances.sources, instances.goals).save(tmp_path / "again")
    words = ("-m", data / "model.npz", "-u", "suboptimality", "-H", 20)
    code, out, err = run(capsys, "certify", tmp_path / "again", *words)
    assert (code, out) == (2, "")
    assert "holdout must be untouched" in err
    assert "42 of its" in err
    # Commands that only measure leave the copies out.
    assert answer(capsys, "evaluate", tmp_path / "again", "-m", data / "model.npz")["instances"] == 18
    assert options.parts(rs.InstanceSet.load(tmp_path / "again"), model)[0] is None
    code, _, err = run(capsys, "certify", tmp_path / "again", *words, "--duplicates", "keep")
    assert (code, "'keep' is not one of 'raise', 'drop'" in err) == (2, True)


def test_a_second_import_with_the_same_seed_is_the_same_draw(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    """A draw is named by its file, number and seed: training instances are known for what they are."""
    for name, seed in (("first", 0), ("second", 0), ("other", 1)):
        answer(capsys, "import", data / "edges.csv", "-o", tmp_path / name, "-n", 50, "--goal", "d", "--seed", seed)
    model = tmp_path / "model.npz"
    answer(capsys, "learn", tmp_path / "first", "-o", model, "-l", "MeanDistance")
    words = ("-m", model, "-u", "suboptimality", "-H", 20)
    first, second = (answer(capsys, "certify", tmp_path / name, *words) for name in ("first", "second"))
    assert second == first
    fitted = rs.Model.load(model)
    sets = [rs.InstanceSet.load(tmp_path / name) for name in ("first", "second", "other")]
    assert [fitted.heuristic.trained_on.overlap(found) for found in sets] == [35, 35, 0]


def test_bounds_plans_for_every_rho(capsys: pytest.CaptureFixture[str]) -> None:
    of = ("-a", "astar", "--integer-weights", 10)
    assert answer(capsys, "bounds", "-n", 207, *of)["value"] == rs.pseudo_dimension(207, integer_weights=10).upper
    samples = answer(capsys, "bounds", "-n", 50, *of, "-e", 0.1, "-d", 0.05)["value"]
    expected = rs.sample_size(n=50, integer_weights=10, epsilon=0.1, delta=0.05, limit=1.0)
    assert samples == expected.best
    accuracy = answer(capsys, "bounds", "-n", 50, *of, "-N", samples, "-d", 0.05)["value"]
    assert accuracy <= 0.1
    assert accuracy == rs.deviation(n=50, integer_weights=10, samples=samples, delta=0.05, limit=1.0).best
    code, out, _ = run(capsys, "bounds", "-n", 50, "-a", "gbfs", "-e", 0.1)
    assert code == 0
    assert "Gp" in out


def test_bounds_plans_a_holdout(capsys: pytest.CaptureFixture[str]) -> None:
    of = ("bounds", "--holdout", "-H", 1, "-e", 0.05)
    found = answer(capsys, *of, "--mean", 0.1)
    assert found["samples"] == rs.bounds.holdout_size(limit=1.0, epsilon=0.05, mean=0.1).samples
    assert (found["unknown"], found["delta"], found["extrapolated"]) == ("holdout", 0.05, False)
    guessed = answer(capsys, *of, "--mean", 0.1, "-d", 1e-12, "--assurance", 0.5)
    assert (
        guessed["samples"]
        == rs.bounds.holdout_size(limit=1.0, epsilon=0.05, mean=0.1, delta=1e-12, assurance=0.5).samples
    )
    code, out, _ = run(capsys, *of, "--mean", 0.1, "-d", 1e-12, "--assurance", 0.5)
    assert (code, out.count(str(guessed["samples"]))) == (0, 1)
    assert "delta = 1e-12" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


def test_certify_guarantees_and_keeps_it_in_the_model(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model = tmp_path / "m.npz"
    model.write_bytes((data / "model.npz").read_bytes())
    instances, fitted = rs.InstanceSet.load(data / "set"), rs.Model.load(model)
    seen = np.isin(instances.indices, fitted.heuristic.trained_on.indices)
    utility = rs.utilities.Suboptimality(20.0)
    words = ("certify", data / "set", "-m", model, "-u", "suboptimality", "-H", 20)
    every = rs.certify_training(fitted, instances[seen], utility, integer_weights=8)
    on_train = answer(capsys, *words, "--training", "--integer-weights", 8)
    assert on_train["rows"] == json.loads(every.to_json())["rows"]
    assert "--integer-weights is about the instances learned from" in run(capsys, *words, "--integer-weights", 8)[2]
    assert "--quantile is about a holdout" in run(capsys, *words, "--training", "--quantile", 0.9)[2]
    expected = rs.certify(fitted, instances[~seen], utility)
    assert answer(capsys, *words)["rows"] == json.loads(expected.to_json())["rows"]
    code, out, _ = run(capsys, *words, "--save")
    assert code == 0
    assert expected.summary in " ".join(out.split())
    assert "H4" not in out
    in_full = " ".join(run(capsys, *words, "--full")[1].split())
    assert expected.summary in in_full
    assert expected.best.sentence in in_full
    kept = rs.Model.load(model)
    assert np.array_equal(kept.heuristic.values, fitted.heuristic.values)
    assert kept.certificate["rows"] == json.loads(expected.to_json())["rows"]
    out = run(capsys, "info", model)[1]
    assert expected.summary in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    page = tmp_path / "page.html"
    answer(capsys, "report", data / "set", "-m", model, "-o", page, "--scenes", 0)
    assert "What is guaranteed" in page.read_text()
    assert "“model”" not in page.read_text().split("What is guaranteed")[1]
    other = ["-m", f"plain={data / 'model.npz'}"]
    answer(capsys, "report", data / "set", *other, "-m", f"sure={model}", "-o", page, "--scenes", 0, "--force")
    guaranteed = page.read_text().split("What is guaranteed")[1]
    assert "“sure”: On average" in guaranteed, "a guarantee says which of several models it is about"
    rs.Model.load(data / "model.npz").with_certificate(kept.certificate).save(tmp_path / "two.npz")
    other[1] = f"plain={tmp_path / 'two.npz'}"
    answer(capsys, "report", data / "set", *other, "-m", f"sure={model}", "-o", page, "--scenes", 0, "--force")
    guaranteed = page.read_text().split("What is guaranteed")[1]
    assert guaranteed.index("“plain”: On average") < guaranteed.index("“sure”: On average")


def test_certify_takes_what_bounds_for_every_rho_cannot_use(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model = tmp_path / "m.npz"
    answer(capsys, "learn", data / "set", "-o", model, "-l", "Portfolio")
    found = answer(capsys, "certify", data / "set", "-m", model, "-u", "suboptimality", "-H", 20)
    assert found["rows"][0]["label"].startswith("H4")


def test_fit_resumes(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    parts, out = tmp_path / "parts", tmp_path / "m.npz"
    fit = ("learn", data / "set", "-o", out, "-l", "MeanDistance", "--resume", parts)
    answer(capsys, *fit)
    whole = {path.name: path.stat().st_mtime_ns for path in parts.iterdir()}
    assert len(whole) > 1
    gone = sorted(whole)[0]
    (parts / gone).unlink()  # as if the process had been killed before it
    answer(capsys, *fit, "--force")
    again = {path.name: path.stat().st_mtime_ns for path in parts.iterdir()}
    assert again.keys() == whole.keys()
    assert [name for name in whole if again[name] != whole[name]] == [gone]
    assert np.array_equal(rs.Model.load(out).heuristic.values, rs.Model.load(data / "model.npz").heuristic.values)


def test_fit_auto_needs_no_names(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    found = answer(capsys, "learn", data / "set", "-o", tmp_path / "m.npz", "-a", "gbfs", "--effort", "quick")
    assert found["learned_from"] == 42
    assert rs.Model.load(tmp_path / "m.npz").search_with() == "gbfs"


@pytest.mark.slow
def test_a_small_demo_leaves_a_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cities: list[rs.datasets.City] = []
    build = rs.datasets.city
    monkeypatch.setattr(
        rs.datasets, "city", lambda *words, **options: cities.append(build(*words, **options)) or cities[-1]
    )
    found = answer(capsys, "demo", "-o", tmp_path, "--size", 150, "--train", 40, "--test", 100, "-j", 1)
    assert len(cities) == 1  # it takes seconds
    assert [m["name"] for m in found["methods"]][3:5] == ["A*, learned, exact", "A*, learned"]
    assert found["methods"][3]["excess_max"] == pytest.approx(0, abs=1e-9)
    assert found["exact"].startswith("As long as no answer costs more than 10,000, every answer")
    assert "is optimal, to within" in found["exact"]
    assert found["bytes"] == (tmp_path / "report.html").stat().st_size
    assert found["guarantee"].startswith("With probability at least 0.95 over the draw of the 100 instances, the mean")
    assert "the mean cost above the optimum of A* to goal" in found["guarantee"]
    assert "A router took 96 updates" in found["day"][0]
    assert found["day"][0].endswith("cost what those of Dijkstra's algorithm cost, up to rounding.")
    before, after = map(float, re.fullmatch(r".*: (.*) min became (.*)\.", found["day"][1]).groups())
    assert after >= before > 0
    for section in ("replay", "comparison", "certificate", "day", "setting"):
        assert f'id="{section}"' in (tmp_path / "report.html").read_text()


def test_report(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = answer(
        capsys, "report", data / "set", "-m", data / "model.npz", "-o", page, "--title", "<b>Mine", "--scenes", 1
    )
    assert found["bytes"] == page.stat().st_size
    assert "&lt;b&gt;Mine" in page.read_text()


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["info", "nowhere"], "there is no model at"),
        (["evaluate", "nowhere"], "nowhere does not exist"),
        (["evaluate", "{data}/edges.csv"], "contains nothing that rhostar saved"),
        (["import", "nowhere.csv", "-o", "{tmp}/x"], "there is no file"),
        (["import", "{data}/model.npz", "-o", "{tmp}/x"], "model.npz"),
        (["import", "{data}/edges.csv", "-o", "{tmp}/x", "--format", "xml"], "--format must be one of"),
        (["import", "{data}/edges.csv", "-o", "{tmp}/x", "--goal", "z"], "'z' is not a label"),
        (["import", "{data}/edges.csv", "-o", "{data}/edges.csv/x"], "could not save"),
        (["import", "a", "b", "c", "-o", "{tmp}/x"], "there is no file"),
        (["evaluate", "{data}/set", "-m", "{data}/edges.csv"], "not a model"),
        (
            ["route", "{data}/other", "-m", "{data}/model.npz", "--from", "0", "--to", "1"],
            "was fitted on another graph",
        ),
        (["evaluate", "{data}/other", "-m", "{data}/model.npz"], "was fitted on another graph"),
        (["report", "{data}/other", "-m", "{data}/model.npz", "-o", "{tmp}/x.html"], "another graph"),
        (["route", "{data}/set", "-m", "{data}/model.npz", "--from", "1", "--to", "3"], "no excess is certain"),
        (["route", "{data}/set", "--snapshot", "60", "--from", "1", "--to", "3"], "--snapshot must be below 60"),
        (["route", "{data}/set", "--snapshot", "0", "--from", "99", "--to", "3"], "'99' is not a vertex in 0..41"),
        (["evaluate", "{data}/set", "-a", "dijkstra"], "'dijkstra' is not one of 'astar', 'gbfs'"),
        (["evaluate", "{data}/set", "-b", "magic"], "--baseline must be one of"),
        (["learn", "{data}/set", "-o", "{tmp}/m.npz", "-l", "Magic"], "--learner must be auto or one of"),
        (["learn", "{data}/set", "-o", "{tmp}/m.npz", "-l", "MeanDistance", "-s", "x=1"], "no parameter 'x'"),
        (
            ["learn", "{data}/set", "-o", "{tmp}/m.npz", "-l", "MeanDistance", "-s", "statistic=max"],
            "statistic must be",
        ),
        (["learn", "{data}/set", "-o", "{tmp}/m.npz", "-l", "MeanDistance", "-s", "what"], "name=value"),
        (["learn", "{data}/set", "-o", "{data}/edges.csv/m.npz", "-l", "MeanDistance"], "is not a folder"),
        (["report", "{data}/set", "-o", "{data}/edges.csv/r.html"], "could not write"),
        (["bounds", "-n", "50", "-e", "0"], "epsilon"),
        (["bounds", "-n", "50", "-e", "0.1", "-N", "10", "-d", "0.1"], "give --epsilon or --samples, not both"),
        (["bounds", "-a", "dfs", "-n", "3"], "'dfs' is not one of 'astar', 'gbfs'"),
        (["bounds"], "give -n"),
        (["bounds", "--holdout", "-e", "0.1"], "--mean"),
        (["bounds", "--holdout", "--mean", "0.1"], "--epsilon"),
        (["bounds", "--holdout", "-e", "0.1", "--mean", "0.1", "-N", "5"], "-N"),
        (["bounds", "-n", "5", "--mean", "0.1"], "--holdout"),
        (["certify", "{data}/set", "-m", "{data}/model.npz", "-u", "cost"], "needs a limit"),
        (["certify", "{data}/set", "-m", "{data}/model.npz", "-u", "joy"], "the utility must be one of"),
        (["certify", "{data}/other", "-m", "{data}/model.npz", "-u", "expansions"], "another graph"),
        (["demo", "-o", "{data}/edges.csv/x", "--size", "100", "--train", "20", "--test", "100"], "could not write"),
        (["frobnicate"], "frobnicate"),
        (["info", "{data}/set", "--frobnicate"], "--frobnicate"),
        (["route", "{data}/set", "--snapshot", "many"], "valid integer"),
        (["route"], "Missing argument"),
    ],
    ids=lambda words: " ".join(words)[:50] if isinstance(words, list) else "",
)
def test_bad_input_is_one_line_and_two(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    code, out, err = run(capsys, *(word.format(data=data, tmp=tmp_path) for word in words))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("rhostar: ")
    assert message in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "{data}/set", "-l", "MeanDistance", "-o"],
        ["report", "{data}/set", "--scenes", "0", "-o"],
    ],
    ids=lambda words: words[0],
)
def test_a_device_is_not_replaced(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, words: list[str]
) -> None:
    pipe = tmp_path / "pipe.svg"  # stands for /dev/null
    os.mkfifo(pipe)
    code, out, err = run(capsys, *(word.format(data=data) for word in words), pipe)
    assert (code, out, err) == (2, "", f"rhostar: could not write {pipe}: it is a device or a pipe, not a file\n")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe.svg"]
    assert pipe.is_fifo()


def test_goals_are_called_by_their_labels(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    assert answer(capsys, "import", data / "edges.csv", "-o", tmp_path / "set", "--goal", "c")["goals"] == ["c"]
    answer(capsys, "learn", tmp_path / "set", "-o", tmp_path / "m.npz", "-l", "MeanDistance")
    assert answer(capsys, "info", tmp_path / "m.npz")["goals"] == ["c"]


@pytest.mark.parametrize("flushed", ["", "1"])
def test_a_closed_pipe_is_no_error_whenever_it_is_noticed(data: Path, flushed: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "rhostar", "info", str(data / "set")]
    environment = os.environ | {"PYTHONUNBUFFERED": flushed}
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, env=environment, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_model_of_all_instances_gets_the_bounds_for_every_rho(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    model = tmp_path / "all.npz"
    answer(capsys, "learn", data / "set", "-o", model, "-l", "MeanDistance", "--fraction", 1)
    code, out, err = run(capsys, "certify", data / "set", "-m", model, "-u", "ratio", "-H", 3, "--full")
    assert (code, err) == (0, "")
    assert "H1-kl" in out
    assert "H4" not in out, "a bound from instances that had no part in choosing rho"
    code, out, _ = run(capsys, "evaluate", data / "set", "-m", model, "--all")
    assert (code, out.splitlines()[0]) == (0, "60 instances, learned from or not; A*")


def test_debug_shows_the_traceback(data: Path) -> None:
    command = [sys.executable, "-m", "rhostar", "info", str(data / "nothing"), "--debug"]
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "Traceback" in failed.stderr


def test_an_unwritable_place_keeps_what_it_held(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, model = tmp_path / "page.html", tmp_path / "m.npz"
    page.write_text("old")
    model.write_text("old")
    monkeypatch.setattr(Path, "replace", no_space)
    for words in (
        ["report", data / "set", "-o", page, "--scenes", 0, "--force"],
        ["learn", data / "set", "-o", model, "-l", "MeanDistance", "--force"],
    ):
        code, out, err = run(capsys, *words)
        assert (code, out) == (2, "")
        assert "No space left" in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.npz", "page.html"]
    assert page.read_text() == model.read_text() == "old"


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
from rhostar.cli.main import run
import numpy, rhostar.report._page
sys.path.insert(0, sys.argv.pop(1))
from support.failures import press_ctrl_c
press_ctrl_c(computed=1.0)
run()
"""


@pytest.mark.slow
def test_an_interrupt_ends_it_with_one_line_and_nothing_half_written(tmp_path: Path) -> None:
    graph = rs.Graph.grid(150, 150, neighbors=8)
    weights = np.random.default_rng(0).uniform(1, 2, size=(8, graph.m))
    rows = np.arange(20_000) % 8
    rs.InstanceSet(graph, weights, np.zeros(rows.size, dtype=int), graph.n - 1, rows=rows).save(tmp_path / "many")
    out = tmp_path / "out"
    tests, many, page = Path(__file__).parents[1], tmp_path / "many", out / "r.html"
    command = [sys.executable, "-c", INTERRUPTED, str(tests), "report", str(many), "-o", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)  # whole, it takes minutes
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "rhostar: interrupted\n")
    assert not out.exists()


def test_help_is_light_and_complete(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    assert code == 0
    for command in (
        "import",
        "info",
        "advise",
        "learn",
        "route",
        "matrix",
        "within",
        "evaluate",
        "audit",
        "certify",
        "bounds",
        "demo",
        "report",
    ):
        assert f"\n  {command} " in out
        code, text, _ = run(capsys, command, "--help")
        assert code == 0
        assert "--json" in text
        assert max(map(len, text.splitlines())) <= 80
    assert "..." not in out.split("Commands:")[1]  # one line says it all
    assert run(capsys)[0] == 0
    assert run(capsys, "--version")[1] == f"rhostar {rs.__version__}\n"
    code = """
import sys
from rhostar.cli.main import _notes, main
try:
    main(["--help"])
finally:
    assert not {"numpy", "scipy", "matplotlib", "sklearn", "rich"} & set(sys.modules)
    assert len(sys.modules) < 300  # half of them Python's own; make bench-overhead has the seconds
"""
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_shells_can_complete(data: Path) -> None:
    environment = os.environ | {"_RHOSTAR_COMPLETE": "complete_bash", "COMP_WORDS": "rhostar ev", "COMP_CWORD": "1"}
    program = Path(sys.executable).with_name("rhostar")
    if not program.exists():
        pytest.skip("rhostar is not installed as a program here")
    done = subprocess.run([program], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.split() == ["evaluate"]


def test_a_reader_who_has_seen_enough_is_no_error(data: Path) -> None:
    program = f"{sys.executable} -m rhostar"
    done = subprocess.run(
        f"{program} info {data / 'set'} --json | head -c 1; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "{"
    assert done.stderr == ""


# ---------------------------------------------------------------- what registers itself


def test_a_format_registered_elsewhere_is_imported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_formats, "REGISTRY", dict(_formats.formats()))

    @_formats.reader("ring", "ring of vertices, their number in the file", suffixes=(".ring",))
    def read_ring(path: Path, *, weight: float = 1.0) -> rs.datasets.Network:
        n = int(path.read_text())
        return rs.datasets.Network(rs.Graph.from_edges(n, range(n), np.roll(range(n), -1)), np.full(n, weight))

    (tmp_path / "small.ring").write_text("5")
    words = ("import", tmp_path / "small.ring", "-o", tmp_path / "set", "-n", 3, "--force")
    found = answer(capsys, *words, "--set", "weight=2.5", "--goal", 4)
    assert (found["vertices"], found["instances"], found["goals"], found["highest_weight"]) == (5, 3, [4], 2.5)
    code, _, err = run(capsys, *words, "--set", "color=red")
    assert (code, err) == (2, "rhostar: format ring has no option 'color'; it has weight\n")
    assert "ring     .ring: ring of vertices, their number in the file" in run(capsys, "import", "--help")[1]
    code, _, err = run(capsys, *words, tmp_path / "small.ring", "--format", "ring")
    assert (code, err) == (2, "rhostar: format ring takes 1 file, got 2\n")


def test_every_reader_has_a_format() -> None:
    readers = {name for name in dir(rs.datasets) if name.startswith("read_")} - {"read_scenario", "read_snapshot"}
    assert {form.read.__name__ for form in _formats.formats().values()} == readers


def test_options_of_a_format_reach_its_reader(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "small.map").write_text("type octile\nheight 2\nwidth 3\nmap\n.@.\n...\n")
    (tmp_path / "small.scen").write_text("version 1\n0 small.map 3 2 0 0 2 0 4.0\n")
    words = ("import", tmp_path / "small.map", "-o", tmp_path / "set")
    found = answer(capsys, *words, "--set", f"scenario={tmp_path / 'small.scen'}", "--set", "neighbors=4")
    assert (found["instances"], found["goals"], found["edges"]) == (1, [2], 14)
    (tmp_path / "two.gr").write_text("p sp 2 1\na 1 2 7\n")
    (tmp_path / "two.co").write_text("p aux sp co 2\nv 1 0 0\nv 2 3 4\n")
    words = ("import", tmp_path / "two.gr", "-o", tmp_path / "roads", "-n", 1, "--goal", 1, "--force")
    assert answer(capsys, *words)["coordinates"] is False
    assert answer(capsys, *words, "-s", f"coordinates={tmp_path / 'two.co'}")["coordinates"] is True


def test_one_goal_is_no_plural(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    for path in (data / "set", data / "model.npz"):
        lines = [line.split() for line in run(capsys, "info", path)[1].splitlines()]
        assert ["goal", "41"] in lines


def test_a_note_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    with _notes():
        for text in ("one", "two", "one", "one"):
            warnings.warn(text, rs.errors.RhostarWarning, stacklevel=1)
    assert capsys.readouterr().err == "note: one\nnote: two\n"
