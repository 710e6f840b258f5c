"""The report: what it keeps of a search, what it says, and that nothing in it can misbehave."""

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import rhostar as rs
from rhostar.errors import InputError, StorageError
from rhostar.report import _encoding as encoding
from rhostar.report import _figures as drawings
from rhostar.report._page import render, safe_json
from rhostar.report._wording import percent
from rhostar.search._trace import Event
from support.cases import random_case
from support.failures import no_space
from support.reports import HOSTILE, decode, full_report, read_varints, small_set


class Elements(HTMLParser):
    """Collects the elements of a page and checks that they are closed in order."""

    VOID = frozenset({"meta", "link", "input", "br", "img", "path", "circle", "rect", "use"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.stack: list[str] = []
        self.feed(text)
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.stack.pop() == tag


# ---------------------------------------------------------------- the course of a search


@given(st.lists(st.integers(0, 2**52), max_size=200))
def test_variable_length_integers_come_back(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    data = encoding.varints(array)
    assert read_varints(data).tolist() == values
    assert len(data) == sum(max(1, -(-v.bit_length() // 7)) for v in values)


def test_the_events_of_a_search_come_back() -> None:
    rng = np.random.default_rng(5)
    for _ in range(400):
        case = random_case(rng)
        trace = case.run(trace=True).trace
        events, last_closed = encoding.encode(trace, case.source)
        codes, vertices = decode(events, case.source)
        kept = trace.kind != Event.CLOSE
        page_code = {Event.SELECT: 0, Event.OPEN: 1, Event.IMPROVE: 2, Event.REOPEN: 3, Event.GOAL: 4}
        assert codes.tolist() == [page_code[k] for k in trace.kind[kept].tolist()]
        assert vertices.tolist() == trace.vertex[kept].tolist()
        # What the page leaves out can be told from the rest: a vertex is closed when the next one is selected.
        closed = trace.vertex[trace.kind == Event.CLOSE].tolist()
        selected = trace.selected.tolist()
        assert closed == (selected if last_closed else selected[:-1])


def test_an_event_of_a_large_search_takes_two_or_three_bytes() -> None:
    graph = rs.Graph.grid(200, 200, neighbors=8)
    weights = graph.length * np.random.default_rng(0).uniform(1, 2, graph.m)
    trace = rs.astar(graph, weights, 0, graph.n - 1, np.zeros(graph.n), trace=True).trace
    events, _ = encoding.encode(trace, 0)
    assert len(events) < 2.5 * np.count_nonzero(trace.kind != Event.CLOSE)


def test_places_keep_the_order_of_coordinates() -> None:
    graph = rs.Graph.from_edges(3, [0, 1], [1, 2], coordinates=[(0, 0), (10, 5), (20, 1)])
    drawing = encoding.drawing(graph)
    assert np.frombuffer(drawing.x, "<u2").tolist() == [0, 32768, 65535]
    assert np.frombuffer(drawing.y, "<u2").tolist() == [65535, 0, 52428]  # north is up
    assert drawing.aspect == 2.0
    pairs = read_varints(drawing.edges).reshape(-1, 2)
    assert np.cumsum(pairs[:, 0]).tolist() == [0, 1]
    assert pairs[:, 1].tolist() == [1, 1]
    assert drawing.placed_by == "coordinates"


def test_longitudes_are_shortened_where_coordinates_are_degrees() -> None:
    graph = rs.Graph.from_edges(2, [0], [1], coordinates=[(10, 59.5), (11, 60.5)])
    assert encoding.drawing(graph).aspect == pytest.approx(1.0)
    assert encoding.drawing(graph, geographic=True).aspect == pytest.approx(0.5, abs=0.01)


def test_shades_tell_slow_from_blocked() -> None:
    grid = rs.Graph.grid(1, 4)
    weights = np.array([1.0, 1, 1, 5, 5, 9])  # edges 0-1, 1-0, 1-2, 2-1, 2-3, 3-2
    weights[:2] = np.inf
    shade = np.frombuffer(encoding.shade(rs.instances.Instance(grid, weights, 1, 3), weights, weights), np.uint8)
    assert shade[0] == encoding.NO_WAY
    assert 0 <= shade[1] < shade[2] < shade[3] < 255
    graph = rs.Graph.from_edges(3, [0, 1, 1, 2], [1, 0, 2, 1])
    now, low, high = np.array([1.0, 4, 2, 2]), np.ones(4), np.full(4, 4.0)
    strokes = np.frombuffer(encoding.shade(rs.instances.Instance(graph, now, 0, 2), low, high), np.uint8)
    assert strokes.tolist() == [254, 0]  # the slower way of a street counts


# ---------------------------------------------------------------- what it says


def test_bounds_that_were_not_computed_name_their_goals_once() -> None:
    graph = rs.Graph.grid(5, 5)
    weights = np.random.default_rng(0).uniform(1, 2, size=(80, graph.m))
    train = rs.InstanceSet(graph, weights, sources=12, goal=20 + np.arange(80) % 3)[:40]
    learner = rs.learners.PerGoal(rs.learners.MeanDistance()).fit(train)
    found = rs.certify_training(learner, train, rs.utilities.Suboptimality(5.0), lower=1.0, upper=2.0)
    labels = [entry.label for entry in found.dropped]
    shown = rs.report.certificate_section(found).left_out
    assert len(shown) == len(set(labels)) < len(labels)
    assert "U1, goal 20 (similar for 2 more): vacuous: at least 5 of 5 (dimension 356, N = 14)" in shown
    assert "U3: rho is not consistent under the lower bounds" in shown  # for all goals at once
    said = " ".join(str(found).split())
    assert f"Not computed: {', '.join(dict.fromkeys(labels))} (reasons: table.dropped)" in said


@pytest.mark.parametrize("count", [1, 99, 100, 101, 350])
def test_the_99_percent_quantile_is_the_one_of_the_answers(count: int) -> None:
    """99 % of the answers are at most that far above the optimum, and fewer are below; the page shows it."""
    graph = rs.Graph.grid(7, 7)
    weights = np.random.default_rng(count).uniform(1, 4, size=(count, graph.m))
    instances = rs.InstanceSet(graph, weights, sources=0, goal=48)
    rho = 3 * rs.heuristics.euclidean(graph, 48)
    report = rs.report.build(
        instances, {"zero": np.zeros(49), "three": rs.report.Method(rho, kind="learned")}, scenes=0
    )
    excess = rs.solve_many(instances, rho).cost / rs.solve_many(instances, np.zeros(49)).cost - 1
    found = report.methods[1]
    assert found.excess_99 == pytest.approx(np.quantile(excess, 0.99, method="inverted_cdf"), rel=1e-9, abs=1e-12)
    assert found.excess_99 == pytest.approx(np.sort(excess)[-(-99 * count // 100) - 1], rel=1e-9, abs=1e-12)
    assert (found.excess_99 < found.excess_max) == (count >= 100)
    shown = [percent(share) for share in (found.excess, found.excess_99, found.excess_max)]
    page = render(report)
    row = page[page.index("Table of all methods") :].split("<tr")[3]
    assert re.findall(r'<td data-label="([^"]+)">([^<]+)</td>', row)[-3:] == [
        ("costlier than the best route, mean", shown[0]),
        ("99\xa0% of answers at most", shown[1]),
        ("worst answer", shown[2]),
    ]
    assert any(f"99 % within {shown[1]}, the worst {shown[2]}" in text for _, text in report.tiles)


def test_numbers_are_those_of_the_searches() -> None:
    instances = small_set()
    rho = 2 * rs.heuristics.octile(instances.graph, instances.graph.n - 1)
    methods = {"zero": np.zeros(instances.graph.n), "twice": rs.report.Method(rho, kind="learned", reopen=False)}
    report = rs.report.build(instances, methods)
    runs = rs.solve_many(instances, rho, reopen=False)
    optimum = rs.solve_many(instances, np.zeros(instances.graph.n)).cost
    found = report.methods[1]
    assert found.algorithm == "A* without reopening"
    assert found.expansions == runs.expanded.mean()
    assert found.excess == pytest.approx(np.mean(runs.cost / optimum) - 1)
    assert found.excess_max == pytest.approx(np.max(runs.cost / optimum) - 1)
    assert found.saving == report.methods[0].expansions / found.expansions
    assert np.mean(runs.expanded <= found.expansions_95) >= 0.95 > np.mean(runs.expanded < found.expansions_95)
    for curve, runs_of in ((report["comparison"].distributions[1], runs),):
        for x, y in zip(curve.x, curve.y, strict=True):
            assert y == np.mean(runs_of.expanded <= x)
    saving = rs.solve_many(instances, np.zeros(72)).expanded / runs.expanded
    scenes = report["replay"].scenes
    assert [s.label.split(":")[0] for s in scenes] == ["typical query", "worst query", "best query"]
    expanded = [(s.searches[0].expanded, s.searches[1].expanded) for s in scenes]
    assert expanded[1][0] / expanded[1][1] == saving.min()
    assert expanded[2][0] / expanded[2][1] == saving.max()


def test_per_cent_never_hides_a_difference() -> None:
    assert percent(0.0) == "0 %"
    assert percent(1e-9) == "0.001 %"
    assert percent(np.inf) == "?"


def test_searches_that_do_not_fit_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = small_set()
    methods = {
        "zero": np.zeros(72),
        "good": rs.heuristics.octile(instances.graph, 71),
        "greedy": rs.report.Method(np.arange(72.0)[::-1].copy(), "gbfs"),
    }
    whole = rs.report.build(instances, methods, scenes=1)["replay"].scenes[0]
    sizes = {s.method: len(s.events) for s in whole.searches}
    assert max(sizes, key=sizes.get) == "zero"
    monkeypatch.setattr("rhostar.report._replay.REPLAY_BYTES", len(whole.shade) + sum(sizes.values()) - 1)
    scene = rs.report.build(instances, methods, scenes=1)["replay"].scenes[0]
    assert len(scene.left_out) == 1
    monkeypatch.setattr("rhostar.report._replay.REPLAY_BYTES", 1)
    report = rs.report.build(instances, methods)
    assert "replay" not in [section.name for section in report.sections]
    assert 'id="replay"' not in render(report)


def test_several_goals_and_searches_out_of_budget() -> None:
    graph = rs.Graph.grid(6, 6)
    instances = rs.InstanceSet(graph, graph.length, sources=[0, 3, 7], goal=[35, 30, 35])
    tables = {g: rs.heuristics.euclidean(graph, g) for g in (30, 35)}
    report = rs.report.build(
        instances, {"zero": np.zeros(36), "own": rs.report.Method(tables, kind="learned")}, budget=8
    )
    assert report.methods[0].solved < 3
    text = render(report)
    assert f'data-label="answered">{report.methods[0].solved:,} / 3' in text
    assert f"It answers {report.methods[1].solved:,} of them within the budget." in report.lead
    assert "NaN" not in text


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({}, "at least one heuristic"),
        ({"a": rs.report.Method(np.zeros(72), "dijkstra")}, "'astar' or 'gbfs'"),
        ({"a": rs.report.Method(np.zeros(72), kind="magic")}, "'baseline' or 'learned'"),
        ({"a": np.zeros(7)}, "rho must have one value for each of the 72 vertices"),
    ],
)
def test_bad_methods_are_refused(methods: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rs.report.build(small_set(), methods)


# ---------------------------------------------------------------- the page


def test_the_page_is_whole_and_loads_nothing() -> None:
    text = render(full_report(small_set()))
    page = Elements(text)
    ids = [attributes["id"] for _, attributes in page.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in page.found:
        for name in ("src", "href", "xlink:href", "action", "data", "poster"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), (tag, attributes)
        assert not [name for name in attributes if name.startswith("on")]
    assert "url(http" not in text
    assert "@import" not in text
    for anchor in re.findall(r'href="#([^"]+)"', text):
        assert anchor in ids
    for section in ("replay", "comparison", "certificate", "setting"):
        assert section in ids


def test_a_hostile_name_stays_text_everywhere() -> None:
    text = render(full_report(small_set(labels=True), HOSTILE))
    page = Elements(text)
    assert [tag for tag, _ in page.found].count("script") == 4  # three of ours, and the data
    assert "img" not in [tag for tag, _ in page.found]
    assert "<img" not in text.lower()
    assert "<!--" not in text
    data = json.loads(re.search(r'id="replay-data">(.*?)</script>', text, re.DOTALL).group(1))
    assert data["labels"]["71"] == f"{HOSTILE}71"
    assert data["scenes"][0]["searches"][1]["method"] == HOSTILE


@given(st.text())
def test_json_inside_a_script_cannot_leave_it(text: str) -> None:
    inside = safe_json({"label": text})
    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == {"label": text}


def test_scripts_that_are_not_the_pages_own_are_refused() -> None:
    text = render(full_report(small_set()))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert "default-src 'none'" in policy
    assert policy.count("sha256-") == 3
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_colors_of_the_figures_are_those_of_the_page() -> None:
    style = (Path(drawings.__file__).parent / "templates" / "style.css").read_text()
    for name, color in drawings.COLORS.items():
        assert f"--{name}: {color};" in style
    report = full_report(small_set())
    figures = {name: draw for section in report.sections for name, draw in section.figures().items()}
    assert len(figures) == 3
    for name, draw in figures.items():
        svg = drawings.inline(draw(), name, "a figure")
        assert "var(--" in svg
        assert not [c for c in drawings.COLORS.values() if c in svg]


def _luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


@pytest.mark.parametrize("theme", ["style.css", "dark.css"])
def test_text_has_enough_contrast(theme: str) -> None:
    text = (Path(drawings.__file__).parent / "templates" / theme).read_text()
    color = dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6});", text.split("$dark")[0]))

    def contrast(a: str, b: str) -> float:
        light, dark = sorted((_luminance(color[a]), _luminance(color[b])), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    for ink in ("ink", "muted", "accent", "good"):
        for paper in ("paper", "card"):
            assert contrast(ink, paper) >= 4.5, (ink, paper)
    assert contrast("muted", "soft") >= 4.5
    assert contrast("accent", "accent-soft") >= 4.5
    assert contrast("on-accent", "accent") >= 4.5
    for mark in ("c1", "c2", "c3", "c4", "c5", "c6", "c7"):
        assert contrast(mark, "card") >= 3, mark
    for mark in ("closed-early", "again", "path"):
        assert contrast(mark, "canvas") >= 3, mark


# ---------------------------------------------------------------- files


def test_the_page_is_written(tmp_path: Path) -> None:
    page = rs.report.write(full_report(small_set()), tmp_path / "new" / "report.html")
    assert page.read_text().startswith("<!doctype html>")
    assert [p.name for p in page.parent.iterdir()] == ["report.html"]


def test_a_page_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = full_report(small_set())
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="could not write"):
        rs.report.write(report, tmp_path / "file" / "report.html")
    target = tmp_path / "report.html"
    target.write_text("old")
    monkeypatch.setattr(Path, "replace", no_space)
    with pytest.raises(StorageError, match="No space left"):
        rs.report.write(report, target)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "report.html"]
    assert target.read_text() == "old"
    with pytest.raises(InputError, match="must be made by"):
        rs.report.write("no report", target)


def test_a_page_with_searches_of_forty_thousand_vertices_stays_small(tmp_path: Path) -> None:
    graph = rs.Graph.grid(200, 200, neighbors=8)
    weights = graph.length * np.random.default_rng(0).uniform(1, 2, size=(4, graph.m))
    instances = rs.InstanceSet(graph, weights, 0, graph.n - 1)
    methods = {f"zero {k}": np.zeros(graph.n) for k in range(3)} | {"octile": rs.heuristics.octile(graph, graph.n - 1)}
    page = rs.report.write(rs.report.build(instances, methods), tmp_path / "report.html")
    assert page.stat().st_size < 3_000_000


# ---------------------------------------------------------------- sections, and work done once


@dataclass(frozen=True)
class Greeting(rs.report.Section):
    """A section that this package does not know."""

    name: ClassVar[str] = "greeting"
    title: ClassVar[str] = "Hello"
    heading: ClassVar[str] = "A <greeting>"
    whom: str

    def figures(self) -> dict:
        def draw() -> Figure:
            figure = Figure()
            figure.subplots().plot([1, 2])
            return figure

        return {"wave": draw}

    def tiles(self) -> list[tuple[str, str]]:
        return [("1", "greeting")]

    def body(self, chart: Any) -> str:
        return f"<p>{self.whom}</p>" + chart("wave", "a wave", "Waving.") + chart("none", "", "")

    def data(self) -> dict[str, str]:
        return {"whom": self.whom}


def test_a_section_of_ones_own_joins_the_page(tmp_path: Path) -> None:
    report = rs.report.build(small_set(), {"zero": np.zeros(72)}, sections=[Greeting("world")])
    rs.report.write(report, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    page = Elements(text)
    assert [attributes.get("id") for tag, attributes in page.found if tag == "section"] == [
        "replay",
        "comparison",
        "greeting",
        "setting",
    ]
    assert '<a href="#greeting">Hello</a>' in text
    assert '<h2 id="greeting-title">A &lt;greeting&gt;</h2>\n<p>world</p><figure' in text
    assert '<script type="application/json" id="greeting-data">{"whom":"world"}</script>' in text
    assert ("1", "greeting") in report.tiles
    assert report["greeting"].whom == "world"
    with pytest.raises(InputError, match=r"must contain sections of .*, got str"):
        rs.report.build(small_set(), {"zero": np.zeros(72)}, sections=["greeting"])


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many instances each call of solve_many was given, wherever it is called from."""
    counts: list[int] = []

    def counting(instances: rs.InstanceSet, *words: Any, **options: Any) -> rs.search.Runs:
        counts.append(len(instances))
        return solve_many(instances, *words, **options)

    solve_many = rs.solve_many
    for module in ("report._build", "utilities._evaluate"):
        monkeypatch.setattr(f"rhostar.{module}.solve_many", counting)
    return counts


def test_the_optimum_is_what_dijkstra_found(solved: list[int]) -> None:
    rs.report.compare(small_set(), {"octile": rs.heuristics.octile(small_set().graph, 71)})
    assert len(solved) == 2  # the optimum, and the method
    solved.clear()
    found = rs.report.compare(small_set(), {"zero": np.zeros(72), "ones": np.ones(72)})
    assert len(solved) == 2  # the methods
    assert [m.excess_max for m in found] == [0, 0]
    solved.clear()
    rs.report.compare(small_set(), {"zero": np.zeros(72)}, budget=100)
    assert len(solved) == 2  # a run with a budget may end before the optimum is found


@pytest.mark.parametrize(("options", "offered"), [({}, True), ({"scale": 1.2}, False), ({"goal_delay": True}, False)])
def test_the_page_searches_only_with_values_that_it_computes_exactly(options: dict[str, Any], offered: bool) -> None:
    """In the page, values are distances under one weight per edge; a factor or a delay would give other counts."""
    town = rs.datasets.city(60, seed=1)
    instances = town.draw(20, seed=0)
    learner = rs.learners.Potentials(**options).fit(instances)
    report = rs.report.build(instances, {"Dijkstra": np.zeros(town.graph.n), "learned": learner})
    assert (report["replay"].own is not None) == offered
