"""The files that commands write: checked before the work, never an input, never replaced without --force."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.command import PATIENTS, ROLES, Shoal, folder_of

CONFIG = """k = 2
[columns]
age = { role = "qi" }
sex = { role = "qi" }
zip = { role = "qi", hierarchy = "zip.csv" }
disease = { role = "sensitive" }
name = { role = "identifier" }
"""
BESIDE = (".manifest.json", ".dictionary.json", ".dictionary.md")
REPORT = ("r.html", "r.json", "r.private.html", "r.private.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every kind of input."""
    (tmp_path / "data.csv").write_text(PATIENTS)
    (tmp_path / "zip.csv").write_text("02138;021**;*\n02139;021**;*\n02140;021**;*\n")
    (tmp_path / "shoal.toml").write_text(CONFIG)
    (tmp_path / "key").write_bytes(b"k" * 32)
    (tmp_path / "people.csv").write_text(PATIENTS)
    return tmp_path


INPUTS = ("data.csv", "zip.csv", "shoal.toml", "key", "people.csv")


def options(folder: Path) -> list[object]:
    """Name every input of a release."""
    words: list[object] = ["--config", folder / "shoal.toml", "--key-file", folder / "key"]
    return [*words, "--population", folder / "people.csv"]


@pytest.mark.parametrize("link", ["hard", "symbolic"])
@pytest.mark.parametrize("place", ["release", "manifest", "dictionary", "report", "private report"])
@pytest.mark.parametrize("name", INPUTS)
def test_no_file_of_a_release_is_an_input(shoal: Shoal, folder: Path, name: str, place: str, link: str) -> None:
    """B27: table, hierarchy, configuration, key and population, under another name, even with --force."""
    finals = {
        "release": "out.csv",
        "manifest": "out.csv.manifest.json",
        "dictionary": "out.csv.dictionary.md",
        "report": "r.html",
        "private report": "r.private.json",
    }
    final = folder / finals[place]
    if link == "hard":
        final.hardlink_to(folder / name)
    else:
        final.symlink_to(name)
    before = folder_of(folder)
    words = ("-o", folder / "out.csv", "--report", folder / "r.html", "--force")
    ended = shoal("anonymize", folder / "data.csv", *words, *options(folder))
    assert ended.code == 3, ended.err
    assert "input and output are the same file" in ended.err
    assert folder_of(folder) == before


@pytest.mark.parametrize("name", [*(f"out.csv{suffix}" for suffix in ("", *BESIDE)), *REPORT])
def test_no_file_of_a_release_is_replaced_without_force(shoal: Shoal, folder: Path, name: str) -> None:
    """O06: the release, and each file beside it."""
    (folder / name).write_text("old")
    before = folder_of(folder)
    words = ("anonymize", folder / "data.csv", "-o", folder / "out.csv", "--report", folder / "r.html", "-k", 2, *ROLES)
    ended = shoal(*words)
    assert ended.code == 6
    assert f"{name}: exists already" in ended.err
    assert folder_of(folder) == before
    assert shoal(*words, "--force").code == 0
    assert (folder / name).read_bytes() != b"old"
    assert set(folder_of(folder)) == {*INPUTS, *REPORT, *(f"out.csv{suffix}" for suffix in ("", *BESIDE))}


def writers(folder: Path, name: str) -> list[object]:
    """Return a command that writes a file besides a release, and the option that names it."""
    data, roles = folder / "data.csv", ("--qi", "age,sex")
    compare = ("--methods", "mondrian", "-k", 2, "--no-cache")
    commands: dict[str, list[object]] = {
        "init": ["init", data, "--config", folder / "shoal.toml", "-o"],
        "propose": ["hierarchy", "propose", data, "--column", "zip", "-o"],
        "convert": ["hierarchy", "convert", folder / "zip.csv", "-o"],
        "compare": ["compare", data, *roles, *compare, "-o"],
        "compare page": ["compare", data, *roles, *compare, "--report"],
        "advise": ["advise", data, *roles, *compare, "-k", 3, "--plot"],
        "simulate": ["simulate", data, "--qi", "age", "--k", 2, "--repetitions", 3, "--plot"],
    }
    return commands[name]


ENDINGS = {"init": ".toml", "compare page": ".html", "advise": ".svg", "simulate": ".svg"}
WRITERS = ("init", "propose", "convert", "compare", "compare page", "advise", "simulate")


@pytest.mark.parametrize("name", WRITERS)
def test_every_other_file_is_checked_first(shoal: Shoal, folder: Path, name: str) -> None:
    """O02, O06, B27: an input, a file that exists, a folder, no folder, a name that is too long; then it is written."""
    ending = ENDINGS.get(name, ".csv")
    out, words = folder / f"out{ending}", writers(folder, name)
    (folder / f"input{ending}").hardlink_to(folder / ("zip.csv" if name == "convert" else "data.csv"))
    (folder / f"folder{ending}").mkdir()
    out.write_text("old")
    before = folder_of(folder)
    cases = [
        (3, "same file", folder / f"input{ending}", ["--force"]),
        (6, "exists already", out, []),
        (6, "is a folder", folder / f"folder{ending}", ["--force"]),
        (6, "no such folder", folder / "none" / f"out{ending}", []),
        (6, "too long", folder / ("x" * 256 + ending), []),
    ]
    for code, message, path, more in cases:
        ended = shoal(*words, path, *more)
        assert (ended.code, message in ended.err) == (code, True), ended.err
        assert folder_of(folder) == before
    ended = shoal(*words, out, "--force")
    assert ended.code == 0, ended.err
    assert out.read_text() != "old"
    assert set(folder_of(folder)) == set(before)


def test_several_files_appear_together(shoal: Shoal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """O05: the table and the page of a comparison; the second cannot be moved."""
    (folder / "c.csv").write_text("old")
    before, rename, calls = folder_of(folder), os.rename, []

    def fail(*words: object, **more: object) -> None:
        calls.append(words)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        rename(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "rename", fail)
    ended = shoal(*writers(folder, "compare"), folder / "c.csv", "--report", folder / "c.html", "--force")
    assert ended.code == 6
    assert "c.html: cannot be written: No space left on device" in ended.err
    assert folder_of(folder) == before
    assert len(calls) == 3


@pytest.mark.parametrize("name", ["compare", "advise"])
def test_a_goal_out_of_reach_leaves_the_outputs(shoal: Shoal, folder: Path, name: str) -> None:
    """Exit code 4, so the files are as they were."""
    out = folder / ("c.csv" if name == "compare" else "a.svg")
    out.write_text("old")
    before = folder_of(folder)
    words = [500 if word in (2, 3) else word for word in writers(folder, name)]
    assert shoal(*words, out, "--report", folder / "page.html", "--force").code == 4
    assert folder_of(folder) == before


def test_a_demo_that_fails_leaves_no_folder(shoal: Shoal, folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    assert shoal("demo", "--folder", folder / "new" / "demo", "-k", 1_000_000).code == 4
    assert sorted(folder.rglob("*")) == before
