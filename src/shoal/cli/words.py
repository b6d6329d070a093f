"""What `shoal evaluate` shows: the uses of a release in words."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.evaluate.assessment import Utility
    from shoal.evaluate.moments import ColumnMoments, Moments

SHOWN_PAIRS = 3


def utility_facts(found: Utility) -> list[tuple[str, str]]:
    """Return the answers as facts for print_table."""
    asked = found.queries
    facts = [
        (
            "range queries",
            f"relative error {asked.mean:.4f} ({asked.low:.4f} to {asked.high:.4f}) over {asked.queries:,} queries\n"
            f"half of them below {asked.median:.4f}, 9 of 10 below {asked.p90:.4f}",
        ),
        *moment_facts(found.moments),
    ]
    for name, each in groupby(found.accuracies, key=lambda accuracy: accuracy.learner):
        told = [f"{a.trained_on} to {a.tested_on} {a.mean:.4f} ({a.low:.4f} to {a.high:.4f})" for a in each]
        facts.append((f"accuracy, {name}", "\n".join(told)))
    if any(not accuracy.held_out for accuracy in found.accuracies):
        facts.append(("test rows", "not held out: nobody knows which released row is whose (--held-out)"))
    for bucket, held in found.buckets:
        kept = f"{held.inside:,} rows inside, {held.overlap:,} of overlap, {held.share:.1%}"
        fate = "survives" if held.survives(bucket) else "is lost"
        told_before = f"{bucket.rows:,} rows, {bucket.share:.1%} {bucket.class_name}"
        facts.append((f"bucket that {fate}", f"{bucket.describe()}\nbefore {told_before}; after {kept}"))
    return facts


def moment_facts(moments: Moments) -> list[tuple[str, str]]:
    """Return marginals, means and associations as facts."""
    distances = ", ".join(f"{column.name} {column.distance:.4f}" for column in moments.columns)
    facts = [("marginals", f"distance {moments.distance:.4f}: {distances}")]
    means = [told for column in moments.columns if (told := mean_words(column))]
    if means:
        facts.append(("means", "\n".join(means)))
    if moments.associations:
        most = sorted(moments.associations, key=lambda pair: -abs(pair.after - pair.before))[:SHOWN_PAIRS]
        pairs = [f"{p.one}, {p.other}: {p.before:.3f} became {p.after:.3f} ({p.measure})" for p in most]
        facts.append(("associations", "\n".join([f"mean change {moments.association_error:.4f}; most:", *pairs])))
    return facts


def mean_words(column: ColumnMoments) -> str:
    """Say how mean and standard deviation changed; nothing of categories."""
    if column.mean_before is None or column.variance_before is None:
        return ""
    if column.mean_after is None or column.variance_after is None:
        return f"{column.name}: no number is left"
    before, after = column.variance_before**0.5, column.variance_after**0.5
    return (
        f"{column.name}: mean {column.mean_before:.4g} became {column.mean_after:.4g}, "
        f"standard deviation {before:.4g} became {after:.4g}"
    )
