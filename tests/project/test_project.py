"""The project itself: light imports, a lock without hosts, docs whose code runs."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pages
import pytest

import rhostar as rs
from rhostar.cli.main import main
from support.calls import count_calls
from support.text import words_and_numbers

ROOT = Path(__file__).parents[2]


def modules_after(code: str) -> set[str]:
    """Return the modules that some code has loaded, in a process of its own, beyond those of a bare interpreter."""
    code = f"import sys; before = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_import_is_light_and_lazy() -> None:
    loaded = modules_after("import rhostar")
    assert not {"numpy", "scipy", "joblib"} & loaded
    assert {name for name in loaded if name.startswith("rhostar")} == {"rhostar"}
    assert len(loaded) < 40  # of which lazy_loader takes 20; make bench-overhead has the seconds
    assert not {"scipy", "joblib", "matplotlib"} & modules_after("import rhostar; rhostar.solve_many")


def test_public_names_are_there_and_no_others() -> None:
    assert dir(rs) == sorted(rs.__all__)
    for name in rs.__all__:
        assert getattr(rs, name) is not None
    with pytest.raises(AttributeError, match="attribute nonsense"):
        rs.nonsense  # noqa: B018
    for name in ("astar", "gbfs", "solve_many", "distances_to", "evaluate", "Graph", "InstanceSet"):
        assert ">>>" in getattr(rs, name).__doc__, f"{name} has no example"


def test_all_exceptions_are_public() -> None:
    defined = [
        name for name, value in vars(rs.errors).items() if isinstance(value, type) and "rhostar" in value.__module__
    ]
    assert set(defined) | {"NotFittedError"} == set(rs.errors.__all__) == set(dir(rs.errors))
    assert sorted(rs.errors.__all__) == rs.errors.__all__


def test_cluster_tests_run_only_on_request() -> None:
    def collected(*arguments: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "--collect-only", *arguments, str(ROOT / "tests" / "cluster")]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout

    for usual in ((), ("-m", "not slow"), ("-m", "slow")):
        assert "test_clusters.py" not in collected(*usual)
    assert "test_clusters.py" in collected("-m", "cluster")


def test_no_file_has_the_marks_of_a_merge() -> None:
    marks = re.compile(r"^(<{7}|>{7}) ", flags=re.MULTILINE)
    folders = ("src", "tests", "docs", "tools", "benchmarks", "examples")
    found = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    paths = [path for path in found if path.suffix in (".py", ".md", ".hpp", ".cpp")]
    assert len(paths) > 400
    paths += [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), ROOT / "Makefile"]
    assert [path for path in paths if marks.search(path.read_text())] == []


def test_workflows_run_what_continuous_integration_runs() -> None:
    targets = set(re.findall(r"^(?:exec )?make (\S+)", (ROOT / ".ci" / "run").read_text(), flags=re.MULTILINE))
    assert targets == {"test", "test-networkx", "test-peers", "test-cluster"}
    often, weekly = ((ROOT / ".github" / "workflows" / f"{name}.yml").read_text() for name in ("tests", "weekly"))
    for target in targets | {"docs", "test-sanitized", "test-threads", "faults"}:
        assert re.search(rf"[ \[]{target}[ ,\]]", often), target
    for target in ("fuzz", "soak", "test-kills", "coverage", "validity"):
        assert re.search(rf"[ \[]{target}[ ,\]]", weekly), target


def test_every_target_does_something() -> None:
    """Make says nothing about a target that is phony and has lost its rule: it succeeds."""
    text = (ROOT / "Makefile").read_text()
    named = {name for line in re.findall(r"^\.PHONY: (.*)$", text, flags=re.MULTILINE) for name in line.split()}
    rules = re.findall(r"^([a-z-]+):.*?  ## .*\n(?=\t|build:|\n)", text, flags=re.MULTILINE)
    assert named == set(rules)
    for page in (*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")):
        for target in re.findall(r"`make ([a-z][a-z-]*)", page.read_text()):
            assert target in named, (page, target)


def test_contributing_lists_every_target() -> None:
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    rows = [f"| `make {line.split(maxsplit=1)[0]}` | {line.split(maxsplit=1)[1]} |" for line in listed.splitlines()]
    table = "\n".join(["| target | what it does |", "|---|---|", *rows])
    assert f"\n\n{table}\n\n" in (ROOT / "CONTRIBUTING.md").read_text(), f"its table should be\n{table}"


def test_a_call_runs_little_python_around_the_kernel() -> None:
    graph = rs.Graph.grid(10, 20)
    rho = np.zeros(graph.n)
    rs.astar(graph, graph.length, 0, 199, rho)
    found = count_calls(lambda: rs.astar(graph, graph.length, 0, 199, rho))
    # The lambda, astar and one function below it, and the kernel; make bench-overhead has the microseconds.
    assert found["call"] <= 4
    assert found["c_call"] <= 2


@pytest.mark.parametrize("lock", ["run.txt", "dev.txt"])
def test_the_lock_pins_everything_and_names_no_host(lock: str) -> None:
    text = (ROOT / "locks" / lock).read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip()]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[^\s/]+( ; .*?)?( +--hash=sha256:[0-9a-f]{64})+ *", line), line


def test_the_version_is_the_same_everywhere() -> None:
    assert metadata.version("rhostar") == rs.__version__
    newest = re.search(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert re.fullmatch(rf"## {re.escape(rs.__version__)} \((unreleased|\d{{4}}-\d\d-\d\d)\)", newest[0]), newest[0]
    assert f"version: {rs.__version__}" in (ROOT / "CITATION.cff").read_text().splitlines()


def test_the_first_example_prints_what_it_should_and_draws(tmp_path: Path) -> None:
    example = ROOT / "examples" / "first_search.py"
    done = subprocess.run([sys.executable, example, tmp_path], capture_output=True, text=True, check=True)
    rows = [line.rsplit(maxsplit=2) for line in done.stdout.splitlines()[2:5]]
    dijkstra, octile, learned = (float(row[1]) for row in rows)
    assert dijkstra > 1.5 * octile > 7 * learned
    assert (tmp_path / "first_search.png").stat().st_size > 50_000


def readme_block(part: str) -> str:
    """Return the block of printed text in the README that has this part."""
    blocks = pages.BLOCK.finditer((ROOT / "README.md").read_text())
    (found,) = (block[2] for block in blocks if block[1] == "" and part in block[2])
    return found


def assert_shows(shown: str, printed: str, *, times: bool = False) -> None:
    """Assert that a block shows a part of what is printed: the same words, nearly the same numbers, except times."""
    words, numbers = words_and_numbers(shown)
    all_words, all_numbers = words_and_numbers(printed)
    assert words in all_words, f"{words}\nis not in\n{all_words}"
    start = all_words[: all_words.index(words)].count("#")
    found = all_numbers[start : start + len(numbers)]
    if times:
        found, numbers = ([x for x in these if x == 0 or x > 0.1] for these in (found, numbers))
    assert found == pytest.approx(numbers, rel=0.05, abs=0.02)


def test_the_commands_of_the_readme_print_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(ROOT / "examples" / "own_files.py"))["main"](tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = [block[2] for block in pages.BLOCK.finditer((ROOT / "README.md").read_text()) if block[1] == "sh"]
    lines = [shlex.split(line, comments=True) for line in "".join(blocks).splitlines()]
    calls = [words[1:] for words in lines if words[0] == "rhostar"]
    assert [words[0] for words in calls] == ["import", "route", "learn", "evaluate", "certify", "audit", "report"]
    printed = {}
    for words in calls:
        assert main(words) == 0
        printed[words[0]] = capsys.readouterr().out
        assert max(map(len, printed[words[0]].splitlines())) <= 80, words
    for name, shown in zip(("route", "evaluate"), readme_block("a131\n").split("\n\n"), strict=True):
        assert_shows(shown, printed[name], times=True)
    assert (tmp_path / "report.html").stat().st_size > 100_000


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_says(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rhostar", "demo", "--out", str(tmp_path)]
    demo = subprocess.run(command, capture_output=True, text=True, check=True)
    printed, _, place = demo.stdout.rpartition("The page, with the searches to watch: ")
    shown = readme_block("in a city of")
    assert shown.count("\n") >= 10
    assert_shows(shown, printed)
    assert max(map(len, printed.splitlines())) <= 80
    page = Path(place.rsplit(" (", 1)[0])
    assert 100_000 < page.stat().st_size < 3_000_000


def test_no_two_test_files_have_one_name() -> None:
    names = [path.name for path in ROOT.glob("tests/**/*.py") if path.name.startswith(("test_", "conftest"))]
    assert len(names) > 100
    assert sorted(names) == sorted(set(names)), "pytest could not import both in one run"


def test_the_picture_of_the_report_is_small() -> None:
    assert (ROOT / "docs" / "images" / "report.png").stat().st_size <= 300_000


def test_make_says_what_to_install_where_there_is_no_compiler(tmp_path: Path) -> None:
    if not (ROOT / ".venv" / ".run").exists():
        pytest.skip("not run by make")
    command = ["make", "-n", "-p", "build"]
    assert "apt install g++" in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    (tmp_path / "src").mkdir()
    for name in ("Makefile", "CMakeLists.txt", "pyproject.toml", "locks", "src/core", "src/rhostar", ".venv"):
        (tmp_path / name).symlink_to(ROOT / name)
    # As if the core had to be built anew, by a compiler that is not there.
    environment = os.environ | {"CXX": "no-such-compiler"}
    failed = subprocess.run(
        ["make", "build", "-W", "CMakeLists.txt", "-o", ".venv/.files"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert failed.returncode != 0
    assert "No C++ compiler (no-such-compiler): install g++" in failed.stdout + failed.stderr


def test_every_package_is_there_after_import_rhostar() -> None:
    """In a fresh process, where nothing else has imported them: each in a child of its own."""
    packages = sorted(path.parent.name for path in (ROOT / "src" / "rhostar").glob("[a-z]*/__init__.pyi"))
    assert {"search", "instances", "learners"} <= set(packages)
    code = """
import os, sys
import rhostar as rs
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        os._exit(getattr(getattr(rs, name, None), "__name__", "") != f"rhostar.{name}")
    if os.waitpid(child, 0)[1]:
        sys.exit(f"rhostar.{name} is not there")
"""
    done = subprocess.run([sys.executable, "-c", code, *packages], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
