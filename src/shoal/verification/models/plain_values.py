"""Models as plain values that others wrote: whether they can be judged, and how a manifest words them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from shoal.verification.models.checks import has_judge
from shoal.verification.models.population_uniques import ESTIMATORS

__all__ = ["can_be_judged", "model_words"]

MOST = 10**9
MOST_PARTS = 10**20  # 20 decimals; with these two bounds, exact arithmetic stays small
NUMBER = re.compile(r"[0-9]{1,50}(?:[./][0-9]{1,50})?")


def can_be_judged(spec: Mapping[str, Any]) -> bool:
    """Return whether plain values of unknown origin are a model with a judge, and all of a form to count with."""
    name = spec.get("name")
    if not isinstance(name, str) or not has_judge(spec):
        return False
    return all(_is_value(name, *pair) for pair in spec.items()) and set(NEEDED.get(name, ())) <= set(spec)


def _is_value(model: str, name: str, value: object) -> bool:
    if name in ("name", "column", "enhanced"):
        return isinstance(value, bool if name == "enhanced" else str)
    if name == "distance":
        return value in ("ordered", "equal", "hierarchical")
    if name == "estimator":
        return value in ESTIMATORS
    if name == "order":
        return isinstance(value, list) and all(isinstance(text, str) for text in value)
    number = _fraction(value)
    if number is None or not 0 <= number <= MOST or number.denominator > MOST_PARTS:
        return False
    if name == "limit" and not number and model in ("maximal-risk", "average-risk"):
        return False
    if name in ("k", "p", "population") or (name == "l" and model not in ("entropy-l", "grassberger-l")):
        return type(value) is int
    return True


def _fraction(value: object) -> Fraction | None:
    """Return the number of a text such as 0.2 or 1/5; no exponents, which can be written shorter than computed."""
    text = str(value)
    if isinstance(value, bool) or not NUMBER.fullmatch(text):
        return None
    try:
        return Fraction(text)
    except ZeroDivisionError:
        return None


NEEDED: Mapping[str, tuple[str, ...]] = {
    "k-anonymity": ("k",),
    "distinct-l": ("column", "l"),
    "entropy-l": ("column", "l"),
    "grassberger-l": ("column", "l"),
    "recursive-l": ("column", "c", "l"),
    "alpha-k": ("column", "alpha"),
    "p-sensitive": ("column", "p"),
    "t-closeness": ("column", "t"),
    "delta-disclosure": ("column", "delta"),
    "beta-likeness": ("column", "beta"),
    "k-map": ("k",),
    "delta-presence": ("low", "high"),
    "maximal-risk": ("limit",),
    "average-risk": ("limit",),
    "sample-uniqueness": ("limit",),
    "population-uniqueness": ("limit", "population"),
    "prosecutor-profit": ("cost", "gain"),
    "journalist-profit": ("cost", "gain"),
    "differential-privacy": ("epsilon", "delta"),
}


def model_words(spec: Mapping[str, Any]) -> str:
    """Return a model in the words of a manifest, from its plain values."""

    def shown(name: str, default: object = 1) -> str:
        return f"{float(Fraction(str(spec.get(name, default)))):g}"

    def profit() -> tuple[str, int]:
        """Return the amounts in words, and the people among whom an attack does not pay."""
        cost, gain, payout = (Fraction(str(spec.get(name, 0))) for name in ("cost", "gain", "payout"))
        accepted = f", payout {shown('payout')}" if payout else ""
        least = max(1, -(-gain // (cost + payout))) if cost + payout else 0
        return f"(cost {shown('cost')}, gain {shown('gain')}{accepted})", least

    column = spec.get("column", "")
    texts: dict[str, Callable[[], str]] = {
        "k-anonymity": lambda: f"k-anonymity with k = {spec['k']}",
        "personal-k": lambda: "each row's own k",
        "distinct-l": lambda: f"distinct l-diversity of {column} with l = {spec['l']}",
        "entropy-l": lambda: f"entropy l-diversity of {column} with l = {shown('l')}",
        "grassberger-l": lambda: (
            f"entropy l-diversity of {column} with l = {shown('l')}, by the estimator of Grassberger"
        ),
        "recursive-l": lambda: f"recursive (c, l)-diversity of {column} with c = {shown('c')} and l = {spec['l']}",
        "alpha-k": lambda: f"(alpha, k)-anonymity of {column} with alpha = {shown('alpha')} and k = {spec.get('k', 1)}",
        "p-sensitive": lambda: f"p-sensitive k-anonymity of {column} with p = {spec['p']} and k = {spec.get('k', 1)}",
        "t-closeness": lambda: (
            f"t-closeness of {column} with t = {shown('t')}"
            + (f", {spec['distance']} distance" if spec.get("distance") else "")
        ),
        "delta-disclosure": lambda: f"delta-disclosure privacy of {column} with delta = {shown('delta')}",
        "beta-likeness": lambda: (
            f"{'enhanced' if spec.get('enhanced') else 'basic'} beta-likeness of {column} with beta = {shown('beta')}"
        ),
        "k-map": lambda: f"k-map with k = {spec['k']}",
        "delta-presence": lambda: f"delta-presence from {shown('low')} to {shown('high')}",
        "maximal-risk": lambda: (
            f"maximal risk of {shown('limit')}, so groups of {-(-1 // Fraction(str(spec['limit'])))}"
        ),
        "average-risk": lambda: f"average risk of {shown('limit')}",
        "sample-uniqueness": lambda: f"sample uniqueness of at most {shown('limit')}",
        "population-uniqueness": lambda: (
            f"population uniqueness of at most {shown('limit')} of {spec['population']} people, estimated by "
            f"{spec.get('estimator', 'dankar')}"
        ),
        "prosecutor-profit": lambda: f"no profit for a prosecutor {profit()[0]}, so groups of {profit()[1]}",
        "journalist-profit": lambda: (
            f"no profit for a journalist {profit()[0]}, so {profit()[1]} people of the population"
        ),
        "differential-privacy": lambda: (
            f"(epsilon, delta)-differential privacy with epsilon = {shown('epsilon')} and delta = {shown('delta')}"
        ),
    }
    if spec["name"] not in texts:
        return " ".join(str(value) if key == "name" else f"{key}={value}" for key, value in spec.items())
    return texts[spec["name"]]()
