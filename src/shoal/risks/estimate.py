"""Re-identification risk of a release: prosecutor, journalist and marketer risk."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, UsageError, setting
from shoal.hierarchy.base import Rule
from shoal.metrics.measure import count_rows, starred_rows
from shoal.models.thresholds import compare
from shoal.models.uniques import Uniques, estimate_uniques
from shoal.risks.population_fit import count_fitting
from shoal.schema import Reading, ReadingKeywords, Role, Schema, column_names
from shoal.tables import values
from shoal.tables.formats import as_table
from shoal.tables.sources.counted import as_counted
from shoal.tables.table import Table
from shoal.tables.values.people import person_codes

__all__ = [
    "CONVENTIONS",
    "DEFAULT_THRESHOLD",
    "Exposure",
    "Fitting",
    "Risk",
    "estimate",
    "read_threshold",
    "risk",
]

DEFAULT_THRESHOLD = "0.2"
CELL_SIZE = "cell-size-"
# Least group sizes in common use. They are conventions, not laws; the user chooses one.
CONVENTIONS = {
    3: "the smallest in common use, for recipients bound by a contract",
    5: "a common start for health data",
    10: "common in statistics of schools and of health",
    11: "the cell size of the CMS (no count from 1 to 10), and the reason for the 0.09 of EMA and Health Canada",
    20: "for data that anybody may have",
}


@dataclass(frozen=True)
class Exposure:
    """The probability that a row is re-identified.

    Attributes:
        max: The largest over all rows.
        average: The mean over all rows.
        share_above: The share of rows above the threshold.
    """

    max: float
    average: float
    share_above: float


@dataclass(frozen=True)
class Fitting:
    """How many people of the population match each group.

    Attributes:
        rows: Their number times `unit`, because weights may be fractions.
        basis: Where the numbers come from: "population" or "weights".
        unit: The common denominator.
    """

    rows: NDArray[np.int64]
    basis: str
    unit: int = 1


@dataclass(frozen=True)
class Risk:
    """The re-identification risk of a release.

    Attributes:
        rows: The number of rows in groups.
        suppressed_rows: The number of rows whose quasi-identifiers are all "*"; they are in no group.
        groups: The number of groups.
        smallest_group: The size of the smallest group.
        average_group: The mean group size.
        uniques: The number of rows that are alone in their group.
        counts: What is counted: "rows" or "persons".
        threshold: The largest probability allowed.
        least_group: The group size that the threshold requires.
        met: Whether all groups have that size.
        prosecutor: Risk from an attacker who knows that the person is in the release: 1 / rows of the group.
        journalist: Risk from an attacker who knows that the person is in the population: 1 / people who match the
            group.
        journalist_basis: Where the number of people comes from; "release" if nothing is known of the population, so
            that nobody else is assumed to match.
        marketer: The expected share of rows that are re-identified if an attacker tries all.
        estimates: Estimates of population uniques, if the size of the population is known.
    """

    rows: int
    suppressed_rows: int
    groups: int
    smallest_group: int
    average_group: float
    uniques: int
    counts: str
    threshold: Fraction
    least_group: int
    met: bool
    prosecutor: Exposure
    journalist: Exposure
    journalist_basis: str
    marketer: float
    estimates: Uniques | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the figures by name; an unavailable estimate is None."""
        content = asdict(self)
        content["journalist"]["basis"] = content.pop("journalist_basis")
        content["threshold"] = float(self.threshold)
        content["population"] = content.pop("estimates")
        return content


def read_threshold(value: object) -> Fraction:
    """Return the largest probability allowed, from 0.2, a fraction such as 1/11, or cell-size-11, which is 1/11.

    >>> read_threshold("cell-size-11")
    Fraction(1, 11)
    """
    text = str(value).strip()
    size = text.removeprefix(CELL_SIZE)
    threshold = values.exact_fraction(text if size == text else f"1/{size}")
    if threshold is None or not 0 < threshold <= 1:
        raise UsageError(
            f"threshold {value!r} is not a probability above 0 and at most 1. Use 0.2, 1/11, or the size of "
            f"the smallest group allowed: {CELL_SIZE}5 (conventions: {', '.join(map(str, CONVENTIONS))})."
        )
    return threshold


def estimate(
    sizes: NDArray[np.int64],
    *,
    threshold: object = DEFAULT_THRESHOLD,
    suppressed_rows: int = 0,
    fitting: Fitting | None = None,
    population: int | None = None,
    counts: str = "rows",
) -> Risk:
    """Return the risk of groups; every probability is 0 if there are none because all rows are suppressed.

    Args:
        sizes: The size of each group.
        threshold: The largest probability allowed; see `read_threshold`.
        suppressed_rows: The number of suppressed rows.
        fitting: The people of the population who match each group.
        population: The size of the population.
        counts: What the sizes count: "rows" or "persons".

    Raises:
        UsageError: The threshold or the size of the population is out of range.
        InputError: Fewer people match a group than it has rows.

    >>> import numpy as np
    >>> estimate(np.array([1, 2, 3, 4])).prosecutor.average
    0.4
    """
    limit = read_threshold(threshold)
    least = math.ceil(1 / limit)  # exact: 0.0909 requires 12 rows, not 11
    n_rows, n_groups = int(sizes.sum()), len(sizes)
    prosecutor = Exposure(
        max=1 / int(sizes.min()) if n_groups else 0.0,
        average=n_groups / n_rows if n_groups else 0.0,
        share_above=_share_above(np.ones(n_groups, dtype=np.int64), sizes, sizes, limit),
    )
    journalist, marketer = prosecutor, prosecutor.average
    if fitting is not None and n_groups:
        _check_fitting(sizes, fitting)
        chances = fitting.unit / fitting.rows
        marketer = math.fsum((sizes * chances).tolist()) / n_rows
        journalist = Exposure(
            max=float(chances.max()),
            average=max(n_groups * fitting.unit / int(fitting.rows.sum()), marketer),
            share_above=_share_above(np.full(n_groups, fitting.unit, dtype=np.int64), fitting.rows, sizes, limit),
        )
    return Risk(
        rows=n_rows,
        suppressed_rows=suppressed_rows,
        groups=n_groups,
        smallest_group=int(sizes.min()) if n_groups else 0,
        average_group=n_rows / n_groups if n_groups else 0.0,
        uniques=int((sizes == 1).sum()),
        counts=counts,
        threshold=limit,
        least_group=least,
        met=bool((sizes >= least).all()),
        prosecutor=prosecutor,
        journalist=journalist,
        journalist_basis="release" if fitting is None else fitting.basis,
        marketer=marketer,
        estimates=None if population is None else estimate_uniques(sizes, population),
    )


def _share_above(
    ones: NDArray[np.int64], fitting: NDArray[np.int64], sizes: NDArray[np.int64], limit: Fraction
) -> float:
    """Return the share of rows whose probability, ones / fitting, exceeds the limit; compared exactly."""
    n_rows = int(sizes.sum())
    return int(sizes[compare(ones, fitting, limit) > 0].sum()) / n_rows if n_rows else 0.0


def _check_fitting(sizes: NDArray[np.int64], fitting: Fitting) -> None:
    few = int((fitting.rows < sizes * fitting.unit).sum())
    if few and fitting.basis == "population":
        raise InputError(
            f"{few} of {len(sizes)} groups match fewer rows of the population than they have themselves. Pass the "
            f"table that the release was drawn from with {setting('population')}, and the kinds and hierarchies of its "
            "columns."
        )
    if few:
        raise InputError(
            f"{few} of {len(sizes)} groups have weights that sum to less than their rows. A weight is the number "
            "of people that a row represents: at least 1."
        )


def risk(
    released: Any,
    *,
    qi: Sequence[str],
    threshold: object = DEFAULT_THRESHOLD,
    population: Any = None,
    person: str | None = None,
    weight: str | None = None,
    hierarchies: Mapping[str, Rule] | None = None,
    **cell_keywords: Unpack[ReadingKeywords],
) -> Risk:
    """Estimate how easily people are found in a table, released by any tool or not at all.

    Args:
        released: A frame, or the path of a file.
        qi: The quasi-identifiers.
        threshold: The largest acceptable probability, such as 0.2, "1/11" or "cell-size-11".
        population: The number of people from which the table was drawn, for estimates; or their table (a frame or a
            path), which is counted. Kinds and hierarchies apply to its values.
        person: The column that identifies the person of each row.
        weight: The column with the number of people that each row represents.
        hierarchies: Hierarchies by column.
        cell_keywords: How cells are read: `numeric`, `categorical`, `dates`, `boolean`, `ordered`, `units`, `missing`,
            `decimal` and `thousands`; see `shoal.schema.ReadingKeywords`.

    Returns:
        The risk.

    >>> import polars as pl, shoal
    >>> shoal.risk(pl.DataFrame({"age": ["30", "40", "40", "40"]}), qi=["age"]).uniques
    1
    """
    reading = Reading.of_cells(**cell_keywords)
    qi = column_names("qi", qi)
    person, weight = (None if name is None else str(name) for name in (person, weight))
    named = (*qi, *(name for name in (person, weight) if name is not None))
    table = as_counted(released, named)
    absent = [name for name in named if name not in table.names]
    if absent or not qi:
        problem = f"column {absent[0]!r} is not in the table." if absent else "no quasi-identifier is named."
        raise UsageError(f"{problem} Its columns: {', '.join(map(repr, table.names[:30]))}.")
    starred = starred_rows(table, qi)
    kept_rows = np.flatnonzero(~starred)
    _, first, labels = np.unique(table.group_labels(qi)[kept_rows], return_index=True, return_inverse=True)
    is_size = isinstance(population, int)
    fitting = _weighed(table, kept_rows, labels, weight, values.Marks(*reading.marks)) if weight is not None else None
    if population is not None and not is_size:
        if weight is not None or person is not None:
            raise UsageError("the table of a population cannot be combined with weights or persons. Pass one of them.")
        people = as_table(population, qi)
        schema = Schema.build(people.names, {Role.QI: qi}, reading=reading, others="insensitive")
        fitting = Fitting(count_fitting(table, kept_rows[first], people, schema, hierarchies or {}), "population")
    return estimate(
        _sizes(table, kept_rows, labels, person, reading.missing),
        threshold=threshold,
        suppressed_rows=count_rows(starred, table),
        fitting=fitting,
        population=population if is_size else None,
        counts="rows" if person is None else "persons",
    )


def _sizes(
    table: Table, kept_rows: NDArray[np.int64], labels: NDArray[np.int64], person: str | None, missing: Collection[str]
) -> NDArray[np.int64]:
    """Return the number of rows, or persons, of each group."""
    if person is not None:
        ids = table.factor(person)
        people = person_codes(ids.texts, missing)[ids.ranks[kept_rows]]
        pairs = np.unique(np.column_stack([labels, people]), axis=0)
        return np.bincount(pairs[:, 0]).astype(np.int64)
    return np.bincount(labels, None if table.weights is None else table.weights[kept_rows]).astype(np.int64)


def _weighed(
    table: Table, kept_rows: NDArray[np.int64], labels: NDArray[np.int64], weight: str, marks: values.Marks
) -> Fitting:
    """Return the exact sum of the weights of each group, as integers over a common denominator."""
    ranks, texts = table.factor(weight)
    numbers, misfits = values.parse_numbers([values.normalise(text) for text in texts.to_list()], marks)
    if misfits or any(number <= 0 for number in numbers):
        raise InputError(
            f"weights in column {weight!r}: some are not positive numbers. Correct them, or omit the column."
        )
    exact = [Fraction(str(number)) for number in numbers]
    unit = math.lcm(*(number.denominator for number in exact))
    multiples = np.array([int(number * unit) for number in exact], dtype=object)
    sums = np.zeros(int(labels.max(initial=-1)) + 1, dtype=object)
    rows = 1 if table.weights is None else table.weights[kept_rows].astype(object)
    np.add.at(sums, labels, multiples[ranks[kept_rows]] * rows)
    if max([unit, *sums.tolist()], default=0) >= 2**62:
        raise InputError(f"weights in column {weight!r} are too large or have too many decimals. Round them.")
    return Fitting(sums.astype(np.int64), "weights", unit)
