"""Several tables of heuristic values, and a rule that chooses one of them by a few weights of a query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rhostar import _arrays as arrays
from rhostar.errors import InputError
from rhostar.instances import InstanceSet


class Tables:
    """Tables of heuristic values and the rule that chooses one of them; accepted wherever ρ is.

    Attributes
    ----------
    tables
        (k + 1, n) the values; the first row was learned from all instances.
    probes
        The edges that the rule looks at.
    """

    def __init__(
        self,
        m: int,
        tables: NDArray[np.float64],
        probes: NDArray[np.int64],
        scale: NDArray[np.float64],
        cap: NDArray[np.float64],
    ) -> None:
        self.m, self.tables, self.probes, self._cap = m, arrays.frozen(tables), probes, cap
        self._scale, self._per_scale = scale, 1 / scale
        self._rows = list(self.tables)
        self.place(np.zeros((len(tables), probes.size)))

    def place(self, centres: NDArray[np.float64]) -> None:
        """Set the centre of each table, as :meth:`features` has it; a query takes the table of the nearest one."""
        self._centres, self._half = centres, (centres**2).sum(axis=1) / 2

    def to_parts(self) -> dict[str, NDArray[Any]]:
        """Return it as plain arrays, for a file."""
        return {
            "tables": self.tables,
            "probes": self.probes,
            "scale": self._scale,
            "cap": self._cap,
            "centres": self._centres,
            "edges": np.array([self.m]),
        }

    @classmethod
    def from_parts(cls, parts: Mapping[str, NDArray[Any]]) -> Tables:
        """Return what :meth:`to_parts` gave; raises :class:`InputError` if the arrays do not belong together."""
        tables, probes, centres, m = parts["tables"], parts["probes"], parts["centres"], parts["edges"]
        floats = [tables, centres, *(parts[name] for name in ("scale", "cap"))]
        count = probes.size
        if (
            [part.shape for part in (probes, *floats[2:], m)] != [(count,), (count,), (count,), (1,)]
            or tables.ndim != 2
            or len(tables) < 1
            or centres.shape != (len(tables), count)
            or not all(part.dtype == np.float64 and np.isfinite(part).all() for part in floats)
            or not all(part.dtype == np.int64 for part in (probes, m))
            or not ((probes >= 0) & (probes < m[0])).all()
            or not (parts["scale"] > 0).all()
        ):
            raise InputError("the tables, or the rule that chooses among them, are damaged")
        found = cls(int(m[0]), tables, probes, parts["scale"], parts["cap"])
        found.place(centres)
        return found

    def scaled(self, factor: float) -> Tables:
        """Return `factor` times these tables, with the same rule."""
        found = Tables(self.m, factor * self.tables, self.probes, self._scale, self._cap)
        found.place(self._centres)
        return found

    @property
    def size(self) -> int:
        """The number of vertices."""
        return self.tables.shape[1]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"Tables({len(self)} of {self.tables.shape[1]} values, {self.probes.size} probes)"

    def features(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return what the rule sees of a row of weights."""
        seen: NDArray[np.float64] = np.minimum(weights.take(self.probes), self._cap)
        seen *= self._per_scale
        return seen

    def which(self, weights: NDArray[Any]) -> int:
        """Return the number of the table for a row of weights."""
        score = self._centres.dot(self.features(weights))
        score -= self._half
        return int(score.argmax())

    def which_of(self, instances: InstanceSet) -> NDArray[np.int32]:
        """Return the number of the table for each instance."""
        rows, of = np.unique(instances.rows, return_inverse=True)
        found = [self.which(instances.weights[row]) for row in rows]
        return np.array(found, dtype=np.int32)[of]

    def rho_for_weights(self, weights: ArrayLike) -> NDArray[np.float64]:
        """Return the table for a row of weights."""
        return self._rows[self.which(np.asarray(weights))]
