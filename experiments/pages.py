"""Shared by the experiments: the Adult table, Markdown tables and pictures, with the same bytes on every run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal import datasets
from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.encoding.encode import encode
from shoal.encoding.partition import Partition
from shoal.hierarchy.base import Rule
from shoal.metrics import Measures, measure_tables
from shoal.rules import Rule as ConstraintRule
from shoal.rules import compile_rules
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame

__all__ = ["adult", "distinct_tuples", "encode_columns", "make_schema", "measure", "new_figure", "save", "write_table"]

FOLDER = Path(__file__).parent
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week", "fnlwgt")


def adult(n_rows: int | None = None, *, part: str = "train") -> pl.DataFrame:
    """Return the first `n_rows` complete rows of Adult, all of them by default."""
    frame = datasets.adult(part=part, complete=True)  # type: ignore[arg-type]
    return frame if n_rows is None else frame.head(n_rows)


def make_schema(names: Sequence[str]) -> Schema:
    """Return a schema in which all the columns are quasi-identifiers."""
    kinds = {name: Kind.NUMERIC if name in NUMBERS else Kind.CATEGORICAL for name in names}
    return Schema.build(list(names), {Role.QI: list(names)}, kinds=kinds)


def encode_columns(frame: pl.DataFrame, names: Sequence[str], rules: Mapping[str, Rule] | None = None) -> Encoded:
    """Encode the named columns, all of them quasi-identifiers."""
    return encode(from_frame(frame.select(names)), make_schema(names), rules)


def measure(
    frame: pl.DataFrame, encoded: Encoded, partition: Partition, rules: Sequence[ConstraintRule] = ()
) -> Measures:
    """Measure the released cells of a partition; a suppressed row counts as a total loss."""
    names = [attribute.name for attribute in encoded.attributes]
    schema = make_schema(names)
    return measure_tables(
        from_frame(frame.select(names)),
        decode(encoded, partition, schema).table,
        schema,
        hierarchies={a.name: a.hierarchy for a in encoded.attributes if a.hierarchy is not None},
        rules=compile_rules(rules, encoded.attributes),
    )


def distinct_tuples(partition: Partition) -> int:
    """Count the distinct combinations of released cells."""
    return len(set(zip(*(cells.index.tolist() for cells in partition.cells), strict=True)))


def write_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a Markdown table; all columns except the first are aligned as numbers."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def new_figure(width: float = 5.4, height: float = 3.4, columns: int = 1) -> tuple[Any, Any]:
    """Create a matplotlib figure and its axes."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "none", "font.size": 9})
    import matplotlib.pyplot as plt

    return plt.subplots(1, columns, figsize=(width, height))


def save(figure: Any, name: str) -> None:
    """Save a figure as SVG without its date, so that the bytes repeat."""
    path = FOLDER / name
    figure.savefig(path, metadata={"Date": None, "Creator": "shoal"}, bbox_inches="tight")
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")
