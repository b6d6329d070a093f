"""Curves of success over rows, one for each number of attributes: the picture of Morton's Figure 23."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.charts.charts import Chart, Series, lines
from shoal.evaluate.feasibility.probability import exact_chance, poisson_chance
from shoal.evaluate.feasibility.simulation import Feasibility, Urn, rows_needed

__all__ = ["chart_success"]

STEPS = (1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8)  # ten a decade (ISO 3)
ALMOST_NEVER, ALMOST_ALWAYS = 0.001, 0.999  # a curve is drawn between these chances


def chart_success(urns: Sequence[tuple[str, Urn]], k: int, answer: Feasibility | None = None) -> Chart:
    """Draw the chance of success over rows, a curve for each urn, and the simulated rate where there is one.

    A curve whose chance becomes high only beyond the search's reach is left out.
    """
    series = [Series(name, points) for name, urn in urns if (points := tuple(_curve(urn, k)))]
    told = [f"{name} {rows:,} rows" for name, urn in urns if (rows := rows_needed(urn, k)[0]) is not None]
    summary = f"Success means that every combination present has at least {k} rows. A chance of 0.95 takes: "
    summary += ("; ".join(told) or "more rows than were looked at") + "."
    if answer is not None and answer.rows is not None and answer.success_rate is not None:
        series.append(Series("simulated", ((answer.rows, answer.success_rate),)))
    return lines(f"Chance that a table is {k}-anonymous as it is", summary, series, x="rows", y="chance", log_x=True)


def _curve(urn: Urn, k: int) -> Iterator[tuple[float, float]]:
    """Give the chances at round numbers of rows, from the last that almost never succeeds to almost always."""
    first, last = (rows_needed(urn, k, chance)[0] for chance in (ALMOST_NEVER, ALMOST_ALWAYS))
    if first is None or last is None:
        return
    places = list(_round_numbers(first, last))
    for rows in places:
        exact = exact_chance(urn.grid, rows, k)
        yield rows, poisson_chance(urn.grid, rows, k) if exact is None else exact


def _round_numbers(first: int, last: int) -> Iterator[int]:
    """Give round numbers: the one before the first, those up to the last, and the one after it."""
    found = [0]
    for power in range(16):
        for step in STEPS:
            number = round(step * 10**power)
            if number > found[-1]:
                found.append(number)
    begin = max(i for i, number in enumerate(found) if number <= first)
    end = min((i for i, number in enumerate(found) if number >= last), default=len(found) - 1)
    yield from (number for number in found[begin : end + 1] if number)
