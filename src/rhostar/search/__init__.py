"""A* and greedy best-first search: the compiled versions, and a plain Python reference that tests compare them with."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
