"""The page: view.py's values into one HTML file that loads nothing from anywhere.

Whatever comes from outside (names, labels, titles) is escaped where it enters the markup, and the data of
the replay cannot close the element that holds it. A content security policy names the page's own scripts by
their hashes: anything else that got in would not run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template
from typing import Any

from rhostar import _files as files
from rhostar.errors import InputError
from rhostar.report import _figures as figures
from rhostar.report._view import BoundView, CertificateView, MethodView, Replay, Report
from rhostar.report._wording import VERSION, count, percent

_TEMPLATES = Path(__file__).parent / "templates"


def write(
    report: Report, path: str | os.PathLike[str], *, figures_folder: str | os.PathLike[str] | None = None
) -> Path:
    """Write the page, whole or not at all.

    Parameters
    ----------
    report
        What :func:`rhostar.report.build` returned.
    path
        The HTML file.
    figures_folder
        Where to write the figures as SVG and PNG too, for papers.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    StorageError
        If the disk refuses; what stood there before stays.

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
    if figures_folder is not None:
        figures.save(report, Path(figures_folder))
    return target


def render(report: Report) -> str:
    """Return the page as text."""
    pictures = {name: draw() for name, draw in figures.available(report).items()}
    sections = [(name, title, text) for name, title, text in _sections(report, pictures) if text]
    page_script = _template("page.js")
    replay_script = _template("replay.js") if report.replay is not None else ""
    style = Template(_template("style.css")).substitute(dark=_template("dark.css"))
    data = ""
    if report.replay is not None:
        data = f'<script type="application/json" id="replay-data">{safe_json(_replay_data(report.replay))}</script>'
    return Template(_template("page.html")).substitute(
        policy=_policy(page_script, replay_script),
        version=escape(VERSION),
        title=escape(report.title),
        style=style,
        navigation="".join(f'<a href="#{name}">{escape(title)}</a>' for name, title, _ in sections),
        lead=escape(report.lead),
        tiles=_tiles(report.tiles),
        sections="\n".join(text for _, _, text in sections),
        data=data,
        page_script=page_script,
        replay_script=replay_script,
    )


def escape(text: str) -> str:
    """Return text as markup; a number stays with its per cent sign."""
    return html.escape(text).replace(" %", "\u00a0%")


def safe_json(value: Any) -> str:
    r"""Return JSON that may stand inside a script element: nothing in it can end or open one.

    >>> print(safe_json({"label": "</script><!--"}))
    {"label":"\u003c/script\u003e\u003c!--"}
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)  # ASCII: no U+2028 either
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _policy(*scripts: str) -> str:
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


# ---------------------------------------------------------------- sections


def _sections(report: Report, pictures: dict[str, Any]) -> Iterable[tuple[str, str, str]]:
    def chart(name: str, label: str, caption: str) -> str:
        if name not in pictures:
            return ""
        svg = figures.inline(pictures[name], name, escape(label))
        return f'<figure class="chart card">{svg}<figcaption>{escape(caption)}</figcaption></figure>'

    yield "replay", "Replay", _replay_section(report.replay)
    yield "comparison", "Comparison", _comparison(report, chart)
    yield "certificate", "Certificate", _certificate(report, chart)
    yield "learning", "Learning", _learning(report, chart)
    yield "setting", "Setting", _setting(report)


def _tiles(tiles: Sequence[tuple[str, str]]) -> str:
    return (
        '<dl class="tiles">'
        + "".join(f"<div><dt>{escape(what)}</dt><dd>{escape(value)}</dd></div>" for value, what in tiles)
        + "</dl>"
    )


def _replay_section(replay: Replay | None) -> str:
    if replay is None:
        return ""
    panel = Template(_template("panel.html"))
    panels = "\n".join(panel.substitute(side=side, which=which) for side, which in (("a", "Left"), ("b", "Right")))
    again = any(search.reopened for scene in replay.scenes for search in scene.searches)
    placed = replay.drawing.placed_by
    ground = (
        "The greyer a cell, the slower it is on this instance."
        if replay.drawing.kind == "grid"
        else "The heavier a line, the slower it is on this instance."
    )
    if placed != "coordinates":
        ground = f"Vertices stand in columns by their {placed}."
    return Template(_template("replay.html")).substitute(panels=panels, ground=ground, again="" if again else "none")


def _comparison(report: Report, chart: Any) -> str:
    most = max((m.expansions for m in report.methods), default=1.0) or 1.0
    rows = "".join(_method_row(m, most) for m in report.methods)
    unsolved = any(m.solved < m.total for m in report.methods)
    head = "".join(
        f'<th scope="col"{kind}>{text}</th>'
        for text, kind in (
            ("heuristic", ' class="text"'),
            ("expanded, mean", ""),
            ("95 % need at most", ""),
            ("cost above optimum, mean", ""),
            ("worst", ""),
            ("fewer expansions", ""),
            *([("solved", "")] if unsolved else []),
        )
    )
    total = report.methods[0].total if report.methods else 0
    unseen = "" if any(what == "seen before" for what, _ in report.facts) else ", none of which it has learned from"
    figures_row = chart(
        "trade_off",
        "Expanded vertices against cost above the optimum for every heuristic; the numbers stand in the table above",
        "Work against quality. Lines show learned values scaled by θ from 0, which is Dijkstra's algorithm, to 2. "
        "Down and to the left is better.",
    ) + chart(
        "distribution",
        "Share of instances that each heuristic solves with at most so many expansions",
        "How often a search gets by with so many expansions. Up and to the left is better.",
    )
    return f"""<section id="comparison" aria-labelledby="comparison-title">
<h2 id="comparison-title">Work against quality</h2>
<p>Every heuristic on the same {total:,} instances{unseen}.</p>
<div class="scroll" tabindex="0" role="region" aria-label="Table of all heuristics"><table>
<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>
<div class="columns">{figures_row}</div>{_scaling_table(report)}
</section>"""


def _method_row(method: MethodView, most: float) -> str:
    width = max(100 * method.expansions / most, 0.5)
    meter = (
        f'<span class="meter" aria-hidden="true"><svg viewBox="0 0 100 1" preserveAspectRatio="none">'
        f'<rect width="{width:.2f}" height="1"/></svg></span>'
    )
    solved = f"<td>{method.solved:,} / {method.total:,}</td>" if method.solved < method.total else ""
    saving = "—" if not math.isfinite(method.saving) else f"{method.saving:.2f}×"
    return (
        f'<tr class="{method.kind}"><th scope="row">{escape(method.name)}'
        f'<span class="small">{escape(method.algorithm)}</span></th>'
        f"<td>{count(method.expansions)}{meter}</td><td>{count(method.expansions_95)}</td>"
        f"<td>{percent(method.excess)}</td><td>{percent(method.excess_max)}</td><td>{saving}</td>{solved}</tr>"
    )


def _scaling_table(report: Report) -> str:
    if not report.tradeoffs:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(line.name)}</th><td>{theta:g}</td><td>{count(e)}</td><td>{percent(x)}</td></tr>'
        for line in report.tradeoffs
        for theta, e, x in zip(line.theta, line.expansions, line.excess, strict=True)
    )
    return (
        "<details><summary>The numbers behind the lines</summary>"
        '<div class="scroll" tabindex="0" role="region" aria-label="Scaled values"><table><thead><tr>'
        '<th scope="col" class="text">values</th><th scope="col">θ</th><th scope="col">expanded, mean</th>'
        f'<th scope="col">cost above optimum</th></tr></thead><tbody>{rows}</tbody></table></div></details>'
    )


def _certificate(report: Report, chart: Any) -> str:
    view = report.certificate
    if view is None:
        return ""
    rows = "".join(_bound_row(bound, k == 0, view) for k, bound in enumerate(view.bounds))
    table = (
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of all bounds"><table><thead><tr>'
        '<th scope="col" class="text">bound</th><th scope="col">promised</th><th scope="col">measured</th>'
        '<th scope="col">δ</th><th scope="col" class="text">holds for</th><th scope="col" class="text">from</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )
    charts = chart(
        "bounds_against_n",
        "Each bound against the number of instances it is computed from",
        "Each bound on the first N instances: how the promise tightens with data.",
    ) or chart("bounds", "Every bound beside the measured mean", "Every bound beside what was measured.")
    lists = "".join(
        _unfolding(title, lines)
        for title, lines in (
            ("What the promise rests on", _assumptions(view.bounds)),
            ("Bounds that can say nothing at this size", view.left_out),
            ("Remarks", view.remarks),
        )
        if lines
    )
    return f"""<section id="certificate" aria-labelledby="certificate-title">
<h2 id="certificate-title">What can be promised</h2>
<div class="promise card"><p>{escape(view.sentence)}</p>
<span class="small">Out of many such reports at most {100 * view.delta:g} % would promise too much.</span></div>
{table}
<div class="columns">{charts}<div class="card"><h3>How to read this</h3>
<p class="note">“This rho” means the values as they stand, judged by instances that had no part in choosing them.
“Every rho” means that it holds for all values of the family at once, so also after picking the ones that look best on
the same data. Of several bounds the tightest counts; δ, the chance of being wrong, is split among them beforehand.</p>
{lists}</div></div>
</section>"""


def _unfolding(title: str, lines: Sequence[str]) -> str:
    entries = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<details><summary>{escape(title)}</summary><ul>{entries}</ul></details>"


def _assumptions(bounds: Sequence[BoundView]) -> list[str]:
    found: list[str] = []
    for bound in bounds:
        found += [a for a in bound.assumptions if a not in found]
    return found


def _bound_row(bound: BoundView, best: bool, view: CertificateView) -> str:
    classes = "vacuous" if bound.vacuous else "best" if best else ""
    sign = "≤" if view.lower_is_better else "≥"
    value = f"{sign} {bound.value:.4g}" if not bound.vacuous else '<span class="tag">says nothing</span>'
    everyone = ' class="tag all"' if bound.holds_for.startswith("every") else ' class="tag"'
    return (
        f'<tr class="{classes}"><th scope="row">{escape(bound.name)}'
        f'<span class="small">{escape(bound.claim)}</span></th>'
        f"<td>{value}</td><td>{bound.empirical:.4g}</td><td>{bound.delta:.3g}</td>"
        f'<td class="text"><span{everyone}>{escape(bound.holds_for)}</span></td>'
        f'<td class="text">{escape(bound.reference)}</td></tr>'
    )


def _learning(report: Report, chart: Any) -> str:
    parts = []
    if report.generalisation is not None:
        curve = report.generalisation
        parts.append(
            chart(
                "generalisation",
                f"{curve.utility} on training and unseen instances against the number of training instances: "
                + "; ".join(
                    f"{s}: {a:.4g} and {b:.4g}" for s, a, b in zip(curve.sizes, curve.train, curve.test, strict=True)
                ),
                f"{curve.learner} fitted on more and more instances: where the lines meet, more data brings no more.",
            )
        )
    if report.dual is not None:
        dual = report.dual
        points = f", {dual.points:,} of them single points" if dual.points else ""
        parts.append(
            chart(
                "dual",
                f"{dual.utility} as a function of theta, in {len(dual.values)} pieces; "
                f"least {dual.best_value:.4g} at {dual.best_theta:.4g}",
                f"The dual function: {dual.utility}, mean of {dual.instances:,} instances, along {dual.direction}. "
                f"It is piecewise constant; all {len(dual.values):,} pieces are exact{points}.",
            )
        )
    if not parts:
        return ""
    return f"""<section id="learning" aria-labelledby="learning-title">
<h2 id="learning-title">How it learns</h2>
<p>What more instances bring, and the exact landscape in which the best values are sought.</p>
<div class="columns">{"".join(parts)}</div>
</section>"""


def _setting(report: Report) -> str:
    def listed(pairs: Sequence[tuple[str, str]]) -> str:
        return (
            '<dl class="facts">'
            + "".join(f"<div><dt>{escape(a)}</dt><dd>{escape(b)}</dd></div>" for a, b in pairs)
            + "</dl>"
        )

    short = [fact for fact in report.facts if len(fact[1]) <= 80]
    long = "".join(f"<p><strong>{escape(a)}.</strong> {escape(b)}</p>" for a, b in report.facts if len(b) > 80)
    return f"""<section id="setting" aria-labelledby="setting-title">
<h2 id="setting-title">What was learned, on what</h2>
{listed(short)}
{long}
<h3>Made with</h3>
{listed(report.provenance)}
</section>"""


# ---------------------------------------------------------------- the data of the replay


def _replay_data(replay: Replay) -> dict[str, Any]:
    drawing = replay.drawing
    searches = replay.scenes[0].searches
    learned = [i for i, s in enumerate(searches) if s.kind == "learned"]
    return {
        "unit": replay.cost_unit,
        "labels": {str(v): label for v, label in replay.labels.items()},
        "start": [0, learned[0] if learned else len(searches) - 1],
        "drawing": {
            "kind": drawing.kind,
            "n": drawing.n,
            "rows": drawing.rows,
            "columns": drawing.columns,
            "aspect": drawing.aspect,
            "x": _base64(drawing.x),
            "y": _base64(drawing.y),
            "edges": _base64(drawing.edges),
        },
        "scenes": [
            {
                "label": scene.label,
                "source": scene.source,
                "goal": scene.goal,
                "shade": _base64(scene.shade),
                "leftOut": list(scene.left_out),
                "searches": [
                    {
                        "method": s.method,
                        "algorithm": s.algorithm,
                        "status": s.status,
                        "cost": s.cost if math.isfinite(s.cost) else None,
                        "excess": s.excess if math.isfinite(s.excess) else None,
                        "lastClosed": s.last_closed,
                        "events": _base64(s.events),
                    }
                    for s in scene.searches
                ],
            }
            for scene in replay.scenes
        ],
    }


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
