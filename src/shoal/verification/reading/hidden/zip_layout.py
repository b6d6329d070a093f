"""What a zip archive holds besides its members: every byte belongs to a member or to the directory."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from typing import BinaryIO

from shoal.verification.reading.hidden.compressed import Recompression

__all__ = ["zip_faults"]

LOCAL = struct.Struct("<4s5H3I2H")
CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
DESCRIBED = 8  # flag: sizes and checksum follow the member
RELEASE_DATE = (1980, 1, 1, 0, 0, 0)
RELEASE_MODES = (0o600 << 16, 0)
RELEASE_FIELDS = (0, 0, 20, 20)  # attributes, flags, versions
BLOCK_BYTES = 1 << 16

STRAY = "the archive contains bytes that belong to no part"
EXTRA = "the archive contains comments or extra fields"
TWICE = "the archive contains a part twice"
DATED = "it reveals when or how it was made"
BLOCKS = "its parts are compressed in another way than those of a release"


def zip_faults(file: BinaryIO, archive: zipfile.ZipFile, *, strict: bool) -> list[str]:
    """Return what an archive contains besides its members.

    Args:
        file: The archive.
        archive: The same, opened.
        strict: Whether its dates must be those of a release.
    """
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    is_stray, has_extra = _walk(file, archive)
    has_extra |= bool(archive.comment) or any(entry.comment or entry.extra for entry in entries)
    is_dated = any(
        entry.date_time != RELEASE_DATE
        or entry.external_attr not in RELEASE_MODES
        or (entry.internal_attr, entry.flag_bits, entry.create_version, entry.extract_version) != RELEASE_FIELDS
        for entry in entries
    )
    checks = [
        (is_stray, STRAY),
        (has_extra, EXTRA),
        (len(set(map(str.lower, names))) != len(names), TWICE),
        (strict and is_dated, DATED),
        (strict and not is_stray and not all(_is_plain(file, archive, entry) for entry in entries), BLOCKS),
    ]
    return [text for fault, text in checks if fault]


def _walk(file: BinaryIO, archive: zipfile.ZipFile) -> tuple[bool, bool]:
    """Go through the archive from the first to the last byte; return whether bytes are stray, and extra fields."""
    at = 0
    has_extra = False
    for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
        if entry.header_offset != at:
            return True, has_extra
        file.seek(at)
        mark, _, flags, method, time, day, *sizes, n_name, n_extra = LOCAL.unpack(file.read(LOCAL.size))
        name = file.read(n_name)
        has_extra |= n_extra > 0
        if (
            mark != b"PK\3\4"
            or name not in (_bytes(entry), entry.orig_filename.encode())
            or method != entry.compress_type
        ):
            return True, has_extra
        year, month, date, hour, minute, second = entry.date_time
        is_same = (time, day) == (hour << 11 | minute << 5 | second // 2, year - 1980 << 9 | month << 5 | date)
        stated = [0, 0, 0] if flags & DESCRIBED else [entry.CRC, entry.compress_size, entry.file_size]
        if not is_same or (sizes != stated and sizes != [entry.CRC, entry.compress_size, entry.file_size]):
            return True, has_extra
        file.seek(n_extra, os.SEEK_CUR)
        if not _is_filled(file, entry):
            return True, has_extra
        at = file.tell()
        if flags & DESCRIBED:
            facts = struct.pack("<3I", entry.CRC, entry.compress_size, entry.file_size)
            begin = file.read(16)
            if begin != b"PK\7\10" + facts and begin[:12] != facts:
                return True, has_extra
            at += 16 if begin[:4] == b"PK\7\10" else 12
    return not _is_directory(file, archive, at), has_extra


def _is_plain(file: BinaryIO, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bool:
    """Return whether a member is compressed as those of a release are."""
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        return False
    again = Recompression(zlib.Z_DEFAULT_COMPRESSION)
    with archive.open(entry) as member:
        while block := member.read(BLOCK_BYTES):
            again.add(block)
    file.seek(entry.header_offset)
    *_, n_name, n_extra = LOCAL.unpack(file.read(LOCAL.size))
    return again.is_like(file, entry.header_offset + LOCAL.size + n_name + n_extra, entry.compress_size)


def _bytes(entry: zipfile.ZipInfo) -> bytes:
    """Return the name of a member as it is written without the flag for UTF-8."""
    return entry.orig_filename.encode("cp437", "replace")


def _is_filled(file: BinaryIO, entry: zipfile.ZipInfo) -> bool:
    """Return whether the compressed bytes of a member end where the member does."""
    if entry.compress_type == zipfile.ZIP_STORED:
        file.seek(entry.file_size, os.SEEK_CUR)
        return entry.compress_size == entry.file_size
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        return False
    engine = zlib.decompressobj(-15)
    remaining = entry.compress_size
    n_expanded = 0
    while remaining and not engine.eof:
        block = file.read(min(remaining, BLOCK_BYTES))
        if not block:
            return False
        remaining -= len(block)
        while block and not engine.eof and n_expanded <= entry.file_size:
            n_expanded += len(engine.decompress(block, BLOCK_BYTES))
            block = engine.unconsumed_tail
        if n_expanded > entry.file_size:
            return False
    n_expanded += len(engine.flush()) if not engine.eof else 0
    return engine.eof and not remaining and not engine.unused_data and n_expanded == entry.file_size


def _is_directory(file: BinaryIO, archive: zipfile.ZipFile, at: int) -> bool:
    """Return whether the directory begins at a position and is all that follows."""
    begin = at
    n_entries = len(archive.infolist())
    for _ in range(n_entries):
        file.seek(at)
        head = CENTRAL.unpack(file.read(CENTRAL.size))
        if head[0] != b"PK\1\2":
            return False
        at += CENTRAL.size + sum(head[10:13])
    file.seek(at)
    mark, disk, first, here, total, size, start, n_comment = END.unpack(file.read(END.size))
    is_consistent = (disk, first, here, total, size, start) == (0, 0, n_entries, n_entries, at - begin, begin)
    return mark == b"PK\5\6" and is_consistent and file.seek(0, os.SEEK_END) == at + END.size + n_comment
