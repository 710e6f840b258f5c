"""UXsim with a router in place of its own route search: the same simulation."""

import time
from typing import Any

import numpy as np
import pytest

import rhostar as rs

pytestmark = pytest.mark.peers


def world(side: int, seed: int) -> Any:
    uxsim = pytest.importorskip("uxsim", reason="uxsim is not installed: the router was NOT tried in it")
    made = uxsim.World(name="", deltan=10, tmax=3600, print_mode=0, save_mode=0, show_mode=0, random_seed=seed)
    for i in range(side):
        for j in range(side):
            made.addNode(f"{i},{j}", i, j)
    rng = np.random.default_rng(seed)
    for i in range(side):
        for j in range(side):
            for k, m in ((i + 1, j), (i, j + 1), (i - 1, j), (i, j - 1)):
                if 0 <= k < side and 0 <= m < side:
                    speed = float(rng.uniform(8, 20))
                    made.addLink(f"{i},{j}-{k},{m}", f"{i},{j}", f"{k},{m}", length=500, free_flow_speed=speed)
    made.addLink("second", "0,0", "0,1", length=700, free_flow_speed=15.0)  # two links between the same nodes
    for _ in range(40):
        a, b = rng.integers(0, side, 2), rng.integers(0, side, 2)
        if (a != b).any():
            made.adddemand(f"{a[0]},{a[1]}", f"{b[0]},{b[1]}", 0, 2500, float(rng.uniform(0.05, 0.3)))
    made.finalize_scenario()
    return made


def outcome(made: Any) -> tuple[int, float, float]:
    made.exec_simulation()
    made.analyzer.basic_analysis()
    found = made.analyzer
    return found.trip_completed, found.total_travel_time, found.average_delay


def test_the_simulation_stays_the_same() -> None:
    before, usual, after, ours = (None,) * 4
    plain, guided = world(9, 1), world(9, 1)
    router = rs.interop.uxsim.use_router(guided)
    before = time.process_time()
    expected = outcome(plain)
    usual = time.process_time() - before
    after = time.process_time()
    assert outcome(guided) == expected
    ours = time.process_time() - after
    assert expected[0] > 1000, "there is traffic"
    assert router.snapshot.weights.max() > 1.2 * router.snapshot.weights.min()
    for t, dist in plain.ROUTECHOICE.dist_record.items():
        np.testing.assert_allclose(guided.ROUTECHOICE.dist_record[t], dist)
    print(f"UXsim's own search {usual:.2f} s, with a router {ours:.2f} s of processor time, whole simulation")


def test_a_world_must_be_finalized() -> None:
    with pytest.raises(rs.errors.InputError, match="must be finalized"):
        rs.interop.uxsim.use_router(object())
