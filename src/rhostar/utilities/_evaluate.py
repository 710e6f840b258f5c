"""The function evaluate: runs a heuristic on a set of instances and returns one score for each utility."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _core
from rhostar._display import html_table, text_table
from rhostar._parallel import map_chunks
from rhostar.errors import ArrayError, InputError, UtilityError
from rhostar.heuristics import HeuristicLike
from rhostar.instances import Instance, InstanceSet
from rhostar.search import Algorithm, Runs, Trace, solve_many
from rhostar.search._run import solve
from rhostar.utilities._measures import Custom, Score, Utility


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of :func:`evaluate`: one :class:`Score` for each utility; prints as a table.

    ``evaluation["expansions"]`` and ``evaluation[0]`` are scores; iterating gives them in the order of the utilities.

    Examples
    --------
    >>> import rhostar as rs
    >>> graph = rs.Graph.grid(3, 3)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=0, goal=8)
    >>> found = rs.evaluate([0.0] * 9, instances, [rs.utilities.Cost(9), rs.utilities.Expansions(9)])
    >>> found, len(found)
    (Evaluation(cost 4, expansions 8; 1 of 1 solved), 2)
    """

    runs: Runs
    """The runs that were measured."""
    scores: tuple[Score, ...]
    """One for each utility."""
    optimum: NDArray[np.float64] | None
    """Optimal costs, if a utility needed them."""

    def __getitem__(self, utility: int | str) -> Score:
        """Return the score at a position or with a name."""
        if not isinstance(utility, str):
            return self.scores[utility]
        for score in self.scores:
            if score.utility.name == utility:
                return score
        raise InputError(f"no utility {utility!r}; there are {[s.utility.name for s in self.scores]}")

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores)

    def __repr__(self) -> str:
        means = ", ".join(f"{score.utility.name} {score.mean:.6g}" for score in self)
        return f"Evaluation({means}; {self._solved})"

    def __str__(self) -> str:
        return f"{text_table(self._rows)}\n{self._solved}"

    def _repr_html_(self) -> str:
        head, *rows = self._rows
        return html_table("Evaluation", head, rows, [self._solved])

    @property
    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("utility", "mean", "std", "max", "limit", "clipped")]
        for score in self:
            numbers = (score.mean, np.std(score.values), np.max(score.values), score.utility.limit)
            rows.append((score.utility.name, *(f"{x:.6g}" for x in numbers), f"{score.clipped:.1%}"))
        return rows

    @property
    def _solved(self) -> str:
        return f"{int(self.runs.solved.sum())} of {len(self.runs)} solved"


def evaluate(
    heuristic: HeuristicLike,
    instances: InstanceSet,
    utilities: Utility | Sequence[Utility],
    *,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    optimum: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Run a heuristic on every instance and measure it.

    Parameters
    ----------
    heuristic
        Anything that :func:`rhostar.heuristics.as_heuristic` takes: one finite float64 per vertex, a learner, a model.
    instances
        The instances to measure on.
    utilities
        What to measure: one utility or several.
    algorithm
        "astar" or "gbfs".
    reopen
        Whether A* reopens closed vertices.
    budget
        How many vertices a run may expand.
    optimum
        Optimal costs, if known; otherwise they are computed if a utility needs them. A given
        optimum within rounding of the cost that was found counts as equal to it.
    n_jobs
        As in joblib: None means 1 unless ``joblib.parallel_config`` says otherwise, -1 all cores.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If the set is empty or no utility is given.
    UtilityError
        If a utility is negative or NaN.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(20, 20)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(50, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=graph.n - 1)
    >>> rho = 2 * rs.heuristics.euclidean(graph, graph.n - 1)
    >>> print(rs.evaluate(rho, instances, [rs.utilities.Ratio(2), rs.utilities.Expansions(150)]))
    utility        mean        std      max  limit  clipped
    ratio       1.03528  0.0240319  1.10814      2     0.0%
    expansions    53.74    13.4593      107    150     0.0%
    50 of 50 solved
    >>> rs.evaluate(rho, instances, rs.utilities.Expansions(150))["expansions"].mean
    53.74
    """
    measures = [utilities] if isinstance(utilities, Utility) else list(utilities)
    if not measures:
        raise InputError("utilities must name at least one utility")
    for utility in measures:
        if not isinstance(utility, Utility):
            raise InputError(f"utilities must contain Utility objects, got {utility!r}")
    if not isinstance(instances, InstanceSet):
        raise InputError(f"instances must be an InstanceSet, got {type(instances).__name__}")
    if len(instances) == 0:
        raise InputError("instances must not be empty: the mean of nothing is undefined")
    options: dict[str, Any] = {"algorithm": algorithm, "reopen": reopen, "budget": budget, "n_jobs": n_jobs}
    runs = solve_many(instances, heuristic, **options)
    best = _optimum(instances, runs, optimum, n_jobs) if any(u.needs_optimum for u in measures) else None
    scores = []
    for utility in measures:
        if isinstance(utility, Custom):
            parts = map_chunks(_custom_chunk, instances, function=utility.function, rho=heuristic, **options)
            raw = np.concatenate(parts)
        else:
            raw = utility.raw(runs, best)
        scores.append(utility.clip(raw))
    return Evaluation(runs, tuple(scores), best)


def _optimum(instances: InstanceSet, runs: Runs, given: ArrayLike | None, n_jobs: int | None) -> NDArray[np.float64]:
    """Return the optimal costs.

    They are added up from the start like every cost, so no cost is below its optimum. Costs that a user gives
    may be summed in another order; if one differs only by rounding, it is set to the cost found.
    """
    if given is None:
        return solve_many(instances, np.zeros(instances.graph.n), n_jobs=n_jobs).cost
    optimum = np.array(given, dtype=np.float64)
    if optimum.shape != (len(instances),):
        raise ArrayError(f"optimum must have one value per instance ({len(instances)}), got shape {optimum.shape}")
    close = runs.solved & np.isclose(optimum, runs.cost, rtol=1e-12, atol=0)
    optimum[close] = runs.cost[close]
    bad = ~(optimum >= 0) | (runs.solved & (optimum > runs.cost))
    if bad.any():
        i = int(np.argmax(bad))
        found = f"; a path of cost {runs.cost[i]} was found" if runs.solved[i] else ""
        raise InputError(f"optimum[{i}] = {optimum[i]} is not an optimal cost{found}")
    return optimum


def _custom_chunk(
    chunk: InstanceSet,
    first: int,
    stop: _core.Stop,
    *,
    function: Callable[[Instance, Trace], float],
    rho: HeuristicLike,
    algorithm: Algorithm,
    reopen: bool,
    budget: int | None,
) -> NDArray[np.float64]:
    values = np.full(len(chunk), np.nan)
    for i, instance in enumerate(chunk):
        if stop.is_set():
            break
        run = solve(algorithm == "gbfs", *instance, rho, reopen, budget, None, True, stop)
        assert run.trace is not None
        value = function(instance, run.trace)
        try:
            values[i] = float(value)
        except (TypeError, ValueError):
            raise UtilityError(f"the utility must return one number, got {value!r} for instance {first + i}") from None
    return values
