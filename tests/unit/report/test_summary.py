"""Words and JSON of results: one place, spelled for every reader, redacted by field."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import polars as pl
import pytest

import shoal
from shoal.errors import for_command_line
from shoal.profile import profile_table
from shoal.report.public import public_rule_row
from shoal.report.risk_summary import risk_facts, risk_json
from shoal.report.summary import (
    PROFILE_HEAD,
    Places,
    bound_words,
    combination_facts,
    hierarchy_json,
    hierarchy_words,
    level_choice_words,
    measures_json,
    profile_rows,
    release_facts,
    release_json,
    rule_json,
    rule_row,
    rule_words,
    verdict_words,
)
from shoal.risks import risk
from shoal.rules import RuleVerdict
from shoal.tables.table import from_frame
from shoal.verification import Verdict

BROKEN = RuleVerdict("column 'race': apart ('White', 'Black')", 20.0, 1, 3, False)
KEPT = RuleVerdict("column 'race': ban, apart ('White', 'Black')", 20.0, 0, 0, True)


@pytest.fixture(scope="module")
def release() -> shoal.Release:
    frame = pl.DataFrame({"age": [20 + i % 7 for i in range(40)], "sex": [i % 2 for i in range(40)]})
    return shoal.anonymize(frame, qi=["age", "sex"], k=5, categorical=["sex"])


def test_a_rule_reads_the_same_everywhere() -> None:
    assert rule_words(BROKEN) == "column 'race': apart ('White', 'Black'): broken in 1 group with 3 rows"
    assert rule_words(KEPT).endswith(": kept")
    assert rule_json(BROKEN) == {
        "rule": BROKEN.rule,
        "importance": 20.0,
        "broken_groups": 1,
        "broken_rows": 3,
        "ban": False,
    }
    assert rule_row(BROKEN) == {"rule": BROKEN.rule, "importance": 20.0, "kept": False, "broken_rows": 3}


def test_a_public_rule_names_no_value_and_no_row() -> None:
    """C21, R06, L13: which groups break it depends on the original; a ban is kept in any case."""
    rule = shoal.Rule("race", apart=("White", "Black"), importance=20)
    row = public_rule_row(rule)
    assert row == {"rule": "column 'race': apart", "importance": 20.0, "kept": None, "broken_rows": None}
    row = public_rule_row(replace(rule, ban=True))
    assert row == {"rule": "column 'race': ban, apart", "importance": 20.0, "kept": True, "broken_rows": 0}


def test_facts_and_json_of_a_release_tell_the_same(release: shoal.Release) -> None:
    places = Places("out.csv", "out.csv.manifest.json", "r.html", "r.private.html")
    facts, content = dict(release_facts(release, places)), release_json(release, places, 1.23456)
    assert json.loads(json.dumps(content)) == content
    assert content["seconds"] == 1.235
    assert [content[name] for name in ("output", "manifest", "report")] == list(places[:3])
    assert facts["release"] == "out.csv (verified)"
    assert facts["report"] == "r.html; for your eyes only: r.private.html"
    assert f"{content['groups']:,}; the smallest has {content['smallest_group']:,} rows" == facts["groups"]
    assert facts["method"] == content["method"] == "shoaling"
    assert facts["asked"].endswith("over age (numeric), sex (categorical)")


def test_a_dry_run_has_no_places(release: shoal.Release) -> None:
    facts, content = dict(release_facts(release, Places())), release_json(release, Places(), 0.0)
    assert facts["written"] == "nothing: this was a dry run"
    assert (content["output"], content["manifest"], "report" in content) == (None, None, False)


def test_measures_keep_their_keys(release: shoal.Release) -> None:
    content = measures_json(release.measures, 5)
    counts = ["rows", "groups", "smallest_group", "suppressed_rows"]
    assert list(content) == ["method", "k", *counts, "measures", "columns", "levels"]
    names = {field.name for field in fields(release.measures)} - {"cm", "centers"}
    assert set(content["measures"]) | {*counts, "columns"} >= names


def test_settings_are_spelled_for_the_reader() -> None:
    choice = {"levels": {"age": 1, "zip": 2}, "rv": 0.5, "roots": 0}
    words = level_choice_words({"tested": 7, "strings": 9, "successful": [choice] * 6})
    assert "select another with choose=" in words
    assert "select another with --choose" in for_command_line(words)
    assert words.endswith("and 1 more, listed in the JSON result")


def test_risk_is_told_beside_that_of_the_original() -> None:
    frame = pl.DataFrame({"age": [1, 1, 2, 2, 3]})
    found = risk(frame, qi=["age"])
    alone = dict(risk_facts(found))
    assert alone["alone"] == "1 row is alone in its group"
    assert "population=" in alone["journalist"]
    assert "--population" in for_command_line(alone["journalist"])
    both = dict(risk_facts(found, found))
    assert both["alone"] == f"{alone['alone']}\nbefore: {alone['alone']}"
    assert "--population" in for_command_line(both["journalist"])
    assert "before" not in risk_json(found)
    assert risk_json(found, found)["before"] == found.as_dict()


def test_a_verdict_says_what_was_counted() -> None:
    verdict = Verdict(True, 5, 1200, 30, 6, ())
    assert (
        verdict_words(verdict, 5, [], against_original=False)
        == "yes. 1,200 rows in 30 groups, the smallest of 6 rows (k = 5)."
    )
    words = verdict_words(verdict, 5, [], against_original=True)
    assert words.endswith("the smallest of 6 rows (k = 5), and every row is true to the original.")
    words = verdict_words(verdict, 5, ["2-diversity"], against_original=True)
    assert words.endswith("(k = 5); every group passes 2-diversity, and every row is true to the original.")
    words = verdict_words(verdict, 5, [], against_original=True, people=True)
    assert words.endswith("belong to 5 people or more, and every row is true to the original.")


def test_the_lower_bound_says_why_there_is_none() -> None:
    frame = pl.DataFrame({"age": [str(20 + i) for i in range(30)]})
    recoded = shoal.anonymize(frame, qi=["age"], k=3, recode={"age": "top:40"})
    assert bound_words(recoded) == "not computed for recoded quasi-identifiers"
    labels = shoal.anonymize(frame, qi=["age"], k=3, hierarchies="auto")
    assert bound_words(labels) == "not computed for hierarchies"


def test_a_profile_and_a_hierarchy_have_words_and_values() -> None:
    table = from_frame(pl.DataFrame({"age\x07": [str(20 + i) for i in range(30)], "sex": ["f", "m"] * 15}))
    profile = profile_table(table)
    rows = profile_rows(profile)
    assert {len(row) for row in rows} == {len(PROFILE_HEAD)}
    assert [row[0] for row in rows] == ["'age\\x07'", "sex"], "nothing that a terminal acts on"
    assert combination_facts(profile)[0] == ("100.0%", "'age\\x07'")
    sex = shoal.hierarchy.from_dict({"f": ["*"], "m": ["*"]})
    assert hierarchy_words("sex", sex) == "sex: 2 values, 1 level above them (level 0: 2, level 1: 1)"
    assert hierarchy_json(sex) == {"values": 2, "height": 1, "labels": [2, 1], "trusted": False, "notes": []}
