"""Takes potentials apart into named arrays and plain values for saving, and puts them together again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rhostar.errors import InputError, StorageError
from rhostar.potentials import _clustered as clustered
from rhostar.potentials import _landmarks as landmarks
from rhostar.potentials import _metric as metric
from rhostar.potentials._base import Potential, scale_of
from rhostar.potentials._clustered import Clustered
from rhostar.potentials._hierarchy import Hierarchy
from rhostar.potentials._landmarks import Landmarks
from rhostar.potentials._metric import Metric

Parts = dict[str, NDArray[Any]]
Facts = dict[str, Any]


def to_parts(potential: Potential) -> tuple[Parts, Facts]:
    """Return the arrays of a potential and what else it needs, as plain values.

    Raises
    ------
    InputError
        If it is of a kind that cannot be saved.
    """
    facts: Facts = {"graph": potential.fingerprint, "scale": potential.scale}
    match potential:
        case Hierarchy():
            parts, own = potential.to_parts()
            return parts, own | {"kind": "hierarchy"}
        case Metric():
            return {"coordinates": potential._coordinates}, facts | {"kind": "metric", "metric": potential.metric}
        case Landmarks():
            return {"to": potential._to, "away": potential._away}, facts | {"kind": "landmarks"}
        case Clustered():
            parts, members = {"probes": potential.probes, "usual": potential.usual}, []
            for k, member in enumerate(potential.potentials):
                theirs, own = to_parts(member)
                members.append(own)
                parts |= {f"{k}_{name}": part for name, part in theirs.items()}
            return parts, facts | {"kind": "clustered", "members": members}
        case _:
            raise InputError(f"a potential of the class {type(potential).__name__} cannot be saved")


def from_parts(parts: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Potential:
    """Return the potential that :func:`to_parts` took apart, after checking it.

    Raises
    ------
    StorageError
        If the parts are not those of a potential.
    """
    try:
        match facts["kind"]:
            case "hierarchy":
                return Hierarchy.from_parts(parts, facts)
            case "metric":
                name, at = str(facts["metric"]), np.require(parts["coordinates"], np.float64, ["C", "A"])
                if name not in metric.METRICS or at.ndim != 2 or at.shape[1] != 2 or not np.isfinite(at).all():
                    raise StorageError("the potential is damaged: it has no coordinates")
                return metric._restored(str(facts["graph"]), name, at, scale_of(facts["scale"]))
            case "landmarks":
                to, away = (np.require(parts[side], np.float64, ["C", "A"]) for side in ("to", "away"))
                if to.ndim != 2 or to.shape != away.shape or not ((to >= 0).all() and (away >= 0).all()):
                    raise StorageError("the potential is damaged: it has no distances")
                return landmarks._restored(str(facts["graph"]), to, away, scale_of(facts["scale"]))
            case "clustered":
                members = [
                    from_parts({name: parts[f"{k}_{name}"] for name in _names(parts, k)}, own)
                    for k, own in enumerate(facts["members"])
                ]
                probes = np.require(parts["probes"], np.int32, ["C", "A"])
                if probes.ndim != 1 or (probes < 0).any():
                    raise StorageError("the potential is damaged: its probes are not edges")
                return clustered._restored(str(facts["graph"]), members, probes, parts["usual"])
            case kind:
                raise StorageError(f"the potential is damaged: there is no kind {kind!r}")
    except StorageError:
        raise
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise StorageError(f"the potential is damaged: {error}") from None


def _names(parts: Mapping[str, NDArray[Any]], k: int) -> list[str]:
    return [name.removeprefix(f"{k}_") for name in parts if name.startswith(f"{k}_")]
