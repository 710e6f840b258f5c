"""Bounds with explicit constants: numbers in, certificates out; no models, no graphs.

`capacity` counts behaviours and `dimension` turns counts into pseudo-dimensions; `holdout` bounds the mean of one
heuristic, `uniform` that of every heuristic of a class at once, `inconsistency` the suboptimality of A*; `planning`
asks for the number of instances. Every bound is a function with its theorem in the docstring.
"""

from rhostar.certificates.capacity import Capacity
from rhostar.certificates.certificate import Certificate, CertificateTable, Dropped
from rhostar.certificates.dimension import PseudoDimension, capacities, pseudo_dimension
from rhostar.certificates.drift import Monitor
from rhostar.certificates.gaps import GapSummary, summarise_gaps
from rhostar.certificates.holdout import (
    Interval,
    betting,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    kullback_leibler,
)
from rhostar.certificates.inconsistency import edge_local_complexity, edge_local_width, inconsistency_width
from rhostar.certificates.planning import Plans, epsilon, sample_size
from rhostar.certificates.uniform import (
    Growth,
    dimension_width,
    finite_bernstein,
    finite_kl,
    finite_width,
    growth_width,
    massart,
    rademacher_bound,
    rademacher_monte_carlo,
)

__all__ = [
    "Capacity",
    "Certificate",
    "CertificateTable",
    "Dropped",
    "GapSummary",
    "Growth",
    "Interval",
    "Monitor",
    "Plans",
    "PseudoDimension",
    "betting",
    "capacities",
    "clopper_pearson",
    "dimension_width",
    "edge_local_complexity",
    "edge_local_width",
    "empirical_bernstein",
    "epsilon",
    "finite_bernstein",
    "finite_kl",
    "finite_width",
    "growth_width",
    "hoeffding",
    "inconsistency_width",
    "kullback_leibler",
    "massart",
    "pseudo_dimension",
    "rademacher_bound",
    "rademacher_monte_carlo",
    "sample_size",
    "summarise_gaps",
]
