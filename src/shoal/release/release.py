"""A release: the recoded table, its measures, and the way through the gate to a file, a stream or a database."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import Released
from shoal.encoding.ends import CHOICES
from shoal.encoding.partition import Entries
from shoal.errors import Note, UsageError, for_python, setting
from shoal.methods.registry import DEFAULT
from shoal.metrics import Measures
from shoal.metrics.lower_bound import lower_bound
from shoal.metrics.singled import Singled
from shoal.release.cells.centers import MEAN, MEDIAN
from shoal.release.files.layout import lay_out
from shoal.release.files.manifest import manifest_path, paths_beside
from shoal.release.files.marks import Respelling, numbers_of, with_marks
from shoal.release.files.publish import Published, read_written, write_to
from shoal.release.files.reading import typed_columns
from shoal.release.files.signature import SigningKey
from shoal.release.gate import verify_cells
from shoal.report.groups import SensitiveFacts, look_at_target
from shoal.report.public import JointFigures, PublicFigures, public_figures
from shoal.rules import RuleVerdict
from shoal.schema import INPUT, Schema, check_delimiter, check_output_decimal
from shoal.settings.settings import Settings, check_signoff
from shoal.tables.sources.base import CellCounter, Dealing, Recoding, Source
from shoal.tables.table import Factor, Table
from shoal.tables.targets.base import Target
from shoal.tables.targets.file import FileTarget, ReportTarget
from shoal.tables.watch import UNWATCHED, Watch, make_watch

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Release", "Request", "manifest_path"]


@dataclass(frozen=True)
class Request:
    """What the user requested. It is recorded in the manifest, and the gate holds the release to it.

    Attributes:
        k: The smallest allowed group.
        common_k: The part of it that does not depend on the personal k of rows, which is not published.
        models: The privacy models in words.
        specs: The same models as plain values, for the gate.
        suppression_limit: The largest share of rows that may be suppressed.
        method: The name of the method.
        options: The options of the method.
        seed: The seed for methods that use random numbers.
        weights: The weights of the quasi-identifiers; empty if all count the same.
        keep_order: Whether rows keep the order of the input.
        cells: How ranges are written: "text", or "bounds" for two columns; "center" for the centres of groups.
        center: What the centre of numbers and dates is, "mean" or "median".
        spread: Whether columns with the spread of each group follow its centres.
        ends: The ends of ranges: "safe", "round" or "exact"; None leaves the choice to the method.
        spreadsheet_safe: Whether formulas are made harmless.
        accept_unique: Insensitive columns that may be released although some of their values are rare.
        output_delimiter: The separator of cells in a released CSV file; "input" for that of the original.
        output_decimal: The decimal mark of numbers in a released CSV file; "input" for that of the original.
        unknown: What to do with values that a hierarchy lacks: "error" or "top".
        bound: Whether to compute the lower bound however long it takes; None means only if it is quick.
        target: The column that the release is made to answer questions about; None for no such column.
    """

    k: int
    common_k: int = 1
    models: tuple[str, ...] = ()
    specs: tuple[Mapping[str, Any], ...] = ()
    suppression_limit: Fraction = Fraction(0)
    method: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    seed: int = 0
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    keep_order: bool = False
    cells: str = "text"
    center: str = MEAN
    spread: bool = False
    ends: str | None = None
    spreadsheet_safe: bool = False
    accept_unique: tuple[str, ...] = ()
    output_delimiter: str = ","
    output_decimal: str = INPUT
    unknown: str = "error"
    bound: bool | None = None
    target: str | None = None

    def __post_init__(self) -> None:
        if self.cells not in ("text", "bounds", "center"):
            raise UsageError(f"cells={self.cells!r} is not known. Use 'text', 'bounds' or 'center'.")
        if self.center not in (MEAN, MEDIAN):
            raise UsageError(f"center={self.center!r} is not known. Use 'mean' or 'median'.")
        if self.output_delimiter != INPUT:
            check_delimiter(self.output_delimiter, "output_delimiter")
        check_output_decimal(self.output_decimal)
        if self.ends not in (None, *CHOICES):
            raise UsageError(f"ends={self.ends!r} is not known. Use {', '.join(map(repr, CHOICES))}.")
        if not 0 <= self.suppression_limit <= 1:
            raise UsageError(f"suppression_limit={self.suppression_limit} is not a share. Use a number from 0 to 1.")

    @property
    def has_centers(self) -> bool:
        """Whether cells are the centres of groups, which are not true of each row."""
        return self.cells == "center"

    @property
    def tells_bound(self) -> bool:
        """Whether the lower bound is reported: on request, and by default for our own method."""
        return self.method == DEFAULT if self.bound is None else self.bound

    @property
    def without_form(self) -> Request:
        """The same request for cells as they are, separated by commas."""
        return replace(self, spreadsheet_safe=False, output_delimiter=",", output_decimal=INPUT)

    @property
    def is_plain(self) -> bool:
        """Whether rows are sorted, ranges are text, cells as they are, and separated by commas."""
        return self.cells == "text" and not self.keep_order and self == self.without_form


@dataclass(frozen=True, repr=False)
class Release:
    """The released table, its groups and its measures.

    A pickle of a release contains the original rows and, for a table of a database, its URL: keep it private.

    Attributes:
        table: The released cells. With a recoding, only the distinct rows, and the number of rows of each.
        source_rows: For each released row, its row in the original; never published.
        original: The original. With a recoding, its distinct rows and their counts.
        source: Where the original comes from, for writing and for the gate.
        schema: The columns of the original.
        request: What the user requested.
        measures: Sizes and information loss.
        notes: What the user should know before handing out the release.
        recoding: For a table that was counted where it is, the released text of each cell, or the groups that its rows
            are dealt to; None for a table in memory.
        labels: By column, the values below each label of its hierarchy.
        population_labels: By column, the labels of each value that only the population has.
        label_losses: By column, the loss of each label of its hierarchy, for the figures that may be published.
        ends: By column of numbers or dates, the smallest and the largest value of each released cell.
        groups: With centres, the group of each row of the original, -1 if the row is not released; never published.
        spread: With centres, by column the standard deviation or the share of each released row's group.
        singled: What the cells show of single rows, and the cost of ends that were moved; never published.
        paths: By sensitive column with a hierarchy, the labels of each value.
        ladders: By quasi-identifier with a hierarchy, the labels of each value.
        population: The table that population models compare with.
        encoded: The original as codes, from which the lower bound is computed; None if there is no bound.
        entries: The groups over the tuples of `encoded`, from which the bound starts; None if it is not asked for.
        levels: The level of each quasi-identifier in a full-domain release.
        rules: How well each data constraint rule is met.
        search: Further results of the method.
        settings: The settings of the run, which repeat it.
        joint: What `table` does not show if it only has the counts of each column.
    """

    table: Table
    source_rows: NDArray[np.int64]
    original: Table
    source: Source
    schema: Schema
    request: Request
    measures: Measures
    notes: tuple[Note, ...] = ()
    recoding: Recoding | Dealing | None = None
    labels: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    population_labels: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    label_losses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    ends: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    groups: NDArray[np.int64] | None = None
    spread: Mapping[str, Factor] = field(default_factory=dict)
    singled: Singled = field(default_factory=Singled)
    paths: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    ladders: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    population: Table | None = None
    encoded: Encoded | None = None
    entries: Entries | None = None
    levels: Mapping[str, int] | None = None
    rules: tuple[RuleVerdict, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    joint: JointFigures | None = None

    def __repr__(self) -> str:
        """Return the verdict in one line."""
        from shoal.report.summary import release_words

        return f"<shoal.Release: {release_words(self)}>"

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def text(self) -> pl.DataFrame:
        """The released cells. With a recoding, only the distinct rows."""
        return self.table.frame

    @cached_property
    def lower_bound(self) -> float | None:
        """The smallest loss of any k-anonymous local recoding of the table; None if it is not computed."""
        encoded, k, thorough = self.encoded, self.request.k, bool(self.request.bound)
        return None if encoded is None else lower_bound(encoded, k, thorough=thorough, groups=self.entries)

    @cached_property
    def target_facts(self) -> SensitiveFacts | None:
        """What the groups disclose about the target that the release is made for; None if there is none."""
        return look_at_target(self.table, self.schema, self.request)

    @cached_property
    def public_figures(self) -> PublicFigures:
        """The figures that may be published."""
        return public_figures(self)

    @cached_property
    def frame(self) -> Any:
        """The release as a frame of the library that the original came from (polars for a file or a database).

        With cells="bounds", numbers and dates are two typed columns, NAME_min and NAME_max; both are null where a cell
        is suppressed or missing. With cells="center", they are one typed column.
        """
        if self.recoding is not None:
            return read_written(self)
        from shoal.tables.frames import rebuild

        verify_cells(self)
        if self.request.cells == "text":
            return rebuild(self.text, self.original, self.source_rows, self.schema)
        laid = self.lay_out(safe=False)
        text = laid.table.frame
        return rebuild(text, self.original, laid.source_rows, self.schema, typed_columns(self, text))

    @cached_property
    def _file(self) -> Released:
        """The cells as they are written to a file, with the source row of each row."""
        return self.lay_out(safe=self.request.spreadsheet_safe, numbers=self.numbers)

    def lay_out(self, *, safe: bool, numbers: Mapping[str, Respelling] | None = None) -> Released:
        """Return the cells as a file has them; with numbers, these have the decimal marks of the file."""
        spread = self.spread if numbers is None else with_marks(self.spread, self.schema, self.request.output_decimal)
        return lay_out(
            Released(self.table, self.source_rows, self.ends),
            self.schema,
            bounds=self.request.cells == "bounds",
            safe=safe,
            numbers=numbers or {},
            keep_order=self.request.keep_order,
            spread=spread,
        )

    @cached_property
    def numbers(self) -> dict[str, Respelling]:
        """The columns whose numbers have another decimal mark in a file."""
        if self.request.output_decimal == INPUT or isinstance(self.recoding, Recoding):
            return {}
        dealer = self.source.dealer()
        judge = dealer.judge_cells if isinstance(dealer, CellCounter) else None
        return numbers_of(self.original, self.table, self.schema, self.request.output_decimal, judge)

    @property
    def delimiter(self) -> str:
        """The separator of cells, if the release is a CSV file."""
        if self.request.output_delimiter != INPUT:
            return self.request.output_delimiter
        dialect = self.original.dialect
        return "," if dialect is None or self.original.sheet is not None else dialect.delimiter

    @property
    def file_text(self) -> pl.DataFrame:
        """The cells as they are written to a file."""
        return self._file.table.frame

    @property
    def file_rows(self) -> NDArray[np.int64]:
        """For each row of the file, its row in the original."""
        return self._file.source_rows

    def to_numeric(self, columns: Sequence[str] | None = None, *, domain: str = "release") -> Any:
        """Return the release as numbers for learners.

        Numbers and dates become the midpoints of their ranges, categories one column per value; see
        `shoal.metrics.features`.

        Args:
            columns: The columns to include; by default all released columns.
            domain: "release" uses only what the release shows, so that a hierarchy label is a value like any other.
                "original" gives the columns that the original would have, and spreads a label over the values below it.
                Its column names reveal values of the original: do not publish it.

        Returns:
            A frame of the library that the original came from.
        """
        from shoal.metrics.features import encode_release

        if self.recoding is not None:
            found = "to_numeric needs the rows in memory, but the table was counted where it is"
            raise UsageError(f"{found}. Use {setting('engine', 'memory')}.")
        verify_cells(self)
        return encode_release(self.table, self.original, self.schema, self.labels, columns, domain)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        key: bytes | None = None,
        sign_key: str | os.PathLike[str] | None = None,
        report: str | os.PathLike[str] | None = None,
        signoff: Mapping[str, str] | None = None,
        progress: Callable[[str, float], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Path:
        """Write the release and its manifest, both or neither, and only if the written bytes pass the gate.

        Args:
            path: The file. Its ending selects the format: .csv, .csv.gz, .parquet or .xlsx.
            force: Whether to replace a file that exists.
            key: A secret of at least 16 bytes that signs the hash of the input in the manifest. Without it there is no
                such hash.
            sign_key: The path of a private Ed25519 key (PEM) that signs the manifest.
            report: The path of an HTML report; its private part and their JSON versions are written beside it.
            signoff: Lines of the report to fill in: who, when, purpose, legal_basis, reviewer.
            progress: Called with the name of the stage and the share of it that is done.
            cancelled: Called several times a second; True ends the writing with a CancelledError.

        Returns:
            The path of the manifest.
        """
        if signoff:
            settings = replace(self.settings, signoff=check_signoff(signoff))
            return replace(self, settings=settings).write(
                path, force=force, key=key, sign_key=sign_key, report=report, progress=progress, cancelled=cancelled
            )
        signer = None if sign_key is None else SigningKey.read(sign_key)
        with ExitStack() as stack:
            inputs = self.settings.input_files(self.source.path, None if sign_key is None else Path(sign_key))
            target = stack.enter_context(FileTarget(path, paths_beside(Path(path)), inputs=inputs, force=force))
            pages = None if report is None else stack.enter_context(ReportTarget(report, inputs=inputs, force=force))
            self.write_to(target, key=key, sign_key=signer, report=pages, watch=make_watch(progress, cancelled))
        return manifest_path(target.path)

    def write_to(
        self,
        target: Target,
        *,
        key: bytes | None = None,
        sign_key: SigningKey | None = None,
        report: ReportTarget | None = None,
        watch: Watch = UNWATCHED,
        spell: Callable[[str], str] = for_python,
    ) -> Published:
        """Write to an open target.

        Args:
            target: A file, a stream or a table of a database.
            key: A secret that signs the hash of the input.
            sign_key: The key that signs the manifest; only for a release that is a file.
            report: Where the report goes, open as well; only for a release that is a file.
            watch: Hears of progress and may cancel.
            spell: How the report mentions settings: `for_python` or `for_command_line` of `shoal.errors`.

        Returns:
            The path of the manifest, if the release is a file, and what the gate noticed.
        """
        return write_to(self, target, key=key, sign_key=sign_key, report=report, watch=watch, spell=spell)

    def claims(self) -> dict[str, int]:
        """Return the counts that the manifest states and the gate recounts."""
        counts = {name: getattr(self.measures, name) for name in ("rows", "groups", "smallest_group")}
        return counts | {"suppressed_rows": self.original.n_rows - self.measures.rows}

    def _repr_html_(self) -> str:
        """Show the verdict and the first rows in a notebook."""
        from shoal.report.html import notebook_html

        return notebook_html(self, self.text if self.recoding is None else self.text.head(0))
