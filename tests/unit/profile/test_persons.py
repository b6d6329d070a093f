"""Keys of people who have several rows, and columns that only look like such keys."""

from __future__ import annotations

import random

import polars as pl
import pytest

from shoal.profile import profile_table
from shoal.profile.persons import likely_person
from shoal.schema import Column, Role, Schema
from shoal.tables.table import Table

DRAW = random.Random(1)


def role_of(**columns: list[str]) -> dict[str, Role]:
    table = Table(pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)))
    return {column.name: column.proposal.role for column in profile_table(table).columns}


def repeated(values: list[str], times: int) -> list[str]:
    return [value for value in values for _ in range(times)]


SEX = repeated([DRAW.choice("fm") for _ in range(60)], 4)
BORN = repeated([str(DRAW.randint(1930, 2000)) for _ in range(60)], 4)
KEYS = repeated([f"P{1000 + i}" for i in range(60)], 4)
NUMBERS = repeated([str(i + 1) for i in range(60)], 4)
ROWS = [str(i + 1) for i in range(240)]
AMOUNTS = [f"{DRAW.uniform(10, 900):.2f}" for _ in range(240)]
PHONES = [f"+4916{DRAW.randint(10_000_000, 99_999_999)}" for _ in range(240)]
ACCOUNTS = [f"FR{DRAW.randint(10**20, 10**21)}" for _ in range(240)]
# Small tables of each shape, and the column that counts people.
TABLES: dict[str, tuple[str | None, dict[str, list[str]]]] = {
    "court cases": ("case_no", {"case_no": KEYS, "defendant_sex": SEX, "charge": ["theft", "fraud"] * 120}),
    "insurance records": ("policy_no", {"claim_no": ROWS, "policy_no": KEYS, "claim_amount": AMOUNTS}),
    "clinical trial": ("USUBJID", {"USUBJID": KEYS, "VISITNUM": ["1", "2", "3", "4"] * 60, "SEX": SEX}),
    "police log": (None, {"report_id": ROWS, "offence": ["a", "b"] * 120, "hour": [str(i % 24) for i in range(240)]}),
    "loans": ("member_id", {"loan_id": ROWS, "member_id": KEYS, "loan_amount": AMOUNTS}),
    "survey": (None, {"respondent_id": ROWS, "sex": SEX, "birth_year": BORN, "income": AMOUNTS}),
    "visits": ("patient_id", {"visit_id": ROWS, "patient_id": NUMBERS, "sex": SEX, "birth_year": BORN}),
    "households": ("household_no", {"household_no": NUMBERS, "person_no": ["1", "2", "3", "4"] * 60, "age": BORN}),
    "phone records": (
        "subscriber",
        {"subscriber": KEYS, "msisdn": repeated(PHONES[:60], 4), "callee": PHONES, "seconds": ROWS[::-1]},
    ),
    "calls that several people take": ("caller", {"caller": repeated(PHONES[:60], 4), "callee": PHONES[:120] * 2}),
    "payments": ("customer", {"txn_id": ROWS, "customer": KEYS, "receiver_iban": ACCOUNTS, "amount": AMOUNTS}),
    "payments to new cards": ("customer", {"customer": KEYS, "card_number": ACCOUNTS, "amount": AMOUNTS}),
    "customers, one per phone number": (None, {"phone": PHONES, "sex": SEX, "branch": KEYS}),
    "panel without a telling name": ("zper", {"zper": NUMBERS, "female": SEX, "birth_year": BORN, "outpdol": AMOUNTS}),
}


@pytest.mark.parametrize("shape", TABLES)
def test_the_column_that_counts_people(shape: str) -> None:
    person, columns = TABLES[shape]
    assert [name for name, role in role_of(**columns).items() if role is Role.PERSON] == ([person] if person else [])


def test_a_key_that_few_rows_have_counts_nobody() -> None:
    emails = [f"p{i}@example.org" if i % 4 == 0 else "" for i in range(240)]
    columns = {"e-mail": emails, "sex": [DRAW.choice("fm") for _ in range(240)]}
    table = Table(pl.DataFrame(columns))
    schema = Schema((Column("e-mail", Role.IDENTIFIER), Column("sex", Role.QI)))
    assert likely_person(table, schema) is None
    twice = Table(
        pl.DataFrame({**columns, "e-mail": [email and f"p{i // 8}@example.org" for i, email in enumerate(emails)]})
    )
    assert likely_person(twice, schema) is not None


def test_amounts_dates_and_measurements_are_no_keys() -> None:
    dates = repeated([f"19{30 + i:02d}-01-0{i % 9 + 1}" for i in range(60)], 4)
    heights = repeated([str(150 + i % 45) for i in range(60)], 4)
    found = role_of(dob=dates, height=heights, sex=SEX, salary=repeated(AMOUNTS[:60], 4), age=BORN)
    assert Role.PERSON not in found.values()


def test_names_that_repeat_beside_a_key_of_every_row_are_no_hint() -> None:
    names = repeated([f"{first} {last}" for first in ("Anna", "Peter") for last in ["Abc", "Bcd", "Cde", "Def"]], 30)
    found = role_of(name=names, patient_id=ROWS, sex=SEX)
    assert found["name"] is Role.IDENTIFIER
    assert found["patient_id"] is Role.IDENTIFIER


def test_few_values_are_codes_not_patients() -> None:
    assert role_of(PID=["1", "2", "3", "4", "5", "6", "7"] * 40, sex=["f", "m"] * 140)["PID"] is not Role.PERSON


HOUSEHOLD = {
    "hhid": repeated([str(10_000 + i) for i in range(60)], 4),
    "pid": ROWS,
    "region": repeated([DRAW.choice(["north", "south", "east"]) for _ in range(60)], 4),
    "hh_income": repeated([str(DRAW.randint(900, 9_000)) for _ in range(60)], 4),
    "age": [str(DRAW.randint(0, 90)) for _ in range(240)],
}


def test_households_of_people_with_keys_of_their_own_are_proposed() -> None:
    table = Table(pl.DataFrame(HOUSEHOLD))
    profile = profile_table(table)
    assert {c.name: c.proposal.role for c in profile.columns}["hhid"] is Role.PERSON
    assert any("k counts households instead of rows" in c.proposal.reason for c in profile.columns)
    # All members share the income, which reveals nothing about the region.
    assert not [warned for warned in profile.warnings if warned.about == "dependency"]


def test_households_are_no_hint_that_people_have_several_rows() -> None:
    table = Table(pl.DataFrame(HOUSEHOLD))
    columns = tuple(Column(name, Role.QI) for name in ("region", "age"))
    assert (
        likely_person(table, Schema((*columns, Column("hhid", Role.IDENTIFIER), Column("pid", Role.IDENTIFIER))))
        is None
    )
