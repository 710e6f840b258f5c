"""A small report with every section, and names that would break a careless page."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import rhostar as rs
from rhostar.report._certificate import CertificateSection
from rhostar.report._guarantee import Guarantee

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<!-- $\\alpha$ __"


def small_set(labels: bool = False, count: int = 12) -> rs.InstanceSet:
    """Return instances on a grid of 8 by 9 cells, whose names are hostile with `labels`."""
    graph = rs.Graph.grid(8, 9, neighbors=8)
    if labels:
        names = [f"{HOSTILE}{v}" for v in range(graph.n)]
        x = graph.coordinates
        graph = rs.Graph(graph.first_out, graph.head, coordinates=x, labels=names, length=graph.length)
    weights = graph.length * np.random.default_rng(0).uniform(1, 3, size=(count, graph.m))
    return rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)


def certificate(name: str = "H4 betting", **changes: object) -> rs.certificates.Certificate:
    """Return a guarantee for the mean cost above the optimum, with changes."""
    values = {
        "label": name,
        "utility": "suboptimality",
        "subject": "the mean cost above the optimum",
        "algorithm": "astar",
        "goals": "to goal 5",
        "population": "on new instances drawn as these were",
        "side": "upper",
        "value": 0.40001,
        "observed": 0.2,
        "limit": 9.0,
        "delta": 0.05,
        "samples": 300,
        "holds_for": "this rho",
        "reference": name,
        "role": "guarantee",
        "clipped": 0.0,
    }
    return rs.certificates.Certificate(**(values | changes))


def full_report(instances: rs.InstanceSet, name: str = "learned") -> rs.report.Report:
    """Return a report with every section; the certificate is made by hand."""
    goal = int(instances.goals[0])
    rho = np.mean([rs.distances_to(instances.graph, x.weights, goal) for x in instances], axis=0)
    bound = certificate(name, assumptions=(name,))
    nothing = certificate("no use", value=9.0, holds_for="every rho", reference="Theorem 4", role="comparison")
    guarantee = Guarantee((certificate(name),))
    return rs.report.build(
        instances,
        {
            "Dijkstra": np.zeros(instances.graph.n),
            name: rs.report.Method(rho, kind="learned"),
            "greedy": rs.report.Method(rho, "gbfs", kind="learned"),
        },
        title=f"A title {name}",
        train=instances,
        sections=[
            CertificateSection(guarantee, name, (bound, nothing), (name,), (name, f"Warning: {name}")),
        ],
        facts=[(name, name)],
        cost_unit=name,
    )


def decode(events: bytes, source: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (codes, vertices) of a stream, as the page's script does."""
    values = read_varints(events)
    code, zigzag = values & 7, values >> 3
    difference = (zigzag >> 1) ^ -(zigzag & 1)
    vertices = np.empty_like(values)
    reference = source
    for i, (c, d) in enumerate(zip(code.tolist(), difference.tolist(), strict=True)):
        vertices[i] = reference + d
        if c == 0:
            reference = int(vertices[i])
    return code, vertices


def read_varints(data: bytes) -> NDArray[np.int64]:
    """Return the integers in a stream of seven bits to a byte."""
    raw = np.frombuffer(data, dtype=np.uint8).astype(np.int64)
    last = np.flatnonzero(raw < 128)
    if last.size == 0:
        return np.empty(0, dtype=np.int64)
    first = np.concatenate([[0], last[:-1] + 1])
    place = np.arange(raw.size) - np.repeat(first, last - first + 1)
    return np.add.reduceat((raw & 127) << (7 * place), first)
