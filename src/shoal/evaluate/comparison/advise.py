"""Advice on k and method: rules that choose from a comparison and explain the choice.

`recommend` depends only on the table of a comparison and the limits; `advise` also runs the comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

from shoal.errors import UsageError, setting
from shoal.evaluate.comparison.compare import Comparison, ComparisonKeywords, compare
from shoal.risks.estimate import read_threshold

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DEFAULT_SWEEP", "RULES", "Advice", "Limits", "Opinion", "advise", "find_knee", "least_rise", "recommend"]

DEFAULT_SWEEP = (*range(2, 13), 15, 20, 30, 50)
RULES = ("limits", "accuracy", "knee", "minimum-deviation")
NEAR_BEST = 0.01  # accuracy that may be traded for a larger k: one percentage point


@dataclass(frozen=True)
class Limits:
    """What the user accepts; None means no limit.

    Attributes:
        max_loss: Largest information loss, from 0 to 1.
        max_risk: Largest re-identification risk of any row.
        max_drop: Largest drop of accuracy below that of the original, from 0 to 1.
    """

    max_loss: float | None = None
    max_risk: float | None = None
    max_drop: float | None = None

    def __post_init__(self) -> None:
        for name in ("max_loss", "max_drop"):
            limit = getattr(self, name)
            if limit is not None and not (isinstance(limit, int | float) and 0 <= limit <= 1):
                raise UsageError(f"{setting(name, limit)} is not a share. Use a number from 0 to 1.")
        if self.max_risk is not None:
            object.__setattr__(self, "max_risk", float(read_threshold(self.max_risk)))

    def __bool__(self) -> bool:
        return self != Limits()

    def describe(self) -> str:
        """Return the limits as text."""
        limits = []
        limits += [f"a loss of at most {self.max_loss:g}"] if self.max_loss is not None else []
        limits += [f"a risk of at most {self.max_risk * 100:.4g}%"] if self.max_risk is not None else []
        limits += [f"a drop in accuracy of at most {self.max_drop:g}"] if self.max_drop is not None else []
        return " and ".join(limits)


@dataclass(frozen=True)
class Outcome:
    """The result of a method at one k: mean loss and accuracy over the seeds, and the largest risk."""

    method: str
    k: int
    loss: float
    risk: float
    accuracy: float | None = None
    baseline: float | None = None  # the accuracy of the original

    def words(self) -> str:
        """Return the result as text."""
        accuracy = "" if self.accuracy is None else f", accuracy {self.accuracy:.1%}"
        return f"{self.method} at k = {self.k} (loss {self.loss:.2%}, risk {self.risk:.1%}{accuracy})"


@dataclass(frozen=True)
class Opinion:
    """The recommendation of one rule, with its reason."""

    rule: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class Advice:
    """A recommendation.

    Attributes:
        chosen: The recommendation, or None.
        opinions: What each rule recommends.
        unmet: Why there is no recommendation: no release keeps the limits, or the rule does not apply.
        comparison: The runs behind the advice, if `advise` made them.
    """

    chosen: Opinion | None
    opinions: tuple[Opinion, ...]
    unmet: str | None = None
    comparison: Comparison | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the advice as plain values for JSON."""

        def figures(opinion: Opinion) -> dict[str, Any]:
            return {"rule": opinion.rule, **asdict(opinion.outcome), "reason": opinion.reason}

        content: dict[str, Any] = {
            "recommended": None if self.chosen is None else figures(self.chosen),
            "opinions": [figures(opinion) for opinion in self.opinions],
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
    **settings: Unpack[ComparisonKeywords],
) -> Advice:
    """Anonymise a table with many k and recommend one, with the reason as text.

    Args:
        frame: The table: pandas, polars or pyarrow.
        methods: Methods to try.
        k: The k to try.
        limits: What the user accepts.
        rule: The rule to follow: "limits", "accuracy", "knee" or "minimum-deviation". By default, the first of these
            that applies.
        target: A column of classes that a learner should still predict from the release.
        learner: The learner that predicts the target.
        settings: Settings of `shoal.compare`.

    Returns:
        The recommendation, and what every rule recommends.

    >>> import shoal
    >>> patients = shoal.datasets.patients().head(200)
    >>> limits = shoal.Limits(max_risk=0.2)
    >>> advice = shoal.advise(patients, qi=["birth_date", "sex"], k=[2, 5, 10], methods=["mondrian"], limits=limits)
    >>> advice.chosen.outcome.k
    5
    """
    used_learner = None if target is None else learner
    comparison = compare(frame, methods=methods, k=k, target=target, learner=used_learner, **settings)
    return advise_on(comparison, limits or Limits(), rule)


def advise_on(comparison: Comparison, limits: Limits, rule: str | None = None) -> Advice:
    """Return the advice that follows from a comparison."""
    advice = recommend(comparison.frame, limits, rule)
    return Advice(advice.chosen, advice.opinions, advice.unmet, comparison)


def recommend(table: pl.DataFrame, limits: Limits, rule: str | None = None) -> Advice:
    """Apply every rule to the runs of a table and return their recommendations.

    Args:
        table: One row per run, with the columns method, k, ncp and prosecutor_max; optionally failed, added, accuracy
            and accuracy_original. Failed runs and files of other tools are left out.
        limits: What the user accepts.
        rule: The rule to follow; by default, the first of `RULES` that applies.

    Raises:
        UsageError: The rule is unknown.
    """
    if rule is not None and rule not in RULES:
        raise UsageError(f"{setting('rule', rule)} is unknown. Use one of {', '.join(RULES)}.")
    outcomes = _outcomes(table)
    if not outcomes:
        return Advice(None, (), "No run gave a release.")
    own = sorted(
        (outcome for outcome in outcomes if outcome.method == _leader(outcomes)), key=lambda outcome: outcome.k
    )
    by_rule: dict[str, Opinion | None] = {
        "limits": _by_limits(outcomes, limits) if limits else None,
        "accuracy": _by_accuracy(outcomes),
        "knee": _by_knee(own),
        "minimum-deviation": _by_least_rise(own),
    }
    opinions = tuple(opinion for opinion in by_rule.values() if opinion is not None)
    unmet = _unmet(outcomes, limits) if limits and by_rule["limits"] is None else None
    if rule is not None:
        return Advice(by_rule[rule], opinions, unmet or (None if by_rule[rule] else _not_applicable(rule)))
    if unmet is not None:
        return Advice(None, opinions, unmet)
    return Advice(opinions[0] if opinions else _by_loss(outcomes), opinions)


def _outcomes(table: pl.DataFrame) -> list[Outcome]:
    """Return the means over the seeds for each method and k, in the order of the table."""
    import polars as pl

    runs = table
    if "failed" in table.columns:
        runs = runs.filter(pl.col("failed").is_null())
    if "added" in table.columns:
        runs = runs.filter(~pl.col("added"))
    extra = [name for name in ("accuracy", "accuracy_original") if name in table.columns]
    rows = runs.group_by(["method", "k"], maintain_order=True).agg(
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
    """Return the method with the lowest mean loss, over the k that all methods share if there are any."""
    names = list(dict.fromkeys(outcome.method for outcome in outcomes))
    by_name = {name: {outcome.k: outcome.loss for outcome in outcomes if outcome.method == name} for name in names}
    shared_k = set.intersection(*(set(losses) for losses in by_name.values()))
    means = {}
    for name, losses in by_name.items():
        terms = [losses[k] for k in sorted(shared_k or losses)]
        means[name] = sum(terms) / len(terms)
    return min(names, key=lambda name: means[name])


def least_rise(losses: Sequence[tuple[int, float]]) -> int | None:
    """Return the k whose loss rises least over that of the previous k: the "minimum deviation" rule [S4].

    A larger step of k counts with its rise per unit of k. Ties go to the larger k, which protects more at the same
    loss.

    Args:
        losses: Pairs of k and loss, in ascending order of k.

    Returns:
        The k, or None if there are fewer than two.
    """
    steps = [
        (Fraction(after) - Fraction(before), high - low, high) for (low, before), (high, after) in pairwise(losses)
    ]
    return min(steps, key=lambda step: (step[0] / step[1], -step[2]))[2] if steps else None


def find_knee(points: Sequence[tuple[float, float]]) -> int | None:
    """Return the index of the point farthest below the line from the first to the last point.

    Both axes are scaled to [0, 1]. Ties go to the later point. The result is None if no point lies below the line: then
    every step costs at least as much as it gains.
    """
    if len(points) < 3:
        return None
    spans = [(min(axis), max(axis) - min(axis)) for axis in zip(*points, strict=True)]
    if not all(span for _, span in spans):
        return None
    scaled = [[(axis - low) / span for axis, (low, span) in zip(point, spans, strict=True)] for point in points]
    (x0, y0), (x1, y1) = scaled[0], scaled[-1]
    below = [(x1 - x0) * (y0 - y) - (y1 - y0) * (x0 - x) for x, y in scaled]
    best = max(range(len(points)), key=lambda i: (round(below[i], 12), i))
    return best if below[best] > 1e-9 else None


def _by_limits(outcomes: Sequence[Outcome], limits: Limits) -> Opinion | None:
    fitting = [outcome for outcome in outcomes if all(test(outcome) for test in _tests(limits))]
    if not fitting:
        return None
    if limits.max_loss is None and limits.max_drop is None:
        best = min(fitting, key=lambda outcome: (outcome.loss, -outcome.k))
        quality = "has the lowest loss"
    else:
        best = min(fitting, key=lambda outcome: (outcome.risk, outcome.loss))
        quality = "has the lowest risk"
    reason = f"Your limits are {limits.describe()}: "
    if len(fitting) == 1:
        reason += f"1 of {len(outcomes)} releases keeps them, {best.words()}."
    else:
        reason += f"{len(fitting)} of {len(outcomes)} releases keep them; of these, {best.words()} {quality}."
    return Opinion("limits", best, reason)


def _tests(limits: Limits) -> list[Callable[[Outcome], bool]]:
    tests: list[Callable[[Outcome], bool]] = []
    loss, risk, drop = limits.max_loss, limits.max_risk, limits.max_drop
    if loss is not None:
        tests.append(lambda outcome: outcome.loss <= loss)
    if risk is not None:
        tests.append(lambda outcome: outcome.risk <= risk)
    if drop is not None:
        tests.append(
            lambda outcome: (
                outcome.accuracy is not None and round((outcome.baseline or 0) - outcome.accuracy, 12) <= drop
            )
        )
    return tests


def _unmet(outcomes: Sequence[Outcome], limits: Limits) -> str:
    """Explain that no run keeps the limits, and which one comes closest."""
    sentences = [f"No release has {limits.describe()}."]
    if limits.max_drop is not None and all(outcome.accuracy is None for outcome in outcomes):
        return f"{sentences[0]} The accuracy is unknown without a target; name one."
    safe = [outcome for outcome in outcomes if limits.max_risk is None or outcome.risk <= limits.max_risk]
    if not safe:
        nearest = min(outcomes, key=lambda outcome: (outcome.risk, outcome.loss))
        sentences.append(f"The lowest risk is that of {nearest.words()}. Try a larger k.")
    elif limits.max_loss is not None and all(outcome.loss > limits.max_loss for outcome in safe):
        nearest = min(safe, key=lambda outcome: (outcome.loss, outcome.risk))
        scope = "Within the risk, the" if limits.max_risk is not None else "The"
        sentences.append(
            f"{scope} lowest loss is that of {nearest.words()}. Try a smaller k, hierarchies or fewer columns."
        )
    else:
        nearest = max(safe, key=lambda outcome: (outcome.accuracy or 0.0, -outcome.loss))
        scope = " within the risk" if limits.max_risk is not None else ""
        sentences.append(f"The best accuracy{scope} is that of {nearest.words()}.")
    return " ".join(sentences)


def _by_accuracy(outcomes: Sequence[Outcome]) -> Opinion | None:
    measured = [outcome for outcome in outcomes if outcome.accuracy is not None]
    if not measured:
        return None
    top = max(measured, key=lambda outcome: (outcome.accuracy or 0.0, outcome.k))
    nearly_best = [outcome for outcome in measured if (outcome.accuracy or 0.0) >= (top.accuracy or 0.0) - NEAR_BEST]
    best = max(nearly_best, key=lambda outcome: (outcome.k, outcome.accuracy or 0.0, -outcome.loss))
    before = "" if best.baseline is None else f" ({best.baseline:.1%} on the original)"
    reason = (
        f"The best accuracy is {top.accuracy:.1%}, by {top.method} at k = {top.k}{before}. The largest k within one "
        f"percentage point is that of {best.words()}."
    )
    return Opinion("accuracy", best, reason)


def _by_knee(own: Sequence[Outcome]) -> Opinion | None:
    at = find_knee([(outcome.loss, outcome.risk) for outcome in own])
    if at is None:
        return None
    best = own[at]
    reason = (
        f"Between k = {own[0].k} and k = {own[-1].k}, the curve of loss and risk bends most at {best.words()}. "
        "A smaller k gives up much protection for little utility; a larger k gives up much utility for little "
        "protection."
    )
    return Opinion("knee", best, reason)


def _by_least_rise(own: Sequence[Outcome]) -> Opinion | None:
    chosen = least_rise([(outcome.k, outcome.loss) for outcome in own])
    if chosen is None:
        return None
    best = next(outcome for outcome in own if outcome.k == chosen)
    reason = (
        f"For each unit of k, the loss rises least on the step to k = {best.k} (minimum deviation): {best.words()}."
    )
    return Opinion("minimum-deviation", best, reason)


def _by_loss(outcomes: Sequence[Outcome]) -> Opinion:
    best = min(outcomes, key=lambda outcome: (outcome.loss, -outcome.k))
    return Opinion("loss", best, f"There are too few k for a curve; the lowest loss is that of {best.words()}.")


def _not_applicable(rule: str) -> str:
    reasons = {
        "limits": "it needs at least one limit",
        "accuracy": "it needs a target",
        "knee": "it needs at least three k, and a curve that bends",
        "minimum-deviation": "it needs at least two k",
    }
    return f"The rule {rule} does not apply: {reasons[rule]}."
