"""Tables of edges become networks: against the plainest code there is, and with less memory than the table takes."""

import itertools
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from rhostar.instances import _edge_rows as edge_rows
from rhostar.instances._edge_rows import EdgeRows, assemble


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("timed", [True, False])
def test_every_row_counts(
    directed: bool, timed: bool, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_rows, "BATCH", 7)
    monkeypatch.setattr(edge_rows._Kept, "_IN_MEMORY", 100)
    monkeypatch.setattr(edge_rows._Kept, "_FEW", 10)
    for _ in range(20):
        tail, head = (np.array([*"dcbfae"])[rng.integers(0, 6, 100)].tolist() for _ in range(2))
        weight, when = rng.uniform(0, 1, 100), rng.integers(5, 9, 100).tolist()
        expected: dict[tuple[object, ...], float] = {}
        for t, h, w, k in zip(tail, head, weight.tolist(), when, strict=True):
            for ends in ((t, h),) if directed else ((t, h), (h, t)):
                key = (k if timed else None, *ends)
                if t != h:
                    expected[key] = min(w, expected.get(key, np.inf))
        cuts = [0, 3, 40, 41, 100]
        parts = (
            EdgeRows(tail[a:b], head[a:b], weight[a:b], when[a:b] if timed else None)
            for a, b in itertools.pairwise(cuts)
        )
        network = assemble(parts, directed=directed, path="table")
        names = network.graph.labels
        assert names is not None
        assert list(names) == sorted({*tail, *head})
        found = {
            (None if network.names is None else network.names[k], names[t], names[h]): float(weight)
            for k, row in enumerate(network.weights)
            for t, h, weight in zip(network.graph.tail, network.graph.head, row, strict=True)
            if weight < np.inf
        }
        assert found == expected


_LIMITED = """
import resource
from pathlib import Path
import numpy as np, scipy.sparse, rhostar as rs
from rhostar.instances._edge_rows import EdgeRows, assemble

def table(edges, snapshots):
    tail = list(range(edges))
    head = [*tail[1:], 0]
    weight = np.ones(edges)
    for k in range(snapshots):
        yield EdgeRows(tail, head, weight * k, [k] * edges)

assemble(table(1000, 2), directed=True, path="table")
lines = Path("/proc/self/status").read_text().splitlines()
most = next(int(line.split()[1]) for line in lines if line.startswith("VmData")) << 10
resource.setrlimit(resource.RLIMIT_DATA, (most + (160 << 20), most + (160 << 20)))
network = assemble(table(5000, 1000), directed=True, path="table")  # 100 MB of rows, 40 MB of snapshots
print(network.weights.shape, network.weights.sum())
"""


@pytest.mark.slow
def test_a_table_takes_little_more_memory_than_its_snapshots() -> None:
    child = subprocess.run([sys.executable, "-c", _LIMITED], capture_output=True, text=True, check=False)
    assert child.stdout.split() == ["(1000,", "5000)", str(5000.0 * 999 * 500)], child.stderr[-2000:]


def test_tables_without_rows_are_refused() -> None:
    def nothing() -> Iterator[EdgeRows]:
        yield from ()

    with pytest.raises(edge_rows.ReadError, match="no rows"):
        assemble(nothing(), directed=True, path="table")
