"""Generate the built-in visits table: several visits of each of the patients of a hospital that does not exist.

    python scripts/make_visits.py           write src/shoal/datasets/visits.csv
    python scripts/make_visits.py --check   exit 1 if that file differs from the output of this script

The people are drawn as those of scripts/make_patients.py, with another seed; the same rules make the bytes the same
everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from random import Random

try:
    from scripts import make_patients as patients
except ImportError:  # run as a script
    import make_patients as patients  # type: ignore[no-redef]

PATH = patients.PATH.with_name("visits.csv")
SEED = 20_260_214
N_PEOPLE = 4_000
N_ROWS = 12_000
COLUMNS = (
    "visit_id",
    "patient_id",
    "birth_date",
    "sex",
    "zip",
    "nationality",
    "education",
    "ward",
    "visit_date",
    "diagnosis",
    "cost",
)
MISSING = {"zip": 0.005, "education": 0.02}
MISSING_COST = 0.01
CHRONIC = 0.55  # the share of later visits with the diagnosis of the first
MOVES = 0.02  # the share of later visits after a move to another home
WARDS = patients.Draw(
    ("Emergency", "Internal medicine", "Surgery", "Cardiology", "Orthopaedics", "Neurology", "Outpatients"),
    (17, 22, 14, 11, 10, 7, 19),
)


def visits_of_people(random: Random) -> list[int]:
    """Draw how many visits each person has: nearly geometric, so a third has one and a few have many."""
    visits = [1] * N_PEOPLE
    people = list(range(N_PEOPLE))  # a person occurs here once for each visit so far
    for _ in range(N_ROWS - N_PEOPLE):
        person = people[patients.below(random, len(people))]
        visits[person] += 1
        people.append(person)
    return visits


def make_rows() -> list[dict[str, str]]:
    """Generate the visits, ordered by their id, which reveals nothing about them."""
    random = Random(SEED)
    zips = patients.zip_draws(random)
    region_draw = patients.Draw(range(len(patients.REGIONS)), [region[2] for region in patients.REGIONS])
    home, abroad = patients.NATIONALITIES[0], patients.NATIONALITIES[1:]
    foreign_draw = patients.Draw(abroad, [share for _, share, _ in abroad])
    share_abroad = foreign_draw.sums[-1] / (home[1] + foreign_draw.sums[-1])
    patient_ids: set[str] = set()
    rows: dict[str, dict[str, str]] = {}
    for n_visits in visits_of_people(random):
        while (patient_id := f"P-{1 + patients.below(random, 99_999):07d}") in patient_ids:
            pass
        patient_ids.add(patient_id)
        sex, region = patients.SEX(random), region_draw(random)
        foreign = random.random() < share_abroad * patients.REGIONS[region][3]
        nationality = foreign_draw(random)[0] if foreign else home[0]
        days = sorted(patients.draw_visit(random) for _ in range(n_visits))
        birth, age = patients.draw_birth(random, days[0], sex, foreign=foreign)
        person = {
            "patient_id": patient_id,
            "birth_date": birth.isoformat(),
            "sex": sex,
            "zip": zips[region](random),
            "nationality": nationality,
            "education": patients.draw_education(random, age, patients.REGIONS[region][4]),
        }
        for column, share in MISSING.items():
            if random.random() < share:
                person[column] = ""
        first = patients.draw_disease(random, age, sex, days[0])
        for number, day in enumerate(days):
            if number and random.random() < MOVES:
                person["zip"] = zips[region_draw(random)](random)
            visit = draw_visit_of(random, sex, birth, day, first if number and random.random() < CHRONIC else None)
            while (visit_id := f"V-{1 + patients.below(random, 999_999):07d}") in rows:
                pass
            rows[visit_id] = {"visit_id": visit_id} | person | visit
    return [rows[visit_id] for visit_id in sorted(rows)]


def draw_visit_of(random: Random, sex: str, birth: date, day: date, known: patients.Disease | None) -> dict[str, str]:
    """Draw what differs between the visits of a person; known: the diagnosis, if it was made before."""
    age = day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))
    disease = known or patients.draw_disease(random, age, sex, day)
    cost = patients.draw_cost(random, disease, age)
    return {
        "ward": WARDS(random),
        "visit_date": day.isoformat(),
        "diagnosis": disease.name,
        "cost": "" if random.random() < MISSING_COST else cost,
    }


def render() -> bytes:
    """Return the bytes of the CSV file."""
    return patients.render_table(COLUMNS, make_rows())


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file, or check it."""
    patients.write_or_check(PATH, render(), "make_visits.py", arguments)


if __name__ == "__main__":
    main()
