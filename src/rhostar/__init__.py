"""rhostar: heuristic values for A* and greedy best-first search, learned, run and certified.

Names are loaded when they are first used, so that ``import rhostar`` is quick. They are listed in ``__init__.pyi``,
which type checkers and :mod:`lazy_loader` both read.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
