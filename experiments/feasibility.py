"""Table 12 and Figure 23 of Morton's thesis: the chance that random binary attributes are k-anonymous unchanged.

python -m experiments.feasibility            writes experiments/feasibility.md and feasibility.svg
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from benchmarks.reference import measure_unit
from experiments.pages import FULL, Scope, new_figure, read_scope, write_table
from shoal.evaluate.confidence import of_share
from shoal.evaluate.feasibility.simulation import Feasibility, Urn, rows_needed, simulate

# Table 12: attributes, k, rows, repetitions, and the number of successes, from the printed rate.
PRINTED = [
    (3, 3, 50, 50, 34),
    (3, 3, 75, 50, 50),
    (3, 5, 75, 50, 37),
    (3, 5, 100, 50, 50),
    (7, 5, 1_200, 500, 0),
    (7, 5, 7_500, 500, 500),
    (12, 5, 30_000, 500, 0),
    (12, 5, 100_000, 500, 500),
    (15, 5, 750_000, 200, 192),
    (18, 5, 2_000_000, 200, 0),
]
Row = tuple[int, int, int, int, int]
MOST_IN_SAMPLE = 7  # attributes
CURVES = (3, 7, 12, 15, 18)
KS = (3, 5, 10)


def scoped(rows: Sequence[Row], scope: Scope) -> list[Row]:
    """Return the rows of the table that are simulated; a sample leaves out the large ones."""
    return [row for row in rows if not scope.is_sample or row[0] <= MOST_IN_SAMPLE]


def run_all(scope: Scope) -> list[tuple[Feasibility, float]]:
    """Simulate each row of the table; return the answers with their CPU seconds."""
    answers = []
    for attributes, k, rows, repetitions, _ in scoped(PRINTED, scope):
        start = time.process_time()
        answer = simulate(Urn.binary(attributes), k=k, rows=rows, repetitions=repetitions)
        answers.append((answer, time.process_time() - start))
    return answers


def interval_words(successes: int, repetitions: int) -> str:
    """Format Wilson's interval."""
    low, high = of_share(successes / repetitions, repetitions)
    return f"{low:.3f} to {high:.3f}"


def draw(scope: Scope, answers: list[tuple[Feasibility, float]]) -> None:
    """Draw the exact curves for k = 5, with the printed and the simulated rates as points with our intervals."""
    from shoal.evaluate.feasibility.probability import exact_chance

    figure, axis = new_figure(6.4, 3.6)
    for attributes in CURVES[: len(CURVES) if len(answers) == len(PRINTED) else 2]:
        urn = Urn.binary(attributes)
        last = rows_needed(urn, 5, 0.999)[0]
        assert last is not None
        sizes = [round(last * 10 ** (-step / 40)) for step in range(40, -9, -1)]
        axis.plot(sizes, [exact_chance(urn.grid, rows, 5) for rows in sizes], label=f"{attributes} attributes")
    for (answer, _), (_, k, rows, repetitions, successes) in zip(answers, PRINTED, strict=False):
        if k == 5:
            assert answer.success_rate is not None
            assert answer.interval is not None
            low, high = answer.interval
            axis.errorbar(
                rows,
                answer.success_rate,
                # Rounding can leave an end of the interval on the wrong side of the rate.
                yerr=[[max(0.0, answer.success_rate - low)], [max(0.0, high - answer.success_rate)]],
                fmt="k.",
                capsize=2,
                linewidth=0.8,
            )
            axis.plot(rows, successes / repetitions, "kx", markersize=6)
    axis.plot([], [], "k.", label="simulated here, 95 % interval")
    axis.plot([], [], "kx", label="printed in Table 12")
    axis.set(xscale="log", xlabel="rows", ylabel="success, k = 5", ylim=(-0.03, 1.03))
    axis.legend(fontsize=6.5, loc="center left", bbox_to_anchor=(1.0, 0.5))
    scope.save(figure, "feasibility.svg")


def page(answers: list[tuple[Feasibility, float]], unit: float) -> str:
    """Write the page as Markdown."""
    rows = []
    for (answer, _), (attributes, k, n, repetitions, successes) in zip(answers, PRINTED, strict=False):
        assert answer.exact is not None
        rows.append(
            [
                f"{attributes}/{k}/{n:,}/{repetitions}",
                f"{successes / repetitions:.2f}",
                interval_words(successes, repetitions),
                f"{answer.success_rate:.3f}",
                interval_words(answer.successes, repetitions),
                f"{answer.exact:.4f}",
                f"{answer.poisson:.4f}",
            ]
        )
    head = ["attributes/k/rows/repetitions", "printed", "its interval", "simulated", "its interval", "exact", "Poisson"]
    needed = write_table(
        ["attributes", "combinations", *(f"k = {k}" for k in KS)],
        [
            [a, f"{2**a:,}", *(f"{rows_needed(Urn.binary(a), k)[0]:,}" for k in KS)]
            for a in ((*CURVES, 20) if len(answers) == len(PRINTED) else CURVES[:2])
        ],
    )
    return TEXT.format(
        table=write_table(head, rows),
        needed=needed,
        large=rows_needed(Urn.binary(18), 5)[0],
        units=answers[-1][1] / unit,
        seconds=answers[-1][1],
    )


TEXT = """\
# Feasibility, simulated and exact

`python -m experiments.feasibility` repeats Table 12 and Figure 23 of Morton's thesis: attributes of two equally
likely values. A table succeeds if every combination that occurs has at least k rows. Intervals are Wilson's, 95 %.
The exact chance is that of the multinomial distribution; the Poisson chance treats combinations as independent.

![Success over rows](feasibility.svg)

## Table 12

{table}

- **The figures of the thesis hold.** The interval of every printed rate contains the exact chance, and so does that
  of every rate simulated here. Printed, simulated and exact rates differ because 50 or 200 tables cannot determine a
  rate more precisely.
- **A printed 100 % is not certainty.** With three attributes, 75 rows fail once in 42 tables at k = 3, and 100 rows
  once in 36 at k = 5. The chance that 50 tables show no failure is three in ten, and one in four. Likewise, the 0 %
  of seven attributes and 1,200 rows is one table in 474.
- **Seven attributes need far fewer rows than 7,500**, which the thesis gives as the approximate number for k = 5: a
  chance of 0.95 takes 2,043. The thesis tried 1,200 and 7,500 and prints nothing in between.
- **18 attributes are feasible**: they need {large:,} rows, while the thesis stopped at 2,000,000.
- The text of the thesis mentions three to nine attributes and twenty; its table has 3, 7, 12, 15 and 18. The chart
  here has the curves of the table.
- The Poisson chance is off by 0.04 with eight combinations, and agrees to four places from 4,096 combinations on.
- The last row, 18 attributes x 2,000,000 rows x 200 repetitions, took {seconds:.1f} CPU seconds, {units:.1f} units of
  `benchmarks/reference.py`. Rows are drawn one by one, each from a single random number, and counted in 262,144
  counters that stay in the processor's cache.

## Rows needed for a chance of 0.95

{needed}

The number of rows grows a little faster than the number of combinations: each combination must occur k times, and the
more there are, the more rows it takes until the last one is complete.
"""


def main(scope: Scope = FULL) -> None:
    """Run all simulations, then write the page and the picture."""
    answers = run_all(scope)
    draw(scope, answers)
    scope.write("feasibility.md", page(answers, measure_unit()))


if __name__ == "__main__":
    main(read_scope(__doc__))
