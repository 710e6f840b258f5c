"""METR-LA: a width for every ρ at once that says something, where the paper's own bound says nothing."""

import numpy as np

import rhostar as rs
from support.real_data import FOLDER, needs_data


@needs_data
def test_the_edge_local_bound_is_within_three_tenths_of_the_mean_optimum() -> None:
    network = rs.datasets.read_metr_la(FOLDER / "metr_la" / "metr_la_week.npz", speeds=(10.0, 70.0))
    graph, weights = network.graph, np.ascontiguousarray(network.weights)
    goal, N = rs.datasets.choose_goal(graph), 10_000
    train = network.sample(N, goal=goal, seed=0)
    optimum = np.delete([rs.distances_to(graph, row, goal) for row in weights], goal, axis=1)
    limit = float(optimum.max())
    learner = rs.learners.MeanDistance().fit(train)
    lower, upper = network.edge_bounds
    table = rs.certify_training(learner, train, rs.utilities.Suboptimality(limit=limit), lower=lower, upper=upper)
    row = table["U2"]
    deviation = 2 * limit * np.sqrt(np.log(1 / 0.05) / (2 * N))  # all of δ for this one bound
    assert row.measured["2R"] + deviation <= 0.3 * optimum.mean()
    assert row.holds_for == "every rho"
    assert any(entry.label == "H3 A" and "below the pseudo-dimension" in entry.reason for entry in table.dropped)
