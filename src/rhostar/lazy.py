"""Names of a package that are loaded when they are first used, so that importing it is quick."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attach(
    package: str, home: Mapping[str, str | None], *present: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package
        Its name.
    home
        For each public name the module it is defined in; None where it is a module itself.
    *present
        Public names that are there already.

    Examples
    --------
    >>> from rhostar.lazy import attach
    >>> load, names = attach("rhostar", {"Graph": "graph", "errors": None})
    >>> load("Graph").__name__, load("errors").__name__, names()
    ('Graph', 'rhostar.errors', ['Graph', 'errors'])
    """

    def load(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{home[name] or name}")
        value = module if home[name] is None else getattr(module, name)
        setattr(import_module(package), name, value)  # the next access does not come here
        return value

    return load, lambda: sorted([*home, *present])
