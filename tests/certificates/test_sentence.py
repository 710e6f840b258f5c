"""The sentence of a certificate: it names everything that was run and measured, and its digits are true."""

import json
import re
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar.certificates._sentence import confidence, outward
from rhostar.utilities import Cost, Expansions, SolvedWithin, Suboptimality

GRAPH = rs.Graph.grid(4, 4)
STEPS = rs.distances_to(GRAPH, np.ones(GRAPH.m), 15)


def draw(N: int, seed: int = 0, goals: Any = 15) -> rs.InstanceSet:
    rng = np.random.default_rng(seed)
    return rs.InstanceSet(GRAPH, rng.uniform(1, 1.5, size=(N, GRAPH.m)), rng.integers(0, 14, N), goals)


def sentence(rho: Any = None, **options: Any) -> str:
    given = {"holdout": draw(200), "utility": Suboptimality(limit=4.0)} | options
    return rs.certify(2 * STEPS if rho is None else rho, **given).best.sentence


@given(st.floats(1e-300, 0.999999))
def test_confidence_is_never_more_than_is_true(delta: float) -> None:
    text = confidence(delta)
    wrong = Decimal(text.removeprefix("1 - ")) if text.startswith("1 - ") else 1 - Decimal(text)
    assert 0 < Decimal(repr(delta)) <= wrong <= Decimal(repr(delta)) * Decimal("1.01")


@given(st.floats(0, 1e300), st.sampled_from(["upper", "lower"]))
def test_digits_are_rounded_outward(value: float, side: str) -> None:
    printed, exact = Decimal(outward(value, side)), Decimal(repr(value))
    assert printed >= exact if side == "upper" else printed <= exact
    assert abs(printed - exact) <= exact * Decimal("1e-5")


def test_what_was_run_is_said() -> None:
    assert "A* to goal 15 with reopening and this rho" in sentence()
    assert "A* without reopening to goal 15 with this rho" in sentence(reopen=False)
    assert "with reopening, a budget of 7 expansions and this rho" in sentence(budget=7, utility=Cost(limit=9.0))
    assert "with a budget of 1 expansion and this rho" in sentence(budget=1, algorithm="gbfs", utility=Cost(limit=9.0))
    greedy = sentence(algorithm="gbfs", utility=Expansions(limit=16.0))
    assert "the mean number of expanded vertices (values above 16 count as 16; none did)" in greedy
    assert "of greedy best-first search to goal 15 with this rho" in greedy
    assert "near-optimal answers (at most 1.25 times the optimum)" in sentence(utility=SolvedWithin(1.25))
    assert "the share of optimal answers of A*" in sentence(utility=SolvedWithin(1.0))
    goals = np.where(np.arange(200) % 2, 15, 14)
    assert "to goals drawn as these 2 were" in sentence(
        {14: STEPS, 15: STEPS}, holdout=draw(200, goals=goals), utility=Cost(limit=9.0)
    )


def test_the_clipped_share_is_printed() -> None:
    """A limit below most costs makes the mean of clipped costs small: the reader must see it."""
    table = rs.certify(STEPS, draw(500), Cost(limit=3.0))
    runs = rs.solve_many(draw(500), STEPS)
    share = np.mean(runs.cost > 3.0)
    assert share > 0.5
    assert f"(values above 3 count as 3; {100 * share:.3g}% did)" in table.best.sentence
    assert table.best.clipped == share
    assert table.best.value < runs.cost.mean(), "which is why"


def test_small_delta_is_not_certainty() -> None:
    """At 1e-9 the probability has nine nines, not the word 1."""
    assert "With probability at least 0.999999999 over the draw of the 200 instances" in sentence(delta=1e-9)
    assert "0.9833" in sentence(by=np.arange(200) % 3)


def test_every_rho_is_this_rho_chosen_by_looking() -> None:
    """The number is this ρ's own: for another ρ of the family it would be false."""
    train = draw(3000)
    for options in (
        {"lower": 1.0, "upper": 1.5},
        {"utility": Expansions(limit=16.0)},
        {"utility": Expansions(limit=16.0), "algorithm": "gbfs"},
    ):
        table = rs.certify_training(1.3 * STEPS, train, **({"utility": Suboptimality(limit=4.0)} | options))
        for row in table:
            assert "any other" not in row.sentence
            if row.delta > 0:
                assert "this rho, though it was chosen by looking at these instances, is at most" in row.sentence
                worst = rs.evaluate(
                    40 * np.cos(np.arange(16.0)), train, options.get("utility", Suboptimality(limit=4.0)),
                    algorithm=options.get("algorithm", "astar"),
                )[0].mean  # fmt: skip
                assert row.observed < worst


def test_what_is_measured_is_what_is_claimed() -> None:
    """Bounds through inconsistency print the excess, not the inconsistency, which is another number."""
    train = draw(3000)
    table = rs.certify_training(1.6 * STEPS, train, Suboptimality(limit=4.0), lower=1.0, upper=1.5)
    excess = rs.evaluate(table.rho, train, Suboptimality(limit=4.0))[0].mean
    for label in ("U1", "U2"):
        assert table[label].measured["mean inconsistency"] > 1.2 * excess
        assert f"(measured {excess:.6g})" in table[label].sentence


def test_certain_names_its_condition() -> None:
    certain = sentence(STEPS, lower=1.0)
    condition = "no weight falls below its lower bound and no answer costs more than 6,000"
    assert certain.startswith(f"As long as {condition}, every answer of A*")
    ranged = sentence(1.1 * STEPS, lower=1.0)
    assert "if no weight falls below its lower bound and no answer costs more than 7,000 (measured" in ranged
    assert "clipped" not in ranged, "no answer can reach the limit"
    never = sentence(np.zeros(16), lower=0.0)
    assert never.startswith("As long as no answer costs more than 4,000, every answer"), "weights are never below 0"
    whole = rs.InstanceSet(GRAPH, np.random.default_rng(0).integers(1, 4, (50, GRAPH.m)), 0, 15)
    exact = rs.certify_training(np.zeros(16), whole, Suboptimality(limit=4.0), integer_weights=3)
    assert exact.best.sentence.startswith("As long as all weights are integers up to 3, every answer of A*")


def test_quantiles() -> None:
    text = sentence(quantile=0.9)
    assert re.search(r"at least 90% of the answers of A\* .* have a cost above the optimum of at most [\d.]+ on", text)
    assert "99.5%" in sentence(quantile=0.995, holdout=draw(1000))
    few = sentence(quantile=0.999)
    assert few.startswith("Nothing is guaranteed about the cost above the optimum of 99.9% of the answers of A*")
    assert few.endswith("200 instances are too few, 2,995 are needed.")


def test_one_sentence_everywhere(tmp_path: Any) -> None:
    """Terminal, notebook, JSON, a model file and the report have the same words."""
    from rhostar import report

    table = rs.certify(2 * STEPS, draw(300), Suboptimality(limit=4.0), budget=50, reopen=False)
    said = table.best.sentence
    assert said in " ".join(str(table).split())
    assert said in table._repr_html_()
    assert json.loads(table.to_json())["rows"][0]["sentence"] == said
    assert rs.certificates.CertificateTable.from_json(table.to_json()).best.sentence == said
    assert report.certificate_section(table).sentence == said
    assert report.certificate_section(table.to_dict()).sentence == said
    minutes = report.certificate_section(table, subject="minutes lost").sentence
    assert minutes == said.replace("the mean cost above the optimum", "the mean number of minutes lost")
    model = rs.Model.of(2 * STEPS, GRAPH).with_certificate(table.to_dict())
    model.save(tmp_path / "m.npz")
    kept = rs.Model.load(tmp_path / "m.npz").certificate
    assert rs.certificates.CertificateTable.from_dict(kept).best.sentence == said


def test_the_tile_of_a_page_says_which_number_it_is() -> None:
    from rhostar import report

    table = rs.certify(2 * STEPS, draw(300), Suboptimality(limit=4.0), delta=1e-9)
    ((number, words),) = report.certificate_section(table, subject="minutes lost").tiles()
    assert words == (
        "minutes lost, on average, A* to goal 15 with reopening (values above 4 count as 4; none did); guaranteed on "
        "new instances drawn as these were with probability at least 0.999999999"
    )
    assert float(number.removeprefix("≤ ")) >= table.best.value
    ((_, plain),) = report.certificate_section(table).tiles()
    assert plain.startswith("costlier than the best route, on average, A* to goal 15 with reopening (values above 4")
