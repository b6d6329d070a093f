"""The subjects of the contract: every method of the registry, and tables that have broken a method before.

A new method is tested with its default options as soon as it is in the registry. Add a line to OPTIONS to test its
variants too.
"""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import pytest

import shoal
from shoal import Release
from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import decode
from shoal.encoding.partition import Partition
from shoal.methods import Method, Run, named
from shoal.methods.registry import infos
from shoal.models import KAnonymity
from tests.strategies import Sheet

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "shoaling": [{}, {"objective": "variance", "effort": "fast"}],
    "mondrian": [{"variant": "strict"}, {"variant": "relaxed"}, {"variant": "single-dimensional"}],
    "incognito": [{}, {"objective": "ncp"}],
    "optimal": [
        {"objective": objective} for objective in ("ncp", "height", "precision", "aecs", "dm", "entropy", "rv")
    ],
    "rv-global": [{}, {"subsets": True, "budget": 4}],
    "kaca": [{}, {"weighting": "height"}],
    "utility-driven": [{}, {"suppress": "attributes"}, {"score": "cluster"}],
    "sbca": [{}, {"remainder": "nearest"}],
}
# Methods that may leave rows out; all others have to place every row.
MAY_SUPPRESS: frozenset[str] = frozenset({"datafly"})
# Methods that release each column on one level: without a hierarchy that is the value or "*", in every row.
FULL_DOMAIN = frozenset({"datafly", "incognito", "optimal", "rv-global", "rv-local", "rv-hybrid"})


def _subjects() -> dict[str, Method]:
    found = {}
    for info in infos():
        for options in OPTIONS.get(info.name, [{}]):
            found["-".join([info.name, *map(str, options.values())])] = named(info.name, **options)
    return found


METHODS = _subjects()
every_method = pytest.mark.parametrize("method", [pytest.param(method, id=name) for name, method in METHODS.items()])

DISEASES = ("flu", "cold", "ulcer", "asthma", "")


def make_sheet(kinds: dict[str, str], *rows: tuple[str, ...]) -> Sheet:
    """Return a table of these rows, with a sensitive column that differs between rows with equal quasi-identifiers."""
    columns = {name: [row[i] for row in rows] for i, name in enumerate(kinds)}
    columns["disease"] = [DISEASES[i % len(DISEASES)] for i in range(len(rows))]
    return Sheet(columns, kinds)


MIXED = {"age": "numeric", "sex": "categorical", "seen": "date"}
SMALL = {
    "constant": make_sheet(MIXED, *[("40", "f", "2020-01-01")] * 7),
    "all missing": make_sheet(MIXED, *[("", "", "")] * 6),
    "missing and not": make_sheet(
        MIXED, ("1", "", ""), ("", "f", "2020-01-01"), ("2", "m", ""), ("", "", "2021-05-06")
    ),
    "one missing": make_sheet({"age": "numeric"}, ("30",), ("30",), ("30",), ("",)),
    "duplicate rows": make_sheet(MIXED, *[("40", "f", "2020-01-01")] * 5, *[("41", "m", "2020-01-02")] * 4),
    "all distinct": make_sheet(MIXED, *[(str(i), f"s{i}", f"2020-01-{i + 1:02}") for i in range(11)]),
    "one column": make_sheet({"age": "numeric"}, *[(str(i * i),) for i in range(9)]),
    "one category": make_sheet({"sex": "categorical"}, *[(c,) for c in "aaaabbbccd"]),
    "one row": make_sheet(MIXED, ("40", "f", "2020-01-01")),
    "two rows": make_sheet(MIXED, ("40", "f", "2020-01-01"), ("41", "m", "2020-01-01")),
    "skewed": make_sheet(
        {"age": "numeric", "zip": "categorical"}, *[("0", "9")] * 8, ("1", "9"), ("0", "1"), ("99", "1")
    ),
    "pairs agree, triples do not": make_sheet(
        {"a": "categorical", "b": "categorical", "c": "categorical"},
        *[(a, b, c) for a in "xy" for b in "xy" for c in "xy" if (a + b + c).count("y") % 2 == 0],
        *[(a, b, c) for a in "xy" for b in "xy" for c in "xy" if (a + b + c).count("y") % 2 == 0],
        ("x", "x", "y"),
    ),
}
every_table = pytest.mark.parametrize("sheet", [pytest.param(sheet, id=name) for name, sheet in SMALL.items()])


def random_sheet(seed: int, n_rows: int = 80) -> Sheet:
    """Return a table with every kind of column, ties and missing values."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n_rows):
        age = "" if draw.random() < 0.05 else str(int(draw.gauss(45, 18)))
        seen = "" if draw.random() < 0.1 else (date(2020, 1, 1) + timedelta(draw.randrange(900))).isoformat()
        rows.append((age, draw.choice("fffmmx"), seen, draw.choice(["02139", "02140", "10001", "10002", "94110", ""])))
    return make_sheet({**MIXED, "zip": "categorical"}, *rows)


def coarse_sheet(seed: int, n_rows: int = 60) -> Sheet:
    """Return a table with few distinct rows, and two sensitive columns that sort equal rows differently."""
    draw = random.Random(seed)
    sheet = make_sheet(
        {"sex": "categorical", "age": "numeric"}, *[(draw.choice("fm"), draw.choice("1123")) for _ in range(n_rows)]
    )
    return replace(sheet, columns={**sheet.columns, "ward": [str(draw.randrange(90)) for _ in range(n_rows)]})


def shuffled(sheet: Sheet, seed: int) -> Sheet:
    """Return the same rows in a different order."""
    order = random.Random(seed).sample(range(sheet.n_rows), sheet.n_rows)
    return replace(sheet, columns={name: [cells[i] for i in order] for name, cells in sheet.columns.items()})


def release(sheet: Sheet, k: int, method: Method, **options: Any) -> Release:
    """Anonymise the table as a user would; a method that must suppress rows may suppress any number."""
    limit = {"suppression_limit": suppression_limit(method)}
    if k == 1:  # promises nothing, and is allowed beside another model only
        options.setdefault("models", [shoal.MaximalRisk(1)])
    return shoal.anonymize(
        sheet.frame, k=k, method=method, sensitive=sheet.sensitive, **limit, **sheet.arguments, **options
    )


def suppression_limit(method: Method) -> Fraction:
    """Return the share of rows that a method may suppress."""
    return Fraction(method.name in MAY_SUPPRESS)


def partition(sheet: Sheet, k: int, method: Method, **run: Any) -> tuple[Encoded, Partition]:
    encoded = sheet.encoded
    return encoded, method.partition(encoded, (KAnonymity(k),), Run(suppression_limit=suppression_limit(method), **run))


def released_rows(sheet: Sheet, encoded: Encoded, made: Partition) -> list[tuple[str, ...]]:
    return decode(encoded, made, sheet.schema).table.frame.rows()


def smaller_k(sheet: Sheet) -> list[int]:
    return sorted({k for k in (1, 2, 3, 5, sheet.n_rows // 2, sheet.n_rows) if 1 <= k <= sheet.n_rows})
