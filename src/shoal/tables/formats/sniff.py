"""Recognise the format of a file by its first bytes and its name; choose the format of a release by its name."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from shoal.errors import FileError, InputError, UsageError

__all__ = ["STATISTICS", "Format", "output_format", "sniff", "suffix_of"]


class Format(StrEnum):
    """The file formats of tables that shoal can read."""

    CSV = "CSV text"
    GZIP = "gzip"
    ZSTD = "Zstandard"
    PARQUET = "Parquet"
    ARROW = "Arrow IPC (Feather)"
    ARROW_STREAM = "an Arrow IPC stream"
    EXCEL = "an Excel workbook"
    SPSS = "an SPSS file"
    SPSS_PORTABLE = "a portable SPSS file"
    STATA = "a Stata file"
    SAS = "a SAS file"
    SAS_TRANSPORT = "a SAS transport file"


STATISTICS = (Format.SPSS, Format.SPSS_PORTABLE, Format.STATA, Format.SAS, Format.SAS_TRANSPORT)
BY_SUFFIX: Mapping[str, tuple[Format, ...]] = {
    ".csv": (Format.CSV,),
    ".tsv": (Format.CSV,),
    ".txt": (Format.CSV,),
    ".gz": (Format.GZIP,),
    ".zst": (Format.ZSTD,),
    ".parquet": (Format.PARQUET,),
    ".pq": (Format.PARQUET,),
    ".arrow": (Format.ARROW, Format.ARROW_STREAM),
    ".feather": (Format.ARROW,),
    ".ipc": (Format.ARROW, Format.ARROW_STREAM),
    ".xlsx": (Format.EXCEL,),
    ".xlsm": (Format.EXCEL,),
    ".sav": (Format.SPSS,),
    ".zsav": (Format.SPSS,),
    ".por": (Format.SPSS_PORTABLE,),
    ".dta": (Format.STATA,),
    ".sas7bdat": (Format.SAS,),
    ".xpt": (Format.SAS_TRANSPORT,),
}
RELEASED: Mapping[str, Format] = {
    ".csv": Format.CSV,
    ".csv.gz": Format.GZIP,
    ".parquet": Format.PARQUET,
    ".xlsx": Format.EXCEL,
}
MAGIC = {
    b"\x1f\x8b": Format.GZIP,
    b"\x28\xb5\x2f\xfd": Format.ZSTD,
    b"ARROW1\0\0": Format.ARROW,
    b"\xff\xff\xff\xff": Format.ARROW_STREAM,
    b"PK\x03\x04": Format.EXCEL,
    b"$FL2@(#)": Format.SPSS,
    b"$FL3@(#)": Format.SPSS,
    b"<stata_dta>": Format.STATA,
    b"\0" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c": Format.SAS,
    b"HEADER RECORD*******LIB": Format.SAS_TRANSPORT,
}
# Versions 4 to 12: the release, the byte order, the type and a filler.
OLD_STATA = frozenset(bytes([release, order, 1, 0]) for release in range(0x68, 0x74) for order in (1, 2))
PORTABLE = b"SPSS PORT FILE"  # in the first of its two headers, in lines of 80 characters
# Common formats that shoal cannot read, and what to do instead.
REFUSED = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "is an old Excel file (.xls), or has a password. Save it as "
    ".xlsx without a password",
    b"PARE": "is an encrypted Parquet file. Write it without encryption",
    b"FEA1": "is a Feather file of version 1. Write it again as version 2",
    b"BZh": "is compressed with bzip2. Decompress it first",
    b"\xfd7zXZ\0": "is compressed with xz. Decompress it first",
    b"7z\xbc\xaf": "is a 7-Zip archive. Extract the table first",
    b"SQLite format 3\0": "is an SQLite database. Name its table: sqlite:///FILE?table=NAME",
    b"%PDF": "is a PDF document. Export the table as CSV",
    b"\x80\x04\x95": "is a Python pickle, which may run code when it is read. Export the table as CSV or Parquet",
    b"\x80\x05\x95": "is a Python pickle, which may run code when it is read. Export the table as CSV or Parquet",
}


def sniff(path: Path) -> Format:
    """Return the format of a file, recognised by its content.

    Raises:
        FileError: If the file cannot be read.
        InputError: If shoal cannot read the format, or the ending of the name belongs to another format.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
            file.seek(max(0, path.stat().st_size - 4))
            tail = file.read(4)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from None
    for magic, text in REFUSED.items():
        if head.startswith(magic):
            raise InputError(f"{path}: {text}.")
    if head[8:12] == b"DUCK" and b"\0" in head:
        raise InputError(f"{path}: is a DuckDB database. Name its table: duckdb:///FILE?table=NAME.")
    if head.startswith(b"PAR1") and (tail == b"PAR1" or b"\0" in head):  # a header may begin with PAR1
        form = Format.PARQUET
    else:
        form = next((form for magic, form in MAGIC.items() if head.startswith(magic)), Format.CSV)
        if form is Format.CSV and head[:4] in OLD_STATA:
            form = Format.STATA
        elif form is Format.CSV and PORTABLE in head[:400] and path.suffix.lower() in ("", ".por"):
            form = Format.SPSS_PORTABLE
    formats_by_name = BY_SUFFIX.get(path.suffix.lower(), ())
    if formats_by_name and form not in formats_by_name:
        content = "empty" if not head else f"{form}"
        raise InputError(
            f"{path}: the name ends like {formats_by_name[0]}, but the content is {content}. Rename the file to match "
            "its content."
        )
    return form


def suffix_of(form: Format) -> str:
    """Return the ending of the name of a release in this format."""
    return next(suffix for suffix, released in RELEASED.items() if released is form)


def output_format(path: Path) -> Format:
    """Return the format of a release with this name.

    Raises:
        UsageError: If the name does not end like one of the formats.
    """
    name = path.name.lower()
    for suffix in sorted(RELEASED, key=len, reverse=True):
        if name.endswith(suffix):
            return RELEASED[suffix]
    raise UsageError(
        f"{path}: shoal writes releases as CSV, Parquet or Excel. Choose a name that ends in "
        f"{', '.join(list(RELEASED)[:-1])} or {list(RELEASED)[-1]}."
    )
