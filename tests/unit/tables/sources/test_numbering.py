"""Numbers of cells: one for each distinct text, however many blocks it is met in."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.tables.sources import numbering
from shoal.tables.sources.numbering import Numbering


def number_blocks(cells: pl.Series, size: int) -> tuple[Numbering, np.ndarray]:
    """Number the cells of a column block by block."""
    own = Numbering()
    return own, np.concatenate([own.number(cells[first : first + size]) for first in range(0, len(cells), size)])


@pytest.mark.parametrize("n_hashes", [0, 1, 50])
def test_cells_have_one_number_each(n_hashes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if n_hashes:  # many texts share a hash
        hashes = numbering._hashes
        monkeypatch.setattr(numbering, "_hashes", lambda texts: hashes(texts) % np.uint64(n_hashes))
    draw = np.random.default_rng(3)
    cells = pl.Series([f"{number:x}" for number in draw.integers(0, 400, 2000).tolist()] + ["", "é", " a"])
    own, numbers = number_blocks(cells, 150)
    assert own.texts.gather(numbers).equals(cells)
    assert len(own) == cells.n_unique()
    assert own.number(cells).tolist() == numbers.tolist()
    texts, ranks = own.ranks()
    assert texts.equals(cells.unique().sort())
    assert texts.gather(ranks[numbers]).equals(cells)
    assert own.numbers_of(texts).to_list() == [int(np.flatnonzero(ranks == i)[0]) for i in range(len(own))]
    assert own.numbers_of(pl.Series([texts[3], "no cell"])).to_list() == [int(np.flatnonzero(ranks == 3)[0]), -1]


def test_texts_that_were_handed_out_stay_as_they_are() -> None:
    own = Numbering()
    own.number(pl.Series(["b", "a"]))
    texts = own.texts
    own.number(pl.Series(["c"]))
    assert len(texts) == 2
    assert len(own.texts) == 3
