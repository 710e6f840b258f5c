"""Sets of path-finding problems on one graph, to search, learn from and certify on."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
