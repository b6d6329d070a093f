"""All figures of a report, computed once from a release that has passed the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.errors import for_python
from shoal.metrics.extent import ColumnExtent
from shoal.metrics.measure import count_starred, starred_rows
from shoal.report.columns import ColumnFacts, ReleasedColumn, look_at_cells
from shoal.report.groups import SensitiveFacts, look_at_sensitive, with_spread
from shoal.report.words import sized
from shoal.risks.estimate import Risk, estimate
from shoal.schema import Kind, Role
from shoal.tables.sources.base import SizeCounter
from shoal.tables.table import Table
from shoal.tables.values.people import People, person_codes

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["Evidence", "Part", "Written", "gather", "risk_before"]


@dataclass(frozen=True)
class Written:
    """A released file that has passed the gate.

    Attributes:
        name: File name.
        sha256: Hash of the file.
        manifest: File name of its manifest.
        rows, groups, smallest_group: What the verifier counted in it.
        input_hash: Keyed hash of the input; None without a key.
        spell: How remedies mention settings: as keywords of Python or as options of the command line.
        one_value: By sensitive column whose rows were not in memory, those in groups that share one value of it.
    """

    name: str
    sha256: str
    manifest: str
    rows: int
    groups: int
    smallest_group: int
    input_hash: str | None = None
    spell: Callable[[str], str] = for_python
    one_value: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """The figures of one part of a report. Those of the public part follow from the release and its settings.

    Attributes:
        k: The k that is reported.
        loss: Weighted information loss of the released rows; in the public part, over the released domain.
        columns: The quasi-identifiers, those with the largest loss first.
        sizes: The size of each group; fully suppressed rows are in no group.
        sizes_in: What they count, "rows" or "persons".
        smallest: The size of the smallest group, in what k counts. The release does not show persons, so the public
            part reports k.
        risk: Risk of the released rows.
        left_out: Rows of the original that were not released; in the public part, how many may be missing.
        loss_unweighted: The same loss with equal weights.
        weighted: Whether the weights of the loss differ.
        cells_changed: Share of the quasi-identifier cells that were changed.
        exact_rows: Share of the rows that are exact in every quasi-identifier.
        extents: How wide the cells of each quasi-identifier are on average.
    """

    k: int
    loss: float
    columns: tuple[ColumnFacts, ...]
    sizes: NDArray[np.int64]
    sizes_in: str
    smallest: int
    risk: Risk
    left_out: int | str
    loss_unweighted: float
    weighted: bool
    cells_changed: float
    exact_rows: float
    extents: Mapping[str, ColumnExtent]

    @property
    def smallest_words(self) -> str:
        """The size of the smallest group in words."""
        least = "" if self.sizes_in == self.risk.counts else "at least "
        return f"{least}{sized(self.smallest, self.risk.counts)}"


@dataclass(frozen=True)
class Evidence:
    """A release with the figures of its report.

    Attributes:
        release: The release.
        written: The file it was written to.
        released: The released rows.
        sizes: Rows, or persons, of each group; fully suppressed rows are in no group.
        row_sizes: Rows of each group.
        starred: Rows that show "*" in every quasi-identifier.
        left_out: Rows of the original that were not released.
        loss: Weighted information loss of the released rows.
        columns: The quasi-identifiers, those with the largest loss first.
        sensitive: What the groups disclose about each sensitive column.
        risk: Risk of the released rows.
    """

    release: Release
    written: Written
    released: Table
    sizes: NDArray[np.int64]
    row_sizes: NDArray[np.int64]
    starred: int
    left_out: int
    loss: float
    columns: tuple[ColumnFacts, ...]
    sensitive: tuple[SensitiveFacts, ...]
    risk: Risk

    @property
    def one_value(self) -> dict[str, float | None]:
        """The share of the rows in groups with one value, by sensitive column whose rows were not in memory.

        None if it was not counted, because a model protects the column.
        """
        seen, n_rows = [facts.name for facts in self.sensitive], max(1, self.written.rows - self.starred)
        if self.release.recoding is None:
            return {}
        counts = self.written.one_value
        names = [name for name in self.release.schema.names(Role.SENSITIVE) if name not in seen]
        return {name: counts[name] / n_rows if name in counts else None for name in names}

    def part(self, *, private: bool) -> Part:
        """Return the figures of one part of the report."""
        request, figures, counts = self.release.request, self.release.public_figures, self.risk.counts
        measures = self.release.measures
        in_persons = counts == "persons"
        if private:
            smallest = self.risk.smallest_group if in_persons else self.written.smallest_group
            return Part(
                request.k,
                self.loss,
                self.columns,
                self.sizes,
                counts,
                smallest,
                self.risk,
                self.left_out,
                sum(column.loss for column in self.columns) / len(self.columns),
                measures.weighted,
                measures.modification_rate,
                measures.exact_rows,
                measures.columns,
            )
        smallest = figures.k if in_persons else self.written.smallest_group
        # Nobody can count persons in the release, so the public risk is that of groups of k persons.
        risk = estimate(np.full(len(self.sizes), figures.k), counts=counts) if in_persons else self.risk
        columns = _public_columns(self.release)
        return Part(
            figures.k,
            figures.loss,
            columns,
            self.row_sizes,
            "rows",
            smallest,
            risk,
            figures.suppressed,
            figures.loss_unweighted,
            figures.weighted,
            figures.cells_changed,
            figures.exact_rows,
            {column.name: column.extent for column in figures.columns},
        )


def gather(release: Release, written: Written) -> Evidence:
    """Compute the figures of a release that was written."""
    names = [column.name for column in release.schema.qi]
    released, counted = with_spread(release.table, names, release.spread)
    hidden = starred_rows(released, names)
    starred = count_starred(released, names)
    grouped = _part(released, ~hidden)
    if release.joint is None:
        sizes = _count(release, grouped, release.source_rows[~hidden], counted)
        row_sizes = grouped.group_sizes(counted) if grouped.height else sizes
    else:
        row_sizes, people = release.joint.sizes.each(), release.joint.sizes.people
        sizes = row_sizes if people is None else people
        starred = release.joint.starred
    left_out = release.original.n_rows - release.measures.rows
    columns, loss = _columns(release, released, left_out)
    sensitive = [name for name in release.schema.names(Role.SENSITIVE) if name in released.names]
    return Evidence(
        release,
        written,
        released,
        sizes,
        row_sizes,
        starred,
        left_out,
        loss,
        columns,
        tuple(look_at_sensitive(grouped, counted, sensitive, release.public_figures.k)),
        estimate(sizes, suppressed_rows=starred, counts=_counts(release)),
    )


def _counts(release: Release) -> str:
    return "persons" if release.schema.names(Role.PERSON) else "rows"


def risk_before(release: Release) -> Risk:
    """Return the risk of the original, with its groups counted like those of the release."""
    original, names = release.original, [column.name for column in release.schema.qi]
    if release.joint is not None and isinstance(release.source, SizeCounter):
        person = next((People(name, release.schema.missing) for name in release.schema.names(Role.PERSON)), None)
        return estimate(np.repeat(*release.source.count_sizes(names, person)), counts=_counts(release))
    return estimate(_count(release, original, np.arange(original.height), names), counts=_counts(release))


def _part(table: Table, selected: NDArray[np.bool_]) -> Table:
    """Return the selected rows of a table."""
    if selected.all():
        return table
    return Table(table.frame.filter(selected), weights=None if table.weights is None else table.weights[selected])


def _count(release: Release, table: Table, source: NDArray[np.int64], names: list[str]) -> NDArray[np.int64]:
    """Count the rows, or the persons, of each group; `source` gives the row of the original behind each row."""
    if not table.height:
        return np.zeros(0, dtype=np.int64)
    for person in release.schema.names(Role.PERSON):
        ids = release.original.factor(person)
        people = person_codes(ids.texts, release.schema.missing)[ids.ranks[source]]
        pairs = np.unique(np.column_stack([table.group_labels(names), people]), axis=0)
        return np.bincount(pairs[:, 0]).astype(np.int64)
    return table.group_sizes(names)


def _columns(release: Release, released: Table, left_out: int) -> tuple[tuple[ColumnFacts, ...], float]:
    """Return the facts of each quasi-identifier, largest loss first, and the loss of the released rows.

    `Measures` count a suppressed row as lost in every column. These figures ignore suppressed rows.
    """
    settings, schema, measures = release.settings, release.schema, release.measures
    weights = {name: float(weight) for name, weight in release.request.weights.items()}
    n_rows, n_kept = release.original.n_rows, measures.rows
    losses = {
        name: max(0.0, round((loss * n_rows - left_out) / n_kept, 12)) for name, loss in measures.per_attribute.items()
    }
    rules = [rule.column for rule in settings.data_rules()]
    weighted = {name: loss * weights.get(name, 1.0) for name, loss in losses.items()}
    total = sum(weighted.values())
    facts = [
        ColumnFacts(
            column.name,
            column.kind or Kind.CATEGORICAL,
            share=weighted[column.name] / total if total else 0.0,
            loss=losses[column.name],
            distinct=len(release.original.factor(column.name).texts),
            cells=look_at_cells(ReleasedColumn.of(release, released, column)),
            weight=weights.get(column.name, 1.0),
            rules=rules.count(column.name),
            labelled=column.name in release.labels,
            level=_level(release.levels, column.name),
        )
        for column in schema.qi
    ]
    mean = total / sum(weights.get(name, 1.0) for name in losses)
    return tuple(sorted(facts, key=lambda column: -column.share)), mean


def _public_columns(release: Release) -> tuple[ColumnFacts, ...]:
    """Return what may be published about each quasi-identifier, largest loss first."""
    figures = release.public_figures
    weighted = {column.name: column.loss * figures.weights.get(column.name, 1.0) for column in figures.columns}
    total = sum(weighted.values())
    rules = [rule.column for rule in release.settings.data_rules()]
    facts = [
        ColumnFacts(
            column.name,
            column.kind,
            share=weighted[column.name] / total if total else 0.0,
            loss=column.loss,
            cells=column.forms,
            weight=figures.weights.get(column.name, 1.0),
            rules=rules.count(column.name),
            labelled=column.name in release.settings.labelled,
        )
        for column in figures.columns
    ]
    return tuple(sorted(facts, key=lambda column: -column.share))


def _level(levels: Mapping[str, int] | None, name: str) -> int | None:
    return None if levels is None else levels.get(name)
