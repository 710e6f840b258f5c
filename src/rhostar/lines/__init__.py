"""Exact pieces of a run along a line of heuristics ρ = base + θ · direction, and exact means over instances."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
