from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Indices = NDArray[np.int32]
_Floats = NDArray[np.float64]

class Stop:
    def __init__(self) -> None: ...
    def set(self) -> None: ...
    def is_set(self) -> bool: ...

class Graph:
    bytes_per_vertex: int
    def __init__(self, first_out: _Indices, head: _Indices) -> None: ...
    def edge_index(self, tails: _Indices, heads: _Indices) -> _Indices: ...
    @property
    def rearranged(self) -> bool: ...
    def rearrange(self, coordinates: _Floats | None, least_gain: float) -> bool: ...
    def transpose(self) -> tuple[_Indices, _Indices, _Indices]: ...
    def reaches(self, weights: NDArray[Any] | None, goal: int) -> NDArray[np.uint8]: ...
    def age_workspace(self, generation: int, /) -> None: ...
    # Arguments in any other form than this are answered with a number: the Python side has to look at them.
    def solve(
        self,
        greedy: bool,
        weights: NDArray[Any],
        source: int,
        goal: int,
        rho: _Floats,
        reopen: bool,
        budget: int | None,
        lower_bound: _Floats | None,
        trace: bool,
        stop: Stop | None,
        /,
    ) -> Any: ...
    def solve_many(
        self,
        greedy: bool,
        weights: NDArray[Any],
        rows: NDArray[np.int64],
        sources: _Indices,
        goals: _Indices,
        rho: list[_Floats],
        rho_of: _Indices,
        reopen: bool,
        budget: int,
        bound: list[_Floats],
        bound_of: _Indices,
        stop: Stop | None,
    ) -> tuple[Any, ...]: ...
    def rank(
        self,
        greedy: bool,
        weights: NDArray[Any],
        rows: NDArray[np.int64],
        sources: _Indices,
        goals: _Indices,
        rho: _Floats,
        reopen: bool,
        budget: int,
        path: _Indices | None,
        path_end: NDArray[np.int64] | None,
        stop: Stop | None,
    ) -> tuple[Any, ...]: ...
    def touched(
        self,
        greedy: bool,
        weights: NDArray[Any],
        rows: NDArray[np.int64],
        sources: _Indices,
        goals: _Indices,
        rho: _Floats,
        reopen: bool,
        budget: int,
        stop: Stop | None,
    ) -> tuple[Any, ...]: ...
    def spend(
        self,
        greedy: bool,
        weights: NDArray[Any],
        rows: NDArray[np.int64],
        sources: _Indices,
        goals: _Indices,
        rho: _Floats,
        reopen: bool,
        budget: int,
        total: int,
        stop: Stop | None,
    ) -> tuple[Any, ...]: ...
    def label_moments(
        self,
        weights: NDArray[Any],
        rows: NDArray[np.int64],
        times: NDArray[np.int64],
        goal: int,
        sum: _Floats,
        count: NDArray[np.int64],
        least: _Floats,
        stop: Stop | None,
    ) -> tuple[int, int, int]: ...
    def label_rows(
        self, weights: NDArray[Any], rows: NDArray[np.int64], goal: int, out: NDArray[Any], stop: Stop | None
    ) -> tuple[int, int, int]: ...
    def label_trees(
        self,
        weights: NDArray[Any],
        rows: NDArray[np.int64],
        goal: int,
        begin: NDArray[np.int64],
        end: NDArray[np.int64],
        vertex: _Indices,
        weight: _Floats,
        edge: _Indices,
        below: _Floats,
        stop: Stop | None,
    ) -> tuple[int, int, int]: ...
    def optimal_paths(
        self,
        weights: NDArray[Any],
        rows: NDArray[np.int64],
        sources: _Indices,
        goals: _Indices,
        stop: Stop | None,
    ) -> tuple[Any, ...]: ...
    def distances_to(self, weights: NDArray[Any], goal: int, stop: Stop | None) -> tuple[Any, ...]: ...
    def pieces(
        self,
        greedy: bool,
        exact: NDArray[np.int64],
        weights: _Floats,
        source: int,
        goal: int,
        base: NDArray[np.int64],
        direction: NDArray[np.int64],
        low: NDArray[np.int64],
        high: NDArray[np.int64],
        reopen: bool,
        budget: int,
        limit: int,
        stop: Stop | None,
    ) -> tuple[Any, ...]: ...
    def piece_trace(
        self,
        greedy: bool,
        exact: NDArray[np.int64],
        weights: _Floats,
        unit: float,
        source: int,
        goal: int,
        base: NDArray[np.int64],
        direction: NDArray[np.int64],
        place: NDArray[np.int64],
        reopen: bool,
        budget: int,
        stop: Stop | None,
    ) -> tuple[Any, ...]: ...

def results_are(run: type, statuses: tuple[str, ...]) -> None: ...
def wind_down() -> None: ...
def check(first_out: _Indices, head: _Indices) -> tuple[int, int]: ...
def check_weights(weights: NDArray[Any], stop: Stop | None) -> tuple[int, int, NDArray[np.uint8]]: ...
def survey_rows(
    weights: NDArray[Any],
    rows: NDArray[np.int64],
    low: _Floats,
    high: _Floats,
    integers: bool,
    absent_allowed: bool,
    stop: Stop | None,
) -> tuple[int, int, int, NDArray[np.uint64]]: ...
def scan_records(
    data: bytes, begin: int, letter: str, comments: str, kinds: str
) -> tuple[int, int, int, int, bool, _Indices, list[NDArray[Any]]]: ...
def explore(
    weights: NDArray[np.int64],
    sources: _Indices,
    goal: int,
    greedy: bool,
    reopen: bool,
    limit: int,
    measure: int,
    bits: int,
    progress: Callable[[int, float], object] | None,
    stop: Stop | None,
) -> tuple[Any, ...]: ...
def sweep(
    weights: NDArray[np.int64],
    sources: _Indices,
    goal: int,
    greedy: bool,
    reopen: bool,
    rho: NDArray[np.int64],
    bits: int,
    measure: int,
) -> NDArray[np.int64]: ...
def shatter(ranks: NDArray[np.int32], stop: Stop | None) -> tuple[int, _Indices]: ...
