"""What every method has to hold, whatever it does."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import shoal
from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import CancelledError, InfeasibleError
from shoal.methods import Method, Run
from shoal.models import Groups, KAnonymity, PrivacyModel
from tests.contract.subjects import (
    FULL_DOMAIN,
    MAY_SUPPRESS,
    METHODS,
    SMALL,
    coarse_sheet,
    every_method,
    every_table,
    make_sheet,
    random_sheet,
    release,
    shuffled,
    suppression_limit,
)
from tests.naive.cover import covers
from tests.strategies import Sheet

# Doubling every row and k keeps the groups (C29) where cuts depend on shares of rows alone: medians, sides and limits
# of a strict or single-dimensional cut all double. A relaxed cut deals out single rows: {1, 2, 3} with k = 1 becomes
# three groups, the doubled table with k = 2 the halves {1, 1, 2} and {2, 3, 3}, which are too small for another cut.
DOUBLING_HOLDS = frozenset({"mondrian-strict", "mondrian-single-dimensional"})


def partition(sheet: Sheet, k: int, method: Method, **run: Any) -> tuple[Encoded, Partition]:
    encoded = sheet.encoded
    return encoded, method.partition(encoded, (KAnonymity(k),), Run(suppression_limit=suppression_limit(method), **run))


def released_rows(sheet: Sheet, encoded: Encoded, made: Partition) -> list[tuple[str, ...]]:
    return decode(encoded, made, sheet.schema).table.frame.rows()


def smaller_k(sheet: Sheet) -> list[int]:
    return sorted({k for k in (1, 2, 3, 5, sheet.n_rows // 2, sheet.n_rows) if 1 <= k <= sheet.n_rows})


def check_partition(sheet: Sheet, k: int, method: Method) -> None:
    encoded, made = partition(sheet, k, method)
    labels = made.labels.tolist()
    assert len(labels) == sheet.n_rows
    assert len(made.cells) == len(sheet.qi)
    assert method.name in MAY_SUPPRESS or min(labels) >= 0
    assert min(labels) >= -1
    sizes = Counter(label for label in labels if label >= 0)
    assert sorted(sizes) == list(range(made.n_groups))
    assert min(sizes.values()) >= k
    assert not KAnonymity(k).failing(Groups.from_labels(made.labels)).any()
    shown = Counter(row[: len(sheet.qi)] for row in released_rows(sheet, encoded, made))
    assert min(shown.values()) >= k


@every_method
@every_table
def test_labels_are_complete_and_groups_pass_on_odd_tables(method: Method, sheet: Sheet) -> None:
    """C01, C04, C05, B17: constant, missing, duplicate, single and skewed tables."""
    for k in smaller_k(sheet):
        check_partition(sheet, k, method)


@every_method
@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_labels_are_complete_and_groups_pass(method: Method, k: int, seed: int) -> None:
    """C01: every row has its group, every group at least k rows, on labels and on released text."""
    check_partition(random_sheet(seed), k, method)


@every_method
def test_same_seed_gives_same_labels(method: Method, seed: int) -> None:
    """D01."""
    _, first = partition(random_sheet(seed), 3, method, seed=seed)
    _, second = partition(random_sheet(seed), 3, method, seed=seed)
    assert first.labels.tolist() == second.labels.tolist()


@every_method
def test_number_of_threads_does_not_matter(method: Method, seed: int) -> None:
    """D02: the table is large enough to be cut into many tasks."""
    sheet = random_sheet(seed, n_rows=3000)
    _, alone = partition(sheet, 2, method, threads=1)
    assert alone.n_groups > (1 if method.name in FULL_DOMAIN else 64)
    for threads in (2, 8):
        _, made = partition(sheet, 2, method, threads=threads)
        assert made.labels.tolist() == alone.labels.tolist()


@every_method
def test_progress_ends_at_the_whole(method: Method) -> None:
    seen: list[float] = []
    partition(random_sheet(0, n_rows=500), 2, method, progress=seen.append)
    assert seen
    assert seen == sorted(seen)
    assert all(0 <= share <= 1 for share in seen)
    assert seen[-1] == 1


@every_method
def test_cancelled_run_ends(method: Method) -> None:
    with pytest.raises(CancelledError):
        partition(random_sheet(0, n_rows=500), 2, method, cancelled=lambda: True)


@every_method
def test_encoded_table_is_left_as_it_was(method: Method, seed: int) -> None:
    sheet = random_sheet(seed)
    encoded = sheet.encoded
    arrays = ("tuples", "counts", "row_tuple", "order")
    before = {name: getattr(encoded, name).copy() for name in arrays}
    values = [attribute.values.copy() for attribute in encoded.attributes]
    method.partition(encoded, (KAnonymity(3),), Run(threads=2, suppression_limit=suppression_limit(method)))
    for name in arrays:
        assert (getattr(encoded, name) == before[name]).all(), name
    for attribute, old in zip(encoded.attributes, values, strict=True):
        assert (attribute.values == old).all()


@every_method
def test_source_frame_is_left_as_it_was(method: Method, seed: int) -> None:
    sheet = random_sheet(seed)
    frame = sheet.frame.to_pandas()
    before = frame.copy(deep=True)
    limit = suppression_limit(method)
    made = shoal.anonymize(
        frame, k=3, method=method, sensitive=sheet.sensitive, suppression_limit=limit, **sheet.arguments
    )
    assert len(made.frame) == len(before) or method.name in MAY_SUPPRESS
    assert frame.equals(before)
    assert list(frame.dtypes) == list(before.dtypes)


@every_method
@every_table
def test_k_of_one_costs_nothing(method: Method, sheet: Sheet) -> None:
    """C28: with k = 1 every table is anonymous as it is."""
    made = release(sheet, 1, method)
    assert made.measures.ncp == 0
    assert made.measures.modification_rate == 0
    assert made.text.rows() == sorted(sheet.rows)


@every_method
@every_table
def test_k_of_all_rows_gives_one_group(method: Method, sheet: Sheet) -> None:
    encoded, made = partition(sheet, sheet.n_rows, method)
    assert made.labels.tolist() == [0] * sheet.n_rows
    assert len({row[: len(sheet.qi)] for row in released_rows(sheet, encoded, made)}) == 1


@every_method
@every_table
def test_k_beyond_the_rows_is_refused(method: Method, sheet: Sheet) -> None:
    """B03."""
    n = sheet.n_rows
    for k in (n + 1, 10**30):
        text = rf"^k={k} cannot be met: the table has {n} rows\. Use k <= {n}\.$"
        with pytest.raises(InfeasibleError, match=text):
            partition(sheet, k, method)
        with pytest.raises(InfeasibleError, match=text):
            release(sheet, k, method)


def check_cover(sheet: Sheet, k: int, method: Method) -> None:
    made = release(sheet, k, method)
    source = made.source_rows.tolist()
    assert len(set(source)) == len(source)
    assert len(source) == sheet.n_rows or method.name in MAY_SUPPRESS
    for row, released in zip(source, made.text.rows(named=True), strict=True):
        for name, kind in sheet.kinds.items():
            assert covers(released[name], sheet.columns[name][row], kind), (name, released[name])
        for name in sheet.sensitive:
            assert released[name] == sheet.columns[name][row]


@every_method
@every_table
def test_released_cells_cover_their_originals_on_odd_tables(method: Method, sheet: Sheet) -> None:
    """C03."""
    for k in smaller_k(sheet):
        check_cover(sheet, k, method)


@every_method
@pytest.mark.parametrize("k", [2, 5, 20])
def test_released_cells_cover_their_originals(method: Method, k: int, seed: int) -> None:
    """C03: no cell says what is not true of its row, and other columns are untouched."""
    check_cover(random_sheet(seed), k, method)


@every_method
@pytest.mark.parametrize("k", [2, 7])
@pytest.mark.parametrize("make", [random_sheet, coarse_sheet])
def test_order_of_the_rows_does_not_matter(method: Method, k: int, make: Callable[[int], Sheet], seed: int) -> None:
    """D03, L01: the same bytes for any order of the input, and these are sorted."""
    sheet = make(seed)
    made = release(sheet, k, method).text
    assert made.rows() == sorted(made.rows())
    for another in range(5):
        assert release(shuffled(sheet, another), k, method).text.write_csv() == made.write_csv()


@every_method
@pytest.mark.parametrize("k", [2, 7])
@pytest.mark.parametrize("make", [random_sheet, coarse_sheet])
def test_order_of_the_columns_does_not_matter(method: Method, k: int, make: Callable[[int], Sheet], seed: int) -> None:
    """C29: the quasi-identifiers are ranked as they are named, not as they stand in the frame."""
    sheet = make(seed)
    made = release(sheet, k, method).text
    assert made.columns == sheet.names
    for another in range(3):
        names = random.Random(another).sample(sheet.names, len(sheet.names))
        moved = replace(sheet, columns={name: sheet.columns[name] for name in names})
        arguments = {**moved.arguments, "qi": sheet.qi, "suppression_limit": suppression_limit(method)}
        again = shoal.anonymize(moved.frame, k=k, method=method, sensitive=sheet.sensitive, **arguments).text
        assert again.columns == names
        assert sorted(again.select(sheet.names).rows()) == made.rows()


@every_method
@pytest.mark.parametrize("k", [2, 7])
def test_names_of_categories_do_not_matter(method: Method, k: int, seed: int) -> None:
    """C29: categories renamed in the same order fall into the same groups."""
    sheet = random_sheet(seed)
    renamed = {}
    for name in sheet.named("categorical"):
        distinct = sorted(set(sheet.columns[name]))
        new = {text: f"value {i:03}" for i, text in enumerate(distinct)}
        renamed[name] = [new[text] for text in sheet.columns[name]]
    _, made = partition(sheet, k, method)
    _, again = partition(replace(sheet, columns=sheet.columns | renamed), k, method)
    assert again.labels.tolist() == made.labels.tolist()


@every_method
@pytest.mark.parametrize("k", [2, 7])
def test_doubled_table_with_doubled_k_keeps_its_groups(method: Method, k: int, seed: int) -> None:
    """C29: or, where a method deals out single rows, still keeps the promise."""
    sheet = random_sheet(seed)
    doubled = replace(sheet, columns={name: cells * 2 for name, cells in sheet.columns.items()})
    encoded, made = partition(sheet, k, method)
    encoded_twice, made_twice = partition(doubled, 2 * k, method)
    before = Counter(row[: len(sheet.qi)] for row in released_rows(sheet, encoded, made))
    after = Counter(row[: len(sheet.qi)] for row in released_rows(doubled, encoded_twice, made_twice))
    (subject,) = (name for name, known in METHODS.items() if known == method)
    if subject in DOUBLING_HOLDS or method.name in FULL_DOMAIN - MAY_SUPPRESS:  # a vector's groups all double
        assert after == Counter({row: 2 * count for row, count in before.items()})
    else:
        assert min(after.values()) >= 2 * k


@every_method
@pytest.mark.parametrize("k", [2, 7])
def test_release_is_returned_unchanged_by_a_second_run(method: Method, k: int, seed: int) -> None:
    """C28: a release meets the goal, so nothing is left to change."""
    sheet = random_sheet(seed)
    made = release(sheet, k, method)
    again = shoal.anonymize(made.text, k=k, method=method, qi=sheet.qi, sensitive=sheet.sensitive)
    assert again.text.write_csv() == made.text.write_csv()
    assert again.measures.ncp == 0


@every_method
def test_anonymous_table_is_returned_unchanged(method: Method) -> None:
    """C28: also where numbers are written in two ways, letters composed or not, and cells have blanks around them."""
    rows = [("1.0", "José"), ("1", "Jose\u0301"), (" 2", "[1, 2]"), ("*", "{a, b}")]
    sheet = make_sheet({"age": "categorical", "name": "categorical"}, *rows * 3)
    made = release(sheet, 3, method)
    assert made.text.rows() == sorted(sheet.rows)
    assert made.measures.ncp == 0
    assert made.measures.suppressed_rows == 0


@every_method
def test_missing_value_is_a_value_that_matches_itself_alone(method: Method) -> None:
    """C05: in {30, 30, 30, missing} with k = 2 the row without a number is not passed over, and shows nothing."""
    sheet = SMALL["one missing"]
    made = release(sheet, 2, method)
    shown = dict(zip(made.source_rows.tolist(), made.text["age"].to_list(), strict=True))
    assert shown[sheet.columns["age"].index("")] == "*"
    assert min(Counter(shown.values()).values()) >= 2


@every_method
def test_markers_of_missing_values_become_one(method: Method) -> None:
    """C06: five rows, each without a value in its own way, are five of a kind."""
    for kind in ("numeric", "categorical"):
        sheet = replace(
            make_sheet({"x": kind}, *[(text,) for text in ("", "?", "NA", " ", "-")]), missing=("?", "NA", "-")
        )
        made = release(sheet, 5, method)
        assert made.text["x"].to_list() == [""] * 5
        assert made.measures.ncp == 0


@every_method
def test_markers_of_missing_values_mixed_with_values_are_measured(method: Method) -> None:
    """C06, C27: two markers are one value of the domain, so a set of all values has lost all."""
    sheet = replace(make_sheet({"x": "categorical"}, ("?",), ("NA",), ("a",), ("b",)), missing=("?", "NA"))
    made = release(sheet, 4, method)
    assert made.text["x"].to_list() == ["*" if method.name in FULL_DOMAIN else '{"", a, b}'] * 4
    assert made.measures.ncp == 1


@every_method
def test_every_row_counts_where_many_are_equal(method: Method) -> None:
    """C01: a tuple of 10,000 rows beside one of a single row."""
    sheet = make_sheet({"age": "numeric"}, *[("1",)] * 10_000, ("2",))
    shown = Counter(release(sheet, 2, method).text["age"].to_list())
    assert shown.pop("*" if method.name in FULL_DOMAIN else "[1, 2]") >= 2
    assert set(shown) <= {"1"}


@every_method
def test_labels_are_of_the_declared_type(method: Method) -> None:
    _, made = partition(SMALL["all distinct"], 2, method)
    assert made.labels.dtype == np.int32
    assert made.labels.flags.c_contiguous


@every_method
def test_keep_order_aligns_rows_with_the_input(method: Method, seed: int) -> None:
    sheet = shuffled(random_sheet(seed), seed)
    made = release(sheet, 3, method, keep_order=True)
    source = made.source_rows.tolist()
    assert source == sorted(source)
    assert len(source) == sheet.n_rows or method.name in MAY_SUPPRESS
    assert made.text["disease"].to_list() == [sheet.columns["disease"][row] for row in source]
    assert sorted(made.text.rows()) == release(sheet, 3, method).text.rows()


def test_method_that_suppresses_every_row_is_refused() -> None:
    """Whatever may be suppressed, a release has rows; else the goal is out of reach (exit code 4)."""

    @dataclass(frozen=True)
    class SuppressAll:
        name: ClassVar[str] = "suppress-all"

        def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
            return tight_partition(encoded, np.full(encoded.n_rows, -1, dtype=np.int32))

    with pytest.raises(InfeasibleError, match="'suppress-all' would suppress every one of the 11 rows"):
        release(SMALL["all distinct"], 2, SuppressAll())
