"""KACA as in its paper, class by class with fractions [S2 sections 4 and 5]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Label = tuple[int, ...]


@dataclass(frozen=True)
class Attribute:
    """levels: node of each code on each level, the codes themselves first, the root last. shares: of the whole climb
    from a value to each level."""

    levels: tuple[tuple[int, ...], ...]
    shares: tuple[Fraction, ...]

    @property
    def root(self) -> int:
        return self.levels[-1][0]

    def level(self, node: int) -> int:
        if node == self.root:
            return len(self.levels) - 1
        return next(i for i, level in enumerate(self.levels) if node in level)

    def codes(self, node: int) -> set[int]:
        level = self.levels[self.level(node)]
        return {code for code, above in enumerate(level) if above == node}

    def common(self, one: int, other: int) -> int:
        """The closest common generalisation [S2 definition 8]."""
        if one == other:
            return one
        codes = self.codes(one) | self.codes(other)
        from_level = max(self.level(one), self.level(other))
        return next(level[min(codes)] for level in self.levels[from_level:] if len({level[c] for c in codes}) == 1)

    def climb(self, low: int, high: int) -> Fraction:
        """WHD of the generalisation from one node to another above it [S2 definition 5]."""
        return self.shares[self.level(high)] - self.shares[self.level(low)]


def distortion(low: Label, high: Label, attributes: Sequence[Attribute]) -> Fraction:
    """[S2 definition 6]."""
    return sum((a.climb(x, y) for a, x, y in zip(attributes, low, high, strict=True)), Fraction(0))


def common_label(one: Label, other: Label, attributes: Sequence[Attribute]) -> Label:
    return tuple(a.common(x, y) for a, x, y in zip(attributes, one, other, strict=True))


def tuple_distance(one: Label, other: Label, attributes: Sequence[Attribute]) -> Fraction:
    """[S2 definition 9]."""
    top = common_label(one, other, attributes)
    return distortion(one, top, attributes) + distortion(other, top, attributes)


def groups(
    rows: Sequence[Label],
    attributes: Sequence[Attribute],
    k: int,
    lots: Sequence[int],
    threshold: Fraction | None = None,
) -> tuple[dict[Label, list[int]], list[int]]:
    """Return the classes by label, as indices of rows, and the suppressed rows; `lots`: one random number per step."""
    classes: dict[Label, list[int]] = {}
    suppressed: list[int] = []
    for i, row in enumerate(rows):
        classes.setdefault(row, []).append(i)
    for lot in lots:
        small = sorted(label for label, members in classes.items() if len(members) < k)
        if not small:
            break
        own = small[lot % len(small)]
        size = len(classes[own])

        def stub_size(label: Label, size: int = size) -> int:
            whole = len(classes[label])
            return k - size if size + whole >= 2 * k else whole

        def distance(label: Label, own: Label = own, size: int = size) -> Fraction:
            top = common_label(own, label, attributes)
            stub = stub_size(label)
            return size * distortion(own, top, attributes) + stub * distortion(label, top, attributes)

        others = sorted(classes.keys() - {own})
        nearest = min(others, key=distance, default=None)
        if nearest is None or (threshold is not None and distance(nearest) > threshold):
            suppressed += classes.pop(own)
            continue
        n = stub_size(nearest)
        members = classes.pop(own)
        theirs = sorted(classes.pop(nearest))
        if theirs[n:]:
            classes[nearest] = theirs[n:]
        top = common_label(own, nearest, attributes)
        classes[top] = classes.get(top, []) + members + theirs[:n]
    return classes, suppressed
