"""Texts and tables at every width of a terminal: whole words, nothing lost, nothing wider than the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from shoal.cli.layout import NARROW, blocks, facts, grid, wrap

HEAD = ("column", "role", "kind", "distinct", "missing", "unique", "distribution", "why")
FIGURES = ("distinct", "missing", "unique")
REASON = "the column name suggests health, which nobody should learn"
words = st.lists(st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), min_size=1, max_size=30), max_size=8)
texts = words.map(" ".join)


def row(name: str) -> tuple[str, ...]:
    return name, "sensitive", "date %Y-%m-%d", "12,345", "0.7%", "100.0%", "████████████", REASON


def letters(*parts: str) -> str:
    """Return the letters of texts in one order, without blanks."""
    return "".join(sorted("".join("".join(parts).split())))


@given(texts, st.integers(4, 90))
def test_wrap_loses_nothing_and_breaks_only_words_that_are_too_long(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
    short = {word for word in text.split() if cell_len(word) <= width}
    assert short <= {word for line in lines for word in line.split()}


def test_wrap_keeps_lines_and_their_indent() -> None:
    assert wrap("one two\n  three four five", 12) == ["one two", "  three four", "  five"]


@given(st.lists(st.tuples(texts, texts), max_size=4), st.integers(30, 130))
def test_facts_lose_nothing(pairs: list[tuple[str, str]], width: int) -> None:
    lines = facts(pairs, width)
    assert all(cell_len(line) <= width for line in lines)
    assert letters(*lines) == letters(*(part for pair in pairs for part in pair))


@pytest.mark.parametrize("width", [20, 30, 40, 59, 60, 70, 80, 100, 120, 200])
@pytest.mark.parametrize("longest", [4, 16, 30, 64, 150])
def test_grid_fits_every_width(width: int, longest: int) -> None:
    names = ["age", *(f"{'a_long_name_of_a_column_' * 7}"[: longest - 1] + str(i) for i in range(5))]
    lines = grid(HEAD, [row(name) for name in names], width, right=FIGURES, below=(2, 5))
    assert all(cell_len(line) <= width for line in lines)
    text = " ".join(lines)
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert " ".join(text.split()).count("suggests health, which") + text.count("nobody should") >= len(names)
    for word in ("12,345", "100.0%", "sensitive"):  # none is broken
        assert text.count(word) == len(names)
    assert all(name in text for name in names if len(name) <= width)


@pytest.mark.parametrize("width", [30, 60, 80, 200])
def test_grid_without_rows_fits_every_width(width: int) -> None:
    for below in ((2, 5), ()):
        lines = grid(HEAD, [], width, right=FIGURES, below=below)
        assert all(cell_len(line) <= width for line in lines)


def test_grid_is_one_line_a_row_where_there_is_room() -> None:
    lines = grid(HEAD, [row("age"), row("zip")], 200, right=FIGURES, below=(2, 5))
    assert len(lines) == 4
    assert lines[2].startswith("age ")
    assert lines[2].endswith(REASON)


def test_grid_moves_the_last_columns_below_and_names_figures_there() -> None:
    middle = grid(HEAD, [row("age")], 80, right=FIGURES, below=(2, 5))
    assert middle[2].split()[:2] == ["age", "sensitive"]
    assert middle[3].strip() == f"████████████ {REASON}"
    tight = grid(HEAD, [row("admission_date")], NARROW, right=FIGURES, below=(2, 5))
    assert tight[3].strip() == "distinct 12,345, missing 0.7%, unique 100.0%"


def test_grid_gives_a_long_name_its_own_line() -> None:
    name = "n" * 40
    lines = grid(("method", "k", "loss"), [("sbca", "5", "0.1"), (name, "5", "0.2" * 10)], 60, right=("k", "loss"))
    assert name in lines
    assert lines[lines.index(name) + 1].startswith("  ")


def test_below_sixty_columns_every_row_is_a_block() -> None:
    lines = grid(HEAD, [row("age"), row("zip")], NARROW - 1, right=FIGURES, below=(2, 5))
    assert lines == blocks(HEAD, [row("age"), row("zip")], NARROW - 1)
    assert lines[0] == "age"
    assert lines[1] == "  role          sensitive"
    assert "" in lines
    assert lines[lines.index("") + 1] == "zip"


def test_letters_of_two_columns_count_twice() -> None:
    lines = facts([("疾病名称", "x"), ("age", "y")], 80)
    assert lines == ["疾病名称  x", "age       y"]


def test_no_rows_give_the_head() -> None:
    assert grid(("method", "k"), [], 80)[0] == "method  k"
    assert facts([], 80) == []
