"""Models: fitted heuristic values saved in a file, with everything needed to use them again.

A model is one ``.npz`` file of plain arrays and JSON text. Nothing in it is ever unpickled. It holds the hash of the
graph that it was fitted on and rejects every other graph: on another graph of the same size the values would be wrong,
and nobody would notice.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rhostar import _archives as archives
from rhostar import _arrays as arrays
from rhostar import _files as files
from rhostar.errors import InputError, StorageError
from rhostar.families import FAMILIES, Family, FullTable
from rhostar.graph import Graph
from rhostar.graph._parts import hashable_label, plain_label
from rhostar.instances import Provenance, Provenances
from rhostar.instances._provenance import from_parts, to_parts
from rhostar.potentials import Potential
from rhostar.potentials import _storing as storing
from rhostar.search import Algorithm
from rhostar.search._rho import chooses, values_of
from rhostar.search._tables import Tables

Values = NDArray[np.float64] | Tables | Mapping[int, NDArray[np.float64]] | Mapping[int, Tables]
_KIND = "rhostar-model"
_VERSION = 2


@dataclass(frozen=True, eq=False)
class Model:
    """Heuristic values with their origin. It has the attributes of a fitted learner and is accepted wherever one is.

    Most users call :meth:`of` after a fit, :meth:`save`, and :meth:`load` later.

    Parameters
    ----------
    rho_
        One value per vertex, or such an array for each goal; None if there is only a potential.
    fingerprint
        The hash of the graph, ``graph.fingerprint``.
    learner
        The name of what learned it.
    parameters
        Its parameters, as plain values.
    algorithm
        The algorithm that ρ is meant for: "astar", "gbfs" or "any".
    goal_
        The goal, or None if ρ is for several.
    family_
        The family of heuristics that it was chosen from.
    trained_on_
        Which instances it was learned from, if known.
    lower_
        Weights for which ρ is consistent (see :class:`rhostar.learners.Learner`), or None.
    promise_
        "optimal" if A* is meant to be optimal with these values; a search then compares the weights with ``lower_``.
    certificate
        The certificate, as plain values, or None.
    potential_
        ρ for every goal, a :class:`rhostar.potentials.Potential`, or None.
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
    >>> bool((model.rho_on(graph) == learner.rho_).all())
    True
    """

    rho_: Values | None
    fingerprint: str
    learner: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    algorithm: Literal["astar", "gbfs", "any"] = "any"
    goal_: int | None = None
    family_: Family = field(default_factory=FullTable)
    trained_on_: Provenance | Provenances | None = None
    lower_: NDArray[np.float64] | None = None
    promise_: Literal["optimal"] | None = None
    certificate: Mapping[str, Any] | None = None
    potential_: Potential | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    goal_labels: Mapping[int, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, learner: Any, graph: Graph, *, certificate: Mapping[str, Any] | None = None) -> Model:
        """Return the model of a fitted learner.

        Parameters
        ----------
        learner
            With ``rho_`` or ``potential_``, as learners have after ``fit``.
        graph
            The graph that it was fitted on.
        certificate
            The certificate, as plain values (``table.to_dict()``).

        Raises
        ------
        NotFittedError
            If the learner is not fitted.
        ModelError
            If it was fitted on another graph.
        ArrayError, HeuristicError
            If its values are not one finite number per vertex of the graph.
        """
        values = values_of(learner, graph)
        rho = None if isinstance(values, Potential) else _checked(values, graph.n)
        goal = getattr(learner, "goal_", None)
        potential = values if isinstance(values, Potential) else getattr(learner, "potential_", None)
        goals = list(rho) if isinstance(rho, Mapping) else [goal]
        own = [int(v) for v in goals if isinstance(v, int | np.integer)] if graph.labels is not None else []
        return cls(
            rho_=rho,
            fingerprint=graph.fingerprint,
            learner=type(learner).__name__,
            parameters={k: _plain(v) for k, v in getattr(learner, "get_params", dict)().items()},
            algorithm=getattr(learner, "algorithm", "any"),
            goal_=int(goal) if isinstance(goal, int | np.integer) else None,
            family_=getattr(learner, "family_", FullTable()),
            trained_on_=getattr(learner, "trained_on_", None),
            lower_=getattr(learner, "lower_", None),
            promise_=getattr(learner, "promise_", None),
            certificate=certificate,
            potential_=potential,
            versions={"rhostar": version("rhostar"), "python": platform.python_version(), "numpy": np.__version__},
            goal_labels={v: graph.labels[v] for v in own} if graph.labels is not None else {},
        )

    @property
    def n(self) -> int:
        """Number of vertices."""
        if self.rho_ is None:
            return 0 if self.potential_ is None else self.potential_.n
        values: Any = next(iter(self.rho_.values())) if isinstance(self.rho_, Mapping) else self.rho_
        return int(values.size)

    @property
    def goals(self) -> list[int]:
        """The goals that it has tables for; a potential serves all."""
        if isinstance(self.rho_, Mapping):
            return sorted(self.rho_)
        return [] if self.goal_ is None else [self.goal_]

    def rho_on(self, graph: Graph) -> Values | Potential:
        """Return the values, or the potential if there are none, after checking that they are for this graph.

        Raises
        ------
        ModelError
            If it was fitted on another graph.
        """
        values: Values | Potential = values_of(self, graph)
        return values

    def search_with(self, algorithm: Algorithm | None = None) -> Algorithm:
        """Return the algorithm to use: the given one, else the one that ρ is meant for, else "astar"."""
        return algorithm or ("gbfs" if self.algorithm == "gbfs" else "astar")

    def with_certificate(self, certificate: Mapping[str, Any] | None) -> Model:
        """Return the same model with another certificate."""
        return replace(self, certificate=certificate)

    def __repr__(self) -> str:
        goals = self.goals
        first = f" ({self.goal_labels[goals[0]]!r})" if len(goals) == 1 and goals[0] in self.goal_labels else ""
        goal = f"goal {goals[0]}{first}" if len(goals) == 1 else f"{len(goals)} goals" if goals else "any goal"
        goal += ", any other by a potential" if goals and self.potential_ is not None else ""
        return f"Model({self.learner or 'values'}, {self.n} vertices, {goal})"

    # ------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all.

        Raises
        ------
        StorageError
            If the disk refuses; an old file stays as it was.
        """
        goals: list[int] = []
        tables: list[Any] = []
        if chooses(self):
            pass
        elif isinstance(self.rho_, Mapping):
            goals, tables = [*self.rho_], [*self.rho_.values()]
        elif self.rho_ is not None:
            goals, tables = [-1], [self.rho_]
        parts: dict[str, Any] = {
            "goals": np.array(goals, dtype=np.int64),
            "rho": np.stack(tables) if tables else np.empty((0, self.n)),
        }
        facts: dict[str, Any] = {
            "format": _KIND,
            "version": _VERSION,
            "graph": self.fingerprint,
            "learner": self.learner,
            "parameters": dict(self.parameters),
            "algorithm": self.algorithm,
            "goal": self.goal_,
            "promise": self.promise_,
            "certificate": None if self.certificate is None else _plain(dict(self.certificate)),
            "versions": dict(self.versions),
            "goal_labels": [[goal, _savable(label)] for goal, label in self.goal_labels.items()],
        }
        if self.trained_on_ is None:
            facts["trained_on"] = None
        else:
            seen, facts["trained_on"] = to_parts(self.trained_on_.parts, "trained_on")
            parts |= seen
        if self.lower_ is not None:
            parts["lower"] = self.lower_
        facts["choice"] = None
        if chooses(self):
            # Rules that choose among tables have files of their own; a table is one without a rule.
            rules: Mapping[int, Any] = self.rho_ if isinstance(self.rho_, Mapping) else {-1: self.rho_}
            facts["choice"] = [[int(goal), hasattr(rule, "to_parts")] for goal, rule in rules.items()]
            for k, rule in enumerate(rules.values()):
                own = rule.to_parts() if hasattr(rule, "to_parts") else {"tables": rule}
                parts |= {f"choice_{k}_{name}": part for name, part in own.items()}
        facts["potential"] = None
        if self.potential_ is not None:
            arrays_of, facts["potential"] = storing.to_parts(self.potential_)
            parts |= {f"potential_{name}": part for name, part in arrays_of.items()}
        family_parts, facts["family"] = self.family_.to_parts()
        parts |= family_parts
        parts["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        with files.replacing(path) as beside, beside.open("wb") as stream:
            archives.write_arrays(stream, parts, mappable=_is_mapped)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Model:
        """Read a file that :meth:`save` wrote. Potentials are checked and stay in the file, which is mapped.

        Parameters
        ----------
        path
            The file.
        max_bytes
            How much memory its arrays may take; by default 64 MiB or 200 times the size of the file, if that is more.

        Raises
        ------
        StorageError
            If it is missing, damaged, not a model, or would unpack to more than that.
        """
        source = Path(path)
        most = None if max_bytes is None else arrays.integer(max_bytes, "max_bytes", 1)
        try:
            # The facts first: they say which arrays belong there.
            options: dict[str, Any] = {"max_bytes": most, "what": "model of rhostar"}
            text = archives.read_arrays(source, ["facts"], strict=False, **options)["facts"]
            facts = json.loads(text.tobytes().decode())
            if facts["format"] != _KIND or facts["version"] != _VERSION:
                raise StorageError(f"{source} holds {facts['format']!r} version {facts['version']}, not a model")
            Family.of_kind(facts["family"]["kind"])
            parts = archives.read_arrays(source, _belongs, strict=True, mappable=_is_mapped, **options)
            rho, goals = parts["rho"], parts["goals"].tolist()
            if rho.dtype != np.float64 or rho.ndim != 2 or rho.shape[1] == 0 or not np.isfinite(rho).all():
                raise StorageError(f"{source} is damaged: its values are not finite numbers, one per vertex")
            _require_sound(facts, parts, source)
            potential = _potential(facts["potential"], parts)
            choice = _choice(facts.get("choice"), parts)
            if (not goals) != ((potential is not None or choice is not None) and rho.size == 0):
                raise StorageError(f"{source} is damaged: it has neither values nor a potential")
            tables: Any = dict(zip(goals, map(arrays.frozen, rho), strict=True)) if goals else choice
            return cls(
                rho_=arrays.frozen(rho[0]) if goals == [-1] else tables,
                fingerprint=str(facts["graph"]),
                learner=str(facts["learner"]),
                parameters=dict(facts["parameters"]),
                algorithm=facts["algorithm"],
                goal_=facts["goal"],
                family_=Family.from_parts(parts, facts["family"]),
                trained_on_=_seen(facts["trained_on"], parts),
                lower_=arrays.frozen(parts["lower"]) if "lower" in parts else None,
                promise_="optimal" if facts.get("promise") == "optimal" else None,
                certificate=facts["certificate"],
                potential_=potential,
                versions=dict(facts["versions"]),
                goal_labels={int(goal): hashable_label(label) for goal, label in facts.get("goal_labels", [])},
            )
        except FileNotFoundError:
            raise StorageError(f"there is no model at {source}") from None
        except OSError as error:
            raise StorageError(f"{source} cannot be read: {error.strerror or error}") from error
        except StorageError:
            raise
        except InputError as error:
            raise StorageError(f"{source} cannot be used: {error}") from None
        except MemoryError:
            raise
        except Exception as error:  # damaged facts can fail in many ways
            raise StorageError(f"{source} is damaged or not a model of rhostar ({type(error).__name__})") from None


def _belongs(name: str) -> bool:
    """Return whether a model has an array of this name."""
    if re.fullmatch(
        r"facts|goals|rho|lower|(trained_on|built_from)_[0-9]{1,6}(_[a-z]+)?|potential_\w+|choice_\w+", name
    ):
        return True
    return any(name == entry.name for family in FAMILIES.values() for entry in fields(family)[1:])


def _is_mapped(name: str) -> bool:
    """Return whether an array is left in the file: those of potentials are large, and a search looks at few of them."""
    return name.startswith("potential_")


def _require_sound(facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]], source: Path) -> None:
    """Raise :class:`StorageError` unless facts and arrays are of the kinds that :meth:`Model.save` writes."""
    rho, goals, lower = parts["rho"], parts["goals"], parts.get("lower")
    several = goals.dtype == np.int64 and goals.shape == (len(rho),) and np.unique(goals).size == goals.size
    in_range = several and (goals.tolist() == [-1] or bool(((goals >= 0) & (goals < rho.shape[1])).all()))
    goal, certificate = facts["goal"], facts["certificate"]
    for sound, what in (
        (in_range, "its goals are not distinct vertices"),
        (facts["algorithm"] in ("astar", "gbfs", "any"), "its algorithm is not known"),
        (goal is None or (type(goal) is int and 0 <= goal < rho.shape[1]), "its goal is not a vertex"),
        (all(isinstance(facts[name], dict) for name in ("parameters", "versions", "family")), "a fact is not a table"),
        (all(isinstance(facts[name], str) for name in ("graph", "learner")), "a name is not text"),
        (certificate is None or isinstance(certificate, dict), "its certificate is not a table"),
        (lower is None or (lower.dtype == np.float64 and lower.ndim == 1), "its lower weights are not numbers"),
    ):
        if not sound:
            raise StorageError(f"{source} is damaged: {what}")


def _checked(rho: Any, n: int) -> Any:
    if isinstance(rho, Mapping):
        if not rho:
            raise InputError("rho_ must have values for at least one goal")
        return {int(goal): _checked_table(table, f"rho_[{goal}]", n) for goal, table in rho.items()}
    return _checked_table(rho, "rho_", n)


def _checked_table(values: Any, name: str, n: int) -> Any:
    return values if isinstance(values, Tables) and values.size == n else arrays.per_vertex(values, name, n)


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
    return repr(value) if not isinstance(value, np.ndarray) else f"array of shape {value.shape}"


def _savable(label: Any) -> Any:
    """Return a label for JSON; one of an unusual kind as text, since it is only shown."""
    try:
        return plain_label(label)
    except StorageError:
        return str(label)


def _potential(facts: Any, parts: Mapping[str, NDArray[Any]]) -> Potential | None:
    if facts is None:
        return None
    own = {name.removeprefix("potential_"): part for name, part in parts.items() if name.startswith("potential_")}
    return storing.from_parts(own, facts)


def _choice(facts: Any, parts: Mapping[str, NDArray[Any]]) -> Any:
    """Return the rules that choose among tables, by goal or the only one; None if there are none."""
    if facts is None:
        return None
    found: dict[int, Any] = {}
    for k, (goal, is_rule) in enumerate(facts):
        start = f"choice_{k}_"
        own = {name.removeprefix(start): part for name, part in parts.items() if name.startswith(start)}
        table = own["tables"]
        found[int(goal)] = Tables.from_parts(own) if is_rule else arrays.per_vertex(table, "rho", table.size)
    return found[-1] if list(found) == [-1] else found


def _seen(facts: Any, parts: Mapping[str, NDArray[Any]]) -> Provenance | Provenances | None:
    if facts is None:
        return None
    found = from_parts(parts, facts, "trained_on")
    return found[0] if len(found) == 1 else Provenances(found)
