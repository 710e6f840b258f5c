"""Models: a heuristic saved in a file, with everything needed to use it again.

A model is one ``.npz`` file of plain arrays and JSON text. Nothing in it is ever unpickled. It contains the hash of the
graph that it was fitted on and rejects every other graph: on another graph of the same size the values would be wrong,
and nobody would notice.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rhostar import _archives as archives
from rhostar import _arrays as arrays
from rhostar import _files as files
from rhostar.errors import ModelError, StorageError
from rhostar.graph import Graph
from rhostar.graph._storage import hashable_label, plain_label
from rhostar.heuristics import _chosen, _geometric, _landmarks, _per_goal  # noqa: F401  # the kinds that files hold
from rhostar.heuristics._accept import as_heuristic
from rhostar.heuristics._base import Heuristic
from rhostar.heuristics._distances import ENTERING, PARTS
from rhostar.heuristics._storage import digest, from_parts, to_parts

_KIND = "rhostar-model"
_VERSION = 5
_MAPPED = {*PARTS, "to", "away", "coordinates"}
"""Arrays that are left in the file: they are large, and a search looks at few of their values."""
_NAMES = {"facts", "values", "tables", "probes", "usual", "low", "high", "lower", "consistent_for", *ENTERING, *_MAPPED}
_KEPT = ("learner", "parameters", "algorithm", "certificate", "front", "versions")
_RECORDS = re.compile(r"trained_on_[a-z0-9_]{1,60}")
_MEMBER = re.compile(r"^([0-9]{1,6}_)*")


@dataclass(frozen=True, eq=False)
class Model:
    """A heuristic with a record of how it was made; accepted wherever a heuristic is.

    Most users call :meth:`of` after a fit, :meth:`save`, and :meth:`load` later.

    Parameters
    ----------
    heuristic
        The heuristic. It knows its graph and goals, and which instances it was learned from.
    learner
        The name of what learned it.
    parameters
        Its parameters, as plain values.
    algorithm
        The algorithm that it is meant for: "astar", "gbfs" or "any".
    certificate
        The certificate, as plain values, or None.
    front
        What :func:`rhostar.learn` could choose from, as plain values (``front_.to_dict()``), or None.
    versions
        Of rhostar, Python and numpy when it was made.
    goal_labels
        The label of each goal, if the vertices of the graph have labels.

    Examples
    --------
    >>> import numpy as np, rhostar as rs, tempfile
    >>> graph = rs.Graph.grid(5, 5)
    >>> weights = np.random.default_rng(0).uniform(1, 2, size=(20, graph.m))
    >>> instances = rs.InstanceSet(graph, weights, sources=0, goal=24)
    >>> learner = rs.learners.MeanDistance().fit(instances)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rs.Model.of(learner, graph).save(f"{folder}/model.npz")
    ...     model = rs.Model.load(f"{folder}/model.npz")
    >>> model
    Model(MeanDistance, 25 vertices, goal 24)
    >>> bool((model.heuristic.table(24) == learner.rho_).all())
    True
    """

    heuristic: Heuristic
    learner: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    algorithm: Literal["astar", "gbfs", "any"] = "any"
    certificate: Mapping[str, Any] | None = None
    front: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    goal_labels: Mapping[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        about = None if self.certificate is None else self.certificate.get("about")
        if about and about != digest(self.heuristic):
            raise ModelError(
                "the certificate is about another heuristic: certify this one, or make the model of table.rho"
            )

    @classmethod
    def of(cls, learner: Any, graph: Graph, *, certificate: Mapping[str, Any] | None = None) -> Model:
        """Return the model of a fitted learner.

        Parameters
        ----------
        learner
            A fitted learner, or anything else that is accepted as a heuristic.
        graph
            The graph that it was fitted on.
        certificate
            The certificate, as plain values (``table.to_dict()``).

        Returns
        -------
        Model
            It shares the values of the learner.

        Raises
        ------
        NotFittedError
            If the learner is not fitted.
        ModelError
            If it was fitted on another graph, or the certificate is about another heuristic.
        ArrayError, HeuristicError
            If its values are not one finite number per vertex of the graph.
        """
        found = as_heuristic(learner, graph).with_facts(fingerprint=graph.fingerprint)
        to_parts(found)  # raises if values are not good
        labels = graph.labels
        return cls(
            found,
            learner=type(learner).__name__,
            parameters={k: _plain(v) for k, v in getattr(learner, "get_params", dict)().items()},
            algorithm=getattr(learner, "algorithm", "any"),
            certificate=certificate,
            front=learner.front_.to_dict() if hasattr(learner, "front_") else None,
            versions={"rhostar": version("rhostar"), "python": platform.python_version(), "numpy": np.__version__},
            goal_labels={} if labels is None else {goal: labels[goal] for goal in found.goals or ()},
        )

    @property
    def goals(self) -> list[int]:
        """The goals that it is for; empty if it serves every goal."""
        return sorted(self.heuristic.goals or ())

    def search_with(self, algorithm: Literal["astar", "gbfs"] | None = None) -> Literal["astar", "gbfs"]:
        """Return the algorithm to use: the given one, else the one that ρ is meant for, else "astar".

        Parameters
        ----------
        algorithm
            "astar", "gbfs" or None.

        Returns
        -------
        str
            "astar" or "gbfs".
        """
        return algorithm or ("gbfs" if self.algorithm == "gbfs" else "astar")

    def with_certificate(self, certificate: Mapping[str, Any] | None) -> Model:
        """Return the same model with another certificate.

        Parameters
        ----------
        certificate
            As for :meth:`of`.

        Returns
        -------
        Model
            It shares everything else with this one.

        Raises
        ------
        ModelError
            If the certificate is about another heuristic.
        """
        return replace(self, certificate=certificate)

    def __repr__(self) -> str:
        goals = self.goals
        first = f" ({self.goal_labels[goals[0]]!r})" if len(goals) == 1 and goals[0] in self.goal_labels else ""
        goal = f"goal {goals[0]}{first}" if len(goals) == 1 else f"{len(goals)} goals" if goals else "any goal"
        return f"Model({self.learner or 'values'}, {self.heuristic.n} vertices, {goal})"

    # ------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, completely or not at all.

        Parameters
        ----------
        path
            The file to write or replace.

        Raises
        ------
        StorageError
            If the file cannot be written; an old file stays as it was.
        """
        parts, own = to_parts(self.heuristic)
        facts = {
            "format": _KIND,
            "version": _VERSION,
            "heuristic": own,
            "learner": self.learner,
            "parameters": dict(self.parameters),
            "algorithm": self.algorithm,
            "certificate": None if self.certificate is None else _plain(dict(self.certificate)),
            "front": None if self.front is None else _plain(dict(self.front)),
            "versions": dict(self.versions),
            "goal_labels": [[goal, _savable(label)] for goal, label in self.goal_labels.items()],
        }
        parts["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        with files.replacing(path) as beside, beside.open("wb") as stream:
            archives.write_arrays(stream, parts, mappable=_is_mapped)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Model:
        """Read a file that :meth:`save` wrote. Heuristics for every goal stay in the file, which is mapped.

        Parameters
        ----------
        path
            The file.
        max_bytes
            How much memory its arrays may take; by default 64 MiB or 200 times the size of the file, if that is more.

        Returns
        -------
        Model

        Raises
        ------
        StorageError
            If it is missing, damaged, not a model, or would unpack to more than that.
        """
        source = Path(path)
        most = None if max_bytes is None else arrays.integer(max_bytes, "max_bytes", 1)
        try:
            # The facts first: they say what the file is.
            options: dict[str, Any] = {"max_bytes": most, "what": "model of rhostar"}
            text = archives.read_arrays(source, ["facts"], strict=False, **options)["facts"]
            facts = json.loads(text.tobytes().decode())
            if facts["format"] != _KIND or facts["version"] != _VERSION:
                raise StorageError(f"{source} contains {facts['format']!r} version {facts['version']}, not a model")
            _require_sound(facts, source)
            parts = archives.read_arrays(source, _belongs, strict=True, mappable=_is_mapped, **options)
            try:
                heuristic = from_parts(parts, facts["heuristic"])
            except StorageError as error:
                raise StorageError(f"{source} cannot be used: {error}") from None
            if heuristic.fingerprint is None:
                raise StorageError(f"{source} is damaged: it does not say for which graph it is")
            return cls(
                heuristic,
                goal_labels={int(goal): hashable_label(label) for goal, label in facts["goal_labels"]},
                **{name: facts[name] for name in _KEPT},
            )
        except FileNotFoundError:
            raise StorageError(f"there is no model at {source}") from None
        except OSError as error:
            raise StorageError(f"{source} cannot be read: {error.strerror or error}") from error
        except (StorageError, MemoryError):
            raise
        except ModelError as error:
            raise StorageError(f"{source} is damaged: {error}") from None
        except Exception as error:  # damaged facts can fail in many ways
            raise StorageError(f"{source} is damaged or not a model of rhostar ({type(error).__name__})") from None


def _belongs(name: str) -> bool:
    """Return whether a model may have an array of this name."""
    own = _MEMBER.sub("", name)
    return own in _NAMES or _RECORDS.fullmatch(own) is not None


def _is_mapped(name: str) -> bool:
    """Return whether an array is left in the file."""
    return _MEMBER.sub("", name) in _MAPPED


def _require_sound(facts: Mapping[str, Any], source: Path) -> None:
    """Raise :class:`StorageError` unless facts are of the kinds that :meth:`Model.save` writes."""
    for sound, what in (
        (facts["algorithm"] in ("astar", "gbfs", "any"), "its algorithm is not known"),
        (all(isinstance(facts[name], dict) for name in ("parameters", "versions")), "a fact is not a table"),
        (isinstance(facts["learner"], str), "a name is not text"),
        *(
            (facts[name] is None or isinstance(facts[name], dict), f"its {name} is not a table")
            for name in ("certificate", "front")
        ),
    ):
        if not sound:
            raise StorageError(f"{source} is damaged: {what}")


def _plain(value: Any) -> Any:
    """Return a value for JSON; what JSON cannot express becomes its printed form."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    with np.printoptions(threshold=0, edgeitems=1, precision=3):  # a learner inside may have one value per edge
        return repr(value)


def _savable(label: Any) -> Any:
    """Return a label for JSON; one of an unusual kind as text, since it is only shown."""
    try:
        return plain_label(label)
    except StorageError:
        return str(label)
