"""Tables for displaying results: text for the terminal, plain HTML for notebooks, and rows found by their label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from rhostar.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Labeled(Protocol):
    """A row with a label."""

    @property
    def label(self) -> str:
        """What the row is called."""


R = TypeVar("R", bound=Labeled)


class LabeledRows(Generic[R]):
    """A table of labeled rows: it has a length, iterates over its rows and finds one by its label."""

    rows: tuple[R, ...]

    def __iter__(self) -> Iterator[R]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, label: str) -> R:
        """Return the first row with this label.

        Parameters
        ----------
        label
            The label of a row.

        Returns
        -------
        row
            The first with this label.

        Raises
        ------
        InputError
            If there is none.
        """
        for row in self.rows:
            if row.label == label:
                return row
        raise InputError(f"there is no row {label!r}; there are {', '.join(row.label for row in self.rows)}")


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], below: Iterable[str] = ()) -> str:
    """Return an HTML table, every text escaped.

    Colors are those of the page, so it reads in light and in dark.

    Parameters
    ----------
    title
        The caption above the table.
    head, rows
        The cells.
    below
        Paragraphs that follow it.

    Examples
    --------
    >>> from rhostar._display import html_table
    >>> html_table("a < b", ["x"], [[1]])
    '<table><caption style="text-align: left">a &lt; b</caption><thead><tr><th>x</th></tr></thead><tbody><tr><td ...
    """
    style = ' style="text-align: left"'
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td{style}>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    caption = f"<caption{style}>{escape(title)}</caption>"
    return f"<table>{caption}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{html_paragraphs(below)}"


def html_paragraphs(texts: Iterable[str]) -> str:
    """Return one paragraph for each text that is not empty, escaped."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts if text)


def html_unfolding(texts: Iterable[str], below: str) -> str:
    """Return texts that a reader sees at once, and HTML to unfold.

    Examples
    --------
    >>> from rhostar._display import html_unfolding
    >>> html_unfolding(["a < b", ""], "<p>c</p>")
    '<p>a &lt; b</p><details><summary>In full</summary><p>c</p></details>'
    """
    return f"{html_paragraphs(texts)}<details><summary>In full</summary>{below}</details>"


def text_table(rows: Sequence[Sequence[str]], *, words: int = 1) -> str:
    """Return rows, the heading first, as aligned columns: the first `words` of them to the left, numbers to the right.

    Examples
    --------
    >>> from rhostar._display import text_table
    >>> print(text_table([["utility", "mean"], ["ratio", "1.04"]]))
    utility  mean
    ratio    1.04
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    sides = [str.ljust if k < words else str.rjust for k in range(len(widths))]
    lines = ("  ".join(side(cell, w) for side, cell, w in zip(sides, row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (7, 4)) -> Axes:
    """Return the axes to draw in: those given, or new ones of a size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]
