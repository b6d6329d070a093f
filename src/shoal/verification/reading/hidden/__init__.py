"""What a released file holds besides its cells; nothing may."""

from __future__ import annotations

from collections.abc import Collection

from shoal.verification.reading.files import ARROW, kind_of
from shoal.verification.reading.limits import PathName
from shoal.verification.verdict import Violation

__all__ = ["hidden_content"]


def hidden_content(path: PathName, *, strict: bool = False, typed: Collection[str] = ()) -> list[Violation]:
    """Return what a file contains besides the cells that every reader shows.

    Examples are hidden sheets, comments and properties of a workbook, metadata of Parquet, dictionary values that no
    row has, the name in a gzip header, and bytes that belong to nothing. What follows from the cells, such as the least
    and the greatest value of a column, is no violation.

    Args:
        path: The file, of any format that the verifier reads.
        strict: Whether it must be written as shoal writes releases, and without anything else: no statistics, no
            properties, and no styles but those of typed columns.
        typed: The columns of a Parquet file that may have a type: all but the bounds of ranges. In a workbook, the
            cells of each column have one type.

    Raises:
        InputError: The file is damaged, or expands more than any table does.
        FileError: The file cannot be opened.
    """
    kind = kind_of(path)
    if kind == "parquet":
        from shoal.verification.reading.hidden.parquet import parquet_faults

        texts = parquet_faults(path, strict=strict, typed=typed)
    elif kind == "excel":
        from shoal.verification.reading.hidden.workbook import workbook_faults

        texts = workbook_faults(path, strict=strict)
    elif kind in ARROW:
        from shoal.verification.reading.hidden.arrow import arrow_faults

        texts = arrow_faults(path)
    else:
        texts = _text_faults(path, kind, strict=strict)
    return [Violation("file", text) for text in texts]


def _text_faults(path: PathName, kind: str, *, strict: bool) -> list[str]:
    texts: list[str] = []
    if kind in ("gzip", "zstd"):
        from shoal.verification.reading.hidden.compressed import gzip_faults, zstd_faults

        texts += gzip_faults(path, strict=strict) if kind == "gzip" else zstd_faults(path)
    if not strict:  # the gate's tokenizer accounts for every byte of a text
        from shoal.verification.reading.hidden.text import text_faults

        texts += text_faults(path)
    return texts
