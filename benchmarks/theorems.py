"""Runs the statements of the theory on many cases in exact arithmetic; updates the table of docs/theory.md.

Every count that the table and the note show comes from here. A case that disagrees stops the program. It takes some
minutes. The first argument scales the number of cases (default 1); further ones name the parts to run again.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import rhostar as rs
from rhostar.bounds import _transcripts as bound
from rhostar.search import reference
from rhostar.theory import _cells as cells
from rhostar.theory import _closures as transcripts
from rhostar.theory import _color_code as steps
from rhostar.theory import _parity_orders as orders
from rhostar.theory import _processes as processes
from rhostar.theory import _transcript_code as code
from rhostar.theory._channel import Writer
from rhostar.theory._color_code import follow
from rhostar.theory._color_tree import color_tree, last_edges
from rhostar.theory._most_behaviours import known_instances
from rhostar.theory._processes import Number, Problem
from rhostar.theory._slacks import Knowledge, Unit, edges_of, forest

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- made by benchmarks/theorems.py -->", "<!-- end -->"
Children = dict[int, list[tuple[int, int]]]
Case = tuple[Children, int, int, list[int]]


def draw(rng: random.Random, n: int, *, goal: int | None = None, wide: bool = False) -> Case:
    """Return a random instance with ρ; `wide` for weights and values of very different sizes."""
    largest, density = rng.choice([1, 2, 5, 20, 200]), rng.choice([0.4, 0.7, 1])

    def weight() -> int:
        return rng.getrandbits(rng.randint(1, 40)) if wide else rng.choice([0, rng.randint(0, largest)])

    children = {u: [(v, weight()) for v in range(n) if v != u and rng.random() < density] for u in range(n)}
    goal = rng.randrange(n) if goal is None else goal
    source = rng.choice([v for v in range(n) if v != goal])
    spread = 3 * largest
    rho = [rng.choice([-1, 1]) * weight() if wide else rng.randint(-spread, spread) for _ in range(n)]
    return children, source, goal, rho


def counter(rng: random.Random, k: int) -> Case:
    """Return Martelli's counter on k vertices with noise: long runs with reopening."""
    n = k + 3
    edges: dict[int, dict[int, int]] = {u: {} for u in range(n)}
    for i in range(1, k + 1):
        edges[0][i] = 7 * (2**k - 2**i) + rng.randint(0, 7)
        for z in range(i + 1, k + 1):
            edges[z][i] = max(0, 7 * (2 ** (z - 1) - 2**i) + rng.randint(0, 7))
    top = 7 * 2 ** (k + 1)
    for _ in range(n):
        u, v = rng.sample(range(n), 2)
        edges[u].setdefault(v, rng.randint(0, top))
    edges[0][n - 1] = 4 * top * (k + 4)
    rho = [0, *(top * i for i in range(1, k + 1)), *(rng.randint(0, (k + 1) * top) for _ in range(2))]
    return {u: sorted(some.items()) for u, some in edges.items()}, 0, n - 1, rho


def problem_of(case: Case) -> Problem:
    children, source, goal, _ = case
    kept = [tuple((v, w) for v, w in some if v != source and u != goal) for u, some in children.items()]
    return Problem(tuple(kept), source, goal)


# ---------------------------------------------------------------- the statements


def runs(scale: float) -> dict[str, str]:
    """Check the theorems on closures and on the cost."""
    rng, count, reopened, longest, solved = random.Random(0), 0, 0, 0, 0
    cases = [draw(rng, rng.randint(3, 12)) for _ in range(int(40_000 * scale))]
    cases += [counter(rng, rng.randint(3, 9)) for _ in range(int(1_000 * scale))]
    for case in cases:
        problem, rho = problem_of(case), case[3]
        run = reference.astar(case[0], case[1], case[2], rho)
        closures = transcripts.closures_of(problem, rho)
        assert list(transcripts.states_of(problem, closures)) == run.states
        cost = transcripts.cost_of(problem, rho)
        assert cost == run.cost
        if run.status == "solved":
            assert cost == run.states[-1].g[case[2]], "the pointers tell g"
            solved += 1
        count, reopened, longest = count + 1, reopened + run.reopened, max(longest, run.expanded)
    return {
        "closures": f"{count:,} runs rebuilt, n ≤ 12, {reopened:,} reopenings, longest run {longest:,} expansions",
        "poly": f"{solved:,} costs, n ≤ 12, equal to those of the search; Martelli's family up to n = 90 in the tests",
    }


def codes(scale: float) -> dict[str, str]:
    """Check both codes behind the upper bound, and the lemma on the color tree."""
    rng, sets, sequences, share, mean = random.Random(1), 0, 0, 0.0, 0.0
    seen = dict.fromkeys(("sets", "nodes", "crossing", "asked"), 0)
    largest = 0.0
    for _ in range(int(1_500 * scale)):
        n, size, reopen = rng.randint(3, 10), rng.choice([1, 3, 10]), rng.random() < 0.5
        wide = rng.random() < 0.5
        cases = [draw(rng, n, goal=n - 1, wide=wide) for _ in range(size)]
        problems = [problem_of(case) for case in cases]
        units, rho = code.units_of(problems, reopen), code.untied(problems, cases[0][3])
        sent = code.encode_units(units, n, size, rho, orders=4)
        truth = steps.truth_of(units, n, rho)
        assert code.decode_units(units, n, size, sent.number) == truth.transcripts
        assert sent.bits <= sent.limit
        lengths = []
        for _ in range(2):
            order = rng.sample(range(len(units)), len(units))
            fine = code.encode_shared(units, n, size, rho, order)
            assert code.decode_units(units, n, size, fine.number, order) == truth.transcripts
            lengths.append(fine.bits / fine.limit)
        sets, sequences, share = sets + 1, sequences + len(units), max(share, sent.bits / sent.limit)
        mean = max(mean, sum(lengths) / len(lengths))
        chosen = rng.sample(truth.owners, rng.randint(1, len(truth.owners))) if truth.owners else []
        if chosen:
            bits = one_asker(units, truth, chosen, n, rho, seen)
            assert bits <= math.lgamma(n + 1) / math.log(2) + 1e-9
            largest = max(largest, bits / (math.lgamma(n + 1) / math.log(2)))
    return {
        "upper": f"{sets:,} sets of runs, n ≤ 10, {sequences:,} sequences decoded from the message; at most "
        f"{share:.2f} of the bits of L",
        "fine": f"the same sets by the fine code, in two orders each; at most {mean:.2f} of the bits of L*",
        "tree": f"{seen['sets']:,} sets of owners, n ≤ 10, {seen['nodes']:,} nodes, {seen['crossing']:,} colored pairs "
        f"that a node cuts, {seen['asked']:,} questions; all sides together at most {largest:.2f} of lg n!",
    }


def one_asker(
    units: list[Unit], truth: steps.Truth, chosen: list[int], n: int, rho: list[Number], seen: dict[str, int]
) -> float:
    """Check for a set of units that each node of their tree has one asker; return the bits of all sides."""
    edges = {i: sorted(truth.edges[i].values(), key=lambda e: e[:3]) for i in chosen}
    every = sorted((e for some in edges.values() for e in some), key=lambda e: e[:3])
    place = {(e.unit, e.pair): at for at, e in enumerate(every)}
    forests = {i: forest(n, (e for e in every if e.unit != i)) for i in chosen}
    without = {i: [(e.unit, e.pair) for e in some] for i, some in forests.items()}
    tree = color_tree(n, without, place)
    last = {i: last_edges(n, some, place) for i, some in without.items()}
    colors = {}
    for x in itertools.combinations(range(n), 2):
        above = [i for i in chosen if all(last[i][x] > last[j][x] for j in chosen if j != i)]
        assert len(above) <= 1
        if above:
            colors[x] = above[0]
    for node in tree.nodes():
        inside = [x for x in itertools.combinations(sorted(node.vertices), 2) if x in colors]
        if node.parts is None:
            assert not inside
            continue
        cut = [x for x in inside if (x[0] in node.parts[0].vertices) != (x[1] in node.parts[0].vertices)]
        assert cut
        assert {colors[x] for x in cut} == {node.color}
        seen["nodes"], seen["crossing"] = seen["nodes"] + 1, seen["crossing"] + len(cut)
    bits = 0.0
    for i in chosen:
        out = Writer()
        follow(units[i], i, Knowledge(n, forests[i]), tree, out, truth.transcripts[i])
        bits += out.bits
        seen["asked"] += out.count
    seen["sets"] += 1
    return bits


def exponents(scale: float) -> dict[str, str]:
    """Check the section on exponents, from the cell of ρ to a decoder that makes the list of exponents itself."""
    rng, sets, cells_seen, sequences, share, moved = random.Random(8), 0, 0, 0, 0.0, 0
    for _ in range(int(400 * scale)):
        n, size = rng.choice([3, 4]), rng.choice([1, 2])
        cases = []
        for _ in range(size):
            children = {
                u: [(v, rng.getrandbits(rng.choice([1, 4, 14, 40]))) for v in range(n) if v != u and rng.random() < 0.8]
                for u in range(n)
            }
            cases.append((children, rng.randrange(1, n), 0, [0] * n))
        problems = [problem_of(case) for case in cases]
        listed = cells.exponent_scale(problems)
        share = max(share, len(listed) / bound.exponents(n, size))
        for _ in range(3):
            values = [Fraction(rng.getrandbits(rng.choice([1, 16, 80])), rng.choice([1, 1 << 90])) for _ in range(n)]
            rho = code.untied(problems, values)
            middle = cells.middle_of_cell(problems, rho)
            for forms, slack in cells.slack_forms(problems, rho):
                assert len(forms) == n
                assert slack > 0
                assert max(abs(y) for form in forms for y in form) <= n
            for reopen in (False, True):
                units = code.units_of(problems, reopen)
                truths = [processes.transcript(unit(), rho) for unit in units]
                sent = code.encode_units(units, n, size, middle, orders=2, scale=listed)
                assert sent.bits <= sent.limit
                assert code.decode_units(units, n, size, sent.number, scale=listed) == truths
                order = rng.sample(range(len(units)), len(units))
                fine = code.encode_shared(units, n, size, middle, order, scale=listed)
                assert code.decode_units(units, n, size, fine.number, order, scale=listed) == truths
                sequences += len(units)
                there = {e.exponent for i, unit in enumerate(units) for e in edges_of(unit, i, truths[i], rho)}
                moved += not there <= set(listed)
            cells_seen += 1
        sets += 1
    assert share <= 1
    assert moved > 0
    return {
        "exponents": f"{cells_seen:,} cells of {sets} sets of instances, n = 3 and 4, weights up to 2^40: "
        f"{sequences:,} sequences decoded with a list of exponents that the decoder makes, at most {share:.2f} of E_N; "
        f"in {moved:,} "
        "cases ρ itself has slacks that are not on the list"
    }


def barriers(scale: float) -> dict[str, str]:
    """Count the joint transcripts of the barrier."""
    counted = []
    for depth, groups in ((1, 2), (1, 3), (2, 2)):
        found = rs.theory.barrier(depth, groups)
        joint = {tuple(processes.transcript(unit(), rho) for unit in found.units) for rho in found.all_rho()}
        assert len(joint) == found.count
        counted.append(len(joint))
    rng, larger = random.Random(9), 0
    for depth, groups in ((2, 4), (3, 3), (4, 4)):
        found, seen = rs.theory.barrier(depth, groups), set()
        for _ in range(int(100 * scale)):
            rho = found.rho({place: rng.sample(range(groups), groups) for place in found.places})
            seen.add(tuple(processes.transcript(unit(), rho) for unit in found.units))
        assert len(seen) == int(100 * scale)
        larger += len(seen)
    return {
        "barrier": f"{', '.join(map(str, counted))} joint transcripts for n = 4, 6, 8, "
        f"as many as the construction uses; {larger} random ones for n = 16, 24, 64, all different"
    }


def potentials(scale: float) -> dict[str, str]:
    """Run the sets that potentials shatter over all goals."""
    rng, every, patterns = random.Random(10), 0, 0
    for bits, goals in ((1, 1), (3, 1), (2, 2), (3, 2), (2, 3), (5, 2), (2, 5)):
        every += rs.theory.potential_code(bits, goals).verify(itertools.product([False, True], repeat=bits * goals))
    for bits, goals in ((10, 50), (20, 100)):
        found = rs.theory.potential_code(bits, goals)
        some = [[rng.random() < 0.5 for _ in found.instances] for _ in range(int(10 * scale))]
        patterns += found.verify(some)
    return {
        "potentials": f"all patterns of 7 sets ({every:,} potentials), n ≤ 32; {patterns} random patterns of 500 and "
        f"2,000 instances, n = 105 and {found.graph.n}"
    }


def integers(scale: float) -> dict[str, str]:
    """Check the theorem on integer weights: differences in OPEN, the number of cells, and the joint courses."""
    rng, count, tight = random.Random(2), 0, 0
    for _ in range(int(30_000 * scale)):
        n, limit = rng.randint(3, 8), rng.choice([1, 2, 3])
        children = {
            u: [(v, rng.choice([0, limit, rng.randint(0, limit)])) for v in range(n) if v != u] for u in range(n)
        }
        if rng.random() < 0.5:  # a long path with short cuts missing
            children = {u: [(v, w) for v, w in some if v <= u + 1] for u, some in children.items()}
        rho = [rng.randint(-2 * n, 2 * n) for _ in range(n)]
        for reopen in (True, False):
            for state in reference.astar(children, 0, n - 1, rho, reopen).states:
                for i in state.open:
                    for j in state.open:
                        most = (n - 2 if n - 1 in (i, j) else n - 3) * limit
                        assert abs(state.g[i] - state.g[j]) <= most or i == j
                        tight += i != j and abs(state.g[i] - state.g[j]) == most
            count += 1
    small = []
    for n, limit in ((3, 1), (3, 2), (4, 1)):
        cells = integer_cells(n, limit)
        assert len(cells) == math.prod((n - 1) * (n - 2) * limit + i for i in range(2, n + 1))
        fixed = {tuple(sign for (i, j), sign in cell if 0 not in (i, j)) for cell in cells}
        assert len(fixed) == math.prod((n * n - 4 * n + 5) * limit + i for i in range(2, n))
        small.append(f"{len(cells)} and {len(fixed)}")
    courses = [joint_courses(3, limit) for limit in (1, 2)]
    return {
        "integer": f"{count:,} runs, n ≤ 8, no difference in OPEN above the range, {int(tight):,} equal to it; "
        f"{', '.join(small)} cells (any source, one source) for (n, ℓ) = (3, 1), (3, 2), (4, 1), as the formulas say; "
        f"all instances with n = 3 have {courses[0]} and {courses[1]} joint courses for ℓ = 1, 2"
    }


def integer_cells(n: int, limit: int) -> dict[tuple[object, ...], list[Fraction]]:
    """Return a point in each cell of the hyperplanes of Theorem C1p, by trying all points with distinct fractions.

    A cell is known by the integer parts of ρ_i − ρ_j, cut off at the range. Vertex 0 is s, n − 1 is t.
    """
    pairs = list(itertools.combinations(range(n), 2))
    most = {(i, j): (n - 2 if j == n - 1 else n - 3) * limit for i, j in pairs}
    far = (n - 2) * ((n - 3) * limit + 1) + (n - 2) * limit + 1
    found: dict[tuple[object, ...], list[Fraction]] = {}
    for whole in itertools.product(range(-far, far + 1), repeat=n - 1):
        for part in itertools.permutations(range(1, n)):
            x = [n * a + b for a, b in zip(whole, part, strict=True)] + [0]
            cell = tuple((p, max(-most[p] - 1, min((x[p[0]] - x[p[1]]) // n, most[p]))) for p in pairs)
            if cell not in found:
                found[cell] = [Fraction(value, n) for value in x]
    return found


def joint_courses(n: int, limit: int) -> int:
    """Count the joint courses of all instances with weights up to a limit: at most one for each cell."""
    tables = list(integer_cells(n, limit).values())
    edges = [(u, v) for u in range(n - 1) for v in range(n) if u != v]
    found: list[list[object]] = [[] for _ in tables]
    for weights in itertools.product([None, *range(limit + 1)], repeat=len(edges)):
        arcs = dict(zip(edges, weights, strict=True))
        children = {u: [(v, w) for (a, v), w in arcs.items() if a == u and w is not None] for u in range(n)}
        for source in range(n - 1):
            for seen, rho in zip(found, tables, strict=True):
                run = reference.astar(children, source, n - 1, rho)  # type: ignore[arg-type]
                seen.append([(state.open, state.closed) for state in run.states])
    return len({repr([[(sorted(o), sorted(c)) for o, c in run] for run in seen]) for seen in found})  # type: ignore[attr-defined]


def constructions(scale: float) -> dict[str, str]:
    """Check shattered sets: the verifier on all claims, and random patterns of large sets."""
    sys.path.insert(0, str(ROOT / "tools"))
    import verify

    sizes: dict[str, tuple[int, int]] = {}
    with TemporaryDirectory() as folder:
        for name in rs.theory.export(folder):
            claim = json.loads((Path(folder) / f"{name}.json").read_text(), parse_float=Fraction)
            check = {"shattered-set": verify.check_set, "parity-orders": verify.check_orders}[claim["kind"]]
            kind = name.split("-")[0] if claim["kind"] == "shattered-set" else "orders"
            claims, total = sizes.get(kind, (0, 0))
            sizes[kind] = (claims + 1, total + check(claim)[1])
    large = {
        "expansion": [rs.theory.expansion_code(n, algorithm) for n in (200, 500) for algorithm in ("gbfs", "astar")],
        "reopening": [rs.theory.reopening_code(n) for n in (200, 500)],
        "cost": [rs.theory.cost_code(n) for n in (200, 500)],
        "parity": [rs.theory.parity_code(n, algorithm) for n in (200, 500) for algorithm in ("gbfs", "astar")],
    }
    found = {}
    for kind, some in large.items():
        patterns = sum(one.verify(most=max(1, int(20 * scale))) for one in some)
        claims, total = sizes[kind]
        found[kind] = (
            f"all patterns of each item of {claims} sets ({total:,} runs); {patterns} random patterns, n ≤ 500"
        )
    found["parity"] += f"; all sums of prefixes for up to {max(orders.ORDERS)} layers"
    found["few"] = (
        f"all patterns of each item of {sizes['interval'][0]} sets ({sizes['interval'][1]:,} runs), n = 12 and 40"
    )
    found["linear"] = f"all patterns of {sizes['sharper'][0]} sets, n ≤ 8 ({sizes['sharper'][1]:,} runs)"
    found["atlas"] = f"all patterns of {sizes['atlas'][0]} sets, n ≤ 8 ({sizes['atlas'][1]:,} runs)"
    return found


def some_utility(_: float) -> dict[str, str]:
    """Count the behaviours of the star: for A* the theorem says that there are no fewer than for GBFS."""
    found = []
    for n in range(5, 9):
        promised = math.floor(math.e * math.factorial(n - 3))
        assert len(rs.theory.joint_behaviours(rs.theory.star(n), "gbfs")) == promised
        astar = [len(rs.theory.joint_behaviours(rs.theory.star(n), "astar", reopen)) for reopen in (True, False)]
        assert min(astar) >= promised
        found.append(min(astar))
    return {
        "some": "all behaviors of the star counted, n = 5 to 8: GBFS as many as stated, A* "
        f"{', '.join(f'{count:,}' for count in found)}"
    }


def greedy(scale: float) -> dict[str, str]:
    """Check the lemma on least paths."""
    rng, count = random.Random(4), 0
    for _ in range(int(20_000 * scale)):
        n = rng.randint(4, 7)
        children = {u: [(v, 1) for v in range(n) if v != u and rng.random() < 0.5] for u in range(n)}
        rho = rng.sample(range(n), n)
        run = reference.gbfs(children, 0, n - 1, rho)
        if run.status != "solved":
            continue
        least = min(sorted((rho[v] for v in path[1:-1]), reverse=True) for path in simple_paths(children, 0, n - 1))
        assert sorted((rho[v] for v in run.path[1:-1]), reverse=True) == least
        count += 1
    return {"least": f"{count:,} runs, n ≤ 7, against all simple paths"}


def simple_paths(children: Children, source: int, goal: int) -> list[list[int]]:
    found, stack = [], [[source]]
    while stack:
        path = stack.pop()
        if path[-1] == goal:
            found.append(path)
            continue
        stack += [[*path, v] for v, _ in children[path[-1]] if v not in path]
    return found


def moving(scale: float) -> dict[str, str]:
    """Check one moving vertex, and the converter."""
    rng, count, most = random.Random(5), 0, 0
    for _ in range(int(600 * scale)):
        n = rng.randint(3, 8)
        children, source, goal, rho = draw(rng, n)
        arcs = {(u, v): w for u, some in children.items() for v, w in some}
        try:
            instance = rs.theory.instance_set(n, [arcs], source, goal)[0]
        except rs.errors.InfeasibleError:
            continue
        for vertex in range(n):
            for reopen in (True, False):
                base = np.array(rho, dtype=float)
                base[vertex] = 0
                far = 2 * (sum(arcs.values()) + 2 * max(map(abs, rho)) + 2)
                pieces = rs.theory.pieces(*instance, base, np.eye(n)[vertex], -far, far, reopen=reopen)
                assert len(pieces) <= rs.theory.most_courses(n, reopen=reopen)
                count, most = count + 1, max(most, len(pieces))
    for bits in range(1, 9):
        instance, base, direction, high = rs.theory.converter(bits)
        pieces = rs.theory.pieces(*instance, base, direction, 0, high, reopen=False)
        for piece in pieces:  # a piece between two multiples of 4 has their cost, for every real x below `high`
            low, top, low_closed, top_closed = piece.interval
            points = [low] * low_closed + [(low + top) / 2] + [top] * top_closed
            assert {4 * (x // 4) for x in points if x < high} <= {piece.run.cost}
    known = []
    for n in range(4, 8):
        instance, values = rs.theory.moving_example(n)
        values[n - 1] = 0
        far = 2 * (float(np.asarray(instance.weights)[np.isfinite(instance.weights)].sum()) + 2 * abs(values).max() + 2)
        pieces = rs.theory.pieces(*instance, values, np.eye(n)[n - 1], -far, far)
        known.append(len({tuple(pieces.trace(i).selected.tolist()) for i in range(len(pieces))}))
    return {
        "moving": f"{count:,} lines, n ≤ 8, at most {most} courses on one; examples in which ρ_t moves, with "
        f"{', '.join(map(str, known))} for n = 4 to 7; exhaustion for n ≤ 4",
        "converter": "the cost for every real x below 4·2^k, k ≤ 8 (n ≤ 42)",
    }


def certain(scale: float) -> dict[str, str]:
    """Check U5, with its twin without reopening, which must fail."""
    rng, count, wrong = random.Random(6), 0, 0
    for _ in range(int(20_000 * scale)):
        n = rng.randint(3, 8)
        children, source, goal, rho = draw(rng, n)
        low = children
        if rng.random() < 0.5:
            low = {u: [(v, rng.randint(0, w)) for v, w in some] for u, some in children.items()}
        ahead, least = distances(children, goal, n), distances(low, goal, n)
        if rng.random() < 0.5:  # nearly admissible: the bound is small
            rho = [int(rng.uniform(0, 1.1 * d)) if d < math.inf else 0 for d in least]
        limit = max(0.0, *(rho[v] - rho[goal] - least[v] for v in range(n)))
        for reopen in (True, False):
            run = reference.astar(children, source, goal, rho, reopen)
            if run.status == "solved":
                holds = run.cost - ahead[source] <= limit
                assert holds or not reopen
                count, wrong = count + reopen, wrong + (not holds)
    assert wrong > 0, "without reopening the bound must fail somewhere"
    return {
        "u5": f"{count:,} runs with reopening, n ≤ 8; the same runs without reopening break the bound {wrong} times"
    }


def distances(children: Children, goal: int, n: int) -> list[float]:
    """Distances to the goal (Bellman and Ford)."""
    found = [math.inf] * n
    found[goal] = 0
    for _ in range(n):
        for u, some in children.items():
            found[u] = min([found[u], *(w + found[v] for v, w in some)])
    return found


def edge_local(scale: float) -> dict[str, str]:
    """Check U2: the Rademacher complexity over many ρ of the class, all signs, against the integral."""
    rng, count, closest = np.random.default_rng(7), 0, 0.0
    for _ in range(int(200 * scale)):
        n, size, limit = 5, 4, float(rng.integers(1, 6))
        graph = rs.Graph.from_edges(n, *np.nonzero(~np.eye(n, dtype=bool)))
        low, high = rng.integers(0, 4, graph.m), rng.integers(4, 9, graph.m)
        weights = rng.integers(low, high + 1, (size, graph.m)).astype(float)
        instances = rs.InstanceSet(graph, weights, np.zeros(size, dtype=int), goal=n - 1)
        value = _integral(instances, high.astype(float), limit)
        tables = rng.integers(-8, 9, (400, n)).astype(float)
        tables = tables[(tables[:, graph.tail] - tables[:, graph.head] <= high).all(axis=1)]
        if not len(tables):
            continue
        vectors = np.array([np.minimum(_inconsistency(instances, rho), limit) for rho in tables])
        signs = 2.0 * ((np.arange(2**size)[:, None] >> np.arange(size)) & 1) - 1
        complexity = float((vectors @ signs.T / size).max(axis=0).mean())
        assert complexity <= value + 1e-9
        count, closest = count + 1, max(closest, complexity / value if value else 0.0)
    return {
        "u2": f"{count} samples of 4 instances, n = 5, all signs; the largest share of the bound reached is "
        f"{closest:.2f}"
    }


def _used(instances: rs.InstanceSet) -> list[list[tuple[int, float]]]:
    """For each instance the edges of S* that do not leave s, with their weights."""
    found = []
    for graph, weights, source, goal in instances:
        path = rs.astar(graph, weights, source, goal, np.zeros(graph.n)).path
        pairs = list(itertools.pairwise(path[1:]))
        found.append([(e, float(weights[e])) for u, v in pairs for e in graph.edge_index([u], [v]).tolist()])
    return found


def _inconsistency(instances: rs.InstanceSet, rho: np.ndarray) -> np.ndarray:
    graph = instances.graph
    steps = rho[graph.tail] - rho[graph.head]
    return np.array([sum(max(steps[e] - w, 0.0) for e, w in used) for used in _used(instances)])


def _integral(instances: rs.InstanceSet, caps: np.ndarray, limit: float) -> float:
    """Return the right-hand side of U2 for integer weights, caps and H: a sum over unit intervals."""
    by_edge: dict[int, list[float]] = {}
    for used in _used(instances):
        for e, w in used:
            by_edge.setdefault(e, []).append(w)
    total = 0.0
    for e, weights in by_edge.items():
        for tau in range(1, int(caps[e]) + 1):  # on (tau − 1, tau] the number is constant
            k = sum(w < tau <= w + limit for w in weights)
            total += k * math.comb(k - 1, (k - 1) // 2) / 2 ** (k - 1) if k else 0.0
    return total / (2 * len(instances))


def single(_: float) -> dict[str, str]:
    """Count what one instance can do: crowds, and leaves."""
    most = {c.n: c.behaviours for c in known_instances() if c.search == "astar-reopen" and c.weights == "large"}
    tried = []
    for heads, scanners, count in ((1, 1, 4), (3, 2, 2), (4, 4, 2), (2, 2, 3), (10, 9, 1), (20, 20, 1)):
        n = heads + scanners + count + 2
        instance, rho, leaves, values = rs.theory.leaves(n, heads=heads, scanners=scanners)
        courses = set()
        for rho[leaves] in itertools.product(values, repeat=count):
            courses.add(tuple(rs.astar(*instance, rho, trace=True).trace.selected.tolist()))
        assert len(courses) == (heads * (scanners + 1) + 1) ** count
        tried.append(len(courses))
    return {
        "crowds": f"courses found by hill climbing: {', '.join(f'{most[n]:,}' for n in range(4, 9))} for n = 4 to 8",
        "leaves": f"{len(tried)} instances, n ≤ 43: {', '.join(map(str, tried))} courses, as many as the proof says",
    }


# ---------------------------------------------------------------- the table


# How often a proof was checked line by line by somebody who did not write it, and how often a statement was run by a
# program that shares nothing with this one.
def checks(proof: int, programs: int = 0) -> str:
    return ", ".join([f"proof {proof}×"] * bool(proof) + [f"programs {programs}×"] * bool(programs))


STATEMENTS: list[tuple[str, str, str, str, str]] = [  # key, statement, in the note, proof, independent checks
    (
        "upper",
        "A\\*, real weights: pseudo-dimension of order n lg² n at most (code L)",
        "Theorem~\\ref{thm:upper}, bound of order $n\\lg^2n$",
        "note, section 4",
        checks(2, 2),
    ),
    (
        "fine",
        "the same with the constant 9 ln 2 (code L*, rows W, Wp)",
        "Proposition~\\ref{prop:fine}, constant $9\\ln 2$",
        "note, appendix A",
        checks(1, 1),
    ),
    (
        "tree",
        "each node of the color tree has one asker",
        "Lemma~\\ref{lem:asker}, one asker",
        "note, section 4",
        checks(2, 2),
    ),
    (
        "exponents",
        "real weights have at most E_N exponents",
        "Section~\\ref{sec:exponents}, exponents",
        "note, section 4",
        checks(4, 2),
    ),
    (
        "barrier",
        "argmin processes with at least 2^((1/8 − o(1))·n lg² n) joint transcripts",
        "Proposition~\\ref{prop:barrier}, barrier",
        "note, section 4",
        checks(1, 1),
    ),
    (
        "potentials",
        "potentials, all goals: of order n² instances are shattered with m < 4n edges",
        "Theorem~\\ref{thm:potentials}, potentials",
        "note, section 8",
        checks(0, 1),
    ),
    (
        "closures",
        "a run with reopening follows from n − 1 closures",
        "Theorem~\\ref{thm:closures}, closures",
        "note, section 3",
        checks(3, 2),
    ),
    (
        "poly",
        "its cost in polynomial time",
        "Theorem~\\ref{thm:poly}, cost",
        "note, section 3",
        checks(2, 1),
    ),
    (
        "integer",
        "A\\*, integer weights: C1p",
        "Theorem~\\ref{thm:integer}, integer weights",
        "note, section 2",
        checks(3, 1),
    ),
    (
        "expansion",
        "expansions, GBFS and A\\*: (1/2 − o(1))·n lg n",
        "Theorem~\\ref{thm:expansions}, expansions",
        "note, section 5",
        checks(3),
    ),
    (
        "reopening",
        "expansions, A\\* with reopening: (1 − o(1))·n lg n",
        "Theorem~\\ref{thm:reopening}, expansions with reopening",
        "note, section 5",
        checks(3),
    ),
    (
        "cost",
        "cost, A\\* without reopening: (1 − o(1))·n lg n",
        "Theorem~\\ref{thm:cost}, cost without reopening",
        "note, section 5",
        checks(3),
    ),
    (
        "parity",
        "cost, unit weights, both algorithms: (1/8 − o(1))·n lg n",
        "Theorem~\\ref{thm:parity}, cost, unweighted",
        "note, section 6",
        checks(3, 1),
    ),
    (
        "least",
        "GBFS returns the least path",
        "Lemma~\\ref{lem:least}, least paths",
        "note, section 6",
        checks(3, 1),
    ),
    (
        "few",
        "expansions, few vertices: 2(n − 3) and 2(n − 6)",
        "Proposition~\\ref{prop:few}, few vertices",
        "note, appendix B",
        checks(1),
    ),
    (
        "linear",
        "T5p: n − 2 and n − 1",
        "Proposition~\\ref{prop:linear}, linear sets",
        "note, section 5",
        checks(3),
    ),
    (
        "some",
        "R1: lg ⌊e(n−3)!⌋ for some utility",
        "Theorem~\\ref{thm:some}, some utility",
        "note, section 5",
        checks(3),
    ),
    (
        "moving",
        "one moving vertex: at most (n−1)(n−2) + 1 courses",
        "Theorem~\\ref{thm:moving}, one moving vertex",
        "note, section 7",
        checks(3, 1),
    ),
    (
        "leaves",
        "one instance with reopening: 2^((2 − o(1))·n lg n) courses (R2)",
        "Theorem~\\ref{thm:leaves}, leaves",
        "note, section 7",
        checks(2, 1),
    ),
    (
        "converter",
        "2ᵏ costs along a line, n = 5k + 2",
        "Theorem~\\ref{thm:converter}, converter",
        "note, appendix C",
        checks(2, 1),
    ),
    ("u2", "U2", "Theorem~\\ref{thm:u2}, U2", "note, section 9", checks(3)),
    ("u5", "U5", "Theorem~\\ref{thm:u5}, U5", "note, section 9", checks(2, 2)),
    ("atlas", "the sets of the atlas", "The atlas", "by running", checks(0, 1)),
    ("crowds", "many courses of one instance (no theorem)", "", "by running", ""),
]


def table(rows: list[dict[str, str]]) -> str:
    """Return the table of docs/theory.md."""
    lines = ["| statement | proof | run, every case agreed | independent checks |", "|---|---|---|---|"]
    lines += [
        f"| {row['statement']} | {row['proof']} | {row['run'].replace('*', chr(92) + '*')} | {row['checked']} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def write(rows: list[dict[str, str]], results: Path, page: Path) -> None:
    """Write the results, and the table between the page's markers."""
    results.write_text(json.dumps({"rows": rows}, indent=1, ensure_ascii=False) + "\n")
    head, rest = page.read_text().split(BEGIN)
    page.write_text(f"{head}{BEGIN}\n\n{table(rows)}\n{END}{rest.split(END)[1]}")


def main(scale: float = 1.0, only: Sequence[str] = ()) -> int:
    results = ROOT / "benchmarks" / "results" / "theorems.json"
    found: dict[str, str] = {}
    if only:
        found = {row["key"]: row["run"] for row in json.loads(results.read_text())["rows"]}
    parts: list[Callable[[float], dict[str, str]]] = [
        runs,
        codes,
        exponents,
        barriers,
        potentials,
        integers,
        constructions,
        some_utility,
        greedy,
        moving,
        certain,
        edge_local,
        single,
    ]
    for part in parts:
        if only and part.__name__ not in only:
            continue
        begun, measured = time.monotonic(), part(scale)
        found |= measured
        for key, text in measured.items():
            print(f"{time.monotonic() - begun:5.0f} s  {key}: {text}", flush=True)
    rows = [
        {"key": key, "statement": statement, "note": note, "proof": proof, "checked": checked, "run": found[key]}
        for key, statement, note, proof, checked in STATEMENTS
    ]
    write(rows, results, ROOT / "docs" / "theory.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:2]), only=sys.argv[2:]))
