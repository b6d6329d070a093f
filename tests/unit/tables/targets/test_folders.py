"""Work folders: private, locked, cleaned up after killed runs, and never another folder of ours."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.errors import FileError
from shoal.tables.targets.folders import PrivateFolder, WorkFolder, hold_folder, new_folder, remove_leftover
from shoal.tables.targets.witness import Kind, Witness, appoint

KILLED = """
import os, signal, sys
from pathlib import Path
from shoal.tables.targets.folders import WorkFolder
folder = WorkFolder(Path(sys.argv[1]), ".shoal-x-", busy="busy").__enter__()
(folder.path / "release.csv").write_text("unfinished")
(folder.path / "inside").mkdir()
(folder.path / "inside" / "file").write_text("unfinished")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    """L15, O04."""
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    (left,) = tmp_path.iterdir()
    assert {path.name for path in left.iterdir()} == {"lock", "release.csv", "inside"}
    with WorkFolder(tmp_path, ".shoal-y-", busy="busy"):
        assert left.exists()  # that of another output
    with WorkFolder(tmp_path, ".shoal-x-", busy="busy") as work:
        assert not left.exists()
        assert [path.name for path in work.path.iterdir()] == ["lock"]
    assert list(tmp_path.iterdir()) == []


def test_another_folder_of_ours_is_never_emptied(tmp_path: Path) -> None:
    """Whoever owns the folder above may rename ours to look like the leftover of a run."""
    for number, lock in enumerate((None, "", "shoal", ".shoal-x-other")):
        thesis = tmp_path / f".shoal-x-{number}"
        thesis.mkdir()
        (thesis / "thesis.txt").write_text("precious")
        os.utime(thesis, (1, 1))
        if lock is not None:
            (thesis / "lock").write_text(lock)
    (tmp_path / ".shoal-x-file").write_text("precious")
    (tmp_path / ".shoal-x-link").symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with WorkFolder(tmp_path, ".shoal-x-", busy="busy"):
        pass
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_folder_without_lock_goes_once_it_is_old(tmp_path: Path) -> None:
    """A run may have been killed, or be about to lock it."""
    for age in (0, 3600):
        folder = tmp_path / f".shoal-x-{age}"
        folder.mkdir()
        os.utime(folder, (time.time() - age,) * 2)
    with WorkFolder(tmp_path, ".shoal-x-", busy="busy"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [".shoal-x-0"]


def test_a_folder_that_is_not_private_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without permissions."""
    real = os.mkdir
    monkeypatch.setattr(
        os,
        "mkdir",
        lambda *words, **options: (real(*words, **options), os.chmod(words[0], 0o755, dir_fd=options["dir_fd"])),
    )
    with pytest.raises(FileError, match="does not keep owners and permissions"), WorkFolder(tmp_path, ".shoal-x-"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_private_folders_do_not_exclude_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with PrivateFolder() as one, PrivateFolder() as two:
        assert one.path != two.path
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == []


def test_links_lead_where_the_system_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "real" / "deep"
    real.mkdir(parents=True)
    (tmp_path / "relative").symlink_to("real")
    (tmp_path / "absolute").symlink_to(tmp_path / "relative")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("x")
    monkeypatch.chdir(tmp_path)
    for path in ("real/deep", "relative/deep", "absolute/deep/../deep", str(tmp_path / "absolute" / "deep")):
        held = hold_folder(Path(path))
        assert os.path.samestat(os.fstat(held), real.stat()), path
        os.close(held)
    for path, error in (("loop", OSError), ("file", NotADirectoryError), ("none", FileNotFoundError)):
        with pytest.raises(error):
            hold_folder(Path(path))


def test_descriptors_are_closed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    gc.collect()  # what other tests left open
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        with WorkFolder(tmp_path / "link", ".shoal-x-", busy="busy"), pytest.raises(FileError):
            WorkFolder(tmp_path, ".shoal-x-", busy="busy").__enter__()
    assert len(os.listdir("/dev/fd")) == before


def test_a_new_folder_that_stays_empty_goes(tmp_path: Path) -> None:
    with new_folder(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert list(tmp_path.iterdir()) == []
    with new_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "file").write_text("x")
    with new_folder(tmp_path / "a" / "b"):
        pass
    assert (tmp_path / "a" / "b" / "file").exists()
    with pytest.raises(FileError, match="is not a folder"), new_folder(tmp_path / "a" / "b" / "file"):
        pass


class Listener(Witness):
    """Remembers what is open."""

    def __init__(self) -> None:
        self.kinds: dict[Path, Kind] = {}
        self.seen: list[Kind] = []

    def opened(self, kind: Kind, path: Path) -> None:
        assert not path.exists(), "told too late"
        self.kinds[path] = kind
        self.seen.append(kind)

    def closed(self, path: Path) -> None:
        del self.kinds[path]


def test_a_witness_can_clean_up_at_any_moment(tmp_path: Path) -> None:
    """What is told suffices to remove everything, and nothing that was finished."""
    from shoal.tables.targets.text_file import store_text

    listener = Listener()
    before = appoint(listener)
    try:
        with new_folder(tmp_path / "new"):
            work = WorkFolder(tmp_path / "new", ".shoal-x-").__enter__()
            (work.path / "file").write_text("x")
            for path, kind in reversed(listener.kinds.items()):
                remove_leftover(kind, path)
            assert list(tmp_path.iterdir()) == []
            work.__exit__(None, None, None)
        store_text(tmp_path / "kept", "x")
        assert listener.kinds == {}
        assert listener.seen == [Kind.NEW_FOLDER, Kind.WORK_FOLDER, Kind.FILE]
    finally:
        appoint(before)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
