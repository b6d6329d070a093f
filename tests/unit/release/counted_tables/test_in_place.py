"""A release planned from the counts of single columns, whose sections somebody else searches, is that of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import shoal
from shoal.errors import InfeasibleError, InputError
from shoal.methods import sections
from shoal.methods.sections import Cut, Ruling, TupleSection, cut_by
from shoal.metrics.association import Pairs
from shoal.metrics.measure import GroupSizes
from shoal.metrics.partition_loss import CellFacts
from shoal.metrics.singled import added_figures
from shoal.release.counted_tables.dealing import Coding
from shoal.release.counted_tables.in_place import InPlace, plan_in_place
from shoal.release.counted_tables.outliers import Outliers
from shoal.release.counted_tables.searcher import RowSets, SetCounts, UnitCounts, Upto
from shoal.release.counted_tables.sections.plan import PartCounts, Sectioning
from shoal.release.counted_tables.sections.search import (
    SectionGroups,
    SectionSearch,
    added_verdicts,
    cell_keys,
)
from shoal.release.counted_tables.stand_in import cells_of, couple
from shoal.release.job import Job
from shoal.schema import Schema
from shoal.settings.keywords import settings_from
from shoal.tables.formats.writers import write_csv
from shoal.tables.values.people import People, person_codes
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


CUT = {"method": "mondrian", "effort": None}


class Groups:
    """The groups of all sections in memory."""

    def __init__(self, parts: Sequence[SectionGroups]) -> None:
        self.rows = np.concatenate([part.rows for part in parts])
        columns = [np.concatenate([part.cells[a] for part in parts]) for a in range(len(parts[0].cells))]
        found = [np.unique(keys, return_inverse=True) for keys in columns]
        self.index = [index for _, index in found]
        self.cells = [
            (pl.Series(keys.tolist()), np.bincount(index, self.rows).astype(np.int64)) for keys, index in found
        ]
        self.sse = sum(part.sse for part in parts)
        self.singled = added_figures([part.singled for part in parts])
        self.verdicts = added_verdicts([part.verdicts for part in parts])

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

    notes, dialect = (), None

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def count_columns(self, names: Sequence[str]) -> Mapping[str, tuple[pl.Series, NDArray[np.int64]]]:
        counted = {name: self._frame.group_by(name).len().sort(name) for name in names}
        return {name: (own[name], own["len"].to_numpy().astype(np.int64)) for name, own in counted.items()}

    def count_tuples(self, codes: Coding) -> tuple[int, int]:
        found = self.count_units(codes, {})
        return found.tuples, found.rarest

    def code_people(self, people: People) -> int:
        ids = self._frame[people.name].unique().sort()
        codes = dict(zip(ids.to_list(), person_codes(ids, people.missing).tolist(), strict=True))
        self._people = self._frame[people.name].replace_strict(codes).alias("person")
        return self._people.n_unique()

    def count_lone_rows(self, names: Sequence[str]) -> list[int]:
        rows = self._frame.with_columns(self._people)
        held = [rows.group_by(name).agg(pl.len(), pl.col("person").n_unique()) for name in names]
        return [int(each.filter(pl.col("person") == 1)["len"].sum()) for each in held]

    def count_holders(self, name: str, cells: pl.Series) -> int:
        rows = self._frame.with_columns(self._people)
        return rows.filter(pl.col(name).is_in(cells.to_list()))["person"].n_unique()

    def count_units(self, coding: Coding, beside: Coding, people: People | None = None) -> UnitCounts:
        rows = [
            self._frame[name].replace_strict(dict(zip(texts.to_list(), own.tolist(), strict=True))).to_numpy()
            for name, (texts, own) in (coding | beside).items()
        ]
        rows += [] if people is None else [self._people.to_numpy()]
        self._n_keys = len(coding)
        self._cards = [int(own.max()) + 1 for _, own in coding.values()]
        self._units, counts = np.unique(np.column_stack(rows).astype(np.int32), axis=0, return_counts=True)
        self._counts = counts.astype(np.int64)
        tuples, of_units = np.unique(self._units[:, : self._n_keys], axis=0, return_inverse=True)
        sizes = np.bincount(of_units.reshape(-1), self._counts)
        if people is not None:
            pairs = np.unique(np.column_stack([of_units.reshape(-1), self._units[:, -1]]), axis=0)
            sizes = np.bincount(pairs[:, 0])
        return UnitCounts(len(self._units), len(tuples), int(sizes.min()), int((sizes == 1).sum()))

    def count_people(self, runs: Mapping[int, NDArray[np.int32]]) -> list[NDArray[np.int64]]:
        counted = []
        for place, own in runs.items():
            run = np.append(own, np.int32(-1))[np.minimum(self._units[:, place], len(own))]
            pairs = np.unique(np.column_stack([run, self._units[:, -1]])[run >= 0], axis=0)
            counted.append(np.bincount(pairs[:, 0], minlength=int(own.max()) + 1).astype(np.int64))
        return counted

    def count_sets(self, sets: RowSets, k: int) -> SetCounts:
        own = {tuple(codes): i for i, codes in enumerate(sets.codes.tolist())}
        people: dict[tuple[int, int], set[int]] = {}
        counted = self._units
        if sets.upto is not None:
            counted = counted[counted[:, self._n_keys + sets.upto.place] <= sets.upto.code]
        for unit in counted:
            i = own.get(tuple(unit[list(sets.places)].tolist()))
            if i is not None:
                people.setdefault((int(sets.run[i]), int(sets.number[i])), set()).add(int(unit[-1]))
        found = []
        for run, number in sorted(people):
            enough = (
                j
                for j in range(number, -1, -1)
                if len(set().union(*(people[run, i] for i in range(j, number + 1)))) >= k
            )
            found.append((run, len(people[run, number]), next(enough, -1)))
        return SetCounts(*(np.array(column) for column in zip(*found, strict=True)))

    def count_pairs(self) -> Pairs:
        found = {}
        for a, b in combinations(range(self._n_keys), 2):
            pairs, place = np.unique(self._units[:, [a, b]], axis=0, return_inverse=True)
            found[a, b] = pairs, np.bincount(place.reshape(-1), self._counts).astype(np.int64)
        return found

    def count_together(
        self, places: Sequence[int], upto: Upto | None = None
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        counted = np.full(len(self._units), True)
        if upto is not None:
            counted = self._units[:, self._n_keys + upto.place] <= upto.code
        codes, place = np.unique(self._units[counted][:, list(places)], axis=0, return_inverse=True)
        return codes, np.bincount(place.reshape(-1), self._counts[counted]).astype(np.int64)

    def meets(self, search: SectionSearch) -> bool:
        return search.meets(self._units[:, : self._n_keys], self._units[:, self._n_keys :], self._counts)

    def largest_beside(self, place: int) -> list[NDArray[np.int32]]:
        found = [np.zeros(card, dtype=np.int32) for card in self._cards]
        for a, largest in enumerate(found):
            np.maximum.at(largest, self._units[:, a], self._units[:, self._n_keys + place])
        return found

    def search_sections(self, search: SectionSearch, largest: int) -> Groups:
        plan = search.plan
        tuples = np.ascontiguousarray(self._units[:, : self._n_keys])
        whole = CountedSection(plan.codes(tuples), plan.n_codes, np.arange(len(tuples)), self, plan)
        self.infeasible = 0

        def part_of(section: CountedSection) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
            own = section.tuples
            return self._units[own, : self._n_keys], self._units[own, self._n_keys :], self._counts[own]

        def group(section: CountedSection, number: int) -> SectionGroups:
            tuples, beside, counts = part_of(section)
            try:
                return search.group(tuples, counts, number, beside if search.by_units else None)
            except InfeasibleError:
                self.infeasible += 1
                raise

        tree = cut_by(whole, lambda counts: plan.cuts(counts, largest), largest, CountedSection.rule)
        self.n_cut = tree.n_leaves
        if plan.may_fail:
            tree = tree.whole_where(lambda section: search.fails(*part_of(section)))
        self.n_sections = tree.n_leaves
        found = tree.work(group)
        assert all(part.passing for part in found)
        return Groups(found)


@dataclass(frozen=True)
class CountedSection(TupleSection):
    """Some units of a table that counts itself."""

    engine: Engine
    plan: Sectioning

    def histograms(self) -> list[NDArray[np.int64]]:
        if not self.plan.by_rows:
            return super().histograms()
        own, rows = self.codes[self.tuples], self.engine._counts[self.tuples]
        return [np.bincount(own[:, c], rows, n).astype(np.int64) for c, n in enumerate(self.n_codes)]

    def rule(self, cut: Cut) -> Ruling:
        if cut.is_settled:
            return Ruling.ALLOWED
        units = self.engine._units[self.tuples, self.engine._n_keys :]
        parts, rows = cut.parts[self.codes[self.tuples, cut.column]], self.engine._counts[self.tuples]
        people = None
        if self.plan.counts_people:
            people = np.bincount(np.unique(np.column_stack([parts, units[:, -1]]), axis=0)[:, 0])
            if people.min() < self.plan.least:
                return Ruling.FEW_PEOPLE
        counted = [PartCounts(parts, units[:, list(places)], rows) for places in self.plan.judged]
        return Ruling.ALLOWED if self.plan.passes(counted, people) else Ruling.REFUSED


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sections, "LARGEST_SECTION", 60)
    write_csv(odd_table(2, 900), tmp_path / "source.csv")
    return tmp_path / "source.csv"


def planned_for(engine: Any, schema: Schema, job: Job) -> InPlace | None:
    """Plan a run in place of a table without outliers."""
    return plan_in_place(engine, schema, job, Outliers(engine, schema))


MORE: dict[str, dict[str, Any]] = {
    "plain": {},
    "exact ends": {"ends": "exact"},
    "hierarchy and weights": {"hierarchies": {"Age": AGES}, "weights": {"age": 0.5}},
    "rules": {"rules": [{"column": "Age", "inflection": [10, 11]}, {"column": "age", "apart": ["a", "A"]}]},
    "bans": {"rules": [{"column": "Age", "inflection": [10, 11], "ban": True}]},
    "derived weights": {"weights": "auto"},
    "risk": {"models": [shoal.MaximalRisk(0.2)]},
    "diversity": {"models": [shoal.LDiversity("disease", l=3)]},
    "rare values": {"models": [shoal.LDiversity("disease", l=10)]},
    "closeness": {"models": [shoal.TCloseness("disease", t=0.2)], "rules": [{"column": "Age", "range": [7, 11]}]},
    "not closed": {"models": [shoal.GrassbergerLDiversity("disease", l=3)]},
    "two models": {
        "models": [shoal.EntropyLDiversity("disease", l=2), shoal.LDiversity("z other", l=2)],
        "sensitive": ["disease", "z other"],
        "drop": ["number", "name", "who", "own k"],
        "accept_unique": ["disease", "z other"],
    },
    "limits": {"max_width": {"Age": "20"}, "finest": {QI[2]: "month"}},
    "limits beside a model": {"max_width": {"Age": "20"}, "models": [shoal.LDiversity("disease", l=3)]},
    "limits beside own k": {
        "max_width": {"Age": "20"},
        "k_column": "own k",
        "drop": ["z other", "number", "name", "who"],
    },
    "frequent tuples": {
        "qi": ["Age", QI[2]],
        "drop": [*GIVEN["drop"], "age"],
        "models": [shoal.TCloseness("disease", t=0.1)],
    },
    "all groups": {"models": [shoal.AverageRisk(0.1)]},
    "lone rows": {"k": 1, "models": [shoal.AverageRisk(0.1), shoal.SampleUniqueness(0.05)]},
    "own k": {"k_column": "own k", "drop": ["z other", "number", "name", "who"]},
    "people": {"person": "who", "drop": ["z other", "number", "name", "own k"]},
    "people, own k and a model": {
        "person": "who",
        "k_column": "own k",
        "drop": ["z other", "number", "name"],
        "models": [shoal.LDiversity("disease", l=3)],
    },
    "limit of a set": {"max_width": {"age": "4"}},
    "limits beside people": {
        "person": "who",
        "max_width": {"Age": "20", "age": "4"},
        "drop": ["z other", "number", "name", "own k"],
    },
    "mondrian": {**CUT, "hierarchies": {"Age": AGES}, "k": 8},
    "mondrian within limits": {
        **CUT,
        "max_width": {"Age": "20"},
        "finest": {QI[2]: "month"},
        "models": [shoal.LDiversity("disease", l=3)],
    },
    "mondrian beside models": {
        **CUT,
        "models": [shoal.TCloseness("disease", t=0.2), shoal.GrassbergerLDiversity("disease", l=3)],
        "k_column": "own k",
        "drop": ["z other", "number", "name", "who"],
    },
    "mondrian under a model of all groups": {**CUT, "models": [shoal.AverageRisk(0.1)]},
    "mondrian by people": {
        **CUT,
        "person": "who",
        "k_column": "own k",
        "drop": ["z other", "number", "name"],
        "models": [shoal.LDiversity("disease", l=10)],
    },
}


def flat(figures: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested figures in one dictionary."""
    found: dict[str, Any] = {}
    for name, figure in figures.items():
        found |= flat(figure, f"{prefix}{name}.") if isinstance(figure, dict) else {f"{prefix}{name}": figure}
    return found


@pytest.mark.parametrize("name", MORE)
def test_figures_are_those_of_memory(name: str, source: Path) -> None:
    more = MORE[name]
    expected = shoal.anonymize(source, **GIVEN | more)
    given = GIVEN | more
    models = given.pop("models", ())
    settings = settings_from(given)
    job = Job.from_settings(source, settings, models=models)
    engine: Any = Engine(odd_table(2, 900))
    planned = planned_for(engine, settings.schema(engine._frame.columns), job)
    assert planned is not None
    assert planned.n_rows == 900
    release = planned.release()
    assert engine.n_sections > 1
    assert engine.n_sections < engine.n_cut or name != "rare values"  # some sections could not pass
    assert engine.infeasible or name != "closeness"  # in some, no groups were found
    assert flat(release.measures.as_dict()) == pytest.approx(flat(expected.measures.as_dict()))
    assert release.public_figures.measures() == expected.public_figures.measures()
    assert flat(release.singled.as_dict()) == pytest.approx(flat(expected.singled.as_dict()))
    assert release.encoded is None  # there is no bound without the tuples
    assert release.rules == expected.rules
    assert replace(release.request, accept_unique=("disease",)) == replace(expected.request, accept_unique=("disease",))
    assert {note.text for note in release.notes} <= {note.text for note in expected.notes}


NOT_IN_PLACE: dict[str, dict[str, Any]] = {
    "passing tuples": {
        "qi": ["Age", QI[2]],
        "drop": [*GIVEN["drop"], "age"],
        "models": [shoal.LDiversity("disease", l=2)],
    },
    "estimate of uniques": {"k": 1, "models": [shoal.PopulationUniqueness(0.01, population=2000)]},
    "method": {"method": "mdav", "effort": None},
    "engine that counts no regions": {**CUT, "options": {"variant": "single-dimensional"}},
    "one section": {"qi": ["Age"], "drop": [*GIVEN["drop"], *QI[1:]]},
    "large k": {"k": 8},
}


@pytest.mark.parametrize("more", NOT_IN_PLACE.values(), ids=NOT_IN_PLACE)
def test_other_requests_are_searched_together(more: dict[str, Any], source: Path) -> None:
    given = GIVEN | more
    models = given.pop("models", ())
    settings = settings_from(given)
    engine: Any = Engine(odd_table(2, 900))
    job = Job.from_settings(source, settings, models=models)
    assert planned_for(engine, settings.schema(engine._frame.columns), job) is None


@pytest.mark.parametrize("widths", [{"Age": "20"}, {"Age": "20", QI[2]: "40d"}], ids=["one", "two"])
def test_limits_that_cannot_be_kept_are_refused_as_in_memory(widths: dict[str, str], source: Path) -> None:
    """A plan for one limit is the best there is; beside two, the search may find more, and finds nothing here."""
    table = odd_table(2, 900).with_columns(Age=pl.when(pl.col("name") == "n5").then(pl.lit("99")).otherwise("Age"))
    write_csv(table, source.with_name("outlier.csv"))
    settings = settings_from(GIVEN | {"max_width": widths, "ends": "exact"})
    job = Job.from_settings(source.with_name("outlier.csv"), settings)
    with pytest.raises(InfeasibleError) as expected:
        job.release()
    engine: Any = Engine(table)
    with pytest.raises(InfeasibleError, match="nearest that can be kept") as refusal:
        planned_for(engine, settings.schema(table.columns), job).release()  # type: ignore[union-attr]
    assert str(refusal.value) == str(expected.value)


def test_rows_without_their_own_k_are_counted(source: Path) -> None:
    settings = settings_from(GIVEN | {"k": None, "k_column": "own k", "drop": ["z other", "number", "name", "who"]})
    engine: Any = Engine(odd_table(2, 900))
    blank = engine._frame.filter(pl.col("own k") == "").height
    with pytest.raises(InputError, match=f"^{blank} rows have no k of their own"):
        planned_for(engine, settings.schema(engine._frame.columns), Job.from_settings(source, settings))


def test_table_without_rare_tuples_may_be_released_as_it_is(source: Path) -> None:
    settings = settings_from(GIVEN)
    engine: Any = Engine(pl.concat([odd_table(2, 300)] * 4))
    schema = settings.schema(engine._frame.columns)
    assert planned_for(engine, schema, Job.from_settings(source, settings)) is None


def test_stand_in_has_the_counts_of_each_column() -> None:
    counts = [np.array([3, 0, 4]), np.array([0, 7]), np.array([1, 1, 5])]
    places, weights = couple(counts)
    assert weights.sum() == 7
    for place, own in zip(places, counts, strict=True):
        assert np.bincount(place, weights, len(own)).tolist() == own.tolist()


def test_keys_of_cells_can_be_read_back() -> None:
    keys = ["0:3:3:", "1:2:5:", "2:1:7:1,4,7", "3:0:0:"]
    assert cell_keys(cells_of(pl.Series(keys))).tolist() == keys
