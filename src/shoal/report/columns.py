"""What became of each quasi-identifier: how wide its cells are, what it takes of the loss, and why, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.released_cells import CategoryReader, numbers_of
from shoal.report.words import percent, width_words
from shoal.schema import Column, Kind
from shoal.tables.table import Table

__all__ = ["CellForms", "ColumnFacts", "look_at_cells", "why_words"]

STAR = "*"


@dataclass(frozen=True)
class CellForms:
    """What the released cells of a column look like, in shares of the released rows.

    exact: they show one value. starred: they show nothing. mean, median: of the widths of all other cells: of numbers
    and dates (in seconds) from the least to the greatest value, of categories the number of values they stand for.
    """

    exact: float
    starred: float
    mean: float
    median: float


@dataclass(frozen=True)
class ColumnFacts:
    """A quasi-identifier: its kind, its share of the loss and its own loss, over the released rows.

    distinct: values in the original. level, height: of a full-domain release, its level and the highest one.
    """

    name: str
    kind: Kind
    share: float
    loss: float
    distinct: int
    cells: CellForms
    weight: float = 1.0
    rules: int = 0
    labelled: bool = False
    level: int | None = None


def look_at_cells(
    column: Column,
    released: Table,
    original: Table,
    ends: Mapping[str, tuple[str, str]],
    under: Mapping[str, frozenset[str]],
    missing: Sequence[str],
) -> CellForms:
    """Measure the released cells of a column, each as often as it stands in the release.

    ends: of numbers and dates, the least and the greatest value behind each cell. under: the values below each label.
    """
    texts = released.factor(column.name).texts.to_list()
    rows = released.counts(column.name)
    starred = np.array([text == STAR for text in texts], dtype=bool)
    if column.kind is Kind.CATEGORICAL:
        values = original.factor(column.name).texts.to_list()
        domain = frozenset("" if text in missing else text for text in values)
        reader = CategoryReader(domain, frozenset(missing), under)
        widths = np.array([1.0 if t in domain or t == STAR or not t else len(reader.members(t)) for t in texts])
        exact = (widths == 1) & ~starred
    else:
        known = [text for text, star in zip(texts, starred.tolist(), strict=True) if not star and text not in missing]
        pairs = [_ends(text, ends, under, column) for text in known]
        lows, highs = (numbers_of(column, list(side))[0] for side in zip(*pairs, strict=True)) if pairs else ([], [])
        wide = {t: float(high) - float(low) for t, low, high in zip(known, lows, highs, strict=True)}
        widths = np.array([wide.get(text, 0.0) for text in texts])
        exact = (widths == 0) & ~starred
    total, shown = int(rows.sum()), rows * ~(starred | exact)
    return CellForms(
        exact=int(rows[exact].sum()) / total,
        starred=int(rows[starred].sum()) / total,
        mean=float((widths * shown).sum() / shown.sum()) if shown.any() else 0.0,
        median=_median(widths, shown),
    )


def _ends(
    text: str, ends: Mapping[str, tuple[str, str]], under: Mapping[str, frozenset[str]], column: Column
) -> tuple[str, str]:
    """Return the least and the greatest value behind a cell; of a label, those of the original below it."""
    if text not in under or ends.get(text, (text, text)) != (text, text):
        return ends.get(text, (text, text))
    below = sorted(under[text])
    numbers, misfits = numbers_of(column, below)
    known = [number for i, number in enumerate(numbers) if i not in set(misfits)]
    texts = [value for i, value in enumerate(below) if i not in set(misfits)]
    if not known:
        return text, text
    order = sorted(range(len(known)), key=known.__getitem__)
    return texts[order[0]], texts[order[-1]]


def _median(widths: NDArray[np.float64], rows: NDArray[np.int64]) -> float:
    if not rows.any():
        return 0.0
    order = np.argsort(widths, kind="stable")
    upto = np.cumsum(rows[order])
    return float(widths[order][np.searchsorted(upto, (upto[-1] + 1) // 2)])


def why_words(facts: ColumnFacts, others: Sequence[ColumnFacts], *, source: bool) -> str:
    """Say why a column became as coarse as it is; source: figures of the original may be named."""
    cells = facts.cells
    if facts.loss == 0 and cells.starred == 0:
        return "It takes none of the loss: every released row shows its exact value."
    said = [f"It takes {percent(facts.share)} of the loss."]
    if source:
        said.append(f"It has {facts.distinct:,} distinct values.")
    share = percent(cells.exact)
    shown = f"{share[0].upper()}{share[1:]} of the rows show a single value"
    said.append(shown if cells.exact else "No row shows a single value")
    if cells.exact + cells.starred < 1:
        said[-1] += f"; {_shown_words(facts)}"
    if cells.starred:
        said[-1] += f"; {percent(cells.starred)} show '*'"
    said[-1] += "."
    said.extend(_reasons(facts, others, source=source))
    return " ".join(said)


def _shown_words(facts: ColumnFacts) -> str:
    """Say what cells look like that show more than one value."""
    cells = facts.cells
    if facts.kind is Kind.CATEGORICAL:
        form = "labels of its hierarchy" if facts.labelled else "sets"
        return f"the others show {form} that stand for {cells.mean:.2g} values on average (median {cells.median:.2g})"
    form = "intervals of its hierarchy" if facts.labelled else "ranges"
    mean, median = (width_words(width, dates=facts.kind is Kind.DATE) for width in (cells.mean, cells.median))
    return f"the others show {form} that span {mean} on average (median {median})"


def _reasons(facts: ColumnFacts, others: Sequence[ColumnFacts], *, source: bool) -> list[str]:
    said = []
    if facts.level is not None:
        said.append(f"One level holds for the whole column: {facts.level} above the values.")
    elif source and len(others) > 1 and facts.distinct > max(o.distinct for o in others if o is not facts):
        said.append("No other column has so many values: the more there are, the fewer rows agree.")
    mean = sum(other.weight for other in others) / len(others)
    if facts.weight != 1 and facts.weight > mean:
        said.append(f"Its weight of {facts.weight:.3g} is above the mean: its loss counted more than the others'.")
    elif facts.weight != 1 and facts.weight < mean:
        said.append(f"Its weight of {facts.weight:.3g} is below the mean: its loss counted less than the others'.")
    if facts.rules:
        said.append(f"{facts.rules} rule{'s speak' if facts.rules > 1 else ' speaks'} of it: see the rules below.")
    return said
