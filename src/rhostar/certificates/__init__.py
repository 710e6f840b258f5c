"""Guarantees for heuristics on unseen instances: measured, bounded and stated in one sentence."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
