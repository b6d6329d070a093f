"""From a path or a URL to a release, by the engine that was chosen: in memory, by DuckDB, or in the database itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from shoal.errors import UsageError
from shoal.hierarchy.base import Rule
from shoal.methods.base import Method, Run
from shoal.models import PrivacyModel
from shoal.release.anonymize import anonymize_table
from shoal.release.drift import check_columns, check_drift
from shoal.release.pushdown import CountedRelease, anonymize_source, needs_rows
from shoal.release.release import Release, Request
from shoal.settings.settings import Settings
from shoal.tables.formats import read_table
from shoal.tables.formats.memory_limit import available_memory, parse_size
from shoal.tables.sources.base import Source
from shoal.tables.sources.duckdb import DuckSource
from shoal.tables.sources.postgres import PostgresSource
from shoal.tables.sources.url import is_url, parse_url
from shoal.tables.table import Table
from shoal.tables.targets.database import TableTarget
from shoal.tables.targets.file import Stream, Target

__all__ = ["ENGINES", "Job", "check_engine"]

ENGINES = ("memory", "duckdb")


def check_engine(data: str, engine: str | None, memory: str | None) -> int | None:
    """Refuse an engine that does not fit the input; return the limit of memory in bytes, where one is given."""
    if engine is not None and engine not in ENGINES:
        raise UsageError(f"--engine {engine!r} is not known. Use {' or '.join(ENGINES)}.")
    if is_url(data) and engine == "duckdb":
        raise UsageError("--engine duckdb reads files. Leave it out: a table is counted by its database.")
    if memory is not None and engine != "duckdb":
        raise UsageError("--memory limits --engine duckdb. Leave it out, or choose that engine.")
    return None if memory is None else parse_size(memory, "--memory")


@dataclass(frozen=True)
class Job:
    """All that a release is made of. saved: the settings of a file, to see whether the table is still the one."""

    data: str
    settings: Settings
    request: Request
    method: Method
    models: tuple[PrivacyModel, ...]
    run: Run
    hierarchies: Mapping[str, Rule] = field(default_factory=dict)
    saved: Settings = field(default_factory=Settings)
    engine: str | None = None
    memory: int | None = None

    @contextmanager
    def released(self, target: Target | Stream | TableTarget) -> Iterator[Release | CountedRelease]:
        """Make the release; it can be written for as long as its source is open.

        target: where it will go, which must not be where it comes from; its private folder is used on the way.
        """
        if is_url(self.data):
            with PostgresSource(parse_url(self.data)) as source:
                if isinstance(target, TableTarget):
                    target.refuse(source.identity())
                schema = self.settings.schema(source.names)
                by_rows = self.engine == "memory" or needs_rows(self.method, self.models, schema, self.request)
                table = source.read() if by_rows else None
                if table is None:
                    yield self._from_source(source)
            if table is not None:
                yield self._from_table(table)
        elif self.engine == "duckdb":
            with self._duck(target.folder) as duck:
                yield self._from_source(duck)
        else:
            settings = self.settings
            yield self._from_table(
                read_table(
                    self.data,
                    delimiter=settings.delimiter,
                    encoding=settings.encoding,
                    header=settings.header,
                    sheet=settings.sheet,
                )
            )

    def _duck(self, folder: Path) -> DuckSource:
        settings = self.settings
        if settings.sheet is not None:
            raise UsageError(f"{self.data}: --sheet is for workbooks, which DuckDB does not read. Say --engine memory.")
        return DuckSource(
            Path(self.data),
            folder,
            memory=self.memory if self.memory is not None else available_memory(),
            threads=self.run.threads,
            delimiter=settings.delimiter,
            encoding=settings.encoding,
            header=settings.header,
        )

    def _from_table(self, table: Table) -> Release:
        check_drift(table, self.saved)
        schema, people = self.settings.schema(table.names), self.settings.population_table()
        release = anonymize_table(
            table, schema, self.request, self.method, self.models, self.run, self.hierarchies, people
        )
        return replace(release, settings=self.settings)

    def _from_source(self, source: Source) -> CountedRelease:
        check_columns(source.names, lambda name: source.count([name]).frame[name].to_list(), self.saved)
        schema = self.settings.schema(source.names)
        counted = anonymize_source(source, schema, self.request, self.method, self.models, self.run, self.hierarchies)
        return replace(counted, made=replace(counted.made, settings=self.settings))
