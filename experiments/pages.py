"""Shared by the experiments: the Adult table, Markdown tables and pictures, with the same bytes on every run."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from shoal import datasets
from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.encoding.encode import encode
from shoal.encoding.partition import Partition
from shoal.errors import FileError
from shoal.hierarchy.base import Rule
from shoal.metrics import Measures, measure_tables
from shoal.rules import Rule as ConstraintRule
from shoal.rules import compile_rules
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame

__all__ = [
    "FULL",
    "Scope",
    "distinct_tuples",
    "encode_columns",
    "make_schema",
    "measure",
    "new_figure",
    "read_scope",
    "write_table",
]

FOLDER = Path(__file__).parent
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week", "fnlwgt")


@dataclass(frozen=True)
class Scope:
    """How much an experiment runs, and where it writes.

    Attributes:
        rows: The number of rows of each table; None for all of them, and all settings of the experiment.
        folder: Where the page and the picture go.
    """

    rows: int | None = None
    folder: Path = FOLDER

    @property
    def is_sample(self) -> bool:
        """Whether this is a trial on a few rows, which also leaves out the longest settings."""
        return self.rows is not None

    def adult(self, n_rows: int | None = None, *, part: str = "train") -> pl.DataFrame:
        """Return the first `n_rows` complete rows of Adult, all of them by default."""
        try:
            frame = datasets.adult(part=part, complete=True)  # type: ignore[arg-type]
        except FileError as error:
            raise SystemExit(f"{type(self).__module__}: {error}") from None
        sizes = [size for size in (n_rows, self.rows) if size is not None]
        return frame.head(min(sizes)) if sizes else frame

    def write(self, name: str, text: str) -> None:
        """Write a page."""
        (self.folder / name).write_text(text)

    def save(self, figure: Any, name: str) -> None:
        """Save a figure as SVG without its date, so that the bytes repeat."""
        import matplotlib.pyplot as plt

        path = self.folder / name
        figure.savefig(path, metadata={"Date": None, "Creator": "shoal"}, bbox_inches="tight")
        plt.close(figure)
        path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")


FULL = Scope()


def read_scope(description: str | None) -> Scope:
    """Read the scope from the command line."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--rows", type=int, help="try the experiment on this many rows of each table")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write the page and the picture")
    arguments = parser.parse_args()
    if arguments.rows is not None and arguments.folder == FOLDER:
        parser.error("--rows would replace the results of the full run. Name another folder with --folder.")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    return Scope(arguments.rows, arguments.folder)


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
