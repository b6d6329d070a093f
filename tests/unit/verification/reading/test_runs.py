from __future__ import annotations

import random

import numpy as np
import pytest

from shoal.verification.reading.parquet.runs import read_runs
from tests.naive import runs as naive


def head(number: int) -> bytes:
    """Write an unsigned integer, seven bits per byte."""
    *rest, last = [number >> shift & 127 for shift in range(0, max(1, number.bit_length()), 7)]
    return bytes([*(each | 128 for each in rest), last])


def draw_runs(rng: random.Random, width: int, n_values: int) -> tuple[bytes, int]:
    """Write runs of random integers below `n_values`; return them with the number of integers."""
    content, count = b"", 0
    for _ in range(rng.randint(0, 4)):
        if rng.random() < 0.5:
            length = rng.randint(1, 300)
            content += head(length << 1) + rng.randrange(n_values).to_bytes((width + 7) // 8, "little")
        else:
            eights = rng.randint(1, 3)
            length = 8 * eights
            bits = sum(rng.randrange(n_values) << width * place for place in range(length))
            content += head(eights << 1 | 1) + bits.to_bytes(eights * width, "little")
        count += length
    return content, count


def damage(rng: random.Random, content: bytes, count: int) -> tuple[bytes, int]:
    """Change a byte, the number of bytes, or the number of integers."""
    places = bytearray(content)
    choice = rng.randrange(5)
    if choice == 0 and places:
        places[rng.randrange(len(places))] = rng.randrange(256)
    elif choice == 1:
        places += rng.randbytes(rng.randint(1, 3))
    elif choice == 2:
        places = places[: rng.randrange(len(places) + 1)]
    else:
        count = max(0, count + rng.randint(-9, 9))
    return bytes(places), count


@pytest.mark.parametrize("width", [0, 1, 2, 3, 6, 7, 8, 9, 13, 16, 17, 24, 31, 32])
def test_runs_are_read_as_by_the_twin(width: int) -> None:
    rng = random.Random(width)
    refused = 0
    for _ in range(300):
        n_values = min(1 << width, rng.randint(1, 40))
        content, count = damage(rng, *draw_runs(rng, width, n_values))
        uses = np.zeros(n_values, dtype=np.int64)
        try:
            numbers, filling = naive.read_runs(content, width, count)
        except ValueError:
            numbers, filling = [n_values], []
        if any(number >= n_values for number in numbers + filling):
            refused += 1
            with pytest.raises(ValueError, match=r"bits|run|bytes"):
                read_runs(content, width, count, uses)
        else:
            assert read_runs(content, width, count, uses) == 0
            if width < 32:
                kept = np.full(count, -1, dtype=np.int32)
                read_runs(content + rng.randbytes(rng.randint(0, 3)), width, count, np.zeros_like(uses), kept)
                assert kept.tolist() == numbers
            assert uses.tolist() == [numbers.count(number) for number in range(n_values)]
            if not any(filling):
                assert read_runs(content, width, count, None) == sum(numbers)
    assert 0 < refused < 300


def test_integers_of_more_than_32_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="too wide"):
        read_runs(b"\x03" + bytes(33), 33, 8, None)


def test_kept_integers_have_at_most_31_bits_and_a_place_each() -> None:
    with pytest.raises(ValueError, match="too wide"):
        read_runs(b"\x03" + bytes(32), 32, 8, None, np.zeros(8, dtype=np.int32))
    with pytest.raises(ValueError, match="places"):
        read_runs(b"\x10\x01", 8, 8, None, np.zeros(7, dtype=np.int32))


def test_what_stands_behind_kept_integers_is_ignored() -> None:
    kept = np.zeros(3, dtype=np.int32)
    assert read_runs(b"\x09\xfd\xff\xff\xff\xff", 1, 3, None, kept) == 2
    assert kept.tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="bits that are not values"):
        read_runs(b"\x09\xfd\xff\xff\xff\xff", 1, 3, None)


def test_filling_of_levels_is_zero() -> None:
    assert read_runs(b"\x03\x07", 1, 3, None) == 3
    with pytest.raises(ValueError, match="bits that are not values"):
        read_runs(b"\x03\x0f", 1, 3, None)
