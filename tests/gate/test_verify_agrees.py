"""`verify`, which does not know which row is which, and the gate, which does, say the same about tampered files.

The manifest is forged with the file: its hash and counts are those of the tampered bytes. CI takes a sample; the
nightly run sets SHOAL_MUTATIONS to more.
"""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal import verification
from shoal.errors import InputError, UsageError
from shoal.schema import Role
from tests.gate.test_twin import CHANGES, MUTATIONS, VARIANTS, captured

SHARE = 10  # of the mutations of the twins, which are quicker to judge
# What only the gate can say, because it knows the rows that were written: another row of the original may explain a
# released one, and a row that is gone may have been suppressed.
BY_WITNESS = ("do not cover their source", "differ from their source", "should have been written", "of their group")


def forge(manifest: Path, released: Path, verdict: verification.Verdict) -> None:
    """Let a manifest agree with a file."""
    content = json.loads(manifest.read_text())
    content["sha256"] = hashlib.sha256(released.read_bytes()).hexdigest()
    counts = {"rows": verdict.rows, "groups": verdict.groups, "smallest_group": verdict.smallest_group}
    content["measures"] |= counts
    manifest.write_text(json.dumps(content))


@pytest.mark.parametrize("variant", VARIANTS)
def test_verify_says_what_the_gate_says(variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C02, C03."""
    raw, arguments, keywords = captured(monkeypatch, tmp_path, **VARIANTS[variant])
    _, schema, k, original, source_rows, claims = arguments
    texts = original.texts() if hasattr(original, "texts") else original
    frame = pl.DataFrame(texts)
    manifest = tmp_path / "release.csv.manifest.json"
    options: dict[str, Any] = {"original": frame, "person": next(iter(schema.names(Role.PERSON)), None)}
    path = tmp_path / "tampered.csv"
    path.write_bytes(raw)
    assert verification.check(path, manifest=manifest, **options).ok
    chance = random.Random(variant)
    refused = 0
    for number in range(max(20, MUTATIONS // SHARE // len(VARIANTS))):
        changed = raw
        for _ in range(chance.choice((1, 1, 2))):
            changed = chance.choice(CHANGES)(changed, chance) or b"a"
        path.write_bytes(changed)
        by_gate = verification.gate(path, schema, k, texts, source_rows, {}, **keywords)
        forge(manifest, path, by_gate)
        by_verify = verification.check(path, manifest=manifest, **options)
        refused += not by_verify.ok
        if by_gate.ok:
            assert by_verify.ok, (number, by_verify.violations)
        elif by_verify.ok:
            assert all(any(words in text for words in BY_WITNESS) for text in by_gate.violations), (number, by_gate)
    assert refused > 0
    assert set(claims) == {"rows", "groups", "smallest_group", "suppressed_rows"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_verify_by_keywords_refuses_nothing_that_the_gate_accepts(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a manifest, files of other tools pass too: other quotes, line ends and orders of rows."""
    raw, arguments, keywords = captured(monkeypatch, tmp_path, **VARIANTS[variant])
    _, schema, k, original, source_rows, claims = arguments
    texts = original.texts() if hasattr(original, "texts") else original
    path = tmp_path / "tampered.csv"
    chance = random.Random(variant)
    demands: dict[str, Any] = {
        "qi": [column.name for column in schema.qi],
        "k": k,
        "kinds": {column.name: column.kind for column in schema.qi},
        "original": pl.DataFrame(texts),
        "person": next(iter(schema.names(Role.PERSON)), None),
        "drop": list(schema.names(Role.IDENTIFIER)),
        "models": keywords["models"],
        "suppression_limit": keywords["suppression_limit"],
        "spreadsheet_safe": keywords["spreadsheet_safe"],
        "cells": "bounds" if keywords["bounds"] else "center" if keywords["center"] else None,
        "center": keywords["center"],
        "spread": keywords["spread"],
        "keep_order": keywords["keep_order"],
        "output_decimal": keywords["decimal"],
        "recode": VARIANTS[variant].get("recode", {}),
    }
    accepted = 0
    for number in range(max(20, MUTATIONS // SHARE // len(VARIANTS))):
        path.write_bytes(chance.choice(CHANGES)(raw, chance) or b"a")
        by_gate = verification.gate(path, schema, k, texts, source_rows, claims, **keywords)
        try:
            by_verify = verification.check(path, **demands)
        except (InputError, UsageError):  # no table, or without a column that is named
            assert not by_gate.ok
            continue
        accepted += by_verify.ok
        assert by_verify.ok or not by_gate.ok, (number, by_verify.violations)
    assert accepted > 0
