"""L06: a Parquet file that is built by hand may hide nothing in the compression of its pages or in its footer."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
import zstandard

from shoal.verification import hidden_content
from shoal.verification.reading.parquet.expand import expand, unlz4_frame, unzstd

SECRET = b"Ada Lovelace, 1815"
COLUMNS = {b"x": [b"1"] * 4 + [b"2"] * 4, b"d": [b"A"] * 4 + [b"B"] * 4}
NONE, SNAPPY, GZIP, ZSTD, LZ4 = 0, 1, 2, 6, 7
INT, LONG, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
Field = tuple[int, int, bytes]


def varint(number: int) -> bytes:
    text = bytearray()
    while number > 127:
        text.append(number & 127 | 128)
        number >>= 7
    return bytes([*text, number])


def integer(number: int) -> bytes:
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def binary(content: bytes) -> bytes:
    return varint(len(content)) + content


def items(kind: int, *contents: bytes) -> bytes:
    head = bytes([len(contents) << 4 | kind]) if len(contents) < 15 else bytes([0xF0 | kind]) + varint(len(contents))
    return head + b"".join(contents)


def fields(*triples: Field) -> bytes:
    """Return a struct of Thrift with these fields: number, type and bytes."""
    text, last = b"", 0
    for number, kind, content in sorted(triples):
        text += bytes([number - last << 4 | kind]) + content
        last = number
    return text + b"\0"


def build(path: Path, *, codec: int = NONE, pack: Callable[[bytes], bytes] = bytes, **more: list[Field]) -> Path:
    """Write a plain Parquet file by hand.

    Args:
        path: The file.
        codec: The codec of its pages.
        pack: Compresses a page.
        more: Further fields of the parts of the footer and of page headers: file, element, group, chunk, column, page.
    """
    raw, chunks, expanded = b"PAR1", [], 0

    def made(part: str, *triples: Field) -> bytes:
        return fields(*{triple[0]: triple for triple in [*triples, *more.get(part, [])]}.values())

    for name, cells in COLUMNS.items():
        plain = b"".join(struct.pack("<I", len(cell)) + cell for cell in cells)
        packed = pack(plain)
        data = fields((1, INT, integer(8)), (2, INT, integer(0)), (3, INT, integer(3)), (4, INT, integer(3)))
        sizes = (2, INT, integer(len(plain))), (3, INT, integer(len(packed)))
        head = made("page", (1, INT, integer(0)), *sizes, (5, STRUCT, data))
        facts = made(
            "column",
            (1, INT, integer(6)),
            (2, LIST, items(INT, integer(0))),
            (3, LIST, items(BINARY, binary(name))),
            (4, INT, integer(codec)),
            (5, LONG, integer(8)),
            (6, LONG, integer(len(head) + len(plain))),
            (7, LONG, integer(len(head) + len(packed))),
            (9, LONG, integer(len(raw))),
        )
        chunks.append(made("chunk", (2, LONG, integer(0)), (3, STRUCT, facts)))
        raw += head + packed
        expanded += len(head) + len(plain)
    elements = [
        made("element", (1, INT, integer(6)), (3, INT, integer(0)), (4, BINARY, binary(name)), (6, INT, integer(0)))
        for name in COLUMNS
    ]
    root = fields((4, BINARY, binary(b"root")), (5, INT, integer(2)))
    group = made("group", (1, LIST, items(STRUCT, *chunks)), (2, LONG, integer(expanded)), (3, LONG, integer(8)))
    footer = made(
        "file",
        (1, INT, integer(1)),
        (2, LIST, items(STRUCT, root, *elements)),
        (3, LONG, integer(8)),
        (4, LIST, items(STRUCT, group)),
    )
    path.write_bytes(raw + footer + struct.pack("<I", len(footer)) + b"PAR1")
    return path


# ---- pages

PLAIN = b"a page, a page, a page; " * 9


def gzip_member(content: bytes, *, flags: int = 0, time: int = 0, extra: bytes = b"", system: int = 255) -> bytes:
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = engine.compress(content) + engine.flush()
    head = b"\x1f\x8b\x08" + bytes([flags]) + struct.pack("<IBB", time, 2, system)
    return head + extra + body + struct.pack("<II", zlib.crc32(content), len(content))


def zstd_blocks(*blocks: tuple[int, int, bytes], bits: int = 0) -> bytes:
    """Return a frame of these blocks: type, size and bytes."""
    text = struct.pack("<IBB", 0xFD2FB528, bits, 0x58)
    for number, (kind, size, content) in enumerate(blocks, 1):
        text += struct.pack("<I", size << 3 | kind << 1 | (number == len(blocks)))[:3] + content
    return text


SKIPPED = struct.pack("<II", 0x184D2A50, len(SECRET)) + SECRET
FRAME, SNAPPED = zstandard.compress(PLAIN), pa.compress(PLAIN, "snappy", asbytes=True)
BLOCK, SIZE = pa.compress(PLAIN, "lz4_raw", asbytes=True), len(PLAIN)
LONG_PLAIN = bytes(i * i * 7 % 251 for i in range(900))
SPOILED: dict[str, tuple[int, bytes]] = {
    "skippable frame": (ZSTD, FRAME + SKIPPED),
    "skippable frame first": (ZSTD, SKIPPED + FRAME),
    "second frame": (ZSTD, zstandard.compress(PLAIN[:9]) + zstandard.compress(PLAIN[9:])),
    "empty frame": (ZSTD, FRAME + zstandard.compress(b"")),
    "after the frame": (ZSTD, FRAME + SECRET),
    "half a magic number": (ZSTD, FRAME + b"\x50\x2a"),
    "empty block": (ZSTD, zstd_blocks((0, 0, b""), (0, SIZE, PLAIN))),
    "repeated never": (ZSTD, zstd_blocks((1, 0, b"A"), (0, SIZE, PLAIN))),
    "unused bit": (ZSTD, zstd_blocks((0, SIZE, PLAIN), bits=16)),
    "gzip name": (GZIP, gzip_member(PLAIN, flags=8, extra=SECRET + b"\0")),
    "gzip comment": (GZIP, gzip_member(PLAIN, flags=16, extra=SECRET + b"\0")),
    "gzip extra field": (GZIP, gzip_member(PLAIN, flags=4, extra=b"\4\0AdaL")),
    "gzip text flag": (GZIP, gzip_member(PLAIN, flags=1)),
    "gzip time": (GZIP, gzip_member(PLAIN, time=0x41424344)),
    "gzip system": (GZIP, gzip_member(PLAIN, system=77)),
    "second member": (GZIP, gzip_member(PLAIN[:9]) + gzip_member(PLAIN[9:])),
    "after the member": (GZIP, gzip_member(PLAIN) + SECRET),
    "after Snappy": (SNAPPY, SNAPPED + b"\0A"),
    "size of Snappy": (SNAPPY, varint(SIZE + 1) + SNAPPED[len(varint(SIZE)) :]),
    "long size of Snappy": (SNAPPY, bytes([SIZE & 127 | 128, SIZE >> 7 | 128, 0]) + SNAPPED[len(varint(SIZE)) :]),
    "long length of Snappy": (SNAPPY, varint(SIZE) + bytes([62 << 2]) + struct.pack("<I", SIZE - 1)[:3] + PLAIN),
    "after LZ4": (LZ4, BLOCK + b"\x10A"),
    "bits of the last token": (LZ4, bytes([0xF0 | 7]) + bytes([SIZE - 15]) + PLAIN),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_page_holds_its_content_and_nothing_else(name: str) -> None:
    codec, raw = SPOILED[name]
    with pytest.raises(ValueError):  # noqa: PT011
        expand(codec, raw, SIZE)


@pytest.mark.parametrize("content", [PLAIN, LONG_PLAIN, b"x", b"", b"ab" * 90_000])
def test_pages_of_other_tools_are_expanded(content: bytes) -> None:
    for codec, name in ((SNAPPY, "snappy"), (GZIP, "gzip"), (ZSTD, "zstd"), (LZ4, "lz4_raw")):
        assert expand(codec, pa.compress(content, name, asbytes=True), len(content)) == content
    assert unlz4_frame(pa.compress(content, "lz4", asbytes=True), len(content)) == content
    assert expand(ZSTD, zstd_blocks((0, 4, b"abcd"), (1, 3, b"x"), (0, 0, b"")), 7) == b"abcdxxx"


def frame_of_polars(content: bytes, folder: Path) -> bytes:
    """Return a frame as polars writes it, with a checksum of its only block and of its content."""
    pl.DataFrame({"a": [content.decode()]}).write_ipc(folder / "a.arrow", compression="lz4")
    raw = (folder / "a.arrow").read_bytes()
    at = raw.rindex(struct.pack("<I", 0x184D2204))
    assert raw[at + 4] == 0b01010100
    return raw[at : at + 7 + 4 + int.from_bytes(raw[at + 7 : at + 11], "little") + 4 + 4 + 4]


def test_every_bit_around_the_block_of_a_frame_counts(tmp_path: Path) -> None:
    frame = frame_of_polars(PLAIN, tmp_path)
    assert unlz4_frame(frame, SIZE) == PLAIN
    for at in [*range(11), *range(len(frame) - 12, len(frame))]:
        for bit in range(8):
            changed = bytearray(frame)
            changed[at] ^= 1 << bit
            with pytest.raises((ValueError, IndexError)):
                unlz4_frame(bytes(changed), SIZE)


def test_buffers_of_arrow_hold_one_frame() -> None:
    assert unzstd(FRAME, SIZE) == PLAIN
    with pytest.raises(ValueError, match="more than one frame"):
        unzstd(FRAME + SKIPPED, SIZE)


@pytest.mark.parametrize("strict", [False, True])
def test_a_skippable_frame_in_a_page_is_seen(tmp_path: Path, strict: bool) -> None:
    path = tmp_path / "a.parquet"
    assert hidden_content(build(path, codec=ZSTD, pack=zstandard.compress)) == []
    assert hidden_content(build(path, codec=ZSTD, pack=lambda page: zstandard.compress(page) + SKIPPED), strict=strict)


# ---- the footer and the headers of pages

TEXT = (15, BINARY, binary(SECRET))
SPOILED_FOOTER: dict[str, dict[str, Any]] = {
    "unknown field of the file": {"file": [(9, BINARY, binary(SECRET))]},
    "in the logical type": {"element": [(10, STRUCT, fields((1, STRUCT, fields((1, BINARY, binary(SECRET))))))]},
    "beside the logical type": {"element": [(10, STRUCT, fields((1, STRUCT, b"\0"), TEXT))]},
    "two logical types": {"element": [(10, STRUCT, fields((1, STRUCT, b"\0"), (4, STRUCT, b"\0")))]},
    "number of the field": {"element": [(9, INT, integer(0x41424344))]},
    "digits of a text": {"element": [(7, INT, integer(0x4142)), (8, INT, integer(0x4142))]},
    "length of a text": {"element": [(2, INT, integer(0x4142))]},
    "digits of a number": {"element": [(6, INT, integer(5)), (7, INT, integer(65)), (8, INT, integer(0x4142))]},
    "orders of columns": {"file": [(7, LIST, items(STRUCT, *[fields((1, STRUCT, b"\0"), TEXT)] * 2))]},
    "many orders": {"file": [(7, LIST, items(STRUCT, *[fields((1, STRUCT, b"\0"))] * 9))]},
    "version": {"file": [(1, INT, integer(0x4142))]},
    "two schemas": {"file": [(5, LIST, items(STRUCT, *[fields((1, BINARY, binary(b"ARROW:schema")))] * 2))]},
    "sizes": {"column": [(16, STRUCT, fields((1, LONG, integer(12345))))]},
    "in the sizes": {"column": [(16, STRUCT, fields((1, LONG, integer(8)), TEXT))]},
    "histogram": {"column": [(16, STRUCT, fields((2, LIST, items(LONG, *map(integer, SECRET)))))]},
    "histogram of nulls": {"column": [(16, STRUCT, fields((3, LIST, items(LONG, integer(3), integer(5)))))]},
    "encodings": {"column": [(2, LIST, items(INT, *map(integer, SECRET)))]},
    "same encoding twice": {"column": [(2, LIST, items(INT, integer(0), integer(0)))]},
    "number of pages": {"column": [(13, LIST, items(STRUCT, fields(*((n, INT, integer(65)) for n in (1, 2, 3)))))]},
    "expanded size": {"column": [(6, LONG, integer(99_999))]},
    "compressed size": {"column": [(7, LONG, integer(99_999))]},
    "dictionary that is none": {"column": [(11, LONG, integer(4))]},
    "offset of the group": {"group": [(5, LONG, integer(0x4142434445))]},
    "size of the group": {"group": [(6, LONG, integer(0x4142434445))]},
    "bytes of the group": {"group": [(2, LONG, integer(0x4142434445))]},
    "number of the group": {"group": [(7, 4, integer(77))]},
    "in the order of rows": {"group": [(4, LIST, items(STRUCT, fields((1, INT, integer(0)), TEXT)))]},
    "order of rows": {"group": [(4, LIST, items(STRUCT, *(fields((1, INT, integer(n))) for n in SECRET)))]},
    "offset of the chunk": {"chunk": [(2, LONG, integer(33))]},
    "file of the chunk": {"chunk": [(1, BINARY, binary(SECRET))]},
    "unknown field of a page": {"page": [TEXT]},
    "header of another page": {"page": [(7, STRUCT, fields((1, INT, integer(0x4142)), (2, INT, integer(0))))]},
    "levels": {"page": [(5, STRUCT, fields(*((n, INT, integer(v)) for n, v in ((1, 8), (2, 0), (3, 65), (4, 3)))))]},
    "type of an integer": {"chunk": [(2, INT, integer(0))]},
    "long integer": {"chunk": [(2, LONG, b"\x80\x80\0")]},
}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", SPOILED_FOOTER)
def test_a_footer_holds_only_what_follows_from_the_cells(tmp_path: Path, name: str, strict: bool) -> None:
    path = tmp_path / "a.parquet"
    assert hidden_content(build(path), strict=strict) == []
    assert hidden_content(build(path, **SPOILED_FOOTER[name]), strict=strict)


DERIVED: dict[str, dict[str, Any]] = {
    "logical type": {"element": [(10, STRUCT, fields((1, STRUCT, b"\0")))]},
    "orders": {"file": [(7, LIST, items(STRUCT, *[fields((1, STRUCT, b"\0"))] * 2))]},
    "sizes": {"column": [(16, STRUCT, fields((1, LONG, integer(8)), (3, LIST, items(LONG, integer(8)))))]},
    "pages": {
        "column": [(13, LIST, items(STRUCT, fields((1, INT, integer(0)), (2, INT, integer(0)), (3, INT, b"\2"))))]
    },
    "group": {"group": [(5, LONG, integer(4)), (7, 4, integer(0))]},
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_footer_may_state_what_follows_from_the_cells(tmp_path: Path, name: str) -> None:
    assert hidden_content(build(tmp_path / "a.parquet", **DERIVED[name])) == []
