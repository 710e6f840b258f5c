"""The theory made executable: behaviours counted exactly, shattered sets, and how large they get."""

from importlib import import_module
from typing import Any

_HOME = {
    "Behaviours": "behaviours",
    "ConvexDual": "dual_functions",
    "Dual": "dual_functions",
    "Growth": "growth_counts",
    "Kind": "hunt",
    "Region": "behaviours",
    "ShatteredSet": "codes",
    "Shattering": "patterns",
    "Witness": "witness",
    "atlas": None,
    "atlas_figure": "figures",
    "cost_code": "codes",
    "crowds_figure": "figures",
    "dual": "dual_functions",
    "dual_inconsistency": "dual_functions",
    "expansion_code": "codes",
    "growth": "growth_counts",
    "growth_figure": "figures",
    "instance_set": "exact",
    "interval_code": "codes",
    "joint_behaviours": "behaviours",
    "martelli": "constructions",
    "parity_bound": "parity",
    "parity_code": "parity",
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
    "Growth",
    "Kind",
    "Region",
    "ShatteredSet",
    "Shattering",
    "Witness",
    "atlas",
    "atlas_figure",
    "cost_code",
    "crowds_figure",
    "dual",
    "dual_inconsistency",
    "expansion_code",
    "growth",
    "growth_figure",
    "instance_set",
    "interval_code",
    "joint_behaviours",
    "martelli",
    "parity_bound",
    "parity_code",
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
    module = import_module(f"rhostar.lab.{_HOME[name] or name}")
    value = module if _HOME[name] is None else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
