"""The certificates for one goal: the bounds are chosen, ρ is brought into their class, measured, and bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.bounds import _checks as checks
from rhostar.bounds import capacities, edge_local_complexity
from rhostar.certificates import _assumptions as assumptions
from rhostar.certificates import _choice as bounds
from rhostar.certificates import _tables as tables
from rhostar.certificates._certificate import Certificate, Dropped
from rhostar.certificates._paths import OptimalPaths, optimal_paths
from rhostar.errors import AssumptionError, InputError
from rhostar.families import Family, FullTable, Linear, Quantised
from rhostar.instances import InstanceSet
from rhostar.utilities import SolvedWithin, Suboptimality, Utility, evaluate


@dataclass(frozen=True)
class Request:
    """What was asked for, checked."""

    algorithm: checks.Algorithm
    reopen: bool
    budget: int | None
    utility: Utility
    weight_bounds: Any
    integer_weights: int | None
    out_degree: int | None
    delta: float

    @property
    def title(self) -> str:
        """Heads the table."""
        how = (
            "greedy best-first search"
            if self.algorithm == "gbfs"
            else "A*" + ("" if self.reopen else " without reopening")
        )
        limit = "" if self.budget is None else f", at most {self.budget} expansions"
        return f"{self.utility.name} of {how}{limit}, H = {self.utility.limit:g}, delta = {self.delta:g}"

    @property
    def subject(self) -> str:
        """What is bounded, in a sentence."""
        how = "greedy best-first search" if self.algorithm == "gbfs" else "A*"
        return f"the mean {self.utility.name} (clipped at {self.utility.limit:g}) of {how}"


class Goal:
    """The certificates for one goal."""

    def __init__(
        self,
        request: Request,
        goal: int,
        sets: Mapping[str, InstanceSet | None],
        family: Family,
        stated: assumptions.Bounds,
        delta: float,
    ) -> None:
        self.request, self.goal, self.family, self.stated, self.delta = request, goal, family, stated, delta
        self.train, self.holdout = sets["train"], sets["holdout"]
        some = self.train if self.train is not None else self.holdout
        assert some is not None
        self.graph = some.graph
        self.notes: list[str] = []
        self.rows: list[Certificate] = []
        self.choice = bounds.Choice([], [])
        self.barred: set[str] = set()
        self.paths: dict[str, OptimalPaths] = {}
        self.rho: NDArray[np.float64] = np.empty(0)
        self.rounding = 0.0

    @property
    def exact(self) -> bool:
        """Whether no sum g + ρ rounds: greedy search makes none, and with integer weights ρ is snapped to few bits."""
        if self.request.algorithm == "gbfs":
            return True
        snapped = isinstance(self.family, FullTable) or (isinstance(self.family, Linear) and self.train is not None)
        return self.request.integer_weights is not None and snapped

    @property
    def dropped(self) -> list[Dropped]:
        """The bounds that are not used."""
        return self.choice.dropped

    @property
    def through_inconsistency(self) -> bool:
        """Whether the claim follows from inconsistency (L1): A*, suboptimality, no budget."""
        request = self.request
        return request.algorithm == "astar" and isinstance(request.utility, Suboptimality) and request.budget is None

    def run(self, rho: NDArray[np.float64]) -> Goal:
        """Choose the bounds, bring ρ into their class, measure, and compute them."""
        self._check_family(rho)
        local = self.through_inconsistency and bool(np.isfinite(self.stated.caps).all())
        self._choose(local)
        self.rho = self._into_class(rho, project=local and self.train is not None)
        self.rounding = self._rounding()
        for name, part in (("train", self.train), ("holdout", self.holdout)):
            if part is not None and self.request.utility.needs_optimum:
                self.paths[name] = optimal_paths(part)
        share = self.delta / max(1, len(self.choice.kept))
        for name, part in (("train", self.train), ("holdout", self.holdout)):
            if part is not None:
                self._compute(name, part, share)
        self._certain()
        if not self.rows:
            self._trivial()
        return self

    # -------------------------------------------------------- before any utility is seen

    def _check_family(self, rho: NDArray[np.float64]) -> None:
        family = self.family
        if not isinstance(family, Family):
            raise InputError(f"family must be a Family, got {family!r}")
        for name, part in (("train", self.train), ("holdout", self.holdout)):
            if part is not None and (shaped := family.overlap(part)):
                raise AssumptionError(f"the family was built from {shaped} instances of {name}; fix it without them")
        if isinstance(family, Quantised) and family.goal != self.goal:
            raise AssumptionError(f"the family fixes the value at vertex {family.goal}, but the goal is {self.goal}")
        if not family.contains(rho):  # type: ignore[attr-defined]
            raise AssumptionError(
                f"rho is not in the family that it is said to be chosen from ({type(family).__name__})"
            )

    def _choose(self, local: bool) -> None:
        request, limit = self.request, self.request.utility.limit
        if self.holdout is not None:
            binary = isinstance(request.utility, SolvedWithin)
            bounds.for_this_rho(len(self.holdout), limit, self.delta, binary, self.choice)
        if self.train is None:
            return
        N, n, family = len(self.train), self.graph.n, self.family
        # The number of parameters, not the rank of the features: it is known to rounding only, and where sums must
        # be exact the features are rounded, which can make dependent columns independent.
        linear = isinstance(family, Linear)
        rows = capacities(
            n,
            request.algorithm,
            integer_weights=request.integer_weights,
            out_degree=request.out_degree,
            parameters=family.parameters if isinstance(family, Linear) else None,
            levels=family.levels.size if isinstance(family, Quantised) else None,
        )
        scope: Any = "every rho of the family" if linear or isinstance(family, Quantised) else "every rho"
        bounds.for_every_rho(rows, N, limit, self.delta, scope, self.exact, self.choice)
        if self.through_inconsistency:
            bounds.for_suboptimality(n, N, limit, self.delta, (lambda: self.complexity) if local else None, self.choice)
        elif request.algorithm == "astar" and isinstance(request.utility, Suboptimality):
            reason = "a run that a budget ends has no bound through inconsistency"
            self.dropped.extend([Dropped("U1", reason), Dropped("U2", reason)])

    def _into_class(self, rho: NDArray[np.float64], project: bool) -> NDArray[np.float64]:
        request, family, graph = self.request, self.family, self.graph
        table = rho
        integers = request.integer_weights
        largest_g = 0.0 if request.algorithm == "gbfs" or integers is None else float((graph.n - 1) * integers)
        if self.train is not None and isinstance(family, Linear):
            if self.exact:
                table = tables.snapped_linear(family, table, largest_g)
                self._say(
                    "brought to base and features of 20 bits and a theta with which all sums are exact", rho, table
                )
            else:
                table = tables.recomputed(family, table)
                self._say("computed anew as base + features @ theta", rho, table)
        elif isinstance(family, FullTable) and request.algorithm == "astar" and integers is not None:
            table = tables.snapped(table, largest_g)
            self._say("snapped to multiples of a power of two with which g + rho is exact", rho, table)
        if not project:
            return table
        over = tables.exceeding(graph, table, self.stated.caps, self.goal)
        if not over.any():
            return table
        if not isinstance(family, FullTable):
            # Its share of δ is not given to others: they were chosen before ρ was looked at.
            self.barred.add("U2")
            self.notes.append(f"U2 does not apply: rho exceeds the largest weight on {int(over.sum())} edges")
            return table
        moved = tables.projected(graph, table, self.stated.caps, self.goal)
        self._say(f"lowered where rho_v - rho_c was above the largest weight ({int(over.sum())} edges)", table, moved)
        return moved

    def _say(self, what: str, before: NDArray[np.float64], after: NDArray[np.float64]) -> None:
        change = float(np.abs(after - before).max())
        if change > 0:
            moved = int(np.count_nonzero(after != before))
            self.notes.append(f"rho was {what}: {moved} values moved, by {change:.3g} at most; run table.rho")

    def _rounding(self) -> float:
        """Return by how much cost − opt may exceed Δ as sums round; without bounds on the weights, as those with ρ do.

        With u = 2⁻⁵³, G the largest g and R the largest |ρ|, a score is off by at most u(G + R), so along the proof of
        L1 each of at most n edges adds 2u(G + R). The sums of a path and of S* add uG each, Δ clipped at H adds
        u(4R + H), and the differences of ρ that are compared with caps u(R + G).
        """
        if self.exact:
            return 0.0
        caps = self.stated.caps
        largest_g = (self.graph.n - 1) * float(caps.max()) if np.isfinite(caps).all() else 0.0
        sizes = largest_g + float(np.abs(self.rho).max()) + self.request.utility.limit
        return 8 * self.graph.n * 2.0**-53 * sizes

    @property
    def rounding_assumed(self) -> list[str]:
        """What must be assumed where the rounding of g has no bound."""
        known = self.exact or bool(np.isfinite(self.stated.caps).all())
        return [] if known else [bounds.ROUNDS]

    # -------------------------------------------------------- on the instances

    @cached_property
    def complexity(self) -> float:
        """R̂ of U2 on train."""
        assert self.train is not None
        paths = self.paths["train"]
        return edge_local_complexity(
            paths.edges,
            paths.weights,
            np.broadcast_to(self.stated.caps, self.graph.m),
            len(self.train),
            self.request.utility.limit,
        )

    def _compute(self, name: str, part: InstanceSet, share: float) -> None:
        request, utility = self.request, self.request.utility
        own = [bound for bound in self.choice.kept if bound.data == name and bound.label not in self.barred]
        if not own:
            return
        limit, flip = utility.limit, utility.better == "higher"
        losses = clipped = None
        if not all(bound.of_inconsistency for bound in own):
            score = evaluate(
                part,
                self.rho,
                utility,
                algorithm=request.algorithm,
                reopen=request.reopen,
                budget=request.budget,
                optimum=self.paths[name].cost if name in self.paths else None,
            )[0]
            losses, clipped = (limit - score.values if flip else score.values), score.clipped
        for bound in own:
            if bound.of_inconsistency:
                raw = self.paths[name].inconsistency(self.rho)
                data, over = np.minimum(raw, limit), float(np.mean(raw > limit))
            else:
                assert losses is not None
                assert clipped is not None
                data, over = losses, clipped
            value, mean = bound.value(data, share), float(data.mean())
            value = min(limit, value + self.rounding) if bound.of_inconsistency else value
            extra = (("2R", 2 * self.complexity),) if bound.label == "U2" else ()
            self.rows.append(
                Certificate(
                    label=bound.label,
                    subject=request.subject,
                    side="lower" if flip else "upper",
                    value=max(0.0, limit - value) if flip else value,
                    mean=limit - mean if flip else mean,
                    limit=limit,
                    delta=share,
                    total_delta=request.delta,
                    samples=len(part),
                    holds_for=bound.holds_for,
                    reference=bound.reference,
                    assumptions=tuple(self._assumptions(name, bound)),
                    measured=dict([("clipped", over), *bound.measured, *extra]),
                )
            )

    def _assumptions(self, name: str, bound: bounds.Bound) -> list[str]:
        request = self.request
        found = [f"the instances of {name} and those to come are drawn independently from one distribution"]
        found += [f"the range [0, {request.utility.limit:g}] was fixed beforehand"]
        if bound.holds_for == "this rho":
            found += ["holdout had no part in choosing rho"]
        else:
            found += [] if bound.of_inconsistency else ["the family was fixed without looking at train"]
            if request.integer_weights is not None and not bound.of_inconsistency:
                found += [f"all weights are integers in 0..{request.integer_weights} (checked here)"]
        if bound.label == "U2":
            found += ["the largest weights were known beforehand (checked here)"]
        if request.out_degree is not None and "D′" in bound.label:
            found += [f"no vertex has more than {request.out_degree} children (checked here)"]
        if bound.of_inconsistency:
            found += self.rounding_assumed
        return found + ([bound.assumption] if bound.assumption else [])

    # -------------------------------------------------------- without probability

    def _certain(self) -> None:
        """U3: where ρ is consistent under the least possible weights, A* is optimal on all instances."""
        if not self.through_inconsistency or not self.stated.given:
            return
        if tables.exceeding(self.graph, self.rho, np.broadcast_to(self.stated.low, self.graph.m), self.goal).any():
            self.dropped.append(Dropped("U3", "rho is not consistent under the least weights"))
            return
        self._sure(
            "U3",
            min(self.rounding, self.request.utility.limit),
            "consistency under the least weights: A* is optimal, up to the rounding of sums",
            "no weight is ever below its least",
            *(["no weight is ever above its largest"] if self.rounding and not self.rounding_assumed else []),
            *self.rounding_assumed,
        )

    def _trivial(self) -> None:
        higher = self.request.utility.better == "higher"
        self._sure("range", 0.0 if higher else self.request.utility.limit, "the range of the utility", "nothing")

    def _sure(self, label: str, value: float, reference: str, *assumed: str) -> None:
        utility = self.request.utility
        samples = len(self.train) if self.train is not None else len(self.holdout or ())
        self.rows.append(
            Certificate(
                label=label,
                subject=self.request.subject,
                side="lower" if utility.better == "higher" else "upper",
                value=value,
                mean=value,
                limit=utility.limit,
                delta=0.0,
                total_delta=self.request.delta,
                samples=samples,
                holds_for="this rho",
                reference=reference,
                assumptions=assumed,
            )
        )
