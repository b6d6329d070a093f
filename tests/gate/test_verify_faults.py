"""C02: what a deliberately broken anonymiser writes is refused by `verify` too, if the gate does not stop it first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal import verification
from shoal.release.gate import Gate
from tests.command import Shoal
from tests.gate.faults import FAULTS
from tests.gate.test_faults import WORDS, table

__all__ = ["table"]

NOTICED_BEFORE = {"a_column_is_lost"}  # its figures cannot be computed
# Faults of the maker's own records, which nobody publishes: the file itself is true.
INVISIBLE = {"the_row_map_is_wrong", "the_row_map_points_outside"}


@pytest.mark.parametrize("name", FAULTS)
def test_verify_refuses_what_the_gate_would_have_stopped(
    shoal: Shoal, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    out = tmp_path / "out.csv"

    def wave_through(gate: Gate, written: Path, *more: Any) -> verification.Verdict:
        return verification.Verdict(True, 3, 60, 10, 3, ())

    with monkeypatch.context() as patch:
        patch.setattr(Gate, "check_file", wave_through)
        FAULTS[name](patch)
        made = shoal("anonymize", table, "-o", out, *WORDS)
    assert (made.code == 0) == (name not in NOTICED_BEFORE), made.err
    if made.code:
        return
    ended = shoal("verify", out, "--original", table, "--drop", "name")
    assert ended.code == (0 if name in INVISIBLE else 5), f"{name}: {ended.code} {ended.err}"
    assert "person0" not in ended.err
    assert "Ménière" not in ended.err
