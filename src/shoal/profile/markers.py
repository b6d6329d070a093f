"""Texts that probably mark a missing value, and values that look alike."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.tables.values import NUMBER

if TYPE_CHECKING:
    import polars as pl

    from shoal.profile.columns import Distinct

__all__ = ["Markers", "count_look_alike_sets", "count_look_alikes", "find_markers"]

WORDS = frozenset(
    (
        *(
            "?",
            "??",
            "???",
            "-",
            "--",
            "---",
            "–",
            ".",
            "..",
            "*",
            "**",
            "/",
            "_",
            "#",
            "n/a",
            "na",
            "n.a.",
            "n.a",
            "#n/a",
        ),
        *("<na>", "nan", "null", "(null)", "nil", "none", "unknown", "unk", "unspecified", "undefined", "missing"),
        *("not available", "not known", "not specified", "not stated", "not recorded", "not applicable", "no data"),
        *("unbekannt", "keine angabe", "k.a.", "k. a.", "ohne angabe", "inconnu", "non renseigné", "desconocido"),
        *("sin datos", "sconosciuto", "onbekend", "okänd", "ukjent", "nieznany", "desconhecido"),
    )
)
ANSWERS = frozenset({"none", "nil"})  # an answer as often as a missing value: children, insurance, symptoms
SPELLINGS = frozenset(form for word in WORDS for form in (word, word.upper(), word.title(), word.capitalize()))
SENTINELS = re.compile(r"-?9{2,6}|-[1-9]|-88+|-77+")
LONGEST = 1_000  # letters by which two values are compared
FREQUENT = 0.01  # share of the rows from which a number such as 999 may be a marker


@dataclass(frozen=True)
class Markers:
    """Texts that may mark a missing value.

    Attributes:
        declared: Texts that may count as missing in every column.
        by_column: Rows of each suspect, for each column.
        doubtful: (column, text) pairs that look like a marker in one column and like a value in another.
    """

    declared: tuple[str, ...]
    by_column: dict[str, dict[str, int]]
    doubtful: tuple[tuple[str, str], ...]


def find_markers(columns: Sequence[Distinct]) -> Markers:
    """Find the suspects of all columns; a text that is a real value in one of them is not declared for any."""
    by_column: dict[str, dict[str, int]] = {}
    refused: dict[str, list[str]] = {}
    for values in columns:
        suspects = _suspects(values)
        real_values = {text for text in suspects if _is_real_value(text, values)}
        for text in real_values:
            refused.setdefault(text, []).append(values.name)
        by_column[values.name] = {text: rows for text, rows in suspects.items() if text not in real_values}
    all_suspects = {text for suspects in by_column.values() for text in suspects}
    number_clashes = {
        text
        for text in all_suspects
        if SENTINELS.fullmatch(text)
        for values in columns
        if text not in by_column[values.name] and values.rows_with(text)
    }
    doubtful = [(name, text) for text, names in refused.items() for name in names]
    doubtful += [(name, text) for name, suspects in by_column.items() for text in suspects if text in number_clashes]
    declared = all_suspects - set(refused) - number_clashes
    return Markers(tuple(sorted(declared)), by_column, tuple(sorted(doubtful)))


def _suspects(values: Distinct) -> dict[str, int]:
    words = values.texts.filter(values.texts.is_in(list(SPELLINGS)))
    suspects = {text: values.rows_with(text) for text in words.to_list()}
    return suspects | {text: rows for text in _sentinels(values) if (rows := values.rows_with(text))}


def _sentinels(values: Distinct) -> Iterable[str]:
    """Yield frequent numbers far from all others of the column, such as 999 among ages."""
    import polars as pl

    candidates = values.texts.filter(values.texts.str.contains(f"^(?:{SENTINELS.pattern})$")).to_list()
    candidates = [text for text in candidates if values.rows_with(text) >= FREQUENT * values.n_rows]
    if not candidates:
        return
    is_number = values.texts.str.contains(f"^(?:{NUMBER.pattern})$")
    others = values.texts.filter(is_number & ~values.texts.is_in(candidates)).cast(pl.Float64, strict=False)
    if len(others) < 5 or len(others) < 0.9 * (len(values.texts) - len(candidates) - 1):
        return
    low, high = others.min(), others.max()
    assert isinstance(low, float)
    assert isinstance(high, float)
    for text in candidates:
        number = float(text)
        if (number > 0 and number > 2 * max(high, 0.0)) or (number < 0 <= low):
            yield text


def _is_real_value(text: str, values: Distinct) -> bool:
    """Tell whether a suspect is a real value: minus beside plus, NA (Namibia) among two-letter codes."""
    if text.casefold() in ANSWERS:
        return True
    if text == "-":
        return bool((values.texts == "+").any())
    if text == "NA":
        return int(values.texts.str.contains(r"^[A-Z]{2}$").sum()) > max(5, len(values.texts) // 2)
    return False


# After lower-casing and compatibility composition, each character of the first line reads as the one below it.
HOMOGLYPHS = dict(
    zip(
        "аеорсухіјѕкмтвнԁοαρνυικτχςıӏ‐‑‒–—−’‘ʼ`",
        "aeopcyxijskmtbhdoapvuiktxσil------''''",
        strict=True,
    )
)
# The same for capitals, and for the capital I, which looks like a small l.
CAPITALS = dict(
    zip(
        "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕЅЗІЈКМНОРСТУХӀԀԌԚԜ",
        "ABEZHIKMNOPTYXABES3IJKMHOPCTYXIdGQW",
        strict=True,
    )
)
VISIBLE = str.maketrans({**HOMOGLYPHS, **CAPITALS})
INVISIBLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff]"
)
UNSEEN = re.compile(INVISIBLE)
NUMERIC = r"^[0-9.,+-]*$"


def count_look_alikes(texts: pl.Series) -> int:
    """Count the distinct values that differ from another only in case, blanks, invisible characters or homoglyphs."""
    import polars as pl

    if texts.str.contains(NUMERIC).all():  # nothing to ignore in any of them
        return 0
    sizes = pl.DataFrame({"folded": _fold(texts)}).group_by("folded").len()["len"]
    return int(sizes.filter(sizes > 1).sum())


def count_look_alike_sets(texts: pl.Series) -> int:
    """Count the sets of distinct values that a reader takes for one.

    Values of a set differ only in case, blanks, invisible characters, Unicode form or letters that look alike: Latin,
    Cyrillic and Greek ones, and a capital I for an l.
    """
    words = texts.filter(~texts.str.contains(NUMERIC))
    root: dict[tuple[str, str], tuple[str, str]] = {}

    def find(key: tuple[str, str]) -> tuple[str, str]:
        while root.setdefault(key, key) != key:
            root[key] = key = root[root[key]]
        return key

    firsts = []
    for text, folded in zip(words.to_list(), _fold(words).to_list(), strict=True):
        first, second = find(("folded", folded.strip())), find(("seen", _look(text)))
        root[second] = first
        firsts.append(first)
    sizes = Counter(map(find, firsts))
    return sum(size > 1 for size in sizes.values())


def _fold(texts: pl.Series) -> pl.Series:
    """Return each text without what count_look_alikes ignores."""
    folded = texts.str.to_lowercase()
    if (texts.str.len_bytes() != texts.str.len_chars()).any():
        folded = texts.str.normalize("NFKC").str.to_lowercase().str.replace_all(INVISIBLE, "")
        folded = folded.str.replace_many(list(HOMOGLYPHS), list(HOMOGLYPHS.values()))
    return folded.str.replace_all(r"\s+", " ")


def _look(text: str) -> str:
    """Return how a text looks: Latin letters in place of others of the same shape, without blanks, in lower case."""
    if not text.isascii():
        text = UNSEEN.sub("", unicodedata.normalize("NFKC", text[:LONGEST])).translate(VISIBLE)
    if "I" in text and text != text.upper():
        text = text.replace("I", "l")
    return "".join(text.split()).lower()
