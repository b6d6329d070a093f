"""The gate for tables larger than memory: compare a written file with its source as two bags of rows.

A full-domain release is the source with every quasi-identifier cell replaced by a label and some groups left out. It is
therefore enough to check that each label is true of its cell, that every remaining group is large enough, and that the
file has exactly the rows that the labels make of the source, each the same number of times. Two bags of rows are equal
if the sums of the keyed hashes of their rows are equal. The key is random and new for each check, so unequal bags agree
with a probability below 2**-100. Memory depends on the groups and labels, not on the rows.

A release of groups is not a function of cells. Its maker states for each released row the quasi-identifier cells that
it was made from. Put in place of the released ones, they must give back the rows of the source as a bag; so each
released row has a source row of its own, whose cells it must cover.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from shoal.errors import InputError
from shoal.schema import Dialect, Schema, check_k
from shoal.verification.cells import Cells
from shoal.verification.gate_streamed.outliers import coded_blocks, find_recoded, recoded_rows
from shoal.verification.models.checks import Goal, ModelChecks
from shoal.verification.reading.coded import Step, ignore_step
from shoal.verification.reading.files import UnreadableError
from shoal.verification.reading.names import numbered
from shoal.verification.reading.tables import PathName, chunks, picker
from shoal.verification.recount import Recount, WrittenFile
from shoal.verification.verdict import (
    NO_ROWS,
    Group,
    Verdict,
    Violation,
    claim_violations,
    judge,
    plural,
    read_limit,
    suppression_violations,
)

__all__ = [
    "BAG",
    "Claimed",
    "Rows",
    "bag_of",
    "gate_recoded",
    "is_true",
    "label_violations",
    "recode",
    "source_rows",
]

Rows = Iterable[Sequence[Sequence[str]]]
BAG = 2**128  # modulus of the sums of hashes


class Claimed:
    """What the maker of a full-domain release claims; all of it is checked.

    Args:
        maps: By quasi-identifier, the label of each cell. A row with a cell that has no label is suppressed.
        kept: The combinations of labels that are released, in the order of `maps`; None if all are.
        counts: "rows", "groups", "smallest_group" and "suppressed_rows".
    """

    def __init__(
        self, maps: Mapping[str, Mapping[str, str]], kept: Collection[Group] | None, counts: Mapping[str, int]
    ) -> None:
        self.maps = maps
        self.kept = None if kept is None else frozenset(kept)
        self.counts = counts


def gate_recoded(
    path: PathName,
    schema: Schema,
    k: int,
    source: Rows,
    claimed: Claimed,
    *,
    outliers: Rows | None = None,
    step: Step = ignore_step,
    **goal: Unpack[Goal],
) -> Verdict:
    """Return the verdict on a full-domain release that was just written.

    Args:
        path: The released file.
        schema: The columns of the source; the file must have the released ones and no others.
        k: The size that every group must have.
        source: The rows of the source in chunks, with the released columns in order.
        claimed: What the maker claims: its counts are recounted, its labels checked, its rows compared.
        outliers: The columns of the source whose outliers are recoded, in the order of the schema; None without any.
        step: Called with the number of rows of the file examined so far; it may raise to end the check.
        goal: What the release must meet besides k; see `Goal`.

    Raises:
        FileError: The file cannot be opened.
        UsageError: An argument is not valid.
    """
    k, limit = check_k(k), read_limit(goal.get("suppression_limit", 0))
    labels = goal.get("labels") or {}
    key = secrets.token_bytes(32)
    file = WrittenFile(path)
    recount = Recount(schema, labels, ModelChecks.of_goal(goal, schema))
    written_bag = 0
    try:
        for number, chunk in enumerate(file.chunks()):
            written_bag += bag_of(chunk[1:] if number == 0 else chunk, key)
            recount.add(chunk)
            step(recount.rows)
    except UnreadableError as error:
        return judge(k, recount.rows, recount.groups, file.broken(error))
    violations = file.violations() + recount.header_violations
    if outliers is not None:
        recoded, wrong = find_recoded(schema, k, lambda names: coded_blocks(outliers))
        source, violations = recoded_rows(source, schema, recoded), violations + wrong
    n_source, n_kept, expected_bag = recode(schema, source, claimed, key)
    n_suppressed = n_source - recount.rows
    violations += suppression_violations(n_suppressed, n_source, limit)
    if not recount.rows:
        violations.append(NO_ROWS)
    violations += recount.group_violations(path, k)
    violations += claim_violations(claimed.counts, recount.counts(n_suppressed))
    violations += recount.row_violations()
    violations += label_violations(schema, claimed.maps, labels)
    if n_kept != recount.rows or expected_bag % BAG != written_bag % BAG:
        text = f"the file does not have exactly the {plural(n_kept, 'row')} that the labels make of the source"
        violations.append(Violation("rows", text))
    return replace(judge(k, recount.rows, recount.groups, violations), one_value=recount.one_value())


def is_true(cells: Cells, source: str, released: str) -> bool:
    """Return whether a released cell is true of its source."""
    return source == released or cells.covers(source, released)


def bag_of(rows: Iterable[Sequence[str]], key: bytes) -> int:
    """Return the sum of the keyed hashes of rows. NUL separates the cells; no cell contains it."""
    total = 0
    for row in rows:
        digest = hashlib.blake2b("\0".join(row).encode("utf-8", "surrogatepass"), digest_size=16, key=key).digest()
        total += int.from_bytes(digest, "little")
    return total


def recode(schema: Schema, source: Rows, claimed: Claimed, key: bytes) -> tuple[int, int, int]:
    """Return the number of source rows, the number of released rows, and the bag of the released rows."""
    names = [column.name for column in schema.released]
    label_maps = [(names.index(name), claimed.maps[name]) for name in claimed.maps]
    pick = picker([position for position, _ in label_maps])
    n_source = n_kept = bag = 0
    for chunk in source:
        kept_rows = []
        for row in chunk:
            cells = list(row)
            for position, label_of in label_maps:
                label = label_of.get(cells[position])
                if label is None:
                    break
                cells[position] = label
            else:
                if claimed.kept is None or pick(cells) in claimed.kept:
                    kept_rows.append(cells)
        n_source += len(chunk)
        n_kept += len(kept_rows)
        bag += bag_of(kept_rows, key)
    return n_source, n_kept, bag


def label_violations(
    schema: Schema,
    maps: Mapping[str, Mapping[str, str]],
    labels: Mapping[str, Mapping[str, Iterable[str]]],
) -> list[Violation]:
    """Return the columns whose labels do not cover the cells that they replace.

    Args:
        schema: The columns of the source.
        maps: By quasi-identifier, the label of each cell.
        labels: By column, the values that each label of its hierarchy means.
    """
    violations = [
        Violation(f"column {column.name!r}", "the maker states no labels")
        for column in schema.qi
        if column.name not in maps
    ]
    for column in schema.qi:
        cells = Cells.of(column, schema.missing, labels.get(column.name))
        pairs = maps.get(column.name, {}).items()
        n_false = sum(not is_true(cells, source, label) for source, label in pairs)
        if n_false:
            text = f"the labels of {plural(n_false, 'distinct cell')} do not cover their source"
            violations.append(Violation(f"column {column.name!r}", text))
    return violations


def source_rows(path: PathName, dialect: Dialect, names: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield the rows of a file in chunks.

    Args:
        path: The file.
        dialect: How the file is written.
        names: The columns to return, in this order.

    Raises:
        InputError: A column is missing, or the file cannot be read as a table.
    """
    pick = None
    for chunk in chunks(path, dialect):
        rows = [row for row in chunk if row]
        if rows and pick is None:
            header = rows.pop(0) if dialect.header else [f"column{n}" for n in range(1, len(rows[0]) + 1)]
            header = numbered(header) if dialect.numbered else header
            if missing_names := [name for name in names if name not in header]:
                raise InputError(f"{os.fspath(path)}: column {missing_names[0]!r} is no longer in the file.")
            pick = picker([header.index(name) for name in names])
        if pick is not None:
            yield [list(pick(row)) for row in rows]
