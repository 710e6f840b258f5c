"""Learners of heuristic values, with the interface of scikit-learn's estimators.

Every learner has ``fit(instances)``, which sets ``heuristic_`` and, if there is one table, ``rho_`` (one float64 per
vertex). Names are loaded when they are first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
