"""rhostar: shortest paths on a network whose costs change, with learned heuristic values and guarantees.

Route on a network whose costs change (:class:`Router`), find out whether the answers of an A* are optimal
(:func:`audit`), or learn heuristic values from past costs (:func:`learn`), run them (:func:`astar`, :func:`gbfs`) and
certify them (:func:`certify`).
"""

# Names are loaded when they are first used, so that the import is quick; __init__.pyi lists them.

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
