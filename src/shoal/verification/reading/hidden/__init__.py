"""What a released file holds besides its cells; nothing may."""

from __future__ import annotations

from collections.abc import Collection

from shoal.verification.reading.files import ARROW, kind_of
from shoal.verification.reading.hidden.arrow import arrow_faults
from shoal.verification.reading.hidden.compressed import gzip_faults, zstd_faults
from shoal.verification.reading.hidden.parquet import parquet_faults
from shoal.verification.reading.hidden.text import text_faults
from shoal.verification.reading.hidden.workbook import workbook_faults
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
        strict: Whether it must be written as shoal writes releases, and without anything else: text only, no
            statistics, no styles and no properties.
        typed: The columns of a release that may have a type: those that are not quasi-identifiers.

    Raises:
        InputError: The file is damaged, or expands more than any table does.
        FileError: The file cannot be opened.
    """
    kind = kind_of(path)
    if kind == "parquet":
        texts = parquet_faults(path, strict=strict, typed=typed)
    elif kind == "excel":
        texts = workbook_faults(path, strict=strict)
    elif kind in ARROW:
        texts = arrow_faults(path)
    else:
        texts = gzip_faults(path, strict=strict) if kind == "gzip" else zstd_faults(path) if kind == "zstd" else []
        texts += [] if strict else text_faults(path)  # the gate's tokenizer accounts for every byte of a text
    return [Violation("file", text) for text in texts]
