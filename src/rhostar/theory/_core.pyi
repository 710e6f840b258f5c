"""The compiled part of :mod:`rhostar.theory`: symbolic execution, and the search for thresholds (src/core/theory)."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rhostar._core import Ending

_Indices = NDArray[np.int32]
_Positions = NDArray[np.int64]

class Exploration:
    ending: Final[Ending]
    complete: Final[bool]
    """Whether there are no more behaviours than the limit."""
    leaves: Final[int]
    explored: Final[float]
    prefix: Final[_Positions]
    values: Final[_Positions]
    rho: Final[_Positions]

class Sweep:
    ending: Final[Ending]
    values: Final[_Positions]

class Thresholds:
    ending: Final[Ending]
    found: Final[bool]
    cuts: Final[_Indices]

def explore(
    weights: _Positions,
    sources: _Indices,
    goal: int,
    greedy: bool,
    reopen: bool,
    limit: int,
    measure: int,
    bits: int,
    progress: Callable[[int, float], object] | None,
) -> Exploration: ...
def sweep(
    weights: _Positions,
    sources: _Indices,
    goal: int,
    greedy: bool,
    reopen: bool,
    rho: _Positions,
    bits: int,
    measure: int,
) -> Sweep: ...
def shatter(ranks: _Indices) -> Thresholds: ...
