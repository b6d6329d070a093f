"""What all runs of a comparison share, and one run: from the encoded table to a row of measures."""

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
from shoal.errors import ShoalError, UsageError, place_of
from shoal.hierarchy.base import Hierarchy, for_columns
from shoal.methods.base import Method, Run
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
from shoal.schema import Role, Schema
from shoal.settings.settings import AUTO, Settings
from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Case", "Subject", "prepare", "score", "score_added"]

ROWS = 2  # of what rows of runs hold: raised when a figure changes its meaning, so that none kept before is taken
ANSWERS = ("rows", "groups", "smallest_group", "suppressed_rows")


@dataclass(frozen=True)
class Case:
    """One run: label is the method as it was asked for, with its options."""

    label: str
    method: Method
    k: int
    seed: int = 0

    @property
    def key(self) -> tuple[str, int, int]:
        """What tells the runs of one comparison apart."""
        return self.label, self.k, self.seed

    def spec(self) -> dict[str, Any]:
        """Return the run as plain values."""
        options: dict[str, Any] = {}
        if is_dataclass(self.method) and not isinstance(self.method, type):
            options = asdict(self.method)
        return {"method": self.method.name, "options": options, "k": self.k, "seed": self.seed}


@dataclass(frozen=True)
class Subject:
    """The table, encoded once, and what every run is held to; it can be sent to another process.

    threshold: for the share of rows at risk. target: the column of classes; learner: what tells them from the release.
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

    @property
    def qi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return tuple(column.name for column in self.schema.qi)

    @property
    def person(self) -> str | None:
        """The column that says which rows are one person's."""
        return next(iter(self.schema.names(Role.PERSON)), None)

    def fingerprint(self) -> str:
        """Return a hash of all that decides what a run gives, whatever its method, k and seed."""
        from shoal import __version__

        digest = hashlib.sha256()
        for table in (self.table, self.population):
            if table is not None:
                digest.update(table.frame.write_csv().encode())
        trees = {name: sorted(rule.rows.items()) for name, rule in sorted(self.hierarchies.items())}
        told = {
            "shoal": [__version__, ROWS],
            "schema": repr(self.schema),
            "hierarchies": trees,
            "request": repr(self.request),
            "models": [model.spec() for model in self.models],
            "rules": repr(self.rules),
            "weights": repr(sorted(self.weights.items())),
            "threshold": self.threshold,
            "target": [self.target, self.learner],
        }
        digest.update(json.dumps(told, sort_keys=True, default=str).encode())
        return digest.hexdigest()


def prepare(
    table: Table,
    settings: Settings,
    *,
    threshold: object = DEFAULT_THRESHOLD,
    target: str | None = None,
    learner: str | None = None,
    threads: int = 1,
) -> Subject:
    """Encode a table for a comparison; what is wrong with it or with its roles is said now, once.

    Columns without a role are left out, but for the target, which nothing is asked of.
    """
    if learner is not None:
        _check_learner(learner, target)
    settings = replace(settings, others=settings.others or "drop")
    if target is not None and target not in (*settings.qi, *settings.sensitive, *settings.insensitive):
        insensitive, unique = (*settings.insensitive, target), (*settings.accept_unique, target)
        settings = replace(settings, insensitive=insensitive, accept_unique=unique)
    schema = guess_kinds(table, settings.schema(table.names))
    if learner is not None and target is not None:
        _check_classes(table, schema, target)
    request = make_request(replace(settings, k=settings.k or 1), keep_order=False, bound=False)
    named = [column.name for column in schema.columns if column.role in (Role.QI, Role.SENSITIVE)]
    rules, population = for_columns(settings.rules().items(), named), settings.population_table()
    encoded = encode(table, schema, rules, unknown=request.unknown, population=population)
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
        threads,
    )


def _check_learner(learner: str, target: str | None) -> None:
    """Refuse a learner that is not known, has nothing to learn or cannot run here."""
    from shoal.evaluate.learners import check_learners
    from shoal.evaluate.sklearn import sklearn_module

    check_learners([learner])
    if target is None:
        raise UsageError(f"learner {learner!r} has no target. Name the column of classes with target (--target).")
    if learner != "zero-r":
        sklearn_module("tree")


def _check_classes(table: Table, schema: Schema, target: str) -> None:
    """Refuse a target that cannot be learned from the quasi-identifiers, before any run."""
    from shoal.evaluate.classify import make_task, refuse_constant

    make_task(table, schema, target)
    refuse_constant(table, target)


def score(subject: Subject, case: Case) -> dict[str, Any]:
    """Make one release and measure it; a run that fails is a row with its reason.

    cpu_seconds, seconds: from the encoded table to the measured release; reading and encoding are shared.
    peak_memory: the most bytes that the process held meanwhile, its table among them.
    """
    row = {"method": case.label, "k": case.k, "seed": case.seed, "added": False}
    reset_peak()
    cpu, wall = time.process_time(), time.perf_counter()
    release: Release | None = None
    try:
        request = replace(subject.request, k=case.k)
        run = Run(seed=case.seed, rules=subject.rules, weights=subject.weights, threads=subject.threads)
        release = anonymize_table(
            subject.table,
            subject.schema,
            request,
            case.method,
            subject.models,
            run,
            subject.hierarchies,
            subject.population,
            subject.encoded,
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
        counted = Table(_with_persons(release, subject.person))
        found = risk_of(counted, qi=subject.qi, threshold=subject.threshold, person=subject.person)
        row |= _figures(subject, released, release.measures, found)
        return row if subject.learner is None else row | _accuracy(subject, release)
    except Exception as error:
        return row | {"failed": reason_of(error)}


def _with_persons(release: Release, person: str | None) -> pl.DataFrame:
    """Return the released cells, beside them whose row each one is; that never leaves the process."""
    if person is None or person in release.text.columns:
        return release.text
    return release.text.with_columns(release.original.frame[person][release.source_rows].alias(person))


def score_added(subject: Subject, name: str, released: Table) -> dict[str, Any]:
    """Measure the file of another tool; its k is the size of its smallest group.

    Where persons are counted, the file must tell them too: rows instead would make it look safer than the others.
    """
    row: dict[str, Any] = {"method": name, "k": None, "seed": None, "added": True}
    try:
        if subject.person is not None and subject.person not in released.names:
            told = f"column {subject.person!r} is not in it, and risk counts persons"
            raise UsageError(f"{told}. Add the column to the file, or compare without it.")
        found = risk_of(released, qi=subject.qi, threshold=subject.threshold, person=subject.person)
        trees = {name: rule for name, rule in subject.hierarchies.items() if name in subject.qi}
        weights = {name: float(weight) for name, weight in subject.weights.items()}
        k = max(1, found.smallest_group)
        rules = compile_rules(subject.rules, subject.encoded.attributes) if subject.rules else None
        measures = measure_tables(
            subject.table, released, subject.schema, k=k, weights=weights, hierarchies=trees, rules=rules
        )
        return row | {"k": k} | _figures(subject, released, measures, found)
    except Exception as error:
        return row | {"failed": reason_of(error)}


def _figures(subject: Subject, released: Table, measures: Measures, found: Risk) -> dict[str, Any]:
    """Return measures and risk as one flat row; those by column are named after it."""
    told = measures.as_dict()
    if subject.target is not None and subject.target in released.names:
        told["cm"] = classification_metric(released, subject.qi, subject.target, subject.table.n_rows)
    by_column = {"per_attribute": "loss", "md": "md", "research_value": "research_value"}
    # A column named "total" must not take the place of research_value_total: those of the table come last.
    row = {f"{short}_{column}": number for name, short in by_column.items() for column, number in told[name].items()}
    row |= {name: told[name] for name in ANSWERS}
    row |= {name: number for name, number in told.items() if name not in by_column and name not in ANSWERS}
    risks = {f"prosecutor_{name}": number for name, number in asdict(found.prosecutor).items()}
    return row | risks | {"marketer": found.marketer, "uniques": found.uniques}


def _accuracy(subject: Subject, release: Release) -> dict[str, float]:
    """Return how well the learner tells the classes of the target: from the release, and from the original."""
    from shoal.evaluate.classify import learn_from_release

    assert subject.learner is not None
    assert subject.target is not None
    by_way = {
        (found.trained_on, found.tested_on): found
        for found in learn_from_release(release, subject.target, [subject.learner])
    }
    told, before = by_way["release", "original"], by_way["original", "original"]
    return {
        "accuracy": told.mean,
        "accuracy_low": told.low,
        "accuracy_high": told.high,
        "accuracy_original": before.mean,
    }


def reason_of(error: Exception) -> str:
    """Say why a run failed; of what shoal did not raise itself only the place, as its text may hold cells."""
    if isinstance(error, ShoalError):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for this run."
    return f"{type(error).__name__} in {place_of(error)}. This is a bug in shoal."


def reset_peak() -> None:
    """Begin a new count of the most memory held, where the system can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Return the most bytes that this process has held since reset_peak, or else since it began."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource
        import sys

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024
