"""What the schema of an Arrow file says besides the names and types of the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from shoal.verification.reading.hidden.flatbuffer import Table

__all__ = ["DICTIONARY", "TYPE", "TYPE_KIND", "Type", "fields_of", "has_metadata"]

FIELDS, SCHEMA_METADATA = 1, 2
NAME, NULLABLE, TYPE_KIND, TYPE, DICTIONARY, CHILDREN, METADATA = range(7)
ZONE = re.compile(rb"[A-Za-z0-9_+:/-]{0,40}")


class Type:
    """The numbers of the types of Arrow."""

    NULL, INT, FLOAT, BINARY, TEXT, BOOL, DECIMAL, DATE, TIME, TIMESTAMP = range(1, 11)
    DURATION, LARGE_BINARY, LARGE_TEXT, TEXT_VIEW = 18, 19, 20, 24


# The parameters of each type, in the order of its fields; s is a text.
PARAMETERS = {
    Type.NULL: "",
    Type.INT: "iB",
    Type.FLOAT: "h",
    Type.BINARY: "",
    Type.TEXT: "",
    Type.BOOL: "",
    Type.DECIMAL: "iii",
    Type.DATE: "h",
    Type.TIME: "hi",
    Type.TIMESTAMP: "hs",
    Type.DURATION: "h",
    Type.LARGE_BINARY: "",
    Type.LARGE_TEXT: "",
    Type.TEXT_VIEW: "",
}


def fields_of(schema: Table) -> list[Table]:
    """Return the columns of a schema."""
    return schema.tables(FIELDS)


def has_metadata(schema: Table, names: Sequence[bytes] | None = None) -> bool:
    """Return whether a schema has metadata, columns inside columns, an unknown time zone, or other names than these.

    Raises:
        ValueError: A column has a type that is no text, number, date or time.
    """
    schema.scalar(0, "h")
    fields = fields_of(schema)
    is_extra = SCHEMA_METADATA in schema or 3 in schema or any(METADATA in each for each in fields)
    is_extra |= any(each.tables(CHILDREN) != [] for each in fields)
    is_odd = [_read_type(each) for each in fields]
    own_names = [each.text(NAME) for each in fields]
    return is_extra or any(is_odd) or (names is not None and own_names != list(names))


def _read_type(column: Table) -> bool:
    """Read the type of a column to its last parameter; return whether a time zone is not the name of one."""
    column.scalar(NULLABLE, "B")
    kind = column.scalar(TYPE_KIND, "B")
    if kind not in PARAMETERS:
        raise ValueError("a type that a table does not need")
    is_odd = False
    if TYPE in column:
        table = column.table(TYPE)
        for number, form in enumerate(PARAMETERS[kind]):
            if form == "s":
                is_odd |= not ZONE.fullmatch(table.text(number))
            else:
                table.scalar(number, form)
    if DICTIONARY in column:
        coding = column.table(DICTIONARY)
        coding.scalar(0, "q")
        coding.scalar(2, "B")
        coding.scalar(3, "h")
        if 1 in coding:
            index = coding.table(1)
            index.scalar(0, "i")
            index.scalar(1, "B")
    return is_odd
