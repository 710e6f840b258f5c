"""The theory made executable: behaviours counted exactly, and shattered sets."""

from importlib import import_module
from typing import Any

_HOME = {
    "Behaviours": "behaviours",
    "ConvexDual": "dual_functions",
    "Dual": "dual_functions",
    "Region": "behaviours",
    "ShatteredSet": "codes",
    "Shattering": "patterns",
    "Witness": "witness",
    "cost_code": "codes",
    "dual": "dual_functions",
    "dual_inconsistency": "dual_functions",
    "expansion_code": "codes",
    "instance_set": "exact",
    "interval_code": "codes",
    "joint_behaviours": "behaviours",
    "martelli": "constructions",
    "path_costs": "constructions",
    "powers_of_two": "constructions",
    "reopening_code": "codes",
    "sharper_instances": "constructions",
    "shattering": "patterns",
    "star": "constructions",
    "star_copies": "constructions",
    "theorem5_instances": "constructions",
    "verify": "witness",
}

__all__ = [
    "Behaviours",
    "ConvexDual",
    "Dual",
    "Region",
    "ShatteredSet",
    "Shattering",
    "Witness",
    "cost_code",
    "dual",
    "dual_inconsistency",
    "expansion_code",
    "instance_set",
    "interval_code",
    "joint_behaviours",
    "martelli",
    "path_costs",
    "powers_of_two",
    "reopening_code",
    "sharper_instances",
    "shattering",
    "star",
    "star_copies",
    "theorem5_instances",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rhostar.lab' has no attribute {name!r}")
    value = getattr(import_module(f"rhostar.lab.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
