"""Work for executors: kernels over batches of text, and jobs that can be watched and cancelled."""

from __future__ import annotations

import gc
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.spark.session import spark_errors
from shoal.tables.watch import Watch

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Kernel", "batches", "frame_of", "kernel_of_batches", "polars_of", "run_job"]

Result = TypeVar("Result")
Kernel = Callable[[Iterator["pl.DataFrame"]], Iterator["pl.DataFrame"]]
BATCH_ROWS = 50_000

_n_modules = 0  # that were imported when a worker froze them last


def batches(frames: Iterable[pl.DataFrame], rows: int = BATCH_ROWS) -> Iterator[Any]:
    """Yield frames as the Arrow batches that Spark takes: its texts have 32-bit offsets."""
    import pyarrow as pa

    narrow = {pa.large_string(): pa.string(), pa.string_view(): pa.string()}
    for frame in frames:
        for start in range(0, frame.height, rows):
            table = frame.slice(start, rows).rechunk().to_arrow()
            schema = pa.schema([pa.field(f.name, narrow.get(f.type, f.type)) for f in table.schema])
            yield from table.cast(schema).to_batches()


def kernel_of_batches(kernel: Kernel) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a kernel as a function of Arrow batches; it may stop before it has read all of them."""

    def run(given: Iterable[Any]) -> Iterator[Any]:
        import polars as pl

        _freeze_modules()
        unread = iter(given)

        def frames() -> Iterator[pl.DataFrame]:
            for batch in unread:
                frame = pl.from_arrow(batch)
                assert isinstance(frame, pl.DataFrame)
                yield frame

        yield from batches(kernel(frames()))
        for _ in unread:  # Spark starts a worker anew that leaves batches unread
            continue

    return run


def _freeze_modules() -> None:
    """Keep modules out of garbage collections, which Spark has a worker make after every task: 70 ms otherwise."""
    global _n_modules
    if len(sys.modules) > _n_modules:
        gc.freeze()
        _n_modules = len(sys.modules)


def frame_of(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """Make a Spark frame of a small frame; its cells do not appear in plans."""
    import pyarrow as pa

    parts = list(batches([frame], max(1, frame.height)))
    if parts:
        return spark.createDataFrame(pa.Table.from_batches(parts))
    kinds = {"String": "string", "Int32": "int", "Int64": "bigint", "UInt32": "bigint"}
    schema = ", ".join(f"{name} {kinds[str(dtype)]}" for name, dtype in frame.schema.items())
    return spark.createDataFrame([], schema)


def polars_of(frame: DataFrame) -> pl.DataFrame:
    """Fetch a small result."""
    import polars as pl

    fetched = pl.from_arrow(frame.toArrow())
    assert isinstance(fetched, pl.DataFrame)
    return fetched


def run_job(spark: SparkSession, watch: Watch, place: str, action: Callable[[], Result]) -> Result:
    """Run an action of Spark in a thread of its own, so that a signal or the caller can end it at once.

    Args:
        spark: The session.
        watch: May cancel.
        place: Where the table is, for messages.
        action: What to run.
    """
    from pyspark import InheritableThread

    results: list[Result] = []
    errors: list[BaseException] = []
    ended, tag = Event(), f"shoal-{secrets.token_hex(8)}"

    def run() -> None:
        try:
            spark.addTag(tag)
            results.append(action())
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    watch.check()
    InheritableThread(target=run, daemon=True).start()
    try:
        while not ended.wait(0.1):  # in short steps: not every signal handler wakes a waiting thread
            watch.check()
    except BaseException:
        with suppress(Exception):
            spark.interruptTag(tag)
        ended.wait(10)
        raise
    if errors:
        with spark_errors(place):
            raise errors[0]
    return results[0]
