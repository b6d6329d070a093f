"""Proposals: what values look like, what names say, and the careful side in doubt."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest

from shoal.profile import profile_table
from shoal.profile.columns import distinct_values, profile_column
from shoal.profile.detect import Proposal, propose
from shoal.profile.roles import propose_roles
from shoal.profile.vocabulary import naming_of, words_of
from shoal.schema import Kind, Role
from shoal.tables.formats import read_table
from tests.golden.hipaa import make

HIPAA = Path(__file__).parents[2] / "golden" / "hipaa"
# What Safe Harbor wants of each kind; age and sex beside it stay quasi-identifiers.
AS_QI = {"02-geography", "03-dates"}


def proposal_of(name: str, cells: list[str], markers: tuple[str, ...] = ()) -> Proposal:
    return propose(profile_column(distinct_values(pl.Series(name, cells, dtype=pl.String)), markers))


@pytest.mark.parametrize("kind", sorted(make.KINDS))
def test_safe_harbor_kind_is_found(kind: str) -> None:
    frame = pl.read_csv(HIPAA / f"{kind}.csv", infer_schema=False).fill_null("")
    wanted = Role.QI if kind in AS_QI else Role.IDENTIFIER
    found = {name: proposal_of(name, frame[name].to_list()).role for name in frame.columns}
    expected = dict.fromkeys(make.KINDS[kind][0], wanted) | {"age": Role.QI, "sex": Role.QI}
    assert found == expected | ({"street": Role.IDENTIFIER} if "street" in expected else {})


@pytest.mark.parametrize("kind", sorted(set(make.KINDS) - {"02-geography"}))
def test_safe_harbor_kind_is_found_without_a_telling_name(kind: str) -> None:
    frame = pl.read_csv(HIPAA / f"{kind}.csv", infer_schema=False).fill_null("")
    wanted = Role.QI if kind in AS_QI else Role.IDENTIFIER
    for name in make.KINDS[kind][0]:
        assert proposal_of("x", frame[name].to_list()).role is wanted, name


def test_there_are_18_fixtures_as_made() -> None:
    assert len(make.KINDS) == 18
    for kind in make.KINDS:
        assert (HIPAA / f"{kind}.csv").read_text() == make.content(kind)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Geburtsdatum", Role.QI),
        ("Geschlecht", Role.QI),
        ("PLZ", Role.QI),
        ("code_postal", Role.QI),
        ("edad", Role.QI),
        ("maritalStatus", Role.QI),
        ("native-country", Role.QI),
        ("Beruf", Role.QI),
        ("Krankheit", Role.SENSITIVE),
        ("diagnosis_code", Role.SENSITIVE),
        ("Salaire", Role.SENSITIVE),
        ("Einkommen 2020", Role.SENSITIVE),
        ("religion", Role.SENSITIVE),
        ("capital-gain", Role.SENSITIVE),
        ("drug_name", Role.SENSITIVE),
        ("Nachname", Role.IDENTIFIER),
        ("prénom", Role.IDENTIFIER),
        ("apellidos", Role.IDENTIFIER),
        ("Versichertennummer", Role.IDENTIFIER),
        ("Telefon", Role.IDENTIFIER),
        ("PatientID", Role.IDENTIFIER),
        ("Kfz-Kennzeichen", Role.IDENTIFIER),
        ("agency", Role.QI),
    ],
)
def test_names_of_columns_in_several_languages(name: str, role: Role) -> None:
    assert proposal_of(name, ["aa", "bb", "cc", "dd", "ee", "ff"] * 10).role is role


def test_words_of_a_name() -> None:
    assert words_of("PatientID_nr") == ["patient", "id", "nr"]
    assert words_of("Größe (cm)") == ["grosse", "cm"]
    assert words_of("native-country.v2") == ["native", "country", "v2"]
    assert words_of("患者") == ["患者"]


def test_codes_are_no_quantities() -> None:
    assert proposal_of("sex", ["1", "2"] * 20).kind is Kind.CATEGORICAL
    assert proposal_of("plz", ["10115", "80331"] * 20).kind is Kind.CATEGORICAL
    assert proposal_of("age", ["41", "42"] * 20).kind is Kind.NUMERIC
    assert proposal_of("children", ["1", "2"] * 20).kind is Kind.NUMERIC
    assert proposal_of("hours-per-week", ["40", "20"] * 20).kind is Kind.NUMERIC
    assert proposal_of("Years at company", [str(i % 30) for i in range(90)]).kind is Kind.NUMERIC


def test_reasons_tell_what_the_column_is() -> None:
    amounts = [str(i % 40 * 50) for i in range(200)]
    assert "income, debts or wealth" in proposal_of("capital-loss", amounts).reason
    assert "vehicles" in proposal_of("Vehicle Make", ["Ford", "Honda", "Toyota"] * 20).reason


@pytest.mark.parametrize(
    ("cells", "exact"),
    [
        (["Dec-2015", "Jan-2016", "Nov-2014"], "month"),
        (["2015-12-24", "2016-01-31", "2014-11-02"], "day"),
        (["2015-12-24 08:15", "2016-01-31 23:59", "2014-11-02 11:00"], "minute"),
        (["2015-12-24 08:15:01", "2016-01-31 23:59:59", "2014-11-02 11:00:30"], "second"),
    ],
)
def test_reason_of_a_date_says_how_exact_it_is(cells: list[str], exact: str) -> None:
    assert proposal_of("issued", cells * 10).reason == f"dates, which others may know to the {exact}"


def test_times_of_day_are_no_dates() -> None:
    cells = [f"{hour:02d}:{minute:02d}" for hour in range(24) for minute in (7, 31)]
    assert proposal_of("seen", cells * 2).reason == "times of day, which others may know to the minute"


def test_sampling_weight_is_dropped_and_body_weight_is_not() -> None:
    draw = random.Random(0)
    near_unique = [str(draw.randint(10_000, 900_000)) for _ in range(500)]
    found = proposal_of("fnlwgt", near_unique)
    assert (found.role, "sampling weight" in found.reason) == (Role.IDENTIFIER, True)
    assert proposal_of("weight", near_unique).role is Role.IDENTIFIER
    assert proposal_of("weight", ["203", *(str(draw.randint(50, 110)) for _ in range(500))]).role is Role.QI
    assert proposal_of("weight", [f"{draw.randint(50, 110)} kg" for _ in range(500)]).kind is Kind.NUMERIC


def test_free_text_is_an_identifier_even_where_the_name_says_sensitive() -> None:
    texts = [f"patient came in on day {i} with pain in the left arm and told of her son" for i in range(50)]
    assert proposal_of("diagnosis", texts).role is Role.IDENTIFIER
    assert proposal_of("x", texts).role is Role.IDENTIFIER


def test_nearly_unique_text_and_numbers_are_identifiers() -> None:
    assert proposal_of("x", [f"k{i * 7919 % 100_003}" for i in range(200)]).role is Role.IDENTIFIER
    assert proposal_of("x", [str(i * 7919) for i in range(200)]).role is Role.IDENTIFIER
    assert proposal_of("x", [f"{i * 7919}.25" for i in range(200)]).decide, "a measurement"


def test_in_doubt_the_user_decides_and_constant_is_insensitive() -> None:
    found = proposal_of("x", ["a", "b", "b"] * 10)
    assert (found.role, found.decide) == (Role.IDENTIFIER, True)
    assert proposal_of("x", ["a"] * 10).role is Role.INSENSITIVE
    assert proposal_of("x", [""] * 10).role is Role.INSENSITIVE
    assert proposal_of("x", ["a"] * 9 + [""]).decide, "missing or not tells apart"
    assert proposal_of("x", ["ann@example.org"] * 10).role is Role.IDENTIFIER, "constant, but somebody's"


def test_what_only_resembles_an_identifier_is_none() -> None:
    assert proposal_of("x", ["2019-2020", "2020-2021", "2021-2022"] * 10).decide
    assert proposal_of("x", ["New York", "Los Angeles", "San Diego", "Las Vegas", "El Paso"] * 10).decide
    assert proposal_of("x", ["0.5", "1.25", "-3.75"] * 10).decide
    zips = proposal_of("x", [f"0{2130 + i % 25}" for i in range(100)])
    assert (zips.role, zips.kind, "postal" in zips.reason) == (Role.QI, Kind.CATEGORICAL, True)


def test_no_reason_holds_a_cell() -> None:
    for kind in make.KINDS:
        frame = pl.read_csv(HIPAA / f"{kind}.csv", infer_schema=False).fill_null("")
        for name in frame.columns:
            reason = proposal_of(name, frame[name].to_list()).reason
            assert not any(cell in reason for cell in frame[name].to_list() if len(cell) > 3)


@pytest.mark.parametrize(
    ("name", "word"),
    [("diagnozami", "diagnoza"), ("hyperten", "hyperten"), ("pymnt", "payment"), ("Mitgliedsnummer", "mitglied")],
)
def test_other_forms_of_a_word_are_known(name: str, word: str) -> None:
    assert word in naming_of(name).words


@pytest.mark.parametrize("name", ["tax_number", "taxNumber", "taxnumber"])
def test_a_phrase_is_known_apart_and_in_one(name: str) -> None:
    assert "national" in {concept.key for concept in naming_of(name).concepts}


@pytest.mark.parametrize("name", ["household_expenses", "tumour_location", "sleep_hours"])
def test_the_sensitive_part_of_a_name_decides(name: str) -> None:
    assert proposal_of(name, [str(i % 40) for i in range(200)]).role is Role.SENSITIVE


def test_company_alone_makes_no_column_sensitive() -> None:
    """A sensitive column is released unchanged, so its neighbours are not enough."""
    cells = [str(i % 5) for i in range(200)]
    values = [distinct_values(pl.Series(n, cells)) for n in ("diagnosis", "treatment", "symptom", "zqv", "code")]
    proposals = propose_roles([profile_column(v) for v in values], {v.name: v.coded for v in values})
    assert [p.role for p in proposals[:3]] == [Role.SENSITIVE] * 3
    assert all(p.role is Role.IDENTIFIER and p.decide and "health" in p.reason for p in proposals[3:])


@pytest.mark.parametrize(
    ("name", "values", "role", "reason"),
    [
        ("emp_length", ["<1", "3", "10+"], Role.QI, "work"),
        ("cell_id", [str(i) for i in range(80)], Role.QI, "places"),
        ("id_cellule", [str(i) for i in range(80)], Role.QI, "places"),
        ("fraud", ["0", "1"], Role.SENSITIVE, "fraud"),
        ("beat", [str(i) for i in range(100, 140)], Role.QI, "places"),
        ("duration_sec", [str(i * 7) for i in range(90)], Role.SENSITIVE, "a duration"),
        ("free_school_meals", ["Y", "N"], Role.SENSITIVE, "welfare"),
        ("claim_type", ["theft", "glass"], Role.SENSITIVE, "claims"),
        ("reason_for_leaving", ["retired", "resigned"], Role.SENSITIVE, "leaving a job"),
        ("ARM", ["DRUG", "PLACEBO"], Role.SENSITIVE, "arms of a study"),
        ("VISIT", ["WEEK 1", "WEEK 2", "BASELINE"], Role.INSENSITIVE, "labels of visits"),
        ("Visite", ["V1", "V2", "Screening"], Role.INSENSITIVE, "labels of visits"),
    ],
)
def test_reason_is_true_of_the_column(name: str, values: list[str], role: Role, reason: str) -> None:
    proposal = proposal_of(name, (values * 200)[:400])
    assert (proposal.role, proposal.decide) == (role, False)
    assert reason in proposal.reason


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("judge", ["Ames", "Bolt", "Cole"], "staff"),
        ("officer", ["11", "12", "13"], "staff"),
        ("loan", [str(i) for i in range(1, 61)], "without a gap"),
        ("mobile", ["0", "1"], "too short"),
        ("zqv", [f"{i * 3},{i:02}" for i in range(90)], "numbers with a comma"),
    ],
)
def test_what_cannot_be_told_says_why(name: str, values: list[str], reason: str) -> None:
    proposal = proposal_of(name, (values * 200)[:400])
    assert proposal.decide
    assert reason in proposal.reason
    assert "neither" not in proposal.reason


def test_amounts_of_loans_are_no_sequence() -> None:
    assert proposal_of("loan", [str(i % 90 * 250 + 1000) for i in range(400)]).role is Role.SENSITIVE


@pytest.mark.parametrize(("neighbours", "decide"), [(("loan_amnt", "dti", "int_rate"), True), (("sex", "age"), False)])
def test_a_grade_among_loans_is_no_education(neighbours: tuple[str, ...], decide: bool) -> None:
    values = [distinct_values(pl.Series(n, [str(i % 5) for i in range(200)])) for n in (*neighbours, "grade")]
    proposal = propose_roles([profile_column(v) for v in values], {v.name: v.coded for v in values})[-1]
    assert proposal.decide is decide
    assert ("education" in proposal.reason) is not decide


@pytest.mark.parametrize(("delimiter", "kind"), [(";", Kind.NUMERIC), (",", Kind.CATEGORICAL)])
def test_decimal_commas_of_a_file_with_semicolons(tmp_path: Path, delimiter: str, kind: Kind) -> None:
    rows = [f'{i}{delimiter}"{i * 31 + 100},{i % 100:02}"' for i in range(200)]
    (tmp_path / "data.csv").write_text("\n".join((f"Nr{delimiter}Kosten_EUR", *rows)))
    cost = profile_table(read_table(tmp_path / "data.csv")).columns[1]
    assert cost.proposal.kind is kind
    assert cost.proposal.decide is (delimiter == ",")


def test_unit_at_the_end_of_a_name_is_no_place() -> None:
    lengths = [str(7 * i % 90 + 1) for i in range(300)]
    assert proposal_of("length_km", lengths).concept != "place"
    assert proposal_of("km", lengths).concept == "place"  # on a road


@pytest.mark.parametrize("name", ["incident_no", "event_number", "reference_no", "Vorgangsnummer"])
def test_numbers_of_incidents_are_no_phone_numbers(name: str) -> None:
    proposal = proposal_of(name, [f"0212{345_678 + 13 * i}" for i in range(300)])
    assert proposal.role is Role.IDENTIFIER
    assert "phone" not in proposal.reason


def test_numbered_questions_with_one_scale_are_answers() -> None:
    draw = random.Random(1)
    cells = {f"q{i}": [str(draw.randint(1, 5)) for _ in range(200)] for i in range(1, 7)}
    cells |= {"z1": [str(draw.randint(1, 40)) for _ in range(200)], "y": ["1", "2", "3", "4"] * 50}
    frame = pl.DataFrame(cells)
    values = [distinct_values(frame[name]) for name in frame.columns]
    found = propose_roles([profile_column(each) for each in values], {each.name: each.coded for each in values})
    assert [proposal.role for proposal in found[:6]] == [Role.SENSITIVE] * 6
    assert "one of 6 numbered questions with answers from 1 to 5" in found[0].reason
    assert [proposal.decide for proposal in found[6:]] == [True, True]


@pytest.mark.parametrize("name", ["plan_name", "vessel_name", "programme_name", "sheet_name", "file_name"])
def test_names_of_things_are_left_to_the_user(name: str) -> None:
    proposal = proposal_of(name, ["Gold", "Silver", "Bronze", "Iron", "Copper", "Zinc"] * 40)
    assert proposal.decide
    assert "of people or of something else" in proposal.reason


def test_a_vessel_is_a_ship_unless_blood_flows_in_it() -> None:
    assert proposal_of("vessel", ["Aurora", "Boreas", "Cygnus", "Dorado", "Esperia"] * 40).decide
    assert proposal_of("num_vessels", [str(i % 4) for i in range(200)]).concept == "health"


def test_a_count_of_days_is_no_point_in_time() -> None:
    days = [str(7 * i % 15) for i in range(300)]
    assert proposal_of("CLM_UTLZTN_DAY_CNT", days).role is Role.SENSITIVE
    assert proposal_of("day_count", days).decide
    assert proposal_of("week_no", [str(i % 52 + 1) for i in range(300)]).concept == "time"


def test_grade_of_a_subject_is_a_mark() -> None:
    marks = [str(7 * i % 9 + 1) for i in range(300)]
    assert proposal_of("english_grade", marks).concept == proposal_of("maths_grade", marks).concept == "mark"


def test_column_called_text_says_so_however_few_its_values() -> None:
    assert "free text" in proposal_of("commentaire", ["RAS", "voir dossier", "rien"] * 60).reason
