"""The information loss of released cells as their receiver can work it out: over what the release itself shows.

The measures of `shoal.metrics.measure` compare a release with its original, so they reveal something of it: how wide
its columns are, how often its values occur, how many rows were left out. The figures here depend on the released cells
and on the labels of the hierarchies alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from shoal.encoding.partition import SUPPRESSION
from shoal.hierarchy.base import TOP, Hierarchy
from shoal.metrics.released_cells import CategoryReader, OrderedReader, numbers_of
from shoal.schema import Column, Kind

__all__ = ["ShownCell", "label_losses", "read_shown", "shown_values"]

STEPS = {Kind.NUMERIC: 1.0, Kind.DATE: 86400.0}
PREFIXES = "prefixes"  # the source of hierarchies whose labels show how many characters they hide


@dataclass(frozen=True)
class ShownCell:
    """What a released cell shows.

    Attributes:
        loss: Its loss over the released domain, in [0, 1].
        width: The distance between the ends of a range, or the number of values in a set; 0 for any other cell.
        extent: For numbers and dates its width, 0 for an exact cell; for categories the number of values, 1 for an
            exact cell. "*" covers the released domain. None for a label, because the number of values below it would
            reveal something of the original.
        exact: Whether it shows one value.
        starred: Whether it shows "*".
    """

    loss: float
    width: float = 0.0
    extent: float | None = None
    exact: bool = False
    starred: bool = False


def label_losses(hierarchy: Hierarchy) -> dict[str, float]:
    """Return the loss of each label: its level over the height or, for prefixes, the share of hidden characters.

    The number of values below a label is not used, because it would reveal something of the original.
    """
    losses: dict[str, float] = {}
    levels = hierarchy.label_levels()
    pairs = ((value, label) for value, labels in hierarchy.rows.items() for label in labels)
    for label in dict.fromkeys(label for value, label in pairs if label not in (value, TOP)):
        if hierarchy.source == PREFIXES:
            losses[label] = (len(label) - len(label.rstrip(TOP))) / len(label)
        else:
            losses[label] = levels[label] / hierarchy.height
    return losses


def read_shown(
    column: Column,
    texts: Sequence[str],
    missing: Sequence[str],
    ends: Mapping[str, tuple[str, str]],
    labels: Mapping[str, float],
) -> list[ShownCell]:
    """Read the distinct released cells of a quasi-identifier.

    The released domain of numbers and dates reaches from the smallest to the largest end that a cell shows; that of
    categories consists of all values that some cell shows, alone or in a set.

    Args:
        column: The column, with the kind of its cells.
        texts: Its distinct released cells.
        missing: The texts that mark a missing value, which is released as it was.
        ends: The ends of cells that are ranges, where they are known already.
        labels: The loss of each label of its hierarchy.
    """
    if column.kind is Kind.CATEGORICAL or column.kind is None:
        return _read_categories(texts, missing, labels)
    ranges = _read_ranges(column, [text for text in texts if text != SUPPRESSION and text not in missing], ends)
    low = min((low for low, _ in ranges.values()), default=0.0)
    high = max((high for _, high in ranges.values()), default=0.0)
    is_ranked = column.kind.is_ranked
    shown = []
    for text in texts:
        if text not in ranges:
            star = high - low + is_ranked
            shown.append(_starred(star) if text == SUPPRESSION else _labelled(text, labels, float(is_ranked)))
            continue
        width = ranges[text][1] - ranges[text][0]
        extent = width + is_ranked  # the values of a set
        shown.append(ShownCell(width / (high - low), extent, extent) if width > 0 else _exact(float(is_ranked)))
    return shown


def _exact(extent: float) -> ShownCell:
    return ShownCell(0.0, extent=extent, exact=True)


def _starred(extent: float) -> ShownCell:
    return ShownCell(1.0, extent=extent, starred=True)


def _labelled(text: str, labels: Mapping[str, float], exact: float) -> ShownCell:
    return ShownCell(labels[text]) if text in labels else _exact(exact)


def _read_ranges(
    column: Column, texts: Sequence[str], ends: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest number that each cell shows; texts that are neither number nor range lack."""
    pairs = {text: ends.get(text, (text, text)) for text in texts}
    number_of = _read_numbers(column, list(dict.fromkeys(end for pair in pairs.values() for end in pair)))
    reader = OrderedReader(column, 0.0, 0.0, STEPS.get(column.kind or Kind.NUMERIC, 1.0), {})
    ranges = {}
    for text, (low, high) in pairs.items():
        if low in number_of and high in number_of:
            ranges[text] = number_of[low], number_of[high]
        elif text and (bounds := reader.bounds(text)) is not None:
            ranges[text] = bounds
    return ranges


def _read_numbers(column: Column, texts: Sequence[str]) -> dict[str, float]:
    """Return the number of each text that is one."""
    numbers, misfits = numbers_of(column, texts)
    if misfits:
        unreadable = set(misfits)
        texts = [text for i, text in enumerate(texts) if i not in unreadable]
        numbers, _ = numbers_of(column, texts)
    return {text: float(number) for text, number in zip(texts, numbers, strict=True)}


def _read_categories(texts: Sequence[str], missing: Sequence[str], labels: Mapping[str, float]) -> list[ShownCell]:
    members, unknown = _members(texts, missing), frozenset(missing)
    domain = shown_values(texts, missing, labels)
    n_values = len(domain - unknown) + bool(domain & unknown)
    shown = []
    for text in texts:
        size = len(members.get(text, ()))
        if text == SUPPRESSION:
            shown.append(_starred(float(n_values)))
        elif size > 1:
            shown.append(ShownCell(size / n_values, float(size), float(size)))
        else:
            shown.append(_labelled(text, labels, 1.0))
    return shown


def shown_values(texts: Sequence[str], missing: Sequence[str], labels: Mapping[str, float]) -> frozenset[str]:
    """Return the values of a category that some cell shows, alone or in a set; see `read_shown`."""
    members = _members(texts, missing)
    alone = {text for text in texts if text not in members and text not in labels and text != SUPPRESSION}
    return frozenset(alone).union(*members.values())


def _members(texts: Sequence[str], missing: Sequence[str]) -> dict[str, Collection[str]]:
    """Return the members of each cell that is a set."""
    reader = CategoryReader(frozenset(), frozenset(missing), {})
    return {
        text: reader.members(text) if '"' in text else text[1:-1].split(", ")
        for text in texts
        if text[:1] == "{" and text[-1:] == "}"
    }
