"""Association of columns, the weights that follow from it ([S1]), and the hint on columns that say the same."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.encoding.encode import encode, guess_kinds
from shoal.errors import UsageError
from shoal.metrics.association import about_redundancy, associations, derive_weights
from shoal.schema import Role, Schema
from shoal.tables.table import from_frame


def plain_v(pairs: list[tuple[str, str]]) -> float:
    """Bergsma's corrected V, cell by cell."""
    n, cells = len(pairs), Counter(pairs)
    one, other = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    chi = sum((cells[x, y] - one[x] * other[y] / n) ** 2 / (one[x] * other[y] / n) for x in one for y in other)
    r, c = len(one), len(other)
    phi = max(0.0, chi / n - (r - 1) * (c - 1) / (n - 1))
    return math.sqrt(phi / (min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1))


def plain_eta(pairs: list[tuple[str, float]]) -> float:
    """Variance of the means of the categories over variance."""
    mean = sum(y for _, y in pairs) / len(pairs)
    within: dict[str, list[float]] = {}
    for x, y in pairs:
        within.setdefault(x, []).append(y)
    between = sum(len(ys) * (sum(ys) / len(ys) - mean) ** 2 for ys in within.values())
    return math.sqrt(between / sum((y - mean) ** 2 for _, y in pairs))


def encoded(frame: pl.DataFrame) -> shoal.encoding.Encoded:
    read = from_frame(frame)
    return encode(read, guess_kinds(read, Schema.build(frame.columns, {Role.QI: frame.columns})))


def drawn(seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    age = draw.integers(20, 60, 200)
    sex = draw.choice(["f", "m"], 200)
    return pl.DataFrame(
        {
            "age": age.astype(str),
            "pay": (age * 3 + draw.integers(0, 90, 200)).astype(str),
            "sex": sex,
            "job": [{"f": "a", "m": "b"}[s] if d < 0.6 else "c" for s, d in zip(sex, draw.random(200), strict=True)],
        }
    )


def test_association_is_that_of_the_plain_formulas(seed: int) -> None:
    frame = drawn(seed)
    found = associations(encoded(frame))
    age, pay = (frame[name].cast(pl.Float64).to_list() for name in ("age", "pay"))
    sex, job = frame["sex"].to_list(), frame["job"].to_list()
    assert found[0, 1] == pytest.approx(abs(np.corrcoef(age, pay)[0, 1]))
    assert found[2, 3] == pytest.approx(plain_v(list(zip(sex, job, strict=True))))
    assert found[0, 2] == pytest.approx(plain_eta(list(zip(sex, age, strict=True))))
    assert found[3, 1] == pytest.approx(plain_eta(list(zip(job, pay, strict=True))))
    assert (found == found.T).all()
    assert (np.diag(found) == 1).all()


def test_missing_numbers_and_constants_tell_nothing() -> None:
    frame = pl.DataFrame({"a": ["1", "2", "", "4"], "b": ["2", "4", "9", "8"], "c": ["x"] * 4, "d": ["7"] * 4})
    found = associations(encoded(frame))
    assert found[0, 1] == pytest.approx(1)
    assert found[:2, 2:].max() < 1e-12


def test_independent_columns_weigh_more(seed: int) -> None:
    """[S1]: in proportion to 1 - mean association, in sum 1."""
    weights = derive_weights(
        encoded(drawn(seed).with_columns(luck=pl.Series(np.random.default_rng(9).permutation(200).astype(str))))
    )
    assert sum(weights.values()) == 1
    assert max(weights, key=lambda name: weights[name]) == "luck"
    found = associations(encoded(drawn(seed)))
    own = 1 - (found.sum(axis=0) - 1) / 3
    for share, weight in zip(own / own.sum(), derive_weights(encoded(drawn(seed))).values(), strict=True):
        assert float(weight) == pytest.approx(share, rel=1e-4)


def test_columns_that_say_the_same_weigh_alike_and_are_named() -> None:
    frame = drawn(1).select("age", born=(2000 - pl.col("age").cast(pl.Int64)).cast(pl.String))
    made = encoded(frame)
    assert derive_weights(made) == {"age": Fraction(1, 2), "born": Fraction(1, 2)}
    assert [(note.about, note.text) for note in about_redundancy(made)] == [
        ("columns 'age' and 'born'", "carry nearly the same information (association 1.00)")
    ]
    assert not list(about_redundancy(encoded(drawn(1).select("age", "sex"))))
    labels = [str(i) + "x" for i in range(200)]  # a name for each row explains every number, and says nothing
    assert not list(about_redundancy(encoded(drawn(1).select("age").with_columns(name=pl.Series(labels)))))


def test_auto_weights_reach_the_method_and_the_request() -> None:
    frame = drawn(2)
    release = shoal.anonymize(frame, qi=frame.columns, k=5, weights="auto")
    assert set(release.request.weights) == set(frame.columns)
    assert sum(release.request.weights.values()) == 1
    assert release.lower_bound is None  # the bound is one for weights of 1
    plain = shoal.anonymize(frame, qi=frame.columns, k=5)
    assert not plain.request.weights
    assert plain.lower_bound is not None
    with pytest.raises(UsageError, match="weights='auto-matic' is not known"):
        shoal.anonymize(frame, qi=frame.columns, k=5, weights="auto-matic")
    with pytest.raises(UsageError, match="does not support weights"):
        shoal.anonymize(frame, qi=frame.columns, k=5, weights="auto", method="mondrian")
