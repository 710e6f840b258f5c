"""Paths found by listing all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import rhostar as rs
from rhostar.search import reference

Children = Mapping[int, Sequence[tuple[int, Any]]]


def children_of(instance: rs.instances.Instance) -> reference.Children:
    """Return the children of each vertex with their weights; absent edges are left out."""
    graph, weights, _, _ = instance
    return reference.children_of(graph.n, graph.tail.tolist(), graph.head.tolist(), weights.tolist())


def simple_paths(children: Children, source: int, goal: int) -> list[tuple[Any, list[int]]]:
    """Return every path without a repeated vertex, with its cost added up from the start."""
    found, stack = [], [(0, [source])]
    while stack:
        cost, path = stack.pop()
        if path[-1] == goal:
            found.append((cost, path))
            continue
        stack += [(cost + w, [*path, c]) for c, w in children[path[-1]] if c not in path]
    return found


def optimal_path(children: Children, source: int, goal: int) -> list[int] | None:
    """Return the cheapest path; of several, the one with the fewest edges, then the lexicographically smallest."""
    found = [(cost, len(path), path) for cost, path in simple_paths(children, source, goal)]
    return min(found)[2] if found else None
