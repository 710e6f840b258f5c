"""certify and certify_training: what is computed, which bound is the guarantee, which ρ is measured, and refusals."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rhostar as rs
from rhostar import bounds
from rhostar.bounds import _capacity as capacity
from rhostar.certificates import Linear, Quantized
from rhostar.certificates._measure import optimal_paths
from rhostar.errors import AssumptionError, HeuristicError, InputError, InstanceError, ModelError, UtilityError
from rhostar.instances._provenance import Provenance, provenance
from rhostar.utilities import Cost, Custom, Expansions, SolvedWithin, Suboptimality

GRAPH = rs.Graph.grid(4, 4)
GOAL = 15
EXCESS = Suboptimality(limit=4.0)


def draw(N: int, seed: int = 0, *, integers: bool = False, goals: Any = GOAL) -> rs.InstanceSet:
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, size=(N, GRAPH.m)) if integers else rng.uniform(1, 1.5, size=(N, GRAPH.m))
    return rs.InstanceSet(GRAPH, weights, rng.integers(0, 14, N), goals)


def steps(goal: int = GOAL) -> np.ndarray:
    return rs.distances_to(GRAPH, np.ones(GRAPH.m), goal)


def certify(rho: Any = None, *, holdout: Any, utility: Any = EXCESS, **options: Any) -> Any:
    return rs.certify(2 * steps() if rho is None else rho, holdout, utility, **options)


def on_train(rho: Any = None, *, train: Any, utility: Any = EXCESS, **options: Any) -> Any:
    return rs.certify_training(2 * steps() if rho is None else rho, train, utility, **options)


# ---------------------------------------------------------------- what is in the table


def test_every_row_is_its_own_function() -> None:
    """Each bound has all of δ, as if it had been chosen alone."""
    train, holdout = draw(3000), draw(800, seed=1)
    table = on_train(train=train, lower=1.0, upper=1.5, delta=0.07)
    rho = table.rho
    untouched = certify(rho, holdout=holdout, lower=1.0, delta=0.07)
    assert {row.delta for row in (*table.rows, *untouched.rows)} == {0.07, 0.0}
    on_holdout = rs.evaluate(rho, holdout, Suboptimality(limit=4.0))["suboptimality"].values
    seen = rs.evaluate(rho, train, Suboptimality(limit=4.0))["suboptimality"].values
    paths = optimal_paths(train)
    inconsistency = paths.inconsistency(rho)
    log_count = 16 * 64 * math.log(2)
    low, high = (rs.distances_to(GRAPH, np.full(GRAPH.m, w), GOAL) for w in (1.0, 1.5))
    certain = (rho - rho[GOAL] - low).max()  # U5: no answer is further above the optimum
    for_any = (high - low).max()  # nor with any other ρ below the largest weights
    complexity = bounds.edge_local_complexity(paths.edges, paths.weights, 1.5, 3000, for_any)
    by_edge = bounds.rademacher_bound(np.minimum(inconsistency, for_any).mean(), complexity, 3000, for_any, delta=0.063)
    by_dimension = np.minimum(inconsistency, 4.0).mean() + bounds.inconsistency_width(16, 3000, 4.0, delta=0.07)
    expected = {
        "H4 betting": bounds.betting(on_holdout, certain, delta=0.07).high,
        "H4 Chernoff": bounds.kullback_leibler(on_holdout, certain, delta=0.07).high,
        "H4 Bernstein": bounds.empirical_bernstein(on_holdout, certain, delta=0.07).high,
        "U5": certain,
    }
    assert {row.label: row.value for row in untouched.rows} == pytest.approx(expected, rel=1e-9)
    assert untouched.best is untouched.rows[0]
    assert untouched.best.label == "H4 betting"
    assert untouched["U5"].observed == pytest.approx(on_holdout.max())
    expected = {
        "H1-kl Q64": bounds.finite_kl(seen.mean(), log_count, 3000, 4.0, delta=0.07),
        "H2 Q64": bounds.finite_bernstein(seen.mean(), seen.var(ddof=1), log_count, 3000, 4.0, delta=0.07),
        "U1": min(4.0, by_dimension),
        "U2": by_edge,  # at 0.9 of δ: it is the lower one of two, the other is H1-kl Q64
        "U5": certain,
    }
    found = {row.label: row.value for row in table.rows}
    assert found == pytest.approx(expected, rel=1e-9)
    assert table.best is table.rows[0]
    assert table.best.label == "U2"
    assert {row.holds_for for row in untouched.rows} == {"this rho"}
    assert {row.holds_for for row in table.rows if row.label[:2] in ("H1", "H2", "U1", "U2")} == {"every rho"}
    assert table["U2"].observed == pytest.approx(seen.mean()), "what is claimed, not the inconsistency"
    assert table["U2"].measured["mean inconsistency"] == pytest.approx(np.minimum(inconsistency, for_any).mean())
    assert table["U2"].measured["2R"] == pytest.approx(2 * complexity)
    assert table["U5"].observed == pytest.approx(seen.max())


def test_bounds_that_cannot_say_anything_are_named() -> None:
    """Half of the bounds cannot be worth anything for N = 40."""
    assert {row.label for row in certify(holdout=draw(40), utility=Expansions(limit=16.0))} == {
        "H4 betting", "H4 Chernoff", "H4 Bernstein",
    }  # fmt: skip
    table = on_train(train=draw(40, seed=1), utility=Expansions(limit=16.0))
    assert {row.label for row in table.rows} == {"range"}
    reasons = {entry.label: entry.reason for entry in table.dropped}
    assert {"H1-kl Q64", "H2 Q64", "H3 A", "H3p Ap"} <= set(reasons)
    assert "Not computed: H1-kl Q64, H2 Q64, H3 A, " in str(table), "one line, without the reasons"
    assert "the paper's own bound" in reasons["H3 A"]


def test_the_guarantee_does_not_depend_on_the_data() -> None:
    """Whatever was measured, the same bound is the guarantee, also where another one came out smaller."""
    kept, chosen = [], []
    for seed, factor in ((0, 1.2), (1, 3.0), (2, 30.0)):
        tables = (
            certify(factor * steps(), holdout=draw(60, seed + 9), lower=1.0),
            on_train(factor * steps(), train=draw(500, seed), lower=1.0, upper=1.5),
        )
        kept.append([{row.label for row in table.rows} - {"U3"} for table in tables])
        assert all({row.delta for row in table.rows} == {0.05, 0.0} for table in tables)
        chosen += [table.best.label for table in tables]
    assert kept[0] == kept[1] == kept[2]
    assert chosen == ["H4 betting", "U2"] * 3


def test_the_user_may_choose_the_bound() -> None:
    for words, label in (
        ("u5", "U5"),
        ("Bernstein", "H4 Bernstein"),
        ("any time", "H9 any time"),
        ("H4 Chernoff", "H4 Chernoff"),
    ):
        table = certify(holdout=draw(300, seed=1), lower=1.0, bound=words)
        assert table.best.label == label
        assert table[0] is table.best
        assert [row.label for row in table.guarantees] == [label]
    for words, label in (("U2", "U2"), ("u5", "U5"), ("H1-kl", "H1-kl Q64")):
        table = on_train(train=draw(3000), lower=1.0, upper=1.5, bound=words)
        assert [row.label for row in table.guarantees] == [label]
        assert table[0] is table.best
    plain = certify(holdout=draw(300, seed=1), lower=1.0)
    assert certify(holdout=draw(300, seed=1), lower=1.0, bound="any time").best.value > plain.best.value, "its price"
    with pytest.raises(InputError, match=r"'U9' is not among .*: H4 betting"):
        certify(holdout=draw(300, seed=1), lower=1.0, bound="U9")
    with pytest.raises(InputError, match=r"'U9' is not among .*: H1-kl Q64"):
        on_train(train=draw(3000), lower=1.0, upper=1.5, bound="U9")
    with pytest.raises(InputError, match="by needs a bound on the holdout"):
        certify(holdout=draw(300, seed=1), lower=1.0, bound="U5", by=np.arange(300) % 2)


def test_nothing_left_is_the_range() -> None:
    table = on_train(train=draw(2), utility=Cost(limit=10.0), delta=0.001)
    assert [(row.label, row.value, row.delta, row.vacuous) for row in table.rows] == [("range", 10.0, 0.0, True)]


def test_higher_is_better_is_bounded_from_below() -> None:
    holdout, train = draw(500), draw(4000, seed=1)
    table = certify(holdout=holdout, utility=SolvedWithin(1.0))
    row = table["H4 Clopper-Pearson"]
    values = rs.evaluate(table.rho, holdout, SolvedWithin(1.0))["solved_within"].values
    assert row.side == "lower"
    assert row.observed == pytest.approx(values.mean())
    assert row.value == pytest.approx(bounds.clopper_pearson(values, 1.0, delta=0.05, side="lower").low)
    assert row.value < row.observed
    assert table.best is row
    loss = 1 - rs.evaluate(table.rho, train, SolvedWithin(1.0))["solved_within"].mean
    uniform = on_train(train=train, utility=SolvedWithin(1.0))["H1-kl Q64"]
    assert uniform.value == pytest.approx(
        1 - bounds.finite_kl(loss, 16 * 64 * math.log(2), 4000, 1.0, delta=uniform.delta)
    )


def test_greedy_search() -> None:
    table = on_train(train=draw(2000), algorithm="gbfs", utility=Cost(limit=12.0))
    assert {"H1-kl Gp", "H2 Gp"} <= {row.label for row in table.rows}
    assert table["H1-kl Gp"].measured["ln K"] == pytest.approx(math.lgamma(16))
    assert (table.rho == 2 * steps()).all(), "greedy search needs no exact sums"
    assert not any(row.label.startswith("U") for row in table.rows)


def test_integer_weights_and_degree() -> None:
    train = draw(3000, integers=True)
    table = on_train(1.1 * steps(), train=train, integer_weights=3, out_degree=4, utility=Expansions(limit=16.0))
    row = table["H1-kl C1p"]
    assert row.measured["ln K"] == pytest.approx(capacity.catalan_in_open(16, 3).log_count)
    assert any("rounded to multiples of a power of two" in note for note in table.notes)
    scaled = np.ldexp(table.rho, 46)
    assert (scaled == np.rint(scaled)).all()
    assert table.rho == pytest.approx(1.1 * steps(), abs=1e-12)
    assert any(entry.label == "H3p Dp" for entry in table.dropped)
    assert row.observed == rs.evaluate(table.rho, train, Expansions(limit=16.0))["expansions"].mean


def test_real_weights_state_the_assumption_where_a_bound_needs_exact_sums() -> None:
    graph = rs.Graph.from_edges(3, [0, 0, 1], [1, 2, 2])
    weights = np.random.default_rng(0).uniform(0, 1, size=(3000, 3))
    train = rs.InstanceSet(graph, weights, sources=0, goal=2)
    table = rs.certify_training(np.zeros(3), train, Cost(limit=2.0))
    growing = [row for row in table.rows if row.label == "H3p Ap"]
    assert growing, "on three vertices counting beats 64 bits a value"
    assert any("exact, although float64 sums round" in text for text in growing[0].assumptions)
    assert not any("float64" in text for text in table["H1-kl Q64"].assumptions)


def test_consistent_under_the_least_weights_is_certain() -> None:
    table = on_train(steps(), train=draw(300), lower=1.0, upper=1.5)
    row = table["U3"]
    assert row.delta == 0
    assert 0 < row.value < 1e-12, "sums round"
    whole = on_train(steps(), train=draw(300, integers=True), integer_weights=3, lower=1, upper=3)
    assert whole["U3"].value == 0
    assert row.sentence.startswith(
        "As long as no weight falls below its lower bound and no weight rises above its upper bound, every answer"
    )
    assert whole["U3"].sentence.startswith(
        "As long as no weight falls below its lower bound and all weights are integers up to 3, every answer"
    )
    assert table.best is row
    labels = {entry.label for entry in on_train(1.01 * steps(), train=draw(300), lower=1.0, upper=1.5).dropped}
    assert "U3" in labels


@pytest.mark.parametrize("bounds", [(1.0, 3.0), (1.0, np.inf)])
def test_rounding_is_part_of_every_bound_through_inconsistency(bounds: tuple[float, float]) -> None:
    """A constant is consistent; but beside 2⁶⁰ no weight is left in g + ρ, and A* goes wherever the ties send it."""
    weights = np.random.default_rng(0).uniform(1, 3, size=(4000, GRAPH.m))
    train = rs.InstanceSet(GRAPH, weights, sources=15, goal=0)
    table = on_train(np.full(16, 2.0**60), train=train, lower=bounds[0], upper=bounds[1])
    actual = rs.evaluate(table.rho, train, Suboptimality(limit=4.0))["suboptimality"].mean
    assert actual > 0.5, "far from what inconsistency alone says"
    assert table["U1"].measured["mean inconsistency"] == 0
    assert table["U1"].value == 4.0
    assert all(row.value >= actual for row in table.rows)
    limited = {row.label for row in table.rows if any("no answer costs more" in text for text in row.assumptions)}
    assert limited == (set() if np.isfinite(bounds[1]) else {"U1", "U3", "U5"})


def test_projection_is_handed_out_and_measured() -> None:
    train = draw(2000)
    table = on_train(5 * steps(), train=train, lower=1.0, upper=1.5)
    tail, head = GRAPH.tail, GRAPH.head
    inside = (table.rho[tail] - table.rho[head] <= 1.5 + 1e-12) | (tail == GOAL)
    assert inside.all()
    assert (table.rho != 5 * steps()).any()
    assert any("lowered" in note for note in table.notes)
    inconsistency = np.minimum(optimal_paths(train).inconsistency(table.rho), table["U2"].measured["range"]).mean()
    assert table["U2"].measured["mean inconsistency"] == pytest.approx(inconsistency)
    assert table["H1-kl Q64"].observed == rs.evaluate(table.rho, train, Suboptimality(limit=4.0))["suboptimality"].mean


def test_bounds_by_edge_and_absent_edges() -> None:
    low, high = np.full(GRAPH.m, 1.0), np.full(GRAPH.m, 1.5)
    plain = on_train(train=draw(2000), lower=1.0, upper=1.5)
    arrays = on_train(train=draw(2000), lower=low, upper=high)
    assert [row.value for row in plain.rows] == [row.value for row in arrays.rows]
    weights = draw(500).weights.copy()
    weights[7, 3] = np.inf
    absent = rs.InstanceSet(GRAPH, weights, sources=0, goal=GOAL)
    with pytest.raises(AssumptionError, match=r"train: instance 7, edge 3.*absent"):
        on_train(train=absent, lower=1.0, upper=1.5)
    open_ended = on_train(train=absent, lower=1.0)
    assert any(entry.label == "U2" for entry in open_ended.dropped)
    may_be_absent = np.where(np.arange(GRAPH.m) == 3, np.inf, 1.5)
    assert on_train(train=absent, lower=1.0, upper=may_be_absent).rows, "as the refusal above advises"
    weights[7, 4] = np.inf
    with pytest.raises(AssumptionError, match=r"train: instance 7, edge 4.*absent"):
        on_train(train=rs.InstanceSet(GRAPH, weights, sources=0, goal=GOAL), lower=1.0, upper=may_be_absent)


def test_a_budget_has_no_bound_through_inconsistency() -> None:
    table = on_train(train=draw(2000), lower=1.0, upper=1.5, budget=5)
    assert not any(row.label.startswith("U") for row in table.rows)
    assert any(entry.label == "U2" and "budget" in entry.reason for entry in table.dropped)


def test_custom_utilities() -> None:
    utility = Custom(20.0, lambda instance, trace: float(len(trace)), "length of the trace")
    table = certify(holdout=draw(60), utility=utility)
    assert "length of the trace" in table.title
    assert table.best.observed > 1


def test_negative_utilities_are_refused() -> None:
    with pytest.raises(UtilityError, match="at least 0"):
        certify(holdout=draw(60), utility=Custom(20.0, lambda instance, trace: -1.0))


# ---------------------------------------------------------------- goals, families, learners


def test_goals_share_one_guarantee_on_the_holdout_and_delta_on_train() -> None:
    goals = np.where(np.arange(600) % 3, 15, 14)
    train, holdout = draw(600, goals=goals), draw(600, seed=1, goals=goals)
    rho = {15: 2 * steps(15), 14: 2 * steps(14)}
    table = certify(rho, holdout=holdout, lower=1.0, delta=0.06)
    pooled = table.best
    assert (pooled.goal, pooled.delta, pooled.samples) == (None, 0.06, 600)
    values = rs.evaluate(table.rho, holdout, Suboptimality(limit=4.0))[0].values
    assert pooled.value == bounds.betting(values, pooled.measured["range"], delta=0.06).high
    assert "to goals drawn as these 2 were" in pooled.sentence
    assert table.best_for(14) is table.best_for(15) is pooled
    with pytest.raises(HeuristicError, match="14"):
        certify({15: steps()}, holdout=holdout)
    lonely = certify(rho, holdout=draw(10, goals=[14] + [15] * 9))
    assert lonely.best.samples == 10, "a goal with one instance is part of the whole"
    table = on_train(rho, train=train, lower=1.0, upper=1.5, delta=0.06)
    for goal in (14, 15):
        own = [row for row in table.rows if row.goal == goal]
        assert {row.delta for row in own} == {0.03}
        assert {row.category for row in own} == {f"goal {goal}"}
        alone = on_train(rho[goal], train=train[train.goals == goal], lower=1.0, upper=1.5, delta=0.03)
        assert [row.value for row in own] == [row.value for row in alone.rows if row.delta > 0]
        assert (table.rho[goal] == alone.rho).all()
    assert max(map(len, str(table).splitlines())) <= 80
    assert {row.goal for row in table.guarantees} == {14, 15}
    assert table.best.value == max(row.value for row in table.guarantees)
    assert table.best_for(14).goal == 14


def features(built_from: tuple[Provenance, ...] = ()) -> Linear:
    columns = np.stack([steps(), GRAPH.coordinates[:, 0]], axis=1)
    return Linear(base=np.zeros(16), features=columns, built_from=built_from)


def test_linear_families() -> None:
    train = draw(1500)
    family = features()
    rho = family.table([1.2, 0.1])
    table = on_train(rho, train=train, family=family, utility=Expansions(limit=16.0))
    row = table["H1-kl Q64"]
    assert row.measured["ln K"] == pytest.approx(2 * 64 * math.log(2)), "two float64 numbers"
    assert row.holds_for == "every rho of the family"
    theta = np.linalg.lstsq(family.features, rho, rcond=None)[0]
    assert (table.rho == family.table(theta)).all()

    integers = draw(1500, integers=True)
    table = on_train(rho, train=integers, family=family, utility=Expansions(limit=16.0), integer_weights=3)
    row = table["H1-kl C2"]
    assert row.measured["ln K"] == pytest.approx(capacity.linear_integer(16, 2, 3).log_count)
    assert table.rho == pytest.approx(rho, rel=1e-4)
    assert any("20 bits" in note for note in table.notes)

    table = on_train(rho, train=train, family=family, algorithm="gbfs", utility=Expansions(limit=16.0))
    every = on_train(rho, train=train, algorithm="gbfs", utility=Expansions(limit=16.0))
    assert table["H1-kl C3"].value < every.best.value


def test_projection_does_not_leave_a_family() -> None:
    family = features()
    table = on_train(family.table([5.0, 0.0]), train=draw(2000), family=family, lower=1.0, upper=1.5)
    assert "U2" not in {row.label for row in table.rows}
    assert any("U2 does not apply" in note for note in table.notes)
    inside = on_train(family.table([1.2, 0.0]), train=draw(2000), family=family, lower=1.0, upper=1.5)
    assert "U2" in {row.label for row in inside.rows}


def test_quantized_families() -> None:
    family = Quantized(levels=np.arange(8.0), goal=GOAL)
    train = draw(1500)
    table = on_train(family.nearest(1.3 * steps()), train=train, family=family, utility=Expansions(limit=16.0))
    assert table["H1-kl Q"].measured["ln K"] == pytest.approx(15 * math.log(8))
    with pytest.raises(AssumptionError, match="not in the family"):
        on_train(1.3 * steps(), train=train, family=family)
    with pytest.raises(AssumptionError, match="vertex 3"):
        on_train(steps(), train=train, family=Quantized(levels=np.arange(8.0), goal=3))
    with pytest.raises(AssumptionError, match="not in the family"):
        on_train(family.nearest(steps()) + (np.arange(16) == GOAL), train=train, family=family)


def test_levels_are_not_snapped_so_counts_that_need_exact_sums_say_so() -> None:
    family = Quantized(levels=np.linspace(0, 7, 4097) / 3, goal=GOAL)
    train = draw(4000, integers=True)
    rho = family.nearest(1.1 * steps())
    table = on_train(rho, train=train, family=family, utility=Expansions(limit=16.0), integer_weights=3)
    assert (table.rho == rho).all()
    assert any("float64 sums round" in text for text in table["H1-kl C1p"].assumptions)


def test_sums_of_a_linear_family_are_exact_or_refused() -> None:
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        family = Linear(
            base=rng.choice([0.0, 1.0]) * rng.random(16),
            features=rng.normal(size=(16, 2)) * 10.0 ** rng.integers(-6, 7),
        )
        largest = 2.0 ** rng.integers(0, 50)
        theta = rng.choice([0.0, 1.0]) * rng.normal(size=2) * 10.0 ** rng.integers(-3, 9)
        try:
            rho = family.into_class(family.table(theta), largest).rho
        except InputError:
            refused += 1
            continue
        for g in (1.0, largest - 1, largest):
            assert [Fraction(g) + Fraction(x) for x in rho.tolist()] == [Fraction(x) for x in (g + rho).tolist()]
    assert 0 < refused < 200


def test_a_family_built_from_the_certifying_rows_is_refused() -> None:
    train, rest = draw(200).split(0.5, seed=0)
    family = features((Provenance.of(train[:5]),))
    with pytest.raises(AssumptionError, match="built from 5 instances of train"):
        on_train(steps(), train=train, family=family)
    on_train(steps(), train=rest, family=family)
    with pytest.raises(AssumptionError, match="not in the family"):
        on_train(np.arange(16.0) ** 2, train=rest, family=family)
    with pytest.raises(InputError, match="must be a Family"):
        on_train(steps(), train=rest, family="linear")


def test_learners() -> None:
    train, rest = draw(400).split(0.5, seed=0)
    holdout, touched = rest[:100], rest[100:]
    learner = rs.heuristics.Table(steps()).with_facts(trained_on=Provenance.of(touched))
    table = certify(learner, holdout=holdout)
    assert table.best.value == certify(steps(), holdout=holdout).best.value
    assert on_train(learner, train=train).best.value == on_train(steps(), train=train).best.value
    with pytest.raises(AssumptionError, match="100 of its 200 instances were seen in training"):
        certify(learner, holdout=rest)
    real = rs.learners.MeanDistance().fit(train)
    assert certify(real, holdout=rest).best.samples == len(rest)
    assert on_train(real, train=train).best.samples == len(train)
    with pytest.raises(AssumptionError, match="200 of its 200 instances were seen in training"):
        certify(real, holdout=train)


def choosers(validation: rs.InstanceSet) -> dict[str, Any]:
    """Learners that look at a validation set of their own, and learners around such ones."""
    learners = rs.learners
    best = learners.SelfImitatedRanking(validation=validation, iterations=2, rounds=[(0.1, 0)])
    return {
        "ranking": best,
        "auto": learners.Auto("gbfs", candidates=[learners.MeanDistance("min"), best]),
        "ranking from": learners.SelfImitatedRanking(best, iterations=2, rounds=[(0.1, 0)]),
        "scaled": learners.Scaled(best, 1.5),
        "bumps from": learners.BumpSearch(best, max_bumps=3, random_state=0),
        "for each goal": learners.PerGoal(best),
    }


@pytest.mark.parametrize("name", choosers(draw(2)))
def test_instances_that_were_only_judged_on_are_no_holdout(name: str) -> None:
    train, validation, fresh = draw(60), draw(30, seed=1), draw(30, seed=2)
    learner = choosers(validation)[name].fit(train)
    for used in (train, validation):
        with pytest.raises(AssumptionError, match=f"{len(used)} of its {len(used)} instances were seen in training"):
            certify(learner, holdout=used)
    assert certify(learner, holdout=fresh).best.samples == 30


def test_what_was_seen_may_be_told_in_many_ways() -> None:
    first, second = draw(20), draw(20, seed=1)
    one, other = Provenance.of(first[:5]), Provenance.of(second[:3])
    again = Provenance.of(first[:8])
    for seen, counts in (
        (None, (0, 0)),
        (one, (5, 0)),
        ((one, other), (5, 3)),
        ([one, again], (8, 0)),
        ({15: one, 14: (other, again)}, (8, 3)),
        (provenance(one, other, again), (8, 3)),
    ):
        for holdout, count in zip((first, second), counts, strict=True):
            learner = rs.heuristics.Table(steps()).with_facts(trained_on=seen)
            if count:
                with pytest.raises(AssumptionError, match=f"{count} of its 20 instances were seen"):
                    certify(learner, holdout=holdout)
            else:
                certify(learner, holdout=holdout)


# ---------------------------------------------------------------- what is checked and refused


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"delta": 0.0}, InputError, "delta"),
        ({"delta": 1.0}, InputError, "delta"),
        ({"algorithm": "ida"}, InputError, "algorithm"),
        ({"speed": 3}, InputError, "no option 'speed'"),
        ({"utility": "cost"}, InputError, "utility"),
        ({"holdout": None}, InputError, "holdout must be an InstanceSet"),
        ({"holdout": "data"}, InputError, "InstanceSet"),
        ({"lower": 1.2}, AssumptionError, r"instance \d+, edge \d+ .* but lower is 1.2"),
        ({"lower": np.inf}, InputError, "lower must be finite"),
        ({"lower": np.ones(3)}, InputError, "each of the"),
        ({"lower": -1.0}, InputError, "0 <= lower"),
        ({"lower": "low"}, InputError, "lower"),
        ({"algorithm": "gbfs", "lower": 1.0}, InputError, "gbfs"),
        ({"quantile": 1.0}, InputError, "quantile"),
        ({"quantile": 0.9, "utility": SolvedWithin(1.1)}, InputError, "more values"),
        ({"candidates": 0}, InputError, "candidates"),
        ({"duplicates": "ignore"}, InputError, "duplicates must be"),
        ({"by": "depot"}, InputError, "'goal' or one label"),
        ({"by": [1, 2]}, InputError, "one label per instance"),
        ({"groups": [1, 2]}, InputError, "one label per instance"),
        ({"groups": np.zeros(50)}, AssumptionError, "at least two groups"),
    ],
)
def test_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        certify(**({"holdout": draw(50)} | arguments))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"delta": 1.0}, InputError, "delta"),
        ({"utility": "cost"}, InputError, "utility"),
        ({"train": None}, InputError, "train must be an InstanceSet"),
        ({"lower": 1.0, "upper": 1.2}, AssumptionError, r"instance \d+, edge \d+ .* but upper is 1.2"),
        ({"lower": 1.2, "upper": 2.0}, AssumptionError, "but lower is 1.2"),
        ({"lower": 2.0, "upper": 1.0}, InputError, "lower <= upper"),
        ({"lower": np.ones(3), "upper": 2.0}, InputError, "lower must be one number, or one for each"),
        ({"lower": -1.0, "upper": 2.0}, InputError, "0 <= lower"),
        ({"integer_weights": 3}, AssumptionError, "integers in 0..3"),
        ({"integer_weights": 0}, InputError, "integer_weights"),
        ({"out_degree": 3}, AssumptionError, "has 4 children"),
        ({"algorithm": "gbfs", "upper": 1.5}, InputError, "gbfs"),
        ({"caps": 1.2, "budget": 9}, InputError, "caps are for U2"),
        ({"caps": [-1.0]}, InputError, "caps must be"),
        ({"duplicates": "drop"}, InputError, "duplicates must be"),
    ],
)
def test_refused_on_train(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        on_train(**({"train": draw(50)} | arguments))


def test_integers_out_of_range_are_named() -> None:
    weights = draw(60, integers=True).weights.copy()
    weights[5, 2] = 9
    instances = rs.InstanceSet(GRAPH, weights, sources=0, goal=GOAL)
    with pytest.raises(AssumptionError, match=r"instance 5, edge 2 .* weight 9; integer_weights states"):
        on_train(train=instances, integer_weights=3)
    with pytest.raises(AssumptionError, match="instance 5, edge 2"):
        on_train(train=instances.__class__(GRAPH, weights.astype(np.float32), 0, GOAL), integer_weights=3)


@pytest.mark.parametrize("N", [1])
def test_too_few_instances(N: int) -> None:
    with pytest.raises(InstanceError, match="at least 2"):
        certify(holdout=draw(N))
    with pytest.raises(InstanceError, match="at least 2"):
        on_train(train=draw(5)[:0])


def test_bad_tables() -> None:
    with pytest.raises(InputError, match="rho"):
        certify(np.zeros(3), holdout=draw(50))
    with pytest.raises(HeuristicError, match=r"rho\[2\]"):
        certify(np.array([0, 0, np.nan] + [0] * 13), holdout=draw(50))
    other = rs.Graph.grid(2, 8)
    elsewhere = rs.InstanceSet(other, np.ones((5, other.m)), 0, GOAL)
    with pytest.raises(ModelError, match="another graph"):
        certify(rs.learners.MeanDistance().fit(draw(50)), holdout=elsewhere, groups=False)


def test_an_instance_without_a_path_is_refused() -> None:
    weights = draw(20).weights.copy()
    weights[4] = np.inf
    instances = rs.InstanceSet(GRAPH, weights, sources=0, goal=GOAL, infeasible="keep")
    with pytest.raises(InstanceError, match="instance 4"):
        certify(holdout=instances)


# ---------------------------------------------------------------- tables as values


def test_print_and_json() -> None:
    table = on_train(train=draw(3000), lower=1.0, upper=1.5, out_degree=4)
    text = str(table)
    assert text.count("Not computed: ") == 1
    assert max(map(len, text.splitlines())) <= 80
    assert table.best.sentence.replace("\n", " ") in text.replace("\n", " ")
    for row in table.rows:
        assert row.label in text
        assert max(map(len, str(row).splitlines())) <= 80
        assert rs.certificates.Certificate.from_json(row.to_json()) == row
    again = rs.certificates.CertificateTable.from_json(table.to_json())
    assert again.rows == table.rows
    assert again.dropped == table.dropped
    assert str(again) == text
    json.dumps(table.to_dict())


def test_what_is_no_certificate_is_refused() -> None:
    row = certify(holdout=draw(50)).best
    for broken in (
        {k: v for k, v in row.to_dict().items() if k != "value"},
        row.to_dict() | {"extra": 1},
        row.to_dict() | {"value": "low"},
        row.to_dict() | {"value": float("nan")},
    ):
        with pytest.raises(InputError):
            rs.certificates.Certificate.from_dict(broken)
    for text in ("{", "[]", "3"):
        with pytest.raises(InputError):
            rs.certificates.CertificateTable.from_json(text)
    with pytest.raises(InputError, match="no row"):
        certify(holdout=draw(50))["U2"]


def test_vacuous_rows_say_so() -> None:
    row = replace(certify(holdout=draw(50)).best, value=4.0)
    assert row.vacuous
    assert row.sentence.endswith(", which is vacuous.")
    assert replace(row, side="lower", value=0.0).vacuous


def test_gaps_are_summarized() -> None:
    instances = draw(100)
    runs = rs.solve_many(instances, 1.4 * steps(), lower_bound=steps())
    summary = bounds.summarize_gaps(runs.gap)
    assert summary.answers == 100
    assert summary.mean == runs.gap.mean()
    assert summary.largest == runs.gap.max()
    excess = runs.cost - optimal_paths(instances).cost
    assert (excess <= runs.gap + 1e-9).all()
    with pytest.raises(InputError, match="lower_bound"):
        bounds.summarize_gaps(rs.solve_many(instances, steps()).gap)
    with pytest.raises(UtilityError, match=r"gaps\[0\]"):
        bounds.summarize_gaps([-1.0])


@pytest.mark.parametrize("jobs", [1, 3])
def test_any_number_of_jobs_gives_the_same_table(jobs: int) -> None:
    import joblib

    train, holdout = draw(500), draw(300, seed=1)

    def values() -> list[list[float]]:
        tables = certify(holdout=holdout, lower=1.0), on_train(train=train, lower=1.0, upper=1.5)
        return [[row.value for row in table.rows] for table in tables]

    with joblib.parallel_config(n_jobs=jobs):
        found = values()
    assert found == values()


def test_dependent_features_count_as_many_parameters_as_there_are() -> None:
    """Rounding to exact sums can make dependent columns independent, so their rank must not be counted."""
    graph = rs.Graph.grid(4, 4)
    weights = np.random.default_rng(0).integers(1, 4, size=(400, graph.m)).astype(float)
    train = rs.InstanceSet(graph, weights, sources=0, goal=15)
    column = np.random.default_rng(1).uniform(size=16)
    twice = rs.certificates.Linear(base=np.zeros(16), features=np.stack([column, column / 3], axis=1), built_from=())
    assert twice.rank == 1
    table = rs.certify_training(
        twice.table([1.0, 1.0]), train, rs.utilities.Expansions(100.0), family=twice, integer_weights=3
    )
    counted = capacity.linear_integer(16, 2, 3).log_count
    assert table.best.measured["ln K"] == counted


def test_an_admissible_rho_is_certainly_optimal_with_reopening() -> None:
    """It need not be consistent: U5 is then the guarantee, and without reopening there is none."""
    rho = steps()
    rho[[5, 10]] = 0.0  # admissible, but it falls by 2 where an edge has weight 1
    rho[0] = 6.0
    sets = {"holdout": draw(200, integers=True), "lower": 1}
    exact = on_train(rho, train=sets["holdout"], lower=1, upper=3, integer_weights=3).best
    assert (exact.label, exact.value, exact.optimal) == ("U5", 0, True)
    table = certify(rho, **sets)
    assert table.best.label == "U5"
    assert table.best.optimal
    assert 0 < table.best.value < 1e-9, "sums round"
    assert table.best.sentence.startswith("As long as no weight falls below its lower bound and no answer costs more")
    assert certify(rho, **sets, reopen=False).best.label == "H4 betting"


def test_a_bound_below_the_mean_is_raised_with_a_warning() -> None:
    """Read in an order that is not that of arrival, a bound at any time refutes the truth."""
    weights = draw(400).weights.copy()
    order = np.argsort(rs.solve_many(draw(400), np.zeros(16)).cost, kind="stable")
    instances = rs.InstanceSet(GRAPH, weights[order], draw(400).sources[order], GOAL)
    table = certify(np.zeros(16), holdout=instances, utility=Cost(limit=12.0), bound="any time")
    assert table.best.value == table.best.observed
    assert any("raised to it: draws look dependent" in text for text in table.warnings)
    assert not certify(np.zeros(16), holdout=draw(400), utility=Cost(limit=12.0), bound="any time").warnings


def test_caps_from_other_data() -> None:
    """The quantiles of other days cap ρ and shrink both the class and the range; the same days as train are refused."""
    train, other = draw(2000), draw(300, seed=1)
    sets = {"train": train, "lower": 1.0, "upper": 1.5}
    rho = 1.4 * steps()
    local = on_train(rho, **sets, caps=other)
    caps = np.quantile(other.weights, 0.1, axis=0, method="lower")
    assert local.best.label == "U2 local"
    assert local.best.value == on_train(rho, **sets, caps=caps).best.value
    assert local.best.value < on_train(rho, **sets).best.value / 2
    tail, head = GRAPH.tail, GRAPH.head
    assert ((local.rho[tail] - local.rho[head] <= caps + 1e-12) | (tail == GOAL)).all()
    assert any("above the cap" in note for note in local.notes)
    high, low = rs.distances_to(GRAPH, caps, GOAL), rs.distances_to(GRAPH, np.ones(GRAPH.m), GOAL)
    assert local.best.measured["range"] == pytest.approx((high - low).max())
    without = on_train(rho, **sets, caps=other, reopen=False).best
    assert without.measured["range"] == 4.0, "the certain range needs reopening"
    with pytest.raises(AssumptionError, match="caps must come from other data: 50 instances of train"):
        on_train(rho, **sets, caps=train[:50])
    elsewhere = rs.Graph.grid(2, 8)
    with pytest.raises(InputError, match="same graph"):
        on_train(rho, **sets, caps=rs.InstanceSet(elsewhere, np.ones((3, elsewhere.m)), 0, 15))
