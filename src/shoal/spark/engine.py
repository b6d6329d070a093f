"""What Python users call: a Spark frame, or files, in; a Spark frame and the facts of the release out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from shoal.errors import Note, UsageError
from shoal.methods.base import Method
from shoal.metrics import Measures
from shoal.release.files.publish import check_text, notes_of
from shoal.release.job import Job
from shoal.release.make import make_run
from shoal.release.release import Release
from shoal.schema import Role, check_threads
from shoal.settings.keywords import SettingsKeywords, list_keywords, settings_from
from shoal.settings.read import read_config
from shoal.settings.settings import Settings
from shoal.spark.folder import FolderTarget, Parts, manifest_content, write_parts_of
from shoal.spark.session import check_installed, open_session, pinned
from shoal.spark.source import SparkSource
from shoal.tables.formats.sniff import Format
from shoal.tables.targets.folders import WorkFolder
from shoal.tables.watch import UNWATCHED, Watch, make_watch
from shoal.verification import Verdict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkRelease", "anonymize", "open_source", "write_release"]

# Types of Spark that a column which is not recoded gets back; the text of any other stays text.
PLAIN_TYPES = ("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "date")


@dataclass
class SparkRelease:
    """A verified release on Spark; a context manager. Its parts are kept until it is closed.

    Attributes:
        verdict: What the verifier found in the parts.
    """

    _release: Release
    _source: SparkSource
    _parts: Parts
    _closing: ExitStack
    _types: dict[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict:
        """What the verifier found in the parts that `frame` reads."""
        return self._parts.verdict

    @property
    def measures(self) -> Measures:
        """The information loss, and the sizes of groups."""
        return self._release.measures

    @property
    def notes(self) -> tuple[Note, ...]:
        """What you should know before you publish the release."""
        return self._release.notes

    @property
    def frame(self) -> DataFrame:
        """The released rows in canonical order, as a Spark frame that reads the verified parts.

        Recoded columns are text; other columns have their type again if it is a number, a date or a boolean.
        """
        from pyspark.sql import functions as F  # noqa: N812
        from pyspark.sql.types import StringType, StructField, StructType

        names = self._parts.names
        paths = [f"file://{self._parts.folder / part.name}" for part in self._parts.parts]
        schema = StructType([StructField(name, StringType()) for name in names])
        spark = self._source.spark
        rows = spark.read.schema(schema).parquet(*paths)
        quoted = {name: F.col(f"`{name.replace('`', '``')}`") for name in names}
        shown = [c.cast(self._types[name]).alias(name) if name in self._types else c for name, c in quoted.items()]
        return rows.orderBy(*quoted.values()).select(*shown)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the parts; frames that read them cannot be used any more."""
        self._closing.close()


@list_keywords
def anonymize(
    data: Any,
    *,
    k: int | None = None,
    method: str | Method | None = None,
    config: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    spark: SparkSession | None = None,
    threads: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings: Unpack[SettingsKeywords],
) -> SparkRelease:
    """Anonymise a table on Spark; the rows are those that `shoal.anonymize` gives.

    Args:
        data: A Spark frame; or the path of a file, of a folder of files, or a pattern such as "data/*.parquet", that
            every executor can read.
        k: The smallest group; see `shoal.anonymize`.
        method: The name of a method, or an instance with its options; "shoaling" by default.
        config: The path of a shoal.toml.
        folder: A folder that every executor can write to, for the parts that are verified; by default that for
            temporary files, which is enough if Spark runs on this machine.
        spark: The session for files; by default the active one.
        threads: The number of threads of the driver.
        progress: Called with the name of the current stage and the completed share of it.
        cancelled: Called several times a second; when it returns True, the run stops with a `CancelledError`.
        **settings: Further settings, as for `shoal.anonymize`:
            {settings}

    Returns:
        The release: `frame` is a Spark frame of the verified rows, `measures` and `notes` are its facts. Close it, or
        use it in a `with` block, when the frame is written.

    Raises:
        UsageError: If a setting is unknown, or something is not supported on Spark.
        InputError: If the table cannot be used as it is.
        InfeasibleError: If no release of this table can meet the requirement.
        VerificationError: If the parts fail the check of the verifier.
        FileError: If Spark gives up.
    """
    check_installed()
    keywords = settings_from({**settings, "k": k, "method": method if isinstance(method, str) else None})
    saved = read_config(config) if config is not None else Settings()
    merged = keywords.over(saved)
    watch = make_watch(progress, cancelled)
    run = make_run(merged, threads=check_threads(threads), watch=watch)
    with ExitStack() as stack:
        source = stack.enter_context(open_source(data, merged, spark))
        parent = Path(folder) if folder is not None else None
        private = stack.enter_context(_work_folder(parent))
        job = Job.from_settings(
            source, merged, run=run, saved=saved, engine="spark", method=None if isinstance(method, str) else method
        )
        stack.enter_context(source.opened(private, watch))
        release = job.release()
        release = replace(release, request=release.request.without_form)  # as every frame of a release
        parts = write_parts_of(release, source, private, Format.PARQUET, watch)
        release = replace(release, notes=(*release.notes, *notes_of(release, parts.verdict)))
        return SparkRelease(release, source, parts, stack.pop_all(), _types_of(data, release))
    raise AssertionError("unreachable")


@contextmanager
def open_source(
    data: Any, settings: Settings, spark: SparkSession | None, master: str | None = None
) -> Iterator[SparkSource]:
    """Open the source of a run on Spark, in the session of a frame, in one that is given, or in one of our own."""
    check_installed()
    reading = settings.reading
    options = {
        "delimiter": reading.delimiter,
        "encoding": reading.encoding,
        "header": reading.header,
        "named": reading.named,
        "duplicate_columns": reading.duplicate_columns,
    }
    if reading.sheet is not None:
        raise UsageError("a sheet is named, but Spark reads CSV and Parquet here. Leave it out.")
    own = getattr(data, "sparkSession", None) or spark
    if own is not None:
        with pinned(own):
            yield SparkSource(own, data, options)
        return
    with open_session(master) as session:
        yield SparkSource(session, data, options)


@contextmanager
def _work_folder(parent: Path | None) -> Iterator[Path]:
    import tempfile

    with WorkFolder(parent or Path(tempfile.gettempdir()), f"shoal-{os.geteuid()}-") as work:
        folder = Path(os.path.realpath(work.path)) / "parts"
        folder.mkdir(mode=0o700)
        yield folder


def _types_of(data: Any, release: Release) -> dict[str, str]:
    """Return the types that columns which are not recoded get back."""
    fields = dict(getattr(data, "dtypes", ()))
    kept = [c.name for c in release.schema.released if c.role is not Role.QI and not c.codings]
    return {name: fields[name] for name in kept if fields.get(name) in PLAIN_TYPES}


def write_release(job: Job, output: str, *, watch: Watch = UNWATCHED) -> tuple[Release, FolderTarget, Path]:
    """Make the release of a job on Spark and publish it as a folder of parts.

    Args:
        job: The job, whose data is a source of Spark.
        output: The folder.
        watch: Hears of stages and may cancel.

    Returns:
        The release, its target, and the path of its manifest.
    """
    source: SparkSource = job.data
    target = FolderTarget(output, force=job.force)
    check_text(str(target.path), target.form, job.request)
    with target.staged() as folder, source.opened(folder, watch):
        release = replace(job.release(), settings=job.settings)
        parts = write_parts_of(release, source, folder, target.form, watch)
        manifest = target.publish(parts, manifest_content(release, target), job.sign_key)
    return replace(release, notes=(*release.notes, *notes_of(release, parts.verdict))), target, manifest
