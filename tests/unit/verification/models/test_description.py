"""What a release reaches: every described model passes, and every slightly stronger one fails."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random
from typing import Any

import pytest

from shoal.verification.models.description import Description, describe_groups
from shoal.verification.models.judges import JUDGES, Evidence

STEP = 0.0001
# How each parameter becomes stronger.
STRONGER = {"l": +1, "p": +1, "c": -STEP, "alpha": -STEP, "t": -STEP, "delta": -STEP, "beta": -STEP}


def table(draw: Random, kind: str) -> tuple[dict[Any, int], dict[Any, Counter[Any]]]:
    """Return random groups and their values, some of them missing."""
    values: dict[Any, Counter[Any]] = defaultdict(Counter)
    for group in range(draw.randrange(1, 7)):
        for _ in range(draw.randrange(2, 12)):
            number = draw.choice((1, 1, 2, 3, 7, None))
            place = ("number", number) if kind == "numeric" else ("text", str(number))
            values[str(group),][None if number is None else place] += 1
    return {group: counts.total() for group, counts in values.items()}, dict(values)


def is_passed(spec: dict[str, Any], rows: dict[Any, int], values: dict[Any, Counter[Any]], kind: str) -> bool:
    return not JUDGES[spec["name"]](Evidence(spec, rows, rows, {}, values, kind, {}))


def stronger(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the model with each of its parameters a little stronger, as far as they can be."""
    specs = []
    for name, step in STRONGER.items():
        if name in spec and (spec["name"], name) != ("recursive-l", "l"):
            step = STEP if (spec["name"], name) == ("entropy-l", "l") else step
            value = round(spec[name] + step, 4)
            if value >= 0:
                specs.append({**spec, name: value})
    return specs


@pytest.mark.parametrize("kind", ["categorical", "numeric"])
def test_described_models_pass_and_stronger_ones_fail(seed: int, kind: str) -> None:
    """The judges of the verifier decide, not a formula."""
    draw, n_stronger = Random(f"{seed} {kind}"), 0
    for _ in range(40):
        rows, values = table(draw, kind)
        described = describe_groups(rows, {"disease": (values, kind, {})})
        assert (described.k, described.rows) == (min(rows.values()), sum(rows.values()))
        for spec in described.models:
            assert is_passed(spec, rows, values, kind), spec
            for each in stronger(spec):
                n_stronger += 1
                assert not is_passed(each, rows, values, kind), each
        absent = described.columns[0]
        if absent.delta is None:
            assert not is_passed({"name": "delta-disclosure", "column": "disease", "delta": 60}, rows, values, kind)
        if absent.enhanced_beta is None:
            spec = {"name": "beta-likeness", "column": "disease", "beta": 10**6, "enhanced": True}
            assert not is_passed(spec, rows, values, kind)
        assert set(absent.recursive_c) == set(range(2, min(absent.l, 6) + 1))
    assert n_stronger > 250


def test_known_values() -> None:
    """Two groups: 2 flu, 1 cold, 1 ulcer; and 1 flu, 2 cold."""
    flu, cold, ulcer = (("text", text) for text in ("flu", "cold", "ulcer"))
    values = {("a",): Counter({flu: 2, cold: 1, ulcer: 1}), ("b",): Counter({flu: 1, cold: 2})}
    (found,) = describe_groups({("a",): 4, ("b",): 3}, {"disease": (values, "categorical", {})}).columns
    assert (found.l, found.alpha, found.distance) == (2, 0.6667, "equal")
    assert found.entropy_l == 1.8898  # 3 / 2^(2/3), rounded down
    assert found.recursive_c == {2: 2.0001}  # 2 < c * 1
    assert found.t == 0.2381  # 5/21 of the second group must move
    assert found.delta is None  # the second group has no ulcer
    assert found.beta == 0.75  # ulcer: 1/4 against 1/7


def test_no_rows_and_no_sensitive_column() -> None:
    assert describe_groups({}, {"disease": ({}, None, {})}) == Description(0, 0, 0)
    assert describe_groups({("a",): 3}, {}).as_dict() == {
        "k": 3,
        "rows": 3,
        "groups": 1,
        "smallest_group": 3,
        "sensitive": {},
        "models": [],
        "notes": [],
    }
