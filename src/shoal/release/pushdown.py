"""Full-domain releases of tables that stay where they are: searched on counts, proved without a row in memory."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import verification
from shoal.errors import FileError, InputError, InternalError, Note, UsageError
from shoal.hierarchy.base import Rule
from shoal.methods.base import Method, Run
from shoal.methods.full_domain.base import FullDomain
from shoal.metrics import Measures
from shoal.models import Basis, PrivacyModel
from shoal.profile.rare_values import check_seen
from shoal.release.anonymize import anonymize_table
from shoal.release.data_dictionary import Seen
from shoal.release.publish import (
    check_report,
    load_table,
    publish_files,
    require,
    table_remark,
    write_dictionary,
    write_report,
)
from shoal.release.release import Release, Request
from shoal.release.source_counts import count_table, narrowed
from shoal.rules import RuleVerdict
from shoal.schema import Dialect, Role, Schema
from shoal.tables.formats import writers
from shoal.tables.formats.sniff import Format, suffix_of
from shoal.tables.sources.base import Recoding, Source
from shoal.tables.sources.duckdb import DuckSource
from shoal.tables.sources.postgres import PostgresSource
from shoal.tables.targets.database import TableTarget
from shoal.tables.targets.file import Beside, Stream, Target

if TYPE_CHECKING:
    pass

__all__ = ["CountedRelease", "anonymize_source", "needs_rows"]

ON_COUNTS = frozenset({Basis.SIZE, Basis.HISTOGRAM, Basis.TABLE})  # what may decide where rows are counted


def needs_rows(method: Method, models: Sequence[PrivacyModel], schema: Schema, request: Request) -> str | None:
    """Say why a run needs the rows themselves; None where counts do."""
    if not isinstance(method, FullDomain):
        return f"method {method.name!r} groups rows"
    if strange := [model for model in models if model.basis not in ON_COUNTS]:
        return f"{strange[0].describe()} looks at rows"
    if schema.names(Role.PERSON) or schema.names(Role.PERSONAL_K):
        return "a column of people, or of each row's own k, is looked at row by row"
    options = {
        "--keep-order": request.keep_order,
        "--cells bounds": request.cells != "text",
        "--spreadsheet-safe": request.spreadsheet_safe,
        "--snap": request.snap,
    }
    return next((f"{option} looks at rows" for option, given in options.items() if given), None)


def anonymize_source(
    source: Source,
    schema: Schema,
    request: Request,
    method: Method,
    models: tuple[PrivacyModel, ...],
    run: Run,
    hierarchies: Mapping[str, Rule] | None = None,
) -> CountedRelease:
    """Search a full-domain release on the counts of a source; no row is fetched, nothing is written yet."""
    if reason := needs_rows(method, models, schema, request):
        raise UsageError(
            f"{source.place}: {reason}, which needs the rows in memory. Say --engine memory, or leave it out."
        )
    run.stage("counting")
    source.check([column.name for column in schema.released])
    table = count_table(source, schema, tuple(dict.fromkeys(name for model in models for name in model.columns)))
    notes = check_seen(
        lambda name, least: source.facts(name, least, schema.missing),
        table.n_rows,
        schema,
        max((request.k, *(model.minimum_size for model in models))),
        request.accept_unique,
    )
    narrow = narrowed(schema, table.names)
    try:
        made = anonymize_table(table, narrow, replace(request, accept_unique=()), method, models, run, hierarchies)
    except InputError as error:  # the rows of a table that was counted have no number
        raise error.without_rows() from None
    kinds = {column.name: column.kind for column in made.schema.qi if column.kind is not None}
    request = replace(made.request, accept_unique=request.accept_unique)
    made = replace(made, schema=schema.with_kinds(kinds), request=request, notes=(*made.notes, *notes))
    return CountedRelease(source, made, _recoding(made))


def _recoding(made: Release) -> Recoding:
    """Return what was done to each cell, from the distinct rows before and after."""
    import polars as pl

    rows = pl.Series(made.source_rows)
    names = [column.name for column in made.schema.qi]
    maps = {}
    for name in names:
        before = made.original.frame[name].gather(rows)
        pairs = pl.DataFrame({"cell": before, "label": made.text[name]}).unique().sort("cell")
        maps[name] = dict(pairs.iter_rows())
        if len(maps[name]) != pairs.height:
            raise InternalError(f"column {name!r}: method {made.request.method!r} gave one value two labels.")
    whole = len(rows) == made.original.frame.height
    kept = None if whole else tuple(made.text.select(names).unique().sort(names).iter_rows())
    return Recoding(tuple(column.name for column in made.schema.released), maps, kept)


@dataclass(frozen=True)
class CountedRelease:
    """A release that is known but not yet written: what becomes of each cell, its groups and measures."""

    source: Source = field(repr=False)
    made: Release = field(repr=False)
    recoding: Recoding = field(repr=False)

    @property
    def schema(self) -> Schema:
        """The columns of the source."""
        return self.made.schema

    @property
    def request(self) -> Request:
        """What was asked for."""
        return self.made.request

    @property
    def measures(self) -> Measures:
        """What the release loses."""
        return self.made.measures

    @property
    def levels(self) -> Mapping[str, int] | None:
        """The level of each quasi-identifier."""
        return self.made.levels

    @property
    def rules(self) -> tuple[RuleVerdict, ...]:
        """How each data constraint rule is kept."""
        return self.made.rules

    @property
    def search(self) -> Mapping[str, Any]:
        """What else the method found."""
        return self.made.search

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the user should know."""
        return self.made.notes

    @property
    def lower_bound(self) -> float | None:
        """What any k-anonymous local recoding must lose; see Release.lower_bound."""
        return self.made.lower_bound

    def write_to(
        self, target: Target | Stream | TableTarget, *, key: bytes | None = None, report: Beside | None = None
    ) -> Path | None:
        """Write to a target that is open already; see Release.write_to."""
        self.source.check_unchanged()
        check_report(target, report)
        if key is not None and not isinstance(self.source, DuckSource):
            raise UsageError(f"{self.source.place}: --key-file signs the hash of a file. Leave it out for a table.")
        if isinstance(target, TableTarget):
            self._write_table(target, key)
            return None
        if target.format is Format.EXCEL:
            raise UsageError(
                f"{target.path}: a workbook is made in memory. Name a .csv or .parquet, or say --engine memory."
            )
        try:
            plain, unfinished = self._write_file(target)
            verdict = self._pass_gate(unfinished)
            self.source.check_unchanged()
            if isinstance(target, Stream):
                target.publish(unfinished)
                return None
            beside = write_dictionary(target, self.made, self._cells(plain), self.measures.rows)
            content = self.made.manifest(target.path.name, unfinished, None) | self._signed(key)
            return publish_files(target, unfinished, beside, content, write_report(report, self.made, verdict, content))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FileError(f"{target.path}: cannot be written: {error.strerror}.") from None

    def _write_table(self, target: TableTarget, key: bytes | None) -> None:
        if isinstance(self.source, PostgresSource) and target.begin(self.source.snapshot(), self.source.relation.oid):
            relation = self.source.relation
            target.stage_recoded(relation, self.recoding)
            with target.guarded():
                verdict = verification.check_recoded(
                    target.connection,
                    target.staging,
                    (relation.schema, relation.name),
                    self.schema,
                    self.request.k,
                    self._claimed(),
                    suppression_limit=self.request.suppression_limit,
                    labels=self.made.labels,
                    models=self.request.specs,
                    paths=self.made.paths,
                )
            require(verdict)
            content = self.made.manifest(target.url.table, Path("/dev/null"), None)
            target.publish(table_remark(content))
            return
        _, unfinished = self._write_file(target)
        self._pass_gate(unfinished)
        self.source.check_unchanged()
        content = self.made.manifest(target.url.table, unfinished, None) | self._signed(key)
        load_table(target, unfinished, self.made, content)

    def _write_file(self, target: Target | Stream | TableTarget) -> tuple[Path, Path]:
        """Write the release as CSV and in the format of the target; return both paths."""
        plain = target.temporary("release.csv")
        self.source.write(self.recoding, plain)
        if target.format is Format.CSV:
            return plain, plain
        unfinished = target.temporary(f"release{suffix_of(target.format)}")
        if target.format is Format.GZIP:
            writers.compress(plain, unfinished, keep=True)
        else:
            from shoal.tables.formats.columnar import sink_parquet

            sink_parquet(plain, unfinished)
        return plain, unfinished

    def _pass_gate(self, written: Path) -> verification.Verdict:
        """Hold the written bytes against the source, which the verifier reads anew with readers of its own."""
        names = [column.name for column in self.schema.released]
        rows: Iterator[list[list[str]]]
        if isinstance(self.source, PostgresSource):
            relation = self.source.relation
            rows = verification.table_rows(self.source.connection, (relation.schema, relation.name), names)
        else:
            assert isinstance(self.source, DuckSource)
            rows = verification.source_rows(self.source.path, self.source.blocks.dialect or Dialect(), names)
        with self.source.guarded():
            verdict = verification.gate_recoded(
                written,
                self.schema,
                self.request.k,
                rows,
                self._claimed(),
                suppression_limit=self.request.suppression_limit,
                labels=self.made.labels,
                models=self.request.specs,
                paths=self.made.paths,
            )
        return require(verdict)

    def _claimed(self) -> verification.Claimed:
        return verification.Claimed(self.recoding.maps, self.recoding.kept, self.made.claims())

    def _cells(self, plain: Path) -> dict[str, Seen]:
        """Return what the release shows of each column; those that leave as they are, are counted in the file."""
        import polars as pl

        missing = list(self.schema.missing)
        counted = replace(self.made.original, frame=self.made.text, weights=self._weights(), _factors={})
        cells = {column.name: Seen.of(counted, column.name, missing) for column in self.schema.qi}
        others = [column.name for column in self.schema.released if column.role is not Role.QI]
        if others:
            gone = pl.col(others).fill_null("").is_in(missing).sum()
            counts = pl.scan_csv(plain, infer_schema=False, glob=False).select(gone).collect(engine="streaming")
            cells |= {name: Seen(0, int(counts[name].item())) for name in others}
        return cells

    def _weights(self) -> Any:
        weights = self.made.original.weights
        return None if weights is None else weights[self.made.source_rows]

    def _signed(self, key: bytes | None) -> dict[str, str]:
        if key is None or not isinstance(self.source, DuckSource):
            return {}
        digest = hmac.new(key, digestmod=hashlib.sha256)
        with open(self.source.path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        return {"input_hmac_sha256": digest.hexdigest()}
