"""Find out what the cells of a column are, and how they are written: numbers with units, dates, booleans."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal.errors import Note, setting
from shoal.schema import DURATION, ISO, Column, Kind, split_unit
from shoal.tables.values import (
    ISO_DURATION,
    PADDED,
    PLAIN,
    Marks,
    guess_kind,
    normalise,
    parse_dates,
    parse_numbers,
    without_unit,
)
from shoal.tables.values.dates import ZONE, find_date_format

__all__ = ["Found", "find_form", "parse_texts", "truth"]

# What means yes and no; the words of one line go together, so that codes such as t, y and s stay apart.
TRUTHS = (
    ({"true", "t"}, {"false", "f"}),
    ({"yes", "y"}, {"no", "n"}),
    ({"ja", "j"}, {"nein", "n"}),
    ({"wahr"}, {"falsch"}),
    ({"oui", "o"}, {"non", "n"}),
    ({"vrai"}, {"faux"}),
    ({"sí", "si", "sì", "s"}, {"no", "n"}),
    ({"verdadero"}, {"falso"}),
    ({"vero"}, {"falso"}),
)
DECLARED_TRUTHS = ({"1", "1.0", "on"}, {"0", "0.0", "off"})  # only if the column is declared boolean
YES = frozenset().union(*(yes for yes, _ in TRUTHS), DECLARED_TRUTHS[0])
NO = frozenset().union(*(no for _, no in TRUTHS), DECLARED_TRUTHS[1])

MONEY_WORDS = """
    USD EUR GBP JPY CHF CAD AUD NZD SEK NOK DKK PLN CZK HUF RON BGN TRY RUB UAH CNY INR BRL MXN ZAR KRW SGD HKD ILS AED
    SAR THB IDR MYR PHP VND ARS CLP COP PEN EGP NGN KES kr Kr zł Kč Ft Fr Fr. SFr. R$ US$ A$ C$ Rs Rs. RM"""
UNIT_WORDS = """
    % ‰ ° °C °F K mm cm m km in inch inches ft feet foot yd mi mile miles mg g kg t lb lbs oz st µg mcg ng ml mL l L dl
    dL cl µl µL gal ms s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days wk week weeks mo
    month months y yr yrs year years mmHg bpm kcal kJ cal J W kW kWh MWh V A Hz kHz MHz GHz Pa kPa bar mbar hPa mg/dL
    mg/dl mg/l mg/L g/dL g/dl g/L g/l mmol/L mmol/l µmol/L µmol/l U/L U/l IU/L mIU/L ng/mL ng/ml pg/mL pg/ml kg/m² kg/m2
    m² m2 km² km2 ha sqm sqft ft² m³ m3 km/h kmh mph m/s kB MB GB TB dB px pt pts people persons Jahre Jahr Monate Monat
    Tage Tag Stunden Std ans mois jours años meses días anni mesi giorni"""
CURRENCIES, UNITS = frozenset(MONEY_WORDS.split()), frozenset(UNIT_WORDS.split())
NUMBER_IN_TEXT = re.compile(
    r"(?P<sign>[+-]?)(?P<before>[^0-9+\-.,\s](?:[^0-9]*[^0-9\s+-])?)?(?P<gap>\s*)"
    r"(?P<number>[+-]?[0-9](?:[0-9.,'’_\u00a0\u202f ]*[0-9])?)(?P<space>\s*)(?P<after>[^0-9\s](?:.*[^\s])?)?"
)
# Marks in the order in which they are preferred where several mean the same numbers.
MARKS = ((".", ""), (",", ""), (".", ","), (",", "."), (".", "'"), (".", "’"), (",", "'"), (".", " "), (",", " "))
AS_CATEGORIES = "it is read as categories"
NEARLY_ALL = 0.9
ENOUGH_VALUES = 5  # of a word after the number that is no known unit
LONGEST_NUMBER = 60
PROBES = 20


@dataclass(frozen=True)
class Found:
    """What the cells of a column are.

    Attributes:
        column: The column with its kind, and with the marks, the unit or the date format of its cells.
        misfit: The index of the first value that does not fit the kind, if nearly all others do; otherwise None.
        note: Why the column is read as categories although most of its cells look like something else, and how to
            declare it; None if there is nothing to say.
        question: What the cells do not tell, and how to tell it; empty if they tell everything.
    """

    column: Column
    misfit: int | None = None
    note: Note | None = None
    question: str = ""

    @property
    def certain(self) -> Column:
        """The column if its cells leave no doubt; otherwise as categories."""
        is_doubtful = self.misfit is not None or self.question
        return replace(self.column, kind=Kind.CATEGORICAL) if is_doubtful else self.column


def find_form(column: Column, texts: Sequence[str], *, commas: bool = False) -> Found:
    """Return what the cells of a column are; a kind that is declared stays, and its form is found.

    Args:
        column: The column.
        texts: Its distinct values in normal form, without missing ones.
        commas: Whether 1,5 is a number by itself, as in a file whose cells are separated by semicolons; elsewhere it
            may be a list.
    """
    if column.kind is None:
        kind, misfit = guess_kind(texts, Marks(*column.marks))
        if kind is not Kind.CATEGORICAL:
            return Found(replace(column, kind=kind), misfit)
        return _guess(column, texts, commas)
    if column.kind is Kind.ORDERED:
        order = [normalise(value) for value in column.order]
        present = set(texts)
        return Found(replace(column, order=tuple(value for value in order if value in present)) if texts else column)
    if column.kind is Kind.NUMERIC:
        return _declared(column, texts, commas)
    if column.kind is Kind.DATE and column.date_format == ISO and parse_dates(texts, ISO)[1]:
        return _as_dates(column, texts) or Found(column)
    return Found(column)


def _guess(column: Column, texts: Sequence[str], commas: bool) -> Found:
    """Return what texts are that are neither plain numbers nor ISO dates."""
    categories = Found(replace(column, kind=Kind.CATEGORICAL))
    if not texts:
        return categories
    if _are_truths(texts):
        return Found(replace(column, kind=Kind.BOOLEAN))
    probes = texts[:: max(1, len(texts) // PROBES)]
    if sum(any(map(str.isdigit, text)) for text in probes) < NEARLY_ALL * len(probes):
        return categories
    if all(map(ISO_DURATION.fullmatch, texts)):
        return Found(replace(column, kind=Kind.NUMERIC, unit=DURATION))
    found = _as_dates(column, texts) or _as_numbers(column, texts, commas)
    return found or categories


def truth(text: str) -> bool | None:
    """Return whether a text means yes; None if it means neither yes nor no."""
    word = text.casefold()
    return True if word in YES else False if word in NO else None


def _are_truths(texts: Sequence[str]) -> bool:
    words = {text.casefold() for text in texts[:10]}
    return 2 <= len(texts) < 10 and any(words <= yes | no and words & yes and words & no for yes, no in TRUTHS)


def parse_texts(column: Column, kind: Kind, texts: Sequence[str]) -> tuple[list[Any], list[int]]:
    """Return the value of each text as a number, date, rank or category, and the indices of texts that are none."""
    if kind is Kind.NUMERIC:
        return parse_numbers(texts, Marks(*column.marks))
    if kind is Kind.DATE:
        return parse_dates(texts, column.date_format)
    if kind.is_ranked:
        rank_of = {value: float(rank) for rank, value in enumerate(column.order)}
        truths = [truth(text) for text in texts] if kind is Kind.BOOLEAN else []
        ranks = [None if t is None else float(t) for t in truths] or [rank_of.get(text) for text in texts]
        misfits = [i for i, rank in enumerate(ranks) if rank is None]
        return [rank for rank in ranks if rank is not None], misfits
    return list(texts), []


def _as_dates(column: Column, texts: Sequence[str]) -> Found | None:
    """Return the column as dates, with a note or a question; None if they are not dates."""
    import polars as pl

    found = find_date_format(pl.Series(texts, dtype=pl.String))
    if found is None and column.kind is None and all(":" in text and ZONE.search(text) for text in texts):
        return _categories(column, f"has times in several time zones; {AS_CATEGORIES}", "convert them to UTC")
    if found is None or (column.kind is None and found.form == "%Y%m%d"):
        return None
    if found.other is not None:
        options = " or ".join(setting("dates", f"{column.name}={form}") for form in (found.form, found.other))
        question = f"column {column.name!r}: its dates fit {found.form} and {found.other}. Choose: {options}."
        return Found(replace(column, kind=Kind.DATE, date_format=found.form), question=question)
    if column.kind is None and (found.misfits or "%y" in found.form):
        why = "their years have two digits" if not found.misfits else f"{found.misfits} of {len(texts)} values are not"
        return _categories(
            column,
            f"looks like dates in the format {found.form}, but {why}; {AS_CATEGORIES}",
            f"declare them with {setting('dates', f'{column.name}={found.form}')}"
            if not found.misfits
            else f"correct them, or declare the markers of missing values with {setting('missing')}",
        )
    if found.misfits:
        return None
    return Found(replace(column, kind=Kind.DATE, date_format=found.form))


def _categories(column: Column, text: str, cure: str) -> Found:
    return Found(replace(column, kind=Kind.CATEGORICAL), note=Note(f"column {column.name!r}", text, cure))


def _as_numbers(column: Column, texts: Sequence[str], commas: bool = False) -> Found | None:
    """Return the column as numbers with marks or units, with a note; None if they are not numbers."""
    parts = [_parts(text) for text in texts]
    counts = Counter((part[0], part[1]) for part in parts if part is not None)
    if not counts:
        return None
    unit, n_alike = max(counts.items(), key=lambda item: (item[1], item[0]))
    gaps = Counter(part[3] for part in parts if part is not None)
    gap = max(gaps, key=lambda each: (gaps[each], each))
    if n_alike < NEARLY_ALL * len(texts):
        return _mixed(column, counts, len(texts))
    if not _is_unit(*unit) and not (gap and _is_word(unit) and len(texts) >= ENOUGH_VALUES):
        return None
    if n_alike < len(texts):
        what = f"numbers with the unit {_word(unit)!r}" if any(unit) else "numbers"
        cure = f"correct them, or declare the markers of missing values with {setting('missing')}"
        others = f"{len(texts) - n_alike} of {len(texts)} values are not"
        return _categories(column, f"looks like {what}, but {others}; {AS_CATEGORIES}", cure)
    bodies = [part[2] for part in parts if part is not None]
    if any(map(PADDED.match, bodies)):
        return None
    form = f"{unit[0]}{gap if unit[0] else ''}#{gap if unit[1] else ''}{unit[1]}" if any(unit) else ""
    return _marked(replace(column, kind=Kind.NUMERIC, unit=form), bodies, is_money=_is_money(*unit), commas=commas)


def _mixed(column: Column, counts: Counter[tuple[str, str]], n_values: int) -> Found | None:
    """Return a note about numbers of which some have a unit, or another one; None if they are not such numbers."""
    units = [unit for unit in counts if any(unit)]
    if sum(counts.values()) < n_values or len(counts) > 3 or not all(_is_unit(*unit) for unit in units):
        return None
    words = sorted({_word(unit) for unit in units})
    if len(words) == 1:
        return _categories(
            column,
            f"has numbers with and without the unit {words[0]!r}; {AS_CATEGORIES}",
            f"if all have it, declare {setting('units', f'{column.name}={words[0]}')}",
        )
    shown = " and ".join(map(repr, words))
    return _categories(column, f"has numbers with the units {shown}; {AS_CATEGORIES}", "convert them to one unit")


def _declared(column: Column, texts: Sequence[str], commas: bool) -> Found:
    """Return a column that is declared numeric, with the marks and the unit that all its cells have.

    A comma marks decimals in a file with semicolons, or if most values have one; a single 1,5 may be a slip.
    """
    if column.unit and column.unit != DURATION:
        column = replace(column, unit=_placed(column.unit, texts))
        bodies = [without_unit(text, column.unit) for text in texts]
        return _marked(column, bodies, is_money=True) or Found(column)
    if not parse_numbers(texts, Marks(*column.marks))[1]:
        return Found(column)
    if texts and all(map(ISO_DURATION.fullmatch, texts)):
        return Found(replace(column, unit=DURATION))
    commas = commas or 2 * sum("," in text for text in texts) > len(texts)
    found = _as_numbers(replace(column, kind=None), texts, commas)
    return found if found is not None and found.column.kind is Kind.NUMERIC else Found(column)


def _placed(unit: str, texts: Sequence[str]) -> str:
    """Return a unit with # for the number, where most cells have it."""
    if "#" in unit:
        return unit
    forms = (f"# {unit}", f"#{unit}", f"{unit}#", f"{unit} #")
    counts = [
        sum(text.endswith(f" {unit}") for text in texts),
        sum(text.endswith(unit) and not text.endswith(f" {unit}") for text in texts),
        sum(text.lstrip("+-").startswith(unit) and not text.lstrip("+-").startswith(f"{unit} ") for text in texts),
        sum(text.lstrip("+-").startswith(f"{unit} ") for text in texts),
    ]
    return forms[counts.index(max(counts))] if any(counts) else "#".join(split_unit(unit))


def _marked(column: Column, bodies: Sequence[str], *, is_money: bool, commas: bool = False) -> Found | None:
    """Return a column with the marks that all its numbers fit; a note if they fit two and mean different numbers."""
    own = (column.decimal, column.thousands)
    candidates = [own] if Marks(*own) != PLAIN else MARKS
    readings: dict[tuple[str, str], list[Any]] = {}
    for decimal, thousands in candidates:
        numbers, misfits = parse_numbers(bodies, Marks(decimal, thousands))
        if not misfits and numbers not in readings.values():
            readings[decimal, thousands] = numbers
    if not readings:
        return None
    # Money has no three decimals: 45,000 dollars are 45 thousand.
    grouped = [marks for marks in readings if marks[1]]
    if len(readings) > 1 and is_money and grouped:
        readings = {grouped[0]: readings[grouped[0]]}
    if len(readings) > 1:
        mark = next(mark for marks in readings for mark in marks if mark not in ("", "."))
        return _categories(
            column,
            f"has numbers in which {mark!r} may mark thousands or decimals; {AS_CATEGORIES}",
            f"declare {setting('thousands', mark)} or {setting('decimal', mark)}",
        )
    decimal, thousands = next(iter(readings))
    if thousands == " ":  # whichever blank they have
        thousands = next((blank for blank in " \u00a0\u202f" if any(blank in body for body in bodies)), " ")
    may_be_list = decimal != "." and not thousands and not column.unit and (decimal, thousands) != own
    if may_be_list and not commas:
        text = f"has numbers with a comma for the decimals; {AS_CATEGORIES}"
        return _categories(column, text, f"declare {setting('decimal', decimal)}")
    return Found(replace(column, decimal=decimal, thousands=thousands))


def _parts(text: str) -> tuple[str, str, str, str] | None:
    """Return what stands before and after a number, the number without it, and the blanks between; None if none."""
    match = NUMBER_IN_TEXT.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    if match is None:
        return None
    before, after = match["before"] or "", match["after"] or ""
    if not before and match["gap"]:
        return None
    return before, after, match["sign"] + match["number"], match["gap"] or match["space"]


def _is_unit(before: str, after: str) -> bool:
    """Tell whether what stands around numbers is a known unit: of money before them, any after them, nothing at all."""
    if before:
        return not after and _is_money(before, "")
    return not after or after in UNITS or _is_money("", after)


def _is_word(unit: tuple[str, str]) -> bool:
    return not unit[0] and unit[1].isalpha() and len(unit[1]) > 2


def _is_money(before: str, after: str) -> bool:
    word = (before or after).strip()
    return word in CURRENCIES or (len(word) == 1 and unicodedata.category(word) == "Sc")


def _word(unit: tuple[str, str]) -> str:
    return f"{unit[0]}#" if unit[0] else unit[1]
