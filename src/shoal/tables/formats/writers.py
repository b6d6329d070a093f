"""Releases as files: the cells, and nothing that reveals who wrote them, when or where."""

from __future__ import annotations

import gzip
import os
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from shoal.errors import UsageError
from shoal.tables.formats.sniff import Format
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    import polars as pl

    from shoal.tables.formats.typed_cells import SheetColumn

__all__ = ["check_excel", "compress", "create", "write_csv", "write_excel", "write_release"]

MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
MOST_LETTERS = 32_767
SHEET = "release"
BLOCK_ROWS = 500_000
BLOCK_BYTES = 1 << 20
CHECKED_ROWS = 2_000  # rows between two looks at whether the run was cancelled

# The parts of a workbook that do not depend on its cells: what a reader needs, and nothing else.
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{TYPES}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{TYPES}.worksheet+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">'
    f'<sheets><sheet name="{SHEET}" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}
# What a workbook has besides if columns keep their type: a style for each number format, and the way to it.
STYLED = {
    "[Content_Types].xml": (
        "</Types>",
        f'<Override PartName="/xl/styles.xml" ContentType="{TYPES}.styles+xml"/></Types>',
    ),
    "xl/_rels/workbook.xml.rels": (
        "</Relationships>",
        f'<Relationship Id="rId2" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
    ),
}
UNPRINTABLE = re.compile("[\0-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
ENTITIES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;"}


def create(path: Path) -> IO[bytes]:
    """Open a new private file for writing."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def write_release(
    text: pl.DataFrame,
    path: Path,
    form: Format,
    watch: Watch = UNWATCHED,
    *,
    delimiter: str = ",",
    types: Mapping[str, Any] | None = None,
) -> None:
    """Write the cells to a new private file in one of the formats that the gate reads.

    Args:
        text: The cells.
        path: The file.
        form: Its format.
        watch: Hears of progress and may cancel.
        delimiter: The separator of cells in a CSV file.
        types: By column that keeps its type in Parquet and Excel, this type.
    """
    if form is Format.EXCEL:
        check_excel(text)
        write_excel(text, path, watch, types)
    elif form is Format.PARQUET:
        from shoal.tables.formats.columnar import write_parquet
        from shoal.tables.formats.typed_cells import typed_frame

        write_parquet(typed_frame(text, types or {}), path)
    elif form is Format.GZIP:
        plain = path.with_name("plain.csv")
        write_csv(text, plain, watch, delimiter)
        compress(plain, path, watch=watch)
    else:
        write_csv(text, path, watch, delimiter)


def write_csv(text: pl.DataFrame, path: Path, watch: Watch = UNWATCHED, delimiter: str = ",") -> None:
    """Write the cells as they are: UTF-8, LF, quotes only where needed; an empty cell is bare."""
    import polars as pl

    if text.width > 1:  # in a table of one column, a bare empty cell would be a blank line
        empty = [name for name in text.columns if (text[name] == "").any()]
        text = text.with_columns(pl.col(empty).replace("", None)) if empty else text
    with create(path) as file:
        for start in range(0, max(1, text.height), BLOCK_ROWS):
            block = text.slice(start, BLOCK_ROWS)
            block.write_csv(
                file, include_header=start == 0, separator=delimiter, line_terminator="\n", quote_style="necessary"
            )
            watch.step(min(1.0, (start + BLOCK_ROWS) / max(1, text.height)))


def compress(plain: Path, path: Path, *, keep: bool = False, watch: Watch = UNWATCHED) -> None:
    """Compress a file with gzip, without name and time, so that the same cells give the same bytes.

    Args:
        plain: The file; it is removed afterwards.
        path: The compressed file.
        keep: Whether to keep the plain file.
        watch: Hears of progress and may cancel.
    """
    with (
        open(plain, "rb") as source,
        create(path) as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed,
    ):
        while block := source.read(BLOCK_BYTES):
            compressed.write(block)
            watch.check()
    if not keep:
        plain.unlink()


def check_excel(text: pl.DataFrame) -> None:
    """Raise a UsageError if a table is too large for a sheet."""
    cure = "Name an output that ends in .csv or .parquet."
    if text.height >= MOST_ROWS:
        raise UsageError(f"an Excel sheet has at most {MOST_ROWS - 1:,} rows; the release has {text.height:,}. {cure}")
    if text.width > MOST_COLUMNS:
        raise UsageError(f"an Excel sheet has at most {MOST_COLUMNS:,} columns; the release has {text.width:,}. {cure}")
    for name in text.columns:
        if len(name) > MOST_LETTERS or (text[name].str.len_chars() > MOST_LETTERS).any():
            raise UsageError(
                f"an Excel cell has at most {MOST_LETTERS:,} letters; a cell of column {name!r} has more. {cure}"
            )


def write_excel(
    text: pl.DataFrame, path: Path, watch: Watch = UNWATCHED, types: Mapping[str, Any] | None = None
) -> None:
    """Write the cells on one sheet, as text or as their types: no formulas, properties or times; no empty cells.

    Raises:
        UsageError: If the sheet needs more bytes than a workbook can have.
    """
    from shoal.tables.formats.typed_cells import sheet_column

    found = {name: sheet_column(text[name], dtype) for name, dtype in (types or {}).items()}
    typed = {name: column for name, column in found.items() if column is not None}
    with create(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in PARTS.items():
            content = content.replace(*STYLED[part]) if typed and part in STYLED else content
            archive.writestr(_entry(part), XML + content)
        if typed:
            archive.writestr(_entry("xl/styles.xml"), XML + _styles())
        try:
            with archive.open(_entry("xl/worksheets/sheet1.xml"), "w") as sheet:
                for block in _sheet(text, typed, watch):
                    sheet.write(block.encode())
        except RuntimeError:  # of zipfile, at 2 GB
            raise UsageError(
                "the release is too large for an Excel workbook. Name an output that ends in .csv or .parquet."
            ) from None


def _styles() -> str:
    """Return the styles of cells: General, and one for each number format."""
    from shoal.tables.formats.typed_cells import SHEET_FORMATS

    numbers = range(164, 164 + len(SHEET_FORMATS))  # the first that a workbook may define
    plain = 'fontId="0" fillId="0" borderId="0"'
    formats = "".join(
        f'<numFmt numFmtId="{n}" formatCode="{code}"/>' for n, code in zip(numbers, SHEET_FORMATS, strict=True)
    )
    styles = "".join(f'<xf numFmtId="{n}" {plain} xfId="0" applyNumberFormat="1"/>' for n in numbers)
    return (
        f'<styleSheet xmlns="{MAIN}"><numFmts count="{len(numbers)}">{formats}</numFmts>'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        f'<cellStyleXfs count="1"><xf numFmtId="0" {plain}/></cellStyleXfs>'
        f'<cellXfs count="{len(numbers) + 1}"><xf numFmtId="0" {plain} xfId="0"/>{styles}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )


def _entry(part: str) -> zipfile.ZipInfo:
    """Return the entry of a part in the archive, with a time that is always the same."""
    entry = zipfile.ZipInfo(part)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
    return entry


def _sheet(text: pl.DataFrame, typed: Mapping[str, SheetColumn], watch: Watch) -> Iterator[str]:
    """Yield the XML of the sheet in blocks of rows."""
    letters = [_column_letters(column) for column in range(text.width)]
    columns = [typed.get(name) for name in text.columns]
    yield f'{XML}<worksheet xmlns="{MAIN}"><sheetData>'
    rows = [_row(1, letters, [None] * text.width, text.columns)]
    for number, row in enumerate(text.iter_rows(), 2):
        if number % CHECKED_ROWS == 0:
            watch.step(number / text.height)
            yield "".join(rows)
            rows.clear()
        rows.append(_row(number, letters, columns, row))
    yield "".join(rows)
    yield "</sheetData></worksheet>"


def _row(number: int, letters: Sequence[str], columns: Sequence[SheetColumn | None], row: Sequence[str]) -> str:
    cells = [
        f'<c r="{letter}{number}" t="inlineStr"><is><t{_space(cell)}>{_xml(cell)}</t></is></c>'
        if column is None
        else f'<c r="{letter}{number}"{column.attributes}><v>{column.values[cell]}</v></c>'
        for letter, column, cell in zip(letters, columns, row, strict=True)
        if cell
    ]
    return f'<row r="{number}">{"".join(cells)}</row>' if cells else f'<row r="{number}"/>'


def _space(cell: str) -> str:
    """Return the attribute without which a reader may remove blanks at the ends of a cell."""
    return ' xml:space="preserve"' if cell[0].isspace() or cell[-1].isspace() or "\n" in cell else ""


def _xml(cell: str) -> str:
    """Escape what XML does not allow, and what would be read as such an escape."""
    if UNPRINTABLE.search(cell):
        cell = UNPRINTABLE.sub(lambda match: f"_x{ord(match[0]):04X}_", cell)
    return cell.translate(ENTITIES) if "&" in cell or "<" in cell or ">" in cell else cell


def _column_letters(column: int) -> str:
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
