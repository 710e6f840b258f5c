"""How far data goes through the code: modules, functions, calls and crossings of typical flows, warm.

``make bench-calls`` prints a table. A crossing is a call from one module of rhostar to another; frames of other
packages are not counted. Below it: probes for attributes, context variables, uses of ``id`` and lines of code.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import rhostar as rs
from rhostar import _workers as workers
from rhostar.cli import main as cli
from rhostar.search import _many

SOURCE = Path(rs.__file__).parent


class Flow(NamedTuple):
    """What a flow does in the package."""

    modules: int
    functions: int
    calls: int
    crossings: int
    depth: int


def trace(function: Callable[[], Any]) -> Flow:
    """Call a function and count the frames of rhostar."""
    stack: list[CodeType] = []
    seen: Counter[CodeType] = Counter()
    crossings = depth = 0
    own = str(SOURCE)

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal crossings, depth
        code = frame.f_code
        if not code.co_filename.startswith(own):
            return
        if event == "call":
            crossings += bool(stack) and stack[-1].co_filename != code.co_filename
            stack.append(code)
            seen[code] += 1
            depth = max(depth, len(stack))
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(None)
    return Flow(len({code.co_filename for code in seen}), len(seen), seen.total(), crossings, depth)


def flows(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the flows, ready to be called."""
    rng = np.random.default_rng(0)
    graph = rs.Graph.grid(12, 12, neighbors=8)
    goal = graph.n - 1
    weights = rng.uniform(1, 2, (320, graph.m))
    instances = rs.InstanceSet(graph, weights, rng.integers(0, 100, 320), goal)
    train, holdout = instances.split(0.5, seed=0)
    rho = rs.heuristics.octile(graph, goal)
    envelope = rs.learners.LowerEnvelope().fit(train)
    below = 0.9 * weights[0]
    utility = rs.utilities.Suboptimality(limit=5.0)
    chunk = workers.Packed(_many._solve_chunk, solve_arguments(graph, rho), [("chunk", (holdout[:20], 0))])
    shared = [workers._content(thing) for thing in chunk.shared.values()]
    lines = [f"{t},{h},{k},{rng.uniform(1, 2)}" for k in range(24) for t, h in ring(100)]
    (folder / "edges.csv").write_text("tail,head,snapshot,weight\n" + "\n".join(lines) + "\n")
    table = [str(folder / "edges.csv"), "--out", str(folder / "set"), "--goal", "0", "--force"]

    def imported() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            cli.main(["import", *table])

    return {
        "astar(array)": lambda: rs.astar(graph, weights[0], 0, goal, rho),
        "astar(LowerEnvelope), weights below bounds": lambda: rs.astar(graph, below, 0, goal, envelope),
        "MeanDistance.fit, 160 instances": lambda: rs.learners.MeanDistance().fit(train),
        "learn()": lambda: rs.learn(train),
        "learn(mean_excess=0.01)": lambda: rs.learn(train, mean_excess=0.01),
        "certify(holdout)": lambda: rs.certify(envelope, holdout, utility),
        "certify_training": lambda: rs.certify_training(envelope, train, utility),
        "import, 2,400 CSV rows": imported,
        "report": lambda: rs.report.render(rs.report.build(holdout, {"octile": rho, "learned": envelope})),
        "a chunk on Dask": lambda: workers.work("job", chunk.tasks[0], chunk.tokens, *shared),
    }


def solve_arguments(graph: rs.Graph, rho: Any) -> dict[str, Any]:
    """Return the arguments that all chunks of a call of solve_many share."""
    found: dict[str, Any] = {}

    def noted(function: Any, instances: Any, **options: Any) -> Any:
        found.update(options)
        return original(function, instances, **options)

    original = _many.map_chunks
    _many.map_chunks = noted
    try:
        rs.solve_many(rs.InstanceSet(graph, graph.length, np.zeros(20, dtype=int), graph.n - 1), rho)
    finally:
        _many.map_chunks = original
    found.pop("n_jobs")
    return found


def ring(n: int) -> list[tuple[int, int]]:
    return [(v, (v + 1) % n) for v in range(n)]


def trees() -> dict[str, ast.Module]:
    return {str(path.relative_to(SOURCE)): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}


def uses(*names: str) -> int:
    """Return how often functions of these names are called in the package."""
    calls = (node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.Call))
    return sum(isinstance(call.func, ast.Name) and call.func.id in names for call in calls)


def code_lines() -> Counter[str]:
    """Return the lines of code by package: no docstrings, no comments, no blank lines."""
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    documented = (ast.Module, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
    count: Counter[str] = Counter()
    for name, tree in trees().items():
        docs: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
                docs.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
        code: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO((SOURCE / name).read_text("utf-8")).readline):
            if token.type not in empty:
                code.update(range(token.start[0], token.end[0] + 1))
        count[name.split("/")[0] if "/" in name else "single files"] += len(code - docs)
    return count


def main() -> None:
    """Print the tables."""
    print(f"| {'flow':44} | modules | functions |  calls | crossings | depth |\n|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, flow in flows(Path(folder)).items():
            flow()  # imports what it needs
            found = trace(flow)
            print(f"| {name:44} | {found[0]:7} | {found[1]:9} | {found[2]:6,} | {found[3]:9,} | {found[4]:5} |")
    print(f"\nprobes (getattr, hasattr): {uses('getattr', 'hasattr')}")
    print(f"context variables: {uses('ContextVar')}\nuses of id: {uses('id')}\n")
    count = code_lines()
    print(f"| {'package':12} |  lines |\n|---|--:|")
    for package, lines in sorted(count.items()):
        print(f"| {package:12} | {lines:6,} |")
    print(f"| {'all':12} | {count.total():6,} |\n| {'but theory':12} | {count.total() - count['theory']:6,} |")


if __name__ == "__main__":
    main()
