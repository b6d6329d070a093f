"""From a table in memory to a release: checks, encoding, grouping, decoding and measuring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from shoal import methods, metrics
from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.ends import EXACT, release_ends
from shoal.encoding.outliers import code_outliers
from shoal.encoding.partition import Entries, Partition, tight_partition
from shoal.errors import InputError, InternalError, Note, UsageError, VerificationError, setting
from shoal.hierarchy.base import Rule, for_columns
from shoal.hierarchy.propose import propose_open
from shoal.methods.base import (
    Method,
    Run,
    check_honours,
    check_rows_left,
    check_run,
    check_support,
    failing_groups,
    needs_search,
)
from shoal.methods.full_domain.base import FullDomain
from shoal.methods.full_domain.sampling import about_sample, check_sample, check_sampling, draw_rows, find_sampling
from shoal.methods.registry import DEFAULT
from shoal.metrics.association import about_redundancy, derive_weights
from shoal.metrics.released_loss import label_losses
from shoal.metrics.research_value import Research
from shoal.metrics.singled import look_for_singled
from shoal.models import KAnonymity, PrivacyModel
from shoal.models.thresholds import MOST_PARTS
from shoal.profile.rare_values import check_rare
from shoal.release.cells.ends import about_ends, choose_ends
from shoal.release.cells.limits import Bounds, group_within
from shoal.release.custom_models import check_custom_models, models_in_words, specs_to_verify
from shoal.release.notes import about_levels, about_release, about_search, about_table, about_unchanged, about_unread
from shoal.release.preconditions import as_it_is, check_columns, check_enough, check_personal, check_population
from shoal.release.release import Release, Request
from shoal.rules import CompiledRules, compile_rules, judge_rules
from shoal.schema import INPUT, Role, Schema, check_k
from shoal.settings.settings import AUTO, Settings
from shoal.tables.sources.memory import TableSource
from shoal.tables.sources.sample import Sample
from shoal.tables.table import Table
from shoal.tables.values import exact_fraction
from shoal.tables.watch import UNWATCHED, Watch

__all__ = ["anonymize_table", "choose_method", "make_request", "make_run"]


def make_run(settings: Settings, *, threads: int, watch: Watch = UNWATCHED) -> Run:
    """Return the run that the settings describe."""
    return Run(
        seed=settings.seed or 0,
        threads=threads,
        rules=settings.data_rules(),
        weights=settings.column_weights(),
        derive_weights=settings.weights == AUTO,
        stage=watch.stage,
        progress=watch.progress,
        cancelled=watch.cancelled,
    )


def make_request(settings: Settings, *, keep_order: bool, bound: bool | None = None) -> Request:
    """Return the request that the settings describe; they must contain k or a column of personal k."""
    if settings.k is None and settings.k_column is None:
        raise UsageError(
            f"k is not given. Set the smallest number of rows that must look alike; {setting('k', 5)} is common."
        )
    return Request(
        k=1 if settings.k is None else check_k(settings.k),
        suppression_limit=_share(settings.suppression_limit),
        keep_order=keep_order,
        cells=settings.cells or "text",
        ends=settings.range_ends,
        spreadsheet_safe=bool(settings.spreadsheet_safe),
        output_delimiter=settings.output_delimiter or ",",
        output_decimal=settings.output_decimal or INPUT,
        accept_unique=settings.accept_unique,
        unknown=settings.unknown or "error",
        bound=bound,
    )


def _share(limit: float | str | None) -> Fraction:
    share = exact_fraction(limit or 0)
    if share is None or share.denominator > MOST_PARTS:
        raise UsageError(
            f"suppression_limit={limit!r} is not a share. Use a number from 0 to 1 with at most 20 decimals."
        )
    return share


def choose_method(settings: Settings) -> Method:
    """Return the method that the settings name, or the default, which honours every model and counts people."""
    options = dict(settings.options) | ({"effort": settings.effort} if settings.effort else {})
    return methods.named(settings.method or DEFAULT, **options)


def anonymize_table(
    table: Table,
    schema: Schema,
    request: Request,
    method: Method,
    models: tuple[PrivacyModel, ...],
    run: Run,
    hierarchies: Mapping[str, Rule] | None = None,
    population: Table | None = None,
    prepared: Encoded | None = None,
    key: bytes | None = None,
) -> Release:
    """Run one method on a table; a table that already meets the request is returned unchanged.

    Args:
        table: The table.
        schema: The roles and kinds of its columns.
        request: What the user requested.
        method: The method.
        models: The privacy models besides k-anonymity.
        run: Seed, threads, rules, weights and callbacks.
        hierarchies: By column, its hierarchy.
        population: The table that population models compare with.
        prepared: The table as codes, encoded with this schema, if several runs share it.
        key: The secret that draws a sample, if a model needs one; None for the secure generator of the system.
    """
    models = (KAnonymity(request.k), *models)
    k = max(model.minimum_size for model in models)
    grids = {column.name: column.grid for column in schema.qi if column.grid}
    request = replace(request, common_k=k, ends=choose_ends(request.ends, method, models, grids))
    check_enough(table, schema, request.k)
    check_columns(models, schema, population)
    sampled = None
    if sampling := find_sampling(models):
        check_honours(method, models)
        check_sampling(schema, method, keep_order=request.keep_order, suppression_limit=request.suppression_limit)
        sampled = Sample(TableSource(table), draw_rows(table, sampling.share, key))
        check_sample(len(sampled.rows), sampling, models)
        table, request = sampled.table, replace(request, suppression_limit=Fraction(1))
    original = table
    if any(column.codings for column in schema.qi):  # a bound is read as the column writes its numbers
        schema = guess_kinds(table, schema)
    table, schema, coding_notes = code_outliers(table, schema, k)
    is_coded = table is not original
    run.stage("encoding")
    for number, column in enumerate(schema.released, 1):
        table.factor(column.name)  # the longest part of encoding; kept for what follows
        run.step(number / len(schema.released))
    run = replace(run, suppression_limit=request.suppression_limit)
    notes = [
        *table.notes,
        *coding_notes,
        *check_rare(table, schema, k, request.accept_unique),
        *about_table(table, schema, models),
    ]
    named = [column.name for column in schema.columns if column.role in (Role.QI, Role.SENSITIVE)]
    hierarchies = for_columns((hierarchies or {}).items(), named)
    must_search = needs_search(method) or is_coded or any(any(column.limits) for column in schema.qi)
    unchanged = None if must_search else as_it_is(table, schema, models, k, hierarchies)
    try:
        if prepared is None or is_coded:
            schema = guess_kinds(table, schema, notes)
            hierarchies, about_proposals = propose_open(hierarchies, table, schema)
            notes += about_proposals
            prepared = encode(table, schema, hierarchies, unknown=request.unknown, population=population, watch=run)
        encoded = prepared
    except InputError as error:
        if unchanged is None or run.rules or population is not None or request.cells == "bounds":
            raise
        notes.append(about_unread(error))
        schema, encoded = unchanged
    check_population(encoded)
    run.stage("grouping")
    k = check_personal(encoded, k)
    if run.derive_weights:
        run = replace(run, weights=derive_weights(encoded))
        notes += about_redundancy(encoded)
    bounds = Bounds(encoded, schema, hierarchies, request.ends or EXACT, k, run.most_suppressed(encoded.n_rows))
    run = replace(run, limits=bounds.compiled())
    schema = bounds.with_levels()
    check_run(method.name, [column.name for column in schema.qi], run)
    check_support(method, encoded, models)
    rules = compile_rules(run.rules, encoded.attributes)
    if unchanged is not None and request.cells == "bounds":  # a column of values becomes two columns of bounds
        unchanged = None if failing_groups(encoded, models, encoded.row_tuple).any() else (schema, encoded)
    request = _complete(request, k, method, models, run)
    if unchanged is None:
        notes += about_levels(method, encoded)
        partition = group_within(method, encoded, models, run, bounds)
        check_rows_left(method.name, partition.labels)
        groups = partition.entries
        shown = Shown(schema, encoded, partition, rules)
    else:
        notes.append(about_unchanged(models))
        groups = Entries.of_rows(encoded, encoded.row_tuple)
        shown = _show_as_it_is(*unchanged, method)
    run.stage("measuring")
    run.check()
    research: Research | None = getattr(method, "research", None)  # of methods that search by research value
    release = make_release(original, request, models, shown, population, notes, run.weights, research)
    verdicts = judge_rules(run.rules, encoded.attributes, encoded.tuples[groups.tuples], groups.groups, groups.rows)
    if any(verdict.ban and verdict.broken_groups for verdict in verdicts):
        raise InternalError(f"method {method.name!r} made groups that break a ban; nothing was written.")
    release = replace(release, schema=schema, rules=verdicts)
    if sampling and sampled:
        release = replace(release, source=sampled, notes=(*release.notes, about_sample(sampling, key)))
    return release


class Shown(NamedTuple):
    """What a release shows: the cells of a partition.

    Attributes:
        schema: The columns, with the kinds by which the table was encoded.
        encoded: The table as codes: values or, for a table that stays as it is, texts.
        partition: The groups and their cells.
        rules: The data constraint rules over the codes; None if no group mixes values.
    """

    schema: Schema
    encoded: Encoded
    partition: Partition
    rules: CompiledRules | None


def _show_as_it_is(schema: Schema, encoded: Encoded, method: Method) -> Shown:
    """Return the release of a table that already meets the request: every cell is its own."""
    partition = tight_partition(encoded, encoded.row_tuple)
    if isinstance(method, FullDomain):
        partition = replace(partition, levels=dict.fromkeys((column.name for column in schema.qi), 0))
    return Shown(schema, encoded, partition, None)


def _complete(request: Request, k: int, method: Method, models: tuple[PrivacyModel, ...], run: Run) -> Request:
    """Return the request with what the run settled: k, the method with its options, models, seed and weights."""
    options: dict[str, object] = asdict(method) if is_dataclass(method) and not isinstance(method, type) else {}
    return replace(
        request,
        k=k,
        method=method.name,
        options=options,
        seed=run.seed,
        models=models_in_words(models),
        specs=specs_to_verify(models),
        weights=dict(run.weights),
    )


def make_release(
    table: Table,
    request: Request,
    models: tuple[PrivacyModel, ...],
    shown: Shown,
    population: Table | None,
    notes: list[Note],
    weights: Mapping[str, Fraction],
    research: Research | None = None,
) -> Release:
    """Decode the groups of a partition into cells, and measure their information loss."""
    schema, encoded, partition, rules = shown
    is_coded = any(column.codings for column in schema.columns)
    apart = rules.banned if rules else None
    ends = release_ends(encoded, partition, schema, request.ends or EXACT, k=request.k, apart=apart)
    released = decode(encoded, partition, schema, keep_order=request.keep_order, ends=ends)
    notes = [*notes, *check_custom_models(models, encoded, released, schema)]
    trees = {a.name: a.hierarchy for a in encoded.attributes if a.hierarchy is not None}
    floats = {name: float(weight) for name, weight in weights.items()}
    try:
        measures = metrics.measure_partition(
            encoded,
            partition,
            schema,
            ends=ends,
            k=request.k,
            weights=floats,
            rules=rules,
            research=research,
            original=table,
        )
    except InputError as error:  # our own release must be readable
        raise VerificationError(f"the release cannot be read back; nothing was written. {error}") from None
    singled = look_for_singled(encoded, partition, ends, request.k, floats)
    return Release(
        released.table.frame,
        released.source_rows,
        table,
        TableSource(table),
        schema,
        request,
        measures,
        (
            *notes,
            *(note for tree in trees.values() for note in tree.notes),
            *about_release(table, released, schema, request),
            *about_ends(singled, request, models),
            *about_search(partition.facts),
        ),
        labels={name: tree.values_under() for name, tree in trees.items()},
        label_losses={name: label_losses(tree) for name, tree in trees.items()},
        ends=released.bounds,
        singled=singled,
        # The bound holds for releases of all rows as they are, with equal weights.
        encoded=None if request.suppression_limit or weights or is_coded else encoded,
        paths={c.name: c.hierarchy.rows for c in encoded.sensitive if c.hierarchy is not None},
        ladders={name: tree.rows for name, tree in trees.items()},
        population=population,
        levels=partition.levels,
        search=partition.facts,
        factors={name: released.table.factor(name) for name in released.table.names},
    )
