"""Options that several commands share, and functions that turn them into models, heuristics and utilities."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import rhostar as rs
from rhostar.errors import InputError, VertexError

Search = Literal["astar", "gbfs"]
BASELINES = ("zero", "euclidean", "octile", "haversine", "landmarks")

Folder = Annotated[Path, typer.Argument(help="A folder that `rhostar import` wrote.", show_default=False)]
Models = Annotated[
    list[str], typer.Option("--model", "-m", help="A model file, or name=file; may be repeated.", show_default=False)
]
OneModel = Annotated[list[str], typer.Option("--model", "-m", help="A model file.", show_default=False)]
Baselines = Annotated[
    list[str], typer.Option("--baseline", "-b", help=f"One of {', '.join(BASELINES)}; may be repeated.")
]
Algorithm = Annotated[
    Search | None, typer.Option("--algorithm", "-a", help="By default what the model is for.", show_default=False)
]
Reopen = Annotated[bool, typer.Option("--reopen/--no-reopen", help="Whether A* reopens closed vertices.")]
Budget = Annotated[int | None, typer.Option(help="Maximum number of expansions of one search.", min=0)]
Seen = Annotated[bool, typer.Option("--all", help="Also use instances that a model was learned from.")]
Duplicates = Annotated[
    Literal["raise", "drop"], typer.Option(help="What to do with copies of instances that the model was learned from.")
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 uses all cores.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is already there.")]
Limit = Annotated[
    float | None, typer.Option("--limit", "-H", help="Upper end H of its range; larger values count as H.")
]


def refuse_others(training: bool, for_training: dict[str, Any], for_holdout: dict[str, Any]) -> None:
    """Raise if an option of ``certify`` is given that the instances certified on do not serve."""
    for name, value in (for_holdout if training else for_training).items():
        if value is not None:
            where = "a holdout, and none is used" if training else "the instances learned from: pass --training"
            raise InputError(f"{name} is about {where}")


def groups(word: str | None, holdout: rs.InstanceSet | None) -> Any:
    """Return the groups of dependent instances, as ``certify`` takes them."""
    if word is None or holdout is None:
        return None
    if word == "none":
        return False
    if holdout.days is None:
        raise InputError("--groups day: the snapshots of this set have no time stamps")
    return holdout.days[holdout.rows]


def load_models(words: Sequence[str]) -> dict[str, rs.Model]:
    """Return models by name: the given name, or the file's."""
    found: dict[str, rs.Model] = {}
    for word in words:
        name, mark, path = word.partition("=")
        if not mark or Path(word).exists():
            name, path = Path(word).stem, word
        found[name if name not in found else f"{name} {len(found) + 1}"] = rs.Model.load(path)
    return found


def one_model(words: Sequence[str]) -> tuple[str, rs.Model]:
    """Return the file and the model of a command that takes one."""
    if len(words) != 1:
        raise InputError(f"--model must be given once, got {len(words)}")
    return words[0], rs.Model.load(words[0])


def unseen(instances: rs.InstanceSet, models: Sequence[rs.Model], everything: bool) -> rs.InstanceSet:
    """Return the instances that none of the models was learned from, neither these nor copies of them."""
    import numpy as np

    touched = np.zeros(len(instances), dtype=bool)
    for model in models:
        rs.heuristics.as_heuristic(model, instances.graph)  # rejects another graph before anything is run
        if model.heuristic.trained_on is None:
            continue
        if not everything and any(part.shares_randomness(instances) for part in model.heuristic.trained_on.parts):
            raise InputError(
                "these instances were drawn with the same random numbers as those that a model was learned from; "
                "import them with another --seed, or pass --all"
            )
        touched |= model.heuristic.trained_on.among(instances)
    if everything or not touched.any():
        return instances
    if touched.all():
        raise InputError(
            f"all {len(instances)} instances were learned from; learn from a part of them (--fraction), or pass --all"
        )
    return instances[~touched]


def seen(instances: rs.InstanceSet, *models: rs.Model) -> rs.InstanceSet | None:
    """Return the instances of this set that the models were learned from; copies in other sets do not count."""
    import numpy as np

    mask = np.zeros(len(instances), dtype=bool)
    for model in models:
        if model.heuristic.trained_on is not None:
            mask |= model.heuristic.trained_on.recorded(instances)
    return instances[mask] if mask.any() else None


def parts(instances: rs.InstanceSet, model: rs.Model) -> tuple[rs.InstanceSet | None, rs.InstanceSet | None]:
    """Return the instances of a folder that a model was learned from, and all others, for ``certify``.

    If the model was learned from another folder, the others may be copies of what it saw: ``certify`` refuses these,
    or drops them with ``--duplicates drop``.
    """
    rs.heuristics.as_heuristic(model, instances.graph)  # rejects another graph before anything is run
    if model.heuristic.trained_on is None:
        return None, instances
    mask = model.heuristic.trained_on.recorded(instances)
    if mask.all():
        return instances, None
    usable = mask.any() and not model.heuristic.uses_weights  # bounds for every ρ are about tables
    return (instances[mask] if usable else None), instances[~mask]


def baseline(name: str, instances: rs.InstanceSet) -> tuple[str, Any]:
    """Return a handcrafted heuristic: its name in tables, and its values, or a potential if there are several goals."""
    import numpy as np

    if name == "zero":
        return "Dijkstra", np.zeros(instances.graph.n)
    # Baselines take what they need from the instances they are measured on, which can only favor them.
    if name == "landmarks":
        return "landmarks", rs.learners.Landmarks(random_state=0).fit(instances)
    if name not in BASELINES:
        raise InputError(f"--baseline must be one of {', '.join(BASELINES)}, got {name!r}")
    scale = rs.heuristics.safe_scale(instances, name)  # type: ignore[arg-type]
    goal = instances.goal if isinstance(instances.goal, int) else None
    return name, getattr(rs.heuristics, name)(instances.graph, goal, scale=scale)


def methods(
    instances: rs.InstanceSet,
    models: dict[str, rs.Model],
    baselines: Sequence[str],
    algorithm: Search | None,
    reopen: bool,
) -> dict[str, rs.report.Method]:
    """Return all heuristics to compare, baselines first."""
    found = {}
    for word in baselines:
        name, rho = baseline(word, instances)
        found[name] = rs.report.Method(rho, algorithm or "astar", reopen)
    for name, model in models.items():
        found[name] = rs.report.Method(model, model.search_with(algorithm), reopen, "learned")
    if not found:
        raise InputError("give at least one --model or --baseline")
    return found


def utilities() -> Iterator[tuple[str, str]]:
    """Return what can be measured: name and meaning."""
    for name, kind in rs.utilities.registry.items():
        yield name.replace("_", "-"), first_sentence(kind)


def parameters(words: Sequence[str]) -> dict[str, Any]:
    """Return the parameters in name=value words; values are Python numbers, words and lists."""
    found: dict[str, Any] = {}
    for word in words:
        name, mark, value = word.partition("=")
        if not mark or not name.isidentifier():
            raise InputError(f"--set takes name=value, got {word!r}")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def share(word: str, name: str) -> float | None:
    """Return a share such as 1% or 0.01, or inf; None for an empty word."""
    if not word:
        return None
    try:
        number = float(word.strip().removesuffix("%"))
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise InputError(f"{name} must be a share such as 1% or 0.01, got {word!r}")
    if word.strip().endswith("%"):
        return number / 100
    if 1 <= number < float("inf"):
        raise InputError(f"{name} {word} would be {100 * number:g}%: write {number:g}% or {100 * number:g}%")
    return number


def names(graph: Any, vertices: list[int]) -> list[Any]:
    """Return the labels of vertices, or their numbers if the graph has no labels."""
    return vertices if graph.labels is None else [graph.labels[v] for v in vertices]


def vertex(graph: Any, name: str) -> int:
    """Return the vertex that a word on the command line names: a label, or without labels a number or row,column."""
    from rhostar.graph._lookup import similar_label

    tries: list[Any] = [name]
    if re.fullmatch(r"[0-9]{1,999}", name):  # Python reads no more than 4,300 digits
        tries.append(int(name))
    elif re.fullmatch(r"[0-9]{1,999},[0-9]{1,999}", name):
        tries.append(tuple(int(part) for part in name.split(",")))
    for word in tries:
        try:
            return int(graph.vertex(word))
        except VertexError:
            continue
    # With labels, a number that is none of them is a mistake, not a vertex.
    if graph.labels is None and isinstance(tries[-1], int) and tries[-1] < graph.n:
        return tries[-1]
    named = f"vertex in 0..{graph.n - 1} of the graph"
    if graph.labels is not None:
        named = f"label of the graph; {similar_label(graph._index, name)}"
    raise VertexError(f"{name[:60]!r} is not a {named}")


def refuse_overwrite(path: Path, force: bool) -> None:
    """Raise if a file or a folder with content would be replaced without ``--force``; call it before the work begins.

    Devices and pipes are left to the writer, which refuses them in any case.
    """
    if not force and (path.is_file() or (path.is_dir() and any(path.iterdir()))):
        raise InputError(f"{path} exists already; give another name, or --force to replace it")


def first_sentence(thing: Any) -> str:
    """Return the first sentence of a docstring, without markup."""
    first = (inspect.getdoc(thing) or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")
    return re.sub(r":\w+:`~?([^`]*)`|``([^`]*)``|`([^`]*)`", lambda found: "".join(found.groups("")), first)
