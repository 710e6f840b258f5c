"""Shows the progress of long fits: a bar on standard error if `verbose` is set, otherwise nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[str], None]
"""Called after each step, with a few words about the state of the fit."""


@contextmanager
def progress(title: str, total: int | None, verbose: int) -> Iterator[Advance]:
    """Show how far a fit has come.

    Parameters
    ----------
    title
        What is being done.
    total
        How many steps there will be; None if unknown.
    verbose
        0 is silent.

    Examples
    --------
    >>> from rhostar.learners._progress import progress
    >>> with progress("ranking", 3, verbose=0) as advance:
    ...     for k in range(3):
    ...         advance(f"best so far {k}")
    """
    if not verbose:
        yield lambda words: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.fields[words]}"), console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total, words="")
        yield lambda words: bar.update(task, advance=1, words=words)
