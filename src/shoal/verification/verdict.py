"""What the verifier found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["MOST_VIOLATIONS", "Verdict", "judge", "small_groups"]

MOST_VIOLATIONS = 10


@dataclass(frozen=True)
class Verdict:
    """What the verifier found in a release; ok says that there is no violation."""

    ok: bool
    k: int
    rows: int
    groups: int
    smallest_group: int
    violations: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the verdict as plain values, for JSON."""
        counts = {"rows": self.rows, "groups": self.groups, "smallest_group": self.smallest_group}
        return {"ok": self.ok, "k": self.k, **counts, "violations": list(self.violations)}


def small_groups(
    groups: Mapping[tuple[str, ...], int], k: int, first_row: Callable[[tuple[str, ...]], int]
) -> list[str]:
    """Say how many groups are below k, how small the smallest is and where it begins."""
    small = [group for group, size in groups.items() if size < k]
    if not small:
        return []
    smallest = min(small, key=groups.__getitem__)
    rows = f"{groups[smallest]} row{'s' * (groups[smallest] > 1)}, the first of them row {first_row(smallest)}"
    return [f"k={k}: {len(small)} of {len(groups)} groups are smaller; the smallest group has {rows}."]


def judge(k: int, rows: int, groups: Mapping[Any, int], violations: Sequence[str]) -> Verdict:
    """Return the verdict; more than ten violations are cut short."""
    shown = list(violations)
    if len(shown) > MOST_VIOLATIONS:
        shown[MOST_VIOLATIONS - 1 :] = [f"... and {len(shown) - MOST_VIOLATIONS + 1} more."]
    return Verdict(not shown, k, rows, len(groups), min(groups.values(), default=0), tuple(shown))
