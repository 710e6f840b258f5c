"""The JSON Schema of certificates and of tables of them, made from the classes themselves."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rhostar.certificates._certificate import CHOICES, SHARES, Certificate, Dropped
from rhostar.certificates._table import CertificateTable

_KINDS: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer", "minimum": 0},
    "float": {"type": "number"},
    "None": {"type": "null"},
    "tuple[str, ...]": {"type": "array", "items": {"type": "string"}},
    "Mapping[str, float]": {"type": "object", "additionalProperties": {"type": "number"}},
    **{name: {"enum": list(words)} for name, words in CHOICES.items()},
}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of what ``table.to_json()`` and ``rhostar certify --json`` write.

    Its ``$defs["certificate"]`` is that of ``certificate.to_json()``. :class:`rhostar.certificates.Certificate` says
    what each entry means. In JSON, `value` is null where the bound is infinite.

    Returns
    -------
    dict
        Plain values, to be written as JSON or given to a validator.

    Examples
    --------
    >>> import rhostar as rs
    >>> schema = rs.certificates.json_schema()
    >>> schema["$defs"]["certificate"]["properties"]["algorithm"]
    {'enum': ['astar', 'gbfs']}
    """
    text = {"type": "string"}
    certificate = _object({**_properties(Certificate), "summary": text, "sentence": text})
    certificate["properties"]["value"] = {"type": ["number", "null"]}
    for name in SHARES:
        certificate["properties"][name] |= {"minimum": 0, "maximum": 1}
    table = {
        **_properties(CertificateTable, without=("rows", "dropped", "rho")),
        "summary": text,
        "rows": {"type": "array", "items": {"$ref": "#/$defs/certificate"}, "minItems": 1},
        "dropped": {"type": "array", "items": {"$ref": "#/$defs/dropped"}},
    }
    table["delta"] |= {"minimum": 0, "maximum": 1}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A table of certificates of rhostar",
        **_object(table),
        "$defs": {"certificate": certificate, "dropped": _object(_properties(Dropped))},
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these entries."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _properties(cls: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the schema of each field, by its annotation."""
    found: dict[str, Any] = {}
    for entry in (entry for entry in fields(cls) if entry.name not in without):
        kinds = [_KINDS[kind] for kind in str(entry.type).split(" | ")]
        optional = {"type": [kind["type"] for kind in kinds]} if len(kinds) > 1 else {}
        found[entry.name] = {**kinds[0], **optional}
    return found
