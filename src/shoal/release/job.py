"""One run from settings to a published release: what the command line, Python and other programs call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from shoal.errors import Note, TooLargeError, UsageError, for_python, setting
from shoal.hierarchy.base import Rule
from shoal.methods.base import Method, Run
from shoal.methods.full_domain.sampling import check_given
from shoal.models import PrivacyModel
from shoal.release.counted_tables.duck.groups import keep_groups
from shoal.release.counted_tables.pushdown import anonymize_source, needs_rows
from shoal.release.drift import check_columns
from shoal.release.files.manifest import paths_beside
from shoal.release.files.publish import check_report, check_signable, check_text
from shoal.release.files.signature import SigningKey, about_open_files, read_secret
from shoal.release.make import Plan, carry_out, choose_method, make_request, make_run, plan_run
from shoal.release.preconditions import check_promise
from shoal.release.release import Release, Request
from shoal.schema import Schema
from shoal.settings.settings import Settings
from shoal.tables.formats.memory_limit import parse_size
from shoal.tables.sources import find_source, why_not_on_disk
from shoal.tables.sources.base import LAYOUTS, Source
from shoal.tables.sources.url import is_url, mask
from shoal.tables.table import Table
from shoal.tables.targets import find_target
from shoal.tables.targets.base import Target
from shoal.tables.targets.file import ReportTarget
from shoal.tables.targets.folders import PrivateFolder

__all__ = ["ENGINES", "Job", "Outcome", "about_engine", "choose_engine"]

ENGINES = ("memory", "duckdb", "spark")
OUT_OF_MEMORY = ("duckdb", "spark")  # engines that fetch no row
ROLL_UPS = ("memory", "database")
LEAST_LIMIT = 50_000_000  # bytes

Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome:
    """A job that is done.

    Attributes:
        release: The release.
        place: Where it was written; None if nothing was written.
        manifest: The path of its manifest; None if the release is not a file.
        report: Where its report was written, if one was requested.
    """

    release: Release
    place: str | None = None
    manifest: Path | None = None
    report: ReportTarget | None = None


@dataclass(frozen=True)
class Job:
    """Everything that a release is made of; make one with `Job.from_settings`.

    Attributes:
        data: A frame, a `Table`, a path or the URL of a database table; for Spark, an open `Source`.
        settings: The settings of the run.
        request: What the user requests.
        method: The method.
        models: The privacy models besides k-anonymity.
        run: Seed, threads, rules, weights and callbacks; a copy made by pickle has no callbacks.
        hierarchies: By column, its hierarchy.
        saved: The settings of a configuration file, which the table must still match.
        engine: What counts the rows: "memory", "duckdb" or "spark"; None chooses.
        memory: The memory limit of DuckDB in bytes.
        roll_up: Where the full-domain methods count coarser levels: "memory", from one query, or "database", with a
            query for each combination of levels.
        output: A path, the URL of a database table or "-" for standard output; None writes nothing.
        report: The path of an HTML report.
        key: A secret that signs the hash of the input.
        sign_key: The key that signs the manifest.
        notes: What the user should know about the files of these keys.
        force: Whether to replace outputs that exist.
        read: Files that were read for the settings: keys and the configuration. No output may replace them.
        spell: How the report mentions settings: `for_python` or `for_command_line` of `shoal.errors`.
    """

    data: Any = field(repr=False)  # a URL may contain a password
    settings: Settings
    request: Request
    method: Method
    models: tuple[PrivacyModel, ...]
    run: Run
    hierarchies: Mapping[str, Rule] = field(default_factory=dict)
    saved: Settings = field(default_factory=Settings)
    engine: str | None = None
    memory: int | None = None
    roll_up: str = "memory"
    output: str | os.PathLike[str] | None = None
    report: str | os.PathLike[str] | None = None
    key: bytes | None = field(default=None, repr=False)
    sign_key: SigningKey | None = field(default=None, repr=False)
    notes: tuple[Note, ...] = ()
    force: bool = False
    read: tuple[Path, ...] = ()
    spell: Callable[[str], str] = for_python

    @classmethod
    def from_settings(
        cls,
        data: Any,
        settings: Settings,
        output: str | os.PathLike[str] | None = None,
        run: Run | None = None,
        *,
        saved: Settings | None = None,
        method: Method | None = None,
        models: Iterable[PrivacyModel] = (),
        engine: str | None = None,
        memory: str | None = None,
        roll_up: str | None = None,
        keep_order: bool = False,
        bound: bool | None = None,
        report: str | os.PathLike[str] | None = None,
        key_file: str | os.PathLike[str] | None = None,
        sign_key: str | os.PathLike[str] | None = None,
        config: str | os.PathLike[str] | None = None,
        force: bool = False,
        spell: Callable[[str], str] = for_python,
    ) -> Job:
        """Check the settings and resolve what they name: method, models, hierarchies, engine and key.

        Args:
            data: A frame, a `Table`, a path or the URL of a database table.
            settings: The settings of the run, those of a configuration file included.
            output: A path, the URL of a database table or "-" for standard output; None writes nothing.
            run: Seed, threads, rules, weights and callbacks; by default those of the settings, on all processors.
            saved: The settings of the configuration file by themselves, which the table must still match.
            method: A method that replaces the one that the settings name.
            models: Privacy models besides those of the settings.
            engine: What counts the rows of a file: "memory" or "duckdb"; by default "memory", or "duckdb" for a table
                that does not fit into memory or where `memory` is set.
            memory: The memory limit of DuckDB, such as "4GB".
            roll_up: Where the full-domain methods count coarser levels: "memory", the default, or "database".
            keep_order: Whether rows keep the order of the input.
            bound: Whether to compute the lower bound however long it takes; None means only if it is quick.
            report: The path of an HTML report about the release.
            key_file: The path of a secret that signs the hash of the input.
            sign_key: The path of a private key that signs the manifest.
            config: The path of the configuration file, if there is one; no output may replace it.
            force: Whether to replace outputs that exist.
            spell: How the report mentions settings: `for_python` or `for_command_line` of `shoal.errors`.

        Raises:
            UsageError: A setting is wrong, or k is missing.
            InputError: A hierarchy cannot be used.
            FileError: A hierarchy or the key cannot be read.
        """
        engine, limit = choose_engine(data, engine, memory)
        _check_roll_up(data, engine, roll_up)
        request = make_request(settings, keep_order=keep_order, bound=bound)
        all_models = (*settings.privacy_models(), *models)
        check_promise(request.k, all_models)
        hierarchies = settings.rules()
        check_given(all_models, hierarchies)
        return cls(
            data,
            settings,
            request,
            method or choose_method(settings),
            all_models,
            run or make_run(settings, threads=os.cpu_count() or 1),
            hierarchies,
            saved or Settings(),
            engine,
            limit,
            roll_up or ROLL_UPS[0],
            output,
            report,
            None if key_file is None else read_secret(key_file),
            None if sign_key is None else SigningKey.read(sign_key),
            tuple(about_open_files([key_file, sign_key])),
            force,
            tuple(Path(path) for path in (key_file, sign_key, config) if path is not None),
            spell,
        )

    def execute(self) -> Outcome:
        """Make the release and, if an output is named, write it."""
        outcome, notes = self._where_it_fits(Job._execute)
        return replace(outcome, release=_with_notes(outcome.release, notes))

    def _execute(self) -> Outcome:
        """Make the release and write it; see `execute`."""
        if self.output is None:
            return Outcome(self._release())
        source = self._source()
        with ExitStack() as stack:
            inputs = self.settings.input_files(source.path, *self.read)
            target = stack.enter_context(find_target(self.output, force=self.force, inputs=inputs, beside=paths_beside))
            report = None
            if self.report is not None:
                report = stack.enter_context(ReportTarget(self.report, inputs=inputs, force=self.force))
            check_report(target, report)
            check_signable(target, self.sign_key)
            check_text(target.place, target.format, self.request)
            release = stack.enter_context(self._released(source, target.folder, target))
            published = release.write_to(
                target, key=self.key, sign_key=self.sign_key, report=report, watch=self.run, spell=self.spell
            )
        release = replace(release, notes=(*release.notes, *published.notes))
        return Outcome(release, target.place, published.manifest, report)

    def release(self) -> Release:
        """Make the release; write nothing."""
        return _with_notes(*self._where_it_fits(Job._release))

    def _release(self) -> Release:
        """Make the release; see `release`."""
        with PrivateFolder() as private, self._released(self._source(), private.path) as release:
            keep_groups(release.recoding)
            return release

    def _source(self) -> Source:
        if self.engine == "spark":
            source: Source = self.data
            return source
        return find_source(
            self.data,
            self.engine,
            memory=self.memory,
            threads=self.run.threads,
            reading=self.settings.reading,
            numbered=[*self.settings.qi, *self.settings.recode],
        )

    @contextmanager
    def _released(self, source: Source, folder: Path, target: Target | None = None) -> Iterator[Release]:
        """Make the release. Its source is open inside the block, unless its rows are in memory."""
        with source.opened(folder, self.run):
            if target is not None:
                target.refuse(source)
            check_columns(source.names, lambda name: source.count([name]).frame[name].to_list(), self.saved)
            schema = self.settings.schema(source.names)
            if not self._reads_rows(source, schema):
                release = anonymize_source(source, schema, self)
                yield replace(release, settings=self.settings)
                return
            table = source.read()
        yield replace(carry_out(self._plan(table, schema)), settings=self.settings)

    def plan(self) -> Plan:
        """Return the run of this job up to its search, on the rows in memory."""
        with PrivateFolder() as private:
            source = self._source()
            with source.opened(private.path, self.run):
                return self._plan(source.read(), self.settings.schema(source.names))

    def _plan(self, table: Table, schema: Schema) -> Plan:
        people = self.settings.population_table()
        return plan_run(
            table, schema, self.request, self.method, self.models, self.run, self.hierarchies, people, key=self.key
        )

    def _where_it_fits(self, action: Callable[[Job], Result]) -> tuple[Result, tuple[Note, ...]]:
        """Do something in memory or, if nobody chose an engine and the table does not fit there, on disk with DuckDB.

        Returns:
            The result, and a note if DuckDB was chosen.

        Raises:
            TooLargeError: The table does not fit into memory, and the run needs its rows there.
        """
        try:
            return action(self), ()
        except TooLargeError as error:
            if self.engine is not None or not isinstance(self.data, str | os.PathLike):
                raise
            too_large = error.with_traceback(None)  # which holds what was read so far
        able: dict[str, Any] = {"lays_out": LAYOUTS, "deals": True, "recodes": True, "draws": True}
        settings = self.settings
        reason = why_not_on_disk(self.data, settings.reading) or needs_rows(
            self.method, self.models, settings.schema(settings.reading.named), self.request, **able
        )
        if reason is not None:
            raise TooLargeError(f"{too_large.text} It cannot stay on disk either: {reason}.")
        return action(replace(self, engine="duckdb")), (about_engine(self.data),)

    def _reads_rows(self, source: Source, schema: Schema) -> bool:
        if source.in_memory or self.engine is not None:
            return self.engine not in OUT_OF_MEMORY
        if self.roll_up == "database":  # a run that needs rows is then refused
            return False
        return needs_rows(self.method, self.models, schema, self.request) is not None


def _with_notes(release: Release, notes: tuple[Note, ...]) -> Release:
    """Return a release with some notes before its own."""
    return replace(release, notes=(*notes, *release.notes))


def about_engine(data: Any) -> Note:
    """Note that DuckDB was chosen."""
    text = "does not fit into memory; DuckDB counted and sorted it on disk"
    place = mask(str(data)) if is_url(data) else str(data)
    return Note(place, text, f"{setting('engine', 'duckdb')} and {setting('memory')} choose this way")


def choose_engine(
    data: Any, engine: str | None, memory: str | None, known: Sequence[str] = ENGINES
) -> tuple[str | None, int | None]:
    """Refuse an engine that does not fit the input; a memory limit alone chooses DuckDB.

    Args:
        data: The table.
        engine: The engine that the user names.
        memory: The memory limit that the user sets.
        known: The engines to choose from.

    Returns:
        The engine, None if it depends on the size of the table; and the memory limit in bytes, if one is set.
    """
    if engine is None and memory is not None:
        if not isinstance(data, str | os.PathLike):
            raise UsageError(f"{setting('memory')} is for files and databases. Pass a path or a URL, or leave it out.")
        engine = "duckdb"
    if engine is not None and engine not in known:
        raise UsageError(f"{setting('engine', engine)} is not known. Use {' or '.join(known)}.")
    if engine == "spark" and not hasattr(data, "dealer"):
        raise UsageError(
            f"{setting('engine', engine)} is the command line's. In Python, call shoal.spark.anonymize with a Spark "
            "frame or a path."
        )
    if engine == "duckdb" and not isinstance(data, str | os.PathLike):
        raise UsageError(
            f"{setting('engine', engine)} reads files and databases. Pass a path or a URL, or leave it out."
        )
    if memory is not None and engine != "duckdb":
        raise UsageError(
            f"{setting('memory')} limits {setting('engine', 'duckdb')}. Leave it out, or choose that engine."
        )
    if memory is None:
        return engine, None
    if not isinstance(memory, str):
        raise UsageError(f"{setting('memory')} is a text, not {type(memory).__name__}. Write it as '500MB' or '4GB'.")
    limit = parse_size(memory, setting("memory", memory))
    if limit < LEAST_LIMIT:
        raise UsageError(f"{setting('memory', memory)} is less than any run takes. Write it as 500MB or 4GB.")
    return engine, limit


def _check_roll_up(data: Any, engine: str | None, roll_up: str | None) -> None:
    """Refuse roll-ups in a database that is not there."""
    if roll_up not in (None, *ROLL_UPS):
        raise UsageError(f"{setting('roll_up', roll_up)} is not known. Use {' or '.join(ROLL_UPS)}.")
    is_table = isinstance(data, str) and is_url(data) and engine is None
    if roll_up == "database" and engine != "duckdb" and not is_table:
        raise UsageError(
            f"{setting('roll_up', roll_up)} counts in DuckDB or PostgreSQL. Choose {setting('engine', 'duckdb')}, or "
            "name a table by its URL."
        )
