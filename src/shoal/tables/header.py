"""Decide whether the first line of a file names its columns, or ask.

A first line of data that is taken for names would be published as names, so a guess is not enough. In this order:

1. What the user says decides.
2. A line that contains every column that the settings name is a header.
3. A column whose cells are all numbers, dates or codes with digits, under a first cell that is none of them, has
   changed its kind: the line is a header, unless another column begins with a number or date like those below it.
4. If the settings name only column1, column2 and so on, there is no header: these are our names for such files.
5. A line of common words for columns, such as name, city and sex, is a header.
6. Otherwise the user is asked. No cell of the line appears in the message.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from shoal.errors import InputError, Note, setting

__all__ = ["about_numbers", "find_header", "number_doubles", "numbered_names"]

NUMBER = re.compile(
    r"[+-]?([0-9]{1,400}([.,'’ \u00a0\u202f][0-9]{1,400}){0,20}[.,]?|[.,][0-9]{1,400})([eE][+-]?[0-9]{1,4})?%?"
)
DATE = re.compile(
    r"[0-9]{1,4}([-/.][0-9]{1,2}){1,2}([-/.][0-9]{1,4})?([T ][0-9:.+Z-]{1,30})?|[0-9]{1,2}(:[0-9]{2}){1,2}"
)
DIGIT = re.compile(r"[0-9]")
LONGEST_CELL = 200  # characters; a longer text is neither a number nor a name
# Texts that stand for a missing value; under them a column keeps its kind.
MISSING = ("", "?", "-", "--", ".", "na", "n/a", "n.a.", "nan", "null", "none", "nil", "missing", "unknown", "#n/a")
# Words that name columns in English, German, French, Spanish, Italian and Dutch, and that are rarely values of one.
WORDS = """
    account address adresse age alter amount area beruf betrag birth birthdate birthday born bundesland calle canton
    category cause ciudad citta city code codice codigo color colour column comment comments commune condition contact
    continent cost count country county course created currency customer data date dateofbirth datum day days
    department description diagnose diagnosis diagnostic disease disorder district division dob domicile drug duration
    edad education einkommen email employer employment entry ethnicity eta exam examination family familienstand fecha
    feature field firstname fname forename gebdatum geburtsdatum geburtsjahr geburtsort gehalt gemeinde gender
    geschlecht gewicht given grade group haarfarbe height home hospital hours house id identifier ids income index
    indirizzo industry insurance item job key kind krankheit kreis kunde label land language lastname latitude length
    level lname location longitude mail maladie marital medication member metier middle mobile month municipality
    nacimiento nachname name names nationality naissance nascita nation nom nombre nome note notes nr number occupation
    of order ort outcome pais patient pathology pays percent percentage person phone place plz position post postal
    postcode postcodes postleitzahl prename prenom price primary procedure product profession professione province
    provincia purpose quantity race rank rate rating reason record ref reference region regione religion remark result
    role room salaire salario salary school score sector serial sesso sex sexe sexo size social speciality specialty
    ssn stadt start state status strasse street subject suburb surname symptom symptoms team tel telefon telefono
    telephone temperature test time timestamp title total town treatment type unit units user username value values
    variable via ville village visit volume vorname ward week weight wert wohnort woonplaats year years zip zipcode
    zivilstand
"""
COLUMN_WORDS = frozenset(WORDS.split())


def numbered_names(width: int) -> tuple[str, ...]:
    """Return names for the columns of a file without a header: column1, column2, ..."""
    return tuple(f"column{i + 1}" for i in range(width))


def number_doubles(names: Sequence[str]) -> tuple[str, ...]:
    """Number the columns that share a name; no number makes the name of another column.

    >>> number_doubles(["a", "b", "a", "a_2", "a"])
    ('a', 'b', 'a_3', 'a_2', 'a_4')
    """
    taken, seen, numbered = set(names), set(), []
    last: dict[str, int] = {}
    for name in names:
        if name and name in seen:
            number = last.get(name, 1) + 1
            while f"{name}_{number}" in taken:
                number += 1
            last[name] = number
            name = f"{name}_{number}"
            taken.add(name)
        seen.add(name)
        numbered.append(name)
    return tuple(numbered)


def about_numbers(place: str, before: Sequence[str], after: Sequence[str]) -> list[Note]:
    """Note the columns that were numbered."""
    changed = [repr(new) for old, new in zip(before, after, strict=True) if old != new]
    return [Note(place, f"columns that share a name were numbered: {', '.join(changed)}")] if changed else []


def find_header(records: Sequence[Sequence[str]], *, header: bool | None, named: Sequence[str], place: str) -> bool:
    """Return whether the first record of a file contains the names of the columns.

    Args:
        records: The first records of the file.
        header: What the user says; None to find out.
        named: The columns that the settings name.
        place: The file, for the message.

    Raises:
        InputError: If it cannot be told.
    """
    if header is not None or len(records) < 2:
        return header is not False
    first, data = records[0], records[1:]
    absent = [name for name in dict.fromkeys(named) if name not in first and not _has_bounds(name, first)]
    if named and not absent:
        return True
    changed, unchanged = _compare_kinds(first, data)
    if changed and not unchanged:
        return True
    if named and set(named) <= set(numbered_names(len(first))):
        return False
    if not unchanged and not absent and _is_wordy(first, data):
        return True
    reasons = [f"column {absent[0]!r} is not in it"] if absent else []
    reasons.append("only some columns change their kind after it" if changed else "no column changes its kind after it")
    raise InputError(
        f"{place}: cannot tell whether the first line names the columns: {', and '.join(reasons)}. Pass "
        f"{setting('header', True)} if it does. Pass {setting('header', False)} if it is data; the columns are then "
        "called column1, column2 and so on."
    )


def _has_bounds(name: str, first: Sequence[str]) -> bool:
    """Return whether a record names the two bounds of a column in its place."""
    return f"{name}_min" in first and f"{name}_max" in first


def _compare_kinds(first: Sequence[str], data: Sequence[Sequence[str]]) -> tuple[bool, bool]:
    """Return whether a column changes its kind after the first cell, and whether one of numbers or dates keeps it."""
    changed = unchanged = False
    for position, cell in enumerate(first):
        cells = [record[position] for record in data if len(record) > position and not _is_missing(record[position])]
        if not cells or _is_missing(cell):
            continue
        kind = next((kind for kind in (NUMBER, DATE) if all(_fits(kind, each) for each in cells)), None)
        if kind is not None and any(_fits(each, cell) for each in (NUMBER, DATE)):
            unchanged = unchanged or _fits(kind, cell)
            changed = changed or not _fits(kind, cell)
        elif kind is not None or (all(DIGIT.search(each) for each in cells) and not DIGIT.search(cell)):
            changed = True
    return changed, unchanged


def _is_wordy(first: Sequence[str], data: Sequence[Sequence[str]]) -> bool:
    """Return whether at least half of the cells consist of words for columns, and none is empty or a value below."""
    names = [cell.strip() for cell in first]
    if "" in names or len(set(names)) < len(names):
        return False
    for position, name in enumerate(names):
        if any(len(record) > position and record[position].strip() == name for record in data):
            return False
    n_wordy = sum(bool(words) and words <= COLUMN_WORDS for words in map(_words, names))
    return 2 * n_wordy >= len(names)


def _words(name: str) -> set[str]:
    """Split a name into lower-case words without accents: PatientID_nr gives patient, id, nr."""
    if len(name) > LONGEST_CELL:
        return set()
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    return set(re.findall(r"[^\W_]+", plain.lower()))


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def _fits(kind: re.Pattern[str], cell: str) -> bool:
    return len(cell) <= LONGEST_CELL and kind.fullmatch(cell.strip()) is not None
