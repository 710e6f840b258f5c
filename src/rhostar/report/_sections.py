"""Sections of a page made from what other rooms return: certificates, dual functions, learning curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rhostar.certificates import Certificate, CertificateTable, certify
from rhostar.errors import InputError
from rhostar.instances import InstanceSet
from rhostar.report._view import BoundView, CertificateView, Curve, DualView, Generalisation
from rhostar.search import Algorithm
from rhostar.utilities import Utility, evaluate

if TYPE_CHECKING:
    from rhostar.lines import _means as duals


def certificate_view(
    table: CertificateTable | Mapping[str, Any], *, subject: str = "", curves: Sequence[Curve] = ()
) -> CertificateView:
    """Return the section of a page for a table of bounds.

    Parameters
    ----------
    table
        What :func:`rhostar.certify` returned, or the plain values of it that a model keeps.
    subject
        What is bounded, in the words of the page's readers, such as "minutes lost"; by default the table's.
    curves
        Each bound against the number of instances; see :func:`certificate_curves`.

    Returns
    -------
    CertificateView
        For :func:`rhostar.report.build`.

    Raises
    ------
    InputError
        If the table has no bounds, or plain values are not those of a table.
    """
    found = table if isinstance(table, CertificateTable) else CertificateTable.from_dict(table)
    if not found.rows:
        raise InputError("the table has no bounds to show")
    best = found.best
    words = subject or best.subject
    rows = sorted(found.rows, key=lambda row: row is not best)  # stable: the promised one first, then by tightness
    return CertificateView(
        sentence=_sentence(best, words),
        utility=words,
        limit=best.limit,
        lower_is_better=best.side == "upper",
        delta=found.delta,
        bounds=tuple(_bound(row) for row in rows),
        left_out=tuple(f"{entry.label}: {entry.reason}" for entry in found.dropped),
        remarks=tuple(found.notes),
        curves=tuple(curves),
    )


def _sentence(best: Certificate, words: str) -> str:
    word = "at most" if best.side == "upper" else "at least"
    how = "It is certain:" if best.delta == 0 else f"With {100 * (1 - best.total_delta):g} % confidence,"
    whom = {"this rho": "", "every rho": ", for these values or any others"}.get(
        best.holds_for, ", for these values or any others of their family"
    )
    measured = "" if best.delta == 0 else f" Measured on {best.samples:,} instances: {best.mean:.3g}."
    mean = words if words.startswith("the mean") else f"the mean of {words}"
    return f"{how} {mean} is {word} {best.value:.3g} on instances nobody has seen{whom}.{measured}"


def _bound(row: Certificate) -> BoundView:
    where = "" if row.goal is None else f", goal {row.goal}"
    return BoundView(
        name=f"{row.label}{where}",
        value=row.value,
        empirical=row.mean,
        delta=row.delta,
        holds_for=row.holds_for,
        reference=row.reference,
        claim=f"{row.samples:,} instances",
        vacuous=row.vacuous,
        assumptions=tuple(row.assumptions),
    )


def certificate_curves(
    rho: Any, sizes: Sequence[int], *, train: InstanceSet | None, holdout: InstanceSet | None, **options: Any
) -> list[Curve]:
    """Return each bound against the number of instances it is computed on.

    Parameters
    ----------
    rho
        As for :func:`rhostar.certify`.
    sizes
        Numbers of instances; of each set the first so many are taken, or all it has.
    train, holdout, options
        As for :func:`rhostar.certify`.

    Returns
    -------
    list of Curve
        One for each bound that says something at the largest size, and the mean measured on the holdout.
    """
    lines: dict[str, tuple[list[float], list[float]]] = {}
    measured: tuple[list[float], list[float]] = ([], [])
    for size in sorted(sizes):
        parts: dict[str, Any] = {
            name: None if part is None else part[: min(size, len(part))]
            for name, part in (("train", train), ("holdout", holdout))
        }
        table = certify(rho, **parts, **options)
        for row in table.rows:
            if row.delta > 0 and not row.vacuous and row.goal is None:
                x, y = lines.setdefault(row.label, ([], []))
                x.append(float(row.samples))
                y.append(row.value)
        held = next((row for row in table.rows if row.holds_for == "this rho"), None)
        if held is not None:
            measured[0].append(float(held.samples))
            measured[1].append(held.mean)
    curves = [Curve(name, tuple(x), tuple(y)) for name, (x, y) in lines.items()]
    if measured[0]:
        curves.append(Curve("measured on the holdout", tuple(measured[0]), tuple(measured[1]), "measured"))
    return curves


def generalisation_curve(
    learner: Any,
    train: InstanceSet,
    test: InstanceSet,
    sizes: Sequence[int],
    utility: Utility,
    *,
    algorithm: Algorithm = "astar",
    reopen: bool = True,
    budget: int | None = None,
    baseline: tuple[str, float] | None = None,
    most: int = 200,
) -> Generalisation:
    """Fit a learner on more and more instances and measure it on those and on unseen ones.

    Parameters
    ----------
    learner
        Cloned and fitted for each size.
    train, test
        Instances to learn from, of which the first so many are taken, and unseen ones.
    sizes
        Numbers of training instances, at most what `train` has.
    utility, algorithm, reopen, budget
        As for :func:`rhostar.evaluate`.
    baseline
        The name and value of something that does not learn.
    most
        How many instances a mean is taken over at most.

    Returns
    -------
    Generalisation
        For :func:`rhostar.report.build`.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(8, 8)
    >>> weights = np.random.default_rng(0).uniform(1, 9, size=(60, graph.m))
    >>> train, test = rs.InstanceSet(graph, weights, sources=0, goal=63).split(0.8, seed=0)
    >>> curve = rs.report.generalisation_curve(
    ...     rs.learners.MeanDistance(), train, test, [1, 40], rs.utilities.Suboptimality(limit=9))
    >>> curve.train[0], curve.test[0] > curve.test[1]
    (0.0, True)
    """
    from sklearn.base import clone

    options: dict[str, Any] = {"algorithm": algorithm, "reopen": reopen, "budget": budget}
    means: tuple[list[float], list[float]] = ([], [])
    chosen = sorted({int(size) for size in sizes if size <= len(train)})
    if not chosen:
        raise InputError(f"sizes must hold a number of at most {len(train)} instances, got {list(sizes)}")
    for size in chosen:
        fitted = clone(learner).fit(train[:size])
        for part, found in zip((train[:size], test), means, strict=True):
            found.append(evaluate(part[:most], fitted.rho_, utility, **options)[0].mean)
    name = f"{type(learner).__name__} for {'greedy search' if algorithm == 'gbfs' else 'A*'}"
    return Generalisation(
        name, (utility.words or utility.name), tuple(chosen), tuple(means[0]), tuple(means[1]), baseline
    )


def dual_view(dual: duals.Dual, *, direction: str = "ρ = θ · (learned values)") -> DualView:
    """Return the section of a page for a dual function.

    Parameters
    ----------
    dual
        What :func:`rhostar.lab.dual` returned.
    direction
        Along which line, in words.
    """
    points = np.array([part.low == part.high for part in dual.intervals])
    edges = np.asarray(dual.intervals.edges, dtype=np.float64)
    return DualView(
        utility=dual.utility.words or dual.utility.name,
        instances=int(dual.pieces.size),
        direction=direction,
        edges=tuple(edges.tolist()),
        values=tuple(dual.mean.tolist()),
        best_theta=float(dual.theta),
        best_value=dual.value,
        points=int(points.sum()),
    )
