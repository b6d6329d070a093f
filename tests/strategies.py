"""Tables for hypothesis: simple ones with many ties for the algorithms, unusual ones for everything else."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import polars as pl
from hypothesis import strategies as st

from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame

KINDS = ("numeric", "categorical", "date")


@dataclass(frozen=True)
class Sheet:
    """Columns of text, their kinds, and markers of missing values besides the empty text.

    A column without a kind is sensitive.
    """

    columns: dict[str, list[str]]
    kinds: dict[str, str]
    missing: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    @property
    def n_rows(self) -> int:
        return len(self.columns[self.names[0]])

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return list(zip(*self.columns.values(), strict=True))

    @property
    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(self.columns, schema=dict.fromkeys(self.columns, pl.String))

    def named(self, kind: str) -> list[str]:
        return [name for name in self.columns if self.kinds.get(name) == kind]

    @property
    def qi(self) -> list[str]:
        return [name for name in self.columns if name in self.kinds]

    @property
    def sensitive(self) -> list[str]:
        return [name for name in self.columns if name not in self.kinds]

    @property
    def schema(self) -> Schema:
        kinds = {name: Kind(kind) for name, kind in self.kinds.items()}
        roles = {Role.QI: self.qi, Role.SENSITIVE: self.sensitive}
        return Schema.build(self.names, roles, kinds=kinds, missing=self.missing)

    @property
    def encoded(self) -> Encoded:
        return encode(from_frame(self.frame), self.schema)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `measure` that describe the columns; `anonymize` also needs `sensitive`."""
        return {
            "qi": self.qi,
            "numeric": self.named("numeric"),
            "categorical": self.named("categorical"),
            "dates": dict.fromkeys(self.named("date"), "%Y-%m-%d"),
            "missing": self.missing,
        }


# Numbers are multiples of 1/8, so that their differences are exact as binary fractions and widths tie exactly.
TAME_NUMBERS = st.integers(-400, 400).map(lambda eighths: f"{eighths / 8:g}")
TAME_DATES = st.integers(0, 20000).map(lambda days: (date(1950, 1, 1) + timedelta(days)).isoformat())
TAME_WORDS = st.text("abcdeXYZ", min_size=1, max_size=3)
TAME_VALUES = {"numeric": TAME_NUMBERS, "date": TAME_DATES, "categorical": TAME_WORDS}


@st.composite
def columns(draw: st.DrawFn, values: st.SearchStrategy[str], n_rows: int, missing: Sequence[str] = ("",)) -> list[str]:
    """Draw a column with a few repeated values; every other column has missing values."""
    domain = draw(st.lists(values, min_size=1, max_size=draw(st.sampled_from((1, 2, 4, 12, 40))), unique=True))
    if draw(st.booleans()):
        domain += missing
    return draw(st.lists(st.sampled_from(domain), min_size=n_rows, max_size=n_rows))


@st.composite
def sheets(draw: st.DrawFn, max_rows: int = 60, max_columns: int = 5, kinds: Sequence[str] = KINDS) -> Sheet:
    """Draw a simple table of quasi-identifiers."""
    n_rows = draw(st.integers(1, max_rows))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=max_columns))
    names = [f"{kind}{i}" for i, kind in enumerate(chosen)]
    drawn = {name: draw(columns(TAME_VALUES[kind], n_rows)) for name, kind in zip(names, chosen, strict=True)}
    return Sheet(drawn, dict(zip(names, chosen, strict=True)))


ODD_NUMBERS = st.one_of(
    st.sampled_from(["0", "-0", "0.0", "-0.0", "+0", "1", "1.0", "1.00", "+1", "01", "1e0", "02139", "2139"]),
    st.sampled_from(["1e5", "100000", ".5", "0.5", "5.", "5", "-.5", "1E-7"]),
    st.sampled_from(["9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775808", "1" * 40]),
    st.sampled_from(["0.1", "0.2", "0.3", "0.30000000000000004", "1.0000000000000002", "1e300", "-1e300", "1e-400"]),
    st.integers(-(10**6), 10**6).map(str),
    st.decimals(-1000, 1000, places=3).map(str),
)
ODD_DATES = st.dates(date(1, 1, 1), date(9999, 12, 31)).map(date.isoformat)
ODD_WORDS = st.one_of(
    st.sampled_from(["José", "Jose\u0301", "Å", "A\u030a", "ﬁ", "fi", "а", "a", "ß", "SS", "İ", "e\u0301\u0323"]),
    st.sampled_from(["1", "1.0", "True", "true", "-0.0", "02139", "1e5", "NA", "None", "null", "nan", "NULL", "any"]),
    st.sampled_from(["a, b", "a,b", "a;b", "a|b", "a~b", 'say "x"', '"', '""', "{", "}", "{a", "a}", "}{", "[1, 2]"]),
    st.sampled_from(["[", "]", "a\nb", "a\r\nb", "a\rb", "a\tb", " a", "a ", "a\u00a0b", "\u200b", "-", "?", "=1+1"]),
    st.sampled_from(["\U0001f41f", "\U0010ffff", "\ufeff", "\x7f", "\x85x", "x\u2028y"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0*{}"), max_size=8),
)
ODD_VALUES = {"numeric": ODD_NUMBERS, "date": ODD_DATES, "categorical": ODD_WORDS}
MARKERS = ("?", "N/A")


@st.composite
def odd_sheets(draw: st.DrawFn, max_rows: int = 12, max_columns: int = 4) -> Sheet:
    """Draw a table that breaks careless programs; columns after the first may have other roles."""
    n_rows = draw(st.integers(1, max_rows))
    chosen = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=max_columns))
    missing = draw(st.sampled_from([(), MARKERS[:1], MARKERS]))
    names = [f"{kind}{i}" for i, kind in enumerate(chosen)]
    drawn = {}
    for name, kind in zip(names, chosen, strict=True):
        drawn[name] = draw(columns(ODD_VALUES[kind], n_rows, missing=("", *missing)))
    others = {"other": draw(columns(ODD_WORDS, n_rows))} if draw(st.booleans()) else {}
    return Sheet(drawn | others, dict(zip(names, chosen, strict=True)), missing)


@st.composite
def grids(draw: st.DrawFn, max_rows: int = 8, max_columns: int = 4) -> list[list[str]]:
    """Draw the cells of a file, row by row: any text without NUL."""
    cell = st.one_of(ODD_WORDS, ODD_NUMBERS, st.sampled_from(["", " ", "*", "{a, b}", "[1, 2]", '""', "\n", "\r", ","]))
    width = draw(st.integers(1, max_columns))
    row = st.lists(cell, min_size=width, max_size=width)
    return draw(st.lists(row, min_size=1, max_size=max_rows))


def csv_text(grid: list[list[str]], delimiter: str, end: str) -> str:
    """Write cells with the csv module; quote every cell if it would leave a carriage return unquoted."""
    bare = end == "\n" and any("\r" in cell for row in grid for cell in row)
    file = io.StringIO(newline="")
    write = csv.writer(
        file, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL
    )
    write.writerows(grid)
    return file.getvalue()
