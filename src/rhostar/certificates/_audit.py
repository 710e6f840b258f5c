"""The function audit, which checks whether the answers of an A* are optimal, and how much longer they are if not."""

from __future__ import annotations

import json
import math
import textwrap
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar.certificates._draws import check_repeats, check_set, find_unseen
from rhostar.certificates._looks import count_looks
from rhostar.certificates._query_log import QueryLog, measure_queries
from rhostar.certificates._sentence import confidence as digits
from rhostar.certificates._sentence import outward, scaled_words
from rhostar.certificates._statements import Statement, amount, percent, write
from rhostar.certificates._value_check import ValueCheck, check_values
from rhostar.errors import InputError, RhostarWarning, WeightError
from rhostar.graph import Graph
from rhostar.heuristics import Heuristic, HeuristicLike, PerGoal, Table, as_heuristic
from rhostar.heuristics._storage import digest
from rhostar.instances import InstanceSet, Network
from rhostar.instances._provenance import ContentKeys
from rhostar.routing import Router

Weight = str | Callable[[Any, Any, Any], float | None]
"""Where the weights of a networkx graph are: an attribute, or a function of an edge."""
PAIRS = 1000
"""How many pairs of vertices are drawn where none are given."""


@dataclass(frozen=True)
class Fix:
    """What it would cost to scale a heuristic so that no value that was looked at is too high.

    Attributes
    ----------
    factor
        The largest such factor, rounded down to four digits; 0 if there is none.
    effort, now, without
        Mean expansions with it, as it is now, and without a heuristic.
    not_optimal
        The share of answers that were not optimal with it.
    """

    factor: float
    effort: float
    now: float
    without: float
    not_optimal: float


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of :func:`audit`; ``print(audit)`` shows it as sentences, and so does a notebook.

    Attributes
    ----------
    statements
        Sentences about new queries, each with its numbers. All hold at once with probability `confidence`.
    log
        The queries that were measured.
    values
        What was found at all vertices and edges; None for a log.
    fix
        What it would cost to make the heuristic admissible; None if it is admissible, for a log, or if factors do not
        multiply its values (a delay at the goal).
    confidence, limit
        The confidence of all statements together, and H.
    factor
        The factor by which the heuristic was multiplied.
    notes
        Which statements are missing, and why; what was assumed and not checked.
    anytime
        Whether the statements hold at every size of a log that grows.
    run
        How the queries were answered, if not by A* with reopening and the unchanged heuristic.
    """

    statements: tuple[Statement, ...]
    log: QueryLog
    values: ValueCheck | None
    fix: Fix | None
    confidence: float
    limit: float
    factor: float
    notes: tuple[str, ...]
    anytime: bool = False
    run: str = ""

    def __getitem__(self, key: str) -> Statement:
        """Return the statement with this key; raises :class:`InputError` if there is none."""
        for statement in self.statements:
            if statement.key == key:
                return statement
        raise InputError(f"there is no statement {key!r}; there are {[one.key for one in self.statements]}")

    @property
    def conditions(self) -> str:
        """For which queries the statements hold, and how sure they are."""
        log, count = self.log, len(self.statements)
        rows = log.rows(self.factor).size
        draws = log.means(np.zeros(rows), self.factor).size
        units = "queries" if log.group is None else f"{log.unit}s"
        drawn = f"{rows:,} queries" if log.group is None else f"{rows:,} queries of {draws:,} {units}"
        each = digits((1 - self.confidence) / max(count, 1))
        share = f"{100 * (1 - self.confidence):.3g}%"
        answered = f", answered by {self.run}" if self.run else ""
        always = ", at every size of a log that grows" if self.anytime else ""
        return (
            f"From {drawn}{answered}. Statements about new queries hold {log.population}; "
            f"all {count} statements hold at once with {100 * self.confidence:.6g}% confidence{always} "
            f"(each has {each}: the {share} are divided equally). "
            f"It assumes that the {units} were drawn independently, and that the heuristic was not chosen by them."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything in words, in the order in which it is printed."""
        texts = {one.key: one.text for one in self.statements}
        found = [texts.pop("too high", "")]
        if self.log.estimate is not None:
            found += self._worst_estimate()
        found += [*self._about_values(), texts.pop("not optimal", ""), texts.pop("mean loss", "")]
        found.append(texts.pop("quantile", ""))
        if self.log.cost is not None:
            found.append(self._worst_answer())
        found += [texts.pop("effort", ""), texts.pop("fix", ""), self._about_fix()]
        return tuple(text for text in found if text)

    def _named(self, row: int) -> str:
        return f"query {row}" if self.log.queries is None else self.log.queries[row]

    def _worst_estimate(self) -> list[str]:
        mine = self.log.rows(self.factor)
        assert self.log.estimate is not None
        estimate, optimum = self.factor * self.log.estimate[mine], self.log.optimum[mine]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(estimate > 0, estimate / optimum, 0.0)
        worst = int(np.argmax(ratio))
        if not ratio[worst] > 1 + 1e-9:
            return []
        return [
            f"Largest overestimate seen: {ratio[worst]:.4g} times the true cost, {self._named(worst)} "
            f"(estimate {estimate[worst]:.6g}, true cost {optimum[worst]:.6g})."
        ]

    def _worst_answer(self) -> str:
        loss = self.log.loss(self.factor)
        worst = int(np.argmax(loss))
        if loss[worst] == 0:
            return "Worst answer seen: optimal, like all of them."
        lost = "no answer" if loss[worst] == math.inf else f"{percent(loss[worst])} above the optimum"
        return f"Worst answer seen: {lost}, {self._named(worst)}."

    def _about_values(self) -> list[str]:
        seen = self.values
        if seen is None:
            return []
        where, n, m = f"for {seen.scope}", seen.graph.n, seen.graph.m
        if seen.admissible:
            first = f"Admissible at all {n:,} vertices {where}"
            if seen.complete:
                first += "; there A* that reopens returns shortest paths, for certain (up to rounding)"
            found = [f"{first}."]
        else:
            v, more = int(seen.vertices[0]), seen.vertex_excess[0]
            found = [
                f"Not admissible: too high at {seen.vertices.size:,} of {n:,} vertices {where}; the largest error is "
                f"{more:.4g}, at {seen.graph._name_of(v)}."
            ]
        if seen.consistent:
            found.append("Consistent: it falls by no more than the weight along any edge.")
        else:
            e, more = int(seen.edges[0]), seen.edge_excess[0]
            found.append(
                f"Inconsistent on {seen.edges.size:,} of {m:,} edges; the largest error is {more:.4g}, on "
                f"{seen.graph._edge_name(e)}."
            )
        return found

    def _about_fix(self) -> str:
        if self.values is None or self.values.admissible:
            return ""
        if self.values.admissible_scale == 0:
            return "No factor makes it admissible: it is above 0 where the true cost is 0."
        if self.fix is None:
            return ""
        fix, scope = self.fix, self.values.scope
        sure = "This is certain, because all vertices were checked" if self.values.complete else "Others may need less"
        lost = (
            "all of these answers are optimal"
            if fix.not_optimal == 0
            else f"{percent(fix.not_optimal)} are not optimal"
        )
        return (
            f"Scaling by {fix.factor:g} would make it admissible at all vertices for {scope}. {sure}. It would then "
            f"expand {amount(fix.effort)} vertices per query: {fix.effort / max(fix.now, 1e-300):.3g} times as many as "
            f"now, {percent(fix.effort / max(fix.without, 1e-300))} of a search without a heuristic; {lost}."
        )

    def __str__(self) -> str:
        lines = [line for text in self.sentences for line in textwrap.wrap(text, 80, subsequent_indent="  ")]
        lines += ["", *textwrap.wrap(self.conditions, 80)]
        for note in self.notes:
            lines += textwrap.wrap(note, 80, initial_indent="- ", subsequent_indent="  ")
        return "\n".join(lines)

    def __repr__(self) -> str:
        said = ", ".join(f"{one.key} {one.measured:.3g}" for one in self.statements)
        return f"Audit({said}; {self.log.rows(self.factor).size} queries)"

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{escape(text)}</li>" for text in self.sentences)
        notes = "".join(f"<p>{escape(text)}</p>" for text in (self.conditions, *self.notes))
        return f"<ul>{items}</ul>{notes}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON.

        Returns
        -------
        dict
            The sentences, the statements with their numbers, and what they hold for; inf becomes None.
        """
        return {
            "sentences": list(self.sentences),
            "conditions": self.conditions,
            "statements": [_plain(asdict(one)) for one in self.statements],
            "confidence": self.confidence,
            "limit": self.limit,
            "factor": self.factor,
            "population": self.log.population,
            "queries": int(self.log.rows(self.factor).size),
            "fix": None if self.fix is None else _plain(asdict(self.fix)),
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return JSON.

        Returns
        -------
        str
            What :meth:`to_dict` returns, as text.
        """
        return json.dumps(self.to_dict(), allow_nan=False)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(x, float) and not math.isfinite(x) else x for name, x in values.items()}


def audit(
    heuristic: HeuristicLike | QueryLog,
    instances: InstanceSet | Network | Router | Any = None,
    *,
    pairs: int | Iterable[tuple[Hashable, Hashable]] | None = None,
    weight: Weight = "weight",
    confidence: float = 0.95,
    limit: float = 1.0,
    groups: Any = None,
    reopen: bool = True,
    anytime: bool = False,
    seed: int = 0,
) -> Audit:
    """Find out whether A* with a heuristic is right, and what it loses.

    It counts estimates that are too high, edges along which they are inconsistent, and answers that are not optimal; it
    bounds how far answers exceed the optimum and how much work the heuristic saves; and it says which factor would make
    the heuristic admissible, and what that would cost.

    Parameters
    ----------
    heuristic
        What A* is run with: a function ``estimate(u, v)`` as ``networkx.astar_path`` takes it, one value per vertex
        (an array, or a mapping from labels to numbers), an (n, n) array of values from each vertex to each, a mapping
        from goals to arrays, a heuristic, a fitted learner or a model. Or a :class:`QueryLog`, for queries that another
        program answered.
    instances
        Where it is run: a set of instances; or a :class:`Network`, a :class:`Router` (on its current weights) or a
        networkx graph, from which pairs are drawn. None for a log.
    pairs
        For graphs: how many pairs of a start and a goal are drawn uniformly (by default 1,000, those without a path
        again), or the pairs themselves, by label.
    weight
        The edge attribute of a networkx graph, or a function of (u, v, data), as ``networkx.astar_path`` takes them.
        Edges without the attribute cost 1, as there; a warning counts them.
    confidence
        The probability with which all statements about new queries hold at once. The remaining probability, δ = 1 −
        confidence, is divided equally among them.
    limit
        H, fixed beforehand: the largest loss that counts, as a fraction of the optimum. Larger losses count as H.
    groups
        A label for each instance: the independent draws. By default days, if the set knows them, or snapshots.
    reopen
        Whether A* reopens closed vertices.
    anytime
        Whether the statements must hold at every size of a log that grows, however often one looks.
    seed
        For the pairs that are drawn.

    Returns
    -------
    Audit
        ``print(...)`` shows it in words; ``audit["mean loss"].high`` and the like are its numbers.

    Raises
    ------
    InputError
        If an argument is out of range.
    AssumptionError
        If the heuristic was learned from some of the instances.
    InstanceError, InfeasibleError
        If there are fewer than two queries, or one has no path.
    HeuristicError, ArrayError, ModelError, NotFittedError
        If the heuristic does not fit the graph, has no values for a goal, or has a value that is not a number.

    See Also
    --------
    choose_weight : The fastest factor on a heuristic that keeps the mean loss below a target.
    certify : One bound, for one utility.

    Examples
    --------
    >>> import networkx as nx, rhostar as rs
    >>> G = nx.grid_2d_graph(12, 12)
    >>> for i, (u, v) in enumerate(G.edges):
    ...     G[u][v]["weight"] = 1 + i % 3
    >>> found = rs.audit(lambda u, v: 2 * (abs(u[0] - v[0]) + abs(u[1] - v[1])), G)
    >>> print(found["not optimal"].text)
    Answers that are not optimal: ... of 1,000; of new answers between ...% and ...%.
    >>> found.fix.factor
    0.5
    """
    delta = 1 - arrays.probability(confidence, "confidence")
    limit = arrays.positive(limit, "limit")
    if isinstance(heuristic, QueryLog):
        if instances is not None or pairs is not None:
            raise InputError("a log needs no instances and no pairs")
        factor = 1.0 if 1.0 in heuristic.factors else max(heuristic.factors)
        said, notes = write(heuristic, factor, limit, delta, anytime=anytime)
        scaled = "" if factor == 1 else scaled_words("a heuristic", factor)
        return Audit(tuple(said), heuristic, None, None, 1 - delta, limit, factor, tuple(notes), anytime, scaled)
    queries, population = find_queries(instances, pairs, weight, seed)
    own = accept(heuristic, queries)
    find_unseen(queries, own.trained_on)
    log = measure_queries(own, queries, (0.0, 1.0), reopen=reopen, groups=groups, population=population)
    said, notes = write(log, 1.0, limit, delta, anytime=anytime, multiplies=own.multiplies)
    notes += _repeats(queries)
    looks = count_looks(queries, [(digest(own), repr(("audit", reopen, groups, limit, confidence)))])
    if looks > 1:
        notes.append(
            f"{looks} heuristics or settings were measured on these queries in this process. The statements hold for "
            "each by itself, not for the best of them."
        )
    values = check_values(own, queries)
    if own.trained_on is None and isinstance(own, Table | PerGoal):
        notes.append("What the heuristic was learned from is not known, so it was not compared with these queries.")
    if own.lower is not None and not values.admissible:
        notes.append(
            "A search compares the weights with the lower bounds of this heuristic, and lowers its values where "
            "weights are below them: answers stay optimal. Statements about vertices and edges are about the values "
            "before that."
        )
    fix = _fix(own, queries, values, log, reopen) if own.multiplies else None
    if not own.multiplies:
        notes.append("Nothing is said about other factors: the delay at the goal is not multiplied by them.")
    run = ["A* without reopening"] if not reopen else ["A*"] if own.factor != 1 else []
    run += [scaled_words("the heuristic", own.factor)] if own.factor != 1 else []
    return Audit(tuple(said), log, values, fix, 1 - delta, limit, 1.0, tuple(notes), anytime, " with ".join(run))


def find_queries(instances: Any, pairs: Any, weight: Weight, seed: int) -> tuple[InstanceSet, str | None]:
    """Return the instances of an audit, and which they are in words if that is not known from them."""
    if isinstance(instances, InstanceSet):
        if pairs is not None:
            raise InputError("pairs is for graphs; a set of instances has its own")
        return check_set(instances, "instances"), None
    if isinstance(instances, Network):
        network = instances
    elif hasattr(instances, "is_directed") and hasattr(instances, "nodes"):
        graph = Graph.from_networkx(instances)
        if isinstance(weight, str) and weight != "weight":  # a word that no edge knows is a slip
            present = sum(weight in data for *_, data in instances.edges(data=True))
            if not present:
                raise InputError(f"no edge of the graph has the attribute {weight!r}")
            if present < (count := instances.number_of_edges()):
                text = f"{count - present:,} of {count:,} edges have no attribute {weight!r} and cost 1, as in networkx"
                warnings.warn(text, RhostarWarning, stacklevel=3)
        values = graph.weights_of(instances, weight, default=1.0)
        if not (values >= 0).all():
            e = int(np.argmin(values >= 0))
            raise WeightError(f"the weight of the edge {graph._edge_name(e)} must not be negative, got {values[e]}")
        network = Network(graph, values)
    elif isinstance(instances, Router):
        network = Network(instances.graph, instances.snapshot.weights)
    else:
        raise InputError(
            f"instances must be an InstanceSet, a Network, a Router or a networkx graph, got {type(instances).__name__}"
        )
    graph = network.graph
    if pairs is None or isinstance(pairs, int | np.integer):
        count = PAIRS if pairs is None else arrays.integer(pairs, "pairs", 2)
        drawn = network.sample(count, goal=np.arange(graph.n), seed=seed)
        again = (
            "" if drawn.feasible == 1 else f", given that there is a path ({percent(drawn.feasible, 'lower')} had one)"
        )
        on = (
            "the weights of this graph" if len(network.weights) == 1 else f"one of its {len(network.weights)} snapshots"
        )
        return drawn, f"for pairs of vertices drawn uniformly at random{again}, on {on}"
    ends = [tuple(pair) for pair in pairs]
    if any(len(pair) != 2 for pair in ends) or len(network.weights) != 1:
        raise InputError("pairs must be pairs of a start and a goal, on one set of weights")
    number = (lambda v: arrays.vertex(v, "pairs", graph.n)) if graph.labels is None else graph.vertex
    sources, goals = ([number(pair[k]) for pair in ends] for k in (0, 1))
    chosen = network.instances(np.array(sources, dtype=np.int64), np.array(goals, dtype=np.int64))
    return check_set(chosen, "pairs"), "for new pairs drawn as the given ones were, on the weights of this graph"


def _repeats(queries: InstanceSet) -> list[str]:
    """Return a note on queries of equal content, which may be independent draws, or the same one twice."""
    check_repeats(queries, "instances", independent=True)
    if queries.pool is not None:
        return []
    again = int(ContentKeys.of(queries).repeats().sum())
    same = (
        f"{again:,} of the {len(queries):,} queries equal an earlier one; they count as draws that happen to be equal."
    )
    return [same] if again else []


def accept(heuristic: Any, instances: InstanceSet) -> Heuristic:
    """Return the heuristic of an audit; an (n, n) array has the values from each vertex to each."""
    graph, goals = instances.graph, np.unique(instances.goals)
    if heuristic is None:
        raise InputError("heuristic must be given: A* without one is Dijkstra's algorithm, which is optimal")
    if isinstance(heuristic, Mapping):
        heuristic = _by_number(heuristic, graph)
    elif isinstance(heuristic, np.ndarray | list | tuple):
        heuristic = _doubles(heuristic)
        if heuristic.shape == (graph.n, graph.n) and graph.n > 1:
            heuristic = {goal: np.ascontiguousarray(heuristic[:, goal]) for goal in goals.tolist()}
    return as_heuristic(heuristic, graph, goals, name="heuristic")


def _by_number(table: Mapping[Any, Any], graph: Graph) -> Any:
    """Return a table by label as an array, if it has a number for each vertex, or as arrays by the number of a goal."""
    if all(np.ndim(value) == 0 and not isinstance(value, Mapping) for value in table.values()):
        number = graph.vertex if graph.labels is not None else lambda v: arrays.vertex(v, "heuristic", graph.n)
        values, known = np.zeros(graph.n), np.zeros(graph.n, dtype=bool)
        for name, value in table.items():
            values[number(name)], known[number(name)] = value, True
        if not known.all():
            missing = graph._name_of(int(np.argmin(known)))
            raise InputError(f"heuristic must have a value for each vertex; {missing} has none")
        return values
    if any(isinstance(value, Mapping) for value in table.values()):
        raise InputError("heuristic must not be a mapping of mappings; pass lambda u, v: table[u][v]")
    named = graph.labels is not None
    return {
        graph.vertex(goal) if named and not isinstance(goal, int | np.integer) else goal: _doubles(values)
        for goal, values in table.items()
    }


def _doubles(values: Any) -> Any:
    """Return numbers as a contiguous array of double precision; anything else as it is."""
    found = np.asarray(values)
    return np.ascontiguousarray(found, dtype=np.float64) if found.dtype.kind in "iuf" else found


def _fix(own: Heuristic, queries: InstanceSet, values: ValueCheck, log: QueryLog, reopen: bool) -> Fix | None:
    scale = values.admissible_scale
    if values.admissible or not 0 < scale < math.inf:
        return None
    factor = float(outward(scale, "lower", 4))
    scaled = measure_queries(own, queries, (0.0, factor), reopen=reopen, groups=np.arange(len(queries)))
    now, without = (float(_effort(log, f).mean()) for f in (1.0, 0.0))
    after, lost = _effort(scaled, factor), scaled.loss(factor) > 0
    return Fix(factor, float(after.mean()), now, without, float(lost.mean()))


def _effort(log: QueryLog, factor: float) -> NDArray[np.float64]:
    assert log.effort is not None
    return log.effort[log.rows(factor)]
