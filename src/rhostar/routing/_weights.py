"""The first part of Router: the weights of today, and what is known about them."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.graph import Graph
from rhostar.instances import Snapshot
from rhostar.routing._edges import UserEdges
from rhostar.routing._query_costs import EdgeClasses, QueryCosts, Variants, coefficients
from rhostar.routing._state import Engine, State


class _Nothing:
    """Stands for the weights before the first update."""

    index = None


class Weights:
    """Holds the current weights of a graph and takes new ones."""

    graph: Graph

    def _begin(
        self,
        engine: Engine,
        edges: UserEdges,
        classes: EdgeClasses | None = None,
        criteria: tuple[str, ...] = (),
    ) -> None:
        self.graph, self._edges, self._names = engine.graph, edges, edges.names
        self._engine = engine
        self._index = self._names.index  # for the shortest way to the kernel
        self._same_edges = edges.given is None
        self._updating = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._state: Any = _Nothing
        self._variants = Variants(engine, edges, classes)
        self._criteria: dict[str, State | None] = dict.fromkeys(criteria)

    @property
    def n_edges(self) -> int:
        """Number of weights that an update of all edges takes."""
        return self._edges.count

    @property
    def snapshot(self) -> Snapshot:
        """The current weights, in the order of the graph; later queries can use it after an update."""
        if self._snapshot is None:
            raise _no_weights()
        return self._snapshot

    def update(self, weights: ArrayLike | Snapshot, *, edges: Any = None, criterion: str | None = None) -> None:
        """Take new weights, of all edges or of some.

        Queries that are running keep the weights that they started with. If the new weights cannot be used, the old
        ones stay.

        Parameters
        ----------
        weights
            One weight per edge, at least 0; inf for an edge that is closed. They are copied. With `edges`, one for each
            of these, or one for all of them.
        edges
            The edges that change; all others keep their weights. Each is a number, a label, or a pair (tail, head) of
            vertices. If an edge occurs several times, its last weight counts. None for all edges.
        criterion
            Which of the criteria the weights are for, if the router has several; None for the first.

        Raises
        ------
        WeightError
            If a weight is negative or NaN; the message names the edge.
        EdgeError, VertexError
            If an edge does not exist, or a pair matches several parallel edges.
        ArrayError, InputError
            If there is not one weight per edge; if some are to change before the first update of all; if there is no
            such criterion.

        Examples
        --------
        >>> import rhostar as rs
        >>> router = rs.Router.from_edges(3, [0, 1, 0], [1, 2, 2], labels=["a", "b", "c"])
        >>> router.update([1.0, 2.0, 4.0])
        >>> router.update(edges=[("b", "c")], weights=[9.0])
        >>> router.route("a", "c").cost
        4.0
        """
        if criterion is not None and criterion not in self._criteria:
            raise InputError(f"criterion must be one of {_listed(self._criteria)}, got {criterion!r}")
        if edges is not None:
            self._change(edges, weights, criterion)
            return
        known, engine = self._edges, self._engine
        if isinstance(weights, Snapshot):
            snapshot, state = weights, self._of(weights)
        elif self._same_edges:
            snapshot = Snapshot(self.graph, arrays.weight_row(weights, "weights", known.count))
            state = State(engine, snapshot.weights, None)
        else:
            given = arrays.weight_row(weights, "weights", known.count).copy()
            known.check(given)
            snapshot = Snapshot._of_checked(self.graph, known.row(given))
            state = State(engine, snapshot.weights, given)
        with self._updating:
            self._install(snapshot, state, criterion)

    def _change(self, edges: Any, weights: Any, criterion: str | None) -> None:
        known = self._edges
        numbers = known.numbers(edges)
        fresh = known.fresh(weights, numbers, "weights")
        with self._updating:  # two updates of some edges must both count
            before = self._of_criterion(criterion)
            values = _changed(before.row if before.given is None else before.given, numbers, fresh)
            touched = known.touched(numbers)
            if self._same_edges:
                row = values
            else:
                row = _changed(before.row, touched, known.least(values, touched))
            snapshot = Snapshot._of_checked(self.graph, row)
            given = None if self._same_edges else values
            state = State(self._engine, snapshot.weights, given, before, touched)
            self._install(snapshot, state, criterion)

    def _install(self, snapshot: Snapshot, state: State, criterion: str | None) -> None:
        snapshot.remember(self, "state", lambda _: state)
        first = next(iter(self._criteria), None)
        if criterion in (None, first):
            self._snapshot, self._state = snapshot, state
        if first is not None:
            self._criteria[criterion or first] = state
        self._variants.forget()

    def _of_criterion(self, name: str | None) -> State:
        """Return what is known about the current weights of a criterion; of the first if it is None."""
        state = self._of(None) if name is None else self._criteria[name]
        if state is None:
            raise InputError(
                f"the criterion {name!r} has no weights yet: call update(weights, criterion={name!r}) first"
            )
        return state

    def _priced(self, snapshot: Snapshot | None, costs: QueryCosts) -> State:
        """Return what is known about a snapshot with the costs of one query."""
        if not costs:
            return self._of(snapshot)
        for name in costs:
            if name not in QueryCosts.__annotations__:
                known = ", ".join(QueryCosts.__annotations__)
                raise TypeError(f"unexpected keyword argument {name!r}; the costs of a query are {known}")
        others: dict[str, Any] = dict(costs)
        mix = others.pop("mix", None)
        if mix is None:
            return self._variants.state(((1.0, self._of(snapshot)),), **others)
        if snapshot is not None:
            raise InputError("snapshot and mix exclude each other: a snapshot has the weights of one criterion")
        shares = coefficients(mix, self._criteria)
        counted = tuple((x, self._of_criterion(name)) for name, x in shares.items())
        # What a criterion closes is closed also in a mix that leaves it out: nobody can drive there.
        left_out = (state for name, state in self._criteria.items() if name not in shares)
        closing = tuple((0.0, state) for state in left_out if state is not None and state.closes)
        return self._variants.state(counted + closing, **others)

    def _of(self, snapshot: Snapshot | None) -> State:
        """Return what is known about a snapshot; about the current one if it is None."""
        if snapshot is None:
            if self._state is _Nothing:
                raise _no_weights()
            current: State = self._state
            return current
        if not isinstance(snapshot, Snapshot):
            raise InputError(f"snapshot must be a Snapshot, got {type(snapshot).__name__}")
        snapshot.on(self.graph)

        def find(row: NDArray[Any]) -> State:
            if not self._same_edges:
                raise InputError(
                    "the snapshot is not one of this router, so the weights of its own edges are not known"
                )
            return State(self._engine, row, None)

        return snapshot.remember(self, "state", find)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "the criteria of the router, which has none"


def _no_weights() -> InputError:
    return InputError("the router has no weights yet: call update(weights) first")


def _changed(row: NDArray[Any], edges: NDArray[np.int64], fresh: NDArray[np.float64]) -> NDArray[Any]:
    """Return a copy with some weights replaced; in float64 if its own type cannot hold one of them."""
    kind = row.dtype
    with np.errstate(invalid="ignore", over="ignore"):
        if kind != np.float64 and not (fresh.astype(kind) == fresh).all():
            kind = np.dtype(np.float64)
    made = row.astype(kind)
    made[edges] = fresh
    return made
