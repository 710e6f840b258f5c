"""The theory made executable: behaviours counted exactly, and shattered sets."""

from importlib import import_module
from typing import Any

_HOME = {
    "ShatteredSet": "codes",
    "cost_code": "codes",
    "expansion_code": "codes",
    "interval_code": "codes",
    "reopening_code": "codes",
}

__all__ = ["ShatteredSet", "cost_code", "expansion_code", "interval_code", "reopening_code"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rhostar.lab' has no attribute {name!r}")
    value = getattr(import_module(f"rhostar.lab.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
