"""The stand-alone verifier accepts every claim that is shipped, and no claim that was tampered with."""

from __future__ import annotations

import ast
import copy
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import verify

import rhostar as rs
from rhostar.bounds import _sizes as sizes
from rhostar.theory import _export as exporting

VERIFIER = Path(verify.__file__)
Claim = dict[str, Any]


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    return {name: json.loads(json.dumps(claim)) for name, claim in exporting.claims()}


def test_the_verifier_stands_alone() -> None:
    text = VERIFIER.read_text()
    assert len(text.splitlines()) <= 150
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names])
    }
    assert imported <= set(sys.stdlib_module_names)


@pytest.mark.slow
def test_everything_that_is_shipped(tmp_path: Path) -> None:
    names = rs.theory.export(tmp_path)
    assert len(names) == len(set(names)) == len(list(tmp_path.iterdir()))
    done = subprocess.run(
        [sys.executable, "-I", str(VERIFIER), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert f"{len(names)} claims, 0 wrong" in done.stdout
    shipped = rs.theory.atlas.entries()
    for name, witness in shipped.items():
        assert f"right  {len(witness):4} atlas-{name}\n" in done.stdout


def test_a_sample(claims: dict[str, Claim]) -> None:
    for name, claim in claims.items():
        if claim["kind"] == "parity-orders" and claim["layers"] < 7:
            assert verify.check_orders(claim)[0] == sizes.PARITY_BITS[claim["layers"]]
        elif claim["kind"] == "shattered-set" and (claim["n"] <= 5 or not name.startswith(("atlas", "parity"))):
            assert verify.check_set(claim)[0] == claim["size"]


def test_sizes_are_those_of_the_lower_bounds(claims: dict[str, Claim]) -> None:
    found = {name: claim["size"] for name, claim in claims.items()}
    assert found["interval-astar-40"] == sizes.interval(40, "astar")
    assert found["reopening-21"] == sizes.reopening(21, 4)
    assert found["cost-37"] == sizes.cost(37, 4)
    assert found["expansion-38"] == sizes.expansions(38, 4)
    assert found["parity-53"] == sizes.parity(53, 3)


def change_word(claim: Claim) -> None:
    claim["items"][0]["words"][0] = claim["items"][0]["words"][-1]


def change_threshold(claim: Claim) -> None:
    claim["thresholds"][0] += 1000


def change_weight(claim: Claim) -> None:
    claim["edges"][0] = [[u, v, 0] for u, v, _ in claim["edges"][0]]


def drop_pattern(claim: Claim) -> None:
    del claim["items"][0]["words"][-1]


def claim_more(claim: Claim) -> None:
    claim["size"] += 1


def negative_weight(claim: Claim) -> None:
    claim["edges"][0][0][2] = -1


def repeat_edge(claim: Claim) -> None:
    claim["edges"][0].append(claim["edges"][0][0])


def start_at_goal(claim: Claim) -> None:
    claim["sources"][0] = claim["goal"]


def fractional_rho(claim: Claim) -> None:
    claim["base"] = [0.5] * claim["n"]
    claim["items"][0]["words"][0] = [0.5] * len(claim["items"][0]["vertices"])


CHANGES = [
    change_word,
    change_threshold,
    drop_pattern,
    claim_more,
    negative_weight,
    repeat_edge,
    start_at_goal,
    fractional_rho,
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["atlas-astar-reopen-cost-small-4", "interval-astar-12", "parity-21"])
def test_a_changed_set_is_wrong(claims: dict[str, Claim], name: str, change: Callable[[Claim], None]) -> None:
    claim = copy.deepcopy(claims[name])
    verify.check_set(claim)
    change(claim)
    with pytest.raises((ValueError, KeyError, TypeError, IndexError)):
        verify.check_set(claim)


def test_weights_matter(claims: dict[str, Claim]) -> None:
    claim = copy.deepcopy(claims["cost-13"])
    change_weight(claim)
    with pytest.raises(ValueError, match="pattern"):
        verify.check_set(claim)


def test_items_must_not_meet(claims: dict[str, Claim]) -> None:
    claim = copy.deepcopy(claims["interval-astar-12"])
    other = claim["items"][1]["vertices"][0]
    claim["edges"][0].append([0, other, 10**6])
    with pytest.raises(ValueError, match="another item"):
        verify.check_set(claim)
    claim = copy.deepcopy(claims["interval-astar-12"])
    claim["items"][1]["vertices"] = claim["items"][0]["vertices"]
    with pytest.raises(ValueError, match="share a vertex"):
        verify.check_set(claim)


def test_changed_orders_are_wrong(claims: dict[str, Claim]) -> None:
    for layers in (3, 5, 6):
        claim = copy.deepcopy(claims[f"parity-orders-{layers}"])
        claim["orders"][-1] = sorted(claim["orders"][-1])
        with pytest.raises(ValueError, match="no sum of prefixes"):
            verify.check_orders(claim)
        claim["orders"][-1] = claim["orders"][-1][:-1]
        with pytest.raises(ValueError, match="not orders"):
            verify.check_orders(claim)


def test_the_command_says_which_claim_is_wrong(
    tmp_path: Path, claims: dict[str, Claim], capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = claims["sharper-astar-4"], copy.deepcopy(claims["sharper-gbfs-4"])
    change_word(bad)
    (tmp_path / "good.json").write_text(json.dumps(good))
    assert verify.main(str(tmp_path)) == 0
    (tmp_path / "bad.json").write_text(json.dumps(bad))
    (tmp_path / "other.json").write_text('{"kind": "promise"}')
    assert verify.main(str(tmp_path)) == 1
    said = capsys.readouterr().out
    assert "WRONG       bad" in said
    assert "WRONG       other" in said
    assert "3 claims, 2 wrong" in said
    empty = tmp_path / "empty"
    empty.mkdir()
    assert verify.main(str(empty)) == 1, "nothing checked is not a success"
