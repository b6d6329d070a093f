"""The two calls that Python users make: `shoal.anonymize` and `shoal.measure`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from shoal import metrics
from shoal.encoding.encode import encode
from shoal.errors import UsageError
from shoal.hierarchy.base import Rule
from shoal.hierarchy.level_weights import Climb
from shoal.methods.base import Method
from shoal.methods.options import read_share
from shoal.metrics import Measures
from shoal.metrics.association import derive_weights
from shoal.metrics.pair import open_pair
from shoal.metrics.released_cells import Domain
from shoal.metrics.research_value import Research
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.release.release import Release
from shoal.rules import Rule as ConstraintRule
from shoal.rules import compile_rules
from shoal.schema import Reading, ReadingKeywords, check_threads
from shoal.settings.keywords import SettingsKeywords, list_keywords, settings_from
from shoal.settings.read import read_config
from shoal.settings.settings import AUTO, Settings
from shoal.tables.watch import make_watch

__all__ = ["anonymize", "measure"]


@list_keywords
def anonymize(
    frame: Any,
    *,
    k: int | None = None,
    method: str | Method | None = None,
    target: str | None = None,
    config: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    keep_order: bool = False,
    bound: bool | None = None,
    engine: str | None = None,
    memory: str | None = None,
    roll_up: str | None = None,
    key_file: str | os.PathLike[str] | None = None,
    progress: Callable[[str, float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings: Unpack[SettingsKeywords],
) -> Release:
    """Anonymise a table: generalise its quasi-identifiers until at least k rows share each combination of them.

    Every column needs a role (`qi`, `sensitive`, `insensitive`, `drop` or `person`), from a keyword or from `config`;
    `others` decides about the columns that have none.

    Args:
        frame: The table: a pandas, polars or pyarrow frame, the path of a file (CSV, Parquet, Arrow, Excel, or CSV
            compressed with gzip or Zstandard), or the URL of a PostgreSQL table, such as
            "postgresql://user@host/database?table=schema.name".
        k: The smallest group: every row has at least k - 1 look-alikes. 5 is a common choice. Required, unless
            `config` or another privacy model sets the group size.
        method: The name of a method in `shoal.methods`, or an instance with its options; "shoaling" by default.
        target: The column that the release will be asked about: groups are preferred whose categories say the same
            about it. It is never a quasi-identifier.
        config: The path of a shoal.toml, as `shoal init` writes it. Where a keyword and the file differ, the keyword
            wins; lists of columns and mappings are merged column by column. The table must still match the file.
        threads: The number of threads; all cores by default. The release does not depend on it.
        keep_order: Whether the rows keep their order; otherwise they are sorted, because the order can identify people.
        bound: Whether to report `release.lower_bound`, the loss that no release can avoid. True computes it however
            long it takes. By default it is computed within the usual time, and only the method "shoaling" reports it.
        engine: How to count the rows of a table: "memory" reads it into memory; "duckdb" keeps it on disk, with the
            same result. By default "duckdb" only if the table does not fit into memory; a PostgreSQL server counts its
            tables itself.
        memory: The memory limit of DuckDB, such as "4GB"; it chooses "duckdb".
        roll_up: Where a full-domain method counts coarser levels of a table that DuckDB or PostgreSQL counts: "memory",
            from one query, which is the default; or "database", with a query for each combination of levels.
        key_file: The path of a secret that draws the sample of the model "differential-privacy", so that another run
            draws the same one; the secure generator of the system by default.
        progress: A function that is called with the name of the current stage and the completed share of it, from 0
            to 1.
        cancelled: A function that is called several times a second; when it returns True, the run stops with a
            `CancelledError`.
        **settings: Further settings. Each is optional and has the name that shoal.toml and the command line use:
            {settings}

    Returns:
        The release, checked but not yet written: `release.write(path)` writes it, `release.frame` is a frame of the
        same library as the input, `release.measures` contains its information loss, and `release.notes` what you
        should know before you publish it.

    Raises:
        UsageError: If a setting is unknown, or its value is wrong.
        InputError: If the table or a hierarchy cannot be used as it is, or does not match `config`.
        InfeasibleError: If no release of this table can meet the requirement.
        FileError: If a file or a database table cannot be read, or does not fit into memory.
        CancelledError: If `cancelled` returned True.

    >>> import shoal
    >>> release = shoal.anonymize(
    ...     shoal.datasets.patients(), qi=["birth_date", "sex", "zip"], sensitive=["disease"], others="drop", k=10
    ... )
    >>> release.measures.smallest_group >= 10
    True
    """
    keywords = settings_from(
        {**settings, "k": k, "target": target, "method": method if isinstance(method, str) else None}
    )
    saved = read_config(config) if config is not None else Settings()
    merged = keywords.over(saved)
    run = make_run(merged, threads=check_threads(threads), watch=make_watch(progress, cancelled))
    job = Job.from_settings(
        frame,
        merged,
        run=run,
        saved=saved,
        method=None if isinstance(method, str) else method,
        engine=engine,
        memory=memory,
        roll_up=roll_up,
        key_file=key_file,
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
    weights: Mapping[str, float] | str | None = None,
    domains: Mapping[str, Domain] | None = None,
    hierarchies: Mapping[str, Rule] | None = None,
    climb: Climb | None = None,
    target: str | None = None,
    rules: Sequence[ConstraintRule] = (),
    values: Mapping[str, Sequence[float]] | None = None,
    alpha: float = 0.5,
    recode: Mapping[str, str] | None = None,
    cells: str | None = None,
    **cell_keywords: Unpack[ReadingKeywords],
) -> Measures:
    """Measure the information loss of a release, made by shoal or any other tool.

    Args:
        original: The original table: a frame, or the path of a file.
        released: The release: a frame, or the path of a file.
        qi: The quasi-identifiers.
        k: The k of the release, for measures that depend on it.
        weights: Weights of the quasi-identifiers; "auto" derives them from the original, as `anonymize` does.
        domains: Domains of columns, if they exceed the values of the original.
        hierarchies: Hierarchies by column.
        climb: Weights of the levels of hierarchies in the distortion; equal by default.
        target: A column of classes, for the classification metric.
        rules: Data constraint rules of the quasi-identifiers, for the research value.
        values: By column, the research value of each level of its hierarchy, as declared for the release.
        alpha: The balance of granularity and rules in the research value; 0.5 gives both the same weight.
        recode: The recoding of outliers by column that the release was made with. A cell at such a bound then counts
            as the range beyond the bound, and the label of rare values as the set of them.
        cells: "center" if cells are the centres of groups. Measures of loss are NaN then, because the release does not
            show its groups; `centers` says what is left of each column.
        cell_keywords: How cells are read: `numeric`, `categorical`, `dates`, `boolean`, `ordered`, `units`, `missing`,
            `decimal` and `thousands`; see `shoal.schema.ReadingKeywords`.

    Returns:
        The measures.

    Raises:
        UsageError: If an argument is wrong.
        InputError: If a table cannot be used as it is, or the two tables do not match.
        FileError: If a file cannot be read.

    >>> import polars as pl, shoal
    >>> before = pl.DataFrame({"age": [20, 30, 40, 60]})
    >>> after = pl.DataFrame({"age": ["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]"]})
    >>> round(shoal.measure(before, after, qi=["age"]).ncp, 3)
    0.375
    """
    reading = Reading.of_cells(**cell_keywords)
    further = [] if target is None else [str(target)]
    pair = open_pair(
        original, released, qi=qi, reading=reading, hierarchies=hierarchies, recode=recode, k=k, counted=further
    )
    encoded = encode(pair.coded, pair.schema, unknown="top") if rules or weights == AUTO else None
    if encoded and weights == AUTO:
        weights = {name: float(weight) for name, weight in derive_weights(encoded).items()}
    if isinstance(weights, str):
        raise UsageError(f"weights={weights!r} is not known. Use {AUTO!r}, or a weight for each column.")
    weights = None if weights is None else {str(name): weight for name, weight in weights.items()}
    return metrics.measure_tables(
        pair.original,
        pair.released,
        pair.schema,
        k=k,
        weights=weights,
        domains=domains,
        hierarchies=pair.hierarchies,
        climb=climb,
        target=None if target is None else str(target),
        rules=compile_rules(rules, encoded.attributes) if encoded and rules else None,
        attributes={a.name: a for a in encoded.attributes} if encoded else None,
        research=Research(values or {}, read_share("measure", "alpha", alpha)),
        centers=cells == "center",
    )
