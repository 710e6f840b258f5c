"""The only module that turns a failure status of the core into an exception.

The core's list of statuses, each with its message, is ``_core.Status`` (src/core/engine/status.hpp). Here each failure
gets its exception, and the gaps in its message are filled with what the caller knows: the edge, the vertex, the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rhostar import _core
from rhostar._core import Status
from rhostar.errors import (
    AssumptionError,
    GraphError,
    HeuristicError,
    InputError,
    LimitError,
    RhostarError,
    StoppedError,
    WeightError,
)

if TYPE_CHECKING:
    from rhostar.graph import Graph
    from rhostar.instances import InstanceSet

_ERRORS: dict[Status, type[RhostarError]] = {
    Status.LIMIT: LimitError,
    Status.STOPPED: StoppedError,
    Status.BAD_WEIGHT: WeightError,
    Status.OVERFLOW: WeightError,
    Status.BAD_RHO: HeuristicError,
    Status.BAD_BOUND: HeuristicError,
    Status.BAD_OFFSETS: GraphError,
    Status.BAD_HEAD: GraphError,
    Status.LOOP: GraphError,
    Status.CHILD_ORDER: GraphError,
    Status.OUTSIDE_BOUNDS: AssumptionError,
}
"""All others are an InputError."""


def failure(ending: _core.Ending, where: str = "", **gaps: object) -> RhostarError:
    """Return the exception for an ending; `where` goes before the message, `gaps` into it."""
    kind = _ERRORS.get(ending.status, InputError)
    return kind(where + ending.status.message.format(**gaps))


def require_done(ending: _core.Ending, where: str = "", **gaps: object) -> None:
    """Raise unless the call ended well.

    Examples
    --------
    >>> import numpy as np
    >>> from rhostar import _core
    >>> from rhostar._failures import require_done
    >>> require_done(_core.check(np.array([0, 1, 1], dtype=np.int32), np.array([1], dtype=np.int32)))
    """
    if ending.status is not Status.DONE:
        raise failure(ending, where, **gaps)


def graph_failure(ending: _core.Ending, head: NDArray[np.int32]) -> RhostarError:
    """Return the exception for arrays that do not form a graph."""
    index = ending.offender
    return failure(ending, index=index, head=None if ending.status is Status.BAD_OFFSETS else head[index])


def search_failure(
    ending: _core.Ending,
    graph: Graph,
    weights: NDArray[Any],
    *,
    rho: Any = None,
    lower_bound: Any = None,
    where: str = "",
) -> RhostarError:
    """Return the exception for bad input that a search came across.

    Parameters
    ----------
    ending
        How it ended.
    graph, weights, rho, lower_bound
        What it searched.
    where
        What to say first, such as "instance 3: ".
    """
    match ending.status:
        case Status.BAD_WEIGHT | Status.OVERFLOW:
            return weight_failure(ending, graph, weights, f"{where}weights[{ending.offender}]")
        case Status.BAD_RHO:
            return failure(ending, where, vertex=ending.offender, value=rho[ending.offender])
        case Status.BAD_BOUND:
            return failure(ending, where, vertex=ending.offender, value=lower_bound[ending.offender])
        case _:
            return failure(ending, where)


def instance_failure(
    ending: _core.Ending, chunk: InstanceSet, first: int, *, rho: Any = None, lower_bound: Any = None
) -> RhostarError:
    """Return the exception for one instance of a chunk; `first` is the number of the chunk's first instance."""
    if ending.at < 0:
        return failure(ending)
    weights = chunk._stored[chunk._stored_rows[ending.at]]
    where = f"instance {first + ending.at}: "
    return search_failure(ending, chunk.graph, weights, rho=rho, lower_bound=lower_bound, where=where)


def snapshot_failure(ending: _core.Ending, chunk: InstanceSet, rows: NDArray[np.int64]) -> RhostarError:
    """Return the exception for a search over one snapshot of a chunk."""
    if ending.at < 0:
        return failure(ending)
    row = int(rows[ending.at])
    return search_failure(ending, chunk.graph, chunk._stored[row], where=f"snapshot {row}: ")


def weight_failure(
    ending: _core.Ending, graph: Graph, weights: NDArray[Any], name: str, note: str = ""
) -> RhostarError:
    """Return the exception for the weight of an edge.

    Parameters
    ----------
    ending
        Its offender is the edge.
    graph, weights
        The weights are those of one snapshot.
    name
        What the weight is called, such as "weights[17]".
    note
        What to add after the ends of the edge.
    """
    edge = ending.offender
    what = f"{name} (edge {graph._edge_name(edge)}{note})"
    whole = weights.dtype.kind == "i"
    limit = " and below 2**53" if weights.dtype == np.int64 else ""
    most = "2**53 or more, and sums of integers are no longer exact" if whole else "more than the largest float64"
    return failure(ending, what=what, limit=limit, most=most, value=weights[edge])
