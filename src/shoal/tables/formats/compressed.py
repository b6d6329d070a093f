"""Decompress gzip and Zstandard files within the available memory."""

from __future__ import annotations

import importlib
import io
import zlib
from pathlib import Path

from shoal.errors import InputError
from shoal.tables.csv import read_bytes
from shoal.tables.formats.memory_limit import check_expansion, check_memory
from shoal.tables.formats.sniff import Format
from shoal.tables.table import Stamp
from shoal.tables.watch import UNWATCHED, Watch

__all__ = ["read_compressed"]

BLOCK_BYTES = 1 << 20
STEP_BYTES = 1 << 14
ZSTD_BLOCK = 128 * 1024  # largest possible expanded block
ZSTD_MAGIC = 0xFD2FB528
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
DAMAGED = "is damaged or truncated and cannot be decompressed. Obtain it again"


def read_compressed(path: Path, form: Format, watch: Watch = UNWATCHED) -> tuple[bytes, Stamp]:
    """Decompress a file.

    Args:
        path: The file.
        form: GZIP or ZSTD.
        watch: Whom to ask whether the run was cancelled.

    Returns:
        The content, and the stamp of the file.

    Raises:
        InputError: If the file is damaged, expands without limit, or does not contain CSV text.
        FileError: If the content does not fit into memory.
    """
    check_memory(path, path.stat().st_size)
    raw, stamp = read_bytes(path, watch)
    content = _gunzip(raw, path, watch) if form is Format.GZIP else _unzstd(raw, path)
    if content.startswith((b"PAR1", b"PK\x03\x04", b"ARROW1\0\0", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
        raise InputError(f"{path}: the compressed content is not CSV text. Decompress it first.")
    return content, stamp


def _gunzip(raw: bytes, path: Path, watch: Watch) -> bytes:
    content, checked = io.BytesIO(), 0
    at = 0  # the input goes in by small steps: what a step leaves over is copied
    while at < len(raw):
        engine = zlib.decompressobj(wbits=31)
        try:
            while not engine.eof:
                watch.check()
                waiting = engine.unconsumed_tail or raw[at : at + STEP_BYTES]
                at += 0 if engine.unconsumed_tail else len(waiting)
                if not waiting:
                    raise InputError(f"{path}: {DAMAGED}.")
                content.write(engine.decompress(waiting, BLOCK_BYTES))
                if content.tell() >= checked + BLOCK_BYTES:
                    checked = content.tell()
                    check_expansion(path, len(raw), checked)
        except zlib.error:
            raise InputError(f"{path}: {DAMAGED}.") from None
        at -= len(engine.unused_data)
        while raw[at : at + 1] == b"\0":  # padding before the next member
            at += 1
    check_expansion(path, len(raw), content.tell())
    return content.getvalue()


def _unzstd(raw: bytes, path: Path) -> bytes:
    check_expansion(path, len(raw), zstd_size(raw, path))
    try:
        module = importlib.import_module("compression.zstd")  # Python 3.14 and later
    except ImportError:
        return _unzstd_by_polars(raw, path)
    try:
        content: bytes = module.decompress(raw)
    except module.ZstdError:
        raise InputError(f"{path}: {DAMAGED}.") from None
    return content


def zstd_size(raw: bytes, path: Path) -> int:
    """Return an upper bound of the expanded size of a Zstandard file, from the headers of its frames and blocks."""
    at = size = 0
    try:
        while at < len(raw):
            magic = int.from_bytes(raw[at : at + 4], "little")
            if magic in SKIPPABLE:
                at += 8 + int.from_bytes(raw[at + 4 : at + 8], "little")
                continue
            if magic != ZSTD_MAGIC:
                raise IndexError
            descriptor = raw[at + 4]
            single, sizes = descriptor >> 5 & 1, (1 if descriptor >> 5 & 1 else 0, 2, 4, 8)[descriptor >> 6]
            at += 5 + (1 - single) + (0, 1, 2, 4)[descriptor & 3] + sizes
            last = False
            while not last:
                header = raw[at] | raw[at + 1] << 8 | raw[at + 2] << 16
                last, kind, length = bool(header & 1), header >> 1 & 3, header >> 3
                at += 3 + (1 if kind == 1 else length)
                size += ZSTD_BLOCK if kind == 2 else length
            at += 4 * (descriptor >> 2 & 1)
        if at > len(raw):
            raise IndexError
    except IndexError:
        raise InputError(f"{path}: {DAMAGED}.") from None
    return size


def _unzstd_by_polars(raw: bytes, path: Path) -> bytes:
    """Let polars decompress the text: it reads one record without quotes, split at 0x1F, which we join again."""
    import polars as pl

    try:
        frame = pl.read_csv(raw, has_header=False, separator="\x1f", eol_char="\0", quote_char=None, infer_schema=False)
    except pl.exceptions.NoDataError:
        return b""
    except pl.exceptions.PolarsError:
        raise InputError(f"{path}: {DAMAGED}. If it is intact but not UTF-8, decompress it first.") from None
    if frame.height != 1:
        raise InputError(f"{path}: contains a NUL byte, so it is not a text file or is damaged. Pass a CSV file.")
    return "\x1f".join(cell or "" for cell in frame.row(0)).encode()
