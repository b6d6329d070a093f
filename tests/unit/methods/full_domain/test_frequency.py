"""Roll-up, keys that outgrow 64 bits, and groups of rows that differ in a sensitive column alone."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.methods.full_domain.frequency import Counted, FrequencySet, MemoryEngine
from tests.contract.subjects import random_sheet
from tests.naive import frequency


def random_set(seed: int, cards: list[int], n_qi: int, m: int = 200) -> FrequencySet:
    draw = np.random.default_rng(seed)
    codes = np.column_stack([draw.integers(0, card, m) for card in cards]).astype(np.int32)
    names = [f"c{i}" for i in range(len(cards))]
    return FrequencySet.counted(names, n_qi, cards, codes, draw.integers(1, 9, m))


def as_pairs(found: FrequencySet) -> list[tuple[tuple[int, ...], int]]:
    return list(zip(map(tuple, found.codes.tolist()), found.counts.tolist(), strict=True))


@pytest.mark.parametrize("cards", [[3], [4, 2, 5], [6, 1, 3, 2], [7] * 30])
def test_roll_up_agrees_with_the_twin(cards: list[int], seed: int) -> None:
    n_qi = max(1, len(cards) - 1)
    finest = random_set(seed, cards, n_qi)
    draw = np.random.default_rng(seed + 1)
    maps = [draw.integers(0, max(1, card - 1), card).astype(np.int32) for card in cards[:n_qi]]
    given = [None if i % 3 == 2 else level for i, level in enumerate(maps)]
    rolled = finest.rolled(given)
    rows = list(map(tuple, finest.codes.tolist()))
    plain = [None if level is None else level.tolist() for level in given]
    assert as_pairs(rolled) == frequency.rolled(rows, finest.counts.tolist(), plain)
    assert rolled.n_rows == finest.n_rows
    assert rolled.codes.dtype == np.int32
    assert rolled.codes.flags.c_contiguous


def test_many_wide_columns_do_not_overflow() -> None:
    """40 columns of a million codes: the keys would need 800 bits."""
    cards = [1_000_000] * 40
    finest = random_set(0, cards, 40, m=500)
    assert as_pairs(finest) == sorted(as_pairs(finest))
    assert len(finest.counts) == 500
    top = [np.zeros(1_000_000, dtype=np.int32)] * 40
    assert as_pairs(finest.rolled(top)) == [((0,) * 40, finest.n_rows)]


def test_groups_hold_the_rows_that_differ_in_sensitive_columns_alone() -> None:
    codes = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 1, 1]], dtype=np.int32)
    found = FrequencySet.counted(["a", "b", "ill"], 2, [2, 2, 2], codes, np.array([5, 1, 2, 4]))
    assert found.starts.tolist() == [0, 2, 3]
    assert found.sizes.tolist() == [7, 4, 1]
    assert as_pairs(found.kept([1])) == [((0, 0), 3), ((0, 1), 5), ((1, 1), 4)]


def test_memory_engine_counts_every_row(seed: int) -> None:
    sheet = random_sheet(seed)
    engine = MemoryEngine(sheet.encoded)
    plain = engine.finest()
    assert plain.counts.tolist() == sheet.encoded.counts.tolist()
    full = engine.finest(Counted(("disease",)))
    assert full.columns == (*sheet.qi, "disease")
    assert full.n_rows == sheet.n_rows
    assert full.sizes.tolist() == plain.counts.tolist()
    shown = [engine.sensitive("disease").texts[code] for code in full.codes[:, -1].tolist()]
    counted = {text: int(full.counts[[s == text for s in shown]].sum()) for text in set(shown)}
    assert counted == {text: sheet.columns["disease"].count(text) for text in set(sheet.columns["disease"])}


def test_roll_up_needs_a_map_for_each_quasi_identifier() -> None:
    with pytest.raises(ValueError, match="1 maps for 2"):
        random_set(0, [2, 2], 2).rolled([None])
