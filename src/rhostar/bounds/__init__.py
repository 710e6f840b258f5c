"""Bounds with explicit constants: numbers in, numbers out; no models, no graphs.

`_capacity` counts behaviours and `_dimension` turns counts into pseudo-dimensions. `_holdout` bounds the mean of one
heuristic, `_uniform` that of every heuristic of a class at once, `_inconsistency` the suboptimality of A*.
`_planning` says how many instances are needed. Every bound is a function with its theorem in the docstring.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
