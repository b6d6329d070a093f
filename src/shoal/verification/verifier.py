"""Whether a released table of any tool is k-anonymous and true to its original."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Any, ParamSpec, Unpack

from shoal.errors import UsageError, VerificationError, join_problems, setting
from shoal.schema import (
    INPUT,
    Dialect,
    Kind,
    Reading,
    ReadingKeywords,
    Role,
    check_k,
    check_output_decimal,
    column_names,
    limits_by_column,
    parse_codings,
)
from shoal.verification.demand import Demand, Paths, require_columns
from shoal.verification.examination.examination import examine
from shoal.verification.examination.people import people_notes
from shoal.verification.gate_streamed.distinct import distinct_original, distinct_written
from shoal.verification.manifest.manifest import Manifest
from shoal.verification.manifest.reader import manifest_beside, read_manifest
from shoal.verification.matching.groups import Groups
from shoal.verification.models.checks import ModelChecks
from shoal.verification.models.description import Description, describe_groups
from shoal.verification.reading.coded import CodedColumn
from shoal.verification.reading.layout import Layout, in_bounds
from shoal.verification.reading.signature import signature_violations
from shoal.verification.reading.tables import coded_table
from shoal.verification.verdict import Verdict, judge, read_limit

__all__ = ["check", "describe", "find_manifest", "verify"]

Arguments = ParamSpec("Arguments")
PathName = str | os.PathLike[str]


def check(
    released: object,
    *,
    qi: Sequence[str] = (),
    k: int | None = None,
    sensitive: Sequence[str] = (),
    original: object = None,
    person: str | None = None,
    drop: Sequence[str] = (),
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
    max_width: Mapping[str, str | float] | None = None,
    finest: Mapping[str, str | float] | None = None,
    coarsest: Mapping[str, str | float] | None = None,
    uniform: Mapping[str, str | float] | None = None,
    recode: Mapping[str, str] | None = None,
    suppression_limit: float | Fraction | None = None,
    cells: str | None = None,
    center: str | None = None,
    spread: bool = False,
    spreadsheet_safe: bool = False,
    output_decimal: str | None = None,
    keep_order: bool = False,
    manifest: PathName | bool | None = None,
    public_key: PathName | None = None,
    **cell_keywords: Unpack[ReadingKeywords],
) -> Verdict:
    """Return the verdict on a released table, good or bad; the arguments are those of `verify`."""
    if public_key is not None and not isinstance(released, str | os.PathLike):
        raise UsageError(f"{setting('public_key')} checks the signature of a file. Pass the path of the release.")
    check_output_decimal(output_decimal or INPUT)
    stated = find_manifest(released, manifest)
    if public_key is not None and stated is None:
        return judge(k or 0, 0, {}, signature_violations(None, public_key))
    if stated is None and k is None:
        raise UsageError(f"k is not given and there is no manifest. Pass the smallest group size: {setting('k', 5)}.")
    qi, sensitive, drop = _check_names(qi, sensitive, drop, required=stated is None)
    if original is None and k_column is not None:
        raise UsageError(f"the personal k of each row is in the original. Use {setting('original')} to give it.")
    if original is None and person is not None:
        raise UsageError(f"the person of each row is in the original. Use {setting('original')} to give it.")
    has_marks = marks is not None or reading is not None
    has_marks |= cell_keywords.get("decimal") is not None or cell_keywords.get("thousands") is not None
    if reading is None:
        reading = Reading.of_cells(**_spelled(cell_keywords, kinds, date_formats, marks))
    roles = {
        Role.QI: qi,
        Role.SENSITIVE: sensitive,
        Role.IDENTIFIER: drop,
        Role.PERSON: () if person is None else (str(person),),
        Role.PERSONAL_K: () if k_column is None else (str(k_column),),
    }
    demand = Demand(
        k=None if k is None else check_k(k),
        roles=roles,
        reading=reading,
        models=tuple(models),
        suppression_limit=None if suppression_limit is None else read_limit(suppression_limit),
        labels=labels or {},
        paths=paths or {},
        ladders={name: labels for name, labels in (paths or {}).items() if name in qi},
        limits=limits_by_column(max_width or {}, finest or {}, coarsest or {}, uniform or {}),
        codings={str(name): parse_codings(str(name), text) for name, text in (recode or {}).items()},
        population=population,
        bounds=cells == "bounds",
        center=_check_center(cells, center, spread=spread),
        spread=spread,
        spreadsheet_safe=spreadsheet_safe,
        decimal=output_decimal,
        keep_order=keep_order,
        has_marks=has_marks,
    )
    return examine(
        released,
        demand,
        original=original,
        manifest=stated,
        dialect=dialect,
        original_dialect=original_dialect,
        public_key=public_key,
    )


def _check_center(cells: str | None, center: str | None, *, spread: bool) -> str | None:
    """Return what the centres of numbers and dates are; None if cells are no centres."""
    if cells not in (None, "text", "bounds", "center"):
        raise UsageError(f"cells={cells!r} is not known. Use 'text', 'bounds' or 'center'.")
    if cells != "center":
        if center is not None or spread:
            raise UsageError(f"{setting('center')} and {setting('spread')} need {setting('cells', 'center')}.")
        return None
    if center not in (None, "mean", "median"):
        raise UsageError(f"center={center!r} is not known. Use 'mean' or 'median'.")
    return center or "mean"


def find_manifest(released: object, manifest: PathName | bool | None = None) -> Manifest | None:
    """Return the manifest of a release.

    Args:
        released: The release. A table that is not a file has no manifest.
        manifest: The path of the manifest; None for the one beside the file, if there is one; True if there must be
            one; False for none.

    Raises:
        UsageError: There is no manifest where there must be one.
        InputError: The manifest is damaged.
        FileError: The manifest cannot be opened.
    """
    if manifest is False:
        return None
    if not isinstance(manifest, bool | None):
        if not isinstance(released, str | os.PathLike):
            raise UsageError("a manifest describes a file, but the release is a table. Pass the path of its file.")
        return read_manifest(manifest)
    place = manifest_beside(released)
    if place is None and manifest:
        raise UsageError(f"there is no manifest beside the release. Pass its path with {setting('manifest')}.")
    return None if place is None else read_manifest(place)


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

    The manifest beside a file says what was promised: its hash, its k, columns, models and counts are compared with the
    bytes. The arguments ask for more; where the two differ, the stricter applies. Without a manifest, `qi` and `k` are
    required.

    Args:
        released: The path of a file (CSV, also compressed, Parquet or Excel), or a pandas, polars or pyarrow table.
        qi: The quasi-identifiers. k is counted on the combinations of their texts; a missing value is a text too.
        k: The size that every group must have.
        sensitive: The columns that must keep their original text.
        original: The table (or path) that the release was made from. Every released row must then be assigned an
            original row of its own: columns of both tables are equal, quasi-identifiers equal or more general.
        person: The column of the original that identifies the person of each row; k then counts people, as many as the
            rows of a group can belong to.
        drop: Columns that must not be in the release.
        kinds: "numeric", "categorical", "date" or "boolean" by column: another spelling of the keywords above.
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
        paths: By column, the labels of each value in its hierarchy, from level 1 up: of a sensitive column for models,
            of a quasi-identifier for limits that name levels.
        max_width: By quasi-identifier, the widest range that its cells may have: 10 or, for dates, "5y"; of a set or a
            label, the largest number of values.
        finest: By quasi-identifier, the band or level that no cell is finer than, such as "month".
        coarsest: By quasi-identifier, the band or level that no cell is coarser than.
        uniform: By quasi-identifier, the band or level that every cell is one of.
        recode: How outliers of the original were recoded, by column: "top:90", "bottom:1%" or "rare:20".
        suppression_limit: The largest share of original rows that may be missing from the release; any by default.
        cells: "bounds" if ranges are written as two columns, NAME_min and NAME_max; "center" if cells are the centres
            of groups. Such cells are not true of each row. Without the groups, only centres that no group could have
            are found.
        center: "median" if the centres of numbers and dates are medians; "mean" by default.
        spread: Whether a standard deviation or share must follow every centre.
        spreadsheet_safe: Whether a quote precedes every cell that a spreadsheet would take for a formula.
        output_decimal: The decimal mark of the release, "." or ",", if it is not that of the original.
        keep_order: Whether the rows are in the order of the original.
        manifest: The path of the manifest. By default the one beside the file is read, if there is one; False ignores
            it.
        public_key: The PEM file of a public Ed25519 key. Its owner must have signed the manifest.
        cell_keywords: How cells are read: `numeric`, `categorical`, `dates`, `boolean`, `ordered`, `units`, `missing`,
            `decimal` and `thousands`; see `shoal.schema.ReadingKeywords`.

    Returns:
        The verdict, which is good. Its `unchecked` lists what could not be checked.

    Raises:
        VerificationError: The release is not k-anonymous, fails a model, is not true to its original or differs from
            its manifest.
        UsageError: An argument is not valid.
        InputError: A file cannot be read as a table, or the manifest is damaged.
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


def describe(
    released: object,
    *,
    qi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    reading: Reading | None = None,
    dialect: Dialect | None = None,
    paths: Mapping[str, Paths] | None = None,
    manifest: PathName | bool | None = None,
    **cell_keywords: Unpack[ReadingKeywords],
) -> Description:
    """Return which k, and for each sensitive column which l, t, alpha, beta and so on, a released table reaches.

    Args:
        released: The path of a file (CSV, also compressed, Parquet or Excel), or a pandas, polars or pyarrow table.
        qi: The quasi-identifiers; those of the manifest by default.
        sensitive: The sensitive columns; those of the manifest by default.
        reading: All of this at once.
        dialect: How the file is written; detected by default.
        paths: By sensitive column, the labels of each value in its hierarchy, from level 1 up.
        manifest: The path of the manifest. By default the one beside the file is read, if there is one; False ignores
            it.
        cell_keywords: How cells are read: `numeric`, `categorical`, `dates`, `boolean`, `ordered`, `units`, `missing`,
            `decimal` and `thousands`; see `shoal.schema.ReadingKeywords`.

    Returns:
        The description. The release passes `description.models`; a slightly stronger model fails.

    Raises:
        VerificationError: The file differs from its manifest.
        UsageError: An argument is not valid, or no quasi-identifier is named.
        InputError: A file cannot be read as a table, or the manifest is damaged.
        FileError: A file cannot be opened.

    Example:
        >>> import polars
        >>> released = polars.DataFrame({"age": ["[25, 40]", "[25, 40]"], "disease": ["flu", "cold"]})
        >>> description = describe(released, qi=["age"], sensitive=["disease"])
        >>> description.k, description.columns[0].l
        (2, 2)
    """
    stated = find_manifest(released, manifest)
    if stated is not None:
        verdict = examine(released, Demand(), manifest=stated)
        if not verdict.ok:
            raise VerificationError(f"the file and its manifest do not agree. {join_problems(verdict.violations)}")
        sensitive = sensitive or (() if qi else stated.names(Role.SENSITIVE))
        qi = qi or stated.names(Role.QI)
    qi, sensitive, _ = _check_names(qi, sensitive, (), required=True)
    if reading is None:
        is_stated = stated is not None and not any(cell_keywords.values())
        reading = stated.reading if stated is not None and is_stated else Reading.of_cells(**cell_keywords)
    spread: list[CodedColumn] = []
    if stated is None:
        table = coded_table(released, dialect, qi, reading, distinct_original)
        table = Layout(in_bounds(qi, table.names), typed=not isinstance(released, str | os.PathLike)).table(table)
    else:
        assert isinstance(released, str | os.PathLike)
        written = distinct_written(released, delimiter=stated.delimiter)
        layout = Layout(stated.bounds, stated.spreadsheet_safe, mark=stated.mark(), spread=stated.spread)
        table = layout.table(written)
        spread = [column for _, column in layout.spread.values()]
    require_columns("the released table", table.names, [*qi, *sensitive])
    columns = [reading.column(name, Role.SENSITIVE) for name in sensitive]
    labels = {
        name: path(table.column(name).texts) if callable(path) else path
        for name, path in (paths or {}).items()
        if name in sensitive
    }
    counter = Groups(table, qi, spread)
    checks = ModelChecks(
        [{"name": "distinct-l", "column": n, "l": 1} for n in sensitive], columns, reading.missing, labels
    )
    for name in sensitive:
        for group, cell, times in counter.with_cells(table.column(name)):
            checks.add(name, group, cell, times)
    described = describe_groups(counter.rows, {name: checks.values_of(name)[:3] for name in sensitive})
    return described if stated is not None else replace(described, notes=tuple(people_notes(table, qi)))


def _check_names(
    qi: Sequence[str], sensitive: Sequence[str], drop: Sequence[str], *, required: bool
) -> list[tuple[str, ...]]:
    """Return the names as texts; refuse a name that has two roles."""
    lists = [column_names(role, names) for role, names in (("qi", qi), ("sensitive", sensitive), ("drop", drop))]
    if not qi and required:
        raise UsageError(f"there is no quasi-identifier. Use {setting('qi')} to name at least one column.")
    if repeated := sorted(name for name, times in Counter(chain(*lists)).items() if times > 1):
        raise UsageError(f"column {repeated[0]!r} is named twice. Name it once, as quasi-identifier or as sensitive.")
    return lists


def _spelled(
    cells: ReadingKeywords,
    kinds: Mapping[str, Kind | str] | None,
    date_formats: Mapping[str, str] | None,
    marks: tuple[str, str] | None,
) -> ReadingKeywords:
    """Return how cells are read, from both spellings of the keywords; the second one has the last word."""
    given = Reading.of_cells(**cells)
    merged: dict[str, Kind | str] = {
        name: kind for name, kind in given.kinds.items() if kind is not Kind.ORDERED and name not in given.units
    }
    merged |= {**(kinds or {}), **dict.fromkeys(date_formats or {}, Kind.DATE)}
    for name, kind in merged.items():
        if kind not in list(Kind) or kind == Kind.ORDERED:
            known = ", ".join(each for each in Kind if each is not Kind.ORDERED)
            raise UsageError(
                f"kind {kind!r} of column {name!r} is not known. Use one of {known}, or {setting('ordered')}."
            )
    formats = {**given.dates, **(date_formats or {})}
    decimal, thousands = given.marks if marks is None else marks
    return {
        **cells,
        "numeric": [name for name, kind in merged.items() if kind == Kind.NUMERIC],
        "categorical": [name for name, kind in merged.items() if kind == Kind.CATEGORICAL],
        "dates": {name: formats.get(name, "%Y-%m-%d") for name, kind in merged.items() if kind == Kind.DATE},
        "boolean": [name for name, kind in merged.items() if kind == Kind.BOOLEAN],
        "decimal": decimal,
        "thousands": thousands,
    }
