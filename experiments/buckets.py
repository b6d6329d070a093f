"""Tables 13 to 17 of Morton's thesis: which buckets of the raw table's tree survive each method.

python -m experiments.buckets            writes experiments/buckets.md and buckets.svg

30,162 complete rows of Adult; age, education-num, capital-gain and salary are all recoded; rules age 64|65 of
importance 25, education-num 12|13 of 20, capital-gain 10000|10001 of 45; k = 3, 5 and 10.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.pages import adult, encode_columns, measure, new_figure, save, write_table
from shoal import Rule, hierarchy
from shoal.encoding import Encoded
from shoal.errors import InfeasibleError
from shoal.methods import Run, named
from shoal.models import KAnonymity
from shoal.partition import NODE, RANGE, SET, SUPPRESSED, VALUE, Cells, Partition

PAGE = Path(__file__).with_suffix(".md")
NAMES = ("age", "education-num", "capital-gain", "salary")
KS = (3, 5, 10)
RULES = (
    Rule("age", inflection=(64, 65), importance=25),
    Rule("education-num", inflection=(12, 13), importance=20),
    Rule("capital-gain", inflection=(10000, 10001), importance=45),
)
WIDTHS = {"age": [5, 10, 20], "education-num": [2, 4, 8], "capital-gain": [1000, 5000, 10000, 50000]}


@dataclass(frozen=True)
class Bucket:
    """A leaf of the raw table's tree: bounds by attribute, both ends inside, and the salary that is told by it."""

    name: str
    bounds: dict[str, tuple[float, float]]
    salary: str
    least_share: float  # of this salary, for the bucket to be of the same use


TOP = float("inf")
BUCKETS = (
    Bucket("1: gain >= 7298", {"capital-gain": (7298, TOP)}, ">50K", 0.95),
    Bucket("2: gain < 7298, age < 28", {"capital-gain": (0, 7297), "age": (0, 27)}, "<=50K", 0.95),
    Bucket(
        "3: gain < 7298, age >= 28, education-num >= 13",
        {"capital-gain": (0, 7297), "age": (28, TOP), "education-num": (13, TOP)},
        ">50K",
        0.45,
    ),
)
METHODS: dict[str, tuple[str, dict[str, object], bool]] = {  # name, options, whether it is given the rules
    "utility-driven": ("utility-driven", {}, True),
    "utility-driven, suppression": ("utility-driven", {"suppress": "attributes"}, True),
    "bottom-up": ("bottom-up", {}, False),
    "euclidean": ("euclidean", {}, False),
    "rv-global": ("rv-global", {}, True),
    "rv-local": ("rv-local", {}, True),
    "shoaling": ("shoaling", {}, True),
    "shoaling, no rules": ("shoaling", {}, False),
}
# What the thesis prints: rows, split and share of the first two buckets; NA where the bucket was not found.
PRINTED = {
    (3, "utility-driven"): ("144, gain > 35K, 100 %", "NA"),
    (3, "utility-driven, suppression"): ("1381, gain > 5178 and education > 9, 100 %", "3706, education < 7, 97 %"),
    (3, "bottom-up"): ("148, gain > 35K, 100 %", "NA"),
    (3, "euclidean"): ("NA", "NA"),
    (5, "utility-driven"): ("1019, gain > 7400, 100 %", "NA"),
    (5, "utility-driven, suppression"): ("NA", "NA"),
    (5, "bottom-up"): ("NA", "NA (Table 13: 18686, education, 86 %)"),
    (5, "euclidean"): ("NA", "NA"),
    (5, "rv-global"): ("1387, gain >= 6000, 95 %", "NA"),
    (5, "rv-local"): ("NA", "NA"),
    (10, "utility-driven"): ("1174, gain > 7444, 100 %", "NA"),
    (10, "utility-driven, suppression"): ("NA", "NA"),
    (10, "bottom-up"): ("NA", "NA (Table 14: 20000, gain < 7000, 86 %)"),
    (10, "euclidean"): ("NA", "NA"),
    (10, "rv-global"): ("NA", "NA"),
    (10, "rv-local"): ("NA", "NA"),
}


@dataclass(frozen=True)
class Shown:
    """What a release tells of each row: the least and greatest value of the numbers, and the salary, if one is told."""

    low: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    high: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    salary: list[str] = field(default_factory=list)

    def count(self, bucket: Bucket) -> tuple[int, int, float]:
        """Return the rows wholly inside a bucket, those that may be, and the share of its salary among the first."""
        inside = np.ones(len(self.salary), dtype=bool)
        touched = inside.copy()
        for name, (low, high) in bucket.bounds.items():
            inside &= (self.low[name] >= low) & (self.high[name] <= high)
            touched &= (self.high[name] >= low) & (self.low[name] <= high)
        right = np.array(self.salary)[inside] == bucket.salary
        return int(inside.sum()), int((touched & ~inside).sum()), float(right.mean()) if inside.any() else 0.0

    def broken(self) -> tuple[int, int]:
        """Return how many rules are broken by a range that is shown and holds values of both sides, and by how many."""
        sides = [(rule.column, *map(float, rule.inflection or ())) for rule in RULES]  # type: ignore[arg-type]
        rows = [
            int(((self.low[name] <= a) & (self.high[name] >= b) & (self.low[name] > -TOP)).sum())
            for name, a, b in sides
        ]
        return sum(n > 0 for n in rows), sum(rows)


@dataclass(frozen=True)
class Found:
    """A release: what it shows, its groups, and what is measured of it."""

    shown: Shown
    n_groups: int
    loss: float
    research_value: float


Releases = dict[tuple[int, str], Found]


def show(encoded: Encoded, made: Partition) -> Shown:
    """Read the cells of a partition; a suppressed cell may be anything."""
    labels = made.labels[made.labels >= 0]
    low, high, salary = {}, {}, []
    for attribute, cells in zip(encoded.attributes, made.cells, strict=True):
        if attribute.name == "salary":
            texts = [
                attribute.texts[cells.low[i]] if cells.form[i] == VALUE else "both" for i in range(len(cells.form))
            ]
            salary = [texts[i] for i in cells.index[labels].tolist()]
            continue
        numbers = np.array([float(text) for text in attribute.texts])
        ends = [_ends(i, cells, attribute.tree, numbers) for i in range(len(cells.form))]
        low[attribute.name] = np.array([end[0] for end in ends])[cells.index][labels]
        high[attribute.name] = np.array([end[1] for end in ends])[cells.index][labels]
    return Shown(low, high, salary)


def _ends(i: int, cells: Cells, tree: object, numbers: NDArray[np.float64]) -> tuple[float, float]:
    if cells.form[i] in (VALUE, RANGE):
        return float(numbers[cells.low[i]]), float(numbers[cells.high[i]])
    if cells.form[i] == NODE:
        nodes = getattr(tree, "nodes")  # noqa: B009
        below = numbers[(nodes == cells.low[i]).any(axis=0)] if cells.low[i] != len(numbers) else numbers
        return float(below.min()), float(below.max())
    assert cells.form[i] in (SET, SUPPRESSED)
    return -TOP, TOP


def raw_shown(encoded: Encoded) -> Shown:
    """Return what the raw table tells."""
    rows = encoded.tuples[encoded.row_tuple]
    numbers = {a.name: np.array([float(t) for t in a.texts]) for a in encoded.attributes if a.name != "salary"}
    low = {name: numbers[name][rows[:, NAMES.index(name)]] for name in numbers}
    return Shown(low, low, [encoded.attributes[3].texts[code] for code in rows[:, 3]])


def run_all() -> tuple[Shown, Releases]:
    """Return the raw table and all releases."""
    frame = adult()
    plain = encode_columns(frame, NAMES)
    laddered = encode_columns(frame, NAMES, {n: hierarchy.intervals(widths=w) for n, w in WIDTHS.items()})
    found = {}
    for k in KS:
        for label, (name, options, heeds) in METHODS.items():
            encoded = laddered if name.startswith("rv-") else plain
            run = Run(rules=RULES) if heeds else Run()
            try:
                made = named(name, **options).partition(encoded, (KAnonymity(k),), run)
            except InfeasibleError:
                continue
            told = measure(frame, encoded, made, RULES)
            found[k, label] = Found(show(encoded, made), made.n_groups, told.ncp, told.research_value_total)
    return raw_shown(plain), found


def main() -> None:
    """Run everything and write the page and the picture."""
    raw, found = run_all()
    figure, axes = new_figure(8.4, 3.0, columns=3)
    for axis, bucket in zip(axes, BUCKETS, strict=True):
        whole = raw.count(bucket)[0]
        for label in METHODS:
            kept = [found[k, label].shown.count(bucket)[0] / whole if (k, label) in found else 0 for k in KS]
            axis.plot(KS, kept, ".-", label=label)
        axis.set(title=f"bucket {bucket.name[0]}", xlabel="k", xticks=KS, ylim=(0, 1.05))
    axes[0].set_ylabel("share of its rows wholly inside")
    axes[2].legend(fontsize=6)
    save(figure, "buckets.svg")
    PAGE.write_text(page(raw, found))


def page(raw: Shown, found: Releases) -> str:
    """Return the page."""
    rows: list[list[object]] = [["raw table", "", "", "", "", *(told(raw.count(b)) for b in BUCKETS), "", "", ""]]
    for (k, label), release in found.items():
        counts = [release.shown.count(bucket) for bucket in BUCKETS]
        survives = [
            bucket.name[0]
            for bucket, (inside, _, share) in zip(BUCKETS, counts, strict=True)
            if inside >= raw.count(bucket)[0] / 2 and share >= bucket.least_share
        ]
        printed = PRINTED.get((k, label), ("", ""))
        cells = [f"{label}, k = {k}", f"{release.n_groups:,}", f"{release.loss:.4f}", f"{release.research_value:.3f}"]
        cells += ["{:,} by {:,}".format(*release.shown.broken()), *map(told, counts)]
        rows.append([*cells, ", ".join(survives) or "none", *printed])
    head = ["method", "groups", "NCP", "research value", "rules broken, by rows", *(b.name for b in BUCKETS)]
    return TEXT.format(table=write_table([*head, "survive", "thesis: bucket 1", "thesis: bucket 2"], rows))


def told(counts: tuple[int, int, float]) -> str:
    """Return rows inside, rows of overlap and share as one cell."""
    inside, overlap, share = counts
    return f"{inside:,} (+{overlap:,}), {share:.1%}"


TEXT = """\
# Buckets that survive

Tables 13 to 17 of Morton's thesis, repeated by `python -m experiments.buckets`: 30,162 complete rows of Adult; age,
education-num, capital-gain and salary are all recoded; the rules of its Table 9. The buckets are the leaves of a tree
grown on the raw table by entropy. A cell gives the rows whose released cells lie wholly inside the bucket, in brackets
those that straddle its border and are left out, and the share of the bucket's salary among the first; a group that
shows both salaries counts as wrong. A bucket survives if at least half of its rows lie wholly inside and the share is
at least 95 % (bucket 3: 45 %). Utility-driven clustering, shoaling and the rv methods heed the rules; bottom-up,
Euclidean clustering and "shoaling, no rules" know of none. A rule is broken if a released range holds values of both
of its sides. rv-global and rv-local recode whole columns by intervals of our own.

![Share of the rows of each bucket that lie wholly inside it](buckets.svg)

{table}

Where the figures differ from those of the thesis:

- The thesis grows a new tree on each release and reports the buckets that this tree happens to find, on rows counted as
  clusters; here the raw table's buckets are looked for in each release. So its 144 rows at k = 3 against 1,019 at
  k = 5 for the same method, more with a larger k, seem to be the tree's choice and not an effect of the method.
- Weights and base values of the thesis are not printed; here weights are alike and base is 0.
- The rule on capital gain stands at 10,000 and the tree cuts at 7,298, so the rules protect another border than the one
  that is judged.
- Both variants of utility-driven clustering keep all three rules at every k. Shoaling, to which a broken rule is a cost
  beside others, keeps two, and lets three groups of exactly k rows cross the border of the gains. One such group takes
  the whole research value of its column, and still shoaling has more of it than either variant, with about a quarter of
  their NCP at most. At k = 10 it keeps all three buckets, where they mix the salaries of the first.
- Bottom-up and shoaling without rules keep all buckets at every k too, though they break every rule: with 3,338
  distinct tuples among 30,162 rows most groups are narrow anyway.
- Suppression leaves more research value than none at k = 3 and 5, and less at k = 10: each merge takes what is best at
  the moment, which need not be best in the end.
- The searches over whole columns have nothing to offer here: a level of age, education and gain that is k-anonymous
  together with the salary is close to the root. The thesis found a bucket with its global search at k = 5, with
  hierarchies that it does not print.
"""


if __name__ == "__main__":
    main()
