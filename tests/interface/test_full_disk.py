"""O01: a disk that fills up in any stage of a run on DuckDB leaves the old output, and nothing else."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.errors import FileError
from shoal.methods import sections
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.settings.keywords import settings_from
from shoal.tables.formats.writers import write_csv
from shoal.tables.watch import Watch
from tests.interface.test_sections_on_disk import MIXED, mixed_table

DISK_BYTES = 64 << 20
STAGES = ("reading", "counting", "encoding", "grouping", "measuring", "writing", "verifying")


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A small disk of its own."""
    place = tmp_path_factory.mktemp("disk")
    size = f"size={DISK_BYTES}"
    if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", str(place)], capture_output=True).returncode:
        if os.environ.get("CI"):
            pytest.fail("CI must be able to mount a tmpfs")
        pytest.skip("needs the right to mount a tmpfs")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("stage", STAGES)
def test_disk_that_fills_up(stage: str, disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "LARGEST_SECTION", 60)
    source, output, filler = tmp_path / "source.csv", disk / "out.csv", disk / "filler"
    write_csv(mixed_table(700), source)
    output.write_text("old")

    def fill(name: str) -> None:
        if name == stage:
            free = os.statvfs(disk)
            with open(filler, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize)

    settings = settings_from(MIXED)
    run = make_run(settings, threads=2, watch=Watch(stage=fill))
    job = Job.from_settings(source, settings, output, run, engine="duckdb", memory="500MB", force=True)
    with pytest.raises(FileError):
        job.execute()
    filler.unlink()
    assert output.read_text() == "old"
    assert [each.name for each in disk.iterdir()] == ["out.csv"]
