"""What a Parquet file holds besides its cells: every byte belongs to a value, a header or the footer."""

from __future__ import annotations

import base64
import os
import re
import struct
import zlib
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from shoal.verification.reading.hidden.arrow_schema import has_metadata
from shoal.verification.reading.hidden.flatbuffer import Flatbuffer
from shoal.verification.reading.limits import check_expansion
from shoal.verification.reading.parquet.footer import (
    COLUMN,
    FILE,
    MOST_FOOTER,
    OFFSET_INDEX,
    PAGE,
    first_page,
    read_footer,
    read_page,
    seek,
)
from shoal.verification.reading.parquet.pages import (
    BOOLEAN,
    BYTE_ARRAY,
    DATA,
    DATA_V2,
    DICTIONARY,
    FIXED,
    FLOATS,
    Chunk,
    UnaccountedError,
    is_ambiguous,
)
from shoal.verification.reading.parquet.thrift import Form, Struct, read_struct, write_struct

__all__ = ["parquet_faults"]

PathName = str | os.PathLike[str]

METADATA = "it contains metadata that no reader needs"
STATISTICS = "it contains statistics, an index or a filter"
UNUSED = "a dictionary contains values that no row has"
STRAY = "it contains bytes that belong to no cell"
DAMAGED = "its structure is damaged or unusual, so that not every byte of it can be accounted for"
ENCODED = (
    "it uses an encoding or a codec whose bytes cannot be accounted for; write it with plain or dictionary encoding "
    "and Zstandard, Snappy, LZ4 or gzip"
)
AMBIGUOUS = "it contains a float that is not a number, or a negative zero"
FALSE_STATISTICS = "its statistics do not follow from its cells"

FILTERS = (14, 15)  # fields of a column
DECIMAL = 5
LEVEL_ENCODINGS = (3, 4)  # of levels, in runs or bits
ENCODINGS, CONVERTED_TYPES, MOST_DIGITS = range(10), range(22), 76
TEXT_FIELDS = {1, 3, 4, 6, 10}  # of the element of a column of text
TYPED_FIELDS = TEXT_FIELDS | {2, 7, 8}  # and of one with a type
INTEGERS = (1, 2)  # of 32 and 64 bits
VALUES = (BOOLEAN, *INTEGERS, *FLOATS)  # physical types of values that a reader shows completely
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
    typed: frozenset[bytes] = frozenset()
    texts: dict[str, None] = field(default_factory=dict)

    def add(self, is_fault: Any, text: str) -> None:
        if is_fault:
            self.texts[text] = None

    def check_form(self, content: Struct, form: Form, raw: bytes) -> None:
        """Note fields that are not known, on any level, and bytes that are not the only way to write the others."""
        try:
            is_plain = write_struct(content, form) == raw
        except (KeyError, TypeError, AttributeError, ValueError):
            is_plain = False
        self.add(not is_plain, METADATA)


def parquet_faults(path: PathName, *, strict: bool, typed: Collection[str] = ()) -> list[str]:
    """Return what a Parquet file contains besides its cells.

    Args:
        path: The file.
        strict: Whether it must be as releases are written: text only, and without statistics.
        typed: The columns of a release that may have a type.

    Raises:
        UnreadableError: Its pages expand more than any table does.
    """
    faults = _Faults(strict, frozenset(name.encode("utf-8", "surrogatepass") for name in typed))
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
    seek(file, start)
    raw = file.read()
    if any(number in chunk[3] for group in footer[4] for chunk in group[1] for number in FILTERS):
        faults.add(True, STATISTICS)
    else:
        faults.check_form(footer, FILE, raw if is_longer else raw[:-8])
    names, optional = _schema(footer, faults)
    _key_values(footer, names, faults)
    spans: list[tuple[int, int]] = []
    expanded = 0
    for number, group in enumerate(footer[4]):
        if len(group[1]) != len(names):
            raise ValueError("another number of columns")
        for position, chunk in enumerate(group[1]):
            expanded += chunk[3][6]
            check_expansion(path, expanded)
            element = footer[2][position + 1]
            _chunk(file, path, chunk, element, optional[position], group[3], spans, faults)
            faults.add(chunk[3][3] != [names[position]], METADATA)
        _group(group, number, faults)
    faults.add(sum(group[3] for group in footer[4]) != footer[3], METADATA)
    at = 4
    for begin, finish in sorted(spans):
        faults.add(begin != at, STRAY)
        at = max(at, finish)
    faults.add(at != start, STRAY)


def _group(group: Struct, number: int, faults: _Faults) -> None:
    """Check what a row group says about its columns; all of it follows from them."""
    facts = [chunk[3] for chunk in group[1]]
    sorting = [(column[1], column.get(2), column.get(3)) for column in group.get(4, [])]
    places = [place for place, _, _ in sorting]
    checks = [
        group[2] not in (sum(each[6] for each in facts), sum(each[7] for each in facts)),
        group.get(5, 0) not in (0, first_page(facts[0])),
        group.get(6, 0) not in (0, sum(each[7] for each in facts)),
        group.get(7, number) != number,
        len(set(places)) != len(places) or not set(places) <= set(range(len(facts))),
        faults.strict and sorting,
    ]
    faults.add(any(checks), METADATA)


def _schema(footer: Struct, faults: _Faults) -> tuple[list[bytes], list[bool]]:
    """Check what describes the columns; return their names and whether they can be null."""
    root, *columns = footer[2]
    orders = footer.get(7, [{1: {}}] * len(columns))
    checks = [
        footer[1] not in (1, 2),
        root.get(4, b"") not in ROOTS or set(root) - {3, 4, 5} or root.get(3, 0) != 0 or root[5] != len(columns),
        not MAKER.fullmatch(footer.get(6, b"Polars")),
        len(orders) != len(columns) or any(len(order) != 1 for order in orders),
        any(_is_odd_element(element, place) for place, element in enumerate(columns)),
        faults.strict and any(set(element) - TEXT_FIELDS for element in columns if not _is_typed(element, faults)),
    ]
    faults.add(any(checks), METADATA)
    if any(element.get(5) or element.get(3) == 2 for element in columns):
        raise ValueError("nested columns")
    is_text = all(
        element[1] == BYTE_ARRAY and element.get(6, 0) == 0 and element.get(10, {1: {}}) == {1: {}}
        for element in columns
        if not _is_typed(element, faults)
    )
    faults.add(faults.strict and not is_text, "it contains a column that is not text")
    return [element[4] for element in columns], [element.get(3) == 1 for element in columns]


def _is_typed(element: Struct, faults: _Faults) -> bool:
    """Return whether a column of a release is a number, a date, a time or a boolean, and may be."""
    is_decimal = element.get(6) == DECIMAL or 5 in element.get(10, {})
    is_value = element[1] in VALUES or (element[1] == FIXED and is_decimal)
    return element[4] in faults.typed and is_value and not set(element) - TYPED_FIELDS


def _is_odd_element(element: Struct, place: int) -> bool:
    """Return whether the numbers that describe a column could be any others: they follow from its type and place."""
    logical = element.get(10, {})
    digits = (element.get(7, 0), element.get(8, 0))  # after the point, and all
    is_decimal = element.get(6) == DECIMAL or 5 in logical
    integer = logical.get(10, {})
    checks = [
        element.get(6, 0) not in CONVERTED_TYPES,
        element.get(3) not in (0, 1),
        element.get(2, 0) != 0 and element[1] != FIXED,
        element.get(9, place) not in (place, place + 1),
        len(logical) > 1,
        not is_decimal and digits != (0, 0),
        is_decimal and not 0 <= digits[0] <= digits[1] <= MOST_DIGITS,
        5 in logical and (logical[5].get(1, 0), logical[5].get(2)) != digits,
        bool(integer) and integer.get(1) not in (8, 16, 32, 64),
        any(len(logical[n].get(2, {})) != 1 for n in (7, 8) if n in logical),
    ]
    return any(checks)


def _key_values(footer: Struct, names: list[bytes], faults: _Faults) -> None:
    faults.add(len(footer.get(5, [])) > 1, METADATA)
    for pair in footer.get(5, []):
        if pair.get(1) != b"ARROW:schema" or set(pair) != {1, 2}:
            faults.add(True, METADATA)
            continue
        message = base64.b64decode(pair[2], validate=True)
        faults.add(base64.b64encode(message) != pair[2], METADATA)
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
    statistics = [facts[12]] if 12 in facts else []
    keeps_values = not faults.strict or facts[1] in FLOATS
    pages = Chunk(facts[1], element.get(2, 0), facts[4], is_optional, keeps_values)
    at = begin = first_page(facts)
    places = []
    expanded = 0
    while pages.n_values < facts[5]:
        header, head, raw = read_page(file, at)
        content = header.get({DATA: 5, DICTIONARY: 7, DATA_V2: 8}[header[1]], {})
        statistics += [content[n] for n in (5, 8) if isinstance(content.get(n), dict)]
        check_expansion(path, header[2])
        faults.check_form(header, PAGE, head)
        faults.add(4 in header and header[4] & 0xFFFFFFFF != zlib.crc32(raw), METADATA)
        faults.add(_is_odd_header(header), METADATA)
        if header[1] != DICTIONARY:
            places.append((at, len(head) + len(raw), pages.n_values))
        pages.add_page(header, raw)
        at += len(head) + len(raw)
        expanded += len(head) + header[2]
    pages.finish()
    if pages.n_values != facts[5] or facts[5] != n_rows:
        raise ValueError("another number of values")
    spans.append((begin, at))
    faults.add(pages.has_unused_values(), UNUSED)
    faults.add(faults.strict and facts[1] in FLOATS and any(map(is_ambiguous, pages.values)), AMBIGUOUS)
    for each in statistics:
        _statistics(each, pages, faults)
    finish = _copy_of_facts(file, at, facts, spans)
    # Writers state one of these as the position of the facts; polars counts from the first data page.
    faults.add(chunk.get(2, 0) not in (0, begin, at, finish, facts[9] + facts[7]), METADATA)
    faults.add((facts[6], facts[7]) != (expanded, at - begin), METADATA)
    has_dictionary = any(kind == DICTIONARY for kind, _ in pages.encodings)
    faults.add(places and (facts[9], facts.get(11) or begin) != (places[0][0], begin), METADATA)
    faults.add(facts.get(11) and not has_dictionary, METADATA)
    _derived(facts, element, pages, faults)
    if 4 in chunk:
        _offset_index(file, chunk, places, pages, spans, faults)
    if 6 in chunk:
        _column_index(file, chunk, pages, len(places), spans, faults)


def _is_odd_header(header: Struct) -> bool:
    """Return whether a page header has a part of another type of page, or numbers that mean nothing."""
    part = {DATA: 5, DICTIONARY: 7, DATA_V2: 8}[header[1]]
    content = header[part]
    if header[1] == DATA:
        is_odd = any(content[number] not in LEVEL_ENCODINGS for number in (3, 4))
    elif header[1] == DATA_V2:
        is_odd = content[3] != content[1] or not 0 <= content[2] <= content[1]
    else:
        is_odd = False
    return is_odd or bool({5, 7, 8} & set(header) - {part})


def _derived(facts: Struct, element: Struct, pages: Chunk, faults: _Faults) -> None:
    """Check what the footer says about a column chunk and follows from its pages."""
    encodings = facts[2]
    # Writers list data pages of version 2 as such, or as any data page.
    counts = [(DATA if each[1] == DATA_V2 else each[1], each[2], each[3]) for each in facts.get(13, [])]
    sizes = facts.get(16, {})
    nulls, known = pages.nulls, pages.n_values - pages.nulls
    checks = [
        len(set(encodings)) != len(encodings) or not set(encodings) <= set(ENCODINGS),
        counts and sorted(counts) != sorted((*key, count) for key, count in pages.encodings.items()),
        facts[1] != element[1],
        1 in sizes and (pages.kind != BYTE_ARRAY or sizes[1] != pages.text_bytes),
        sizes.get(2, []) not in ([], [pages.n_values]),
        sizes.get(3, []) not in ([], [nulls, known] if element.get(3) == 1 else [known]),
    ]
    faults.add(any(checks), METADATA)


def _copy_of_facts(file: BinaryIO, at: int, facts: Struct, spans: list[tuple[int, int]]) -> int:
    """Account for a second copy of what the footer says about a chunk, which may follow its pages; return its end."""
    seek(file, at)
    try:
        raw = file.read(COPY_BYTES)
        copy, size = read_struct(raw)
        if copy != facts or write_struct(facts, COLUMN) != raw[:size]:
            return at
    except (ValueError, IndexError, KeyError, TypeError):
        return at
    spans.append((at, at + size))
    return at + size


def _offset_index(
    file: BinaryIO,
    chunk: Struct,
    places: list[tuple[int, int, int]],
    pages: Chunk,
    spans: list[tuple[int, int]],
    faults: _Faults,
) -> None:
    """Account for the index that says where each page begins."""
    index = _index(file, chunk[4], chunk[5], spans)
    listed = [(place.get(1), place.get(2), place.get(3, 0)) for place in index[1]]
    seek(file, chunk[4])
    faults.check_form(index, OFFSET_INDEX, file.read(min(chunk[5], MOST_FOOTER)))
    faults.add(2 in index and sum(index[2]) != pages.text_bytes, METADATA)
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
