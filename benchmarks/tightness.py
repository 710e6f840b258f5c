"""Compares the bounds of certificates with other valid ones: what they print, divided by the best of the others.

The bounds that were used before are among the others: betting by the variance alone, with stakes of at most three
quarters of the capital, and for means that change the best of five λ that share δ.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rhostar import bounds

RESULTS = Path(__file__).parent / "results" / "tightness.md"
DELTA, DRAWS, SIZES = 0.05, 20, (30, 100, 300, 1000)
LAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "all 0": lambda rng, N: np.zeros(N),
    "95 % 0, else 1": lambda rng, N: (rng.random(N) < 0.05) * 1.0,
    "95 % 0, else uniform": lambda rng, N: (rng.random(N) < 0.05) * rng.random(N),
    "99 % 0, else 1": lambda rng, N: (rng.random(N) < 0.01) * 1.0,
    "80 % 0, else uniform": lambda rng, N: (rng.random(N) < 0.2) * rng.random(N),
    "uniform up to 0.01": lambda rng, N: 0.01 * rng.random(N),
    "always 0.3": lambda rng, N: np.full(N, 0.3),
    "beta(1, 9)": lambda rng, N: rng.beta(1, 9, N),
    "beta(0.1, 0.3)": lambda rng, N: rng.beta(0.1, 0.3, N),
    "uniform": lambda rng, N: rng.random(N),
    "coin": lambda rng, N: (rng.random(N) < 0.5) * 1.0,
    "95 % 1": lambda rng, N: (rng.random(N) < 0.95) * 1.0,
    "clipped Pareto": lambda rng, N: np.minimum(0.01 * (1 + rng.pareto(1.1, N)), 1.0),
}
RISING: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "rising to 0.4": lambda rng, N: (rng.random(N) < np.linspace(0, 0.4, N)) * 1.0,
    "falling from 0.3": lambda rng, N: np.linspace(0.3, 0.05, N) * 2 * rng.random(N),
}


def betting_by_variance(values: np.ndarray, orders: int = 30) -> float:
    """Return the bound of Waudby-Smith and Ramdas, averaged over orders: what was used before."""
    permuted = np.random.default_rng(0).permuted(np.tile(np.sort(values), (orders, 1)), axis=1)
    count = np.arange(1, values.size + 1)
    means = (0.5 + np.cumsum(permuted, axis=1)) / (count + 1)
    variances = (0.25 + np.cumsum((permuted - means) ** 2, axis=1)) / (count + 1)
    before = np.concatenate([np.full((orders, 1), 0.25), variances[:, :-1]], axis=1)
    wanted = np.sqrt(2 * math.log(1 / DELTA) / (values.size * before))

    def refuted(m: float) -> bool:
        capital = np.log1p(-np.minimum(wanted, 0.75 / (1 - m)) * (permuted - m)).sum(axis=1)
        return bool(np.logaddexp.reduce(capital) >= math.log(orders / DELTA))

    return least(refuted)


def least(refuted: Callable[[float], bool]) -> float:
    """Return the lowest mean that is refuted, where higher ones are, too."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if refuted(middle) else (middle, high)
    return high


def spread(values: np.ndarray) -> float:
    """Return Σ(u − û)², where û is the mean of the values before."""
    guess = np.concatenate([[0.0], np.cumsum(values)[:-1] / np.arange(1, values.size)])
    return float(((values - guess) ** 2).sum())


def running_mean_before(values: np.ndarray) -> float:
    """Return the best of five λ and Azuma's inequality, which share δ: what was used before."""
    stakes, share = np.array([0.05, 0.1, 0.2, 0.4, 0.7]), math.log(6 / DELTA)
    widths = (share + (-np.log1p(-stakes) - stakes) * spread(values)) / (stakes * values.size)
    return min(1.0, values.mean() + min(widths.min(), math.sqrt(share / (2 * values.size))))


def mixture_of_stakes(values: np.ndarray) -> float:
    """Return a plain mixture over λ up to 0.97, the alternative that was proposed."""
    stakes = np.geomspace(0.97, min(0.5, math.sqrt(8 * math.log(1 / DELTA) / values.size)), 6)
    exponent = (-np.log1p(-stakes) - stakes) * spread(values)

    def refuted(mean: float) -> bool:
        capital = stakes * values.size * (mean - values.mean()) - exponent
        return bool(np.logaddexp.reduce(capital) >= math.log(6 / DELTA))

    return least(refuted)


FIXED: dict[str, Callable[[np.ndarray], float]] = {
    "betting by the variance alone": betting_by_variance,
    "Chernoff": lambda values: bounds.kullback_leibler(values, 1.0, delta=DELTA).high,
    "Bernstein": lambda values: bounds.empirical_bernstein(values, 1.0, delta=DELTA).high,
    "mixture of stakes": lambda values: bounds.stakes(values, 1.0, delta=DELTA).high,
}
CHANGING: dict[str, Callable[[np.ndarray], float]] = {
    "five λ that share δ": running_mean_before,
    "mixture over λ": mixture_of_stakes,
}


def rows(own: Callable[[np.ndarray], float], others: dict, laws: dict) -> list[tuple[str, int, float, float, float]]:
    """Return (law, N, mean bound, bound / best other, former bound / best other)."""
    found = []
    for name, law in laws.items():
        for N in SIZES:
            rng = np.random.default_rng([N, 1])
            draws = [law(rng, N) for _ in range(DRAWS)]
            mine, *rest = (np.mean([bound(values) for values in draws]) for bound in (own, *others.values()))
            best = min(rest)
            found.append((name, N, mine, mine / best, rest[0] / min(mine, best)))
    return found


def page(title: str, others: dict, found: list[tuple[str, int, float, float, float]]) -> list[str]:
    """Return a table: a row for each law, and in it for each N the ratio now and, in parentheses, before."""
    lines = [
        f"## {title}",
        "",
        f"The others are: {', '.join(others)}. Largest ratio now: {max(row[3] for row in found):.3f}; before: "
        f"{max(row[4] for row in found):.2f}.",
        "",
        "| values | " + " | ".join(f"N = {N:,}" for N in SIZES) + " |",
        "|---|" + "--:|" * len(SIZES),
    ]
    for name in dict.fromkeys(row[0] for row in found):
        cells = [f"{now:.3f} ({before:.2f})" for law, _, _, now, before in found if law == name]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def main() -> int:
    """Write both tables."""
    one = rows(lambda values: bounds.betting(values, 1.0, delta=DELTA).high, FIXED, LAWS)
    two = rows(lambda values: bounds.running_mean(values, 1.0, delta=DELTA), CHANGING, LAWS | RISING)
    lines = [
        "# How tight the bounds are",
        "",
        f"Made by `make validity` (benchmarks/tightness.py). Upper bounds on means in [0, 1], δ = {DELTA}, means over "
        f"{DRAWS} draws; each divided by the lowest mean of the other bounds, all of them valid. In parentheses: "
        "the bound that was used before, divided by the lowest of all.",
        "",
        *page("One mean: betting", FIXED, one),
        *page("Means that change: progressive validation", CHANGING, two),
    ]
    RESULTS.write_text("\n".join(lines).rstrip() + "\n")
    print("\n".join(line for line in lines if line.startswith("The others")))
    return 0 if max(row[3] for row in one) <= 1.05 and max(row[3] for row in two) <= 1.10 else 1


if __name__ == "__main__":
    sys.exit(main())
