"""The command ``info``: shows what a saved set of instances or a model file contains."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli._app import app
from rhostar.cli._output import Json, emit, working
from rhostar.errors import InputError, StorageError


@app.command()
def info(
    path: Annotated[Path, typer.Argument(help="A folder of instances or a model file.", show_default=False)],
    json: Json = False,
) -> None:
    """Show what a set of instances or a model file contains.

    Example: rhostar info trips
    """
    if path.is_dir():
        with working("reading", quiet=json):
            found = describe(rs.InstanceSet.load(path))
        emit(found, json)
        return
    model = rs.Model.load(path)
    seen = model.heuristic.trained_on
    emit(
        {
            "model": model.learner,
            "for": {"astar": "A*", "gbfs": "greedy search", "any": "A* and greedy search"}[model.algorithm],
            "guarantee": _guaranteed(model),
            "vertices": model.heuristic.n,
            "goals": "any"
            if model.heuristic.goals is None
            else [model.goal_labels.get(goal, goal) for goal in model.goals],
            "graph": model.heuristic.fingerprint,
            "learned_from": None if seen is None else seen.size,
            "parameters": model.parameters,
            "versions": model.versions,
            "certificate": _certificate(model.certificate, path, json),
        },
        json,
    )


def _guaranteed(model: Any) -> str | None:
    """Return what a model guarantees by the way it was fitted."""
    if model.heuristic.lower is not None:
        return "every answer of A* is optimal"
    shares = [value for name, value in model.parameters.items() if name.split("__")[-1] == "mean_excess"]
    if not shares or not isinstance(shares[0], float) or not 0 <= shares[0] < 10:
        return None
    sure = [value for name, value in model.parameters.items() if name.split("__")[-1] == "confidence"]
    if sure:
        return (
            f"with {100 * sure[0]:g}% confidence paths of A* cost at most {100 * shares[0]:g}% more than the optimum "
            "on average over instances drawn as those of the training set"
        )
    return f"none: {100 * shares[0]:g}% above the optimum on average is a target that was kept in cross-validation"


def _certificate(certificate: Any, path: Path, json: bool) -> Any:
    """Return the certificate that a model file holds, or its line."""
    if certificate is None:
        return None

    try:
        table = rs.certificates.CertificateTable.from_dict(certificate)
    except InputError as error:
        raise StorageError(f"{path} is damaged: its certificate cannot be read: {error}") from None
    return certificate if json else table.summary


def describe(instances: rs.InstanceSet) -> dict[str, Any]:
    """Return the facts of a set."""
    import numpy as np

    graph, used = instances.graph, np.unique(instances._stored_rows)
    goals = np.unique(instances.goals)
    least, largest, whole, present, seen = np.inf, -np.inf, True, 0, 0
    for row in used[:1000].tolist():  # one at a time: a mapped set may be larger than memory
        weights = instances._stored[row]
        there = weights[np.isfinite(weights)]
        seen, present = seen + weights.size, present + there.size
        if there.size:
            least, largest = min(least, float(there.min())), max(largest, float(there.max()))
            whole = whole and bool((there == np.floor(there)).all())
    return {
        "instances": len(instances),
        "snapshots": int(used.size),
        "days": None if instances.days is None else int(np.unique(instances.days).size),
        "vertices": graph.n,
        "edges": graph.m,
        "grid": None if graph.shape is None else f"{graph.shape[0]} x {graph.shape[1]}",
        "coordinates": graph.coordinates is not None,
        "labels": graph.labels is not None,
        "largest_out_degree": int(np.diff(graph.first_out).max(initial=0)),
        "goals": options.names(graph, goals[:10].tolist()) if goals.size <= 10 else f"{goals.size} different",
        "weights": str(instances._stored.dtype),
        "lowest_weight": least if present else None,
        "highest_weight": largest if present else None,
        "integer_weights": whole,
        "absent_edges": float(1 - present / max(seen, 1)),
        "graph": graph.fingerprint,
    }
