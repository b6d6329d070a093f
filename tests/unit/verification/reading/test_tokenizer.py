"""The verifier's tokenizer against Python's csv module, on random text fed in blocks of random size."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.tables.formats import writers
from shoal.verification.reading.tokenizer import Coder, Tokenizer

N_TEXTS = 4000
PIECES = ("a", "b", ",", ",", '"', '""', "\n", "\n", "\r", "\r\n", " ", "x,y", "é", ";")
SIZES = (1, 2, 3, 7, 50)


def blocks(text: bytes, chance: random.Random) -> Iterator[bytes]:
    place = 0
    while place < len(text):
        size = chance.choice(SIZES)
        yield text[place : place + size]
        place += size


def expected_rows(text: str, initial_space: bool) -> list[list[str]] | None:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=initial_space))
    except csv.Error:
        return None


def coded_rows(tokenizer: Tokenizer) -> list[list[str]]:
    columns = []
    for i in range(tokenizer.width):
        texts = [cell.decode() for cell in tokenizer.cells(i)]
        columns.append([texts[code] for code in np.frombuffer(tokenizer.codes(i), dtype=np.int32)])
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("initial_space", [False, True])
def test_random_text_is_split_as_by_the_csv_module(initial_space: bool) -> None:
    chance = random.Random(int(initial_space))
    for _ in range(N_TEXTS):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randrange(25)))
        rows = expected_rows(text, initial_space)
        tokenizer = Tokenizer(initial_space=initial_space)
        for block in blocks(text.encode(), chance):
            tokenizer.feed(block)
        tokenizer.finish()
        assert tokenizer.is_refused == (rows is None), text
        if rows is None:
            continue
        filled = [row for row in rows if row]
        assert tokenizer.blank == len(rows) - len(filled)
        if not filled:
            continue
        header, *data = filled
        full = [row for row in data if len(row) == len(header)]
        assert [name.decode() for name in tokenizer.names] == header
        assert (tokenizer.rows, tokenizer.ragged) == (len(data), len(data) - len(full))
        assert coded_rows(tokenizer) == full, text


def test_rows_taken_on_the_way_are_the_rows_of_the_whole_text() -> None:
    """A block may end inside a record, a cell or a quote; nothing is lost or repeated."""
    chance = random.Random(5)
    for _ in range(N_TEXTS):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randrange(40)))
        rows = expected_rows(text, False)
        tokenizer, taken = Tokenizer(), []
        for block in blocks(text.encode(), chance):
            tokenizer.feed(block)
            taken += tokenizer.take_rows()
        tokenizer.finish()
        taken += tokenizer.take_rows()
        if rows is not None:
            filled = [row for row in rows if row]
            full = [row for row in filled[1:] if len(row) == len(filled[0])]
            assert [[cell.decode() for cell in row] for row in taken] == full, text


def test_many_distinct_cells_are_taken_in_order() -> None:
    rows = [[str(n), str(n % 700), "x"] for n in range(30_000)]
    text = "a,b,c\n" + "".join(",".join(row) + "\n" for row in rows)
    tokenizer, taken = Tokenizer(), []
    for start in range(0, len(text), 65_537):
        tokenizer.feed(text[start : start + 65_537].encode())
        taken += tokenizer.take_rows()
    tokenizer.finish()
    taken += tokenizer.take_rows()
    assert [[cell.decode() for cell in row] for row in taken] == rows


@pytest.mark.parametrize(
    ("text", "fault", "line"),
    [
        (b"a,b\n1,2\n3,\0\n", "nul_line", 3),
        (b"a,b\r\n1,2\n", "return_line", 1),
        (b'a,b\n1,2"x\n', "bare_quote_line", 2),
        (b'a,b\n"1,2\n3,4\n', "open_quote_line", 2),
        (b'a,b\n"1"x,2\n', "open_quote_line", 2),
        (b'a,b\n1,2\n"1",2\n1,2\n', "needless_quote_line", 3),
        (b'a,"b"\n1,2\n', "needless_quote_line", 1),
        (b'a,b\n1,""\n', "needless_quote_line", 2),
        (b'a,b\n"",1\n', "needless_quote_line", 2),
        (b'a,b\n1," "\n', "needless_quote_line", 2),
        (b'a,b\n1,"x;y"\n', "needless_quote_line", 2),
        (b'a\n""\nb\n""\n', "needless_quote_line", 0),
        (b'a,"b,"\n"""","\r"\n"x\ny",1\n', "needless_quote_line", 0),
    ],
)
def test_faults_are_found_with_their_line(text: bytes, fault: str, line: int) -> None:
    tokenizer = Tokenizer()
    tokenizer.feed(text)
    tokenizer.finish()
    assert getattr(tokenizer, fault) == line


ODD_CELLS = [
    "",
    " ",
    " a",
    "a ",
    "a,b",
    'a"b',
    '"',
    "a\nb",
    "a\rb",
    "a;b",
    "#a",
    "'a'",
    "\t",
    "NA",
    "null",
    "\0",
    "\\.",
    "é",
]


@pytest.mark.parametrize("size", SIZES)
def test_the_quotes_of_a_release_are_needed(tmp_path: Path, size: int) -> None:
    """What the tokenizer calls needless is exactly what the writer leaves out."""
    pairs = [(one, other) for one in ODD_CELLS for other in ODD_CELLS]
    wide = pl.DataFrame(
        {"a b": [one for one, _ in pairs], 'q"': [other for _, other in pairs], ",": ["x"] * len(pairs)}
    )
    for number, table in enumerate((wide, wide.select("a b"), wide.select('q"'))):
        writers.write_csv(table, tmp_path / f"{number}.csv")
        raw = (tmp_path / f"{number}.csv").read_bytes()
        tokenizer = Tokenizer()
        for start in range(0, len(raw), size):
            tokenizer.feed(raw[start : start + size])
        tokenizer.finish()
        assert tokenizer.needless_quote_line == 0
        assert tokenizer.rows == len(pairs)


def test_a_cell_that_is_too_long_is_refused() -> None:
    tokenizer = Tokenizer(most_bytes=100)
    for _ in range(3):
        tokenizer.feed(b"a" * 60)
    assert tokenizer.long_line == 1
    assert tokenizer.is_refused


def test_texts_are_coded_by_first_occurrence() -> None:
    coder = Coder()
    texts = [str(n % 5000) for n in range(20_000)] + ["", "é", ""]
    coder.add(texts[:100])
    coder.add(texts[100:])
    distinct = [cell.decode() for cell in coder.cells()]
    assert distinct == list(dict.fromkeys(texts))
    assert [distinct[code] for code in np.frombuffer(coder.codes(), dtype=np.int32)] == texts
