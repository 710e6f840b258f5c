"""Learners of heuristic values, with the interface of scikit-learn's estimators.

Every learner has ``fit(instances)``, which sets ``rho_`` (one float64 per vertex), ``family_`` (the ρ it chooses
among), ``trained_on_`` and ``goal_``. Names are loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
