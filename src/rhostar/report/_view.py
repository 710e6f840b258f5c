"""Everything the page shows, as plain values: made by comparison.py, drawn by figures.py, written by html.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["baseline", "learned"]


@dataclass(frozen=True)
class MethodView:
    """How one heuristic did on the instances of the report."""

    name: str
    algorithm: str
    """How people call it: "A*", "A* without reopening", "greedy search"."""
    kind: Kind
    expansions: float
    """Mean number of expanded vertices."""
    expansions_95: float
    """95 % of the instances needed no more than this."""
    excess: float
    """Mean of cost / optimum - 1 over solved instances; 0 is optimal."""
    excess_95: float
    excess_max: float
    solved: int
    total: int
    saving: float
    """Mean expansions of the first baseline divided by these."""


@dataclass(frozen=True)
class Curve:
    """A named line of a figure."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    note: str = ""


@dataclass(frozen=True)
class TradeOff:
    """Expansions against excess cost as the values are scaled by theta: ρ = θ·(what was given)."""

    name: str
    kind: Kind
    theta: tuple[float, ...]
    expansions: tuple[float, ...]
    excess: tuple[float, ...]


@dataclass(frozen=True)
class BoundView:
    """One row of the table of bounds."""

    name: str
    value: float
    """What the bound says about the mean on instances nobody has seen."""
    empirical: float
    delta: float
    holds_for: str
    reference: str
    claim: str
    vacuous: bool = False
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class CertificateView:
    """What is promised."""

    sentence: str
    """The promise in plain words."""
    utility: str
    limit: float
    lower_is_better: bool
    delta: float
    bounds: tuple[BoundView, ...]
    left_out: tuple[str, ...] = ()
    """Bounds that could say nothing at this size, each with its reason."""
    remarks: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    """Each bound against the number of instances."""


@dataclass(frozen=True)
class Generalisation:
    """Mean utility on training and unseen instances against the number of training instances."""

    learner: str
    utility: str
    sizes: tuple[int, ...]
    train: tuple[float, ...]
    test: tuple[float, ...]
    reference: tuple[str, float] | None = None
    """A baseline that learns nothing: its name and value."""


@dataclass(frozen=True)
class DualView:
    """The mean utility of some instances as an exact function of θ along ρ = b + θφ."""

    utility: str
    instances: int
    direction: str
    edges: tuple[float, ...]
    """Ends of the pieces: one more than there are values."""
    values: tuple[float, ...]
    best_theta: float
    best_value: float
    points: int = 0
    """How many pieces are single points."""


@dataclass(frozen=True)
class SearchView:
    """One search of a replay, its course in a few bytes an event (see replay.py)."""

    method: str
    algorithm: str
    kind: Kind
    status: str
    cost: float
    excess: float
    expanded: int
    generated: int
    reopened: int
    iterations: int
    last_closed: bool
    """Whether the vertex selected last was closed: not so where the search returned midway."""
    path: bytes
    events: bytes


@dataclass(frozen=True)
class Scene:
    """One instance and the searches on it."""

    label: str
    source: int
    goal: int
    shade: bytes
    """How slow each cell or edge is on this instance: 0..254, and 255 where there is no way."""
    searches: tuple[SearchView, ...]
    left_out: tuple[str, ...] = ()
    """Searches too long to be stored."""


@dataclass(frozen=True)
class Drawing:
    """Where the vertices stand."""

    kind: Literal["grid", "graph"]
    n: int
    rows: int = 0
    columns: int = 0
    aspect: float = 1.0
    """Width divided by height."""
    x: bytes = b""
    y: bytes = b""
    edges: bytes = b""
    placed_by: str = "coordinates"


@dataclass(frozen=True)
class Replay:
    """The searches that the page plays back."""

    drawing: Drawing
    scenes: tuple[Scene, ...]
    labels: Mapping[int, str] = field(default_factory=dict)
    """Names of vertices where they have any; of all of them on small graphs, else of starts and goals."""
    cost_unit: str = ""


@dataclass(frozen=True)
class Report:
    """One page."""

    title: str
    lead: str
    """One or two sentences: what was found."""
    tiles: tuple[tuple[str, str], ...]
    """The numbers to remember: value and what it is."""
    facts: tuple[tuple[str, str], ...]
    """What was learned, on what."""
    methods: tuple[MethodView, ...]
    tradeoffs: tuple[TradeOff, ...] = ()
    distributions: tuple[Curve, ...] = ()
    """For each method the share of instances that need at most so many expansions."""
    certificate: CertificateView | None = None
    generalisation: Generalisation | None = None
    dual: DualView | None = None
    replay: Replay | None = None
    provenance: tuple[tuple[str, str], ...] = ()
    """Versions, the graph's hash, seeds: what is needed to make the page again."""
    cost_unit: str = ""
