"""The base class of all sections of the page, and the markup that they share.

A section is one file: its values, its figures and its HTML. To add one, write a subclass of :class:`Section` and a
function that makes it, put the function's name into ``report/__init__.pyi``, and pass what it returns to
``rhostar.report.build(..., sections=[...])``. To show it on every page, add it to the sections that ``build`` itself
puts into the :class:`Report`.

Everything from outside (names, labels, titles) is escaped where it enters the markup.
"""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rhostar.certificates._summary import Costs

Kind = Literal["baseline", "learned"]

_LONG = 100
_TEMPLATES = Path(__file__).parent / "templates"


Chart = Callable[[str, str, str], str]
"""Returns one of a section's own figures as markup, by its name, with a label and a caption; empty if there is none."""


class Section(ABC):
    """A part of the page with its own heading.

    Examples
    --------
    >>> import rhostar as rs
    >>> class Note(rs.report.Section):
    ...     name, title, heading = "note", "Note", "A note"
    ...     def body(self, chart):
    ...         return "<p>Measured on a Sunday.</p>"
    >>> Note().tiles()
    ()
    """

    name: ClassVar[str]
    """The anchor, and the beginning of ids: one word."""
    title: ClassVar[str]
    """In the navigation."""
    heading: ClassVar[str]
    scripts: ClassVar[tuple[str, ...]] = ()
    """Templates with the scripts that the section needs, in order."""

    @abstractmethod
    def body(self, chart: Chart) -> str:
        """Return the markup below the heading; a section without any is left out.

        Parameters
        ----------
        chart
            Returns the markup of a figure, by its name in :meth:`figures`.

        Returns
        -------
        str
            HTML.
        """

    def figures(self) -> dict[str, Callable[[], Figure]]:
        """Return the figures by name, each as a function that draws it.

        Returns
        -------
        dict
            From names to functions without arguments.
        """
        return {}

    def in_words(self, costs: Costs) -> Section:
        """Return the section for costs in the unit of the page, which calls this for the sections it is given.

        Parameters
        ----------
        costs
            How costs are called on the page.

        Returns
        -------
        Section
            This one or another.
        """
        return self

    def tiles(self) -> Sequence[tuple[str, str]]:
        """Return numbers for the top of the page: each a value and its meaning.

        Returns
        -------
        sequence of pairs
            The most important first.
        """
        return ()

    def data(self) -> Any:
        """Return the data that the script reads, as JSON values; None if there is none."""
        return None


def escape(text: str) -> str:
    """Return text as markup; a number stays on one line with its per cent sign or its milliseconds."""
    return re.sub(r"(?<=\d) (?=%|ms\b)", "\u00a0", html.escape(text))


def template(name: str) -> str:
    """Return the text of a template."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def table(
    label: str, head: Sequence[tuple[str, bool]], rows: Iterable[tuple[str, Sequence[str]]], *, narrow: bool = False
) -> str:
    """Return a table; on a phone each row becomes a list of its values, unless the table is narrow.

    Parameters
    ----------
    label
        Describes the table to people who cannot see it.
    head
        Each column's heading, and whether the column holds text.
    rows
        The class of each row, and its cells as markup, one for each column.
    narrow
        Whether it fits on a phone as it is.
    """
    texts = [' class="text"' if is_text else "" for _, is_text in head]
    names = [escape(what) for what, _ in head]
    top = "".join(f'<th scope="col"{text}>{name}</th>' for name, text in zip(names, texts, strict=True))
    body = []
    for kind, (first, *cells) in rows:
        rest = zip(cells, names[1:], texts[1:], strict=True)
        values = "".join(f'<td{text} data-label="{name}">{cell}</td>' for cell, name, text in rest)
        body.append(f'<tr class="{kind}"><th scope="row">{first}</th>{values}</tr>')
    return (
        f'<div class="scroll{"" if narrow else " stack"}" tabindex="0" role="region" aria-label="{label}"><table>\n'
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def unfolding(title: str, inside: str) -> str:
    """Return markup that the reader can unfold."""
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def pairs(kind: str, entries: Iterable[tuple[str, str]]) -> str:
    """Return a list of terms with their values; a term of many words gets more space."""
    inside = "".join(
        f"<div{' class=long' if len(what) > _LONG else ''}><dt>{escape(what)}</dt><dd>{escape(value)}</dd></div>"
        for what, value in entries
    )
    return f'<dl class="{kind}">{inside}</dl>'
