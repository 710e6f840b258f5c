"""Checks the docstring of every public class, function and method by numpydoc: ``python tools/docstrings.py``.

Documented parameters are those of the signature; what returns or raises something says so; functions and classes have
an example, which the tests run. Public is what the ``__init__.pyi`` of a public package lists. ``make lint`` runs this.
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
import sys
import textwrap
from itertools import pairwise
from types import FunctionType
from typing import Any

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import rhostar

CODES = {"GL06", "GL07", "GL08", "SS01", "SS03", "PR01", "PR02", "PR10", "RT01", "YD01", "EX01"}
"""The rules of numpydoc that hold here; parameters that belong together may stand together, so not PR03."""


def public_objects() -> dict[str, Any]:
    """Return all public classes, functions and methods of rhostar by the name of their definition."""
    found: dict[str, Any] = {}
    modules = [rhostar]
    for module in modules:  # grows while it is read
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
        for name in getattr(module, "__all__", own):
            thing = getattr(module, name)
            if name.startswith("_"):
                continue
            if inspect.ismodule(thing):
                modules.append(thing)
            elif inspect.isclass(thing) and thing.__module__.startswith("rhostar"):
                found |= {full_name(thing): thing} | members(thing)
            elif isinstance(thing, FunctionType):
                found[full_name(thing)] = thing
    return found


def members(kind: type) -> dict[str, Any]:
    """Return the public methods of a class, each where it is defined first: others repeat what it does."""
    found: dict[str, FunctionType] = {}
    for base in reversed(kind.__mro__):
        for name, value in vars(base).items() if base.__module__.startswith("rhostar") else ():
            method = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if not isinstance(method, FunctionType) or name.startswith("_") or method.__module__ != base.__module__:
                continue  # not a method, or one that a library made
            first = found.setdefault(name, method)
            if list(inspect.signature(first).parameters) != list(inspect.signature(method).parameters):
                found[name] = method
    return {full_name(method): method for method in found.values()}


def full_name(thing: Any) -> str:
    """Return module and name, as numpydoc looks it up."""
    return f"{thing.__module__}.{thing.__qualname__}"


def faults(name: str, thing: Any) -> list[str]:
    """Return what is wrong with the docstring of a class, function or method."""
    found = {code: text for code, text in validate(get_doc_object(thing))["errors"] if code in CODES}
    if re.search(r"\w -{4,}", thing.__doc__ or ""):  # numpydoc takes it for text
        found["title"] = "The title of a section and the line under it are on one line"
    if inspect.isclass(thing):
        if issubclass(thing, Exception | enum.Enum):
            found = {code: text for code, text in found.items() if code not in ("PR01", "EX01")}
        elif is_record(thing):
            found = {code: text for code, text in found.items() if code not in ("PR01", "EX01")}
            lacking = undocumented_fields(thing)
            if lacking:
                found["PR01"] = f"Fields {lacking} are not documented"
    else:
        if "." in thing.__qualname__:
            found.pop("EX01", None)
        if "Yields\n" in inspect.cleandoc(thing.__doc__ or ""):
            found.pop("RT01", None)
        if raises(thing) and "Raises\n" not in inspect.cleandoc(thing.__doc__ or ""):
            found["RS01"] = f"No Raises section, but it raises {', '.join(raises(thing))}"
    return [f"{name}: {text}" for text in found.values()]


def is_record(kind: type) -> bool:
    """Return whether a class is a named tuple or a data class: users get them as results."""
    return hasattr(kind, "_fields") or hasattr(kind, "__dataclass_fields__")


def undocumented_fields(kind: type) -> list[str]:
    """Return the fields of a record that have neither a line in the docstring nor a string below them."""
    names: list[str] = list(kind._fields if hasattr(kind, "_fields") else kind.__dataclass_fields__)  # type: ignore[attr-defined]
    described = set()
    for base in kind.__mro__:
        if base.__module__.startswith("rhostar"):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            body = tree.body  # type: ignore[attr-defined]
            for line, following in pairwise(body):
                if isinstance(line, ast.AnnAssign) and isinstance(following, ast.Expr):
                    described.add(ast.unparse(line.target))
    text = inspect.cleandoc(kind.__doc__ or "")
    lines = {word for line in text.splitlines() if not line.startswith(" ") for word in line.split(", ")}
    return [name for name in names if name not in described | lines and not name.startswith("_")]


def raises(function: FunctionType) -> list[str]:
    """Return the names of the exceptions that a function itself raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    raised = {node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise)}
    names = {ast.unparse(error.func) for error in raised if isinstance(error, ast.Call)}
    return sorted(names - {"NotImplementedError"})


def main() -> int:
    """Print all faults and return 1 if there are any."""
    lines = [line for name, thing in sorted(public_objects().items()) for line in faults(name, thing)]
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
