"""A mapped set that is larger than the memory of the process: labelled, fitted, evaluated, certified and described."""

import subprocess
import sys
from pathlib import Path

_LIMITED = """
import resource, sys
from pathlib import Path
import numpy as np, rhostar as rs
from rhostar.cli._info import describe
import scipy.stats, sklearn.base, joblib

def allocated():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData")) << 10

more = int(sys.argv[2]) << 20
graph = rs.Graph.grid(60, 60, neighbours=8)
tiny = rs.InstanceSet(graph, np.ones((4, graph.m)), [0, 1, 2, 3], goal=graph.n - 1)
rs.certify(np.zeros(graph.n), holdout=tiny, utility=rs.utilities.Suboptimality(9.0), weight_bounds=(1.0, 2.0))
rs.learners.LowerEnvelope().fit(tiny)  # everything is imported
most = allocated() + more
resource.setrlimit(resource.RLIMIT_DATA, (most, most))

# Written row by row, as an import of a large file would.
count = int(sys.argv[3])
weights = np.lib.format.open_memmap(sys.argv[1] + "/weights.npy", mode="w+", dtype=np.float64, shape=(count, graph.m))
rng = np.random.default_rng(0)
for row in weights:
    row[:] = rng.uniform(1, 2, graph.m)
weights.flush()
del weights
weights = np.load(sys.argv[1] + "/weights.npy", mmap_mode="r")
assert weights.nbytes > 3 * more
whole = rs.InstanceSet(graph, weights, rng.integers(0, graph.n - 1, count), goal=graph.n - 1)
whole.save(sys.argv[1] + "/set")
mapped = rs.InstanceSet.load(sys.argv[1] + "/set")
try:
    np.array(mapped.weights)
    print("the limit does not hold")
except MemoryError:
    pass
rho = rs.learners.MeanDistance().fit(mapped).rho_
rs.learners.MeanWeights().fit(mapped)
rs.learners.LowerEnvelope().fit(mapped)
rs.evaluate(mapped, rho, [rs.utilities.Suboptimality(9.0)])
rs.certify(rho, holdout=mapped, utility=rs.utilities.Suboptimality(9.0), weight_bounds=(1.0, 2.0))
print(describe(mapped)["snapshots"])
"""


def test_a_set_larger_than_memory(tmp_path: Path) -> None:
    """170 MB of snapshots in a process that may allocate 50 MB; make bench-scale has larger numbers."""
    child = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(tmp_path), "50", "760"], capture_output=True, text=True, check=False
    )
    assert child.stdout == "760\n", child.stderr[-3000:]
