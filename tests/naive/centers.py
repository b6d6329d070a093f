"""Twin of the centres of shoal.release.cells and of shoal.verification: by the statistics module, value by value."""

from __future__ import annotations

import datetime
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from shoal.schema import Column, Role, Schema
from shoal.verification.cells import Cells, normalise
from shoal.verification.verdict import Violation, plural

EPOCH = datetime.datetime.min
MOST_FIGURES = 15


class PlainCenters:
    """The centres of one column of numbers, days or categories."""

    def __init__(self, column: Column, missing: Iterable[str], table: Sequence[str], choice: str) -> None:
        self.column, self.choice = column, choice
        self.cells = Cells.of(column, missing)
        self.is_measured = column.kind in ("numeric", "date")
        known = [self.value(text) for text in table if not self.cells.is_missing(text)]
        self.in_table = Counter(self.shown(text) for text in table)
        self.step = Fraction(1)
        if column.kind == "numeric":
            decimals = max((_decimals(value) for value in known), default=0)
            largest = max((Decimal(str(float(value))).adjusted() for value in known if value), default=0)
            self.step = Fraction(1, 10 ** max(0, min(decimals, MOST_FIGURES - 1 - largest)))

    def value(self, text: str) -> Any:
        """Return a number, the days since the year 1, or a category."""
        value = self.cells.place(normalise(text))[1]
        if self.column.kind == "numeric":
            return Fraction(value)
        if self.column.kind == "date":
            moment = value if isinstance(value, datetime.datetime) else datetime.datetime.combine(value, EPOCH.time())
            return Fraction((moment - EPOCH) // datetime.timedelta(microseconds=1), 86_400 * 10**6)
        return value

    def shown(self, text: str) -> Any:
        """Return what a cell shows; None if it is missing, "?" if it is no value."""
        if self.cells.is_missing(text):
            return None
        is_text = self.is_measured and self.cells.place(normalise(text))[0] == "text"
        return "?" if is_text or normalise(text) == "*" else self.value(text)

    def center(self, texts: Sequence[str], n_known: int, k: int) -> Any:
        """Return the centre of a group; n_known: how many rows or people have a value."""
        if not self.is_measured:
            counts = Counter(self.shown(text) for text in texts)
            most = max(counts.values())
            rarest = min(self.in_table[value] for value in counts if counts[value] == most)
            tied = [value for value in counts if counts[value] == most and self.in_table[value] == rarest]
            return min(tied, key=lambda value: value or "")
        values = self._known(texts)
        if not values or (len(values) < len(texts) and n_known < k):
            return None
        middle = statistics.mean(values) if self.choice == "mean" else statistics.median(values)
        return round(Fraction(middle) / self.step) * self.step

    def spread(self, texts: Sequence[str], center: Any) -> str:
        """Return the standard deviation or the share of a group."""
        if not self.is_measured:
            same = sum(self.shown(text) == center for text in texts)
            share = float(f"{Decimal(same) / len(texts):.2f}")
            return str(share if same == len(texts) else min(share, 0.99))
        return "" if center is None else str(float(f"{statistics.pvariance(self._known(texts)) ** 0.5:.2g}"))

    def _known(self, texts: Sequence[str]) -> list[Fraction]:
        return [self.value(text) for text in texts if not self.cells.is_missing(text)]


def _decimals(value: Fraction) -> int:
    return next(digits for digits in range(400) if (value * 10**digits).denominator == 1)


def center_violations(
    schema: Schema,
    rows: Sequence[tuple[int, Any, Mapping[str, str], Mapping[str, str]]],
    table: Mapping[str, Sequence[str]],
    choice: str,
    k: int,
) -> list[Violation]:
    """Return the cells that are not the centres of their groups.

    Args:
        schema: The columns.
        rows: For each released row its number, its group, its cells (with NAME_sd and NAME_share), and its source.
        table: The cells of the source by column.
        choice: "mean" or "median".
        k: How many rows or people must have a value.
    """
    person = next(iter(schema.names(Role.PERSON)), None)
    groups: dict[Any, list[tuple[int, Any, Mapping[str, str], Mapping[str, str]]]] = defaultdict(list)
    for row in rows:
        groups[row[1]].append(row)
    violations = []
    for column in schema.qi:
        centers = PlainCenters(column, schema.missing, table[column.name], choice)
        wrong: dict[str, list[int]] = {"not the centre": [], "not followed by the spread": []}
        for members in groups.values():
            texts = [source[column.name] for *_, source in members]
            known = [source for *_, source in members if not centers.cells.is_missing(source[column.name])]
            n_known = len(known) if person is None else len({source[person] for source in known})
            expected = centers.center(texts, n_known, k)
            spread = centers.spread(texts, expected)
            for number, _, cells, _ in members:
                cell = cells[column.name]
                if centers.shown(cell) != expected:
                    wrong["not the centre"].append(number)
                name = f"{column.name}_{'sd' if centers.is_measured else 'share'}"
                if name in cells and not _is_same(cells[name], spread):
                    wrong["not followed by the spread"].append(number)
        for words, numbers in wrong.items():
            if numbers:
                text = f"the cells of {plural(len(numbers), 'row')} are {words} of their group"
                violations.append(Violation(f"column {column.name!r}", text, min(numbers)))
        texts_of = defaultdict(set)
        for _, _, cells, _ in rows:
            if (shown := centers.shown(cells[column.name])) != "?":
                texts_of[str(shown)].add(cells[column.name])
        if repeated := sum(len(texts) > 1 for texts in texts_of.values()):
            violations.append(
                Violation(f"column {column.name!r}", f"{plural(repeated, 'value')} written in several ways")
            )
    return violations


def _is_same(text: str, spread: str) -> bool:
    try:
        return text == spread or (bool(text and spread) and Decimal(text) == Decimal(spread))
    except ArithmeticError:
        return False
