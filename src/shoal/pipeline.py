"""The whole path from a table to a release, and the calls that users make."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from functools import partial
from typing import Any

from shoal import encoding, methods, metrics
from shoal.bound import lower_bound
from shoal.config import Settings, read_config
from shoal.drift import check_drift
from shoal.errors import InfeasibleError, InputError, UsageError, VerificationError
from shoal.formats import read_table
from shoal.hierarchy.base import Rule, for_columns
from shoal.methods.base import COUNTS_PEOPLE, DEFAULT, Method, Run
from shoal.metrics import Measures
from shoal.metrics.cells import Domain
from shoal.models import KAnonymity, PrivacyModel
from shoal.partition import tight_partition
from shoal.rare import check_rare
from shoal.release import Release, Request
from shoal.remarks import about_release, about_table
from shoal.schema import Kind, Role, Schema, check_k
from shoal.table import Table, from_frame

__all__ = ["anonymize", "anonymize_table", "measure"]


def anonymize(
    frame: Any,
    *,
    qi: Sequence[str] = (),
    k: int | None = None,
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
    error unless others is "drop" or "insensitive". numeric, categorical, dates: the kind of a quasi-identifier
    where it should not be told from its cells; dates may map a name to its strptime format. missing: texts that
    stand for a missing value beside the empty one. method: a name from shoal.methods or an instance with its
    options. keep_order: rows as in the frame in place of sorted. effort: how long shoaling looks for less loss,
    "fast", "normal" or "high". bound: take all the time that release.lower_bound, what any release of the table
    must lose, may need. config: a shoal.toml whose settings hold where an argument is left out. person: the column
    that says which rows are one person's; k then counts people. accept_unique: insensitive columns that may leave
    with rare values. hierarchies: by quasi-identifier, made or read by shoal.hierarchy, or the path of a file;
    trust_hierarchies takes labels that are not true of their values; unknown="top" suppresses values that a
    hierarchy lacks. snap: ranges end on a round grid, or on the one in grids. cells="bounds": a file gets two
    columns for each range. spreadsheet_safe: formulas in the file are made harmless. decimal, thousands: the marks
    in numbers.

    >>> import shoal
    >>> release = shoal.anonymize(
    ...     shoal.datasets.patients(), qi=["birth_date", "sex", "zip"], sensitive=["disease"], others="drop", k=10
    ... )
    >>> release.measures.smallest_group >= 10
    True
    """
    for role, names in (("qi", qi), ("sensitive", sensitive), ("insensitive", insensitive), ("drop", drop)):
        if isinstance(names, str):
            raise UsageError(f"{role}={names!r} is a text. Give a list of column names.")
    given = Settings(
        k=k,
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
    chosen = choose_method(settings) if method is None or isinstance(method, str) else method
    request = make_request(settings, keep_order=keep_order, bound=bound)
    table = from_frame(frame)
    check_drift(table, saved)
    run = Run(seed=settings.seed or 0, threads=threads or os.cpu_count() or 1)
    schema = settings.schema(table.names)
    return anonymize_table(table, schema, request, chosen, tuple(models), run, settings.rules())


def make_request(settings: Settings, *, keep_order: bool, bound: bool | None = None) -> Request:
    """Return what the settings ask for; k must be among it."""
    if settings.k is None:
        raise UsageError(
            "k is not given. Say how many rows must look alike at least: k=5 (command line: -k 5) is common."
        )
    return Request(
        k=check_k(settings.k),
        keep_order=keep_order,
        cells=settings.cells or "text",
        snap=bool(settings.snap),
        spreadsheet_safe=bool(settings.spreadsheet_safe),
        accept_unique=settings.accept_unique,
        unknown=settings.unknown or "error",
        bound=bound,
    )


def choose_method(settings: Settings) -> Method:
    """Return the method that the settings name, or the default one; where people are counted, one that can."""
    options = dict(settings.options) | ({"effort": settings.effort} if settings.effort else {})
    return methods.named(settings.method or (COUNTS_PEOPLE if settings.person else DEFAULT), **options)


def anonymize_table(
    table: Table,
    schema: Schema,
    request: Request,
    method: Method,
    models: tuple[PrivacyModel, ...],
    run: Run,
    hierarchies: Mapping[str, Rule] | None = None,
) -> Release:
    """Run one method over a table; a table that meets the goal as it is comes back unchanged."""
    models = (KAnonymity(request.k), *models)
    k = max(model.minimum_size for model in models)
    check_enough(table, schema, k)
    run.stage("encoding")
    notes = [*table.notes, *check_rare(table, schema, k, request.accept_unique)]
    hierarchies = for_columns((hierarchies or {}).items(), [column.name for column in schema.qi])
    smallest = table.group_sizes([column.name for column in schema.qi]).min()
    if smallest >= k and all(model.size_only for model in models) and not schema.names(Role.PERSON):
        notes.append(f"the table meets {models[0].describe()} as it is; nothing was changed")
        schema = schema.with_kinds({column.name: Kind.CATEGORICAL for column in schema.qi})
        encoded = encoding.encode(table, schema, as_text=True)
        partition = tight_partition(encoded, encoded.row_tuple)
    else:
        notes += about_table(table, schema)
        schema = encoding.guess_kinds(table, schema)
        encoded = encoding.encode(table, schema, hierarchies, unknown=request.unknown)
        run.stage("grouping")
        partition = method.partition(encoded, models, run)
    run.stage("measuring")
    released = encoding.decode(encoded, partition, schema, keep_order=request.keep_order, snapped=request.snap)
    bound = {a.name: a.hierarchy for a in encoded.attributes if a.hierarchy is not None}
    try:
        measures = metrics.measure_tables(table, released.table, schema, k=k, hierarchies=bound)
    except InputError as error:  # what we made ourselves must be readable
        raise VerificationError(
            f"the release that was made cannot be read back; nothing was written. {error}"
        ) from None
    notes += [note for rule in bound.values() for note in rule.notes]
    notes += about_release(released, encoded, schema, request)
    options: dict[str, object] = asdict(method) if is_dataclass(method) and not isinstance(method, type) else {}
    told = tuple(model.describe() for model in models)
    request = replace(request, k=k, models=told, method=method.name, options=options, seed=run.seed)
    return Release(
        released.table.frame,
        released.source_rows,
        table,
        schema,
        request,
        measures,
        tuple(notes),
        labels={name: rule.values_under() for name, rule in bound.items()},
        ends=released.bounds,
        find_bound=partial(lower_bound, encoded, k, thorough=bool(request.bound)),
    )


def check_enough(table: Table, schema: Schema, k: int) -> None:
    """Refuse a table with fewer rows, or people, than k."""
    if table.n_rows < k:
        raise InfeasibleError(f"k={k} cannot be met: the table has {table.n_rows} rows. Use k <= {table.n_rows}.")
    for name in schema.names(Role.PERSON):
        people = len(table.factor(name).texts)
        if people < k:
            raise InfeasibleError(
                f"k={k} cannot be met: the table has rows of {people} people (column {name!r}). Use k <= {people}."
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
    weights: Mapping[str, float] | None = None,
    domains: Mapping[str, Domain] | None = None,
    hierarchies: Mapping[str, Rule] | None = None,
    decimal: str = ".",
    thousands: str = "",
) -> Measures:
    """Score any tool's release of a table: frames or paths of CSV files.

    >>> import polars as pl, shoal
    >>> before = pl.DataFrame({"age": [20, 30, 40, 60]})
    >>> after = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]"]})
    >>> round(shoal.measure(before, after, qi=["age"]).ncp, 3)
    0.375
    """
    tables = [read_table(x) if isinstance(x, str | os.PathLike) else from_frame(x) for x in (original, released)]
    for table, which in zip(tables, ("original", "release"), strict=True):
        absent = [name for name in qi if name not in table.names]
        if absent:
            raise UsageError(f"column {absent[0]!r} is not in the {which}. Its columns: {', '.join(table.names[:30])}.")
    kinds = dict.fromkeys(numeric, Kind.NUMERIC) | dict.fromkeys(categorical, Kind.CATEGORICAL)
    schema = Schema.build(
        tables[0].names,
        {Role.QI: qi},
        kinds=kinds,
        date_formats=dates,
        others="insensitive",
        missing=missing,
        decimal=decimal,
        thousands=thousands,
    )
    schema = encoding.guess_kinds(tables[0], schema)
    rules = for_columns((hierarchies or {}).items(), qi)
    encoded = encoding.encode(tables[0], schema, rules, unknown="top") if rules else None
    bound = {a.name: a.hierarchy for a in encoded.attributes if a.hierarchy is not None} if encoded else {}
    return metrics.measure_tables(
        tables[0], tables[1], schema, k=k, weights=weights, domains=domains, hierarchies=bound
    )
