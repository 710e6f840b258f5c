"""Hierarchies: an index of a graph that can take new weights, on road networks in about the time of one search."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
