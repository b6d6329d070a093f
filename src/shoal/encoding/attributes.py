"""Quasi-identifiers as codes, and the encoded table that every method works on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.dictionary import Dictionary, Distinct
from shoal.encoding.partition import SUPPRESSION
from shoal.encoding.population import Population
from shoal.encoding.sensitive import Sensitive
from shoal.encoding.tree import Tree, plant
from shoal.errors import InputError, counted, setting
from shoal.hierarchy.base import Hierarchy, Rule, over_values
from shoal.schema import Column, Kind
from shoal.tables.sorting import pack
from shoal.tables.table import Factor

__all__ = ["Attribute", "Encoded", "PeopleCounts", "attribute_dictionary"]


@dataclass(frozen=True)
class Attribute:
    """One quasi-identifier: a code for each distinct value, in order of value (categories: of text).

    Attributes:
        name: The column.
        kind: Numbers, dates, categories, booleans or ordered categories.
        texts: The released text of each code.
        values: The number behind each code of a number or date (in seconds), the rank behind that of a boolean or an
            ordered category; empty for categories.
        missing: The code of the missing value of a column with values, always the last code; -1 if no value is
            missing. A category treats its missing value like any other.
        tree: The hierarchy over the codes, if there is one; cells are then generalised to its nodes only.
        hierarchy: The hierarchy over the texts, if there is one.
        column: How the cells of the column are read.
    """

    name: str
    kind: Kind
    texts: tuple[str, ...]
    values: NDArray[np.float64]
    missing: int
    tree: Tree | None = None
    hierarchy: Hierarchy | None = field(default=None, repr=False)
    column: Column | None = field(default=None, repr=False)

    @property
    def ordered(self) -> bool:
        """Whether the values have an order: numbers and dates, released as ranges, and ranks, released as sets."""
        return self.kind is not Kind.CATEGORICAL and self.tree is None

    @property
    def known_values(self) -> NDArray[np.float64]:
        """The values of a column with values that are not missing, in order."""
        return self.values[: self.missing] if self.missing >= 0 else self.values

    @property
    def span(self) -> float:
        """Range of the values of a column with values; number of values of a category."""
        if not self.ordered:
            return float(len(self.texts))
        known_values = self.known_values
        return float(known_values[-1] - known_values[0]) if len(known_values) else 0.0


class PeopleCounts(Protocol):
    """What somebody counted of the people of a whole table."""

    @property
    def n_people(self) -> int:
        """The number of people."""

    @property
    def of_codes(self) -> Mapping[int, NDArray[np.int64]]:
        """By attribute with an order, the number of people with each code."""

    def are_enough(self, a: int, starts: NDArray[np.int64], needed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say for each code of an attribute whether its run has as many people as it needs.

        Args:
            a: The attribute.
            starts: The first code of each run, the first of them 0.
            needed: How many each code needs; further codes are in no run.
        """

    def in_sets(
        self, run: NDArray[np.int32], number: NDArray[np.int32], k: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Count the people of sets of rows that follow each other in runs, if rows have the counts of several columns.

        Args:
            run: The run of each row, -1 for none.
            number: The number of its set in the run, from 0 on without gaps.
            k: How many people a run of sets needs.

        Returns:
            For each set in order, its people; and the last set from which on those up to it have k people, -1 if there
            is none or if k is 0.
        """


@dataclass(frozen=True)
class Encoded:
    """A table as codes. Methods see this and nothing else.

    Rows are in canonical order: sorted by codes, then by the cells of the other released columns.

    Attributes:
        attributes: The quasi-identifiers.
        tuples: The distinct rows of codes, sorted.
        counts: The number of rows of each tuple.
        row_tuple: The tuple of each canonical row.
        order: The source row of each canonical row.
        people: The person of each canonical row, if the schema names a person column.
        weights: The number of source rows behind each canonical row, if the table was counted by a database.
        others: The other released columns, in source order.
        sensitive: The sensitive columns that models count.
        personal_k: The k that each canonical row asks for, 0 if it asks for none.
        population: The population that the table was drawn from, if there is one.
        dictionaries: The distinct cells behind the attributes; measures compare the release with them.
        counted: The distinct cells behind sensitive columns, personal k and people, in this order.
        asked: For each attribute, the largest personal k of a row with each code, if the rows here only have the counts
            of single columns.
        counted_people: What is known of people, if the rows here only have the counts of single columns.
    """

    attributes: tuple[Attribute, ...]
    tuples: NDArray[np.int32]
    counts: NDArray[np.int64]
    row_tuple: NDArray[np.int32]
    order: NDArray[np.int64]
    people: NDArray[np.int32] | None = None
    weights: NDArray[np.int64] | None = None
    others: dict[str, Factor] = field(repr=False, default_factory=dict)
    sensitive: tuple[Sensitive, ...] = ()
    personal_k: NDArray[np.int64] | None = None
    population: Population | None = field(default=None, repr=False)
    dictionaries: tuple[Dictionary[Attribute], ...] = field(default=(), repr=False)
    counted: tuple[Dictionary[Any], ...] = field(default=(), repr=False)
    asked: tuple[NDArray[np.int64], ...] = field(default=(), repr=False)
    counted_people: PeopleCounts | None = field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.order) if self.weights is None else int(self.weights.sum())

    @property
    def row_weights(self) -> NDArray[np.int64]:
        """The number of source rows behind each canonical row."""
        return np.ones(len(self.order), dtype=np.int64) if self.weights is None else self.weights

    @property
    def histograms(self) -> list[NDArray[np.int64]]:
        """The number of rows of each code of each attribute."""
        return [
            np.bincount(self.tuples[:, a], self.counts, len(attribute.texts)).astype(np.int64)
            for a, attribute in enumerate(self.attributes)
        ]

    def part(self, stays: NDArray[np.bool_]) -> Encoded:
        """Return some of the canonical rows; domains, and with them losses, stay those of the whole table.

        Args:
            stays: For each canonical row, whether it stays.
        """
        return self.take(np.flatnonzero(stays))

    def take(self, rows: NDArray[np.int64]) -> Encoded:
        """Return some of the canonical rows, as `part` does; rows: their numbers, ascending."""
        tuples, row_tuple = np.unique(self.row_tuple[rows], return_inverse=True)
        weights = None if self.weights is None else self.weights[rows]
        return replace(
            self,
            tuples=np.ascontiguousarray(self.tuples[tuples]),
            counts=np.bincount(row_tuple, weights=weights, minlength=len(tuples)).astype(np.int64),
            row_tuple=row_tuple.astype(np.int32),
            order=self.order[rows],
            people=None if self.people is None else self.people[rows],
            weights=weights,
            sensitive=tuple(replace(column, codes=column.codes[rows]) for column in self.sensitive),
            personal_k=None if self.personal_k is None else self.personal_k[rows],
        )

    def section(self, stays: NDArray[np.bool_]) -> Encoded:
        """Return some of the canonical rows, whose sensitive values are still compared with those of all rows.

        Args:
            stays: For each canonical row, whether it is in the section.
        """
        counted = tuple(replace(column, totals=column.count(self.weights)) for column in self.sensitive)
        return replace(self, sensitive=counted).part(stays)

    def counted_together(self, places: Sequence[int]) -> tuple[Encoded, NDArray[np.int32]]:
        """Count the rows by some attributes together; return also the place of each tuple among the combinations."""
        keys, _ = pack([self.tuples[:, a] for a in places], [len(self.attributes[a].texts) for a in places])
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        rows = np.bincount(number, self.counts, len(first)).astype(np.int64)
        table = self
        if self.personal_k is not None:
            asked = tuple(np.zeros(len(attribute.texts), dtype=np.int64) for attribute in self.attributes)
            for a, own in enumerate(asked):
                np.maximum.at(own, self.tuples[self.row_tuple, a], self.personal_k)
            table = replace(self, asked=asked)
        combinations = table.of_combinations(places, self.tuples[first][:, places], rows)
        return combinations, number.astype(np.int32)

    def of_combinations(self, places: Sequence[int], codes: NDArray[np.int32], rows: NDArray[np.int64]) -> Encoded:
        """Return a table of combinations of codes; attributes without a code have their first.

        Args:
            places: The attributes that have codes.
            codes: The combinations, sorted.
            rows: The rows of each.
        """
        every = np.arange(len(rows))
        tuples = np.zeros((len(rows), len(self.attributes)), dtype=np.int32)
        tuples[:, places] = codes
        table = replace(self, tuples=tuples, counts=rows, row_tuple=every.astype(np.int32), order=every, weights=rows)
        return replace(table, people=None, sensitive=(), personal_k=None)


def attribute_dictionary(
    column: Column,
    distinct: Distinct,
    *,
    markers: Collection[str] = ("",),
    rule: Rule | None = None,
    unknown: str = "error",
    as_text: bool = False,
) -> Dictionary[Attribute]:
    """Return the dictionary of a quasi-identifier.

    Args:
        column: How its cells are read; its kind must be known.
        distinct: Its distinct cells.
        markers: The texts that mark a missing value.
        rule: Its hierarchy.
        unknown: What to do with values that the hierarchy lacks: "error" or "top".
        as_text: Keep every cell as it is, whatever its kind (for a table that is released unchanged).

    Raises:
        InputError: A value does not suit the kind of the column, looks like a released cell, or is not in the
            hierarchy.
    """
    if as_text:
        texts = tuple(distinct.texts.to_list())
        attribute = Attribute(column.name, Kind.CATEGORICAL, texts, np.empty(0), -1, column=column)
        return Dictionary(column.name, distinct, np.arange(len(texts), dtype=np.int32), attribute)
    normal = distinct.normalised
    known_values = [i for i, text in enumerate(normal) if text not in markers]
    absent = sorted({text for text in normal if text in markers})
    # The one marker of the table stays as it is; several become the empty text.
    token = None if not absent else absent[0] if len(absent) == 1 else ""
    if column.kind is not None and (column.kind.is_measured or column.kind.is_ranked):
        attribute, codes = _ordered(column, distinct, known_values, token)
    else:
        attribute, codes = _categorical(column, distinct, known_values, token)
    if rule is not None:
        attribute = _with_hierarchy(attribute, codes, distinct, rule, unknown, markers)
    return Dictionary(column.name, distinct, codes, attribute)


def _categorical(
    column: Column, distinct: Distinct, known_values: list[int], token: str | None
) -> tuple[Attribute, NDArray[np.int32]]:
    normal = distinct.normalised
    _refuse_clashes(column, distinct, known_values)
    released = [token or ""] * len(normal)
    for i in known_values:
        released[i] = normal[i]
    texts = sorted(set(released))
    code_of = {text: code for code, text in enumerate(texts)}
    codes = np.array([code_of[text] for text in released], dtype=np.int32)
    return Attribute(column.name, Kind.CATEGORICAL, tuple(texts), np.empty(0), -1, column=column), codes


def _refuse_clashes(column: Column, distinct: Distinct, known_values: list[int]) -> None:
    """Raise an InputError if values look like released cells."""
    normal = distinct.normalised
    clashes = [i for i in known_values if normal[i] == SUPPRESSION or (normal[i][0] + normal[i][-1] == "{}")]
    if clashes:
        raise InputError(
            f"column {column.name!r}: {len(clashes)} distinct values look like a released cell, '*' or a set in "
            f"braces{distinct.first(clashes[0])}. Rename them."
        )


def _ordered(
    column: Column, distinct: Distinct, known_values: list[int], token: str | None
) -> tuple[Attribute, NDArray[np.int32]]:
    assert column.kind is not None
    if column.kind.is_ranked:
        _refuse_clashes(column, distinct, known_values)
    numbers = distinct.read_values(column, column.kind, known_values)
    in_order, texts, codes = distinct.code_values(numbers, known_values)
    measured = [float(number) for number in in_order]
    if token is not None:
        texts.append(token)
        measured.append(0.0)
    missing = len(in_order) if token is not None else -1
    return Attribute(column.name, column.kind, tuple(texts), np.array(measured), missing, column=column), codes


def _with_hierarchy(
    attribute: Attribute,
    codes: NDArray[np.int32],
    distinct: Distinct,
    rule: Rule,
    unknown: str,
    markers: Collection[str],
) -> Attribute:
    """Return the attribute with the tree of a hierarchy over its values."""
    first_row = distinct.first_row

    def row_of(code: int) -> int:
        assert first_row is not None
        return min(first_row(index) for index in np.flatnonzero(codes == code).tolist())

    assert attribute.column is not None
    bound = over_values(
        rule,
        attribute.texts,
        attribute.column,
        column=attribute.name,
        unknown=unknown,
        missing=markers,
        rows_of=row_of if first_row else None,
    )
    labels_of_missing = {
        label for text, labels in bound.rows.items() for label in labels if label in markers and label != text
    }
    if labels_of_missing:
        labels = counted(len(labels_of_missing), "label of its hierarchy is", "labels of its hierarchy are")
        raise InputError(
            f"column {attribute.name!r}: {labels} also a text of {setting('missing')}, so that the release would show "
            "a value as missing. Rename the labels, or the marker in the table."
        )
    tree = plant(attribute.texts, [bound.rows[text] for text in attribute.texts])
    return replace(attribute, tree=tree, hierarchy=bound)
