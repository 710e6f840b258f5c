"""An update every night: learn from the last days, certify, monitor the next day, and react when traffic changes.

Day 8 is a holiday: most streets are empty and some are closed except to residents, so that routes differ from all
earlier ones. The monitor notices it during the day; then the exact values answer until the next night.

    python examples/nightly.py
"""

import numpy as np

import rhostar as rs

DAYS, WINDOW, HOLIDAY = 10, 4, 8
UTILITY = rs.utilities.Suboptimality(limit=2.0)  # minutes over the fastest route


def main() -> None:
    """Run through ten days."""
    town = rs.datasets.city(400, seed=4)
    network = town.history(days=DAYS, seed=0, per_day=48)
    weights = np.array(network.weights)
    free = town.edge_bounds[0]  # no street is ever faster than this
    holiday, empty = network.days == HOLIDAY, np.random.default_rng(1).random(network.graph.m) < 0.8
    weights[holiday] = np.where(empty, free, 4 * weights[holiday])
    network = rs.datasets.Network(network.graph, weights, days=network.days)
    goal = rs.datasets.choose_goal(network.graph)
    exact = rs.learners.LowerEnvelope(free).fit(network.sample(50, goal=goal))
    for day in range(WINDOW, DAYS):
        # The night before: draw trips from the last days, learn on half of the snapshots, certify on the others.
        recent = np.flatnonzero((network.days >= day - WINDOW) & (network.days < day))
        trips = network.sample(2000, goal=goal, seed=day, rows=recent)
        train, holdout = trips.split(0.5, seed=day, groups=trips.rows)
        learned = 1.3 * rs.learners.MeanDistance().fit(train).rho_  # fewer expansions, but no guarantee by itself
        table = rs.certify(learned, holdout, UTILITY, groups=False, duplicates="allow")  # trips drawn independently
        monitor = rs.Monitor(table, alpha=0.01)
        # The day: every query is answered at once; the fastest route is computed when there is time.
        today = network.sample(400, goal=goal, seed=100 + day, rows=np.flatnonzero(network.days == day))
        today = today[np.argsort(today.rows, kind="stable")]
        extra = rs.evaluate(learned, today, [UTILITY])["suboptimality"].values
        monitor.extend(extra)
        line = f"day {day}: at most {table.best.value:.3f} minutes, "
        if monitor.alarm_at is None:
            print(f"{line}measured {extra.mean():.3f}")
            continue
        rest = rs.evaluate(exact, today[monitor.alarm_at :], [UTILITY])["suboptimality"].mean
        print(f"{line}measured {extra[: monitor.alarm_at].mean():.3f} until the alarm at query {monitor.alarm_at}")
        print(f"       then {rest:.3f} with the exact values instead of {extra[monitor.alarm_at :].mean():.3f}")


if __name__ == "__main__":
    main()
