"""The locked, all-or-nothing target of a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shoal.errors import FileError
from shoal.tables.targets.file import FileTarget


def test_private_folder_is_private_and_goes(tmp_path: Path) -> None:
    """L15."""
    with FileTarget(tmp_path / "out.csv") as target:
        assert target.folder.stat().st_mode & 0o777 == 0o700
        target.temporary("x").write_text("secret")
    assert list(tmp_path.iterdir()) == []


def test_published_files_are_in_place_and_the_rest_is_gone(tmp_path: Path) -> None:
    with FileTarget(tmp_path / "out.csv") as target:
        unfinished = target.temporary("release.csv")
        unfinished.write_text("new")
        target.write(unfinished, ["x"])
        target.publish()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out.csv": "new"}


def test_an_exception_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("old")
    target = FileTarget(tmp_path / "out.csv", force=True)
    target.__enter__()
    target.temporary("release.csv").write_text("new")
    target.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out.csv": "old"}


def test_what_a_killed_run_left_is_taken_over_and_emptied(tmp_path: Path) -> None:
    left = tmp_path / ".out.csv.shoal"
    left.mkdir()
    (left / "release.csv").write_text("rest of a killed run")
    with FileTarget(tmp_path / "out.csv") as target:
        assert list(target.folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_second_run_is_refused_while_the_first_goes_on(tmp_path: Path) -> None:
    """O07."""
    with FileTarget(tmp_path / "out.csv"):
        with pytest.raises(FileError, match="another run is writing it"), FileTarget(tmp_path / "out.csv"):
            pass
        with FileTarget(tmp_path / "other.csv"):
            pass
    with FileTarget(tmp_path / "out.csv"):
        pass


def test_something_in_the_way_is_named(tmp_path: Path) -> None:
    os.symlink(tmp_path / "elsewhere", tmp_path / ".out.csv.shoal")
    with pytest.raises(FileError, match="is in the way"), FileTarget(tmp_path / "out.csv"):
        pass
