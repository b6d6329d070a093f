"""A release: the recoded table, what it holds and lost, and the gate that it passes on its way to a file."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal import verification
from shoal.encoding.decode import Released
from shoal.errors import FileError, UsageError
from shoal.methods.base import DEFAULT
from shoal.metrics import Measures
from shoal.release.data_dictionary import Seen
from shoal.release.file_layout import lay_out
from shoal.release.publish import (
    check_report,
    load_table,
    manifest_path,
    publish_files,
    require,
    sha256_of,
    write_dictionary,
    write_report,
)
from shoal.rules import RuleVerdict
from shoal.schema import Dialect, Kind, Role, Schema
from shoal.settings.settings import Settings, check_signoff
from shoal.tables.formats import writers
from shoal.tables.formats.sniff import Format, suffix_of
from shoal.tables.table import Table
from shoal.tables.targets.database import TableTarget
from shoal.tables.targets.file import Beside, Stream, Target

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Release", "Request", "manifest_path"]


@dataclass(frozen=True)
class Request:
    """What was asked for: it goes into the manifest, and the gate holds the release to it.

    cells: ranges as "text" or as two columns, "bounds". snap: the ends of ranges are widened to a grid. accept_unique:
    insensitive columns that may leave although some of their values are rare. unknown: what to do with values that a
    hierarchy lacks, "error" or "top". bound: whether to tell what any release of the table must lose, however long that
    takes; None where it takes little time. models: in words; specs: the same as plain values, for the gate.
    suppression_limit: the largest share of rows that may be left out. weights: of the quasi-identifiers; none where all
    count alike.
    """

    k: int
    models: tuple[str, ...] = ()
    specs: tuple[Mapping[str, Any], ...] = ()
    suppression_limit: Fraction = Fraction(0)
    method: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    seed: int = 0
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    keep_order: bool = False
    cells: str = "text"
    snap: bool = False
    spreadsheet_safe: bool = False
    accept_unique: tuple[str, ...] = ()
    unknown: str = "error"
    bound: bool | None = None

    def __post_init__(self) -> None:
        if self.cells not in ("text", "bounds"):
            raise UsageError(f"cells={self.cells!r} is not known. Use 'text' or 'bounds'.")
        if not 0 <= self.suppression_limit <= 1:
            raise UsageError(f"suppression_limit={self.suppression_limit} is not a share. Use a number from 0 to 1.")

    @property
    def tells_bound(self) -> bool:
        """Whether the lower bound is told: where it was asked for, and by default for our own method."""
        return self.method == DEFAULT if self.bound is None else self.bound


@dataclass(frozen=True)
class Release:
    """The released table, its groups and measures.

    text: the released cells. source_rows: the row of the original behind each released row, which never leaves the
    process. find_bound: works out the lower bound. labels: by column, the values that each label of its hierarchy
    stands for. ends: of numbers and dates, the least and the greatest value that each cell stands for. paths: by
    sensitive column with a hierarchy, the labels of each value. population: the table that models compare with.
    levels: of a full-domain release, the level of each quasi-identifier. rules: how each data constraint
    rule is kept. search: what else the method found. settings: of the run, to tell how to repeat it.
    """

    text: pl.DataFrame = field(repr=False)
    source_rows: NDArray[np.int64] = field(repr=False)
    original: Table = field(repr=False)
    schema: Schema
    request: Request
    measures: Measures
    notes: tuple[str, ...] = ()
    labels: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict, repr=False)
    ends: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict, repr=False)
    paths: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict, repr=False)
    population: Table | None = field(default=None, repr=False)
    find_bound: Callable[[], float | None] = field(default=lambda: None, repr=False)
    levels: Mapping[str, int] | None = None
    rules: tuple[RuleVerdict, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict, repr=False)
    settings: Settings = field(default_factory=Settings, repr=False)

    @cached_property
    def lower_bound(self) -> float | None:
        """What any k-anonymous local recoding of the table loses at least, or None where that is not computed."""
        return self.find_bound()

    @cached_property
    def frame(self) -> Any:
        """The release as a frame of the library that the original came from (polars for a file)."""
        from shoal.tables.frames import rebuild

        self._verify()
        return rebuild(self.text, self.original, self.source_rows, self.schema)

    def _verify(self) -> None:
        """Refuse to give away cells in which the request is not met."""
        names = [column.name for column in self.schema.qi]
        verification.verify(
            self.text,
            qi=names,
            k=self.request.k,
            kinds={c.name: c.kind for c in self.schema.released if c.kind is not None},
            date_formats={c.name: c.date_format for c in self.schema.released if c.kind is Kind.DATE},
            missing=self.schema.missing,
            marks=next(((c.decimal, c.thousands) for c in self.schema.columns), (".", "")),
            labels=self.labels,
            models=self.request.specs,
            population=None if self.population is None else self.population.frame,
            paths=self.paths,
        )

    @cached_property
    def _file(self) -> Released:
        """The cells as they go into a file, with the source row of each."""
        made = Released(Table(self.text), self.source_rows, self.ends)
        request = self.request
        return lay_out(
            made,
            self.schema,
            bounds=request.cells == "bounds",
            safe=request.spreadsheet_safe,
            keep_order=request.keep_order,
        )

    def to_numeric(self, columns: Sequence[str] | None = None, *, domain: str = "release") -> Any:
        """Return the release as numbers for learners, a frame of the library that the original came from.

        Numbers and dates as the middle of their ranges, categories as one column a value; shoal.metrics.features says
        all of it. columns: those to take, else all that are released. domain: "release" knows what the release shows
        and nothing else, so a label of a hierarchy is a value like others; "original" gives the columns that the
        original would have and spreads labels over the values below them: its column names tell values of the original,
        so it is not for publication.
        """
        from shoal.metrics.features import encode_release

        self._verify()
        return encode_release(Table(self.text), self.original, self.schema, self.labels, columns, domain)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        key: bytes | None = None,
        report: str | os.PathLike[str] | None = None,
        signoff: Mapping[str, str] | None = None,
    ) -> Path:
        """Write the release and its manifest, both or neither, and only if the written bytes pass the gate.

        path: its ending tells the format: .csv, .csv.gz, .parquet or .xlsx. force: replace a file that exists.
        key: a secret to sign the input's hash in the manifest with; without it the manifest
        holds no hash of the input. report: the path of an HTML file; the report is written there, its private part
        and their JSON twins beside it. signoff: lines of it that are filled in: who, when, purpose, legal_basis,
        reviewer. Returns the path of the manifest.
        """
        if signoff:
            settings = replace(self.settings, signoff=check_signoff(signoff))
            return replace(self, settings=settings).write(path, force=force, key=key, report=report)
        with ExitStack() as stack:
            target = stack.enter_context(Target(path, force=force, source=self.original.path))
            beside = None if report is None else Beside(report, force=force, source=self.original.path)
            self.write_to(target, key=key, report=beside and stack.enter_context(beside))
        return manifest_path(target.path)

    def write_to(
        self, target: Target | Stream | TableTarget, *, key: bytes | None = None, report: Beside | None = None
    ) -> Path | None:
        """Write to a target that is open already; a stream gets the release alone, and there is no manifest.

        report: where the report goes, open already too; it needs a release that is a file.
        """
        self.original.check_unchanged()
        check_report(target, report)
        if isinstance(target, TableTarget):
            self._write_table(target, key)
            return None
        unfinished = target.temporary(f"release{suffix_of(target.format)}")
        try:
            write_release(self._file.table.frame, unfinished, target.format)
            verdict = self._pass_gate(unfinished)
            self.original.check_unchanged()
            if isinstance(target, Stream):
                target.publish(unfinished)
                return None
            beside = self._write_dictionary(target)
            content = self.manifest(target.path.name, unfinished, key)
            return publish_files(target, unfinished, beside, content, write_report(report, self, verdict, content))
        except BrokenPipeError:
            raise  # nobody reads the stream any more: no fault
        except OSError as error:
            raise FileError(f"{target.path}: cannot be written: {error.strerror}.") from None

    def _write_table(self, target: TableTarget, key: bytes | None) -> None:
        """Write to a table of a database: the file that would be written passes the gate, then it is loaded."""
        request = self.request
        if request.keep_order or request.spreadsheet_safe or request.cells != "text":
            raise UsageError(
                f"{target.place}: --keep-order, --cells bounds and --spreadsheet-safe are for files. Leave them out."
            )
        unfinished = target.temporary("release.csv")
        write_release(self._file.table.frame, unfinished, target.format)
        self._pass_gate(unfinished)
        load_table(target, unfinished, self, self.manifest(target.url.table, unfinished, key))

    def _write_dictionary(self, target: Target) -> list[tuple[Path, Path]]:
        """Write the data dictionary as JSON and as a page; return the unfinished files with their final paths."""
        missing = list(self.schema.missing)
        cells = {
            column.name: Seen(
                self.text[column.name].n_unique() if column.role is Role.QI else 0,
                int(self.text[column.name].is_in(missing).sum()),
            )
            for column in self.schema.released
        }
        return write_dictionary(target, self, cells, self.text.height)

    def manifest(self, name: str, written: Path, key: bytes | None) -> dict[str, Any]:
        """Return what may be published: no count from 1 to k - 1, nothing about the input but its keyed hash."""
        from shoal import __version__

        k, measures = self.request.k, self.measures.as_dict()
        suppressed = measures.pop("suppressed_rows")
        if 0 < suppressed < k:
            suppressed = "<k"
            measures = {name: measures[name] for name in ("rows", "groups", "smallest_group", "c_avg")}
        content: dict[str, Any] = {
            "shoal": __version__,
            "file": name,
            "sha256": sha256_of(written),
            "k": k,
            "models": list(self.request.models),
            "suppression_limit": float(self.request.suppression_limit),
            "method": self.request.method,
            "options": dict(self.request.options),
            "seed": self.request.seed,
            "weights": {name: float(weight) for name, weight in self.request.weights.items()},
            "rules": [verdict.rule for verdict in self.rules],
            "cells": self.request.cells,
            "snap": self.request.snap,
            "accepted_unique_columns": list(self.request.accept_unique),
            "counts": "persons" if self.schema.names(Role.PERSON) else "rows, one taken for one person",
            "columns": [
                {"name": c.name, "role": str(c.role)} | ({"kind": str(c.kind)} if c.role is Role.QI else {})
                for c in self.schema.released
            ],
            "suppressed_rows": suppressed,
            "measures": measures,
        }
        if key is not None:
            content["input_hmac_sha256"] = _keyed_hash(self.original, key)
        return content

    def _pass_gate(self, written: Path) -> verification.Verdict:
        """Re-read the written bytes and hold them against the original and the request."""
        table = self.original
        if table.path is not None and verification.can_read(table.path):
            dialect = table.dialect or Dialect()
            original: Any = verification.read_original(table.path, dialect, table.sheet)
        else:
            original = _as_text(table)
        verdict = verification.gate(
            written,
            self.schema,
            self.request.k,
            original,
            self._file.source_rows,
            self.claims(),
            keep_order=self.request.keep_order,
            labels=self.labels,
            bounds=self.ends if self.request.cells == "bounds" else (),
            spreadsheet_safe=self.request.spreadsheet_safe,
            suppression_limit=self.request.suppression_limit,
            models=self.request.specs,
            paths=self.paths,
            population=None if self.population is None else _as_text(self.population),
        )
        return require(verdict)

    def claims(self) -> dict[str, int]:
        """Return what is stated of the release and recounted by the gate."""
        n_source, n_rows = self.original.n_rows, self.measures.rows
        groups = {"groups": self.measures.groups, "smallest_group": self.measures.smallest_group}
        return {"rows": n_rows, **groups, "suppressed_rows": n_source - n_rows}

    def _repr_html_(self) -> str:
        """Show the verdict and the first rows in a notebook."""
        from shoal.tables.frames import notebook_html

        return notebook_html(self.text, self.request.k, self.request.method, self.measures)


def _as_text(table: Table) -> dict[str, list[str]]:
    return {name: table.frame[name].to_list() for name in table.names}


def write_release(text: pl.DataFrame, path: Path, form: Format) -> None:
    """Write the cells to a new private file in one of the formats that the gate reads."""
    if form is Format.EXCEL:
        writers.check_excel(text)
        writers.write_excel(text, path)
    elif form is Format.PARQUET:
        from shoal.tables.formats import columnar

        columnar.write_parquet(text, path)
    elif form is Format.GZIP:
        plain = path.with_name("plain.csv")
        write_csv(text, plain)
        writers.compress(plain, path)
    else:
        write_csv(text, path)


def write_csv(text: pl.DataFrame, path: Path) -> None:
    """Write the cells as they are: UTF-8, comma, LF, quotes only where needed; an empty cell is bare."""
    import polars as pl

    if text.width > 1:  # alone in its row, a bare empty cell would be a blank line
        empty = [name for name in text.columns if (text[name] == "").any()]
        text = text.with_columns(pl.col(empty).replace("", None)) if empty else text
    with writers.create(path) as file:
        text.write_csv(file, separator=",", line_terminator="\n", quote_style="necessary")


def _keyed_hash(table: Table, key: bytes) -> str:
    if table.path is not None:
        return hmac.new(key, table.path.read_bytes(), "sha256").hexdigest()
    return hmac.new(key, table.frame.write_csv().encode(), "sha256").hexdigest()
