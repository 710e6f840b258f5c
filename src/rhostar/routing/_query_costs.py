"""What a query says about its own costs, checked and turned into a state of the router."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar import _core
from rhostar.errors import ArrayError, InputError
from rhostar.routing._edges import UserEdges
from rhostar.routing._related import Related
from rhostar.routing._repriced import Own, Repriced, last_places
from rhostar.routing._state import Engine, State

_KEPT = 8
"""Variants of the current weights that are kept, each with what is known about it; as many again with closures."""
_NO_EDGES = np.empty(0, dtype=np.int64)
_NO_WEIGHTS = np.empty(0)

Parts = tuple[tuple[float, State], ...]


class QueryCosts(TypedDict, total=False):
    """What a query may say about its own costs; :meth:`rhostar.Router.route` explains each."""

    avoid: Any
    avoid_vertices: Any
    changes: tuple[Any, ArrayLike] | None
    factors: Mapping[Any, float] | None
    mix: Mapping[str, float] | None


class EdgeClasses:
    """The class of each edge, such as motorway or street.

    Parameters
    ----------
    known
        The edges as the user knows them.
    classes
        One for each of the user's edges.
    """

    def __init__(self, known: UserEdges, classes: Any) -> None:
        listed = classes.tolist() if isinstance(classes, np.ndarray) else classes
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            raise ArrayError(f"edge_classes must be a list with the class of each edge, got {classes!r}")
        self.names: dict[Hashable, int] = {}
        try:
            codes = np.array([self.names.setdefault(name, len(self.names)) for name in listed], dtype=np.int64)
        except TypeError as error:
            raise ArrayError(f"edge_classes must be numbers, strings or other hashable values: {error}") from None
        if codes.size != known.count:
            raise ArrayError(f"edge_classes must name a class for each of the {known.count} edges, got {codes.size}")
        if len(self.names) > 2**16:
            raise ArrayError(f"edge_classes must name at most {2**16} classes, got {len(self.names)}")
        self.codes = codes.astype(np.uint16)
        """Of the user's edges."""
        self.mixed = _NO_EDGES
        """Edges of the graph that stand for parallel ones of different classes."""
        row = self.codes
        if known.given is not None:
            members = known.given.order % max(known.count, 1)
            starts = known.given.starts
            row = self.codes[members] if starts is None else self.codes[members[starts]]
            if starts is not None and starts.size:
                of = self.codes[members]
                differ = np.maximum.reduceat(of, starts) != np.minimum.reduceat(of, starts)
                self.mixed = np.flatnonzero(differ)
        kernel = _core.edge_classes(np.ascontiguousarray(row), max(len(self.names), 1))
        assert kernel is not None, "all codes are below the number of names"
        self.kernel: _core.EdgeClasses = kernel

    def factors(self, given: Any) -> NDArray[np.float64]:
        """Return the factor of each class, 1 for those that are not named."""
        if not isinstance(given, Mapping):
            raise InputError(f"factors must be a mapping from classes of edges to factors, got {given!r}")
        found = np.ones(max(len(self.names), 1))
        for name, value in given.items():
            code = self.names.get(name) if isinstance(name, Hashable) else None
            if code is None:
                raise InputError(f"factors: no edge has the class {name!r}; classes are {_some(self.names)}")
            found[code] = arrays.number(value, f"factors[{name!r}]", "a positive number", lambda x: 0 < x < np.inf)
        return found


class Variants:
    """Finds the state for the costs of a query; the last few are kept until an update.

    Parameters
    ----------
    engine
        Of the router.
    known
        The edges as the user knows them.
    classes
        Their classes, if there are any.
    """

    def __init__(self, engine: Engine, known: UserEdges, classes: EdgeClasses | None) -> None:
        self.engine, self.known, self.classes = engine, known, classes
        self._related = Related(engine, 1 if classes is None else max(len(classes.names), 1))
        self._vehicles: dict[Hashable, Repriced] = {}
        self._changed: dict[Hashable, Repriced] = {}
        starts = None if known.given is None else known.given.starts
        self._parallel = _NO_EDGES
        """Edges of the graph that stand for several of the user's."""
        if starts is not None and known.given is not None:
            self._parallel = np.flatnonzero(np.diff(np.append(starts, known.given.order.size)) > 1)

    def forget(self) -> None:
        """Forget the variants of weights that are no longer the current ones."""
        with self.engine.counting:
            self._related.forget()
            self._vehicles.clear()
            self._changed.clear()

    def state(
        self,
        parts: Parts,
        *,
        avoid: Any = None,
        avoid_vertices: Any = None,
        changes: Any = None,
        factors: Any = None,
    ) -> State:
        """Return the state for the costs of a query.

        Parameters
        ----------
        parts
            Coefficients, and the states that they multiply.
        avoid, avoid_vertices, changes, factors
            As for :meth:`rhostar.Router.route`.
        """
        numbers, fresh = self._named(avoid, changes)
        closed = _NO_EDGES
        if avoid_vertices is not None:
            vertices = self.known.names.many(avoid_vertices, "avoid_vertices")
            closed = self.engine.graph._kernel.incident(vertices)
        by_class = None if factors is None else self._factors(factors)
        base, key = parts[0][1], (tuple(x for x, _ in parts), None if by_class is None else by_class.tobytes())
        states = [state for _, state in parts]
        if len(parts) > 1 or parts[0][0] != 1.0 or by_class is not None:
            base = self._kept(
                self._vehicles,
                key,
                states,
                lambda: self._make(parts, _NO_EDGES, _NO_WEIGHTS, _NO_EDGES, None, by_class),
            )
        if numbers.size == 0 and closed.size == 0:
            return base
        return self._kept(
            self._changed,
            (key, numbers.tobytes(), fresh.tobytes(), closed.tobytes()),
            states,
            lambda: self._make(parts, numbers, fresh, closed, base, by_class),
        )

    def _kept(
        self, kept: dict[Hashable, Repriced], key: Hashable, states: list[State], make: Callable[[], Repriced]
    ) -> Repriced:
        with self.engine.counting:
            found = kept.pop(key, None)
        if found is None or not found.is_of(states):
            found = make()
        with self.engine.counting:
            kept[key] = found  # at the end of the dictionary
            if len(kept) > _KEPT:
                del kept[next(iter(kept))]
        return found

    # ------------------------------------------------------------ arguments

    def _named(self, avoid: Any, changes: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the user's edges that the query changes, and their weights."""
        numbers, fresh = _NO_EDGES, _NO_WEIGHTS
        if changes is not None:
            if not isinstance(changes, Sequence) or isinstance(changes, str) or len(changes) != 2:
                raise InputError(f"changes must be a pair (edges, weights), got {changes!r}")
            numbers = self.known.numbers(changes[0], "changes[0]")
            fresh = self.known.fresh(changes[1], numbers, "changes[1]")
        if avoid is not None:
            closed = self.known.numbers(avoid, "avoid")
            infinite = np.full(closed.size, np.inf)
            if numbers.size == 0:
                return closed, infinite
            numbers, fresh = np.concatenate([numbers, closed]), np.concatenate([fresh, infinite])
        return numbers, fresh

    def _factors(self, factors: Any) -> NDArray[np.float64] | None:
        if self.classes is None:
            raise InputError("factors needs the classes of edges: make the router with edge_classes")
        found = self.classes.factors(factors)
        return None if (found == 1.0).all() else found

    # ------------------------------------------------------------ weights

    def _make(
        self,
        parts: Parts,
        numbers: NDArray[np.int64],
        fresh: NDArray[np.float64],
        closed: NDArray[np.int64],
        near: State | None,
        factors: NDArray[np.float64] | None,
    ) -> Repriced:
        own = self._own(parts, numbers, fresh, factors)
        if closed.size:
            behind = None if own.behind is None else np.concatenate([own.behind, np.zeros_like(closed)])
            infinite = np.full(closed.size, np.inf)
            own = Own(np.concatenate([own.edges, closed]), np.concatenate([own.weights, infinite]), behind)
        classes = None if factors is None or self.classes is None else self.classes.kernel
        related = self._related if near is None else None
        return Repriced(self.engine, parts, own, near, classes, factors, related)

    def _own(
        self,
        parts: Parts,
        numbers: NDArray[np.int64],
        fresh: NDArray[np.float64],
        factors: NDArray[np.float64] | None,
    ) -> Own:
        """Return the edges of the graph whose weight is not the sum of the parts times a factor."""
        known = self.known
        codes = None if factors is None or self.classes is None else self.classes.codes
        if known.given is None:
            weights = fresh if factors is None or codes is None else fresh * factors[codes[numbers]]
            return Own(numbers, weights, None)
        touched = known.touched(numbers)
        if len(parts) > 1:
            touched = np.union1d(touched, self._parallel)
        elif codes is not None and self.classes is not None:
            touched = np.union1d(touched, self.classes.mixed)
        order = np.argsort(numbers, kind="stable")
        changed, new = numbers[order], fresh[order]

        def price(members: NDArray[np.int64]) -> NDArray[np.float64]:
            weights = _sum([(x, state.given[members]) for x, state in parts if state.given is not None])
            differs, at = last_places(changed, members)
            weights[differs] = new[at]
            if factors is not None and codes is not None:
                weights *= factors[codes[members]]
            return weights

        return Own(touched, *known.repriced(touched, price))


def coefficients(mix: Any, names: Iterable[str]) -> dict[str, float]:
    """Return the coefficient of each criterion that counts, in the order of the criteria."""
    if not isinstance(mix, Mapping):
        raise InputError(f"mix must be a mapping from criteria to coefficients, got {mix!r}")
    known = list(names)
    for name, value in mix.items():
        if name not in known:
            of = ", ".join(map(repr, known)) or "none: make the router with criteria"
            raise InputError(f"mix: there is no criterion {name!r}; criteria are {of}")
        arrays.number(value, f"mix[{name!r}]", "a number that is not negative", lambda x: 0 <= x < np.inf)
    found = {name: float(mix[name]) for name in known if mix.get(name, 0) > 0}
    if not found:
        raise InputError(f"mix must have a positive coefficient, got {dict(mix)!r}")
    return found


def _sum(terms: list[tuple[float, NDArray[Any]]]) -> NDArray[np.float64]:
    """Return the sum of products, added from the first one on, as the core does."""
    total = terms[0][0] * terms[0][1].astype(np.float64)
    for coefficient, values in terms[1:]:
        # A coefficient of 0 only closes what is closed.
        total += coefficient * values if coefficient > 0 else np.where(values == np.inf, np.inf, 0.0)
    return total


def _some(names: Iterable[Hashable]) -> str:
    listed = [repr(name) for name in names]
    return ", ".join(listed[:8]) + ("" if len(listed) <= 8 else f" and {len(listed) - 8} more")
