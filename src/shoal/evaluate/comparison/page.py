"""What a comparison shows: its charts, the page that holds them, and its figures as words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.charts.charts import Chart, Point, Series, lines, scatter
from shoal.charts.pages import Grid, Section, chart_page
from shoal.evaluate.summary import opinion_words, recommendation_words

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
    ("Loss over k", "ncp", "loss (NCP)", "How much of the table's meaning each method loses; lower is better."),
    ("Utility over k", "utility", "utility", "What is left of the table's meaning, 1 - loss; higher is better."),
    ("Groups over k", "groups", "groups", "How many groups of look-alikes each method makes; more tell more."),
    (
        "Accuracy over k",
        "accuracy",
        "accuracy",
        "How often a learner that saw the release alone is right; more is better.",
    ),
    ("CPU time over k", "cpu_seconds", "CPU seconds", "From the encoded table to the measured release."),
)


def charts_of(comparison: Comparison) -> list[Chart]:
    """Draw the curves over k, means over seeds, and the map of risk and utility."""
    rows = comparison.means().to_dicts()
    if not rows:
        return []
    names = list(dict.fromkeys(row["method"] for row in rows))
    many = len({row["k"] for row in rows}) > 1
    drawn = []
    for title, figure, axis, words in CURVES:
        series = []
        for name in names:
            own = sorted((row for row in rows if row["method"] == name), key=lambda row: int(row["k"]))
            points = tuple((float(row["k"]), float(row[figure])) for row in own if row[figure] is not None)
            series += [Series(name, points)] if points else []
        drawn += [lines(title, words, series, x="k", y=axis, log_x=many)] if series else []
    places = [Point(str(row["k"]), row["prosecutor_average"], row["utility"], row["method"]) for row in rows]
    words = "Each point is one release, its k beside it: to the left nobody is found, at the top nothing is lost."
    return [
        *drawn[:2],
        scatter("Risk and utility", words, places, x="mean risk of a row", y="utility", zero=False),
        *drawn[2:],
    ]


def verdict_of(comparison: Comparison) -> str:
    """Say in one sentence which method lost least, and over what."""
    rows = [row for row in comparison.means().to_dicts() if not row["added"]]
    if not rows:
        return "No run gave a release."
    best: dict[int, Any] = {}
    for row in rows:
        if row["k"] not in best or row["ncp"] < best[row["k"]]["ncp"]:
            best[row["k"]] = row
    least, most = min(best), max(best)
    ends = f"{best[least]['ncp']:.4f} at k = {least}"
    ends += f" and {best[most]['ncp']:.4f} at k = {most}" if most > least else ""
    n_methods, wins = len({row["method"] for row in rows}), [row["method"] for row in best.values()]
    if n_methods == 1:
        return f"On {comparison.n_rows:,} rows {wins[0]} loses {ends}."
    leader = max(dict.fromkeys(wins), key=wins.count)
    often = "" if len(set(wins)) == 1 else f" for {wins.count(leader)} of {len(wins)} k"
    return (
        f"Of {n_methods} methods on {comparison.n_rows:,} rows, {leader} loses least{often}: the least loss is {ends}."
    )


def head_of(comparison: Comparison) -> tuple[str, ...]:
    """Return the names of what shown_rows shows: the accuracy too, where a learner ran."""
    return (*HEAD, "accuracy", "that before") if _has_accuracy(comparison) else HEAD


def _has_accuracy(comparison: Comparison) -> bool:
    return comparison.frame["accuracy"].null_count() < comparison.frame.height


def shown_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return one row of texts for each method and k: means over the seeds, with the spread of the loss."""
    shown: list[tuple[str, ...]] = []
    for row in comparison.means().to_dicts():
        spread = f" ± {row['ncp_spread'] / 2:.4f}" if row["ncp_spread"] >= 0.0001 else ""
        timed, learned = row["cpu_seconds"] is not None, _has_accuracy(comparison)
        accuracies = [row[name] for name in ("accuracy", "accuracy_original") if learned]
        shown.append(
            (
                str(row["method"]),
                str(row["k"]),
                f"{row['ncp']:.4f}{spread}",
                f"{row['groups']:,.0f}",
                f"{row['smallest_group']:,.0f}",
                f"{row['suppressed_rows']:,.0f}",
                f"{row['prosecutor_max']:.4f}",
                f"{row['prosecutor_average']:.4f}",
                f"{row['cpu_seconds']:.2f}" if timed else "",
                f"{row['peak_memory'] / 2**20:,.0f}" if timed else "",
                *("" if each is None else f"{each:.4f}" for each in accuracies),
            )
        )
    return shown


def failed_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return each run that failed, once for all its seeds, with the reason."""
    seen: dict[tuple[str, ...], None] = {}
    for row in comparison.frame.to_dicts():
        if row["failed"] is not None:
            seen[row["method"], str(row["k"] or ""), row["failed"]] = None
    return list(seen)


def _figures_grid(comparison: Comparison) -> Grid:
    return Grid("Means over the seeds", head_of(comparison), tuple(shown_rows(comparison)))


def comparison_page(comparison: Comparison) -> str:
    """Return the comparison as a page of its own."""
    charts = charts_of(comparison)
    failed = failed_rows(comparison)
    asked = (
        f"Quasi-identifiers: {', '.join(comparison.qi)}. The risk of a row is one over the "
        f"{comparison.counts} of its group. Loss is the normalised certainty penalty: 0 as it was, 1 nothing "
        "left. Memory is the most that the process of a run held, its table among it."
    )
    sections = [
        Section("Loss, utility and risk", (asked,), tuple(charts[:3])),
        Section("Groups and time", (), tuple(charts[3:])),
        Section("All figures", (), (), (_figures_grid(comparison),)),
    ]
    if failed:
        grid = Grid("Runs that gave no release", ("method", "k", "why"), tuple(failed))
        sections.append(Section("What did not work", (), (), (grid,)))
    return chart_page("Comparison of methods", verdict_of(comparison), sections, good=bool(charts))


def advice_chart(advice: Advice) -> Chart:
    """Draw loss, risk and accuracy over k for the method that was chosen, and mark the choice."""
    assert advice.comparison is not None
    rows = [row for row in advice.comparison.means().to_dicts() if not row["added"]]
    chosen = advice.chosen
    method = rows[0]["method"] if chosen is None else chosen.outcome.method
    own = sorted((row for row in rows if row["method"] == method), key=lambda row: int(row["k"]))
    names = {"ncp": "loss (NCP)", "prosecutor_max": "largest risk of a row", "accuracy": "accuracy"}
    series = []
    for figure, name in names.items():
        points = tuple((float(row["k"]), float(row[figure])) for row in own if row[figure] is not None)
        series += [Series(name, points)] if points else []
    if chosen is not None:
        series.append(Series(f"chosen: k = {chosen.outcome.k}", ((float(chosen.outcome.k), chosen.outcome.loss),)))
    words = f"What {method} gives as k grows: the table loses meaning, its rows lose risk."
    return lines("Loss and risk over k", words, series, x="k", y="share", log_x=len(own) > 1)


def advice_page(advice: Advice) -> str:
    """Return the advice as a page of its own."""
    assert advice.comparison is not None
    found = advice.comparison
    failed = failed_rows(found)
    words = tuple(opinion_words(advice))
    rows = any(not each["added"] for each in found.means().to_dicts())
    sections = [
        Section("What each rule says", words, (advice_chart(advice),) if rows else ()),
        Section("All figures", (), tuple(charts_of(found)), (_figures_grid(found),)),
    ]
    if failed:
        grid = Grid("Runs that gave no release", ("method", "k", "why"), tuple(failed))
        sections.append(Section("What did not work", (), (), (grid,)))
    verdict = recommendation_words(advice) + ("" if advice.chosen is None else f" {advice.chosen.reason}")
    return chart_page("Choice of k", verdict, sections, good=advice.chosen is not None)
