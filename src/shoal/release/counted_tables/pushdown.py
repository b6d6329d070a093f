"""Releases of tables that stay where they are: searched on counts, without a row in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.encoding.ends import EXACT
from shoal.errors import InputError, InternalError, Note, UsageError, setting
from shoal.methods.base import Method
from shoal.methods.full_domain.base import FullDomain
from shoal.methods.full_domain.levels import CountedTable
from shoal.methods.full_domain.sampling import Drawable, draw_from, find_sampling
from shoal.methods.mondrian import Mondrian
from shoal.methods.registry import info_of
from shoal.methods.shoaling.search import Shoaling
from shoal.models import Basis, PrivacyModel
from shoal.profile.rare_values import check_seen, missing_or_alike
from shoal.release.cells.centers import spread_name
from shoal.release.counted_tables.dealing import works_on_counts
from shoal.release.counted_tables.duck.revealing import revealing_in
from shoal.release.counted_tables.in_place import plan_in_place
from shoal.release.counted_tables.outliers import Outliers, Recoder, find_outliers
from shoal.release.counted_tables.targets import twins_in
from shoal.release.make import anonymize_table
from shoal.release.preconditions import check_target
from shoal.release.release import Release, Request
from shoal.schema import INPUT, Role, Schema
from shoal.tables.sources.base import Dealing, GroupCounter, Recoding, Source
from shoal.tables.table import RankedTable, Table
from shoal.verification.models.checks import has_judge

if TYPE_CHECKING:
    from shoal.release.job import Job

__all__ = ["anonymize_source", "count_table", "needs_rows"]

ON_COUNTS = frozenset({Basis.SIZE, Basis.HISTOGRAM, Basis.TABLE})  # what models can be judged by on counts
DEALT = ON_COUNTS | {Basis.PERSONAL_K}  # the same beside methods whose rows are dealt to groups


def needs_rows(
    method: Method,
    models: Sequence[PrivacyModel],
    schema: Schema,
    request: Request,
    *,
    deals: bool = False,
    lays_out: frozenset[str] = frozenset(),
    recodes: bool = False,
    draws: bool = False,
) -> str | None:
    """Return why a run needs the rows themselves; None if counts are enough.

    Args:
        method: The method.
        models: The privacy models besides k-anonymity.
        schema: The columns.
        request: What the user requested.
        deals: Whether the source can deal the rows of a tuple to several groups.
        lays_out: The settings of `LAYOUTS` that it can then follow.
        recodes: Whether the source can show other cells in the place of outliers.
        draws: Whether the source can go on with a sample of its rows.
    """
    is_full_domain = isinstance(method, FullDomain)
    lays_out = frozenset() if is_full_domain else lays_out
    known = DEALT | {Basis.POPULATION} if "population" in lays_out else DEALT
    if not is_full_domain and (reason := _obstacle(method, models, schema, known, deals=deals)):
        return reason
    on_levels = ON_COUNTS | {Basis.SAMPLE} if draws else ON_COUNTS
    if is_full_domain and (row_models := [model for model in models if model.basis not in on_levels]):
        return f"{row_models[0].describe()} depends on rows"
    if is_full_domain and (schema.names(Role.PERSON) or schema.names(Role.PERSONAL_K)):
        return "a column of people or of personal k is read row by row"
    coded = [column.name for column in schema.released if column.codings]
    if coded and not recodes:
        return f"{setting('recode')} of column {coded[0]!r} depends on rows"
    if is_full_domain and (limited := [column.name for column in schema.qi if any(column.limits)]):
        return f"a limit of column {limited[0]!r} depends on rows"
    options = {
        setting("ends", request.ends): is_full_domain and request.ends not in (None, EXACT),
        setting("keep_order", True): request.keep_order and "keep_order" not in lays_out,
        setting("cells", request.cells): request.cells not in ("text", *lays_out),
        setting("spreadsheet_safe", True): request.spreadsheet_safe and "spreadsheet_safe" not in lays_out,
        setting("output_delimiter"): request.output_delimiter != "," and "output_delimiter" not in lays_out,
        setting("output_decimal"): request.output_decimal != INPUT and "output_decimal" not in lays_out,
    }
    return next((f"{option} depends on rows" for option, is_set in options.items() if is_set), None)


def _obstacle(
    method: Method, models: Sequence[PrivacyModel], schema: Schema, known: frozenset[Basis], *, deals: bool
) -> str | None:
    """Return why a method that groups rows cannot group counted ones; None if it can."""
    if not deals:
        return f"method {method.name!r} groups rows"
    if info_of(method.name) is None:
        return f"method {method.name!r} is not one of our own and groups rows"
    if beyond := [model for model in models if model.basis not in known or not has_judge(model.spec())]:
        return f"{beyond[0].describe()} beside method {method.name!r} depends on rows"
    tells_apart = any(model.columns for model in models) or schema.names(Role.PERSON) or schema.names(Role.PERSONAL_K)
    if (tells_apart and not isinstance(method, Shoaling | Mondrian)) or method.name == "mnqia":
        return f"method {method.name!r} groups rows"
    return None


def anonymize_source(source: Source, schema: Schema, job: Job) -> Release:
    """Search for the release of a job on the counts of an open source; no row is fetched."""
    request, method, models, run = job.request, job.method, job.models, job.run
    dealer = source.dealer()
    lays_out = frozenset() if dealer is None else dealer.lays_out
    draws = isinstance(source, Drawable) and source.path is not None  # the rows of a file keep their places
    can = {"deals": dealer is not None, "recodes": isinstance(source, Recoder), "draws": draws}
    if reason := needs_rows(method, models, schema, request, lays_out=lays_out, **can):
        raise UsageError(
            f"{source.place}: {reason}, which needs the rows in memory. Use {setting('engine', 'memory')}, or leave it "
            "out."
        )
    if job.roll_up == "database" and not isinstance(method, FullDomain):
        raise UsageError(
            f"{source.place}: method {method.name!r} groups rows; {setting('roll_up', 'database')} is for full-domain "
            "methods. Leave it out, or choose one of them."
        )
    check_target(request, schema, method)
    run.stage("counting")
    source.check([column.name for column in schema.released])
    sampling = find_sampling(models)
    if sampling is not None and isinstance(source, Drawable):
        source.take(draw_from(source, sampling.share, job.key))
    outliers = find_outliers(source, schema, request, models)
    schema = outliers.schema
    revealing = revealing_in(source, schema)
    if (in_place := plan_in_place(source, schema, job, outliers, revealing)) is not None:
        notes = _look_at_columns(source, schema, job, in_place.n_rows)
        return _completed(in_place.release(), outliers, job, notes)
    outliers.recode(back=True)
    more = [*(name for model in models for name in model.columns), *schema.names(Role.PERSON)]
    table = count_table(source, schema, tuple(dict.fromkeys([*more, *schema.names(Role.PERSONAL_K)])))
    outliers.recode()
    run.check()
    if dealer is not None:
        held_back = schema.names(Role.PERSON) or schema.names(Role.PERSONAL_K)
        plain = not request.suppression_limit and not held_back and not any(any(c.limits) for c in schema.qi)
        n_rows = 0 if works_on_counts(method, models, plain=plain) else table.n_rows
        height = table.height
        dealer.check_room(height, len(table.names), n_rows)
    notes = _look_at_columns(source, schema, job, table.n_rows)
    narrow = replace(schema, columns=tuple(column for column in schema.columns if column.name in table.names))
    accepted = tuple(name for name in request.accept_unique if name in table.names)
    try:
        if job.roll_up == "database" and isinstance(source, GroupCounter):
            run = replace(run, table=CountedTable(source, outliers.recoded(table).frame))
        request = replace(request, accept_unique=accepted)
        people = job.settings.population_table()
        twins_of = twins_in(source, schema, request.target)
        given = job.hierarchies, people, None, job.key, twins_of, sampling is not None, revealing
        release = anonymize_table(table, narrow, request, method, models, run, *given)
    except InputError as error:  # the row of a count is not a row of the table
        raise error.without_rows() from None
    return _completed(release, outliers, job, notes)


def _look_at_columns(source: Source, schema: Schema, job: Job, n_rows: int) -> list[Note]:
    """Refuse columns that would be released unchanged and single people out; note what else is seen in them."""
    # A database in another encoding refuses characters that it does not know.
    markers = [text for text in missing_or_alike(schema) if text.isascii() or text in schema.missing]
    return check_seen(
        lambda name, least: source.facts(name, least, markers),
        n_rows,
        schema,
        max((job.request.k, *(model.minimum_size for model in job.models))),
        job.request.accept_unique,
    )


def _completed(release: Release, outliers: Outliers, job: Job, notes: Sequence[Note]) -> Release:
    """Return the release of counted columns as that of the whole table."""
    first = (*outliers.source.notes, *outliers.notes, *notes)  # in the order of a run in memory
    columns = {column.name: column for column in release.schema.columns}
    release = replace(
        release,
        source=outliers.source,
        schema=outliers.schema.with_columns(columns),
        request=replace(release.request, accept_unique=job.request.accept_unique),
        notes=tuple(dict.fromkeys((*first, *release.notes))),
    )
    if isinstance(release.recoding, Dealing):
        return replace(release, recoding=replace(release.recoding, names=_dealt_names(release)))
    return replace(release, recoding=_recoding(release, outliers))


def _dealt_names(release: Release) -> tuple[str, ...]:
    """Return the released columns in order, each column of spread after the column that it belongs to."""
    names = []
    for column in release.schema.released:
        names += [column.name, *([spread_name(column)] if column.name in release.spread else [])]
    return tuple(names)


def count_table(source: Source, schema: Schema, extra_columns: Sequence[str] = ()) -> Table:
    """Count a source by its quasi-identifiers and further columns: distinct rows, each with its count."""
    counted = source.count([*(column.name for column in schema.qi), *extra_columns])
    return RankedTable(counted.factors, counted.counts, source.notes, source.dialect)


def _recoding(release: Release, outliers: Outliers) -> Recoding:
    """Derive the released text of each cell from the distinct rows before and after."""
    import polars as pl

    rows, before = pl.Series(release.source_rows), outliers.recoded(release.original)
    names = [column.name for column in release.schema.qi]
    maps = {}
    for name in names:
        cells = before.frame[name].gather(rows)
        pairs = pl.DataFrame({"cell": cells, "label": release.text[name]}).unique().sort("cell")
        maps[name] = dict(pairs.iter_rows())
        if len(maps[name]) != pairs.height:
            raise InternalError(f"column {name!r}: method {release.request.method!r} gave one value two labels.")
    is_complete = len(rows) == release.original.height
    kept_groups = None if is_complete else tuple(release.text.select(names).unique().sort(names).iter_rows())
    return Recoding(tuple(column.name for column in release.schema.released), maps, kept_groups)
