"""What happened to each quasi-identifier: the width of its cells, its share of the loss, and the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.metrics.extent import vanished_values
from shoal.metrics.released_cells import CategoryReader, numbers_of, rare_labels
from shoal.report.public import BASIS, CellForms, cell_forms
from shoal.report.words import percent, width_words
from shoal.schema import Column, Kind
from shoal.tables.table import Table

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["ColumnFacts", "ReleasedColumn", "centers_json", "look_at_cells", "why_words"]

STAR = "*"


@dataclass(frozen=True)
class ColumnFacts:
    """A quasi-identifier and its loss over the released rows.

    Attributes:
        name: Name of the column.
        kind: Kind of the column.
        share: Its share of the loss of all columns.
        loss: Its own loss.
        cells: What its released cells look like.
        distinct: Distinct values in the original; None in the public part.
        weight: Its weight in the search; 1 in the public part if it was derived from the original.
        rules: Number of data constraint rules about it.
        labelled: Whether a hierarchy labels its cells.
        level: Its level in a full-domain release; None in the public part.
    """

    name: str
    kind: Kind
    share: float
    loss: float
    cells: CellForms
    distinct: int | None = None
    weight: float = 1.0
    rules: int = 0
    labelled: bool = False
    level: int | None = None


@dataclass(frozen=True)
class ReleasedColumn:
    """A quasi-identifier before and after the release.

    Attributes:
        column: The quasi-identifier.
        original: The original rows.
        released: The released rows.
        ends: For numbers and dates, the smallest and the largest value behind each cell.
        under: The values below each label of the hierarchy, and those behind the label of rare values.
        missing: Markers of missing values.
    """

    column: Column
    original: Table
    released: Table
    ends: Mapping[str, tuple[str, str]]
    under: Mapping[str, frozenset[str]]
    missing: Sequence[str]

    @classmethod
    def of(cls, release: Release, released: Table, column: Column) -> ReleasedColumn:
        """Return a column of a release."""
        ends, under = release.ends.get(column.name, {}), release.labels.get(column.name, {})
        original, missing = release.original, release.schema.missing
        counts = dict(zip(original.factor(column.name).texts.to_list(), original.counts(column.name), strict=True))
        under = {**under, **rare_labels(column, counts, missing)} if column.codings else under
        return cls(column, original, released, ends, under, missing)


def look_at_cells(both: ReleasedColumn) -> CellForms:
    """Measure the released cells of a column, weighted by their rows."""
    column, missing = both.column, both.missing
    texts = both.released.factor(column.name).texts.to_list()
    rows = both.released.counts(column.name)
    starred = np.array([text == STAR for text in texts], dtype=bool)
    if column.kind is None or not column.kind.is_measured:
        values = both.original.factor(column.name).texts.to_list()
        domain = frozenset("" if text in missing else text for text in values)
        reader = CategoryReader(domain, frozenset(missing), both.under)
        widths = np.array([1.0 if t in domain or t == STAR or not t else len(reader.members(t)) for t in texts])
        exact = (widths == 1) & ~starred
    else:
        cells = [text for text, star in zip(texts, starred.tolist(), strict=True) if not star and text not in missing]
        pairs = [_ends(text, both) for text in cells]
        lows, highs = (numbers_of(column, list(side))[0] for side in zip(*pairs, strict=True)) if pairs else ([], [])
        width_of = {t: float(high) - float(low) for t, low, high in zip(cells, lows, highs, strict=True)}
        widths = np.array([width_of.get(text, 0.0) for text in texts])
        exact = (widths == 0) & ~starred
    return cell_forms(exact, starred, np.where(starred | exact, 0.0, widths), rows)


def _ends(text: str, both: ReleasedColumn) -> tuple[str, str]:
    """Return the smallest and the largest value behind a cell; for a label, among the original values below it."""
    ends, under = both.ends, both.under
    if text not in under or ends.get(text, (text, text)) != (text, text):
        return ends.get(text, (text, text))
    below = sorted(under[text])
    numbers, misfits = numbers_of(both.column, below)
    readable = [number for i, number in enumerate(numbers) if i not in set(misfits)]
    texts = [value for i, value in enumerate(below) if i not in set(misfits)]
    if not readable:
        return text, text
    order = sorted(range(len(readable)), key=readable.__getitem__)
    return texts[order[0]], texts[order[-1]]


def centers_json(release: Release, released: Table, *, private: bool) -> dict[str, Any] | None:
    """Return what the centres of groups keep of each column; None if cells are not centres.

    How they differ from the original, and which values they no longer show, is private.
    """
    if not release.request.has_centers:
        return None
    columns = []
    for column in release.schema.qi if private else ():
        figures = release.measures.centers[column.name]
        vanished = vanished_values(release.original, released, column, release.schema.missing)
        names = None if figures.vanished is None else vanished
        columns.append({"column": column.name, **asdict(figures), "vanished": names})
    return {"choice": release.request.center, "spread": release.request.spread, "columns": columns}


def why_words(facts: ColumnFacts, others: Sequence[ColumnFacts], *, centers: bool = False) -> str:
    """Explain why a column is as coarse as it is.

    Args:
        facts: The column.
        others: All quasi-identifiers.
        centers: Whether its cells are the centres of groups; the loss is that of the values of these.
    """
    cells = facts.cells
    if centers:
        n_values = f" It has {facts.distinct:,} distinct values." if facts.distinct is not None else ""
        loss = (
            f"Its values lost {percent(facts.loss)} of their detail, {percent(facts.share)} of the loss of the groups."
        )
        return " ".join([f"{loss}{n_values}", *_reasons(facts, others)])
    if facts.loss == 0 and cells.starred == 0:
        return "No loss: every released row shows its exact value."
    weighted = "weighted " * (len({other.weight for other in others}) > 1)
    basis = f" {BASIS}" if facts.distinct is None else ""
    sentences = [f"It causes {percent(facts.share)} of the {weighted}loss{basis}."]
    if facts.distinct is not None:
        sentences.append(f"It has {facts.distinct:,} distinct values.")
    share = percent(cells.exact)
    if cells.exact + cells.starred >= 1:
        exact = f"{share[0].upper()}{share[1:]} of the rows show a single value"
        sentences.append(exact if cells.exact else "No row shows a single value")
    elif cells.exact:
        sentences.append(f"{share[0].upper()}{share[1:]} of the rows show a single value; others show {_wide(facts)}")
    else:
        sentences.append(f"The rows show {_wide(facts)}")
    if cells.starred:
        sentences[-1] += f"; {percent(cells.starred)} show '*'"
    sentences[-1] += "."
    sentences.extend(_reasons(facts, others))
    return " ".join(sentences)


def _wide(facts: ColumnFacts) -> str:
    """Describe the cells that show more than one value."""
    cells = facts.cells
    if not cells.mean:
        return "labels of its hierarchy"
    if not facts.kind.is_measured:
        form = "labels of its hierarchy" if facts.labelled else "sets"
        return f"{form} of {cells.mean:.2g} values on average (median {cells.median:.2g})"
    form = "intervals of its hierarchy" if facts.labelled else "ranges"
    mean, median = (width_words(width, dates=facts.kind is Kind.DATE) for width in (cells.mean, cells.median))
    return f"{form} that span {mean} on average (median {median})"


def _reasons(facts: ColumnFacts, others: Sequence[ColumnFacts]) -> list[str]:
    reasons = []
    if facts.level is not None:
        reasons.append(f"All its cells have one level of the hierarchy: {facts.level}.")
    elif len(others) > 1 and (facts.distinct or 0) > max(other.distinct or 0 for other in others if other is not facts):
        reasons.append("It has the most values of all columns: the more values, the fewer rows agree.")
    mean = sum(other.weight for other in others) / len(others)
    if facts.weight != 1 and facts.weight > mean:
        reasons.append(
            f"Its weight of {facts.weight:.3g} is above the mean: its loss counted more than that of the others."
        )
    elif facts.weight != 1 and facts.weight < mean:
        reasons.append(
            f"Its weight of {facts.weight:.3g} is below the mean: its loss counted less than that of the others."
        )
    if facts.rules:
        reasons.append(f"{facts.rules} rule{'s concern' if facts.rules > 1 else ' concerns'} it; see the rules below.")
    return reasons
