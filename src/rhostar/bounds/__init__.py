"""Bounds with explicit constants: numbers in, numbers out; no models, no graphs.

Some count behaviors and turn the counts into pseudo-dimensions. Others bound the mean of one heuristic, that of every
heuristic of a class at once, or the suboptimality of A*, and say how many instances are needed. Every bound is a
function with its theorem in the docstring.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
