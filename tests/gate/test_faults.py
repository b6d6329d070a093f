"""C02: a deliberately broken anonymiser is stopped by the gate: exit code 5, no file, no trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import Shoal, folder_of
from tests.gate.faults import FAULTS

WORDS = ("-k", 3, "--qi", "age,sex,zip", "--sensitive", "disease,cost", "--drop", "name", "--method", "mondrian")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Sixty rows with everything a fault could hide behind: ties, missing values, blanks in cells, odd letters."""
    lines = ["name,age,sex,zip,disease,cost"]
    for i in range(60):
        sex = ("Female", "Male", "")[i % 7 % 3]
        cost = f" {i % 11}.50"
        lines.append(f"person{i:02d},{20 + i * 37 % 50},{sex},0{2100 + i * i % 13},Ménière {i * 13 % 17},{cost}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_without_a_fault_the_gate_opens(shoal: Shoal, table: Path, tmp_path: Path) -> None:
    assert shoal("anonymize", table, "-o", tmp_path / "out.csv", *WORDS).code == 0


def test_there_are_at_least_twenty_faults() -> None:
    assert len(FAULTS) >= 20


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_stopped(
    shoal: Shoal, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """C02, C03, L01, L02, L17: exit code 5, the old file as it was, nothing beside it, no cell in the message."""
    out = tmp_path / "out.csv"
    out.write_text("old\n")
    before = folder_of(tmp_path)
    FAULTS[name](monkeypatch)
    ended = shoal("anonymize", table, "-o", out, *WORDS, "--force")
    assert ended.code == 5, f"{name}: {ended.code} {ended.err}"
    assert folder_of(tmp_path) == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    assert "person" not in ended.err
    assert "Ménière" not in ended.err
