"""Chart of the probability of success over the number of rows, one curve per urn, as in [S1] Figure 23."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.charts.charts import Chart, Series, lines
from shoal.evaluate.feasibility.probability import exact_chance, poisson_chance
from shoal.evaluate.feasibility.simulation import Feasibility, Urn, rows_needed

__all__ = ["chart_success"]

STEPS = (1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8)  # ten per decade (ISO 3)
ALMOST_NEVER, ALMOST_ALWAYS = 0.001, 0.999  # probabilities between which a curve is drawn


def chart_success(urns: Sequence[tuple[str, Urn]], k: int, answer: Feasibility | None = None) -> Chart:
    """Draw the probability of success over the number of rows.

    Args:
        urns: Names of curves and what their rows are drawn from. A curve that reaches a high probability only beyond
            the limit of the search is left out.
        k: Rows that each combination of values must have.
        answer: A simulation, whose success rate is drawn as a point.
    """
    series = [Series(name, points) for name, urn in urns if (points := tuple(_curve(urn, k)))]
    needs = [f"{name} {rows:,} rows" for name, urn in urns if (rows := rows_needed(urn, k)[0]) is not None]
    summary = f"Success means that every combination of values in the table has at least {k} rows. "
    summary += f"Rows for a probability of 0.95: {'; '.join(needs) or 'more than the search tries'}."
    if answer is not None and answer.rows is not None and answer.success_rate is not None:
        series.append(Series("simulated", ((answer.rows, answer.success_rate),)))
    title = f"Probability that a table is {k}-anonymous without recoding"
    return lines(title, summary, series, x="rows", y="probability", log_x=True)


def _curve(urn: Urn, k: int) -> Iterator[tuple[float, float]]:
    """Yield the probabilities at round numbers of rows, from almost never to almost always."""
    first, last = (rows_needed(urn, k, chance)[0] for chance in (ALMOST_NEVER, ALMOST_ALWAYS))
    if first is None or last is None:
        return
    for rows in _round_numbers(first, last):
        exact = exact_chance(urn.grid, rows, k)
        yield rows, poisson_chance(urn.grid, rows, k) if exact is None else exact


def _round_numbers(first: int, last: int) -> Iterator[int]:
    """Yield the round numbers that enclose the range from first to last."""
    numbers = [0]
    for power in range(16):
        for step in STEPS:
            number = round(step * 10**power)
            if number > numbers[-1]:
                numbers.append(number)
    begin = max(i for i, number in enumerate(numbers) if number <= first)
    end = min((i for i, number in enumerate(numbers) if number >= last), default=len(numbers) - 1)
    yield from (number for number in numbers[begin : end + 1] if number)
