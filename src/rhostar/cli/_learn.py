"""The command ``learn``: learns ρ from a set of instances and saves it as a model."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import rhostar as rs
from rhostar.cli import _options as options
from rhostar.cli._app import app, listing
from rhostar.cli._output import WIDTH, Json, emit, watching, working
from rhostar.cli._weight_bounds import Stated, WeightBounds, parse_bounds
from rhostar.errors import InputError


def _learners() -> Iterator[tuple[str, str]]:

    for name in dir(rs.learners):
        found = getattr(rs.learners, name)
        if isinstance(found, type) and issubclass(found, rs.learners.Learner) and found is not rs.learners.Learner:
            yield name, options.first_sentence(found)


@app.command(cls=listing("Learners", _learners))
def learn(
    folder: options.Folder,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model file to write (.npz).")],
    max_excess: Annotated[
        str,
        typer.Option(
            "--max-excess",
            help="How far any path may exceed the optimum: 0 (default, every answer is optimal) or 5%.",
            metavar="SHARE",
        ),
    ] = "",
    mean_excess: Annotated[
        str,
        typer.Option(
            "--mean-excess",
            help="Instead, a target judged by cross-validation: how far paths may exceed the optimum on "
            "average, such as 1%. inf: the fewest expansions.",
            metavar="SHARE|inf",
        ),
    ] = "",
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Make --mean-excess a guarantee that holds with this probability, such as 0.95: a part of the "
            "training set is held out to choose a factor.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        str, typer.Option("--limit", "-H", help="For --confidence: a larger excess of a path counts as this one.")
    ] = "100%",
    weight_bounds: WeightBounds = "",
    learner: Annotated[
        str, typer.Option("--learner", "-l", help="One of those below; auto picks one for you.")
    ] = "auto",
    any_goal: Annotated[
        bool, typer.Option("--any-goal", help="Learn values for every goal, not only those of the instances.")
    ] = False,
    settings: Annotated[list[str], typer.Option("--set", "-s", help="A parameter of the learner: name=value.")] = [],  # noqa: B006
    algorithm: Annotated[
        options.Search, typer.Option("--algorithm", "-a", help="The search that auto chooses for.")
    ] = "astar",
    effort: Annotated[
        Literal["quick", "normal", "thorough"], typer.Option(help="How much work auto may do.")
    ] = "normal",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which auto tries nothing further; by default no limit.", min=0.1)
    ] = None,
    fraction: Annotated[float, typer.Option(help="Share of the instances to learn from.", min=0.0, max=1.0)] = 0.7,
    split: Annotated[
        Literal["auto", "trip", "snapshot", "day", "last-days"],
        typer.Option(
            help="Split by trip, by snapshot or by day, which are never divided; last-days holds out the last days. "
            "auto: by trip if `rhostar import` drew the trips; for recorded trips by day if days are known, else by "
            "snapshot. Learners are judged by day if days are known."
        ),
    ] = "auto",
    seed: Annotated[int, typer.Option(help="Seed of the split and the learner.", min=0)] = 0,
    resume: Annotated[
        Path | None, typer.Option(help="A folder for finished parts: run the command again to continue after a crash.")
    ] = None,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    json: Json = False,
) -> None:
    """Learn heuristic values from a part of the trips and save them.

    The other instances stay unseen: evaluate, certify and report use them. By default, every answer of A* will be
    optimal. The values are built from lower bounds on the weights: those of --weight-bounds, or the lowest weights in
    the training set. If a weight falls below its bound, searches notice and are slower, but still optimal.

    Trips that `rhostar import` drew from a history are split one by one, and a certificate is about new draws from
    it. Recorded trips of one day are often alike: whole days, or snapshots, stay unseen. --split day does it for
    draws, too. With --mean-excess, a table shows what other targets would cost; the
    report of the model plots it.

    Example: rhostar learn trips -o model.npz --mean-excess 1%
    """
    options.refuse_overwrite(out, force)
    instances = rs.InstanceSet.load(folder)
    judged = {"auto": None, "trip": "snapshot", "last-days": "day"}.get(split, split)  # None: learn decides
    split = _resolved(instances, split, fraction)
    train, sides = _parts(instances, split, fraction, seed)
    given = options.parameters(settings)
    bounds = parse_bounds(weight_bounds, instances.graph, train)
    most, mean = (
        options.share(word, name) for word, name in ((max_excess, "--max-excess"), (mean_excess, "--mean-excess"))
    )
    if learner != "auto" and (max_excess or mean_excess or weight_bounds):
        raise InputError(
            f"--learner {learner} has its own parameters (--set): leave out --max-excess, "
            "--mean-excess and --weight-bounds"
        )
    if confidence is not None and (mean is None or learner != "auto"):
        raise InputError("--confidence needs --mean-excess and cannot be combined with --learner")
    lower = None if bounds is None else bounds.pair[0]
    if any_goal and learner == "auto" and mean is None:
        learner, given = "Potentials", given | {"lower": lower, "scale": 1 + (most or 0.0)}
    find = rs.learn  # the first access imports scikit-learn, which takes longer than many a fit
    start = time.perf_counter()
    train = train if resume is None else train.resumable(resume)
    with working(f"learning from {len(train):,} instances", quiet=json or learner != "auto"):
        if learner == "auto":
            how: dict[str, Any] = {"algorithm": algorithm, "max_excess": most, "mean_excess": mean, "lower": lower}
            how |= {"effort": effort, "time_limit": time_limit}
            how |= {"confidence": confidence, "limit": options.share(limit, "--limit"), "split": judged}
            fitted: Any = find(train, seed=seed, n_jobs=jobs, verbose=int(watching(json)), **how, **given)
        else:
            fitted = _learner(learner, given, seed, jobs, watching(json), judged).fit(train)
    model = rs.Model.of(fitted, instances.graph)
    if any_goal and model.heuristic.goals is not None:
        raise InputError(f"{learner} learns values for given goals only; with --any-goal use Potentials or Landmarks")
    model.save(out)
    seconds = time.perf_counter() - start
    front = getattr(fitted, "front_", None)
    emit(
        {
            "written": str(out),
            "guarantee": _guarantee(model, most, mean, bounds, getattr(fitted, "choice_", None)),
            "learner": repr(fitted.learner_) if hasattr(fitted, "learner_") else model.learner,
            "for": model.algorithm,
            "goals": "any" if model.heuristic.goals is None else len(model.goals),
            "learned_from": len(train),
            "unseen": len(instances) - len(train),
            **sides,
            **({} if bounds is None else bounds.facts),
            "seconds": round(seconds, 3),
            **({"front": front.to_dict()["rows"]} if front is not None and json else {}),
        },
        json,
    )
    if front is not None and not json:
        print("\nWhat other values of --mean-excess would cost:")
        print(*_narrow(str(front).splitlines()), sep="\n")


def _narrow(lines: list[str]) -> Iterator[str]:
    """Return the lines of a table; if one is too long, each learner is on a line of its own."""
    at, margin = lines[0].index("learner"), " " * 9
    if max(map(len, lines)) <= WIDTH:
        yield from lines
        return
    yield lines[0][:at].rstrip()
    for line in lines[1:-1]:
        yield line[:at].rstrip()
        yield textwrap.fill(line[at:], WIDTH, initial_indent=margin, subsequent_indent=margin)
    yield lines[-1]


def _resolved(instances: rs.InstanceSet, split: str, fraction: float) -> Any:
    """Return what stays together: what the user said, or days, snapshots or trips, whichever leaves two parts."""
    import numpy as np

    if split != "auto" or instances.pool is not None:
        return "trip" if split == "auto" else split
    days = 0 if instances.days is None else np.unique(instances.days).size
    for name, count in (("day", days), ("snapshot", len(instances.weights))):
        if count > 1 and (fraction == 1 or 0 < round(fraction * count) < count):
            return name
    return "trip"


def _parts(instances: rs.InstanceSet, split: str, fraction: float, seed: int) -> tuple[rs.InstanceSet, dict[str, Any]]:
    """Return the instances to learn from, and what to say about the split."""
    import numpy as np

    if split in ("trip", "snapshot"):
        together = False if split == "trip" else instances.rows
        return (instances if fraction == 1 else instances.split(fraction, seed, groups=together)[0]), {}
    if instances.days is None:
        raise InputError(f"--split {split}: the snapshots of this set have no time stamps")
    day = instances.days[instances.rows]
    days = np.unique(day).size
    train = instances
    if fraction < 1:
        learned = round(fraction * days)
        if not 0 < learned < days:
            what = f"{days} day{'s' * (days > 1)}"
            raise InputError(f"--split {split}: --fraction {fraction:g} of {what} leaves no day on one side")
        if split == "day":
            train = instances.split(fraction, seed, groups=day)[0]
        else:
            train = rs.datasets.split_by_day(instances, test_days=days - learned)[0]
    seen = np.unique(train.days[train.rows]).size  # type: ignore[index]
    words = {"day": "whole days, drawn at random", "last-days": "whole days, the last ones unseen"}[split]
    return train, {"split": words, "days_learned_from": seen, "days_unseen": days - seen}


def _guarantee(model: rs.Model, most: float | None, mean: float | None, bounds: Stated | None, choice: Any) -> str:
    """Return what holds for the answers of the model, in words."""
    lowest = "the lowest in the training set" if bounds is None else f"the bounds {bounds.where}"
    if model.heuristic.lower is not None:
        return (
            f"every answer of A* is optimal. Values hold if no weight is below {lowest}; where one is, searches lower "
            "them and say so"
        )
    if most is not None:
        return f"every path of A* costs at most {100 * most:g}% more than the optimum, if no weight is below {lowest}"
    if choice is not None:
        return str(choice.sentence)
    if mean is not None and mean < float("inf"):
        return (
            f"none: {100 * mean:g}% above the optimum on average is a target that was kept in cross-validation; "
            "--confidence 0.95 makes it a guarantee"
        )
    return "none about costs; `rhostar certify` says what holds"


def _learner(name: str, given: dict[str, Any], seed: int, jobs: int, verbose: bool, split: str | None) -> Any:
    """Return a learner by its name in ``rhostar.learners``, with its parameters."""
    known = [known for known, _ in _learners()]
    if name not in known:
        raise InputError(f"--learner must be auto or one of {', '.join(known)}, got {name!r}")
    kind = getattr(rs.learners, name)
    accepted = kind._get_param_names()
    for key in given:
        if key not in accepted:
            raise InputError(f"{name} has no parameter {key!r}; it has {', '.join(accepted)}")
    usual: dict[str, Any] = {"random_state": seed, "n_jobs": jobs, "verbose": int(verbose), "split": split}
    try:
        return kind(**{key: value for key, value in usual.items() if key in accepted} | given)
    except TypeError as error:
        raise InputError(f"{name}: {error}; give it with --set") from None
