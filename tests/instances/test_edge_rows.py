"""Tables of edges become networks: against the plainest code there is, and with less memory than the table takes."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from rhostar.errors import ReadError
from rhostar.instances import _edge_rows as edge_rows
from rhostar.instances._edge_rows import Coded, EdgeRows, assemble


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_rows, "BATCH", 7)
    monkeypatch.setattr(edge_rows._Kept, "IN_MEMORY", 100)
    monkeypatch.setattr(edge_rows._Kept, "FEW", 10)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.filterwarnings("ignore::rhostar.errors.RhostarWarning")  # many rows for each edge, on purpose
def test_every_row_counts(directed: bool, timed: bool, rng: np.random.Generator) -> None:
    for _ in range(20):
        tail, head = (np.array([*"dcbfae"])[rng.integers(0, 6, 100)].tolist() for _ in range(2))
        weight, when = rng.uniform(0, 1, 100), rng.integers(5, 9, 100).tolist()
        expected: dict[tuple[object, ...], list[float]] = {}
        for t, h, w, k in zip(tail, head, weight.tolist(), when, strict=True):
            for ends in ((t, h),) if directed else ((t, h), (h, t)):
                if t != h:
                    expected.setdefault((k if timed else None, *ends), []).append(w)
        parts = (
            EdgeRows(Coded.of(tail[a:b]), Coded.of(head[a:b]), weight[a:b], Coded.of(when[a:b]) if timed else None, str)
            for a, b in itertools.pairwise([0, 3, 40, 41, 100])
        )
        network = assemble(parts, directed=directed, path="table", missing="closed")
        names = network.graph.labels
        assert names is not None
        assert list(names) == sorted({*tail, *head})
        found = {
            (None if network.names is None else network.names[k], names[t], names[h]): float(weight)
            for k, row in enumerate(network.weights)
            for t, h, weight in zip(network.graph.tail, network.graph.head, row, strict=True)
            if weight < np.inf
        }
        assert found == {key: min(values) for key, values in expected.items()}
        assert network.reading is not None
        assert network.reading.loops == len({t for t, h in zip(tail, head, strict=True) if t == h})
        most: dict[tuple[object, ...], int] = {}
        for (_, *ends), values in expected.items():
            most[tuple(ends)] = max(most.get(tuple(ends), 1), len(values))
        assert network.reading.parallels == sum(most.values()) - len(most)


def test_a_gap_is_named_by_its_row() -> None:
    tail, head, weight = [0, 1, 2, 0, 1, 2] * 4, [1, 2, 0, 1, 2, 0] * 4, np.ones(24)
    when = [k // 6 for k in range(24)]
    weight[[13, 16]] = np.nan  # both rows of 1 -> 2 in snapshot 2
    parts = [
        EdgeRows(
            Coded.of(tail[a : a + 8]),
            Coded.of(head[a : a + 8]),
            weight[a : a + 8],
            Coded.of(when[a : a + 8]),
            lambda k, a=a: f"row {a + k}",
        )
        for a in (0, 8, 16)
    ]
    with pytest.raises(ReadError, match="row 13"):
        assemble(parts, directed=True, path="table")


_LIMITED = """
import resource
from pathlib import Path
import numpy as np, scipy.sparse, rhostar as rs
from rhostar.instances._edge_rows import Coded, EdgeRows, assemble

def table(edges, snapshots):
    values = list(range(edges))
    ends = [Coded(values, np.roll(np.arange(edges, dtype=np.int32), -k)) for k in (0, 1)]
    for k in range(snapshots):
        yield EdgeRows(*ends, np.full(edges, k), Coded([k], np.zeros(edges, dtype=np.int32)), str)

assemble(table(1000, 2), directed=True, path="table")
lines = Path("/proc/self/status").read_text().splitlines()
most = next(int(line.split()[1]) for line in lines if line.startswith("VmData")) << 10
resource.setrlimit(resource.RLIMIT_DATA, (most + (200 << 20), most + (200 << 20)))
network = assemble(table(5000, 1000), directed=True, path="table")  # 100 MB of rows, 40 MB of snapshots
print(*network.weights.shape, network.weights.sum())
"""


@pytest.mark.slow
@pytest.mark.usefixtures("limited_memory")
def test_a_table_takes_little_more_memory_than_its_snapshots() -> None:
    child = subprocess.run([sys.executable, "-c", _LIMITED], capture_output=True, text=True, check=False)
    assert child.stdout.split() == ["1000", "5000", str(5000.0 * 999 * 500)], child.stderr[-2000:]
