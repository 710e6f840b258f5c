"""One tree for everything that rhostar raises on purpose.

Every error names the argument, the first offending index and value, and what is accepted.
Whatever is wrong with an argument is also a :class:`ValueError`, so code that knows nothing of
rhostar can catch it.
"""

from __future__ import annotations


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


class NotFittedError(InputError, AttributeError):
    """A learner that is asked for its table before it has one."""


class FitError(RhostarError, RuntimeError):
    """A fit that came to no end: a linear program that is infeasible or out of time, and the like."""


class WitnessError(InputError):
    """A witness that does not show what it claims."""


class StorageError(RhostarError, ValueError):
    """A saved file that is damaged, truncated or not ours."""


class ReadError(InputError):
    """A file of data that cannot be read as what it should be; names the file, the line and what was expected."""

    def __init__(self, path: object, line: int | None, what: str) -> None:
        self.path, self.line, self.what = str(path), line, what
        super().__init__(path, line, what)

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}, line {self.line}"
        return f"{where}: {self.what}"


class LimitError(RhostarError):
    """An exact answer that was not reached within its limit; the message says how far it got."""


class ModelError(InputError):
    """A model that was fitted on another graph or for another goal."""


class StoppedError(RhostarError):
    """A batch that was ended because another part of it failed or was interrupted."""


class RhostarWarning(UserWarning):
    """Something worth knowing that does not prevent an answer."""
