"""Learns ρ for any goal from distances to and from a few landmarks (ALT: A*, landmarks, triangle inequality)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import heuristics
from rhostar.graph._components import strong_components
from rhostar.instances import InstanceSet
from rhostar.learners._base import Learner, Seed, generator, one_of
from rhostar.learners._weights import complete, edge_statistics
from rhostar.search import distances_to


class Landmarks(Learner):
    """Lower bounds by the triangle inequality, for every goal.

    Let w be one row of weights for all instances, and take distances under it. Then d(v, t) is at least d(l, t) −
    d(l, v) and d(v, l) − d(t, l) for every landmark l; ρ_v is the largest of these, and 0.

    Parameters
    ----------
    k
        How many landmarks; at most n are taken. They are placed in the strongly connected components of the goals, in
        proportion to the number of instances. Other components are used only when these have no vertices left.
    selection
        "farthest" chooses each as far as possible from the previous ones, "random" takes them at random.
    statistic
        What w is: the "min" of each edge's weights over the training set, their "mean", or a "quantile".
    quantile
        Which quantile, for "quantile".
    random_state
        Seeds the choice of the first landmark, or of all.

    Attributes
    ----------
    landmarks_
        The vertices chosen.
    heuristic_
        A :class:`rhostar.heuristics.Landmarks`, for every goal.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(10, 10)
    >>> weights = np.random.default_rng(0).uniform(1, 1.2, size=(20, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=99)
    >>> learner = rs.learners.Landmarks(4, random_state=0).fit(instances)
    >>> learner.landmarks_.size, bool(learner.heuristic_.table(57)[50] > 6)
    (4, True)
    """

    algorithm = "astar"
    consistency = "ρ is consistent, for every goal, where no weight is below ``consistent_for``."
    one_goal = False

    def __init__(
        self,
        k: int = 16,
        *,
        selection: Literal["farthest", "random"] = "farthest",
        statistic: Literal["min", "mean", "quantile"] = "min",
        quantile: float = 0.1,
        random_state: Seed = None,
    ) -> None:
        self.k, self.selection, self.statistic, self.quantile = k, selection, statistic, quantile
        self.random_state = random_state

    def _learn(self, instances: InstanceSet) -> dict[str, Any]:
        one_of(self.selection, "selection", ("farthest", "random"))
        one_of(self.statistic, "statistic", ("min", "mean", "quantile"))
        level = arrays.number(self.quantile, "quantile", "between 0 and 1", lambda x: 0 <= x <= 1)
        graph = instances.graph
        k = min(arrays.integer(self.k, "k", 1), graph.n)
        rng = generator(self.random_state)
        weights = complete(graph, edge_statistics(instances, self.statistic, level).value)
        turned = graph.reverse()
        against = weights[turned.edges]

        def distances(v: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            return distances_to(graph, weights, v), distances_to(turned.graph, against, v)

        order = rng.permutation(graph.n)
        component = strong_components(graph, np.isfinite(weights))
        chosen: list[int] = []
        for which, share in _shares(component, instances.goals, k).items():
            inside = component == which
            some = order[inside[order]][:share].tolist()
            chosen += some if self.selection == "random" else _farthest(distances, some[0], inside, share)
        pairs = [distances(v) for v in chosen]
        found = heuristics.Landmarks(graph, [to for to, _ in pairs], [away for _, away in pairs])
        bounds = arrays.frozen(weights)
        return {
            "landmarks_": np.array(chosen),
            "heuristic_": found.with_tables({goal: found.table(goal) for goal in np.unique(instances.goals).tolist()}),
            "consistent_for": bounds,
            "lower": bounds if self.statistic == "min" else None,
        }


def _shares(component: NDArray[np.int32], goals: NDArray[np.int32], k: int) -> dict[int, int]:
    """Return how many of k landmarks each strong component gets, by the number of instances whose goal is in it."""
    sizes = np.bincount(component)
    # The size only decides where no component of a goal has a vertex left.
    wanted = np.bincount(component[goals], minlength=sizes.size) + sizes / (sizes.sum() * 1e9)
    # No component but the k most wanted can get one.
    able = np.argsort(-wanted, kind="stable")[:k]
    share = np.zeros(able.size, dtype=np.int64)
    for _ in range(k):
        ratio = np.where(share < sizes[able], wanted[able] / (share + 1), -1.0)
        share[int(np.argmax(ratio))] += 1
    return {int(which): int(count) for which, count in zip(able, share, strict=True) if count}


def _farthest(
    distances: Callable[[int], tuple[NDArray[np.float64], NDArray[np.float64]]],
    start: int,
    inside: NDArray[np.bool_],
    count: int,
) -> list[int]:
    """Return vertices of a strong component, each as far as possible from the previous ones."""
    chosen: list[int] = []
    to, away = distances(start)
    near = np.full(inside.size, np.inf)
    for _ in range(count):
        # The vertex drawn first only shows where the far ends are; it does not become a landmark.
        near = np.minimum(near, np.where(inside, to + away, -1.0))
        chosen.append(int(np.argmax(near)))
        if len(chosen) == 1:
            near[:] = np.inf
        to, away = distances(chosen[-1])
    return chosen
