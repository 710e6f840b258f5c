"""The measurements on one set of instances that bounds need: losses, inconsistencies, complexity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.bounds import edge_local_complexity
from rhostar.certificates._paths import OptimalPaths
from rhostar.certificates._request import Request, Setting
from rhostar.instances import InstanceSet
from rhostar.utilities import evaluate


@dataclass(frozen=True, eq=False)
class Data:
    """Numbers within [0, H], one per instance, and the share of them that were clipped to H."""

    values: NDArray[np.float64]
    clipped: float

    @property
    def mean(self) -> float:
        """Their mean."""
        return float(self.values.mean())


@dataclass(frozen=True, eq=False)
class Measured:
    """One set of instances, with what bounds ask of it; computed when it is first asked for."""

    setting: Setting
    instances: InstanceSet
    rho: Any
    """A table, or what chooses one for each instance."""
    paths: OptimalPaths | None
    """The optimal paths, where the utility needs optimal costs."""
    rounding: float
    """By how much cost − opt may exceed the inconsistency, as sums round."""

    @cached_property
    def losses(self) -> Data:
        """What is bounded from above: u, or H − u where higher is better."""
        request: Request = self.setting.request
        score = evaluate(
            self.instances,
            self.rho,
            request.utility,
            algorithm=request.algorithm,
            reopen=request.reopen,
            budget=request.budget,
            optimum=None if self.paths is None else self.paths.cost,
        )[0]
        flip = request.utility.better == "higher"
        return Data(request.utility.limit - score.values if flip else score.values, score.clipped)

    @cached_property
    def inconsistency(self) -> Data:
        """Δ along the optimal path of each instance, clipped at H."""
        assert self.paths is not None
        raw, limit = self.paths.inconsistency(self.rho), self.setting.limit
        return Data(np.minimum(raw, limit), float(np.mean(raw > limit)))

    @cached_property
    def complexity(self) -> float:
        """R̂ of U2."""
        assert self.paths is not None
        caps = np.broadcast_to(self.setting.stated.caps, self.setting.graph.m)
        return edge_local_complexity(
            self.paths.edges, self.paths.weights, caps, len(self.instances), self.setting.limit
        )
