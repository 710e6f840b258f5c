"""The command ``report``: writes a comparison of heuristics as one HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli._app import app
from rhostar.cli._output import Json, emit, working

if TYPE_CHECKING:
    from rhostar.report._certificate import CertificateSection


@app.command()
def report(
    folder: options.Folder,
    model: options.Models = [],  # noqa: B006
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = Path("report.html"),
    baseline: options.Baselines = ["zero"],  # noqa: B006
    algorithm: options.Algorithm = None,
    reopen: options.Reopen = True,
    budget: options.Budget = None,
    title: Annotated[str, typer.Option(help="The title of the page.")] = "Learned heuristic values",
    unit: Annotated[str, typer.Option(help="Unit of the costs, such as min.")] = "",
    scenes: Annotated[int, typer.Option(help="How many instances to replay.", min=0, max=7)] = 3,
    geographic: Annotated[bool, typer.Option("--geographic", help="Coordinates are longitude and latitude.")] = False,
    everything: options.Seen = False,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    json: Json = False,
) -> None:
    """Write one HTML page, with searches to watch.

    The page shows the comparison, the certificates in the model files (`rhostar certify --save`), and what another
    --mean-excess would have cost when the models were learned.

    Example: rhostar report trips -m model.npz -o report.html
    """
    options.refuse_overwrite(out, force)
    instances = rs.InstanceSet.load(folder)
    models = options.load_models(model)
    test = options.unseen(instances, list(models.values()), everything)
    kept = {name: m.certificate for name, m in models.items() if m.certificate is not None}
    sections: list[Any] = [] if not kept else [_certificates(kept, named=len(models) > 1)]
    fronts = {name: m.front for name, m in models.items() if m.front is not None}
    sections += [rs.report.front_section(fronts)] if fronts else []
    with working(f"solving {len(test):,} instances", quiet=json):
        page = rs.report.build(
            test,
            options.methods(test, models, baseline, algorithm, reopen),
            title=title,
            train=options.seen(instances, *models.values()),
            sections=sections,
            scenes=scenes,
            budget=budget,
            cost_unit=unit,
            geographic=geographic,
            n_jobs=jobs,
        )
        path = rs.report.write(page, out)
    emit({"written": str(path), "bytes": path.stat().st_size}, json)


def _certificates(kept: Mapping[str, Mapping[str, Any]], *, named: bool) -> CertificateSection:
    """Return the section on the certificates, each with the name of its model if there are several."""
    *others, (name, table) = kept.items()
    also = {other: rs.certificates.CertificateTable.from_dict(found) for other, found in others}
    return rs.report.certificate_section(table, method=name if named else "", also=also)
