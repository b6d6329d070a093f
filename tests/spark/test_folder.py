"""A folder of parts appears completely or not at all, and a killed run leaves nothing that the next one keeps."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.errors import FileError, UsageError
from shoal.spark import session
from shoal.spark.folder import FolderTarget, Parts
from shoal.spark.parts import Part
from shoal.verification import Verdict


def publish(path: Path, text: str, *, force: bool = False) -> Path:
    """Publish one part with this text."""
    target = FolderTarget(path, force=force)
    with target.staged() as folder:
        (folder / "part-00007-31.csv").write_text(text)
        (folder / "part-00007-30.csv").write_text("of an attempt that does not count")
        parts = Parts(folder, (Part(7, "part-00007-31.csv", 1),), Verdict(True, 2, 1, 1, 1, ()), ("abc",))
        return target.publish(parts, {"k": 2})


def test_parts_and_manifest_appear_together(tmp_path: Path) -> None:
    """Names of parts carry neither the task nor the attempt (S04, S05)."""
    manifest = publish(tmp_path / "out", "a\n1\n")
    assert sorted(path.name for path in manifest.parent.iterdir()) == ["_SUCCESS", "_manifest.json", "part-00000.csv"]
    assert json.loads(manifest.read_text()) == {"k": 2, "sha256": None, "parts": {"part-00000.csv": "abc"}}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_release_is_replaced_with_force_alone(tmp_path: Path) -> None:
    publish(tmp_path / "out", "old")
    with pytest.raises(FileError, match="exists"):
        publish(tmp_path / "out", "new")
    publish(tmp_path / "out", "new", force=True)
    assert (tmp_path / "out" / "part-00000.csv").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_folder_that_is_no_release_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.docx").touch()
    with pytest.raises(FileError, match="not a release in parts"):
        publish(tmp_path / "out", "new", force=True)
    assert (tmp_path / "out" / "thesis.docx").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from shoal.spark import folder
from tests.spark.test_folder import publish
folder._put = lambda staged, final: os.kill(os.getpid(), signal.SIGKILL)
publish(Path(sys.argv[1]), "new", force=True)
"""


def test_driver_killed_at_commit(tmp_path: Path) -> None:
    """The release is the old one, whole; the next run removes what was staged (S04)."""
    publish(tmp_path / "out", "old")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "out")], cwd=Path(__file__).parents[2], env=os.environ
    )
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "out" / "part-00000.csv").read_text() == "old"
    publish(tmp_path / "out", "new", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_missing_java_names_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(UsageError, match="apt-get install openjdk-17-jre-headless"):
        session.check_installed()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="JAVA_HOME"):
        session.check_installed()


def test_first_cause_is_shown_once(tmp_path: Path) -> None:
    log = tmp_path / "java.log"
    log.write_text("INFO\n" + "ERROR Failed to launch executor\nCaused by: java.io.IOException: No such file\n" * 40)
    assert session._first_cause(log, ValueError()) == "java.io.IOException: No such file"


def test_collector_that_the_user_names_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Java does not start with two of them."""
    monkeypatch.delenv("JAVA_TOOL_OPTIONS", raising=False)
    assert "UseSerialGC" in session._java_options()["spark.driver.extraJavaOptions"]
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xss4m -XX:+UseZGC")
    assert "GC" not in session._java_options()["spark.driver.extraJavaOptions"]
