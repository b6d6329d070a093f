"""Facts about a column: number of values, unique rows, kind, and shape of its distribution.

Facts are counts and shares. Only `texts` and `sample` contain cells, and no output shows them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from shoal.schema import Column, Kind, Role
from shoal.tables.values import NUMBER, PADDED, PLAIN, Marks, parse_numbers
from shoal.tables.values.dates import find_date_format
from shoal.tables.values.forms import find_form

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = [
    "COMMA_NUMBERS",
    "Coded",
    "ColumnFacts",
    "Distinct",
    "distinct_values",
    "is_constant",
    "profile_column",
    "sampled_facts",
]

BLOCKS = "▁▂▃▄▅▆▇█"
N_BARS = 12
SAMPLED = 2_000
MOST_SORTED = 100_000
COMMA_NUMBERS = "numbers with a decimal comma"
NUMBER_PATTERN = f"^(?:{NUMBER.pattern})$"
PADDED_PATTERN = f"^(?:{PADDED.pattern})"
WHOLE_PATTERN = r"^[+-]?[0-9]+$"
COMMA_PATTERN = r"^[+-]?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+),[0-9]+$"


class Coded(NamedTuple):
    """A column as integer codes, one for each distinct cell, in no particular order."""

    codes: NDArray[np.int64]
    n_values: int

    def of_people(self, person: Coded) -> Coded:
        """Return the code of one row of each person."""
        import numpy as np

        return Coded(self.codes[np.unique(person.codes, return_index=True)[1]], self.n_values)


@dataclass(frozen=True)
class Distinct:
    """The distinct cells of a column, trimmed and in Unicode composition form C.

    Attributes:
        name: Name of the column.
        n_rows: Rows of the table.
        texts: The distinct cells.
        counts: Rows of each distinct cell.
        coded: Code of the cell of every row.
        merged: Spellings that became equal by trimming and composition.
        blank: Rows whose cell contains only blanks.
    """

    name: str
    n_rows: int
    texts: pl.Series = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    coded: Coded = field(repr=False)
    merged: int = 0
    blank: int = 0

    def rows_with(self, text: str) -> int:
        """Count the rows with this text."""
        return int(self.counts[(self.texts == text).to_numpy()].sum())


@dataclass(frozen=True)
class ColumnFacts:
    """Facts about one column; only `missing` counts missing cells.

    Attributes:
        name: Name of the column.
        n_rows: Rows of the table.
        distinct: Distinct values.
        missing: Rows without a value.
        unique: Rows whose value no other row has.
        top_shares: Shares of the three most frequent values.
        shortest, longest: Length of the shortest and of the longest value.
        words: Mean number of words of a value.
        kind: Kind of the column.
        date_format: Format of its dates.
        other_format: A second format that all dates fit.
        slips: Distinct values that keep the column from being `slips_kind`.
        slips_kind: What the column would be without them, in words.
        marks: Decimal mark, thousands mark and unit of its numbers.
        whole: Whether all values are integers.
        padded: Whether a value has leading zeros.
        sparkline: Its distribution as a line of block characters.
        emails: Rows with an at sign.
        sample: Some distinct values.
        texts: All distinct values.
    """

    name: str
    n_rows: int
    distinct: int
    missing: int
    unique: int
    top_shares: tuple[float, ...]
    shortest: int
    longest: int
    words: float
    kind: Kind
    date_format: str | None
    other_format: str | None
    slips: int
    slips_kind: str
    marks: tuple[str, str, str]
    whole: bool
    padded: bool
    sparkline: str
    emails: int
    sample: tuple[str, ...] = field(repr=False)
    texts: pl.Series = field(repr=False)

    @property
    def n_known(self) -> int:
        """Rows that have a value."""
        return self.n_rows - self.missing

    @property
    def unique_share(self) -> float:
        """Share of the rows with a value whose value no other row has."""
        return self.unique / self.n_known if self.n_known else 0.0

    @property
    def distinct_share(self) -> float:
        """Distinct values per row with a value."""
        return self.distinct / self.n_known if self.n_known else 0.0

    @property
    def missing_share(self) -> float:
        """Share of the rows without a value."""
        return self.missing / self.n_rows if self.n_rows else 0.0


def distinct_values(series: pl.Series) -> Distinct:
    """Return the distinct cells of a column in normal form (see `values.normalise`) with their counts.

    Cells are compared by a 64-bit hash, which is several times faster than by text. Two cells with the same hash count
    as one; in a million cells the probability is below one in ten million, and no release depends on it.
    """
    import numpy as np
    import polars as pl

    _, first, codes, counts = np.unique(
        series.hash().to_numpy(), return_index=True, return_inverse=True, return_counts=True
    )
    coded = Coded(codes.astype(np.int64, copy=False), len(first))
    raw = series.gather(first).rename("text")
    texts = raw.str.strip_chars()
    if (texts.str.len_bytes() != texts.str.len_chars()).any():
        texts = texts.str.normalize("NFC")
    blank = int(counts[((texts == "") & (raw != "")).to_numpy()].sum())
    pairs = pl.DataFrame({"text": texts, "rows": counts})
    if not (texts == raw).all():
        pairs = pairs.group_by("text").agg(pl.col("rows").sum())
    if len(pairs) <= MOST_SORTED or len(pairs) < len(raw):  # otherwise in hash order, which is the same in every run
        pairs = pairs.sort("text")
    merged = len(raw) - len(pairs)
    return Distinct(series.name, len(series), pairs["text"], pairs["rows"].to_numpy(), coded, merged, blank)


def profile_column(
    values: Distinct, markers: Collection[str] = (), declared: Marks = PLAIN, *, commas: bool = False
) -> ColumnFacts:
    """Return the facts about a column.

    Args:
        values: Its distinct cells.
        markers: The texts, besides the empty one, that mark a missing value.
        declared: The marks of numbers that the user declared.
        commas: Whether 1,5 is a number, as in a file whose cells are separated by semicolons.
    """
    import numpy as np
    import polars as pl

    is_value = ~values.texts.is_in(pl.Series(["", *markers], dtype=pl.String).implode())
    texts, counts = values.texts.filter(is_value), values.counts[is_value.to_numpy()]
    n_known = int(counts.sum())
    kind, date_format, other_format, slips, slips_kind = _kind(texts)
    marks = Marks()
    if kind is Kind.CATEGORICAL and not (slips and slips_kind != COMMA_NUMBERS):
        found = find_form(_plain_column(values.name, declared), texts.to_list(), commas=commas).column
        if found.kind is Kind.BOOLEAN or (found.kind is Kind.NUMERIC and Marks(*found.marks) != PLAIN):
            kind, slips, slips_kind, marks = found.kind, 0, "", Marks(*found.marks)
    lengths = texts.str.len_chars().to_numpy() if len(texts) else np.zeros(1, dtype=np.int64)
    top = np.sort(counts)[::-1][:3] / n_known if n_known else ()
    sample = texts.gather_every(max(1, -(-len(texts) // SAMPLED)))
    words = sample.str.count_matches(r"\S+").mean() if len(sample) else 0.0
    return ColumnFacts(
        name=values.name,
        n_rows=values.n_rows,
        distinct=len(texts),
        missing=values.n_rows - n_known,
        unique=int((counts == 1).sum()),
        top_shares=tuple(round(float(share), 4) for share in top),
        shortest=int(lengths.min()),
        longest=int(lengths.max()),
        words=float(words or 0.0),  # type: ignore[arg-type]
        kind=kind,
        date_format=date_format,
        other_format=other_format,
        slips=slips,
        slips_kind=slips_kind,
        marks=(marks.decimal, marks.thousands, marks.unit),
        whole=len(texts) > 0 and bool(texts.str.contains(WHOLE_PATTERN).all()),
        padded=bool(texts.str.contains(PADDED_PATTERN).any()),
        sparkline=_sparkline(texts, counts, kind, date_format, marks),
        emails=int(counts[texts.str.contains("@", literal=True).to_numpy()].sum()) if len(texts) else 0,
        sample=tuple(sample.to_list()),
        texts=texts,
    )


def _plain_column(name: str, marks: Marks) -> Column:
    return Column(name, Role.QI, decimal=marks.decimal, thousands=marks.thousands)


def sampled_facts(
    name: str, sample: Sequence[str], distinct: int, unique: int, n_rows: int, missing: int = 0
) -> ColumnFacts:
    """Return the facts about a column of which only some distinct values and the counts are known.

    Numbers may have a decimal comma: an amount is no text, whatever separates the cells of its file.
    """
    import numpy as np
    import polars as pl

    texts = pl.Series("text", [text for text in sample if text.strip()], dtype=pl.String)
    counts = np.ones(len(texts), dtype=np.int64)
    coded = Coded(np.arange(len(texts)), len(texts))
    facts = profile_column(Distinct(name, len(texts), texts, counts, coded), commas=True)
    return replace(facts, n_rows=n_rows, missing=missing, distinct=distinct, unique=unique)


def _kind(texts: pl.Series) -> tuple[Kind, str | None, str | None, int, str]:
    """Return the kind, the date format, a second one, and what keeps a column from being numbers or dates."""
    import polars as pl

    if not len(texts):
        return Kind.CATEGORICAL, None, None, 0, ""
    dates = find_date_format(texts)
    if dates is not None and dates.misfits == 0:
        return Kind.DATE, dates.form, dates.other, 0, ""
    fits = texts.str.contains(NUMBER_PATTERN) & ~texts.str.contains(PADDED_PATTERN)
    finite = texts.filter(fits).cast(pl.Float64, strict=False).is_finite().fill_null(False)
    numbers = int(finite.sum())
    if numbers == len(texts):
        return Kind.NUMERIC, None, None, 0, ""
    if dates is not None:
        return Kind.CATEGORICAL, None, None, dates.misfits, f"dates in the format {dates.form}"
    if numbers >= 0.9 * len(texts) and not texts.str.contains(PADDED_PATTERN).any():
        return Kind.CATEGORICAL, None, None, len(texts) - numbers, "numbers"
    commas = int(texts.str.contains(COMMA_PATTERN).sum())
    if commas >= 0.5 * len(texts) and commas + numbers == len(texts):
        return Kind.CATEGORICAL, None, None, commas, COMMA_NUMBERS
    return Kind.CATEGORICAL, None, None, 0, ""


def _sparkline(texts: pl.Series, counts: NDArray[np.int64], kind: Kind, date_format: str | None, marks: Marks) -> str:
    """Draw the distribution: numbers and dates in bins of equal width, categories by descending frequency."""
    import numpy as np
    import polars as pl

    if not len(texts):
        return ""
    if not kind.is_measured:
        bars = np.sort(counts)[::-1][:N_BARS].astype(float)
    else:
        if kind is Kind.DATE:
            numbers = _moments(texts, date_format or Column.date_format)
        elif marks == PLAIN:
            numbers = texts.cast(pl.Float64)
        else:
            numbers = pl.Series([float(number) for number in parse_numbers(texts.to_list(), marks)[0]])
        placed = numbers.to_numpy()
        low, high = float(placed.min()), float(placed.max())
        n_bars = min(N_BARS, len(texts))
        place = np.zeros(len(placed)) if high == low else (placed / 2 - low / 2) / (high / 2 - low / 2) * n_bars
        bars = np.bincount(np.minimum(place.astype(np.int64), n_bars - 1), weights=counts, minlength=n_bars)
    heights = np.ceil(bars / bars.max() * (len(BLOCKS) - 1)).astype(int)
    return "".join(BLOCKS[height] for height in heights)


def _moments(texts: pl.Series, form: str) -> pl.Series:
    import polars as pl

    from shoal.tables.values import parse_dates

    if "%d" in form and len(texts) > SAMPLED:
        parsed = texts.str.to_datetime(form, strict=False)
        if parsed.null_count() == 0:
            return parsed.dt.epoch("s").cast(pl.Float64)
    return pl.Series(parse_dates(texts.to_list(), form)[0], dtype=pl.Float64)


def is_constant(facts: ColumnFacts) -> bool:
    """Tell whether all rows have the same cell, or none has a value."""
    return facts.distinct == 0 or (facts.distinct == 1 and facts.missing == 0)
