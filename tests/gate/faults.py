"""Deliberate faults in the anonymiser. Each breaks one step; the gate must stop every one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.encoding.decode import Released
from shoal.encoding.partition import Partition, tight_partition
from shoal.methods import mondrian
from shoal.metrics import Measures
from shoal.release import make, preconditions
from shoal.release.cells import show
from shoal.tables.formats import writers
from shoal.tables.table import Table

Patch = pytest.MonkeyPatch
Fault = Callable[[Patch], None]
FAULTS: dict[str, Fault] = {}


def fault(breaks: Fault) -> Fault:
    """Enter a fault under the name of its function."""
    FAULTS[breaks.__name__] = breaks
    return breaks


def spoil_partition(patch: Patch, spoil: Callable[[Any, Partition], Partition]) -> None:
    """Let a function change what the method returns."""
    original = mondrian.Mondrian.partition

    def partition(self: Any, encoded: Any, models: Any, run: Any) -> Partition:
        return spoil(encoded, original(self, encoded, models, run))

    patch.setattr(mondrian.Mondrian, "partition", partition)


def relabelled(encoded: Any, made: Partition, labels: np.ndarray) -> Partition:
    """Give rows other groups, whose cells stay as they were."""
    return Partition.of_rows(encoded, labels, made.cells)


def spoil_text(patch: Patch, spoil: Callable[[pl.DataFrame, Table], pl.DataFrame]) -> None:
    """Let a function change the released cells."""
    spoil_released(patch, lambda frame, rows, table: (spoil(frame, table), rows))


def spoil_released(
    patch: Patch, spoil: Callable[[pl.DataFrame, np.ndarray, Table], tuple[pl.DataFrame, np.ndarray]]
) -> None:
    """Let a function change the released cells and their source rows."""
    original, tables = show.decode, {}
    encode = make.encode

    def remember(table: Table, *words: Any, **options: Any) -> Any:
        tables["table"] = table
        return encode(table, *words, **options)

    def decode(*words: Any, **options: Any) -> Released:
        released = original(*words, **options)
        frame, rows = spoil(released.table.frame, released.source_rows, tables["table"])
        return Released(Table(frame), rows)

    for module in (make, preconditions):
        patch.setattr(module, "encode", remember)
    patch.setattr(show, "decode", decode)


def spoil_bytes(patch: Patch, spoil: Callable[[bytes], bytes]) -> None:
    """Let a function change the bytes that were written."""
    original = writers.write_csv

    def write_csv(text: pl.DataFrame, path: Path, *more: Any) -> None:
        original(text, path, *more)
        path.write_bytes(spoil(path.read_bytes()))

    patch.setattr(writers, "write_csv", write_csv)


def spoil_measures(patch: Patch, spoil: Callable[[Measures], Measures]) -> None:
    """Let a function change what is claimed."""
    original = show.metrics.measure_partition
    patch.setattr(show.metrics, "measure_partition", lambda *words, **options: spoil(original(*words, **options)))


def set_cell(frame: pl.DataFrame, column: str, row: int, text: str) -> pl.DataFrame:
    cells = frame[column].to_list()
    cells[row] = text
    return frame.with_columns(pl.Series(column, cells, dtype=pl.String))


def resort(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sort(frame.columns)


# Faults of the method.


@fault
def off_by_one_k(patch: Patch) -> None:
    original = mondrian.check_models
    patch.setattr(mondrian, "check_models", lambda *words, **options: original(*words, **options) - 1)


@fault
def every_tuple_its_own_group(patch: Patch) -> None:
    spoil_partition(patch, lambda encoded, partition: tight_partition(encoded, encoded.row_tuple))


@fault
def one_row_suppressed_without_leave(patch: Patch) -> None:
    def spoil(encoded: Any, partition: Partition) -> Partition:
        labels = partition.labels.copy()
        labels[0] = -1
        return relabelled(encoded, partition, labels)

    spoil_partition(patch, spoil)


@fault
def two_rows_swap_labels(patch: Patch) -> None:
    def spoil(encoded: Any, partition: Partition) -> Partition:
        labels = partition.labels.copy()
        labels[[0, -1]] = labels[[-1, 0]]
        return relabelled(encoded, partition, labels)

    spoil_partition(patch, spoil)


@fault
def labels_shifted_by_one_row(patch: Patch) -> None:
    spoil_partition(patch, lambda encoded, partition: relabelled(encoded, partition, np.roll(partition.labels, 1)))


@fault
def labels_shifted_by_one_group(patch: Patch) -> None:
    spoil_partition(
        patch, lambda encoded, partition: relabelled(encoded, partition, (partition.labels + 1) % partition.n_groups)
    )


@fault
def ranges_end_one_value_early(patch: Patch) -> None:
    def spoil(encoded: Any, partition: Partition) -> Partition:
        age = partition.cells[0]
        return replace(partition, cells=(replace(age, high=np.maximum(age.low, age.high - 1)), *partition.cells[1:]))

    spoil_partition(patch, spoil)


@fault
def sets_lose_a_member(patch: Patch) -> None:
    def spoil(encoded: Any, partition: Partition) -> Partition:
        cells = partition.cells[2]
        members = cells.members.copy()
        members[1:] = members[:-1]
        return replace(partition, cells=(*partition.cells[:2], replace(cells, members=members)))

    spoil_partition(patch, spoil)


@fault
def groups_show_each_others_cells(patch: Patch) -> None:
    def spoil(encoded: Any, partition: Partition) -> Partition:
        age = partition.cells[0]
        return replace(partition, cells=(replace(age, index=age.index[::-1].copy()), *partition.cells[1:]))

    spoil_partition(patch, spoil)


# Faults of decoding.


@fault
def a_quasi_identifier_is_skipped(patch: Patch) -> None:
    def spoil(frame: pl.DataFrame, rows: np.ndarray, table: Table) -> tuple[pl.DataFrame, np.ndarray]:
        spoiled = frame.with_columns(table.frame["zip"].gather(rows)).with_row_index("at")
        spoiled = spoiled.sort(frame.columns)
        return spoiled.drop("at"), rows[spoiled["at"].to_numpy()]

    spoil_released(patch, spoil)


@fault
def a_row_is_dropped(patch: Patch) -> None:
    spoil_released(patch, lambda frame, rows, table: (frame.slice(1), rows[1:]))


@fault
def a_row_is_dropped_from_the_text_alone(patch: Patch) -> None:
    spoil_text(patch, lambda frame, table: frame.slice(1))


@fault
def a_row_stands_twice(patch: Patch) -> None:
    spoil_released(
        patch, lambda frame, rows, table: (pl.concat([frame.head(1), frame]), np.concatenate([rows[:1], rows]))
    )


@fault
def a_row_replaces_another(patch: Patch) -> None:
    spoil_released(
        patch,
        lambda frame, rows, table: (
            pl.concat([frame.head(1), frame.head(1), frame.slice(2)]),
            np.concatenate([rows[:1], rows[:1], rows[2:]]),
        ),
    )


@fault
def sensitive_cells_are_shuffled(patch: Patch) -> None:
    spoil_text(patch, lambda frame, table: frame.with_columns(frame["disease"].reverse()))


@fault
def a_sensitive_cell_is_changed(patch: Patch) -> None:
    spoil_text(patch, lambda frame, table: set_cell(frame, "disease", frame.height - 1, "zzz"))


@fault
def a_sensitive_cell_is_trimmed(patch: Patch) -> None:
    spoil_text(patch, lambda frame, table: frame.with_columns(pl.col("cost").str.strip_chars()))


@fault
def a_number_is_reformatted(patch: Patch) -> None:
    spoil_text(patch, lambda frame, table: frame.with_columns(pl.col("cost").str.replace(r"\.50$", ".5")))


@fault
def the_wrong_cell_is_widened(patch: Patch) -> None:
    spoil_text(patch, lambda frame, table: resort(set_cell(frame, "age", 0, "*")))


@fault
def a_cell_shows_its_exact_value(patch: Patch) -> None:
    def spoil(frame: pl.DataFrame, rows: np.ndarray, table: Table) -> tuple[pl.DataFrame, np.ndarray]:
        return set_cell(frame, "age", 0, table.frame["age"][int(rows[0])]), rows

    spoil_released(patch, spoil)


@fault
def a_missing_value_becomes_a_value(patch: Patch) -> None:
    spoil_text(patch, lambda frame, table: resort(frame.with_columns(pl.col("sex").replace("", "Female"))))


@fault
def one_column_is_shifted_by_a_row(patch: Patch) -> None:
    spoil_text(patch, lambda frame, table: frame.with_columns(pl.col("age").shift(1, fill_value="*")))


@fault
def rows_keep_the_order_of_the_input(patch: Patch) -> None:
    def spoil(frame: pl.DataFrame, rows: np.ndarray, table: Table) -> tuple[pl.DataFrame, np.ndarray]:
        order = np.argsort(rows)
        return frame[order.tolist()], rows[order]

    spoil_released(patch, spoil)


@fault
def rows_stand_in_reverse(patch: Patch) -> None:
    spoil_released(patch, lambda frame, rows, table: (frame.reverse(), rows[::-1]))


@fault
def the_row_map_is_wrong(patch: Patch) -> None:
    spoil_released(patch, lambda frame, rows, table: (frame, rows[::-1]))


@fault
def the_row_map_points_outside(patch: Patch) -> None:
    spoil_released(patch, lambda frame, rows, table: (frame, rows + 1))


@fault
def an_index_is_left(patch: Patch) -> None:
    spoil_released(patch, lambda frame, rows, table: (frame.with_columns(pl.Series("", rows).cast(pl.String)), rows))


@fault
def an_identifier_is_left(patch: Patch) -> None:
    spoil_released(patch, lambda frame, rows, table: (frame.with_columns(table.frame["name"].gather(rows)), rows))


@fault
def a_column_is_lost(patch: Patch) -> None:
    spoil_text(patch, lambda frame, table: frame.drop("cost"))


@fault
def two_columns_change_places(patch: Patch) -> None:
    def spoil(frame: pl.DataFrame, table: Table) -> pl.DataFrame:
        return frame.rename({"disease": "cost", "cost": "disease"}).select(frame.columns)

    spoil_text(patch, spoil)


# Faults of writing.


@fault
def the_file_is_cut_short(patch: Patch) -> None:
    spoil_bytes(patch, lambda content: content[:-3])


@fault
def the_last_rows_are_lost(patch: Patch) -> None:
    spoil_bytes(patch, lambda content: b"".join(content.splitlines(keepends=True)[:-2]))


@fault
def the_header_is_lost(patch: Patch) -> None:
    spoil_bytes(patch, lambda content: content.partition(b"\n")[2])


@fault
def a_byte_order_mark_is_written(patch: Patch) -> None:
    spoil_bytes(patch, lambda content: b"\xef\xbb\xbf" + content)


@fault
def lines_end_with_carriage_returns(patch: Patch) -> None:
    spoil_bytes(patch, lambda content: content.replace(b"\n", b"\r\n"))


@fault
def quotes_are_left_out(patch: Patch) -> None:
    spoil_bytes(patch, lambda content: content.replace(b'"', b""))


@fault
def a_note_is_appended(patch: Patch) -> None:
    spoil_bytes(patch, lambda content: content + b"# made from 60 rows\n")


@fault
def a_blank_line_is_appended(patch: Patch) -> None:
    spoil_bytes(patch, lambda content: content + b"\n")


@fault
def another_encoding_is_written(patch: Patch) -> None:
    spoil_bytes(patch, lambda content: content.decode().encode("latin-1"))


# Faults of reporting.


@fault
def more_groups_are_claimed(patch: Patch) -> None:
    spoil_measures(patch, lambda measures: replace(measures, groups=measures.groups + 1))


@fault
def a_larger_smallest_group_is_claimed(patch: Patch) -> None:
    spoil_measures(patch, lambda measures: replace(measures, smallest_group=measures.smallest_group + 1))
