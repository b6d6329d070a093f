"""Is a released table, of whatever tool, k-anonymous and true to its original?"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.errors import UsageError, VerificationError, join_problems, setting
from shoal.schema import Column, Dialect, Kind, Reading, Role, check_k
from shoal.verification.assignment import count_unmatched
from shoal.verification.cells import Cells, normalise
from shoal.verification.models import Promises
from shoal.verification.reading.tables import text_table
from shoal.verification.verdict import MOST_VIOLATIONS, Verdict, judge, small_groups

__all__ = ["check", "verify"]


def verify(
    released: object,
    *,
    qi: Sequence[str],
    k: int,
    sensitive: Sequence[str] = (),
    original: object = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] | Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    decimal: str | None = None,
    thousands: str | None = None,
    kinds: Mapping[str, Kind | str] | None = None,
    date_formats: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    original_dialect: Dialect | None = None,
    marks: tuple[str, str] | None = None,
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    models: Iterable[Any] = (),
    k_column: str | None = None,
    population: object = None,
    paths: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Verdict:
    """Return the verdict on a released table; raise an error if it is not k-anonymous or not true to its original.

    Args:
        released: The path of a file (CSV, also compressed, Parquet or Excel), or a pandas, polars or pyarrow table.
        qi: The quasi-identifiers. Groups are counted on their text; a missing value is a text too.
        k: The smallest group allowed.
        sensitive: Columns that must have their original text.
        original: The table, or path, from which the release was made. Every released row must then cover an original
            row of its own: columns of both tables are equal, quasi-identifiers equal or more general.
        numeric: Columns to read as numbers. Without a kind, a cell is read as any of them.
        categorical: Columns to read as categories.
        dates: Columns to read as dates; a mapping gives the strptime format of each, ISO otherwise.
        missing: Texts that mean a missing value, besides the empty cell.
        decimal: The decimal mark of numbers; a point by default.
        thousands: The thousands mark of numbers; none by default.
        kinds: "numeric", "categorical" or "date" by column: another spelling of the three keywords above.
        date_formats: The formats of date columns: another spelling of `dates`.
        dialect: How the released file is written; detected from its first line by default.
        original_dialect: The same for the original.
        marks: The decimal and the thousands mark: another spelling of `decimal` and `thousands`.
        labels: By column, the values under each label of its hierarchy.
        models: What every group must pass besides k: models of shoal, or their plain values.
        k_column: The column of the original with each row's own k. A released row then represents an original row
            whose k is at most the size of its group.
        population: The table, or path, of the population, for models that count it.
        paths: By sensitive column, the labels of each value in its hierarchy, from level 1 up.

    Returns:
        The verdict.

    Raises:
        VerificationError: If the release is not k-anonymous, fails a model or is not true to the original.

    Example:
        >>> import polars
        >>> released = polars.DataFrame({"age": ["[25, 40]", "[25, 40]"], "disease": ["flu", "cold"]})
        >>> verify(released, qi=["age"], k=2).smallest_group
        2
    """
    decimal, thousands = (decimal, thousands) if marks is None else marks
    reading = Reading.of_cells(
        numeric=numeric,
        categorical=categorical,
        dates=dates,
        missing=missing,
        decimal=decimal,
        thousands=thousands,
    )
    verdict = check(
        released,
        qi=qi,
        k=k,
        sensitive=sensitive,
        original=original,
        reading=reading,
        kinds=kinds,
        date_formats=date_formats,
        dialect=dialect,
        original_dialect=original_dialect,
        labels=labels,
        models=models,
        k_column=k_column,
        population=population,
        paths=paths,
    )
    if not verdict.ok:
        raise VerificationError(join_problems(verdict.violations))
    return verdict


def check(
    released: object,
    *,
    qi: Sequence[str],
    k: int,
    sensitive: Sequence[str] = (),
    original: object = None,
    reading: Reading | None = None,
    kinds: Mapping[str, Kind | str] | None = None,
    date_formats: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    original_dialect: Dialect | None = None,
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    models: Iterable[Any] = (),
    k_column: str | None = None,
    population: object = None,
    paths: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Verdict:
    """Return the verdict on a released table, good or bad.

    The arguments are those of `verify`; `reading` says how cells are read and, where that fits, files without a
    dialect.
    """
    k, reading = check_k(k), reading or Reading()
    kinds, date_formats = {**reading.kinds, **(kinds or {})}, {**reading.dates, **(date_formats or {})}
    missing = reading.missing
    columns = _qi_columns(qi, sensitive, kinds, date_formats)
    table = text_table(released, dialect, qi, reading)
    _require("the released table", table, [*qi, *sensitive, *kinds, *date_formats])
    of_row = list(zip(*(table[name] for name in qi), strict=True))
    groups = Counter(of_row)
    rows = groups.total()
    violations = [] if rows else ["no rows: a release without data rows proves nothing."]

    def first_row(group: tuple[str, ...]) -> int:
        return of_row.index(group) + 1

    violations += small_groups(groups, k, first_row)
    cells = {c.name: Cells(c.kind, c.date_format, missing, reading.marks, (labels or {}).get(c.name)) for c in columns}
    others = [
        Column(name, Role.SENSITIVE, _kind(kinds, name), decimal=reading.decimal, thousands=reading.thousands)
        for name in table
        if name not in qi
    ]
    promises = Promises(models, [*columns, *others], missing, paths or {})
    promises.take(of_row, table)
    people = None if population is None else text_table(population, None, qi, reading)
    violations += promises.violations(groups, groups, first_row, cells, people)
    if k_column is not None and original is None:
        raise UsageError(f"the original contains each row's own k. Pass it with {setting('original')}.")
    if original is not None and rows:
        source = text_table(original, original_dialect, qi, reading)
        _require("the original table", source, [*qi, *sensitive, *([k_column] if k_column else [])])
        own_k = None
        if k_column:
            wanted = ["0" if normalise(text) in {"", *missing} else text for text in source[k_column]]
            own_k = [f"[0, {groups[group]}]" for group in of_row], wanted
            table = {name: column for name, column in table.items() if name != k_column}
        violations += _compare(table, source, columns, list(cells.values()), own_k)
    return judge(k, rows, groups, violations)


def _kind(kinds: Mapping[str, Kind | str], name: str) -> Kind | None:
    return Kind(kinds[name]) if name in kinds else None


def _qi_columns(
    qi: Sequence[str], sensitive: Sequence[str], kinds: Mapping[str, Kind | str], formats: Mapping[str, str]
) -> list[Column]:
    for role, names in (("qi", qi), ("sensitive", sensitive)):
        if isinstance(names, str):
            raise UsageError(f"{role}={names!r} is a text. Give a list of column names.")
    if not qi:
        raise UsageError(f"no quasi-identifier is named. Name at least one column with {setting('qi')}.")
    if doubles := sorted(name for name, times in Counter([*qi, *sensitive]).items() if times > 1):
        raise UsageError(f"column {doubles[0]!r} is named twice. Name it once, as quasi-identifier or as sensitive.")
    for name, kind in kinds.items():
        if kind not in list(Kind):
            raise UsageError(f"kind {kind!r} of column {name!r} is not known. Use one of {', '.join(Kind)}.")
    kind_of = {**{name: Kind(kind) for name, kind in kinds.items()}, **dict.fromkeys(formats, Kind.DATE)}
    return [Column(name, Role.QI, kind_of.get(name), formats.get(name, Column.date_format)) for name in qi]


def _require(where: str, table: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    problems = []
    for name in dict.fromkeys(names):
        if name not in table:
            near = difflib.get_close_matches(name, table, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It has {len(table)} columns; is its first line a header?"
            problems.append(f"column {name!r} is not in {where}. {hint}")
    if problems:
        raise UsageError(join_problems(problems))


def _compare(
    table: Mapping[str, Sequence[str]],
    source: Mapping[str, Sequence[str]],
    columns: Sequence[Column],
    cells: Sequence[Cells],
    own_k: tuple[Sequence[str], Sequence[str]] | None = None,
) -> list[str]:
    """Compare a release with its original when nothing says which row is which.

    own_k: the range from 0 to the size of each released row's group, and the k that each original row asks for: to stay
    in such a range is one more thing that a released row must do to stand for an original one.
    """
    violations = []
    if strangers := [name for name in table if name not in source]:
        shown = ", ".join(map(repr, strangers[:MOST_VIOLATIONS]))
        violations.append(f"columns: {len(strangers)} of the release are not in the original ({shown}).")
    names = [column.name for column in columns]
    n_rows, n_source = len(table[names[0]]), len(source[names[0]])
    if n_rows > n_source:
        violations.append(f"rows: the release has {n_rows}, the original only {n_source}.")
    equal = [name for name in table if name in source and name not in names]
    unmatched, barren = count_unmatched(
        [*cells, *([Cells(Kind.NUMERIC)] if own_k else [])],
        ([*(table[name] for name in names), *(own_k or ())[:1]], [table[name] for name in equal]),
        ([*(source[name] for name in names), *(own_k or ())[1:]], [source[name] for name in equal]),
    )
    for name, times in zip(names, barren, strict=False):
        if times:
            violations.append(f"column {name!r}: the cells of {times} rows cover no value of the original.")
    if unmatched:
        limit = ", whose own k their group reaches" if own_k else ""
        violations.append(
            f"rows: {unmatched} of {n_rows} cannot each be matched with an original row of their own{limit}."
        )
    return violations
