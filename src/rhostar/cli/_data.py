"""``import`` and ``info``: from files to a saved set of instances, and what a file holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rhostar.cli._output import Json, emit, working

if TYPE_CHECKING:
    from rhostar.instances import InstanceSet

FORMATS = ("dimacs", "map", "worlds", "nodes", "metr-la", "edges")

Folder = Annotated[Path, typer.Argument(help="A folder that `rhostar import` wrote.", show_default=False)]


def import_(
    files: Annotated[list[Path], typer.Argument(help="The file or folder; nodes and edges are two files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    kind: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}; else by name.")] = "",
    count: Annotated[int, typer.Option("--count", "-n", help="How many instances to draw.", min=1)] = 1000,
    goal: Annotated[str, typer.Option(help="The goal: a label or vertex; else one in the middle.")] = "",
    seed: Annotated[int, typer.Option(help="For the draw.", min=0)] = 0,
    coordinates: Annotated[Path | None, typer.Option(help="DIMACS: a .co file.")] = None,
    scenario: Annotated[Path | None, typer.Option(help="MovingAI: take the queries of a .scen file.")] = None,
    json: Json = False,
) -> None:
    """Read a network in any format and save a set of instances on it.

    Formats by name: .gr and .gr.gz (DIMACS), .map (MovingAI), a folder of PNG files (worlds), two text files
    (nodes and edges), .npz (METR-LA), .csv and .parquet (edges: tail, head, weight and snapshot).
    """
    with working("reading", quiet=json):
        instances = read(files, kind, count, goal, seed, coordinates, scenario)
        instances.save(out)
    emit({"written": str(out), **describe(instances)}, json)


def read(
    files: list[Path], kind: str, count: int, goal: str, seed: int, coordinates: Path | None, scenario: Path | None
) -> InstanceSet:
    """Return the instances that files hold, or so many drawn from their network."""
    from rhostar import datasets
    from rhostar.errors import InputError

    kind = kind or _format(files)
    if kind not in FORMATS:
        raise InputError(f"--format must be one of {', '.join(FORMATS)}, got {kind!r}")
    if len(files) != (2 if kind == "nodes" else 1):
        raise InputError(f"format {kind} takes {'two files, nodes and edges' if kind == 'nodes' else 'one file'}")
    if kind == "worlds":
        return datasets.read_worlds(files[0]).instances()
    network: Any
    if kind == "map":
        network = datasets.read_map(files[0])
        if scenario is not None:
            return network.queries(datasets.read_scenario(scenario))
    elif kind == "nodes":
        network = datasets.read_node_edge(files[0], files[1])
    elif kind == "dimacs":
        network = datasets.read_dimacs(files[0], coordinates)
    elif kind == "metr-la":
        network = datasets.read_metr_la(files[0])
    else:
        network = datasets.read_edge_table(files[0])
    return network.sample(count, goal=vertex(network.graph, goal) if goal else None, seed=seed)


def _format(files: list[Path]) -> str:
    from rhostar.errors import InputError

    if len(files) == 2:
        return "nodes"
    name = files[0].name.removesuffix(".gz")
    if not files[0].exists():
        raise InputError(f"there is no file {files[0]}")
    if files[0].is_dir():
        return "worlds"
    known = {".gr": "dimacs", ".map": "map", ".npz": "metr-la", ".csv": "edges", ".parquet": "edges"}
    suffix = Path(name).suffix.lower()
    if suffix not in known:
        raise InputError(f"{files[0]}: no format is known by the ending {suffix!r}; say --format")
    return known[suffix]


def info(
    path: Annotated[Path, typer.Argument(help="A folder of instances or a model file.", show_default=False)],
    json: Json = False,
) -> None:
    """Say what a set of instances or a model file holds."""
    from rhostar._models import Model
    from rhostar.instances import InstanceSet

    if path.is_dir():
        emit(describe(InstanceSet.load(path)), json)
        return
    model = Model.load(path)
    emit(
        {
            "model": model.learner,
            "for": {"astar": "A*", "gbfs": "greedy search", "any": "A* and greedy search"}[model.algorithm],
            "vertices": model.n,
            "goals": model.goals,
            "graph": model.fingerprint,
            "family": type(model.family_).__name__,
            "learned_from": None if model.trained_on_ is None else model.trained_on_.size,
            "parameters": model.parameters,
            "versions": model.versions,
            "certificate": model.certificate if json else _promise(model.certificate),
        },
        json,
    )


def _promise(certificate: Any) -> str | None:
    """Return what a certificate kept in a model says, in one sentence."""
    if certificate is None:
        return None
    from rhostar.certificates import CertificateTable

    return CertificateTable.from_dict(certificate).best.sentence


def describe(instances: InstanceSet) -> dict[str, Any]:
    """Return the facts of a set."""
    import numpy as np

    graph, weights = instances.graph, instances.weights[np.unique(instances.rows)[:1000]]
    present = weights[np.isfinite(weights)]
    goals = np.unique(instances.goals)
    return {
        "instances": len(instances),
        "snapshots": int(np.unique(instances.rows).size),
        "vertices": graph.n,
        "edges": graph.m,
        "grid": None if graph.shape is None else f"{graph.shape[0]} x {graph.shape[1]}",
        "coordinates": graph.coordinates is not None,
        "labels": graph.labels is not None,
        "largest_out_degree": int(np.diff(graph.first_out).max(initial=0)),
        "goals": names(graph, goals[:10].tolist()) if goals.size <= 10 else f"{goals.size} different",
        "weights": str(weights.dtype),
        "least_weight": float(present.min()) if present.size else None,
        "largest_weight": float(present.max()) if present.size else None,
        "integer_weights": bool((present == np.floor(present)).all()),
        "absent_edges": float(1 - present.size / max(weights.size, 1)),
        "graph": graph.fingerprint,
    }


def names(graph: Any, vertices: list[int]) -> list[Any]:
    """Return what vertices are called by people: their labels, where there are any."""
    return vertices if graph.labels is None else [graph.labels[v] for v in vertices]


def vertex(graph: Any, name: str) -> int:
    """Return the vertex that a word on the command line names: a label, a number, or a cell as row,column."""
    import re

    from rhostar.errors import VertexError

    tries: list[Any] = [name]
    if re.fullmatch(r"\d+", name):
        tries.append(int(name))
    elif re.fullmatch(r"\d+,\d+", name):
        tries.append(tuple(int(part) for part in name.split(",")))
    for word in tries:
        try:
            return int(graph.vertex(word))
        except VertexError:
            continue
    if isinstance(tries[-1], int) and tries[-1] < graph.n:
        return tries[-1]
    what = "label or vertex" if graph.labels is not None else f"vertex in 0..{graph.n - 1}"
    raise VertexError(f"{name!r} is no {what} of the graph")
