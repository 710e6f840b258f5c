"""The page of an audit: everything that was found is on it, and names from outside are escaped."""

import html
import re
from pathlib import Path

import networkx as nx
import pytest

import rhostar as rs


@pytest.fixture(scope="module")
def found() -> tuple[rs.certificates.Audit, rs.certificates.WeightCurve, rs.certificates.WeightChoice]:
    instances = rs.datasets.city(200, seed=3).draw(400, seed=1)
    heuristic = rs.heuristics.euclidean(instances.graph).scaled(2.5)
    return (
        rs.audit(heuristic, instances),
        rs.weight_curve(heuristic, instances, factors=(0.4, 0.6, 1.0), exact=5),
        rs.choose_weight(heuristic, instances, factors=(0.4, 0.6, 1.0)),
    )


def words(page: str) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).replace("\u00a0", " ").split())


def test_everything_is_on_the_page(found: tuple, tmp_path: Path) -> None:
    audit, curve, choice = found
    page = rs.report.write(rs.report.audit_page(audit, curve, choice), tmp_path / "audit.html").read_text()
    said = words(page)
    for sentence in (*audit.sentences, audit.conditions, *audit.notes, choice.sentence, choice.conditions):
        assert " ".join(sentence.split()) in said
    assert page.count("<svg") >= 4
    assert f"× {choice.factor:g}" in said
    for tile in (f"≤ {rs.certificates._statements.percent(audit[key].high)}" for key in ("too high", "mean loss")):
        assert tile in said


def test_a_log_and_a_right_heuristic_have_no_map(tmp_path: Path) -> None:
    log = rs.certificates.QueryLog([2.0, 3.0], estimate=[1.0, 4.0])
    report = rs.report.audit_page(rs.audit(log))
    assert report.lead == "50% of the estimates are too high."
    assert list(report["estimates"].figures()) == ["estimates"]
    right = rs.report.audit_page(rs.audit(lambda u, v: 0.0, nx.path_graph(9)))
    assert right.lead == "All of these answers are optimal."
    assert list(right["estimates"].figures()) == ["estimates"]
    only_costs = rs.report.audit_page(rs.audit(rs.certificates.QueryLog([2.0, 3.0], cost=[2.0, 4.0])))
    assert 'id="estimates"' not in rs.report.render(only_costs)


def test_names_cannot_become_markup() -> None:
    G = nx.DiGraph([("<script>alert(1)</script>", "b", {"weight": 1.0}), ("b", "<i>c", {"weight": 1.0})])
    audit = rs.audit(lambda u, v: 5.0 * (u != v), G, pairs=[("<script>alert(1)</script>", "<i>c"), ("b", "<i>c")])
    page = rs.report.render(rs.report.audit_page(audit, title="<b>"))
    assert "<script>alert" not in page
    assert "<i>c" not in page + audit._repr_html_()
