"""Score the information loss of a released file from its cells. Uses no code of shoal, so that it can check shoal.

A numeric or date cell is a value, a range ([25, 40], 25-40, 25~40; a bound before `)` or a second `[` is excluded) or
suppressed. A categorical cell is a value, a set ({a, b}, a~b, a|b), a node of a hierarchy, or suppressed. The loss of a
cell is 0 for one value, the width of its range over that of the original column, the number of its values over that of
the original column, or 1 if it is suppressed. A suppressed row counts as a total loss.
"""

from __future__ import annotations

import csv
import datetime
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Score", "score_columns", "score_files"]

SUPPRESSED = frozenset({"*", "", "?*", "nan", "None", "NULL", "any", "ANY", "All"})
NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
DATE = r"\d{4}-\d{2}-\d{2}"

Rows = Counter[tuple[str, ...]]  # the count of each combination of quasi-identifiers
Columns = Mapping[str, Sequence[str]]
Hierarchy = Mapping[str, Collection[str]]  # the values below each node


@dataclass(frozen=True)
class Score:
    """The score of a release.

    Attributes:
        loss: The mean over the quasi-identifiers of the mean loss of their cells.
        per_attribute: The mean loss of the cells of each quasi-identifier.
        rows: The number of released rows.
        groups: The number of groups of the release.
        smallest_group: The number of rows of its smallest group.
    """

    loss: float
    per_attribute: dict[str, float]
    rows: int
    groups: int
    smallest_group: int


def score_files(original: Path, released: Path, kinds: Mapping[str, str]) -> Score:
    """Score a released CSV file.

    Args:
        original: The CSV file of the original.
        released: The CSV file of the release.
        kinds: The quasi-identifiers, each "numeric", "date" or "categorical".
    """
    return _score(_count_file(original, tuple(kinds)), _count_file(released, tuple(kinds)), kinds, {})


def score_columns(
    original: Columns, released: Columns, kinds: Mapping[str, str], hierarchies: Mapping[str, Hierarchy] | None = None
) -> Score:
    """Score released columns of cells; the rows may be in any order."""
    before, after = (Counter(zip(*(table[name] for name in kinds), strict=True)) for table in (original, released))
    return _score(before, after, kinds, hierarchies or {})


def _score(before: Rows, after: Rows, kinds: Mapping[str, str], hierarchies: Mapping[str, Hierarchy]) -> Score:
    n_rows, n_released = before.total(), after.total()
    per_attribute = {}
    for position, (name, kind) in enumerate(kinds.items()):
        originals, cells = _count_cells(before, position), _count_cells(after, position)
        cell_loss = _reader(kind, originals, hierarchies.get(name, {}))
        total = sum(_column_part(cell, count, originals, cell_loss, kind) for cell, count in cells.items())
        per_attribute[name] = (total + n_rows - n_released) / n_rows
    return Score(
        loss=sum(per_attribute.values()) / len(per_attribute),
        per_attribute=per_attribute,
        rows=n_released,
        groups=len(after),
        smallest_group=min(after.values(), default=0),
    )


def _count_cells(rows: Rows, position: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for row, count in rows.items():
        counts[row[position].strip()] += count
    return counts


def _column_part(
    cell: str, count: int, before: Mapping[str, int], cell_loss: Callable[[str], float], kind: str
) -> float:
    """Return the loss of all cells with one text; empty cells count as unchanged up to their number in the original."""
    if cell == "" and kind != "categorical":
        return float(max(0, count - before.get("", 0)))
    try:
        return cell_loss(cell) * count
    except ValueError:
        raise ValueError(f"a {kind} column of the release has a cell that cannot be read: {cell!r}") from None


def _reader(kind: str, before: Mapping[str, int], hierarchy: Hierarchy) -> Callable[[str], float]:
    if kind == "categorical":
        return lambda cell: _category_loss(cell, before, hierarchy)
    number, pattern = (_day, DATE) if kind == "date" else (float, NUMBER)
    span = re.compile(rf"[\[({{]?\s*({pattern})\s*(?:\.\.|[-~,:;])\s*({pattern})\s*([\])}}\[]?)")
    values = [number(cell) for cell in before if cell]
    low, high = min(values), max(values)

    def ordered_loss(cell: str) -> float:
        if cell in SUPPRESSED:
            return 1.0
        bounds = span.fullmatch(cell)
        if bounds is None:
            number(cell)  # must be a value
            return 0.0
        last = number(bounds[2]) - (bounds[3] in (")", "["))
        width = min(last, high) - max(number(bounds[1]), low)
        return max(0.0, width / (high - low)) if high > low else 0.0

    return ordered_loss


def _day(text: str) -> float:
    return float(datetime.date.fromisoformat(text).toordinal())


def _category_loss(cell: str, domain: Collection[str], hierarchy: Hierarchy) -> float:
    if cell in domain:
        return 0.0
    if cell in SUPPRESSED:
        return 1.0
    if cell in hierarchy:
        members = set(hierarchy[cell]).intersection(domain)
    elif cell.startswith("{") and cell.endswith("}"):
        members = {member.strip() for member in next(csv.reader([cell[1:-1]], skipinitialspace=True))}
    else:
        members = {member.strip() for member in re.split(r"[,;~|]", cell.removeprefix("[").removesuffix("]"))}
    if not members.issubset(domain):
        raise ValueError
    return len(members) / len(domain) if len(members) > 1 else 0.0


def _count_file(path: Path, names: Sequence[str]) -> Rows:
    """Count the distinct combinations of some columns, line by line, so that a large file needs little memory."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        header = next(lines)
        positions = [header.index(name) for name in names]
        return Counter(tuple(line[position] for position in positions) for line in lines)
