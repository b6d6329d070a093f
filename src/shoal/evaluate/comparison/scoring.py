"""One run of a comparison: from the encoded table, which all runs share, to a row of measures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode, guess_kinds
from shoal.errors import Note, UsageError, setting
from shoal.evaluate.comparison.cases import Case, failure, figures_of, make_and_measure
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

__all__ = [
    "HIERARCHIES_FOR",
    "ROW_VERSION",
    "Roles",
    "Subject",
    "check_hierarchies_for",
    "prepare",
    "score",
    "score_added",
    "with_persons",
]

ROW_VERSION = 3  # raised when a figure changes its meaning, so that rows in a cache become invalid
HIERARCHIES_FOR = ("all", "needed")


class Roles:
    """What the schema of a comparison says of its columns."""

    schema: Schema
    notes: tuple[Note, ...] = ()

    @property
    def qi(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return tuple(column.name for column in self.schema.qi)

    @property
    def person(self) -> str | None:
        """The column that identifies persons, if any."""
        return next(iter(self.schema.names(Role.PERSON)), None)


@dataclass(frozen=True)
class Subject(Roles):
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
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return self.table.n_rows

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
    check_hierarchies_for(hierarchies_for)
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


def check_hierarchies_for(choice: str) -> None:
    """Refuse an unknown choice of the methods that are given the hierarchies."""
    if choice not in HIERARCHIES_FOR:
        raise UsageError(f"{setting('hierarchies_for', choice)} is not known. Use {' or '.join(HIERARCHIES_FOR)}.")


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
    """Make one release and measure it; see `make_and_measure`."""
    encoded, hierarchies = subject.given(case.method)

    def make() -> Release:
        return anonymize_table(
            subject.table,
            subject.schema,
            replace(subject.request, k=case.k),
            case.method,
            subject.models,
            Run(seed=case.seed, rules=subject.rules, weights=subject.weights, threads=subject.threads),
            hierarchies,
            subject.population,
            encoded,
        )

    def measure(release: Release) -> dict[str, Any]:
        released = with_persons(release, subject.person)
        risk = risk_of(released, qi=subject.qi, threshold=subject.threshold, person=subject.person)
        row = _figures(subject, Table(release.text), release.measures, risk, case.k)
        return row if subject.learner is None else row | _accuracy(subject, release)

    return make_and_measure(case, make, measure)


def with_persons(release: Release, person: str | None) -> Table:
    """Return the released cells with the person of each row, for counting only; it never leaves the process."""
    table = release.table
    if person is None or person in table.names:
        return table
    cells = release.original.frame[person][release.source_rows].alias(person)
    return Table(table.frame.with_columns(cells), weights=table.weights)


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
        return row | failure(error)


def _figures(subject: Subject, released: Table, measures: Measures, risk: Risk, k: int) -> dict[str, Any]:
    """Return measures and risk as one flat row, with those of the target."""
    cm = None
    if subject.target is not None and subject.target in released.names:
        cm = classification_metric(released, subject.qi, subject.target, subject.table.n_rows, k)
    return figures_of(replace(measures, cm=cm), risk)


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
