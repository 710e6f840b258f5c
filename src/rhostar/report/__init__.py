"""The report: one page that shows what was learned, how it does, what can be promised, and the searches themselves."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
