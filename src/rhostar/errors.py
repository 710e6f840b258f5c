"""All exceptions and warnings of rhostar, in one hierarchy.

Every error names the argument, the first offending index and value, and what is accepted.
An error about an argument is also a :class:`ValueError`, so code that does not import rhostar can
catch it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "ArrayError",
    "AssumptionError",
    "BoundsWarning",
    "EdgeError",
    "FitError",
    "GraphError",
    "HeuristicError",
    "InfeasibleError",
    "InputError",
    "InstanceError",
    "LimitError",
    "ModelError",
    "NotFittedError",
    "ReadError",
    "RhostarError",
    "RhostarWarning",
    "StoppedError",
    "StorageError",
    "UtilityError",
    "VertexError",
    "WeightError",
    "WitnessError",
    "WorkerError",
]


def __dir__() -> list[str]:
    return __all__


class RhostarError(Exception):
    """Anything that rhostar raises on purpose."""


class InputError(RhostarError, ValueError):
    """An argument that cannot be used."""


class ArrayError(InputError, TypeError):
    """An array of the wrong type, shape or memory layout."""


class GraphError(InputError):
    """Edges, offsets or attributes that do not make a graph."""


class VertexError(InputError, IndexError):
    """A vertex or label that the graph does not have."""


class EdgeError(InputError, KeyError):
    """An edge that the graph does not have."""

    # KeyError would print the message with quotes around it.
    __str__ = Exception.__str__


class WeightError(InputError):
    """A weight that is negative, NaN or too large."""


class HeuristicError(InputError):
    """Heuristic values that are not finite, or missing for a goal."""


class InstanceError(InputError):
    """An instance or a set of instances outside the paper's assumptions."""


class InfeasibleError(InstanceError):
    """An instance without a path from its source to its goal."""


class UtilityError(InputError):
    """A performance measure that is negative, NaN, or without a usable limit."""


class AssumptionError(InputError):
    """An assumption of a certificate that the instances, the heuristic or the family break."""


class FitError(RhostarError, RuntimeError):
    """A fit that found no answer, for example because its linear program ran out of time."""


class WitnessError(InputError):
    """A witness that does not show what it claims."""


class StorageError(RhostarError, ValueError):
    """A saved file that is damaged, truncated or not ours."""


class ReadError(InputError):
    """A data file that cannot be read as its format; names the file, the line and what was expected."""

    def __init__(self, path: object, line: int | None, what: str) -> None:
        self.path, self.line, self.what = str(path), line, what
        super().__init__(path, line, what)

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{where}: {self.what}"


class LimitError(RhostarError):
    """A count or a construction that exceeds its limit; the message says which limit, or how far it got."""


class ModelError(InputError):
    """A model that was fitted on another graph or for another goal."""


class StoppedError(RhostarError):
    """A batch that was ended because another part of it failed or was interrupted."""


class WorkerError(RhostarError, RuntimeError):
    """A chunk of a batch whose worker process died again and again; names its instances."""


class RhostarWarning(UserWarning):
    """Something worth knowing that does not prevent an answer."""


class BoundsWarning(RhostarWarning):
    """Weights below the lower bounds that optimal answers rest on; values were lowered so that answers stay optimal."""


if TYPE_CHECKING:

    class NotFittedError(InputError, AttributeError):
        """A learner that was asked for its values before it was fitted."""


def not_fitted(learner: object) -> NotFittedError:
    """Return the error for a learner that has learned nothing yet."""
    kind = globals().get("NotFittedError") or __getattr__("NotFittedError")
    return kind(f"this {type(learner).__name__} is not fitted yet: call fit first")


def __getattr__(name: str) -> Any:
    """Make NotFittedError when it is first used.

    It is a subclass of scikit-learn's, which takes a second to import: code that does not need it should not wait.
    """
    if name != "NotFittedError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import NotFittedError as TheirError

    made = type(
        name,
        (InputError, TheirError),
        {"__doc__": "A learner that was asked for its values before it was fitted.", "__module__": __name__},
    )
    globals()[name] = made
    return made
