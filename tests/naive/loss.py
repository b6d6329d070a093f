"""What a release lost, from rows of original and released texts that stand side by side; every number is exact.

A released row is None where the row was left out. NCP: Xu et al. 2006, as in [S0 section 2.6] and [S3 eq. 1-3].
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.naive.cells import SUPPRESSED, bounds, members, number, plain, seconds

Row = Sequence[str]


@dataclass(frozen=True)
class Attribute:
    """kind: numeric, categorical or date; domain: (least, greatest) in place of the original's own, or the values."""

    kind: str
    weight: Fraction = Fraction(1)
    domain: tuple[str, ...] | None = None
    missing: Collection[str] = ("",)
    date_format: str = "%Y-%m-%d"

    def measure(self, text: str) -> Fraction:
        return number(text) if self.kind == "numeric" else seconds(text, self.date_format)


def ncp_cell(before: str, after: str, attribute: Attribute, column: Sequence[str]) -> Fraction:
    """NCP of one cell; column: all original cells of the attribute."""
    if attribute.kind == "categorical":
        return _ncp_of_category(before, after, attribute, column)
    if after in attribute.missing:
        return Fraction(plain(before) not in attribute.missing)  # as it was, or suppressed
    if after == SUPPRESSED:
        return Fraction(1)
    given = attribute.domain or [text for text in map(plain, column) if text not in attribute.missing]
    numbers = [attribute.measure(text) for text in given]
    whole = max(numbers) - min(numbers)
    for low, high in bounds(after):
        try:
            ends = [attribute.measure(low), attribute.measure(high)]
        except ValueError:
            continue
        unit = Fraction(1 if attribute.kind == "numeric" else 86400)
        if after.endswith(")") and all(each % unit == 0 for each in numbers):  # the end itself does not belong to it
            ends[1] -= unit
        width = min(ends[1], max(numbers)) - max(ends[0], min(numbers))
        return width / whole if whole else Fraction(0)
    attribute.measure(after)  # a value, or a ValueError
    return Fraction(0)


def _ncp_of_category(before: str, after: str, attribute: Attribute, column: Sequence[str]) -> Fraction:
    domain = {"" if text in attribute.missing else text for text in map(plain, attribute.domain or column)}
    inside = members(after)
    if inside is not None and len(inside) > 1:
        return Fraction(len(inside), len(domain))
    if after in attribute.missing:
        return Fraction(plain(before) not in attribute.missing)
    return Fraction(after == SUPPRESSED and SUPPRESSED not in domain)


def ncp_row(before: Row, after: Row | None, attributes: Sequence[Attribute], original: Sequence[Row]) -> Fraction:
    """NCP of one row: the weighted sum over its cells; a row that is left out loses all."""
    total = Fraction(0)
    for i, attribute in enumerate(attributes):
        column = [row[i] for row in original]
        loss = Fraction(1) if after is None else ncp_cell(before[i], after[i], attribute, column)
        total += attribute.weight * loss
    return total


def ncp(original: Sequence[Row], released: Sequence[Row | None], attributes: Sequence[Attribute]) -> Fraction:
    """NCP of the table, in [0, 1]."""
    pairs = zip(original, released, strict=True)
    total = sum((ncp_row(before, after, attributes, original) for before, after in pairs), Fraction(0))
    return total / (len(original) * sum(attribute.weight for attribute in attributes))


def group_sizes(released: Sequence[Row | None], k: int) -> Counter[tuple[str, ...]]:
    """Rows of each group, by its released cells; fewer than k fully suppressed rows form no group."""
    sizes = Counter(tuple(row) for row in released if row is not None)
    return Counter({row: n for row, n in sizes.items() if n >= k or any(cell != SUPPRESSED for cell in row)})


def discernibility(released: Sequence[Row | None], k: int) -> int:
    """DM: each row of a group of k or more costs the size of its group, every other row the size of the table."""
    sizes = group_sizes(released, k)
    costs = []
    for row in released:
        size = 0 if row is None else sizes[tuple(row)]
        costs.append(size if size >= k else len(released))
    return sum(costs)


def average_group(released: Sequence[Row | None], k: int) -> Fraction:
    """C_AVG: the mean size of the groups over k; 0 where there is no group."""
    sizes = group_sizes(released, k)
    return Fraction(sum(sizes.values()), len(sizes) * k) if sizes else Fraction(0)


def modification_rate(
    original: Sequence[Row], released: Sequence[Row | None], missing: Collection[str] = ("",)
) -> Fraction:
    """Share of the cells that are not what they were [S2 section 3]; all cells of a row left out are changed."""
    changed = cells = 0
    for before, after in zip(original, released, strict=True):
        cells += len(before)
        for i, text in enumerate(before):
            same = after is not None and (after[i] == plain(text) or (after[i] in missing and plain(text) in missing))
            changed += not same
    return Fraction(changed, cells)


def exact_rows(original: Sequence[Row], released: Sequence[Row | None], attributes: Sequence[Attribute]) -> Fraction:
    """Share of the rows of which no cell was changed; a row left out is none of them."""
    columns = list(zip(*original, strict=True))
    exact = 0
    for before, after in zip(original, released, strict=True):
        cells = () if after is None else zip(before, after, attributes, columns, strict=True)
        exact += after is not None and not any(is_changed(*cell) for cell in cells)
    return Fraction(exact, len(original))


def mean_values(after: Sequence[str | None], attribute: Attribute, column: Sequence[str]) -> Fraction:
    """Mean number of distinct values that a cell of a column covers: one, or those inside; all for a row left out."""
    total = 0
    for before, text in zip(column, after, strict=True):
        if not is_changed(before, text, attribute, column):
            total += 1
            continue
        covered = inside(SUPPRESSED if text is None else text, attribute, column)
        if attribute.kind == "categorical":
            total += max(1, len(set(covered)))
        else:
            total += max(1, len({value and attribute.measure(value) for value in covered}))
    return Fraction(total, len(column))


def mean_width(after: Sequence[str | None], attribute: Attribute, column: Sequence[str]) -> Fraction:
    """Mean width of the cells of a column of numbers or dates (in seconds): 0 for a value, the whole for a star."""
    numbers = [attribute.measure(plain(text)) for text in column if plain(text) not in attribute.missing]
    whole = max(numbers) - min(numbers) if numbers else Fraction(0)
    total = Fraction(0)
    for before, text in zip(column, after, strict=True):
        share = Fraction(1) if text is None else ncp_cell(before, text, attribute, column)
        total += share * whole
    return total / len(column)


def inside(after: str, attribute: Attribute, column: Sequence[str]) -> list[str]:
    """The cells of the original column, missing ones as the empty text, that a changed cell stands for."""
    known = ["" if plain(text) in attribute.missing else plain(text) for text in column]
    if after == SUPPRESSED or after in attribute.missing:
        return known
    if attribute.kind == "categorical":
        return [text for text in known if text in (members(after) or ())]
    for low, high in bounds(after):
        try:
            ends = attribute.measure(low), attribute.measure(high)
        except ValueError:
            continue
        is_open = after.endswith(")")
        return [
            text
            for text in known
            if text
            and ends[0] <= attribute.measure(text) <= ends[1]
            and not (is_open and attribute.measure(text) == ends[1])
        ]
    raise ValueError(after)


def is_changed(before: str, after: str | None, attribute: Attribute, column: Sequence[str]) -> bool:
    """Whether a cell is less specific than it was."""
    if after is None:
        return True
    if after in attribute.missing:
        return plain(before) not in attribute.missing
    return after not in {plain(text) for text in column}


def iloss_cell(after: str | None, attribute: Attribute, column: Sequence[str]) -> Fraction:
    """(values of the cell - 1) / values of the column, of a changed cell [S0 eq. 2-2]."""
    every = inside(SUPPRESSED, attribute, column)
    covered = inside(SUPPRESSED if after is None else after, attribute, column)
    return Fraction(len(set(covered)) - 1, len(set(every)))


def lm_cell(before: str, after: str | None, attribute: Attribute, column: Sequence[str]) -> Fraction:
    """(leaves of the cell - 1) / (leaves of the column - 1), of a range its share, of a changed cell [S4 section D]."""
    if after is None or after == SUPPRESSED or after in attribute.missing:
        return Fraction(1)
    if attribute.kind != "categorical":
        return ncp_cell(before, after, attribute, column)
    n_values = len(set(inside(SUPPRESSED, attribute, column)))
    return Fraction(len(set(inside(after, attribute, column))) - 1, n_values - 1)


def entropy_cell(after: str | None, attribute: Attribute, column: Sequence[str]) -> float:
    """Mean of -log2(rows of the value / rows of the cell) over the rows that a changed cell stands for."""
    covered = Counter(inside(SUPPRESSED if after is None else after, attribute, column))
    return sum(n / covered.total() * math.log2(covered.total() / n) for n in covered.values())


def classification(released: Sequence[Row | None], classes: Sequence[str], k: int) -> Fraction:
    """CM: rows suppressed, or not of the most frequent class of their group, over all rows."""
    by_group: dict[tuple[str, ...], Counter[str]] = {}
    sizes = group_sizes(released, k)
    for row, told in zip(released, classes, strict=True):
        if row is not None and tuple(row) in sizes:
            by_group.setdefault(tuple(row), Counter())[told] += 1
    return 1 - Fraction(sum(max(counts.values()) for counts in by_group.values()), len(released))
