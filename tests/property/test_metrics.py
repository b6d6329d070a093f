"""The measures, held against their plain twins and against what they promise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError, UsageError
from shoal.methods import Mondrian
from tests.naive import loss
from tests.strategies import Sheet, odd_sheets, sheets

VARIANTS = ("strict", "relaxed", "single-dimensional")
EXAMPLES = settings().max_examples * 2


def anonymize(sheet: Sheet, k: int, variant: str) -> list[tuple[str, ...]]:
    """Return the released quasi-identifiers, row by row as in the original."""
    models = [shoal.MaximalRisk(1)] if k == 1 else []  # k = 1 is allowed beside another model only
    options = {"method": Mondrian(variant), "sensitive": sheet.sensitive, "keep_order": True, "models": models}
    release = shoal.anonymize(sheet.frame, k=k, **options, **sheet.arguments)
    return release.text.select(sheet.qi).rows()


def qi_rows(sheet: Sheet) -> list[tuple[str, ...]]:
    return sheet.frame.select(sheet.qi).rows()


def attributes_of(sheet: Sheet, weights: dict[str, int] | None = None) -> list[loss.Attribute]:
    return [
        loss.Attribute(sheet.kinds[name], Fraction((weights or {}).get(name, 1)), missing=("", *sheet.missing))
        for name in sheet.qi
    ]


@dataclass(frozen=True)
class Scored:
    """An original, and a release of it in which None marks rows that were left out."""

    sheet: Sheet
    released: list[tuple[str, ...] | None]
    k: int

    @property
    def frame(self) -> pl.DataFrame:
        kept = [row for row in self.released if row is not None]
        return pl.DataFrame(kept, schema=dict.fromkeys(self.sheet.qi, pl.String), orient="row")


@st.composite
def scored(draw: st.DrawFn) -> Scored:
    """Draw a table and a release of it; rows are left out and cells suppressed at random, as other tools do."""
    sheet = draw(sheets(max_rows=30, max_columns=4))
    k = draw(st.integers(1, sheet.n_rows))
    released: list[Any] = list(anonymize(sheet, k, draw(st.sampled_from(VARIANTS))))
    if sheet.n_rows > 1 and draw(st.booleans()):
        rows = st.integers(1, sheet.n_rows - 1)
        for row in draw(st.sets(rows, max_size=4)):
            released[row] = None
        for row in draw(st.sets(rows, max_size=4)):
            stars = draw(st.lists(st.booleans(), min_size=len(sheet.qi), max_size=len(sheet.qi)))
            if released[row] is not None:
                released[row] = tuple("*" if star else cell for star, cell in zip(stars, released[row], strict=True))
    return Scored(sheet, released, k)


@settings(max_examples=EXAMPLES)
@given(drawn=scored(), data=st.data())
def test_measures_agree_with_their_twins(drawn: Scored, data: st.DataObject) -> None:
    """C27."""
    sheet, released, k = drawn.sheet, drawn.released, drawn.k
    original = qi_rows(sheet)
    weights = {name: data.draw(st.integers(0 if i else 1, 3)) for i, name in enumerate(sheet.qi)}
    measures = shoal.measure(sheet.frame, drawn.frame, k=k, weights=weights, **sheet.arguments)
    attributes = attributes_of(sheet, weights)
    assert measures.ncp == pytest.approx(float(loss.ncp(original, released, attributes)), abs=1e-12)
    assert measures.utility == pytest.approx(1 - measures.ncp, abs=1e-12)
    for i, name in enumerate(sheet.qi):
        column = [(row[i],) for row in original]
        shown = [None if row is None else (row[i],) for row in released]
        alone = [loss.Attribute(sheet.kinds[name])]
        assert measures.per_attribute[name] == pytest.approx(float(loss.ncp(column, shown, alone)), abs=1e-12)
    assert measures.dm == loss.discernibility(released, k)
    assert measures.c_avg == pytest.approx(float(loss.average_group(released, k)))
    assert measures.modification_rate == float(loss.modification_rate(original, released))
    assert measures.exact_rows == float(loss.exact_rows(original, released, attributes))
    assert measures.ncp_unweighted == pytest.approx(
        float(loss.ncp(original, released, attributes_of(sheet))), abs=1e-12
    )
    assert measures.weighted == (len(set(weights.values())) > 1)
    for i, (name, attribute) in enumerate(zip(sheet.qi, attributes, strict=True)):
        after, column = [None if row is None else row[i] for row in released], sheet.columns[name]
        extent = measures.columns[name]
        assert extent.mean_values == pytest.approx(float(loss.mean_values(after, attribute, column)))
        if attribute.kind == "categorical":
            assert extent.mean_width is None
        else:
            width = loss.mean_width(after, attribute, column) / (86400 if attribute.kind == "date" else 1)
            assert extent.mean_width == pytest.approx(float(width), rel=1e-9)
    kept = [row for row in released if row is not None]
    starred = sum(set(row) == {"*"} for row in kept)
    assert measures.rows == len(kept)
    assert measures.suppressed_rows == len(released) - len(kept) + (starred if starred < k else 0)
    assert measures.smallest_group == min(kept.count(row) for row in kept)
    assert measures.groups == len(set(kept))


@settings(max_examples=EXAMPLES)
@given(drawn=scored(), classes=st.lists(st.sampled_from("xyz"), min_size=30, max_size=30))
def test_measures_by_counts_agree_with_their_twins(drawn: Scored, classes: list[str]) -> None:
    """C27: ILoss, LM, MD, entropy, precision and distortion without hierarchies, CM."""
    sheet, released, n_rows = drawn.sheet, drawn.released, drawn.sheet.n_rows
    frame = drawn.frame.with_columns(
        pl.Series("class", [c for c, row in zip(classes, released, strict=False) if row is not None], dtype=pl.String)
    )
    k = drawn.k
    measures = shoal.measure(sheet.frame, frame, target="class", k=k, **sheet.arguments)
    totals = dict.fromkeys(("iloss", "lm", "entropy", "changed"), Fraction(0) + 0.0)
    for i, (name, attribute) in enumerate(zip(sheet.qi, attributes_of(sheet), strict=True)):
        column = sheet.columns[name]
        after = [None if row is None else row[i] for row in released]
        changed = [
            (text, cell)
            for text, cell in zip(column, after, strict=True)
            if loss.is_changed(text, cell, attribute, column)
        ]
        assert measures.md[name] == len(changed)
        totals["changed"] += len(changed)
        totals["iloss"] += sum(float(loss.iloss_cell(cell, attribute, column)) for _, cell in changed)
        totals["lm"] += sum(float(loss.lm_cell(text, cell, attribute, column)) for text, cell in changed)
        totals["entropy"] += sum(loss.entropy_cell(cell, attribute, column) for _, cell in changed)
    n_cells = n_rows * len(sheet.qi)
    assert measures.iloss == pytest.approx(totals["iloss"] / n_cells, abs=1e-9)
    assert measures.lm == pytest.approx(totals["lm"] / n_cells, abs=1e-9)
    assert measures.lm_total == pytest.approx(totals["lm"], abs=1e-9)
    assert measures.entropy == pytest.approx(totals["entropy"], abs=1e-7)
    assert measures.distortion == pytest.approx(totals["changed"])
    assert measures.distortion_ratio == pytest.approx(1 - measures.precision)
    assert 0 <= measures.lm <= 1
    assert measures.cm == pytest.approx(float(loss.classification(released, classes[:n_rows], k)))


LABELLED = {
    "gender": shoal.hierarchy.Hierarchy({"male": ("*",), "female": ("*",)}),
    "postcode": shoal.hierarchy.prefixes([3, 2, 1]),
}


@pytest.mark.parametrize(("table", "distortion", "rate"), [("b", 2.5, 4 / 18), ("c", 7.5, 12 / 18)])
def test_distortion_is_that_of_s2_table_1(table: str, distortion: float, rate: float) -> None:
    """[S2] Table 1, a to b and a to c."""
    rows = ["male,middle,4350", "male,middle,4350", "male,young,4351", "female,young,4352", "female,old,4353"]
    before = [row.split(",") for row in [*rows, "female,old,4353"]]
    after = [["*", age, "435*"] if table == "c" or age == "young" else [sex, age, code] for sex, age, code in before]
    names = ["gender", "age", "postcode"]
    frames = [pl.DataFrame(rows, schema=names, orient="row") for rows in (before, after)]
    measures = shoal.measure(*frames, qi=names, categorical=names, hierarchies=LABELLED)
    assert measures.distortion == distortion
    assert measures.distortion_ratio == pytest.approx(distortion / 18)
    assert measures.modification_rate == pytest.approx(rate)
    assert measures.precision == pytest.approx(1 - distortion / 18)
    by_height = shoal.measure(
        *frames, qi=names, categorical=names, hierarchies=LABELLED, climb=shoal.Climb("height", beta=1)
    )
    n_climbed = 2 if table == "b" else 6
    assert by_height.distortion == pytest.approx(n_climbed * (1 + (1 / 4) / (1 + 1 / 2 + 1 / 3 + 1 / 4)))


def test_levels_of_sets_are_those_of_the_labels_above_them() -> None:
    names = ["postcode"]
    before = pl.DataFrame({"postcode": ["4350", "4351", "4399", "1000"]})
    after = pl.DataFrame({"postcode": ["{4350, 4351}", "{4350, 4399}", "4399", "*"]})
    measures = shoal.measure(before, after, qi=names, categorical=names, hierarchies={"postcode": LABELLED["postcode"]})
    assert measures.distortion == pytest.approx(1 / 4 + 2 / 4 + 1)


def test_target_that_is_not_released_is_refused() -> None:
    frame = pl.DataFrame({"x": ["1", "9"]})
    with pytest.raises(UsageError, match=r"target 'y' is not in the release"):
        shoal.measure(frame, frame, qi=["x"], target="y")


@given(drawn=scored(), below=st.integers(0, 50), above=st.integers(1, 50))
def test_declared_domain_takes_the_place_of_the_tables_own(drawn: Scored, below: int, above: int) -> None:
    """C27: a wider range, or values that do not occur, make every loss smaller."""
    sheet, original = drawn.sheet, qi_rows(drawn.sheet)
    domains: dict[str, Any] = {}
    attributes = []
    for attribute, name in zip(attributes_of(sheet), sheet.qi, strict=True):
        known = [text for text in sheet.columns[name] if text]
        domain: tuple[str, ...] | None = None
        if attribute.kind == "numeric":
            numbers = [Fraction(text) for text in known] or [Fraction(0)]
            domains[name] = (float(min(numbers)) - below, float(max(numbers)) + above)
            domain = tuple(map(str, domains[name]))
        elif attribute.kind == "categorical":
            domains[name] = [*sorted(set(sheet.columns[name])), *(f"another {i}" for i in range(above))]
            domain = tuple(domains[name])
        attributes.append(loss.Attribute(attribute.kind, domain=domain))
    measures = shoal.measure(sheet.frame, drawn.frame, k=drawn.k, domains=domains, **sheet.arguments)
    assert measures.ncp == pytest.approx(float(loss.ncp(original, drawn.released, attributes)), abs=1e-12)
    assert measures.ncp <= shoal.measure(sheet.frame, drawn.frame, **sheet.arguments).ncp + 1e-12


@settings(max_examples=EXAMPLES)
@given(sheet=odd_sheets(), k=st.integers(1, 12), variant=st.sampled_from(VARIANTS))
def test_loss_of_odd_tables_agrees_with_its_twin(sheet: Sheet, k: int, variant: str) -> None:
    """C27: in [0, 1], never NaN, the number of an independent formula."""
    released = anonymize(sheet, min(k, sheet.n_rows), variant)
    frame = pl.DataFrame(released, schema=dict.fromkeys(sheet.qi, pl.String), orient="row")
    measures = shoal.measure(sheet.frame, frame, **sheet.arguments)
    assert 0 <= measures.ncp <= 1
    assert measures.ncp == pytest.approx(float(loss.ncp(qi_rows(sheet), released, attributes_of(sheet))), abs=1e-9)


@given(sheet=odd_sheets())
def test_untouched_table_lost_nothing(sheet: Sheet) -> None:
    """C27: the lower end."""
    measures = shoal.measure(sheet.frame, sheet.frame, **sheet.arguments)
    assert measures.ncp == 0
    assert measures.utility == 1
    assert measures.modification_rate == 0


@given(sheet=odd_sheets())
def test_suppressed_table_lost_all(sheet: Sheet) -> None:
    """C27: the upper end."""
    stars = sheet.frame.with_columns(pl.lit("*").alias(name) for name in sheet.qi)
    measures = shoal.measure(sheet.frame, stars, **sheet.arguments)
    assert measures.ncp == 1
    assert measures.modification_rate == 1
    assert measures.suppressed_rows == 0  # one group of all rows
    assert measures.dm == sheet.n_rows**2
    measures = shoal.measure(sheet.frame, stars, k=sheet.n_rows + 1, **sheet.arguments)
    assert measures.suppressed_rows == sheet.n_rows
    assert measures.dm == sheet.n_rows**2


def test_widest_range_of_floats_is_measured() -> None:
    """C27, B13: never NaN; numbers whose difference is no float are refused on the way in."""
    before = pl.DataFrame({"x": ["-8.9e307", "0", "8.9e307"]})
    after = pl.DataFrame({"x": ["[-8.9e307, 0]", "[-8.9e307, 0]", "8.9e307"]})
    assert shoal.measure(before, after, qi=["x"]).ncp == pytest.approx(1 / 3)


@pytest.mark.parametrize("text", [".5", "5.", "+5", "-.5e1", "1E3"])
def test_every_number_that_is_taken_can_be_measured(text: str) -> None:
    """B13."""
    before = pl.DataFrame({"x": [text, "7", "-9"]})
    assert shoal.measure(before, before, qi=["x"], numeric=["x"]).ncp == 0
    after = pl.DataFrame({"x": [f"[-9, {text}]", "7", f"[-9, {text}]"]})
    assert 0 < shoal.measure(before, after, qi=["x"], numeric=["x"]).ncp < 1


def test_dates_of_any_format_can_be_measured() -> None:
    """B14: also where the format itself holds a comma."""
    frame = pl.DataFrame({"x": ["Jan 01, 2020", "Jan 02, 2020", "Jan 05, 2020", "Jan 05, 2020"]})
    release = shoal.anonymize(frame, qi=["x"], dates={"x": "%b %d, %Y"}, k=2, ends="exact")
    assert release.text["x"].to_list() == ["Jan 05, 2020"] * 2 + ["[Jan 01, 2020, Jan 02, 2020]"] * 2
    assert release.measures.ncp == pytest.approx(2 * 0.25 / 4)
    moved = shoal.anonymize(frame, qi=["x"], dates={"x": "%b %d, %Y"}, k=2)
    assert moved.text["x"].to_list()[2] == "[Dec 30, 2019, Jan 05, 2020]"
    assert moved.measures.ncp == pytest.approx(2 / 4)


def test_star_of_the_original_is_no_suppression() -> None:
    """C22, C27: a cell that was ``*`` before is not a suppressed one."""
    frame = pl.DataFrame({"x": ["*", "*"]})
    measures = shoal.measure(frame, frame, qi=["x"])
    assert measures.ncp == 0
    assert measures.suppressed_rows == 0
    assert measures.c_avg == 1


@pytest.mark.parametrize("cell", ["Jose\u0301", " z ", "{a, z}", "{a", "1-2"])
def test_cell_that_cannot_be_read_is_named_by_its_row(cell: str) -> None:
    """L14: by its row, not by its text; a value that the original does not have is not read as harmless."""
    before = pl.DataFrame({"x": ["a", "b"]})
    after = pl.DataFrame({"x": ["a", cell]})
    with pytest.raises(InputError, match=r"column 'x' of the release: the cell at row 2 cannot be read") as caught:
        shoal.measure(before, after, qi=["x"])
    assert cell.strip() not in str(caught.value).split("Allowed")[0]


def test_empty_cell_is_suppressed_where_the_original_has_none() -> None:
    """C27: of two empty cells, one was so before."""
    before, after = pl.DataFrame({"x": ["a", "b", ""]}), pl.DataFrame({"x": ["a", "", ""]})
    assert shoal.measure(before, after, qi=["x"]).ncp == pytest.approx(1 / 3)


def test_range_from_high_to_low_cannot_be_read() -> None:
    """C27: no loss of 0 for a cell that covers nothing."""
    before, after = pl.DataFrame({"x": ["1", "9"]}), pl.DataFrame({"x": ["[9, 1]", "[1, 9]"]})
    with pytest.raises(InputError, match=r"column 'x' of the release: the cell at row 1 cannot be read"):
        shoal.measure(before, after, qi=["x"])


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_measures_take_no_k_but_a_positive_whole_number(k: Any) -> None:
    """B04."""
    frame = pl.DataFrame({"x": ["1", "9"]})
    with pytest.raises(UsageError, match="is not a positive integer"):
        shoal.measure(frame, frame, qi=["x"], k=k)


@pytest.mark.parametrize("domains", [{"y": (0, 10)}, {"x": (10, 0)}, {"x": (0, float("nan"))}])
def test_domain_that_cannot_be_used_is_refused(domains: dict[str, Any]) -> None:
    """C27: neither passed over nor turned into a loss of 0."""
    before, after = pl.DataFrame({"x": ["1", "9"]}), pl.DataFrame({"x": ["[1, 9]", "[1, 9]"]})
    with pytest.raises(UsageError, match="domain"):
        shoal.measure(before, after, qi=["x"], domains=domains)


@pytest.mark.parametrize("weights", [{"y": 1}, {"x": -1}, {"x": float("nan")}, {"x": float("inf")}, {"x": 0}])
def test_weight_that_cannot_be_used_is_refused(weights: dict[str, Any]) -> None:
    frame = pl.DataFrame({"x": ["1", "9"]})
    with pytest.raises(UsageError, match="weight"):
        shoal.measure(frame, frame, qi=["x"], weights=weights)


def test_release_with_more_rows_than_the_original_is_refused() -> None:
    """C03: kept and suppressed rows are those of the original."""
    with pytest.raises(InputError, match=r"the release has 3 rows, but the original has 2"):
        shoal.measure(pl.DataFrame({"x": [1, 2]}), pl.DataFrame({"x": [1, 2, 2]}), qi=["x"])
