"""`import shoal` and `shoal --help` load nothing heavy; `python -m benchmarks --only start` times them."""

from __future__ import annotations

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
# Loaded by typer itself.
ALLOWED = {"shoal --help": {"pydantic_core"}}


@pytest.mark.parametrize("name", STARTS)
def test_nothing_heavy_is_loaded(name: str) -> None:
    code = STARTS[name] + "\nimport sys\nsys.stderr.write('\\n' + ' '.join(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[0] for module in ended.stderr.splitlines()[-1].split()}
    assert loaded & set(HEAVY) <= ALLOWED.get(name, set())
    assert "shoal" in loaded


def test_summaries_are_those_of_the_commands() -> None:
    """--help loads no command, so their summaries are written twice."""
    group = typer.main.get_command(make_app())
    for name, summary in COMMANDS.items():
        text = group.commands[name].help or ""
        assert " ".join(text.split("\n\n")[0].split()) == summary
