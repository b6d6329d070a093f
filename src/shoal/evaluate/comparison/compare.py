"""Methods x k x seeds over one table: one row of measures, risk, time and memory for each run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError
from shoal.evaluate.comparison.cache import Cache
from shoal.evaluate.comparison.scoring import Case, Subject, prepare, score_added
from shoal.evaluate.comparison.workers import run_cases
from shoal.methods.registry import infos, named
from shoal.risks.estimate import DEFAULT_THRESHOLD
from shoal.schema import check_k, check_lists
from shoal.settings.settings import Settings, read_config
from shoal.tables.formats import read_table
from shoal.tables.table import Table, from_frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DEFAULT_METHODS", "Comparison", "compare", "compare_table", "make_cases", "parse_method"]

DEFAULT_METHODS = ("shoaling", "mondrian")
DEFAULT_K = (2, 5, 10, 20)
Progress = Callable[[int, int, str], None]
# The first columns of every comparison; those of single columns of the table follow, in its order.
INTEGERS = ("k", "seed", "rows", "groups", "smallest_group", "suppressed_rows", "dm", "peak_memory", "uniques")
ORDER = (
    *("method", "k", "seed", "added", "cached", "failed"),
    *("ncp", "utility", "groups", "smallest_group", "rows", "suppressed_rows"),
    *("prosecutor_max", "prosecutor_average", "prosecutor_share_above", "marketer", "uniques"),
    *("cpu_seconds", "seconds", "peak_memory"),
    *("dm", "c_avg", "modification_rate", "iloss", "lm", "lm_total", "entropy", "precision"),
    *("distortion", "distortion_ratio", "cm", "research_value_total"),
    *("accuracy", "accuracy_low", "accuracy_high", "accuracy_original"),
)


@dataclass(frozen=True)
class Comparison:
    """The runs of a comparison.

    frame: one row a run, in the order of the request: what was asked (method, k, seed), why it failed, all measures,
    risk, time and memory. cached: it was made by an earlier comparison, whose time and memory stand there. n_rows, qi,
    threshold: of the table. counts: what risk counts, "rows" or "persons".
    """

    frame: pl.DataFrame
    n_rows: int
    qi: tuple[str, ...]
    threshold: str
    target: str | None = None
    counts: str = "rows"

    def means(self) -> pl.DataFrame:
        """Return the mean of every figure over the seeds, one row for each method and k; failed runs left out.

        runs: how many; ncp_spread: between the least and the greatest loss.
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

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        told = {"rows": self.n_rows, "qi": list(self.qi), "threshold": self.threshold, "target": self.target}
        told["counts"] = self.counts
        return told | {"runs": self.frame.to_dicts()}


def parse_method(text: str) -> Any:
    """Return the method that a text names, with options: "mondrian", "mondrian:variant=relaxed".

    >>> parse_method("mondrian:variant=relaxed").variant
    'relaxed'
    """
    name, *options = text.split(":")
    pairs = [option.partition("=") for option in options]
    if not all(equals and value for _, equals, value in pairs):
        raise UsageError(f"method {text!r}: an option has no value. Write {name}:option=value.")
    return named(name, **{key: value for key, _, value in pairs})


def make_cases(methods: Sequence[str] | str, k: Iterable[int] | int, seeds: int = 1) -> list[Case]:
    """Return the runs that are asked for; "all" stands for every method."""
    methods, k = [methods] if isinstance(methods, str) else methods, [k] if isinstance(k, int) else k
    if seeds < 1:
        raise UsageError(f"seeds={seeds} is not a positive whole number. Use 1 or more.")
    every = [info.name for info in infos()]
    asked = list(dict.fromkeys(name for text in methods for name in (every if text == "all" else [text])))
    sizes = sorted({check_k(each) for each in k})
    if not asked or not sizes:
        raise UsageError("there is nothing to compare. Name at least one method and one k.")
    made = {label: parse_method(label) for label in asked}
    return [Case(label, made[label], size, seed) for label in asked for size in sizes for seed in range(seeds)]


def compare(
    frame: Any,
    *,
    methods: Sequence[str] | str = DEFAULT_METHODS,
    k: Iterable[int] | int = DEFAULT_K,
    seeds: int = 1,
    threshold: object = DEFAULT_THRESHOLD,
    target: str | None = None,
    learner: str | None = None,
    add: Mapping[str, Any] | None = None,
    jobs: int | None = None,
    threads: int = 1,
    cache: str | os.PathLike[str] | None = None,
    config: str | os.PathLike[str] | None = None,
    progress: Progress = lambda done, total, label: None,
    **settings: Any,
) -> Comparison:
    """Anonymise a table by several methods, with several k and seeds, and measure every release.

    frame: pandas, polars or pyarrow. methods, k: one or several; methods by name, with options as in
    "mondrian:variant=relaxed", "all" for every one. threshold: for the share of rows at risk. target: a column of
    classes, for the classification metric;
    learner: one that learns them from each release, for its accuracy (needs scikit-learn). add:
    releases of other tools by name, frames or paths. jobs: runs side by side, as many as there are cores if left out;
    threads: of each. cache: a folder where measures of finished runs are kept, so that a comparison that was broken
    off goes on where it was; nothing is kept if left out. settings: roles, kinds, models and the like, as for
    shoal.anonymize.

    >>> import shoal
    >>> patients = shoal.datasets.patients().head(200)
    >>> found = shoal.compare(patients, qi=["birth_date", "sex"], others="drop", methods=["mondrian"], k=[2, 5], jobs=1)
    >>> found.frame["k"].to_list()
    [2, 5]
    """
    saved = read_config(config) if config is not None else Settings()
    subject = prepare(
        from_frame(frame),
        make_settings(settings).over(saved),
        threshold=threshold,
        target=target,
        learner=learner,
        threads=threads,
    )
    taken = {
        name: read_table(x) if isinstance(x, str | os.PathLike) else from_frame(x) for name, x in (add or {}).items()
    }
    kept = Cache(None if cache is None else Path(cache))
    return compare_table(subject, make_cases(methods, k, seeds), taken, kept, jobs=jobs, progress=progress)


def make_settings(given: Mapping[str, Any]) -> Settings:
    """Return settings that were given as arguments; lists become tuples."""
    known = {f.name for f in fields(Settings)} | {"rules"}
    strange = [name for name in given if name not in known]
    if strange:
        raise UsageError(f"{strange[0]!r} is not a setting. Those of shoal.anonymize are taken.")
    lists = ("qi", "sensitive", "insensitive", "drop", "numeric", "categorical", "dates")
    check_lists(**{name: given[name] for name in lists if name in given})
    taken: dict[str, Any] = {name: tuple(x) if isinstance(x, list) else x for name, x in given.items()}
    if isinstance(dates := taken.get("dates"), tuple):
        taken["dates"] = dict.fromkeys(dates, "%Y-%m-%d")
    if "rules" in taken:
        taken["constraints"] = taken.pop("rules")
    return Settings(**taken)


def compare_table(
    subject: Subject,
    cases: Sequence[Case],
    added: Mapping[str, Table] | None = None,
    cache: Cache | None = None,
    *,
    jobs: int | None = None,
    fresh: bool = False,
    progress: Progress = lambda done, total, label: None,
) -> Comparison:
    """Make all runs that the cache does not hold, each in a worker process, and put the rows together.

    fresh: make those again that it holds. A run is kept as soon as it is finished, whatever becomes of the others.
    """
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs={jobs} is not a positive whole number. Use 1 or more.")
    cache = cache or Cache(None)
    fingerprint = subject.fingerprint() if cache.folder is not None else ""
    rows: dict[tuple[str, int, int], dict[str, Any]] = {}
    for case in cases:
        found = None if fresh else cache.find(fingerprint, case.spec())
        if found is not None:
            rows[case.key] = found | {"method": case.label, "cached": True}
    left = [case for case in cases if case.key not in rows]
    progress(len(rows), len(cases), "")
    for case, row in run_cases(subject, left, jobs or os.cpu_count() or 1):
        rows[case.key] = row | {"cached": False}
        if "died" not in row:
            cache.keep(fingerprint, case.spec(), row)
        progress(len(rows), len(cases), f"{case.label}, k = {case.k}")
    scored = [score_added(subject, name, table) | {"cached": False} for name, table in (added or {}).items()]
    frame = _frame([*(rows[case.key] for case in cases), *scored], subject)
    counts = "rows" if subject.person is None else "persons"
    return Comparison(frame, subject.table.n_rows, subject.qi, subject.threshold, subject.target, counts)


def _frame(rows: Sequence[Mapping[str, Any]], subject: Subject) -> pl.DataFrame:
    """Return the rows as one table whose columns do not depend on which of them failed."""
    import polars as pl

    by_column = [f"{short}_{name}" for short in ("loss", "md", "research_value") for name in subject.qi]
    kinds: dict[str, Any] = {}
    for name in (*ORDER, *by_column):
        whole = name in INTEGERS or name.startswith("md_")
        kinds[name] = pl.Int64 if whole else pl.Float64
    kinds |= {"method": pl.String, "failed": pl.String, "added": pl.Boolean, "cached": pl.Boolean}
    return pl.DataFrame([{name: row.get(name) for name in kinds} for row in rows], schema=kinds)
