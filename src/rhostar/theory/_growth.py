"""Counts the utility vectors of N instances exactly, next to every upper bound; and the Rademacher complexity.

The growth function Π(N) of the theory is a maximum over all sets of N instances; here it is counted on given ones,
for the first 1, 2, ..., N of them. Every joint behavior of the first k instances continues in some way on the others,
so one symbolic execution of all N covers every k. The distinct vectors also determine the empirical Rademacher
complexity, which the certificate "every ρ at once, on these very instances" needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar._display import axes_or_new, text_table
from rhostar.bounds import capacities, massart, rademacher_monte_carlo
from rhostar.instances import Instance, InstanceSet
from rhostar.search import Algorithm
from rhostar.theory._behaviours import Report, utility_vectors
from rhostar.theory._integer_instances import exact, gather
from rhostar.utilities import Utility

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALL_SIGNS_UP_TO = 12


@dataclass(frozen=True, eq=False)
class Growth:
    """Counts for the first 1, 2, ..., N instances, made by :func:`growth`; prints as a table.

    Examples
    --------
    >>> import rhostar as rs
    >>> rs.theory.growth(rs.theory.theorem5_instances(6).instances, "gbfs", rs.utilities.Cost(3))
    Growth(2 instances, 4 vectors of cost, 10 behaviours)
    """

    n: int
    """Number of vertices."""
    algorithm: Algorithm
    """"astar" or "gbfs"."""
    utility: Utility
    """The utility."""
    behaviours: NDArray[np.int64]
    """Joint behaviors."""
    vectors: NDArray[np.int64]
    """Distinct utility vectors."""
    bounds: dict[str, NDArray[np.float64]]
    """lg of each upper bound on the number of joint behaviors, by its label in the theory."""
    massart: NDArray[np.float64]
    """Upper bound on the empirical Rademacher complexity by Massart's lemma."""
    monte_carlo: NDArray[np.float64]
    """Upper bound from randomly drawn signs, with the requested confidence."""
    rademacher: NDArray[np.float64]
    """The complexity itself, over all signs; NaN beyond 12 instances."""
    all_vectors: NDArray[np.float64]
    """The distinct utility vectors of all N instances, which certificates take."""

    def __len__(self) -> int:
        return self.vectors.size

    def __str__(self) -> str:
        head = ["N", "vectors", "behaviours", *(f"lg {label}" for label in self.bounds), "R", "Massart", "drawn"]
        rows = [head]
        for k in range(len(self)):
            logs = [f"{values[k]:.1f}" for values in self.bounds.values()]
            complexity = [f"{a[k]:.3f}" for a in (self.rademacher, self.massart, self.monte_carlo)]
            rows.append([str(k + 1), str(self.vectors[k]), str(self.behaviours[k]), *logs, *complexity])
        return text_table(rows, words=0)

    def __repr__(self) -> str:
        counts = f"{arrays.counted(len(self), 'instance')}, {arrays.counted(int(self.vectors[-1]), 'vector')}"
        return f"Growth({counts} of {self.utility.name}, {arrays.counted(int(self.behaviours[-1]), 'behaviour')})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw lg of the numbers of utility vectors and joint behaviors against N, with the upper bounds.

        Bounds more than three times as high as all counts appear only in the legend, with their value.

        Parameters
        ----------
        ax
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes

        Examples
        --------
        >>> import rhostar as rs
        >>> counted = rs.theory.growth(rs.theory.theorem5_instances(7).instances, "gbfs", rs.utilities.Cost(3))
        >>> counted.plot().get_xlabel()
        'instances N'
        """
        ax = axes_or_new(ax, (8.5, 4.5))
        N = np.arange(1, len(self) + 1)
        ax.plot(N, np.log2(self.behaviours), "s-", color="tab:blue", label="joint behaviours")
        ax.plot(N, np.log2(self.vectors), "o-", color="tab:red", label="utility vectors")
        ax.plot(N, N, ":", color="0.3", label="2ᴺ: shattered on this line")
        top = 3 * max(len(self), np.log2(self.behaviours[-1]))
        for label, values in self.bounds.items():
            if values[-1] <= top:
                ax.plot(N, values, "--", color="0.5", label=f"{label}: upper bound")
            else:
                ax.plot([], [], " ", label=f"{label}: {values[-1]:,.0f} at N = {N[-1]}")
        ax.set_xticks(N)
        ax.set_xlabel("instances N")
        ax.set_ylabel("lg of the number")
        ax.set_title(f"{self.algorithm}, n = {self.n}, {self.utility.name}")
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return ax


def growth(
    instances: InstanceSet | Sequence[Instance],
    algorithm: Algorithm,
    utility: Utility,
    reopen: bool = True,
    *,
    max_behaviours: int = 10_000_000,
    draws: int = 1000,
    delta: float = 0.01,
    seed: int = 0,
    progress: Report | None = None,
) -> Growth:
    """Count the distinct utility vectors of the first 1, 2, ..., N instances over all ρ ∈ Rⁿ.

    Parameters
    ----------
    instances
        A set with one goal, or single instances with the same vertices and goal; at most 64 vertices, integer weights.
    algorithm
        "astar" or "gbfs".
    utility
        What is measured; its limit is the H of the Rademacher complexity.
    reopen
        Whether A* reopens closed vertices.
    max_behaviours
        How many joint behaviors there may be.
    draws, delta, seed
        For the complexity from drawn signs: how many to draw, the probability that the value is too small, and the
        seed of numpy's generator.
    progress
        Called from time to time with the number of behaviors found and the share explored.

    Returns
    -------
    Growth

    Raises
    ------
    LimitError
        If there are more joint behaviors than `max_behaviours`.
    InputError
        If a weight is not an integer, or the instances do not share vertices and goal.

    Examples
    --------
    >>> import rhostar as rs
    >>> print(rs.theory.growth(rs.theory.theorem5_instances(8).instances, "gbfs", rs.utilities.Cost(3)))
    N  vectors  behaviours  lg G  lg Gp  lg Q64      R  Massart  drawn
    1        2           9  15.3    9.5   512.0  0.500    1.766  0.718
    2        4          22  15.3    9.5   512.0  0.500    1.766  0.630
    3        8          61  15.3    9.5   512.0  0.500    1.766  0.544
    4       16         180  15.3    9.5   512.0  0.500    1.766  0.583
    """
    together = gather(instances)
    values, _, behaviours = utility_vectors(
        together, algorithm, utility, reopen, max_behaviours=max_behaviours, progress=progress
    )
    size = len(together)
    prefixes = [np.unique(values[:, : k + 1], axis=0) for k in range(size)]
    problem = exact(together)
    rows = capacities(
        problem.n,
        algorithm,
        integer_weights=max(1, int(problem.weights.max())),
        out_degree=max(1, int((problem.weights >= 0).sum(axis=2).max())),
        fixed_source=bool((together.sources == together.sources[0]).all()),
        reopen=reopen,
    )
    rng = np.random.default_rng(seed)
    return Growth(
        problem.n,
        algorithm,
        utility,
        behaviours,
        np.array([len(rows) for rows in prefixes]),
        {row.label: np.array([row.log_growth(k + 1) / np.log(2) for k in range(size)]) for row in rows},
        np.array([massart(rows, utility.limit) for rows in prefixes]),
        np.array([rademacher_monte_carlo(p, utility.limit, draws=draws, delta=delta, seed=rng) for p in prefixes]),
        np.array([_rademacher(rows) for rows in prefixes]),
        values,
    )


def _rademacher(vectors: NDArray[np.float64]) -> float:
    """Return E_σ max_u (1/N)Σσ_i u_i over all signs."""
    size = vectors.shape[1]
    if size > _ALL_SIGNS_UP_TO:
        return float("nan")
    signs = 1.0 - 2 * ((np.arange(1 << size)[:, None] >> np.arange(size)) & 1)
    best = [float((vectors @ some.T).max(axis=0).sum()) for some in np.array_split(signs, max(1, len(signs) // 256))]
    return sum(best) / (signs.shape[0] * size)
