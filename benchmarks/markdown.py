"""A run as Markdown tables, beside the figures of other tools, and the part of the documentation that shows them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.cases import BASELINE, BIG_K, DEFAULT, EFFORTS, KS
from benchmarks.chart import time_rows
from benchmarks.peers import BIG_NOTE, BIG_PEERS, COLUMNS, NOTE, PEERS
from benchmarks.report import Report, Row
from benchmarks.targets import GOALS, TARGETS, Target
from benchmarks.workloads import big_name

__all__ = ["BEGIN", "CURVE", "END", "render", "renew"]

CURVE = "benchmarks-loss.svg"  # beside the page

BEGIN = "<!-- made by `python -m benchmarks --record`; a change by hand is lost -->"
END = "<!-- end of what is made -->"
BUSY = 1.1  # the longest unit over the shortest from which on a run says that the machine was not its own
TEXTS = {"case", "measure", "met", "table", "method", "command", "tool", "note"}
MEASURES = {
    "units": "CPU, units",
    "loss": "loss",
    "peak_mb": "peak memory, MB",
    "speedup": "speed-up",
    "loss_ratio": "loss, x mondrian",
    "gap": "mean gap to the optimum",
}


def render(report: Report) -> str:
    """Return the run as Markdown."""
    machine = ", ".join(f"{name} {fact}" for name, fact in report.machine.items())
    parts = [
        f"Run of {report.made}: {machine}. {_unit_line(report.unit_seconds)}",
        *report.notes,
        *_section("Targets", _targets(report, TARGETS)),
        *_section("Goals beyond the targets", _targets(report, GOALS)),
        *_section("Loss over time, W8, k = 10", _over_time(report)),
        *_section("Loss by k, the method alone", _by_k(report, lambda row: _figure(row.loss, ".5f"))),
        *_section("CPU units by k, the method alone", _by_k(report, lambda row: _units(row.units))),
        *_section("Big tables, the method alone", _big(report)),
        *_section("Above the optimum", _gaps(report)),
        *_section("The whole command", _commands(report)),
        *_section("Beside other tools", _beside(report)),
        *_section("1,000,000 rows beside other tools", _big_beside(report)),
    ]
    failed = [f"- {row.name}: {row.error}" for row in report.rows if row.error]
    return "\n\n".join([*parts, *(["### Failed", "\n".join(failed)] if failed else [])]) + "\n"


def renew(path: Path, made: str, begin: str = BEGIN) -> None:
    """Put what was made between two marks of a page: where it begins, and the next end."""
    text = path.read_text("utf-8")
    before, _, rest = text.partition(begin)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{path}: the lines {begin!r} and {END!r} are not in it, in this order")
    path.write_text(f"{before}{begin}\n\n{made}\n{END}{after}", "utf-8")


def _unit_line(seconds: Sequence[float]) -> str:
    if not seconds:
        return ""
    least, most = min(seconds), max(seconds)
    steady = "" if most < BUSY * least else " The machine was busy with other work: read small differences as noise."
    return (
        f"One unit was {statistics.median(seconds):.3f} CPU seconds ({least:.3f} to {most:.3f}; measured anew beside "
        f"each of {len(seconds)} cases).{steady}"
    )


def _section(title: str, lines: list[str]) -> list[str]:
    return [f"### {title}", *lines] if lines else []


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table, texts to the left and numbers to the right; nothing without rows."""
    body = [f"| {' | '.join(row)} |" for row in rows]
    if not body:
        return []
    rule = "|" + "|".join("---" if name in TEXTS else "---:" for name in header) + "|"
    return ["\n".join([f"| {' | '.join(header)} |", rule, *body])]


def _figure(value: float | None, form: str = ".3g") -> str:
    return "" if value is None else format(value, form)


def _units(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


def _targets(report: Report, targets: Sequence[Target]) -> list[str]:
    rows = [
        (
            verdict.case if verdict.case == verdict.target.case else f"`{verdict.target.case}`, worst: {verdict.case}",
            MEASURES[verdict.target.measure],
            _figure(verdict.figure, ".4g"),
            f"at {'least' if verdict.target.at_least else 'most'} {verdict.target.limit:g}",
            "yes" if verdict.met else "**no**",
        )
        for verdict in report.verdicts(targets)
    ]
    return _table(("case", "measure", "figure", "wanted", "met"), rows)


def _over_time(report: Report) -> list[str]:
    header = ("method", "units", "loss", "x mondrian")
    rows = [
        (row.variant, _units(row.units), _figure(row.loss, ".5f"), _figure(row.loss_ratio, ".3f"))
        for row in time_rows(report)
    ]
    return _table(header, rows)


def _by_k(report: Report, shown: Callable[[Row], str]) -> list[str]:
    """Return a line for each table and method, a column for each k; of the tables of usual size."""
    lines: dict[tuple[str, str], dict[int, Row]] = {}
    for row in report.rows:
        if row.kind == "kernel" and not row.error and row.k is not None and not _is_big(row):
            lines.setdefault((row.subject, row.variant), {})[row.k] = row
    ks = sorted({*KS, *(k for found in lines.values() for k in found)})
    rows = [
        (*names, _figure(next(iter(found.values())).rows, ","), *(shown(found[k]) if k in found else "" for k in ks))
        for names, found in lines.items()
    ]
    return _table(("table", "method", "rows", *(f"k={k}" for k in ks)), rows)


def _is_big(row: Row) -> bool:
    return row.subject.startswith(("big-", "continuous-"))


def _big(report: Report) -> list[str]:
    header = ("table", "method", "distinct", "k", "threads", "units", "wall s", "speed-up", "loss", "x mondrian")
    rows = [
        (
            row.subject,
            row.variant,
            _figure(row.distinct, ","),
            str(row.k),
            str(row.threads),
            _units(row.units),
            _figure(row.wall_seconds, ".2f"),
            _figure(row.speedup, ".2f"),
            _figure(row.loss, ".5f"),
            _figure(row.loss_ratio, ".3f"),
        )
        for row in report.rows
        if row.kind == "kernel" and not row.error and _is_big(row)
    ]
    return _table(header, rows)


def _gaps(report: Report) -> list[str]:
    rows = [
        (row.subject, row.variant, _figure(row.samples, "d"), _figure(row.gap, ".3%"), _figure(row.gap_most, ".2%"))
        for row in report.rows
        if row.gap is not None
    ]
    return _table(("table", "method", "samples x k", "mean gap", "largest gap"), rows)


def _commands(report: Report) -> list[str]:
    header = ("command", "table", "method", "rows", "k", "threads", "units", "wall s", "speed-up", "peak MB", "loss")
    shown = {
        "python": "`python -c pass`",
        "import": '`python -c "import shoal"`',
        "help": "`shoal --help`",
        "demo": "`shoal demo`",
        "command": "`shoal anonymize`",
    }
    rows = [
        (
            shown[row.subject if row.kind == "start" else row.kind],
            "" if row.kind == "start" else row.subject,
            row.variant,
            _figure(row.rows, ","),
            _figure(row.k, "d"),
            "" if row.kind == "start" else str(row.threads or "all"),
            _units(row.units),
            _figure(row.wall_seconds, ".3f"),
            _figure(row.speedup, ".2f"),
            _figure(row.peak_mb, ".0f"),
            _figure(row.loss, ".5f"),
        )
        for row in report.rows
        if row.kind not in ("kernel", "gap") and not row.error
    ]
    return _table(header, rows)


def _ours(report: Report) -> dict[str, dict[tuple[str, int], Row]]:
    """Return our rows of one thread on Adult, by method, then by table and k."""
    found: dict[str, dict[tuple[str, int], Row]] = {}
    for row in report.rows:
        if row.kind == "kernel" and row.subject in ("W3", "W8") and row.k is not None and row.loss is not None:
            found.setdefault(row.variant, {})[row.subject, row.k] = row
    return found


def _beside(report: Report) -> list[str]:
    ours = _ours(report)
    if not ours:
        return []
    rows = []
    for variant, by_work in ours.items():
        losses = [_figure(by_work[work].loss, ".4f") if work in by_work else "" for work in COLUMNS]
        timed = by_work.get(("W8", 10))
        rows.append((f"**shoal, {variant}**", *losses, _figure(timed.cpu_seconds if timed else None), ""))
    for peer in PEERS:
        losses = [_figure(peer.losses.get(work), "g") for work in COLUMNS]
        rows.append((peer.tool, *losses, peer.seconds, peer.note))
    header = ("tool", *(f"{workload} k={k}" for workload, k in COLUMNS), "CPU s, W8 k=10", "note")
    return [*_table(header, rows), NOTE]


def _big_beside(report: Report) -> list[str]:
    known = {row.name: row for row in report.rows if not row.error}
    rows = []
    for variant in (BASELINE, EFFORTS[0], DEFAULT):
        for kind, words in (("kernel", "alone"), ("command", "whole command")):
            row = known.get(f"{kind} {big_name(1_000_000)} k={BIG_K} {variant} threads=1")
            if row:
                memory = f"{row.peak_mb / 1000:.1f} GB" if row.peak_mb else ""
                figures = (_figure(row.loss, ".4f"), _figure(row.cpu_seconds), memory)
                rows.append((f"**shoal, {variant}**, {words}", *figures))
    if not rows:
        return []
    rows += [(peer.tool, _figure(peer.loss, ".4f"), peer.seconds, peer.memory) for peer in BIG_PEERS]
    return [*_table(("tool", "loss", "CPU s", "peak memory"), rows), BIG_NOTE]
