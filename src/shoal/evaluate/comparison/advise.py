"""Which k, and which method: rules that read a comparison and say their choice in words.

`recommend` is a function of the table of a comparison and of limits alone; `advise` makes the table first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from shoal.errors import UsageError
from shoal.evaluate.comparison.compare import Comparison, compare
from shoal.risks.estimate import read_threshold

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DEFAULT_SWEEP", "RULES", "Advice", "Limits", "Opinion", "advise", "find_knee", "least_rise", "recommend"]

DEFAULT_SWEEP = (*range(2, 13), 15, 20, 30, 50)
RULES = ("limits", "accuracy", "knee", "minimum-deviation")
NEAR_BEST = 0.01  # accuracy that may be given for a larger k: one row in a hundred


@dataclass(frozen=True)
class Limits:
    """What the user can live with; None where nothing is said.

    max_loss: the largest loss. max_risk: the largest chance of any row to be found. max_drop: how far the accuracy may
    fall below that of the original.
    """

    max_loss: float | None = None
    max_risk: float | None = None
    max_drop: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_loss", "max_drop"):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, int | float) and 0 <= given <= 1):
                raise UsageError(f"{name}={given!r} is not a share. Use a number from 0 to 1.")
        if self.max_risk is not None:
            object.__setattr__(self, "max_risk", float(read_threshold(self.max_risk)))

    def __bool__(self) -> bool:
        return self != Limits()

    def describe(self) -> str:
        """Say the limits in words."""
        told = []
        told += [f"a loss of at most {self.max_loss:g}"] if self.max_loss is not None else []
        told += [f"a risk of at most {self.max_risk:.4g}"] if self.max_risk is not None else []
        told += [f"a drop of accuracy of at most {self.max_drop:g}"] if self.max_drop is not None else []
        return " and ".join(told)


@dataclass(frozen=True)
class Outcome:
    """What a method gives at a k: the mean loss and accuracy over its seeds, the largest risk."""

    method: str
    k: int
    loss: float
    risk: float
    accuracy: float | None = None
    baseline: float | None = None  # the accuracy of the original

    def words(self) -> str:
        """Say what it is and gives."""
        told = "" if self.accuracy is None else f", accuracy {self.accuracy:.1%}"
        return f"{self.method} at k = {self.k} (loss {self.loss:.4f}, risk {self.risk:.4f}{told})"


@dataclass(frozen=True)
class Opinion:
    """What one rule recommends, and why."""

    rule: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class Advice:
    """The recommendation, what every rule would choose, and why the limits cannot be met, where they cannot.

    comparison: the runs behind it, where `advise` made them.
    """

    chosen: Opinion | None
    opinions: tuple[Opinion, ...]
    unmet: str | None = None
    comparison: Comparison | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the advice as plain values, for JSON."""

        def told(opinion: Opinion) -> dict[str, Any]:
            return {"rule": opinion.rule, **asdict(opinion.outcome), "reason": opinion.reason}

        content: dict[str, Any] = {
            "recommended": None if self.chosen is None else told(self.chosen),
            "opinions": [told(opinion) for opinion in self.opinions],
            "unmet": self.unmet,
        }
        return content | ({} if self.comparison is None else self.comparison.as_dict())


def advise(
    frame: Any,
    *,
    methods: Sequence[str] | str = ("shoaling",),
    k: Iterable[int] | int = DEFAULT_SWEEP,
    limits: Limits | None = None,
    rule: str | None = None,
    target: str | None = None,
    learner: str = "tree",
    **settings: Any,
) -> Advice:
    """Anonymise a table with many k and recommend one, with the reason in words.

    limits: what the user can live with. rule: whose choice to take, one of "limits", "accuracy", "knee" and
    "minimum-deviation"; the first of these that applies if left out. target: a column whose classes the release should
    still tell; learner: what learns them. settings: those of shoal.compare.

    >>> import shoal
    >>> patients = shoal.datasets.patients().head(200)
    >>> limits = shoal.Limits(max_risk=0.2)
    >>> advice = shoal.advise(patients, qi=["birth_date", "sex"], k=[2, 5, 10], methods=["mondrian"], limits=limits)
    >>> advice.chosen.outcome.k
    5
    """
    taught = None if target is None else learner
    found = compare(frame, methods=methods, k=k, target=target, learner=taught, **settings)
    return advise_on(found, limits or Limits(), rule)


def advise_on(comparison: Comparison, limits: Limits, rule: str | None = None) -> Advice:
    """Return the advice that a comparison gives, with the comparison."""
    found = recommend(comparison.frame, limits, rule)
    return Advice(found.chosen, found.opinions, found.unmet, comparison)


def recommend(table: pl.DataFrame, limits: Limits, rule: str | None = None) -> Advice:
    """Return what each rule chooses of the runs in a table, and whose choice counts.

    table: one row a run, with method, k, ncp, prosecutor_max; where they are there, failed, added, accuracy and
    accuracy_original. Rows that failed, and files of other tools, are left out.
    """
    if rule is not None and rule not in RULES:
        raise UsageError(f"rule {rule!r} is not known. Use one of {', '.join(RULES)}.")
    outcomes = _outcomes(table)
    if not outcomes:
        return Advice(None, (), "No run gave a release.")
    own = sorted((each for each in outcomes if each.method == _leader(outcomes)), key=lambda each: each.k)
    found: dict[str, Opinion | None] = {
        "limits": _by_limits(outcomes, limits) if limits else None,
        "accuracy": _by_accuracy(outcomes),
        "knee": _by_knee(own),
        "minimum-deviation": _by_least_rise(own),
    }
    opinions = tuple(opinion for opinion in found.values() if opinion is not None)
    unmet = _unmet(outcomes, limits) if limits and found["limits"] is None else None
    if rule is not None:
        return Advice(found[rule], opinions, unmet or (None if found[rule] else _missing(rule)))
    if unmet is not None:
        return Advice(None, opinions, unmet)
    return Advice(opinions[0] if opinions else _alone(outcomes), opinions)


def _outcomes(table: pl.DataFrame) -> list[Outcome]:
    """Return the means over the seeds for each method and k, in the order of the table."""
    import polars as pl

    kept = table
    if "failed" in table.columns:
        kept = kept.filter(pl.col("failed").is_null())
    if "added" in table.columns:
        kept = kept.filter(~pl.col("added"))
    extra = [name for name in ("accuracy", "accuracy_original") if name in table.columns]
    rows = kept.group_by(["method", "k"], maintain_order=True).agg(
        pl.col("ncp").mean(), pl.col("prosecutor_max").max(), *(pl.col(name).mean() for name in extra)
    )
    return [
        Outcome(
            row["method"],
            row["k"],
            row["ncp"],
            row["prosecutor_max"],
            row.get("accuracy"),
            row.get("accuracy_original"),
        )
        for row in rows.to_dicts()
    ]


def _leader(outcomes: Sequence[Outcome]) -> str:
    """Return the method of least mean loss, over the k that all methods have where there are any."""
    names = list(dict.fromkeys(each.method for each in outcomes))
    by_name = {name: {each.k: each.loss for each in outcomes if each.method == name} for name in names}
    shared = set.intersection(*(set(losses) for losses in by_name.values()))
    means = {}
    for name, losses in by_name.items():
        counted = [losses[k] for k in sorted(shared or losses)]
        means[name] = sum(counted) / len(counted)
    return min(names, key=lambda name: means[name])


def least_rise(losses: Sequence[tuple[int, float]]) -> int | None:
    """Return the k whose loss rises least over that of the k before it: the rule of "minimum deviation".

    losses: of each k, rising. Where steps of k differ, the rise is that of one step. Ties go to the larger k, which
    protects more at the same price. None where there are fewer than two k.
    """
    steps = [
        (Fraction(after) - Fraction(before), high - low, high) for (low, before), (high, after) in pairwise(losses)
    ]
    return min(steps, key=lambda step: (step[0] / step[1], -step[2]))[2] if steps else None


def find_knee(points: Sequence[tuple[float, float]]) -> int | None:
    """Return the index of the point farthest below the line between the first and the last, both axes from 0 to 1.

    None where no point lies below it: then every step costs as much as it brings, or more. Ties go to the later point.
    """
    if len(points) < 3:
        return None
    spans = [(min(axis), max(axis) - min(axis)) for axis in zip(*points, strict=True)]
    if not all(span for _, span in spans):
        return None
    scaled = [[(place - low) / span for place, (low, span) in zip(point, spans, strict=True)] for point in points]
    (x0, y0), (x1, y1) = scaled[0], scaled[-1]
    below = [(x1 - x0) * (y0 - y) - (y1 - y0) * (x0 - x) for x, y in scaled]
    best = max(range(len(points)), key=lambda i: (round(below[i], 12), i))
    return best if below[best] > 1e-9 else None


def _by_limits(outcomes: Sequence[Outcome], limits: Limits) -> Opinion | None:
    fitting = [each for each in outcomes if all(test(each) for test in _tests(limits))]
    if not fitting:
        return None
    if limits.max_loss is None and limits.max_drop is None:
        best = min(fitting, key=lambda each: (each.loss, -each.k))
        why = "loses least"
    else:
        best = min(fitting, key=lambda each: (each.risk, each.loss))
        why = "has the lowest risk"
    told = f"Your limits are {limits.describe()}: "
    if len(fitting) == 1:
        told += f"one of {len(outcomes)} releases keeps them, {best.words()}."
    else:
        told += f"{len(fitting)} of {len(outcomes)} releases keep them, and of these {best.words()} {why}."
    return Opinion("limits", best, told)


def _tests(limits: Limits) -> list[Callable[[Outcome], bool]]:
    tests: list[Callable[[Outcome], bool]] = []
    loss, risk, drop = limits.max_loss, limits.max_risk, limits.max_drop
    if loss is not None:
        tests.append(lambda each: each.loss <= loss)
    if risk is not None:
        tests.append(lambda each: each.risk <= risk)
    if drop is not None:
        tests.append(lambda each: each.accuracy is not None and round((each.baseline or 0) - each.accuracy, 12) <= drop)
    return tests


def _unmet(outcomes: Sequence[Outcome], limits: Limits) -> str:
    """Say that no run meets the limits, and how near the nearest come."""
    told = [f"No release has {limits.describe()}."]
    if limits.max_drop is not None and all(each.accuracy is None for each in outcomes):
        return f"{told[0]} No accuracy is known: name a target."
    safe = [each for each in outcomes if limits.max_risk is None or each.risk <= limits.max_risk]
    if not safe:
        near = min(outcomes, key=lambda each: (each.risk, each.loss))
        told.append(f"The lowest risk is that of {near.words()}. Try a larger k.")
    elif limits.max_loss is not None and all(each.loss > limits.max_loss for each in safe):
        near = min(safe, key=lambda each: (each.loss, each.risk))
        within = "Within the risk, the" if limits.max_risk is not None else "The"
        told.append(f"{within} least loss is that of {near.words()}. Try a smaller k, hierarchies or fewer columns.")
    else:
        near = max(safe, key=lambda each: (each.accuracy or 0.0, -each.loss))
        within = " within the risk" if limits.max_risk is not None else ""
        told.append(f"The best accuracy{within} is that of {near.words()}.")
    return " ".join(told)


def _by_accuracy(outcomes: Sequence[Outcome]) -> Opinion | None:
    known = [each for each in outcomes if each.accuracy is not None]
    if not known:
        return None
    top = max(known, key=lambda each: (each.accuracy or 0.0, each.k))
    near = [each for each in known if (each.accuracy or 0.0) >= (top.accuracy or 0.0) - NEAR_BEST]
    best = max(near, key=lambda each: (each.k, each.accuracy or 0.0, -each.loss))
    before = "" if best.baseline is None else f" (the original gives {best.baseline:.1%})"
    reason = (
        f"The best accuracy is {top.accuracy:.1%}, of {top.method} at k = {top.k}{before}; the largest k within one "
        f"point in a hundred of it is {best.words()}."
    )
    return Opinion("accuracy", best, reason)


def _by_knee(own: Sequence[Outcome]) -> Opinion | None:
    at = find_knee([(each.loss, each.risk) for each in own])
    if at is None:
        return None
    best = own[at]
    reason = (
        f"Between k = {own[0].k} and k = {own[-1].k}, the curve of loss and risk bends most at {best.words()}. "
        "A smaller k gives up much protection for little, a larger one much of the table."
    )
    return Opinion("knee", best, reason)


def _by_least_rise(own: Sequence[Outcome]) -> Opinion | None:
    chosen = least_rise([(each.k, each.loss) for each in own])
    if chosen is None:
        return None
    best = next(each for each in own if each.k == chosen)
    reason = f"The loss rises least on the step to k = {best.k} (the rule of minimum deviation): {best.words()}."
    return Opinion("minimum-deviation", best, reason)


def _alone(outcomes: Sequence[Outcome]) -> Opinion:
    best = min(outcomes, key=lambda each: (each.loss, -each.k))
    return Opinion("loss", best, f"Too few k to see a curve; the least loss is that of {best.words()}.")


def _missing(rule: str) -> str:
    needs = {
        "limits": "the rule of limits needs some",
        "accuracy": "the rule of accuracy needs a target",
        "knee": "the curve has no knee: it needs three k at least, and must bend",
        "minimum-deviation": "the rule of minimum deviation needs two k at least",
    }
    return f"Nothing to choose by: {needs[rule]}."
