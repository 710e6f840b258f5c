"""One line, one sentence and JSON of a certificate: each names all that was run, and they agree."""

import json
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rhostar as rs
from rhostar import report
from rhostar.certificates import Certificate, CertificateTable
from rhostar.certificates._sentence import percent
from rhostar.errors import InputError
from rhostar.report._certificate import _card
from rhostar.utilities import Cost, Custom, Expansions, Ratio, SolvedWithin, Suboptimality

GRAPH = rs.Graph.grid(4, 4)
STEPS = rs.distances_to(GRAPH, np.ones(GRAPH.m), 15)
SCHEMA = rs.certificates.json_schema()
EXCESS = Suboptimality(limit=4.0)
NUMBER = r"([\d.]+(?:e[+-]?\d+)?)"


def draw(N: int, seed: int = 0, goals: Any = 15, low: float = 1.0) -> rs.InstanceSet:
    rng = np.random.default_rng(seed)
    return rs.InstanceSet(GRAPH, rng.uniform(low, 1.5, size=(N, GRAPH.m)), rng.integers(0, 14, N), goals)


def certify(rho: Any = None, **options: Any) -> CertificateTable:
    given = {"holdout": draw(200), "utility": EXCESS} | options
    return rs.certify(2 * STEPS if rho is None else rho, **given)


def forms(table: CertificateTable) -> dict[str, str]:
    """Return everything that a reader may see of the guarantee."""
    section = report.certificate_section(table)
    tiles = section.tiles()
    return {
        "summary": table.best.summary,
        "sentence": table.best.sentence,
        "brief": " ".join(table.brief.split()),
        "text": " ".join(str(table).split()),
        "report": section.guarantee.sentence,
        "report in full": section.sentence,
        **({"tile": tiles[0][1]} if tiles else {}),
    }


def every_kind() -> list[CertificateTable]:
    two = np.where(np.arange(200) % 2, 15, 14)
    clusters = rs.learners.Portfolio(random_state=0).fit(draw(60, seed=3))
    return [
        certify(),
        certify(quantile=0.9975),
        certify(quantile=0.9, holdout=draw(200), utility=Suboptimality(limit=np.inf)),
        certify(budget=3, utility=Cost(limit=9.0)),
        certify(budget=3, utility=Cost(limit=9.0), quantile=0.9),
        certify(budget=9, reopen=False, utility=Ratio(limit=3.0)),
        certify(algorithm="gbfs", utility=Expansions(limit=16.0), budget=7),
        certify([2 * STEPS, STEPS, 1.5 * STEPS], utility=Expansions(limit=16.0)),
        certify(by=np.arange(200) % 3),
        certify({14: STEPS, 15: STEPS}, holdout=draw(200, goals=two), utility=Cost(limit=9.0), by="goal"),
        certify(STEPS, lower=1.0),
        certify(1.1 * STEPS, lower=1.0),
        certify(utility=SolvedWithin(1.25)),
        certify(utility=Custom(20.0, lambda instance, trace: float(len(trace)), "steps")),
        certify(clusters),
        certify(groups=np.arange(200) % 4),
        certify(holdout=draw(2)),
        rs.certify_training(1.3 * STEPS, draw(3000), EXCESS, lower=1.0, upper=1.5),
        rs.certify_training(1.3 * STEPS, draw(3000), EXCESS, lower=1.0, caps=1.2),
        rs.certify_training(STEPS, draw(20), Expansions(limit=16.0)),
    ]


@pytest.fixture(scope="module")
def tables() -> list[CertificateTable]:
    return every_kind()


# ---------------------------------------------------------------- they agree


def test_the_three_forms_agree(tables: list[CertificateTable]) -> None:
    """What one can read in the line and in the sentence is what JSON has."""
    for row in (row for table in tables for row in table):
        plain = json.loads(row.to_json())
        assert (plain["summary"], plain["sentence"]) == (row.summary, row.sentence)
        forms = (row.summary, row.sentence)
        assert all(plain["population"] in text for text in forms)
        if row.vacuous:
            assert row.summary.startswith("Nothing is guaranteed about")
            assert "which is vacuous" in row.sentence or row.sentence.startswith("Nothing is guaranteed about")
            continue
        for text, digits in zip(forms, (3, 6), strict=True):
            words = rf"to within {NUMBER}" if row.optimal else rf"{'most' if row.side == 'upper' else 'least'} {NUMBER}"
            claim = text if row.statistic == "mean" else re.sub(r"[Aa]t least [\d.]+% of", "", text)
            claim = re.sub(r"probability at least [^ ]+ ", "", claim)
            claim = re.sub(r"\(at most [\d.]+ times the optimum\)", "", claim)
            number = float(re.search(words, claim)[1])
            sign = 1 if row.side == "upper" else -1
            assert 0 <= sign * (number - row.value) <= 1.1 * 10 ** (1 - digits) * abs(row.value), text
            sure = re.search(r"probability at least ([\d.]+)", text)
            assert (row.delta == 0) == (sure is None)
            if sure:
                assert 0 <= (1 - row.delta) - float(sure[1].rstrip(".")) < 0.01 * row.delta + 1e-12
            if row.share is not None:
                share = Decimal(re.search(r"[Aa]t least ([\d.]+)% of the answers", text)[1]) / 100
                assert share <= Decimal(repr(row.share)) < share + Decimal("1e-5")
            for condition in plain["conditions"]:
                assert condition in text
            if row.observed is not None and not row.optimal:
                seen = float(re.search(rf"measured {NUMBER}", text)[1])
                assert seen == pytest.approx(row.observed, rel=1.1 * 10 ** (1 - digits), abs=1e-12)


def test_the_line_has_no_symbols_and_no_codes(tables: list[CertificateTable]) -> None:
    for table in tables:
        for row in table:
            assert "\n" not in row.summary
            assert not re.search(r"\brho\b|\bdelta\b|\bH\d?\b|\bU\d|≤|<=|[α-ωΑ-Ω]|[Ii]nfinity|\binf\b|nan", row.summary)
            assert row.label == "range" or row.label not in row.summary


def test_json_has_a_schema_and_no_infinity(tables: list[CertificateTable]) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    check = jsonschema.Draft202012Validator(SCHEMA)
    for table in tables:
        text = table.to_json()
        plain = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        check.validate(plain)
        again = CertificateTable.from_json(text)
        assert again.rows == table.rows
        assert again.summary == table.summary == plain["summary"]
    infinite = certify(quantile=0.9999).best
    assert infinite.value == np.inf
    assert json.loads(infinite.to_json())["value"] is None
    assert Certificate.from_json(infinite.to_json()) == infinite
    for change in ({"value": "3"}, {"delta": 2}, {"side": "left"}, {"more": 1}, {"conditions": None}):
        damaged = json.loads(tables[0].to_json())
        damaged["rows"][0] |= change
        assert not check.is_valid(damaged)


# ---------------------------------------------------------------- shares, rounded down


@given(st.floats(1e-6, 1 - 1e-9))
def test_a_share_is_rounded_down(share: float) -> None:
    """0.9975 was printed as 99.8%: false in 70 of 200 draws."""
    printed = Decimal(percent(share, "lower", 6).removesuffix("%")) / 100
    exact = Decimal(repr(share))
    assert printed <= exact
    assert exact - printed <= min(exact, 1 - exact) / 100 + Decimal("1e-9")
    assert Decimal(percent(share, "upper").removesuffix("%")) / 100 >= exact


@pytest.mark.parametrize("share", [0.9975, 0.9985, 0.9875])
def test_no_form_rounds_a_share_up(share: float) -> None:
    for text in forms(certify(quantile=share, holdout=draw(3000))).values():
        for printed in re.findall(r"at least ([\d.]+)% of", text):
            assert Decimal(printed) / 100 == Decimal(repr(share))


# ---------------------------------------------------------------- everything that was run


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 5, "utility": Expansions(limit=16.0)}, ["a budget of 5 expansions", "with reopening"]),
        ({"reopen": False}, ["A* without reopening"]),
        ({"candidates": 40}, ["the best of 40 candidates"]),
        ({"rho": [2 * STEPS, 3 * STEPS]}, ["the best of 2 candidates"]),
        ({"algorithm": "gbfs", "utility": Expansions(limit=16.0)}, ["greedy best-first search"]),
        ({"groups": np.arange(200) % 20}, ["new groups drawn as these 20 were"]),
        ({"rho": rs.heuristics.Table(STEPS, 15).scaled(1.75)}, ["(scaled by 1.75)"]),
        (
            {"rho": rs.heuristics.Table(STEPS, 15).scaled(1.5).scaled(2.0), "budget": 9},
            ["(scaled by 3)", "budget of 9"],
        ),
        ({"rho": rs.learners.Potentials(scale=1.6).fit(draw(9, seed=5)), "reopen": False}, ["(scaled by 1.6)"]),
        (
            {"rho": rs.learners.Scaled(rs.learners.Portfolio(n_clusters=3), 1.3).fit(draw(60, seed=3))},
            ["this portfolio of 3 tables", "(scaled by 1.3)"],
        ),
    ],
)
def test_every_form_names_what_was_run(options: dict[str, Any], words: list[str]) -> None:
    table = certify(**options)
    for name, text in forms(table).items():
        for word in (*words, table.best.population):
            assert word in text, name
        assert not re.search(r",[;,.]|, \(", text), name


def test_a_factor_is_kept_in_files_and_in_every_kind_of_certificate(tmp_path: Path) -> None:
    """It was dropped: "this rho" was the same for any factor, and so was JSON."""
    train = draw(60, seed=3)
    learned = rs.learners.MeanDistance().fit(train).heuristic_.scaled(1.25)
    rs.Model.of(rs.learners.Scaled(rs.learners.MeanDistance(), 1.25).fit(train), GRAPH).save(tmp_path / "model.npz")
    read = rs.Model.load(tmp_path / "model.npz")
    several = rs.learners.PerGoal(rs.learners.MeanDistance()).fit(draw(60, seed=3, goals=np.tile([14, 15], 30)))
    weights = rs.learners.Potentials("median", scale=1.25).fit(train)
    found = [
        certify(read).best,
        certify(several.heuristic_.scaled(1.25), holdout=draw(80, goals=np.tile([14, 15], 40))).best,
        certify(weights.heuristic_.only_table() or weights).best,
        rs.certify_training(learned, train, EXCESS, lower=1.0, upper=1.5).best,
        rs.certificates.progressive(rs.learners.Scaled(rs.learners.MeanDistance(), 1.25), train, EXCESS).certificate,
        rs.certificates.certify_any_goal(weights, draw(60, seed=4), caps=2.0, limit=4.0),
    ]
    for one in found:
        assert one.factor == json.loads(one.to_json())["factor"] == 1.25, one.label
        assert "(scaled by 1.25)" in one.sentence
        assert "(scaled by 1.25)" in one.summary
    assert certify(STEPS).best.factor == 1.0
    assert "scaled" not in certify(STEPS).best.sentence


def test_every_form_says_that_it_was_chosen_by_looking() -> None:
    table = rs.certify_training(1.3 * STEPS, draw(3000), EXCESS, lower=1.0, upper=1.5)
    for name, text in forms(table).items():
        assert "chosen by looking at these instances" in text, name
    clusters = rs.learners.Portfolio(random_state=0).fit(draw(60, seed=3))
    found = certify(clusters)
    for name, text in forms(found).items():
        assert clusters.heuristic_.words in text, name
        assert not re.search(r",[;,.]|, \(", text), name
    assert re.fullmatch(r"this portfolio of \d tables?, of which the weights choose one", clusters.heuristic_.words)


def test_a_tile_is_about_what_the_sentence_is_about() -> None:
    """It said "for new queries" of draws from 12 snapshots of the past."""
    pool = rs.InstanceSet(GRAPH, draw(12).weights, sources=0, goal=15)
    table = certify(holdout=pool.draw(300, seed=1))
    assert "draws" in table.best.population
    assert table.best.population in forms(table)["tile"]
    assert "new queries" not in forms(table)["tile"]


def test_answers_that_were_not_found_are_said_as_such() -> None:
    holdout = draw(400)
    for utility in (Cost(limit=9.0), Expansions(limit=16.0), SolvedWithin(1.5)):
        share = 1 - rs.solve_many(holdout, np.zeros(16), budget=6).solved.mean()
        table = certify(np.zeros(16), holdout=holdout, utility=utility, budget=6)
        assert 0.1 < table.best.unsolved == share < 0.9
        for name, text in forms(table).items():
            assert f"{100 * share:.3g}% of the runs found no path within the budget" in text, name
    nothing = certify(np.zeros(16), holdout=holdout, utility=Cost(limit=9.0), budget=6, quantile=0.9).best
    assert nothing.sentence.endswith("of the runs found no path within the budget, which is too many.")
    assert "nfinity" not in str(nothing) + nothing.to_json()


def test_labels_of_users_are_quoted() -> None:
    table = certify(by=np.where(np.arange(200) % 2, "goal 3", 'x" of A*'))
    for row in table.guarantees:
        for text in (row.summary, row.sentence):
            assert f"of A* to goal 15 in category {json.dumps(row.category)} with reopening" in text
    named = rs.Graph.from_edges(4, [0, 1, 2], [1, 2, 3], labels=["a", "b", "c", "3 with a budget"])
    holdout = rs.InstanceSet(named, np.random.default_rng(0).uniform(1, 2, (50, 3)), 0, 3)
    assert 'of A* to goal "3 with a budget" with reopening' in rs.certify(np.zeros(4), holdout, EXCESS).best.sentence


# ---------------------------------------------------------------- conditions


def test_rounding_is_inside_what_is_certain() -> None:
    """Weights of 2**54 made an answer 1.0 longer than "certainly optimal, to within 4e-14"."""
    graph = rs.Graph.from_edges(4, [0, 0, 1, 3], [1, 3, 2, 2])
    rho = np.array([2.0, 1.0, 0.0, 1.0])
    holdout = rs.InstanceSet(graph, np.random.default_rng(0).uniform(1, 2, (50, 4)), 0, 2)
    for options in ({"lower": 1.0}, {"lower": 1.0, "reopen": False}):
        row = rs.certify(rho, holdout, Suboptimality(5.0), **options).best
        most = float(re.search(r"no answer costs more than ([\d,]+)", row.sentence)[1].replace(",", ""))
        for scale in (1.0, 1e3, most / 4, most / 2, 2.0**54):
            rng = np.random.default_rng(7)
            for _ in range(300):
                weights = np.maximum(scale + rng.integers(0, 4, 4) * rng.choice([1.0, 2.0**-40 * scale]), 1.0)
                run = rs.astar(graph, weights, 0, 2, rho, reopen=options.get("reopen", True))
                exact = {(a, b): Fraction(w) for a, b, w in zip(graph.tail, graph.head, weights, strict=True)}
                cost = sum(exact[a, b] for a, b in zip(run.path[:-1], run.path[1:], strict=True))
                best = min(exact[0, 1] + exact[1, 2], exact[0, 3] + exact[3, 2])
                assert cost - best <= Fraction(row.value) or run.cost > most
    worst = np.zeros(4)
    for (a, b), w in {(0, 1): 2.0**54, (0, 3): 2.0**54, (1, 2): 2.0, (3, 2): 1.0}.items():
        worst[graph.edge_index([a], [b])] = w
    assert rs.astar(graph, worst, 0, 2, rho).cost > most, "it is not spoken of"


def test_what_was_not_checked_is_said_so() -> None:
    train, other = draw(3000), draw(100, seed=9)
    given = rs.certify_training(1.3 * STEPS, train, EXCESS, lower=1.0, caps=1.2)["U2 local"].assumptions
    assert "the caps were fixed by other data (not checked)" in given
    found = rs.certify_training(1.3 * STEPS, train, EXCESS, lower=1.0, caps=other)["U2 local"].assumptions
    assert "the caps were fixed by other data (checked here)" in found
    clusters = rs.learners.Portfolio(random_state=0).fit(other)
    bare = clusters.heuristic_.members[0].table(15).copy()
    for heuristic in (
        clusters.heuristic_.members[0],
        bare,
        {15: bare},
        rs.heuristics.Table(bare),
        lambda v, goal: float(bare[v]),
    ):
        (line,) = (text for text in certify(heuristic).best.assumptions if "no part" in text)
        assert "not checked" in line
    for heuristic in (clusters, clusters.heuristic_, clusters.heuristic_.scaled(2.0)):
        with pytest.raises(rs.errors.AssumptionError, match="seen in training"):
            certify(heuristic, holdout=other)


# ---------------------------------------------------------------- certify certifies what is run


@pytest.mark.filterwarnings("ignore::rhostar.errors.BoundsWarning")
@pytest.mark.parametrize("reopen", [True, False])
@pytest.mark.parametrize("any_goal", [False, True])
def test_answers_that_stay_optimal_below_the_bounds_are_optimal(reopen: bool, any_goal: bool) -> None:
    train, holdout = draw(100), draw(150, seed=1, low=0.7)
    learner = rs.learners.Potentials("min") if any_goal else rs.learners.LowerEnvelope()
    learner.fit(train)
    assert (holdout.weights < learner.heuristic_.lower).any(axis=1).all()
    row = rs.certify(learner, holdout, EXCESS, reopen=reopen).best
    assert row.optimal
    assert row.delta == 0
    assert "falls below" not in row.sentence, "nothing is asked of the weights"
    for text in (row.summary, row.sentence):
        assert "which each search lowers where weights are below" in text, "not so for a bare array"
    assert rs.evaluate(learner, holdout, EXCESS, reopen=reopen)[0].raw.max() <= row.value < 1e-6
    assert not rs.certify(2 * STEPS, holdout, EXCESS, reopen=reopen).best.optimal
    again = rs.certify_training(learner, train, EXCESS, reopen=reopen) if not any_goal else None
    assert again is None or (again.best.optimal and again.rho is learner.heuristic_)
    assert not rs.certify(learner, holdout, EXCESS, reopen=reopen, budget=4).best.optimal


# ---------------------------------------------------------------- quantiles need no limit; few days


def test_a_quantile_needs_no_limit() -> None:
    free, limited = (certify(quantile=0.9, utility=Suboptimality(limit)).best for limit in (np.inf, 4.0))
    assert free == limited
    with pytest.raises(InputError, match="needs a finite limit"):
        certify(utility=Suboptimality(np.inf))


def test_few_days_are_said_to_be_few_with_how_many_would_do() -> None:
    """The number is worth something: with that many days the bound is as near as it says, most of the time."""
    holdout = draw(200)
    table = certify(utility=Cost(limit=20.0), groups=np.arange(200) % 4, holdout=holdout)
    row = table.best
    assert row.value - row.observed > 2.0
    for text in (table.brief, str(table), str(row), table._repr_html_()):
        assert f"is based on only 4 groups. About {row.needed:,} groups" in " ".join(text.split())
    page = _card(report.certificate_section(table).guarantee, "")
    assert row.weakness in page
    near = 0
    for seed in range(20):
        days = draw(3 * row.needed, seed=100 + seed)
        found = certify(utility=Cost(limit=20.0), groups=np.arange(len(days)) % row.needed, holdout=days).best
        near += found.value - found.observed <= 2.0
    assert near >= 14
    assert certify(utility=Cost(limit=20.0)).best.weakness == ""
