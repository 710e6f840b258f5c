"""Research on learned heuristics: exact counts of behaviors, shattered sets, dual functions, codes and an atlas.

The rest of the library works without this package: it has its own extension module, and nothing else imports it.
"""

from importlib.util import find_spec

import lazy_loader

if find_spec("rhostar.theory._core") is None:
    raise ModuleNotFoundError(
        "this rhostar was built without rhostar.theory (RHOSTAR_THEORY=OFF)", name="rhostar.theory._core"
    )

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
