"""Run a command as a child process and tell its CPU seconds, wall seconds and peak memory.

The command is started by a small process of its own (this file as a script): Linux counts the memory of the process
that starts a program towards the program's peak, and the benchmark itself may hold a million rows.
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
    """How a child ended and what it took; CPU is that of all its threads, user and system."""

    code: int
    output: str
    errors: str
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float  # of 10^6 bytes


def run_child(command: Sequence[str], bytecode: Path) -> Finished:
    """Run a command to its end.

    bytecode: where Python keeps what it compiled, as it does for an installed package, whatever this machine's
    settings are. A folder of the run's own, so that the tree stays as it is; the first child pays for filling it.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    with tempfile.TemporaryDirectory(prefix="shoal-child-") as folder:
        output, errors = Path(folder, "out"), Path(folder, "err")
        starter = [sys.executable, "-E", "-S", __file__, str(output), str(errors), *command]
        started = subprocess.run(starter, check=True, stdout=subprocess.PIPE, text=True, env=environment)
        told = json.loads(started.stdout)
        return Finished(output=output.read_text("utf-8"), errors=errors.read_text("utf-8"), **told)


def _start(output: str, errors: str, command: Sequence[str]) -> dict[str, float]:
    creating = os.O_WRONLY | os.O_CREAT
    actions = [(os.POSIX_SPAWN_OPEN, 1, output, creating, 0o600), (os.POSIX_SPAWN_OPEN, 2, errors, creating, 0o600)]
    began = time.perf_counter()
    process = os.posix_spawn(command[0], list(command), os.environ, file_actions=actions)
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - began
    return {
        "code": os.waitstatus_to_exitcode(status),
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "wall_seconds": wall,
        "peak_mb": used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
    }


if __name__ == "__main__":
    print(json.dumps(_start(sys.argv[1], sys.argv[2], sys.argv[3:])))
