"""Declared pools: what a draw remembers, what it loses, and that equal names mean equal draws."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import rhostar as rs
from rhostar.datasets import Network, deduplicate, split_by_day, without
from rhostar.errors import InputError, StorageError
from rhostar.instances._provenance import Provenance
from support.instances import grid_instances


def same(a: rs.InstanceSet, b: rs.InstanceSet) -> bool:
    return all(
        np.array_equal(x, y)
        for x, y in ((a.weights[a.rows], b.weights[b.rows]), (a.sources, b.sources), (a.goals, b.goals))
    )


def network(snapshots: int = 6, seed: int = 0) -> Network:
    graph = rs.Graph.grid(4, 4)
    return Network(graph, np.random.default_rng(seed).uniform(1, 2, (snapshots, graph.m)))


def samplers() -> dict[str, Callable[[int, int], rs.InstanceSet]]:
    """Everything of ours that draws, as functions of the number of draws and the seed."""
    datasets = rs.datasets
    generators = {
        "city": datasets.city(30),
        "obstacles": datasets.obstacle_worlds("forest", size=20),
    }
    found: dict[str, Callable[[int, int], rs.InstanceSet]] = {
        name: generator.draw for name, generator in generators.items()
    }
    found["network"] = lambda count, seed: network().sample(count, goal=15, seed=seed)
    found["pool"] = lambda count, seed: grid_instances(4, 4, 9).draw(count, seed)
    return found


@pytest.mark.parametrize("name", samplers())
def test_a_draw_is_named_by_what_it_is_made_from(name: str) -> None:
    draw = samplers()[name]
    one, again = draw(12, 3), samplers()[name](12, 3)
    assert one.pool is not None
    assert again.pool == one.pool
    assert same(one, again)
    assert one.origin == again.origin == one.pool.draw
    assert Provenance.of(one).overlap(again) == 12, "the same draw"
    other = draw(12, 4)
    assert other.pool is not None
    assert (other.pool.content, other.pool.words) == (one.pool.content, one.pool.words)
    assert other.pool.draw != one.pool.draw
    assert Provenance.of(one).overlap(other) == 0, "another draw, whatever it has in common"
    longer = draw(20, 3)
    assert longer.origin != one.origin
    # Samplers use the same random numbers for the same seed; a pool gives other ones for another number of draws.
    assert Provenance.of(one).overlap(longer) == (0 if name == "pool" else 20)


def test_samplers_with_one_seed_but_another_number_share_snapshots() -> None:
    """Why such draws count as seen although hardly an instance is equal."""
    short, longer = (rs.datasets.obstacle_worlds("forest", size=20).draw(count, seed=0) for count in (30, 50))
    assert np.array_equal(short.weights, longer.weights[:30])
    single = network().sample(40, goal=15, seed=0)
    assert np.array_equal(single.rows, network().sample(60, goal=15, seed=0).rows[:40])


def test_a_pool_is_drawn_from_uniformly_and_independently() -> None:
    pool = grid_instances(3, 3, 10)
    drawn = pool.draw(5000, seed=0)
    assert stats.chisquare(np.bincount(drawn.rows, minlength=10)).pvalue > 1e-4
    pairs = np.bincount(drawn.rows[:-1] * 10 + drawn.rows[1:], minlength=100)
    assert stats.chisquare(pairs).pvalue > 1e-4
    # No draw is a part of another, neither with another number nor from a smaller pool.
    for other in (pool.draw(100, seed=0), pool[:9].draw(5000, seed=0)):
        count = min(len(other), 5000)
        assert np.mean(other.rows[:count] == drawn.rows[:count]) < 0.25


def test_seeds_of_every_kind() -> None:
    pool = grid_instances(3, 3, 10)
    rng = np.random.default_rng(5)
    first, second = pool.draw(50, rng), pool.draw(50, rng)
    assert first.origin != second.origin, "a generator goes on"
    assert pool.draw(50, np.random.default_rng(5)).origin == first.origin == pool.draw(50, 5).origin
    assert pool.draw(50, None).origin != pool.draw(50, None).origin
    with pytest.raises(InputError, match="count"):
        pool.draw(0, seed=0)
    with pytest.raises(InputError, match="empty"):
        pool[:0].draw(3, seed=0)


def test_another_process_makes_the_same_draws() -> None:
    code = (
        "import numpy as np, rhostar as rs\n"
        "graph = rs.Graph.grid(3, 3)\n"
        "weights = np.random.default_rng(0).uniform(1, 2, (10, graph.m))\n"
        "pool = rs.InstanceSet(graph, weights, sources=0, goal=8)\n"
        "print(pool.draw(50, seed=1).origin, rs.datasets.city(30).draw(3, seed=1).origin)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    graph = rs.Graph.grid(3, 3)
    weights = np.random.default_rng(0).uniform(1, 2, (10, graph.m))
    pool = rs.InstanceSet(graph, weights, sources=0, goal=8)
    assert printed == [pool.draw(50, seed=1).origin, rs.datasets.city(30).draw(3, seed=1).origin]


def test_words() -> None:
    graph = rs.Graph.grid(3, 3)
    pool = rs.InstanceSet(graph, np.ones((2000, graph.m)), sources=0, goal=8)
    drawn = pool.draw(3, seed=0).pool
    assert drawn is not None
    assert (drawn.size, drawn.words) == (2000, "draws from this pool of 2,000 instances")
    sampled = network(10).sample(5, goal=15).pool
    assert sampled is not None
    assert sampled.words == "draws by this sampler from 10 snapshots and 15 starts"
    generated = rs.datasets.city(30).draw(3, seed=0).pool
    assert generated is not None
    assert generated.words == "draws from the distribution City"
    assert pool.pool is None


def carried(instances: rs.InstanceSet, folder: Path) -> dict[str, rs.InstanceSet]:
    """Return the set after everything that must not lose its pool."""
    instances.save(folder / "set")
    loaded, plain = (rs.InstanceSet.load(folder / "set", mmap=mmap) for mmap in (True, False))
    np.save(folder / "weights.npy", instances.weights)
    mapped = rs.InstanceSet(
        instances.graph,
        np.load(folder / "weights.npy", mmap_mode="r"),
        instances.sources,
        instances.goals,
        rows=instances.rows,
    )
    return {
        "slice": instances[::2],
        "mask": instances[instances.sources > 0],
        "split": instances.split(0.5, seed=0)[1],
        "split of single snapshots": instances[:3].split(0.5, seed=0, groups=[0, 1, 2])[1],
        "by goal": instances.by_goal()[15],
        "saved": loaded,
        "saved, not mapped": plain,
        "pickled": pickle.loads(pickle.dumps(instances)),
        "pickled folder": pickle.loads(pickle.dumps(loaded[1:])),
        "pickled map": pickle.loads(pickle.dumps(mapped._take(slice(None), instances._drawn, instances.origin))),
    }


def test_views_files_and_pickles_keep_the_pool_and_the_feasible_share(tmp_path: Path) -> None:
    graph = rs.Graph.grid(4, 4)
    weights = np.random.default_rng(0).uniform(1, 2, (12, graph.m))
    weights[3:6] = np.inf
    pool = rs.InstanceSet(graph, weights, np.arange(12), goal=15, infeasible="drop")
    assert (len(pool), pool.feasible, pool.pool) == (9, 0.75, None)
    drawn = pool.draw(40, seed=0)
    assert drawn.feasible == 0.75
    for name, found in carried(drawn, tmp_path).items():
        assert (found.pool, found.feasible) == (drawn.pool, 0.75), name
        assert found._drawn == drawn._drawn, name
        assert Provenance.of(drawn).among(found).all(), name


def test_what_is_chosen_by_content_is_no_draw_from_the_pool() -> None:
    drawn = network().sample(60, goal=15, seed=0)
    day = np.arange(6) // 3
    parts = {
        "groups": drawn.split(0.5, seed=0, groups=drawn.rows),
        "days": split_by_day(drawn, day[drawn.rows]),
        "deduplicated": (deduplicate(drawn),),
        "without": (without(drawn, drawn[drawn.rows == 0]),),
    }
    for name, found in parts.items():
        for part in found:
            assert part.pool is None, name
            # It is still known what they are.
            assert Provenance.of(drawn).among(part).all(), name
            other = network().sample(61, goal=15, seed=0)
            assert Provenance.of(part).overlap(other) == 61, f"{name}: the same random numbers"


def test_samplers_say_which_share_was_feasible() -> None:
    graph = rs.Graph.from_edges(4, [0, 1], [3, 3])
    drawn = Network(graph, np.ones((1, 2))).sample(2000, goal=3, seed=0)
    assert drawn.feasible == pytest.approx(2 / 3, abs=0.05)
    assert rs.datasets.city(30).draw(5, seed=0).feasible == 1.0
    assert grid_instances(3, 3, 4).feasible == 1.0


@pytest.mark.parametrize(
    "changed",
    [{"feasible": 0.0}, {"feasible": "much"}, {"pool": {"size": 3}}, {"pool": 7}, {"stream": None, "feasible": 2}],
)
def test_a_damaged_record_is_refused(
    changed: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = grid_instances(3, 3, 5).draw(4, seed=0)
    fact = drawn._drawn.to_fact() | changed
    monkeypatch.setattr(type(drawn._drawn), "to_fact", lambda _: fact)
    drawn.save(tmp_path / "set")
    with pytest.raises(StorageError, match="does not contain a set of instances"):
        rs.InstanceSet.load(tmp_path / "set")
