"""Small tables with hierarchies, for shoal and for the plain searches."""

from __future__ import annotations

import random
from fractions import Fraction

import polars as pl

from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.hierarchy.base import Hierarchy
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame
from tests.naive.lattice import Column

ZIPS = ["1001", "1002", "1011", "2001", "2002", "2012"]
AGES = list(range(20, 40))
ZIP = {z: (z[:3] + "*", z[0] + "***", "*") for z in ZIPS}
AGE = {str(a): (f"[{a // 5 * 5}, {a // 5 * 5 + 5})", f"[{a // 10 * 10}, {a // 10 * 10 + 10})", "*") for a in AGES}


def hierarchies() -> dict[str, Hierarchy]:
    return {"zip": hierarchy.from_dict(ZIP), "age": hierarchy.from_dict(AGE)}


def make(seed: int, n_rows: int = 60) -> tuple[list[tuple[str, ...]], Encoded, Schema]:
    """Rows of zip, age, sex and job (the last two without hierarchy), and the same encoded."""
    draw = random.Random(seed)
    rows = [
        (draw.choice(ZIPS), str(draw.choice(AGES)), draw.choice("fm"), draw.choice(["a", "b", "c", ""]))
        for _ in range(n_rows)
    ]
    names = ("zip", "age", "sex", "job")
    ills = [draw.choice(["flu", "cold", "ulcer"]) for _ in rows]
    frame = pl.DataFrame({name: [row[i] for row in rows] for i, name in enumerate(names)} | {"ill": ills})
    kinds = dict.fromkeys(names, Kind.CATEGORICAL) | {"age": Kind.NUMERIC}
    schema = Schema.build(frame.columns, {Role.QI: names, Role.SENSITIVE: ("ill",)}, kinds=kinds)
    return rows, encode(from_frame(frame), schema, hierarchies()), schema


def plain(rows: list[tuple[str, ...]]) -> list[Column]:
    """The same attributes for the plain searches, with the loss of each label worked out anew."""
    columns = []
    for i, tree in enumerate((ZIP, AGE, None, None)):
        present = sorted({row[i] for row in rows})
        height = 1 if tree is None else 3
        labels = [{v: v for v in present}]
        for level in range(1, height + 1):
            labels.append({v: "*" if tree is None else tree[v][level - 1] for v in present})
        losses = []
        for level in range(height + 1):
            under: dict[str, list[str]] = {}
            for value, label in labels[level].items():
                under.setdefault(label, []).append(value)
            losses.append({label: _loss(label, values, present, i == 1) for label, values in under.items()})
        columns.append(Column(labels, losses))
    return columns


def _loss(label: str, values: list[str], present: list[str], numeric: bool) -> Fraction:
    if label == "*":
        return Fraction(1)
    if not numeric:
        return Fraction(len(values), len(present)) if len(values) > 1 else Fraction(0)
    if label.isdigit():
        return Fraction(0)
    low, high = (int(part) for part in label[1:-1].split(", "))
    least, most = min(map(int, present)), max(map(int, present))
    return Fraction(max(0, min(high - 1, most) - max(low, least)), most - least)
