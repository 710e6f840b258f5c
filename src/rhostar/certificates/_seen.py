from dataclasses import dataclass
from typing import Any
import numpy as np
from rhostar.errors import AssumptionError
from rhostar.instances import InstanceSet
@dataclass
class Clean:
    instances: Any; dropped: int; notes: list; kept: Any
def untouched(holdout, train, seen, policy):
    if train is not None and (shared := holdout.overlap(train)):
        raise AssumptionError(f"holdout must be untouched: {shared} of its instances are in train too")
    return Clean(holdout, 0, [], None)
def check_repeats(instances, name): pass
def unknown_origin(rho):
    return "" if hasattr(rho, "trained_on_") else "rho is an array: nothing is known about what it was learned from"
