"""One run of a comparison, wherever its table is: the release made and measured as one flat row."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any

from shoal.errors import FileError, ShoalError, place_of
from shoal.methods.base import Method
from shoal.metrics import Measures
from shoal.release.release import Release
from shoal.risks import Risk

__all__ = ["Case", "failure", "figures_of", "make_and_measure", "peak_memory", "reason_of"]

TABLE_FIGURES = ("rows", "groups", "smallest_group", "suppressed_rows")


@dataclass(frozen=True)
class Case:
    """One run; `label` is the method as the user wrote it, with its options."""

    label: str
    method: Method
    k: int
    seed: int = 0

    @property
    def key(self) -> tuple[str, int, int]:
        """The identity of a run within a comparison."""
        return self.label, self.k, self.seed

    def spec(self) -> dict[str, Any]:
        """Return the run as plain values for JSON."""
        options: dict[str, Any] = {}
        if is_dataclass(self.method) and not isinstance(self.method, type):
            options = asdict(self.method)
        return {"method": self.method.name, "options": options, "k": self.k, "seed": self.seed}


def make_and_measure(
    case: Case, make: Callable[[], Release], measure: Callable[[Release], dict[str, Any]]
) -> dict[str, Any]:
    """Make one release and measure it.

    Args:
        case: The run.
        make: Makes the release.
        measure: Returns its figures.

    Returns:
        The figures; if the run fails, the reason under "failed", and "died" if it may succeed with more memory or disk.
        "cpu_seconds" and "seconds" run from the table that all runs share to the measured release. "peak_memory" is the
        peak of the process in bytes, including its table.
    """
    row = {"method": case.label, "k": case.k, "seed": case.seed, "added": False}
    reset_peak()
    cpu, wall = time.process_time(), time.perf_counter()
    release: Release | None = None
    try:
        release = make()
    except Exception as error:
        row |= failure(error)
    row |= {
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "seconds": round(time.perf_counter() - wall, 3),
        "peak_memory": peak_memory(),
    }
    if release is None:
        return row
    try:
        return row | measure(release)
    except Exception as error:
        return row | failure(error)


def figures_of(measures: Measures, risk: Risk) -> dict[str, Any]:
    """Return measures and risk as one flat row; measures of a column are named after it."""
    figures = measures.as_dict()
    extents = figures.pop("columns")
    figures |= {each: {name: of[each] for name, of in extents.items()} for each in ("mean_values", "mean_width")}
    by_column = {
        "per_attribute": "loss",
        **dict.fromkeys(("md", "research_value", "mean_values", "mean_width")),
    }
    # A column named "total" must not replace research_value_total, so figures of the table come last.
    row = {
        f"{short or name}_{column}": value
        for name, short in by_column.items()
        for column, value in figures[name].items()
    }
    row |= {name: figures[name] for name in TABLE_FIGURES}
    row |= {name: value for name, value in figures.items() if name not in by_column and name not in TABLE_FIGURES}
    risks = {f"prosecutor_{name}": value for name, value in asdict(risk.prosecutor).items()}
    return row | risks | {"marketer": risk.marketer, "uniques": risk.uniques}


def failure(error: Exception) -> dict[str, Any]:
    """Return why a run failed, as a part of its row; lack of memory or disk may pass."""
    wants_room = isinstance(error, FileError | MemoryError)
    return {"failed": reason_of(error)} | ({"died": True} if wants_room else {})


def reason_of(error: Exception) -> str:
    """Return why a run failed; other errors than shoal's may contain cells, so only their place is given.

    Settings are marked as in `ShoalError.text`.
    """
    if isinstance(error, ShoalError):
        return error.text
    if isinstance(error, MemoryError):
        return "there is not enough memory for this run."
    return f"{type(error).__name__} in {place_of(error)}. This is a bug in shoal."


def reset_peak() -> None:
    """Reset the peak memory of this process, if the system supports it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Return the peak memory of this process in bytes, since `reset_peak` if the system supports that."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource
        import sys

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
