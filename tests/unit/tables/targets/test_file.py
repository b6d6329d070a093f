"""The locked, all-or-nothing target of a run."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from shoal.errors import FileError, InputError, UsageError, VerificationError
from shoal.tables.targets import moves
from shoal.tables.targets.file import FileTarget, ReportTarget
from shoal.tables.targets.moves import Held, Move
from shoal.tables.targets.places import Place, check_distinct, publish_together
from shoal.tables.targets.text_file import TextFiles, write_text
from tests.command import folder_of


def stage(place: Place, final: Path, text: str = "new", *, private: bool = False) -> Move:
    """Write an unfinished file and plan its way."""
    unfinished = place.temporary(f"unfinished-{place.finals.index(final)}")
    unfinished.write_text(text)
    return place.move(Held(unfinished), final, private=private)


def all_of(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder; nothing else may be there."""
    assert all(path.is_file() for path in folder.rglob("*"))
    return folder_of(folder)


def test_private_folder_is_private_unpredictable_and_goes(tmp_path: Path) -> None:
    """L15."""
    names = set()
    for _ in range(2):
        with FileTarget(tmp_path / "out.csv") as target:
            assert target.folder.stat().st_mode & 0o777 == 0o700
            (folder,) = tmp_path.iterdir()
            names.add(folder.name)
            assert len(folder.name.split("-")[-1]) == 16
            target.temporary("x").write_text("secret")
    assert len(names) == 2
    assert list(tmp_path.iterdir()) == []


def test_published_files_are_in_place_and_the_rest_is_gone(tmp_path: Path) -> None:
    manifest = tmp_path / "out.csv.manifest.json"
    with FileTarget(tmp_path / "out.csv", [manifest]) as target:
        unfinished = target.temporary("release.csv")
        unfinished.write_text("new")
        target.write(Held(unfinished), ["x"])
        target.publish([stage(target, manifest, private=True)])
    assert all_of(tmp_path) == {"out.csv": b"new", manifest.name: b"new"}
    assert manifest.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "out.csv").stat().st_nlink == 1


def test_an_exception_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("old")
    target = FileTarget(tmp_path / "out.csv", force=True)
    target.__enter__()
    target.temporary("release.csv").write_text("new")
    target.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert all_of(tmp_path) == {"out.csv": b"old"}


def test_second_run_is_refused_while_the_first_goes_on(tmp_path: Path) -> None:
    """O07."""
    with FileTarget(tmp_path / "out.csv"):
        with pytest.raises(FileError, match="another run is writing it"), FileTarget(tmp_path / "out.csv"):
            pass
        with FileTarget(tmp_path / "other.csv"):
            pass
    with FileTarget(tmp_path / "out.csv"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_two_runs_that_begin_at_once_never_both_write(tmp_path: Path) -> None:
    """O07: whoever comes first, and in whatever order their steps interleave."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    barrier = Barrier(4)

    def run(_: int) -> bool:
        barrier.wait()
        try:
            with FileTarget(tmp_path / "out.csv"):
                barrier.wait()  # all four have decided
        except FileError:
            barrier.wait()
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert sum(pool.map(run, range(4))) <= 1
    assert list(tmp_path.iterdir()) == []


KINDS_IN_THE_WAY = {
    "a folder": (lambda path: path.mkdir(), "is a folder"),
    "a pipe": (lambda path: os.mkfifo(path), "is not a regular file"),
    "a file": (lambda path: path.write_text("old"), "exists already"),
    "a link to nothing": (lambda path: path.symlink_to("nothing"), "exists already"),
    "a link to a file": (lambda path: (path.with_name("x").write_text("old"), path.symlink_to("x")), "exists already"),
}


@pytest.mark.parametrize("which", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", KINDS_IN_THE_WAY)
def test_every_final_path_is_checked_before_the_work(tmp_path: Path, which: int, kind: str) -> None:
    """O02, O06: the release and each file beside it."""
    finals = [tmp_path / name for name in ("out.csv", "out.csv.a", "out.csv.b", "out.csv.c")]
    make, reason = KINDS_IN_THE_WAY[kind]
    make(finals[which])
    before = sorted(tmp_path.iterdir())
    with pytest.raises(FileError, match=reason), FileTarget(finals[0], finals[1:]):
        pass
    assert sorted(tmp_path.iterdir()) == before


def alias(path: Path, how: str) -> Path:
    """Return another path of the same file."""
    if how == "itself":
        return path
    other = path.with_name("alias.csv")
    if how == "hard link":
        other.hardlink_to(path)
    elif how == "symbolic link":
        other.symlink_to(path.name)
    elif how == "link to its folder":
        link = path.parent / "link"
        link.symlink_to(path.parent)
        other = link / path.name
    return other


@pytest.mark.parametrize("how", ["itself", "hard link", "symbolic link", "link to its folder"])
@pytest.mark.parametrize("beside", [False, True])
def test_no_output_is_an_input_by_any_name(tmp_path: Path, how: str, beside: bool) -> None:
    """B27: not even with force."""
    data = tmp_path / "data.csv"
    data.write_text("a\n1\n")
    final = alias(data, how)
    lead = final.with_name("lead.csv") if beside else final
    place = Place(lead, [final] if beside else [], inputs=[tmp_path / "gone.csv", data], force=True)
    with pytest.raises(InputError, match="input and output are the same file"), place:
        pass
    assert data.read_text() == "a\n1\n"


@pytest.mark.parametrize("limit", [255, 256])
def test_a_name_at_the_limit_is_written_and_one_above_it_refused_at_once(tmp_path: Path, limit: int) -> None:
    """O02: bytes count, not letters; the private pages have the longest names."""
    page = tmp_path / ("ü" * 100 + "x" * (limit - 200 - len(".private.html")) + ".html")
    assert len(os.fsencode(page.with_suffix(".private.html").name)) == limit
    if limit > 255:
        with pytest.raises(FileError, match="the name is too long: 256 bytes, of which the file system stores 255"):
            ReportTarget(page).__enter__()
        assert list(tmp_path.iterdir()) == []
        return
    with ReportTarget(page) as report:
        publish_together([stage(report, final) for final in report.finals])
    assert len(all_of(tmp_path)) == 4


def test_a_report_in_the_place_of_the_release_is_refused(tmp_path: Path) -> None:
    """Also where the file system would not tell the names apart."""
    release = tmp_path / "R.html.csv"
    beside = [tmp_path / "r.JSON"]
    with (
        FileTarget(release, beside) as target,
        ReportTarget(tmp_path / "r.html") as report,
        pytest.raises(UsageError, match="is a file of another output"),
    ):
        check_distinct([target, report])


FAILURES = {"a full disk": OSError(errno.ENOSPC, "No space left on device"), "Ctrl-C": KeyboardInterrupt()}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("step", ["link", "rename", "fsync"])
@pytest.mark.parametrize("force", [False, True])
def test_all_files_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: str, step: str, force: bool
) -> None:
    """O05: every step of publishing fails in turn; the files, their permissions and times are as they were."""
    finals = [tmp_path / name for name in ("out.csv", "b", "c")]
    n_steps = 0
    while True:
        for final in finals:
            final.unlink(missing_ok=True)
        if force:
            finals[0].write_text("old")
            finals[2].write_text("old too")
            finals[0].chmod(0o640)
            os.utime(finals[0], (1, 2))
        before = {path.name: (path.read_bytes(), path.stat()) for path in tmp_path.iterdir()}
        calls = 0
        with Place(finals[0], finals[1:], force=force) as place, monkeypatch.context() as patch:
            planned = [stage(place, final) for final in finals]
            real = getattr(os, step)

            def fail(*words: object, real: object = real, last: int = n_steps, **options: object) -> object:
                nonlocal calls
                calls += 1
                if calls == last + 1:
                    raise FAILURES[failure]
                return real(*words, **options)  # type: ignore[operator]

            patch.setattr(moves.os, step, fail)
            try:
                publish_together(planned)
            except (FileError, KeyboardInterrupt):
                patch.undo()
            else:
                break
        after = {path.name: (path.read_bytes(), path.stat()) for path in tmp_path.iterdir()}
        assert {name: content for name, (content, _) in after.items()} == {
            name: content for name, (content, _) in before.items()
        }
        for name, (_, state) in after.items():
            old = before[name][1]
            assert (state.st_ino, state.st_mode, state.st_mtime_ns) == (old.st_ino, old.st_mode, old.st_mtime_ns)
        n_steps += 1
    if step == "rename" and not force:
        assert n_steps == 0  # new files are linked, so that none is ever replaced
    elif step == "link" and failure == "a full disk":
        assert n_steps == 0  # without links, files are renamed and copied
    else:
        assert n_steps >= 2
    assert all_of(tmp_path) == dict.fromkeys(("out.csv", "b", "c"), b"new")


def test_what_cannot_be_put_back_is_told_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are true even if the disk fails twice."""
    finals = [tmp_path / "out.csv", tmp_path / "b"]
    finals[0].write_text("old")
    real = os.rename
    calls = 0

    def fail(*words: object, **options: object) -> None:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise OSError(errno.EIO, "Input/output error")
        real(*words, **options)  # type: ignore[arg-type]

    with Place(finals[0], finals[1:], force=True) as place:
        planned = [stage(place, final) for final in finals]
        monkeypatch.setattr(moves.os, "rename", fail)
        with pytest.raises(FileError, match=r"out\.csv: cannot be written, and cannot be put back") as caught:
            publish_together(planned)
        monkeypatch.undo()
    (kept,) = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert str(kept) in str(caught.value)
    assert "old" in {path.read_text() for path in kept.iterdir()}
    with Place(finals[0], force=True):
        assert kept.is_dir()  # a later run does not remove it


def test_a_file_made_in_the_meantime_is_not_replaced(tmp_path: Path) -> None:
    """O06: without force, between the check and the move."""
    with FileTarget(tmp_path / "out.csv", [tmp_path / "b"]) as target:
        planned = [stage(target, final) for final in target.finals]
        (tmp_path / "b").write_text("theirs")
        with pytest.raises(FileError, match="was made by someone else"):
            publish_together(planned)
    assert all_of(tmp_path) == {"b": b"theirs"}


def swap(path: Path) -> None:
    """Put another file in the place of one."""
    (path.parent / "other").write_text("bad")
    os.replace(path.parent / "other", path)


CHANGES = {
    "another file by that name": swap,
    "other bytes in the same file": lambda path: path.write_text("bad"),
    "a symbolic link": lambda path: (path.rename(path.parent / "x"), path.symlink_to(path.parent / "x")),
    "no file": lambda path: path.unlink(),
}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_the_bytes_that_move_are_those_that_were_checked(tmp_path: Path, change: str, force: bool) -> None:
    (tmp_path / "b").write_text("old") if force else None
    before = folder_of(tmp_path)
    with Place(tmp_path / "a", [tmp_path / "b"], force=force) as place:
        planned = [stage(place, final) for final in place.finals]
        CHANGES[change](planned[1].held.path)
        with pytest.raises((VerificationError, FileError), match="exchanged or changed"):
            publish_together(planned)
    assert all_of(tmp_path) == before


def test_only_a_file_of_our_own_is_held(tmp_path: Path) -> None:
    """A link, symbolic or hard, could lead to a file that another user can still change."""
    file = tmp_path / "file"
    file.write_text("x")
    (tmp_path / "soft").symlink_to(file)
    with pytest.raises(OSError, match="symbolic links"):
        Held(tmp_path / "soft")
    (tmp_path / "hard").hardlink_to(file)
    with pytest.raises(VerificationError, match="exchanged"):
        Held(tmp_path / "hard")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(VerificationError, match="exchanged"):
        Held(tmp_path / "pipe")


def test_a_symbolic_link_is_replaced_and_its_file_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "out.csv").symlink_to("precious")
    with Place(tmp_path / "out.csv", force=True) as place:
        publish_together([stage(place, place.path)])
    assert not (tmp_path / "out.csv").is_symlink()
    assert all_of(tmp_path) == {"out.csv": b"new", "precious": b"precious"}


def test_an_exchanged_folder_does_not_redirect_the_files(tmp_path: Path) -> None:
    """The folder is held from the check on: files arrive where the check was."""
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    with Place(folder / "out.csv") as place:
        unfinished = place.temporary("x")
        folder.rename(tmp_path / "moved")
        folder.symlink_to(elsewhere)
        unfinished.write_text("new")
        publish_together([place.move(Held(unfinished), place.path)])
    assert folder_of(tmp_path) == {"moved/out.csv": b"new"}
    assert list(elsewhere.iterdir()) == []
    assert [path.name for path in (tmp_path / "moved").iterdir()] == ["out.csv"]


def test_text_files_are_written_together(tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    with TextFiles([*paths, None]) as files:
        assert len(list(tmp_path.iterdir())) == 2  # locked already
        files.write({paths[0]: "é\r\n", paths[1]: ""})
    assert all_of(tmp_path) == {"a.txt": "é\r\n".encode(), "b.txt": b""}
    with pytest.raises(FileError, match="exists already"), TextFiles(paths):
        pass
    with (
        pytest.raises(UsageError, match="is a file of another output"),
        TextFiles([paths[0], tmp_path / "A.TXT"], force=True),
    ):
        pass
    write_text(paths[0], "secret")
    assert stat.S_IMODE(paths[0].stat().st_mode) == 0o600
