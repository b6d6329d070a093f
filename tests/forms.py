"""Forms in which real files write numbers, dates, booleans and ordered categories, each with its meaning.

The meaning is computed here, apart from shoal: `value(i)` is a number, a moment or a rank, and `text(i)` is how the
form writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

FIRST = datetime(2016, 1, 1, 0, 47, 36)
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905 (easier to read)


@dataclass(frozen=True)
class Form:
    """A form of cells.

    Attributes:
        kind: The kind that it has.
        value: The value behind an integer; larger integers have larger values.
        text: A value as the form writes it.
        most: The largest integer, from 0.
        settings: What has to be declared; nothing if the form is found in the cells.
    """

    kind: str
    value: Callable[[int], Any]
    text: Callable[[Any], str]
    most: int = 400
    settings: dict[str, Any] = field(default_factory=dict)

    def cell(self, i: int) -> str:
        """Return the text behind an integer."""
        return self.text(self.value(i))


def moments(step: timedelta) -> Callable[[int], datetime]:
    return lambda i: FIRST + i * step


def half(hour: int) -> str:
    return f"{(hour + 11) % 12 + 1:02}"


HOURS, DAYS = moments(timedelta(hours=5, seconds=7)), moments(timedelta(days=3))
DAY = datetime(1900, 1, 1)
FORMS = {
    "iso date": Form("date", lambda i: datetime(2016, 1, 1) + timedelta(days=i), lambda v: v.date().isoformat()),
    "iso with a blank": Form("date", HOURS, lambda v: v.isoformat(" ")),
    "iso with T": Form("date", HOURS, lambda v: v.isoformat()),
    "iso in UTC": Form("date", HOURS, lambda v: v.isoformat() + "Z"),
    "slashes": Form("date", HOURS, lambda v: f"{v:%Y/%m/%d %H:%M:%S}"),
    "month first": Form(
        "date", lambda i: DAYS(i).replace(second=0), lambda v: f"{v:%m/%d/%Y} {half(v.hour)}:{v:%M %p}"
    ),
    "not padded": Form(
        "date", lambda i: DAYS(i).replace(second=0), lambda v: f"{v.month}/{v.day}/{v.year} {v.hour}:{v:%M}"
    ),
    "points": Form("date", lambda i: DAYS(i).replace(hour=0, minute=0, second=0), lambda v: f"{v:%d.%m.%Y}"),
    "day first": Form("date", lambda i: DAYS(i).replace(second=0), lambda v: f"{v:%d/%m/%Y %H:%M}"),
    "month names": Form(
        "date", lambda i: datetime(2000 + i // 12, i % 12 + 1, 1), lambda v: f"{MONTHS[v.month - 1]}-{v.year}"
    ),
    "months": Form("date", lambda i: datetime(2000 + i // 12, i % 12 + 1, 1), lambda v: f"{v:%Y-%m}"),
    "times": Form("date", lambda i: DAY + timedelta(minutes=i), lambda v: f"{v:%H:%M}", most=1439),
    "seconds": Form("date", lambda i: DAY + timedelta(seconds=i * 37), lambda v: f"{v:%H:%M:%S}", most=2000),
    "length": Form("numeric", lambda i: 100 + i, lambda v: f"{v} cm"),
    "dollars": Form("numeric", lambda i: 500 * i + 1000, lambda v: f"${v:,}"),
    "cents": Form("numeric", lambda i: 125 * i + 5, lambda v: f"${v // 100:,}.{v % 100:02}"),
    "euros": Form("numeric", lambda i: 12550 * i + 5, lambda v: f"€ {v // 100:,}".replace(",", ".") + f",{v % 100:02}"),
    "share": Form("numeric", lambda i: i + 1, lambda v: f"{v}%"),
    "thousands": Form("numeric", lambda i: 995_000 + i * 777, lambda v: f"{v:,}"),
    "duration": Form(
        "numeric", lambda i: (i + 1) * 3661, lambda v: f"P{v // 86400}DT{v // 3600 % 24}H{v // 60 % 60}M{v % 60}S"
    ),
    "boolean": Form("boolean", lambda i: i % 2, lambda v: ("No", "Yes")[v], most=1),
    "declared boolean": Form("boolean", lambda i: i % 2, str, most=1, settings={"boolean": ["x"]}),
    "ordered": Form(
        "ordered",
        lambda i: i % 5,
        lambda v: ("XS", "S", "M", "L", "XL")[v],
        most=4,
        settings={"ordered": {"x": ["XS", "S", "M", "L", "XL"]}},
    ),
}
