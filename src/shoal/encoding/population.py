"""The population that a table was drawn from: how many of its rows the cells of a group cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.partition import NODE, RANGE, SET, SUPPRESSED, Cells, tight_partition
from shoal.errors import InputError, UsageError, first_row, join_problems, setting
from shoal.hierarchy.base import Rule, over_values
from shoal.schema import Column, Kind, Schema
from shoal.tables import values
from shoal.tables.table import Table
from shoal.tables.values.forms import parse_texts

if TYPE_CHECKING:
    from shoal.encoding.attributes import Attribute, Encoded
    from shoal.encoding.tree import Tree

__all__ = ["Population", "count_strangers", "covered_rows", "encode_population", "shared_tuples"]


@dataclass(frozen=True)
class Population:
    """The distinct rows of a population over the quasi-identifiers of a table.

    Attributes:
        places: The place of each row in each attribute (rows x attributes). For numbers and dates, twice the code of an
            equal value, or the odd number between its neighbours; for categories, the code. Values that the table lacks
            have places from the number of codes on.
        counts: How often each row occurs.
        nodes: For each attribute with a tree, the node of each place on each level, -1 if the tree has none.
        labels: By attribute with a tree, the labels of each value that the table lacks, from level 1 up.
    """

    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    nodes: Mapping[int, NDArray[np.int32]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())


def encode_population(
    table: Table, schema: Schema, attributes: tuple[Attribute, ...], hierarchies: Mapping[str, Rule]
) -> Population:
    """Return a population over the attributes of an encoded table.

    Args:
        table: The population.
        schema: The columns of the encoded table.
        attributes: Its attributes.
        hierarchies: By column.

    Raises:
        UsageError: The population lacks a column.
        InputError: Its values do not suit the kind of a column.
    """
    names = [attribute.name for attribute in attributes]
    absent = [name for name in names if name not in table.names]
    if absent:
        raise UsageError(join_problems([f"the population has no column {name!r}. Add it." for name in absent]))
    columns = {column.name: column for column in schema.qi}
    places: list[NDArray[np.int64]] = []
    nodes: dict[int, NDArray[np.int32]] = {}
    labels: dict[str, Mapping[str, Sequence[str]]] = {}
    for i, attribute in enumerate(attributes):
        raw, texts = table.factor(attribute.name)
        normal = ["" if text in schema.missing else text for text in map(values.normalise, texts.to_list())]
        if attribute.ordered:
            by_text = _ordered_places(attribute, columns[attribute.name], normal, raw)
        else:
            by_text, new_texts = _coded_places(attribute, normal, schema)
            if attribute.tree is not None:
                labels[attribute.name] = _labels(attribute, new_texts, hierarchies[attribute.name])
                nodes[i] = _nodes(attribute.tree, new_texts, labels[attribute.name])
        places.append(by_text[raw])
    distinct, counts = np.unique(np.column_stack(places), axis=0, return_counts=True)
    return Population(distinct, counts.astype(np.int64), nodes, labels)


def _ordered_places(
    attribute: Attribute, column: Column, normal: list[str], raw: NDArray[np.int32]
) -> NDArray[np.int64]:
    known_values = [i for i, text in enumerate(normal) if text]
    spelled = [normal[i] for i in known_values]
    strange: list[int] = []
    parsed, misfits = parse_texts(column, attribute.kind, spelled)
    if misfits and attribute.kind is Kind.ORDERED:  # a value that the table lacks, in no range of its ranks
        strange = [known_values[i] for i in misfits]
        known_values = sorted(set(known_values) - set(strange))
    elif misfits:
        row = int(np.argmax(raw == known_values[misfits[0]])) + 1
        raise InputError(
            f"the population, column {column.name!r}: {len(misfits)} distinct values are not of kind {attribute.kind}"
            f"{first_row(row)}. Correct them, or declare the markers of missing values with {setting('missing')}."
        )
    numbers = np.array([float(number) for number in parsed])
    card = len(attribute.texts)
    own = attribute.values[: attribute.missing] if attribute.missing >= 0 else attribute.values
    after = np.searchsorted(own, numbers, side="right")
    before = np.searchsorted(own, numbers, side="left")
    by_text = np.full(len(normal), 2 * (attribute.missing if attribute.missing >= 0 else card + 1), dtype=np.int64)
    by_text[strange] = 2 * (card + 2)
    by_text[known_values] = np.where(after > before, 2 * before, 2 * before - 1)
    return by_text


def _coded_places(attribute: Attribute, normal: list[str], schema: Schema) -> tuple[NDArray[np.int64], list[str]]:
    """Return the place of each text, and one text of each value that the table lacks, in order of place."""
    codes = {"" if text in schema.missing else text: code for code, text in enumerate(attribute.texts)}
    code_of = {_value(attribute, text): code for text, code in codes.items()}
    read = [_value(attribute, text) for text in normal]
    text_of = {value: text for value, text in zip(read, normal, strict=True) if value not in code_of}
    new_values = sorted(text_of, key=str)
    code_of |= {value: len(attribute.texts) + i for i, value in enumerate(new_values)}
    places = np.array([code_of[value] for value in read], dtype=np.int64)
    return places, [text_of[value] for value in new_values]


def _value(attribute: Attribute, text: str) -> Any:
    """Return a number, so that its spelling does not matter; any other text as it is."""
    if attribute.kind is not Kind.NUMERIC or attribute.column is None:
        return text
    numbers, misfits = parse_texts(attribute.column, Kind.NUMERIC, [text])
    return text if misfits else float(numbers[0])


def _labels(attribute: Attribute, texts: list[str], rule: Rule) -> Mapping[str, Sequence[str]]:
    """Return the labels of each value that the table lacks."""
    if not texts:
        return {}
    assert attribute.column is not None
    return over_values(rule, texts, attribute.column, column=attribute.name, unknown="top", missing=("",)).rows


def _nodes(tree: Tree, texts: list[str], labels: Mapping[str, Sequence[str]]) -> NDArray[np.int32]:
    """Return the node of each place on each level; labels decide for values that the table lacks."""
    more = np.full((len(tree.nodes), len(texts)), -1, dtype=np.int32)
    for level in range(1, len(tree.nodes)):
        node_of = {tree.labels[node]: node for node in set(tree.nodes[level].tolist())}
        more[level] = [node_of.get(labels[text][level - 1], -1) for text in texts]
    return np.hstack([tree.nodes, more])


def count_strangers(encoded: Encoded) -> int:
    """Count the rows of the table that are not in the population; a row that occurs twice must be there twice."""
    population = encoded.population
    assert population is not None
    scale = np.array([2 if attribute.ordered else 1 for attribute in encoded.attributes], dtype=np.int64)
    both = np.vstack([population.places, encoded.tuples * scale])
    _, number = np.unique(both, axis=0, return_inverse=True)
    amounts = np.concatenate([population.counts, -encoded.counts])
    balance = np.bincount(number.ravel(), weights=amounts)
    return int(-balance[balance < 0].sum())


def shared_tuples(encoded: Encoded) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the rows of the population whose values all occur in the table, as codes, and how often each occurs."""
    population = encoded.population
    assert population is not None
    is_known = np.ones(len(population.counts), dtype=bool)
    codes = np.empty(population.places.shape, dtype=np.int32)
    for i, attribute in enumerate(encoded.attributes):
        own, beyond = np.divmod(population.places[:, i], 2 if attribute.ordered else 1)
        codes[:, i] = own
        is_known &= (beyond == 0) & (own < len(attribute.texts))
    return codes[is_known], population.counts[is_known]


def covered_rows(encoded: Encoded, labels: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of rows of the population that the cells of each group cover.

    Cost: the number of groups times the distinct rows of the population that match their first attributes.

    Args:
        encoded: The table, with its population.
        labels: The group of each canonical row, -1 for a suppressed row.
    """
    population = encoded.population
    assert population is not None
    if labels.max(initial=-1) < 0:
        return np.zeros(0, dtype=np.int64)
    cells = tight_partition(encoded, labels).cells
    fits = [_fits(encoded, population, i, cells[i]) for i in range(len(cells))]
    narrowest = sorted(range(len(cells)), key=lambda i: -len(fits[i]))
    counted = np.zeros(len(cells[0].index), dtype=np.int64)
    for group in range(len(counted)):
        inside: Any = slice(None)
        for i in narrowest:
            fit = fits[i][cells[i].index[group]]
            at = population.places[inside, i] - fit[0]
            good = np.zeros(len(at), dtype=bool)
            known_values = (at >= 0) & (at < len(fit[1]))
            good[known_values] = fit[1][at[known_values]]
            inside = np.flatnonzero(good) if isinstance(inside, slice) else inside[good]
        counted[group] = population.counts[inside].sum()
    return counted


def _fits(encoded: Encoded, population: Population, i: int, cells: Cells) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return for each distinct cell of an attribute a first place, and which places from there on it covers."""
    attribute = encoded.attributes[i]
    low, high = int(population.places[:, i].min()), int(population.places[:, i].max())
    scale = 2 if attribute.ordered else 1
    fits_of_cells = []
    for cell in range(len(cells.form)):
        form, first, last = cells.form[cell], int(cells.low[cell]), int(cells.high[cell])
        if form == SUPPRESSED:
            fits_of_cells.append((low, np.ones(high - low + 1, dtype=bool)))
        elif form == RANGE:
            fits_of_cells.append((scale * first, np.ones(scale * (last - first) + 1, dtype=bool)))
        elif form == SET:
            members = cells.members[cells.starts[cell] : cells.starts[cell + 1]]
            fits = np.zeros(int(members[-1]) + 1, dtype=bool)
            fits[members] = True
            fits_of_cells.append((0, fits))
        elif form == NODE:
            fits_of_cells.append((0, (population.nodes[i] == first).any(axis=0)))
        else:
            fits_of_cells.append((scale * first, np.ones(1, dtype=bool)))
    return fits_of_cells
