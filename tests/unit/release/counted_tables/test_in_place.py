"""A release planned from the counts of single columns, whose sections somebody else searches, is that of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import shoal
from shoal.methods import sections
from shoal.methods.sections import TupleSection, cut_sections
from shoal.metrics.measure import GroupSizes
from shoal.metrics.partition_loss import CellFacts
from shoal.release.counted_tables.in_place import cells_of, couple, plan_in_place
from shoal.release.counted_tables.section_search import SectionGroups, SectionSearch, cell_keys
from shoal.release.job import Job
from shoal.settings.keywords import settings_from
from shoal.spark.searching import added_figures
from shoal.tables.formats.writers import write_csv
from tests.contract.test_dealing import AGES, QI, odd_table

GIVEN: dict[str, Any] = {
    "k": 4,
    "effort": "fast",
    "seed": 3,
    "qi": QI,
    "numeric": ["Age"],
    "sensitive": ["disease"],
    "drop": ["z other", "number", "name", "who", "own k"],
    "accept_unique": ["disease"],
    "missing": ["NULL", ""],
}


class Groups:
    """The groups of all sections in memory."""

    def __init__(self, parts: Sequence[SectionGroups]) -> None:
        self.rows = np.concatenate([part.rows for part in parts])
        columns = [np.concatenate([part.cells[a] for part in parts]) for a in range(len(parts[0].cells))]
        found = [np.unique(keys, return_inverse=True) for keys in columns]
        self.index = [index for _, index in found]
        self.cells = [(keys.tolist(), np.bincount(index, self.rows).astype(np.int64)) for keys, index in found]
        self.sse = sum(part.sse for part in parts)
        self.singled = added_figures([part.singled for part in parts])

    def group_sizes(self, columns: Sequence[CellFacts], n_rows: int) -> GroupSizes:
        ranks = np.column_stack([facts.ranks[index] for facts, index in zip(columns, self.index, strict=True)])
        groups = np.unique(ranks, axis=0, return_inverse=True)[1].reshape(-1)
        sizes, times = np.unique(np.bincount(groups, self.rows).astype(np.int64), return_counts=True)
        n_starred, n_exact = self.count_rows([[f.starred for f in columns], [f.exact for f in columns]])
        return GroupSizes(sizes, n_rows, int(self.rows.sum()), n_starred, n_exact, times)

    def count_rows(self, chosen: Sequence[Sequence[NDArray[np.bool_]]]) -> list[int]:
        flags = [np.all([own[i] for own, i in zip(each, self.index, strict=True)], axis=0) for each in chosen]
        return [int(self.rows[own].sum()) for own in flags]

    def ranked(self, ranks: Sequence[NDArray[np.int32]]) -> object:
        return [own[index] for own, index in zip(ranks, self.index, strict=True)]


class Engine:
    """A table that counts itself and searches its sections."""

    searches, notes, dialect = True, (), None

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def count_columns(self, names: Sequence[str]) -> Mapping[str, tuple[pl.Series, NDArray[np.int64]]]:
        counted = {name: self._frame.group_by(name).len().sort(name) for name in names}
        return {name: (own[name], own["len"].to_numpy().astype(np.int64)) for name, own in counted.items()}

    def count_tuples(self, codes: Mapping[str, tuple[pl.Series, NDArray[np.int32]]]) -> tuple[int, int]:
        rows = [
            self._frame[name].replace_strict(dict(zip(texts.to_list(), own.tolist(), strict=True))).to_numpy()
            for name, (texts, own) in codes.items()
        ]
        self._tuples, self._counts = np.unique(np.column_stack(rows).astype(np.int32), axis=0, return_counts=True)
        return len(self._tuples), int(self._counts.min())

    def search_sections(self, search: SectionSearch, largest: int) -> Groups:
        pricing = search.plan.pricing
        codes = pricing.codes(self._tuples)
        whole = TupleSection(codes, np.diff(pricing.prices.offsets).tolist(), np.arange(len(codes)))

        def group(section: TupleSection, number: int) -> SectionGroups:
            own = section.tuples
            return search.group(np.ascontiguousarray(self._tuples[own]), self._counts[own].astype(np.int64), number)

        return Groups(cut_sections(whole, pricing.prices, largest).work(group))


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sections, "LARGEST_SECTION", 60)
    write_csv(odd_table(2, 900), tmp_path / "source.csv")
    return tmp_path / "source.csv"


MORE: dict[str, dict[str, Any]] = {
    "plain": {},
    "exact ends": {"ends": "exact"},
    "hierarchy and weights": {"hierarchies": {"Age": AGES}, "weights": {"age": 0.5}},
}


def flat(figures: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested figures in one dictionary."""
    found: dict[str, Any] = {}
    for name, figure in figures.items():
        found |= flat(figure, f"{prefix}{name}.") if isinstance(figure, dict) else {f"{prefix}{name}": figure}
    return found


@pytest.mark.parametrize("more", MORE.values(), ids=MORE)
def test_figures_are_those_of_memory(more: dict[str, Any], source: Path) -> None:
    expected = shoal.anonymize(source, **GIVEN | more)
    settings = settings_from(GIVEN | more)
    job = Job.from_settings(source, settings)
    engine: Any = Engine(odd_table(2, 900))
    planned = plan_in_place(engine, settings.schema(engine._frame.columns), job)
    assert planned is not None
    assert planned.n_rows == 900
    release = planned.release()
    assert flat(release.measures.as_dict()) == pytest.approx(flat(expected.measures.as_dict()))
    assert release.public_figures.measures() == expected.public_figures.measures()
    assert flat(release.singled.as_dict()) == pytest.approx(flat(expected.singled.as_dict()))
    assert release.encoded is None  # there is no bound without the tuples
    assert {note.text for note in release.notes} <= {note.text for note in expected.notes}


NOT_IN_PLACE: dict[str, dict[str, Any]] = {
    "model": {"l": 2},
    "people": {"person": "who", "drop": ["z other", "number", "name", "own k"]},
    "suppression": {"suppression_limit": 0.1},
    "method": {"method": "mondrian", "effort": None},
    "one section": {"qi": ["Age"], "drop": [*GIVEN["drop"], *QI[1:]]},
    "large k": {"k": 8},
}


@pytest.mark.parametrize("more", NOT_IN_PLACE.values(), ids=NOT_IN_PLACE)
def test_other_requests_are_searched_together(more: dict[str, Any], source: Path) -> None:
    settings = settings_from(GIVEN | more)
    engine: Any = Engine(odd_table(2, 900))
    job = Job.from_settings(source, settings)
    assert plan_in_place(engine, settings.schema(engine._frame.columns), job) is None


def test_table_without_rare_tuples_may_be_released_as_it_is(source: Path) -> None:
    settings = settings_from(GIVEN)
    engine: Any = Engine(pl.concat([odd_table(2, 300)] * 4))
    schema = settings.schema(engine._frame.columns)
    assert plan_in_place(engine, schema, Job.from_settings(source, settings)) is None


def test_stand_in_has_the_counts_of_each_column() -> None:
    counts = [np.array([3, 0, 4]), np.array([0, 7]), np.array([1, 1, 5])]
    places, weights = couple(counts)
    assert weights.sum() == 7
    for place, own in zip(places, counts, strict=True):
        assert np.bincount(place, weights, len(own)).tolist() == own.tolist()


def test_keys_of_cells_can_be_read_back() -> None:
    keys = ["0:3:3:", "1:2:5:", "2:1:7:1,4,7", "3:0:0:"]
    assert cell_keys(cells_of(keys)).tolist() == keys
