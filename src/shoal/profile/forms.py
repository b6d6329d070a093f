"""Forms of values: keys, counts, times, codes of diseases, and texts that differ in nearly every row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from shoal.profile.columns import ColumnFacts
from shoal.schema import Kind

__all__ = [
    "CLOCK",
    "DIGIT",
    "EARLIEST_YEAR",
    "MOSTLY_DIFFERENT",
    "NEARLY_UNIQUE",
    "can_be_key",
    "date_precision",
    "fits_time",
    "has_digits",
    "holds_disease_codes",
    "is_code",
    "is_numbered",
    "is_one_by_one",
    "is_opaque",
    "looks_like_counts",
    "looks_like_keys",
    "share_of",
]

NEARLY_UNIQUE = 0.95
MOSTLY_DIFFERENT = 0.5
FEW_VALUES = 12  # a column with so few values holds codes or answers, not keys
LEAST_SEQUENCE = 30  # numbers without a gap; counts of things leave some out at the upper end
EARLIEST_YEAR, LATEST_YEAR = 1800, 2300
DIGIT = re.compile(r"[0-9]")
TIME = re.compile(
    r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?( ?[AaPp]\.?[Mm]\.?)?|[0-9]{4}[-/ ]?[QT]?[0-9]{1,2}|"
    r"[QT][1-4][-/ ]?[0-9]{4}|[A-Za-z]{3,9}\.?[-/ ][0-9]{2,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}.*"
)
CLOCK = re.compile(r"[0-2]?[0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]+)?)?( ?[AaPp]\.?[Mm]\.?)?")
DISEASE_CODE = re.compile(r"[A-TV-Z][0-9][0-9AB](\.?[0-9A-TV-Z]{1,4})?")
DATE_PRECISIONS = (
    *(("%S", "second"), ("%M", "minute"), ("%H", "hour"), ("%I", "hour"), ("%d", "day"), ("%j", "day")),
    *(("%m", "month"), ("%b", "month"), ("%B", "month")),
)
KEY_TEXT = re.compile(r"[A-Za-z]{0,8}[-/_. ]?[0-9]{3}[-/_.A-Za-z0-9]*")


def is_code(facts: ColumnFacts) -> bool:
    """Tell whether a column has so few values, for its rows, that they are codes or answers rather than keys."""
    return facts.distinct <= FEW_VALUES and facts.distinct_share <= MOSTLY_DIFFERENT


def has_digits(facts: ColumnFacts) -> bool:
    """Tell whether most values contain a digit."""
    return sum(DIGIT.search(text) is not None for text in facts.sample) > len(facts.sample) / 2


def can_be_key(facts: ColumnFacts) -> bool:
    """Tell whether the values can be keys: integers or texts, of which there are more than a few."""
    return (facts.whole or facts.kind is Kind.CATEGORICAL) and not is_code(facts)


def date_precision(facts: ColumnFacts) -> str:
    """Return the smallest unit in the format of a column's dates."""
    return next((word for part, word in DATE_PRECISIONS if part in (facts.date_format or "")), "day")


def fits_time(facts: ColumnFacts) -> bool:
    """Tell whether values can be times of day, years, months, days, hours or seconds since 1970."""
    if not facts.whole:
        return bool(facts.sample) and share_of(facts.sample, TIME) > 0.9
    if facts.distinct <= 3:
        return False
    low, high = min(map(int, facts.sample)), max(map(int, facts.sample))
    if low < 0:
        return False
    is_clock = 100 <= high <= 2400 and all(int(text) % 100 < 60 for text in facts.sample)
    return high <= 53 or (low >= EARLIEST_YEAR and high <= LATEST_YEAR) or is_clock or low > 100_000_000


def share_of(sample: Sequence[str], pattern: re.Pattern[str]) -> float:
    """Return the share of the texts that have a form."""
    return sum(pattern.fullmatch(text) is not None for text in sample) / len(sample)


def looks_like_counts(facts: ColumnFacts) -> bool:
    """Tell whether integers are counts: small, some shared by rows, and not in one sequence without a gap."""
    if not facts.whole or facts.longest > 3 or facts.unique_share >= NEARLY_UNIQUE:
        return False
    numbers = [int(text) for text in facts.sample]
    return facts.distinct < LEAST_SEQUENCE or max(numbers) - min(numbers) >= facts.distinct


def looks_like_keys(facts: ColumnFacts) -> bool:
    """Tell whether values look assigned: integers in sequence or of one length, or texts with a number in them."""
    if not facts.sample:
        return False
    if facts.whole:
        if facts.padded or facts.shortest == facts.longest >= 5:
            return True
        numbers = [int(text) for text in facts.sample]
        return min(numbers) >= 0 and (facts.longest >= 4 or max(numbers) - min(numbers) < 10 * facts.distinct)
    return share_of(facts.sample, KEY_TEXT) >= 0.8 or is_opaque(facts)


def is_opaque(facts: ColumnFacts) -> bool:
    """Tell whether values are long texts of letters and digits without blanks, such as digests."""
    if facts.kind is not Kind.CATEGORICAL or facts.shortest < 10:
        return False
    return all(" " not in text and DIGIT.search(text) for text in facts.sample[:100])


def is_numbered(facts: ColumnFacts) -> bool:
    """Tell whether unique integers are numbers of rows, in sequence, or assigned numbers of one length."""
    numbers = sorted(int(text) for text in facts.sample)
    gaps = sorted(after - before for before, after in pairwise(numbers))
    even = bool(gaps) and gaps[-1] <= 3 * gaps[len(gaps) // 2]  # the sample leaves out values at equal distances
    return facts.shortest == facts.longest >= 5 or (numbers[0] >= 0 and even)


def holds_disease_codes(facts: ColumnFacts) -> bool:
    """Tell whether texts are codes of diseases: of several chapters, and shared by rows."""
    if facts.kind is not Kind.CATEGORICAL or facts.distinct < 20 or facts.unique_share > MOSTLY_DIFFERENT:
        return False
    chapters = {text[0] for text in facts.sample}
    return len(chapters) >= 4 and share_of(facts.sample, DISEASE_CODE) > NEARLY_UNIQUE


def is_one_by_one(facts: ColumnFacts) -> bool:
    """Tell whether nearly every row has a different text."""
    return facts.kind is Kind.CATEGORICAL and facts.unique_share > NEARLY_UNIQUE and facts.distinct >= 20
