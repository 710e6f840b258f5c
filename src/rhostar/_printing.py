"""Small tables for people: aligned text for a terminal, plain HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

Rows = Sequence[Sequence[str]]
"""The heading first, then one row each."""


def text_table(rows: Rows, *, words: int = 1) -> str:
    """Return rows as aligned columns, the first `words` of them to the left and numbers to the right.

    Examples
    --------
    >>> from rhostar._printing import text_table
    >>> print(text_table([["utility", "mean"], ["ratio", "1.04"]]))
    utility  mean
    ratio    1.04
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(w) if k < words else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def html_table(rows: Rows, *, words: int = 1, note: str = "") -> str:
    """Return rows as an HTML table, with everything in them escaped; colours are those of the page around it.

    Examples
    --------
    >>> from rhostar._printing import html_table
    >>> html_table([["utility"], ["a < b"]])
    '<table>...<td style="text-align:left">a &lt; b</td></tr></tbody></table>'
    """

    def line(cells: Sequence[str], tag: str) -> str:
        sides = ["left" if k < words else "right" for k in range(len(cells))]
        inside = [f'<{tag} style="text-align:{s}">{escape(c)}</{tag}>' for c, s in zip(cells, sides, strict=True)]
        return f"<tr>{''.join(inside)}</tr>"

    body = "".join(line(row, "td") for row in rows[1:])
    foot = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table>{foot}"
