"""The released text of groups of rows: the smallest range or set that contains the values of a group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Row = Sequence[int]


def range_text(codes: Iterable[int], texts: Sequence[str], missing: int | None) -> str:
    """The cell of a number or date whose codes rise with its values."""
    distinct = set(codes)
    if len(distinct) == 1:
        return texts[distinct.pop()]
    if missing in distinct:
        return "*"  # no range can say "between 3 and missing"
    return f"[{texts[min(distinct)]}, {texts[max(distinct)]}]"


def set_text(codes: Iterable[int], texts: Sequence[str]) -> str:
    """Return the cell of a category; an ambiguous member is quoted."""
    members = sorted({texts[code] for code in codes})
    if len(members) == 1:
        return members[0]
    return "{" + ", ".join(map(_quoted, members)) + "}"


def _quoted(member: str) -> str:
    if member == "" or set(member) & set(',{}"\r\n'):
        return '"' + member.replace('"', '""') + '"'
    return member


def tight_cells(
    rows: Sequence[Row],
    groups: Sequence[Sequence[int]],
    texts: Sequence[Sequence[str]],
    ordered: Sequence[bool],
    missing: Sequence[int | None],
) -> list[tuple[str, ...]]:
    """The released cells of each group, attribute by attribute."""
    released = []
    for group in groups:
        cells = []
        for a in range(len(texts)):
            codes = [rows[i][a] for i in group]
            cells.append(range_text(codes, texts[a], missing[a]) if ordered[a] else set_text(codes, texts[a]))
        released.append(tuple(cells))
    return released
