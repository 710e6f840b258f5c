"""Bounds on the mean suboptimality of A* through inconsistency (section 5 of the paper).

On every instance cost − opt ≤ Δ_ρ, the sum of max(ρ_v − ρ_c − w_vc, 0) over the edges (v, c) of an optimal path S*,
except the edge that leaves the start, with and without reopening (L1: Valenzano et al. 2014, Theorem 4.6; the paper's
Theorem 7). Greedy search has no such bound, and neither has a run that is ended by a budget.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.bounds import _capacity as capacity
from rhostar.bounds._uniform import dimension_width
from rhostar.errors import ArrayError, InputError


def mean_absolute_walk(steps: int) -> NDArray[np.float64]:
    """Return A(0), …, A(steps), A(k) = E|σ_1 + … + σ_k| = k·C(k−1, ⌊(k−1)/2⌋)/2^{k−1} ≤ sqrt(k) for random signs.

    A(1) = 1, A(2j) = A(2j − 1), A(2j + 1) = A(2j)·(2j + 1)/(2j).

    Examples
    --------
    >>> from rhostar.bounds._inconsistency import mean_absolute_walk
    >>> mean_absolute_walk(5).tolist()
    [0.0, 1.0, 1.0, 1.5, 1.5, 1.875]
    """
    values = np.zeros(steps + 1)
    k = np.arange(2, steps + 1, dtype=np.float64)
    factors = np.where(k % 2 == 1, k / (k - 1), 1.0)
    values[1:] = np.cumprod(np.concatenate([[1.0], factors]))[:steps]
    return values


def inconsistency_width(n: int, samples: int, limit: float, *, delta: float = 0.05) -> float:
    """U1: E[min(cost − opt, H)] ≤ mean min(Δ, H) + this, for every ρ: H3 with the pseudo-dimension of the class of Δ.

    Parameters
    ----------
    n
        Number of vertices.
    samples, limit, delta
        N, H and the level.

    Returns
    -------
    float
        inf where N is below the pseudo-dimension.

    Examples
    --------
    >>> from rhostar.bounds import inconsistency_width
    >>> inconsistency_width(20, 100_000, 1.0)
    0.1977...
    """
    return dimension_width(capacity.inconsistency(n).pseudo_dimension, samples, limit, delta=delta)


def edge_local_complexity(edges: ArrayLike, weights: ArrayLike, caps: ArrayLike, samples: int, limit: float) -> float:
    """U2: an upper bound on R̂ of the class of min(Δ_ρ, H), over all ρ with ρ_v − ρ_c ≤ D_e on every edge e.

    R̂ ≤ (1/2N)·Σ_e ∫_{−∞}^{D_e} A(#{i : w_{e,i} < τ ≤ w_{e,i} + H}) dτ, where w_{e,i} are the weights of e in the
    instances whose S* holds e, not as the edge leaving s.

    Proof: min(Δ, H) is a 1-Lipschitz clip of Σ_e min(hinge_e, H), so contraction applies; the supremum of a sum is at
    most the sum of suprema; min((d − w)⁺, H) = ∫_{−∞}^{d} 1{w < τ ≤ w + H} dτ, so the supremum over d ≤ D_e of Σσ_i(…)
    is at most ∫_{−∞}^{D_e} (Σσ_i 1{…})⁺ dτ, and E S⁺ = A/2. The integrand is constant between weights, so the integral
    is a finite sum. Where every weight is at least lo_e and H is large it is at most (D_e − lo_e)·A(N_e).

    Parameters
    ----------
    edges
        (T,) the edge of each term: for every instance, the edges of its S* but the first.
    weights
        (T,) its weight in that instance.
    caps
        D_e by edge, or one number: fixed beforehand, such as the largest possible weight; +inf is allowed.
    samples
        N, the number of instances.
    limit
        H.

    Returns
    -------
    float
        The bound on R̂; see :func:`rhostar.bounds.rademacher_bound` for what it gives.

    Raises
    ------
    InputError
        If shapes differ, a weight is not finite, or an argument is out of range.

    Examples
    --------
    >>> from rhostar.bounds import edge_local_complexity
    >>> edge_local_complexity([3, 3], [1.0, 2.0], caps=4.0, samples=2, limit=10.0)  # (1·A(1) + 2·A(2))/4
    0.75
    """
    samples, limit = arrays.integer(samples, "samples", 1), arrays.positive(limit, "limit")
    edge, weight = np.asarray(edges), np.asarray(weights, dtype=np.float64)
    if edge.ndim != 1 or edge.shape != weight.shape or (edge.size and edge.dtype.kind not in "iu"):
        raise ArrayError(f"edges and weights must be two arrays of one length, got {edge.shape} and {weight.shape}")
    if edge.size == 0:
        return 0.0
    arrays.require_all(np.isfinite(weight), weight, "weights", "finite, as it is on an optimal path", InputError)
    cap = np.asarray(caps, dtype=np.float64)
    cap = cap[edge] if cap.ndim else np.full(edge.size, float(cap))
    if np.isnan(cap).any():
        raise InputError("caps must not be NaN")
    # A term joins the count at w and leaves it at w + H; nothing is counted beyond the cap.
    at = np.concatenate([np.minimum(weight, cap), np.minimum(weight + limit, cap)])
    step = np.concatenate([np.ones(edge.size, dtype=np.int64), np.full(edge.size, -1, dtype=np.int64)])
    owner = np.concatenate([edge, edge])
    order = np.lexsort((at, owner))
    at, owner = at[order], owner[order]
    count = np.cumsum(step[order])[:-1]  # back to 0 where one edge ends
    lengths = np.where(owner[1:] == owner[:-1], np.diff(at), 0.0)
    walk = mean_absolute_walk(int(count.max(initial=0)))
    # Where events coincide the count may dip below 0 in between, over a length of 0.
    return float(np.dot(walk[np.maximum(count, 0)], lengths)) / (2 * samples)


def edge_local_width(n: int, spreads: ArrayLike, samples: int, limit: float, *, delta: float = 0.05) -> float:
    """U2 before any instance is seen: sqrt((n−2)·Σ_e r_e²/N) + 2H·sqrt(ln(1/δ)/(2N)), r_e = hi_e − lo_e.

    As 2R̂ ≤ (1/N)Σ r_e·sqrt(N_e) and Σ N_e ≤ N(n − 2), by the inequality of Cauchy and Schwarz.

    Parameters
    ----------
    n
        Number of vertices; or one more than the most edges that an optimal path can have.
    spreads
        r_e for each edge that an optimal path may use.
    samples, limit, delta
        N, H and the level.

    Returns
    -------
    float
        The width.

    Raises
    ------
    InputError
        If a spread is negative or not finite, or another argument is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar.bounds import edge_local_width
    >>> edge_local_width(20, np.full(40, 0.5), 10_000, 10.0)
    0.3789...
    """
    n, samples = arrays.integer(n, "n", 2), arrays.integer(samples, "samples", 1)
    limit, delta = arrays.positive(limit, "limit"), arrays.probability(delta)
    r = np.asarray(spreads, dtype=np.float64)
    if not (np.isfinite(r).all() and (r >= 0).all()):
        raise InputError("spreads must be finite and at least 0: both bounds of every weight must be known")
    complexity = math.sqrt((n - 2) * float((r**2).sum()) / samples)
    return complexity + 2 * limit * math.sqrt(math.log(1 / delta) / (2 * samples))
