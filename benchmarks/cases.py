"""The cases of a run, and their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.made_tables import MADE
from benchmarks.numeric_tables import BIG_MIXTURE, NUMERIC
from benchmarks.workloads import BIG_SIZES, CONTINUOUS_ROWS, HALF, PEOPLE, ROWS, big_name

__all__ = [
    "BASELINE",
    "BIG_K",
    "BY_SQUARES",
    "DEFAULT",
    "EFFORTS",
    "KS",
    "MDAV",
    "MODELS",
    "NO_BOUND",
    "PARQUET",
    "VARIANCE",
    "VARIANTS",
    "Case",
    "choose",
    "list_cases",
]

KS = (2, 5, 10, 25, 50, 100)
BIG_K = 10
DEMO_K = 5
SQUARES_KS = (3, 5, 10)  # for tables of numbers
OTHER_KS = (2, 10, 50)  # for the tables that are not drawn from Adult
PEOPLE_KS = (5, 10)  # for the tables with several rows a person
COMMANDS = 3  # repetitions of the complete command on a big table: a single run varies by a third on a busy machine
LARGEST_FOR_HIGH = 100_000  # rows of the largest table that runs with the highest effort
EFFORTS = ("shoaling fast", "shoaling normal", "shoaling high")
# Method and options by label; a further method is one more line.
VARIANTS: dict[str, tuple[str, dict[str, str]]] = {
    "mondrian": ("mondrian", {"variant": "strict"}),
    "mondrian relaxed": ("mondrian", {"variant": "relaxed"}),
    **{label: ("shoaling", {"effort": label.split()[1]}) for label in EFFORTS},
}
# Methods that lower the sum of squares inside groups.
MDAV, VARIANCE = "mdav", "shoaling variance"
BY_SQUARES: dict[str, tuple[str, dict[str, str]]] = {
    MDAV: ("mdav", {}),
    VARIANCE: ("shoaling", {"objective": "variance"}),
}
BASELINE = "mondrian"
DEFAULT = "shoaling normal"
NO_BOUND, PARQUET = "no-bound", "parquet"
# Models with thresholds that bind on Adult at k = 10. Uniqueness does not appear: groups of ten have no lone rows.
MODELS = {
    "distinct-l": "salary l=2",
    "entropy-l": "salary l=1.7",
    "grassberger-l": "salary l=1.7",
    "recursive-l": "salary c=4 l=2",
    "alpha-k": "salary alpha=0.8 k=10",
    "p-sensitive": "salary p=2 k=10",
    "t-closeness": "salary t=0.2",
    "delta-disclosure": "salary delta=1",
    "beta-likeness": "salary beta=1",
    "maximal-risk": "limit=0.05",
    "average-risk": "limit=0.05",
    "prosecutor-profit": "cost=10 gain=200",
    "k-map": "k=20",
    "delta-presence": "low=0 high=0.6",
    "journalist-profit": "cost=10 gain=200",
}
OF_POPULATION = ("k-map", "delta-presence", "journalist-profit")


@dataclass(frozen=True)
class Case:
    """One measurement.

    Attributes:
        kind: "kernel" (only the method, on codes), "command" (CSV to verified CSV in a process of its own), "gap"
            (the method on small samples, compared with the optimum), "squares" (a method that lowers the sum of
            squares, on codes), "stages" (the stages of a run from CSV file to verified CSV file, in this process),
            "start" (a process that does next to nothing) or "demo".
        subject: The workload; for "start", what is started.
        k: The k of the run, if it has one.
        variant: The label of the method and its options.
        threads: The number of threads; None leaves the choice to shoal.
        repetitions: How often the case runs.
        form: What distinguishes a command (NO_BOUND leaves out the lower bound, PARQUET reads and writes Parquet), or
            the name of the model that a method honours beside k.
    """

    kind: str
    subject: str = ""
    k: int | None = None
    variant: str = ""
    threads: int | None = None
    repetitions: int = 1
    form: str = ""

    @property
    def name(self) -> str:
        """The name by which the case is selected, and compared between runs."""
        parts = (
            self.kind,
            self.subject,
            f"k={self.k}" if self.k else "",
            self.variant,
            f"threads={self.threads}" if self.threads else "",
            self.form,
        )
        return " ".join(part for part in parts if part)


def list_cases(*, rows: Sequence[int] = (), ks: Sequence[int] = (), quick: bool = False) -> list[Case]:
    """List all cases, grouped by workload.

    Args:
        rows: Sizes of the big tables, instead of the usual ones.
        ks: Values of k, instead of the usual ones.
        quick: Whether to list only a few short cases.
    """
    sizes = tuple(rows) or (BIG_SIZES[:1] if quick else BIG_SIZES)
    big = tuple(ks) or (BIG_K,)
    short = 3 if quick else 5
    cases = [Case("start", subject, repetitions=short) for subject in ("python", "import", "help")]
    cases.append(Case("demo", "patients", DEMO_K, DEFAULT, repetitions=short))
    for subject in ("patients", *MADE, "W3", "W8"):
        usual = tuple(ks) or ((BIG_K,) if quick else KS if subject in ("W3", "W8") else OTHER_KS)
        cases += [case for v in VARIANTS for case in _kernels(subject, usual, v, short, quick=quick)]
    for subject in PEOPLE:
        usual = tuple(ks) or PEOPLE_KS
        cases += [Case("kernel", subject, k, v, 1, short) for k in usual for v in (BASELINE, DEFAULT)]
        cases += [Case("kernel", subject + ROWS, k, DEFAULT, 1, short) for k in usual]
    cases += [
        Case("kernel", HALF if model in OF_POPULATION else "W8", k, v, 1, 1, model)
        for model in MODELS
        for k in big
        for v in (BASELINE, DEFAULT)
    ]
    cases += [Case("command", "W8", k, v, repetitions=short) for k in big for v in (BASELINE, DEFAULT)]
    cases += [Case("command", "W8", k, v, 1, short, NO_BOUND) for k in big for v in (BASELINE, DEFAULT)]
    cases += [Case("stages", "W8", k, v, 1) for k in big for v in (BASELINE, DEFAULT)]
    for size in sizes:
        cases += _big_cases(size, big, short, quick=quick)
    if not quick:
        cases += _continuous_cases(rows[0] if rows else CONTINUOUS_ROWS, big)
        cases += [Case("gap", subject, variant=EFFORTS[-1]) for subject in ("W3", "W8")]
    return [*cases, *_squares(ks, quick=quick)]


def _squares(ks: Sequence[int], *, quick: bool) -> list[Case]:
    """List the tables of numbers; MDAV, whose cost is quadratic, does not run on a million rows."""
    subjects = NUMERIC[:1] if quick else [name for name in NUMERIC if name != BIG_MIXTURE]
    usual = tuple(ks) or ((BIG_K,) if quick else SQUARES_KS)
    cases = [Case("squares", subject, k, v, 1) for subject in subjects for k in usual for v in BY_SQUARES]
    return cases if quick else [*cases, Case("squares", BIG_MIXTURE, BIG_K, VARIANCE, 1)]


def _kernels(subject: str, ks: Iterable[int], variant: str, short: int, *, quick: bool) -> list[Case]:
    """List the cases of a table of usual size; slow methods are repeated less, and least on the synthetic tables."""
    is_slow, is_made = variant in EFFORTS[1:], subject in MADE
    if variant == EFFORTS[-1]:
        ks = () if quick else (BIG_K,) if is_made else ks
    most = 3 if is_made else 2 * short + 1
    repetitions = most if not is_slow else short if variant == DEFAULT and not is_made else 1
    return [Case("kernel", subject, k, variant, 1, repetitions) for k in ks]


def _big_cases(size: int, ks: Iterable[int], repetitions: int, *, quick: bool) -> list[Case]:
    """List the cases of a big table; the command runs with two threads if the table is large enough."""
    subject, many = big_name(size), size > LARGEST_FOR_HIGH
    cases = []
    for k in ks:
        for variant in (v for v in VARIANTS if v != EFFORTS[-1]):
            cases += [Case("kernel", subject, k, variant, n, repetitions) for n in (1, 2)]
        if not many and not quick:
            cases.append(Case("kernel", subject, k, EFFORTS[-1], 1))
        for variant in (BASELINE, *((EFFORTS[0],) if many else ()), DEFAULT):
            cases += [Case("command", subject, k, variant, n, COMMANDS) for n in ((1, 2) if many else (1,))]
            if many:
                cases.append(Case("command", subject, k, variant, 1, COMMANDS, NO_BOUND))
                cases.append(Case("stages", subject, k, variant, 1))
        if many:
            cases.append(Case("command", subject, k, BASELINE, 1, COMMANDS, PARQUET))
    return cases


def _continuous_cases(size: int, ks: Iterable[int]) -> list[Case]:
    subject = big_name(size, continuous=True)
    cases = []
    for k in ks:
        cases += [Case("kernel", subject, k, v, 1, 3) for v in VARIANTS if v != EFFORTS[-1]]
        cases += [Case("command", subject, k, v, 1) for v in (BASELINE, DEFAULT)]
    return cases


def choose(cases: Sequence[Case], patterns: Sequence[str]) -> list[Case]:
    """Select the cases whose name has all words of one pattern, such as "kernel", "W8 k=10", "big" or "help"."""

    def matches(name: str, pattern: str) -> bool:
        words = {*name.split(), *(word.partition("-")[0] for word in name.split())}
        return words.issuperset(pattern.split())

    return [case for case in cases if any(matches(case.name, p) for p in patterns)] if patterns else list(cases)
