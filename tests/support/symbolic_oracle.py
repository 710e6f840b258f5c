"""Symbolic execution in plain Python: the oracle of the compiled one. Slow on purpose.

Bounds are exact: (c, strict) says ρ_i − ρ_j ≤ c, or < c where strict. One bound is added at a time and the whole
matrix closed again.
"""

import math
from collections.abc import Iterator, Sequence

import rhostar as rs
from rhostar.search import reference

Bounds = dict[tuple[int, int], tuple[float, bool]]


def tighter(a: tuple[float, bool], b: tuple[float, bool]) -> bool:
    return (a[0], not a[1]) < (b[0], not b[1])


def add(bounds: Bounds, n: int, i: int, j: int, c: float, strict: bool) -> Bounds | None:
    """Return the closed bounds with ρ_i − ρ_j ≤ c (or <) added; None where nothing is left."""
    free = (math.inf, False)
    back = bounds.get((j, i), free)
    if back[0] + c < 0 or (back[0] + c == 0 and (strict or back[1])):
        return None
    closed = dict(bounds)
    for a in range(n):
        before = (0, False) if a == i else bounds.get((a, i), free)
        for b in range(n):
            after = (0, False) if b == j else bounds.get((j, b), free)
            through = (before[0] + c + after[0], before[1] or strict or after[1])
            if a != b and through[0] < math.inf and tighter(through, closed.get((a, b), free)):
                closed[a, b] = through
    return closed


def single(
    bounds: Bounds, n: int, children: reference.Children, source: int, goal: int, algorithm: str, reopen: bool
) -> Iterator[tuple[Bounds, tuple[int, ...]]]:
    """Yield every behaviour of one instance within the bounds: the bounds and the vertices selected."""

    def follow(bounds: Bounds, opened: set[int], closed: set[int], g: dict[int, float], selected: tuple[int, ...]):
        for v in sorted(opened):
            here: Bounds | None = bounds
            for u in sorted(opened - {v}):
                c = g[u] - g[v] if algorithm == "astar" else 0
                here = add(here, n, v, u, c, v > u)
                if here is None:
                    break
            if here is None:
                continue
            path = (*selected, v)
            if algorithm == "astar" and v == goal:
                yield here, path
                continue
            now_open, now_closed, now_g = set(opened), set(closed), dict(g)
            done = False
            for child, w in children[v]:
                g_new = g[v] + w
                if algorithm == "gbfs" and child == goal:
                    done = True
                    break
                fresh = child not in now_open and child not in now_closed
                better = not fresh and algorithm == "astar" and g_new < now_g[child]
                if fresh or (better and (child in now_open or reopen)):
                    now_g[child] = g_new
                    now_closed.discard(child)
                    now_open.add(child)
            if done:
                yield here, path
                continue
            now_open.remove(v)
            now_closed.add(v)
            yield from follow(here, now_open, now_closed, now_g, path)

    yield from follow(bounds, {source}, set(), {source: 0.0}, ())


def joint(instances: rs.InstanceSet, algorithm: str, reopen: bool = True) -> list[tuple[tuple[int, ...], ...]]:
    """Return for each joint behaviour the vertices selected on each instance."""
    n = instances.graph.n
    leaves: list[tuple[Bounds, tuple[tuple[int, ...], ...]]] = [({}, ())]
    for graph, weights, source, goal in instances:
        children = reference.children_of(n, graph.tail.tolist(), graph.head.tolist(), weights.tolist())
        leaves = [
            (after, (*before, selected))
            for bounds, before in leaves
            for after, selected in single(bounds, n, children, source, goal, algorithm, reopen)
        ]
    return [selected for _, selected in leaves]


def reference_runs(
    instances: rs.InstanceSet, rho: Sequence[float], algorithm: str, reopen: bool
) -> list[reference.Result]:
    runs = []
    for graph, weights, source, goal in instances:
        children = reference.children_of(graph.n, graph.tail.tolist(), graph.head.tolist(), weights.tolist())
        if algorithm == "gbfs":
            runs.append(reference.gbfs(children, source, goal, rho))
        else:
            runs.append(reference.astar(children, source, goal, rho, reopen))
    return runs
