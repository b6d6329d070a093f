"""The gate and its plain-Python twin reach the same verdict on files that were tampered with at random.

CI takes a sample; the nightly run sets SHOAL_MUTATIONS to more.
"""

from __future__ import annotations

import gzip
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal import verification
from shoal.datasets import patients
from shoal.schema import Role
from tests.naive.gate import gate as plain_gate

MUTATIONS = int(os.environ.get("SHOAL_MUTATIONS", "2000"))
QI = ["birth_date", "sex", "zip"]
BYTES = [
    b",",
    b'"',
    b'""',
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b" ",
    b"*",
    b"[",
    b"]",
    b"{",
    b"}",
    b"0",
    b"9",
    b"\0",
    b"\xff",
    b"'",
    b"=",
]
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "people": {"person": "name"},
    "models": {"l": 2, "suppression_limit": 0.1},
    "bounds": {"cells": "bounds"},
    "safe": {"spreadsheet_safe": True, "keep_order": True},
    "decimal": {"numeric": ["zip"], "output_decimal": ",", "output_delimiter": ";"},
    "decimal bounds": {"numeric": ["zip"], "output_decimal": ",", "cells": "bounds", "spreadsheet_safe": True},
    "centres": {"cells": "center", "spread": True},
    "medians": {"cells": "center", "center": "median", "l": 2, "person": "name"},
    "categories": {"categorical": ["birth_date"], "seed": 3},
    "widths": {"method": "shoaling", "max_width": {"birth_date": "60y", "sex": "1"}, "seed": 1},
    "periods": {"method": "shoaling", "uniform": {"birth_date": "decade"}, "recode": {"disease": "rare:8"}},
    "bands": {
        "method": "shoaling",
        "numeric": ["zip"],
        "finest": {"zip": "20"},
        "suppression_limit": 0.05,
        "recode": {"zip": "top:95%", "birth_date": "bottom:1940-01-01"},
    },
    "bands in bounds": {
        "method": "shoaling",
        "numeric": ["zip"],
        "coarsest": {"zip": "1000"},
        "suppression_limit": 0.05,
        "max_width": {"birth_date": "90y"},
        "cells": "bounds",
    },
}


def captured(
    monkeypatch: pytest.MonkeyPatch, folder: Path, **options: Any
) -> tuple[bytes, tuple[Any, ...], dict[str, Any]]:
    """Return the bytes of a release and the arguments with which it passed the gate."""
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    gate = verification.gate

    def remember(*arguments: Any, **keywords: Any) -> verification.Verdict:
        calls.append((arguments, keywords))
        return gate(*arguments, **keywords)

    monkeypatch.setattr(verification, "gate", remember)
    table = patients().head(300)
    if "numeric" in options:
        table = table.with_columns(zip=table["zip"].str.replace("^0*([0-9]+)([0-9]{2})$", "${1}.${2}"))
    others = [name for name in table.columns if name not in (*QI, "disease", "name")]
    drop = others if options.get("person") == "name" else [*others, "name"]
    release = shoal.anonymize(table, qi=QI, sensitive=["disease"], drop=drop, k=4, **{"method": "mondrian", **options})
    release.write(folder / "release.csv")
    monkeypatch.undo()
    (arguments, keywords), *_ = calls
    del keywords["step"]  # the twin reports no progress
    return (folder / "release.csv").read_bytes(), arguments, keywords


def swap_cells(raw: bytes, chance: random.Random) -> bytes:
    """Exchange two cells of the file, of any rows and columns."""
    cells = re.split(rb"([,;\n])", raw)
    one, other = chance.randrange(0, len(cells), 2), chance.randrange(0, len(cells), 2)
    cells[one], cells[other] = cells[other], cells[one]
    return b"".join(cells)


def swap_rows(raw: bytes, chance: random.Random) -> bytes:
    rows = raw.split(b"\n")
    one, other = chance.randrange(len(rows)), chance.randrange(len(rows))
    rows[one], rows[other] = rows[other], rows[one]
    return b"\n".join(rows)


def repeat_row(raw: bytes, chance: random.Random) -> bytes:
    rows = raw.split(b"\n")
    rows.insert(chance.randrange(len(rows)), chance.choice(rows))
    return b"\n".join(rows)


def drop_row(raw: bytes, chance: random.Random) -> bytes:
    rows = raw.split(b"\n")
    del rows[chance.randrange(len(rows))]
    return b"\n".join(rows)


def put_bytes(raw: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(raw) + 1)
    return raw[:place] + chance.choice(BYTES) + raw[place + chance.randrange(3) :]


def cut_short(raw: bytes, chance: random.Random) -> bytes:
    return raw[: chance.randrange(len(raw))]


def quote_cell(raw: bytes, chance: random.Random) -> bytes:
    """Put a cell in quotes that needs none: other bytes, the same table."""
    cells = re.split(rb"([,;\n])", raw)
    place = chance.randrange(0, len(cells), 2)
    cells[place] = b'"' + cells[place] + b'"'
    return b"".join(cells)


def edit_digit(raw: bytes, chance: random.Random) -> bytes:
    places = [match.start() for match in re.finditer(rb"[0-9]", raw)]
    place = chance.choice(places)
    return raw[:place] + str(chance.randrange(10)).encode() + raw[place + 1 :]


CHANGES: list[Callable[[bytes, random.Random], bytes]] = [
    *(swap_cells, swap_rows, repeat_row, drop_row, put_bytes, put_bytes, cut_short, quote_cell, edit_digit),
    lambda raw, chance: raw,
]


@pytest.mark.parametrize("variant", VARIANTS)
def test_gate_and_twin_agree_on_tampered_files(variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, arguments, keywords = captured(monkeypatch, tmp_path, **VARIANTS[variant])
    _, schema, k, original, source_rows, claims = arguments
    texts = original.texts() if hasattr(original, "texts") else original
    chance = random.Random(variant)
    refused = 0
    for number in range(MUTATIONS // len(VARIANTS)):
        changed = raw
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            changed = chance.choice(CHANGES)(changed, chance) or b"a"
        packed = number % 10 == 0
        path = tmp_path / ("tampered.csv.gz" if packed else "tampered.csv")
        path.write_bytes(gzip.compress(changed, mtime=0) if packed else changed)
        rows, counts = list(map(int, source_rows)), dict(claims)
        if number % 7 == 0:  # the maker's own statements may be wrong as well
            place = chance.randrange(len(rows))
            rows[place] = chance.choice([rows[place - 1], -1, len(rows) + 5])
        if number % 11 == 0:
            counts["groups"] += 1
        fast = verification.gate(path, schema, k, texts, rows, counts, **keywords)
        plain = plain_gate(path, schema, k, texts, rows, counts, **keywords)
        assert fast.ok == plain.ok, (number, fast, plain)
        if not any(text.startswith("file:") for text in (*fast.violations, *plain.violations)):
            assert sorted(fast.violations) == sorted(plain.violations), number
            assert (fast.rows, fast.groups, fast.smallest_group) == (plain.rows, plain.groups, plain.smallest_group)
        refused += not fast.ok
    assert refused > MUTATIONS // len(VARIANTS) // 2
    assert schema.names(Role.QI) == tuple(sorted(QI, key=list(texts).index))
