"""The paper's two algorithms: compiled, and as the plain reference they are tested against."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
