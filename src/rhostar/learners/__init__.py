"""Heuristic values from solved instances: estimators in the manner of scikit-learn.

Every learner has ``fit(instances)``, which sets ``rho_`` (one float64 per vertex), ``family_`` (the tables it
chooses among), ``trained_on_`` and ``goal_``. Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from rhostar.lazy import attach

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

__getattr__, __dir__ = attach(__name__, _HOME)
