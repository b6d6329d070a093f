"""The figures of a run as data, with JSON in and out, and what became worse since another run."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from benchmarks.cases import BASELINE, MDAV, Case
from benchmarks.targets import GOALS, TARGETS, Target
from benchmarks.workloads import ROWS

__all__ = ["Report", "Row", "Verdict", "find_worse", "machine_facts", "with_ratios"]

WORSE = 1.25  # the factor from which a figure counts as worse
# The measures that are compared with an earlier run, and the word for a larger figure.
MEASURES = {"units": "slower", "peak_mb": "larger", "loss": "lossier"}


@dataclass(frozen=True)
class Row:
    """The figures of one case; a figure that does not apply is None.

    Attributes:
        distinct: The number of distinct combinations of quasi-identifiers.
        units: The CPU time in reference units.
        cpu_seconds: The mean CPU time of the repetitions.
        cpu_least: The smallest CPU time of the repetitions, which other work disturbs least.
        wall_seconds: The smallest wall time of the repetitions.
        units_ratio: The units over those of mondrian on the same work in the same run.
        loss_ratio: The loss over that of mondrian on the same work in the same run.
        squares: The sum of squares inside groups over that of the table.
        squares_saved: By which share these are below those of mdav on the same work in the same run.
        rows_ratio: The units over those of the same table if rows are counted in place of people.
        speedup: The wall time of one thread over that of this row's threads.
        gap: The mean, over samples, of the share by which the loss exceeds the optimum.
        gap_most: The largest of these shares.
        stages: The CPU time of each stage of a run, in units.
        form: What distinguishes a command or a method from others; see `Case`.
        error: Why the case failed; empty if it did not.
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
    rows_ratio: float | None = None
    speedup: float | None = None
    samples: int | None = None
    gap: float | None = None
    gap_most: float | None = None
    error: str = ""
    stages: Mapping[str, float] | None = None
    form: str = ""
    squares: float | None = None
    squares_saved: float | None = None

    @classmethod
    def of(cls, case: Case, **figures: Any) -> Self:
        """Create the row of a case."""
        return cls(case.name, case.kind, case.subject, case.k, case.variant, case.threads, form=case.form, **figures)


@dataclass(frozen=True)
class Verdict:
    """A target, the case that is worst, and its figure."""

    target: Target
    case: str
    figure: float

    @property
    def met(self) -> bool:
        """Whether the figure meets the target."""
        return self.target.met_by(self.figure)


@dataclass(frozen=True)
class Report:
    """One run.

    Attributes:
        made: The date of the run.
        machine: The facts that the figures depend on.
        unit_seconds: The CPU seconds of one unit, measured beside each case.
        rows: The figures of the cases.
        notes: What to know about the run.
    """

    made: str
    machine: Mapping[str, str]
    unit_seconds: tuple[float, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def as_json(self) -> str:
        """Return the run as JSON, with figures rounded to six significant digits."""
        content = asdict(self) | {"rows": [_short(asdict(row)) for row in self.rows]}
        content["unit_seconds"] = [round(seconds, 4) for seconds in self.unit_seconds]
        content["targets"] = [
            asdict(verdict.target) | {"figure": _significant(verdict.figure), "met": verdict.met}
            for verdict in (*self.verdicts(), *self.verdicts(GOALS))
        ]
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a run from a JSON file."""
        content = json.loads(path.read_text("utf-8"))
        content.pop("targets")
        rows = tuple(Row(**row) for row in content.pop("rows"))
        units, notes = tuple(content.pop("unit_seconds")), tuple(content.pop("notes"))
        return cls(rows=rows, unit_seconds=units, notes=notes, **content)

    def renewed(self, other: Report, names: Sequence[str]) -> Report:
        """Return this run with the rows of another one in place of its own.

        Args:
            other: A later run of some cases.
            names: The names of all cases, in order; rows of other cases are left out.
        """
        rows = {row.name: row for row in (*self.rows, *other.rows)}
        note = f"{len(other.rows)} of the cases ran on {other.made} (load {other.machine.get('load', 'unknown')})."
        notes = (*(note for note in self.notes if " of the cases ran on " not in note), note)
        kept = with_ratios([rows[name] for name in names if name in rows])
        return replace(self, rows=kept, unit_seconds=(*self.unit_seconds, *other.unit_seconds), notes=notes)

    def verdicts(self, targets: Sequence[Target] = TARGETS) -> list[Verdict]:
        """Judge the targets that apply to a case of this run, each by its worst case."""
        verdicts = []
        for target in targets:
            rows = [row for row in self.rows if target.holds_for(row.name)]
            figures = {row.name: getattr(row, target.measure) for row in rows}
            figures = {name: figure for name, figure in figures.items() if figure is not None}
            if figures:
                worst = target.worst(list(figures.values()))
                verdicts.append(Verdict(target, next(name for name in figures if figures[name] == worst), worst))
        return verdicts


def with_ratios(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Add to each row how it compares with mondrian, and its threads with one thread, in the same run."""
    by_case = {(row.kind, row.subject, row.k, row.variant, row.threads, row.form): row for row in rows if not row.error}
    rows_with_ratios = []
    for row in rows:
        base = by_case.get((row.kind, row.subject, row.k, BASELINE, row.threads, row.form))
        by_rows = by_case.get((row.kind, row.subject + ROWS, row.k, row.variant, row.threads, row.form))
        one_thread = by_case.get((row.kind, row.subject, row.k, row.variant, 1, row.form))
        if base is not None and row.variant:
            row = replace(row, units_ratio=_ratio(row.units, base.units), loss_ratio=_ratio(row.loss, base.loss))
        simple = by_case.get((row.kind, row.subject, row.k, MDAV, row.threads, row.form))
        if simple is not None and simple.squares and row.squares is not None and row.variant != MDAV:
            row = replace(row, squares_saved=1 - row.squares / simple.squares)
        if by_rows is not None:
            row = replace(row, rows_ratio=_ratio(row.units, by_rows.units))
        if one_thread is not None and (row.threads or 1) > 1:
            row = replace(row, speedup=_ratio(one_thread.wall_seconds, row.wall_seconds))
        rows_with_ratios.append(row)
    return tuple(rows_with_ratios)


def find_worse(old: Report, new: Report) -> list[str]:
    """List what became at least 25 % slower, larger or lossier than in an older run, one line per figure."""
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
    """Return the facts that the figures depend on: processor, interpreter, versions, and how shoal is started."""
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
    """Omit figures that do not apply, and digits beyond the sixth (the loss keeps all: it is exact)."""
    figures = {name: value for name, value in row.items() if value not in (None, "")}
    return {n: _significant(v) if isinstance(v, float) and n != "loss" else v for n, v in figures.items()}
