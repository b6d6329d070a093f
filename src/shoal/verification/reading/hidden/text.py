"""What a text file holds besides its lines.

A comment line is no hiding place: the verifier reads it as a row.
"""

from __future__ import annotations

import gzip
import zlib

from shoal.verification.reading.files import open_bytes
from shoal.verification.reading.limits import PathName

__all__ = ["text_faults"]

BLOCK_BYTES = 1 << 20
MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
WIDE = MARKS[1:]  # of encodings in which letters contain NUL bytes
BLANK_ENDS = (b"\n\n", b"\n\r\n", b"\r\r")


def text_faults(path: PathName) -> list[str]:
    """Return what a text file, decompressed if necessary, contains besides its lines: marks, NUL bytes, blank ends."""
    has_nul = False
    begin = end = b""
    try:
        with open_bytes(path) as file:
            while block := file.read(BLOCK_BYTES):
                begin = begin or block[:4]
                has_nul = has_nul or b"\0" in block
                end = (end + block[-4:])[-4:]
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return []  # the reader reports it
    checks = [
        (begin.startswith(MARKS), "it begins with a byte order mark"),
        (has_nul and not begin.startswith(WIDE), "it contains a NUL byte"),
        (end.endswith(BLANK_ENDS), "it ends with blank lines"),
    ]
    return [text for fault, text in checks if fault]
