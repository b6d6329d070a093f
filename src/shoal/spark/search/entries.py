"""The entries of sections as tasks return them, and what a section reports to the driver beside them."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.release.counted_tables.sections.search import SectionGroups
from shoal.release.counted_tables.sections.suppression import HELD, SectionSuppression
from shoal.spark.jobs import batches
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = [
    "arrow_of",
    "entries_of",
    "held_columns",
    "reported",
    "reports_of",
    "schema_of",
    "shown_columns",
]

Columns = Mapping[str, str]  # by name, the type in Spark


def shown_columns(packing: Packing, n_shown: int = 0) -> Columns:
    """Return the columns of entries with the keys of their cells; n_shown: how many columns centres and spread have."""
    columns = dict.fromkeys(packing.names, "bigint") | {"several": "int", "place": "bigint", "rows": "bigint"}
    columns |= {f"c{i}": "string" for i in range(packing.n_keys + n_shown)} | {"section": "int"}
    return columns | ({"g": "bigint"} if n_shown else {})


def held_columns(suppression: SectionSuppression) -> Columns:
    """Return the columns of entries that may leave; see `shoal.release.counted_tables.sections.suppression`."""
    kinds = {name: "bigint" if kind is np.int64 else "int" for name, kind in HELD.items()}
    return dict.fromkeys(suppression.columns, "bigint") | kinds | {"section": "int"}


def schema_of(columns: Columns) -> str:
    """Return the schema of entries and reports."""
    return ", ".join(f"{name} {kind}" for name, kind in {**columns, "facts": "string"}.items())


def entries_of(units: pl.DataFrame, groups: SectionGroups, node: int = 0) -> pl.DataFrame:
    """Return the entries of a section with the keys of their cells.

    If groups show their centres, these and their spread follow, and a number that no other group has.

    Args:
        units: The packed tuples or units of the section.
        groups: Its groups.
        node: The number of the section among all that were searched.
    """
    import polars as pl

    texts = [*groups.cells, *groups.shown]
    numbers = [pl.Series("g", groups.groups + (np.int64(node) << 32))] if groups.shown else []
    return groups.entries(units).with_columns(
        pl.col("several").cast(pl.Int32),
        *(pl.Series(f"c{i}", keys.tolist(), dtype=pl.String) for i, keys in enumerate(texts)),
        *numbers,
    )


def reported(entries: pl.DataFrame | None, node: int, outcome: object, columns: Columns) -> Any:
    """Return the entries of a section, and in a row of its own what it reports, as Spark takes them from a task."""
    import polars as pl

    kinds = {"int": pl.Int32, "bigint": pl.Int64, "string": pl.String}
    empty = pl.DataFrame(schema={name: kinds[kind] for name, kind in columns.items()})
    report = base64.b64encode(pickle.dumps((node, outcome))).decode()
    parts = [empty] if entries is None else [entries.with_columns(pl.lit(node, pl.Int32).alias("section"))]
    whole = pl.concat([*parts, pl.DataFrame({"facts": [report]})], how="diagonal")
    return arrow_of(whole.select(*columns, "facts"))


def reports_of(found: DataFrame) -> dict[int, Any]:
    """Return what sections reported, by node."""
    texts = found.where("facts is not null").select("facts").toArrow().column(0).to_pylist()
    return dict(pickle.loads(base64.b64decode(text)) for text in texts)


def arrow_of(frame: pl.DataFrame) -> Any:
    """Return a frame as Spark takes it from a task."""
    import pyarrow as pa

    return pa.Table.from_batches(batches([frame], max(1, frame.height)))
