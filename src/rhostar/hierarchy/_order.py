"""The order in which a hierarchy contracts the vertices of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from rhostar import _arrays as arrays
from rhostar import _failures as failures
from rhostar.errors import LimitError
from rhostar.graph import Graph


def elimination_order(graph: Graph, *, verbose: int = 0) -> NDArray[np.int32]:
    """Return an order of the vertices by nested dissection; the graph remembers it.

    The vertices that separate a graph into two parts come last, before them each part in the same way.

    Parameters
    ----------
    graph
        The graph. With coordinates, parts are cut along them; without, along numbers of steps from far vertices.
    verbose
        1 shows a progress bar on standard error.

    Returns
    -------
    numpy.ndarray
        (n,) the vertices, the first to be contracted first.

    Raises
    ------
    LimitError
        If the graph has 2**30 edges or more.

    Examples
    --------
    >>> import rhostar as rs
    >>> from rhostar.hierarchy._order import elimination_order
    >>> sorted(elimination_order(rs.Graph.grid(2, 2)).tolist())
    [0, 1, 2, 3]
    """
    order = graph._elimination_order
    if order is None:
        require_dissectable(graph.m)
        with _progress(graph.n, verbose) as report:
            found = graph._kernel.dissect(graph.coordinates, report, None)
        failures.require_done(found.ending)
        order = arrays.frozen(found.order.copy())
        object.__setattr__(graph, "_elimination_order", order)
    return order


def require_dissectable(m: int) -> None:
    """Raise if a graph has too many edges: their opposites are added, and all are counted in 32 bits."""
    if 2 * m > arrays.LARGEST_INDEX:
        raise LimitError(f"a hierarchy needs a graph with fewer than 2**30 edges, this one has {m}; use landmarks")


@contextmanager
def _progress(n: int, verbose: int) -> Iterator[Callable[[float], object] | None]:
    """Show how many of the n vertices have their place."""
    if not verbose:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(f"Order of {n} vertices", total=1.0)
        yield lambda share: bar.update(task, completed=share)
