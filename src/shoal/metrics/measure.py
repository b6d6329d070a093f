"""What a release lost: NCP and its relatives, and the sizes of its groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError, UsageError
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.level_weights import Climb
from shoal.metrics.column_loss import ColumnLoss, column_loss
from shoal.metrics.released_cells import Domain
from shoal.rules import CompiledRules
from shoal.schema import Schema, check_k
from shoal.tables.table import Table

__all__ = ["Measures", "check_rows", "classification_metric", "measure_tables", "starred_rows"]


@dataclass(frozen=True)
class Measures:
    """What a release lost and how its rows are grouped.

    ncp: normalised certainty penalty, mean over rows and quasi-identifiers (weighted), in [0, 1], lower is better:
    the range of a cell over that of its column, or the values in its set over all; 1 where suppressed.
    utility: 1 - ncp. dm: discernibility, the sum of squared group sizes plus n for each suppressed row, lower is
    better. c_avg: mean group size over k, at least 1, lower is better. modification_rate: share of quasi-identifier
    cells changed. groups, smallest_group: over the released rows. per_attribute: mean loss of each quasi-identifier.

    All that follow are lower the better but for precision. iloss: mean of (values of the cell - 1) / values of the
    column, in [0, 1). lm: loss metric, mean of (leaves of the cell - 1) / (leaves of the column - 1), of a range its
    share of the domain, in [0, 1]; lm_total: its sum over all cells. md: minimal distortion, by quasi-identifier, the
    number of cells made less specific. entropy: non-uniform entropy in bits, the sum over all cells of
    -log2(rows of the original value / rows of the values that the cell stands for), the mean over these. precision:
    1 - mean of level / height. distortion: weighted hierarchical distance between original and release, summed over
    all cells; distortion_ratio: over that of a table of roots alone, in [0, 1]. A quasi-identifier without hierarchy
    has two levels. cm: classification metric, share of rows suppressed or not of the majority class of their group, in
    [0, 1]; None where no target is named. research_value: by quasi-identifier, its weight (they sum to 1) times the
    rows over the sum of the spans that they show times the share of its rules' worth that is kept, in [0, weight], more
    is better, 0 where nothing is shown; research_value_total: their sum, in [0, 1].
    """

    ncp: float
    utility: float
    dm: int
    c_avg: float
    modification_rate: float
    rows: int
    groups: int
    smallest_group: int
    suppressed_rows: int
    per_attribute: dict[str, float]
    iloss: float = 0.0
    lm: float = 0.0
    lm_total: float = 0.0
    md: dict[str, int] = field(default_factory=dict)
    entropy: float = 0.0
    precision: float = 1.0
    distortion: float = 0.0
    distortion_ratio: float = 0.0
    cm: float | None = None
    research_value: dict[str, float] = field(default_factory=dict)
    research_value_total: float = 1.0

    def as_dict(self) -> dict[str, Any]:
        """Return the measures by name."""
        return asdict(self)


def check_rows(original: Table, released: Table) -> None:
    """Refuse a release that has more rows than its original: it is that of another table."""
    n_rows, n_kept = original.n_rows, released.n_rows
    if n_kept > n_rows:
        raise InputError(f"the release has {n_kept} rows, more than the original's {n_rows}. Are they the same table?")


def measure_tables(
    original: Table,
    released: Table,
    schema: Schema,
    *,
    k: int | None = None,
    weights: Mapping[str, float] | None = None,
    domains: Mapping[str, Domain] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    climb: Climb | None = None,
    target: str | None = None,
    rules: CompiledRules | None = None,
) -> Measures:
    """Measure a release against its original; rows that are missing from it count as suppressed.

    k: what c_avg divides by and dm judges groups by (the smallest group's size where it is not given).
    weights: of the attributes in ncp. domains: a declared range (low, high) or list of values in place of the
    original's own. hierarchies: over the values of the original, for releases with labels. climb: how their levels
    weigh in the distortion. target: the column of classes for cm. rules: over the quasi-identifiers of the original.
    """
    k = None if k is None else check_k(k)
    names = [column.name for column in schema.qi]
    climb = climb or Climb()
    _check_names("domain", domains or {}, names)
    _check_names("weights of the levels", climb.given, names)
    n_rows, n_kept = original.n_rows, released.n_rows
    check_rows(original, released)
    weight = _weights(schema, weights)
    if target is not None and target not in released.names:
        raise UsageError(f"target {target!r} is not in the release. Its columns: {', '.join(released.names[:30])}.")
    lost = {
        column.name: column_loss(
            original,
            released,
            column,
            schema,
            (domains or {}).get(column.name),
            (hierarchies or {}).get(column.name),
            climb,
            [pair for pair in rules.pairs if pair.attribute == a] if rules else (),
        )
        for a, column in enumerate(schema.qi)
    }
    per_attribute = {name: loss.ncp / n_rows for name, loss in lost.items()}
    n_cells = n_rows * len(lost)
    research = {
        name: _research_value(loss, n_rows, weight[name] / sum(weight.values()), rules, a)
        for a, (name, loss) in enumerate(lost.items())
    }
    whole = reduce(lambda one, other: one.plus(other, 1), lost.values())
    sizes = released.group_sizes(names)
    # Where "*" is a value of the original, it says nothing about suppression.
    told = not any("*" in original.factor(name).texts for name in names)
    n_starred = _count_starred(released, names) if told else 0
    smallest = int(sizes.min())
    suppressed = n_rows - n_kept + n_starred
    least = smallest if k is None else k
    total = sum(per_attribute[name] * weight[name] for name in per_attribute) / sum(weight.values())
    n_in_groups = n_kept - n_starred
    n_groups = len(sizes) - (n_starred > 0)
    return Measures(
        ncp=total,
        utility=1.0 - total,
        dm=_discernibility(sizes, n_starred, n_rows, n_kept, least),
        c_avg=n_in_groups / n_groups / least if n_groups and least else 0.0,
        modification_rate=whole.changed / n_cells,
        rows=n_kept,
        groups=len(sizes),
        smallest_group=smallest,
        suppressed_rows=suppressed,
        per_attribute=per_attribute,
        iloss=whole.iloss / n_cells,
        lm=whole.lm / n_cells,
        lm_total=whole.lm,
        md={name: loss.changed for name, loss in lost.items()},
        entropy=whole.entropy,
        precision=1.0 - whole.levels / n_cells,
        distortion=whole.distortion,
        distortion_ratio=whole.distortion / n_cells,
        cm=None if target is None else classification_metric(released, names, target, n_rows),
        research_value=research,
        research_value_total=sum(research.values()),
    )


def _research_value(loss: ColumnLoss, n_rows: int, weight: float, rules: CompiledRules | None, a: int) -> float:
    """Return weight x rows / spans of the rows x share of the rules' worth that is kept."""
    if loss.starred == n_rows:
        return 0.0
    kept = rules.kept(loss.broken, a) if rules else 1
    return weight * n_rows / (n_rows + loss.spans) * float(kept)


def classification_metric(released: Table, names: Sequence[str], target: str, n_rows: int) -> float:
    """Return the share of rows that are suppressed or not of the most frequent class of their group."""
    import polars as pl

    kept = released.frame.filter(~pl.all_horizontal(pl.col(names) == "*")) if n_rows else released.frame
    counted = kept.group_by([*names, pl.col(target).alias("class of the target")]).len("rows")
    majority = counted.group_by(names).agg(pl.col("rows").max())["rows"].sum()
    return 1 - int(majority) / n_rows


def _discernibility(sizes: NDArray[np.int64], n_starred: int, n_rows: int, n_kept: int, k: int) -> int:
    squares = sum(size * size if size >= k else n_rows * size for size in sizes.tolist())
    if n_starred:  # a group of fully suppressed rows counts as suppressed, whatever its size
        squares += n_rows * n_starred - (n_starred**2 if n_starred >= k else n_rows * n_starred)
    return int(squares) + n_rows * (n_rows - n_kept)


def _check_names(what: str, given: Mapping[str, object], names: list[str]) -> None:
    strange = [name for name in given if name not in names]
    if strange:
        raise UsageError(f"{what} for {strange[0]!r}: not a quasi-identifier. They are: {', '.join(map(repr, names))}.")


def _weights(schema: Schema, weights: Mapping[str, float] | None) -> dict[str, float]:
    names = [column.name for column in schema.qi]
    _check_names("weight", weights or {}, names)
    for name, weight in (weights or {}).items():
        if not 0 <= weight < float("inf"):
            raise UsageError(f"weight of {name!r} is {weight}. Use a number from 0 on.")
    chosen = {name: float((weights or {}).get(name, 1.0)) for name in names}
    if sum(chosen.values()) <= 0:
        raise UsageError("all weights are 0. Give at least one quasi-identifier a weight above 0.")
    return chosen


def starred_rows(table: Table, names: Sequence[str]) -> NDArray[np.bool_]:
    """Say of each row whether it is suppressed in every one of these columns."""
    starred = np.ones(table.frame.height, dtype=bool)
    for name in names:
        ranks, texts = table.factor(name)
        starred &= (texts == "*").to_numpy()[ranks]
    return starred


def _count_starred(table: Table, names: list[str]) -> int:
    """Count the rows that are suppressed in every quasi-identifier."""
    starred = starred_rows(table, names)
    return int(starred.sum() if table.weights is None else table.weights[starred].sum())
