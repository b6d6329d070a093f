"""The independent verifier; over 400 lines, so that one file holds all that reads and judges a release.

It shares no code with what makes releases (errors and schema apart) and counts with plain dictionaries. `gate` proves a
file just written against its source, row by row; `check` and `verify` take any released table, with or without its
original. Row numbers count the data rows from 1. No text holds a cell of a table.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import gzip
import io
import operator
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple, TextIO

from shoal import readers, workbook
from shoal.assignment import Cells, count_unmatched
from shoal.errors import FileError, InputError, UsageError, VerificationError, join_problems
from shoal.schema import Column, Dialect, Kind, Role, Schema, check_k
from shoal.written import Layout

__all__ = ["Verdict", "can_read", "check", "gate", "read_original", "verify"]

PathName = str | os.PathLike[str]

CHUNK_ROWS = 1_000  # small enough for the processor's cache: twice as fast as 50,000
BLOCK_BYTES = 1 << 20
MOST_VIOLATIONS = 10
MOST_KEPT = 1_000_000
TEXTUAL = ("csv", "gzip")
DELIMITERS = (",", ";", "\t", "|")
FIELDS = re.compile(r'(?:(?:"[^"]*+(?:""[^"]*+)*+"|[^",\r\n]*+)[,\r\n])*+')
BARE_QUOTE = re.compile(r'[^",\r\n]+"')


@dataclass(frozen=True)
class Verdict:
    """What the verifier found in a release; ok says that there is no violation."""

    ok: bool
    k: int
    rows: int
    groups: int
    smallest_group: int
    violations: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the verdict as plain values, for JSON."""
        counts = {"rows": self.rows, "groups": self.groups, "smallest_group": self.smallest_group}
        return {"ok": self.ok, "k": self.k, **counts, "violations": list(self.violations)}


def verify(
    released: object,
    *,
    qi: Sequence[str],
    k: int,
    sensitive: Sequence[str] = (),
    original: object = None,
    kinds: Mapping[str, Kind | str] | None = None,
    missing: Sequence[str] = (),
    date_formats: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    original_dialect: Dialect | None = None,
    marks: tuple[str, str] = (".", ""),
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
) -> Verdict:
    """Return the verdict on a released table; raise a VerificationError if it is not k-anonymous or not true.

    Args:
        released: the path of a file (CSV, also compressed, Parquet or Excel), or a pandas, polars or pyarrow table.
        qi: the quasi-identifiers; k is counted on their text, all of them together, a missing value being a text too.
        k: the size that every group must have.
        sensitive: columns that must hold their original text.
        original: the table (or path) that the release was made from; every released row must then cover an original
            row of its own: columns that both tables have are equal, quasi-identifiers equal or more general.
        kinds: "numeric", "categorical" or "date" by quasi-identifier; without it, cells are read as any of them.
        missing: the texts that stand for a missing value, beside the empty one.
        date_formats: the format of a date column, as for strptime; the default is %Y-%m-%d.
        dialect: how the released file is written; None: the first line tells.
        original_dialect: the same for the file of the original.
        marks: the decimal and the thousands mark in numbers.
        labels: by column, the values that each label of its hierarchy stands for.

    Example:
        >>> import polars
        >>> released = polars.DataFrame({"age": ["[25, 40]", "[25, 40]"], "disease": ["flu", "cold"]})
        >>> verify(released, qi=["age"], k=2).smallest_group
        2
    """
    verdict = check(
        released,
        qi=qi,
        k=k,
        sensitive=sensitive,
        original=original,
        kinds=kinds,
        missing=missing,
        date_formats=date_formats,
        dialect=dialect,
        original_dialect=original_dialect,
        marks=marks,
        labels=labels,
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
    kinds: Mapping[str, Kind | str] | None = None,
    missing: Sequence[str] = (),
    date_formats: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    original_dialect: Dialect | None = None,
    marks: tuple[str, str] = (".", ""),
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
) -> Verdict:
    """Return the verdict on a released table, good or bad; the arguments are those of verify."""
    k = check_k(k)
    columns = _qi_columns(qi, sensitive, kinds or {}, date_formats or {})
    table = _table(released, dialect, qi)
    _require("the released table", table, [*qi, *sensitive, *(kinds or {}), *(date_formats or {})])
    groups = Counter(zip(*(table[name] for name in qi), strict=True))
    rows = groups.total()
    violations = [] if rows else ["no rows: a release without data rows proves nothing."]

    def first_row(group: tuple[str, ...]) -> int:
        return next(n for n, row in enumerate(zip(*(table[name] for name in qi), strict=True), 1) if row == group)

    violations += _small_groups(groups, k, first_row)
    if original is not None and rows:
        source = _table(original, original_dialect, qi)
        _require("the original table", source, [*qi, *sensitive])
        cells = [Cells(c.kind, c.date_format, missing, marks, (labels or {}).get(c.name)) for c in columns]
        violations += _compare(table, source, columns, cells)
    return _verdict(k, rows, groups, violations)


def gate(
    path: PathName,
    schema: Schema,
    k: int,
    original: Mapping[str, Sequence[str]],
    source_rows: Sequence[int],
    claims: Mapping[str, int],
    *,
    keep_order: bool = False,
    suppression_limit: float = 0.0,
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    bounds: Iterable[str] = (),
    spreadsheet_safe: bool = False,
) -> Verdict:
    """Return the verdict on a file just written: its bytes, its columns, its groups and, row by row, its truth.

    Args:
        path: the file, as a release is written: CSV (UTF-8, comma, LF, header), also in gzip, Parquet or Excel.
        schema: the columns of the source; the file must hold the released ones and no other.
        k: the size that every group must have.
        original: the text of the source by column name.
        source_rows: for each released row, the source row (from 0) that it was made from.
        claims: what the maker states: "rows", "groups", "smallest_group", "suppressed_rows"; each is recounted.
        keep_order: the rows stand in the order of the source instead of sorted by their cells.
        suppression_limit: the largest share of source rows that may be missing from the file.
        labels: by column, the values that each label of its hierarchy stands for.
        bounds: the columns whose ranges are written as two columns, NAME_min and NAME_max.
        spreadsheet_safe: a quote stands before whatever a spreadsheet would take for a formula.

    Where the schema has a person column, every group must have rows of k persons.
    """
    k, limit = check_k(k), _share(suppression_limit)
    source, violations = _source(schema, original)
    n_source = len(next(iter(source.values()), ()))
    witness = list(map(operator.index, source_rows))
    kind = readers.kind_of(path)
    facts = _scan(path) if kind in TEXTUAL else _Facts(False, False, 0, True)
    layout = Layout(bounds, spreadsheet_safe)
    recount = _Recount(schema, _align(source, witness, n_source), keep_order, layout, labels or {})
    try:
        for chunk in _chunks(path, Dialect(), whole=True):
            recount.take(chunk)
    except InputError as error:
        broken = str(error).removeprefix(f"{os.fspath(path)}: ")
        violations += [*facts.violations(facts.carriage_returns), f"the file: {broken}"]
        return _verdict(k, recount.rows, recount.groups, violations)
    violations += facts.violations(recount.carriage_returns if kind in TEXTUAL else 0)
    if kind != readers.SUFFIXES.get(os.path.splitext(path)[1], "csv"):
        violations.append("the file: its content is not what its name says.")
    violations += readers.leftovers(path, kind)
    if kind in TEXTUAL and recount.has_quotes and _has_bare_quote(path):
        violations.append("the file: a double quote stands in a cell that is not quoted.")
    violations += recount.header_violations
    violations += _witness_violations(witness, n_source, recount.rows, keep_order)
    suppressed = n_source - recount.rows
    if suppressed > limit * n_source:
        most = int(limit * n_source)
        violations.append(f"suppression: {suppressed} of {n_source} rows are not in the file; at most {most} may be.")
    if not recount.rows:
        violations.append("no rows: a release without data rows proves nothing.")
    violations += _small_groups(recount.sizes(), k, lambda group: recount.first_row(path, group))
    if layout.risky:
        violations.append(f"the file: {layout.risky} cells would be run by a spreadsheet.")
    violations += _claim_violations(claims, recount, suppressed)
    violations += recount.violations()
    return _verdict(k, recount.rows, recount.groups, violations)


def can_read(path: PathName) -> bool:
    """Say whether the verifier has a reader of its own for a file: for all but Arrow files."""
    return readers.kind_of(path) not in ("arrow", "arrow stream")


def read_original(path: PathName, dialect: Dialect, sheet: str | None = None) -> dict[str, list[str]]:
    """Read a file as text by column name, with readers of the verifier's own: CSV, Parquet or a sheet of a workbook.

    Blank lines are skipped; without a header the columns are called column1, column2 and so on. Equal texts of a column
    are held once, so that a large table stays small.
    """
    names: list[str] = []
    columns: list[list[str]] = []
    kept: list[dict[str, str]] = []
    for chunk in _chunks(path, dialect, sheet=sheet):
        rows = [row for row in chunk if row]
        if rows and not names:
            names = rows.pop(0) if dialect.header else [f"column{n}" for n in range(1, len(rows[0]) + 1)]
            _refuse_doubles(f"{os.fspath(path)}: ", names)
            columns, kept = [[] for _ in names], [{} for _ in names]
        if not set(map(len, rows)) <= {len(names)}:
            raise _ragged(path, dialect, len(names))
        for column, held, cells in zip(columns, kept, zip(*rows, strict=True), strict=False):
            if len(held) > MOST_KEPT:
                held.clear()
            held |= {cell: cell for cell in set(cells).difference(held)}
            column.extend(_picker(cells)(held))
    if not names:
        raise InputError(f"{os.fspath(path)}: the file is empty. A table is needed.")
    return dict(zip(names, columns, strict=True))


# ---- reading


def _open(path: PathName, encoding: str) -> TextIO:
    # The limit is one for the whole process; a cell may be longer than its default of 128 kB.
    csv.field_size_limit(2**31 - 1)
    try:
        known = codecs.lookup("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding).name
        return io.TextIOWrapper(readers.open_bytes(path), encoding=known, newline="")
    except OSError as error:
        raise _unreadable(path, error) from None
    except LookupError:
        raise UsageError(f"encoding {encoding!r} is not known. Use a name such as 'utf-8' or 'latin-1'.") from None


def _unreadable(path: PathName, error: Exception) -> FileError:
    reason = getattr(error, "strerror", None) or type(error).__name__
    return FileError(f"{os.fspath(path)}: cannot be read: {reason}.")


def _reader(file: TextIO, dialect: Dialect) -> Any:
    return csv.reader(file, delimiter=dialect.delimiter, skipinitialspace=dialect.initial_space, strict=True)


def _chunks(
    path: PathName, dialect: Dialect, size: int = CHUNK_ROWS, *, sheet: str | None = None, whole: bool = False
) -> Iterator[list[list[str]]]:
    """Yield the rows of a file, blank lines as empty rows; what cannot be read is an InputError with its line.

    sheet: of a workbook. whole: a blank row of a workbook is a row too.
    """
    kind = readers.kind_of(path)
    if kind in ("arrow", "arrow stream"):
        raise InputError(
            f"{os.fspath(path)}: is an Arrow (Feather) file, which the verifier does not read. Give it the table as a "
            "frame, or write it as CSV, Parquet or Excel."
        )
    if kind == "parquet":
        yield from readers.parquet_rows(path, size)
        return
    if kind == "excel":
        yield from workbook.excel_rows(path, size, sheet=sheet, whole=whole)
        return
    with _open(path, dialect.encoding) as file:
        reader = _reader(file, dialect)
        try:
            while rows := list(islice(reader, size)):
                yield rows
        except csv.Error:
            line = _first_line(path, dialect, lambda row: False)
            raise InputError(f"{os.fspath(path)}: line {line}: a quoted cell is not closed as it should be.") from None
        except UnicodeError:
            raise InputError(f"{os.fspath(path)}: not valid {dialect.encoding} text; is it in another one?") from None
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(f"{os.fspath(path)}: cannot be decompressed: it is damaged or cut short.") from None
        except OSError as error:
            raise _unreadable(path, error) from None


def _first_line(path: PathName, dialect: Dialect, wanted: Callable[[list[str]], bool]) -> int:
    """Return the line on which the first wanted row begins, or else the first one that cannot be read."""
    line = 1
    with _open(path, dialect.encoding) as file:
        reader = _reader(file, dialect)
        try:
            while not wanted(next(reader)):
                line = reader.line_num + 1
        except (csv.Error, StopIteration):
            pass
    return line


def _picker(keys: Sequence[Any]) -> Callable[[Any], tuple[str, ...]]:
    """Return what picks the values at these keys; a good deal faster than a loop, even one in map."""
    if len(keys) > 1:
        return operator.itemgetter(*keys)
    return lambda held: tuple(held[key] for key in keys)


def _ragged(path: PathName, dialect: Dialect, width: int) -> InputError:
    line = _first_line(path, dialect, lambda row: len(row) not in (0, width))
    return InputError(f"{os.fspath(path)}: line {line}: the row does not have {width} cells as the first one has.")


def _guess(path: PathName, names: Sequence[str]) -> Dialect:
    """Return the dialect under which all these names stand in the first line; a plain one if none is."""
    if readers.kind_of(path) not in (*TEXTUAL, "zstd"):
        return Dialect()
    for delimiter in DELIMITERS:
        for initial_space in (False, True):
            dialect = Dialect(delimiter=delimiter, initial_space=initial_space)
            try:
                header = next(filter(None, chain.from_iterable(_chunks(path, dialect, 1))), [])
            except InputError:
                continue
            if set(names) <= set(header):
                return dialect
    return Dialect()


def _table(table: object, dialect: Dialect | None, names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the text of a file or of a pandas, polars or pyarrow table by column name."""
    if isinstance(table, str | os.PathLike):
        return read_original(table, dialect or _guess(table, names))
    frame: Any = table
    read: Callable[[int], list[Any]]
    if hasattr(frame, "get_column") and hasattr(frame, "columns"):  # polars
        found, read = list(frame.columns), lambda n: frame.get_column(frame.columns[n]).to_list()
    elif hasattr(frame, "column_names") and hasattr(frame, "column"):  # pyarrow
        found, read = list(frame.column_names), lambda n: frame.column(n).to_pylist()
    elif hasattr(frame, "iloc") and hasattr(frame, "columns"):  # pandas
        found, read = list(map(str, frame.columns)), lambda n: frame.iloc[:, n].tolist()
    else:
        raise UsageError(f"a {type(table).__name__} is not a table. Give a path or a pandas, polars or pyarrow table.")
    _refuse_doubles("", found)
    return {name: [readers.cell_text(cell) for cell in read(n)] for n, name in enumerate(found)}


def _refuse_doubles(where: str, names: Sequence[str]) -> None:
    first = {name: n for n, name in reversed(list(enumerate(names)))}
    if doubles := [str(n + 1) for n, name in enumerate(names) if first[name] != n]:
        places = ", ".join(doubles[:MOST_VIOLATIONS])
        raise InputError(f"{where}the column at position {places} has the name of one before it. Give each its own.")


# ---- any release


def _qi_columns(
    qi: Sequence[str], sensitive: Sequence[str], kinds: Mapping[str, Kind | str], formats: Mapping[str, str]
) -> list[Column]:
    for role, names in (("qi", qi), ("sensitive", sensitive)):
        if isinstance(names, str):
            raise UsageError(f"{role}={names!r} is a text. Give a list of column names.")
    if not qi:
        raise UsageError("no quasi-identifier is named. Name at least one column with qi (command line: --qi).")
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
) -> list[str]:
    """Compare a release with its original when nothing says which row is which."""
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
        cells,
        ([table[name] for name in names], [table[name] for name in equal]),
        ([source[name] for name in names], [source[name] for name in equal]),
    )
    for name, times in zip(names, barren, strict=True):
        if times:
            violations.append(f"column {name!r}: the cells of {times} rows cover no value of the original.")
    if unmatched:
        violations.append(f"rows: {unmatched} of {n_rows} cannot each be matched with an original row of their own.")
    return violations


def _small_groups(
    groups: Mapping[tuple[str, ...], int], k: int, first_row: Callable[[tuple[str, ...]], int]
) -> list[str]:
    small = [group for group, size in groups.items() if size < k]
    if not small:
        return []
    smallest = min(small, key=groups.__getitem__)
    rows = f"{groups[smallest]} row{'s' * (groups[smallest] > 1)}, the first of them row {first_row(smallest)}"
    return [f"k={k}: {len(small)} of {len(groups)} groups are smaller; the smallest group has {rows}."]


def _verdict(k: int, rows: int, groups: Mapping[Any, int], violations: Sequence[str]) -> Verdict:
    shown = list(violations)
    if len(shown) > MOST_VIOLATIONS:
        shown[MOST_VIOLATIONS - 1 :] = [f"... and {len(shown) - MOST_VIOLATIONS + 1} more."]
    return Verdict(not shown, k, rows, len(groups), min(groups.values(), default=0), tuple(shown))


# ---- the gate


class _Facts(NamedTuple):
    """What the bytes of a file say before they are read as a table."""

    bom: bool
    nul: bool
    carriage_returns: int
    ended: bool

    def violations(self, in_cells: int) -> list[str]:
        """Return what is wrong; in_cells: the carriage returns that belong to cells."""
        found = [
            (self.bom, "begins with a byte order mark"),
            (self.nul, "holds a NUL byte"),
            (self.carriage_returns > in_cells, "holds a carriage return outside a quoted cell"),
            (not self.ended, "does not end with a line feed"),
        ]
        return [f"the file: {text}." for wrong, text in found if wrong]


def _scan(path: PathName) -> _Facts:
    start, last, nul, carriage_returns = b"", b"", False, 0
    try:
        with readers.open_bytes(path) as file:
            while block := file.read(BLOCK_BYTES):
                start = start or block[:3]
                last = block[-1:]
                nul = nul or b"\0" in block
                carriage_returns += block.count(b"\r")
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None
    return _Facts(start == b"\xef\xbb\xbf", nul, carriage_returns, last == b"\n")


def _has_bare_quote(path: PathName) -> bool:
    """Say whether a quote stands in an unquoted cell, where readers differ; for a file that the csv module can read."""
    rest = ""
    with _open(path, "utf-8") as file:
        while block := file.read(BLOCK_BYTES):
            rest += block
            end = FIELDS.match(rest).end()  # type: ignore[union-attr]  # it matches the empty text too
            if BARE_QUOTE.match(rest, end):
                return True
            rest = rest[end:]
    return False


def _share(limit: float) -> Fraction:
    try:
        share = Fraction(str(limit))
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise UsageError(f"suppression_limit={limit!r} is not a share. Use a number from 0 to 1.")
    return share


def _source(schema: Schema, original: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the source of the released columns, and what keeps it from being compared."""
    names = [column.name for column in schema.released] + list(schema.names(Role.PERSON))
    if not schema.qi:
        return {}, ["columns: no quasi-identifier, so there is nothing to count."]
    if lacking := [name for name in names if name not in original]:
        return {}, [f"source: column {name!r} is not there to compare with." for name in lacking]
    source = {name: cells if isinstance(cells := original[name], list) else list(cells) for name in names}
    if len(set(map(len, source.values()))) > 1:
        return {}, ["source: its columns differ in length."]
    return source, []


def _exist(witness: list[int], n_source: int) -> bool:
    return not witness or (min(witness) >= 0 and max(witness) < n_source)


def _align(source: Mapping[str, list[str]], witness: list[int], n_source: int) -> dict[str, tuple[Any, ...]]:
    """Bring the source into the order of the release, one column after the other: kind to the processor's cache."""
    if _exist(witness, n_source):
        pick = _picker(witness)
        return {name: pick(cells) for name, cells in source.items()}
    return {
        name: tuple(cells[row] if 0 <= row < n_source else None for row in witness) for name, cells in source.items()
    }


def _witness_violations(witness: list[int], n_source: int, n_rows: int, keep_order: bool) -> list[str]:
    found = []
    if n_rows != len(witness):
        found.append(f"rows: the file has {n_rows}, but {len(witness)} were to be written.")
    if not _exist(witness, n_source):
        strange = [n for n, row in enumerate(witness, 1) if not 0 <= row < n_source]
        found.append(f"source rows: {len(strange)} do not exist (first for row {strange[0]}).")
    if doubled := len(witness) - len(set(witness)):
        found.append(f"source rows: {doubled} rows stand for a source row that another row stands for already.")
    if keep_order and not all(map(operator.lt, witness, islice(witness, 1, None))):
        first = next(n for n, (a, b) in enumerate(pairwise(witness), 2) if a >= b)
        found.append(f"order: the rows are not in the order of the source (first at row {first}).")
    return found


def _claim_violations(claims: Mapping[str, int], recount: _Recount, suppressed: int) -> list[str]:
    counted: dict[str, int] = {"rows": recount.rows, "suppressed_rows": suppressed}
    if recount.is_counting:
        counted |= {"groups": len(recount.groups), "smallest_group": min(recount.groups.values(), default=0)}
    return [
        f"claim {name!r}: {stated} stated, {counted.get(name, 'nothing of that name')} counted."
        for name, stated in claims.items()
        if counted.get(name) != stated
    ]


@dataclass
class _Tally:
    """How often something was found, and at which row first."""

    times: int = 0
    first: int = 0

    def add(self, row: int) -> None:
        self.times += 1
        self.first = self.first or row


class _Recount:
    """One pass over a written file beside its source; what holds for a whole chunk is never looked at cell by cell.

    source: by released column, for each released row the text of its source cell, None if there is no such row.
    """

    def __init__(
        self,
        schema: Schema,
        source: dict[str, tuple[Any, ...]],
        keep_order: bool,
        layout: Layout,
        labels: Mapping[str, Mapping[str, Iterable[str]]],
    ) -> None:
        self._schema = schema
        self._source = source
        self._keep_order = keep_order
        self._layout = layout
        self._cells = {
            c.name: Cells(c.kind, c.date_format, schema.missing, (c.decimal, c.thousands), labels.get(c.name))
            for c in schema.qi
        }
        self._person = next(iter(schema.names(Role.PERSON)), None)
        self._people: set[tuple[tuple[str, ...], str]] = set()
        self._width = 0
        self._passed: dict[str, set[tuple[str, str]]] = {name: set() for name in self._cells}
        self._header: list[str] | None = None
        self._last: list[str] = []
        self._blank, self._ragged, self._disorder = _Tally(), _Tally(), _Tally()
        self._wrong = {column.name: _Tally() for column in schema.released}
        self.rows = 0
        self.groups: Counter[tuple[str, ...]] = Counter()
        self.carriage_returns = 0
        self.has_quotes = False
        self.is_counting = False
        self.header_violations: list[str] = []

    def take(self, rows: list[list[str]]) -> None:
        """Count and compare the next rows; the very first is the header."""
        if self._header is None:
            written = rows.pop(0)
            self._width = len(written)
            self._note_characters([written])
            self._header = self._layout.names(written)
            self.header_violations = _header_violations(self._header, self._schema)
            names = set(self._header)
            self.is_counting = bool(self._cells) and {c.name for c in self._schema.released} <= names
        numbers: Sequence[int] = range(self.rows + 1, self.rows + len(rows) + 1)
        if set(map(len, rows)) <= {self._width}:
            self.rows += len(rows)
        else:
            rows, numbers = self._drop_malformed(rows)
        if not rows:
            return
        if not self._keep_order:
            self._check_order(rows, numbers)
        columns = list(zip(*rows, strict=True))
        self._note_characters(columns)
        if not self._layout.is_plain:
            columns = list(zip(*self._layout.rows(rows), strict=True))
        if self.is_counting:
            groups = list(zip(*(columns[n] for n in self._positions()), strict=True))
            self.groups.update(groups)
            if self._person is not None and self._source:
                people = self._source[self._person]
                self._people.update(
                    (group, people[n - 1]) for group, n in zip(groups, numbers, strict=True) if n <= len(people)
                )
            if self._source:
                self._compare(columns, numbers)

    def first_row(self, path: PathName, group: tuple[str, ...]) -> int:
        """Return the number of the first row of a group, by reading the file again."""
        rows = filter(None, chain.from_iterable(_chunks(path, Dialect(), whole=True)))
        next(rows)
        pick = _picker(self._positions())
        laid_out = (self._layout.rows([row])[0] if len(row) == self._width else None for row in rows)
        return next(n for n, row in enumerate(laid_out, 1) if row is not None and pick(row) == group)

    def sizes(self) -> Mapping[tuple[str, ...], int]:
        """Return how many rows each group has or, where a column tells, rows of how many people."""
        return self.groups if self._person is None else Counter(group for group, _ in self._people)

    def violations(self) -> list[str]:
        """Return what was found wrong in the rows."""
        found = []
        if self._blank.times:
            found.append(f"blank lines: {self._blank.times} (the first before row {self._blank.first}).")
        if self._ragged.times:
            found.append(
                f"rows: {self._ragged.times} without exactly {self._width} cells (first row {self._ragged.first})."
            )
        for name, tally in self._wrong.items():
            if tally.times:
                fault = "do not cover their source" if name in self._cells else "differ from their source"
                found.append(f"column {name!r}: the cells of {tally.times} rows {fault} (first row {tally.first}).")
        if self._disorder.times:
            found.append(f"order: the rows are not sorted by their cells (first at row {self._disorder.first}).")
        return found

    def _positions(self) -> list[int]:
        return [(self._header or []).index(name) for name in self._cells]

    def _note_characters(self, columns: Sequence[Sequence[str]]) -> None:
        text = "".join(chain.from_iterable(columns))
        self.carriage_returns += text.count("\r")
        self.has_quotes = self.has_quotes or '"' in text

    def _drop_malformed(self, rows: list[list[str]]) -> tuple[list[list[str]], list[int]]:
        kept, numbers = [], []
        for row in rows:
            self.rows += bool(row)
            if not row:
                self._blank.add(self.rows + 1)
            elif len(row) != self._width:
                self._ragged.add(self.rows)
            else:
                kept.append(row)
                numbers.append(self.rows)
        return kept, numbers

    def _check_order(self, rows: list[list[str]], numbers: Sequence[int]) -> None:
        before = [self._last, *islice(rows, len(rows) - 1)]
        self._last = rows[-1]
        if not all(map(operator.le, before, rows)):
            self._disorder.add(next(n for n, a, b in zip(numbers, before, rows, strict=True) if a > b))

    def _compare(self, columns: Sequence[Sequence[str]], numbers: Sequence[int]) -> None:
        sources = {name: cells[numbers[0] - 1 : numbers[-1]] for name, cells in self._source.items()}
        some = next(iter(sources.values()))
        if len(some) != len(numbers) or None in some:
            start, end = numbers[0], numbers[0] + len(some)
            kept = [i for i, n in enumerate(numbers) if n < end and some[n - start] is not None]
            columns = [tuple(column[i] for i in kept) for column in columns]
            numbers = [numbers[i] for i in kept]
            sources = {name: tuple(cells[n - start] for n in numbers) for name, cells in sources.items()}
        for name, tally in self._wrong.items():
            cells = columns[(self._header or []).index(name)]
            source = sources[name]
            if source == cells:
                continue
            false = self._false_pairs(name, source, cells)
            if false is None or false:
                for n, pair in zip(numbers, zip(source, cells, strict=True), strict=True):
                    if pair[0] != pair[1] if false is None else pair in false:
                        tally.add(n)

    def _false_pairs(self, name: str, source: Sequence[str], cells: Sequence[str]) -> set[tuple[str, str]] | None:
        """Return the pairs of source and released cell where the one does not cover the other; None if any unequal."""
        if name not in self._cells:
            return None
        passed = self._passed[name]
        pairs = set(zip(source, cells, strict=True)).difference(passed)
        false = {pair for pair in pairs if not self._cells[name].covers(*pair)}
        if len(passed) > MOST_KEPT:
            passed.clear()
        passed |= pairs - false
        return false


def _header_violations(header: list[str], schema: Schema) -> list[str]:
    """Return what is wrong with the columns; the file's own names are not shown, they may be cells."""
    wanted = [column.name for column in schema.released]
    held_back = {column.name: column.role for column in schema.columns if column.name not in wanted}
    found = [f"columns: {name!r} ({held_back[name]}) must not be released." for name in held_back if name in header]
    if strangers := [str(n) for n, name in enumerate(header, 1) if name not in wanted and name not in held_back]:
        places = ", ".join(strangers[:MOST_VIOLATIONS])
        found.append(f"columns: {len(strangers)} not of the table (position {places}).")
    found += [f"columns: {name!r} is not in the file." for name in wanted if name not in header]
    found += [f"columns: {name!r} stands {n} times." for name in wanted if (n := header.count(name)) > 1]
    if list(dict.fromkeys(n for n in header if n in wanted)) != [name for name in wanted if name in header]:
        found.append("columns: not in the order of the table.")
    return found
