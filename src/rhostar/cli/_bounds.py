"""The command ``bounds``: computes any one of n, ε, δ and N from the others, or the size of a holdout."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from rhostar.cli._app import app
from rhostar.cli._output import WIDTH, Json, emit


@app.command()
def bounds(
    n: Annotated[int | None, typer.Option("-n", "--vertices", help="Number of vertices.")] = None,
    algorithm: Annotated[str, typer.Option("--algorithm", "-a", help="astar or gbfs.")] = "astar",
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="Accuracy of the mean.")] = None,
    delta: Annotated[float | None, typer.Option("--delta", "-d", help="Probability of failure.")] = None,
    samples: Annotated[int | None, typer.Option("--samples", "-N", help="Number of instances.")] = None,
    limit: Annotated[float, typer.Option("--limit", "-H", help="Upper end of the utility's range.")] = 1.0,
    degree: Annotated[int | None, typer.Option(help="Most children that a vertex can have.")] = None,
    integer_weights: Annotated[int | None, typer.Option(help="Weights are integers from 0 to this.")] = None,
    parameters: Annotated[int | None, typer.Option("--parameters", "-k", help="Parameters k of ρ = b + Φθ.")] = None,
    levels: Annotated[int | None, typer.Option(help="Number of values that each ρ_v can take.")] = None,
    holdout: Annotated[bool, typer.Option("--holdout", help="Plan a holdout for one ρ: no -n, -N.")] = False,
    mean: Annotated[float | None, typer.Option(help="With --holdout: a guess of the mean utility.")] = None,
    pilot: Annotated[Path | None, typer.Option(help="With --holdout: a file with one utility per line.")] = None,
    assurance: Annotated[float, typer.Option(help="With --holdout: how often the bound should be that close.")] = 0.8,
    json: Json = False,
) -> None:
    """Compute any one of n, ε, δ and N, or the size of a holdout.

    Leave out the one you want to know; the answer holds for every ρ at once. With -n alone it is the pseudo-dimension;
    with --epsilon the number of instances N; with -N the accuracy ε; with both the probability of failure δ; with both
    and --delta, but without -n, the largest n. δ is 0.05 unless you give it or solve for it.

    With --holdout the answer is for one ρ: how many instances to keep away from learning, so that the bound on the mean
    is at most ε above what they show. It needs --epsilon, --limit, and --mean or --pilot.
    """
    import rhostar as rs
    from rhostar.certificates._sentence import outward
    from rhostar.errors import InputError

    if holdout:
        about_every = {"-n": n, "-N": samples, "--degree": degree, "--integer-weights": integer_weights}
        about_every |= {"-k": parameters, "--levels": levels}
        if unused := [name for name, value in about_every.items() if value is not None]:
            raise InputError(f"{unused[0]} is about every ρ at once; --holdout is about one ρ and does not use it")
        _plan_holdout(limit, epsilon, mean, pilot, delta, assurance, json)
        return
    if mean is not None or pilot is not None:
        raise InputError("--mean and --pilot are for --holdout")

    of: dict[str, Any] = {
        "algorithm": algorithm,
        "integer_weights": integer_weights,
        "out_degree": degree,
        "parameters": parameters,
        "levels": levels,
    }
    if algorithm not in ("astar", "gbfs"):
        raise InputError(f"--algorithm must be astar or gbfs, got {algorithm!r}")
    if n is None and (epsilon is None or samples is None or delta is None):
        raise InputError("give -n, the number of vertices; or --epsilon, --samples and --delta to ask for it")
    if n is None:
        assert epsilon is not None and samples is not None and delta is not None  # noqa: PT018
        largest = _largest(lambda m: rs.deviation(n=m, samples=samples, delta=delta, limit=limit, **of).best <= epsilon)
        what = f"largest n with accuracy {epsilon:g} from {samples:,} instances, H = {limit:g}, δ = {delta:g}"
        emit({"n": largest, "unknown": "n"}, json, f"{what}\n  {largest:,}" if largest else f"{what}\n  none")
        return
    if epsilon is None and samples is None:
        found = rs.pseudo_dimension(n, **of)
        rows = [{"bound": r.label, "origin": r.origin, "value": r.value, "meaning": r.meaning} for r in found.rows]
        emit({"unknown": "pseudo-dimension", "n": n, "value": found.upper, "rows": rows}, json, str(found))
        return
    if epsilon is not None and samples is not None:
        if delta is not None:
            raise InputError("nothing is unknown: leave out one of -n, --epsilon, --samples, --delta")
        least = _least_delta(lambda d: rs.deviation(n=n, samples=samples, delta=d, limit=limit, **of).best <= epsilon)
        what = f"probability that {samples:,} instances are off by more than {epsilon:g}, H = {limit:g}: at most"
        emit({"delta": least, "unknown": "delta"}, json, f"{what}\n  {outward(least, 'upper', 3)}")
        return
    chosen = 0.05 if delta is None else delta
    if epsilon is not None:
        plans = rs.sample_size(n=n, epsilon=epsilon, delta=chosen, limit=limit, **of)
    else:
        assert samples is not None
        plans = rs.deviation(n=n, samples=samples, delta=chosen, limit=limit, **of)
    rows = [{"bound": r.label, "origin": r.origin, "value": r.value, "about": r.about} for r in plans.rows]
    unknown = "samples" if epsilon is not None else "epsilon"
    emit({"unknown": unknown, "value": plans.best, "rows": rows}, json, str(plans))


def _plan_holdout(
    limit: float,
    epsilon: float | None,
    mean: float | None,
    pilot: Path | None,
    delta: float | None,
    assurance: float,
    json: bool,
) -> None:
    import rhostar as rs
    from rhostar.errors import InputError

    if epsilon is None:
        raise InputError("--holdout needs --epsilon: how far above the measured mean the bound may be")
    if (mean is None) == (pilot is None):
        raise InputError("--holdout needs either --mean, a guess, or --pilot, a file with one utility per line")
    plan = rs.bounds.holdout_size(
        limit=limit,
        epsilon=epsilon,
        mean=mean,
        pilot=None if pilot is None else _utilities(pilot),
        delta=0.05 if delta is None else delta,
        assurance=assurance,
    )
    emit({"unknown": "holdout", **asdict(plan)}, json, "\n".join(textwrap.wrap(str(plan), WIDTH)))


def _utilities(path: Path) -> list[float]:
    """Return the numbers of a text file, one per line; empty lines do not count, and the first may be a header."""
    from rhostar.errors import ReadError

    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(path, None, str(error)) from None
    found: list[float] = []
    filled = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    for k, (number, line) in enumerate(filled):
        try:
            found.append(float(line))
        except ValueError:
            if k > 0 or "," in line:
                raise ReadError(path, number, f"one number is expected, got {line[:40]!r}") from None
    if not found:
        raise ReadError(path, None, "there is no number in this file")
    return found


_LEAST_DELTA = 1e-300
"""Smaller probabilities are reported as this one, which is an upper bound on them."""


def _least_delta(holds: Callable[[float], bool]) -> float:
    """Return the least δ for which a bound holds, to three digits; 1 if it never does."""
    low, high = math.log10(_LEAST_DELTA), 0.0  # a bound that holds for some δ holds for every larger one
    if not holds(10 ** (-1e-9)):
        return 1.0
    if holds(_LEAST_DELTA):
        return _LEAST_DELTA
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(10.0**middle) else (middle, high)
    return float(10.0**high)


def _largest(holds: Callable[[int], bool], most: int = 10**8) -> int:
    """Return the largest n for which a bound holds; 0 if it holds for none."""
    low, high = 1, 2
    if not holds(2):
        return 0
    while high <= most and holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
