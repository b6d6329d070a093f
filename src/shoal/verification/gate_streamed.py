"""The gate for tables that are larger than memory: a file just written is held against its source as a bag of rows.

A full-domain release is the source with every quasi-identifier cell replaced by one label and some groups left out. So
it is enough to see that each label is true of its cell, that every group left is large enough, and that the file holds
exactly the rows that the labels make of the source, each as often. Two bags of rows are equal if the sums of the keyed
hashes of their rows are; the key is drawn anew for each check, so that unequal bags agree with a chance below 2**-100.
Memory is taken by the groups and the labels, not by the rows.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from shoal.errors import InputError
from shoal.schema import Dialect, Schema, check_k
from shoal.verification.cells import Cells
from shoal.verification.gate import _claim_violations, _Recount, _share
from shoal.verification.models import Promises
from shoal.verification.reading import files
from shoal.verification.reading.layout import Layout
from shoal.verification.reading.raw_bytes import Facts, has_bare_quote, scan
from shoal.verification.reading.tables import TEXTUAL, PathName, Step, chunks, ignore_step, picker
from shoal.verification.verdict import Verdict, judge, small_groups

__all__ = ["BAG", "Claimed", "bag_of", "gate_recoded", "label_violations", "source_rows"]

Rows = Iterable[Sequence[Sequence[str]]]
BAG = 2**128  # sums of hashes are taken modulo this


class Claimed:
    """What the maker of a full-domain release says it did; nothing of it is taken on trust.

    maps: by quasi-identifier, the label of each cell; a row with a cell that has none is left out. kept: the
    combinations of labels that leave, in the order of maps; None where all do.
    """

    def __init__(
        self, maps: Mapping[str, Mapping[str, str]], kept: Collection[tuple[str, ...]] | None, counts: Mapping[str, int]
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
    suppression_limit: float | Fraction = 0,
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    models: Iterable[Any] = (),
    paths: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    step: Step = ignore_step,
) -> Verdict:
    """Return the verdict on a file just written.

    Args:
        path: the file, as a release is written.
        schema: the columns of the source; the file must hold the released ones and no other.
        k: the size that every group must have.
        source: the rows of the source, so many at a time: the released columns in order.
        claimed: what the maker says; its counts are recounted, its labels looked at, its rows compared.
        suppression_limit: the largest share of source rows that may be missing from the file.
        labels: by column, the values that each label of its hierarchy stands for.
        models: what every group must pass beside k, as plain values (see shoal.verification.models).
        paths: by sensitive column, the labels of each value in its hierarchy, from level 1 up.
        step: called with the number of rows of the file examined so far; it may raise to end the check.
    """
    k, limit = check_k(k), _share(suppression_limit)
    key = secrets.token_bytes(32)
    kind = files.kind_of(path)
    facts = scan(path) if kind in TEXTUAL else Facts(False, False, 0, True)
    promises = Promises(models, schema.columns, schema.missing, paths or {})
    recount = _Recount(schema, {}, False, Layout(), labels or {}, promises)
    written = 0
    try:
        for number, chunk in enumerate(chunks(path, Dialect(), whole=True)):
            written += bag_of(chunk[1:] if number == 0 else chunk, key)
            recount.take(chunk)
            step(recount.rows)
    except InputError as error:
        broken = str(error).removeprefix(f"{os.fspath(path)}: ")
        return judge(k, recount.rows, recount.groups, [f"the file: {broken}"])
    violations = facts.violations(recount.carriage_returns if kind in TEXTUAL else 0)
    if kind != files.SUFFIXES.get(os.path.splitext(path)[1], "csv"):
        violations.append("the file: its content is not what its name says.")
    violations += files.leftovers(path, kind)
    if kind in TEXTUAL and recount.has_quotes and has_bare_quote(path):
        violations.append("the file: a double quote stands in a cell that is not quoted.")
    violations += recount.header_violations
    n_source, n_kept, wanted = _recode(schema, source, claimed, key)
    suppressed = n_source - recount.rows
    if suppressed > limit * n_source:
        most = int(limit * n_source)
        violations.append(f"suppression: {suppressed} of {n_source} rows are not in the file; at most {most} may be.")
    if not recount.rows:
        violations.append("no rows: a release without data rows proves nothing.")

    def first_row(group: tuple[str, ...]) -> int:
        return recount.first_row(path, group)

    violations += small_groups(recount.sizes(), k, first_row)
    if recount.is_counting:
        violations += promises.violations(recount.groups, recount.sizes(), first_row, recount.cells)
    violations += _claim_violations(claimed.counts, recount, suppressed)
    violations += recount.violations()
    violations += label_violations(schema, claimed.maps, labels or {})
    if n_kept != recount.rows or wanted % BAG != written % BAG:
        violations.append(f"rows: the file does not hold the {n_kept} rows that the labels make of the source.")
    return judge(k, recount.rows, recount.groups, violations)


def bag_of(rows: Iterable[Sequence[str]], key: bytes) -> int:
    """Return the sum of the hashes of rows; no cell holds a NUL, so that it parts the cells without doubt."""
    total = 0
    for row in rows:
        digest = hashlib.blake2b("\0".join(row).encode("utf-8", "surrogatepass"), digest_size=16, key=key).digest()
        total += int.from_bytes(digest, "little")
    return total


def _recode(schema: Schema, source: Rows, claimed: Claimed, key: bytes) -> tuple[int, int, int]:
    """Return the rows of the source, those that leave, and the sum of the hashes of what they become."""
    names = [column.name for column in schema.released]
    places = [(names.index(name), claimed.maps[name]) for name in claimed.maps]
    pick = picker([place for place, _ in places])
    n_source = n_kept = total = 0
    for chunk in source:
        kept = []
        for row in chunk:
            cells = list(row)
            for place, texts in places:
                label = texts.get(cells[place])
                if label is None:
                    break
                cells[place] = label
            else:
                if claimed.kept is None or pick(cells) in claimed.kept:
                    kept.append(cells)
        n_source += len(chunk)
        n_kept += len(kept)
        total += bag_of(kept, key)
    return n_source, n_kept, total


def label_violations(
    schema: Schema,
    maps: Mapping[str, Mapping[str, str]],
    labels: Mapping[str, Mapping[str, Iterable[str]]],
) -> list[str]:
    """Return the columns whose labels are not true of the cells that they stand for."""
    found = [f"column {column.name!r}: no labels are stated." for column in schema.qi if column.name not in maps]
    for column in schema.qi:
        marks = (column.decimal, column.thousands)
        cells = Cells(column.kind, column.date_format, schema.missing, marks, labels.get(column.name))
        pairs = maps.get(column.name, {}).items()
        false = sum(source != label and not cells.covers(source, label) for source, label in pairs)
        if false:
            found.append(f"column {column.name!r}: the labels of {false} distinct cells do not cover them.")
    return found


def source_rows(path: PathName, dialect: Dialect, names: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield the rows of a file, so many at a time, with the columns of these names in this order."""
    pick = None
    for chunk in chunks(path, dialect):
        rows = [row for row in chunk if row]
        if rows and pick is None:
            header = rows.pop(0) if dialect.header else [f"column{n}" for n in range(1, len(rows[0]) + 1)]
            if absent := [name for name in names if name not in header]:
                raise InputError(f"{os.fspath(path)}: column {absent[0]!r} is not in it any more.")
            pick = picker([header.index(name) for name in names])
        if pick is not None:
            yield [list(pick(row)) for row in rows]
