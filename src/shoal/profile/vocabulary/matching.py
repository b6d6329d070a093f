"""Match column names with the vocabulary: `PatientID_nr` is a key of a person, `Geburtsdatum` is about birth.

A name is split at blanks, signs and changes of case. A part that the vocabulary lacks is matched without its digits,
as a singular, as a compound of known words (`hospitalid`), as another form of a known word: with another ending
(`diagnozami`), cut short (`hyperten`) or without its vowels (`trtmnt`), or by a stem in it (`Grunderkrankungen`).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from shoal.profile.vocabulary import keys
from shoal.profile.vocabulary.concept import Concept
from shoal.profile.vocabulary.quasi import QIS, TECHNICALS
from shoal.profile.vocabulary.stems import word_by_stem
from shoal.profile.vocabulary.topics import SENSITIVES

__all__ = ["Naming", "common_prefix", "naming_of", "words_of"]

CONCEPTS = (*keys.DIRECT, *SENSITIVES, *QIS, *TECHNICALS)
GROUPS = {
    "key": keys.KEYS,
    "code": keys.WEAK_KEYS,
    "person": keys.PEOPLE,
    "household": keys.HOUSEHOLDS,
    "holder": keys.HOLDERS,
    "record": keys.RECORDS,
    "organisation": keys.ORGANISATIONS,
    "thing": keys.THINGS,
    "staff": keys.STAFF,
    "attribute": keys.ATTRIBUTES,
    "count": keys.COUNTS,
}
NUMBERED = frozenset({"person", "household", "holder", "record"})
KEY_ENDINGS = ("nummer", "number", "nr", "num", "id")
# Letters that do not decompose into a base letter and an accent.
PLAIN = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "AE"})
SHORT_PARTS = frozenset({"id", "nr", "no", "dt", "cd", "yr", "hh", "fl", "kz"})  # shorter parts of a compound
SHORTEST_PART = 3
SHORTEST_COMPOUND = 5
SHORTEST_PHRASE = 6
MOST_PARTS = 4
LEAST_END = 4  # letters of a known word at an end of an unknown one
ENDINGS = frozenset({"idade", "lage", "tage"})  # endings of abstract nouns: qualidade, Zulage, montage
LONGEST_ID = 8  # letters of an abbreviation whose last two mean id
LEAST_BARE = 4  # letters of a word without its vowels
LEAST_STEM = 5  # letters of a word cut short, or that two forms of a word share
LONGEST_ENDING = 3
LONGEST_CUT = 4
VOWELS = re.compile(r"(?<!^)[aeiou]")
LEAST_PREFIXED = 5
MOST_PREFIXED = 0.6


@dataclass(frozen=True)
class Naming:
    """What a column name says.

    Attributes:
        words: The words of the name, compounds in parts.
        concepts: The concepts that it suggests, the strongest first.
        groups: The groups of words that occur, such as "key" and "person".
        phrased: The keys of the concepts that a phrase of the vocabulary suggests, which is more specific than a word.
    """

    words: tuple[str, ...]
    concepts: tuple[Concept, ...]
    groups: frozenset[str]
    phrased: frozenset[str] = frozenset()

    @property
    def entity(self) -> str:
        """What a key with this name numbers: a person, household, holder or record; empty if the name does not tell.

        The visit of a patient is a visit.
        """
        if {"person", "record"} <= self.groups and "holder" not in self.groups:
            return "record"
        return next((group for group in ("person", "household", "holder", "record") if group in self.groups), "")


def words_of(name: str) -> list[str]:
    """Split a column name into lower-case words without accents: `PatientID_nr` gives patient, id, nr."""
    plain = unicodedata.normalize("NFKD", name.translate(PLAIN))
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return re.findall(r"[^\W_]+", plain.lower())


@cache
def naming_of(name: str, prefix: str = "") -> Naming:
    """Return what a column name says.

    Args:
        name: The name.
        prefix: A prefix that most columns of the table share, as `common_prefix` finds it.
    """
    words = words_of(name)
    if prefix and words and words[0].startswith(prefix) and len(words[0]) > len(prefix) + 1:
        words[0] = words[0] if _is_known(words[0]) else words[0].removeprefix(prefix)
    parts = [part for word in words for part in _parts(word)]
    present, joined = {*parts, *_phrases(words)}, "".join(words)
    found = [c for c in CONCEPTS if present & c.words or any(stem in joined for stem in c.stems)]
    found.sort(key=lambda concept: -concept.strength)
    groups = {group for group, own in GROUPS.items() if present & own}
    if groups & NUMBERED and any(part.endswith(KEY_ENDINGS) for part in parts):
        groups.add("key")
    phrased = {c.key for c in found if any("_" in word for word in present & c.words)}
    return Naming(tuple(parts), tuple(found), frozenset(groups), frozenset(phrased))


def _phrases(words: Sequence[str]) -> set[str]:
    """Return the words in twos and threes, apart and in one: `tax_number` is a known word, and so is `taxnumber`."""
    runs = [words[i : i + n] for n in (2, 3) for i in range(len(words) - n + 1)]
    in_one = {joined for run in runs if len(joined := "".join(run)) >= SHORTEST_PHRASE}
    return {"_".join(run) for run in runs} | in_one | {_apart()[word] for word in words if word in _apart()}


@cache
def _apart() -> dict[str, str]:
    """Return the phrases of the vocabulary by their letters."""
    return {word.replace("_", ""): word for word in _lexicon() if "_" in word}


def common_prefix(names: Sequence[str]) -> str:
    """Return the letters that most columns begin with, such as u in ULAND, UMONAT; empty if there are none."""
    starts = [words[0] for name in names if (words := words_of(name))]
    if len(starts) < LEAST_PREFIXED:
        return ""
    for length in (4, 3, 2, 1):
        counts = Counter(word[:length] for word in starts if len(word) > length + 1).most_common(1)
        known = sum(word in _lexicon() for word in starts)
        if counts and counts[0][1] > MOST_PREFIXED * len(starts) and known < len(starts) / 3:
            return counts[0][0]
    return ""


@cache
def _lexicon() -> frozenset[str]:
    """Return all words of the vocabulary."""
    return frozenset().union(*(c.words for c in CONCEPTS), *GROUPS.values(), keys.FILLERS)


def _is_known(word: str) -> bool:
    """Tell whether the vocabulary knows a word, or all parts of it."""
    return set(_parts(word)) <= _lexicon()


@cache
def _parts(word: str) -> tuple[str, ...]:
    """Return a word as the vocabulary knows it, as parts of a compound, or as it is."""
    lexicon = _lexicon()
    bare = word.rstrip("0123456789")
    forms = [word, bare, bare.replace("ae", "a").replace("oe", "o").replace("ue", "u"), bare.removesuffix("s")]
    for form in forms:
        if form in lexicon:
            return (form,)
    if len(bare) >= SHORTEST_COMPOUND:
        for form in dict.fromkeys(forms[1:]):
            if (split := _split(form, MOST_PARTS)) is not None:
                return split
    if (near := _nearest(bare) or word_by_stem(bare)) is not None:
        return (near, "nr") if bare.endswith(KEY_ENDINGS) else (near,)
    return _ends(bare) if len(bare) >= SHORTEST_COMPOUND else (bare or word,)


@cache
def _meanings() -> dict[str, frozenset[str]]:
    """Return the concepts and groups that each word of the vocabulary suggests."""
    found: dict[str, set[str]] = {}
    for key, own in (*((c.key, c.words) for c in CONCEPTS), *GROUPS.items()):
        for word in own:
            found.setdefault(word, set()).add(key)
    return {word: frozenset(keys) for word, keys in found.items()}


@cache
def _index() -> tuple[list[str], dict[str, list[str]]]:
    """Return the words in order, and those that are known by their letters without vowels."""
    ordered = sorted(word for word in _meanings() if "_" not in word)
    bare: dict[str, list[str]] = {}
    for word in ordered:
        bare.setdefault(VOWELS.sub("", word), []).append(word)
    return ordered, bare


def _nearest(word: str) -> str | None:
    """Return the known word of which this is another form; None if there is none, or if several differ in meaning."""
    if len(word) < LEAST_BARE or not word.isalpha():
        return None
    ordered, bare = _index()
    stem = word[: max(LEAST_STEM, len(word) - LONGEST_ENDING + 1)]
    inflected = [other for other in _starting(ordered, stem) if len(other) <= len(stem) + LONGEST_ENDING]
    cut = [other for other in _starting(ordered, word) if len(other) <= len(word) + LONGEST_CUT]
    forms = (inflected, cut) if len(word) >= LEAST_STEM else ()
    for others in (*forms, bare.get(word, [])):
        if others and frozenset.intersection(*(_meanings()[other] for other in others)):
            nearest: str = min(others, key=lambda other: (abs(len(other) - len(word)), other))
            return nearest
    return None


def _starting(ordered: list[str], start: str) -> list[str]:
    return ordered[bisect_left(ordered, start) : bisect_left(ordered, start + "\x7f")]


def _ends(word: str) -> tuple[str, ...]:
    """Split a known word off one end, the longer of the two; the rest stays unknown."""
    lexicon = _lexicon()
    if word.endswith("id") and len(word) <= LONGEST_ID:
        return word[:-2], "id"
    for length in range(len(word) - 1, LEAST_END - 1, -1):
        if word[:length] in lexicon:
            return word[:length], word[length:]
        if word[-length:] in lexicon and word[-length:] not in ENDINGS:
            return word[:-length], word[-length:]
    return (word,)


@cache
def _split(word: str, most: int) -> tuple[str, ...] | None:
    """Split a compound into the fewest known words, at most `most`; None if that is not possible."""
    if not word:
        return ()
    if most == 0:
        return None
    best: tuple[str, ...] | None = None
    for end in range(len(word), 1, -1):
        part = _part(word[:end])
        if part and (rest := _split(word[end:], (most if best is None else len(best) - 1) - 1)) is not None:
            best = (part, *rest)
    return best


def _part(text: str) -> str:
    """Return a known part of a compound, without the s or n that links it to the next one; empty if it is unknown."""
    if len(text) < SHORTEST_PART:
        return text if text in SHORT_PARTS else ""
    if text in _lexicon():
        return text
    return text[:-1] if len(text) > LEAST_END and text[-1] in "sn" and text[:-1] in _lexicon() else ""
