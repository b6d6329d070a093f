"""Numbers, dates and kinds behind the texts."""

from __future__ import annotations

import pytest

from shoal.schema import Kind
from shoal.tables.values import guess_kind, normalise, parse_dates, parse_numbers


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "2", "-3.5", "1e3"], Kind.NUMERIC),
        (["02139", "10001"], Kind.CATEGORICAL),
        (["2020-01-01", "1999-12-31"], Kind.DATE),
        (["2020-02-30", "1999-12-31"], Kind.CATEGORICAL),
        (["F", "M"], Kind.CATEGORICAL),
        (["12", "12A", "7"], Kind.CATEGORICAL),
        ([], Kind.CATEGORICAL),
    ],
)
def test_kind_is_told_from_the_values(texts: list[str], kind: Kind) -> None:
    assert guess_kind(texts) == (kind, None)


def test_a_slip_among_numbers_is_pointed_at() -> None:
    """B15."""
    assert guess_kind([*map(str, range(20)), "unknown"]) == (Kind.NUMERIC, 20)


def test_numbers_are_told_apart_exactly() -> None:
    """B13, C12: 2^53 + 1 is not 2^53; 1 and 1.0 and -0.0 and 0 are one number each."""
    numbers, misfits = parse_numbers(["9007199254740993", "9007199254740992", "1", "1.0", "0", "-0.0"])
    assert misfits == []
    assert numbers[0] != numbers[1]
    assert numbers[2] == numbers[3]
    assert numbers[4] == numbers[5]


def test_near_equal_floats_stay_apart() -> None:
    """C11: equality is on the text of the number, not on its rounding."""
    numbers, _ = parse_numbers(["1.0", "1.0000000000000002"])
    assert numbers[0] != numbers[1]


@pytest.mark.parametrize("text", ["1e400", "NaN", "inf", "1_000", "0x1F", "٣", "", "1,5", " 1"])
def test_what_is_no_number_is_refused(text: str) -> None:
    """B13."""
    assert parse_numbers(["1", text])[1] == [1]


def test_dates_follow_the_declared_format_alone() -> None:
    """B14."""
    assert parse_dates(["2020-01-01", "01.02.2020", "2023-02-29"], "%Y-%m-%d")[1] == [1, 2]
    seconds, misfits = parse_dates(["01.02.2020", "02.02.2020", "0001-01-01"], "%d.%m.%Y")
    assert misfits == [2]
    assert seconds[1] - seconds[0] == 86400
    assert parse_dates(["0001-01-01", "9999-12-31"], "%Y-%m-%d")[1] == []


def test_normal_form_trims_and_composes() -> None:
    """C14."""
    assert normalise(" Jose\u0301 ") == "José"
    assert normalise("a\u00a0b") == "a\u00a0b"
