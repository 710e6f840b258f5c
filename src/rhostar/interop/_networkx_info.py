"""What networkx shows about this backend. networkx reads it whenever it is imported, so this imports nothing."""

from __future__ import annotations

from typing import Any

_SAME = "Results are those of networkx, ties included. Weights and cutoff must be int or float."
_VALUES = " The heuristic may also be an array in the order of G.nodes, a mapping by node, or a learner of rhostar."
_ESTIMATES = _SAME + _VALUES
_PARTLY = _SAME + " Only from a source, with weights and method='dijkstra'."

FUNCTIONS = {
    "astar_path": _ESTIMATES,
    "astar_path_length": _ESTIMATES,
    "dijkstra_path": _SAME,
    "dijkstra_path_length": _SAME,
    "bidirectional_dijkstra": _SAME,
    "single_source_dijkstra": _SAME,
    "single_source_dijkstra_path": _SAME,
    "single_source_dijkstra_path_length": _SAME,
    "multi_source_dijkstra": _SAME,
    "multi_source_dijkstra_path": _SAME,
    "multi_source_dijkstra_path_length": _SAME,
    "dijkstra_predecessor_and_distance": _SAME,
    "all_pairs_dijkstra": _SAME,
    "all_pairs_dijkstra_path": _SAME,
    "all_pairs_dijkstra_path_length": _SAME,
    "shortest_path": _PARTLY,
    "shortest_path_length": _PARTLY,
}
"""Every function of the backend, with what there is to say about it."""


def get_info() -> dict[str, Any]:
    """Return the description of the backend that networkx asks for."""
    return {
        "backend_name": "rhostar",
        "project": "rhostar",
        "package": "rhostar",
        "short_summary": "A* and Dijkstra's algorithm in compiled code, with learned heuristic values.",
        "functions": {name: {"additional_docs": text} for name, text in FUNCTIONS.items()},
    }
