"""Read Excel workbooks (.xlsx): the values of one visible sheet, with notes about what the sheet hides.

We read the XML directly: the text of a cell depends on its type and number format, and the notes report formulas,
merged cells, and hidden rows and columns. A number becomes the shortest decimal of the stored value: 30, not 30.0.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.parsers import expat

from shoal.errors import InputError, Note, UsageError, counted, file_path
from shoal.schema import NUMBERED, Dialect
from shoal.tables.csv import check_file
from shoal.tables.formats.excel_sheet import (
    DamagedError,
    Sheet,
    SheetReader,
    make_parser,
    parse_part,
    style_of,
    unescape,
)
from shoal.tables.formats.memory_limit import check_expansion, check_memory
from shoal.tables.formats.typed_cells import sheet_type
from shoal.tables.header import about_numbers, find_header, number_doubles, numbered_names
from shoal.tables.table import Stamp, Table, check_names, make_table
from shoal.tables.watch import UNWATCHED, Watch

__all__ = ["read_excel", "visible_sheets"]

SAMPLE_ROWS = 200
MOST_STYLES = 100_000  # Excel allows 65,490
FREE_CELLS = 10_000_000  # a sheet with more cells must have a value in one of a hundred
NOT_FOUND = (KeyError, RuntimeError, ValueError, IndexError)  # parts, sheets and strings that are not there
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_excel(
    path: Path,
    *,
    sheet: str | None = None,
    header: bool | None = None,
    named: Sequence[str] = (),
    duplicate_columns: str | None = None,
    watch: Watch = UNWATCHED,
) -> Table:
    """Read the values of one visible sheet of a workbook; leave out hidden rows and columns.

    Args:
        path: The workbook.
        sheet: The name of the sheet; None reads the first visible one.
        header: Whether the first row contains the column names; detected if it is None.
        named: Columns that the sheet has; a first row that contains all of them is a header.
        duplicate_columns: "number" numbers columns that share a name; otherwise they are an error.
        watch: Whom to ask whether the run was cancelled.

    Returns:
        The table, with notes about formulas, errors, merged cells and hidden parts.

    Raises:
        UsageError: If there is no visible sheet with this name.
        InputError: If the workbook cannot be read, changed meanwhile, or contains formulas without a computed value.
    """
    stamp = check_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            if "xl/workbook.xml" not in archive.namelist():
                raise InputError(f"{path}: is a zip archive, but not an Excel workbook. Extract the table first.")
            check_expansion(path, stamp.size, sum(entry.file_size for entry in archive.infolist()))
            if any(entry.compress_type not in PACKINGS for entry in archive.infolist()):
                raise zipfile.BadZipFile
            name, part, notes, dates_1904 = _choose(archive, path, sheet)
            with archive.open(part) as file:
                strings = _strings(archive, watch)
                content = SheetReader(strings, _styles(archive), dates_1904).read(file, watch)
    except DamagedError as error:
        raise InputError(f"{path}: {error}. Open the workbook in Excel, save it, and run again.") from None
    except (zipfile.BadZipFile, zlib.error, expat.ExpatError, EOFError, OverflowError, *NOT_FOUND):
        raise InputError(
            f"{path}: cannot be read as an Excel workbook: it is damaged, encrypted or in another format. Save it "
            "again "
            "as .xlsx without a password."
        ) from None
    if Stamp.of(path) != stamp:
        raise InputError(f"{path}: the file changed while it was read. Run again when nothing writes to it.")
    if content.uncomputed:
        raise InputError(
            f"{path}, sheet {name!r}: {counted(content.uncomputed, 'formula has', 'formulas have')} no computed value. "
            "Open the workbook in Excel, "
            "save it, and run again."
        )
    place = f"{path}, sheet {name!r}"
    columns = _columns(content, place)
    n_cells, n_values = len(columns) * len(content.rows), sum(map(len, content.rows))
    if n_cells > max(FREE_CELLS, 100 * n_values):
        raise InputError(
            f"{place}: has {counted(n_values, 'value')} in {counted(len(content.rows), 'row')} and "
            f"{counted(len(columns), 'column')}. Delete what is far away from the table, and save the workbook again."
        )
    check_memory(path, 0, n_cells)
    sample = [[row.get(c, "") for c in columns] for row in content.rows[:SAMPLE_ROWS]]
    numbered = duplicate_columns == NUMBERED
    if numbered:
        sample[0] = list(number_doubles(sample[0]))
    dialect = Dialect(header=find_header(sample, header=header, named=named, place=place), numbered=numbered)
    return _table(content, columns, path, stamp, name, dialect, notes)


def visible_sheets(path: Path) -> tuple[str, ...]:
    """Return the names of the visible sheets of a workbook."""
    with zipfile.ZipFile(path) as archive:
        book = _attributes(archive, "xl/workbook.xml", {"sheet"})
    return tuple(attributes["name"] for _, attributes in book if attributes.get("state", "visible") == "visible")


def _columns(content: Sheet, place: str) -> list[int]:
    """Return the numbers of the visible columns between the first and the last one that contain values."""
    used = {column for row in content.rows for column in row}
    if not used:
        raise InputError(f"{place}: no data rows.")
    return [c for c in range(min(used), max(used) + 1) if c not in content.hidden_columns]


def _table(
    content: Sheet, columns: list[int], path: Path, stamp: Stamp, name: str, dialect: Dialect, notes: list[Note]
) -> Table:
    import polars as pl

    place = f"{path}, sheet {name!r}"
    first = [content.rows[0].get(c, "") for c in columns] if dialect.header else numbered_names(len(columns))
    names = number_doubles(first) if dialect.numbered else first
    rows = content.rows[1:] if dialect.header else content.rows
    if not rows:
        raise InputError(f"{place}: no data rows.")
    check_names(list(names), place)
    texts = {
        name: pl.Series(name, [row.get(c, "") for row in rows], dtype=pl.String)
        for name, c in zip(names, columns, strict=True)
    }
    sheet = f"sheet {name!r}, {'with' if dialect.header else 'without'} header"
    remarks = _remarks(content, f"{file_path(path)}, sheet {name!r}")
    kinds = {c: set(found) for c, found in content.kinds.items()}
    for column, kind in content.first_kinds.items() if not dialect.header else ():
        kinds.setdefault(column, set()).add(kind)
    types = {name: sheet_type(kinds.get(c, set()), texts[name]) for name, c in zip(names, columns, strict=True)}
    types = {name: dtype for name, dtype in types.items() if dtype is not None}
    notes = [Note(file_path(path), sheet), *about_numbers(file_path(path), first, names), *notes, *remarks]
    return make_table(
        texts, place, path=path, stamp=stamp, dialect=dialect, sheet=name, notes=tuple(notes), types=types
    )


def _remarks(sheet: Sheet, place: str) -> Iterator[Note]:
    remarks = [
        (sheet.formulas, "{cells:cell is a formula|cells are formulas}, read as the last computed value"),
        (sheet.errors, "{cells:cell contains|cells contain} an error such as #N/A, read as text"),
        (sheet.merged, "{cells:merged range|merged ranges}, of which only the first cell has a value"),
        (sheet.hidden_rows, "{cells:hidden row was|hidden rows were} left out"),
        (len(sheet.hidden_used), "{cells:hidden column was|hidden columns were} left out"),
        (sheet.blank, "{cells:blank row was|blank rows were} skipped"),
    ]
    return (Note(place, text, counts={"cells": count}) for count, text in remarks if count)


def _choose(archive: zipfile.ZipFile, path: Path, requested: str | None) -> tuple[str, str, list[Note], bool]:
    """Return the sheet's name, its part of the archive, notes about other sheets, and whether dates count from 1904."""
    book = _attributes(archive, "xl/workbook.xml", {"sheet", "workbookPr"})
    targets = {a["Id"]: a["Target"] for _, a in _attributes(archive, "xl/_rels/workbook.xml.rels", {"Relationship"})}
    sheets = [(a["name"], a["id"], a.get("state", "visible")) for tag, a in book if tag == "sheet"]
    visible = [(name, key) for name, key, state in sheets if state == "visible"]
    if requested is not None and requested not in [name for name, _ in visible]:
        hidden = requested in [name for name, _, _ in sheets]
        why = "is hidden, and hidden sheets are never released; unhide it first" if hidden else "does not exist"
        visible_names = ", ".join(repr(name) for name, _ in visible)
        raise UsageError(f"{path}: sheet {requested!r} {why}. The visible sheets are {visible_names}.")
    if not visible:
        raise InputError(f"{path}: the workbook has no visible sheet.")
    name, key = next((n, k) for n, k in visible if requested is None or n == requested)
    notes = []
    if requested is None and len(visible) > 1:
        others = ", ".join(repr(n) for n, _ in visible if n != name)
        notes.append(Note(file_path(path), f"only the first sheet was read, not {others}"))
    if len(sheets) > len(visible):
        text = "{sheets:hidden sheet was|hidden sheets were} left out"
        notes.append(Note(file_path(path), text, counts={"sheets": len(sheets) - len(visible)}))
    target = targets[key]
    part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    dates_1904 = any(a.get("date1904", "0") in ("1", "true") for tag, a in book if tag == "workbookPr")
    return name, part, notes, dates_1904


def _attributes(archive: zipfile.ZipFile, part: str, tags: set[str]) -> list[tuple[str, dict[str, str]]]:
    """Return the elements with these tags and their attributes, without namespaces."""
    elements = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if (bare := tag.rpartition(":")[2]) in tags:
            elements.append((bare, {name.rpartition(":")[2]: value for name, value in attributes.items()}))

    parser = make_parser()
    parser.StartElementHandler = start
    with archive.open(part) as file:
        parser.ParseFile(file)
    return elements


def _strings(archive: zipfile.ZipFile, watch: Watch) -> list[str]:
    """Return the shared strings, without the phonetic readings of Japanese text."""
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    texts: list[str] = []
    parts: list[str] = []
    state = {"text": False, "reading": False}

    def start(tag: str, _: dict[str, str]) -> None:
        bare = tag.rpartition(":")[2]
        if bare == "si":
            parts.clear()
        elif bare == "rPh":
            state["reading"] = True
        elif bare == "t":
            state["text"] = not state["reading"]

    def end(tag: str) -> None:
        bare = tag.rpartition(":")[2]
        if bare == "si":
            texts.append(unescape("".join(parts)))
        elif bare == "rPh":
            state["reading"] = False
        elif bare == "t":
            state["text"] = False

    parser = make_parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda data: parts.append(data) if state["text"] else None
    with archive.open("xl/sharedStrings.xml") as file:
        parse_part(parser, file, watch)
    return texts


def _styles(archive: zipfile.ZipFile) -> list[str]:
    """Return the meaning of numbers in each cell style; see `style_of`."""
    if "xl/styles.xml" not in archive.namelist():
        return []
    codes: dict[int, str] = {}
    styles: list[int] = []
    inside = [False]

    def start(tag: str, attributes: dict[str, str]) -> None:
        bare = tag.rpartition(":")[2]
        if bare == "numFmt":
            codes[int(attributes["numFmtId"])] = attributes.get("formatCode", "")
        elif bare == "cellXfs":
            inside[0] = True
        elif bare == "xf" and inside[0]:
            styles.append(int(attributes.get("numFmtId", "0")))
            if len(styles) > MOST_STYLES:
                raise DamagedError(f"it has more than {MOST_STYLES:,} cell styles")

    def end(tag: str) -> None:
        if tag.rpartition(":")[2] == "cellXfs":
            inside[0] = False

    parser = make_parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    with archive.open("xl/styles.xml") as file:
        parser.ParseFile(file)
    meanings = {number: style_of(number, codes.get(number)) for number in set(styles)}
    return [meanings[number] for number in styles]
