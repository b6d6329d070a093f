"""A run as data (JSON) and as text (Markdown); and what became worse since another run."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from benchmarks.cases import BASELINE, Case
from benchmarks.targets import GOALS, TARGETS, Target

__all__ = ["Report", "Row", "Verdict", "find_worse", "machine_facts", "with_ratios"]

WORSE = 1.25  # the factor from which on a figure counts as worse
# A measure is compared with its recorded figure; the word says what a larger one is.
MEASURES = {"units": "slower", "peak_mb": "larger", "loss": "lossier"}


@dataclass(frozen=True)
class Row:
    """The figures of one case; None where one does not apply.

    units: CPU in reference units. cpu_seconds: the mean of the repetitions; cpu_least, wall_seconds: the least of them,
    which other work disturbs least. distinct: distinct rows of quasi-identifiers. units_ratio, loss_ratio: over
    mondrian on the same work in the same run. speedup: wall seconds of one thread over those of this row's threads.
    gap: the mean over samples of the share by which the loss exceeds the least possible one; gap_most: the largest.
    """

    name: str
    kind: str
    subject: str
    k: int | None = None
    variant: str = ""
    threads: int | None = None
    rows: int | None = None
    distinct: int | None = None
    units: float | None = None
    cpu_seconds: float | None = None
    cpu_least: float | None = None
    wall_seconds: float | None = None
    peak_mb: float | None = None
    loss: float | None = None
    groups: int | None = None
    units_ratio: float | None = None
    loss_ratio: float | None = None
    speedup: float | None = None
    samples: int | None = None
    gap: float | None = None
    gap_most: float | None = None
    error: str = ""

    @classmethod
    def of(cls, case: Case, **figures: Any) -> Self:
        """Return the row of a case."""
        return cls(case.name, case.kind, case.subject, case.k, case.variant, case.threads, **figures)


@dataclass(frozen=True)
class Verdict:
    """A target with the figure that was reached, and the case that reached it."""

    target: Target
    case: str
    figure: float

    @property
    def met(self) -> bool:
        """Whether the figure is within the target."""
        return self.target.met_by(self.figure)


@dataclass(frozen=True)
class Report:
    """One run. unit_seconds: CPU seconds of one unit, measured anew beside each case."""

    made: str
    machine: Mapping[str, str]
    unit_seconds: tuple[float, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def as_json(self) -> str:
        """Return the run as JSON, figures rounded to what they are worth."""
        content = asdict(self) | {"rows": [_short(asdict(row)) for row in self.rows]}
        content["unit_seconds"] = [round(seconds, 4) for seconds in self.unit_seconds]
        content["targets"] = [
            asdict(verdict.target) | {"figure": _significant(verdict.figure), "met": verdict.met}
            for verdict in (*self.verdicts(), *self.verdicts(GOALS))
        ]
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the run of a JSON file."""
        content = json.loads(path.read_text("utf-8"))
        content.pop("targets")
        rows = tuple(Row(**row) for row in content.pop("rows"))
        units, notes = tuple(content.pop("unit_seconds")), tuple(content.pop("notes"))
        return cls(rows=rows, unit_seconds=units, notes=notes, **content)

    def verdicts(self, targets: Sequence[Target] = TARGETS) -> list[Verdict]:
        """Return the targets of which a case was run, each with its worst case."""
        found = []
        for target in targets:
            meant = [row for row in self.rows if target.holds_for(row.name)]
            figures = {row.name: getattr(row, target.measure) for row in meant}
            known = {name: figure for name, figure in figures.items() if figure is not None}
            if known:
                worst = target.worst(list(known.values()))
                found.append(Verdict(target, next(name for name in known if known[name] == worst), worst))
        return found


def with_ratios(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Fill in how each row compares with mondrian, and its threads with one thread, in the same run."""
    known = {(row.kind, row.subject, row.k, row.variant, row.threads): row for row in rows if not row.error}
    filled = []
    for row in rows:
        base = known.get((row.kind, row.subject, row.k, BASELINE, row.threads))
        alone = known.get((row.kind, row.subject, row.k, row.variant, 1))
        if base is not None and row.variant:
            row = replace(row, units_ratio=_ratio(row.units, base.units), loss_ratio=_ratio(row.loss, base.loss))
        if alone is not None and (row.threads or 1) > 1:
            row = replace(row, speedup=_ratio(alone.wall_seconds, row.wall_seconds))
        filled.append(row)
    return tuple(filled)


def find_worse(old: Report, new: Report) -> list[str]:
    """Say what became at least 25 % slower, larger or lossier than in an older run, one line for each figure."""
    before = {row.name: row for row in old.rows}
    lines = []
    for row in new.rows:
        if row.name not in before:
            continue
        if row.error and not before[row.name].error:
            lines.append(f"{row.name}: failed: {row.error}")
        for measure, word in MEASURES.items():
            ratio = _ratio(getattr(row, measure), getattr(before[row.name], measure))
            if ratio is not None and ratio >= WORSE:
                figures = f"{getattr(before[row.name], measure):.4g} -> {getattr(row, measure):.4g}"
                lines.append(f"{row.name}: {ratio - 1:.0%} {word} ({measure} {figures})")
    return lines


def machine_facts(command: Sequence[str]) -> dict[str, str]:
    """Return what the figures depend on: processor, interpreter, versions, and how shoal is started."""
    import shoal

    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": version("numpy"),
        "polars": version("polars"),
        "shoal": shoal.__version__,
        "started as": "the installed script" if len(command) == 1 else "the package, by the interpreter",
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _ratio(figure: float | None, base: float | None) -> float | None:
    return figure / base if figure is not None and base else None


def _significant(figure: float) -> float:
    return float(f"{figure:.6g}")


def _short(row: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what does not apply, and digits beyond the sixth (the loss keeps all: it is exact)."""
    kept = {name: value for name, value in row.items() if value not in (None, "")}
    return {n: _significant(v) if isinstance(v, float) and n != "loss" else v for n, v in kept.items()}
