"""From a table in memory to a release: checks, encoding, grouping, decoding and measuring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal import methods
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.ends import EXACT
from shoal.encoding.outliers import code_outliers
from shoal.encoding.partition import Entries, counted_again, one_by_one, split_counts, tight_partition
from shoal.errors import InputError, InternalError, Note, UsageError, setting
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
from shoal.metrics.association import Pairs, Twin, about_redundancy, count_pairs, derive_weights
from shoal.metrics.research_value import Research
from shoal.models import KAnonymity, PrivacyModel
from shoal.models.thresholds import MOST_PARTS
from shoal.profile.rare_values import check_rare
from shoal.release.cells.centers import MEAN, check_centers, check_spread
from shoal.release.cells.ends import choose_ends
from shoal.release.cells.limits import Bounds, group_within
from shoal.release.cells.show import Shown, make_release
from shoal.release.counted_tables.dealing import works_on_counts
from shoal.release.custom_models import models_in_words, specs_to_verify
from shoal.release.notes import about_levels, about_table, about_target, about_unchanged, about_unread
from shoal.release.preconditions import (
    as_it_is,
    check_columns,
    check_enough,
    check_personal,
    check_population,
    check_target,
    twins_for,
)
from shoal.release.release import Release, Request
from shoal.rules import RuleVerdict, compile_rules, judge_rules
from shoal.schema import INPUT, Role, Schema, check_k
from shoal.settings.settings import AUTO, Settings
from shoal.tables.sources.memory import TableSource
from shoal.tables.sources.sample import Sample
from shoal.tables.table import Table
from shoal.tables.values import exact_fraction
from shoal.tables.watch import UNWATCHED, Watch

__all__ = [
    "Plan",
    "anonymize_table",
    "carry_out",
    "check_bans",
    "choose_method",
    "make_request",
    "make_run",
    "plan_run",
]


TwinsOf = Callable[[Encoded], tuple[Twin, ...]]


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
    if settings.cells != "center":
        for name in ("center", "spread"):
            if getattr(settings, name):
                raise UsageError(f"{setting(name)} says how centres are made. Add {setting('cells', 'center')}.")
    return Request(
        k=1 if settings.k is None else check_k(settings.k),
        suppression_limit=_share(settings.suppression_limit),
        keep_order=keep_order,
        cells=settings.cells or "text",
        center=settings.center or MEAN,
        spread=bool(settings.spread),
        ends=settings.range_ends,
        spreadsheet_safe=bool(settings.spreadsheet_safe),
        output_delimiter=settings.output_delimiter or ",",
        output_decimal=settings.output_decimal or INPUT,
        accept_unique=settings.accept_unique,
        unknown=settings.unknown or "error",
        bound=bound,
        target=settings.target,
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
    twins_of: TwinsOf | None = None,
    drawn: bool = False,
    revealing: Callable[[], list[Note]] | None = None,
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
        twins_of: Finds the twins of categories, if the table does not have the target.
        drawn: Whether the table is the sample that a model needs.
        revealing: Finds the columns that reveal others, if the table has not all of them.
    """
    given = hierarchies, population, prepared, key, twins_of, drawn, revealing
    return carry_out(plan_run(table, schema, request, method, models, run, *given))


@dataclass(frozen=True)
class Plan:
    """A run up to its search: everything is checked, encoded and settled.

    Attributes:
        table: The table before outliers were recoded.
        schema: Its columns, with the kinds by which it was encoded.
        request: What the user requested, with what the run settled.
        method: The method.
        models: The privacy models, k-anonymity first.
        run: Seed, threads, rules, weights and callbacks, with the limits of cells.
        encoded: The table as codes.
        bounds: The limits of cells, and what they depend on.
        population: The table that population models compare with.
        notes: What was noticed so far.
        unchanged: The schema and the table as text, if it already meets the request.
        sample: The sample, if a model asks for one.
    """

    table: Table
    schema: Schema
    request: Request
    method: Method
    models: tuple[PrivacyModel, ...]
    run: Run
    encoded: Encoded
    bounds: Bounds
    population: Table | None
    notes: list[Note]
    unchanged: tuple[Schema, Encoded] | None
    sample: Sample | None

    def part(self, rows: NDArray[np.int64]) -> Plan:
        """Return the plan for some of the canonical rows, ascending; domains of columns stay those of the table."""
        encoded = self.encoded.take(rows)
        bounds = replace(self.bounds, encoded=encoded, most=self.run.most_suppressed(len(rows)))
        return replace(self, encoded=encoded, bounds=bounds, run=replace(self.run, limits=bounds.compiled()))

    def group(self) -> Shown:
        """Search for groups, and return them with their cells."""
        method, encoded, models, run = self.method, self.encoded, self.models, self.run
        plain = not run.suppression_limit and not run.limits and encoded.people is None and encoded.personal_k is None
        if encoded.weights is None or works_on_counts(method, models, plain=plain):
            partition = group_within(method, encoded, models, run, self.bounds)
            encoded, partition = split_counts(encoded, partition)
        else:
            rows = one_by_one(encoded)
            partition = group_within(method, rows, models, run, replace(self.bounds, encoded=rows))
            encoded, partition = counted_again(encoded, partition)
        check_rows_left(self.method.name, partition.labels)
        return Shown(self.schema, encoded, partition, compile_rules(self.run.rules, encoded.attributes))


def plan_run(
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
    twins_of: TwinsOf | None = None,
    drawn: bool = False,
    revealing: Callable[[], list[Note]] | None = None,
    must_search: bool = False,
    pairs_of: Callable[[Encoded], Pairs] | None = None,
) -> Plan:
    """Check, encode and settle everything that a run needs before its search; see `anonymize_table`.

    With `must_search`, nobody asks whether the table meets the request already. With `pairs_of`, rows of the table only
    have the counts of single columns, and it returns those of pairs.
    """
    models = (KAnonymity(request.k), *models)
    k = max(model.minimum_size for model in models)
    grids = {column.name: column.grid for column in schema.qi if column.grid}
    if request.has_centers:
        check_centers(request, schema, models)
    ends = EXACT if request.has_centers else choose_ends(request.ends, method, models, grids)
    request = replace(request, common_k=k, ends=ends)
    if not drawn:
        check_enough(table, schema, request.k)
    check_columns(models, schema, population)
    if twins_of is None:
        check_target(request, schema, method)
    sampled = None
    if sampling := find_sampling(models):
        check_honours(method, models)
        check_sampling(schema, method, keep_order=request.keep_order, suppression_limit=request.suppression_limit)
        if not drawn:
            sampled = Sample(TableSource(table), draw_rows(table, sampling.share, key))
            table = sampled.table
        check_sample(table.n_rows, sampling, models)
        request = replace(request, suppression_limit=Fraction(1))
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
        *about_table(table, schema, models, joint=pairs_of is None, revealing=revealing),
    ]
    named = [column.name for column in schema.columns if column.role in (Role.QI, Role.SENSITIVE)]
    hierarchies = for_columns((hierarchies or {}).items(), named)
    must_search |= needs_search(method) or is_coded or request.has_centers
    must_search |= any(any(column.limits) for column in schema.qi)
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
    if pairs_of is None:
        check_population(encoded)
    if request.spread:
        check_spread(schema)
    run.stage("grouping")
    k = check_personal(encoded, k)
    if run.derive_weights:
        pairs = count_pairs(encoded) if pairs_of is None else pairs_of(encoded)
        run = replace(run, weights=derive_weights(encoded, pairs))
        notes += about_redundancy(encoded, pairs)
    bounds = Bounds(encoded, schema, hierarchies, request.ends or EXACT, k, run.most_suppressed(encoded.n_rows))
    run = replace(run, limits=bounds.compiled(), twins=twins_for(request, table, schema, encoded, twins_of))
    schema = bounds.with_levels()
    check_run(method.name, [column.name for column in schema.qi], run)
    check_support(method, encoded, models)
    compile_rules(run.rules, encoded.attributes)  # refuses rules that do not fit
    if unchanged is not None and request.cells == "bounds":  # a column of values becomes two columns of bounds
        unchanged = None if failing_groups(encoded, models, encoded.row_tuple).any() else (schema, encoded)
    request = _complete(request, k, method, models, run)
    notes += [about_unchanged(models)] if unchanged is not None else about_levels(method, encoded)
    notes += about_target(request, encoded, run.twins) if unchanged is None else []
    notes += [about_sample(sampling, key)] if sampling else []
    return Plan(original, schema, request, method, models, run, encoded, bounds, population, notes, unchanged, sampled)


def carry_out(plan: Plan) -> Release:
    """Search for groups, and return the release that shows them."""
    run, encoded = plan.run, plan.encoded
    if plan.unchanged is None:
        shown = plan.group()
        encoded, groups = shown.encoded, shown.partition.entries
    else:
        groups = Entries.of_rows(encoded, encoded.row_tuple)
        shown = _show_as_it_is(*plan.unchanged, plan.method)
    run.stage("measuring")
    run.check()
    research: Research | None = getattr(plan.method, "research", None)  # of methods that search by research value
    release = make_release(
        plan.table, plan.request, plan.models, shown, plan.population, plan.notes, run.weights, research
    )
    verdicts = judge_rules(run.rules, encoded.attributes, encoded.tuples[groups.tuples], groups.groups, groups.rows)
    check_bans(plan.method, verdicts)
    release = replace(release, schema=plan.schema, rules=verdicts)
    return release if plan.sample is None else replace(release, source=plan.sample)


def check_bans(method: Method, verdicts: Sequence[RuleVerdict]) -> None:
    """Raise an InternalError if groups break a ban."""
    if any(verdict.ban and verdict.broken_groups for verdict in verdicts):
        raise InternalError(f"method {method.name!r} made groups that break a ban; nothing was written.")


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
