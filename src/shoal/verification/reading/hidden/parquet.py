"""What a Parquet file holds besides its cells: every byte belongs to a value, a header or the footer."""

from __future__ import annotations

import base64
import os
import re
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from shoal.verification.reading.footer import MOST_FOOTER, first_page, read_footer, read_header, seek
from shoal.verification.reading.hidden.arrow_schema import has_metadata
from shoal.verification.reading.hidden.flatbuffer import Flatbuffer
from shoal.verification.reading.hidden.pages import (
    BYTE_ARRAY,
    DATA,
    DATA_V2,
    DICTIONARY,
    FLOATS,
    Chunk,
    UnaccountedError,
)
from shoal.verification.reading.limits import check_expansion
from shoal.verification.reading.thrift import Struct, read_struct

__all__ = ["parquet_faults"]

PathName = str | os.PathLike[str]

METADATA = "it contains metadata that no reader needs"
STATISTICS = "it contains statistics, an index or a filter"
UNUSED = "a dictionary contains values that no row has"
STRAY = "it contains bytes that belong to no cell"
DAMAGED = "its structure is damaged, so that not every byte of it can be accounted for"
ENCODED = (
    "it uses an encoding or a codec whose bytes cannot be accounted for; write it with plain or dictionary encoding "
    "and Zstandard, Snappy, LZ4 or gzip"
)
FALSE_STATISTICS = "its statistics do not follow from its cells"

# The fields that are known, by number; the others carry what no reader needs.
FILE, SCHEMA_ELEMENT, ROW_GROUP, COLUMN_CHUNK = (
    {1, 2, 3, 4, 5, 6, 7},
    set(range(1, 11)),
    {1, 2, 3, 4, 5, 6, 7},
    {2, 3, 4, 5, 6, 7},
)
COLUMN = {1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 16}
PAGE, DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = (
    {1, 2, 3, 4, 5, 7, 8},
    {1, 2, 3, 4, 5},
    {1, 2, 3},
    {1, 2, 3, 4, 5, 6, 7, 8},
)
FILTER = {14, 15}
ROOTS = {b"root", b"schema", b"duckdb_schema", b"spark_schema", b"hive_schema", b"arrow_schema", b"m", b"table"}
MAKER = re.compile(
    rb"(Polars|polars|parquet-cpp(-arrow)?|parquet-mr|parquet-rs|DuckDB|Arrow2 - Native Rust implementation of Arrow|"
    rb"fastparquet-python)( \(python\))?( version v?[0-9][0-9A-Za-z.+-]{0,20})?( ?\(build [0-9a-z]{0,40}\))?"
)
COPY_BYTES = 1 << 16  # of what the footer says about a chunk
SHORTEST_CUT = 16  # bytes from which a writer may cut a text of its statistics


@dataclass
class _Faults:
    """What was found, each text once."""

    strict: bool
    texts: dict[str, None] = field(default_factory=dict)

    def add(self, is_fault: Any, text: str) -> None:
        if is_fault:
            self.texts[text] = None

    def known(self, content: Struct, numbers: set[int]) -> None:
        """Note the fields of a struct that are not known."""
        extra = set(content) - numbers
        self.add(extra & FILTER, STATISTICS)
        self.add(extra - FILTER, METADATA)


def parquet_faults(path: PathName, *, strict: bool) -> list[str]:
    """Return what a Parquet file contains besides its cells.

    Args:
        path: The file.
        strict: Whether it must be as releases are written: text only, and without statistics.

    Raises:
        UnreadableError: Its pages expand more than any table does.
    """
    faults = _Faults(strict)
    try:
        with open(path, "rb") as file:
            _inspect(file, path, faults)
    except UnaccountedError:
        faults.add(True, ENCODED)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, struct.error):
        faults.add(True, DAMAGED)
    return list(faults.texts)


def _inspect(file: BinaryIO, path: PathName, faults: _Faults) -> None:
    footer, start, is_longer = read_footer(file)
    faults.add(is_longer, STRAY)
    names, optional = _schema(footer, faults)
    _key_values(footer, names, faults)
    spans: list[tuple[int, int]] = []
    expanded = 0
    for group in footer[4]:
        faults.known(group, ROW_GROUP)
        if len(group[1]) != len(names):
            raise ValueError("another number of columns")
        for position, chunk in enumerate(group[1]):
            faults.known(chunk, COLUMN_CHUNK)
            expanded += chunk[3][6]
            check_expansion(path, expanded)
            element = footer[2][position + 1]
            _chunk(file, path, chunk, element, optional[position], group[3], spans, faults)
            faults.add(chunk[3][3] != [names[position]], METADATA)
    faults.add(sum(group[3] for group in footer[4]) != footer[3], METADATA)
    at = 4
    for begin, finish in sorted(spans):
        faults.add(begin != at, STRAY)
        at = max(at, finish)
    faults.add(at != start, STRAY)


def _schema(footer: Struct, faults: _Faults) -> tuple[list[bytes], list[bool]]:
    """Check what describes the columns; return their names and whether they can be null."""
    faults.known(footer, FILE)
    root, *columns = footer[2]
    faults.add(root.get(4, b"") not in ROOTS, METADATA)
    for element in footer[2]:
        faults.known(element, SCHEMA_ELEMENT)
    faults.add(not MAKER.fullmatch(footer.get(6, b"Polars")), METADATA)
    if any(element.get(5) or element.get(3) == 2 for element in columns):
        raise ValueError("nested columns")
    faults.add(
        faults.strict and any(element[1] != BYTE_ARRAY for element in columns), "it contains a column that is not text"
    )
    return [element[4] for element in columns], [element.get(3) == 1 for element in columns]


def _key_values(footer: Struct, names: list[bytes], faults: _Faults) -> None:
    for pair in footer.get(5, []):
        if pair.get(1) != b"ARROW:schema" or set(pair) != {1, 2}:
            faults.add(True, METADATA)
            continue
        message = base64.b64decode(pair[2], validate=True)
        if message[:4] == b"\xff\xff\xff\xff":
            message = message[4:]
        length = int.from_bytes(message[:4], "little")
        faults.add(any(message[4 + length :]), METADATA)
        buffer = Flatbuffer(message[4 : 4 + length])
        root = buffer.root()
        faults.add(has_metadata(root.table(2), names) or 4 in root, METADATA)
        for number, form in ((0, "h"), (1, "B"), (3, "q")):
            root.scalar(number, form)
        faults.add(buffer.hides_bytes(), METADATA)


def _chunk(
    file: BinaryIO,
    path: PathName,
    chunk: Struct,
    element: Struct,
    is_optional: bool,
    n_rows: int,
    spans: list[tuple[int, int]],
    faults: _Faults,
) -> None:
    """Read the pages of one column of one row group, and note the bytes that they occupy."""
    facts = chunk[3]
    faults.known(facts, COLUMN)
    faults.add(not 0 <= chunk.get(2, 0) <= os.path.getsize(path), METADATA)
    statistics = [facts[12]] if 12 in facts else []
    pages = Chunk(facts[1], element.get(2, 0), facts[4], is_optional, not faults.strict)
    at = begin = first_page(facts)
    places = []
    while pages.n_values < facts[5]:
        header, size = read_header(file, at)
        faults.known(header, PAGE)
        for number, numbers in ((5, DATA_PAGE), (7, DICTIONARY_PAGE), (8, DATA_PAGE_V2)):
            faults.known(header.get(number, {}), numbers)
        content = header.get({DATA: 5, DICTIONARY: 7, DATA_V2: 8}[header[1]], {})
        statistics += [content[n] for n in (5, 8) if isinstance(content.get(n), dict)]
        check_expansion(path, header[2])
        seek(file, at + size)
        raw = file.read(header[3])
        if len(raw) != header[3] or header[2] < 0:
            raise IndexError
        faults.add(4 in header and header[4] & 0xFFFFFFFF != zlib.crc32(raw), METADATA)
        if header[1] != DICTIONARY:
            places.append((at, size + header[3], pages.n_values))
        pages.add_page(header, raw)
        at += size + header[3]
    pages.finish()
    if pages.n_values != facts[5] or facts[5] != n_rows:
        raise ValueError("another number of values")
    spans.append((begin, at))
    faults.add(pages.has_unused_values(), UNUSED)
    for each in statistics:
        _statistics(each, pages, faults)
    _copy_of_facts(file, at, facts, spans)
    if 4 in chunk:
        _offset_index(file, chunk, places, spans, faults)
    if 6 in chunk:
        _column_index(file, chunk, pages, len(places), spans, faults)


def _copy_of_facts(file: BinaryIO, at: int, facts: Struct, spans: list[tuple[int, int]]) -> None:
    """Account for a second copy of what the footer says about a chunk, which may follow its pages."""
    seek(file, at)
    try:
        copy, size = read_struct(file.read(COPY_BYTES))
    except (ValueError, IndexError):
        return
    if copy == facts:
        spans.append((at, at + size))


def _offset_index(
    file: BinaryIO, chunk: Struct, places: list[tuple[int, int, int]], spans: list[tuple[int, int]], faults: _Faults
) -> None:
    """Account for the index that says where each page begins."""
    index = _index(file, chunk[4], chunk[5], spans)
    listed = [(place.get(1), place.get(2), place.get(3, 0)) for place in index[1]]
    faults.add(set(index) - {1, 2} or any(set(place) - {1, 2, 3} for place in index[1]), METADATA)
    faults.add(listed != places, METADATA)


def _column_index(
    file: BinaryIO, chunk: Struct, pages: Chunk, n_pages: int, spans: list[tuple[int, int]], faults: _Faults
) -> None:
    """Check the index with the bounds of each page: it may state only what the cells show."""
    index = _index(file, chunk[6], chunk[7], spans)
    faults.add(faults.strict, STATISTICS)
    faults.add(set(index) - {1, 2, 3, 4, 5, 6, 7}, METADATA)
    bounds = [*index[2], *index[3]]
    faults.add(not all(_is_shown(bound, pages) for bound in bounds if bound), FALSE_STATISTICS)
    faults.add(len(bounds) != 2 * n_pages or sum(index.get(5, [])) > pages.nulls, FALSE_STATISTICS)


def _index(file: BinaryIO, at: int, length: int, spans: list[tuple[int, int]]) -> Struct:
    seek(file, at)
    index, size = read_struct(file.read(min(length, MOST_FOOTER)))
    if size != length:
        raise ValueError("bytes after an index")
    spans.append((at, at + size))
    return index


def _statistics(statistics: Struct, pages: Chunk, faults: _Faults) -> None:
    """Check that statistics state only what the cells show: values of rows, and counts."""
    if faults.strict:
        faults.add(set(statistics) - {3}, STATISTICS)
        return
    faults.add(set(statistics) - set(range(1, 10)), METADATA)
    bounds = [statistics[number] for number in (1, 2, 5, 6) if number in statistics]
    faults.add(not all(_is_shown(bound, pages) for bound in bounds), FALSE_STATISTICS)
    faults.add(statistics.get(4, 0) > len(pages.values) or statistics.get(3, 0) > pages.nulls, FALSE_STATISTICS)


def _is_shown(bound: bytes, pages: Chunk) -> bool:
    """Return whether a bound is a value of a row, or the beginning of one; the last letter may be one higher."""
    if bound in pages.values:
        return True
    if pages.kind in FLOATS and bound.lstrip(b"\0") in (b"", b"\x80"):  # the least zero is negative, the greatest not
        return any(value.lstrip(b"\0") in (b"", b"\x80") for value in pages.values)
    if pages.kind != BYTE_ARRAY or len(bound) < SHORTEST_CUT:
        return False
    stem = bound.decode("utf-8", "ignore")[:-1].encode()
    return any(value.startswith(stem) for value in pages.values)
