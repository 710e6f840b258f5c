"""Utilities: performance measures of a run, each with a range [0, H] (Assumption 3 of the paper).

A utility is min(u, H). The user chooses H, the `limit`, before looking at the instances; the share of values
that were clipped is always reported. A run that did not find its goal counts as H if the measure is about
the answer (cost, suboptimality, ratio), even if it already knows some path.

Utilities register themselves. A subclass of :class:`Utility` that sets ``key`` is found by that name everywhere:
in ``evaluate(...)["expansions"]``, on the command line and in reports.

- ``utilities.registry`` maps each key ("expansions", "cost", "solved_within", ...) to its class.
- ``utilities.by_name(key, number, n=graph.n)`` makes one from a key and a number, which is H for most of them.
- ``utility.name`` is the key (a custom utility has its label instead), ``utility.words`` says in plain words what is
  measured, ``utility.better`` which way is better.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
