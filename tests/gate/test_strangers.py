"""A second user in a folder that everyone can write to, such as /tmp: nothing of theirs gets into a release."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.errors import FileError
from shoal.tables.targets.file import FileTarget
from shoal.tables.targets.folders import hold_folder, new_folder
from shoal.tables.targets.moves import Held
from shoal.tables.targets.places import publish_together
from tests.command import PATIENTS, ROLES, folder_of

STRANGER = "nobody"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as a second user")


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder like /tmp: everyone may make files in it, and each removes only their own."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-shared-"))
    folder.chmod(0o1777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def as_stranger(script: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a shell script as another user; it may fail, and must change nothing."""
    user = pwd.getpwnam(STRANGER)
    return subprocess.run(
        ["/bin/sh", "-c", script, "sh", *map(str, words)],
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )


def prefix_of(name: str) -> str:
    """Return what a stranger can know of the name of the work folder."""
    return f".shoal-{hashlib.sha256(name.encode()).hexdigest()[:16]}-"


def publish(target: FileTarget, text: str = "ours") -> None:
    unfinished = target.temporary("release.csv")
    unfinished.write_text(text)
    publish_together([target.move(Held(unfinished), target.path)])


@needs_root
def test_the_work_folder_is_closed_to_a_stranger(shared: Path) -> None:
    """L15: they cannot list, enter, fill, rename or remove it."""
    with FileTarget(shared / "out.csv") as target:
        target.temporary("secret").write_text("secret")
        (work,) = shared.iterdir()
        attempts = ("ls $1", "cat $1/secret", "touch $1/release.csv", "mv $1 $1.gone", "rm -rf $1", "ln $1/secret $1.x")
        for attempt in (*attempts, "ln -s $1/secret $1/release.csv", "chmod 777 $1", "rmdir $1"):
            ended = as_stranger(attempt, work)
            assert ended.returncode != 0, attempt
            assert "secret" not in ended.stdout
        publish(target)
    assert folder_of(shared) == {"out.csv": b"ours"}
    assert as_stranger("echo bad > $1", shared / "out.csv").returncode != 0


@needs_root
@pytest.mark.parametrize("kind", ["folder", "locked folder", "link", "file"])
def test_a_stranger_cannot_keep_us_out(shared: Path, kind: str) -> None:
    """They know how the name of the work folder begins; neither a folder of theirs nor its lock stops a run."""
    planted = shared / f"{prefix_of('out.csv')}0123456789abcdef"
    scripts = {
        "folder": "mkdir -m 777 $1 && echo bad > $1/release.csv",
        "locked folder": "mkdir -m 777 $1 && printf %s $(basename $1) > $1/lock && chmod 666 $1/lock",
        "link": "ln -s / $1",
        "file": "touch $1",
    }
    assert as_stranger(scripts[kind], planted).returncode == 0
    holder = None
    if kind == "locked folder":
        user = pwd.getpwnam(STRANGER)
        hold = ["flock", str(planted / "lock"), "sh", "-c", "echo locked; sleep 60"]
        holder = subprocess.Popen(hold, stdout=subprocess.PIPE, user=user.pw_uid, cwd="/", start_new_session=True)
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
    before = folder_of(shared)
    with FileTarget(shared / "out.csv") as target:
        publish(target)
    assert folder_of(shared) == before | {"out.csv": b"ours"}  # and theirs is left alone
    if holder is not None:
        os.killpg(holder.pid, signal.SIGKILL)  # the shell that flock started too, which holds the pipe
        holder.communicate()


@needs_root
def test_a_place_that_a_stranger_took_is_refused(shared: Path) -> None:
    """Before the work with a reason; and in the meantime, without replacing anything."""
    assert as_stranger("echo theirs > $1", shared / "out.csv").returncode == 0
    with pytest.raises(FileError, match="exists already"), FileTarget(shared / "out.csv"):
        pass
    beside = [shared / "new.csv.manifest.json"]
    with FileTarget(shared / "new.csv", beside) as target:
        for name in ("release", "manifest"):
            target.temporary(name).write_text("ours")
        moves = [target.move(Held(target.temporary("release")), target.path)]
        moves.append(target.move(Held(target.temporary("manifest")), beside[0]))
        assert as_stranger("ln -s /etc/passwd $1", beside[0]).returncode == 0
        with pytest.raises(FileError, match="was made by someone else"):
            publish_together(moves)
    assert sorted(path.name for path in shared.iterdir()) == [beside[0].name, "out.csv"]
    assert (shared / "out.csv").read_text() == "theirs\n"


@needs_root
def test_a_planted_link_is_not_followed(shared: Path, tmp_path: Path) -> None:
    """At any part of the path; our own links and those of the owner of the folder are."""
    (tmp_path / "inside").mkdir()
    assert as_stranger("ln -s $1 $2", tmp_path, shared / "planted").returncode == 0
    (shared / "own").symlink_to(tmp_path)
    os.close(hold_folder(shared / "own" / "inside"))
    (shared / "way").symlink_to(shared / "planted")
    for path in ("planted", "planted/inside", "./planted", "way/inside"):
        with pytest.raises(FileError, match="symbolic link that another user made"):
            hold_folder(shared / path)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]


@needs_root
def test_a_folder_that_a_stranger_made_in_advance_is_refused(shared: Path) -> None:
    """Its owner could exchange every file in it: `shoal demo` and `hierarchy convert` make folders."""
    assert as_stranger("mkdir -m 777 $1", shared / "shoal-demo").returncode == 0
    with pytest.raises(FileError, match="belongs to another user"), new_folder(shared / "shoal-demo"):
        pass
    with new_folder(shared / "mine"):
        (shared / "mine" / "x").write_text("x")
        assert as_stranger("ls $1", shared / "mine").returncode != 0


@needs_root
def test_a_folder_above_that_a_stranger_exchanges_redirects_nothing(shared: Path) -> None:
    """They own the folder of the output, so they may rename it in the middle of a run."""
    theirs = shared / "theirs"
    assert as_stranger("mkdir -m 777 $1", theirs).returncode == 0
    with FileTarget(theirs / "out.csv") as target:
        unfinished = target.temporary("release.csv")
        swap = "mv $1 $1.old && mkdir -m 777 $1 && for f in $1.old/.shoal*; do mkdir -m 777 $1/$(basename $f); done"
        assert as_stranger(f"{swap}; for f in $1/.shoal*; do echo bad > $f/release.csv; done", theirs).returncode == 0
        unfinished.write_text("ours")
        publish_together([target.move(Held(unfinished), target.path)])
    assert (shared / "theirs.old" / "out.csv").read_text() == "ours"
    assert not (theirs / "out.csv").exists()


@needs_root
def test_a_complete_run_beside_a_stranger_who_never_rests(shared: Path) -> None:
    """They fill, rename and remove whatever they can, all the time; the release is ours and verified."""
    (shared / "data.csv").write_text(PATIENTS)
    user = pwd.getpwnam(STRANGER)
    pest = "cd $1; while :; do for f in .shoal* out*; do echo bad > $f/release.csv; echo bad > $f; mv $f x; rm -rf $f; "
    pest += "ln -s /etc/passwd $f/release.csv; done; done"
    stranger = subprocess.Popen(
        ["/bin/sh", "-c", pest, "sh", str(shared)], user=user.pw_uid, cwd="/", stderr=subprocess.DEVNULL
    )
    try:
        words = ["anonymize", str(shared / "data.csv"), "-o", str(shared / "out.csv"), "-k", "2", *ROLES]
        ended = subprocess.run([sys.executable, "-m", "shoal", *words], capture_output=True, text=True, check=False)
    finally:
        stranger.kill()
        stranger.wait()
    assert ended.returncode in (0, 6), ended.stderr  # they may take a place first, but only that
    if ended.returncode == 0:
        assert "bad" not in (shared / "out.csv").read_text()
        assert (shared / "out.csv").stat().st_uid == os.geteuid()
    assert not [path for path in shared.iterdir() if path.is_dir() and path.stat().st_uid == os.geteuid()]


def test_the_work_folder_is_ours_whoever_we_are() -> None:
    """Without root, the tests above say that they did not run; this one always does."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o1777)
        with FileTarget(Path(folder) / "out.csv") as target:
            (work,) = Path(folder).iterdir()
            assert work.stat().st_uid == os.geteuid()
            assert work.stat().st_mode & 0o777 == 0o700
            publish(target)
        assert [path.name for path in Path(folder).iterdir()] == ["out.csv"]
