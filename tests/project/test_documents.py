"""The documents: code blocks run, links resolve, glossary and reference are complete, and the pages build."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import json
import re
import shlex
import subprocess
import sys
import types
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import code_map
import notebooks
import numpy as np
import pages
import pytest
import typer

import rhostar as rs
from rhostar.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = pages.PAGES
TEXTS = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_runs_and_prints_what_the_page_says(path: Path) -> None:
    for block, printed in pages.outputs(path):
        assert block[2] == printed, "run python tools/pages.py"


def test_what_code_prints_is_written_into_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\nprint(x)\n```\n\n```\n2\n```\n\n```\nkept\n```\n\n```python\nx += 1\n```\n\n```\nkept\n```\n"
        "```python\nprint(x)\n```\n\n## With files\n\n```\nkept\n```\n"
    )
    assert pages.update(page)
    assert page.read_text().count("```\n1\n```") == 1
    assert page.read_text().count("```\nkept\n```") == 3, "a block after other text is no output"
    assert not pages.update(page)


@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_run_and_are_stored_without_output(path: Path, tmp_path: Path) -> None:
    book = json.loads(path.read_text())
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    text = notebooks.page(path.read_text(), path.stem, tmp_path)
    pictures = re.findall(r"^!\[.+\]\((.*)\)$", text, flags=re.MULTILINE)
    assert len(pictures) >= 2
    assert all(Path(picture).stat().st_size > 5_000 for picture in pictures)
    assert text.count("```python\n") == len(code)
    for file in re.findall(r"\]\((\.\.[^)]*)\)", text):
        assert (path.parent / file).exists(), file


def test_there_are_two_notebooks() -> None:
    assert [path.stem for path in notebooks.NOTEBOOKS] == ["learn_and_certify", "route"]


def commands(path: Path) -> list[list[str]]:
    """Return the words of every call of the program in the shell blocks of a page."""
    blocks = re.findall(r"^```(?:sh|bash)\n(.*?)^```$", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    calls = [shlex.split(part, comments=True) for line in lines for part in re.split(r" && | \| ", line)]
    return [words[1:] for words in calls if words[:1] == ["rhostar"]]


def examples() -> Iterator[list[str]]:
    """Yield the words of the example in the help of every command."""
    for name, command in every_command(program(), ()):
        found = re.findall(r"^Example: rhostar (.*)$", command.help or "", flags=re.MULTILINE)
        assert len(found) == 1, f"{name}: {found}"
        assert command.help.endswith(found[0])
        assert found[0].startswith(" ".join(name))
        assert len(found[0]) <= 61, "it would be wrapped on a screen of 80 columns"
        yield shlex.split(found[0])


def every_command(group: Any, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, (*above, name))
        else:
            yield (*above, name), command


def program() -> Any:
    assert main.app.registered_commands
    return typer.main.get_command(main.app)


def parses(words: list[str]) -> None:
    """Parse a call of the program, without running it; raises if it has no such command, option or value."""
    command = program()
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    command.make_context(command.name, list(words))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_commands_on_the_pages_are_those_of_the_program(path: Path) -> None:
    for words in commands(path):
        parses(words)


def test_every_help_has_one_example_that_parses() -> None:
    found = list(examples())
    assert len(found) >= 17
    for words in found:
        parses(words)


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and the built pages make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@functools.cache
def anchors(path: Path) -> frozenset[str]:
    return frozenset(slug(text) for text in re.findall(r"^#+ (.*)$", path.read_text(), flags=re.MULTILINE))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for file, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", path.read_text()):
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), file
        assert not anchor or anchor in anchors(target), f"{file}#{anchor}"


# ---------------------------------------------------------------- the map


def test_the_map_of_the_code_is_up_to_date() -> None:
    assert code_map.main(["--check"]) == 0, "run python tools/code_map.py"


def test_the_files_on_the_page_of_the_architecture_exist() -> None:
    # The map is drawn from the files; _x.py and x.py stand for a file to be added.
    text = re.sub(
        f"{re.escape(code_map.BEGIN)}.*{re.escape(code_map.END)}",
        "",
        (DOCS / "architecture.md").read_text(),
        flags=re.DOTALL,
    )
    for name in re.findall(r"`([\w/]+(?:/|\.py|\.pyi|\.hpp|\.cpp|\.md|\.js))`", text):
        if Path(name).stem not in ("_x", "x"):
            assert (code_map.PACKAGE / name).exists() or (ROOT / name).exists(), name


# ---------------------------------------------------------------- the table of benchmarks


def test_the_table_of_benchmarks_is_the_one_that_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = importlib.import_module("tables")
    result = json.loads((ROOT / "benchmarks" / "results" / "search.json").read_text())
    monkeypatch.setattr(tables, "plot", lambda result, file: None)  # matplotlib would need seconds
    page = tmp_path / "benchmarks.md"
    page.write_text("before\n" + tables.BEGIN + "stale" + tables.END + "\nafter\n")
    tables.write_results(result, tmp_path / "results", page)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    written = text.removeprefix("before\n").removesuffix("\nafter\n")
    assert "stale" not in written
    assert written in (DOCS / "benchmarks.md").read_text()


def test_the_tables_of_answers_are_those_that_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    any_goal, break_even, hierarchy, router = (
        importlib.import_module(x) for x in ("any_goal", "break_even", "hierarchy", "router")
    )
    results = ROOT / "benchmarks" / "results"
    table = hierarchy.page_table(json.loads((results / "hierarchy.json").read_text())["networks"])
    assert f"-->\n{table}\n<!-- end -->" in (DOCS / "hierarchy.md").read_text()
    networks = json.loads((results / "router.json").read_text())["networks"]
    assert f"-->\n{router.tables(networks)}\n<!-- end -->" in (DOCS / "routing.md").read_text()
    for name in ("alternatives", "by_time"):
        other = importlib.import_module(name)
        table = other.table(json.loads((results / f"{name}.json").read_text())["networks"])
        assert f"{other.BEGIN}{table}\n{other.END}" in (DOCS / "routing.md").read_text()
    table = any_goal.network_table(json.loads((results / "any_goal.json").read_text())["networks"])
    assert f"-->\n{table}\n<!-- end -->" in (DOCS / "any-goal.md").read_text()
    learn_tables = importlib.import_module("learn_tables")
    table = learn_tables.summary(json.loads((results / "learn.json").read_text()))
    assert f"-->\n{table}<!-- end -->" in (DOCS / "benchmarks.md").read_text()
    table = "\n".join(break_even.costs_table(json.loads((results / "workloads.json").read_text())["cities"]))
    assert f"-->\n{table}\n<!-- end -->" in (DOCS / "comparison.md").read_text()


def test_the_table_for_any_goal_has_the_tail_of_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    any_goal = importlib.import_module("any_goal")
    tally = any_goal.Tally()
    tally.seconds, tally.excess = 1.0, np.random.default_rng(0).exponential(0.01, 500).tolist()
    row = tally.row(500, 1, 2.0)
    assert row["excess 99 %"] == np.quantile(tally.excess, 0.99)
    assert row["mean excess"] < row["excess 99 %"] < row["worst excess"]
    lines = any_goal.network_table({"new": {"vertices": 9, "rows": {"mean": row, "CCH": {"ms": 1.0, "faster": 2.0}}}})
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines.splitlines()]
    assert {len(cells) for cells in table} == {8}
    assert table[0][4:7] == ["mean excess", "99 %", "worst"]
    assert table[3][5:7] == [f"{row['excess 99 %']:.1%}", f"{row['worst excess']:.1%}"]
    assert table[4][4:7] == ["", "", ""]


def test_the_table_of_costs_has_the_tail_of_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    break_even = importlib.import_module("break_even")
    times = {"once": 1.0, "snapshot": 0.0, "goal": 0.0, "query": 1e-3}
    rows = {
        "Dijkstra": times | {"excess": 0.0, "excess 99 %": 0.0, "worst": 0.0},
        "mean distance": times | {"excess": 0.01, "excess 99 %": 0.05, "worst": 0.25},
        "earlier": times | {"excess": 0.01, "worst": 0.25},
    }
    lines = break_even.costs_table({"new": {"vertices": 9, "rows": rows}})
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert {len(cells) for cells in table} == {9}
    assert table[0][6:] == ["mean excess", "99 %", "worst"]
    assert [cells[6:] for cells in table[3:]] == [
        ["0", "0", "0"],
        ["1.00%", "5.0%", "25.0%"],
        ["1.00%", "", "25.0%"],
    ]


# ---------------------------------------------------------------- the glossary


def printed_rows() -> set[str]:
    """Return the label of every count of behaviours and every lower bound that the calculators can print."""
    labels = set()
    settings = itertools.product(("astar", "gbfs"), (None, 10), (None, 4), (None, 3), (None, 16), (True, False))
    for algorithm, integers, degree, parameters, levels, reopen in settings:
        options: dict[str, Any] = {"integer_weights": integers, "out_degree": degree, "parameters": parameters}
        options["reopen"] = reopen
        found = rs.pseudo_dimension(50, algorithm, levels=levels, **options)  # type: ignore[arg-type]
        labels |= {row.label for row in found.rows}
    return labels


def named_bounds() -> set[str]:
    """Return every H and U code in the source of the bounds and certificates."""
    text = "\n".join(
        path.read_text() for package in ("bounds", "certificates") for path in (code_map.PACKAGE / package).glob("*.py")
    )
    methods = re.findall(r"[\"'](H4 [A-Z]?[A-Za-z-]+)[\"']", text)
    return {*re.findall(r"\b(?:H[1-35-9]|U\d)(?:p\b|-kl\b|\b)", text), *methods}


def utility_names() -> set[str]:
    found = [getattr(rs.utilities, name) for name in dir(rs.utilities)]
    kinds = [kind for kind in found if inspect.isclass(kind) and issubclass(kind, rs.utilities.Utility)]
    return {kind.__name__ for kind in kinds if not kind.__name__.startswith("_")}


@pytest.mark.parametrize("term", sorted(printed_rows() | named_bounds() | utility_names()))
def test_the_glossary_has_every_code_and_utility(term: str) -> None:
    assert slug(term) in anchors(DOCS / "glossary.md")


def test_the_codes_are_found() -> None:
    assert {"G", "A", "I", "C1", "Q64", "U1", "T5", "R1"} <= printed_rows()
    assert {"H1", "H1-kl", "H2", "H3", "H4 betting", "H4 Clopper-Pearson", "U2", "U3", "U4"} <= named_bounds()
    assert {"Expansions", "Suboptimality"} <= utility_names()


# ---------------------------------------------------------------- the reference


def public_modules() -> set[str]:
    """Return every module whose names are public: packages, and modules without an underscore."""
    names = {"rhostar"}
    for path in code_map.PACKAGE.rglob("*.py"):
        parts = path.relative_to(code_map.PACKAGE).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not any(part.startswith("_") for part in parts):
            names.add(".".join(("rhostar", *parts)))
    # The program is called from the shell; the names of each neighbor are also those of rhostar.interop.
    return {name for name in names if not name.startswith(("rhostar.cli", "rhostar.interop."))}


def test_every_public_package_is_in_the_reference() -> None:
    texts = [path.read_text() for path in (DOCS / "reference").glob("*.md")]
    listed = re.findall(r"^\.\. public-names:: (\S+)$", "\n".join(texts), flags=re.MULTILINE)
    assert set(listed) == public_modules()
    assert len(listed) == len(set(listed))


@pytest.mark.slow
def test_the_pages_build_without_a_warning_and_describe_every_public_name(tmp_path: Path, sanitized: bool) -> None:
    if sanitized:
        pytest.skip("the pages are the same under a sanitizer")
    pytest.importorskip("furo", reason="the packages behind make docs are not installed")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(tmp_path)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    letters_with_limits = re.findall(r"<munderover>\s*<mi>", (tmp_path / "theory.html").read_text())
    assert not letters_with_limits, "an index is beside its letter, also under a hat"
    inventory = (tmp_path / "objects.inv").read_bytes().split(b"zlib.\n", maxsplit=1)[1]
    described = {line.split()[0] for line in zlib.decompress(inventory).decode().splitlines() if " py:" in line}
    objects = [found for name in described if (found := resolve(name)) is not None]
    for package in public_modules():
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if not isinstance(value, types.ModuleType | str):
                assert any(value is other for other in objects), f"{package}.{name} is not in the reference"


def resolve(name: str) -> object | None:
    """Return what a dotted name in rhostar means; None if it is an attribute that only instances have."""
    found: object = rs
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def test_no_row_of_a_table_is_broken() -> None:
    """A name with a line break split the rows of a table of results."""
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/results/*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        assert [row for row in rows if not row.rstrip().endswith("|")] == [], page.name
