"""The commands route, matrix and within, and the service that reads lines of JSON."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.cli._import import _progress
from rhostar.cli._learn import _narrow
from rhostar.cli._service import serve
from rhostar.cli.main import main

ROADS = [("home", "bridge", 4.0), ("home", "tunnel", 5.0), ("bridge", "work", 6.0), ("tunnel", "work", 4.0)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{tail},{head},{weight * (1 + day)},{day}" for day in (0, 1) for tail, head, weight in ROADS]
    (tmp_path / "times.csv").write_text("\n".join(["tail,head,weight,snapshot", *rows]) + "\n")
    today = [f"{tail},{head},{weight + 1}" for tail, head, weight in reversed(ROADS)]
    (tmp_path / "today.csv").write_text("\n".join(["tail,head,weight", *today]) + "\n")
    assert main(["import", str(tmp_path / "times.csv"), "-o", str(tmp_path / "trips"), "--goal", "work"]) == 0
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main([str(word) for word in words])
    return code, *capsys.readouterr()


def test_route(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["route", folder / "trips", "--from", "home", "--to", "work"]
    code, out, _ = run(capsys, *ask, "--weights", folder / "today.csv", "--json")
    found = json.loads(out)
    assert (code, found["cost"], found["path"], len(found["edges"])) == (0, 11.0, ["home", "tunnel", "work"], 2)
    code, out, _ = run(capsys, *ask, "--snapshot", 1)
    assert code == 0
    assert out.split()[7] == "18"
    code, out, _ = run(capsys, *ask, "--weights", folder / "times.csv", "--time", "0")
    assert out.split()[7] == "9"
    code, _, error = run(capsys, *ask)
    assert code == 2
    assert "2 snapshots: choose the weights" in error
    code, _, error = run(capsys, *ask, "--weights", folder / "times.csv")
    assert code == 2
    assert "--time" in error
    code, _, error = run(capsys, *ask, "--weights", folder / "times.csv", "--time", "7")
    assert code == 2
    assert "no snapshot '7'; it has 0, 1" in error
    code, out, _ = run(capsys, "route", folder / "trips", "--from", "work", "--to", "home", "--snapshot", 0, "--json")
    assert (code, json.loads(out)["cost"]) == (1, None)
    code, _, error = run(capsys, "route", folder / "trips", "--from", "office", "--to", "work", "--snapshot", 0)
    assert code == 2
    assert "'office' is not a label of the graph; a label looks like" in error
    for wrong in (["--time", "0"], ["--snapshot", 9], ["--snapshot", 0, "--weights", folder / "today.csv"]):
        assert run(capsys, *ask, *wrong)[0] == 2
    assert run(capsys, "route", folder / "trips", "--from", "home", "--snapshot", 0)[0] == 2


def test_time_of_day_and_alternatives(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["route", folder / "trips", "--from", "home", "--to", "work", "--json"]
    day = folder / "day.csv"
    rows = [f"{tail},{head},{weight + 2 * (time == 10)},{time}" for time in (10, 0) for tail, head, weight in ROADS]
    day.write_text("\n".join(["tail,head,weight,time", *rows]) + "\n")
    jam = folder / "jam.csv"
    rows = [
        f"{tail},{head},{weight + 30 * (time == 10)},{time}" for time in (0, 10, 20) for tail, head, weight in ROADS
    ]
    jam.write_text("\n".join(["tail,head,weight,time", *rows]) + "\n")
    timed = [*ask, "--weights", day, "--columns", "snapshot=time"]
    code, out, _ = run(capsys, *timed, "--depart", 5)
    found = json.loads(out)
    assert (code, found["depart"], found["path"]) == (0, 5.0, ["home", "tunnel", "work"])
    assert found["arrive"] == pytest.approx(5 + 6 + 4 + 2)  # at 5 one hour more; after 10 two
    code, out, _ = run(capsys, *timed, "--arrive", 19, "--period", 24)
    assert json.loads(out)["cost"] == pytest.approx(19 - json.loads(out)["depart"])
    code, out, _ = run(capsys, *ask, "--snapshot", 0, "--alternatives", 2)
    found = json.loads(out)
    assert (found["cost"], [other["path"] for other in found["alternatives"]]) == (9.0, [["home", "bridge", "work"]])
    code, out, _ = run(capsys, *ask[:-1], "--snapshot", 0, "--alternatives", 2)
    assert "bridge" in out
    for wrong, text in (
        (["--depart", 5], "need --weights"),
        (["--weights", folder / "today.csv", "--depart", 5], "a column with at least two times"),
        (["--weights", day, "--columns", "snapshot=time", "--depart", 11], "depart must be a time from 0 to 10"),
        (["--snapshot", 0, "--period", 24], "which are not given"),
        (["--snapshot", 0, "--alternatives", 0], "alternatives"),
        (
            ["--weights", day, "--columns", "snapshot=time", "--depart", 5, "--arrive", 9],
            "one of --depart and --arrive",
        ),
        (["--weights", jam, "--depart", 5], "jam.csv: weights[1, 0] (edge 'bridge' -> 'work')"),
        (["--weights", jam, "--depart", 5], "allow waiting (--waiting)"),
    ):
        code, _, error = run(capsys, *ask, *wrong)
        assert code == 2
        assert text in error


def test_costs_of_one_query(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["route", folder / "trips", "--from", "home", "--to", "work", "--snapshot", 0, "--json"]

    def found(*more: str) -> tuple[int, float | None]:
        code, out, _ = run(capsys, *ask, *more)
        return code, json.loads(out)["cost"]

    assert found() == (0, 9.0)
    assert found("--avoid", "tunnel:work") == (0, 10.0)
    assert found("--avoid", "tunnel") == (0, 10.0)
    assert found("--avoid", "tunnel", "--avoid", "bridge:work") == (1, None)
    assert found("--change", "bridge:work=2.5") == (0, 6.5)
    assert found("--change", "bridge:work=2.5", "--change", "home:bridge=inf") == (0, 9.0)
    for wrong, words in (
        (["--avoid", "office"], "neither a vertex nor an edge"),
        (["--avoid", "home:office"], "'office' is not a label"),
        (["--avoid", "home:work"], "no edge 'home' -> 'work'"),
        (["--change", "home:bridge"], "TAIL:HEAD=WEIGHT"),
        (["--change", "home:bridge=-1"], "--change home:bridge=-1: a weight must be at least 0"),
        (["--change", "home:bridge=nan"], "--change home:bridge=nan: a weight must be at least 0"),
    ):
        code, _, error = run(capsys, *ask, *wrong)
        assert (code, words in error) == (2, True), error


def test_options_of_one_query_are_not_for_a_service(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (["--avoid", "tunnel"], ["--depart", 5], ["--arrive", 5], ["--alternatives", 2]):
        code, _, error = run(capsys, "route", folder / "trips", "-", *option)
        assert (code, "options of one query" in error) == (2, True), error


def test_geojson(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = rs.Graph.grid(4, 4)
    rs.InstanceSet(graph, graph.length, [0], 15).save(tmp_path / "grid")
    ask = ["route", tmp_path / "grid", "--from", "0,0", "--to", "15", "--geojson", tmp_path / "route.json"]
    assert run(capsys, *ask)[0] == 0
    assert len(json.loads((tmp_path / "route.json").read_text())["geometry"]["coordinates"]) == 7
    code, _, error = run(capsys, *ask)
    assert code == 2
    assert "--force" in error


def test_matrix_and_within(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    today = ["--weights", folder / "today.csv"]
    ask = ["matrix", folder / "trips", "--from", "home,bridge", "--to", "work", "--to", "home", *today]
    code, out, _ = run(capsys, *ask, "--json")
    assert (code, json.loads(out)["costs"]) == (0, [[11.0, 0.0], [7.0, None]])
    code, out, _ = run(capsys, *ask)
    assert "bridge     7   inf" in out
    code, out, _ = run(capsys, "within", folder / "trips", "--from", "home", "--max-cost", 6, *today, "--json")
    assert (code, json.loads(out)["vertices"], json.loads(out)["costs"]) == (0, ["home", "bridge", "tunnel"], [0, 5, 6])
    code, out, _ = run(capsys, "within", folder / "trips", "--from", "work", "--max-cost", 5, "--reverse", *today)
    assert "2 of 4 vertices" in out


def talk(router: rs.Router, *lines: Any) -> list[dict[str, Any]]:
    out = io.StringIO()
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    assert serve(router, io.StringIO(text), out) == 0
    return [json.loads(line) for line in out.getvalue().splitlines()]


def streets() -> rs.Router:
    tail, head, weights = zip(*ROADS, strict=True)
    names = ["home", "bridge", "tunnel", "work"]
    router = rs.Router.from_edges(4, [names.index(x) for x in tail], [names.index(x) for x in head], labels=names)
    router.update(np.array(weights))
    return router


def test_no_id_ends_the_service() -> None:
    """Half a pair of surrogates and an id of 600 brackets ended it: they could be read, but not written."""
    deep = "[" * 600 + "]" * 600
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    lines = [
        r'{"id": "\ud800", "do": "prepare"}',
        f'{{"id": {deep}, "do": "prepare"}}',
        '{"id": "Zürich", "do": "prepare"}',
    ]
    assert serve(streets(), io.StringIO("\n".join(lines)), out) == 0
    written = out.buffer.getvalue().decode()  # type: ignore[attr-defined]
    found = [json.loads(line) for line in written.splitlines()]
    assert [one.get("id") for one in found] == ["\ud800", None, "Zürich"]
    assert found[1]["kind"] == "InputError"
    assert "Zürich" in written


def test_a_service_answers_every_line() -> None:
    there = {"do": "route", "source": "home", "target": "work"}
    found = talk(
        streets(),
        there | {"id": 1},
        "",
        {"do": "update", "edges": [["tunnel", "work"]], "weights": [None]},
        there | {"id": "two"},
        {"do": "matrix", "sources": ["home", "work"], "targets": ["work"]},
        {"do": "routes", "pairs": [["home", "work"], ["work", "home"]]},
        {"do": "nearest", "source": "home", "goals": ["bridge", "tunnel"], "k": 2},
        {"do": "nearest_source", "sources": ["bridge", "home"], "target": "work"},
        {"do": "within", "vertex": "home", "max_cost": 4},
        there | {"avoid": [["bridge", "work"]]},
        there | {"changes": [[["tunnel", "work"], ["home", "bridge"]], [1, None]]},
        there | {"avoid_vertices": ["bridge"]},
        {"do": "update", "weights": [1, 1, 1, 1]},
        {"do": "prepare"},
        there,
        {"do": "explain"},
        {"do": "alternatives", "source": "home", "target": "work", "k": 2},
        {"do": "update_by_time", "weights": [[1, 1, 1, 1], [3, 3, 3, None]], "times": [0, 2], "period": 24},
        {"do": "update_by_time", "weights": [[1, 1, 1, 1], [3, 3, 3, 3]], "times": [0, 2], "period": 24},
        there | {"depart": 0},
        there | {"arrive": 3},
    )
    assert found[0] == {"id": 1, "cost": 9.0, "bound": 9.0, "path": ["home", "tunnel", "work"], "edges": [1, 3]}
    assert found[1] == {"updated": 1}
    assert (found[2]["id"], found[2]["cost"]) == ("two", 10.0)
    assert found[3] == {"costs": [[10.0], [0.0]]}
    assert [route["cost"] for route in found[4]["routes"]] == [10.0, None]
    assert found[5] == {"goals": ["bridge", "tunnel"], "costs": [4.0, 5.0]}
    assert found[6] == {"sources": ["bridge"], "costs": [6.0]}
    assert found[7] == {"vertices": ["home", "bridge"], "costs": [0.0, 4.0], "parents": [None, "home"]}
    assert [answer["cost"] for answer in found[8:11]] == [None, 6.0, None]
    assert found[11:13] == [{"updated": 4}, {"prepared": True}]
    assert found[13]["cost"] == 2.0
    assert found[14]["engine"] == "hierarchy"
    assert [route["cost"] for route in found[15]["routes"]] == [2.0, 2.0]
    assert found[16]["kind"] == "WeightError"  # it opens, and waiting is not allowed
    assert found[17] == {"updated": 4}
    assert (found[18]["depart"], found[18]["arrive"]) == (0.0, 3.0)
    assert found[19]["depart"] == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("line", "kind", "words"),
    [
        ("{", "JSONDecodeError", "not a line of JSON: Expecting property name enclosed in double quotes at column 2"),
        ("[1]", "InputError", "must be an object"),
        ({"do": "fly"}, "InputError", "do must be one of route"),
        ({"do": "__init__"}, "InputError", "do must be one of"),
        ({"do": "route", "source": "home"}, "InputError", "route needs source and target; got source"),
        ({"do": "route", "from": "home", "to": "work"}, "InputError", "needs source and target; got from, to"),
        ({"do": "update", "edge": 0, "weight": 1}, "InputError", "update needs weights, and takes edges; got edge, w"),
        ({"do": "explain", "verbose": 1}, "InputError", "explain takes no arguments; got verbose"),
        ({"do": "route", "source": "home", "target": "work", "speed": 3}, "InputError", "speed"),
        (
            {"do": "route", "source": "home", "target": "moon", "id": 5},
            "VertexError",
            "'moon'; a label looks like 'home'",
        ),
        ({"do": "route", "source": "home", "target": "wrok"}, "VertexError", "'wrok'; a similar one is 'work'"),
        ({"do": "route", "source": {}, "target": "work"}, "VertexError", "source"),
        ({"do": "update", "edges": [["home", "work"]], "weights": [1]}, "EdgeError", "no edge"),
        ({"do": "update", "edges": [0], "weights": [-1]}, "WeightError", "negative"),
        ({"do": "update", "weights": "x"}, "ArrayError", "weights"),
        ({"do": "update", "edges": [0], "weights": ["5,3"]}, "ArrayError", "weights[0] must be a number, got '5,3'"),
        ({"do": "within", "vertex": "home", "max_cost": "far"}, "InputError", "max_cost"),
    ],
)
def test_a_bad_line_gets_an_error_and_the_next_an_answer(line: Any, kind: str, words: str) -> None:
    error, after = talk(streets(), line, {"do": "route", "source": "home", "target": "work"})
    assert error["kind"] == kind
    assert words in error["error"]
    assert error["line"] == 1
    assert error.get("id") == (line.get("id") if isinstance(line, dict) else None)
    assert after["cost"] == 9.0


def test_costs_can_be_read_back_exactly() -> None:
    """A number of the service is the shortest that reads back as the same float, also where a sum looks odd."""
    router = streets()
    router.update([0.1, 9.0, 0.2, 9.0])
    there = {"do": "route", "source": "home", "target": "work"}
    assert talk(router, there)[0]["cost"] == router.route("home", "work").cost == 0.1 + 0.2


def test_the_command_serves_standard_input(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        {"do": "route", "source": "home", "target": "work"},
        {"do": "update", "weights": [1, 2, 3, 4]},
        {"do": "route", "source": "home", "target": "work"},
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(map(json.dumps, lines))))
    code, out, _ = run(capsys, "route", folder / "trips", "-")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert "no weights yet" in found[0]["error"]
    assert found[1] == {"updated": 4}
    assert found[2]["path"][0] == "home"
    assert run(capsys, "route", folder / "trips", "-", "--from", "home")[0] == 2
    assert run(capsys, "route", folder / "trips", "queries.json")[0] == 2


# ---------------------------------------------------------------- what a newcomer reads


def test_weights_in_another_unit_are_noted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["route", folder / "trips", "--from", "home", "--to", "work", "--weights"]
    code, _, error = run(capsys, *ask, folder / "today.csv")
    assert (code, error) == (0, "")
    hours = [f"{tail},{head},{weight / 60}" for tail, head, weight in ROADS]
    (folder / "hours.csv").write_text("\n".join(["tail,head,weight", *hours]) + "\n")
    code, _, error = run(capsys, *ask, folder / "hours.csv")
    assert code == 0
    assert "0.00833 times those of the set (median); are they in another unit?" in " ".join(error.split())


def test_an_unknown_street_is_named_as_it_was_given(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["route", folder / "trips", "--from", "home", "--to", "work", "--snapshot", 0]
    for option, word in (("--avoid", "home:work"), ("--change", "home:work=3")):
        code, _, error = run(capsys, *ask, option, word)
        assert code == 2
        assert f"{option} home:work: there is no edge 'home' -> 'work'" in error
    code, _, error = run(capsys, *ask, "--avoid", "home:brdige")
    assert "a similar one is 'bridge'" in error


def test_a_share_without_a_sign_is_not_guessed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["learn", folder / "trips", "-o", folder / "model.npz", "--mean-excess"]
    code, _, error = run(capsys, *words, "1")
    assert code == 2
    assert "--mean-excess 1 would be 100%: write 1% or 100%" in error
    assert "write 5% or 500%" in run(capsys, *words, "5")[2]


def test_a_long_error_fits_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["import", "a" * 70 + ".csv", "-o", "trips"]
    assert len(run(capsys, *words)[2].splitlines()) == 1  # for programs that read it
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main(words) == 2
    assert max(map(len, capsys.readouterr().err.splitlines())) <= 80


def test_the_table_of_learn_fits_a_terminal() -> None:
    head = f"{'expansions':>22}{'mean excess':>17}{'99 % of paths':>16}  "
    row = f"{'chosen   1,651.1 ± 98.9':>22}  0.399 % ± 0.039   4.62 % ± 0.56"[: len(head) - 2].ljust(len(head))
    last = "± standard errors over snapshots, by cross-validation"
    short = [f"{head}learner", f"{row}Scaled(2)", last]
    assert list(_narrow(short)) == short
    long = [f"{head}learner", f"{row}Portfolio(n_clusters=16) × 0.926", last]
    assert list(_narrow(long)) == [head.rstrip(), row.rstrip(), " " * 9 + "Portfolio(n_clusters=16) × 0.926", last]


def test_progress_names_the_file() -> None:
    days = [Path("day-01.csv"), Path("day-02.csv")]
    assert _progress("day-02.csv", days) == "day-02.csv (2 of 2)"
    assert _progress("rome.co", [Path("rome.gr")]) == "rome.co"
