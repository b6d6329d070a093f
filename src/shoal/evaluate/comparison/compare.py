"""Comparisons: methods x k x seeds on one table, with one row of measures, risk, time and memory per run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from shoal.errors import Note, UsageError, for_python, setting
from shoal.evaluate.comparison.cache import Cache
from shoal.evaluate.comparison.cases import Case
from shoal.evaluate.comparison.on_disk import SubjectOnDisk, open_subject, run_in_turn
from shoal.evaluate.comparison.scoring import Subject, score_added
from shoal.evaluate.comparison.workers import run_cases
from shoal.methods.registry import infos, named
from shoal.models import Basis
from shoal.release.preconditions import check_promise
from shoal.risks.estimate import DEFAULT_THRESHOLD
from shoal.schema import check_k
from shoal.settings.keywords import SettingsKeywords, settings_from
from shoal.settings.read import read_config
from shoal.settings.settings import Settings
from shoal.tables.formats import as_table
from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "DEFAULT_METHODS",
    "Comparison",
    "ComparisonKeywords",
    "compare",
    "compare_table",
    "make_cases",
    "parse_method",
]

DEFAULT_METHODS = ("shoaling", "mondrian")
DEFAULT_K = (2, 5, 10, 20)
Progress = Callable[[int, int, str], None]
# The first columns of every comparison; figures of single attributes follow, in the order of the table.
INTEGERS = ("k", "seed", "rows", "groups", "smallest_group", "suppressed_rows", "dm", "peak_memory", "uniques")
ORDER = (
    *("method", "k", "seed", "added", "cached", "failed"),
    *("ncp", "ncp_unweighted", "weighted", "utility", "groups", "smallest_group", "rows", "suppressed_rows"),
    *("prosecutor_max", "prosecutor_average", "prosecutor_share_above", "marketer", "uniques"),
    *("cpu_seconds", "seconds", "peak_memory"),
    *("dm", "c_avg", "modification_rate", "exact_rows", "iloss", "lm", "lm_total", "entropy", "precision"),
    *("distortion", "distortion_ratio", "cm", "research_value_total"),
    *("accuracy", "accuracy_low", "accuracy_high", "accuracy_original"),
)


class ComparisonKeywords(SettingsKeywords, total=False):
    """The keywords of `compare` that `advise` passes on, for editors and type checkers."""

    seeds: int
    threshold: object
    hierarchies_for: str
    add: Mapping[str, Any] | None
    jobs: int | None
    threads: int
    cache: str | os.PathLike[str] | None
    config: str | os.PathLike[str] | None
    engine: str | None
    memory: str | None
    progress: Progress


@dataclass(frozen=True)
class Comparison:
    """The runs of a comparison.

    Attributes:
        frame: One row per run, in the order of the request: method, k and seed, the reason if it failed, all measures,
            risk, time and memory. For a cached run, time and memory are those of the earlier run.
        n_rows: Rows of the table.
        qi: The quasi-identifiers.
        threshold: The risk above which a row counts as at risk.
        target: The column of classes, if any.
        counts: What the risk counts: "rows" or "persons".
        notes: What the user should know, such as that DuckDB was chosen.
    """

    frame: pl.DataFrame
    n_rows: int
    qi: tuple[str, ...]
    threshold: str
    target: str | None = None
    counts: str = "rows"
    notes: tuple[Note, ...] = ()

    def means(self) -> pl.DataFrame:
        """Return the mean of every figure over the seeds, one row for each method and k, without failed runs.

        The column `runs` counts the seeds; `ncp_spread` is the difference between the highest and the lowest loss.
        """
        import polars as pl

        numbers = [
            name for name in self.frame.columns if name not in ("method", "k", "seed", "added", "cached", "failed")
        ]
        return (
            self.frame.filter(pl.col("failed").is_null())
            .group_by(["method", "k"], maintain_order=True)
            .agg(
                pl.col("added").first(),
                pl.len().alias("runs"),
                (pl.col("ncp").max() - pl.col("ncp").min()).alias("ncp_spread"),
                *(pl.col(name).cast(pl.Float64).mean() for name in numbers),
            )
        )

    @property
    def weighted(self) -> bool:
        """Whether losses are weighted means, because the weights of the quasi-identifiers differ."""
        return "weighted" in self.frame.columns and bool(self.frame["weighted"].any())

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values for JSON."""
        return {
            "rows": self.n_rows,
            "qi": list(self.qi),
            "threshold": self.threshold,
            "target": self.target,
            "counts": self.counts,
            "runs": self.frame.to_dicts(),
        }


def parse_method(text: str) -> Any:
    """Return the method that a text names, with options, such as "mondrian:variant=relaxed".

    >>> parse_method("mondrian:variant=relaxed").variant
    'relaxed'
    """
    name, *options = text.split(":")
    pairs = [option.partition("=") for option in options]
    if not all(equals and value for _, equals, value in pairs):
        raise UsageError(f"method {text!r}: an option has no value. Write it as {name}:option=value.")
    return named(name, **{key: value for key, _, value in pairs})


def make_cases(methods: Sequence[str] | str, k: Iterable[int] | int, seeds: int = 1) -> list[Case]:
    """Return one case for each method, k and seed; the name "all" means every method."""
    methods, k = [methods] if isinstance(methods, str) else methods, [k] if isinstance(k, int) else k
    if seeds < 1:
        raise UsageError(f"{setting('seeds', seeds)} is not a positive integer. Use 1 or more.")
    all_names = [info.name for info in infos()]
    labels = list(dict.fromkeys(name for text in methods for name in (all_names if text == "all" else [text])))
    sizes = sorted({check_k(each) for each in k})
    if not labels or not sizes:
        raise UsageError("there is nothing to compare. Name at least one method and one k.")
    parsed = {label: parse_method(label) for label in labels}
    return [Case(label, parsed[label], size, seed) for label in labels for size in sizes for seed in range(seeds)]


def compare(
    frame: Any,
    *,
    methods: Sequence[str] | str = DEFAULT_METHODS,
    k: Iterable[int] | int = DEFAULT_K,
    seeds: int = 1,
    threshold: object = DEFAULT_THRESHOLD,
    target: str | None = None,
    learner: str | None = None,
    hierarchies_for: str = "all",
    add: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    threads: int = 1,
    cache: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    engine: str | None = None,
    memory: str | None = None,
    progress: Progress = lambda done, total, label: None,
    **settings: Unpack[SettingsKeywords],
) -> Comparison:
    """Anonymise a table with several methods, k and seeds, and measure every release.

    Args:
        frame: The table: pandas, polars or pyarrow, or the path of a file.
        methods: Names of methods, with options as in "mondrian:variant=relaxed"; "all" means every method.
        k: One or more k.
        seeds: Number of seeds, from 0 up.
        threshold: The risk above which a row counts as at risk.
        target: A column of classes, for the classification metric and the learner.
        learner: A learner that predicts the target from each release; it needs the `evaluate` extra.
        hierarchies_for: Which methods are given the hierarchies: "all", or "needed" for those that cannot do without;
            the others then release ranges and sets.
        add: Releases of other tools to score as well, by name: frames or paths.
        jobs: Number of parallel runs; by default one per core.
        threads: Threads of each run.
        cache: A folder for the measures of finished runs, so that an interrupted comparison can continue. Nothing is
            stored by default.
        config: A `shoal.toml` with further settings.
        engine: "memory" or "duckdb", which has a file on disk; by default "duckdb" only if a file does not fit into
            memory. DuckDB makes one run after the other, without `target` and `add`.
        memory: The memory limit of DuckDB, such as "4GB"; it chooses "duckdb".
        progress: Called with the number of finished runs, the number of all runs, and the label of the last one.
        settings: Roles, kinds, models and other settings of `shoal.anonymize`.

    Returns:
        One row of figures per run; a run that fails has its reason instead.

    Raises:
        UsageError: A setting is not valid.
        InputError: The table cannot be used as it is.

    >>> import shoal
    >>> patients = shoal.datasets.patients().head(200)
    >>> runs = shoal.compare(patients, qi=["birth_date", "sex"], others="drop", methods=["mondrian"], k=[2, 5], jobs=1)
    >>> runs.frame["k"].to_list()
    [2, 5]
    """
    saved = read_config(config) if config is not None else Settings()
    merged = settings_from(settings).over(saved)
    with open_subject(
        frame,
        merged,
        engine=engine,
        memory=memory,
        jobs=jobs,
        threshold=threshold,
        target=target,
        learner=learner,
        threads=threads,
        hierarchies_for=hierarchies_for,
        added=bool(add),
    ) as subject:
        tables = {name: as_table(source, merged.generalised) for name, source in (add or {}).items()}
        cases, store = make_cases(methods, k, seeds), Cache(None if cache is None else Path(cache))
        return compare_table(subject, cases, tables, store, jobs=jobs, progress=progress)


def compare_table(
    subject: Subject | SubjectOnDisk,
    cases: Sequence[Case],
    added: Mapping[str, Table] | None = None,
    cache: Cache | None = None,
    *,
    jobs: int | None = None,
    fresh: bool = False,
    progress: Progress = lambda done, total, label: None,
    spell: Callable[[str], str] = for_python,
) -> Comparison:
    """Make all runs that are not cached, and collect the rows: in worker processes, or in this one on DuckDB.

    A run is stored in the cache as soon as it finishes, whatever happens to the others.

    Args:
        subject: The table, encoded or on disk.
        cases: The runs.
        added: Releases of other tools, by name; only beside a table in memory.
        cache: Where finished runs are stored.
        jobs: Number of parallel runs; by default one per core.
        fresh: Repeat cached runs.
        progress: Called with the number of finished runs, the number of all runs, and the label of the last one.
        spell: Spells the settings that reasons mention: `for_python` or `for_command_line`.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"{setting('jobs', jobs)} is not a positive integer. Use 1 or more.")
    if any(model.basis is Basis.SAMPLE for model in subject.models):
        raise UsageError("differential-privacy draws a sample for each release; runs cannot be compared. Leave it out.")
    if cases:
        check_promise(min(case.k for case in cases), subject.models)
    cache = cache or Cache(None)
    fingerprint = subject.fingerprint() if cache.folder is not None else ""
    rows: dict[tuple[str, int, int], dict[str, Any]] = {}
    for case in cases:
        cached_row = None if fresh else cache.find(fingerprint, case.spec())
        if cached_row is not None:
            rows[case.key] = cached_row | {"method": case.label, "cached": True}
    open_cases = [case for case in cases if case.key not in rows]
    progress(len(rows), len(cases), "")
    if isinstance(subject, Subject):
        runs = run_cases(subject, open_cases, jobs or os.cpu_count() or 1)
    else:
        runs = run_in_turn(subject, open_cases)
    for case, row in runs:
        rows[case.key] = row | {"cached": False}
        if "died" not in row:
            cache.keep(fingerprint, case.spec(), row)
        progress(len(rows), len(cases), f"{case.label}, k = {case.k}")
    scored = []
    if isinstance(subject, Subject):
        scored = [score_added(subject, name, table) | {"cached": False} for name, table in (added or {}).items()]
    frame = _frame([*(rows[case.key] for case in cases), *scored], subject.qi, spell)
    counts = "rows" if subject.person is None else "persons"
    return Comparison(frame, subject.n_rows, subject.qi, subject.threshold, subject.target, counts, subject.notes)


def _frame(rows: Sequence[Mapping[str, Any]], qi: Sequence[str], spell: Callable[[str], str]) -> pl.DataFrame:
    """Return the rows as one table; its columns do not depend on which runs failed."""
    import polars as pl

    shorts = ("loss", "md", "research_value", "mean_values", "mean_width")
    by_column = [f"{short}_{name}" for short in shorts for name in qi]
    kinds: dict[str, Any] = {}
    for name in (*ORDER, *by_column):
        is_integer = name in INTEGERS or name.startswith("md_")
        kinds[name] = pl.Int64 if is_integer else pl.Float64
    kinds |= {"method": pl.String, "failed": pl.String}
    kinds |= dict.fromkeys(("added", "cached", "weighted"), pl.Boolean)
    cells = [{name: row.get(name) for name in kinds} for row in rows]
    for row in cells:
        row["failed"] = spell(row["failed"]) if row["failed"] is not None else None
    return pl.DataFrame(cells, schema=kinds)
