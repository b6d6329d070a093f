"""The tables of the benchmarks, each a CSV file with the roles and kinds of its columns."""

from __future__ import annotations

import csv
import functools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from benchmarks.big_table import COLUMNS, write_big_table
from benchmarks.made_tables import MADE, SENSITIVE, write_made_table
from benchmarks.numeric_tables import NUMERIC, adult_columns, write_numeric_table
from benchmarks.numeric_tables import SENSITIVE as ROW_NUMBER
from shoal import datasets
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.errors import FileError
from shoal.schema import Kind, Role, Schema
from shoal.tables.csv import read_csv
from shoal.tables.table import Table

__all__ = [
    "BIG_SIZES",
    "CONTINUOUS_ROWS",
    "HALF",
    "PEOPLE",
    "ROWS",
    "Workload",
    "Workloads",
    "big_name",
    "find_adult",
    "needs_adult",
]

ROOT = Path(__file__).resolve().parents[1]
W3 = {"age": "numeric", "sex": "categorical", "native-country": "categorical"}
W8 = {name: "numeric" if name == "age" else "categorical" for name in COLUMNS if name != "salary"}
PATIENTS = {
    "birth_date": "date",
    "sex": "categorical",
    "zip": "categorical",
    "nationality": "categorical",
    "education": "categorical",
}
VISITS = {"birth_date": "date", "sex": "categorical", "zip": "categorical", "visit_date": "date"}
TRIPLED = "W8-tripled"  # three rows a person, ages one apart
HALF = "W8-half"  # a random half of the rows; all rows are its population
# Tables with several rows a person; with ROWS behind the name, rows are counted in place of people.
PEOPLE = ("patients-names", "visits", "visits-dates", TRIPLED)
ROWS = "-rows"
BIG_SIZES = (10_000, 100_000, 1_000_000)
CONTINUOUS_ROWS = 300_000


@dataclass(frozen=True)
class Workload:
    """A table on disk.

    Attributes:
        name: The name of the workload.
        path: The CSV file.
        kinds: The quasi-identifiers, each "numeric", "date" or "categorical".
        sensitive: The sensitive columns.
        dropped: The identifiers.
        person: The column that identifies people, if they have several rows.
        population: The CSV file of the population, if there is one.
    """

    name: str
    path: Path
    kinds: Mapping[str, str]
    sensitive: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    person: str = ""
    population: Path | None = None

    @property
    def arguments(self) -> list[str]:
        """The arguments of `shoal anonymize` about the columns."""
        words = ["--qi", ",".join(self.kinds), "--sensitive", ",".join(self.sensitive)]
        for kind in ("numeric", "date", "categorical"):
            names = [name for name, kind_of_name in self.kinds.items() if kind_of_name == kind]
            words += [f"--{kind}", ",".join(names)] if names else []
        words += ["--person", self.person] if self.person else []
        return words + (["--drop", ",".join(self.dropped)] if self.dropped else [])

    @property
    def schema(self) -> Schema:
        """The roles and kinds as a schema."""
        with open(self.path, encoding="utf-8", newline="") as file:
            header = next(csv.reader(file))
        roles = {Role.QI: tuple(self.kinds), Role.SENSITIVE: self.sensitive, Role.IDENTIFIER: self.dropped}
        if self.person:
            roles[Role.PERSON] = (self.person,)
        return Schema.build(header, roles, kinds={name: Kind(kind) for name, kind in self.kinds.items()})


class Workloads:
    """Writes each table to a folder on first use, and caches the codes of the last one."""

    def __init__(self, folder: Path, adult: Mapping[str, Sequence[str]] | None) -> None:
        self._folder = folder
        self._adult = adult
        self._workloads: dict[str, Workload] = {}
        self._encoded: tuple[str, Table, Encoded] | None = None

    def get(self, name: str) -> Workload:
        """Return a table by name: patients, one of PEOPLE or MADE, W3, W8, W8-half, big-ROWS or continuous-ROWS."""
        if name not in self._workloads:
            self._workloads[name] = self._make(name)
        return self._workloads[name]

    def encoded(self, name: str) -> tuple[Table, Encoded]:
        """Return a table as text and as codes."""
        if self._encoded is None or self._encoded[0] != name:
            self._encoded = None
            workload = self.get(name)
            table = read_csv(workload.path)
            population = None if workload.population is None else read_csv(workload.population)
            self._encoded = name, table, encode(table, workload.schema, population=population)
        return self._encoded[1:]

    def _make(self, name: str) -> Workload:
        dropped: tuple[str, ...]
        if name == "patients":
            dropped = ("name", "patient_id", "visit_date")
            return Workload(name, datasets.patients_path(), PATIENTS, ("disease", "cost"), dropped)
        if name.endswith(ROWS):
            counted = self.get(name.removesuffix(ROWS))
            return replace(counted, name=name, person="", dropped=(*counted.dropped, counted.person))
        if name == "patients-names":
            dropped = ("patient_id", "visit_date")
            return Workload(name, datasets.patients_path(), PATIENTS, ("disease", "cost"), dropped, "name")
        if name in ("visits", "visits-dates"):
            kinds = PATIENTS if name == "visits" else VISITS
            dropped = tuple(n for n in ("visit_id", "ward", "visit_date", "nationality", "education") if n not in kinds)
            return Workload(name, datasets.visits_path(), kinds, ("diagnosis", "cost"), dropped, "patient_id")
        path = self._folder / f"{name}.csv"
        if name in MADE:
            return Workload(name, path, write_made_table(name, path), (SENSITIVE,))
        if name in NUMERIC:
            kinds = write_numeric_table(name, path, find_adult("both") if adult_columns(name) else None)
            return Workload(name, path, kinds, (ROW_NUMBER,))
        if self._adult is None:
            raise FileError(f"workload {name} needs the Adult table, which was not found.")
        if name in ("W3", "W8"):
            kinds = W3 if name == "W3" else W8
            _write(path, self._adult, [*kinds, "salary"])
            return Workload(name, path, kinds, ("salary",))
        if name == HALF:
            _write(path.with_name("population.csv"), self._adult, [*W8, "salary"])
            _write(path, _half(self._adult), [*W8, "salary"])
            return Workload(name, path, W8, ("salary",), population=path.with_name("population.csv"))
        if name == TRIPLED:
            _write(path, _triple(self._adult), ["person", *W8, "salary"])
            return Workload(name, path, W8, ("salary",), person="person")
        form, _, n_rows = name.partition("-")
        write_big_table(self._adult, int(n_rows), path, continuous_age=form == "continuous")
        return Workload(name, path, W8, ("salary",))


def big_name(n_rows: int, *, continuous: bool = False) -> str:
    """Return the name of a big table."""
    return f"{'continuous' if continuous else 'big'}-{n_rows}"


def needs_adult(name: str) -> bool:
    """Return whether a workload is drawn from Adult."""
    return name.startswith(("W3", "W8", "big-", "continuous-")) or bool(adult_columns(name))


@functools.cache
def find_adult(part: Literal["train", "both"] = "train") -> dict[str, list[str]] | None:
    """Return the complete rows of Adult's training file, or of both files, by column; None if they are not found.

    Searches where `shoal.datasets.adult()` does, then in a folder of shared data beside this repository.
    """
    for folder in (None, ROOT.parent / "shared" / "data"):
        try:
            frame = datasets.adult(folder, part=part, complete=True)
        except FileError:
            continue
        return {name: frame[name].to_list() for name in frame.columns}
    return None


def _triple(columns: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return three rows for each row, of one person, each a year older than the last."""
    n_rows = len(columns["age"])
    tripled: dict[str, Sequence[str]] = {name: [*column] * 3 for name, column in columns.items()}
    tripled["age"] = [str(int(age) + year) for year in range(3) for age in columns["age"]]
    tripled["person"] = [str(row) for row in range(n_rows)] * 3
    return tripled


def _half(columns: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return a random half of the rows, always the same."""
    n_rows = len(columns["age"])
    chosen = sorted(random.Random(1).sample(range(n_rows), n_rows // 2))
    return {name: [column[row] for row in chosen] for name, column in columns.items()}


def _write(path: Path, columns: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(zip(*(columns[name] for name in names), strict=True))
