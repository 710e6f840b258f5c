"""Heuristic values from solved instances: estimators in the manner of scikit-learn.

Every learner has ``fit(instances)``, which sets ``rho_`` (one float64 per vertex), ``family_`` (the tables it
chooses among), ``trained_on_`` and ``goal_``. Names are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rhostar.learners.auto import Auto
    from rhostar.learners.base import Learner, Scorer
    from rhostar.learners.bumps import BumpSearch
    from rhostar.learners.distances import MeanDistance
    from rhostar.learners.inconsistency import InconsistencyLP
    from rhostar.learners.landmarks import Landmarks
    from rhostar.learners.linear import LinearFamily
    from rhostar.learners.online import OnlineInconsistency
    from rhostar.learners.ranking import SelfImitatedRanking
    from rhostar.learners.weights import LowerEnvelope, MeanWeights, PathUse
    from rhostar.learners.wrappers import BestOf, PerGoal, Quantised

_HOME = {
    "Auto": "auto",
    "BestOf": "wrappers",
    "BumpSearch": "bumps",
    "InconsistencyLP": "inconsistency",
    "Landmarks": "landmarks",
    "Learner": "base",
    "LinearFamily": "linear",
    "LowerEnvelope": "weights",
    "MeanDistance": "distances",
    "MeanWeights": "weights",
    "OnlineInconsistency": "online",
    "PathUse": "weights",
    "PerGoal": "wrappers",
    "Quantised": "wrappers",
    "Scorer": "base",
    "SelfImitatedRanking": "ranking",
}

__all__ = [
    "Auto",
    "BestOf",
    "BumpSearch",
    "InconsistencyLP",
    "Landmarks",
    "Learner",
    "LinearFamily",
    "LowerEnvelope",
    "MeanDistance",
    "MeanWeights",
    "OnlineInconsistency",
    "PathUse",
    "PerGoal",
    "Quantised",
    "Scorer",
    "SelfImitatedRanking",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rhostar.learners' has no attribute {name!r}")
    value = getattr(import_module(f"rhostar.learners.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
