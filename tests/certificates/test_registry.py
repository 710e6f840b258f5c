"""The registry of bounds, and how certificates and tables show themselves."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar.certificates import _training_bounds as registry
from rhostar.certificates._training_bounds import Setting
from rhostar.instances._provenance import provenance
from rhostar.utilities import Expansions, SolvedWithin

GRAPH = rs.Graph.grid(4, 4)
WORK = Expansions(limit=16.0)


def draw(N: int, seed: int = 0) -> rs.InstanceSet:
    weights = np.random.default_rng(seed).uniform(1, 1.5, size=(N, GRAPH.m))
    return rs.InstanceSet(GRAPH, weights, sources=0, goal=15)


RHO = rs.distances_to(GRAPH, np.ones(GRAPH.m), 15)


def table(utility: Any = WORK, **options: Any) -> rs.certificates.CertificateTable:
    return rs.certify(RHO, draw(200), utility, **options)


def on_train(train: rs.InstanceSet, utility: Any = WORK, **options: Any) -> rs.certificates.CertificateTable:
    return rs.certify_training(RHO, train, utility, **options)


def test_a_star_is_the_default() -> None:
    assert "A*" in table().title
    assert table().best.value == table(algorithm="astar").best.value


def test_a_new_bound_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that is right with probability 0 takes its place, and nothing else is touched."""
    before = on_train(draw(3000, 1))

    def half(setting: Setting) -> Iterator[registry.Bound]:
        yield registry.Bound(
            "half",
            "wishful thinking",
            "this rho",
            value=lambda measured, level: measured.losses.mean() / 2 + level,
            smallest=0.0,
            planned=0.0,
            assumptions=("luck",),
            measured=lambda measured: {"largest": float(measured.losses.max())},
        )

    monkeypatch.setattr(registry, "REGISTRY", (*registry.REGISTRY, half))
    after = on_train(draw(3000, 1))
    assert len(after) == len(before) + 1
    assert after.best.label == after[0].label == "half", "it is the narrowest beforehand"
    assert after["half"].value == after["half"].observed, "no bound is below what was measured"
    assert after["half"].assumptions == ("luck",)
    assert set(after["half"].measured) == {"largest"}
    assert {row.delta for row in after} == {0.05}


def test_bounds_state_what_they_need_and_no_more() -> None:
    integers = rs.InstanceSet(GRAPH, np.random.default_rng(0).integers(1, 4, size=(2000, GRAPH.m)), 0, 15)
    common: dict[str, Any] = {"integer_weights": 3, "out_degree": 4}
    counted = on_train(integers, **common)["H1-kl C1p"].assumptions
    assert "all weights are integers in 0..3 (checked here)" in counted
    assert not any("children" in text for text in counted), "C1p does not count by the out-degree"
    greedy = on_train(integers, **common, algorithm="gbfs")["H1-kl Gp"].assumptions
    assert not any("integers" in text for text in greedy)
    rows = {row.label: row for row in rs.bounds.capacities(207, parameters=1, out_degree=4, integer_weights=3)}
    assert rows["Dp"].assumes == rows["D"].assumes == rows["C4"].assumes == ("no vertex has more than 4 children",)
    assert rows["I"].assumes == rows["C2"].assumes == ("all weights are integers in 0..3",)
    assert rows["A"].assumes == rows["Q64"].assumes == ()


def test_keys_can_be_typed() -> None:
    everything = [
        *(row.label for name in ("astar", "gbfs") for row in rs.pseudo_dimension(9, name, integer_weights=2)),
        *(row.label for row in rs.sample_size(n=9, epsilon=0.1, limit=1.0, out_degree=3, spreads=[0.1])),
        *(entry.label for entry in on_train(draw(50, 1), out_degree=4).dropped),
        *(row.label for row in on_train(draw(5000, 1), SolvedWithin(1.0))),
    ]
    assert all(label.isascii() for label in everything)
    assert {"Ap", "Gp", "C1p", "T5p", "H3p with Dp", "U2", "H3p Dp"} <= set(everything)


# ---------------------------------------------------------------- how they show themselves


def test_a_table_is_a_sequence_of_rows() -> None:
    found = table()
    assert len(found) == len(found.rows)
    assert list(found) == list(found.rows)
    assert found[0] is found.rows[0]
    assert found[-1] is found.rows[-1]
    assert found["H4 betting"] in found
    with pytest.raises(IndexError):
        found[len(found)]
    with pytest.raises(rs.errors.InputError, match="no row 'U9'"):
        found["U9"]


def test_reprs_are_short() -> None:
    found = table()
    learner = rs.learners.MeanDistance().fit(draw(500))
    other = provenance(draw(500), draw(500))
    for shown in (
        found,
        found[0],
        on_train(draw(300, 1)).dropped[0],
        rs.sample_size(n=50, epsilon=0.1, limit=1.0),
        rs.pseudo_dimension(50),
        rs.bounds.capacities(50)[0],
        rs.bounds.hoeffding([0.5, 0.5], 1.0),
        learner.heuristic_.trained_on,
        other,
        rs.Model.of(learner, GRAPH),
        rs.certificates.Linear(base=np.zeros(500), features=np.ones((500, 30)), built_from=()),
        rs.certificates.Quantized(levels=np.arange(256.0), goal=3),
        rs.certificates.FullTable(),
        rs.Monitor(found),
    ):
        assert len(repr(shown)) <= 160, repr(shown)
        assert "\n" not in repr(shown)
    best = found.best
    assert repr(found).endswith(f"bounds, guarantee {best.label} {best.claim})")
    assert repr(best) == f"Certificate({best.label}: mean {best.claim} for this rho)"
    assert repr(learner.heuristic_.trained_on).startswith("Provenance(500 instances of ")


def test_html_is_escaped_and_needs_nothing_from_elsewhere() -> None:
    utility = rs.utilities.Custom(20.0, lambda instance, trace: 1.0, "<b>&length")
    found = table(utility)
    for page in (
        found._repr_html_(),
        rs.sample_size(n=50, epsilon=0.1, limit=1.0)._repr_html_(),
        rs.pseudo_dimension(50)._repr_html_(),
    ):
        assert page.startswith(("<table>", "<p>The mean &lt;b&gt;&amp;length of A*"))
        assert page.count("<tr>") == page.count("</tr>") > 2
        assert not any(word in page for word in ("src=", "href=", "<script", "color", "http"))
    page = found._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;&amp;length" in page
    assert "&lt;= " in page
    assert found.best.sentence.split(" of the ")[0] in page
