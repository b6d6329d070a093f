"""The information loss of a release: NCP and its relatives, and the sizes of its groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute
from shoal.encoding.partition import SUPPRESSION
from shoal.errors import InputError, UsageError
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.level_weights import Climb
from shoal.metrics.column_loss import Baseline, Bounds, ColumnLoss, add_losses, column_loss
from shoal.metrics.extent import (
    CenterFigures,
    ColumnExtent,
    GroupSizes,
    center_figures,
    exact_cells,
    extent_of,
    spread_names,
    squares_of_centers,
)
from shoal.metrics.released_cells import Domain, cell_counts, unreadable_cell
from shoal.metrics.research_value import Research, Worth, read_dictionary
from shoal.rules import CompiledRules, Pair
from shoal.schema import Schema, check_k
from shoal.tables import values
from shoal.tables.table import Table

LOSSES = (
    *("ncp", "utility", "modification_rate", "iloss", "lm", "lm_total", "entropy", "precision", "distortion"),
    *("distortion_ratio", "research_value_total", "exact_rows", "ncp_unweighted"),
)

__all__ = [
    "GroupSizes",
    "Measures",
    "assemble",
    "check_names",
    "check_rows",
    "classification_metric",
    "measure_tables",
    "rules_of",
    "starred_rows",
    "weights_of",
]


@dataclass(frozen=True)
class Measures:
    """The information loss of a release and the sizes of its groups.

    Lower is better for all measures of loss; higher is better for utility, precision and research value.

    Attributes:
        ncp: Normalised certainty penalty in [0, 1]: the weighted mean over rows and quasi-identifiers of the width of a
            cell over that of its column, or of the number of values in its set over that of its column; 1 if the cell
            is suppressed.
        utility: 1 - ncp.
        dm: Discernibility: the sum of squared group sizes, plus n for each suppressed row and each row of a group
            of fewer than k.
        c_avg: Mean group size over k, at least 1.
        modification_rate: Share of quasi-identifier cells that were changed.
        rows: Number of released rows.
        groups: Number of groups among the released rows.
        smallest_group: Size of the smallest group among the released rows.
        suppressed_rows: Number of rows that were left out, or show "*" in every quasi-identifier and are fewer than k.
        per_attribute: Mean loss (NCP) of each quasi-identifier.
        iloss: Mean of (values of the cell - 1) / values of the column, in [0, 1).
        lm: Loss metric in [0, 1]: mean of (leaves of the cell - 1) / (leaves of the column - 1), or of the share of the
            domain for a range.
        lm_total: Sum of the loss metric over all cells.
        md: Minimal distortion: the number of cells of each quasi-identifier that were made less specific.
        entropy: Non-uniform entropy in bits: the sum over all cells of -log2(rows of the original value / rows of the
            values that the cell covers), averaged over these values.
        precision: 1 - mean of level / height. A quasi-identifier without hierarchy has two levels.
        distortion: Weighted hierarchical distance between original and release, summed over all cells.
        distortion_ratio: Distortion over that of a fully suppressed table, in [0, 1].
        cm: Classification metric in [0, 1]: the share of rows that are suppressed or do not belong to the majority
            class of their group; None if no target is named.
        research_value: For each quasi-identifier, its weight (weights sum to 1), times its granularity, times the share
            of the importance of its rules that is kept; in [0, weight], and 0 if every cell is suppressed. Granularity
            is the number of rows over the number of values that they show. If all cells lie on one level of a
            hierarchy, it is that of the level: for a category the number of labels over the number of values, for a
            number or date the rows over the values that their labels declare.
        research_value_total: Sum of the research values, in [0, 1].
        exact_rows: Share of the rows whose quasi-identifiers are all released as they were.
        columns: How wide the cells of each quasi-identifier are on average, in values and in its unit.
        ncp_unweighted: The same as ncp with equal weights.
        weighted: Whether the weights of ncp, and so of utility, differ.
        centers: What the centres of each quasi-identifier keep of it; empty if cells are not centres. The loss of
            centres is that of the ranges and sets of their groups. A file does not show these, so all measures of loss
            are NaN where only the file is known.
        sse: The sum of squares inside groups over that of the table, in [0, 1], over columns of variance 1: what is
            lost if each group releases its means. Suppressed rows lose all; weights are those of ncp. None for a
            file without its run, unless its cells are means of numbers: it follows from these, up to their rounding.
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
    exact_rows: float = 1.0
    columns: dict[str, ColumnExtent] = field(default_factory=dict)
    ncp_unweighted: float = 0.0
    weighted: bool = False
    centers: dict[str, CenterFigures] = field(default_factory=dict)
    sse: float | None = field(default=None, compare=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the measures by name; a loss that is not known is None."""
        content = {name: None if each != each else each for name, each in asdict(self).items()}
        return content if self.centers else {name: each for name, each in content.items() if name != "centers"}

    @property
    def has_loss(self) -> bool:
        """Whether the loss is known."""
        return not math.isnan(self.ncp)

    def without_loss(self) -> Measures:
        """Return the measures that do not depend on what cells cover."""
        unknown: dict[str, Any] = dict.fromkeys(LOSSES, math.nan)
        return replace(self, **unknown, per_attribute={}, md={}, research_value={}, columns={})


def check_rows(original: Table, released: Table) -> None:
    """Refuse a release with more rows than its original, because it must belong to another table."""
    n_rows, n_kept = original.n_rows, released.n_rows
    if n_kept > n_rows:
        raise InputError(
            f"the release has {n_kept} rows, but the original has {n_rows}. Check that they are the same table."
        )


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
    attributes: Mapping[str, Attribute] | None = None,
    research: Research | None = None,
    centers: bool = False,
) -> Measures:
    """Measure the release of any tool against its original; rows that are missing from it count as suppressed.

    Args:
        original: The original.
        released: The release.
        schema: The columns of the original.
        k: What c_avg divides by and dm judges groups by; by default the size of the smallest group.
        weights: Of the quasi-identifiers in ncp.
        domains: A range (low, high) or list of values that replaces that of the original, by column.
        hierarchies: Over the values of the original, by column.
        climb: The weights of hierarchy levels in the distortion.
        target: The column of classes for cm.
        rules: Over the quasi-identifiers of the original.
        attributes: The quasi-identifiers as codes, which rules over recoded columns need.
        research: Declared research values, and the balance of granularity and rules.
        centers: Whether cells are the centres of groups; their loss is not known then.

    Raises:
        InputError: A released cell cannot be read, or the release has more rows than the original.
        UsageError: An argument names an unknown column or is out of range.
    """
    names = [column.name for column in schema.qi]
    check_names("domain", domains or {}, names)
    check_names("weights of the levels", climb.given if climb else {}, names)
    check_rows(original, released)
    if target is not None and target not in released.names:
        raise UsageError(f"target {target!r} is not in the release. Its columns: {', '.join(released.names[:30])}.")
    n_rows, n_kept = original.n_rows, released.n_rows
    losses, extents = {}, {}
    exact = np.ones(released.height, dtype=bool)
    for a, column in enumerate(schema.qi):
        baseline = Baseline.of(
            column,
            _counts_in(original, column.name),
            schema,
            domain=(domains or {}).get(column.name),
            hierarchy=(hierarchies or {}).get(column.name),
            climb=climb,
            pairs=rules_of(rules, a),
            attribute=(attributes or {}).get(column.name) if column.codings else None,
        )
        losses[column.name], same = _loss_in_table(baseline, released, n_rows - n_kept)
        extents[column.name] = extent_of(baseline, losses[column.name], n_rows)
        exact &= same[released.factor(column.name).ranks]
    # If "*" is a value of the original, it does not mark suppression.
    has_stars = any(SUPPRESSION in original.factor(name).texts for name in names)
    spread = [each for name in names if centers for each in spread_names(name) if each in released.names]
    n_starred = 0 if has_stars else count_starred(released, names)
    sizes = released.group_sizes([*names, *spread])
    groups = GroupSizes(sizes, n_rows, n_kept, n_starred, count_rows(exact, released))
    cm = None if target is None else classification_metric(released, names, target, n_rows, groups.least(k))
    worth = Worth(weights_of(schema, weights), rules, research or Research())
    for a, column in enumerate(schema.qi):
        hierarchy = (hierarchies or {}).get(column.name)
        if hierarchy is not None or column.name in worth.research.values:
            worth.add(read_dictionary(original, column, schema, hierarchy), _counts_in(released, column.name), a)
    measures = assemble(losses, extents, groups, worth, k, cm)
    if not centers:
        return measures
    figures = {each.name: center_figures(original, released, each, schema.missing) for each in schema.qi}
    sse = squares_of_centers(original, n_kept / n_rows, figures, worth.weights, schema.missing)
    return replace(measures.without_loss(), centers=figures, sse=sse)


def assemble(
    losses: Mapping[str, ColumnLoss],
    extents: Mapping[str, ColumnExtent],
    groups: GroupSizes,
    worth: Worth,
    k: int | None,
    cm: float | None,
) -> Measures:
    """Return the measures from the loss and the extent of each column and the sizes of the groups."""
    k = None if k is None else check_k(k)
    n_rows, n_kept = groups.n_rows, groups.n_kept
    per_attribute = {name: loss.ncp / n_rows for name, loss in losses.items()}
    n_cells = n_rows * len(losses)
    research = {name: worth.value(name, loss, n_rows, a) for a, (name, loss) in enumerate(losses.items())}
    total = add_losses((loss, 1) for loss in losses.values())
    least = groups.least(k)
    n_hidden = groups.n_hidden(least)
    ncp = sum(per_attribute[name] * worth.weights[name] for name in per_attribute) / worth.total_weight
    n_groups = groups.n_groups - (n_hidden > 0)
    return Measures(
        ncp=ncp,
        utility=1.0 - ncp,
        dm=groups.discernibility(least),
        c_avg=(n_kept - n_hidden) / n_groups / least if n_groups and least else 0.0,
        modification_rate=total.changed / n_cells,
        rows=n_kept,
        groups=groups.n_groups,
        smallest_group=int(groups.sizes.min()),
        suppressed_rows=n_rows - n_kept + n_hidden,
        per_attribute=per_attribute,
        iloss=total.iloss / n_cells,
        lm=total.lm / n_cells,
        lm_total=total.lm,
        md={name: loss.changed for name, loss in losses.items()},
        entropy=total.entropy,
        precision=1.0 - total.levels / n_cells,
        distortion=total.distortion,
        distortion_ratio=total.distortion / n_cells,
        cm=cm,
        research_value=research,
        research_value_total=sum(research.values()),
        exact_rows=groups.n_exact / n_rows if n_rows else 1.0,
        columns=dict(extents),
        ncp_unweighted=sum(per_attribute.values()) / len(per_attribute),
        weighted=len(set(worth.weights.values())) > 1,
    )


def rules_of(rules: CompiledRules | None, attribute: int) -> Sequence[Pair]:
    """Return the rules of one attribute."""
    return [pair for pair in rules.pairs if pair.attribute == attribute] if rules else ()


def _counts_in(table: Table, name: str) -> dict[str, int]:
    return cell_counts(table.factor(name).texts.to_list(), table.counts(name).tolist())


def _loss_in_table(baseline: Baseline, released: Table, n_suppressed: int) -> tuple[ColumnLoss, NDArray[np.bool_]]:
    """Return the loss of a column from its released texts, and for each distinct text whether it is an exact cell."""
    name = baseline.column.name

    def loss_of(text: str) -> ColumnLoss | Bounds:
        loss = baseline.read_text(text)
        if loss is None:
            raise unreadable_cell(name, _first_row(released, name, text))
        return loss

    counts = _counts_in(released, name)
    texts = map(values.normalise, released.factor(name).texts.to_list())
    return column_loss(baseline, counts, n_suppressed, loss_of), exact_cells(baseline, counts, texts)


def _first_row(table: Table, name: str, text: str) -> int:
    """Return the number of the first row with a cell of this normal form."""
    ranks, texts = table.factor(name)
    same = np.array([values.normalise(raw) == text for raw in texts.to_list()])
    row = int(np.argmax(same[ranks]))
    return (row if table.first_rows is None else int(table.first_rows[row])) + 1


def classification_metric(released: Table, names: Sequence[str], target: str, n_rows: int, k: int) -> float:
    """Return the share of rows that are suppressed or do not belong to the majority class of their group."""
    import polars as pl

    starred = starred_rows(released, names)
    kept = ~starred if count_rows(starred, released) < k else np.ones_like(starred)
    weights = np.ones(len(kept), dtype=np.int64) if released.weights is None else released.weights
    columns = {f"c{i}": released.frame[name] for i, name in enumerate((*names, target))}
    frame = pl.DataFrame(columns | {"rows": weights}).filter(pl.Series(kept))
    counted = frame.group_by(list(columns)).agg(pl.col("rows").sum())
    majority = counted.group_by([f"c{i}" for i in range(len(names))]).agg(pl.col("rows").max())["rows"].sum()
    return 1 - int(majority) / n_rows


def check_names(what: str, named: Mapping[str, object], names: list[str]) -> None:
    """Refuse a setting for a column that is not a quasi-identifier."""
    unknown = [name for name in named if name not in names]
    if unknown:
        raise UsageError(f"{what} for {unknown[0]!r}: not a quasi-identifier. They are: {', '.join(map(repr, names))}.")


def weights_of(schema: Schema, weights: Mapping[str, float] | None) -> dict[str, float]:
    """Return the weight of each quasi-identifier, 1 by default."""
    names = [column.name for column in schema.qi]
    check_names("weight", weights or {}, names)
    for name, weight in (weights or {}).items():
        if not 0 <= weight < float("inf"):
            raise UsageError(f"weight of {name!r} is {weight}. Use a finite number that is not negative.")
    by_name = {name: float((weights or {}).get(name, 1.0)) for name in names}
    if sum(by_name.values()) <= 0:
        raise UsageError("all weights are 0. Give at least one quasi-identifier a positive weight.")
    return by_name


def starred_rows(table: Table, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return for each row whether it is suppressed in every one of these columns."""
    starred = np.ones(table.height, dtype=bool)
    for name in names:
        ranks, texts = table.factor(name)
        starred &= (texts == SUPPRESSION).to_numpy()[ranks]
    return starred


def count_starred(table: Table, names: list[str]) -> int:
    """Count the rows that are suppressed in every quasi-identifier."""
    return count_rows(starred_rows(table, names), table)


def count_rows(rows: NDArray[np.bool_], table: Table) -> int:
    """Count the marked rows of a table."""
    return int(rows.sum() if table.weights is None else table.weights[rows].sum())
