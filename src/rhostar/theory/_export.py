"""Exports the shattered sets as plain JSON, so that they can be checked without this package or its compiled core.

``tools/verify.py`` reads the files and checks them with the standard library alone. There are two kinds.

"shattered-set": ``n``, ``goal``, ``size``, ``utility`` ("cost" or "expanded"), ``modes`` (pairs of algorithm and
reopening under which the claim is made), for each instance its source, its edges (tail, head, weight) and its
threshold, ``base`` and ``denominator`` (ρ is base/denominator), and ``items``. An item has ``instances``,
``vertices`` and ``words``: for each pattern of its instances, bit i for the i-th of them, the values at its vertices in
place of the base's. No instance touches a vertex of another item, so the patterns of all items combine freely.

"parity-orders": ``layers``, ``size`` and ``orders``; see :mod:`rhostar.theory._parity_orders`.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rhostar import _files as files
from rhostar.theory import _codes as codes
from rhostar.theory import atlas
from rhostar.theory._constructions import sharper_instances, theorem5_instances
from rhostar.theory._integer_instances import edges_of
from rhostar.theory._parity import parity_code
from rhostar.theory._parity_orders import ORDERS
from rhostar.theory._shattered_set import ShatteredSet
from rhostar.theory._witness import Witness
from rhostar.utilities import Cost

_ASTAR = [["astar", True], ["astar", False]]
_ALL = [["gbfs", True], *_ASTAR]


def export(folder: str | os.PathLike[str]) -> list[str]:
    """Write every claim of the theory into a folder, one JSON file each.

    The atlas, the codes at several sizes up to n = 87, the linear sets, and all parity orders. The star, the converter,
    the leaves and the examples with one moving value are no sets that a natural utility shatters; they are left out.

    Parameters
    ----------
    folder
        Made if it is not there.

    Returns
    -------
    list of str
        The names of the files, without ".json".

    Raises
    ------
    StorageError
        If the atlas is damaged.

    Examples
    --------
    >>> import tempfile, rhostar as rs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     names = rs.theory.export(folder)
    >>> len(names) > 100, "parity-orders-7" in names
    (True, True)
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    names = []
    for name, claim in claims():
        with files.replacing(home / f"{name}.json") as beside:
            beside.write_text(json.dumps(claim, separators=(",", ":")) + "\n")
        names.append(name)
    return names


def claims() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the content of every file that :func:`export` writes."""
    for name, witness in atlas.entries().items():
        yield f"atlas-{name}", of_witness(witness)
    for n in (5, 8):
        yield f"theorem5-{n}", of_code(theorem5_instances(n), _ALL, split=False)
    for n in (4, 8):
        yield f"sharper-gbfs-{n}", of_code(sharper_instances(n, "gbfs"), [["gbfs", True]], split=False)
        yield f"sharper-astar-{n}", of_code(sharper_instances(n), _ASTAR, split=False)
    for n in (12, 40):
        yield f"interval-gbfs-{n}", of_code(codes.interval_code(n, "gbfs"), [["gbfs", True]])
        yield f"interval-astar-{n}", of_code(codes.interval_code(n), _ASTAR)
    for bits in (1, 2, 3, 4):
        n = 2 * (1 << bits) + 6
        yield f"expansion-{n}", of_code(codes.expansion_code(n, bits=bits), _ALL)
        n = 5 + (1 << bits)
        yield f"reopening-{n}", of_code(codes.reopening_code(n, bits=bits), [["astar", True]])
        n = 5 + 2 * (1 << bits)
        yield f"cost-{n}", of_code(codes.cost_code(n, bits=bits), [["astar", False]])
    for layers in (1, 2, 3, 4):
        n = 3 + (2 * layers - 1) * (len(ORDERS[layers][0]) + (1 if layers == 4 else 3))
        yield f"parity-{n}", of_code(parity_code(n, layers=layers), _ALL)
    for layers, orders in ORDERS.items():
        yield (
            f"parity-orders-{layers}",
            {"kind": "parity-orders", "layers": layers, "size": len(orders[0]), "orders": orders},
        )


def of_witness(witness: Witness) -> dict[str, Any]:
    """Return the claim of an entry of the atlas: one item with all instances and all vertices."""
    return {
        "kind": "shattered-set",
        "n": witness.n,
        "goal": witness.goal,
        "size": len(witness),
        "utility": witness.utility,
        "modes": [[witness.algorithm, witness.reopen]],
        "sources": witness.sources,
        "edges": witness.arcs,
        "thresholds": witness.thresholds,
        "denominator": 1 << witness.bits,
        "base": [0] * witness.n,
        "items": [_item(range(len(witness)), range(witness.n), witness.rho)],
    }


def of_code(code: ShatteredSet, modes: Sequence[Sequence[object]], *, split: bool = True) -> dict[str, Any]:
    """Return the claim of a shattered set; with `split`, item by item."""
    size, each = len(code), code.bits if split else len(code)
    nothing = np.zeros(size, dtype=bool)
    base = code.rho(nothing)
    tables = []
    for first in range(0, size, each):
        words = []
        for word in range(1 << each):
            pattern = nothing.copy()
            pattern[first : first + each] = [bool(word >> bit & 1) for bit in range(each)]
            words.append(code.rho(pattern))
        tables.append(np.array(words))
    values = np.unique(np.concatenate([base[None], *tables])).tolist()
    unit = math.lcm(*(Fraction(x).denominator for x in values))
    items = []
    for k, table in enumerate(tables):
        moving = np.flatnonzero((table != base).any(axis=0))
        words = (table[:, moving] * unit).astype(np.int64).tolist()
        items.append(_item(range(k * each, (k + 1) * each), moving.tolist(), words))
    return {
        "kind": "shattered-set",
        "n": code.instances.graph.n,
        "goal": int(code.instances.goals[0]),
        "size": size,
        "utility": "cost" if isinstance(code.utility, Cost) else "expanded",
        "modes": modes,
        "sources": code.instances.sources.tolist(),
        "edges": edges_of(code.instances),
        "thresholds": code.thresholds.tolist(),
        "denominator": unit,
        "base": (base * unit).astype(np.int64).tolist(),
        "items": items,
    }


def _item(instances: Sequence[int], vertices: Sequence[int], words: object) -> dict[str, object]:
    return {"instances": list(instances), "vertices": list(vertices), "words": words}
