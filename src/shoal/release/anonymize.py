"""The two calls that Python users make: `shoal.anonymize` and `shoal.measure`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from shoal import metrics
from shoal.encoding.encode import encode
from shoal.errors import UsageError
from shoal.hierarchy.base import Rule
from shoal.hierarchy.level_weights import Climb
from shoal.methods.base import Method
from shoal.metrics import Measures
from shoal.metrics.association import derive_weights
from shoal.metrics.pair import open_pair
from shoal.metrics.released_cells import Domain
from shoal.models import PrivacyModel
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.release.release import Release
from shoal.rules import Rule as ConstraintRule
from shoal.rules import compile_rules
from shoal.schema import check_lists
from shoal.settings.settings import AUTO, Settings, read_config
from shoal.tables.watch import make_watch

__all__ = ["anonymize", "measure"]


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
    engine: str | None = None,
    memory: str | None = None,
    progress: Callable[[str, float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
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
    run = make_run(settings, threads=threads or os.cpu_count() or 1, watch=make_watch(progress, cancelled))
    job = Job.from_settings(
        frame,
        settings,
        run=run,
        saved=saved,
        method=None if isinstance(method, str) else method,
        models=models,
        engine=engine,
        memory=memory,
        keep_order=keep_order,
        bound=bound,
    )
    return job.release()


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
