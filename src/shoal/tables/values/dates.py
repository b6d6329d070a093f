"""Find the format of a column of dates, date-times, months or times of day."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from shoal.tables.values import parse_dates

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DateFormat", "find_date_format"]

# If two fit, the first is used and the second reported: 03/04/2024 may be April or March.
DAYS = (
    *("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d"),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d%b%Y", "%d %B %Y"),
    *("%b %d, %Y", "%B %d, %Y", "%b %d %Y"),
)
CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%I:%M:%S%p")
MONTHS = ("%Y-%m", "%m/%Y", "%Y/%m", "%b-%Y", "%b %Y", "%B %Y", "%B-%Y", "%Y-%b")
FORMATS = (*DAYS, *(f"{day}{gap}{clock}" for day, gap, clock in product(DAYS, " T", CLOCKS)), *MONTHS, *CLOCKS)
PATTERNS = {
    "%Y": "[0-9]{4}",
    "%y": "[0-9]{2}",
    "%b": "[A-Za-z]{3}",
    "%B": "[A-Za-z]{3,9}",
    "%p": "[AaPp][Mm]",
    "%f": "[0-9]{1,6}",
    **dict.fromkeys(("%m", "%d", "%H", "%I", "%M", "%S"), "[0-9]{1,2}"),
}
STRICT = {"%Y-%m-%d": "[0-9]{4}-[0-9]{2}-[0-9]{2}", "%Y%m%d": "(?:1[89]|20)[0-9]{6}", "%Y-%m": "[0-9]{4}-[0-9]{2}"}
ZONE = re.compile(r"(?<=[0-9])( ?Z| ?UTC| ?GMT| ?[+-][0-9]{2}:?[0-9]{2})$")
SWAPPED = {"%d/%m": "%m/%d", "%d-%m": "%m-%d"}
PARSED_EXACTLY = 20_000  # polars parses more distinct values than this, which is faster
SAMPLED = 200
PROBES = 5  # a format that none of so many values has is not tried


class DateFormat(NamedTuple):
    """A strptime format, another one that fits too, and the number of distinct values that do not fit."""

    form: str
    other: str | None
    misfits: int


def find_date_format(texts: pl.Series) -> DateFormat | None:
    """Return the format that at least nine in ten distinct values have, with the number of misfits.

    A format of ISO with a time also fits values without the time or the fraction of a second. A time zone belongs to
    the format as it is written, so all values must have the same.
    """
    if not len(texts):
        return None
    sample = texts.gather_every(max(1, len(texts) // SAMPLED))
    probes = sample.gather_every(max(1, len(sample) // PROBES)).to_list()
    zone = _zone(texts, probes)
    if zone:
        probes = [text.removesuffix(zone) for text in probes]
        texts, sample = (each.str.strip_suffix(zone) for each in (texts, sample))
    has_times = bool(zone) or bool(texts.str.contains(":", literal=True).any())
    best: DateFormat | None = None
    outlines = {_outline(text) for text in probes}
    for form, pattern in (each for each, shapes in _shapes().items() if not outlines.isdisjoint(shapes)):
        if "%M" not in form if zone else "%M" in form and not has_times:
            continue
        if not any(re.fullmatch(pattern, text) for text in probes):
            continue
        if sample.str.contains(f"^(?:{pattern})$").mean() < 0.9:  # type: ignore[operator]
            continue
        misfits = _misfits(texts, form, pattern)
        if misfits == 0:
            other = next((form.replace(day, month) for day, month in SWAPPED.items() if day in form), None)
            both = other is not None and _misfits(texts, other, pattern) == 0
            return DateFormat(form + zone, other + zone if both and other else None, 0)
        if misfits <= 0.1 * len(texts) and (best is None or misfits < best.misfits):
            best = DateFormat(form + zone, None, misfits)
    return best


@cache
def _shapes() -> dict[tuple[str, str], frozenset[str]]:
    """Return each format with the pattern of its texts, and the outlines of these texts."""
    shapes = {}
    for form in FORMATS:
        day, gap, clock = re.fullmatch("(.*?)([ T]?)((?:%[HI].*)?)", form).groups()  # type: ignore[union-attr]
        pattern = STRICT.get(day) or _pattern(day)
        written = [form]
        if clock and day == "%Y-%m-%d":  # frames write midnight as the date alone, and whole seconds without fraction
            seconds = "(?::[0-9]{2}(?:\\.[0-9]{1,6})?)?" if "%f" in clock else ""
            times = f"[0-9]{{1,2}}:[0-9]{{2}}{seconds}" if "%f" in clock else _pattern(clock)
            pattern += f"(?:{gap}{times})?"
            written += [day, *([f"{day}{gap}%H:%M", f"{day}{gap}%H:%M:%S"] if "%f" in clock else [])]
        else:
            pattern += gap + _pattern(clock)
        shapes[form, pattern] = frozenset(map(_outline, written))
    return shapes


def _outline(text: str) -> str:
    """Return a text or a format with 0 for each run of digits and a for each run of letters."""
    digits = re.sub("%[^bBp]|[0-9]+", "0", text)
    return re.sub("0+", "0", re.sub("(?:%?[A-Za-z])+", "a", digits))


def _pattern(form: str) -> str:
    pieces = re.split("(%.)", form)
    return "".join(PATTERNS[piece] if piece in PATTERNS else re.escape(piece) for piece in pieces)


def _zone(texts: pl.Series, probes: list[str]) -> str:
    """Return the time zone that all values end in, as it is written; empty if there is none."""
    match = ZONE.search(probes[0]) if ":" in probes[0] else None
    if match is None or not texts.str.ends_with(match[1]).all():
        return ""
    return match[1]


def _misfits(texts: pl.Series, form: str, pattern: str) -> int:
    fits = texts.str.contains(f"^(?:{pattern})$")
    candidates = texts.filter(fits)
    outside = len(texts) - len(candidates)
    if len(candidates) <= PARSED_EXACTLY:
        return outside + len(parse_dates(candidates.to_list(), form)[1])
    import polars as pl

    parsed = candidates.str.to_datetime(form.replace(".%f", "%.f"), strict=False) if "%d" in form else pl.Series([None])
    n_misfits = parsed.null_count() if "%d" in form else len(candidates)
    if n_misfits:  # shorter forms, months and times of day
        failed = candidates.filter(parsed.is_null()) if "%d" in form else candidates
        n_misfits = len(parse_dates(failed.to_list(), form)[1])
    return outside + n_misfits
