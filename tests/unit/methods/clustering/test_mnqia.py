"""MNQIA, compared with its plain twin and the grid of its paper."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.attributes import Encoded
from shoal.errors import UsageError
from shoal.kernels.clustering.mnqia import cut_numbers
from shoal.methods import MNQIA, Run
from shoal.methods.prices import whole_places
from shoal.models import KAnonymity
from shoal.schema import Kind
from tests.naive import leftovers
from tests.naive import mnqia as naive
from tests.strategies import Sheet
from tests.unit.methods.plain import as_groups, code_rows, priced, sheets_and_k


def twin_cells(encoded: Encoded, k: int) -> list[naive.Cell]:
    """The sub-groups of each row by the twin's own k-means."""
    columns = []
    rows = code_rows(encoded)
    for a, attribute in enumerate(encoded.attributes):
        codes = [row[a] for row in rows]
        parts = list(range(len(attribute.texts)))
        if attribute.kind is not Kind.CATEGORICAL:
            places = whole_places(attribute)[0].tolist()
            present = [(place, codes.count(code)) for code, place in enumerate(places) if place >= 0]
            parts = naive.sub_groups(present, k + 1)
            parts += [len(present)] * (len(places) - len(present))
        columns.append([parts[code] for code in codes])
    return list(zip(*columns, strict=True))


@given(drawn=sheets_and_k(max_rows=30, max_columns=3))
def test_groups_are_those_of_the_twin(drawn: tuple[Sheet, int]) -> None:
    sheet, k = drawn
    encoded = sheet.encoded
    twin_groups, remainder = naive.groups(twin_cells(encoded, k), k)
    expected = leftovers.join_nearest(code_rows(encoded), priced(encoded), twin_groups, remainder)
    partition = MNQIA().partition(encoded, (KAnonymity(k),), Run())
    assert as_groups(partition.labels) == sorted(map(sorted, expected))


@given(
    values=st.dictionaries(st.integers(0, 500), st.integers(1, 9), min_size=1, max_size=14), n_parts=st.integers(1, 6)
)
def test_numbers_are_cut_as_by_the_twin(values: dict[int, int], n_parts: int) -> None:
    pairs = sorted(values.items())
    n_parts = min(n_parts, len(pairs))
    parts = np.empty(len(pairs), dtype=np.int32)
    cut_numbers(*(np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True)), n_parts, parts)
    assert parts.tolist() == naive.sub_groups(pairs, n_parts)


def test_many_numbers_are_cut_as_well_by_halves_as_one_by_one() -> None:
    """Beyond 1024 values cuts are searched by halves: the spread is the least that a plain search finds too."""
    draw = random.Random(4)
    places = np.array(sorted(draw.sample(range(10**6), 1100)), dtype=np.int64)
    rows = np.array([draw.randint(1, 5) for _ in places], dtype=np.int64)
    parts = np.empty(len(places), dtype=np.int32)
    cut_numbers(places, rows, 3, parts)
    pairs = list(zip(places.tolist(), rows.tolist(), strict=True))
    total = sum(naive.spread([pair for pair, p in zip(pairs, parts, strict=True) if p == part]) for part in range(3))
    for cut in range(2, 1099, 7):  # no cut that is moved makes it less
        for other in (int(np.argmax(parts == 1)), int(np.argmax(parts == 2))):
            low, high = sorted((cut, other))
            if low < high:
                moved = [pairs[:low], pairs[low:high], pairs[high:]]
                assert total <= sum(map(naive.spread, moved)) + len(moved)


GRID = {
    "T1": ("A13", "A21"),
    "T2": ("A11", "A23"),
    "T3": ("A13", "A23"),
    "T4": ("A12", "A22"),
    "T5": ("A13", "A22"),
    "T6": ("A13", "A21"),
    "T7": ("A11", "A22"),
    "T8": ("A14", "A24"),
    "T9": ("A14", "A24"),
}
GROUPS = [["T1", "T7", "T8"], ["T2", "T4", "T6"], ["T3", "T5", "T9"]]


def test_groups_are_those_of_s4_table_3() -> None:
    """[S4] Table 3, k = 3; the paper breaks the tie of T8 and T9 the other way."""
    columns = {
        "age": [cell[0] for cell in GRID.values()],
        "zip": [cell[1] for cell in GRID.values()],
        "id": list(GRID),
    }
    sheet = Sheet(columns, {"age": "categorical", "zip": "categorical"})
    encoded = sheet.encoded
    labels = MNQIA().partition(encoded, (KAnonymity(3),), Run()).labels
    ids = [list(GRID)[row] for row in encoded.order.tolist()]
    groups = sorted(sorted(ids[row] for row in np.flatnonzero(labels == group)) for group in range(3))
    assert groups == GROUPS


def test_twin_gives_the_groups_of_s4_table_3() -> None:
    """[S4] Table 3, k = 3."""
    names = list(GRID)
    cells = [(int(first[-1]), int(second[-1])) for first, second in GRID.values()]
    groups, remainder = naive.groups(cells, 3)
    assert sorted(sorted(names[row] for row in group) for group in groups) == GROUPS
    assert remainder == []


def sensitive_frame(seed: int, n_rows: int = 120) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 80, n_rows).astype(str),
            "disease": draw.choice(["flu", "cold", "ulcer", "asthma", "gout"], n_rows),
            "salary": draw.integers(1000, 9000, n_rows).astype(str),
        }
    )


def test_sensitive_variant_mixes_sensitive_values(seed: int) -> None:
    """A group of 5 has more different diseases, on average, than a group by age; a note gives the least number."""
    frame = sensitive_frame(seed)
    reached = {}
    for variant in ("quasi-identifiers", "sensitive"):
        release = shoal.anonymize(
            frame, qi=["age"], sensitive=["disease", "salary"], k=5, method=MNQIA(variant=variant)
        )
        counts = release.text.group_by("age").agg(pl.col("disease", "salary").n_unique())
        reached[variant] = float(counts["disease"].mean())  # type: ignore[arg-type]
        notes = [note for note in release.notes if note.startswith("every group contains")]
        if variant == "sensitive":
            least = [int(counts[name].min()) for name in ("disease", "salary")]  # type: ignore[arg-type]
            assert notes == [f"every group contains at least {least[0]} values of 'disease' and {least[1]} of 'salary'"]
        else:
            assert notes == []
    assert reached["sensitive"] > reached["quasi-identifiers"] + 0.3


def test_sensitive_variant_is_the_same_for_any_order_of_the_columns(seed: int) -> None:
    frame = sensitive_frame(seed)
    releases = [
        shoal.anonymize(
            frame.select(names), qi=["age"], sensitive=["disease", "salary"], k=5, method=MNQIA(variant="sensitive")
        ).text.select("age", "disease", "salary")
        for names in (["age", "disease", "salary"], ["salary", "disease", "age"])
    ]
    assert sorted(releases[0].rows()) == sorted(releases[1].rows())


def test_sensitive_variant_without_a_sensitive_column_is_refused() -> None:
    encoded = Sheet({"x": ["1", "2"]}, {"x": "numeric"}).encoded
    with pytest.raises(UsageError, match=r"needs a sensitive column\. Use sensitive= to name one"):
        MNQIA(variant="sensitive").partition(encoded, (KAnonymity(2),), Run())
    with pytest.raises(UsageError, match=r"variant 'all' is not known\. Use quasi-identifiers, sensitive"):
        MNQIA(variant="all")
