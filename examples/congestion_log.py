"""The weight of a congestion router, chosen from its log.

``python examples/congestion_log.py [folder]`` routes wires on a grid, as routers for chips do: all wires are routed
several times, and a cell costs more if more wires use it. Each search in 80 designs is run by A* with the distance
times each of several factors, and each answer is one line of a log. The log is all that ``rs.choose_weight`` needs: it
picks the fastest factor that keeps the mean loss, with a guarantee. The factor is then tried on 20 other designs.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import rhostar as rs

SIDE, WIRES, ROUNDS = 40, 60, 3
FACTORS = (1.0, 1.1, 1.2, 1.3, 1.5, 1.8)


def searches(design: int) -> Iterator[tuple[np.ndarray, int, int]]:
    """Route the wires of a design; yield the costs, the start and the goal of each search."""
    rng = np.random.default_rng(design)
    graph = rs.Graph.grid(SIDE, SIDE)
    ends = rng.integers(0, graph.n, (WIRES, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    used, history = np.zeros(graph.n), np.zeros(graph.n)
    paths: list[np.ndarray] = [np.empty(0, dtype=int)] * len(ends)
    for round_ in range(ROUNDS):
        for k, (source, goal) in enumerate(ends.tolist()):
            used[paths[k]] -= 1
            weights = (1 + history + 0.5 * round_ * used)[graph.head]
            yield weights, source, goal
            paths[k] = rs.astar(graph, weights, source, goal, np.zeros(graph.n)).path
            used[paths[k]] += 1
        history += 0.2 * np.maximum(used - 1, 0)


def answers(designs: Sequence[int], factors: Sequence[float]) -> Iterator[tuple[int, int, float, float, float, int]]:
    """Yield design, query, factor, cost, optimum and expansions of each search with each factor."""
    graph, query = rs.Graph.grid(SIDE, SIDE), 0
    row, column = np.divmod(np.arange(graph.n), SIDE)
    for design in designs:
        for weights, source, goal in searches(design):
            distance = (np.abs(row - row[goal]) + np.abs(column - column[goal])).astype(float)  # a step costs 1 or more
            optimum = rs.astar(graph, weights, source, goal, distance).cost
            for factor in factors:
                run = rs.astar(graph, weights, source, goal, factor * distance)
                yield design, query, factor, run.cost, optimum, run.expanded
            query += 1


def main(words: Sequence[str]) -> None:
    """Write a log, choose a factor, and try it on other designs."""
    folder = Path(words[0] if words else tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    path = folder / "log.csv"
    with path.open("w", newline="") as file:
        log = csv.writer(file)
        log.writerow(["group", "query", "factor", "cost", "optimum", "effort"])
        log.writerows(answers(range(80), FACTORS))  # searches of one design depend on each other: they are a group
    choice = rs.choose_weight(rs.certificates.read_log(path), mean_excess=0.02, limit=0.2)
    print(choice)
    assert choice.factor is not None
    new = np.array(list(answers(range(1000, 1020), (1.0, choice.factor))))
    mine = new[:, 2] == choice.factor
    loss = 100 * (new[mine, 3] / new[mine, 4] - 1)
    print(f"On 20 other designs: {loss.mean():.2f}% mean loss, {loss.max():.0f}% at worst,")
    print(f"{new[mine, 5].mean():.0f} expansions per search instead of {new[~mine, 5].mean():.0f}.")


if __name__ == "__main__":
    main(sys.argv[1:])
