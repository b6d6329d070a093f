"""Values that tell by themselves that nobody should learn them, and columns that must not be released unchanged."""

from __future__ import annotations

import random

import polars as pl
import pytest

from shoal.profile.columns import distinct_values, profile_column
from shoal.profile.detect import Proposal, propose
from shoal.profile.roles import propose_roles
from shoal.schema import Role

LIKERT = {
    "en": "Strongly agree;Agree;Neither agree nor disagree;Disagree;Strongly disagree",
    "de": "Stimme voll zu;Stimme eher zu;Teils, teils;Stimme eher nicht zu;Stimme nicht zu",
    "fr": "Tout à fait d'accord;Plutôt d'accord;Plutôt pas d'accord;Pas du tout d'accord",
    "es": "Muy de acuerdo;De acuerdo;En desacuerdo;Muy en desacuerdo",
    "it": "Molto d'accordo;Abbastanza d'accordo;Poco d'accordo;Per niente d'accordo",
    "nl": "Helemaal mee eens;Mee eens;Mee oneens;Helemaal mee oneens",
    "pt": "Concordo totalmente;Concordo;Discordo;Discordo totalmente",
    "pl": "Zdecydowanie zgadzam się;Raczej się zgadzam;Raczej się nie zgadzam;Trudno powiedzieć",
}


def proposal_of(name: str, cells: list[str]) -> Proposal:
    return propose(profile_column(distinct_values(pl.Series(name, cells, dtype=pl.String))))


def drawn(values: list[str], n: int = 300) -> list[str]:
    return random.Random(1).choices(values, k=n)


@pytest.mark.parametrize("language", LIKERT)
def test_answers_on_a_scale_are_sensitive(language: str) -> None:
    found = proposal_of("q7", drawn(LIKERT[language].split(";")))
    assert (found.role, found.decide) == (Role.SENSITIVE, False)
    assert found.reason == "the values look like answers on a scale"


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (["Positive", "Negative", "Inconclusive"], "results of tests"),
        (["Type 2 diabetes", "Bronchitis", "Hypertension", "Asthma"], "diseases or treatments"),
        (["THEFT", "BURGLARY", "SIMPLE ASSAULT", "ROBBERY"], "offences"),
        (["catholic", "protestant", "muslim", "jewish", "other"], "religions, parties or sexual orientations"),
        (
            [f"{1000 / (i + 1) + 2:.2f}" for i in range(200)],
            "amounts of money: two decimals, and a few far above the others",
        ),
    ],
)
def test_values_tell_their_topic(values: list[str], what: str) -> None:
    found = proposal_of("x7", drawn(values, 400))
    assert (found.role, found.decide) == (Role.SENSITIVE, False)
    assert found.reason == f"the values look like {what}"


@pytest.mark.parametrize(
    "values",
    [
        ["North", "South", "East", "West"],
        ["Teacher", "Nurse", "Engineer", "Health care assistant", "Police officer"],
        [f"{i / 7:.2f}" for i in range(200)],
        ["Mai", "September", "August"],
        ["Red", "Blue", "Very dark blue", "Green"],
    ],
)
def test_other_values_are_left_to_the_user(values: list[str]) -> None:
    found = proposal_of("x7", drawn(values, 400))
    assert found.role is not Role.SENSITIVE
    assert found.decide


@pytest.mark.parametrize(
    "name", ["treatment_id", "lab_no", "Befundnummer", "Krankenkassennummer", "prescription_number", "numer_szkody"]
)
@pytest.mark.parametrize("form", ["{}", "L-{:05d}"])
@pytest.mark.parametrize("rows", [1, 5])
def test_no_key_is_sensitive_whatever_its_name_suggests(name: str, form: str, rows: int) -> None:
    numbers = random.Random(2).sample(range(100_000, 999_999), 300 // rows)
    found = proposal_of(name, [form.format(number) for number in numbers for _ in range(rows)])
    assert found.role is Role.IDENTIFIER


def test_counts_and_salaries_are_no_keys() -> None:
    draw = random.Random(3)
    assert proposal_of("num_medications", [str(draw.randint(0, 40)) for _ in range(300)]).role is Role.SENSITIVE
    assert proposal_of("salary", [str(draw.randint(20_000, 99_000)) for _ in range(300)]).role is Role.SENSITIVE


def test_names_of_staff_and_unknown_dates_are_not_sensitive() -> None:
    assert proposal_of("loan_officer", drawn(["Bako", "Dema", "Feno", "Gapo"])).decide
    assert (
        proposal_of("treatment_date", drawn([f"{day}. KW 2{day % 10}" for day in range(1, 40)])).role
        is not Role.SENSITIVE
    )


def test_a_second_key_of_the_people_is_not_sensitive() -> None:
    draw = random.Random(4)
    people = [person for person in range(60) for _ in range(5)]
    incomes = draw.sample(range(15_000, 90_000), 60)
    cells = {
        "patient_id": [str(1000 + person) for person in people],
        "sex": [("f", "m")[person % 2] for person in people],
        "treatment": [f"Tra{person * 7919 % 1000:03d}" for person in people],
        "income": [str(incomes[person]) for person in people],
        "day": [f"2024-01-{draw.randint(10, 28)}" for _ in people],
    }
    values = [distinct_values(pl.Series(name, texts, dtype=pl.String)) for name, texts in cells.items()]
    found = propose_roles([profile_column(each) for each in values], {each.name: each.coded for each in values})
    roles = {name: proposal.role for name, proposal in zip(cells, found, strict=True)}
    assert roles["patient_id"] is Role.PERSON
    assert roles["treatment"] is Role.IDENTIFIER
    assert roles["income"] is Role.SENSITIVE


@pytest.mark.parametrize("cells", [["2023-{:06d}"], ["23-{:06d}"], ["2023/{:03d}/{:05d}"]])
def test_numbers_of_incidents_are_no_phone_numbers(cells: list[str]) -> None:
    draw = random.Random(5)
    made = [cells[0].format(draw.randrange(1000), draw.randrange(99999)) for _ in range(300)]
    for name in ("incident_number", "x"):
        found = proposal_of(name, made)
        assert found.role is Role.IDENTIFIER
        assert "phone" not in found.reason


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("Grunderkrankungen", "health"),
        ("comorbidades_prévias", "health"),
        ("Überschuldungsgrad", "payment"),
        ("niezadowolenie", "mark"),
        ("qualidade_sono", "health"),
        ("admission_type", "outcome"),
    ],
)
def test_stems_and_endings(name: str, topic: str) -> None:
    assert proposal_of(name, drawn(list("12345"))).concept == topic
