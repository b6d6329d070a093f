"""Tables 13 to 17 of Morton's thesis: which buckets of the raw table's tree survive each method.

python -m experiments.buckets            writes experiments/buckets.md and buckets.svg

Data: the 30,162 complete rows of Adult; age, education-num, capital-gain and salary are all recoded. Rules: age 64|65
with importance 25, education-num 12|13 with 20, capital-gain 10000|10001 with 45. k = 3, 5 and 10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from experiments.pages import adult, encode_columns, make_schema, measure, new_figure, save, write_table
from shoal import Rule, hierarchy
from shoal.encoding.decode import decode
from shoal.errors import InfeasibleError
from shoal.evaluate.trees import Held, Tree, grow
from shoal.methods import Run, named
from shoal.metrics.features import Numbers
from shoal.models import KAnonymity
from shoal.tables.table import Table

PAGE = Path(__file__).with_suffix(".md")
NAMES = ("age", "education-num", "capital-gain", "salary")
KS = (3, 5, 10)
RULES = (
    Rule("age", inflection=(64, 65), importance=25),
    Rule("education-num", inflection=(12, 13), importance=20),
    Rule("capital-gain", inflection=(10000, 10001), importance=45),
)
WIDTHS = {"age": [5, 10, 20], "education-num": [2, 4, 8], "capital-gain": [1000, 5000, 10000, 50000]}
# The three buckets of the thesis: short name, bounds, and the smallest share of their salary at which they survive.
BUCKETS = (
    ("1: gain >= 7298", "capital-gain >= 7298", 0.95),
    ("2: gain < 7298, age < 28", "capital-gain < 7298, age < 28", 0.95),
    ("3: gain < 7298, age >= 28, education-num >= 13", "capital-gain < 7298, age >= 28, education-num >= 13", 0.45),
)
METHODS: dict[str, tuple[str, dict[str, object], bool]] = {  # name, options, whether it uses the rules
    "utility-driven": ("utility-driven", {}, True),
    "utility-driven, suppression": ("utility-driven", {"suppress": "attributes"}, True),
    "bottom-up": ("bottom-up", {}, False),
    "euclidean": ("euclidean", {}, False),
    "rv-global": ("rv-global", {}, True),
    "rv-local": ("rv-local", {}, True),
    "shoaling": ("shoaling", {}, True),
    "shoaling, no rules": ("shoaling", {}, False),
}
# The printed figures of the thesis: rows, split and share of the first two buckets; NA if the bucket was not found.
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
class ReleaseFigures:
    """The figures of one release.

    Attributes:
        buckets: What the release shows of each bucket.
        broken: The number of broken rules, and of rows that break them.
        n_groups: The number of groups.
        loss: The NCP.
        research_value: The total research value.
    """

    buckets: tuple[Held, ...]
    broken: tuple[int, int]
    n_groups: int
    loss: float
    research_value: float


Releases = dict[tuple[int, str], ReleaseFigures]


def grow_raw(frame: pl.DataFrame) -> Tree:
    """Grow the tree of the raw table; keep only the buckets of the thesis, in its order."""
    tree = grow(frame.select(NAMES), make_schema(NAMES), "salary", features=NAMES[:3])
    by_bounds = {bucket.describe(): bucket for bucket in tree.buckets}
    return replace(tree, buckets=tuple(by_bounds[bounds] for _, bounds, _ in BUCKETS))


def count_broken(tree: Tree, released: Table) -> tuple[int, int]:
    """Count the rules broken by a released range that contains values of both sides, and the rows that break them."""
    columns = {scale.column.name: scale.read(released) for scale in tree.encoding.scales}
    breaking_rows = []
    for rule in RULES:
        column, sides = columns[rule.column], rule.inflection
        assert isinstance(column, Numbers)
        assert sides is not None
        breaking_rows.append(int(((column.low <= sides[0]) & (column.high >= sides[1]) & ~column.starred).sum()))
    return sum(n > 0 for n in breaking_rows), sum(breaking_rows)


def run_all() -> tuple[Tree, Releases]:
    """Return the tree of the raw table and the figures of every release."""
    frame = adult()
    tree = grow_raw(frame)
    plain = encode_columns(frame, NAMES)
    with_hierarchies = encode_columns(frame, NAMES, {n: hierarchy.intervals(widths=w) for n, w in WIDTHS.items()})
    releases: Releases = {}
    for k in KS:
        for label, (name, options, uses_rules) in METHODS.items():
            encoded = with_hierarchies if name.startswith("rv-") else plain
            run = Run(rules=RULES) if uses_rules else Run()
            try:
                partition = named(name, **options).partition(encoded, (KAnonymity(k),), run)
            except InfeasibleError:
                continue
            measures = measure(frame, encoded, partition, RULES)
            released = decode(encoded, partition, make_schema(NAMES)).table
            releases[k, label] = ReleaseFigures(
                tree.hold(released),
                count_broken(tree, released),
                partition.n_groups,
                measures.ncp,
                measures.research_value_total,
            )
    return tree, releases


def main() -> None:
    """Run all methods, then write the page and the picture."""
    tree, releases = run_all()
    figure, axes = new_figure(8.4, 3.0, columns=3)
    for i, (axis, bucket) in enumerate(zip(axes, tree.buckets, strict=True)):
        for label in METHODS:
            shares = [releases[k, label].buckets[i].inside / bucket.rows if (k, label) in releases else 0 for k in KS]
            axis.plot(KS, shares, ".-", label=label)
        axis.set(title=f"bucket {i + 1}", xlabel="k", xticks=KS, ylim=(0, 1.05))
    axes[0].set_ylabel("share of its rows entirely inside")
    axes[2].legend(fontsize=6)
    save(figure, "buckets.svg")
    PAGE.write_text(page(tree, releases))


def page(tree: Tree, releases: Releases) -> str:
    """Write the page as Markdown."""
    raw = [bucket_cell(Held(bucket.rows, 0, bucket.share)) for bucket in tree.buckets]
    rows: list[list[object]] = [["raw table", "", "", "", "", *raw, "", "", ""]]
    for (k, label), release in releases.items():
        surviving = [
            name[0]
            for (name, _, least), bucket, held in zip(BUCKETS, tree.buckets, release.buckets, strict=True)
            if held.inside >= bucket.rows / 2 and held.share >= least
        ]
        printed = PRINTED.get((k, label), ("", ""))
        cells = [f"{label}, k = {k}", f"{release.n_groups:,}", f"{release.loss:.4f}", f"{release.research_value:.3f}"]
        cells += ["{:,} by {:,}".format(*release.broken), *map(bucket_cell, release.buckets)]
        rows.append([*cells, ", ".join(surviving) or "none", *printed])
    head = ["method", "groups", "NCP", "research value", "rules broken, by rows", *(name for name, _, _ in BUCKETS)]
    return TEXT.format(table=write_table([*head, "survive", "thesis: bucket 1", "thesis: bucket 2"], rows))


def bucket_cell(held: Held) -> str:
    """Format rows inside, rows of overlap and share as one cell."""
    return f"{held.inside:,} (+{held.overlap:,}), {held.share:.1%}"


TEXT = """\
# Buckets that survive

`python -m experiments.buckets` repeats Tables 13 to 17 of Morton's thesis: 30,162 complete rows of Adult; age,
education-num, capital-gain and salary are all recoded; the rules are those of its Table 9. The buckets are the leaves
of a tree grown on the raw table by entropy.

- **Cells.** A cell gives the rows whose released cells lie entirely inside the bucket, in brackets the excluded rows
  that cross its border, and the share of the bucket's salary among the first. A group that shows both salaries counts
  as wrong.
- **Survival.** A bucket survives if at least half of its rows lie entirely inside and the share is at least 95 %
  (bucket 3: 45 %).
- **Rules.** Utility-driven clustering, shoaling and the rv methods use the rules; bottom-up, Euclidean clustering and
  "shoaling, no rules" do not. A rule is broken if a released range contains values of both of its sides.
- **Hierarchies.** rv-global and rv-local recode entire columns by intervals of our own.

![Share of the rows of each bucket that lie entirely inside it](buckets.svg)

{table}

Where the figures differ from those of the thesis:

- The thesis grows a new tree on each release and reports the buckets that this tree happens to find, on rows counted
  as clusters. We look for the raw table's buckets in each release. So its 144 rows at k = 3 against 1,019 at k = 5
  for the same method, more with a larger k, seem to result from the tree rather than the method.
- The thesis does not print its weights and base values. Here all weights are equal and base is 0.
- The rule on capital gain is at 10,000 and the tree cuts at 7,298, so the rules protect another border than the one
  that is judged.
- Both variants of utility-driven clustering keep all three rules at every k. Shoaling, for which a broken rule is one
  cost among others, keeps two, and lets three groups of exactly k rows cross the border of the gains. One such group
  costs the entire research value of its column. Shoaling still has more research value than either variant, with
  about a quarter of their NCP at most. At k = 10 it keeps all three buckets, while they mix the salaries of the
  first.
- Bottom-up and shoaling without rules also keep all buckets at every k, although they break every rule: with 3,338
  distinct tuples among 30,162 rows, most groups are narrow anyway.
- Suppression keeps more research value than no suppression at k = 3 and 5, and less at k = 10: each merge is the best
  at the moment, which need not be best in the end.
- The searches over entire columns are of no use here: a level of age, education and gain that is k-anonymous together
  with the salary is close to the root. The thesis found a bucket with its global search at k = 5, with hierarchies
  that it does not print.
"""


if __name__ == "__main__":
    main()
