"""rhostar: heuristic values for A* and greedy best-first search, learned, run and certified.

Names are loaded when they are first used, so that ``import rhostar`` is quick.
"""

from typing import TYPE_CHECKING

from rhostar.lazy import attach

if TYPE_CHECKING:
    from rhostar import certificates, datasets, errors, families, heuristics, lab, learners, report, utilities
    from rhostar.certificates.certificate import Certificate, CertificateTable
    from rhostar.certificates.dimension import pseudo_dimension
    from rhostar.certificates.drift import Monitor
    from rhostar.certificates.planning import epsilon, sample_size
    from rhostar.certifying.certify import certify
    from rhostar.drop_in import astar_path
    from rhostar.graph import Graph
    from rhostar.instances import Instance, InstanceSet
    from rhostar.learners.auto import learn
    from rhostar.models import Model
    from rhostar.search.outcome import Run, Runs, Status
    from rhostar.search.pieces import pieces
    from rhostar.search.run import astar, distances_to, gbfs, solve_many
    from rhostar.search.trace import Trace
    from rhostar.utilities import evaluate

__version__ = "0.1.0"

_HOME = {
    "Certificate": "certificates.certificate",
    "CertificateTable": "certificates.certificate",
    "Graph": "graph",
    "Instance": "instances",
    "InstanceSet": "instances",
    "Model": "models",
    "Monitor": "certificates.drift",
    "Run": "search.outcome",
    "Runs": "search.outcome",
    "Status": "search.outcome",
    "Trace": "search.trace",
    "astar": "search.run",
    "astar_path": "drop_in",
    "certificates": None,
    "certify": "certifying.certify",
    "datasets": None,
    "distances_to": "search.run",
    "epsilon": "certificates.planning",
    "errors": None,
    "evaluate": "utilities",
    "families": None,
    "gbfs": "search.run",
    "heuristics": None,
    "lab": None,
    "learn": "learners.auto",
    "learners": None,
    "pieces": "search.pieces",
    "pseudo_dimension": "certificates.dimension",
    "report": None,
    "sample_size": "certificates.planning",
    "solve_many": "search.run",
    "utilities": None,
}

__all__ = [
    "Certificate",
    "CertificateTable",
    "Graph",
    "Instance",
    "InstanceSet",
    "Model",
    "Monitor",
    "Run",
    "Runs",
    "Status",
    "Trace",
    "__version__",
    "astar",
    "astar_path",
    "certificates",
    "certify",
    "datasets",
    "distances_to",
    "epsilon",
    "errors",
    "evaluate",
    "families",
    "gbfs",
    "heuristics",
    "lab",
    "learn",
    "learners",
    "pieces",
    "pseudo_dimension",
    "report",
    "sample_size",
    "solve_many",
    "utilities",
]

__getattr__, __dir__ = attach(__name__, _HOME, "__version__")
