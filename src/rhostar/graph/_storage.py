"""Takes a graph apart into named arrays and plain values for saving, and puts it together again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import GraphError, StorageError
from rhostar.graph._edges import Given
from rhostar.graph._graph import Graph


def take_apart(graph: Graph) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (arrays, facts) from which :func:`put_together` makes an equal graph."""
    stored = ("first_out", "head", "coordinates", "length")
    parts = {name: getattr(graph, name) for name in stored if getattr(graph, name) is not None}
    facts: dict[str, Any] = {"shape": graph.shape, "labels": None}
    if graph.labels is not None:
        facts["labels"] = [plain_label(label) for label in graph.labels]
    if graph._given is not None:
        facts["given"] = graph._given.size
        parts["given_order"] = graph._given.order
        if graph._given.starts is not None:
            parts["given_starts"] = graph._given.starts
    return parts, facts


def put_together(parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Graph:
    """Return the graph, or raise KeyError or InputError if the parts do not make one."""
    labels, shape = facts["labels"], facts["shape"]
    graph = Graph(
        parts["first_out"],
        parts["head"],
        coordinates=parts.get("coordinates"),
        labels=None if labels is None else [hashable_label(label) for label in labels],
        length=parts.get("length"),
        shape=None if shape is None else tuple(shape),
    )
    if "given" in facts:
        given = Given(facts["given"], parts["given_order"], parts.get("given_starts"))
        _require_sound(given, graph.m)
        object.__setattr__(graph, "_given", given)
    return graph


def _require_sound(given: Given, m: int) -> None:
    """Raise :class:`GraphError` unless the order of the given edges leads to m edges."""
    size, order, starts = given
    sound = type(size) is int and order.dtype == np.int64 and order.ndim == 1 and order.size <= size
    sound = sound and (order.size == 0 or bool(order.min() >= 0 and order.max() < size))
    if sound and starts is None:
        sound = order.size == m
    elif sound and starts is not None:
        sound = starts.dtype == np.int64 and starts.shape == (m,) and m > 0
        sound = sound and bool(starts[0] == 0 and starts[-1] < order.size and (np.diff(starts) > 0).all())
    if not sound:
        raise GraphError("the order of the given edges does not match the graph")


def plain_label(label: Hashable) -> Any:
    """Return a label as JSON can hold it."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return [plain_label(part) for part in label]
    if label is None or isinstance(label, str | int | float):
        return label
    raise StorageError(f"the label {label!r} cannot be saved: only numbers, strings and tuples of these can")


def hashable_label(label: Any) -> Hashable:
    """Return the label that :func:`plain_label` turned into a plain value."""
    return tuple(hashable_label(part) for part in label) if isinstance(label, list) else label
