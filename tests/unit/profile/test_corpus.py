"""Proposed roles on column lists that no rule was written for: the held-out half of the corpus."""

from __future__ import annotations

import pytest

from shoal.profile.roles import MOST_QI
from shoal.schema import Role
from tests.profile_corpus.cells import kind_of
from tests.profile_corpus.corpus import FRESH, HALVES, Score, read_corpus, score


@pytest.fixture(scope="module")
def held_out() -> Score:
    return score(read_corpus("held-out"))


def test_corpus_is_large_enough() -> None:
    tables = read_corpus()
    assert len(tables) >= 80
    assert sum(table.origin == "published" for table in tables) >= 80
    assert {table.language for table in tables} == {"en", "de", "fr", "es", "it", "nl", "pt", "pl"}
    roles = [column.role for table in read_corpus("held-out") for column in table.columns]
    assert roles.count(Role.IDENTIFIER) >= 60
    assert roles.count(Role.PERSON) >= 40
    assert {table.half for table in tables} == {*HALVES, FRESH}
    assert {kind_of(c.shape) for t in tables for c in t.columns} == {"numeric", "categorical", "date"}


def test_roles_on_the_held_out_half(held_out: Score) -> None:
    assert held_out.recall(Role.IDENTIFIER) >= 0.95
    assert held_out.recall(Role.PERSON) >= 0.9
    assert held_out.recall(Role.SENSITIVE) >= 0.85
    assert held_out.false_identifiers < 0.03
    assert held_out.false_sensitives < 0.01


def test_no_table_gets_many_quasi_identifiers(held_out: Score) -> None:
    assert held_out.most_qi <= MOST_QI == 12


def test_roles_on_tables_listed_after_the_rules() -> None:
    result = score(read_corpus(FRESH))
    assert result.recall(Role.IDENTIFIER) >= 0.95
    assert result.recall(Role.SENSITIVE) >= 0.85
    assert result.false_identifiers < 0.03
    assert result.recall(Role.PERSON) >= 0.8
    assert result.most_qi <= MOST_QI
