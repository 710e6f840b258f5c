"""Certificates from JSON: whatever was changed, the answer is a certificate or a clear error."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rhostar as rs
from rhostar.errors import InputError
from support.commands import run

GRAPH = rs.Graph.grid(3, 3)
TRIPS = rs.InstanceSet(GRAPH, np.random.default_rng(0).uniform(1, 2, size=(60, GRAPH.m)), sources=0, goal=8)
STEPS = rs.distances_to(GRAPH, np.ones(GRAPH.m), 8)
EXCESS = rs.utilities.Suboptimality(limit=4.0)
TABLES = [
    rs.certify(1.5 * STEPS, TRIPS, EXCESS, lower=1.0, by=np.arange(60) % 2).to_dict(),
    rs.certify(STEPS, TRIPS, EXCESS, quantile=0.9).to_dict(),
    rs.certify_training(1.5 * STEPS, TRIPS, EXCESS, lower=1.0, upper=2.0).to_dict(),
]
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([1e308, -1.0, float("inf"), float("nan"), 2**80, -(2**80), "", "upper", "every rho", "\ud800"]),
    st.just([]),
    st.just({}),
    st.just([[]]),
    st.just({"a": [None]}),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all values inside plain values."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, part in inside for found in places(part, (*path, key)))]


@given(data=st.data(), junk=JUNK, which=st.sampled_from(range(3)), how=st.sampled_from(["replace", "remove", "rename"]))
@settings(max_examples=800)
def test_changed_json_is_read_or_refused(data: st.DataObject, junk: Any, which: int, how: str) -> None:
    values: Any = {"table": copy.deepcopy(TABLES[which])}
    path = data.draw(st.sampled_from(places(values)[1:]))
    inside = values
    for key in path[:-1]:
        inside = inside[key]
    if how == "replace" or isinstance(inside, list) or len(path) == 1:
        inside[path[-1]] = junk
    elif how == "remove":
        del inside[path[-1]]
    else:
        inside[f"{path[-1]}_"] = inside.pop(path[-1])
    try:
        table = rs.certificates.CertificateTable.from_json(json.dumps(values["table"]))
    except InputError:
        return
    assert str(table)
    assert repr(table)
    assert table._repr_html_()
    assert table.best.sentence
    assert rs.certificates.CertificateTable.from_dict(table.to_dict()).rows == table.rows


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "null", '{"rows": 1}', '{"rows": [1], "dropped": []}', "[" * 100_000, '"' * 7, "9" * 5000],
)
def test_other_texts_are_refused(text: str) -> None:
    for kind in (rs.certificates.CertificateTable, rs.certificates.Certificate):
        with pytest.raises(InputError):
            kind.from_json(text)


def test_a_damaged_certificate_in_a_model_is_called_damaged(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = rs.Model.of(rs.learners.MeanDistance().fit(TRIPS), GRAPH)
    table = TABLES[0] | {"about": ""}  # else it would be refused, as it is about another heuristic
    for damaged in ({"rows": 1}, {}, table | {"rows": [{"value": "low"}]}, table | {"delta": [0.05]}):
        model.with_certificate(damaged).save(tmp_path / "m.npz")
        for words in (("info",), ("info", "--json")):
            code, _, err = run(capsys, words[0], tmp_path / "m.npz", *words[1:])
            assert code != 0
            assert "is damaged: its certificate cannot be read" in err
