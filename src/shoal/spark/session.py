"""Spark sessions: one of our own, with everything that it needs and leaves no trace of; or that of the user.

A session of our own lives in a private folder: the temporary files of executors, the work folders of a local cluster
(which Spark would put beside its own code), and what Java prints. All of it is removed at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, UsageError, setting
from shoal.tables.targets.folders import PrivateFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_installed", "open_session", "pinned", "quiet", "spark_errors"]

# What the result must not depend on, and what must not appear by surprise.
PINNED = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # by its own guess Spark sends tables to the driver, which may die
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
}
FEWEST_PARTS = 16  # a large source asks for more; adaptive execution joins small ones
OWN = {
    "spark.app.name": "shoal",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.io.encryption.enabled": "true",  # temporary files of executors contain cells
    "spark.driver.memory": "1g",
    "spark.sql.files.maxPartitionBytes": "32m",  # one small Parquet file would be a single task
    "spark.sql.shuffle.partitions": str(
        FEWEST_PARTS
    ),  # a large source asks for more; adaptive execution joins small ones
    "spark.sql.adaptive.enabled": "true",
}
CAUSE = re.compile(r"(?:Caused by: |Error: |error: )(.{1,300})")
FATAL = re.compile(r"(Failed to launch executor|UnsupportedClassVersionError|OutOfMemoryError|JAVA_HOME is not set)")
JAVA = "Install Java 17 or later; on Debian and Ubuntu: apt-get install openjdk-17-jre-headless."


def check_installed() -> None:
    """Raise a UsageError if pyspark, pyarrow or Java is missing."""
    from importlib.util import find_spec

    for package in ("pyspark", "pyarrow"):
        if find_spec(package) is None:
            raise UsageError(f"Spark needs {package}, which is not installed: pip install 'shoal[spark]'")
    home = os.environ.get("JAVA_HOME")
    if home and not (Path(home) / "bin" / "java").exists():
        raise UsageError(f"JAVA_HOME={home} has no bin/java. Correct or unset it, or install Java. {JAVA}")
    if not home and shutil.which("java") is None:
        raise UsageError(f"Spark needs Java, which is not installed. {JAVA}")


@contextmanager
def open_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """Open a Spark session for the length of a `with` block, or use the one that is active in this process.

    Args:
        master: Where Spark runs, such as "local[4]", "local-cluster[2,1,2048]" or "spark://host:7077"; by default the
            cores of this machine. Only for a session of our own.
        settings: Further settings of Spark for a session of our own, such as {"spark.executor.memory": "8g"}.

    Raises:
        UsageError: If pyspark or Java is missing, or the master cannot be used.
        FileError: If Spark does not start.
    """
    check_installed()
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        if master is not None:
            raise UsageError(
                f"{setting('master', master)}: a Spark session is already active in this process. Leave it out, or "
                "stop the session."
            )
        with pinned(active):
            yield active
        return
    with PrivateFolder() as private, quiet():
        folder = Path(os.path.realpath(private.path))
        with _started(master or os.environ.get("MASTER") or "local[*]", folder, dict(settings or {})) as session:
            yield session


@contextmanager
def quiet() -> Iterator[None]:
    """Hide Spark's warning about pandas 3, which we do not use, for the length of a `with` block."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        yield


@contextmanager
def pinned(session: Any) -> Iterator[None]:
    """Set what a result must not depend on, for the length of a `with` block, in a session of the user."""
    before = {name: session.conf.get(name, None) for name in PINNED}
    try:
        for name, value in PINNED.items():
            session.conf.set(name, value)
        with quiet():
            yield
    finally:
        with suppress(Exception):  # the session may be stopped already
            for name, value in before.items():
                if value is not None:
                    session.conf.set(name, value)
                else:
                    session.conf.unset(name)


@contextmanager
def _started(master: str, folder: Path, settings: dict[str, str]) -> Iterator[SparkSession]:
    """Start Java and a session; stop both at the end."""
    from pyspark import SparkConf, SparkContext, java_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf()
    for name, value in (OWN | PINNED | _java_options() | _paths(master, folder) | settings).items():
        conf.set(name, value)
    conf.setMaster(master)
    log = folder / "java.log"
    with _environment(master, folder), open(log, "wb") as noise:
        try:
            start_java: Any = java_gateway.launch_gateway
            gateway = start_java(conf, {"stdout": noise, "stderr": noise})
            context = SparkContext(conf=conf, gateway=gateway)
        except Exception as error:
            _end_java(SparkContext)
            raise FileError(f"Spark at {master} did not start: {_first_cause(log, error)}.") from None
    try:
        yield SparkSession(context)
    finally:
        with suppress(Exception):
            context.stop()
        SparkSession._instantiatedSession = None
        _end_java(SparkContext)


def _java_options() -> dict[str, str]:
    """Have Java compile the driver's code quickly and collect garbage in one thread: it plans and adds up, once each.

    Executors keep Java's defaults. Java does not start with two collectors, so one that the user names is left alone.
    """
    named = " ".join(os.environ.get(name, "") for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"))
    collector = [] if re.search(r"-XX:\+Use\w+GC", named) else ["-XX:+UseSerialGC"]
    return {"spark.driver.extraJavaOptions": " ".join(["-XX:TieredStopAtLevel=1", *collector])}


def _paths(master: str, folder: Path) -> dict[str, str]:
    """Return where executors find this package, and where they may write."""
    package = str(Path(__file__).parents[2])
    found = {
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(
            dict.fromkeys([package, *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
        ).strip(os.pathsep),
        "spark.executorEnv.PYTHONWARNINGS": "ignore",
        "spark.executorEnv.POLARS_MAX_THREADS": "1",  # Spark runs one task on each core
    }
    if master.startswith("local"):
        local = folder / "local"
        local.mkdir(mode=0o700)
        (folder / "warehouse").mkdir(mode=0o700)
        found |= {
            "spark.local.dir": str(local),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
        }
    return found


@contextmanager
def _environment(master: str, folder: Path) -> Iterator[None]:
    """Set the variables that Spark reads when it starts, and put them back."""
    variables = {"PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable)}
    if master.startswith("local"):
        variables |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder / "local")}
    if master.startswith("local-cluster") and "SPARK_HOME" not in os.environ:
        variables["SPARK_HOME"] = str(_own_home(folder / "home"))
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name)
        os.environ.update({name: value for name, value in before.items() if value is not None})


def _own_home(home: Path) -> Path:
    """Make a folder that looks like Spark's; the workers of a local cluster write into theirs."""
    from pyspark.find_spark_home import _find_spark_home

    home.mkdir(mode=0o700)
    for entry in Path(_find_spark_home()).iterdir():
        if entry.name not in ("work", "__pycache__"):
            (home / entry.name).symlink_to(entry)
    return home


def _end_java(context: Any) -> None:
    """End the Java process that was started for a session."""
    gateway = context._gateway
    if gateway is None:
        return
    process = getattr(gateway, "proc", None)
    context._gateway = context._jvm = None
    if process is None:  # a Java process that somebody else started
        return
    with suppress(Exception):
        gateway.shutdown()
    with suppress(OSError):
        process.stdin.close()  # Java ends when its parent is gone
    try:
        process.wait(30)
    except TimeoutExpired:
        process.kill()
        process.wait()


def _first_cause(log: Path, error: Exception) -> str:
    """Return the first cause that Java printed; Spark repeats it dozens of times."""
    text = log.read_text(errors="replace") if log.exists() else ""
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if FATAL.search(line)), None)
    after = "\n".join(lines[first:] if first is not None else lines)
    found = CAUSE.search(after)
    cause = found.group(1) if found else (lines[first] if first is not None else type(error).__name__)
    is_java = re.search("UnsupportedClassVersion|JAVA_HOME|class file version", after) is not None
    return cause.strip().rstrip(".") + (f". {JAVA.rstrip('.')}" if is_java else "")


@contextmanager
def spark_errors(place: str) -> Iterator[None]:
    """Turn errors of Spark, whose text may contain cells and plans, into a FileError; ours pass from executors."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        ours = _own_error(str(error))
        if ours is not None:
            raise ours from None
        raise FileError(
            f"{place}: Spark gave up{_kind_of(error)}. Its log says more; see the guide for memory and disk space."
        ) from None


def _kind_of(error: Exception) -> str:
    """Return what is known of an error without its text."""
    text = str(error)
    for sign, words in (
        ("OutOfMemoryError", "out of memory"),
        ("No space left on device", "the disk is full"),
        ("ExecutorLostFailure", "executors were lost too often"),
        ("FetchFailed", "executors were lost too often"),
        ("ModuleNotFoundError: No module named 'shoal'", "shoal is not installed on the executors"),
        ("No module named", "a Python package is not installed on the executors"),
    ):
        if sign in text:
            return f": {words}"
    condition = getattr(error, "getCondition", lambda: None)()  # such as CAST_INVALID_INPUT, without its values
    return f" ({condition or type(error).__name__})"


def _own_error(text: str) -> Exception | None:
    """Return the error of ours that ended a task, which contains no cell; None if there is none."""
    from shoal import errors

    found = re.search(
        r"shoal\.errors\.(InputError|UsageError|FileError|TooLargeError|VerificationError|InfeasibleError): (.+)", text
    )
    if found is None:
        return None
    kind: type[errors.ShoalError] = getattr(errors, found.group(1))
    return kind(found.group(2).strip())
