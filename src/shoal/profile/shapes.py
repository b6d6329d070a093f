"""Recognition of identifying values: e-mail addresses, phone numbers, identity numbers, file names, names of people."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from shoal.profile.checks import NATIONAL_NUMBERS, is_card, is_iban, is_imei, is_vehicle
from shoal.profile.vocabulary import FIRST_NAMES, LAST_NAMES, TITLES, words_of

__all__ = ["EMAIL", "Shape", "identifying_shape", "is_postal", "looks_like_names", "mentions_names"]

EMAIL = r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"
URL = re.compile(r"(https?|ftp)://\S+|www\.[^\s@.]+\.\S{2,}", re.IGNORECASE)
UUID = re.compile(r"\{?[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}\}?", re.IGNORECASE)
MAC = re.compile(r"[0-9a-f]{2}([:-])([0-9a-f]{2}\1){4}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4}", re.IGNORECASE)
PHOTO = re.compile(r"[^\n]*\.(jpe?g|png|gif|bmp|tiff?|heic|webp|dcm|raw)", re.IGNORECASE)
BIOMETRIC = re.compile(r"[^\n]*\.(wsq|fmr|fir|iir|eyc|ansi|isotpl|jp2|wav|vox)", re.IGNORECASE)
DIGEST = re.compile(r"[0-9a-f]{32,}|(?=\S*[A-Z])(?=\S*[a-z])(?=\S*[0-9])[A-Za-z0-9+/_-]{40,}={0,2}", re.IGNORECASE)
PHONE = re.compile(r"(\+|00)?[0-9 ()./-]{7,22}( ?(x|ext\.?) ?[0-9]{1,5})?")
NOT_PHONE = re.compile(  # numbers, thousands, years, ZIP+4, dotted versions, numbers of cases that begin with a year
    r"-?[0-9]*(\.[0-9]*)?|[0-9]{1,3}([ .,'][0-9]{3})+([.,][0-9]+)?|[0-9]{4}-[0-9]{4}|[0-9]{5}-[0-9]{4}|"
    r"[0-9]{1,3}(\.[0-9]{1,3}){3}|(19|20)?[0-9]{2}[-/][0-9]{4,9}|(19|20)[0-9]{2}[-/.][0-9]{1,4}[-/.][0-9]+"
)
PLATE = re.compile(
    r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2}[ -]?[0-9]{1,4}[EH]?|[A-Z]{2}[0-9]{2} ?[A-Z]{3}|[A-Z]{2}-[0-9]{3}-[A-Z]{2}|"
    r"[0-9]?[A-Z]{3}[- ]?[0-9]{3,4}|[A-Z]{2} ?[0-9]{5,6}"
)
POSTAL = re.compile(
    r"[0-9]{5}|[0-9]{5}-[0-9]{4}|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]|"
    r"[0-9]{4} ?[A-Z]{2}"
)
STREET = re.compile(
    r"[0-9]+[a-z]?,? (?:(?:bis|ter) )?(?:rue|avenue|boulevard|place|chemin|impasse|quai)\b.*|"
    r"[0-9]+[a-z]? .*\b(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|close)\.?"
    r"(?:,? (?:apt|unit|suite|#).*)?|"
    r".*(?:stra(?:ß|ss)e|str\.|weg|platz|allee|gasse|straat|laan|plein|gracht|kade) ?[0-9]+ ?[a-z]?|"
    r"(?:calle|c/|avenida|av\.|avda\.?|plaza|paseo|via|viale|piazza|corso|rua|travessa|ul\.|ulica|al\.|aleja|os\.|plac)"
    r" .*[0-9].*",
    re.IGNORECASE,
)
CAPITALISED = re.compile(r"\b[A-Z][a-z]+\b")
WORDS_OF_NAME = re.compile(r"[^\W\d_][\w.'’-]*(,? [^\W\d_][\w.'’-]*){0,3}")

ENOUGH_VALUES = 8  # a check digit fits one text in ten by chance, so fewer values prove nothing
MOSTLY = 0.8
NEARLY_ALL = 0.95


class Shape(NamedTuple):
    """The name of a kind of identifying value, and whether a person has one of them permanently."""

    label: str
    personal: bool = True


def identifying_shape(sample: Sequence[str], distinct_share: float) -> Shape | None:
    """Return what the values are if they identify a person or a person's belongings; None otherwise.

    Args:
        sample: Distinct values.
        distinct_share: Distinct values per row; values shared by many rows must have a specific form.
    """
    if not sample:
        return None
    for label, fits, personal in NARROW:
        if _fit(sample, fits, MOSTLY):
            return Shape(label, personal)
    for label, test, narrow in NATIONAL_NUMBERS:
        if narrow and _fit(sample, test, MOSTLY):
            return Shape(label)
    if len(sample) < ENOUGH_VALUES or distinct_share < 0.3:
        return None
    for label, test, narrow in NATIONAL_NUMBERS:
        if not narrow and _fit(sample, test, NEARLY_ALL):
            return Shape(label)
    for label, fits, personal in WIDE:
        if _fit(sample, fits, MOSTLY):
            return Shape(label, personal)
    return None


def is_postal(sample: Sequence[str]) -> bool:
    """Tell whether values are postal codes; codes of digits only need a leading zero somewhere, or they are numbers."""
    if not sample or not _fit(sample, _matches(POSTAL), NEARLY_ALL):
        return False
    return any(text[0] == "0" or not text.isdigit() for text in sample)


def looks_like_names(sample: Sequence[str]) -> bool:
    """Tell whether values are names of people: words, many of them common names, or with a title before them.

    Words without a capital need more evidence: that most of them are common names.
    """
    if len(sample) < ENOUGH_VALUES or not _fit(sample, _matches(WORDS_OF_NAME), MOSTLY):
        return False
    words = [set(words_of(text)) for text in sample]
    if sum(bool(TITLES & each) and len(each) > 1 for each in words) >= MOSTLY * len(sample):
        return True
    capitals = _fit(sample, _is_capitalised, MOSTLY)
    in_full = sum(" " in text for text in sample) > len(sample) / 2
    first, last = (sum(bool(names & each) for each in words) / len(sample) for names in (FIRST_NAMES, LAST_NAMES))
    if in_full:
        return max(first, last) >= (0.2 if capitals else 0.5)
    return first >= (0.4 if capitals else 0.7) or last >= (0.5 if capitals else 0.7)


def mentions_names(sample: Sequence[str], share: float) -> bool:
    """Tell whether at least a share of the texts of several words contain a capitalised common first name."""
    texts = [text for text in sample if len(text.split()) > 2]
    named = sum(any(word.casefold() in FIRST_NAMES for word in CAPITALISED.findall(text)) for text in texts)
    return named > 0 and named >= share * len(texts)


def _fit(sample: Sequence[str], fits: Callable[[str], bool], share: float) -> bool:
    """Tell whether at least a share of the values fit; stop as soon as too many do not."""
    n_fitting = len(sample)
    for text in sample:
        n_fitting -= not fits(text)
        if n_fitting / len(sample) < share:
            return False
    return True


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _is_address(text: str) -> bool:
    if "." not in text and ":" not in text:
        return False
    try:
        ipaddress.ip_address(text.partition("/")[0])
    except ValueError:
        return False
    return True


def _is_phone(text: str) -> bool:
    digits = sum(sign.isdigit() for sign in text)
    if not 7 <= digits <= 16 or PHONE.fullmatch(text) is None:
        return False
    if NOT_PHONE.fullmatch(text):  # digits only: a phone number needs the leading zero of a trunk prefix
        return text.isdigit() and text[0] == "0" and digits >= 9
    return text[0] != "-"


def _is_capitalised(text: str) -> bool:
    return WORDS_OF_NAME.fullmatch(text) is not None and text[0].isupper()


NARROW: tuple[tuple[str, Callable[[str], bool], bool], ...] = (
    ("e-mail addresses", _matches(re.compile(EMAIL)), True),
    ("web addresses", _matches(URL), False),
    ("IP addresses", _is_address, False),
    ("MAC addresses of devices", _matches(MAC), False),
    ("UUIDs", _matches(UUID), False),
    ("bank accounts (IBAN)", is_iban, True),
    ("vehicle identification numbers", is_vehicle, False),
    ("names of photo files", _matches(PHOTO), False),
    ("names of biometric files", _matches(BIOMETRIC), False),
)
WIDE: tuple[tuple[str, Callable[[str], bool], bool], ...] = (
    ("mobile device numbers (IMEI)", is_imei, False),
    ("payment card numbers", is_card, True),
    ("phone or fax numbers", _is_phone, True),
    ("vehicle plates", _matches(PLATE), False),
    ("street addresses", _matches(STREET), False),
    ("digests or encoded templates", _matches(DIGEST), False),
)
