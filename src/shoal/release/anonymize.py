"""The whole path from a table to a release, and the calls that users make."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from shoal import methods, metrics
from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.encoding.encode import encode, guess_kinds
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import InputError, InternalError, Note, UsageError, VerificationError
from shoal.hierarchy.base import Rule, for_columns
from shoal.hierarchy.level_weights import Climb
from shoal.methods.base import Method, Run, check_rows_left, check_run
from shoal.methods.registry import COUNTS_PEOPLE, DEFAULT, HONOURS_ALL
from shoal.metrics import Measures
from shoal.metrics.association import about_redundancy, derive_weights
from shoal.metrics.lower_bound import lower_bound
from shoal.metrics.pair import open_pair
from shoal.metrics.released_cells import Domain
from shoal.models import KAnonymity, PrivacyModel
from shoal.profile.rare_values import check_rare
from shoal.release.custom_models import check_custom_models, models_in_words, specs_to_verify
from shoal.release.drift import check_drift
from shoal.release.notes import about_release, about_search, about_table, about_unchanged
from shoal.release.preconditions import as_it_is, check_columns, check_enough, check_personal, check_population
from shoal.release.release import Release, Request
from shoal.rules import CompiledRules, compile_rules, judge_rules
from shoal.rules import Rule as ConstraintRule
from shoal.schema import Role, Schema, check_k, check_lists
from shoal.settings.settings import AUTO, Settings, read_config
from shoal.tables.table import Table, from_frame

__all__ = ["anonymize", "anonymize_table", "measure"]


def anonymize(
    frame: Any,
    *,
    qi: Sequence[str] = (),
    k: int | None = None,
    l: int | None = None,
    t: float | str | None = None,
    k_column: str | None = None,
    population: Any = None,
    suppression_limit: float | str | None = None,
    rules: Sequence[ConstraintRule] = (),
    weights: Mapping[str, float] | str | None = None,
    all_qi: bool | None = None,
    sensitive: Sequence[str] = (),
    insensitive: Sequence[str] = (),
    drop: Sequence[str] = (),
    others: str | None = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Sequence[str] | Mapping[str, str] = (),
    missing: Sequence[str] = (),
    method: str | Method | None = None,
    effort: str | None = None,
    models: Iterable[PrivacyModel] = (),
    seed: int | None = None,
    threads: int | None = None,
    keep_order: bool = False,
    bound: bool | None = None,
    config: str | os.PathLike[str] | None = None,
    person: str | None = None,
    accept_unique: Sequence[str] = (),
    hierarchies: Mapping[str, Rule | str | os.PathLike[str]] | None = None,
    trust_hierarchies: bool = False,
    unknown: str | None = None,
    snap: bool | None = None,
    grids: Mapping[str, str] | None = None,
    cells: str | None = None,
    spreadsheet_safe: bool | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
) -> Release:
    """Give every row of a frame at least k - 1 look-alikes in its quasi-identifiers.

    frame: pandas, polars or pyarrow. qi, sensitive, insensitive, drop: the columns by role; a column without one is an
    error unless others is "drop" or "insensitive". numeric, categorical, dates: the kind of a quasi-identifier where it
    should not be told from its cells; dates may map a name to its strptime format. missing: texts that stand for a
    missing value beside the empty one. l, t: distinct l-diversity and t-closeness of every sensitive column; models:
    others, such as shoal.EntropyLDiversity("disease", l=2). k_column: the column that holds each row's own k.
    population: a frame or the path of the table that this one was drawn from, for models that count it.
    suppression_limit: the largest share of the rows that may be left out. rules: shoal.Rule values that say what groups
    should not mix, and weights of the quasi-identifiers, for methods that heed them; "auto" gives less weight to a
    column the more the others tell of it. all_qi: recode the sensitive
    columns too. method: a name from shoal.methods or an instance with its options. keep_order: rows as in the frame in
    place of sorted. effort: how long shoaling looks for less loss, "fast", "normal" or "high". bound: take all the time
    that release.lower_bound, what any release of the table must lose, may need. config: a shoal.toml whose settings
    hold where an argument is left out. person: the column that says which rows are one person's; k then counts people.
    accept_unique: insensitive columns
    that may leave with rare values. hierarchies: by quasi-identifier, made or read by shoal.hierarchy, or the path of a
    file; trust_hierarchies takes labels that are not true of their values; unknown="top" suppresses values that a
    hierarchy lacks. snap: ranges end on a round grid, or on the one in grids. cells="bounds": a file gets two columns
    for each range. spreadsheet_safe: formulas in the file are made harmless. decimal, thousands: the marks in numbers.

    >>> import shoal
    >>> release = shoal.anonymize(
    ...     shoal.datasets.patients(), qi=["birth_date", "sex", "zip"], sensitive=["disease"], others="drop", k=10
    ... )
    >>> release.measures.smallest_group >= 10
    True
    """
    check_lists(qi=qi, sensitive=sensitive, insensitive=insensitive, drop=drop)
    given = Settings(
        k=k,
        l=l,
        t=t,
        k_column=k_column,
        population=population,
        suppression_limit=suppression_limit,
        constraints=tuple(rules),
        weights=weights if isinstance(weights, str) else dict(weights or {}),
        all_qi=all_qi,
        qi=tuple(qi),
        sensitive=tuple(sensitive),
        insensitive=tuple(insensitive),
        drop=tuple(drop),
        others=others,
        numeric=tuple(numeric),
        categorical=tuple(categorical),
        dates=dict(dates) if isinstance(dates, Mapping) else dict.fromkeys(dates, "%Y-%m-%d"),
        missing=tuple(missing),
        method=method if isinstance(method, str) else None,
        effort=effort,
        seed=seed,
        person=person,
        accept_unique=tuple(accept_unique),
        hierarchies=dict(hierarchies or {}),
        trust_hierarchies=trust_hierarchies or None,
        unknown=unknown,
        snap=snap,
        grids=dict(grids or {}),
        cells=cells,
        spreadsheet_safe=spreadsheet_safe,
        decimal=decimal,
        thousands=thousands,
    )
    saved = read_config(config) if config is not None else Settings()
    settings = given.over(saved)
    asked = (*settings.privacy_models(), *models)
    chosen = choose_method(settings, asked) if method is None or isinstance(method, str) else method
    request = make_request(settings, keep_order=keep_order, bound=bound)
    table = from_frame(frame)
    check_drift(table, saved)
    run = make_run(settings, threads=threads or os.cpu_count() or 1)
    schema = settings.schema(table.names)
    people = settings.population_table()
    release = anonymize_table(table, schema, request, chosen, asked, run, settings.rules(), people)
    return replace(release, settings=settings)


def make_run(settings: Settings, *, threads: int) -> Run:
    """Return what the settings say about the run; nobody watches it."""
    return Run(
        seed=settings.seed or 0,
        threads=threads,
        rules=settings.data_rules(),
        weights=settings.column_weights(),
        derive_weights=settings.weights == AUTO,
    )


def make_request(settings: Settings, *, keep_order: bool, bound: bool | None = None) -> Request:
    """Return what the settings ask for; k must be among it."""
    if settings.k is None and settings.k_column is None:
        raise UsageError(
            "k is not given. Say how many rows must look alike at least: k=5 (command line: -k 5) is common."
        )
    return Request(
        k=1 if settings.k is None else check_k(settings.k),
        suppression_limit=_share(settings.suppression_limit),
        keep_order=keep_order,
        cells=settings.cells or "text",
        snap=bool(settings.snap),
        spreadsheet_safe=bool(settings.spreadsheet_safe),
        accept_unique=settings.accept_unique,
        unknown=settings.unknown or "error",
        bound=bound,
    )


def _share(limit: float | str | None) -> Fraction:
    try:
        return Fraction(str(limit or 0))
    except (ValueError, ZeroDivisionError):
        raise UsageError(f"suppression_limit={limit!r} is not a share. Use a number from 0 to 1.") from None


def choose_method(settings: Settings, models: Iterable[PrivacyModel] = ()) -> Method:
    """Return the method that the settings name, or a default one that can count people and honour the models."""
    options = dict(settings.options) | ({"effort": settings.effort} if settings.effort else {})
    default = COUNTS_PEOPLE if settings.person else DEFAULT
    able = next(info for info in methods.infos() if info.name == default).honours
    if not all(model.basis in able for model in models):
        default = HONOURS_ALL
    return methods.named(settings.method or default, **options)


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
) -> Release:
    """Run one method over a table; a table that meets the goal as it is comes back unchanged.

    prepared: the table as codes, made with this schema, where several runs share it.
    """
    models = (KAnonymity(request.k), *models)
    k = max(model.minimum_size for model in models)
    check_enough(table, schema, request.k)
    check_columns(models, schema, population)
    run.stage("encoding")
    run = replace(run, suppression_limit=request.suppression_limit)
    notes = [*table.notes, *check_rare(table, schema, k, request.accept_unique)]
    named = [column.name for column in schema.columns if column.role in (Role.QI, Role.SENSITIVE)]
    hierarchies = for_columns((hierarchies or {}).items(), named)
    if (unchanged := as_it_is(table, schema, models, k, hierarchies)) is not None:
        notes.append(about_unchanged(models))
        schema, encoded = unchanged
        run = replace(run, rules=())  # what is unchanged keeps them all
        k = check_personal(encoded, k)
        partition = tight_partition(encoded, encoded.row_tuple)
    else:
        notes += about_table(table, schema)
        if prepared is None:
            schema = guess_kinds(table, schema)
            prepared = encode(table, schema, hierarchies, unknown=request.unknown, population=population)
        encoded = prepared
        check_population(encoded)
        run.stage("grouping")
        k = check_personal(encoded, k)
        if run.derive_weights:
            run = replace(run, weights=derive_weights(encoded))
            notes += about_redundancy(encoded)
        check_run(method.name, encoded, run)
        partition = method.partition(encoded, models, run)
        check_rows_left(method.name, partition.labels)
    options: dict[str, object] = asdict(method) if is_dataclass(method) and not isinstance(method, type) else {}
    request = replace(
        request,
        k=k,
        method=method.name,
        options=options,
        seed=run.seed,
        models=models_in_words(models),
        specs=specs_to_verify(models),
        weights=dict(run.weights),
    )
    run.stage("measuring")
    # Where nothing was changed all rules are kept.
    compiled = compile_rules(run.rules, encoded.attributes) if unchanged is None else None
    release = make_release(table, schema, request, models, encoded, partition, population, notes, run.weights, compiled)
    if compiled is None:
        return release
    codes = encoded.tuples[encoded.row_tuple]
    verdicts = judge_rules(run.rules, encoded.attributes, codes, partition.labels)
    if any(verdict.ban and verdict.broken_groups for verdict in verdicts):
        raise InternalError(f"method {method.name!r} made groups that break a ban; nothing was written.")
    return replace(release, rules=verdicts)


def make_release(
    table: Table,
    schema: Schema,
    request: Request,
    models: tuple[PrivacyModel, ...],
    encoded: Encoded,
    partition: Partition,
    population: Table | None,
    notes: list[Note],
    weights: Mapping[str, Fraction],
    rules: CompiledRules | None,
) -> Release:
    """Turn what a method made into cells, and measure what they lost."""
    released = decode(encoded, partition, schema, keep_order=request.keep_order, snapped=request.snap)
    notes = [*notes, *check_custom_models(models, encoded, released, schema)]
    bound = {a.name: a.hierarchy for a in encoded.attributes if a.hierarchy is not None}
    try:
        floats = {name: float(weight) for name, weight in weights.items()}
        measures = metrics.measure_partition(
            encoded, partition, schema, snapped=request.snap, k=request.k, weights=floats, rules=rules
        )
    except InputError as error:  # what we made ourselves must be readable
        raise VerificationError(
            f"the release that was made cannot be read back; nothing was written. {error}"
        ) from None
    find_bound = partial(lower_bound, encoded, request.k, thorough=bool(request.bound))
    return Release(
        released.table.frame,
        released.source_rows,
        table,
        schema,
        request,
        measures,
        (
            *notes,
            *(note for rule in bound.values() for note in rule.notes),
            *about_release(released, encoded, schema, request),
            *about_search(partition.facts),
        ),
        labels={name: rule.values_under() for name, rule in bound.items()},
        ends=released.bounds,
        # With rows left out a release may lose less than any that keeps them all, and the bound knows no weights.
        find_bound=(lambda: None) if request.suppression_limit or weights else find_bound,
        paths={c.name: c.hierarchy.rows for c in encoded.sensitive if c.hierarchy is not None},
        population=population,
        levels=partition.levels,
        search=partition.facts,
    )


def measure(
    original: Any,
    released: Any,
    *,
    qi: Sequence[str],
    k: int | None = None,
    numeric: Sequence[str] = (),
    categorical: Sequence[str] = (),
    dates: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    weights: Mapping[str, float] | str | None = None,
    domains: Mapping[str, Domain] | None = None,
    hierarchies: Mapping[str, Rule] | None = None,
    climb: Climb | None = None,
    target: str | None = None,
    rules: Sequence[ConstraintRule] = (),
    decimal: str = ".",
    thousands: str = "",
) -> Measures:
    """Score any tool's release of a table: frames or paths of CSV files.

    climb: how the levels of the hierarchies weigh in the distortion, all alike where it is left out. target: the column
    of classes for the classification metric. rules: of the quasi-identifiers, for the research value. weights: of
    them, or "auto" for those that anonymize derives from the original.

    >>> import polars as pl, shoal
    >>> before = pl.DataFrame({"age": [20, 30, 40, 60]})
    >>> after = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]"]})
    >>> round(shoal.measure(before, after, qi=["age"]).ncp, 3)
    0.375
    """
    pair = open_pair(
        original,
        released,
        qi=qi,
        numeric=numeric,
        categorical=categorical,
        dates=dates,
        missing=missing,
        hierarchies=hierarchies,
        decimal=decimal,
        thousands=thousands,
    )
    encoded = encode(pair.original, pair.schema, unknown="top") if rules or weights == AUTO else None
    if encoded and weights == AUTO:
        weights = {name: float(weight) for name, weight in derive_weights(encoded).items()}
    if isinstance(weights, str):
        raise UsageError(f"weights={weights!r} is not known. Use {AUTO!r}, or a weight for each column.")
    return metrics.measure_tables(
        pair.original,
        pair.released,
        pair.schema,
        k=k,
        weights=weights,
        domains=domains,
        hierarchies=pair.hierarchies,
        climb=climb,
        target=target,
        rules=compile_rules(rules, encoded.attributes) if encoded and rules else None,
    )
