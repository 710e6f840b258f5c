"""What `make wheel` runs in a clean environment: the installed package, nothing of the source tree."""

import sys
from pathlib import Path

import numpy as np

import rhostar as rs
from rhostar import _core

assert Path(_core.__file__).is_relative_to(sys.prefix), _core.__file__
assert (Path(rs.__file__).parent / "py.typed").exists()
graph = rs.Graph.grid(20, 20, neighbors=8)
weights = graph.length * np.random.default_rng(0).uniform(1, 2, (50, graph.m))
instances = rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)
rho = rs.heuristics.octile(graph, graph.n - 1)
result = rs.evaluate(rho, instances, [rs.utilities.Suboptimality(1.0)], n_jobs=2)
assert result["suboptimality"].values.max() < 1e-12
assert len(rs.theory.atlas.entries()) > 50, "the atlas is not in the wheel"
page = rs.report.render(rs.report.build(instances[:3], {"octile": rho}))  # templates are files of the package
assert "rhostarReplay" in page
print(f"rhostar {rs.__version__} from a wheel: {result.runs!r}")
