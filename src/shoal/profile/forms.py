"""Forms of values: keys, counts, times, codes of diseases, and texts that differ in nearly every row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from shoal.profile.columns import ColumnFacts
from shoal.profile.vocabulary import Naming, words_of
from shoal.profile.vocabulary.concept import words
from shoal.profile.vocabulary.hints import KEY_COUNTS, NAME_PARTS, NAME_WORDS, NAMED_THINGS
from shoal.profile.vocabulary.keys import COUNTS
from shoal.schema import Kind, Role

__all__ = [
    "CLOCK",
    "DIGIT",
    "EARLIEST_YEAR",
    "MOSTLY_DIFFERENT",
    "NEARLY_UNIQUE",
    "are_codes",
    "can_be_key",
    "can_be_phone",
    "date_precision",
    "fits_time",
    "has_digits",
    "holds_disease_codes",
    "holds_visit_labels",
    "is_code",
    "is_name",
    "is_numbered",
    "is_one_by_one",
    "is_opaque",
    "is_sequence",
    "looks_like_counts",
    "looks_like_keys",
    "share_of",
    "why_not_sensitive",
]

NEARLY_UNIQUE = 0.95
MOSTLY_DIFFERENT = 0.5
ENOUGH_KEYS = 20  # unique values from which they can be keys
SHORTEST_NUMBER = 5  # digits of a number that is assigned to people
LONGEST_COUNT = 3  # digits
SHORTEST_PHONE = 5  # digits
MANY_KEYS = 0.3  # distinct texts per row from which texts with a number in them can be keys
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
VISIT_WORDS = words("visit visits avisit timepoint epoch redcap visite visita visitas wizyta wizyty bezoek")
VISIT_LABEL = re.compile(
    r"(week|day|month|year|visit|cycle|wave|round|phase|period|screening|baseline|follow.?up|end of (study|treatment)|"
    r"early termination|unscheduled|woche|tag|monat|jahr|visite|semaine|jour|mois|semana|dia|mes|settimana|giorno|mese|"
    r"maand|dag|tydzien|dzien|miesiac|wizyta|[wdmv](?=[0-9]))[-_ ]*[0-9.]*",
    re.IGNORECASE,
)
KEY_TEXT = re.compile(r"[A-Za-z]{0,8}[-/_. ]?[0-9]{3}[-/_.A-Za-z0-9]*")


def is_code(facts: ColumnFacts) -> bool:
    """Tell whether a column has so few values, for its rows, that they are codes or answers rather than keys."""
    return are_codes(facts.distinct, facts.n_known)


def are_codes(distinct: int, n_known: int) -> bool:
    """Tell the same by the numbers of distinct values and of rows with a value."""
    return distinct <= FEW_VALUES and (not n_known or distinct / n_known <= MOSTLY_DIFFERENT)


def has_digits(facts: ColumnFacts) -> bool:
    """Tell whether most values contain a digit."""
    return sum(DIGIT.search(text) is not None for text in facts.sample) > len(facts.sample) / 2


def has_small_letters(facts: ColumnFacts) -> bool:
    """Tell whether most values begin with a small letter, as categories do and names do not."""
    return sum(text[:1].islower() for text in facts.sample) > len(facts.sample) / 2


def can_be_key(facts: ColumnFacts) -> bool:
    """Tell whether the values can be keys: integers or texts, of which there are more than a few."""
    return (facts.whole or facts.kind is Kind.CATEGORICAL) and not is_code(facts)


def can_be_phone(facts: ColumnFacts) -> bool:
    """Tell whether most values have as many digits as a phone number, unlike the cells of a network or of blood."""
    enough = [sum(sign.isdigit() for sign in text) >= SHORTEST_PHONE for text in facts.sample]
    return sum(enough) > len(enough) / 2


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
    if not facts.whole or facts.longest > LONGEST_COUNT or facts.unique_share >= NEARLY_UNIQUE:
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
    return facts.shortest == facts.longest >= SHORTEST_NUMBER or is_sequence(facts)


def is_sequence(facts: ColumnFacts) -> bool:
    """Tell whether unique integers follow each other at about the same distance."""
    numbers = sorted(int(text) for text in facts.sample)
    gaps = sorted(after - before for before, after in pairwise(numbers))
    even = bool(gaps) and gaps[-1] <= 3 * gaps[len(gaps) // 2]  # the sample leaves out values at equal distances
    return numbers[0] >= 0 and even


def holds_disease_codes(facts: ColumnFacts) -> bool:
    """Tell whether texts are codes of diseases: of several chapters, and shared by rows."""
    if facts.kind is not Kind.CATEGORICAL or facts.distinct < 20 or facts.unique_share > MOSTLY_DIFFERENT:
        return False
    chapters = {text[0] for text in facts.sample}
    return len(chapters) >= 4 and share_of(facts.sample, DISEASE_CODE) > NEARLY_UNIQUE


def holds_visit_labels(facts: ColumnFacts, naming: Naming) -> bool:
    """Tell whether texts are the labels of planned visits, such as WEEK 4 or Baseline, that many rows share."""
    if (
        facts.kind is not Kind.CATEGORICAL
        or not VISIT_WORDS & {*naming.words, *words_of(facts.name)}
        or "key" in naming.groups
    ):
        return False
    return facts.distinct_share <= MOSTLY_DIFFERENT and share_of(facts.sample, VISIT_LABEL) > 0.8


def is_name(facts: ColumnFacts, naming: Naming) -> bool:
    """Tell whether a column called name is about names of people."""
    if facts.kind is not Kind.CATEGORICAL or (is_code(facts) and facts.distinct < 5):
        return False
    if has_digits(facts):
        return False
    own = set(naming.words)
    if own & NAME_PARTS and not own <= NAME_PARTS | NAME_WORDS:
        return False  # the last visit
    if naming.groups & {"person", "staff"}:
        return True
    if NAMED_THINGS & {*own, *words_of(facts.name)}:
        return False
    topics = {c.key for c in naming.concepts if c.role is not Role.IDENTIFIER and c.strength > 2}
    return not (
        naming.groups & {"thing", "organisation"} or topics - {"birth", "time", "kin", "family", "body", "mark"}
    )


def is_one_by_one(facts: ColumnFacts) -> bool:
    """Tell whether nearly every row has a different text."""
    return facts.kind is Kind.CATEGORICAL and facts.unique_share > NEARLY_UNIQUE and facts.distinct >= 20


def why_not_sensitive(facts: ColumnFacts, naming: Naming) -> str:
    """Return why a column must not be released unchanged, whatever topic its name suggests; empty if it may be."""
    if facts.kind is Kind.CATEGORICAL:
        if "staff" in naming.groups and "attribute" not in naming.groups and not has_digits(facts):
            return "also staff, who are people too"
        if has_digits(facts) and any(concept.key in ("time", "birth") for concept in naming.concepts):
            return "also dates or times, and the values can be such"
    if _is_numbered_one_by_one(facts, naming):
        return "the values follow each other without a gap, so they can be numbers of such things"
    return "the values can be numbers or keys of people" if _may_be_key(facts, naming) else ""


def _is_numbered_one_by_one(facts: ColumnFacts, naming: Naming) -> bool:
    """Tell whether integers under a bare name such as loan are the numbers of loans: many, and without a gap."""
    is_bare = len(naming.words) == 1 and bool(naming.entity) and not naming.words[0].endswith("s")
    if not is_bare or not facts.whole or facts.distinct < LEAST_SEQUENCE:
        return False
    numbers = [int(text) for text in facts.sample]
    return max(numbers) - min(numbers) < facts.distinct


def _may_be_key(facts: ColumnFacts, naming: Naming) -> bool:
    """Tell whether a column must not be released unchanged, whatever its name suggests: it can be a key.

    Counts begin with a word such as number. Codes of diseases and services are shared by many rows.
    """
    if facts.kind is Kind.DATE or not can_be_key(facts) or not looks_like_keys(facts) or holds_disease_codes(facts):
        return False
    if (naming.entity or "code" in naming.groups) and facts.shortest == facts.longest >= SHORTEST_NUMBER:
        return True
    if facts.unique_share > NEARLY_UNIQUE and facts.distinct >= ENOUGH_KEYS:
        return not facts.whole or "key" in naming.groups or is_sequence(facts)  # salaries are no sequence
    is_count = naming.words[0] in COUNTS or bool(set(naming.words) & COUNTS - KEY_COUNTS)
    is_count = is_count and (looks_like_counts(facts) or (not naming.entity and facts.longest <= LONGEST_COUNT))
    return ("key" in naming.groups and not is_count) or (
        facts.kind is Kind.CATEGORICAL and facts.distinct_share > MANY_KEYS
    )
