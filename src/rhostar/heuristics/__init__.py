"""Heuristics: one common type, its kinds, and a function that turns other objects into one.

:class:`Heuristic` is what a search takes. Its kinds: :class:`Table` (one value per vertex), :class:`PerGoal` (one
heuristic for each goal), :class:`ChosenByWeights` (several, of which the weights of a query choose one), and those that
serve every goal and are computed only where a search needs them: :class:`Geometric`, :class:`Landmarks` and
:class:`DistanceHeuristic`. :func:`as_heuristic` accepts arrays, mappings, learners and models.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
