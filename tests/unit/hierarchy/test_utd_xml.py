"""Job files of the UTD toolbox, with the trees that S0 prints in its sections 7.1 and 7.2."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import InputError, UsageError
from shoal.hierarchy import Hierarchy, IntervalTree, from_dict, read, read_utd_xml, write_utd_xml

GOLDEN = Path(__file__).parents[2] / "golden" / "hierarchies"


def n_labels(hierarchy: Hierarchy) -> list[int]:
    return [len(hierarchy.labels(level)) for level in range(hierarchy.height + 1)]


def test_adult_job_has_the_trees_of_the_source() -> None:
    job = read_utd_xml(GOLDEN / "adult_job.xml")
    assert list(job) == ["age", "sex", "native-country"]
    age = job["age"]
    assert isinstance(age, IntervalTree)
    ages = age.over([str(n) for n in range(100)])
    assert n_labels(ages) == [100, 10, 4, 2, 1]
    assert ages.rows["49"] == ("[40, 50)", "[20, 50)", "[0, 50)", "*")
    assert ages.rows["50"] == ("[50, 60)", "[50, 70)", "[50, 100)", "*")
    assert job["sex"].over(["Female", "Male"]).rows == {"Female": ("*",), "Male": ("*",)}
    country = job["native-country"]
    assert isinstance(country, Hierarchy)
    assert n_labels(country) == [42, 11, 4, 1]
    under = country.values_under()
    assert under["codes 0-2"] == {"United-States", "Outlying-US(Guam-USVI-etc)", "Canada"}
    assert under["code 35"] == {"India"}
    assert len(under["codes 30-41"]) == 12
    assert "ranges of the job file's codes" in country.notes[0]


def test_isp_job_draws_the_border_that_its_table_does_not() -> None:
    location = read(GOLDEN / "isp_job.xml", column="location").over(["A01", "A24", "A25", "D01"])
    assert [location.label(value, 2) for value in location.rows] == ["codes 0-23"] * 2 + ["codes 24-48"] * 2
    with pytest.raises(UsageError, match=r"no hierarchy for column 'zip'\. The file has: 'age', 'sex', 'location'"):
        read(GOLDEN / "isp_job.xml", column="zip")


def test_ages_beyond_the_root_are_refused_with_its_bounds() -> None:
    """B18, B21."""
    age = read_utd_xml(GOLDEN / "adult_job.xml")["age"]
    with pytest.raises(InputError, match=r"column 'age': 2 values are not a number inside the intervals.*\[0, 100\)"):
        age.over(["5", "100", "old"], column="age")
    assert age.over(["100"], unknown="top").rows["100"] == ("*",) * 4


def job(tmp_path: Path, att: str) -> Path:
    path = tmp_path / "job.xml"
    path.write_text(f"<?xml version='1.0'?>\n<config>\n<qid>\n<att name='x'>\n{att}\n</att>\n</qid>\n</config>\n")
    return path


@pytest.mark.parametrize(
    ("att", "text"),
    [
        ("<vgh value='[0:9)'>\n<node value='[0:5)'/>\n<node value='[6:9)'/>\n</vgh>", "line 7: gap: .* at 5, .* 6"),
        ("<vgh value='[0:9)'>\n<node value='[0:5)'/>\n<node value='[4:9)'/>\n</vgh>", "line 7: overlap: .* 5, .* 4"),
        ("<vgh value='[0:9]'>\n<node value='[0:5]'/>\n<node value='[5:9]'/>\n</vgh>", "line 7: overlap: .* 5, .* 5"),
        ("<vgh value='[0:9]'>\n<node value='[0:5]'/>\n<node value='[7:9]'/>\n</vgh>", "line 7: gap: .* 5, .* 7"),
        ("<vgh value='[9:0)'/>", "line 5: the bounds 9 and 0 are reversed"),
        ("<vgh value='[0:9)'>\n<node value='[0:5)'/>\n</vgh>", "line 6: the node ends at 5, .* above ends at 9"),
        ("<vgh value='[0:9)'>\n<node value='[2:9)'/>\n</vgh>", "line 6: the node begins at 2, .* above .* 0"),
        ("<vgh value='[0:'/>", "line 5: the value is not an interval"),
        ("<vgh value='>=0'/>", "line 5: the value is not an interval"),
        ("<map/>", "line 4: the attribute needs exactly one <vgh>"),
        ("<map><entry cat='a' int='9'/></map><vgh value='[0:1]'/>", "line 5: the code is not in the tree"),
        ("<map><entry cat='a' int='x'/></map><vgh value='[0:1]'/>", "line 5: an <entry> needs cat, and an integer"),
        ("<map>\n<entry cat='a' int='0'/>\n<entry cat='b' int='0'/></map><vgh value='[0:1]'/>", "line 7: the code"),
        ("<map><entry cat='a' int='0'/>\n<entry cat='a' int='1'/></map><vgh value='[0:1]'/>", "line 6: .* occurs"),
        ("<vgh value='[0:9)'/></att><att name='x'><vgh value='[0:9)'/>", "has the same name as an earlier one"),
    ],
)  # fmt: skip
def test_faulty_trees_are_refused_with_lines_and_bounds(tmp_path: Path, att: str, text: str) -> None:
    """B19, B21."""
    with pytest.raises(InputError, match=text):
        read_utd_xml(job(tmp_path, att))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<config><qid></config>", "line 1: mismatched tag"),
        ("<config method = '' k = 100 ''>", "line 1: not well-formed"),  # as S0 prints it
        ("", "line 1: no element found"),
        (
            "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>\n<config>&x;</config>",
            "line 1: .* has a DOCTYPE",
        ),
        ("<!DOCTYPE a [<!ENTITY x 'xx'><!ENTITY y '&x;&x;'>]><config/>", "has a DOCTYPE"),
        ("<config/>", "there are no attributes"),
        ("<a>" * 100, "more than 60 deep"),
        ("<config>\x00</config>", "line 1"),
    ],
)
def test_other_documents_are_refused(tmp_path: Path, content: str, text: str) -> None:
    (tmp_path / "job.xml").write_text(content)
    with pytest.raises(InputError, match=text):
        read_utd_xml(tmp_path / "job.xml")


def test_uneven_intervals_are_padded_at_the_value(tmp_path: Path) -> None:
    path = job(
        tmp_path, "<vgh value='[0:9]'><node value='[0:5]'/><node value='[6:9]'><node value='[6:9]'/></node></vgh>"
    )
    tree = read_utd_xml(path)["x"]
    assert tree.over(["3", "7"]).rows == {"3": ("3", "[0, 5]", "*"), "7": ("[6, 9]", "[6, 9]", "*")}
    with pytest.raises(InputError, match="1 value is not a number inside the intervals"):
        tree.over(["5.5"])


def test_written_job_reads_back_with_the_same_tree(tmp_path: Path) -> None:
    hierarchy = from_dict({"X": {"P": {"a", "b<&'\""}, "c": None}, "Y": {"Q": {"d"}}, "e": None})
    hierarchy = hierarchy.bind([*hierarchy.rows, "f", "g"], unknown="top")
    write_utd_xml({"x": hierarchy}, tmp_path / "job.xml")
    back = read_utd_xml(tmp_path / "job.xml")["x"]
    assert isinstance(back, Hierarchy)
    assert set(back.rows) == set(hierarchy.rows)
    wanted = set(hierarchy.values_under().values())
    assert set(back.values_under().values()) == wanted
