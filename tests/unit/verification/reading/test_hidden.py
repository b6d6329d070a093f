"""Everything that a file can hold besides its cells is a violation; files as shoal writes them have none.

L06, L07: metadata, statistics, dictionaries, indexes, headers, properties. Each hiding place is built with real bytes.
"""

from __future__ import annotations

import gzip
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import xlsxwriter
import zstandard

from shoal.errors import InputError
from shoal.tables.formats import columnar, writers
from shoal.tables.formats.sniff import Format
from shoal.verification import hidden_content
from shoal.verification.reading.coded import read_written

SECRET = "Ada Lovelace, 1815"
TABLE = pl.DataFrame(
    {
        "age": ["[25, 40]"] * 40 + ["*"] * 41,
        "zip": [f"0213{i % 7}" for i in range(81)],
        "disease": ["" if i % 5 == 0 else f"a disease with a long name, number {i}" for i in range(81)],
    }
)
FORMATS = {"out.csv": Format.CSV, "out.csv.gz": Format.GZIP, "out.parquet": Format.PARQUET, "out.xlsx": Format.EXCEL}


def written(folder: Path, name: str, table: pl.DataFrame = TABLE) -> Path:
    path = folder / name
    path.unlink(missing_ok=True)
    writers.write_release(table, path, FORMATS[name])
    return path


def texts(path: Path, *, strict: bool = False) -> str:
    return " ".join(hidden_content(path, strict=strict))


# ---- what shoal writes


TABLES = {
    "plain": TABLE,
    "one row": TABLE.head(1),
    "no rows": TABLE.head(0),
    "one column": TABLE.select("disease"),
    "many columns": pl.DataFrame({f"c{i}": ["1", "2"] for i in range(800)}),
    "blank rows": pl.DataFrame({"a": ["", "x", "", ""], "b": ["", "", "", "y"]}),
    "odd cells": pl.DataFrame(
        {"a": ["\x00x\x1f", "_x0041_", " blank ", "a\nb\r\n", "<&>\"'", "\ufffe😀é"], "b <&>": ["="] * 6}
    ),
    "odd blanks": pl.DataFrame(
        {"a": ["\xa0x", "x\u2003", "\x1f", "\x01x0041_", "_x0041_x0042_", "_x", "a_x004_", "_"]}
    ),
    "distinct": pl.DataFrame({"a": [f"{i:07}-{'x' * (i % 90)}" for i in range(3000)]}),
    "runs": pl.DataFrame({"a": [str(i // 700) for i in range(5000)], "b": [str(i * i % 37) for i in range(5000)]}),
    "nulls": pl.DataFrame({"a": [""] * 1000, "b": ["x"] + [""] * 999}),
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("table", TABLES)
def test_files_that_shoal_writes_hide_nothing(tmp_path: Path, name: str, table: str) -> None:
    path = written(tmp_path, name, TABLES[table])
    assert hidden_content(path, strict=True) == []
    if name != "out.csv" and "\x00" not in "".join(TABLES[table].to_series(0)):
        assert hidden_content(path) == []


def test_parquet_made_from_a_csv_file_hides_nothing(tmp_path: Path) -> None:
    columnar.sink_parquet(written(tmp_path, "out.csv"), tmp_path / "sunk.parquet")
    assert hidden_content(tmp_path / "sunk.parquet", strict=True) == []


def test_other_readers_see_the_same_cells_of_a_workbook(tmp_path: Path) -> None:
    """B26: odd cells survive in the XML that we write ourselves."""
    import fastexcel

    table = TABLES["odd cells"]
    path = written(tmp_path, "out.xlsx", table)
    assert read_written(path).texts() == table.to_dict(as_series=False)
    rows = list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))
    assert rows[0] == ("a", "b <&>")
    assert [row[1] for row in rows[1:]] == ["="] * 6
    assert rows[2][0] == "_x0041_" or rows[2][0] == "_x005F_x0041_"  # openpyxl does not know the escape
    assert fastexcel.read_excel(path).load_sheet(0).to_polars().columns == ["a", "b <&>"]


OTHER_TOOLS: dict[str, Callable[[Path], Any]] = {
    "polars.parquet": lambda p: TABLE.write_parquet(p),
    "typed.parquet": lambda p: pl.DataFrame(
        {"i": [1, None, 3], "f": [0.0, 2.5, -1.0], "b": [True, False, None], "t": [datetime(2020, 1, 31)] * 3}
    ).write_parquet(p),
    "arrow.parquet": lambda p: pq.write_table(TABLE.to_arrow(), p),
    "gzip.parquet": lambda p: pq.write_table(TABLE.to_arrow(), p, compression="gzip"),
    "lz4.parquet": lambda p: pq.write_table(TABLE.to_arrow(), p, compression="lz4"),
    "plain.parquet": lambda p: pq.write_table(TABLE.to_arrow(), p, compression="none", use_dictionary=False),
    "v2.parquet": lambda p: pq.write_table(TABLE.to_arrow(), p, data_page_version="2.0", write_page_index=True),
    "groups.parquet": lambda p: pq.write_table(TABLE.to_arrow(), p, row_group_size=10),
    "duck.parquet": lambda p: duckdb.sql(f"copy (select i as a, 'x' || i as b from range(90) r(i)) to '{p}'"),
    "plain.xlsx": lambda p: by_xlsxwriter(p, lambda b, s: None),
    "openpyxl.xlsx": lambda p: by_openpyxl(p, lambda b: None),
    "polars.arrow": lambda p: TABLE.write_ipc(p),
    "zstd.arrow": lambda p: TABLE.write_ipc(p, compression="zstd"),
    "lz4.arrow": lambda p: TABLE.write_ipc(p, compression="lz4"),
    "stream.arrow": lambda p: TABLE.write_ipc_stream(p),
    "pyarrow.feather": lambda p: pa.feather.write_feather(TABLE.to_arrow(), p),
    "plain.csv.zst": lambda p: p.write_bytes(zstandard.compress(b"a,b\n1,2\n")),
}


@pytest.mark.parametrize("name", OTHER_TOOLS)
def test_plain_files_of_other_tools_hide_nothing(tmp_path: Path, name: str) -> None:
    OTHER_TOOLS[name](tmp_path / name)
    assert hidden_content(tmp_path / name) == []


# ---- text, gzip, Zstandard


def member(content: bytes, *, flags: int = 0, time: int = 0, extra: bytes = b"", system: int = 255) -> bytes:
    """Return a gzip member with these fields."""
    engine = zlib.compressobj(wbits=-15)
    body = engine.compress(content) + engine.flush()
    head = b"\x1f\x8b\x08" + bytes([flags]) + struct.pack("<IBB", time, 2, system)
    return head + extra + body + struct.pack("<II", zlib.crc32(content), len(content))


CSV = b"age,zip\n1,2\n1,2\n"
SKIPPED = struct.pack("<II", 0x184D2A50, len(SECRET)) + SECRET.encode()
FRAME = zstandard.compress(CSV)
DICTIONARY = zstandard.train_dictionary(400, [f"row {i},{i * 7}".encode() for i in range(4000)])
BYTES: dict[str, tuple[str, bytes, str]] = {
    "mark": ("a.csv", b"\xef\xbb\xbf" + CSV, "byte order mark"),
    "NUL": ("a.csv", CSV[:-1] + b"\0" + CSV[-1:], "NUL"),
    "NULs after the end": ("a.csv", CSV + b"\0\0\0", "NUL"),
    "blank end": ("a.csv", CSV + b"\n\n", "blank lines"),
    "NUL in gzip": ("a.csv.gz", member(CSV + b"\0"), "NUL"),
    "name": ("a.csv.gz", member(CSV, flags=8, extra=b"ada.csv\0"), "a name, a time or a comment"),
    "comment": ("a.csv.gz", member(CSV, flags=16, extra=b"made by Ada\0"), "a name, a time or a comment"),
    "extra field": ("a.csv.gz", member(CSV, flags=4, extra=b"\4\0AdaL"), "a name, a time or a comment"),
    "header checksum": ("a.csv.gz", gzip.compress(CSV, mtime=7), "a name, a time or a comment"),
    "second member": ("a.csv.gz", member(CSV) + member(b"1,2\n"), "several compressed parts"),
    "empty member": ("a.csv.gz", member(CSV) + member(b"", flags=8, extra=b"Ada\0"), "several compressed parts"),
    "after gzip": ("a.csv.gz", member(CSV) + SECRET.encode(), "bytes after the compressed content"),
    "padding": ("a.csv.gz", member(CSV) + b"\0" * 9, "bytes after the compressed content"),
    "skippable": ("a.csv.zst", FRAME + SKIPPED, "frames that a reader skips"),
    "skippable first": ("a.csv.zst", FRAME[:0] + FRAME + SKIPPED + FRAME, "frames that a reader skips"),
    "two frames": ("a.csv.zst", FRAME + FRAME, "several compressed parts"),
    "after zstd": ("a.csv.zst", FRAME + b"Ada, and more", "bytes after the compressed content"),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes_besides_the_text_are_seen(tmp_path: Path, name: str) -> None:
    file, content, match = BYTES[name]
    (tmp_path / file).write_bytes(content)
    try:
        assert match in texts(tmp_path / file)
    except EOFError:  # frames that do not end with the file cannot be read either
        assert match == "bytes after the compressed content"


def test_header_of_gzip_is_that_of_a_release(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(member(CSV, system=77))
    assert "name, a time" in texts(tmp_path / "a.csv.gz", strict=True)


def in_stored_blocks(content: bytes, secret: bytes = b"") -> bytes:
    """Return a gzip member of stored blocks; each byte of the secret is in the idle bits of an empty one."""
    body = b"".join(bytes([byte & 0b11111000]) + b"\0\0\xff\xff" for byte in secret)
    body += b"\1" + struct.pack("<HH", len(content), len(content) ^ 0xFFFF) + content
    tail = struct.pack("<II", zlib.crc32(content), len(content))
    return b"\x1f\x8b\x08" + struct.pack("<BIBB", 0, 0, 2, 255) + body + tail


@pytest.mark.parametrize("secret", [b"", SECRET.encode()])
def test_gzip_is_compressed_as_a_release_is(tmp_path: Path, secret: bytes) -> None:
    path = tmp_path / "a.csv.gz"
    content = CSV + b"1,2\n" * 99
    path.write_bytes(in_stored_blocks(content, secret))
    assert gzip.decompress(path.read_bytes()) == content
    assert "compressed in another way" in texts(path, strict=True)


def test_empty_blocks_are_seen_however_much_there_is_around_them(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i * i % 7919}\n" for i in range(50_000)).encode()
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(engine.compress(CSV + rows) + engine.flush(zlib.Z_SYNC_FLUSH) + engine.flush())
    path.write_bytes(path.read_bytes()[:8] + b"\2\xff" + path.read_bytes()[10:])
    assert "compressed in another way" in texts(path, strict=True)


def test_another_build_of_zlib_may_compress_a_release(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(member(CSV * 900))
    assert texts(tmp_path / "a.csv.gz", strict=True) == ""


def test_zstandard_dictionary_is_seen(tmp_path: Path) -> None:
    from shoal.verification.reading.hidden.compressed import zstd_faults

    (tmp_path / "a.zst").write_bytes(zstandard.ZstdCompressor(dict_data=DICTIONARY).compress(CSV))
    assert zstd_faults(tmp_path / "a.zst") == ["it refers to a dictionary"]


# ---- Excel: the archive


def rewritten(
    path: Path, change: Callable[[str, bytes], bytes] = lambda name, content: content, **parts: bytes
) -> Path:
    """Write a workbook again as a release is written, with changed and further parts."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: change(name, archive.read(name)) for name in archive.namelist()}
    contents |= {name.replace("__", "/"): content for name, content in parts.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(entry(name), content)
    return path


def entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
    return info


def in_sheet(old: str, new: str) -> Callable[[Path], Any]:
    """Return a function that replaces the first occurrence of a text in the sheet."""

    def change(name: str, content: bytes) -> bytes:
        if not name.endswith("sheet1.xml"):
            return content
        assert old.encode() in content
        return content.replace(old.encode(), new.encode(), 1)

    return lambda path: rewritten(path, change)


def in_part(part: str, old: str, new: str) -> Callable[[Path], Any]:
    def change(name: str, content: bytes) -> bytes:
        return content.replace(old.encode(), new.encode(), 1) if name == part else content

    return lambda path: rewritten(path, change)


def with_info(**fields: Any) -> Callable[[Path], Any]:
    """Return a function that sets fields of the entry of the workbook part."""

    def spoil(path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in contents.items():
                info = entry(name)
                for field, value in fields.items():
                    setattr(info, field, value)
                archive.writestr(info, content)

    return spoil


def with_comment(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = SECRET.encode()


def with_duplicate(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        first = archive.read("xl/workbook.xml")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(entry("xl/workbook.xml"), first)


def between_members(path: Path) -> None:
    """Insert bytes between the last member and the directory, which is then correct again."""
    raw = path.read_bytes()
    at = raw.index(b"PK\1\2")
    end = raw.index(b"PK\5\6")
    start = struct.pack("<I", at + len(SECRET))
    path.write_bytes(raw[:at] + SECRET.encode() + raw[at:end] + raw[end : end + 16] + start + raw[end + 20 :])


def after_deflate(path: Path) -> None:
    """Add bytes after the end of the compressed content of the last member, and count them as its own."""
    raw = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        last = max(archive.infolist(), key=lambda info: info.header_offset)
    at = raw.index(b"PK\1\2")
    size = struct.pack("<I", last.compress_size + len(SECRET))
    local = raw[last.header_offset : at]
    directory = raw[at:]
    central = directory.rindex(b"PK\1\2")
    directory = directory[: central + 20] + size + directory[central + 24 :]
    end = directory.index(b"PK\5\6")
    directory = directory[: end + 16] + struct.pack("<I", at + len(SECRET)) + directory[end + 20 :]
    path.write_bytes(raw[: last.header_offset] + local[:18] + size + local[22:] + SECRET.encode() + directory)


ARCHIVES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "bytes before": (
        lambda p: p.write_bytes(b"PK\3\4" + SECRET.encode() + p.read_bytes()),
        "bytes that belong to no part",
    ),
    "bytes after": (lambda p: p.write_bytes(p.read_bytes() + SECRET.encode()), "bytes that belong|comments"),
    "bytes between": (between_members, "bytes that belong to no part"),
    "bytes in a member": (after_deflate, "bytes that belong to no part"),
    "comment": (with_comment, "comments or extra fields"),
    "comment of a member": (with_info(comment=SECRET.encode()), "comments or extra fields"),
    "extra field": (with_info(extra=struct.pack("<HH", 0x9999, 8) + b"Lovelace"), "comments or extra fields"),
    "time": (with_info(date_time=(2024, 5, 6, 7, 8, 10)), "when or how it was made"),
    "mode": (with_info(external_attr=0o4711 << 16), "when or how it was made"),
    "stored": (with_info(compress_type=zipfile.ZIP_STORED), "compressed in another way"),
    "attributes": (with_info(internal_attr=0x4144), "when or how it was made"),
    "version": (with_info(create_version=65), "when or how it was made"),
    "time of one header": (
        lambda p: p.write_bytes(p.read_bytes()[:10] + b"\x41\x64" + p.read_bytes()[12:]),
        "bytes that belong to no part",
    ),
    "blanks in a tag": (in_sheet("<row r=", "<row \t  r="), "blanks or spellings"),
    "blanks between tags": (in_sheet("<row r=", " \n\t<row r="), "blanks or spellings"),
    "blanks after the end": (in_sheet("</worksheet>", "</worksheet> \t \n"), "blanks or spellings"),
    "spelled letter": (in_sheet("[25, 40]", "[2&#53;, 40]"), "blanks or spellings"),
    "escaped letter": (in_sheet("[25, 40]", "[2_x0035_, 40]"), "blanks or spellings"),
    "escaped underscore": (in_sheet("[25, 40]", "[25_x005F_40]"), "blanks or spellings"),
    "escape in small letters": (in_sheet("[25, 40]", "[25_x001f_40]"), "blanks or spellings"),
    "needless mark": (in_sheet("<t>[25, 40]", '<t xml:space="preserve">[25, 40]'), "blanks or spellings"),
    "missing mark": (in_sheet("<t>[25, 40]", "<t> [25, 40]"), "blanks or spellings"),
    "unparsed text": (in_sheet("[25, 40]", "<![CDATA[[25, 40]]]>"), "blanks or spellings"),
    "blanks in another part": (in_part("xl/workbook.xml", "<sheets>", "<sheets >"), "blanks or spellings"),
    "member twice": (with_duplicate, "a part twice"),
    "member in capitals": (lambda p: rewritten(p, **{"XL__WORKBOOK.XML": b"<a/>"}), "a part twice"),
    "further part": (lambda p: rewritten(p, xl__notes=b"Ada"), "parts that a table does not need"),
    "folder": (lambda p: rewritten(p, **{"Ada Lovelace__": b""}), "parts that a table does not need"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archive_with_more_than_its_parts_is_seen(tmp_path: Path, name: str) -> None:
    spoil, match = ARCHIVES[name]
    path = written(tmp_path, "out.xlsx")
    spoil(path)
    assert re.search(match, texts(path, strict=True))


# ---- Excel: the sheet and the parts around it

ROW = '<row r="2">'
CELL = '<c r="A2" t="inlineStr"><is><t>[25, 40]</t></is></c>'
SHEET: dict[str, tuple[Callable[[Path], Any], str]] = {
    "hidden row": (in_sheet(ROW, '<row r="2" hidden="1">'), "hidden rows or columns"),
    "row of no height": (in_sheet(ROW, '<row r="2" ht="0" customHeight="1">'), "hidden rows or columns"),
    "collapsed row": (in_sheet(ROW, '<row r="2" outlineLevel="1">'), "hidden rows or columns"),
    "hidden column": (
        in_sheet("<sheetData>", '<cols><col min="9" max="9" hidden="true"/></cols><sheetData>'),
        "hidden rows or columns",
    ),
    "narrow column": (in_sheet("<sheetData>", '<cols><col min="1" width="0"/></cols><sheetData>'), "hidden rows"),
    "rows hidden by default": (in_sheet("<sheetData>", '<sheetFormatPr zeroHeight="1"/><sheetData>'), "hidden rows"),
    "formula": (in_sheet(CELL, '<c r="A2" t="str"><f>"Ada"&amp;A9</f><v>[25, 40]</v></c>'), "formulas"),
    "error": (in_sheet(CELL, '<c r="A2" t="e"><v>#N/A</v></c>'), "cells with errors"),
    "two values": (in_sheet(CELL, f'<c r="A2" t="str"><v>[25, 40]</v><is><t>{SECRET}</t></is></c>'), "more than cells"),
    "value beside text": (in_sheet("<is><t>[25, 40]", f"<v>{SECRET}</v><is><t>[25, 40]"), "more than cells"),
    "rich text": (in_sheet("<t>[25, 40]</t>", "<r><t>[25, </t></r><r><t>40]</t></r>"), "rich text"),
    "phonetic text": (in_sheet("</t></is>", f'</t><rPh sb="0" eb="1"><t>{SECRET}</t></rPh></is>'), "phonetic text"),
    "text outside of cells": (in_sheet(ROW, ROW + SECRET), "more than cells"),
    "comment": (in_sheet(ROW, f"<!-- {SECRET} -->{ROW}"), "more than cells"),
    "processing instruction": (in_sheet(ROW, f"<?ada {SECRET}?>{ROW}"), "more than cells"),
    "attribute": (in_sheet(ROW, f'<row r="2" ada="{SECRET}">'), "more than cells"),
    "namespace": (in_sheet("<sheetData>", f'<sheetData xmlns:a="{SECRET}">'), "more than cells"),
    "namespace of a known site": (
        in_sheet("<sheetData>", '<sheetData xmlns:a="http://schemas.microsoft.com/Ada-Lovelace">'),
        "more than cells",
    ),
    "name of an attribute": (in_sheet(ROW, '<row r="2" AdaLovelace="1">'), "more than cells"),
    "prefix": (
        in_sheet(ROW, '<Ada:row xmlns:Ada="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>' + ROW),
        "more than cells",
    ),
    "name of a content type": (
        in_part("[Content_Types].xml", "</Types>", '<Default Extension="xml" ContentType="application/ada"/></Types>'),
        "links to something else",
    ),
    "declared range": (in_sheet("<sheetData>", '<dimension ref="A1:B2"/><sheetData>'), "outside the range"),
    "data validation": (
        in_sheet("</sheetData>", f'</sheetData><dataValidations><dataValidation sqref="A1"><formula1>"{SECRET}"'
                 "</formula1></dataValidation></dataValidations>"),
        "data validation",
    ),
    "header": (
        in_sheet("</sheetData>", f"</sheetData><headerFooter><oddHeader>{SECRET}</oddHeader></headerFooter>"),
        "headers or footers",
    ),
    "merged cells": (in_sheet("</sheetData>", '</sheetData><mergeCells><mergeCell/></mergeCells>'), "merged"),
    "link": (in_sheet("</sheetData>", '</sheetData><hyperlinks><hyperlink tooltip="Ada"/></hyperlinks>'), "links"),
    "extension": (in_sheet("</sheetData>", f'</sheetData><extLst><ext uri="{SECRET}"/></extLst>'), "more than cells"),
    "hidden sheet": (in_part("xl/workbook.xml", "<sheet ", '<sheet state="hidden" '), "hidden sheet"),
    "very hidden sheet": (in_part("xl/workbook.xml", "<sheet ", '<sheet state="veryHidden" '), "hidden sheet"),
    "further sheet": (
        in_part("xl/workbook.xml", "</sheets>", '<sheet name="Ada" sheetId="2" r:id="rId1"/></sheets>'),
        "further sheets",
    ),
    "defined name": (
        in_part("xl/workbook.xml", "</sheets>", f'</sheets><definedNames><definedName name="a">"{SECRET}"</definedName>'
                "</definedNames>"),
        "defined names",
    ),
    "file owner": (in_part("xl/workbook.xml", "<sheets>", '<fileSharing userName="Ada"/><sheets>'), "one plain sheet"),
    "outside link": (
        in_part("_rels/.rels", "</Rel", '<Relationship Id="rId9" Type="http://ada" Target="http://ada.example"/></Rel'),
        "links to something else",
    ),
    "content type": (
        in_part("[Content_Types].xml", "</Types>", f'<Default Extension="{SECRET}" ContentType="a/b"/></Types>'),
        "links to something else",
    ),
    "threaded comment": (lambda p: rewritten(p, xl__threadedComments__threadedComment1=b"<a/>"), "not need: comments"),
    "macro": (lambda p: rewritten(p, **{"xl__vbaProject.bin": b"Ada"}), "not need: macros"),
    "image": (lambda p: rewritten(p, **{"xl__media__image1.png": b"Ada"}), "not need: images"),
    "other workbook": (lambda p: rewritten(p, **{"xl__externalLinks__externalLink1.xml": b"<a/>"}), "other workbooks"),
    "unused strings": (
        lambda p: rewritten(p, **{"xl__sharedStrings.xml": f"<sst><si><t>{SECRET}</t></si></sst>".encode()}),
        "shared strings that no cell uses",
    ),
    "thumbnail": (lambda p: rewritten(p, **{"docProps__thumbnail.jpeg": b"Ada"}), "parts that a table does not need"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHEET)
def test_workbook_with_more_than_cells_is_seen(tmp_path: Path, name: str) -> None:
    """B26, L07."""
    spoil, match = SHEET[name]
    path = written(tmp_path, "out.xlsx")
    spoil(path)
    assert match in texts(path)
    assert hidden_content(path, strict=True)


def by_xlsxwriter(path: Path, spoil: Callable[[Any, Any], Any]) -> None:
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("release")
        for number, row in enumerate([TABLE.columns, *TABLE.rows()]):
            for column, content in enumerate(row):
                sheet.write_string(number, column, content)
        spoil(book, sheet)


def by_openpyxl(path: Path, spoil: Callable[[Any], Any]) -> None:
    book = openpyxl.Workbook()
    for row in [TABLE.columns, *TABLE.rows()]:
        book.active.append(row)
    spoil(book)
    book.save(path)


def rich(book: Any) -> None:
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    book.active["A2"] = CellRichText("a", TextBlock(InlineFont(b=True), "b"))


def comment(book: Any) -> None:
    book.active["A1"].comment = openpyxl.comments.Comment("a note", "Ada")


def custom(book: Any) -> None:
    book.custom_doc_props.append(openpyxl.packaging.custom.StringProperty(name="Ada", value=SECRET))


def hide_column(book: Any) -> None:
    book.active.column_dimensions["B"].hidden = True


def hide_sheet(book: Any) -> None:
    book.create_sheet("Ada").sheet_state = "veryHidden"


def define(book: Any) -> None:
    book.defined_names["Ada"] = openpyxl.workbook.defined_name.DefinedName("Ada", attr_text=f'"{SECRET}"')


BY_OPENPYXL: dict[str, tuple[Callable[[Any], Any], str]] = {
    "author": (lambda b: setattr(b.properties, "creator", "Ada"), "who made it"),
    "title": (lambda b: setattr(b.properties, "title", SECRET), "who made it"),
    "last editor": (lambda b: setattr(b.properties, "lastModifiedBy", "Ada"), "who made it"),
    "custom property": (custom, "custom properties"),
    "comment": (comment, "comments"),
    "hidden column": (hide_column, "hidden rows or columns"),
    "hidden sheet": (hide_sheet, "hidden sheet"),
    "further sheet": (lambda b: b.create_sheet("more"), "further sheets"),
    "defined name": (define, "defined names"),
    "number format": (
        lambda b: setattr(b.active["A2"], "number_format", f'0" {SECRET}"'),
        "number formats contain text",
    ),
    "font": (lambda b: setattr(b.active["A2"], "font", openpyxl.styles.Font(name="Ada")), "styles"),
    "named style": (lambda b: setattr(b.active["A2"], "style", openpyxl.styles.NamedStyle("Ada")), "styles"),
    "footer": (lambda b: setattr(b.active.oddFooter.center, "text", SECRET), "headers or footers"),
    "rich text": (rich, "rich"),
    "formula": (lambda b: b.active.append(["=A1"]), "formulas"),
    "sheet password": (lambda b: setattr(b.active.protection, "sheet", True), "more than cells"),
}


@pytest.mark.parametrize("name", BY_OPENPYXL)
def test_workbook_of_another_tool_that_hides_something_is_seen(tmp_path: Path, name: str) -> None:
    spoil, match = BY_OPENPYXL[name]
    by_openpyxl(tmp_path / "a.xlsx", spoil)
    assert match in texts(tmp_path / "a.xlsx")


# ---- Parquet


def parquet(columns: Any, path: Path, **options: Any) -> None:
    pq.write_table(pa.table(columns), path, **options)


def footer_of(raw: bytes) -> int:
    return len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")


def insert_before_footer(path: Path) -> None:
    raw = path.read_bytes()
    at = footer_of(raw)
    path.write_bytes(raw[:at] + SECRET.encode() + raw[at:])


def append_to_footer(path: Path) -> None:
    raw = path.read_bytes()
    at = footer_of(raw)
    footer = raw[at:-8] + SECRET.encode()
    path.write_bytes(raw[:at] + footer + struct.pack("<I", len(footer)) + b"PAR1")


def replace_bytes(old: bytes, new: bytes) -> Callable[[Path], Any]:
    def spoil(path: Path) -> None:
        raw = path.read_bytes()
        assert old in raw
        assert len(old) == len(new)
        path.write_bytes(raw.replace(old, new))

    return spoil


def stale_values(path: Path) -> None:
    """Lower the number of values that a page states by one: the bytes of the last value stay."""
    parquet({"a": ["x", "y", "Ada"]}, path, use_dictionary=False, compression="none", write_statistics=False)
    raw = path.read_bytes()
    three, two = b"\x15\x06", b"\x15\x04"  # of a page header, in zigzag
    at = raw.index(three)
    changed = raw[:at] + two + raw[at + 2 :]
    path.write_bytes(changed.replace(b"\x16\x06", b"\x16\x04"))


FIELD = pa.schema([pa.field("a", pa.string(), metadata={"k": SECRET})])
NAMES = {"name": ["Ada Lovelace the First", "Ada Lovelace the First", "Grace Hopper"]}
PARQUET: dict[str, tuple[Callable[[Path], Any], str]] = {
    "pandas": (lambda p: TABLE.to_pandas().to_parquet(p), "metadata"),
    "key-value": (lambda p: pq.write_table(TABLE.to_arrow().replace_schema_metadata({"a": SECRET}), p), "metadata"),
    "field": (
        lambda p: pq.write_table(pa.table({"a": ["x"]}, schema=FIELD), p),
        "metadata",
    ),
    "unused dictionary": (
        lambda p: parquet({"a": pa.DictionaryArray.from_arrays(pa.array([0, 0, 2]), ["x", SECRET, "y"])}, p),
        "values that no row has",
    ),
    "before the footer": (lambda p: (TABLE.write_parquet(p), insert_before_footer(p)), "bytes that belong to no cell"),
    "in the footer": (lambda p: (TABLE.write_parquet(p), append_to_footer(p)), "bytes that belong to no cell"),
    "maker": (lambda p: (parquet(NAMES, p), replace_bytes(b"parquet-cpp-arrow", b"Ada wrote this ok")(p)), "metadata"),
    "least value": (
        lambda p: (parquet(NAMES, p, use_dictionary=False, compression="none"), change_statistics(p)),
        "do not follow from its cells",
    ),
    "page index": (
        lambda p: (parquet(NAMES, p, compression="none", write_page_index=True, write_statistics=True),
                   change_statistics(p)),
        "do not follow from its cells",
    ),
    "checksum": (
        lambda p: (parquet(NAMES, p, compression="none", write_page_checksum=True), change_checksum(p)),
        "metadata",
    ),
    "more values than rows": (stale_values, "accounted for"),
    "filter": (
        lambda p: duckdb.sql(f"copy (select i % 3 as a, 'x' as b from range(9) r(i)) to '{p}' (format parquet)"),
        "a filter",
    ),
    "type of column": (lambda p: pl.DataFrame({"a": [1]}).write_parquet(p, statistics=False), ""),
}  # fmt: skip


def change_checksum(path: Path) -> None:
    """Change one byte of the checksum of the first page, which readers do not check."""
    from shoal.verification.reading.parquet.thrift import read_struct

    raw = path.read_bytes()
    header, size = read_struct(raw, 4)
    head = raw[4:size]
    for at in range(len(head)):
        changed = raw[: 4 + at] + bytes([head[at] ^ 4]) + raw[5 + at :]
        try:
            other, end = read_struct(changed, 4)
        except (ValueError, IndexError):
            continue
        if end == size and {**other, 4: 0} == {**header, 4: 0} and other[4] != header[4]:
            path.write_bytes(changed)
            return
    raise AssertionError("no checksum")


def change_statistics(path: Path) -> None:
    """Change a value wherever it occurs but in its cell."""
    raw, old, new = path.read_bytes(), b"Grace Hopper", b"Zelda Hopper"
    cell = struct.pack("<I", len(old)) + old
    assert raw.count(cell) == 1
    path.write_bytes(raw.replace(cell, b"\1CELL").replace(old, new).replace(b"\1CELL", cell))


@pytest.mark.parametrize("name", PARQUET)
def test_parquet_with_more_than_cells_is_seen(tmp_path: Path, name: str) -> None:
    """L06."""
    spoil, match = PARQUET[name]
    path = tmp_path / "a.parquet"
    spoil(path)
    if match:
        assert match in texts(path)
    assert hidden_content(path, strict=True)


def test_a_release_in_parquet_has_no_statistics(tmp_path: Path) -> None:
    TABLE.write_parquet(tmp_path / "a.parquet", statistics=True)
    assert "statistics" in texts(tmp_path / "a.parquet", strict=True)


@pytest.mark.parametrize("name", ["out.parquet", "out.xlsx", "out.csv.gz"])
def test_any_byte_added_to_a_release_is_seen(tmp_path: Path, name: str) -> None:
    """A byte in any place is a violation, makes the file unreadable or changes a cell."""
    path = written(tmp_path, name, TABLE.head(2))
    raw = path.read_bytes()
    cells = read_written(path).texts()
    for at in sorted(random.Random(14).sample(range(len(raw) + 1), min(len(raw), 250))):
        path.write_bytes(raw[:at] + b"A" + raw[at:])
        try:
            assert hidden_content(path, strict=True) or read_written(path).texts() != cells, at
        except InputError:
            continue


# ---- Arrow


def feather(columns: Any, path: Path, metadata: dict[str, str] | None = None, **options: Any) -> None:
    pa.feather.write_feather(pa.table(columns).replace_schema_metadata(metadata), path, **options)


def values_under_nulls(path: Path) -> None:
    cells = pa.Array.from_buffers(pa.int64(), 3, [pa.py_buffer(b"\5"), pa.py_buffer(struct.pack("<3q", 1, 1815, 3))])
    feather({"a": cells}, path, compression="uncompressed")


def texts_under_nulls(path: Path) -> None:
    offsets, content = struct.pack("<4i", 0, 1, 13, 14), b"xAda Lovelacey"
    cells = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\5"), pa.py_buffer(offsets), pa.py_buffer(content)])
    feather({"a": cells}, path, compression="uncompressed")


def shared_buffer(path: Path) -> None:
    """A column of views shows one row, but the buffer holds the text of another one too."""
    content = b"a text of the only row" + SECRET.encode()
    view = struct.pack("<i4sii", 22, content[:4], 0, 0)
    feather({"a": pa.Array.from_buffers(pa.string_view(), 1, [None, pa.py_buffer(view), pa.py_buffer(content)])}, path)


ARROW: dict[str, tuple[Callable[[Path], Any], str]] = {
    "schema": (lambda p: feather({"a": ["x"]}, p, {"k": SECRET}), "metadata"),
    "field": (
        lambda p: pa.feather.write_feather(pa.table({"a": ["x"]}, schema=FIELD), p),
        "metadata",
    ),
    "pandas": (lambda p: pa.feather.write_feather(TABLE.to_pandas(), p), "metadata"),
    "dictionary": (lambda p: feather({"a": pa.array(["x", "y"]).dictionary_encode()}, p), "dictionaries"),
    "values under nulls": (values_under_nulls, "values that no row shows"),
    "texts under nulls": (texts_under_nulls, "values that no row shows"),
    "shared buffer": (shared_buffer, "values that no row shows"),
    "after the end": (
        lambda p: (TABLE.write_ipc_stream(p), p.write_bytes(p.read_bytes() + SECRET.encode())),
        "bytes that belong to no cell",
    ),
    "in the footer": (lambda p: (TABLE.write_ipc(p), p.write_bytes(with_longer_footer(p.read_bytes()))), "no cell"),
    "message": (lambda p: with_batch_metadata(p), "metadata"),
}


def with_longer_footer(raw: bytes) -> bytes:
    size = int.from_bytes(raw[-10:-6], "little")
    footer = raw[-10 - size : -10] + SECRET.encode()
    return raw[: -10 - size] + footer + struct.pack("<i", len(footer)) + b"ARROW1"


def with_batch_metadata(path: Path) -> None:
    batch = pa.record_batch({"a": ["x"]})
    with pa.ipc.new_stream(path, batch.schema) as sink:
        sink.write_batch(batch, custom_metadata={"k": SECRET})


@pytest.mark.parametrize("name", ARROW)
def test_arrow_with_more_than_cells_is_seen(tmp_path: Path, name: str) -> None:
    """L06."""
    spoil, match = ARROW[name]
    spoil(tmp_path / "a.arrow")
    assert match in texts(tmp_path / "a.arrow")


# ---- no cell in a text


def test_violations_contain_no_cell_and_no_hidden_text(tmp_path: Path) -> None:
    for spoil, _ in SHEET.values():
        path = written(tmp_path, "out.xlsx")
        spoil(path)
        assert "Ada" not in texts(path)
    for name in ("pandas", "key-value", "unused dictionary", "maker"):
        PARQUET[name][0](tmp_path / "a.parquet")
        assert "Ada" not in texts(tmp_path / "a.parquet")


def test_garbage_behind_the_last_value_is_called_unusual(tmp_path: Path) -> None:
    """DuckDB leaves in the last bits of a run what was in memory: no reader shows them, and the file is sound."""
    path = tmp_path / "duckdb.parquet"
    duckdb.sql("select case when i % 7 < 4 then null else 'z' || i % 9 end as zip from range(3000) t(i)").write_parquet(
        str(path)
    )
    found = texts(path)
    assert "damaged" not in found or "damaged or unusual, so that not every byte of it can be accounted for" in found


def test_damaged_files_end_with_a_violation_or_an_input_error(tmp_path: Path) -> None:
    """Random bytes never end in another error."""
    generator = random.Random(14)
    paths = [written(tmp_path, name, TABLE.head(9)) for name in FORMATS if name != "out.csv"]
    for name in (
        "polars.parquet",
        "arrow.parquet",
        "v2.parquet",
        "lz4.arrow",
        "polars.arrow",
        "pyarrow.feather",
        "openpyxl.xlsx",
    ):
        OTHER_TOOLS[name](tmp_path / name)
        paths.append(tmp_path / name)
    for path in paths:
        raw = path.read_bytes()
        for _ in range(60):
            changed = bytearray(raw)
            for _ in range(generator.randint(1, 4)):
                changed[generator.randrange(len(changed))] = generator.randrange(256)
            if generator.random() < 0.2:
                del changed[generator.randrange(len(changed)) :]
            path.write_bytes(bytes(changed))
            try:
                hidden_content(path, strict=bool(generator.getrandbits(1)))
            except InputError:
                pass
            except (EOFError, zlib.error):
                assert path.suffix in (".gz", ".zst")
