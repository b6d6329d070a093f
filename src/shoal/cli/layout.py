"""Texts and tables laid out for the width of a terminal: whole words, and nothing is shortened.

A table whose columns do not fit side by side moves its last columns below each row, then gives long names a line of
their own; on a terminal narrower than `NARROW` each row becomes a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

__all__ = ["NARROW", "blocks", "facts", "grid", "wrap"]

NARROW: Final = 60
GAP, INDENT, BELOW = 2, 2, 4
LEAST_NAME, LEAST_TEXT = 12, 30  # room that names and texts need to stand beside other columns


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines at its blanks; only a word that is longer than a line is broken.

    Lines of the text stay lines; a line that begins with blanks keeps them, also where it is continued.

    >>> wrap("a table of people", 10)
    ['a table of', 'people']
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if _width(paragraph) <= width:
            lines.append(paragraph.rstrip())
            continue
        indent = paragraph[: len(paragraph) - len(paragraph.lstrip(" "))]
        room = max(1, width - len(indent))
        line = ""
        for piece in (piece for word in paragraph.split() for piece in _pieces(word, room)):
            if line and _width(line) + 1 + _width(piece) > room:
                lines.append(indent + line)
                line = piece
            else:
                line = f"{line} {piece}" if line else piece
        lines.append(indent + line if line else "")
    return lines


def facts(pairs: Iterable[tuple[str, str]], width: int) -> list[str]:
    """Lay out named texts: the names at the left, or above their texts where they leave too little room."""
    pairs = list(pairs)
    names = [_width(name) for name, _ in pairs]
    longest = max((_width(line) for _, text in pairs for line in text.split("\n")), default=0)
    is_roomy = max(names, default=0) + GAP + longest <= width  # every text in one line
    if width < NARROW and not is_roomy:
        return [line for name, text in pairs for line in (*wrap(name, width), *_indented(text, width, INDENT))]
    most = max(names, default=0) if is_roomy else max(LEAST_NAME, width // 3)
    side = max((_width(name) for name, _ in pairs if _width(name) <= most), default=LEAST_NAME) + GAP
    lines: list[str] = []
    for name, text in pairs:
        beside = _indented(text, width, side)
        if _width(name) <= most:
            beside[0] = (_pad(name, side) + beside[0].lstrip(" ")).rstrip()
        else:
            lines += wrap(name, width)
        lines += beside
    return lines


def grid(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    right: Iterable[str] = (),
    below: Sequence[int] = (),
) -> list[str]:
    """Lay out a table under its head.

    Args:
        head: Names of the columns.
        rows: The texts of each row.
        width: Columns of the terminal.
        right: Names of the columns that align at the right: figures.
        below: How many of the last columns may move below their row, fewest first; there, figures have their names.
    """
    if width >= NARROW:
        aligned = [name in set(right) for name in head]
        for n_below in (0, *below):
            lines = _table(head, rows, width, aligned, n_below)
            if lines is not None:
                return lines
    return blocks(head, rows, width)


def blocks(head: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> list[str]:
    """Lay out each row as a block: its first text as a heading, the others below with their names."""
    side = max((_width(name) for name in head[1:]), default=0) + GAP
    lines: list[str] = []
    for row in rows:
        lines += [*([""] if lines else []), *wrap(row[0], width)]
        for name, text in zip(head[1:], row[1:], strict=True):
            if text and INDENT + side > width // 2:
                lines += [*_indented(name, width, INDENT), *_indented(text, width, BELOW)]
            elif text:
                beside = _indented(text, width, INDENT + side)
                beside[0] = " " * INDENT + _pad(name, side) + beside[0].lstrip(" ")
                lines += beside
    return lines


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], width: int, right: Sequence[bool], n_below: int
) -> list[str] | None:
    """Return the lines of a table; None if it does not fit."""
    n_beside = len(head) - n_below
    widths = [
        max(_longest_word(head[i]), *(_width(row[i]) for row in rows), 1) if rows else _width(head[i])
        for i in range(n_beside)
    ]
    spare = width - sum(widths) - GAP * (n_beside - 1)
    least = max((_longest_word(row[-1]) for row in rows), default=0)
    if spare < 0 and not n_below and widths[-1] + spare >= max(LEAST_TEXT, least):
        widths[-1] += spare  # the last text wraps
        spare = 0
    if spare < 0:  # names that are longer stand on a line of their own
        widths[0] += spare
        if widths[0] < max(LEAST_NAME, _longest_word(head[0])):
            return None
    lines = list(_row([wrap(name, size) for name, size in zip(head, widths, strict=False)], widths, right, bottom=True))
    lines.append("\N{BOX DRAWINGS LIGHT HORIZONTAL}" * (sum(widths) + GAP * (n_beside - 1)))
    for row in rows:
        cells = [[row[0]], *(wrap(text, size) for text, size in zip(row[1:n_beside], widths[1:], strict=True))]
        if _width(row[0]) > widths[0]:
            lines += wrap(row[0], width)
            cells[0] = [""]
        lines += _row(cells, widths, right)
        named = [f"{head[i]} {row[i]}" for i in range(n_beside, len(head)) if right[i] and row[i]]
        texts = [row[i] for i in range(n_beside, len(head)) if not right[i] and row[i]]
        for text in (", ".join(named), " ".join(texts)):
            lines += _indented(text, width, BELOW) if text else []
    return lines


def _row(
    cells: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool], *, bottom: bool = False
) -> Iterator[str]:
    """Yield the lines of one row; the lines of a cell begin at the top or, with `bottom`, end at the bottom."""
    height = max(map(len, cells))
    for i in range(height):
        texts = []
        for lines, size, at_right in zip(cells, widths, right, strict=False):
            j = i - (height - len(lines)) if bottom else i
            texts.append(_pad(lines[j] if 0 <= j < len(lines) else "", size, right=at_right))
        yield (" " * GAP).join(texts).rstrip()


def _indented(text: str, width: int, indent: int) -> list[str]:
    """Wrap a text to the right of an indent; where it would leave no room, the indent shrinks."""
    indent = min(indent, width // 2)
    return [" " * indent + line if line else "" for line in wrap(text, width - indent)] or [""]


def _longest_word(text: str) -> int:
    return max(map(_width, text.split()), default=0)


def _pieces(word: str, room: int) -> Iterator[str]:
    """Yield a word, or its parts if it is longer than a line."""
    piece = ""
    for letter in word if _width(word) > room else ():
        if piece and _width(piece + letter) > room:
            yield piece
            piece = ""
        piece += letter
    yield piece or word


def _pad(text: str, size: int, *, right: bool = False) -> str:
    blanks = " " * max(0, size - _width(text))
    return blanks + text if right else text + blanks


def _width(text: str) -> int:
    """Return the columns that a text takes on a terminal; letters of some scripts take two, marks none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
