"""The figures that may be published: they follow from the release and its settings, so they reveal nothing more.

Two originals that give the same release with the same settings give the same figures. Figures are counts of the
released file, which are exact, or have two significant digits. Nothing here may use the original rows, the measures
against the original, or anything derived from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.extent import DAY, ColumnExtent, GroupSizes, mean_over_rows, unit_of
from shoal.metrics.measure import count_rows, count_starred
from shoal.metrics.released_cells import CategoryReader
from shoal.metrics.released_loss import read_shown, shown_values
from shoal.report.words import HIDDEN, rounded
from shoal.rules import Rule
from shoal.schema import Column, Kind
from shoal.settings.settings import AUTO
from shoal.tables import values
from shoal.tables.sources.base import Dealing
from shoal.tables.values.forms import find_form

if TYPE_CHECKING:
    import polars as pl

    from shoal.release.release import Release

__all__ = [
    "BASIS",
    "CellForms",
    "JointFigures",
    "PublicColumn",
    "PublicFigures",
    "cell_forms",
    "extent_json",
    "public_column",
    "public_figures",
    "public_rule_row",
    "public_rules",
    "public_specs",
]

BASIS = "over the released domain"


@dataclass(frozen=True)
class CellForms:
    """What the released cells of a column look like.

    Attributes:
        exact: Share of the released rows whose cell shows one value.
        starred: Share of the released rows whose cell shows "*".
        mean, median: Width of all other cells: for numbers and dates (in seconds) the distance from the smallest to the
            largest value behind a cell, for categories the number of values behind it.
    """

    exact: float
    starred: float
    mean: float
    median: float


@dataclass(frozen=True)
class PublicColumn:
    """A quasi-identifier as the release shows it.

    Attributes:
        name: Its name.
        kind: The kind of its cells: as declared, else as detected.
        loss: The mean loss of its cells over the released domain.
        distinct: The number of its distinct cells.
        forms: What its cells look like.
        extent: How wide its cells are on average; values for categories, the width for numbers and dates.
        form: The column, with how its values are written; an order names only the values that the release shows.
    """

    name: str
    kind: Kind
    loss: float
    distinct: int
    forms: CellForms
    extent: ColumnExtent
    form: Column | None = None


class JointFigures(NamedTuple):
    """Figures of released rows that the counts of single columns do not show.

    Attributes:
        exact: The rows that show one value in every quasi-identifier.
        starred: Those that show "*" in every one.
        sizes: The sizes of groups.
        columns: The quasi-identifiers, if they are known already.
    """

    exact: int
    starred: int
    sizes: GroupSizes
    columns: tuple[PublicColumn, ...] = ()


@dataclass(frozen=True)
class PublicFigures:
    """What may be published about a release.

    Attributes:
        k: The size of the smallest group that the settings ask for; that of the release if only rows ask for one.
        rows, groups, smallest_group: Counts of the released file.
        starred: Number of rows that show "*" in every quasi-identifier.
        suppressed: How many rows may have been left out: 0, "<k" or an upper limit such as "<=40".
        weights: The weights of quasi-identifiers that the user gave.
        derived_weights: Whether the weights were derived from the original; they are not published.
        columns: The quasi-identifiers.
        exact_rows: Share of the released rows that show one value in every quasi-identifier.
        centers: Whether cells are the centres of groups. What they lost does not follow from them: every loss is 0, and
            no row is exact.
    """

    k: int
    rows: int
    groups: int
    smallest_group: int
    starred: int
    suppressed: int | str
    weights: Mapping[str, float]
    derived_weights: bool
    columns: tuple[PublicColumn, ...]
    exact_rows: float
    centers: bool = False

    @property
    def weighted(self) -> bool:
        """Whether the weights of the published loss differ."""
        return len({self.weights.get(column.name, 1.0) for column in self.columns}) > 1

    @property
    def loss_unweighted(self) -> float:
        """The mean loss of the released rows over the released domain, with equal weights."""
        return sum(column.loss for column in self.columns) / len(self.columns)

    @property
    def cells_changed(self) -> float:
        """The share of the quasi-identifier cells that show more than one value."""
        return sum(1 - column.forms.exact for column in self.columns) / len(self.columns)

    @property
    def loss(self) -> float:
        """The weighted mean loss of the released rows over the released domain."""
        weights = [self.weights.get(column.name, 1.0) for column in self.columns]
        weighted = sum(column.loss * weight for column, weight in zip(self.columns, weights, strict=True))
        return weighted / sum(weights)

    @property
    def published_weights(self) -> dict[str, float] | str:
        """The weights as they may be published: "auto" if they were derived from the original."""
        return AUTO if self.derived_weights else dict(self.weights)

    def measures(self) -> dict[str, Any]:
        """Return the measures of the manifest."""
        n_hidden = self.starred if self.starred < self.k else 0
        n_groups = self.groups - (n_hidden > 0)
        c_avg = (self.rows - n_hidden) / n_groups / self.k if n_groups else 0.0
        counts = {"rows": self.rows, "groups": self.groups, "smallest_group": self.smallest_group}
        if self.centers:
            return counts | {"c_avg": rounded(c_avg)}
        return counts | {
            "basis": BASIS,
            "ncp": rounded(self.loss),
            "ncp_unweighted": rounded(self.loss_unweighted),
            "weighted": self.weighted,
            "utility": rounded(1 - self.loss),
            "c_avg": rounded(c_avg),
            "modification_rate": rounded(self.cells_changed),
            "exact_rows": rounded(self.exact_rows),
            "per_attribute": {column.name: rounded(column.loss) for column in self.columns},
            "columns": {column.name: extent_json(column.extent) for column in self.columns},
        }


def public_figures(release: Release) -> PublicFigures:
    """Return what may be published about a release."""
    settings, request, measures = release.settings, release.request, release.measures
    names = [column.name for column in release.schema.qi]
    k = request.common_k if request.common_k > 1 else measures.smallest_group
    derived = settings.weights == AUTO
    joint = release.joint
    columns, exact = list(joint.columns if joint else ()), np.ones(release.table.height, dtype=bool)
    for column in () if columns else release.schema.qi:
        public, shows_one = public_column(release, column)
        columns.append(public)
        exact &= shows_one[release.table.factor(column.name).ranks]
    n_exact, n_starred = (count_rows(exact, release.table), count_starred(release.table, names))
    if joint is not None:
        n_exact, n_starred = joint.exact, joint.starred
    return PublicFigures(
        k=k,
        rows=measures.rows,
        groups=measures.groups,
        smallest_group=measures.smallest_group,
        starred=n_starred,
        suppressed=_most_suppressed(measures.rows, request.suppression_limit, k),
        weights={} if derived else {name: float(weight) for name, weight in request.weights.items()},
        derived_weights=derived,
        columns=tuple(columns),
        exact_rows=0.0 if request.has_centers else n_exact / measures.rows,
        centers=request.has_centers,
    )


def extent_json(extent: ColumnExtent) -> dict[str, Any]:
    """Return how wide the cells of a column are, as it may be published."""
    means = {name: each if each is None else rounded(each) for name, each in asdict(extent).items() if name != "unit"}
    return means | {"unit": extent.unit}


def public_rules(release: Release) -> list[Rule]:
    """Return the rules that were asked for. Whether they are kept is not published, and neither are their values."""
    return [rule for rule in release.settings.data_rules() if rule.base is None]


def public_rule_row(rule: Rule) -> dict[str, Any]:
    """Return a rule as a row of the public part: without its values, and without the rows that break it.

    Which groups mix values depends on the original. Only a ban is known to be kept, because every release keeps it.
    """
    return {
        "rule": rule.public_text,
        "importance": float(rule.importance),
        "kept": True if rule.ban else None,
        "broken_rows": 0 if rule.ban else None,
    }


def _texts_of(release: Release, name: str) -> pl.Series:
    """Return the distinct cells of a column, not those of rows left out."""
    if name in release.table.names:
        return release.table.factor(name).texts.filter(release.table.counts(name) > 0)
    assert isinstance(release.recoding, Dealing)  # the table has quasi-identifiers only, and no row is left out
    return release.recoding.codes[name][0]


def public_specs(release: Release) -> list[dict[str, Any]]:
    """Return the models as plain values; an order of values names only those that the release shows."""
    specs = []
    for spec in map(dict, release.request.specs):
        if "order" in spec:
            name = str(spec["column"])
            texts = _texts_of(release, name)
            shown = set(map(values.normalise, texts.to_list()))
            spec["order"] = [value for value in spec["order"] if values.normalise(value) in shown]
        specs.append(spec)
    return specs


def _most_suppressed(rows: int, limit: Fraction, k: int) -> int | str:
    """Return how many rows the limit allows to be missing beside the released ones; their number is not published."""
    if limit == 0:
        return 0
    if limit == 1:
        return "not limited"
    most = int(rows * limit / (1 - limit))
    return HIDDEN if most < k else f"<={most}"


def public_column(release: Release, column: Column) -> tuple[PublicColumn, NDArray[np.bool_]]:
    """Return what may be published about a column, and for each distinct text whether it shows one value."""
    rows = release.table.counts(column.name)
    shown = np.flatnonzero(rows)
    texts, rows = release.table.factor(column.name).texts.gather(shown).to_list(), rows[shown]
    missing = release.schema.missing
    column = _shown_form(release, column, texts)
    if release.request.has_centers:
        extent = ColumnExtent(None, None, unit_of(column, texts))
        none = CellForms(0.0, 0.0, 0.0, 0.0)
        kind = column.kind or Kind.CATEGORICAL
        public = PublicColumn(column.name, kind, 0.0, len(texts), none, extent, column)
        return public, np.zeros(len(release.table.factor(column.name).texts), dtype=bool)
    labels = release.label_losses.get(column.name, {})
    cells = read_shown(column, texts, missing, release.ends.get(column.name, {}), labels)
    loss = sum(cell.loss * count for cell, count in zip(cells, rows.tolist(), strict=True)) / int(rows.sum())
    exact, starred = (np.array([getattr(cell, name) for cell in cells]) for name in ("exact", "starred"))
    forms = cell_forms(exact, starred, np.array([cell.width for cell in cells]), rows)
    values_of = shown_values(texts, missing, labels) - frozenset(missing)
    extent = _extent(column, [cell.extent for cell in cells], rows, unit_of(column, values_of))
    shows_one = np.zeros(len(release.table.factor(column.name).texts), dtype=bool)
    shows_one[shown] = exact
    return PublicColumn(
        column.name, column.kind or Kind.CATEGORICAL, loss, len(texts), forms, extent, column
    ), shows_one


def _extent(column: Column, extents: Sequence[float | None], rows: NDArray[np.int64], unit: str) -> ColumnExtent:
    """Return the mean over the released rows; it is not known if a cell is a label."""
    known = [extent for extent in extents if extent is not None]
    mean = mean_over_rows(np.array(known), rows) if len(known) == len(extents) else None
    if column.kind is None or not column.kind.is_measured:
        return ColumnExtent(mean, None, unit)
    return ColumnExtent(None, mean / DAY if mean is not None and column.kind is Kind.DATE else mean, unit)


def _shown_form(release: Release, column: Column, texts: Sequence[str]) -> Column:
    """Return a column with its declared kind, else the detected one, as if from its released cells.

    A table that is released as it is was not examined for kinds, but its cells are those of the original. An order
    names only the values that the release shows.
    """
    if column.kind in (None, Kind.CATEGORICAL):
        known = list(map(values.normalise, (text for text in texts if text not in release.schema.missing)))
        declared = release.settings.reading.column(column.name, column.role)
        column = find_form(declared, list(dict.fromkeys(known))).certain
    if column.kind is Kind.ORDERED:
        reader = CategoryReader(frozenset(), frozenset(), {})
        shown = {member for text in texts if text for member in (reader.members(text) if text[0] == "{" else {text})}
        column = replace(column, order=tuple(value for value in column.order if value in shown))
    return column


def cell_forms(
    exact: NDArray[np.bool_], starred: NDArray[np.bool_], widths: NDArray[np.float64], rows: NDArray[np.int64]
) -> CellForms:
    """Return what the cells of a column look like.

    Args:
        exact: For each distinct cell, whether it shows one value.
        starred: Whether it shows "*".
        widths: Its width; 0 for a cell that has none.
        rows: The number of its rows.
    """
    coarse, total = rows * (widths > 0), int(rows.sum())
    return CellForms(
        exact=int(rows[exact].sum()) / total,
        starred=int(rows[starred].sum()) / total,
        mean=mean_over_rows(widths, coarse) if coarse.any() else 0.0,
        median=_median(widths, coarse),
    )


def _median(widths: NDArray[np.float64], rows: NDArray[np.int64]) -> float:
    if not rows.any():
        return 0.0
    order = np.argsort(widths, kind="stable")
    upto = np.cumsum(rows[order])
    return float(widths[order][np.searchsorted(upto, (upto[-1] + 1) // 2)])
