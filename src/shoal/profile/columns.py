"""The facts of a column: how many values, how many rows stand alone, its kind, the shape of its distribution.

Facts are counts and shares. The cells themselves stay in `texts`, which no output shows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from shoal.profile.dates import find_date_format
from shoal.schema import Column, Kind
from shoal.tables.values import NUMBER, PADDED

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["POINT_NUMBERS", "Coded", "ColumnFacts", "Distinct", "distinct_values", "is_constant", "profile_column"]

BLOCKS = "▁▂▃▄▅▆▇█"
N_BARS = 12
SAMPLED = 2_000
MOST_SORTED = 100_000
POINT_NUMBERS = "numbers with a point for the decimals"
NUMBER_PATTERN = f"^(?:{NUMBER.pattern})$"
PADDED_PATTERN = f"^(?:{PADDED.pattern})"
WHOLE_PATTERN = r"^[+-]?[0-9]+$"
COMMA_PATTERN = r"^[+-]?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+),[0-9]+$"


class Coded(NamedTuple):
    """A column as whole numbers, one for each distinct cell; the order means nothing."""

    codes: NDArray[np.int64]
    n_values: int


@dataclass(frozen=True)
class Distinct:
    """The distinct cells of a column, trimmed and composed, and the rows of each.

    coded: the cell of every row. merged: how many spellings fell together by trimming and composing. blank: rows with
    blanks alone in the cell.
    """

    name: str
    n_rows: int
    texts: pl.Series = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    coded: Coded = field(repr=False)
    merged: int = 0
    blank: int = 0

    def rows_with(self, text: str) -> int:
        """Return how many rows have this text."""
        return int(self.counts[(self.texts == text).to_numpy()].sum())


@dataclass(frozen=True)
class ColumnFacts:
    """What is known about one column; missing cells are left out of all counts but `missing`.

    unique: rows whose value no other row has. slips: distinct values that keep it from being `slips_kind`.
    other_format: a second format that all dates fit. emails: rows with an at sign.
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
        """Share of the rows with a value that no other row has."""
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
    """Return the distinct cells of a column in their one form (see values.normalise) with their counts.

    Cells are told apart by a hash of 64 bits, several times quicker than by their text. Two that share one, less likely
    than one in ten million in a million cells, would be counted as one; nothing that is released depends on it.
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
    if len(pairs) <= MOST_SORTED or len(pairs) < len(raw):  # else the order of the hashes: the same in every run
        pairs = pairs.sort("text")
    merged = len(raw) - len(pairs)
    return Distinct(series.name, len(series), pairs["text"], pairs["rows"].to_numpy(), coded, merged, blank)


def profile_column(values: Distinct, markers: Collection[str] = ()) -> ColumnFacts:
    """Return the facts of a column; markers: the texts that stand for a missing value beside the empty one."""
    import numpy as np
    import polars as pl

    known = ~values.texts.is_in(pl.Series(["", *markers], dtype=pl.String).implode())
    texts, counts = values.texts.filter(known), values.counts[known.to_numpy()]
    n_known = int(counts.sum())
    kind, date_format, other_format, slips, slips_kind = _kind(texts)
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
        whole=len(texts) > 0 and bool(texts.str.contains(WHOLE_PATTERN).all()),
        padded=bool(texts.str.contains(PADDED_PATTERN).any()),
        sparkline=_sparkline(texts, counts, kind, date_format),
        emails=int(counts[texts.str.contains("@", literal=True).to_numpy()].sum()) if len(texts) else 0,
        sample=tuple(sample.to_list()),
        texts=texts,
    )


def _kind(texts: pl.Series) -> tuple[Kind, str | None, str | None, int, str]:
    """Return kind, date format, second date format, and what keeps a column from being numbers or dates."""
    import polars as pl

    if not len(texts):
        return Kind.CATEGORICAL, None, None, 0, ""
    found = find_date_format(texts)
    if found is not None and found.misfits == 0:
        return Kind.DATE, found.form, found.other, 0, ""
    fits = texts.str.contains(NUMBER_PATTERN) & ~texts.str.contains(PADDED_PATTERN)
    finite = texts.filter(fits).cast(pl.Float64, strict=False).is_finite().fill_null(False)
    numbers = int(finite.sum())
    if numbers == len(texts):
        return Kind.NUMERIC, None, None, 0, ""
    if found is not None:
        return Kind.CATEGORICAL, None, None, found.misfits, f"dates in the format {found.form}"
    if numbers >= 0.9 * len(texts) and not texts.str.contains(PADDED_PATTERN).any():
        return Kind.CATEGORICAL, None, None, len(texts) - numbers, "numbers"
    commas = int(texts.str.contains(COMMA_PATTERN).sum())
    if commas >= 0.5 * len(texts) and commas + numbers == len(texts):
        return Kind.CATEGORICAL, None, None, commas, POINT_NUMBERS
    return Kind.CATEGORICAL, None, None, 0, ""


def _sparkline(texts: pl.Series, counts: NDArray[np.int64], kind: Kind, date_format: str | None) -> str:
    """Draw the distribution: bins of equal width of numbers and dates, the most frequent categories first."""
    import numpy as np
    import polars as pl

    if not len(texts):
        return ""
    if kind is Kind.CATEGORICAL:
        bars = np.sort(counts)[::-1][:N_BARS].astype(float)
    else:
        numbers = texts.cast(pl.Float64) if kind is Kind.NUMERIC else _moments(texts, date_format or Column.date_format)
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
    """Tell whether all rows have the same cell, or none has any."""
    return facts.distinct == 0 or (facts.distinct == 1 and facts.missing == 0)
