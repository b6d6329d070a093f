"""A run as Markdown tables, beside the figures of other tools, and the part of the documentation that shows them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.peers import BIG_NOTE, BIG_PEERS, COLUMNS, NOTE, PEERS
from benchmarks.report import Report, Row

__all__ = ["BEGIN", "END", "render", "renew"]

BEGIN = "<!-- made by `python -m benchmarks --record`; a change by hand is lost -->"
END = "<!-- end of what is made -->"
BUSY = 1.1  # the longest unit over the shortest from which on a run says that the machine was not its own
TEXTS = {"case", "measure", "met", "table", "method", "command", "tool", "note"}
MEASURES = {"units": "CPU, units", "loss": "loss", "peak_mb": "peak memory, MB"}


def render(report: Report) -> str:
    """Return the run as Markdown."""
    machine = ", ".join(f"{name} {fact}" for name, fact in report.machine.items())
    parts = [
        f"Run of {report.made}: {machine}. {_unit_line(report.unit_seconds)}",
        *report.notes,
        *_section("Targets", _targets(report)),
        *_section("The method alone", _kernels(report)),
        *_section("The whole command", _commands(report)),
        *_section("Beside other tools", _beside(report)),
        *_section("1,000,000 rows beside other tools", _big_beside(report)),
    ]
    failed = [f"- {row.name}: {row.error}" for row in report.rows if row.error]
    return "\n\n".join([*parts, *(["### Failed", "\n".join(failed)] if failed else [])]) + "\n"


def renew(path: Path, made: str) -> None:
    """Put what was made between the two marks of a page."""
    text = path.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"{path}: the lines {BEGIN!r} and {END!r} are not in it, in this order")
    path.write_text(f"{before}{BEGIN}\n\n{made}\n{END}{after}", "utf-8")


def _unit_line(seconds: Sequence[float]) -> str:
    least, most = min(seconds), max(seconds)
    steady = "" if most < BUSY * least else " The machine was busy with other work: read small differences as noise."
    return (
        f"One unit was {statistics.median(seconds):.3f} CPU seconds ({least:.3f} to {most:.3f}; measured anew before "
        f"the cases of each table, {len(seconds)} times).{steady}"
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


def _targets(report: Report) -> list[str]:
    rows = [
        (
            verdict.target.case,
            MEASURES[verdict.target.measure],
            _figure(verdict.figure, ".4g"),
            f"{verdict.target.limit:g}",
            "yes" if verdict.met else "**no**",
        )
        for verdict in report.verdicts()
    ]
    return _table(("case", "measure", "figure", "target, at most", "met"), rows)


def _kernels(report: Report) -> list[str]:
    header = (
        "table",
        "method",
        "rows",
        "distinct",
        "k",
        "threads",
        "units",
        "x mondrian",
        "speed-up",
        "loss",
        "x mondrian",
    )
    rows = [
        (
            row.subject,
            row.variant,
            _figure(row.rows, ","),
            _figure(row.distinct, ","),
            str(row.k),
            str(row.threads),
            _units(row.units),
            _figure(row.units_ratio, ".2f"),
            _figure(row.speedup, ".2f"),
            _figure(row.loss, ".5f"),
            _figure(row.loss_ratio, ".3f"),
        )
        for row in report.rows
        if row.kind == "kernel" and not row.error
    ]
    return _table(header, rows)


def _commands(report: Report) -> list[str]:
    header = ("command", "table", "rows", "k", "threads", "units", "CPU s", "wall s", "speed-up", "peak MB", "loss")
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
            _figure(row.rows, ","),
            _figure(row.k, "d"),
            "" if row.kind == "start" else str(row.threads or "all"),
            _units(row.units),
            _figure(row.cpu_seconds, ".3f"),
            _figure(row.wall_seconds, ".3f"),
            _figure(row.speedup, ".2f"),
            _figure(row.peak_mb, ".0f"),
            _figure(row.loss, ".5f"),
        )
        for row in report.rows
        if row.kind != "kernel" and not row.error
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
    kernel = known.get("kernel big-1000000 k=10 mondrian threads=1")
    command = known.get("command big-1000000 k=10 mondrian threads=1")
    rows = []
    if kernel:
        rows.append(("**shoal, mondrian**, alone", _figure(kernel.loss, ".4f"), _figure(kernel.cpu_seconds), ""))
    if command:
        memory = f"{(command.peak_mb or 0) / 1000:.1f} GB"
        rows.append(
            ("**shoal, mondrian**, whole command", _figure(command.loss, ".4f"), _figure(command.cpu_seconds), memory)
        )
    if not rows:
        return []
    rows += [(peer.tool, _figure(peer.loss, ".4f"), peer.seconds, peer.memory) for peer in BIG_PEERS]
    return [*_table(("tool", "loss", "CPU s", "peak memory"), rows), BIG_NOTE]
