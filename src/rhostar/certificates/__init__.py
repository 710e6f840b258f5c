"""Bounds on what heuristics do on unseen instances: measure, bound, say it in one sentence."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
