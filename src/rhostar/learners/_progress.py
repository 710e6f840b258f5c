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


@contextmanager
def countdown(title: str, seconds: float, verbose: int) -> Iterator[Advance]:
    """Show what a fit with a time limit is doing and how many seconds are left.

    Parameters
    ----------
    title
        What is being done.
    seconds
        The time limit; inf for none.
    verbose
        0 is silent.

    Examples
    --------
    >>> from rhostar.learners._progress import countdown
    >>> with countdown("learning", 10.0, verbose=0) as show:
    ...     show("mean distances")
    """
    if not verbose:
        yield lambda words: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Left(ProgressColumn):
        """Also moves the bar: it shows time, not steps."""

        def render(self, task: Task) -> Text:
            spent = task.elapsed or 0.0
            if task.total is None:
                return Text(f"{spent:.0f} s")
            task.completed = min(spent, task.total)
            return Text(f"{max(task.total - spent, 0.0):.0f} s left")

    total = seconds if seconds < float("inf") else None
    words = TextColumn("{task.fields[words]}")
    with Progress(Left(), TextColumn("{task.description}"), BarColumn(20), words, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total, words="")
        yield lambda words: bar.update(task, words=words)
