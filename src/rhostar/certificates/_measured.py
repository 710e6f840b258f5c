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
from rhostar.search import Rho
from rhostar.utilities import Score, evaluate


def score(
    request: Request,
    instances: InstanceSet,
    rho: Rho,
    paths: OptimalPaths | None,
) -> Score:
    """Return the utility of ρ on every instance; optimal costs are those of the optimal paths."""
    return evaluate(
        instances,
        rho,
        request.utility,
        algorithm=request.algorithm,
        reopen=request.reopen,
        budget=request.budget,
        optimum=None if paths is None else paths.cost,
    )[0]


@dataclass(frozen=True, eq=False)
class Measured:
    """The training instances of one goal, with what bounds ask of them; computed when it is first asked for."""

    setting: Setting
    instances: InstanceSet
    rho: Any
    """A table, or what chooses one for each instance."""
    paths: OptimalPaths | None
    """The optimal paths, where the utility needs optimal costs."""
    rounding: float
    """By how much cost − opt may exceed the inconsistency, as sums round."""

    @cached_property
    def score(self) -> Score:
        """The utility itself."""
        return score(self.setting.request, self.instances, self.rho, self.paths)

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """What is bounded from above: u clipped at H, or H − u where higher is better."""
        return self.setting.limit - self.score.values if self.setting.request.flip else self.score.values

    @property
    def mean_loss(self) -> float:
        """The mean of the losses."""
        return float(self.losses.mean())

    def inconsistency(self, limit: float) -> float:
        """Return the mean of Δ along the optimal paths, clipped at a limit."""
        return float(np.minimum(self._inconsistency, limit).mean())

    @cached_property
    def _inconsistency(self) -> NDArray[np.float64]:
        assert self.paths is not None
        return self.paths.inconsistency(self.rho)

    def complexity(self, limit: float) -> float:
        """Return R̂ of U2 for Δ clipped at a limit."""
        assert self.paths is not None
        return edge_local_complexity(
            self.paths.edges, self.paths.weights, self.setting.caps, len(self.instances), limit
        )
