"""The theory made executable: behaviours counted exactly, shattered sets, and how large they get."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
