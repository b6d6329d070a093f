"""Random problems for the kernels of shoaling, with and without hierarchies, rules and limits; their plain twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.encoding.limits import Limited
from shoal.encoding.population import Population
from shoal.hierarchy import Rule as Hierarchy
from shoal.kernels.shoaling.starts.agglomerate import agglomerate
from shoal.methods import Run
from shoal.methods.shoaling.block import Block, Part, Task
from shoal.methods.shoaling.pricing import Recoding
from shoal.methods.shoaling.problem import Problem, prepare
from shoal.models import KMap, PrivacyModel
from shoal.rules import Rule
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame
from tests.naive import shoaling as naive


def table(number: int, n_rows: int) -> Encoded:
    """A random table whose first attribute has hardly any ties, so that no two merges are equally good."""
    draw = np.random.default_rng(number)
    columns = {"x": draw.integers(0, 10**6, n_rows).astype(str)}
    for name in ("y", "z"):
        column = draw.integers(0, 8, n_rows).astype(str)
        column[draw.random(n_rows) < 0.1] = ""
        columns[name] = column
    columns["wide"] = draw.integers(0, 200, n_rows).astype(str)
    columns["few"] = draw.choice(["a", "b", "c"], n_rows, p=[0.7, 0.2, 0.1])
    copies = np.repeat(np.arange(n_rows), draw.integers(1, 4, n_rows))
    frame = pl.DataFrame({name: column[copies] for name, column in columns.items()})
    names, numbers = list(columns), ("x", "y")
    kinds = {name: Kind.NUMERIC if name in numbers else Kind.CATEGORICAL for name in names}
    hierarchies: dict[str, Hierarchy] = {}
    if number % 2:  # one hierarchy of few values, one of many
        few = {text: ("ab" if text in "ab" else "other", "*") for text in "abc"}
        many = {str(v): (f"f{v // 5}", f"g{v // 40}", "*") for v in range(200)}
        hierarchies = {"few": hierarchy.from_dict(few), "wide": hierarchy.from_dict(many)}
    schema = Schema.build(names, {Role.QI: names}, kinds=kinds)
    return encode(from_frame(frame), schema, hierarchies)


def problem(number: int, n_rows: int = 40, *, with_people: bool = False, with_population: bool = False) -> Problem:
    rules = (Rule("x", inflection=(500_000, 500_001)), Rule("x", inflection=(300_000, 600_000), importance=2))
    encoded, k = table(number, n_rows), number % 8 + 1
    if with_people:  # with several rows each, some of them equal
        people = np.random.default_rng(number).integers(0, 3 * n_rows // 4, encoded.n_rows).astype(np.int32)
        encoded = replace(encoded, people=people)
    models: tuple[PrivacyModel, ...] = ()
    if with_population:
        models = (KMap(2 * k + 1),)
        encoded = replace(encoded, population=population(number, encoded))
    return prepare(encoded, k, models, run=Run(rules=rules if number % 3 == 0 else (), limits=limits(encoded, number)))


def population(number: int, encoded: Encoded) -> Population:
    """The rows of the table and about as many others: other combinations, and numbers between those of the table."""
    draw = np.random.default_rng(number)
    scale = np.array([2 if attribute.ordered else 1 for attribute in encoded.attributes])
    others = np.column_stack([draw.permutation(encoded.tuples[:, a]) for a in range(encoded.tuples.shape[1])])
    others[: len(others) // 2, 1:] = encoded.tuples[: len(others) // 2, 1:]  # near a row, but for one column
    between = (scale == 2) * draw.integers(0, 2, others.shape)
    places = np.vstack([encoded.tuples * scale, others * scale + between]).astype(np.int64)
    return Population(places, draw.integers(1, 4, len(places)))


def limits(encoded: Encoded, number: int) -> tuple[Limited, ...]:
    """Windows of the first attribute and at most three values of a set, small or large, for numbers from 7 on."""
    if number < 7:
        return ()
    of_values = 2 if number % 2 else 3
    n_codes, n_values = (len(encoded.attributes[place].texts) for place in (0, of_values))
    ranks = np.arange(n_codes)
    window = Limited(0, ranks, np.minimum(ranks + n_codes // 3, n_codes - 1), np.zeros(n_codes, dtype=np.int64))
    every = np.arange(n_values)
    return window, Limited(
        of_values, every, np.full(n_values, n_values - 1), np.zeros(n_values, dtype=np.int64), most=3
    )


def twin(made: Problem) -> naive.Block:
    attributes: list[naive.Number | naive.Category | naive.Leaves | naive.Sides | naive.Reach | naive.Count] = []
    for a, unit in enumerate(made.prices.units.tolist()):
        places = made.prices.places[made.prices.offsets[a] : made.prices.offsets[a + 1]].tolist()
        twins = {
            Recoding.SET: naive.Category(unit),
            Recoding.RANGE: naive.Number(places, unit),
            Recoding.TREE: naive.Leaves(places),
            Recoding.RULE: naive.Sides(unit),
            Recoding.REACH: naive.Reach(places, unit),
            Recoding.COUNT: naive.Count(places[0], unit),
        }
        attributes.append(twins[Recoding(made.prices.kinds[a])])
    crowd = list(zip(made.crowd.places.tolist(), made.crowd.rows.tolist(), strict=True))
    return naive.Block(
        made.codes.tolist(),
        made.counts.tolist(),
        attributes,
        made.k,
        made.people.tolist(),
        crowd=crowd,
        least_covered=2 * made.k + 1 if crowd else 0,
    )


def block_of(made: Problem) -> Block:
    """The whole table as a block, for any kernel."""
    crowd = made.crowd.near(made.codes, made.prices.kinds)
    return Block(
        task=Task.GROW,
        codes=made.codes,
        classes=made.classes,
        people=made.people,
        rows=made.counts,
        groups=np.arange(len(made.codes), dtype=np.int32),
        prices=made.prices,
        k=made.k,
        positions=made.requirement.positions,
        terms=made.requirement.terms,
        facts=made.requirement.facts,
        steps=made.requirement.steps,
        cover=crowd.places,
        crowd=crowd.rows,
    )


def with_room(made: Problem, labels: NDArray[np.int32], room: int) -> Part:
    """Every tuple as an entry with its rows and its label, in arrays with room for this many entries."""
    n = len(made.codes)
    entries, rows, groups = empty_room(room)
    entries[:n], rows[:n], groups[:n] = np.arange(n), made.counts, labels
    return entries, rows, groups


def empty_room(room: int) -> Part:
    """Arrays for this many entries."""
    return np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int32)


def grown(made: Problem) -> tuple[NDArray[np.int32], int]:
    labels = np.empty(len(made.codes), dtype=np.int32)
    n_groups = agglomerate(block_of(made), labels)
    return labels, n_groups


def poor_groups(made: Problem) -> NDArray[np.int32]:
    """Groups of tuples that follow on each other, far from good, and each with k rows (or people)."""
    cuts = np.cumsum(made.counts) // (2 * made.k + 2)
    if made.by_person:
        cuts, seen, group = cuts.copy(), set[int](), 0
        for entry, person in enumerate(made.people.tolist()):
            cuts[entry] = group
            seen.add(person)
            if len(seen) >= made.k + 1:
                seen, group = set(), group + 1
    _, labels = np.unique(np.minimum(cuts, max(cuts[-1] - 1, 0)), return_inverse=True)
    return labels.astype(np.int32)
