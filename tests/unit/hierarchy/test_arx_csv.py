"""The CSV form of ARX."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shoal.errors import FileError, InputError, UsageError
from shoal.hierarchy import Hierarchy, read_arx_csv, write_arx_csv


def adult_folder() -> Path:
    """Where ARX's hierarchies for Adult are, or skip."""
    data = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[4] / "shared" / "data"))
    for folder in (data / "hierarchies", data / "adult" / "hierarchies"):
        if folder.is_dir():
            return folder
    pytest.skip("ARX's hierarchies for Adult are not here; set SHOAL_DATA to the folder that contains them.")


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiter_is_detected(tmp_path: Path, delimiter: str, end: str) -> None:
    path = tmp_path / "h.csv"
    rows = [["20", '"[20, 25)"', "*"], ["21", '"[20, 25)"', "*"]]
    path.write_bytes(("\ufeff" + end.join(delimiter.join(row) for row in rows)).encode())
    assert dict(read_arx_csv(path).rows) == {"20": ("[20, 25)", "*"), "21": ("[20, 25)", "*")}


def test_ranges_with_a_comma_need_no_quotes_between_semicolons(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("20;[20, 25);*\n21;[20, 25);*\n")
    assert read_arx_csv(tmp_path / "h.csv").rows["20"] == ("[20, 25)", "*")


def test_given_delimiter_and_encoding_are_used(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_bytes("Köln|NRW|*\nBonn|NRW|*\n".encode("cp1252"))
    assert "Köln" in read_arx_csv(tmp_path / "h.csv", delimiter="|", encoding="cp1252").rows
    with pytest.raises(InputError, match=r"byte 1 is not utf-8 .* Name the encoding"):
        read_arx_csv(tmp_path / "h.csv")
    with pytest.raises(UsageError, match="encoding='klingon' is not known"):
        read_arx_csv(tmp_path / "h.csv", encoding="klingon")
    with pytest.raises(UsageError, match="not a single plain character"):
        read_arx_csv(tmp_path / "h.csv", delimiter="||")


def test_lines_are_counted_over_blank_lines_and_cells_of_several_lines(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text('\n"a\nb";X;*\n\nc;;*\n')
    with pytest.raises(InputError, match="line 5, level 1"):
        read_arx_csv(tmp_path / "h.csv")


def test_empty_value_means_the_missing_cell(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(";Unknown;*\na;X;*\n")
    assert read_arx_csv(tmp_path / "h.csv").rows[""] == ("Unknown", "*")


def test_missing_file_and_folder_are_file_errors(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        read_arx_csv(tmp_path / "no.csv")
    with pytest.raises(FileError, match="not a regular file"):
        read_arx_csv(tmp_path)
    with pytest.raises(FileError, match="no such folder"):
        write_arx_csv(Hierarchy({"a": ("*",)}), tmp_path / "no" / "h.csv")


def test_written_file_leaves_nothing_else_behind(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("old")
    write_arx_csv(Hierarchy({"a": ("X", "*"), "b;c": ('"Y"', "*")}), path)
    assert path.read_text() == 'a;X;*\n"b;c";"""Y""";*\n'
    assert [p.name for p in tmp_path.iterdir()] == ["h.csv"]


def test_age_hierarchy_of_arx_is_refused_for_its_untrue_labels() -> None:
    """5 is labelled 0-4: 35 labels do not contain their value."""
    path = adult_folder() / "age.csv"
    with pytest.raises(InputError, match=r"line 5, level 1 \(first of 35 places\): "):
        read_arx_csv(path)
    assert read_arx_csv(path, trust=True).trusted


def test_other_hierarchies_of_arx_load_clean() -> None:
    loaded = {path.stem: read_arx_csv(path) for path in adult_folder().glob("*.csv") if path.stem != "age"}
    assert len(loaded) == 8
    assert not any(hierarchy.trusted or hierarchy.notes for hierarchy in loaded.values())
    assert (loaded["education"].height, len(loaded["education"].rows)) == (3, 16)
