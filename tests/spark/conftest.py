"""One Spark session for all test files of a process: its start and its first release cost more than most tests."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from shoal.methods import sections
from shoal.spark import reading
from shoal.tables.formats.writers import write_csv
from tests.command import shoal
from tests.contract.test_dealing import odd_table

__all__ = ["shoal"]

# Small tables: compiled plans and optimised code cost more than they save.
FAST = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
    "spark.python.worker.idleTimeoutSeconds": "0",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark leaves sockets to the garbage collector, which is not ours to mend."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session", autouse=True)
def _spark_is_installed() -> None:
    """Skip without pyspark or Java; in CI, fail."""
    from shoal.errors import UsageError
    from shoal.spark.session import check_installed

    try:
        check_installed()
    except UsageError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no Spark: {error}")


class SharedSession:
    """A session on two threads of this machine, open until a test needs one of its own."""

    def __init__(self) -> None:
        self._session: Any = None
        self._opened = ExitStack()

    def open(self) -> Any:
        """Return the session; start it first if there is none."""
        from shoal.spark.session import open_session

        if self._session is None:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
                self._session = self._opened.enter_context(open_session("local[2]", FAST))
        return self._session

    def close(self) -> None:
        """End the session, if there is one; nothing of it is left."""
        if self._session is not None:
            private = Path(self._session.conf.get("spark.local.dir")).parent
            self._session = None
            self._opened.close()
            assert not private.exists()


@pytest.fixture(scope="session")
def shared_session() -> Iterator[SharedSession]:
    """The session that most tests of this process share."""
    shared = SharedSession()
    yield shared
    shared.close()


@pytest.fixture(scope="module")
def spark(shared_session: SharedSession) -> Any:
    """A session on two threads of this machine, with the settings that it was opened with."""
    return shared_session.open()


@pytest.fixture(scope="module")
def no_session(shared_session: SharedSession) -> None:
    """No session is open in this process: a test starts its own."""
    shared_session.close()


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CSV file that several tasks read, of several sections."""
    monkeypatch.setattr(sections, "LARGEST_SECTION", 120)
    monkeypatch.setattr(reading, "SPLIT_BYTES", 16_000)
    monkeypatch.setattr(reading, "SPLIT_ROWS", 300)
    path = tmp_path / "source.csv"
    write_csv(odd_table(1, 600), path)
    return path
