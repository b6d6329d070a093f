"""Whether a released table of any tool is k-anonymous and true to its original."""

from __future__ import annotations

import difflib
import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec

from shoal.errors import UsageError, VerificationError, join_problems, setting
from shoal.schema import Column, Dialect, Kind, Reading, Role, check_k
from shoal.verification.cells import Cells, normalise
from shoal.verification.matching.assignment import count_unmatched
from shoal.verification.models.checks import ModelChecks
from shoal.verification.reading.tables import text_table
from shoal.verification.signature import signed_file_violations
from shoal.verification.verdict import (
    MOST_VIOLATIONS,
    NO_ROWS,
    Group,
    Verdict,
    Violation,
    judge,
    plural,
    share,
    small_groups,
)

__all__ = ["check", "verify"]

Arguments = ParamSpec("Arguments")


def check(
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
    marks: tuple[str, str] | None = None,
    reading: Reading | None = None,
    dialect: Dialect | None = None,
    original_dialect: Dialect | None = None,
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    models: Iterable[Any] = (),
    k_column: str | None = None,
    population: object = None,
    paths: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    public_key: str | os.PathLike[str] | None = None,
) -> Verdict:
    """Return the verdict on a released table, good or bad; the arguments are those of `verify`."""
    k = check_k(k)
    decimal, thousands = (decimal, thousands) if marks is None else marks
    reading = reading or Reading.of_cells(
        numeric=numeric, categorical=categorical, dates=dates, missing=missing, decimal=decimal, thousands=thousands
    )
    missing = reading.missing
    kinds, date_formats = {**reading.kinds, **(kinds or {})}, {**reading.dates, **(date_formats or {})}
    columns = _qi_columns(qi, sensitive, kinds, date_formats)
    table = text_table(released, dialect, qi, reading)
    _require("the released table", table, [*qi, *sensitive, *kinds, *date_formats])
    group_of_row = list(zip(*(table[name] for name in qi), strict=True))
    groups = Counter(group_of_row)
    n_rows = groups.total()
    violations = [] if n_rows else [NO_ROWS]
    if public_key is not None:
        violations += signed_file_violations(released, public_key)

    def first_row(group: Group) -> int:
        return group_of_row.index(group) + 1

    violations += small_groups(groups, k, first_row)
    cells = {c.name: Cells(c.kind, c.date_format, missing, reading.marks, (labels or {}).get(c.name)) for c in columns}
    other_columns = [
        Column(name, Role.SENSITIVE, _kind(kinds, name), decimal=reading.decimal, thousands=reading.thousands)
        for name in table
        if name not in qi
    ]
    checks = ModelChecks(models, [*columns, *other_columns], missing, paths or {})
    checks.count(group_of_row, table)
    people = None if population is None else text_table(population, None, qi, reading)
    violations += checks.violations(groups, groups, first_row, cells, people)
    if k_column is not None and original is None:
        raise UsageError(f"the personal k of each row is in the original. Use {setting('original')} to give it.")
    if original is not None and n_rows:
        source = text_table(original, original_dialect, qi, reading)
        _require("the original table", source, [*qi, *sensitive, *([k_column] if k_column else [])])
        personal_k = None
        if k_column:
            requests = ["0" if normalise(text) in {"", *missing} else text for text in source[k_column]]
            personal_k = [f"[0, {groups[group]}]" for group in group_of_row], requests
            table = {name: column for name, column in table.items() if name != k_column}
        violations += _compare(table, source, columns, list(cells.values()), personal_k)
    return judge(k, n_rows, groups, violations)


def _with_arguments_of(
    function: Callable[Arguments, Verdict],
) -> Callable[[Callable[..., Verdict]], Callable[Arguments, Verdict]]:
    """Give a function the arguments of another, for type checkers and for help()."""

    def decorate(decorated: Callable[..., Verdict]) -> Callable[Arguments, Verdict]:
        decorated.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        return decorated

    return decorate


@_with_arguments_of(check)
def verify(*arguments: Any, **options: Any) -> Verdict:  # noqa: D417
    """Return the verdict on a released table if it is k-anonymous and true to its original; raise an error if not.

    Args:
        released: The path of a file (CSV, also compressed, Parquet or Excel), or a pandas, polars or pyarrow table.
        qi: The quasi-identifiers. k is counted on the combinations of their texts; a missing value is a text too.
        k: The size that every group must have.
        sensitive: The columns that must keep their original text.
        original: The table (or path) that the release was made from. Every released row must then be assigned an
            original row of its own: columns of both tables are equal, quasi-identifiers equal or more general.
        numeric: Columns to read as numbers. Without a kind, cells are read as any of them.
        categorical: Columns to read as categories.
        dates: Columns to read as dates; a mapping gives the strptime format of each, %Y-%m-%d by default.
        missing: The texts that mean a missing value, besides the empty one.
        decimal: The decimal mark of numbers; a point by default.
        thousands: The thousands mark of numbers; none by default.
        kinds: "numeric", "categorical" or "date" by column: another spelling of the keywords above.
        date_formats: The formats of date columns: another spelling of `dates`.
        marks: The decimal and the thousands mark: another spelling of `decimal` and `thousands`.
        reading: All of this at once, and how files are read whose dialect is detected, where that fits the file.
        dialect: How the released file is written; detected from the first line by default.
        original_dialect: How the file of the original is written; detected from the first line by default.
        labels: By column, the values that each label of its hierarchy means.
        models: What every group must pass besides k: models of shoal, or their plain values.
        k_column: The column of the original with the personal k of each row. A released row is then assigned only an
            original row whose personal k its group reaches.
        population: The table (or path) of the population, for models that count it.
        paths: By sensitive column, the labels of each value in its hierarchy, from level 1 up.
        public_key: The PEM file of a public Ed25519 key. Its owner must have signed the manifest beside the file.

    Returns:
        The verdict, which is good.

    Raises:
        VerificationError: The release is not k-anonymous, fails a model or is not true to its original.
        UsageError: An argument is not valid.
        InputError: A file cannot be read as a table.
        FileError: A file cannot be opened.

    Example:
        >>> import polars
        >>> released = polars.DataFrame({"age": ["[25, 40]", "[25, 40]"], "disease": ["flu", "cold"]})
        >>> verify(released, qi=["age"], k=2).smallest_group
        2
    """
    verdict = check(*arguments, **options)
    if not verdict.ok:
        raise VerificationError(join_problems(verdict.violations))
    return verdict


def _kind(kinds: Mapping[str, Kind | str], name: str) -> Kind | None:
    return Kind(kinds[name]) if name in kinds else None


def _qi_columns(
    qi: Sequence[str], sensitive: Sequence[str], kinds: Mapping[str, Kind | str], formats: Mapping[str, str]
) -> list[Column]:
    for role, names in (("qi", qi), ("sensitive", sensitive)):
        if isinstance(names, str):
            raise UsageError(f"{role}={names!r} is a text. Give a list of column names.")
    if not qi:
        raise UsageError(f"there is no quasi-identifier. Use {setting('qi')} to name at least one column.")
    if repeated := sorted(name for name, times in Counter([*qi, *sensitive]).items() if times > 1):
        raise UsageError(f"column {repeated[0]!r} is named twice. Name it once, as quasi-identifier or as sensitive.")
    for name, kind in kinds.items():
        if kind not in list(Kind):
            raise UsageError(f"kind {kind!r} of column {name!r} is not known. Use one of {', '.join(Kind)}.")
    kind_of = {**{name: Kind(kind) for name, kind in kinds.items()}, **dict.fromkeys(formats, Kind.DATE)}
    return [Column(name, Role.QI, kind_of.get(name), formats.get(name, Column.date_format)) for name in qi]


def _require(where: str, table: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    problems = []
    for name in dict.fromkeys(names):
        if name not in table:
            similar = difflib.get_close_matches(name, table, n=1)
            columns = plural(len(table), "column")
            hint = f"Did you mean {similar[0]!r}?" if similar else f"It has {columns}; is its first line a header?"
            problems.append(f"column {name!r} is not in {where}. {hint}")
    if problems:
        raise UsageError(join_problems(problems))


def _compare(
    table: Mapping[str, Sequence[str]],
    source: Mapping[str, Sequence[str]],
    columns: Sequence[Column],
    cells: Sequence[Cells],
    personal_k: tuple[Sequence[str], Sequence[str]] | None = None,
) -> list[Violation]:
    """Compare a release with its original without knowing which row is which.

    Args:
        table: The release.
        source: The original.
        columns: The quasi-identifiers.
        cells: How to read each of them.
        personal_k: The range from 0 to the size of each released row's group, and the k that each original row asks
            for. It is compared like one more quasi-identifier.
    """
    violations = []
    if extra := [name for name in table if name not in source]:
        names_text = ", ".join(map(repr, extra[:MOST_VIOLATIONS]))
        violations.append(
            Violation("columns", f"{share(len(extra), len(table), 'column')} not in the original ({names_text})")
        )
    names = [column.name for column in columns]
    n_rows, n_source = len(table[names[0]]), len(source[names[0]])
    if n_rows > n_source:
        violations.append(Violation("rows", f"the release has {n_rows}, the original only {n_source}"))
    equal_names = [name for name in table if name in source and name not in names]
    n_unmatched, n_empty = count_unmatched(
        [*cells, *([Cells(Kind.NUMERIC)] if personal_k else [])],
        ([*(table[name] for name in names), *(personal_k or ())[:1]], [table[name] for name in equal_names]),
        ([*(source[name] for name in names), *(personal_k or ())[1:]], [source[name] for name in equal_names]),
    )
    for name, times in zip(names, n_empty, strict=False):
        if times:
            text = f"the cells of {plural(times, 'row')} cover no value of the original"
            violations.append(Violation(f"column {name!r}", text))
    if n_unmatched:
        limit = " whose personal k their group reaches" if personal_k else ""
        text = f"{n_unmatched} of {n_rows} cannot be matched, one to one, with original rows{limit}"
        violations.append(Violation("rows", text))
    return violations
