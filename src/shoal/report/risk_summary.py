"""Words and JSON of the risk of a release; see `shoal.report.summary` for their form."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from shoal.errors import counted, setting
from shoal.models.uniques import Uniques
from shoal.report.summary import Fact, fact
from shoal.report.words import chance, sized, unit
from shoal.risks.estimate import Exposure, Risk

__all__ = ["risk_facts", "risk_json"]


def risk_facts(risk: Risk, before: Risk | None = None) -> list[Fact]:
    """Describe the risk of a release; chances are rounded up, so that none looks smaller than it is.

    Args:
        risk: The risk of the release.
        before: The risk of its original, given for comparison.
    """
    texts = _risk_texts(risk)
    if before is None:
        return [fact(name, text) for name, text in texts]
    return [
        fact(name, f"{text}\nbefore: {old}") for (name, text), (_, old) in zip(texts, _risk_texts(before), strict=True)
    ]


def risk_json(risk: Risk, before: Risk | None = None) -> dict[str, Any]:
    """Return the risk of a release in the form of `risk --json`."""
    return risk.as_dict() | ({} if before is None else {"before": before.as_dict()})


def _risk_texts(risk: Risk) -> list[tuple[str, str]]:
    everyone = unit(risk.counts)
    alone = ("person is alone in a group", "people are alone in a group")
    if risk.counts == "rows":
        alone = ("row is alone in its group", "rows are alone in their group")
    texts = [
        (everyone, f"{risk.rows:,} in groups; {counted(risk.suppressed_rows, 'row')} suppressed"),
        ("groups", f"{risk.groups:,}; the smallest has {risk.smallest_group:,}, the mean {risk.average_group:.1f}"),
        ("alone", counted(risk.uniques, *alone)),
        (
            "threshold",
            f"{chance(risk.threshold)} requires groups of {sized(risk.least_group, risk.counts)}: "
            f"{'met' if risk.met else 'not met: some are smaller'}",
        ),
        ("prosecutor", _exposure_words(risk.prosecutor, everyone)),
    ]
    if risk.journalist_basis == "release":
        journalist = f"at most the prosecutor's; pass a file as {setting('population')} to know more"
    else:
        journalist = f"{_exposure_words(risk.journalist, everyone)} (by the {risk.journalist_basis})"
    texts.append(("journalist", journalist))
    texts.append(("marketer", f"{chance(Fraction(str(risk.marketer)))} of the {everyone} are found if all are tried"))
    if risk.estimates is not None:
        texts.append(("alone in population", _estimate_words(risk.estimates)))
    return texts


def _exposure_words(exposure: Exposure, everyone: str) -> str:
    largest, average = chance(Fraction(str(exposure.max))), chance(Fraction(str(exposure.average)))
    return f"at most {largest}, {average} on average; {exposure.share_above:.1%} of the {everyone} above the threshold"


def _estimate_words(estimates: Uniques) -> str:
    def words(name: str, number: float | None) -> str:
        return f"{name} " + ("not available" if number is None else f"{number:,.1f}")

    others = [
        words("Zayatz", estimates.zayatz),
        words("Pitman", estimates.pitman),
        words("negative binomial", estimates.snb),
    ]
    chosen = words("estimate", estimates.dankar) + (f" (from {estimates.chosen})" if estimates.chosen else "")
    return f"{chosen} of {estimates.size:,} people; {', '.join(others)}"
