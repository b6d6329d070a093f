"""What is published beside a release reveals nothing more about its original: not even of tables small enough to guess.

An attacker who knows the settings enumerates all originals, makes the release of each and keeps those that give the
published one. The documents beside the release must not narrow that set.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.release.files.dictionary import as_markdown, dictionary_of
from shoal.release.files.manifest import manifest_of, table_remark
from shoal.report import Written, as_json, gather, public_part

Rows = tuple[tuple[Any, ...], ...]

AGES = (("age",), tuple((age,) for age in ("20", "21", "27", "40")))
FEW = (("age", "sex"), (("20", "f"), ("30", "f"), ("40", "m"), ("50", "f"), ("50", "m")))
BITS = (("a", "b", "c"), tuple(tuple(bits) for bits in ("xxx", "xyx", "yxy", "yyx", "yyy")))
GAPS = (("age", "town"), (("20", "a"), ("", "a"), ("?", "b"), ("30", ""), ("30", "c")))
TOWNS = (("town", "disease"), (("ab1", "flu"), ("ab2", "flu"), ("ac1", "flu"), ("b", "flu"), ("b", "hiv")))
PEOPLE = (("who", "age"), (("p", "20"), ("q", "20"), ("p", "50"), ("r", "50"), ("q", "30")))
OWN_K = (("age", "own"), (("20", "2"), ("20", "3"), ("30", "2"), ("50", "2"), ("50", "3")))
KINDS = {"numeric": ["age"], "categorical": ["sex"], "qi": ["age", "sex"], "k": 2}
OF_TOWNS = {"qi": ["town"], "sensitive": ["disease"], "categorical": ["town"], "k": 2}
ORDERED = {"distance": "ordered", "order": ("flu", "hiv")}
TREE = {"ab1": ["ab", "a"], "ab2": ["ab", "a"], "ac1": ["ac", "a"], "b": ["b", "b"]}

# The columns and all rows that an original may consist of; its sizes; the settings that everybody knows.
CASES: dict[str, tuple[tuple[Sequence[str], Rows], Sequence[int], Mapping[str, Any]]] = {
    "mondrian": (FEW, (4,), {**KINDS, "method": "mondrian"}),
    "shoaling": (AGES, (6,), {"qi": ["age"], "numeric": ["age"], "k": 3, "effort": "fast"}),
    "suppression": (FEW, (4, 5), {**KINDS, "method": "mondrian", "suppression_limit": "0.25"}),
    "detected kinds": (FEW, (4,), {"qi": ["age", "sex"], "k": 2, "method": "mondrian"}),
    "missing values": (
        GAPS,
        (4,),
        {"qi": ["age", "town"], "k": 2, "numeric": ["age"], "missing": ["?"], "effort": "fast"},
    ),
    "bounds": (FEW, (3, 4), {**KINDS, "method": "mondrian", "cells": "bounds", "suppression_limit": "0.25"}),
    "derived weights": (BITS, (5,), {"qi": list("abc"), "k": 4, "effort": "fast", "weights": "auto"}),
    "rules": (
        FEW,
        (4,),
        {**KINDS, "method": "utility-driven", "rules": [{"column": "age", "inflection": [30, 50], "importance": 2}]},
    ),
    "prefixes": (
        TOWNS,
        (4,),
        {**OF_TOWNS, "method": "datafly", "hierarchies": {"town": shoal.hierarchy.prefixes(mask=1)}},
    ),
    "hierarchy": (
        TOWNS,
        (4, 5),
        {
            **OF_TOWNS,
            "method": "optimal",
            "suppression_limit": "0.25",
            "hierarchies": {"town": shoal.hierarchy.from_dict(TREE)},
            "models": [{"name": "t-closeness", "column": "disease", "t": "0.9", **ORDERED}],
        },
    ),
    "persons": (PEOPLE, (4,), {"qi": ["age"], "person": "who", "k": 2, "numeric": ["age"], "method": "mondrian"}),
    "own k": (OWN_K, (4,), {"qi": ["age"], "k_column": "own", "numeric": ["age"], "method": "mondrian"}),
}


def releases(case: str) -> Iterator[tuple[Rows, shoal.Release]]:
    """Yield all originals of a case that have a release, and their releases."""
    (names, values), sizes, settings = CASES[case]
    for size in sizes:
        for rows in itertools.combinations_with_replacement(values, size):
            try:
                release = shoal.anonymize(pl.DataFrame(rows, schema=list(names), orient="row"), **settings)
            except shoal.errors.InfeasibleError:
                continue
            yield rows, release


def documents(release: shoal.Release) -> dict[str, str]:
    """Return everything that is published beside a release; its hash and those of the documents add nothing."""
    counts = release.measures
    written = Written("out.csv", "0", "out.csv.manifest.json", counts.rows, counts.groups, counts.smallest_group)
    manifest, dictionary = manifest_of(release, "out.csv", "0", None), dictionary_of(release, "out.csv", Path())
    report = public_part(gather(release, written))
    return {
        "manifest": json.dumps(manifest, default=str),
        "comment": table_remark(json.loads(json.dumps(manifest, default=str))),
        "dictionary": json.dumps(dictionary),
        "page": as_markdown("out.csv", dictionary),
        "report": as_json(report),  # its page is made from this
    }


@pytest.mark.parametrize("case", CASES)
def test_documents_do_not_narrow_the_originals(case: str) -> None:
    """C21, L13, R06: of a suppressed value, and of the originals of small tables, they tell what the release tells."""
    originals: dict[str, dict[str, list[Rows]]] = defaultdict(lambda: defaultdict(list))
    exact: dict[str, set[str]] = defaultdict(set)
    for rows, release in releases(case):
        shown = release.text.write_csv()
        originals[shown]["\n".join(documents(release).values())].append(rows)
        exact[shown].add(json.dumps(release.measures.as_dict()))
    ambiguous = [shown for shown, by_documents in originals.items() if sum(map(len, by_documents.values())) > 1]
    assert len(ambiguous) > 3, "several originals must give the same release, or there is nothing to find out"
    for shown, by_documents in originals.items():
        assert len(by_documents) == 1, f"the documents tell apart {list(by_documents.values())} of\n{shown}"
    if case in ("mondrian", "shoaling", "suppression", "hierarchy"):
        assert any(len(exact[shown]) > 1 for shown in ambiguous), "exact figures must tell them apart"
