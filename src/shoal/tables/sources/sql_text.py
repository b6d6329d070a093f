"""SQL that computes the text of a typed cell: the same text as `typed_text` gives for a frame or a file."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.errors import InputError, join_problems
from shoal.tables.sources.session import Relation, quote
from shoal.tables.typed_text import ADVICE

__all__ = ["check_types", "out_of_range", "text_of"]

PLAIN = ("text", "varchar", "bpchar", "char", "name", "citext", "uuid", "enum", "int2", "int4", "int8")
POINT = "case when {0} ~ '[.e]' then {0} else {0} || '.0' end"
# PostgreSQL writes an exponent from 1e15 on, Python from 1e16 on; an integral number ends in .0.
FLOAT = (
    "case when {0} = 'NaN' then '' when {0} = 0 then '0.0' when {0} = 'Infinity' then 'inf' "
    "when {0} = '-Infinity' then '-inf' when abs({0}) >= 1e15 and abs({0}) < 1e16 then "
    + POINT.format("({0}::text::numeric::text)")
    + " else "
    + POINT.format("({0}::text)")
    + " end"
)
MOMENT = "regexp_replace(to_char({0}, 'YYYY-MM-DD HH24:MI:SS.US'), '[.]000000$', '')"
TEXTS = {
    "bool": "case when {0} then 'True' else 'False' end",
    "numeric": "case when {0} = 'NaN' then '' else {0}::text end",
    "float8": FLOAT,
    "float4": FLOAT.format("({0}::text::float8)"),
    "date": "to_char({0}, 'YYYY-MM-DD')",
    "timestamp": f"regexp_replace({MOMENT}, ' 00:00:00$', '')",
    "timestamptz": MOMENT.format("({0} at time zone 'UTC')") + " || '+00:00'",
    "time": "regexp_replace(to_char({0}::interval, 'HH24:MI:SS.US'), '[.]000000$', '')",
}
DATED = ("date", "timestamp", "timestamptz")


def text_of(name: str, kind: str, table: str = "") -> str:
    """Return the SQL expression for the text of the cells of a table's column; a null becomes the empty text."""
    column = f"{table}.{quote(name)}" if table else quote(name)
    text = TEXTS[kind].format(column) if kind in TEXTS else f"{column}::text"
    return f"(case when {column} is null then '' else {text} end collate \"C\")"


def out_of_range(name: str, kind: str) -> str | None:
    """Return the SQL condition for dates without a text: before year 1, after year 9999, or infinite."""
    column = quote(name)
    return f"({column} < '0001-01-01' or {column} >= '10000-01-01')" if kind in DATED else None


def check_types(relation: Relation, names: Sequence[str], place: str) -> None:
    """Raise an InputError that lists all columns whose type has no text."""
    types = dict(zip(relation.columns, relation.types, strict=True))
    unsupported = [name for name in names if types[name] not in PLAIN and types[name] not in TEXTS]
    if unsupported:
        raise InputError(
            join_problems([f"{place}: column {name!r} has type {types[name]}. {ADVICE}" for name in unsupported])
        )
