"""Full-domain releases of tables that stay where they are: searched on counts, without a row in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.encoding.ends import EXACT
from shoal.errors import InputError, InternalError, UsageError, setting
from shoal.methods.base import Method
from shoal.methods.full_domain.base import FullDomain
from shoal.models import Basis, PrivacyModel
from shoal.profile.rare_values import check_seen
from shoal.release.make import anonymize_table
from shoal.release.release import Release, Request
from shoal.schema import INPUT, Role, Schema
from shoal.tables.sources.base import Recoding, Source
from shoal.tables.table import Table

if TYPE_CHECKING:
    from shoal.release.job import Job

__all__ = ["anonymize_source", "count_table", "needs_rows"]

ON_COUNTS = frozenset({Basis.SIZE, Basis.HISTOGRAM, Basis.TABLE})  # what models can be judged by on counts


def needs_rows(method: Method, models: Sequence[PrivacyModel], schema: Schema, request: Request) -> str | None:
    """Return why a run needs the rows themselves; None if counts are enough."""
    if not isinstance(method, FullDomain):
        return f"method {method.name!r} groups rows"
    if row_models := [model for model in models if model.basis not in ON_COUNTS]:
        return f"{row_models[0].describe()} depends on rows"
    if schema.names(Role.PERSON) or schema.names(Role.PERSONAL_K):
        return "a column of people or of personal k is read row by row"
    if coded := [column.name for column in schema.released if column.codings]:
        return f"{setting('recode')} of column {coded[0]!r} depends on rows"
    if limited := [column.name for column in schema.qi if any(column.limits)]:
        return f"a limit of column {limited[0]!r} depends on rows"
    options = {
        setting("keep_order", True): request.keep_order,
        setting("cells", "bounds"): request.cells != "text",
        setting("spreadsheet_safe", True): request.spreadsheet_safe,
        setting("output_delimiter"): request.output_delimiter != ",",
        setting("output_decimal"): request.output_decimal != INPUT,
        setting("ends", request.ends): request.ends not in (None, EXACT),
    }
    return next((f"{option} depends on rows" for option, is_set in options.items() if is_set), None)


def anonymize_source(source: Source, schema: Schema, job: Job) -> Release:
    """Search for the full-domain release of a job on the counts of an open source; no row is fetched."""
    request, method, models, run = job.request, job.method, job.models, job.run
    if reason := needs_rows(method, models, schema, request):
        raise UsageError(
            f"{source.place}: {reason}, which needs the rows in memory. Use {setting('engine', 'memory')}, or leave it "
            "out."
        )
    run.stage("counting")
    source.check([column.name for column in schema.released])
    table = count_table(source, schema, tuple(dict.fromkeys(name for model in models for name in model.columns)))
    run.check()
    notes = check_seen(
        lambda name, least: source.facts(name, least, schema.missing),
        table.n_rows,
        schema,
        max((request.k, *(model.minimum_size for model in models))),
        request.accept_unique,
    )
    narrow = replace(schema, columns=tuple(column for column in schema.columns if column.name in table.names))
    try:
        release = anonymize_table(
            table, narrow, replace(request, accept_unique=()), method, models, run, job.hierarchies
        )
    except InputError as error:  # the row of a count is not a row of the table
        raise error.without_rows() from None
    columns = {column.name: column for column in release.schema.qi}
    release = replace(
        release,
        source=source,
        schema=schema.with_columns(columns),
        request=replace(release.request, accept_unique=request.accept_unique),
        notes=(*release.notes, *notes),
    )
    return replace(release, recoding=_recoding(release))


def count_table(source: Source, schema: Schema, extra_columns: Sequence[str] = ()) -> Table:
    """Count a source by its quasi-identifiers and further columns: distinct rows, each with its count."""
    counted = source.count([*(column.name for column in schema.qi), *extra_columns])
    return Table(counted.frame, notes=source.notes, weights=counted.counts)


def _recoding(release: Release) -> Recoding:
    """Derive the released text of each cell from the distinct rows before and after."""
    import polars as pl

    rows = pl.Series(release.source_rows)
    names = [column.name for column in release.schema.qi]
    maps = {}
    for name in names:
        cells = release.original.frame[name].gather(rows)
        pairs = pl.DataFrame({"cell": cells, "label": release.text[name]}).unique().sort("cell")
        maps[name] = dict(pairs.iter_rows())
        if len(maps[name]) != pairs.height:
            raise InternalError(f"column {name!r}: method {release.request.method!r} gave one value two labels.")
    is_complete = len(rows) == release.original.frame.height
    kept_groups = None if is_complete else tuple(release.text.select(names).unique().sort(names).iter_rows())
    return Recoding(tuple(column.name for column in release.schema.released), maps, kept_groups)
