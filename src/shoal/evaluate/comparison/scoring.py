"""One run of a comparison: from the encoded table, which all runs share, to a row of measures."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode, guess_kinds
from shoal.errors import ShoalError, UsageError, place_of, setting
from shoal.hierarchy.base import Hierarchy, for_columns
from shoal.hierarchy.propose import propose_open
from shoal.methods.base import Method, Run
from shoal.methods.registry import info_of
from shoal.metrics import Measures, measure_tables
from shoal.metrics.association import derive_weights
from shoal.metrics.measure import classification_metric
from shoal.models import PrivacyModel
from shoal.release.make import anonymize_table, make_request
from shoal.release.release import Release, Request
from shoal.risks import Risk
from shoal.risks import risk as risk_of
from shoal.risks.estimate import DEFAULT_THRESHOLD, read_threshold
from shoal.rules import Rule, compile_rules
from shoal.schema import Role, Schema, check_threads
from shoal.settings.settings import AUTO, Settings
from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["HIERARCHIES_FOR", "Case", "Subject", "prepare", "score", "score_added"]

ROW_VERSION = 3  # raised when a figure changes its meaning, so that rows in a cache become invalid
HIERARCHIES_FOR = ("all", "needed")
TABLE_FIGURES = ("rows", "groups", "smallest_group", "suppressed_rows")


@dataclass(frozen=True)
class Case:
    """One run; `label` is the method as the user wrote it, with its options."""

    label: str
    method: Method
    k: int
    seed: int = 0

    @property
    def key(self) -> tuple[str, int, int]:
        """The identity of a run within a comparison."""
        return self.label, self.k, self.seed

    def spec(self) -> dict[str, Any]:
        """Return the run as plain values for JSON."""
        options: dict[str, Any] = {}
        if is_dataclass(self.method) and not isinstance(self.method, type):
            options = asdict(self.method)
        return {"method": self.method.name, "options": options, "k": self.k, "seed": self.seed}


@dataclass(frozen=True)
class Subject:
    """The table, encoded once, and the settings of all runs; it can be pickled.

    Attributes:
        table: The table.
        schema: Roles and kinds of its columns.
        encoded: The encoded table.
        hierarchies: Hierarchies of columns.
        request: What to anonymise; k comes from the case.
        models: Privacy models besides k-anonymity.
        rules: Data constraint rules.
        weights: Weights of attributes.
        population: The population table, if any.
        threshold: The risk above which a row counts as at risk.
        target: The column of classes, if any.
        learner: The learner that predicts the target, if any.
        threads: Threads of each run.
        plain: The table encoded without the hierarchies of quasi-identifiers, for the methods that do not need them;
            None gives them to every method.
    """

    table: Table
    schema: Schema
    encoded: Encoded = field(repr=False)
    hierarchies: Mapping[str, Hierarchy]
    request: Request
    models: tuple[PrivacyModel, ...]
    rules: tuple[Rule, ...] = ()
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    population: Table | None = None
    threshold: str = DEFAULT_THRESHOLD
    target: str | None = None
    learner: str | None = None
    threads: int = 1
    plain: Encoded | None = field(default=None, repr=False)

    def given(self, method: Method) -> tuple[Encoded, Mapping[str, Hierarchy]]:
        """Return the encoded table and the hierarchies that a method is given."""
        info = info_of(method.name)
        if self.plain is None or info is None or info.climbs:
            return self.encoded, self.hierarchies
        return self.plain, {name: tree for name, tree in self.hierarchies.items() if name not in self.qi}

    @property
    def qi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return tuple(column.name for column in self.schema.qi)

    @property
    def person(self) -> str | None:
        """The column that identifies persons, if any."""
        return next(iter(self.schema.names(Role.PERSON)), None)

    def fingerprint(self) -> str:
        """Return a hash of everything that determines the result of a run, except method, k and seed."""
        from shoal import __version__

        digest = hashlib.sha256()
        for table in (self.table, self.population):
            if table is not None:
                digest.update(table.frame.write_csv().encode())
        trees = {name: sorted(rule.rows.items()) for name, rule in sorted(self.hierarchies.items())}
        content = {
            "shoal": [__version__, ROW_VERSION],
            "schema": repr(self.schema),
            "hierarchies": [trees, self.plain is not None],
            "request": repr(self.request),
            "models": [model.spec() for model in self.models],
            "rules": repr(self.rules),
            "weights": repr(sorted(self.weights.items())),
            "threshold": self.threshold,
            "target": [self.target, self.learner],
        }
        digest.update(json.dumps(content, sort_keys=True, default=str).encode())
        return digest.hexdigest()


def prepare(
    table: Table,
    settings: Settings,
    *,
    threshold: object = DEFAULT_THRESHOLD,
    target: str | None = None,
    learner: str | None = None,
    threads: int = 1,
    hierarchies_for: str = "all",
) -> Subject:
    """Encode a table for a comparison, and check table and settings once for all runs.

    Columns without a role are dropped, except the target, which becomes insensitive.

    Args:
        table: The table.
        settings: Roles, kinds, models and other settings.
        threshold: The risk above which a row counts as at risk.
        target: The column of classes.
        learner: A learner that predicts the target from each release.
        threads: Threads of each run.
        hierarchies_for: Which methods are given the hierarchies of quasi-identifiers: "all" or those that need them,
            "needed".
    """
    if hierarchies_for not in HIERARCHIES_FOR:
        raise UsageError(
            f"{setting('hierarchies_for', hierarchies_for)} is not known. Use {' or '.join(HIERARCHIES_FOR)}."
        )
    if learner is not None:
        _check_learner(learner, target)
    settings = replace(settings, others=settings.others or "drop")
    if target is not None and target not in (*settings.qi, *settings.sensitive, *settings.insensitive):
        insensitive, accept_unique = (*settings.insensitive, target), (*settings.accept_unique, target)
        settings = replace(settings, insensitive=insensitive, accept_unique=accept_unique)
    schema = guess_kinds(table, settings.schema(table.names))
    if learner is not None and target is not None:
        _check_classes(table, schema, target)
    request = make_request(replace(settings, k=settings.k or 1), keep_order=False, bound=False)
    names = [column.name for column in schema.columns if column.role in (Role.QI, Role.SENSITIVE)]
    rules, _ = propose_open(for_columns(settings.rules().items(), names), table, schema)
    population = settings.population_table()
    encoded = encode(table, schema, rules, unknown=request.unknown, population=population)
    plain = None
    if hierarchies_for == "needed" and any(column.hierarchy is not None for column in encoded.attributes):
        of_sensitive = {name: rule for name, rule in rules.items() if name not in schema.names(Role.QI)}
        plain = encode(table, schema, of_sensitive, unknown=request.unknown, population=population)
    trees = {column.name: column.hierarchy for column in encoded.attributes}
    trees |= {column.name: column.hierarchy for column in encoded.sensitive}
    return Subject(
        Table(table.frame),
        schema,
        encoded,
        {name: tree for name, tree in trees.items() if tree is not None},
        request,
        settings.privacy_models(),
        settings.data_rules(),
        derive_weights(encoded) if settings.weights == AUTO else settings.column_weights(),
        None if population is None else Table(population.frame),
        str(read_threshold(threshold)),
        target,
        learner,
        check_threads(threads),
        plain,
    )


def _check_learner(learner: str, target: str | None) -> None:
    """Check that the learner is known, has a target and is installed."""
    from shoal.evaluate.extra import extra_module
    from shoal.evaluate.learners import check_learners

    check_learners([learner])
    if target is None:
        raise UsageError(f"learner {learner!r} has no target. Name the column of classes: {setting('target')}.")
    if learner != "zero-r":
        extra_module("sklearn.tree")


def _check_classes(table: Table, schema: Schema, target: str) -> None:
    """Check before the first run that the target can be learned from the quasi-identifiers."""
    from shoal.evaluate.task import make_task, refuse_constant

    make_task(table, schema, target)
    refuse_constant(table, target)


def score(subject: Subject, case: Case) -> dict[str, Any]:
    """Make one release and measure it.

    Returns:
        The figures; if the run fails, the reason under "failed". "cpu_seconds" and "seconds" run from the encoded table
        to the measured release, as reading and encoding are shared. "peak_memory" is the peak of the process in bytes,
        including its table.
    """
    row = {"method": case.label, "k": case.k, "seed": case.seed, "added": False}
    reset_peak()
    cpu, wall = time.process_time(), time.perf_counter()
    release: Release | None = None
    try:
        request = replace(subject.request, k=case.k)
        encoded, hierarchies = subject.given(case.method)
        run = Run(seed=case.seed, rules=subject.rules, weights=subject.weights, threads=subject.threads)
        release = anonymize_table(
            subject.table,
            subject.schema,
            request,
            case.method,
            subject.models,
            run,
            hierarchies,
            subject.population,
            encoded,
        )
    except Exception as error:
        row |= {"failed": reason_of(error)}
    row |= {
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "seconds": round(time.perf_counter() - wall, 3),
        "peak_memory": peak_memory(),
    }
    if release is None:
        return row
    try:
        released = Table(release.text)
        with_persons = Table(_with_persons(release, subject.person))
        risk = risk_of(with_persons, qi=subject.qi, threshold=subject.threshold, person=subject.person)
        row |= _figures(subject, released, release.measures, risk, case.k)
        return row if subject.learner is None else row | _accuracy(subject, release)
    except Exception as error:
        return row | {"failed": reason_of(error)}


def _with_persons(release: Release, person: str | None) -> pl.DataFrame:
    """Return the released cells with the person of each row, for counting only; it never leaves the process."""
    if person is None or person in release.text.columns:
        return release.text
    return release.text.with_columns(release.original.frame[person][release.source_rows].alias(person))


def score_added(subject: Subject, name: str, released: Table) -> dict[str, Any]:
    """Measure the file of another tool; its k is the size of its smallest group.

    If the risk counts persons, the file needs their column too: counting its rows would make it look safer than the
    other releases.
    """
    row: dict[str, Any] = {"method": name, "k": None, "seed": None, "added": True}
    try:
        if subject.person is not None and subject.person not in released.names:
            raise UsageError(
                f"column {subject.person!r} is not in the file, but the risk counts persons. Add the column to the "
                f"file, or compare without {setting('person', subject.person)}."
            )
        risk = risk_of(released, qi=subject.qi, threshold=subject.threshold, person=subject.person)
        trees = {name: rule for name, rule in subject.hierarchies.items() if name in subject.qi}
        weights = {name: float(weight) for name, weight in subject.weights.items()}
        k = max(1, risk.smallest_group)
        rules = compile_rules(subject.rules, subject.encoded.attributes) if subject.rules else None
        measures = measure_tables(
            subject.table, released, subject.schema, k=k, weights=weights, hierarchies=trees, rules=rules
        )
        return row | {"k": k} | _figures(subject, released, measures, risk, k)
    except Exception as error:
        return row | {"failed": reason_of(error)}


def _figures(subject: Subject, released: Table, measures: Measures, risk: Risk, k: int) -> dict[str, Any]:
    """Return measures and risk as one flat row; measures of a column are named after it."""
    figures = measures.as_dict()
    if subject.target is not None and subject.target in released.names:
        figures["cm"] = classification_metric(released, subject.qi, subject.target, subject.table.n_rows, k)
    extents = figures.pop("columns")
    figures |= {each: {name: of[each] for name, of in extents.items()} for each in ("mean_values", "mean_width")}
    by_column = {
        "per_attribute": "loss",
        **dict.fromkeys(("md", "research_value", "mean_values", "mean_width")),
    }
    # A column named "total" must not replace research_value_total, so figures of the table come last.
    row = {
        f"{short or name}_{column}": value
        for name, short in by_column.items()
        for column, value in figures[name].items()
    }
    row |= {name: figures[name] for name in TABLE_FIGURES}
    row |= {name: value for name, value in figures.items() if name not in by_column and name not in TABLE_FIGURES}
    risks = {f"prosecutor_{name}": value for name, value in asdict(risk.prosecutor).items()}
    return row | risks | {"marketer": risk.marketer, "uniques": risk.uniques}


def _accuracy(subject: Subject, release: Release) -> dict[str, float]:
    """Return the accuracy of the learner, trained on the release and trained on the original."""
    from shoal.evaluate.classify import learn_from_release

    assert subject.learner is not None
    assert subject.target is not None
    by_tables = {
        (accuracy.trained_on, accuracy.tested_on): accuracy
        for accuracy in learn_from_release(release, subject.target, [subject.learner])
    }
    after, before = by_tables["release", "original"], by_tables["original", "original"]
    return {
        "accuracy": after.mean,
        "accuracy_low": after.low,
        "accuracy_high": after.high,
        "accuracy_original": before.mean,
    }


def reason_of(error: Exception) -> str:
    """Return why a run failed; other errors than shoal's may contain cells, so only their place is given.

    Settings are marked as in `ShoalError.text`.
    """
    if isinstance(error, ShoalError):
        return error.text
    if isinstance(error, MemoryError):
        return "there is not enough memory for this run."
    return f"{type(error).__name__} in {place_of(error)}. This is a bug in shoal."


def reset_peak() -> None:
    """Reset the peak memory of this process, if the system supports it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Return the peak memory of this process in bytes, since `reset_peak` if the system supports that."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource
        import sys

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
