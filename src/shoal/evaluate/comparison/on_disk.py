"""Comparisons of tables that do not fit into memory: DuckDB has the table, and each run is made on its counts."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from shoal.errors import Note, TooLargeError, UsageError, setting
from shoal.evaluate.comparison.cases import Case, figures_of, make_and_measure
from shoal.evaluate.comparison.scoring import (
    ROW_VERSION,
    Roles,
    Subject,
    check_hierarchies_for,
    prepare,
    with_persons,
)
from shoal.hierarchy.base import Rule
from shoal.methods.full_domain.sampling import check_given
from shoal.methods.registry import info_of
from shoal.models import PrivacyModel
from shoal.release.counted_tables.duck.groups import clear_runs
from shoal.release.counted_tables.pushdown import anonymize_source
from shoal.release.job import Job, about_engine, choose_engine
from shoal.release.make import make_request, make_run
from shoal.release.release import Release, Request
from shoal.risks import Risk, estimate, risk
from shoal.risks.estimate import DEFAULT_THRESHOLD, read_threshold
from shoal.schema import Schema, check_threads
from shoal.settings.settings import Settings
from shoal.tables.sources import find_source, why_not_on_disk
from shoal.tables.sources.base import Source
from shoal.tables.sources.dealing import Engine
from shoal.tables.targets.folders import PrivateFolder

__all__ = ["SubjectOnDisk", "open_subject", "run_in_turn"]

ENGINES = ("memory", "duckdb")


@dataclass(frozen=True)
class SubjectOnDisk(Roles):
    """A table that DuckDB has, and the settings of all runs.

    Attributes:
        source: The table, open.
        schema: Roles of its columns.
        settings: The settings.
        request: What to anonymise; k comes from the case.
        models: Privacy models besides k-anonymity.
        hierarchies: Hierarchies of columns.
        threshold: The risk above which a row counts as at risk.
        n_rows: The number of rows.
        threads: Threads of each run.
        only_needed: Whether only methods that need the hierarchies of quasi-identifiers are given them.
        notes: What the user should know.
    """

    source: Source
    schema: Schema
    settings: Settings
    request: Request
    models: tuple[PrivacyModel, ...]
    hierarchies: Mapping[str, Rule]
    threshold: str
    n_rows: int
    threads: int
    only_needed: bool
    notes: tuple[Note, ...] = ()
    target = None  # classes are counted row by row

    def fingerprint(self) -> str:
        """Return a hash of everything that determines the result of a run, except method, k and seed."""
        from shoal import __version__

        content = (self.schema, self.settings, self.request, self.hierarchies, self.only_needed, self.threshold)
        digest = hashlib.sha256(pickle.dumps((__version__, ROW_VERSION, "duckdb", self.source.place, content)))
        if self.source.path is not None:
            with open(self.source.path, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        else:
            for block in self.source.blocks():
                digest.update(block.write_csv().encode())
        return digest.hexdigest()

    def score(self, case: Case) -> dict[str, Any]:
        """Make one release and measure it; see `make_and_measure`."""

        def make() -> Release:
            info = info_of(case.method.name)
            held_back = self.qi if self.only_needed and info is not None and not info.climbs else ()
            job = Job(
                self.source,
                self.settings,
                replace(self.request, k=case.k),
                case.method,
                self.models,
                replace(make_run(self.settings, threads=self.threads), seed=case.seed),
                {name: rule for name, rule in self.hierarchies.items() if name not in held_back},
                engine="duckdb",
            )
            return anonymize_source(self.source, self.schema, job)

        row = make_and_measure(case, make, lambda release: figures_of(release.measures, self._risk(release)))
        assert isinstance(self.source, Engine)
        clear_runs(self.source.session)
        return row

    def _risk(self, release: Release) -> Risk:
        if release.joint is not None:
            sizes = release.joint.sizes
            each, counts = sizes.each(), "rows"
            if sizes.people is not None:
                each, counts = sizes.people, "persons"
            return estimate(each, threshold=self.threshold, suppressed_rows=sizes.n_starred, counts=counts)
        table = with_persons(release, self.person)
        return risk(table, qi=self.qi, threshold=self.threshold, person=self.person)


def run_in_turn(subject: SubjectOnDisk, cases: Sequence[Case]) -> Iterator[tuple[Case, dict[str, Any]]]:
    """Yield each case with its row; one run after the other has all the memory."""
    return ((case, subject.score(case)) for case in cases)


@contextmanager
def open_subject(
    data: Any,
    settings: Settings,
    *,
    engine: str | None = None,
    memory: str | None = None,
    jobs: int | None = None,
    target: str | None = None,
    learner: str | None = None,
    threads: int = 1,
    added: bool = False,
    **fields: Any,
) -> Iterator[Subject | SubjectOnDisk]:
    """Read a table for a comparison, into memory or, if it does not fit or the caller says so, to disk.

    Args:
        data: A frame, a `Table`, a path, or the URL of a table in a file.
        settings: Roles, kinds, models and other settings.
        engine: "memory" or "duckdb"; None chooses.
        memory: The memory limit of DuckDB, such as "4GB".
        jobs: The runs that go side by side in memory; DuckDB has their threads for one after the other.
        target: The column of classes.
        learner: A learner that predicts the target.
        threads: Threads of each run.
        added: Whether releases of other tools are compared, too.
        fields: `threshold` and `hierarchies_for` of `prepare`.
    """
    engine, limit = choose_engine(data, engine, memory, ENGINES)
    too_large: TooLargeError | None = None
    if engine != "duckdb":
        source = find_source(data, reading=settings.reading)
        try:
            with PrivateFolder() as private, source.opened(private.path):
                table = source.read()
        except TooLargeError as error:
            if engine is not None or why_not_on_disk(data, settings.reading) is not None:
                raise
            too_large = error.with_traceback(None)  # which holds what was read so far
        else:
            yield prepare(table, settings, target=target, learner=learner, threads=threads, **fields)
            return
    for name, is_given in {"target": target is not None, "learner": learner is not None, "add": added}.items():
        if is_given:
            raise UsageError(
                f"{data}: {setting(name)} needs the rows in memory, but DuckDB has them. Leave it out, or compare on a "
                "file with fewer rows, drawn at random."
            )
    threads = max(check_threads(threads), jobs or os.cpu_count() or 1)
    notes = (about_engine(data),) if too_large else ()
    with ExitStack() as stack:
        private = stack.enter_context(PrivateFolder())
        numbered = [*settings.qi, *settings.recode]
        source = find_source(data, "duckdb", memory=limit, threads=threads, reading=settings.reading, numbered=numbered)
        stack.enter_context(source.opened(private.path))
        yield _prepare_on_disk(source, settings, threads, notes, **fields)


def _prepare_on_disk(
    source: Source,
    settings: Settings,
    threads: int,
    notes: tuple[Note, ...],
    *,
    threshold: object = DEFAULT_THRESHOLD,
    hierarchies_for: str = "all",
) -> SubjectOnDisk:
    """Check the settings once for all runs."""
    check_hierarchies_for(hierarchies_for)
    settings = replace(settings, others=settings.others or "drop")
    schema = settings.schema(source.names)
    models, hierarchies = settings.privacy_models(), settings.rules()
    check_given(models, hierarchies)
    return SubjectOnDisk(
        source,
        schema,
        settings,
        make_request(replace(settings, k=settings.k or 1), keep_order=False, bound=False),
        models,
        hierarchies,
        str(read_threshold(threshold)),
        int(source.count([schema.qi[0].name]).counts.sum()),
        threads,
        hierarchies_for == "needed",
        notes,
    )
