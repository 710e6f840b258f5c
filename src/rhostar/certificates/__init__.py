"""Bounds with explicit constants: numbers in, certificates out; no models, no graphs.

`capacity` counts behaviours, `dimension` turns counts into pseudo-dimensions, `holdout` bounds the mean of one
heuristic. Every bound is a function with its theorem in the docstring.
"""

from rhostar.certificates.capacity import Capacity
from rhostar.certificates.dimension import PseudoDimension, capacities, pseudo_dimension
from rhostar.certificates.holdout import (
    Interval,
    betting,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    kullback_leibler,
)

__all__ = [
    "Capacity",
    "Interval",
    "PseudoDimension",
    "betting",
    "capacities",
    "clopper_pearson",
    "empirical_bernstein",
    "hoeffding",
    "kullback_leibler",
    "pseudo_dimension",
]
