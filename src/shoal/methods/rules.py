"""Data constraint rules: what a group should not mix, and how much each such wish is worth."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from shoal.errors import UsageError

__all__ = ["Rule", "kept_share", "parse_rules"]

_TEXT = re.compile(r"(?P<column>[^:]+):(?P<body>.+?)(?:=(?P<importance>[0-9.]+))?")


@dataclass(frozen=True)
class Rule:
    """One wish about the groups of an attribute.

    apart: sets of values that no group should mix. inflection: no group should hold numbers up to the first and from
    the second on. allowed: sets of values that may be merged; any other mixture breaks the rule. One of the three is
    given.

    >>> rule = Rule("race", 20, apart=(frozenset({"White"}), frozenset({"Black"})))
    >>> rule.is_broken({"White", "Asian"}), rule.is_broken({"White", "Black"})
    (False, True)
    """

    column: str
    importance: Fraction | int
    apart: tuple[frozenset[str], ...] = ()
    inflection: tuple[Fraction, Fraction] | None = None
    allowed: tuple[frozenset[str], ...] = ()

    def is_broken(self, texts: Collection[str], span: tuple[float, float] | None = None) -> bool:
        """Say whether a group breaks the rule; texts: its values; span: the least and the greatest number it covers."""
        if self.inflection is not None:
            return span is not None and span[0] <= self.inflection[0] and span[1] >= self.inflection[1]
        if self.allowed:
            return len(texts) > 1 and not any(held.issuperset(texts) for held in self.allowed)
        return sum(not held.isdisjoint(texts) for held in self.apart) > 1

    def spec(self) -> dict[str, Any]:
        """Return the rule as plain values, as in shoal.toml."""
        kind = "inflection" if self.inflection is not None else "allowed" if self.allowed else "apart"
        sets = self.allowed or self.apart
        body = [float(end) for end in self.inflection] if self.inflection else [sorted(held) for held in sets]
        return {"column": self.column, "importance": float(self.importance), kind: body}


def kept_share(
    rules: Iterable[Rule], groups: Collection[tuple[Collection[str], tuple[float, float] | None]], base: Fraction
) -> Fraction:
    """Return (base + importance of the rules that no group breaks) / (base + importance of all); 1 without rules.

    groups: the values of each group, and the least and the greatest number it covers, None where it covers none.
    """
    rules = list(rules)
    whole = base + sum(Fraction(rule.importance) for rule in rules)
    if not rules or not whole:
        return Fraction(1)
    kept = [rule for rule in rules if not any(rule.is_broken(texts, span) for texts, span in groups)]
    return (base + sum(Fraction(rule.importance) for rule in kept)) / whole


def parse_rules(given: str | Iterable[Rule | str | Mapping[str, Any]]) -> tuple[Rule, ...]:
    """Read rules: made ones, texts, or tables of a shoal.toml.

    race:White|Black=20 keeps two values apart (White,Asian|Black: sets of them); age:64-65=25 is an inflection between
    two numbers; age:12..18=30 a range, which is the inflections at both its ends. Several in one text stand with a
    semicolon between them.
    In a table: column, importance, and one of apart, inflection, range, allowed.

    >>> [rule.importance for rule in parse_rules(["race:White|Black=20", "age:12..18=30"])]
    [Fraction(20, 1), Fraction(30, 1), Fraction(30, 1)]
    """
    rules: list[Rule] = []
    for rule in given.split(";") if isinstance(given, str) else given:
        if isinstance(rule, Rule):
            rules.append(rule)
        else:
            rules += _parse(rule if isinstance(rule, Mapping) else _table(rule))
    return tuple(rules)


def _table(text: str) -> dict[str, Any]:
    """Turn the short form of a rule into a table."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"rule {text!r} cannot be read. Write race:White|Black=20, age:64-65=25 or age:12..18=30.")
    body: dict[str, Any] = {"apart": [part.split(",") for part in match["body"].split("|")]}
    if "|" not in match["body"]:
        key, mark = ("range", "..") if ".." in match["body"] else ("inflection", "-")
        low, _, high = match["body"].rpartition(mark)
        body = {key: [low, high]}
    return {"column": match["column"], "importance": match["importance"] or "1", **body}


def _parse(table: Mapping[str, Any]) -> list[Rule]:
    kinds = {"apart", "inflection", "range", "allowed"}
    named = kinds.intersection(table)
    strange = set(table) - kinds - {"column", "importance"}
    if len(named) != 1 or "column" not in table or strange:
        raise UsageError(f"rule {dict(table)}: give column, importance and one of {', '.join(sorted(kinds))}.")
    column, (kind,) = str(table["column"]).strip(), named
    try:
        importance = Fraction(str(table.get("importance", 1)))
        if kind in ("apart", "allowed"):
            sets = tuple(frozenset([held] if isinstance(held, str) else map(str, held)) for held in table[kind])
            return [
                Rule(column, importance, apart=sets if kind == "apart" else (), allowed=() if kind == "apart" else sets)
            ]
        low, high = (Fraction(str(end).strip()) for end in table[kind])
    except (ValueError, TypeError, ZeroDivisionError):
        raise UsageError(f"rule of column {column!r}: importance and bounds must be numbers.") from None
    if importance < 0 or low > high:
        raise UsageError(f"rule of column {column!r}: importance from 0 on, and the lower bound first.")
    if kind == "inflection":
        return [Rule(column, importance, inflection=(low, high))]
    return [Rule(column, importance, inflection=ends) for ends in ((low - 1, low), (high, high + 1))]
