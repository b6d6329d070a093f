"""Released columns that seem to name people: e-mail addresses, phone numbers, names, texts that differ in each row."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from shoal.errors import Note

if TYPE_CHECKING:
    from shoal.verification.reading.coded import CodedColumn, CodedTable

__all__ = ["people_notes"]

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
PHONE = re.compile(r"(\+|00?)[1-9][0-9 ()./-]{5,20}|\([0-9]{3}\) ?[0-9]{3}-[0-9]{4}|[0-9]{3}-[0-9]{3}-[0-9]{4}")
NUMBER = re.compile(r"[+-]?[0-9][0-9.,' ]*([eE][+-]?[0-9]+)?|[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([T ].*)?")
MOSTLY = 0.8
NEARLY_UNIQUE = 0.95
FEWEST = 20  # distinct texts
SAMPLE = 1_000
# A name of a person: one to four capitalised words without a digit.
NAME = re.compile(r"(?!\d)[^\W_a-z](?:[^\W\d_]|[.'’-])*(?:,? (?:[^\W\d_]|[.'’-])+){0,3}")
NAME_WORD = re.compile(
    r"(^|[\W_])(name|names|(sur|last|first|full|fore|middle)name|nom|prenom|nombre|apellidos?|nome|cognome|sobrenome|"
    r"apelido|naam|achternaam|voornaam|nachname|vorname|familienname|nazwisko|imie)($|[\W_])"
)
FIRST_NAMES = (
    "anna maria peter hans thomas michael julia laura david daniel jan paul john james mary robert william linda susan "
    "karen jose juan carlos luis ana carmen antonio marco giuseppe giulia francesca paolo pierre jean marie claire "
    "sophie piotr katarzyna agnieszka krzysztof joao pedro sofia elena emma martin andreas stefan christian sarah "
    "jennifer elizabeth richard charles joseph mark george steven edward helena marta"
)
KNOWN_FIRST = frozenset(FIRST_NAMES.split())
LEAST_NAMES = 8  # distinct names
LEAST_KNOWN = 0.1  # share of full names with a first name from the list


def people_notes(table: CodedTable, generalised: Collection[str]) -> list[Note]:
    """Return a note for each column besides the generalised ones that seems to name people."""
    notes = []
    for name, column in zip(table.names, table.columns, strict=True):
        seems = "" if name in generalised else _seems(name, column)
        if seems:
            notes.append(Note(f"column {name!r}", f"the cells seem to be {seems}; check that the file names nobody"))
    return notes


def _seems(name: str, column: CodedColumn) -> str:
    counts = column.counts()
    texts = [text for text, n in zip(column.texts, counts, strict=True) if n and text.strip()]
    if not texts:
        return ""
    sample = texts[:: max(1, len(texts) // SAMPLE)]
    for pattern, what in ((EMAIL, "e-mail addresses"), (PHONE, "phone numbers")):
        if _share(sample, pattern) >= MOSTLY:
            return what
    n_known = int(sum(n for text, n in zip(column.texts, counts, strict=True) if text.strip()))
    if len(texts) >= max(FEWEST, NEARLY_UNIQUE * n_known) and _share(sample, NUMBER) < 1 - MOSTLY:
        return "names or keys: nearly every row has another text"
    return "names of people" if _are_names(name, sample) else ""


def _are_names(name: str, sample: list[str]) -> bool:
    """Tell whether texts that repeat are names: by the name of the column, or by first names among them."""
    if len(sample) < LEAST_NAMES or _share(sample, NAME) < MOSTLY:
        return False
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if NAME_WORD.search(plain):
        return True
    full = [text for text in sample if " " in text.strip()]
    known = sum(text.rpartition(",")[2].split()[0].casefold() in KNOWN_FIRST for text in full)
    return len(full) >= MOSTLY * len(sample) and known >= LEAST_KNOWN * len(full)


def _share(texts: list[str], pattern: re.Pattern[str]) -> float:
    return sum(pattern.fullmatch(text.strip()) is not None for text in texts) / len(texts)
