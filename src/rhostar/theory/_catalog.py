"""The list of known constructions of shattered sets, by name; a new construction needs an entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rhostar import _arrays as arrays
from rhostar.bounds import _dimension as dimension
from rhostar.bounds import _sizes as sizes
from rhostar.errors import InputError
from rhostar.search import Algorithm
from rhostar.theory._codes import cost_code, expansion_code, interval_code, reopening_code
from rhostar.theory._constructions import sharper_instances, star_copies, theorem5_instances
from rhostar.theory._parity import parity_code
from rhostar.theory._shattered_set import ShatteredSet

_BOTH: tuple[Algorithm, ...] = ("astar", "gbfs")


@dataclass(frozen=True)
class Construction:
    """A way to build shattered sets, for any large enough number of vertices.

    Examples
    --------
    >>> import rhostar as rs
    >>> known = rs.theory.constructions["sharper"]
    >>> known, known.size(9, "gbfs")
    (Construction(sharper: cost of astar and gbfs), 7)
    """

    name: str
    """What it is called."""
    utility: str
    """The name of the utility that shatters them; "any" if it is a custom one."""
    algorithms: tuple[Algorithm, ...]
    """Which algorithms they are for."""
    builder: Callable[..., ShatteredSet]
    """Takes the number of vertices, and the algorithm if there is a choice."""
    size: Callable[[int, Algorithm], int]
    """How many instances there are: a lower bound on the pseudo-dimension."""

    def __repr__(self) -> str:
        return f"Construction({self.name}: {self.utility} of {' and '.join(self.algorithms)})"

    def build(self, n: int, algorithm: Algorithm | None = None) -> ShatteredSet:
        """Return the set for n vertices.

        Parameters
        ----------
        n
            Number of vertices.
        algorithm
            "astar" or "gbfs"; None takes the one that the construction is for, A* if it is for both.

        Returns
        -------
        ShatteredSet

        Raises
        ------
        InputError
            If n is too small, or the construction is not for this algorithm.

        Examples
        --------
        >>> import rhostar as rs
        >>> rs.theory.constructions["parity"].build(20, "gbfs")
        ShatteredSet(16 instances on 20 vertices, cost of gbfs)
        """
        chosen = self.algorithms[0] if algorithm is None else arrays.algorithm(algorithm)
        if chosen not in self.algorithms:
            raise InputError(f"the set {self.name!r} is for {' and '.join(self.algorithms)}, not for {chosen}")
        arguments: dict[str, Any] = {"algorithm": chosen} if len(self.algorithms) > 1 else {}
        return self.builder(n, **arguments)


constructions: Mapping[str, Construction] = MappingProxyType(
    {
        known.name: known
        for known in (
            Construction("theorem5", "cost", _BOTH, theorem5_instances, lambda n, _: dimension.lower_paper(n)),
            Construction("sharper", "cost", _BOTH, sharper_instances, dimension.lower),
            Construction("parity", "cost", _BOTH, parity_code, lambda n, _: sizes.largest_parity(n)),
            Construction("cost", "cost", ("astar",), cost_code, lambda n, _: sizes.largest(n, sizes.cost)),
            Construction("interval", "expansions", _BOTH, interval_code, sizes.interval),
            Construction(
                "expansions", "expansions", _BOTH, expansion_code, lambda n, _: sizes.largest(n, sizes.expansions)
            ),
            Construction(
                "reopening", "expansions", ("astar",), reopening_code, lambda n, _: sizes.largest(n, sizes.reopening)
            ),
            Construction("star", "any", ("gbfs",), star_copies, lambda n, _: dimension.lower_for_some_utility(n)),
        )
    }
)
"""Every known construction, by name."""
