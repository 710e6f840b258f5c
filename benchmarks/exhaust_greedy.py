"""The exact pseudo-dimension of greedy search on few vertices (the argument), by trying every graph.

Greedy search depends only on the order of ρ, so an instance with a threshold is a set of orders. All edge sets from one
start are run under all orders. For the cost, all weights are covered: an instance with a threshold tells which of the
paths that occur are expensive, and every subset of them is tried, whether some weights make exactly these expensive or
not. Trying too many can only find too much, and each size that is found has a witness in the atlas. Backtracking then
looks for functions that split all orders in every way; the first function is tried only up to renaming of vertices.
6 vertices take about a minute.
"""

import itertools
import sys

import numpy as np

from rhostar.theory import _core


def outcomes(n: int, measure: int) -> set[tuple[int, ...]]:
    """Return the distinct rows of results, over all edge sets, under the orders of the n - 2 inner vertices."""
    goal, source, inner = n - 1, n - 2, range(n - 2)
    edges = [(source, v) for v in inner] + [(u, v) for u in inner for v in [*inner, goal] if u != v]
    rho = np.array([[*np.argsort(order), 0, 0] for order in itertools.permutations(inner)], dtype=np.int64)
    found: set[tuple[int, ...]] = set()
    for base in range(0, 1 << len(edges), 1 << 14):
        masks = np.arange(base, min(base + (1 << 14), 1 << len(edges)))
        weights = np.full((masks.size, n, n), -1, dtype=np.int64)
        for k, (u, v) in enumerate(edges):
            weights[(masks >> k & 1) == 1, u, v] = (
                1 << k if measure == 0 else 1
            )  # powers of two: the cost names the path
        sources = np.full(masks.size, source, dtype=np.int32)
        values = _core.sweep(weights, sources, goal, True, True, rho, 0, measure).values.reshape(masks.size, len(rho))
        found |= set(map(tuple, np.unique(values[(values >= 0).all(axis=1)], axis=0).tolist()))
    return found


def functions(n: int, measure: int) -> tuple[list[int], list[int]]:
    """Return all functions of the orders of n - 1 vertices, one of each pair of complements, and one of each orbit."""
    local = {order: k for k, order in enumerate(itertools.permutations(range(n - 2)))}
    orders = list(itertools.permutations(range(n - 1)))
    number = {order: k for k, order in enumerate(orders)}
    everything = (1 << len(orders)) - 1
    single = set()
    for row in outcomes(n, measure):
        values = sorted(set(row))
        high = [values[k:] for k in range(1, len(values))]
        if measure == 0:
            high = [chosen for k in range(1, len(values)) for chosen in itertools.combinations(values, k)]
        single |= {tuple(x in chosen for x in row) for chosen in high}
    found = set()
    for source in range(n - 1):
        name = {v: v - (v > source) for v in range(n - 1) if v != source}
        which = [local[tuple(name[v] for v in order if v != source)] for order in orders]
        for row in single:
            function = sum(1 << i for i, k in enumerate(which) if row[k])
            found.add(min(function, everything ^ function))
    renamings = [[number[tuple(p[v] for v in o)] for o in orders] for p in itertools.permutations(range(n - 1))]
    first, seen = [], set()
    for function in sorted(found):
        if function not in seen:
            first.append(function)
            members = [i for i in range(len(orders)) if function >> i & 1]
            for renaming in renamings:
                image = sum(1 << renaming[i] for i in members)
                seen.add(min(image, everything ^ image))
    return sorted(found), first


def shattered(found: list[int], first: list[int], points: int, size: int) -> bool:
    """Return whether `size` of the functions show every pattern on the points."""

    def extend(classes: list[int], candidates: list[int], left: int) -> bool:
        if left == 0:
            return True
        least = 1 << (left - 1)
        fit = []
        for f in candidates:
            for c in classes:
                inside = (c & f).bit_count()
                if inside < least or c.bit_count() - inside < least:
                    break
            else:
                fit.append(f)
        return any(
            extend([part for c in classes for part in (c & f, c & ~f)], fit[k + 1 :], left - 1)
            for k, f in enumerate(fit)
        )

    everything, least = (1 << points) - 1, 1 << (size - 1)
    return any(extend([f, everything ^ f], found, size - 1) for f in first if least <= f.bit_count() <= points - least)


def main(n: int) -> None:
    points = len(list(itertools.permutations(range(n - 1))))
    for name, measure in (("cost", 0), ("expansions", 1)):
        found, first = functions(n, measure)
        size = 1
        while 1 << (size + 1) <= points and shattered(found, first, points, size + 1):
            size += 1
        print(f"n = {n}, {name}: {len(found)} functions ({len(first)} up to names), pseudo-dimension {size}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
