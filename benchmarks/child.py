"""Run a command as a child process and measure its CPU seconds, wall seconds and peak memory.

A small process (this file as a script) starts the command. Linux counts the memory of the process that starts a
program towards the program's peak, and the benchmark itself may have a million rows in memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Finished", "run_child"]


@dataclass(frozen=True)
class Finished:
    """The result of a child process and its cost; CPU covers all threads, user and system."""

    code: int
    output: str
    errors: str
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float  # in 10^6 bytes


def run_child(command: Sequence[str], bytecode: Path) -> Finished:
    """Run a command until it ends.

    Args:
        command: The program and its arguments.
        bytecode: The folder for Python's compiled modules. Whatever the settings of this machine, bytecode is cached
            as for an installed package. The folder belongs to the run, so the source tree stays unchanged; the first
            child fills it.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    with tempfile.TemporaryDirectory(prefix="shoal-child-") as folder:
        output, errors = Path(folder, "out"), Path(folder, "err")
        starter = [sys.executable, "-E", "-S", __file__, str(output), str(errors), *command]
        process = subprocess.run(starter, check=True, stdout=subprocess.PIPE, text=True, env=environment)
        figures = json.loads(process.stdout)
        return Finished(output=output.read_text("utf-8"), errors=errors.read_text("utf-8"), **figures)


def _start(output: str, errors: str, command: Sequence[str]) -> dict[str, float]:
    flags = os.O_WRONLY | os.O_CREAT
    actions = [(os.POSIX_SPAWN_OPEN, 1, output, flags, 0o600), (os.POSIX_SPAWN_OPEN, 2, errors, flags, 0o600)]
    start = time.perf_counter()
    process = os.posix_spawn(command[0], list(command), os.environ, file_actions=actions)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    return {
        "code": os.waitstatus_to_exitcode(status),
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "wall_seconds": wall,
        "peak_mb": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
    }


if __name__ == "__main__":
    print(json.dumps(_start(sys.argv[1], sys.argv[2], sys.argv[3:])))
