"""Turns the obstacles and terrain of a grid into the weights of its edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rhostar.errors import InputError
from rhostar.graph import Graph


def require_float(dtype: DTypeLike) -> None:
    """Raise :class:`InputError` unless weights of this type can be infinite, which marks absent edges."""
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise InputError(f"dtype must be float64 or float32, got {np.dtype(dtype)}: absent edges have the weight inf")


def fill_weights(
    grid: Graph, maps: Iterable[NDArray[Any]], weights: NDArray[Any], *, corner_cutting: bool
) -> NDArray[Any]:
    """Write one snapshot for each map into the rows of `weights`: lengths, and inf for steps that a map does not allow.

    Parameters
    ----------
    grid
        Made by :meth:`Graph.grid`.
    maps
        (rows, columns) each: the kind of every cell. 0 is blocked. A step joins cells of one kind, so False and True
        mean blocked and free, and larger numbers distinguish terrains.
    weights
        (K, m), written to.
    corner_cutting
        Whether a diagonal may pass a cell of another kind beside it.

    Returns
    -------
    array
        The weights.
    """
    assert grid.shape is not None and grid.length is not None  # noqa: PT018
    tail, head, columns = grid.tail, grid.head, grid.shape[1]
    others = [head]
    if not corner_cutting:  # a diagonal passes (row of one end, column of the other); along an axis these are its ends
        others += [tail - tail % columns + head % columns, head - head % columns + tail % columns]
    for row, cells in zip(weights, maps, strict=True):
        kind = cells.ravel()
        here = kind[tail]
        passable = here != 0
        for cell in others:
            passable &= kind[cell] == here
        row[:] = np.where(passable, grid.length, np.inf)
    return weights
