"""Use expert knowledge on the Adult census table: how rules and weights change a release.

python examples/adult_with_rules.py [folder]            folder: contains adult.data, if shoal does not find it

Pensions begin at 65, so a group that mixes people of 64 and 65 is of little use to those who study them, and a study of
wages must not mix White and Black. Rules express this and its importance; weights say which column should lose least.
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
    "no rule or weight": {},
    "rules": {"rules": RULES},
    "weight of age 3": {"weights": WEIGHTS},
    "rules and weight": {"rules": RULES, "weights": WEIGHTS},
}


def load(folder: str | None) -> pl.DataFrame:
    """Return the complete rows of Adult; if the table is not there, exit and say where to get it."""
    try:
        return shoal.datasets.adult(folder, complete=True)
    except shoal.errors.FileError as error:
        sys.exit(f"This example needs the Adult table, which is not part of shoal.\n{error}")


def mixes_ages(cell: str) -> bool:
    """Return whether a released age, such as 64 or [60, 67], covers both sides of 64|65."""
    if not cell.startswith("["):
        return cell == "*"
    low, high = cell.strip("[])").split(", ")
    last = int(high) - cell.endswith(")")  # [60, 65) ends at 64
    return int(low) <= 64 and last >= 65


def mixes_races(cell: str) -> bool:
    """Return whether a released race, such as White or {Black, White}, covers both."""
    return cell == "*" or {"White", "Black"} <= set(cell.strip("{}").split(", "))


def share(frame: pl.DataFrame, column: str, mixes: Callable[[str], bool]) -> float:
    """Return the share of rows whose cell mixes what a rule separates."""
    return sum(map(mixes, frame[column])) / frame.height


def main(folder: str | None = None) -> None:
    """Release the table four times and show what each release keeps."""
    adult = load(folder)
    print(f"{adult.height:,} rows, k = {K}, quasi-identifiers {', '.join(QI)}.\n")
    print(f"{'':<18}{'loss':>8}{'of age':>8}{'of the rest':>13}{'64|65 mixed':>13}{'White|Black mixed':>19}")
    for name, options in CASES.items():
        release = shoal.anonymize(
            adult.select(*QI, "salary"), qi=QI, sensitive=["salary"], k=K, effort="fast", **options
        )
        measures = shoal.measure(adult, release.frame, qi=QI)  # with equal weights, whatever those of the run
        age = measures.per_attribute["age"]
        rest = (sum(measures.per_attribute.values()) - age) / (len(QI) - 1)
        ages, races = share(release.frame, "age", mixes_ages), share(release.frame, "race", mixes_races)
        print(f"{name:<18}{measures.ncp:8.4f}{age:8.4f}{rest:13.4f}{ages:13.2%}{races:19.2%}")
        for verdict in release.rules:
            outcome = f"broken in {verdict.broken_groups} groups" if verdict.broken_groups else "kept"
            print(f"    {verdict.rule}: {outcome}")
    print("\nThe rules cost next to nothing here, because groups near a border can be formed on either side of it.")
    print("The weight moves loss from age to the other columns; the total rises a little.")


if __name__ == "__main__":
    main(*sys.argv[1:2])
