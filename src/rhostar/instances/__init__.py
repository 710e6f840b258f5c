"""Path-finding problems on one graph: what is searched, learned from and certified on."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
