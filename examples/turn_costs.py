"""Turn costs: a left turn takes longer than driving straight on, and U-turns are forbidden.

``Graph.with_turns`` makes a graph in which every turn has its own edge. Queries and answers of a ``TurnRouter`` use
streets and crossings; searches and learners take its graph and weights like any others.

    python examples/turn_costs.py
"""

import numpy as np

import rhostar as rs

SIDE, LEFT = 12, 15.0  # seconds


def main() -> None:
    """Compare routes with and without turn costs, and learn on the graph of turns."""
    rng = np.random.default_rng(0)
    streets = rs.Graph.grid(SIDE, SIDE)
    seconds = rng.uniform(20, 40, streets.m)
    turns = streets.with_turns(lambda turns: np.where(turns.angle > 30, LEFT, 0.0), u_turns=np.inf)
    print(turns)

    router = rs.routing.TurnRouter(turns)
    router.update(seconds)
    route = router.route((0, 0), (SIDE - 1, SIDE - 1))
    plain = rs.Router(streets)
    plain.update(seconds)
    shortest = plain.route((0, 0), (SIDE - 1, SIDE - 1))
    print(f"without turns {shortest.cost:.1f} s; with turns {route.cost:.1f} s over {route.edges.size} streets")

    evenings = turns.weights(seconds * rng.uniform(1, 1.5, (60, streets.m)))
    trips = rs.InstanceSet(
        turns.graph,
        evenings,
        rows=rng.integers(0, 60, 300),
        sources=[turns.start(v) for v in rng.integers(0, streets.n - 1, 300)],
        goal=turns.end(streets.n - 1),
    )
    past, new = trips.split(0.5, seed=0, groups=trips.rows)
    safe = rs.learners.LowerEnvelope(turns.weights(seconds)).fit(past)
    for name, rho in {"Dijkstra": np.zeros(turns.graph.n), "exact": safe}.items():
        runs = rs.solve_many(new, rho)
        print(f"{name:10}{runs.expanded.mean():8.1f} streets per trip{runs.cost.mean():10.2f} seconds")


if __name__ == "__main__":
    main()
