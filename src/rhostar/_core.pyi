"""The compiled core as Python sees it.

Every call returns one shape: a class with read-only attributes, among them ``ending``, which says how the call ended.
:mod:`rhostar._failures` turns an ending that is a failure into an exception. The core says "arc" where Python says
"edge"; here, in its interface, they are edges.
"""

from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rhostar.search._outcome import Run
from rhostar.search._outcome import Status as RunStatus
from rhostar.search._trace import Trace

_Indices = NDArray[np.int32]
_Positions = NDArray[np.int64]
_Floats = NDArray[np.float64]
_Reals = NDArray[np.float32] | NDArray[np.float64]

# ---------------------------------------------------------------- how calls end

class Status(Enum):
    """Every way a call can end (src/core/engine/status.hpp)."""

    SOLVED = ...
    NO_PATH = ...
    BUDGET = ...
    DONE = ...
    LIMIT = ...
    STOPPED = ...
    BAD_WEIGHT = ...
    OVERFLOW = ...
    BAD_RHO = ...
    BAD_BOUND = ...
    BAD_INPUT = ...
    CONTRADICTION = ...
    BAD_OFFSETS = ...
    BAD_HEAD = ...
    LOOP = ...
    CHILD_ORDER = ...
    OUTSIDE_BOUNDS = ...
    OTHER_LINE = ...
    BAD_NUMBER = ...
    MISSING_FIELD = ...
    EXTRA_FIELD = ...
    UNFIT = ...
    @property
    def message(self) -> str:
        """The message for the user; the caller fills in the gaps in braces."""

class Ending:
    """How a call ended."""

    status: Final[Status]
    """DONE if nothing is wrong."""
    at: Final[int]
    """The instance, snapshot or row at which the call ended early, counted from its first; else -1."""
    offender: Final[int]
    """The edge, vertex or field behind a failure; else -1."""

class Event(IntEnum):
    """What a trace logs (src/core/engine/best_first.hpp)."""

    SELECT = ...
    OPEN = ...
    IMPROVE = ...
    REOPEN = ...
    CLOSE = ...
    GOAL = ...

class Stop:
    """A flag that ends all the kernels that share it."""

    def __init__(self) -> None: ...
    def set(self) -> None: ...
    def is_set(self) -> bool: ...

# ---------------------------------------------------------------- what goes in

class Instances:
    """Instance i uses snapshot rows[i], starts at sources[i] and ends at goals[i]."""

    def __init__(self, weights: NDArray[Any], rows: _Positions, sources: _Indices, goals: _Indices) -> None: ...

class SearchOptions:
    """How searches run; a budget of -1 is none."""

    def __init__(self, greedy: bool, reopen: bool, budget: int) -> None: ...

class LineProblem:
    """One instance in whole numbers, and the line ρ = base + θ · direction.

    `weights` are the same as `exact`, in the user's floats, and `unit` is the value of one exact unit, for traces.
    """

    def __init__(
        self,
        exact: _Positions,
        weights: _Floats,
        unit: float,
        source: int,
        goal: int,
        base: _Positions,
        direction: _Positions,
    ) -> None: ...

# ---------------------------------------------------------------- what comes out

class _Result:
    ending: Final[Ending]

class RunColumns:
    """Many runs, field by field; run i's path ends at path_end[i]. `status` holds the first three of Status."""

    status: Final[NDArray[np.uint8]]
    cost: Final[_Floats]
    bound: Final[_Floats]
    expanded: Final[_Positions]
    generated: Final[_Positions]
    reopened: Final[_Positions]
    peak_open: Final[_Positions]
    path_end: Final[_Positions]
    path: Final[_Indices]

class BatchOutcome(_Result):
    runs: Final[RunColumns]
    """The runs before the ending."""

class Distances(_Result):
    distance: Final[_Floats]

class TimeOfDay:
    """Weights by time of day: a row for each time, linear in between."""

    def __init__(
        self,
        times: _Floats,
        period: float,
        weights: _Floats,
        soonest: _Floats | None,
        first: _Positions | None,
        member: _Positions | None,
    ) -> None: ...

class TimedPath:
    """A path by time of day."""

    ending: Final[Ending]
    """SOLVED, NO_PATH, BUDGET or a failure."""
    cost: Final[float]
    """How long it takes; inf if there is no path."""
    expanded: Final[int]
    path: Final[_Indices]
    """The vertices in the order of driving."""

class Along:
    """A drive along edges."""

    ending: Final[Ending]
    times: Final[_Floats]
    """At each vertex; inf after an edge that is closed."""
    chosen: Final[_Positions]
    """The edge of the rows for each edge."""

class Explored(_Result):
    """Ends with DONE or BUDGET; vertices in the order in which they were settled."""

    expanded: Final[int]
    vertex: Final[_Indices]
    cost: Final[_Floats]
    parent: Final[_Indices]
    """-1 at the source."""

class PotentialValues(_Result):
    rho: Final[_Floats]

class Dissection(_Result):
    order: Final[_Indices]

class RankingOutcome(_Result):
    status: Final[NDArray[np.uint8]]
    cost: Final[_Floats]
    expanded: Final[_Positions]
    lower: Final[_Positions]
    """For each vertex: how often it waited on the path less how often it was in the way."""

class TouchedOutcome(_Result):
    ends: Final[_Positions]
    """Where instance i's vertices end."""
    vertices: Final[_Indices]

class SpendingOutcome(_Result):
    """Ends with LIMIT if the total ran out."""

    expanded: Final[_Positions]

class PathOutcome(_Result):
    cost: Final[_Floats]
    end: Final[_Positions]
    """Where instance i's edges end."""
    edge: Final[_Indices]

class PiecesOutcome(_Result):
    """Piece i ends at p[i] / q[i], just before it if side[i] is -1. Ends with LIMIT if there are more pieces."""

    p: Final[_Positions]
    q: Final[_Positions]
    side: Final[NDArray[np.int8]]
    runs: Final[RunColumns]

class EventLog:
    kind: Final[NDArray[np.uint8]]
    vertex: Final[_Indices]
    g: Final[_Floats]

class PieceTrace(_Result):
    log: Final[EventLog]

class WeightsOutcome(_Result):
    absent: Final[NDArray[np.uint8]]
    """For each snapshot, 1 if an edge is absent."""

class FlowOutcome(_Result):
    """Ends with LIMIT if the time was over."""

    potential: Final[_Positions]
    """What one more unit at each vertex would cost."""
    pivots: Final[int]

class SurveyOutcome(_Result):
    """Ends with OUTSIDE_BOUNDS at the first snapshot with a weight that breaks a demand."""

    digest: Final[NDArray[np.uint64]]
    """Equal for snapshots of equal content."""

class ContentOutcome(_Result):
    """Numbers for each snapshot by which copies of it are found; absent edges are left out of the sums."""

    sketches: Final[_Floats]
    """Eight for each snapshot, one after the other."""
    absent: Final[NDArray[np.uint64]]
    """A hash of the absent edges; 0 if there are none."""

class Transpose:
    first_out: Final[_Indices]
    head: Final[_Indices]
    edge: Final[_Indices]
    """The position of each edge in the original graph."""

class Scan(_Result):
    """Ends with DONE, or with what is special about the line at `offset`; the offender is its field."""

    offset: Final[int]
    lines: Final[int]
    whole: Final[bool]
    line: Final[_Indices]
    columns: Final[list[NDArray[Any]]]

class TableRows(_Result):
    """Ends with DONE, or with what is wrong with the row from `offset` to `end`; the offender is its field."""

    vertices: Final[list[str]]
    snapshots: Final[list[str]]
    offset: Final[int]
    end: Final[int]
    lines: Final[int]
    tail: Final[_Indices]
    head: Final[_Indices]
    snapshot: Final[_Indices]
    weight: Final[_Floats]
    line: Final[_Indices]

class PathAnswer(_Result):
    """Ends with SOLVED, NO_PATH, or CONTRADICTION; BAD_WEIGHT or BAD_RHO at what Python would add in another way."""

    cost: Final[Any]
    """An int or a float, as networkx has it; None from A*."""
    path: Final[list[Any]]
    """Nodes."""

class TreeAnswer(_Result):
    """Ends with DONE, or as PathAnswer does."""

    distance: Final[dict[Any, Any]]
    paths: Final[dict[Any, list[Any]]]
    """None if they were not asked for."""
    predecessors: Final[dict[Any, list[Any]]]
    """None if they were not asked for."""

# ---------------------------------------------------------------- calls

class Links:
    """The adjacency of a networkx graph, and the dicts in which it keeps the attributes of its edges.

    `weight` is the name of an attribute, or a function of two nodes and the attributes.
    """

    def __init__(
        self, first_out: _Indices, head: _Indices, data: list[Any], nodes: list[Any], parallel: bool
    ) -> None: ...
    def astar(self, weight: Any, source: int, target: int, heuristic: Any, cutoff: float) -> PathAnswer: ...
    def dijkstra(self, weight: Any, sources: list[int], target: int, cutoff: float) -> PathAnswer: ...
    def tree(self, weight: Any, sources: list[int], cutoff: float, paths: bool, predecessors: bool) -> TreeAnswer: ...
    def bidirectional(self, weight: Any, back: Links, source: int, target: int) -> PathAnswer: ...

class Potential:
    """A heuristic for every goal (src/core/potentials.hpp)."""

    @property
    def n(self) -> int: ...
    @property
    def evaluated(self) -> int:
        """How many values were computed so far; 0 unless it was lowered."""
    def values(self, goals: _Indices, weights: _Reals | None, stop: Stop | None) -> PotentialValues: ...

def lowered_potential(of: Potential, factor: float, loss: float) -> Potential:
    """Return the larger of `factor` times a potential and the potential less `loss`."""

def metric_potential(metric: str, coordinates: _Floats, scale: float) -> Potential: ...
def landmark_potential(to: _Floats, away: _Floats, beyond: float, scale: float) -> Potential: ...
def guide_rows(customized: Customization) -> tuple[_Indices, _Indices, _Indices]:
    """Return what guides read of its hierarchy: ranks of vertices, three numbers for each rank, and lists of ranks."""

def guide_lengths(customized: Customization, single: bool) -> tuple[_Reals, _Reals, int, float, _Floats]:
    """Return lengths up and down, how often a value may be rounded, a number that no distance exceeds, and weights."""

def hierarchy_potential(
    rank: _Indices,
    rows: _Indices,
    list: _Indices,
    up: _Reals,
    down: _Reals,
    roundings: int,
    beyond: float,
    scale: float,
    entering: tuple[_Indices, _Indices, _Floats] | None,
) -> Potential | None: ...

class SkeletonParts(_Result):
    """Ends with LIMIT if it would have more arcs than allowed; `at` is then how many it had when it was given up."""

    vertex: Final[_Indices]
    begin: Final[_Indices]
    list_first: Final[_Indices]
    list: Final[_Indices]
    bytes: Final[int]
    """Memory of the hierarchy with one set of weights."""

class IndexPath(_Result):
    cost: Final[float]
    """NaN for arguments that are not vertices."""
    vertices: Final[_Indices]
    edges: Final[_Indices]

class IndexPaths(_Result):
    cost: Final[_Floats]
    path_end: Final[_Positions]
    edge_end: Final[_Positions]
    vertices: Final[_Indices]
    edges: Final[_Indices]

class IndexDistances(_Result):
    cost: Final[_Floats]

class Goals:
    """Goals of one hierarchy, for :meth:`Customization.nearest`."""

class IndexNearest(_Result):
    vertex: Final[_Indices]
    cost: Final[_Floats]

class Customization(_Result):
    """Ends with NO_PATH if all weights are infinite."""

    @property
    def nbytes(self) -> int: ...
    def distance(self, source: int, target: int) -> float: ...
    def path(self, source: int, target: int) -> IndexPath: ...
    def paths(self, sources: _Indices, targets: _Indices, stop: Stop | None) -> IndexPaths: ...
    def distances(
        self, one: int, many: _Indices | None, against: bool, most: float, stop: Stop | None
    ) -> IndexDistances: ...
    def nearest(self, one: int, goals: Goals, against: bool, wanted: int, stop: Stop | None) -> IndexNearest: ...
    def matrix(self, sources: _Indices, targets: _Indices, stop: Stop | None) -> IndexDistances: ...
    def updated(
        self, edges: _Positions, weights: _Floats, whole: bool, most: int, stop: Stop | None
    ) -> Customization: ...
    def update_in_place(
        self, edges: _Positions, weights: _Floats, whole: bool, most: int, stop: Stop | None
    ) -> Ending: ...
    @property
    def lengths(self) -> _Floats: ...

class EdgeClasses:
    """The class of each edge (src/core/engine/prices.hpp)."""

def edge_classes(of: NDArray[np.uint16], count: int) -> EdgeClasses | None: ...

class Prices:
    """The weights of one query."""

    def at(self, edges: _Positions | None) -> _Floats: ...

def prices(
    rows: list[_Floats],
    coefficients: list[float],
    classes: EdgeClasses | None,
    factors: list[float],
    edges: _Positions,
    weights: _Floats,
) -> Prices | None: ...
def combination(rows: _Floats, worth: _Floats, limit: _Floats) -> list[tuple[int, float]]: ...

class Repriced(_Result):
    cost: Final[float]
    expanded: Final[int]
    reopened: Final[int]
    vertices: Final[_Indices]
    edges: Final[_Indices]

class Hierarchy:
    """What is made once for each graph (src/core/hierarchy)."""

    @property
    def arcs(self) -> int: ...
    @property
    def triangles(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def parts(self) -> list[_Indices]: ...
    def customize(self, weights: NDArray[Any], stop: Stop | None) -> Customization: ...
    def goals(self, many: _Indices) -> Goals | None: ...

class Graph:
    bytes_per_vertex: int
    def __init__(self, first_out: _Indices, head: _Indices) -> None: ...
    def edge_index(self, tails: _Indices, heads: _Indices) -> _Indices: ...
    @property
    def rearranged(self) -> bool: ...
    def rearrange(self, coordinates: _Floats | None, least_gain: float) -> bool: ...
    def transpose(self) -> Transpose: ...
    def incident(self, vertices: _Indices) -> _Positions: ...
    def search_repriced(
        self,
        prices: Prices,
        indexes: list[Customization],
        scales: list[float],
        same: bool,
        whole: bool,
        source: int,
        target: int,
        budget: int,
        stop: Stop | None,
    ) -> Repriced:
        """Search with weights that the indexes, each times its scale, do not exceed; ends with DONE or BUDGET."""
    def dissect(
        self, coordinates: _Floats | None, report: Callable[[float], object] | None, stop: Stop | None
    ) -> Dissection: ...
    def cut(self, weights: NDArray[Any]) -> _Floats:
        """Return weights whose sums over paths do not round, a little smaller where they must be."""
    def skeleton_parts(self, order: _Indices, most: int, most_pairs: int, stop: Stop | None) -> SkeletonParts: ...
    def open_hierarchy(self, parts: list[_Indices]) -> Hierarchy | None: ...
    def reaches(self, weights: NDArray[Any] | None, goal: int) -> NDArray[np.uint8]: ...
    def age_workspace(self, generation: int, /) -> None: ...
    # Arguments in any other form than this end with BAD_INPUT: the Python side has to look at them.
    def solve(
        self,
        greedy: bool,
        weights: NDArray[Any],
        source: int,
        goal: int | _Indices,
        rho: _Floats | Potential,
        reopen: bool,
        budget: int | None,
        lower_bound: _Floats | Potential | None,
        trace: bool,
        stop: Stop | None,
        /,
    ) -> Run | Ending: ...
    def solve_many(
        self,
        instances: Instances,
        options: SearchOptions,
        rho: list[_Floats],
        rho_of: _Indices,
        bound: list[_Floats],
        bound_potentials: list[Potential],
        bound_of: _Indices,
        stop: Stop | None,
    ) -> BatchOutcome: ...
    def solve_guided(
        self,
        instances: Instances,
        options: SearchOptions,
        potentials: list[Potential],
        rho_of: _Indices,
        bound: list[_Floats],
        bound_potentials: list[Potential],
        bound_of: _Indices,
        stop: Stop | None,
    ) -> BatchOutcome: ...
    def rank(
        self,
        instances: Instances,
        options: SearchOptions,
        rho: _Floats,
        path: _Indices | None,
        path_end: _Positions | None,
        stop: Stop | None,
    ) -> RankingOutcome: ...
    def touched(
        self, instances: Instances, options: SearchOptions, rho: _Floats, stop: Stop | None
    ) -> TouchedOutcome: ...
    def spend(
        self, instances: Instances, options: SearchOptions, rho: _Floats, total: int, stop: Stop | None
    ) -> SpendingOutcome: ...
    def optimal_paths(self, instances: Instances, stop: Stop | None) -> PathOutcome: ...
    def label_sums(
        self,
        weights: NDArray[Any],
        rows: _Positions,
        times: _Positions,
        goal: int,
        sum: _Floats,
        count: _Positions,
        stop: Stop | None,
    ) -> Ending: ...
    def label_least(
        self, weights: NDArray[Any], rows: _Positions, goal: int, least: _Floats, stop: Stop | None
    ) -> Ending: ...
    def label_rows(
        self, weights: NDArray[Any], rows: _Positions, goal: int, out: NDArray[Any], stop: Stop | None
    ) -> Ending: ...
    def label_trees(
        self,
        weights: NDArray[Any],
        rows: _Positions,
        goal: int,
        begin: _Positions,
        end: _Positions,
        vertex: _Indices,
        weight: _Floats,
        edge: _Indices,
        below: _Floats,
        stop: Stop | None,
    ) -> Ending: ...
    def distances_to(self, weights: NDArray[Any], goal: int, stop: Stop | None) -> Distances: ...
    def search_at(
        self,
        day: TimeOfDay,
        source: int,
        goal: int,
        begin: float,
        against: bool,
        potential: Potential | None,
        budget: int,
        stop: Stop | None,
    ) -> TimedPath:
        """Search from a vertex at a time; or against the edges, to be there at that time. A negative budget is none."""

    def along(self, day: TimeOfDay, edges: _Indices, begin: float, against: bool) -> Along:
        """Drive along edges from a time on; or against them, to end at that time."""

    def explore(
        self,
        weights: NDArray[Any],
        prices: Prices | None,
        source: int,
        against: bool,
        most: float,
        goals: _Indices | None,
        wanted: int,
        budget: int,
        stop: Stop | None,
    ) -> Explored: ...
    def pieces(
        self,
        problem: LineProblem,
        low: _Positions,
        high: _Positions,
        options: SearchOptions,
        limit: int,
        stop: Stop | None,
    ) -> PiecesOutcome: ...
    def piece_trace(
        self, problem: LineProblem, place: _Positions, options: SearchOptions, stop: Stop | None
    ) -> PieceTrace: ...

def results_are(run: type[Run], trace: type[Trace], statuses: tuple[RunStatus, ...]) -> None: ...
def wind_down() -> None: ...
def check(first_out: _Indices, head: _Indices) -> Ending: ...
def check_weights(weights: NDArray[Any], stop: Stop | None) -> WeightsOutcome: ...
def survey_rows(
    weights: NDArray[Any],
    rows: _Positions,
    low: _Floats,
    high: _Floats,
    integers: bool,
    absent_allowed: bool,
    stop: Stop | None,
) -> SurveyOutcome: ...
def solve_flow(
    tail: _Indices,
    head: _Indices,
    first: _Positions,
    slope: _Positions,
    room: _Positions,
    supply: _Positions,
    upper: _Positions,
    guess: _Floats,
    root: int,
    seconds: float,
    stop: Stop | None,
) -> FlowOutcome: ...
def content_rows(weights: NDArray[Any], rows: _Positions, direction: _Floats, stop: Stop | None) -> ContentOutcome: ...
def scan_table(data: bytes, width: int, columns: list[int], is_last: bool) -> TableRows: ...
def scan_records(data: bytes, begin: int, letter: str, comments: str, kinds: str) -> Scan: ...
