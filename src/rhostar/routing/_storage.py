"""Routers in files: the graph, its hierarchy and the heuristic as plain arrays, mapped and checked at opening."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _archives as archives
from rhostar import _files as files
from rhostar.errors import InputError, StorageError
from rhostar.graph._storage import hashable_label, plain_label, put_together, take_apart
from rhostar.heuristics import _model as models  # knows all kinds of heuristics
from rhostar.heuristics._storage import from_parts, to_parts
from rhostar.hierarchy import Hierarchy
from rhostar.hierarchy._order import elimination_order
from rhostar.hierarchy._storage import hierarchy_parts, open_hierarchy
from rhostar.routing._edges import UserEdges
from rhostar.routing._guide import Guide
from rhostar.routing._names import VertexNames
from rhostar.routing._query_costs import EdgeClasses
from rhostar.routing._state import Engine

_KIND, _VERSION = "rhostar-router", 2
_GROUPS = ("graph", "hierarchy", "heuristic", "classes")


Parts = tuple[Engine, UserEdges, EdgeClasses | None, tuple[str, ...]]
"""What a router consists of; the last are the names of its criteria."""


def write_router(
    path: str | os.PathLike[str],
    engine: Engine,
    edges: UserEdges,
    classes: EdgeClasses | None,
    criteria: tuple[str, ...],
) -> None:
    """Write everything but weights."""
    graph, guide, hierarchy = engine.graph, engine.guide, engine.hierarchy
    own, graph_facts = take_apart(graph)
    groups: dict[str, Mapping[str, NDArray[Any]]] = {"graph": own}
    facts: dict[str, Any] = {
        "format": _KIND,
        "version": _VERSION,
        "graph": graph_facts,
        "hierarchy": hierarchy is not None,
        "heuristic": None,
        "certificate": None if guide.certificate is None else models._plain(dict(guide.certificate)),
        "excess": [guide.max_excess, guide.mean_excess],
        "given": edges.given is not None,
        "undirected": edges.undirected,
        "edge_labels": None if edges.labels is None else [plain_label(label) for label in edges.labels],
        "edge_classes": None if classes is None else [plain_label(name) for name in classes.names],
        "criteria": list(criteria),
    }
    if classes is not None:
        groups["classes"] = {"codes": classes.codes}
    if hierarchy is not None:
        groups["hierarchy"] = {**hierarchy_parts(hierarchy._kernel), "order": elimination_order(graph)}
    if guide.heuristic is not None:
        groups["heuristic"], facts["heuristic"] = to_parts(guide.heuristic)
    parts = {f"{group}_{name}": part for group, some in groups.items() for name, part in some.items()}
    parts["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    with files.replacing(path) as beside, beside.open("wb") as stream:
        archives.write_arrays(stream, parts, mappable=_is_mapped)


def read_router(path: str | os.PathLike[str]) -> Parts:
    """Return what a router consists of, or raise :class:`StorageError`."""
    where = os.fspath(path)
    try:
        parts = archives.read_arrays(path, _belongs, strict=True, what="router of rhostar", mappable=_is_mapped)
        facts = json.loads(parts.pop("facts").tobytes().decode())
        if facts["format"] != _KIND or facts["version"] != _VERSION:
            raise StorageError(f"{where} holds {facts['format']!r} version {facts['version']}, not a router")
        return _made({group: _group(parts, group) for group in _GROUPS}, facts)
    except FileNotFoundError:
        raise StorageError(f"there is no router at {where}") from None
    except OSError as error:
        raise StorageError(f"{where} cannot be read: {error.strerror or error}") from error
    except StorageError as error:
        raise (error if str(error).startswith(where) else StorageError(f"{where}: {error}")) from None
    except MemoryError:
        raise
    except Exception as error:  # damaged facts can fail in many ways
        raise StorageError(f"{where} is damaged or not a router of rhostar ({type(error).__name__})") from None


def _made(
    groups: Mapping[str, Mapping[str, NDArray[Any]]],
    facts: Mapping[str, Any],
) -> Parts:
    graph = put_together(groups["graph"], facts["graph"])
    heuristic = None if facts["heuristic"] is None else from_parts(groups["heuristic"], facts["heuristic"])
    guide = Guide(graph, heuristic, *facts["excess"])
    guide.certificate = facts["certificate"]
    given = graph._given if facts["given"] else None
    if facts["given"] and given is None:
        raise InputError("the graph does not know the edges given")
    labels = facts["edge_labels"]
    edges = UserEdges(
        graph,
        VertexNames(graph),
        given,
        undirected=bool(facts["undirected"]),
        labels=None if labels is None else [hashable_label(label) for label in labels],
    )
    engine = Engine(graph, guide)
    if facts["hierarchy"]:
        kernel = open_hierarchy(groups["hierarchy"], graph)
        order = groups["hierarchy"]["order"]
        if kernel is None or order.shape != (graph.n,) or order.dtype != np.int32:
            raise StorageError("it is damaged: its arrays are not those of a hierarchy of this graph")
        object.__setattr__(graph, "_hierarchy", kernel)
        object.__setattr__(graph, "_elimination_order", order)
        engine.hierarchy = Hierarchy(graph, memory_limit=2**63 - 1)
        engine.order = "The order of the vertices was read from a file."
    classes = None
    if facts["edge_classes"] is not None:
        names = [hashable_label(name) for name in facts["edge_classes"]]
        classes = EdgeClasses(edges, [names[code] for code in groups["classes"]["codes"].tolist()])
    return engine, edges, classes, tuple(facts["criteria"])


def _group(parts: Mapping[str, NDArray[Any]], group: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(f"{group}_"): part for name, part in parts.items() if name.startswith(f"{group}_")}


def _belongs(name: str) -> bool:
    return name == "facts" or name.startswith(tuple(f"{group}_" for group in _GROUPS))


def _is_mapped(name: str) -> bool:
    return name != "facts"
