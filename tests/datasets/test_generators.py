"""Generators: seeded, within their bounds, and distributed as they say."""

import numpy as np
import pytest

import rhostar as rs
from rhostar import datasets
from support.real_data import FOLDER, needs_data

MAKERS = {
    "city": lambda seed: datasets.city(150, seed=seed),
    "worlds": lambda seed: datasets.obstacle_worlds("forest", size=30),
    "worlds, float32": lambda seed: datasets.obstacle_worlds("mazes", size=60, dtype=np.float32),
}
FAMILIES = [
    "alternating_gaps",
    "bugtrap_forest",
    "forest",
    "gaps_and_forest",
    "mazes",
    "multiple_bugtraps",
    "shifting_gaps",
    "single_bugtrap",
]


@pytest.mark.parametrize("name", MAKERS)
def test_draws_are_seeded_feasible_and_within_their_bounds(name: str) -> None:
    law, again = MAKERS[name](1), MAKERS[name](1)
    assert law.graph == again.graph
    instances = law.draw(60, seed=5)
    assert len(instances) == 60
    assert instances.goal == law.goal
    assert np.unique(instances.rows).size == 60  # a snapshot of its own for each
    same, other = again.draw(60, seed=5), again.draw(60, seed=6)
    assert np.array_equal(same.weights[same.rows], instances.weights[instances.rows])
    assert np.array_equal(same.sources, instances.sources)
    assert not np.array_equal(other.weights[other.rows], instances.weights[instances.rows])
    low, high = law.edge_bounds
    weights = law.draw(200, seed=0).weights
    present = weights < np.inf
    assert ((weights >= low) | ~present).all()
    assert ((weights <= high) | ~present).all()
    assert law.weight_bounds == (low.min(), high.max())
    assert rs.solve_many(instances, np.zeros(law.graph.n)).solved.all()
    assert len(law.law) > 40


@pytest.mark.parametrize("name", MAKERS)
def test_another_seed_makes_another_network(name: str) -> None:
    if name.startswith("worlds"):
        pytest.skip("there is one network only")
    assert MAKERS[name](1).graph != MAKERS[name](2).graph


def test_a_generator_goes_on_where_it_is() -> None:
    law = MAKERS["city"](0)
    rng = np.random.default_rng(0)
    first, second = law.draw(5, rng), law.draw(5, rng)
    assert not np.array_equal(first.weights, second.weights)


def test_instances_are_independent() -> None:
    """Means of batches scatter as those of independent draws: by a batch's size less than single costs."""
    law = MAKERS["city"](0)
    instances = law.draw(4000, seed=1)
    cost = rs.solve_many(instances, np.zeros(law.graph.n)).cost
    means = cost.reshape(200, 20).mean(axis=1)
    ratio = means.var(ddof=1) * 20 / cost.var(ddof=1)
    assert 0.7 < ratio < 1.4  # 200 batches: the ratio's standard deviation is 0.1
    apart = np.corrcoef(cost[:-1], cost[1:])[0, 1]
    assert abs(apart) < 5 / np.sqrt(4000)
    again = rs.solve_many(law.draw(4000, seed=2), np.zeros(law.graph.n)).cost
    assert abs(cost.mean() - again.mean()) < 5 * cost.std() * np.sqrt(2 / 4000)


def test_the_city() -> None:
    law = datasets.city(400, seed=7)
    graph = law.graph
    assert graph.n == 400
    assert graph.largest_strong_part().graph.n == 400
    pairs = {(min(u, v), max(u, v)) for u, v in zip(graph.tail.tolist(), graph.head.tolist(), strict=True)}
    assert len(pairs) <= 3 * graph.n - 6  # planar
    assert 0.04 < law.arterial.mean() < 0.4
    assert not np.isin(graph.edge_index(graph.head, graph.tail, missing=-1), [-1]).all()
    assert (graph.edge_index(graph.head, graph.tail, missing=-1) < 0).any()  # there are one-way streets
    # Rush hours: into the center in the morning, out of it in the evening, little at night.
    night, morning, evening = (
        law.snapshots(300, 0, hours=np.full(300, hour)) / law.edge_bounds[0] for hour in (3.0, 8.0, 17.5)
    )
    slow = [np.where(np.isfinite(part), part, np.nan) for part in (night, morning, evening)]
    night, morning, evening = (np.nanmean(part, axis=0) for part in slow)
    inward = law._inward > np.quantile(law._inward, 0.9)
    outward = law._outward > np.quantile(law._outward, 0.9)
    assert morning[inward].mean() > 1.3 * morning[outward].mean()
    assert evening[outward].mean() > 1.3 * evening[inward].mean()
    assert night.mean() < 1.5
    # Neighboring roads go along with each other more than distant ones do.
    ratio = np.nan_to_num(law.snapshots(400, 1, hours=np.full(400, 3.0)) / law.edge_bounds[0], posinf=1.0)
    together = np.corrcoef(ratio.T)
    apart = np.hypot(*(law._middle[:, None] - law._middle).transpose(2, 0, 1))
    assert together[(apart > 0) & (apart < 0.3)].mean() > together[apart > 1.5].mean() + 0.1
    # Closed roads: a Poisson number with mean 1, both directions.
    closed = np.isinf(law.snapshots(2000, 3))
    back = law._back
    both = back >= 0
    assert np.array_equal(closed[:, both], closed[:, back[both]])
    roads = closed[:, np.flatnonzero(~both | (np.arange(graph.m) < back))].sum(axis=1)
    assert abs(roads.mean() - 1) < 0.15


def test_history_of_the_city_follows_days() -> None:
    law = datasets.city(100, seed=0)
    history = law.history(14, seed=0, per_day=24)
    assert history.weights.shape == (14 * 24, law.graph.m)
    assert history.days.tolist() == np.repeat(np.arange(14), 24).tolist()
    assert history.weight_bounds == law.weight_bounds
    ratio = np.nan_to_num(history.weights / law.edge_bounds[0], posinf=1.0).mean(axis=1).reshape(14, 24)
    weekend = np.arange(14) % 7 >= 5
    assert ratio[~weekend, 8].mean() > ratio[weekend, 8].mean()
    assert ratio[~weekend, 8].mean() > 1.2 * ratio[~weekend, 3].mean()
    earlier, later = datasets.split_by_day(history.sample(500, goal=law.goal), test_days=7)
    assert len(earlier) > 100
    assert len(later) > 100


@pytest.mark.parametrize("family", FAMILIES)
def test_worlds_have_a_way_and_differ(family: str) -> None:
    law = datasets.obstacle_worlds(family)
    worlds = law.worlds(12, seed=0)
    assert worlds.shape == (201, 201)
    assert not worlds.blocked[:, 196:, :5].any()
    assert not worlds.blocked[:, :5, 196:].any()
    assert len({world.tobytes() for world in worlds.blocked}) > 6
    instances = worlds[:3].instances()
    rho = rs.heuristics.octile(instances.graph, instances.goal)
    runs = rs.solve_many(instances, rho)
    assert runs.solved.all()
    # Something is in the way: A* with the octile distance has to look around.
    assert runs.expanded.max() > 300
    small = datasets.obstacle_worlds(family, size=40).draw(5, seed=0)
    assert len(small) == 5


@needs_data
@pytest.mark.parametrize("family", ["alternating_gaps", "forest", "mazes", "shifting_gaps"])
def test_worlds_resemble_the_published_ones(family: str) -> None:
    real = datasets.read_worlds(FOLDER / "worlds" / family / "train").blocked
    ours = datasets.obstacle_worlds(family).worlds(300, seed=0).blocked
    assert ours.mean() == pytest.approx(real.mean(), rel=0.1)
    # How often each tenth of the rows and columns is blocked.
    for axis in (1, 2):
        profile = [part.mean(axis=(0, axis))[:200].reshape(20, 10).mean(axis=1) for part in (real, ours)]
        assert np.abs(profile[0] - profile[1]).max() < 0.12


def test_bad_parameters() -> None:
    for make, what in (
        (lambda: datasets.city(5), "n must be at least 16"),
        (lambda: datasets.city(50, goal=1000), "goal must be a vertex"),
        (lambda: datasets.obstacle_worlds("trees"), "family must be one of alternating_gaps"),
        (lambda: datasets.obstacle_worlds("forest", size=3), "size must be at least 20"),
        (lambda: datasets.obstacle_worlds("forest", dtype=int), "float64 or float32"),
        (lambda: datasets.city(30).draw(0, 0), "count must be at least 1"),
    ):
        with pytest.raises(rs.errors.InputError, match=what):
            make()


def test_a_city_towards_another_goal_is_the_city_with_that_goal() -> None:
    built, turned = rs.datasets.city(100, seed=3, goal=5), rs.datasets.city(100, seed=3).towards(5)
    assert turned.goal == 5
    expected, found = built.draw(20, seed=1), turned.draw(20, seed=1)
    assert np.array_equal(found.weights, expected.weights)
    assert np.array_equal(found.sources, expected.sources)
    with pytest.raises(rs.errors.VertexError):
        built.towards(100)
