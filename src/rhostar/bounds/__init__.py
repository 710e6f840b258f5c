"""Bounds with explicit constants: numbers in, numbers out; no models, no graphs.

Some functions count behaviors and turn the counts into pseudo-dimensions. Others bound the mean utility of one
heuristic or of every heuristic of a class at once, or the suboptimality of A*, and say how many instances are needed.
Every bound is a function with its theorem in the docstring.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
