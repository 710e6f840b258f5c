"""Puts the sections together into one self-contained HTML file.

A content security policy lists the page's scripts by their hashes: any other script would not run. The
data of a section cannot close the element that holds it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from rhostar import _files as files
from rhostar.errors import InputError
from rhostar.report import _figures as drawings
from rhostar.report._comparison import Comparison, MethodView
from rhostar.report._replay import Replay
from rhostar.report._section import Section, escape, pairs, template
from rhostar.report._wording import VERSION


@dataclass(frozen=True)
class Report:
    """One page, as :func:`rhostar.report.build` returns it."""

    title: str
    """The title of the page."""
    lead: str
    """One or two sentences: what was found."""
    tiles: tuple[tuple[str, str], ...]
    """The most important numbers: each a value and its meaning."""
    sections: tuple[Section, ...]
    """In the order of the page."""

    def __getitem__(self, name: str) -> Any:
        """Return a section by its name, such as "comparison" or "replay"; KeyError if the page has none."""
        return {section.name: section for section in self.sections}[name]

    @property
    def methods(self) -> tuple[MethodView, ...]:
        """How each heuristic did."""
        return tuple(m for section in self.sections if isinstance(section, Comparison) for m in section.methods)


def write(report: Report, path: str | os.PathLike[str]) -> Path:
    """Write the page, completely or not at all.

    Parameters
    ----------
    report
        What :func:`rhostar.report.build` returned.
    path
        The HTML file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    StorageError
        If the file cannot be written; an old file stays as it was.

    Examples
    --------
    >>> import numpy as np, rhostar as rs, tempfile
    >>> graph = rs.Graph.grid(10, 10)
    >>> instances = rs.InstanceSet(graph, graph.length, sources=[0, 5], goal=99)
    >>> report = rs.report.build(instances, {"Dijkstra": np.zeros(100)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = rs.report.write(report, f"{folder}/report.html")
    ...     page.read_text()[:15]
    '<!doctype html>'
    """
    if not isinstance(report, Report):
        raise InputError(f"report must be made by rhostar.report.build, got {type(report).__name__}")
    target = Path(path)
    text = render(report)
    with files.replacing(target) as beside:
        beside.write_text(text, encoding="utf-8")
    return target


def render(report: Report) -> str:
    """Return the page as text.

    Parameters
    ----------
    report
        What :func:`rhostar.report.build` returned.

    Returns
    -------
    str
        The HTML of the whole page.

    Examples
    --------
    >>> import numpy as np, rhostar as rs
    >>> graph = rs.Graph.grid(4, 4)
    >>> instances = rs.InstanceSet(graph, graph.length, [0, 1, 2], goal=15)
    >>> rs.report.render(rs.report.build(instances, {"Dijkstra": np.zeros(16)}))[:15]
    '<!doctype html>'
    """
    bodies = [(section, body) for section in report.sections if (body := section.body(_charts(section)))]
    scripts = [template(name) for name in ("page.js", *(script for s, _ in bodies for script in s.scripts))]
    data = [(section.name, section.data()) for section, _ in bodies]
    return Template(template("page.html")).substitute(
        policy=_policy(*scripts),
        version=escape(VERSION),
        title=escape(report.title),
        style=Template(template("style.css")).substitute(dark=template("dark.css")),
        navigation="".join(f'<a href="#{section.name}">{escape(section.title)}</a>' for section, _ in bodies),
        lead=escape(report.lead),
        # A page with maps opens with them; the numbers follow.
        opening="\n".join(_framed(section, body) for section, body in bodies if isinstance(section, Replay)),
        tiles=pairs("tiles", [(what, value) for value, what in report.tiles]),
        sections="\n".join(_framed(section, body) for section, body in bodies if not isinstance(section, Replay)),
        data="\n".join(
            f'<script type="application/json" id="{name}-data">{safe_json(value)}</script>'
            for name, value in data
            if value is not None
        ),
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def _framed(section: Section, body: str) -> str:
    title = f"{section.name}-title"
    return f"""<section id="{section.name}" aria-labelledby="{title}">
<h2 id="{title}">{escape(section.heading)}</h2>
{body}
</section>"""


def _charts(section: Section) -> Any:
    """Return the function that gives a section its figures as markup."""
    figures = section.figures()

    def chart(name: str, label: str, caption: str) -> str:
        if name not in figures:
            return ""
        svg = drawings.inline(figures[name](), name, escape(label))
        return f'<figure class="chart card">{svg}<figcaption>{escape(caption)}</figcaption></figure>'

    return chart


def safe_json(value: Any) -> str:
    r"""Return JSON that is safe inside a script element: nothing in it can end or open one.

    >>> print(safe_json({"label": "</script><!--"}))
    {"label":"\u003c/script\u003e\u003c!--"}
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII: no U+2028 either
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(*scripts: str) -> str:
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
