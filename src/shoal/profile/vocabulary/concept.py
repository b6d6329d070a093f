"""What the words of a column name can mean: a topic with a role, or a part of a key."""

from __future__ import annotations

from typing import NamedTuple

from shoal.schema import Kind, Role

__all__ = ["Concept", "concept", "words"]


class Concept(NamedTuple):
    """What a column contains, as suggested by words of its name.

    Attributes:
        key: Short name of the concept.
        label: The concept in words.
        role: The role that it calls for.
        strength: Which of two concepts in one name decides: the stronger one.
        words: Whole words that suggest it.
        stems: Parts of words that suggest it.
        coded: Whether numbers in such a column are codes rather than quantities.
        kind: The kind of column to which the words apply; any by default.
    """

    key: str
    label: str
    role: Role
    strength: int
    words: frozenset[str]
    stems: tuple[str, ...] = ()
    coded: bool = False
    kind: Kind | None = None


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def concept(
    key: str,
    label: str,
    role: Role,
    strength: int,
    named: str,
    stems: str = "",
    *,
    coded: bool = False,
    kind: Kind | None = None,
) -> Concept:
    """Return a concept from its words and stems as texts."""
    return Concept(key, label, role, strength, words(named), tuple(stems.split()), coded, kind)
