"""Figures of a report in words, and the rounding and folding that keep public figures from revealing small counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from shoal.encoding.ends import ROUND, SAFE
from shoal.errors import Note, counted
from shoal.metrics import Measures
from shoal.metrics.extent import DAY, CenterFigures, ColumnExtent
from shoal.metrics.singled import Singled
from shoal.models.thresholds import round_up

if TYPE_CHECKING:
    from shoal.release.release import Request
    from shoal.schema import Schema

__all__ = [
    "HIDDEN",
    "NOT_TRUE",
    "band",
    "center_sentences",
    "center_words",
    "chance",
    "coding_words",
    "ends_json",
    "ends_sentence",
    "ends_words",
    "extent_words",
    "fold_rare",
    "hide_small",
    "limit_words",
    "loss_words",
    "percent",
    "rounded",
    "sized",
    "squares_words",
    "unit",
    "width_words",
]

HIDDEN = "<k"
NOT_TRUE = "centres of groups, not true of each row"
CURRENCIES = ("$", "€", "£", "¥")  # written before the number
# Up to this many days, the length of the unit in days, and its name.
UNITS = (
    (0.125, 1 / 1440, "minute"),
    (1, 1 / 24, "hour"),
    (60, 1.0, "day"),
    (730, 30.4375, "month"),
    (float("inf"), 365.25, "year"),
)


def hide_small(count: int, k: int) -> int | str:
    """Return a count as it may be published: "<k" for 1 to k - 1."""
    return HIDDEN if 0 < count < k else count


def fold_rare(counted: Sequence[tuple[str, int]], k: int, most: int) -> tuple[list[tuple[str, int]], int, int]:
    """Keep the most frequent names and fold the others into one total.

    No count below k is shown or can be derived from the others: the folded names have at least k rows together, and a
    single name with fewer than k rows is never folded on its own.

    Args:
        counted: Names and their rows.
        k: Smallest count that may be shown.
        most: Largest number of names to show.

    Returns:
        The names shown with their rows, the number of folded names, and the rows of the folded names.

    >>> fold_rare([("a", 9), ("b", 7), ("c", 2)], k=5, most=10)
    ([('a', 9)], 2, 9)
    """
    ranked = sorted(counted, key=lambda pair: (-pair[1], pair[0]))
    frequent = [pair for pair in ranked if pair[1] >= k][:most]
    other_values = ranked[len(frequent) :]
    while frequent and 0 < sum(rows for _, rows in other_values) < k:
        other_values.append(frequent.pop())
    rows = sum(rows for _, rows in other_values)
    return (frequent, len(other_values), rows) if rows == 0 or rows >= k else (frequent, 0, 0)


def rounded(share: float) -> float:
    """Round a share to two significant digits: enough to judge it, too few to derive the range of the original."""
    return float(f"{share:.2g}")


def percent(share: float) -> str:
    """Return a share in per cent with two significant digits; a share below 1 never reads 100%.

    >>> percent(0.1234), percent(0.0172), percent(0), percent(0.996), percent(1)
    ('12%', '1.7%', '0%', 'over 99%', '100%')
    """
    if 0.99 < share < 1:
        return "over 99%"
    if 0 < share < 0.0001:
        return "below 0.01%"
    return f"{share * 100:.3g}%" if share == 1 else f"{share * 100:.2g}%"


def band(share: float) -> str:
    """Return a share of a group as a band; its percentage would reveal the count in a small group.

    >>> band(0.4), band(0.6), band(0.9), band(1)
    ('at most half', 'over half', 'over 80%', 'all')
    """
    return "all" if share == 1 else "over 80%" if share > 0.8 else "over half" if share > 0.5 else "at most half"


def chance(share: Fraction) -> str:
    """Return a probability in per cent, rounded up, so that it never looks smaller than it is.

    From 1% on it has one decimal, below two significant digits.

    >>> chance(Fraction(1, 11)), chance(Fraction(1, 5)), chance(Fraction(973, 5000)), chance(Fraction(1, 30000))
    ('9.1%', '20%', '19.5%', '0.0034%')
    """
    hundredfold, digits = share * 100, 1
    while 0 < hundredfold < Fraction(10, 10**digits):
        digits += 1
    return f"{round_up(hundredfold, digits)}%"


def sized(count: int, counts: str) -> str:
    """Return a number of rows or people.

    Args:
        count: The number.
        counts: What is counted, "rows" or "persons".

    >>> sized(1, "rows"), sized(5, "persons")
    ('1 row', '5 people')
    """
    return counted(count, "person", "people") if counts == "persons" else counted(count, "row")


def unit(counts: str) -> str:
    """Return the word for what is counted: "rows" or "people"."""
    return "people" if counts == "persons" else counts


def width_words(width: float, *, dates: bool) -> str:
    """Return the width of a range of numbers, or of dates (given in seconds) in days, months or years.

    >>> width_words(9.04, dates=False), width_words(40 * DAY, dates=True), width_words(3653 * DAY, dates=True)
    ('9', '40 days', '10 years')
    """
    if not dates:
        return f"{width:,.0f}" if width >= 1000 else f"{width:.2g}" if width < 10 else f"{width:.3g}"
    days = width / DAY
    length, name = next((length, name) for limit, length, name in UNITS if days < limit)
    number = f"{days / length:.1f}".removesuffix(".0") if days / length < 10 else f"{days / length:.0f}"
    return f"{number} {name}{'' if number == '1' else 's'}"


def coding_words(schema: Schema) -> list[str]:
    """Say what recoded cells mean, column by column."""
    return [
        f"{column.name}: {' and '.join(coding.words for coding in column.codings if coding.text)}"
        for column in schema.released
        if any(coding.text for coding in column.codings)
    ]


def limit_words(schema: Schema) -> list[str]:
    """Say which limits the cells keep to, column by column."""
    names = {"max_width": "at most {} wide", "finest": "not finer than {}", "coarsest": "not coarser than {}"}
    return [
        f"{column.name}: "
        + ", ".join(
            names.get(field, "every cell one of {}").format(text)
            for field, text in column.limits._asdict().items()
            if text
        )
        for column in schema.qi
        if any(column.limits)
    ]


def extent_words(extents: Mapping[str, ColumnExtent]) -> str:
    """Describe how wide the cells of each column are on average, categories in values.

    >>> extent_words({"zip": ColumnExtent(4.12, None, "codes"), "born": ColumnExtent(9, 1168.8, "days")})
    'zip: 4.1 codes; born: 3.2 years'
    >>> extent_words({"age": ColumnExtent(5.1, 7, ""), "sex": ColumnExtent(1.0, None, "values")})
    'age: 7 wide; sex: exact'
    """
    return "; ".join(f"{name}: {words}" for name, extent in extents.items() if (words := _mean_cell(extent)))


def _mean_cell(extent: ColumnExtent) -> str:
    """Describe the mean cell of a column; empty if its extent is not known."""
    if extent.mean_width == 0 or (extent.mean_width is None and extent.mean_values == 1):
        return "exact"
    if extent.mean_width is not None:
        is_date = extent.unit == "days"
        width = width_words(extent.mean_width * (DAY if is_date else 1), dates=is_date)
        if extent.unit in CURRENCIES:
            return f"{extent.unit}{width}"
        return width if is_date else f"{width} {extent.unit or 'wide'}"
    if extent.mean_values is None:
        return ""
    if f"{extent.mean_values:.3g}" == "1":
        return f"just over 1 {extent.unit.removesuffix('s')}"
    number = f"{extent.mean_values:.3g}" if extent.mean_values < 2 else width_words(extent.mean_values, dates=False)
    return f"{number} {extent.unit}"


def loss_words(measures: Measures) -> str:
    """Return the loss in per cent; a weighted one says so and never stands alone."""
    if not measures.weighted:
        return f"{measures.ncp:.2%}"
    return f"{measures.ncp_unweighted:.2%} ({measures.ncp:.2%} weighted)"


def squares_words(sse: float | None) -> dict[str, list[str]]:
    """Say how much of the variance of the columns is lost inside groups, if that is known."""
    return {} if sse is None else {"squares (SSE)": [f"{sse:.4f} of the variance of all columns lies inside groups"]}


def center_words(centers: Mapping[str, CenterFigures]) -> dict[str, list[str]]:
    """Say what centres keep of each column: means, standard deviations, and values that no row shows any more.

    >>> center_words({"age": CenterFigures(70, 60, None, 38.5, 38.54, 13, 12.35, 0.95)})["standard deviation"]
    ['age 0.950 of the original']
    """
    means, deviations, vanished = [], [], []
    for name, each in centers.items():
        if each.mean_before and each.mean_after is not None:
            means.append(f"{name} {100 * (each.mean_after / each.mean_before - 1):+.2f}%")
        if each.sd_ratio is not None:
            deviations.append(f"{name} {each.sd_ratio:.3f} of the original")
        if each.vanished:
            vanished.append(f"{name} {each.vanished:,} of {each.values_before:,}")
    none = [] if vanished or not any(each.vanished is not None for each in centers.values()) else ["none"]
    return {"mean": means, "standard deviation": deviations, "vanished values": vanished or none}


def center_sentences(request: Request, measures: Measures | None, names: str, smallest: str) -> list[str]:
    """Say what centres show, what they do not, and what follows from a mean.

    Args:
        request: What was requested.
        measures: What they keep of the original; None where that is not published.
        names: The quasi-identifiers.
        smallest: The size of the smallest group.
    """
    sentences = [
        f"The cells of {names} are shared by at least {smallest}, so nobody can distinguish these by them.",
        f"They are not true of each row: a number or date is the {request.center} of its group, any other cell its "
        "most frequent value.",
    ]
    if request.center == "mean":
        sentences.append(
            "Whoever knows all values behind a mean but one can work out that one, up to the rounding of the mean."
        )
        if request.spread:
            sentences.append("With the standard deviation they can work out the last two; a group of two shows both.")
    words = {} if measures is None else center_words(measures.centers)
    return sentences + [f"{name[0].upper()}{name[1:]}: {'; '.join(each)}." for name, each in words.items() if each]


def ends_sentence(request: Request, k: int) -> str:
    """Say which ends of ranges were moved; nothing if there are no ranges."""
    if request.has_centers:
        return ""
    choice = request.ends
    sentences = {
        SAFE: f"An end of a range that fewer than {k} rows or people have was moved outwards to a round value.",
        ROUND: "Ends of ranges were moved outwards to round values.",
    }
    return sentences.get(choice or "", "Ends of ranges are values of the table.")


def ends_words(singled: Singled, request: Request, measures: Measures) -> Note:
    """Say which ends of ranges were moved, what that costs, and how many rows find their own value as an end."""
    if request.ends in (SAFE, ROUND):
        exact = f"with exact ends, the {'weighted ' * measures.weighted}loss would be {measures.ncp - singled.cost:.2%}"
        return Note("", f"{request.ends}; {{ends:end}} moved outwards; {exact}", counts={"ends": singled.moved_ends})
    text = f"exact; {{rows:row finds its|rows find their}} own value there, which fewer than {request.k} have"
    return Note("", text, counts={"rows": singled.rows_at_rare_ends})


def ends_json(singled: Singled, request: Request, ncp: float) -> dict[str, Any]:
    """Return what is known about the ends of ranges and the members of sets; not for publication."""
    return {
        "choice": request.ends,
        "ncp_exact": ncp - singled.cost,
        **singled.as_dict(),
        "columns": {name: column.as_dict() for name, column in singled.columns.items()},
    }
