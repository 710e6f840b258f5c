"""Routing: today's weights held once, and every question about shortest paths on them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
