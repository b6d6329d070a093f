"""Utility-driven clustering, compared with its plain twin and the numbers of the thesis."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import shoal
from shoal import Rule
from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import SUPPRESSED, Partition
from shoal.errors import UsageError
from shoal.methods import Run, UtilityDriven
from shoal.models import KAnonymity
from shoal.rules import compile_rules
from shoal.schema import Kind
from tests.naive import utility as naive
from tests.strategies import Sheet
from tests.unit.methods.plain import numbers_of, sheets_and_k, with_trees


def random_rules(encoded: Encoded, shape: int) -> tuple[Rule, ...]:
    """A few rules over the columns of a table, some of them crossing the same values."""
    draw = random.Random(shape)
    rules: list[Rule] = []
    for attribute in encoded.attributes:
        present = [text for code, text in enumerate(attribute.texts) if code != attribute.missing]
        for _ in range(draw.randint(0, 2)):
            importance = draw.choice((1, 5, 20))
            if len(present) < 2:
                continue
            low, high = sorted(draw.sample(range(len(present)), 2))
            if attribute.kind is Kind.CATEGORICAL:
                if draw.random() < 0.3:
                    rules.append(
                        Rule(attribute.name, groupings=([present[low]], present[high:]), importance=importance)
                    )
                else:
                    rules.append(Rule(attribute.name, apart=(present[low], present[high]), importance=importance))
            elif draw.random() < 0.7:
                rules.append(Rule(attribute.name, inflection=(present[low], present[high]), importance=importance))
            else:
                rules.append(Rule(attribute.name, range=(present[low], present[high]), importance=importance))
        if draw.random() < 0.3:
            rules.append(Rule(attribute.name, base=draw.choice((1, 10))))
    return tuple(rules)


def twin_attributes(encoded: Encoded, run: Run) -> list[naive.Attribute]:
    compiled = compile_rules(run.rules, encoded.attributes)
    twins = []
    for a, attribute in enumerate(encoded.attributes):
        rules = []
        for r, (importance, owner) in enumerate(zip(compiled.importances, compiled.attributes, strict=True)):
            pairs = [pair for pair in compiled.pairs if pair.rule == r]
            sides = tuple(
                (frozenset(np.flatnonzero(pair.one).tolist()), frozenset(np.flatnonzero(pair.other).tolist()))
                for pair in pairs
            )
            rules += [(importance, sides)] if owner == a else []
        values = numbers_of(attribute)
        if values is not None and attribute.kind is Kind.DATE:
            values = tuple(None if value is None else value / 86400 for value in values)
        levels = None if attribute.tree is None else tuple(map(tuple, attribute.tree.nodes.tolist()))
        weight = run.weights.get(attribute.name, Fraction(1))
        twins.append(naive.Attribute(len(attribute.texts), values, levels, weight, tuple(rules), compiled.bases[a]))
    return twins


def pieces_of(encoded: Encoded, partition: Partition) -> list[tuple[tuple[tuple[int, int], ...], tuple[int, ...]]]:
    """Each group as its tuples with their rows, and the attributes that it suppresses beyond what is mixed."""
    rows_of_group: dict[int, Counter[int]] = {}
    for number, label in zip(encoded.row_tuple.tolist(), partition.labels.tolist(), strict=True):
        if label >= 0:
            rows_of_group.setdefault(label, Counter())[number] += 1
    groups = []
    for label, rows in rows_of_group.items():
        starred = tuple(a for a, cells in enumerate(partition.cells) if cells.form[cells.index[label]] == SUPPRESSED)
        groups.append((tuple(sorted(rows.items())), starred))
    return sorted(groups)


def expected_pieces(
    encoded: Encoded, groups: list[naive.Group]
) -> list[tuple[tuple[tuple[int, int], ...], tuple[int, ...]]]:
    pieces = []
    for group in groups:
        starred = set(group.starred)
        for a, attribute in enumerate(encoded.attributes):  # a number and a missing one together show nothing either
            codes = {int(encoded.tuples[number, a]) for number, _ in group.members}
            if attribute.ordered and attribute.missing in codes and len(codes) > 1:
                starred.add(a)
        pieces.append((tuple(sorted(group.members)), tuple(sorted(starred))))
    return sorted(pieces)


# A union that overlaps in part with two groups, and after taking in one of them not any more with the other.
CROSSING = Sheet(
    {
        "x": ["0", "0", "0", "0", "0", "0", "0", "", "0"],
        "y": ["0", "0", "0", "0", "0.125", "0", "-0.5", "0.125", "0.125"],
        "z": ["0", "0", "0", "0", "0", "0.875", "0.375", "0", "-0.125"],
    },
    dict.fromkeys("xyz", "numeric"),
)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"suppress": "attributes"},
        {"suppress": "rows"},
        {"non_overlapping": True},
        {"score": "cluster"},
        {"score": "cluster", "suppress": "attributes"},
        {"score": "cluster", "suppress": "rows", "alpha": 0.3},
        {"alpha": 0.8},
        {"alpha": 0.25, "suppress": "attributes"},
        {"alpha": 0.6, "suppress": "rows"},
    ],
    ids=str,
)
@given(drawn=sheets_and_k(max_rows=12, max_columns=3), shape=st.integers(0, 30))
@example(drawn=(CROSSING, 2), shape=1)
def test_groups_are_those_of_the_twin(options: dict[str, Any], drawn: tuple[Sheet, int], shape: int) -> None:
    sheet, k = drawn
    encoded = with_trees(sheet, shape)
    weights = {name: Fraction(1 + i + shape % 3, 2) for i, name in enumerate(sheet.qi)} if shape % 2 else {}
    run = Run(rules=random_rules(encoded, shape), weights=weights, suppression_limit=Fraction(1, 3))
    groups, dropped = naive.cluster(
        [tuple(row) for row in encoded.tuples.tolist()],
        encoded.counts.tolist(),
        twin_attributes(encoded, run),
        k,
        suppress=options.get("suppress", "nothing"),
        room=sheet.n_rows // 3,
        nested=options.get("non_overlapping", False),
        score=options.get("score", "whole"),
        alpha=options.get("alpha", 0.5),
    )
    if not groups:
        return
    partition = UtilityDriven(**options).partition(encoded, (KAnonymity(k),), run)
    assert pieces_of(encoded, partition) == expected_pieces(encoded, groups)
    left_out = Counter(encoded.row_tuple[partition.labels < 0].tolist())
    assert sorted(left_out.items()) == sorted(dropped)


def test_research_value_is_that_of_the_thesis() -> None:
    """[S1] Methodology: weight 0.2, groups of 25, 45 and 55 rows over 10, 15 and 25 values, rules worth 50 of 100."""
    spans = {10: 25, 15: 45, 25: 55}
    tuples, groups, start = [], [], 0
    for width, rows in spans.items():
        first = len(tuples)
        tuples += [(start + i,) for i in range(width)]
        start += width
        members = [(first + i, 1) for i in range(width)]
        members[0] = (first, rows - width + 1)
        groups.append(naive.Group(members))
    half = (Fraction(50), ((frozenset({0}), frozenset({1})),))
    attribute = naive.Attribute(
        start, tuple(map(Fraction, range(start))), weight=Fraction(1, 5), rules=(half,), base=Fraction(50)
    )
    (value,) = naive.research_value(groups, 0, tuples, [attribute])
    assert value == Fraction(1, 5) * Fraction(125, 2300) * Fraction(1, 2)
    assert round(float(value), 6) == 0.005435


def ages(*texts: str) -> Encoded:
    return Sheet({"age": list(texts)}, {"age": "numeric"}).encoded


def test_rule_keeps_groups_on_their_side() -> None:
    """Without the rule 64 joins 65, with it 60; rules are worth more than a few years."""
    encoded = ages("60", "60", "64", "65", "65")
    without = UtilityDriven().partition(encoded, (KAnonymity(2),), Run())
    assert without.labels[2] == without.labels[3]
    rule = (Rule("age", inflection=(64, 65), importance=25),)
    with_rule = UtilityDriven().partition(encoded, (KAnonymity(2),), Run(rules=rule))
    assert with_rule.labels[2] == with_rule.labels[0]


def test_suppression_pays_where_it_saves_a_rule() -> None:
    """A sixty-six-year-old alone has nobody on his side: his group hides its ages, and the rule is kept."""
    columns = {"age": ["20", "21", "22", "23", "66"], "sex": ["f", "f", "f", "f", "f"]}
    sheet = Sheet(columns, {"age": "numeric", "sex": "categorical"})
    rule = (Rule("age", inflection=(64, 65), importance=100),)
    partition = UtilityDriven(suppress="attributes").partition(sheet.encoded, (KAnonymity(2),), Run(rules=rule))
    forms = partition.cells[0].form[partition.cells[0].index][partition.labels]
    assert (forms[-1], (forms == SUPPRESSED).sum() < 5) == (SUPPRESSED, True)
    plain = UtilityDriven().partition(sheet.encoded, (KAnonymity(2),), Run(rules=rule))
    assert not (plain.cells[0].form == SUPPRESSED).any()


def test_release_with_rules_from_a_file(tmp_path: Any) -> None:
    config = tmp_path / "shoal.toml"
    config.write_text(
        'k = 3\nmethod = "utility-driven"\n[options]\nsuppress = "attributes"\n[weights]\nage = 2\n'
        '[columns.age]\nrole = "qi"\n[columns.sex]\nrole = "qi"\n'
        '[[rules]]\ncolumn = "age"\ninflection = [64, 65]\nimportance = 25\n'
        '[[rules]]\ncolumn = "sex"\napart = ["f", "m"]\n'
    )
    draw = np.random.default_rng(2)
    frame = pl.DataFrame({"age": draw.integers(18, 90, 150), "sex": draw.choice(["f", "m"], 150)})
    release = shoal.anonymize(frame, config=config)
    release.write(tmp_path / "out.csv")
    assert release.measures.smallest_group >= 3
    bounds = [text[1:-1].split(", ") for text in release.text["age"] if text.startswith("[")]
    assert not any(int(low) <= 64 and int(high) >= 65 for low, high in bounds)


def test_all_columns_may_be_recoded() -> None:
    """[S1] treats the sensitive attribute as a quasi-identifier too."""
    frame = pl.DataFrame({"age": [str(i) for i in range(20)], "salary": ["low", "high"] * 10})
    release = shoal.anonymize(frame, qi=["age"], sensitive=["salary"], k=3, all_qi=True, method="utility-driven")
    assert [column.name for column in release.schema.qi] == ["age", "salary"]
    assert min(Counter(release.text.rows()).values()) >= 3


def test_rules_and_weights_need_a_method_that_heeds_them() -> None:
    frame = pl.DataFrame({"age": ["1", "2", "3"]})
    rule = Rule("age", inflection=(1, 2))
    with pytest.raises(UsageError, match=r"method 'sbca' does not support rules\. Methods that do: .*utility-driven"):
        shoal.anonymize(frame, qi=["age"], k=2, method="sbca", rules=[rule])
    with pytest.raises(UsageError, match=r"method 'kaca' does not support weights\. Methods that do: .*bottom-up, top"):
        shoal.anonymize(frame, qi=["age"], k=2, method="kaca", weights={"age": 2})
    with pytest.raises(UsageError, match=r"weight for 'sex': not a quasi-identifier"):
        shoal.anonymize(frame, qi=["age"], k=2, method="bottom-up", weights={"sex": 2})
    with pytest.raises(UsageError, match=r"weight of 'age' is -1\. Use a number above 0"):
        shoal.anonymize(frame, qi=["age"], k=2, method="bottom-up", weights={"age": -1})


def test_declared_resolution_is_the_step_of_a_span() -> None:
    columns = {"x": ["0.5", "1.7", "3.1", "4.9"], "y": ["a", "b", "a", "b"]}
    encoded = Sheet(columns, {"x": "numeric", "y": "categorical"}).encoded
    run = Run(weights={"x": Fraction(3)})
    fine = UtilityDriven(resolutions={"x": 1}).partition(encoded, (KAnonymity(2),), run)
    coarse = UtilityDriven(resolutions={"x": 1000}).partition(encoded, (KAnonymity(2),), run)
    assert fine.labels.tolist() == [0, 0, 1, 1]
    assert coarse.labels.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"suppress": "all"}, r"suppress 'all' is not known\. Use nothing, attributes, rows"),
        ({"non_overlapping": "maybe"}, r"non_overlapping='maybe'\. Use true or false"),
        ({"resolutions": {"x": 0}}, r"resolution of 'x' is 0"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        UtilityDriven(**options)
