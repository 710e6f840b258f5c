"""Check every claimed shattered set and parity order, with nothing but Python's standard library.

    python -c "import rhostar as rs; rs.theory.export('claims')"
    python tools/verify.py claims

N instances are shattered if, for some thresholds, each of the 2^N patterns "the utility is above its threshold on these
instances, and on no others" occurs under some rho. Then the pseudo-dimension is at least N. This program runs both
algorithms itself, on integers that never round, and imports nothing of the package that makes the claims.

A file of kind "shattered-set" has items: groups of instances with the vertices whose rho moves for them. For each item
all 2^B patterns of its B instances are run. If items share no vertex, and no instance touches a vertex of another
item, all 2^N patterns of all instances follow. A file of kind "parity-orders" has orders of B instances; the sums
modulo 2 of their prefixes, one of each order, must be all 2^B vectors.
"""

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

Children = list[list[tuple[int, int]]]
Numbers = list[int]


def require(holds: object, message: str) -> None:
    """Raise where a claim does not hold."""
    if not holds:
        raise ValueError(message)


def gbfs(children: Children, source: int, goal: int, rho: Numbers) -> tuple[int, int]:
    """Algorithm 1: return the cost and the number of expansions."""
    opened, g, expanded = {source}, {source: 0}, 0  # CLOSED is what has a g and is not in OPEN
    while opened:
        v = min(opened, key=lambda u: (rho[u], u))  # ties go to the smaller index
        expanded += 1
        for c, w in children[v]:
            if c == goal:
                return g[v] + w, expanded
            if c not in g:
                g[c] = g[v] + w
                opened.add(c)
        opened.remove(v)
    raise ValueError("an instance has no path to the goal")


def astar(children: Children, source: int, goal: int, rho: Numbers, reopen: bool) -> tuple[int, int]:
    """Algorithm 2, likewise. The cost is that of the path the pointers hold at the end."""
    opened, g, expanded, pointer = {source}, {source: 0}, 0, {source: source}
    while opened:
        v = min(opened, key=lambda u: (g[u] + rho[u], u))
        if v == goal:
            cost = 0
            while v != source:
                cost, v = cost + dict(children[pointer[v]])[v], pointer[v]
            return cost, expanded
        expanded += 1
        for c, w in children[v]:
            new = g[v] + w
            if c not in g or (new < g[c] and (c in opened or reopen)):
                g[c], pointer[c] = new, v
                opened.add(c)
        opened.remove(v)
    raise ValueError("an instance has no path to the goal")


def children_of(n: int, edges: list[Numbers], unit: int) -> Children:
    """Children in index order; weights times `unit`, the denominator of rho, so that all numbers are integers."""
    require(len({(u, v) for u, v, _ in edges}) == len(edges), "an edge occurs twice")
    children: Children = [[] for _ in range(n)]
    for u, v, w in sorted(edges):
        require(0 <= u < n and 0 <= v < n and isinstance(w, int) and w >= 0, f"bad edge {u} -> {v} of weight {w}")
        children[u].append((v, w * unit))
    return children


def check_set(claim: dict[str, Any]) -> tuple[int, int]:
    """Run all patterns of all items; return the number of instances and of runs."""
    n, goal, unit, size = claim["n"], claim["goal"], claim["denominator"], claim["size"]
    sources, edges, thresholds = claim["sources"], claim["edges"], claim["thresholds"]
    require(size == len(sources) == len(edges) == len(thresholds) > 0, "sizes differ")
    require(claim["utility"] in ("cost", "expanded") and claim["modes"], "unknown utility, or nothing claimed")
    require(isinstance(unit, int) and unit > 0 and len(claim["base"]) == n, "base or denominator of rho is wrong")
    children = [children_of(n, e, unit) for e in edges]
    require(all(0 <= s < n and s != goal for s in sources) and 0 <= goal < n, "bad source or goal")
    touched = [{v for u, c, _ in e for v in (u, c)} | {s} for s, e in zip(sources, edges, strict=True)]
    items = claim["items"]
    require(sorted(i for item in items for i in item["instances"]) == list(range(size)), "items do not part the set")
    moving = [v for item in items for v in item["vertices"]]
    require(len(set(moving)) == len(moving) and set(moving) <= set(range(n)), "items share a vertex")
    runs = 0
    for item in items:
        mine, foreign = item["instances"], set(moving) - set(item["vertices"])
        require(not any(touched[i] & foreign for i in mine), "an instance touches a vertex of another item")
        require(len(item["words"]) == 1 << len(mine), "not one rho for each pattern")
        for word, values in enumerate(item["words"]):
            rho = list(claim["base"])
            for v, x in zip(item["vertices"], values, strict=True):
                rho[v] = x
            require(all(isinstance(x, int) for x in rho), "rho must be integers over the denominator")
            for algorithm, reopen in claim["modes"]:
                require(algorithm in ("gbfs", "astar"), f"unknown algorithm {algorithm}")
                for bit, i in enumerate(mine):
                    s, c = sources[i], children[i]
                    cost, expanded = gbfs(c, s, goal, rho) if algorithm == "gbfs" else astar(c, s, goal, rho, reopen)
                    value = Fraction(cost, unit) if claim["utility"] == "cost" else expanded
                    above = value > Fraction(thresholds[i])
                    require(above == bool(word >> bit & 1), f"instance {i}, pattern {word}, {algorithm}: {value}")
                    runs += 1
    return size, runs


def check_orders(claim: dict[str, Any]) -> tuple[int, int]:
    """Add up prefixes: a set of vectors is an integer of 2^B bits, and adding e_i exchanges blocks of 2^i bits."""
    orders, size, blocks, found = claim["orders"], claim["size"], [], 1
    require(len(orders) == claim["layers"] and all(sorted(o) == list(range(size)) for o in orders), "not orders")
    for i in range(size):
        ones, length = (1 << (1 << i)) - 1, 2 << i
        while length < 1 << size:
            ones, length = ones | ones << length, 2 * length
        blocks.append(ones)
    for order in orders:
        moved = found
        for i in order:
            moved = (moved & blocks[i]) << (1 << i) | moved >> (1 << i) & blocks[i]
            found |= moved
    require(found.bit_count() == 1 << size, f"{(1 << size) - found.bit_count()} vectors are no sum of prefixes")
    return size, 0


def main(folder: str) -> int:
    """Check all files of a folder; return 1 if a claim is wrong or there is none."""
    checks, failed, total = {"shattered-set": check_set, "parity-orders": check_orders}, 0, 0
    paths = sorted(Path(folder).glob("*.json"))
    for path in paths:
        try:
            claim = json.loads(path.read_text(), parse_float=Fraction)
            size, runs = checks[claim["kind"]](claim)
            total += runs
            print(f"right  {size:4} {path.stem}")
        except (KeyError, TypeError, ValueError, IndexError) as error:
            failed += 1
            print(f"WRONG       {path.stem}: {error!r}")
    print(f"{len(paths)} claims, {failed} wrong, {total} runs")
    return int(failed > 0 or not paths)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
