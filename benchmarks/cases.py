"""What is run, under which names, and what it should reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.workloads import BIG_SIZES, CONTINUOUS_ROWS, big_name

__all__ = ["BASELINE", "KS", "TARGETS", "VARIANTS", "Case", "Target", "choose", "list_cases"]

KS = (2, 5, 10, 50, 100)
BIG_K = 10
DEMO_K = 5
COMMANDS = 3  # repetitions of the whole command on a big table: one alone varies by a third on a busy machine
# Method and options, by the label under which they are shown; a later method is one more line.
VARIANTS: dict[str, tuple[str, dict[str, str]]] = {
    "mondrian": ("mondrian", {"variant": "strict"}),
    "mondrian relaxed": ("mondrian", {"variant": "relaxed"}),
}
BASELINE = "mondrian"


@dataclass(frozen=True)
class Case:
    """One thing that is measured.

    kind: "kernel" (the method alone on codes), "command" (CSV to verified CSV in a process of its own), "start" (a
    process that does next to nothing) or "demo". threads: None leaves the choice to shoal.
    """

    kind: str
    subject: str = ""  # the workload; of a start: what is started
    k: int | None = None
    variant: str = ""
    threads: int | None = None
    repetitions: int = 1

    @property
    def name(self) -> str:
        """How the case is told apart, chosen and compared over runs."""
        parts = (
            self.kind,
            self.subject,
            f"k={self.k}" if self.k else "",
            self.variant,
            f"threads={self.threads}" if self.threads else "",
        )
        return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class Target:
    """A figure that a case should not exceed."""

    case: str
    measure: str  # a field of report.Row
    limit: float


MILLION = big_name(1_000_000)
TARGETS = (
    Target("kernel W8 k=10 mondrian threads=1", "units", 0.06),
    Target("kernel W8 k=10 mondrian threads=1", "loss", 0.067),
    Target("kernel W3 k=10 mondrian threads=1", "loss", 0.0052),
    Target("command W8 k=10 mondrian", "units", 1.8),
    Target(f"kernel {MILLION} k=10 mondrian threads=1", "units", 2.5),
    Target(f"command {MILLION} k=10 mondrian threads=1", "units", 20.0),
    Target(f"command {MILLION} k=10 mondrian threads=1", "peak_mb", 1500.0),
    Target(f"command {MILLION} k=10 mondrian threads=2", "units", 20.0),
    Target(f"command {MILLION} k=10 mondrian threads=2", "peak_mb", 1500.0),
)


def list_cases(*, rows: Sequence[int] = (), ks: Sequence[int] = (), quick: bool = False) -> list[Case]:
    """Return all cases, those of one workload together.

    rows: sizes of the big tables in place of the usual ones; ks: in place of the usual k; quick: a few short cases.
    """
    sizes = tuple(rows) or (BIG_SIZES[:1] if quick else BIG_SIZES)
    usual = tuple(ks) or ((BIG_K,) if quick else KS)
    big = tuple(ks) or (BIG_K,)
    short = 3 if quick else 5
    cases = [Case("start", subject, repetitions=short) for subject in ("python", "import", "help")]
    cases.append(Case("demo", "patients", DEMO_K, BASELINE, repetitions=short))
    for subject in ("patients", "W3", "W8"):
        for variant in VARIANTS:
            cases += [Case("kernel", subject, k, variant, 1, repetitions=2 * short + 1) for k in usual]
    cases += [Case("command", "W8", k, BASELINE, repetitions=short) for k in big]
    for size in sizes:
        cases += _big_cases(big_name(size), big, short, threads=(1, 2))
    if not quick:
        size = rows[0] if rows else CONTINUOUS_ROWS
        cases += _big_cases(big_name(size, continuous=True), big, 3, threads=(1,))
    return cases


def _big_cases(subject: str, ks: Iterable[int], repetitions: int, threads: Sequence[int]) -> list[Case]:
    kernels = [Case("kernel", subject, k, v, n, repetitions) for k in ks for v in VARIANTS for n in threads]
    return kernels + [Case("command", subject, k, BASELINE, n, COMMANDS) for k in ks for n in threads]


def choose(cases: Sequence[Case], wanted: Sequence[str]) -> list[Case]:
    """Return the cases whose name holds all words of one of the wanted texts: "kernel", "W8 k=10", "big", "help"."""

    def holds(name: str, text: str) -> bool:
        words = {*name.split(), *(word.partition("-")[0] for word in name.split())}
        return words.issuperset(text.split())

    return [case for case in cases if any(holds(case.name, text) for text in wanted)] if wanted else list(cases)
