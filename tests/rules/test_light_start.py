"""`import shoal` and `shoal --help` load nothing heavy and are quick."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
import typer

from shoal.cli.main import COMMANDS, make_app

HEAVY = (
    "polars",
    "matplotlib",
    "pandas",
    "pyarrow",
    "numpy",
    "duckdb",
    "sklearn",
    "nicegui",
    "pyspark",
    "pydantic_core",
)
STARTS = {
    "import shoal": "import shoal",
    "shoal --help": "from shoal.cli.main import run\ntry:\n    run(['--help'])\nexcept SystemExit:\n    pass",
}
# What typer itself loads is not ours to judge.
ALLOWED = {"shoal --help": {"pydantic_core"}}


@pytest.mark.parametrize("name", STARTS)
def test_nothing_heavy_is_loaded(name: str) -> None:
    code = STARTS[name] + "\nimport sys\nsys.stderr.write('\\n' + ' '.join(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[0] for module in ended.stderr.splitlines()[-1].split()}
    assert loaded & set(HEAVY) <= ALLOWED.get(name, set())
    assert "shoal" in loaded


def test_summaries_are_those_of_the_commands() -> None:
    """--help loads no command, so what it says of each stands apart."""
    whole = typer.main.get_command(make_app())
    for name, summary in COMMANDS.items():
        told = whole.commands[name].help or ""
        assert " ".join(told.split("\n\n")[0].split()) == summary


@pytest.mark.parametrize("name", STARTS)
def test_start_takes_little_cpu(name: str) -> None:
    """The least of several runs, in CPU seconds: a busy machine does not matter, a heavy import does."""
    seen = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", STARTS[name]], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seen.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seen) < 0.4
