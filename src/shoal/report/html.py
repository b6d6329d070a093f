"""A report as one self-contained HTML file, without scripts, for light and dark screens and for paper."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shoal.charts import charts
from shoal.charts.charts import Bar, Chart, Pair
from shoal.charts.pages import render
from shoal.errors import counted
from shoal.report.summary import ReleaseLike, detail_words, release_words
from shoal.report.words import sized, unit

if TYPE_CHECKING:
    import polars as pl

__all__ = ["as_html", "notebook_html"]

SHOWN_ROWS = 8  # in a notebook
FIRST_WARNINGS = 3  # on the first page, above the sign-off

SIGNOFF_LINES = {
    "who": "Released by",
    "when": "Date",
    "purpose": "Purpose of the release",
    "legal_basis": "Legal basis",
    "reviewer": "Reviewed by",
}
ROLES = {
    "qi": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "identifier": "dropped",
    "person": "person",
    "k": "personal k",
    "weight": "weight",
}

# The figures of `shoal.metrics.singled` that a report lists by column.
SINGLED = {
    "rows_at_rare_ends": "rows whose value is an end of their range, and fewer than k have it",
    "rows_at_lone_ends": "rows whose value is an end of their range, and nobody else has it",
    "rows_alone_in_sets": "rows that alone in their group have a value of its set",
}


def as_html(content: Mapping[str, Any]) -> str:
    """Return the page of a report from the content of its JSON twin."""
    return render(
        "release.html",
        package="shoal.report",
        content=content,
        signoff=SIGNOFF_LINES,
        roles=ROLES,
        singled=SINGLED,
        counted=counted,
        first_warnings=FIRST_WARNINGS,
        loss=_loss(content) if content["loss"] else None,
        sizes=_sizes(content),
        cells=[_cells(column) for column in content["cells"]],
        spreads=[_spread(column) for column in content.get("before_after", ())],
    )


def notebook_html(release: ReleaseLike, rows: pl.DataFrame) -> str:
    """Return a release for a notebook: its verdict in a sentence and the first released rows.

    Args:
        release: The release.
        rows: The released cells.
    """
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows.head(SHOWN_ROWS).rows()
    )
    n_more = rows.height - SHOWN_ROWS
    remainder = f"<p>... and {counted(n_more, 'more row')}</p>" if n_more > 0 else ""
    verdict = html.escape(release_words(release))
    detail = html.escape(detail_words(release))
    told = f"<p><b>shoal release</b>: {verdict}</p><p>{detail}</p>"
    return f"<div>{told}<table><tr>{head}</tr>{body}</table>{remainder}</div>"


def _loss(content: Mapping[str, Any]) -> Chart:
    rows = content["loss"]
    first = rows[0]
    return charts.bars(
        "Share of the loss by column",
        f"{first['column']} has the largest share: {first['share_words']}.",
        [Bar(row["column"], row["share"], row["share_words"]) for row in rows],
        head=("column", "share of the loss"),
    )


def _sizes(content: Mapping[str, Any]) -> Chart:
    k, counts = content["reached"]["k"], content["groups_count"]
    smallest = content["reached" if counts == "rows" else "risk"]["smallest_group"]
    required = sized(k, content["risk"]["counts"])
    columns = []
    for size_class in content["groups"]:
        low, high, rows = size_class["smallest"], size_class["largest"], size_class["rows"]
        name = f"{low:,}" if low == high else f"{low:,}\N{EN DASH}{high:,}"
        columns.append(Bar(name, rows, f"{rows:,}"))
    return charts.histogram(
        "Group sizes",
        f"The smallest group has {sized(smallest, counts)}; the release required {required}.",
        columns,
        x=f"{unit(counts)} in the group",
        y=f"{unit(counts)} in groups of this size",
        marked=f"k = {k}",
    )


def _cells(column: Mapping[str, Any]) -> Chart:
    rows = [Bar(cell["cell"] or "(missing)", cell["rows"], f"{cell['rows']:,}") for cell in column["cells"]]
    summary = "No cell occurs in k rows or more."
    if rows:
        summary = f"{rows[0].name} occurs in {sized(column['cells'][0]['rows'], 'rows')}."
    if column["others"]:
        others = counted(column["others"], "other cell occurs", "other cells occur")
        summary += f" {others} in {sized(column['other_rows'], 'rows')}{' together' * (column['others'] > 1)}."
    title = f"Released cells of {column['column']}"
    return charts.bars(title, summary, rows, head=(column["column"], "released rows"))


def _spread(column: Mapping[str, Any]) -> Chart:
    rows = [Pair(share["name"], share["before"], share["after"]) for share in column["rows"]]
    return charts.pairs(
        f"{column['column']} before and after",
        "Rows of each value or interval; a range or set counts evenly for all values that it covers.",
        rows,
        head=(column["column"], "rows before", "rows after"),
    )
