"""Hostile files, settings and options: a documented exit code and a place, within bounds of memory and time.

Each group of cases runs in one process with limits of its address space and its CPU time. A crash or a hang names the
case that was running.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.interface import hostile_files as hostile

ROOT = Path(__file__).parents[2]
MEMORY = 2_500_000_000  # of which polars, numpy and DuckDB reserve 1.3 GB when they are loaded
CPU_SECONDS = 90


def run_cases(folder: Path, cases: list[tuple[str, list[str]]], memory: int = MEMORY) -> dict[str, dict[str, Any]]:
    """Run the cases in a limited process and return how each ended."""
    (folder / "cases.json").write_text(json.dumps([{"name": name, "words": words} for name, words in cases]))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))

    environment = {name: text for name, text in os.environ.items() if name != "SHOAL_MEMORY_LIMIT"}
    environment |= {"POLARS_MAX_THREADS": "2", "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-m", "tests.interface.hostile_files", str(folder)],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
    )
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    endings = dict(zip((line["name"] for line in lines[::2]), lines[1::2], strict=False))
    if len(endings) < len(cases):
        pytest.fail(f"{lines[-1].get('name')} ended the process ({ended.returncode}): {ended.stderr[-1500:]}")
    return endings


def check(endings: dict[str, dict[str, Any]], allowed: dict[str, tuple[int, ...]]) -> None:
    """Demand the exit codes, a message of one kind, and nothing left behind."""
    wrong = {}
    for name, ending in endings.items():
        fine = ending["code"] in allowed[name] and "Traceback" not in ending["err"] and not ending["left"]
        if not fine or (ending["code"] and not ending["err"].startswith("shoal: ")):
            wrong[name] = ending
    assert not wrong, "\n".join(f"{name}: {ending}" for name, ending in wrong.items())


@pytest.mark.parametrize("suffix", [".csv", ".gz", ".zst", ".xlsx", ".parquet", ".arrow"])
def test_hostile_tables_end_every_command_early(tmp_path: Path, suffix: str) -> None:
    """B12, B13, B25, B26, B29: exit 3, or 6 if the memory of the machine is too small for what the file claims."""
    cases, allowed = [], {}
    for file in (file for file in hostile.TABLES if file.endswith(suffix)):
        path = tmp_path / file
        path.write_bytes(hostile.TABLES[file]())
        for command, words in list(hostile.COMMANDS.items())[: 3 if file in hostile.SLOW else None]:
            name = f"{file}, {command}"
            is_compared = file in hostile.COMPARABLE and command in ("verify", "verify original", "describe")
            allowed[name] = (0, 3, 4, 5) if file in hostile.USABLE or is_compared else (3, 6)
            cases.append((name, [word.format(path, tmp_path) for word in words]))
    check(run_cases(tmp_path, cases), allowed)


def test_hostile_tables_end_an_engine_early(tmp_path: Path) -> None:
    """The blocks that DuckDB counts have the same bounds; DuckDB itself needs more address space."""
    cases = []
    for file in hostile.TABLES:
        if file.endswith((".csv", ".gz", ".parquet")) and file not in (*hostile.USABLE, "bomb.csv.gz"):
            path = tmp_path / file
            path.write_bytes(hostile.TABLES[file]())
            cases.append((file, [word.format(path, tmp_path) for word in hostile.DUCKDB]))
    endings = run_cases(tmp_path, cases, memory=2 * MEMORY)
    check(endings, dict.fromkeys(endings, (3,)))


def write_data(folder: Path) -> Path:
    path = folder / "data.csv"
    path.write_bytes(hostile.HEAD + hostile.ROWS)
    return path


def test_hostile_hierarchies(tmp_path: Path) -> None:
    """B19, B21, B29."""
    data, cases = write_data(tmp_path), []
    for file, make in hostile.HIERARCHIES.items():
        path = tmp_path / f"h-{file}"
        path.write_bytes(make())
        shared = ["--qi", "age", "--hierarchy", f"age={path}"]
        cases += [
            (
                f"{file}, anonymize",
                ["anonymize", str(data), "-o", f"{tmp_path}/out.csv", "-k", "2", "--others", "drop", *shared],
            ),
            (f"{file}, measure", ["measure", str(data), str(data), *shared]),
            (f"{file}, show", ["hierarchy", "show", str(path)]),
        ]
    endings = run_cases(tmp_path, cases)
    check(endings, {name: (0, 2, 3) if file_of(name) in ("digits.csv", "long.csv") else (0, 3) for name in endings})


def file_of(name: str) -> str:
    return name.partition(",")[0]


def test_hostile_settings(tmp_path: Path) -> None:
    """B24: a shoal.toml of any depth, and options of any size, are exit 2."""
    data, cases = write_data(tmp_path), []
    words = ["anonymize", str(data), "-o", f"{tmp_path}/out.csv", "--others", "drop", "--qi", "age"]
    for name, text in hostile.CONFIGS.items():
        path = tmp_path / f"{name}.toml"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        cases.append((f"config, {name}", [*words, "--config", str(path)]))
    cases += [(f"option, {name}", [*words, "-k", "2", *more]) for name, more in hostile.OPTIONS.items()]
    for option in ("--threshold", "--population"):
        cases.append((f"risk, {option}", ["risk", str(data), "--qi", "age", option, "1e-999999999"]))
    endings = run_cases(tmp_path, cases)
    check(endings, {name: (6,) if name == "risk, --population" else (2,) for name in endings})


def test_hostile_population(tmp_path: Path) -> None:
    """The table of a population has the same bounds."""
    data, cases = write_data(tmp_path), []
    for file in ("letters.xlsx", "page.parquet", "buffer.arrow", "columns.csv"):
        path = tmp_path / file
        path.write_bytes(hostile.TABLES[file]())
        words = ["anonymize", str(data), "-o", f"{tmp_path}/out.csv", "-k", "2", "--others", "drop", "--qi", "age"]
        cases.append((f"{file}, anonymize", [*words, "--population", str(path), "--model", "k-map k=2"]))
        cases.append((f"{file}, risk", ["risk", str(data), "--qi", "age", "--population", str(path)]))
    endings = run_cases(tmp_path, cases)
    check(endings, dict.fromkeys(endings, (3,)))
