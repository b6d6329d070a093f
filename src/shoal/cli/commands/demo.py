"""`shoal demo`."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.errors import for_command_line
from shoal.settings.settings import Settings

# How a hospital would describe the built-in table.
SETTINGS = Settings(
    k=5,
    l=3,
    qi=("birth_date", "sex", "zip", "nationality", "education"),
    sensitive=("disease",),
    drop=("name", "cost", "visit_date"),
    person="patient_id",
)
NEXT_K = 10  # of the release to try next


def demo(
    folder: Annotated[Path, typer.Option(help="Folder for the release; created if necessary.")] = Path("shoal-demo"),
    k: Annotated[int, typer.Option("-k", "--k", help="Smallest group: every row has at least k-1 look-alikes.")] = 5,
    threads: opt.Threads = None,
    as_json: opt.AsJson = False,
) -> None:
    """Anonymise the built-in table of 5,000 invented hospital patients and show the result."""
    began = time.perf_counter()
    n_threads = opt.use_threads(threads)
    from shoal.datasets import patients_path
    from shoal.methods import Run
    from shoal.release.job import Job
    from shoal.tables.targets.folders import new_folder

    with new_folder(folder), terminal.progress() as (stage, progress):
        job = Job.from_settings(
            patients_path(),
            replace(SETTINGS, k=k),
            folder / "patients-released.csv",
            Run(threads=n_threads, stage=stage, progress=progress),
            report=folder / "report.html",
            force=True,
            spell=for_command_line,
        )
        outcome = job.execute()
    seconds = time.perf_counter() - began
    terminal.print_release(
        outcome.release, outcome.place, outcome.manifest, seconds, as_json=as_json, report=outcome.report
    )
    if not as_json:
        terminal.say(f"\nOpen {folder / 'report.html'} in a browser. Then try:")
        for purpose, command in next_commands(patients_path(), folder):
            terminal.say(f"\n{purpose}")
            terminal.say_command(shlex.join(command))


def next_commands(table: Path, folder: Path) -> list[tuple[str, list[str]]]:
    """Return what to try after the demo: what each command does, and its words."""
    roles = ["--qi", ",".join(SETTINGS.qi), "--sensitive", ",".join(SETTINGS.sensitive)]
    others = ["--person", str(SETTINGS.person), "--drop", ",".join(SETTINGS.drop), "--l", str(SETTINGS.l)]
    again = ["anonymize", str(table), "-o", str(folder / f"k{NEXT_K}.csv"), "-k", str(NEXT_K), *roles, *others]
    return [
        ("Check the file, as whoever receives it can:", ["shoal", "verify", str(folder / "patients-released.csv")]),
        (
            "Have a role proposed for every column; do this with your own table:",
            ["shoal", "init", str(table), "-o", str(folder / "shoal.toml")],
        ),
        ("Make a release with larger groups by hand:", ["shoal", *again]),
    ]
