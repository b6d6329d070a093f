"""Charts, pages and texts of a comparison and of advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.charts.charts import Chart, Point, Series, lines, scatter
from shoal.charts.pages import Grid, Section, chart_page
from shoal.errors import counted
from shoal.evaluate.summary import opinion_words, recommendation_words
from shoal.report.words import unit

if TYPE_CHECKING:
    from shoal.evaluate.comparison.advise import Advice
    from shoal.evaluate.comparison.compare import Comparison

__all__ = [
    "advice_chart",
    "advice_page",
    "charts_of",
    "comparison_page",
    "failed_rows",
    "head_of",
    "shown_rows",
    "verdict_of",
]

HEAD = ("method", "k", "loss", "groups", "smallest", "left out", "max risk", "mean risk", "CPU s", "MB")
CURVES = (
    ("Loss over k", "ncp", "loss (NCP)", "Information loss of each method; lower is better."),
    ("Utility over k", "utility", "utility", "1 - loss; higher is better."),
    ("Groups over k", "groups", "groups", "Number of groups; more groups preserve more detail."),
    (
        "Accuracy over k",
        "accuracy",
        "accuracy",
        "Share of correct predictions of a learner trained on the release; higher is better.",
    ),
    ("CPU time over k", "cpu_seconds", "CPU seconds", "From the encoded table to the measured release."),
)


def charts_of(comparison: Comparison) -> list[Chart]:
    """Draw the curves over k, as means over the seeds, and the map of risk and utility."""
    rows = comparison.means().to_dicts()
    if not rows:
        return []
    names = list(dict.fromkeys(row["method"] for row in rows))
    has_curve = len({row["k"] for row in rows}) > 1
    curves = []
    for title, figure, axis, words in CURVES:
        is_loss = figure in ("ncp", "utility")
        axis = f"weighted {axis}" if comparison.weighted and is_loss else axis
        by_method = ((name, _points(rows, name, figure)) for name in names)
        series = [Series(name, points) for name, points in by_method if points]
        curves += [lines(title, words, series, x="k", y=axis, log_x=has_curve)] if series else []
    points = [Point(str(row["k"]), row["prosecutor_average"], row["utility"], row["method"]) for row in rows]
    words = "Each point is a release, labelled with its k: risk is lowest on the left, utility is highest at the top."
    return [
        *curves[:2],
        scatter("Risk and utility", words, points, x=f"mean risk of a {_unit(comparison)}", y="utility", zero=False),
        *curves[2:],
    ]


def _points(rows: Sequence[Mapping[str, Any]], method: str, figure: str) -> tuple[tuple[float, float], ...]:
    """Return a figure of one method over k."""
    own = sorted((row for row in rows if row["method"] == method), key=lambda row: int(row["k"]))
    return tuple((float(row["k"]), float(row[figure])) for row in own if row[figure] is not None)


def verdict_of(comparison: Comparison) -> str:
    """Return one sentence: which method has the lowest loss, and how low."""
    rows = [row for row in comparison.means().to_dicts() if not row["added"]]
    if not rows:
        return "No run gave a release."
    best: dict[int, Any] = {}
    for row in rows:
        if row["k"] not in best or row["ncp"] < best[row["k"]]["ncp"]:
            best[row["k"]] = row
    least, most = min(best), max(best)
    losses = f"{best[least]['ncp']:.2%} at k = {least}"
    losses += f" and {best[most]['ncp']:.2%} at k = {most}" if most > least else ""
    word = "weighted loss" if comparison.weighted else "loss"
    n_methods, winners = len({row["method"] for row in rows}), [row["method"] for row in best.values()]
    if n_methods == 1:
        return f"On {counted(comparison.n_rows, 'row')}, the {word} of {winners[0]} is {losses}."
    leader = max(dict.fromkeys(winners), key=winners.count)
    scope = "" if len(set(winners)) == 1 else f" for {winners.count(leader)} of {len(winners)} k"
    return (
        f"Of {n_methods} methods on {counted(comparison.n_rows, 'row')}, {leader} has the lowest {word}{scope}. "
        f"The lowest {word} is {losses}."
    )


def head_of(comparison: Comparison) -> tuple[str, ...]:
    """Return the headings of `shown_rows`, including the accuracy if a learner ran."""
    own = tuple(f"{name} of a {_unit(comparison)}" if name == "mean risk" else name for name in HEAD)
    return (*own, "accuracy", "accuracy before") if _has_accuracy(comparison) else own


def _unit(comparison: Comparison) -> str:
    """Return what the mean risk is a mean over."""
    return "person" if comparison.counts == "persons" else "row"


def _has_accuracy(comparison: Comparison) -> bool:
    return comparison.frame["accuracy"].null_count() < comparison.frame.height


def _loss_words(row: Mapping[str, Any], *, weighted: bool) -> str:
    """Return the loss; a weighted one says so and never stands alone."""
    return f"{row['ncp_unweighted']:.2%} ({row['ncp']:.2%} weighted)" if weighted else f"{row['ncp']:.2%}"


def shown_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return one row of texts for each method and k: means over the seeds, and the spread of the loss."""
    texts: list[tuple[str, ...]] = []
    for row in comparison.means().to_dicts():
        spread = f" ± {row['ncp_spread'] / 2:.2%}" if row["ncp_spread"] >= 0.0001 else ""
        is_timed = row["cpu_seconds"] is not None
        accuracies = [row[name] for name in ("accuracy", "accuracy_original") if _has_accuracy(comparison)]
        texts.append(
            (
                str(row["method"]),
                str(row["k"]),
                f"{_loss_words(row, weighted=comparison.weighted)}{spread}",
                f"{row['groups']:,.0f}",
                f"{row['smallest_group']:,.0f}",
                f"{row['suppressed_rows']:,.0f}",
                f"{row['prosecutor_max']:.1%}",
                f"{row['prosecutor_average']:.1%}",
                f"{row['cpu_seconds']:.2f}" if is_timed else "",
                f"{row['peak_memory'] / 2**20:,.0f}" if is_timed else "",
                *("" if each is None else f"{each:.1%}" for each in accuracies),
            )
        )
    return texts


def failed_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return method, k and reason of the failed runs, once for all seeds."""
    failures: dict[tuple[str, ...], None] = {}
    for row in comparison.frame.to_dicts():
        if row["failed"] is not None:
            failures[row["method"], str(row["k"] or ""), row["failed"]] = None
    return list(failures)


def _figures_grid(comparison: Comparison) -> Grid:
    return Grid("Means over the seeds", head_of(comparison), tuple(shown_rows(comparison)))


def _failure_sections(comparison: Comparison) -> list[Section]:
    failures = failed_rows(comparison)
    grid = Grid("Runs without a release", ("method", "k", "reason"), tuple(failures))
    return [Section("Failed runs", (), (), (grid,))] if failures else []


def comparison_page(comparison: Comparison) -> str:
    """Return the comparison as an HTML page."""
    charts = charts_of(comparison)
    words = (
        f"Quasi-identifiers: {', '.join(comparison.qi)}. The risk of a row is 1 divided by the number of "
        f"{unit(comparison.counts)} in its group. Loss is the normalised certainty penalty (NCP): 0 for an unchanged "
        "table, 1 for a fully suppressed one. Memory is the peak of a run's process, including its table."
    )
    sections = [
        Section("Loss, utility and risk", (words,), tuple(charts[:3])),
        Section("Groups and time", (), tuple(charts[3:])),
        Section("All figures", (), (), (_figures_grid(comparison),)),
        *_failure_sections(comparison),
    ]
    return chart_page("Comparison of methods", verdict_of(comparison), sections, good=bool(charts))


def advice_chart(advice: Advice) -> Chart:
    """Draw loss, risk and accuracy over k for the recommended method, and mark the recommendation."""
    assert advice.comparison is not None
    rows = [row for row in advice.comparison.means().to_dicts() if not row["added"]]
    chosen = advice.chosen
    method = rows[0]["method"] if chosen is None else chosen.outcome.method
    names = {"ncp": "loss (NCP)", "prosecutor_max": "largest risk of a row", "accuracy": "accuracy"}
    by_name = ((name, _points(rows, method, figure)) for figure, name in names.items())
    series = [Series(name, points) for name, points in by_name if points]
    if chosen is not None:
        series.append(Series(f"chosen: k = {chosen.outcome.k}", ((float(chosen.outcome.k), chosen.outcome.loss),)))
    words = f"As k grows, the loss of {method} rises and the risk falls."
    has_curve = sum(row["method"] == method for row in rows) > 1
    return lines("Loss and risk over k", words, series, x="k", y="share", log_x=has_curve)


def advice_page(advice: Advice) -> str:
    """Return the advice as an HTML page."""
    assert advice.comparison is not None
    comparison = advice.comparison
    words = tuple(opinion_words(advice))
    has_runs = any(not row["added"] for row in comparison.means().to_dicts())
    sections = [
        Section("Recommendation of each rule", words, (advice_chart(advice),) if has_runs else ()),
        Section("All figures", (), tuple(charts_of(comparison)), (_figures_grid(comparison),)),
        *_failure_sections(comparison),
    ]
    verdict = recommendation_words(advice) + ("" if advice.chosen is None else f" {advice.chosen.reason}")
    return chart_page("Choice of k", verdict, sections, good=advice.chosen is not None)
