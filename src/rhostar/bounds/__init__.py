"""Bounds with explicit constants: numbers in, numbers out; no models, no graphs.

`capacity` counts behaviours and `dimension` turns counts into pseudo-dimensions; `holdout` bounds the mean of one
heuristic, `uniform` that of every heuristic of a class at once, `inconsistency` the suboptimality of A*; `planning`
asks for the number of instances. Every bound is a function with its theorem in the docstring.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
