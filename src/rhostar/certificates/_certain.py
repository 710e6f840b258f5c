"""What is certain without any instances: optimal answers (U3), and a bound on every single answer (U5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rhostar.certificates._assumptions import Bounds
from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._on_holdout import Range
from rhostar.certificates._on_train import InClass
from rhostar.certificates._per_answer import largest_excess
from rhostar.certificates._projection import exceeding
from rhostar.certificates._request import Request, rounding, weights_assumed
from rhostar.graph import Graph
from rhostar.potentials import Potential


class Excess(NamedTuple):
    """By how much any answer can exceed the optimum (U5), for the worst of the goals."""

    overestimate: float
    """B: as if sums did not round."""
    most: float
    """B and what rounding may add."""


def per_answer(
    request: Request, graph: Graph, stated: Bounds, heuristics: Mapping[int, NDArray[np.float64]], *, exact: bool
) -> Excess:
    """Return U5 for the worst of the goals."""
    found = {goal: largest_excess(graph, rho, goal, stated.low) for goal, rho in heuristics.items()}
    rounded = (
        found[goal] + rounding(stated, rho, request.utility.limit, exact=exact) for goal, rho in heuristics.items()
    )
    return Excess(max(found.values()), max(rounded))


def never_over(request: Request, graph: Graph, stated: Bounds, rho: Any, potential: Potential) -> Excess | None:
    """Return U5 for distances under one weight ŵ per edge, if ŵ is nowhere above the least weights; else None.

    No value is then above the least cost-to-go, whatever the goal is. Values in single precision are rounded down.
    """
    rows = getattr(rho, "weights_", None)
    if rows is None or np.ndim(rows) != 2 or len(rows) != 1:
        return None
    weights = potential.scale * np.asarray(rows[0], dtype=np.float64)
    if not (weights <= stated.low).all():
        return None
    largest = np.full(graph.n, float(weights[np.isfinite(weights)].sum()))  # no distance is longer
    return Excess(0.0, rounding(stated, largest, request.utility.limit, exact=False))


def loss_range(request: Request, stated: Bounds, excess: Excess | None, *, exact: bool) -> Range:
    """Return the range of the losses on the holdout: H, or the bound on every answer where that is smaller."""
    limit = request.utility.limit
    if excess is None or excess.most >= limit:
        return Range(limit)
    # A range of 0 leaves nothing to bound; this one is as good.
    smallest = float(np.finfo(np.float64).tiny)
    return Range(max(excess.most, smallest), True, stated.conditions, weights_assumed(stated, exact=exact))


def certain(
    request: Request,
    graph: Graph,
    stated: Bounds,
    placed: Mapping[int, InClass],
    goals: Sequence[int],
    excess: Excess | None,
    largest_seen: float | None,
) -> list[Certificate | Dropped]:
    """Return U3 and U5, or why there is none.

    Parameters
    ----------
    request, graph, stated
        What was asked for, and what is known of the weights.
    placed
        ρ by goal.
    goals
        The goals that they are about.
    excess
        U5, where it is known.
    largest_seen
        The largest excess on the instances.
    """
    if not request.of_excess or not stated.given:
        return []
    if not request.through_inconsistency:
        return [Dropped("U3", "a run that a budget ends has no bound through inconsistency")]
    exact = bool(placed) and all(part.exact for part in placed.values())
    found: list[Certificate | Dropped] = [_consistency(request, graph, stated, placed, goals, largest_seen)]
    if not request.reopen:
        found.append(Dropped("U5", "does not hold without reopening: an admissible rho may then give longer paths"))
    elif excess is None:
        found.append(Dropped("U5", "rho is for any goal and may overestimate, so the worst goal is not known"))
    else:
        reference = "U5: when the goal is selected, a vertex of an optimal path is open with its true cost"
        row = _every(request, stated, "U5", excess.most, reference, goals, largest_seen, exact=exact)
        known = {"overestimate": excess.overestimate}
        found.append(replace(row, measured=known) if isinstance(row, Certificate) else row)
    return found


def _consistency(
    request: Request,
    graph: Graph,
    stated: Bounds,
    placed: Mapping[int, InClass],
    goals: Sequence[int],
    largest_seen: float | None,
) -> Certificate | Dropped:
    if not placed:
        return Dropped("U3", "rho is computed for any goal; U5 says whether it ever overestimates")
    low = np.broadcast_to(stated.low, graph.m)
    for goal in goals:
        if exceeding(graph, placed[goal].rho, low, goal).any():
            return Dropped("U3", "rho is not consistent under the least weights")
    off = max(rounding(stated, placed[goal].rho, request.utility.limit, exact=placed[goal].exact) for goal in goals)
    exact = all(placed[goal].exact for goal in goals)
    reference = "consistency under the least weights: A* is optimal, up to the rounding of sums"
    return _every(request, stated, "U3", off, reference, goals, largest_seen, exact=exact)


def _every(
    request: Request,
    stated: Bounds,
    label: str,
    value: float,
    reference: str,
    goals: Sequence[int],
    largest_seen: float | None,
    *,
    exact: bool,
) -> Certificate | Dropped:
    if largest_seen is not None and largest_seen > value:
        # Possible only where nothing says how far sums round.
        return Dropped(
            label, f"an answer was {largest_seen:.6g} above the optimum: sums round by more than was assumed"
        )
    return Certificate(
        label=label,
        subject=request.utility.quantity,
        run=request.run(goals, every=True),
        population="on every instance",
        side="upper",
        value=value,
        observed=largest_seen,
        limit=None,
        delta=0.0,
        samples=0,
        holds_for="this rho",
        reference=reference,
        role="certain",
        statistic="every",
        conditions=stated.conditions,
        assumptions=weights_assumed(stated, exact=exact),
    )
