"""Everything that can be wrong with a hierarchy; B19: one case each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.errors import InputError, Note
from shoal.hierarchy import Hierarchy, from_dict, read_arx_csv

GOLDEN = Path(__file__).parents[2] / "golden" / "hierarchies"


def load(tmp_path: Path, text: str, **options: bool) -> Hierarchy:
    path = tmp_path / "h.csv"
    path.write_text(text)
    return read_arx_csv(path, **options)


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("", "h.csv", "the hierarchy is empty"),
        ("\n\n", "h.csv", "the hierarchy is empty"),
        ("ada;X;Y;X;*\nbob;X;Y;X;*\n", "line 1, level 1", "its own ancestor"),
        ("ada;X;*\nbob;X;*\nada;Y;*\n", "line 3", "has two parents"),
        ("ada;X;*\nbob;X;*\nada;X;*\n", "line 3", "occurs before, with the same labels"),
        ("ada;X;*\nbob;X;all\ncyd;X;*\n", "line 2, level 2", "no common root"),
        ("name;level1;level2\nada;X;*\nbob;Y;*\n", "line 1, level 2", "is a header, remove it"),
        ("ada;bob;*\nbob;X;*\n", "line 1, level 1", "the label is also a value"),
        ("ada;X;ada;*\nbob;X;ada;*\n", "line 1, level 2", "the label is also a value"),
        ("ada;X;P;*\nbob;Y;P;*\ncyd;X;Q;*\n", "line 3, level 1", "the label has two parents"),
        ("ada;A;U;*\nbob;B;A;*\n", "line 2, level 2", "covers values on a lower level that it does not cover here"),
        ("ada;X;*\nbob;;*\n", "line 2, level 1", "the label is empty"),
        ("ada;*;X;*\nbob;Y;X;*\n", "line 1, level 1", "'*' is below another label"),
        ("*;X;*\nbob;X;*\n", "line 1", "looks like a released cell"),
        ("{a};X;*\nbob;X;*\n", "line 1", "looks like a released cell"),
        ("ada;{x, y};*\nbob;{x, y};*\n", "line 1, level 1", "is in braces"),
        ("20,[20, 25),*\n21,[20, 25),*\n", "line 1, level 1", "half a range"),
        ("20;20-24;*\n25;20-24;*\n", "line 2, level 1", "does not contain the value"),
        ('"ada;X;*\nbob;X;*\n', "line 1", "Close every quote"),
    ],
)
def test_fault_is_refused_with_line_and_level(tmp_path: Path, text: str, place: str, what: str) -> None:
    """B19: and without the value."""
    with pytest.raises(InputError) as e:
        load(tmp_path, text)
    where = rf"{re.escape(str(tmp_path / 'h.csv'))}, {place}( \(first of [0-9]+ places\))?: "
    assert place == "h.csv" or re.search(where, str(e.value))
    assert what in str(e.value)
    assert "ada" not in str(e.value).replace(str(tmp_path), "")


def test_location_table_that_splits_a_region_is_refused() -> None:
    """S0 7.3: Tokai-Chubu lies in East-Japan for six prefectures and in West-Japan for four."""
    with pytest.raises(InputError, match=r"line 21, level 2 \(first of 4 places\): the label has two parents"):
        read_arx_csv(GOLDEN / "isp_location.csv")


def test_location_table_loads_when_corrected(tmp_path: Path) -> None:
    """S0 7.3, with the border where the job file of S0 7.2 draws it: locations up to A-24 are the east."""
    corrected = (GOLDEN / "isp_location.csv").read_text().replace("Tokai-Chubu;West-Japan", "Tokai-Chubu;East-Japan")
    hierarchy = load(tmp_path, corrected)
    assert [len(hierarchy.labels(level)) for level in range(5)] == [47, 47, 6, 2, 1]
    assert hierarchy.label("A24", 3) == "East-Japan"
    assert hierarchy.root == "Japan"


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    with pytest.raises(InputError) as e:
        load(tmp_path, "a;X;*\nb;;*\n*;X;*\na;X;*\nc;X;all\n")
    assert len(str(e.value).splitlines()) == 4


def test_uneven_depth_is_padded_at_the_value(tmp_path: Path) -> None:
    """B19: the stated rule."""
    hierarchy = load(tmp_path, "a;X;P;*\nb;X;P;*\nc;P;*\nd;*\n")
    assert hierarchy.rows["c"] == ("c", "P", "*")
    assert hierarchy.rows["d"] == ("d", "d", "*")


def test_spreadsheets_fill_short_lines_with_empty_cells(tmp_path: Path) -> None:
    assert load(tmp_path, "a;X;P;*\nc;P;*;\n").rows["c"] == ("c", "P", "*")


@pytest.mark.parametrize("text", ["a\nb\n", "a;*\nb;*\n"])
def test_one_level_is_keep_or_suppress(tmp_path: Path, text: str) -> None:
    """B19."""
    assert load(tmp_path, text).rows == {"a": ("*",), "b": ("*",)}


def test_common_root_is_the_root_whatever_its_name(tmp_path: Path) -> None:
    assert load(tmp_path, "a;X;all\nb;Y;all\n").rows["a"] == ("X", "all")


def test_value_may_go_straight_to_the_top(tmp_path: Path) -> None:
    assert load(tmp_path, "a;X;*\nb;X;*\nc;*;*\n").rows["c"] == ("*", "*")


def test_label_may_stay_the_same_for_the_same_values(tmp_path: Path) -> None:
    assert load(tmp_path, "a;X;X;*\nb;X;X;*\nc;Y;Z;*\n").height == 3


def test_trust_accepts_untrue_labels_with_a_note(tmp_path: Path) -> None:
    hierarchy = load(tmp_path, "20;20-24;*\n25;20-24;*\n", trust=True)
    assert hierarchy.trusted
    (note,) = hierarchy.notes
    assert isinstance(note, Note)
    assert note.about.endswith("line 2, level 1")
    assert note.counts == {"labels": 1}
    assert "accepted on trust" in note
    assert not load(tmp_path, "20;20-24;*\n24;20-24;*\n", trust=True).trusted


def test_trust_accepts_no_other_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two parents"):
        load(tmp_path, "a;X;P;*\nb;X;Q;*\n", trust=True)


def test_composed_and_decomposed_letters_are_one_value() -> None:
    with pytest.raises(InputError, match="occurs before"):
        from_dict({"Jos\u00e9": ["X"], "Jose\u0301": ["X"]})
