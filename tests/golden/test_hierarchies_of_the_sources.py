"""The hierarchies that [S1] and [S2] print: labels that grow between levels, and roots with names of their own."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal import hierarchy
from shoal.errors import InputError
from tests.command import Shoal

# [S1] Figure 1: White and Black are kept as long as possible; "any" is the root.
FIGURE_1 = {
    "White": ["White", "White", "any"],
    "Black": ["Black", "Other", "any"],
    "Hispanic": ["Other", "Other", "any"],
    "Asian": ["Other", "Other", "any"],
}
# [S1] Table 4: O is a value itself, and takes in A, then L, then B.
TABLE_4 = {
    "W": ["W", "W", "W", "any"],
    "B": ["B", "B", "O", "any"],
    "L": ["L", "O", "O", "any"],
    "A": ["O", "O", "O", "any"],
    "O": ["O", "O", "O", "any"],
}
# [S2]: the root of sex is Person.
PERSON = {"male": ["Person"], "female": ["Person"]}

RACES = ["White"] * 20 + ["Black"] * 8 + ["Hispanic"] * 5 + ["Asian"] * 3
LETTERS = ["W"] * 20 + ["B"] * 8 + ["L"] * 5 + ["A"] * 3 + ["O"] * 4


@pytest.mark.parametrize(("tree", "height"), [(FIGURE_1, 3), (TABLE_4, 4), (PERSON, 1)])
def test_hierarchy_is_accepted_as_printed(tmp_path: Path, tree: dict[str, list[str]], height: int) -> None:
    """No level is added above a single root, in a dictionary, a file, or a file that was written again."""
    built = hierarchy.from_dict(tree)
    assert built.height == height
    assert built.root == next(iter(tree.values()))[-1]
    path = tmp_path / "tree.csv"
    path.write_text("".join(";".join([value, *labels]) + "\n" for value, labels in tree.items()))
    assert hierarchy.read_arx_csv(path).rows == built.rows
    hierarchy.write_arx_csv(built, tmp_path / "again.csv")
    assert hierarchy.read_arx_csv(tmp_path / "again.csv").rows == built.rows


def test_label_means_the_union_of_its_leaves() -> None:
    assert hierarchy.from_dict(FIGURE_1).values_under()["Other"] == {"Black", "Hispanic", "Asian"}
    assert hierarchy.from_dict(TABLE_4).values_under()["O"] == {"B", "L", "A", "O"}


@pytest.mark.parametrize(
    ("cells", "tree", "level", "loss"),
    [
        (RACES, FIGURE_1, 0, 0.0),
        (RACES, FIGURE_1, 1, 8 * 3 / 4),  # Hispanic and Asian show Other, which means three of four races
        (RACES, FIGURE_1, 2, 16 * 3 / 4),
        (RACES, FIGURE_1, 3, 36.0),
        (LETTERS, TABLE_4, 0, 0.0),
        (LETTERS, TABLE_4, 1, 7 * 4 / 5),  # A and O show O
        (LETTERS, TABLE_4, 3, 20 * 4 / 5),
        (LETTERS, TABLE_4, 4, 40.0),
    ],
)
def test_price_of_a_label_counts_the_union(
    cells: list[str], tree: dict[str, list[str]], level: int, loss: float
) -> None:
    """The same price in the search, in the measures of the release, and in the measures of its file."""
    frame = pl.DataFrame({"race": cells, "sex": ["m", "f"] * (len(cells) // 2)})
    built = hierarchy.from_dict(tree)
    level_of = {"race": level, "sex": 1}
    method = shoal.methods.named("optimal", minimum=level_of, maximum=level_of)
    release = (
        shoal.anonymize(
            frame,
            qi=["race", "sex"],
            k=1 + (level > 0),
            method=method,
            hierarchies={"race": built},
            models=[],
            bound=False,
        )
        if level
        else None
    )
    shown = [tree[cell][level - 1] if level else cell for cell in cells]
    after = frame.with_columns(pl.Series("race", shown))
    measures = shoal.measure(frame, after, qi=["race"], hierarchies={"race": built})
    assert measures.per_attribute["race"] == pytest.approx(loss / len(cells))
    if release is not None:
        assert release.measures.per_attribute["race"] == pytest.approx(loss / len(cells))


def test_all_root_table_has_distortion_1() -> None:
    frame = pl.DataFrame({"sex": ["male", "female"] * 3})
    after = pl.DataFrame({"sex": ["Person"] * 6})
    measures = shoal.measure(frame, after, qi=["sex"], hierarchies={"sex": hierarchy.from_dict(PERSON)})
    assert (measures.distortion_ratio, measures.ncp, measures.precision) == (1.0, 1.0, 0.0)
    assert measures.suppressed_rows == 0


@pytest.mark.parametrize("method", ["shoaling", "mondrian", "kaca", "incognito", "optimal", "rv-hybrid", "datafly"])
@pytest.mark.parametrize(("cells", "tree"), [(RACES, FIGURE_1), (LETTERS, TABLE_4)], ids=["figure 1", "table 4"])
def test_release_by_a_growing_label_is_verified(
    shoal: Shoal, tmp_path: Path, cells: list[str], tree: dict[str, list[str]], method: str
) -> None:
    """The gate and the verifier read a label as the union of its leaves; the measures agree on the file."""
    rows = [(race, str(20 + i * 7 % 30)) for i, race in enumerate(cells)]
    (tmp_path / "data.csv").write_text("race,age\n" + "".join(f"{race},{age}\n" for race, age in rows))
    (tmp_path / "race.csv").write_text("".join(";".join([value, *up]) + "\n" for value, up in tree.items()))
    out, words = tmp_path / "out.csv", ("--qi", "race,age", "--hierarchy", f"race={tmp_path / 'race.csv'}")
    made = shoal(
        "anonymize",
        tmp_path / "data.csv",
        "-o",
        out,
        "-k",
        3,
        *words,
        "--method",
        method,
        "--json",
        "--suppression-limit",
        "0.2",
    )
    assert made.code == 0, made.err
    checked = shoal("verify", out, "-k", 3, *words, "--original", tmp_path / "data.csv")
    assert checked.code == 0, checked.err + checked.out
    measured = json.loads(shoal("measure", tmp_path / "data.csv", out, *words, "-k", 3, "--json").out)
    assert measured["measures"]["ncp"] == pytest.approx(json.loads(made.out)["measures"]["ncp"])
    wrong = out.read_text().replace("White", "Black").replace("W,", "B,")
    if wrong != out.read_text():
        out.write_text(wrong)
        assert shoal("verify", out, "-k", 3, *words, "--original", tmp_path / "data.csv", "--no-manifest").code == 5


def test_label_that_loses_values_is_refused() -> None:
    tree = {"a": ["x", "x", "*"], "b": ["x", "y", "*"]}
    with pytest.raises(InputError, match="two parents"):
        hierarchy.from_dict(tree)
    apart = {"a": ["x", "u", "*"], "b": ["y", "x", "*"]}
    with pytest.raises(InputError, match="covers values on a lower level that it does not cover here"):
        hierarchy.from_dict(apart)


def test_label_with_the_name_of_a_value_elsewhere_is_refused() -> None:
    with pytest.raises(InputError, match="also a value that it does not cover"):
        hierarchy.from_dict({"a": ["b", "*"], "b": ["c", "*"], "d": ["c", "*"]})
