"""Words of the results of `shoal.evaluate`, shared by terminal, pages and callers of the library.

The JSON of a result is its `as_dict()`; texts follow the conventions of `shoal.report.summary`. The figures of a
comparison as rows of texts are in `shoal.evaluate.comparison.page`, beside its charts.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from shoal.errors import Note, counted, setting
from shoal.metrics.extent import DAY
from shoal.report.summary import Fact, fact
from shoal.report.words import width_words
from shoal.tables.values import date_text

if TYPE_CHECKING:
    from shoal.evaluate.assessment import Utility
    from shoal.evaluate.comparison.advise import Advice
    from shoal.evaluate.comparison.compare import Comparison
    from shoal.evaluate.feasibility.simulation import Feasibility
    from shoal.evaluate.moments import ColumnMoments, Moments

__all__ = [
    "failure_words",
    "feasibility_facts",
    "feasibility_words",
    "moment_facts",
    "opinion_words",
    "recommendation_words",
    "utility_facts",
]

SHOWN_PAIRS = 3
MEASURES = {"pearson": "correlation", "cramer": "Cramér's V", "eta": "correlation ratio"}
NEVER = 0.001  # chance of success below which k is out of reach
DISTRIBUTIONS = {
    "binary": "with two equally likely values",
    "uniform": "with equally likely values",
    "independent": "each drawn from its own column of the table",
    "joint": "drawn together, row by row, from the table",
}


def utility_facts(utility: Utility) -> list[Fact]:
    """Describe what a release is still good for."""
    queries = utility.queries
    facts = [
        fact(
            "range queries",
            f"relative error {queries.mean:.2%} ({queries.low:.2%} to {queries.high:.2%}) over {queries.queries:,} "
            f"queries\nhalf of them below {queries.median:.2%}, 9 of 10 below {queries.p90:.2%}",
        ),
        *moment_facts(utility.moments),
    ]
    for learner, accuracies in groupby(utility.accuracies, key=lambda accuracy: accuracy.learner):
        lines = [f"{a.trained_on} to {a.tested_on} {a.mean:.2%} ({a.low:.2%} to {a.high:.2%})" for a in accuracies]
        facts.append(fact(f"accuracy, {learner}", "\n".join(lines)))
    if any(not accuracy.held_out for accuracy in utility.accuracies):
        text = f"not held out: no released row can be traced to its original; pass test rows as {setting('held_out')}"
        facts.append(fact("test rows", text))
    for bucket, held in utility.buckets:
        before = f"{counted(bucket.rows, 'row')}, {bucket.share:.1%} {bucket.class_name}"
        share = f", {held.share:.1%} {bucket.class_name}" if held.inside else ""
        after = f"{counted(held.inside, 'row')} inside{share}, {held.overlap:,} across its border"
        fate = "survives" if held.survives(bucket) else "is lost"
        facts.append(fact(f"bucket that {fate}", f"{bucket.describe()}\nbefore {before}; after {after}"))
    return facts


def moment_facts(moments: Moments) -> list[Fact]:
    """Describe how marginals, means and associations changed."""
    distances = ", ".join(f"{column.name} {column.distance:.2%}" for column in moments.columns)
    facts = [fact("marginals", f"distance {moments.distance:.2%}: {distances}")]
    means = [words for column in moments.columns if (words := _mean_words(column))]
    if means:
        facts.append(fact("means", "\n".join(means)))
    if moments.associations:
        most = sorted(moments.associations, key=lambda pair: -abs(pair.after - pair.before))[:SHOWN_PAIRS]
        pairs = [f"{p.one}, {p.other}: {p.before:.3f} became {p.after:.3f} ({MEASURES[p.measure]})" for p in most]
        lines = [f"mean change {moments.association_error:.4f}; largest changes:", *pairs]
        facts.append(fact("associations", "\n".join(lines)))
    return facts


def _mean_words(column: ColumnMoments) -> str:
    """Describe how mean and standard deviation of a column changed; empty for a categorical column."""
    if column.mean_before is None or column.variance_before is None:
        return ""
    if column.mean_after is None or column.variance_after is None:
        return f"{column.name}: no number is left"
    deviations = column.variance_before**0.5, column.variance_after**0.5
    if column.date_format is None:
        means = [f"{mean:.4g}" for mean in (column.mean_before, column.mean_after)]
        spreads = [f"{deviation:.4g}" for deviation in deviations]
    else:
        means = [date_text(mean, column.date_format) for mean in (column.mean_before, column.mean_after)]
        spreads = [width_words(deviation * DAY, dates=True) for deviation in deviations]
    return f"{column.name}: mean {means[0]} became {means[1]}, standard deviation {spreads[0]} became {spreads[1]}"


def feasibility_words(answer: Feasibility) -> Note:
    """Say in one sentence whether k is within reach without recoding."""
    if answer.rows is None:
        return Note("", f"rows needed for k = {answer.k}")
    chance = answer.poisson if answer.exact is None else answer.exact
    assert chance is not None
    if chance >= answer.wanted_success:
        return Note("", f"{answer.rows:,} rows are enough for k = {answer.k} without recoding")
    if chance < NEVER:
        return Note("", f"{answer.rows:,} rows almost never reach k = {answer.k} everywhere; recode the values")
    return Note("", f"{answer.rows:,} rows may or may not reach k = {answer.k} everywhere")


def feasibility_facts(answer: Feasibility, plot: str | None = None) -> list[Fact]:
    """Describe the outcome of a simulation.

    Args:
        answer: The outcome.
        plot: Where its drawing is, if there is one.
    """
    many = "s" * (answer.attributes > 1)
    facts = [fact("rows drawn from", f"{answer.attributes} attribute{many} {DISTRIBUTIONS[answer.distribution]}")]
    facts.append(fact("combinations", f"{answer.cells:,}" if answer.cells < 10**18 else f"{float(answer.cells):.3g}"))
    if answer.success_rate is not None and answer.interval is not None:
        low, high = answer.interval
        rate = f"{answer.success_rate:.4f}: in {answer.successes:,} of {answer.repetitions:,} tables"
        facts.append(fact("success rate", f"{rate}, every combination occurred {answer.k} times or more"))
        facts.append(fact(f"{answer.confidence:.0%} interval", f"{low:.4f} to {high:.4f} (Wilson)"))
        facts.append(fact("exact chance", "not computed" if answer.exact is None else f"{answer.exact:.4f}"))
        facts.append(fact("Poisson chance", f"{answer.poisson:.4f}, as if combinations filled independently"))
        facts.append(fact("rows below k", f"{answer.small_share:.2%} of the rows are expected in groups below k"))
    needed = "more than were examined" if answer.rows_needed is None else f"{answer.rows_needed:,}"
    by = f" ({'exact' if answer.rows_needed_by == 'exact' else 'Poisson'})" if answer.rows_needed_by else ""
    facts.append(fact("rows needed", f"{needed} for a chance of {answer.wanted_success:g}{by}"))
    return [*facts, fact("drawing", plot)] if plot else facts


def failure_words(comparison: Comparison) -> list[str]:
    """Say of each run that failed why it did."""
    from shoal.evaluate.comparison.page import failed_rows

    return [
        f"{method}, k = {k}: {reason}" if k else f"{method}: {reason}" for method, k, reason in failed_rows(comparison)
    ]


def opinion_words(advice: Advice) -> list[str]:
    """Return what each rule recommends, one line a rule."""
    return [f"{opinion.rule}: {opinion.reason}" for opinion in advice.opinions]


def recommendation_words(advice: Advice) -> str:
    """Return the recommendation in one sentence, or the reason why there is none."""
    if advice.chosen is None:
        return advice.unmet or "No rule applies to these runs."
    best = advice.chosen.outcome
    return f"Use k = {best.k} with {best.method}, by the rule {advice.chosen.rule}."
