"""The Adult census table with expert knowledge: what rules and weights change in a release.

python examples/adult_with_rules.py [folder]            folder: where adult.data lies, if shoal does not find it

Pensions begin at 65, so a group that mixes people of 64 and 65 is worth little to those who study them; and a study of
wages must not mix White and Black. Rules say so, and how much it matters; weights say which column may lose least.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import polars as pl

import shoal

QI = ["age", "race", "sex", "education-num", "hours-per-week"]
K = 10
RULES = [
    shoal.Rule("age", inflection=(64, 65), importance=25),
    shoal.Rule("race", apart=("White", "Black"), importance=20),
]
WEIGHTS = {"age": 3}
CASES: dict[str, dict[str, Any]] = {
    "nothing said": {},
    "rules": {"rules": RULES},
    "weight of age 3": {"weights": WEIGHTS},
    "rules and weight": {"rules": RULES, "weights": WEIGHTS},
}


def load(folder: str | None) -> pl.DataFrame:
    """Return Adult's complete rows, or end with a word on where to get it."""
    try:
        return shoal.datasets.adult(folder, complete=True)
    except shoal.errors.FileError as error:
        sys.exit(f"This example needs the Adult table, which is not part of shoal.\n{error}")


def mixes_ages(cell: str) -> bool:
    """Say whether a released age, such as 64 or [60, 67], stands for people on both sides of 64|65."""
    if not cell.startswith("["):
        return cell == "*"
    low, high = cell.strip("[]").split(", ")
    return int(low) <= 64 and int(high) >= 65


def mixes_races(cell: str) -> bool:
    """Say whether a released race, such as White or {Black, White}, stands for both."""
    return cell == "*" or {"White", "Black"} <= set(cell.strip("{}").split(", "))


def share(frame: pl.DataFrame, column: str, mixes: Callable[[str], bool]) -> float:
    """Return the share of the rows whose cell mixes what a rule keeps apart."""
    return sum(map(mixes, frame[column])) / frame.height


def main(folder: str | None = None) -> None:
    """Release the table four times and show what each keeps."""
    adult = load(folder)
    print(f"{adult.height:,} rows, k = {K}, quasi-identifiers {', '.join(QI)}.\n")
    print(f"{'':<18}{'loss':>8}{'of age':>8}{'of the rest':>13}{'64|65 mixed':>13}{'White|Black mixed':>19}")
    for name, options in CASES.items():
        release = shoal.anonymize(
            adult.select(*QI, "salary"), qi=QI, sensitive=["salary"], k=K, effort="fast", **options
        )
        scored = shoal.measure(adult, release.frame, qi=QI)  # all columns alike, whatever they weighed in the run
        age = scored.per_attribute["age"]
        rest = (sum(scored.per_attribute.values()) - age) / (len(QI) - 1)
        ages, races = share(release.frame, "age", mixes_ages), share(release.frame, "race", mixes_races)
        print(f"{name:<18}{scored.ncp:8.4f}{age:8.4f}{rest:13.4f}{ages:13.2%}{races:19.2%}")
        for verdict in release.rules:
            kept = f"broken in {verdict.broken_groups} groups" if verdict.broken_groups else "kept"
            print(f"    {verdict.rule}: {kept}")
    print("\nThe rules cost next to nothing here, because a group near the border can be made on either side of it.")
    print("The weight moves loss from age to the other columns; the sum rises a little.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
