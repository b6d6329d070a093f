"""The worked examples of the papers, read from cases.toml: shoal and the plain twins both give the printed numbers."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.methods import named
from tests.naive import loss

HERE = Path(__file__).parent
CASES = tomllib.loads((HERE / "cases.toml").read_text(encoding="utf-8"))
every_measure = pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES["measure"]])
every_method = pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES["method"]])
PRINTED_DIGITS = 6
MEASURED = ("ncp", "utility", "modification_rate", "smallest_group", "per_attribute")


def read(name: str) -> list[dict[str, str]]:
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@every_measure
def test_measures_are_those_printed(case: dict[str, Any]) -> None:
    """[S0] Fig. 2-10, [S2] Table 1; C27."""
    kinds = case["kinds"]
    measures = shoal.measure(
        HERE / case["original"],
        HERE / case["released"],
        qi=list(kinds),
        numeric=[name for name in kinds if kinds[name] == "numeric"],
        categorical=[name for name in kinds if kinds[name] == "categorical"],
        domains={name: tuple(domain) for name, domain in case.get("domains", {}).items()},
    ).as_dict()
    expected = {name: case[name] for name in MEASURED if name in case}
    assert expected
    for name, value in expected.items():
        if name == "per_attribute":
            assert measures[name] == pytest.approx(value)
        else:
            assert round(measures[name], PRINTED_DIGITS) == value


@pytest.mark.parametrize(
    "case", [case for case in CASES["measure"] if "printed" not in case["id"]], ids=lambda c: c["id"]
)
def test_twin_gives_the_printed_measures(case: dict[str, Any]) -> None:
    """[S0] Fig. 2-10 row by row, [S2] Table 1."""
    names = list(case["kinds"])
    original = [tuple(row[name] for name in names) for row in read(case["original"])]
    released = [tuple(row[name] for name in names) for row in read(case["released"])]
    attributes = []
    for name, kind in case["kinds"].items():
        domain = case.get("domains", {}).get(name)
        attributes.append(loss.Attribute(kind, domain=tuple(map(str, domain)) if domain else None))
    found = {
        "ncp": float(loss.ncp(original, released, attributes)),
        "modification_rate": float(loss.modification_rate(original, released)),
    }
    expected = {name: case[name] for name in found if name in case}
    assert expected
    assert {name: round(found[name], PRINTED_DIGITS) for name in expected} == expected
    if "ncp_rows" in case:
        pairs = zip(original, released, strict=True)
        rows = [float(loss.ncp_row(before, after, attributes, original)) for before, after in pairs]
        assert [round(value, PRINTED_DIGITS) for value in rows] == case["ncp_rows"]


@every_method
def test_release_is_the_printed_table(case: dict[str, Any]) -> None:
    """[S0] Table 2-12 to Figure 2-9, row by row; C03."""
    original = read(case["original"])
    frame = pl.DataFrame(original)
    roles = {name: case[name] for name in ("qi", "numeric", "sensitive", "drop")}
    method = named(case["method"], **case["options"])
    release = shoal.anonymize(frame, k=case["k"], method=method, keep_order=True, **roles)
    assert release.text.rows(named=True) == read(case["released"])
    assert release.measures.groups == case["groups"]
    assert release.measures.dm == case["dm"]
    assert release.measures.c_avg == case["c_avg"]
    in_order = shoal.anonymize(frame, k=case["k"], method=method, **roles)
    assert in_order.text.rows() == sorted(release.text.rows())


@every_method
def test_twin_measures_the_printed_table(case: dict[str, Any]) -> None:
    """[S0] Figure 2-9."""
    released = [tuple(row[name] for name in case["qi"]) for row in read(case["released"])]
    assert len(loss.group_sizes(released, case["k"])) == case["groups"]
    assert loss.discernibility(released, case["k"]) == case["dm"]
    assert loss.average_group(released, case["k"]) == case["c_avg"]
