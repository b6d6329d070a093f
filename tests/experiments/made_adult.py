"""A made table in the form of Adult, for machines without it: the same columns and values, drawn at random."""

from __future__ import annotations

import random
from pathlib import Path

from experiments.distortion import COUNTRIES, MARRIED, OFFICE, SCHOOL, SERVICE, WORK

RELATIONSHIPS = ("Husband", "Wife", "Own-child", "Not-in-family", "Unmarried", "Other-relative")
RACES = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
MANUAL = ("Craft-repair", "Machine-op-inspct", "Transport-moving")


def write_adult(folder: Path, n_rows: int = 2000) -> None:
    """Write adult.data and adult.test; large gains go with large salaries, so that trees find something."""
    draw = random.Random(0)
    countries = [name for names in COUNTRIES.values() for name in names.split()]
    schools = list(SCHOOL)
    for name, end in (("adult.data", ""), ("adult.test", ".")):
        lines = ["|1x3 Cross validator"] if end else []
        for _ in range(n_rows):
            age, school = draw.randint(17, 90), draw.randrange(len(schools))
            gain = draw.choice([0] * 9 + [3000, 7688, 15024])
            high = gain > 7000 or draw.random() < (0.02 if age < 28 else 0.1 + 0.03 * school)
            cells = [
                *(age, draw.choice(list(WORK)), draw.randint(20000, 400000), schools[school], school + 1),
                *(draw.choice(list(MARRIED)), draw.choice([*OFFICE, *SERVICE, *MANUAL]), draw.choice(RELATIONSHIPS)),
                *(draw.choices(RACES, [85, 9, 3, 1, 1])[0], draw.choice(("Male", "Male", "Female")), gain, 0),
                *(draw.randint(20, 60), draw.choices(countries, [900, *[1] * (len(countries) - 1)])[0]),
            ]
            lines.append(", ".join(map(str, cells)) + (", >50K" if high else ", <=50K") + end)
        (folder / name).write_text("\n".join(lines) + "\n")
