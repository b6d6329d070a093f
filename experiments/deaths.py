"""Figures 21 and 22 of Morton's thesis, on a made stand-in for its death certificates.

python -m experiments.deaths            writes experiments/deaths.md and deaths.svg

The certificates of the Marion County Public Health Department are not public. The stand-in has what the thesis prints
of their shape; `make_rows` says what that is.
"""

from __future__ import annotations

import random

import polars as pl

from experiments.buckets import METHODS as BUCKET_METHODS
from experiments.buckets import bucket_cell
from experiments.pages import FULL, Scope, encode_columns, make_schema, new_figure, read_scope, write_table
from shoal import Rule
from shoal.encoding.decode import decode
from shoal.evaluate.trees import Held, Tree, grow
from shoal.methods import Run, named
from shoal.models import KAnonymity

NAMES = ("age", "sex", "education-num", "race", "cancer")
FEATURES = NAMES[:-1]
N_ROWS = 122_000
KS = (3, 5, 10)
RACES = {"White": 70, "Black": 24, "Hispanic": 4, "Asian": 2}
# Table 1 (and 8) of the thesis for the race; Table 2 (and 9) for the two columns of numbers.
RULES = (
    Rule("race", apart=("White", "Hispanic"), importance=5),
    Rule("race", apart=("White", "Black"), importance=20),
    Rule("race", apart=("Hispanic", "Black"), importance=10),
    Rule("race", apart=("Hispanic", "Asian"), importance=5),
    Rule("age", inflection=(64, 65), importance=25),
    Rule("education-num", inflection=(12, 13), importance=20),
)
METHODS = {
    label: BUCKET_METHODS[label]
    for label in BUCKET_METHODS
    if label.split(",")[0] in ("utility-driven", "bottom-up", "euclidean")
}


def make_rows(n_rows: int = N_ROWS) -> pl.DataFrame:
    """Return the stand-in, the same on every machine.

    From the thesis: about 122,000 rows; age, sex, education, race, and whether the cause of death is cancer (11 %); a
    skewed table, in which only a split on education finds a node with 99 % of one class. Ours: the ages, that a tenth
    of the rows has no years of education, and that the columns are otherwise independent.
    """
    generator = random.Random(0)
    rows = []
    races, weights = list(RACES), list(RACES.values())
    for _ in range(n_rows):
        age = min(104, int(104 * generator.betavariate(5.5, 2.2)))
        school = 0 if generator.random() < 0.1 else min(17, max(1, round(generator.gauss(11.5, 2.6))))
        cancer = generator.random() < (0.01 if school == 0 else 0.135 if age < 75 else 0.105)
        sex = generator.choice(("Female", "Male"))
        race = generator.choices(races, weights)[0]
        rows.append((str(age), sex, str(school), race, "yes" if cancer else "no"))
    return pl.DataFrame(rows, schema=list(NAMES), orient="row")


def run_all(frame: pl.DataFrame, tree: Tree) -> dict[tuple[int, str], tuple[int, tuple[Held, ...]]]:
    """Return the groups of each release, and what it shows of the buckets of the raw table."""
    encoded = encode_columns(frame, NAMES)
    figures = {}
    for k in KS:
        for label, (name, options, uses_rules) in METHODS.items():
            run = Run(rules=RULES) if uses_rules else Run()
            partition = named(name, **options).partition(encoded, (KAnonymity(k),), run)
            released = decode(encoded, partition, make_schema(NAMES)).table
            figures[k, label] = (partition.n_groups, tree.hold(released))
    return figures


def main(scope: Scope = FULL) -> None:
    """Run all methods, then write the page and the picture."""
    frame = make_rows(min(N_ROWS, scope.rows or N_ROWS))
    tree = grow(frame, make_schema(NAMES), "cancer", features=FEATURES)
    figures = run_all(frame, tree)
    best = max(range(len(tree.buckets)), key=lambda i: tree.buckets[i].share)
    figure, axis = new_figure()
    for label in METHODS:
        shares = [figures[k, label][1][best].inside / tree.buckets[best].rows for k in KS]
        axis.plot(KS, shares, ".-", label=label)
    axis.set(xlabel="k", xticks=KS, ylim=(0, 1.05), ylabel="share of its rows entirely inside")
    axis.legend(fontsize=6)
    scope.save(figure, "deaths.svg")
    raw = [bucket_cell(Held(bucket.rows, 0, bucket.share)) for bucket in tree.buckets]
    rows: list[list[object]] = [["raw table", "", *raw]]
    for (k, label), (n_groups, held) in figures.items():
        rows.append([f"{label}, k = {k}", f"{n_groups:,}", *map(bucket_cell, held)])
    names = [f"{bucket.describe()}: {bucket.class_name}" for bucket in tree.buckets]
    scope.write(
        "deaths.md",
        TEXT.format(
            table=write_table(["method", "groups", *names], rows),
            cancer=(frame["cancer"] == "yes").mean(),
            distinct=frame.unique().height,
            bucket=tree.buckets[best].describe(),
        ),
    )


TEXT = """\
# A stand-in for the death certificates

`python -m experiments.deaths` stands in for Figures 21 and 22 of Morton's thesis. Its death certificates are not
public, and it prints neither their frequencies nor the figures of its trees, so nothing here can be compared number by
number.

- **From the thesis**: about 122,000 rows; age, sex, education, race, and whether the cause of death is cancer, as it
  is in 11 % of the rows ({cancer:.1%} here). The table is skewed: only a split on education finds a node in which
  99 % are of one class.
- **Ours**: the ages, that a tenth of the rows has no years of education, and that the columns are otherwise
  independent. The rules are those of the thesis's Tables 1 and 2, and all five columns are recoded.

The {distinct:,} distinct tuples and the tree of the raw table:

![Share of the rows of the purest bucket that lie entirely inside it](deaths.svg)

A cell gives the rows entirely inside the bucket, in brackets the rows that cross its border, and the share of the
bucket's class among the first. A group that shows both classes counts as wrong.

{table}

- **Figure 21.** The tree of the raw table has the shape of that of the thesis: one bucket ({bucket}) with 99 %
  without cancer, and others that differ little from the whole table.
- **Figure 22.** The thesis reports that after utility-driven clustering the two sides of the split on education overlap
  completely, and that none of its four methods keeps anything. With the score of the thesis (`cluster`), the share in
  the bucket falls to 68, 64 and 60 %, and one row in five of those it touches overlaps at k = 10: the pattern is lost.
  Euclidean clustering loses most of it. With `whole`, and with bottom-up, the bucket survives at every k.
- So the loss does not follow from the skew of the table alone. It follows from a score that counts each cluster by
  itself, however many rows it has.
"""


if __name__ == "__main__":
    main(read_scope(__doc__))
