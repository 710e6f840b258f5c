"""The section on the data behind the page, and the versions needed to make the page again."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rhostar.instances import InstanceSet
from rhostar.report._section import Chart, Section, escape, pairs
from rhostar.report._wording import VERSION, vertex_name

_LISTED = 5  # vertices that are named one by one


@dataclass(frozen=True)
class Setting(Section):
    """The data, and the versions of what made the page."""

    name: ClassVar[str] = "setting"
    title: ClassVar[str] = "Setting"
    heading: ClassVar[str] = "What was learned, on what"

    facts: Sequence[tuple[str, str]]
    fingerprint: str
    """The hash of the graph."""

    def body(self, chart: Chart) -> str:
        """Return short facts as a list, long ones as paragraphs."""
        short = pairs("facts", [fact for fact in self.facts if len(fact[1]) <= 80])
        long = "".join(f"<p><strong>{escape(a)}.</strong> {escape(b)}</p>" for a, b in self.facts if len(b) > 80)
        made = pairs(
            "facts",
            [
                ("rhostar", VERSION),
                ("Python, numpy", f"{platform.python_version()}, {np.__version__}"),
                ("machine", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"),
                ("hash of the graph", self.fingerprint),
            ],
        )
        return f"{short}\n{long}\n<h3>Made with</h3>\n{made}"


def describe(instances: InstanceSet, train: InstanceSet | None) -> list[tuple[str, str]]:
    """Return the facts about the graph and the instances: what, value."""
    graph = instances.graph
    grid = f", a grid of {graph.shape[0]} × {graph.shape[1]}" if graph.shape is not None else ""
    facts = [("graph", f"{graph.n:,} vertices, {graph.m:,} edges{grid}")]
    if train is not None:
        facts.append(("learned from", f"{len(train):,} queries on {np.unique(train.rows).size:,} snapshots"))
    facts.append(("compared on", f"{len(instances):,} queries on {np.unique(instances.rows).size:,} snapshots"))
    if train is not None and train.overlap(instances):
        facts.append(("seen before", f"{instances.overlap(train):,} of these queries were learned from"))
    facts.append(_counted("goal", instances, np.unique(instances.goals)))
    facts.append(_counted("start", instances, np.unique(instances.sources)))
    return facts


def _counted(what: str, instances: InstanceSet, vertices: NDArray[np.int32]) -> tuple[str, str]:
    """Return which vertices these are, or how many: ("goal", "vertex 131"), ("goals", "12 vertices")."""
    if vertices.size <= _LISTED:
        named = ", ".join(vertex_name(instances, v) for v in vertices.tolist())
        return what if vertices.size == 1 else f"{what}s", named
    return f"{what}s", f"{vertices.size:,} vertices"
