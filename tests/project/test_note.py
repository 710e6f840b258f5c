"""The note in LaTeX: its structure is sound, its figures and table can be made, and it typesets where a TeX is."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTE = ROOT / "docs" / "note"
GENERATED = {"checked": "\\label{tab:checked}"}
"""Parts that figures.py writes, with their labels."""


def problems(text: str) -> list[str]:
    """What is wrong with the structure of a document: environments, braces, dollars, labels, citations."""
    found = []
    text = re.sub(r"(?<!\\)%.*", "", text)
    stack: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", text):
        if kind == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            found.append(f"\\end{{{name}}} closes nothing")
    found += [f"{name} is not closed" for name in stack]
    plain = text.replace("\\{", "").replace("\\}", "").replace("\\\\", "")
    depth = 0
    for c in plain:
        depth += (c == "{") - (c == "}")
        if depth < 0:
            break
    if depth:
        found.append("braces do not match")
    if plain.replace("\\$", "").count("$") % 2:
        found.append("a dollar is left over")
    for number, paragraph in enumerate(re.split(r"\n\s*\n", plain)):
        if paragraph.replace("\\$", "").count("$") % 2:
            found.append(f"formula across paragraphs: {number}: {paragraph[:60]!r}")
    labels = re.findall(r"\\label\{([^}]*)\}", text)
    found += [f"label {label} occurs twice" for label in set(labels) if labels.count(label) > 1]
    found += [f"no label {name}" for name in set(re.findall(r"\\(?:eq)?ref\{([^}]*)\}", text)) - set(labels)]
    entries = re.findall(r"\\bibitem\{([^}]*)\}", text)
    cited = {key.strip() for keys in re.findall(r"\\cite(?:\[[^\]]*\])?\{([^}]*)\}", text) for key in keys.split(",")}
    found += [f"no entry {key}" for key in cited - set(entries)]
    found += [f"{key} is never cited" for key in set(entries) - cited]
    return found


def whole(name: str = "note") -> str:
    """The document with its parts put in."""
    text = re.sub(r"(?<!\\)%.*", "", (NOTE / f"{name}.tex").read_text())
    return re.sub(
        r"\\input\{(\w+)\}",
        lambda found: GENERATED.get(found[1]) or whole(found[1]),
        text,
    )


def figures() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("note_figures", NOTE / "figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_structure_is_sound() -> None:
    assert problems(whole()) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\end{proof}", "", "closes nothing|not closed"),
        ("\\ref{thm:upper}", "\\ref{thm:uper}", "no label thm:uper"),
        ("\\label{thm:cost}", "", "no label thm:cost"),
        ("\\label{thm:cost}", "\\label{thm:upper}", "twice"),
        ("\\cite{Martelli1977}", "\\cite{Martelli}", "no entry Martelli|never cited"),
        ("$n=|V|$", "$n=|V|", "dollar"),
        ("\\emph{rises}", "\\emph{rises", "braces"),
    ],
)
def test_broken_twins_are_noticed(old: str, new: str, message: str) -> None:
    text = whole()
    assert old in text
    assert re.search(message, "\n".join(problems(text.replace(old, new, 1))))


def test_every_theorem_says_what_it_is_about() -> None:
    """Algorithm, reopening, weights, source, utility and n, six arguments each."""
    text = whole()
    for body in re.findall(r"\\begin\{(?:theorem|proposition)\}(.*?)\\end\{(?:theorem|proposition)\}", text, re.DOTALL):
        assert "\\setting{" in body, body[:100]
        assert "\\label{" in body, body[:100]


def test_every_theorem_has_a_proof() -> None:
    text = whole()
    kinds = re.findall(r"\\begin\{(theorem|lemma|proposition|proof)\}", text)
    # The proof of the upper bound fills its section, and lemmas come in between.
    claims = sum(kind != "proof" for kind in kinds)
    assert kinds.count("proof") >= claims - 1
    assert "This completes the proof of Theorem~\\ref{thm:upper}.\\qed" in text


def test_the_figures_are_those_that_the_script_draws() -> None:
    text = whole()
    module = figures()
    for name in re.findall(r"\\includegraphics(?:\[[^\]]*\])?\{(\w+)\}", text):
        assert callable(getattr(module, name))


def test_the_table_refers_to_theorems_of_the_note(tmp_path: Path) -> None:
    figures().checked(tmp_path / "checked.tex")
    table = (tmp_path / "checked.tex").read_text()
    rows = json.loads((ROOT / "benchmarks" / "results" / "theorems.json").read_text())["rows"]
    assert len(rows) >= 15
    labels = set(re.findall(r"\\label\{([^}]*)\}", whole()))
    assert set(re.findall(r"\\ref\{([^}]*)\}", table)) <= labels
    assert table.count(" & ") == 2 * (2 + sum(bool(row["note"]) for row in rows))
    assert not re.search(r"[^\x00-\x7f]", table), "pdflatex needs plain characters"


def test_the_table_of_the_page_is_the_one_that_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    theorems = importlib.import_module("theorems")
    rows = json.loads((ROOT / "benchmarks" / "results" / "theorems.json").read_text())["rows"]
    assert [row["key"] for row in rows] == [key for key, *_ in theorems.STATEMENTS]
    assert theorems.table(rows) in (ROOT / "docs" / "theory.md").read_text()


def test_figures_quoted_from_the_table_are_those_of_the_table() -> None:
    rows = json.loads((ROOT / "benchmarks" / "results" / "theorems.json").read_text())["rows"]
    run = {row["key"]: row["run"] for row in rows}
    courses = re.search(r"hill climbing found \$([0-9, ]+)\$", whole())
    assert courses is not None
    assert [int(x) for x in courses[1].split(",")] == [
        int(x.replace(",", "")) for x in re.findall(r"[0-9,]*[0-9]", run["crowds"].split("for n")[0])
    ]
    assert "7, 10, 15 for n" in run["moving"]
    assert "Hill climbing finds 7, 10, 15 for $n=5,6,7$" in whole()


def test_plain_characters_only() -> None:
    for path in NOTE.glob("*.tex"):
        assert path.read_text().isascii(), path.name


@pytest.mark.slow
def test_it_typesets(tmp_path: Path) -> None:
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        pytest.skip("no pdflatex")
    assert figures().main(str(tmp_path)) == 0
    command = [pdflatex, "-interaction=batchmode", "-halt-on-error", f"-output-directory={tmp_path}", "note.tex"]
    # Not under the address sanitizer of the other tests, which finds a fault in pdfTeX itself.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment["TEXINPUTS"] = f".:{tmp_path}:"
    for _ in range(3):
        subprocess.run(command, cwd=NOTE, env=environment, check=True)
    assert (tmp_path / "note.pdf").stat().st_size > 100_000
    log = (tmp_path / "note.log").read_text(errors="replace")
    assert not re.search(r"Warning|Overfull|Underfull", log)
