"""Answers queries and updates that come as lines of JSON, one line each: a router as a service in a pipe."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable
from typing import Any, TextIO

import rhostar as rs
from rhostar.cli._output import OK, plain
from rhostar.errors import InputError
from rhostar.graph._storage import hashable_label

_VERTICES = ("source", "target", "vertex")
_LISTS = ("sources", "targets", "goals", "pairs", "edges", "avoid", "avoid_vertices")


def serve(router: rs.Router, lines: TextIO, out: TextIO) -> int:
    """Answer each line, until there are no more; a line that cannot be answered gets an error, and the next is read.

    Parameters
    ----------
    router
        The router.
    lines
        Objects with "do", the name of a method of the router, and its arguments by name. "id", if it is there, is
        repeated in the answer. null as a weight stands for a closed edge.
    out
        Where answers go; each is flushed.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        request: Any = None
        try:
            request = json.loads(line.strip())
            reply = _reply(router, request)
        except Exception as error:  # whatever a line does, the next one is answered
            what = str(error)
            if isinstance(error, json.JSONDecodeError):
                what = f"not a line of JSON: {error.msg} at column {error.colno}"
            reply = {"error": what, "kind": type(error).__name__, "line": number}
        marked = {"id": request["id"]} if isinstance(request, dict) and "id" in request else {}
        try:
            text = _line(marked | reply)
        except RecursionError:
            text = _line({"error": "id is nested too deeply to be repeated", "kind": "InputError"})
        out.write(text)
        out.flush()
    return OK


def _line(reply: dict[str, Any]) -> str:
    text = json.dumps(plain(reply), ensure_ascii=False, allow_nan=False)
    # Half of a pair of surrogates, which JSON may hold and UTF-8 may not, is escaped again.
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


def _reply(router: rs.Router, request: Any) -> dict[str, Any]:
    if not isinstance(request, dict):
        raise InputError('a line must be an object such as {"do": "route", "source": 1, "target": 2}')
    arguments = {name: value for name, value in request.items() if name not in ("do", "id")}
    name = str(request.get("do"))
    do = _ACTIONS.get(name)
    if do is None:
        raise InputError(f"do must be one of {', '.join(_ACTIONS)}; got {request.get('do')!r}")
    _require_arguments(name, do, arguments)
    for key in _VERTICES:
        if key in arguments:
            arguments[key] = hashable_label(arguments[key])
    for key in _LISTS:
        if isinstance(arguments.get(key), list):
            arguments[key] = [hashable_label(one) for one in arguments[key]]
    changes = arguments.get("changes")
    if isinstance(changes, list) and len(changes) == 2 and isinstance(changes[0], list):
        arguments["changes"] = ([hashable_label(edge) for edge in changes[0]], _open_or_closed(changes[1]))
    try:
        return do(router, **arguments)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise InputError(str(error).split(") ")[-1]) from None


def _require_arguments(name: str, do: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Raise if a request lacks an argument, or has another one where no others are taken."""
    taken = list(inspect.signature(do).parameters.values())[1:]  # the first is the router
    named = [one for one in taken if one.kind is not one.VAR_KEYWORD]
    needed = [one.name for one in named if one.default is one.empty]
    others = [one.name for one in named if one.name not in needed]
    allowed = set(arguments) if len(named) < len(taken) else {*needed, *others}
    if not set(needed) <= set(arguments) <= allowed:
        wants = f"needs {' and '.join(needed)}" if needed else "takes no arguments"
        wants += f", and takes {', '.join(others)}" if others else ""
        raise InputError(f"{name} {wants}; got {', '.join(arguments) or 'nothing'}")


def _open_or_closed(weights: Any) -> Any:
    """Return weights with inf for null."""
    return [math.inf if weight is None else weight for weight in weights] if isinstance(weights, list) else weights


def _shown(route: Any) -> dict[str, Any]:
    times = {"depart": route.depart, "arrive": route.arrive} if hasattr(route, "depart") else {}
    return {"cost": route.cost, "bound": route.bound, "path": list(route.labels), "edges": route.edges, **times}


def _ranked(name: str, found: Any) -> dict[str, Any]:
    return {name: list(found.labels), "costs": found.costs}


def _within(router: rs.Router, vertex: Any, max_cost: float, **how: Any) -> dict[str, Any]:
    found = router.within(vertex, max_cost, **how)
    # The first has no parent: its number is -1.
    return _ranked("vertices", found) | {"parents": [None, *found.names.labels(found.parents[1:])]}


def _update(router: rs.Router, weights: Any, edges: Any = None) -> dict[str, Any]:
    router.update(_open_or_closed(weights), edges=edges)
    return {"updated": router.n_edges if edges is None else len(edges)}


def _update_by_time(router: rs.Router, weights: Any, times: Any, **options: Any) -> dict[str, Any]:
    if isinstance(weights, list):
        weights = [_open_or_closed(row) for row in weights]
    router.update_by_time(weights, times, **options)
    return {"updated": router.n_edges}


def _prepare(router: rs.Router) -> dict[str, Any]:
    router.prepare()
    return {"prepared": True}


_ACTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "route": lambda router, source, target, **costs: _shown(router.route(source, target, **costs)),
    "routes": lambda router, pairs, **costs: {"routes": [_shown(route) for route in router.routes(pairs, **costs)]},
    "alternatives": lambda router, source, target, k=3, **how: {
        "routes": [_shown(route) for route in router.alternatives(source, target, k, **how)]
    },
    "matrix": lambda router, sources, targets, **costs: {"costs": router.matrix(sources, targets, **costs)},
    "nearest": lambda router, source, goals, k=1, **costs: _ranked("goals", router.nearest(source, goals, k, **costs)),
    "nearest_source": lambda router, sources, target, k=1, **costs: _ranked(
        "sources", router.nearest_source(sources, target, k, **costs)
    ),
    "within": _within,
    "update": _update,
    "update_by_time": _update_by_time,
    "prepare": _prepare,
    "explain": lambda router: dict(router.explain()._asdict()),
}
