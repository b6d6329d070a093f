"""Generate the built-in patients table: the register of a hospital whose patients do not exist.

    python scripts/make_patients.py           write src/shoal/datasets/patients.csv
    python scripts/make_patients.py --check   exit 1 if that file differs from the output of this script

The bytes are the same everywhere: all randomness comes from ``Random.random``, the only stream that Python guarantees,
never from its other functions or from numpy. Names, frequencies and costs are invented and describe no real place.
"""

from __future__ import annotations

import argparse
import csv
import io
import math
import sys
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

PATH = Path(__file__).parents[1] / "src" / "shoal" / "datasets" / "patients.csv"
SEED = 20_250_107
N_ROWS = 5_000
COLUMNS = (
    "name",
    "patient_id",
    "birth_date",
    "sex",
    "zip",
    "nationality",
    "education",
    "disease",
    "cost",
    "visit_date",
)
MISSING = {"zip": 0.005, "nationality": 0.01, "education": 0.02, "cost": 0.01}
FIRST_VISIT, LAST_VISIT = date(2023, 1, 1), date(2024, 12, 31)

T = TypeVar("T")


class Draw(Generic[T]):
    """A weighted choice among items; the weights are summed once."""

    def __init__(self, items: Sequence[T], weights: Sequence[float]) -> None:
        """Set one weight per item; an item with weight 0 is never drawn."""
        self.items = items
        self.sums = list(accumulate(weights))
        if len(self.sums) != len(items):
            raise ValueError(f"{len(items)} items, but {len(self.sums)} weights")

    def __call__(self, random: Random) -> T:
        """Draw one item."""
        return self.items[bisect(self.sums, random.random() * self.sums[-1], hi=len(self.sums) - 1)]


def zipf(n: int, exponent: float) -> list[float]:
    """Return weights that fall with the rank; the first is 1."""
    return [1.0 / rank**exponent for rank in range(1, n + 1)]


def below(random: Random, n: int) -> int:
    """Draw an integer from 0 to n - 1."""
    return int(random.random() * n)


def normal(random: Random) -> float:
    """Draw roughly from the standard normal: twelve uniforms, added in a loop because ``sum`` varies by version."""
    total = -6.0
    for _ in range(12):
        total += random.random()
    return total


# Names by origin: for women, for men, of families. The first ones are the most frequent.
NAMES = {
    "english": (
        "Emily Grace Hannah Ruth Claire Alice Nora Paige Helen Beth Martha Lucy Judith Fern Ada Maeve Tessa Ivy Opal",
        "James Owen Henry Peter Thomas Jack Luke Walter Simon Neil Harold Miles Ross Amos Clyde Silas Earl Reid Bram",
        "Harwell Brandt Collins O'Dell Fairley Marsh Whitcomb Thorne Keating Penrose Lathrop Gill Ashby Crewe Holt "
        "Merrow Stroud Tilbury Wexham Yardley Pike Rudd Kettering Loxley Barlow-Finch McTavin Winslade Orrick Hale",
    ),
    "spanish": (
        "María Lucía Carmen Elena Paola Ximena Rosa Inés Pilar Noemí Beatriz Yolanda Marisol Itzel Araceli",
        "José Luis Diego Andrés Mateo Hernán Joaquín Raúl Iván Tomás Efraín Rubén Néstor Camilo Íñigo",
        "Robles Peñalver Quintana Morales Ibarra Zárate Valdovinos Luque Carrasco Olmedo Núñez Tovar Sandino Arrieta "
        "Belmonte Cisneros Llamas Huerta Montalvo Güell",
    ),
    "portuguese": (
        "Ana Beatriz Lúcia Fátima Joana Inês Conceição Rafaela Graça Teresa",
        "João Paulo Tiago Rui Nuno Caio Sérgio Duarte Gonçalo Vasco",
        "Teixeira Moura Brandão Faria Seixas Lobato Queirós Varela Tavares Simões Falcão Pimentel Barros Évora Lopes",
    ),
    "continental": (
        "Sofie Anke Chloé Giulia Agnès Ingrid Bianca Maren Elisa Greta Liv Ottilie Zoë Saskia Eleni",
        "Lukas Jean Matteo Niels Emil Bastien Jürgen Paolo Søren Théo Rocco Anders Kostas Bjørn Ruben",
        "Vogelsang Lemaire Rinaldi Brandstätter Dubreuil Moretti Haugen Lindqvist Verhoeven Pappas Esposti Jørgensen "
        "Delacour Weidner Tannhaus Ferrante Kjær Rousselet Mäkelin Zanetto",
    ),
    "slavic": (
        "Anna Olena Katarzyna Irina Milena Zofia Darya Vesna Ludmila Agnieszka",
        "Piotr Ivan Marek Dmytro Oleg Łukasz Bogdan Stanislav Miloš Jiří",
        "Wójtowicz Koval Petrenko Zieliński Horak Sokolnik Marković Babenko Jasiński Dvořan Lysenko Mazurek Orlovsky "
        "Švec Żurawski",
    ),
    "arabic": (
        "Fatima Layla Amina Nour Salma Huda Rania Samira Zeinab Dalia",
        "Omar Yusuf Karim Hassan Tariq Ali Samir Nabil Idris Walid",
        "Haddadin Al-Masri Nasser Khoury Ben-Salem Farouk Mansouri Darwish El-Amin Saab Zidani Qasem Bakri Touma Rahal",
    ),
    "indian": (
        "Priya Anjali Meera Sunita Kavya Lakshmi Nisha Asha Devika Farzana",
        "Arjun Rahul Vikram Sanjay Anil Imran Kiran Harish Naveen Gopal",
        "Sharan Patil Iyengar Chaudhry Menon Rahmani Bhattarai Deshpur Nambiar Gillani Trivedi Kapadia Sethuram Basu",
    ),
    "east asian": (
        "Mei Xiu Linh Yuki Ji-woo Hana Thuy Ying Sakura Lan",
        "Wei Jun Minh Hiro Min-ho Tao Duc Kenji Bao Feng",
        "Chen Nguyen Li Park Tran Sato Huang Kimura Pham Lin Cho Zhou Vo Ono Xie",
    ),
    "african": (
        "Abeni Makena Adwoa Tigist Zola Nia Chiamaka Hirut Ify Akosua",
        "Kwame Tunde Abebe Jelani Chidi Sekou Kofi Dawit Amadi Yohannes",
        "Okafor Mensah Tesfaye Adeyemi Boateng Diallo Kamara Mwangi Bekele Owusu Nwosu Sesay Asante Gebru Toure",
    ),
    "caribbean": (
        "Marlene Nadège Shanice Yvrose Keisha Fabiola Célia Odette Mireille Jasmine",
        "Jean-Robert Wesner Andre Delroy Frantz Jude Marlon Réginald Winston Kervens",
        "Baptiste Desrosiers Campbell Pierre-Louis Grant Toussaint Bellegarde Fontus Clarke Saint-Fleur Joazard",
    ),
}

# Nationality, its share in 1,000 people, and the origin of its names. The tail below 1 has a handful of people.
NATIONALITIES = (
    ("United States", 790.0, "english"),
    ("Brazil", 34.0, "portuguese"),
    ("Dominican Republic", 27.0, "spanish"),
    ("China", 20.0, "east asian"),
    ("Haiti", 17.0, "caribbean"),
    ("India", 14.0, "indian"),
    ("Portugal", 11.0, "portuguese"),
    ("El Salvador", 9.5, "spanish"),
    ("Vietnam", 8.5, "east asian"),
    ("Guatemala", 7.5, "spanish"),
    ("Cape Verde", 6.0, "portuguese"),
    ("Colombia", 5.5, "spanish"),
    ("Canada", 5.0, "english"),
    ("Mexico", 4.5, "spanish"),
    ("United Kingdom", 4.0, "english"),
    ("Jamaica", 3.6, "caribbean"),
    ("Ireland", 3.2, "english"),
    ("Italy", 2.8, "continental"),
    ("Poland", 2.5, "slavic"),
    ("Ukraine", 2.3, "slavic"),
    ("Nepal", 2.1, "indian"),
    ("Germany", 1.9, "continental"),
    ("Nigeria", 1.7, "african"),
    ("Ghana", 1.5, "african"),
    ("South Korea", 1.4, "east asian"),
    ("Morocco", 1.2, "arabic"),
    ("Greece", 1.1, "continental"),
    ("Ethiopia", 1.0, "african"),
    ("Syria", 0.9, "arabic"),
    ("Japan", 0.8, "east asian"),
    ("Egypt", 0.7, "arabic"),
    ("France", 0.6, "continental"),
    ("Iraq", 0.5, "arabic"),
    ("Czechia", 0.4, "slavic"),
    ("Kenya", 0.4, "african"),
)
# The origins of the names of the first nationality.
MELTING_POT = Draw(tuple(NAMES), (52, 13, 6, 9, 5, 2, 3, 4, 4, 2))

# Region: first three digits, number of codes, share of the patients, share of foreigners relative to the mean, years of
# schooling relative to the mean, and the most frequent codes.
REGIONS: tuple[tuple[str, int, float, float, float, tuple[str, ...]], ...] = (
    ("021", 26, 41.0, 1.5, 0.5, ("02139", "02118", "02124")),
    ("024", 14, 16.0, 0.9, 1.4, ("02453",)),
    ("018", 14, 13.0, 1.1, -0.3, ("01841",)),
    ("010", 22, 11.0, 0.5, -0.4, ("01001", "01060")),
    ("011", 7, 6.0, 0.9, -0.8, ("01109",)),
    ("030", 12, 5.0, 0.3, 0.1, ("03060",)),
    ("060", 8, 3.0, 0.6, 0.4, ("06010",)),
    ("028", 7, 2.5, 0.8, -0.2, ("02860",)),
    ("100", 6, 1.6, 1.4, 1.2, ("10025",)),
    ("112", 4, 0.9, 1.6, 0.0, ("11215",)),
)

AGES = ((0, 1), (1, 5), (5, 18), (18, 30), (30, 45), (45, 60), (60, 75), (75, 90), (90, 104))
AGE_DRAW = {
    "F": Draw(AGES, (2.2, 3.2, 6.0, 12.0, 18.0, 18.0, 22.0, 16.0, 2.6)),
    "M": Draw(AGES, (2.6, 3.8, 6.8, 8.0, 12.0, 20.0, 27.0, 17.5, 1.3)),
    "X": Draw(AGES, (0.0, 0.0, 8.0, 50.0, 28.0, 10.0, 4.0, 0.0, 0.0)),
}
SEX = Draw(("F", "M", "X"), (52.4, 47.2, 0.4))

YEARS = {  # of school to complete each level
    "No schooling": 0,
    "Primary": 6,
    "Lower secondary": 9,
    "Upper secondary": 12,
    "Vocational": 14,
    "Bachelor": 16,
    "Master": 18,
    "Doctorate": 21,
}


@dataclass(frozen=True)
class Disease:
    """One disease: its frequency by age and sex, and the cost of its treatment."""

    name: str
    weights: tuple[float, float, float, float, float]  # under 5, 5 to 17, 18 to 39, 40 to 64, from 65
    cost: float  # median
    spread: float = 0.5  # of the logarithm of the cost
    female: float = 1.0
    male: float = 1.0
    ages: tuple[int, int] = (0, 120)
    winter: bool = False

    def weight(self, age: int, sex: str) -> float:
        """Return the relative frequency for a person of this age and sex; 0 outside its ages and sexes."""
        if not self.ages[0] <= age <= self.ages[1]:
            return 0.0
        sex_factor = {"F": self.female, "M": self.male, "X": math.sqrt(self.female * self.male)}[sex]
        return sex_factor * self.weights[bisect((5, 18, 40, 65), age)]


DISEASES = (
    Disease("Hypertension", (0, 0, 4, 17, 19), 620),
    Disease("Type 2 diabetes", (0, 0.2, 2.5, 11, 11), 1480, male=1.2),
    Disease("Coronary heart disease", (0, 0, 0.6, 7, 14), 9800, 0.8, male=1.6),
    Disease("Influenza", (12, 9, 4, 3, 5), 410, 0.7, winter=True),
    Disease("Asthma", (9, 14, 6, 3, 2), 730),
    Disease("Pneumonia", (8, 3, 1.5, 3, 8), 6900, 0.7, winter=True),
    Disease("Bronchitis", (14, 6, 3, 4, 5), 380, winter=True),
    Disease("Fracture", (6, 16, 7, 5, 9), 4300, 0.9),
    Disease("Osteoarthritis", (0, 0, 0.4, 6, 12), 3900, 0.9, female=1.4),
    Disease("Back pain", (0, 1, 7, 9, 5), 850, 0.7),
    Disease("Depression", (0, 3, 8, 6, 3), 1150, 0.6, female=1.6),
    Disease("Anxiety disorder", (0, 4, 8, 4, 1.5), 820, female=1.5),
    Disease("Gastritis", (1, 3, 6, 5, 4), 690),
    Disease("Pregnancy", (0, 2, 26, 6, 0), 7400, 0.4, male=0, ages=(16, 47)),
    Disease("Breast cancer", (0, 0, 0.7, 5, 5), 21500, 0.6, female=1.0, male=0.01, ages=(22, 120)),
    Disease("Prostate cancer", (0, 0, 0, 3.5, 8), 17800, 0.6, female=0, ages=(45, 120)),
    Disease("Atrial fibrillation", (0, 0, 0.3, 2.5, 8), 5200, 0.7),
    Disease("Heart failure", (0.1, 0, 0.2, 1.8, 8.5), 11200, 0.7),
    Disease("Stroke", (0, 0.1, 0.4, 2.2, 7), 16400, 0.8),
    Disease("COPD", (0, 0, 0.1, 3, 7), 4100, 0.7),
    Disease("Chronic kidney disease", (0.1, 0.2, 0.6, 2.4, 5), 8700, 0.9),
    Disease("Cataract", (0, 0, 0, 1, 7.5), 3300, 0.3),
    Disease("Appendicitis", (0.8, 8, 4, 1.2, 0.4), 8900, 0.4),
    Disease("Otitis media", (19, 7, 0.8, 0.3, 0.1), 260),
    Disease("Tonsillitis", (9, 11, 3, 0.5, 0), 340),
    Disease("Gallstones", (0, 0.2, 2.5, 3.2, 2.5), 7600, 0.4, female=1.7),
    Disease("Migraine", (0, 3, 5, 3, 0.6), 560, female=2.2),
    Disease("Colorectal cancer", (0, 0, 0.2, 1.9, 3.6), 24800, 0.6),
    Disease("Neonatal jaundice", (60, 0, 0, 0, 0), 2100, 0.6, ages=(0, 0)),
    Disease("Dementia", (0, 0, 0, 0.4, 6), 6100, 0.8, female=1.2, ages=(55, 120)),
    Disease("Epilepsy", (1.5, 2, 1, 0.7, 0.7), 2700, 0.7),
    Disease("Alcohol dependence", (0, 0.1, 1.8, 2.4, 0.8), 3600, 0.8, male=2.2),
    Disease("Lung cancer", (0, 0, 0.05, 1.2, 2.2), 31500, 0.6),
    Disease("Hepatitis C", (0, 0, 0.7, 1, 0.3), 18900, 0.9),
    Disease("Rheumatoid arthritis", (0, 0.2, 0.7, 1.2, 1), 7900, 0.6, female=2.0),
    Disease("HIV infection", (0, 0.1, 0.8, 0.6, 0.1), 13600, 0.5, male=2.0),
    Disease("Schizophrenia", (0, 0.1, 0.7, 0.4, 0.1), 9400, 0.7),
    Disease("Multiple sclerosis", (0, 0, 0.45, 0.3, 0.05), 27400, 0.5, female=2.0),
    Disease("Parkinson disease", (0, 0, 0, 0.15, 1), 6700, 0.6),
    Disease("Tuberculosis", (0.1, 0.1, 0.15, 0.12, 0.15), 12100, 0.7),
    Disease("Cystic fibrosis", (0.6, 0.5, 0.06, 0, 0), 42500, 0.6),
    Disease("Huntington disease", (0, 0, 0.03, 0.1, 0.02), 14700, 0.5),
)


def zip_draws(random: Random) -> list[Draw[str]]:
    """Choose the codes of each region, with frequencies that fall with the rank."""
    draws = []
    for prefix, n_codes, _, _, _, first in REGIONS:
        codes = list(first)
        while len(codes) < n_codes:
            code = f"{prefix}{1 + below(random, 95):02d}"
            if code not in codes:
                codes.append(code)
        draws.append(Draw(codes, zipf(n_codes, 1.1)))
    return draws


def draw_name(random: Random, sex: str, origin: str) -> str:
    """Draw a given name, sometimes an initial, and a family name."""
    women, men, families = (names.split() for names in NAMES[origin])
    given_names = women if sex == "F" or (sex == "X" and random.random() < 0.5) else men
    name = Draw(given_names, zipf(len(given_names), 0.6))(random)
    family = Draw(families, zipf(len(families), 0.6))(random)
    if random.random() < 0.35:
        name += f" {chr(ord('A') + below(random, 26))}."
    return f"{name} {family}"


def draw_education(random: Random, age: int, bonus: float) -> str:
    """Draw the highest level completed: older people left school earlier, and nobody is too young for their level."""
    mean = 14.3 + bonus - 0.045 * max(0, age - 45)
    years = min(mean + 3.0 * normal(random), age - 5.5)
    return list(YEARS)[max(0, bisect(list(YEARS.values()), years) - 1)]


def draw_birth(random: Random, visit: date, sex: str, *, foreign: bool) -> tuple[date, int]:
    """Draw a birth date and the age in years at the visit; for some people from abroad, only the year is known."""
    low, high = AGE_DRAW[sex](random)
    birth = visit - timedelta(days=int((low + random.random() * (high - low)) * 365.25))
    if foreign and random.random() < 0.06:
        birth = birth.replace(month=1, day=1)
    age = visit.year - birth.year - ((visit.month, visit.day) < (birth.month, birth.day))
    return birth, age


def draw_visit(random: Random) -> date:
    """Draw a day of the two years; three of five visits on a weekend move to the following Monday."""
    visit = FIRST_VISIT + timedelta(days=below(random, (LAST_VISIT - FIRST_VISIT).days + 1))
    monday = visit + timedelta(days=7 - visit.weekday())
    return monday if visit.weekday() >= 5 and random.random() < 0.6 and monday <= LAST_VISIT else visit


def draw_disease(random: Random, age: int, sex: str, visit: date) -> Disease:
    """Draw the disease of a person of this age and sex at this time of the year."""
    season = 1.9 if visit.month in (11, 12, 1, 2, 3) else 0.4
    return Draw(DISEASES, [d.weight(age, sex) * (season if d.winter else 1.0) for d in DISEASES])(random)


def draw_cost(random: Random, disease: Disease, age: int) -> str:
    """Draw a log-normal cost around the median of the disease, which rises by a quarter over a century of age."""
    return f"{disease.cost * (1 + age / 400) * math.exp(disease.spread * normal(random)):.2f}"


def make_rows() -> list[dict[str, str]]:
    """Generate the people, ordered by their id, which reveals nothing about them."""
    random = Random(SEED)
    zips = zip_draws(random)
    region_draw = Draw(range(len(REGIONS)), [region[2] for region in REGIONS])
    home, abroad = NATIONALITIES[0], NATIONALITIES[1:]
    foreign_draw = Draw(abroad, [share for _, share, _ in abroad])
    share_abroad = foreign_draw.sums[-1] / (home[1] + foreign_draw.sums[-1])
    rows: dict[str, dict[str, str]] = {}
    while len(rows) < N_ROWS:
        patient_id = f"P-{1 + below(random, 99_999):07d}"
        if patient_id in rows:
            continue
        sex, visit, region = SEX(random), draw_visit(random), region_draw(random)
        foreign = random.random() < share_abroad * REGIONS[region][3]
        nationality, _, origin = foreign_draw(random) if foreign else home
        birth, age = draw_birth(random, visit, sex, foreign=foreign)
        disease = draw_disease(random, age, sex, visit)
        rows[patient_id] = {
            "name": draw_name(random, sex, origin if foreign else MELTING_POT(random)),
            "patient_id": patient_id,
            "birth_date": birth.isoformat(),
            "sex": sex,
            "zip": zips[region](random),
            "nationality": nationality,
            "education": draw_education(random, age, REGIONS[region][4]),
            "disease": disease.name,
            "cost": draw_cost(random, disease, age),
            "visit_date": visit.isoformat(),
        }
        for column, share in MISSING.items():
            if random.random() < share:
                rows[patient_id][column] = ""
    return [rows[patient_id] for patient_id in sorted(rows)]


def render() -> bytes:
    """Return the bytes of the CSV file."""
    return render_table(COLUMNS, make_rows())


def render_table(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> bytes:
    """Return the bytes of a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


def write_or_check(path: Path, content: bytes, script: str, arguments: Sequence[str] | None) -> None:
    """Write the file of a table or, with --check, compare it with its content."""
    parser = argparse.ArgumentParser(description=f"Generate the built-in table {path.name}.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the file differs")
    if not parser.parse_args(arguments).check:
        path.write_bytes(content)
    elif not path.exists() or path.read_bytes() != content:
        sys.exit(f"{path} differs from the output of this script. Run python scripts/{script}.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file, or check it."""
    write_or_check(PATH, render(), "make_patients.py", arguments)


if __name__ == "__main__":
    main()
