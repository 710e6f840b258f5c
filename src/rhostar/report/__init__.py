"""The report: one HTML page with a comparison of heuristics, their certificate, and searches to watch."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
