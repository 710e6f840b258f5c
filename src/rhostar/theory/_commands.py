"""The commands ``rhostar theory``: shattered sets, growth, the atlas, and dual functions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli._app import app as program
from rhostar.cli._app import listing
from rhostar.cli._output import Json, emit, table, working
from rhostar.errors import InputError, StorageError

app = typer.Typer(
    help="Study behaviors, shattered sets and dual functions.", no_args_is_help=True, rich_markup_mode=None
)
program.add_typer(app, name="theory")


def _sets() -> Iterator[tuple[str, str]]:

    for known in rs.theory.constructions.values():
        yield known.name, f"{known.utility} of {' and '.join(known.algorithms)}"


Vertices = Annotated[int, typer.Option("-n", "--vertices", help="Number of vertices.", min=4)]
Which = Annotated[options.Search, typer.Option("--algorithm", "-a", help="The search.")]
Most = Annotated[int, typer.Option(help="Maximum number of behaviors.", min=1)]


@app.command(cls=listing("Sets", _sets))
def shatter(
    n: Vertices = 8,
    algorithm: Which = "gbfs",
    kind: Annotated[str, typer.Option("--set", help="Which instances: one of those below.")] = "theorem5",
    json: Json = False,
) -> None:
    """Build a shattered set and run its patterns.

    Example: rhostar theory shatter -n 8
    """
    found = _shattered(kind, n, algorithm)
    size = len(found)
    with working(f"running the patterns of {size} instances", quiet=json):
        tried = found.verify()
    every = "all" if tried == 2**size else f"{tried:,} random ones of the"
    emit(
        {"set": kind, "n": n, "algorithm": found.algorithm, "instances": size, "patterns": tried},
        json,
        f"{size} instances on {n} vertices, {found.utility.name} of {found.algorithm}: "
        f"{every} {2**size:,} patterns occurred",
    )


@app.command(cls=listing("Sets", _sets))
def growth(
    n: Vertices = 8,
    algorithm: Which = "gbfs",
    kind: Annotated[str, typer.Option("--set", help="Which instances: one of those below.")] = "theorem5",
    max_behaviours: Most = 1_000_000,
    json: Json = False,
) -> None:
    """Count behaviors and utility vectors, next to the bounds.

    Example: rhostar theory growth -n 7
    """
    found = _shattered(kind, n, algorithm)
    with working(f"following all ρ through {len(found)} instances", quiet=json):
        counts = rs.theory.growth(
            found.instances, found.algorithm, found.utility, found.reopen, max_behaviours=max_behaviours
        )
    columns = {
        "behaviours": counts.behaviours,
        "vectors": counts.vectors,
        "massart": counts.massart,
        "monte_carlo": counts.monte_carlo,
        "rademacher": counts.rademacher,
    }
    emit({"set": kind, "n": n, **columns, "lg_bounds": counts.bounds}, json, str(counts))


@app.command()
def atlas(
    folder: Annotated[Path | None, typer.Option("--folder", "-f", help="Your own entries, not the package's.")] = None,
    rounds: Annotated[int, typer.Option(help="With --folder: rounds of the search for larger sets.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the search.", min=0)] = 0,
    vertices: Annotated[tuple[int, int], typer.Option(help="Smallest and largest graphs of the search.")] = (
        4,
        8,
    ),
    jobs: options.Jobs = 1,
    json: Json = False,
) -> None:
    """Verify the largest known shattered sets, or search for larger ones.

    Example: rhostar theory atlas
    """
    if rounds and folder is None:
        raise InputError("--rounds needs --folder, where new sets are kept")
    if folder is not None and not rounds and not folder.is_dir():
        raise InputError(f"there is no folder {folder}")
    if rounds and folder is not None:
        kinds = rs.theory.atlas.kinds(range(vertices[0], vertices[1] + 1))
        if not kinds:
            raise InputError(f"--vertices must be two numbers in order, got {vertices[0]} {vertices[1]}")
        with working(f"hunting, {len(kinds)} kinds", quiet=json):
            rs.theory.atlas.search(folder, rounds=rounds, seed=seed, only=kinds, n_jobs=jobs)
    with working("verifying with the plain reference", quiet=json):
        sizes = rs.theory.atlas.verify(folder)
    text = table(["shattered set", "instances"], sorted(sizes.items()))
    emit({"entries": sizes}, json, f"{len(sizes)} sets verified, every pattern by the plain reference\n{text}")


@app.command(cls=listing("Utilities", options.utilities))
def dual(
    folder: options.Folder,
    model: options.OneModel,
    count: Annotated[
        int, typer.Option("--count", "-n", help="How many instances to use, starting with the first.", min=1)
    ] = 5,
    low: Annotated[float, typer.Option(help="Smallest θ.")] = 0.8,
    high: Annotated[float, typer.Option(help="Largest θ.")] = 1.5,
    utility: Annotated[
        str, typer.Option("--utility", "-u", help="What to measure: one of those below.")
    ] = "expansions",
    limit: options.Limit = None,
    algorithm: options.Algorithm = None,
    reopen: options.Reopen = True,
    figure: Annotated[Path | None, typer.Option(help="A picture to write (.svg, .png, .pdf).")] = None,
    json: Json = False,
) -> None:
    """Find every piece of a utility along ρ = θ · (a model's values).

    Example: rhostar theory dual trips -m model.npz -u expansions -H 100
    """
    import numpy as np

    from rhostar import _files as files

    instances = rs.InstanceSet.load(folder)
    _, fitted = options.one_model(model)
    zeros = np.zeros(instances.graph.n)
    chosen = fitted.search_with(algorithm)
    measure = rs.utilities.by_name(utility, limit, n=instances.graph.n)
    with working(f"following {count} instances along the line", quiet=json):
        found = rs.theory.dual(zeros, fitted, low, high, instances[:count], chosen, measure, reopen=reopen)
    if figure is not None:
        try:
            with files.replacing(figure) as beside:
                drawing = found.plot().get_figure(root=True)
                assert drawing is not None
                drawing.savefig(beside, format=figure.suffix[1:] or "png")
        except StorageError:
            raise
        except ValueError as error:  # no picture format has this ending
            raise StorageError(f"could not write {figure}: {error}") from error
    best = found.minimizers[0]
    entry: dict[str, Any] = {
        "pieces": len(found),
        "behaviours": found.behaviours,
        "best": found.value,
        "theta": float(found.theta),
        "from": float(best.low),
        "to": float(best.high),
    }
    full = {"edges": found.intervals.edges, "mean": found.mean} if json else {}
    emit(entry | full, json)


def _shattered(kind: str, n: int, algorithm: options.Search) -> Any:
    """Return a shattered set by the name of its construction."""
    if kind not in rs.theory.constructions:
        raise InputError(f"--set must be one of {', '.join(rs.theory.constructions)}, got {kind!r}")
    return rs.theory.constructions[kind].build(n, algorithm)
