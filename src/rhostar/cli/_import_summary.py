"""What ``import`` says about the data: what was merged, dropped and filled in, and which starts reach the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rhostar.cli import _options as options
from rhostar.cli import _tables as tables
from rhostar.cli._output import words

if TYPE_CHECKING:
    from rhostar.instances import InstanceSet, Network, Reading

_SEVERAL = 20
"""Goals up to this number are looked at one by one."""


def facts(reading: Reading | None, names: Any, instances: InstanceSet, left_out: list[int] | None) -> dict[str, Any]:
    """Return the facts of an import.

    Parameters
    ----------
    reading
        What the reader did, if it says so.
    names
        The names of the snapshots, or None.
    instances
        The set, with all snapshots that were read.
    left_out
        The lines of trips without a path; None if the trips are not from a file.
    """
    import numpy as np

    from rhostar.graph._components import strong_components

    graph, goals = instances.graph, np.unique(instances.goals)
    found: dict[str, Any] = {}
    if reading is not None:
        found |= {"merged_parallel_edges": reading.parallels, "dropped_loops": reading.loops}
        found |= {"missing_weights": reading.missing, "missing_policy": reading.policy}
        found["weights_read"] = int(instances._stored.size)
    if left_out is not None:
        found["trips_without_a_path"] = len(left_out)
        found["first_line_without_a_path"] = left_out[0] if left_out else None
    present = np.zeros(graph.m, dtype=bool)
    closed = []
    for k, row in enumerate(instances._stored):
        here = np.isfinite(row)
        present |= here
        if not here.all():
            closed.append(k)
    found["edges_never_open"] = int((~present).sum())
    if goals.size > _SEVERAL:
        return found
    touched = np.zeros(graph.n, dtype=bool)
    touched[graph.tail[present]] = touched[graph.head[present]] = True
    whole = np.where(present, 1.0, np.inf)
    cut_off = [int((touched & ~graph._kernel.reaches(whole, int(goal))).sum()) for goal in goals]
    found["starts"] = int(touched.sum()) - 1
    found["starts_without_a_path"] = dict(zip(options.names(graph, goals.tolist()), cut_off, strict=True))
    component = strong_components(graph, present)
    sizes = np.bincount(component)
    found["component_of_goal"] = int(sizes[component[goals]].min())
    found["largest_component"] = int(sizes.max())
    dead = [
        k
        for k in np.setdiff1d(closed, instances._stored_rows).tolist()
        if not any(_reached(graph, instances._stored[k], int(goal)) for goal in goals)
    ]
    found["snapshots_without_a_path"] = [k if names is None else str(names[k]) for k in dead]
    return found


def reach(network: Network, goals: Any) -> str:
    """Return in words how few vertices reach each goal, for a network on which hardly any draw has a path."""
    import numpy as np

    graph, targets = network.graph, np.atleast_1d(goals)[:_SEVERAL].tolist()
    present = np.zeros(graph.m, dtype=bool)
    for row in network.weights:
        present |= np.isfinite(row)
    whole = np.where(present, 1.0, np.inf)
    counts = [int(graph._kernel.reaches(whole, goal).sum()) - 1 for goal in targets]
    each = ", ".join(
        f"{words(count)} for {goal}" for goal, count in zip(options.names(graph, targets), counts, strict=True)
    )
    return f"; of {words(graph.n)} vertices, those that reach it are {each}: choose another --goal, or a larger --count"


def _reached(graph: Any, row: Any, goal: int) -> bool:
    """Return whether any other vertex reaches the goal in a snapshot."""
    import numpy as np

    return int(graph._kernel.reaches(np.ascontiguousarray(row), goal).sum()) > 1


def lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the facts in words, one line each, with a hint where something is likely to be wrong."""
    rows: list[tuple[str, str]] = []
    if "dropped_loops" in found:
        rows.append(("parallel edges", f"{words(found['merged_parallel_edges'])} merged (the cheapest counts)"))
        rows.append(("loops", f"{words(found['dropped_loops'])} dropped"))
        counts = found["missing_weights"], found["weights_read"], found["missing_policy"]
        rows.append(("missing weights", tables.filled_in(*counts)))
    if "trips_without_a_path" in found:
        first = found["first_line_without_a_path"]
        where = "" if first is None else f" left out, the first in line {first}"
        rows.append(("trips without a path", f"{words(found['trips_without_a_path'])}{where}"))
    if "starts" not in found:
        return rows
    cut_off, several = found["starts_without_a_path"], len(found["starts_without_a_path"]) > 1
    each = ", ".join(f"{words(count)} for {goal}" if several else words(count) for goal, count in cut_off.items())
    rows.append(("starts without a path", f"{each} of {words(found['starts'])}" if not several else each))
    mine, largest = found["component_of_goal"], found["largest_component"]
    if mine == largest:
        rows.append(
            ("strong component", f"{words(mine)} vertices, the largest, with {'all goals' * several or 'the goal'}")
        )
    else:
        which = "the smallest of a goal" if several else "that of the goal"
        rows.append(("strong components", f"{which} has {words(mine)} vertices, the largest {words(largest)}"))
    if mine < largest:
        what = "a goal is" if several else "the goal is"
        rows.append(("hint", f"{what} not in the largest component; --goal chooses another one"))
    dead = found["snapshots_without_a_path"]
    if dead:
        some = f"{', '.join(map(str, dead[:3]))}{', ...' * (len(dead) > 3)}"
        rows.append(("snapshots without a path", f"{words(len(dead))} left out: {some}"))
    return rows
