"""The trees behind Tables 13 to 17 of Morton's thesis: grown on each release, and what their buckets are worth.

python -m experiments.trees              writes experiments/trees.md and trees.svg

Table, rules and k are those of experiments.buckets, which looks for the raw table's buckets instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

import shoal
from experiments.buckets import KS, NAMES, NODES, RULES, SCORES, WIDTHS, printed_cells
from experiments.pages import FULL, Scope, make_schema, new_figure, read_scope, write_table
from shoal import Release, evaluate, hierarchy
from shoal.errors import InfeasibleError, InputError
from shoal.evaluate.trees import Bucket, Held

FOLDS, SEED = 3, 0
LEARNERS = ("zero-r", "tree")
CLASSES = (">50K", "<=50K")
HIERARCHIES = {"hierarchies": {name: hierarchy.intervals(widths=widths) for name, widths in WIDTHS.items()}}
METHODS: dict[str, dict[str, Any]] = {
    "utility-driven": {"method": "utility-driven", "rules": RULES},
    "utility-driven, cluster": {"method": shoal.methods.named("utility-driven", score="cluster"), "rules": RULES},
    "utility-driven, suppression": {
        "method": shoal.methods.named("utility-driven", suppress="attributes"),
        "rules": RULES,
    },
    "utility-driven, suppression, cluster": {
        "method": shoal.methods.named("utility-driven", suppress="attributes", score="cluster"),
        "rules": RULES,
    },
    "bottom-up": {"method": "bottom-up"},
    "euclidean": {"method": "euclidean"},
    "rv-global": {"method": "rv-global", "rules": RULES, **HIERARCHIES},
    "rv-local": {"method": "rv-local", "rules": RULES, **HIERARCHIES},
    "shoaling": {"method": "shoaling", "rules": RULES},
}
SCHEMA = make_schema(NAMES)


@dataclass(frozen=True)
class Leaf:
    """A bucket of a release's own tree, with its rows in the release and in the original."""

    bucket: Bucket
    released: Held
    original: Held

    def describe(self) -> str:
        """Format the leaf as one cell of the page."""
        released = self.released
        rows = f"{released.inside:,} (+{released.overlap:,}), {released.share:.1%}"
        return f"{self.bucket.describe()}: {rows}; true {self.original.share:.1%}"


@dataclass(frozen=True)
class Grown:
    """The leaves of a release's own tree by salary, the accuracy of its learners on held-out rows, and its groups."""

    leaves: dict[str, Leaf]
    accuracy: dict[tuple[str, str, str], evaluate.Accuracy]
    n_groups: int


def release_by(frame: pl.DataFrame, label: str, k: int) -> Release:
    """Recode all four columns by a method, with at least k rows in each group."""
    return shoal.anonymize(frame.select(NAMES), qi=NAMES, k=k, **METHODS[label])


def leaves_of(release: pl.DataFrame, labels: Any, frame: pl.DataFrame) -> dict[str, Leaf]:
    """Grow a tree on a table; return, for each salary, the leaf that predicts it best, without rows of overlap."""
    try:
        tree = evaluate.grow(release, SCHEMA, "salary", features=NAMES[:3], labels=labels)
    except InputError:  # no group shows a single salary
        return {}
    leaves: dict[str, Leaf] = {}
    for bucket, released, original in zip(tree.buckets, tree.hold(release), tree.hold(frame), strict=True):
        best = leaves.get(bucket.class_name)
        if released.inside and (best is None or released.share > best.released.share):
            leaves[bucket.class_name] = Leaf(bucket, released, original)
    return leaves


def learn(frame: pl.DataFrame, label: str, k: int) -> dict[tuple[str, str, str], evaluate.Accuracy]:
    """Return the accuracies of a method; rows are held out before any recoding."""
    try:
        make = partial(release_by, label=label, k=k)
        accuracies = evaluate.learn(frame, make, SCHEMA, "salary", LEARNERS, folds=FOLDS, seed=SEED)
    except (InfeasibleError, InputError):
        return {}
    return {(score.learner, score.trained_on, score.tested_on): score for score in accuracies}


def run_all(scope: Scope) -> tuple[dict[str, Leaf], dict[tuple[int, str], Grown]]:
    """Return the leaves of the raw table, and those of each release with its accuracies."""
    frame = scope.adult().select(NAMES)
    grown_trees = {}
    for k in KS[:1] if scope.is_sample else KS:
        for label in METHODS:
            try:
                release = release_by(frame, label, k)
            except InfeasibleError:
                continue
            leaves = leaves_of(release.text, release.labels, frame)
            grown_trees[k, label] = Grown(leaves, learn(frame, label, k), release.measures.groups)
    return leaves_of(frame, {}, frame), grown_trees


def main(scope: Scope = FULL) -> None:
    """Run all methods, then write the page and the picture."""
    raw, grown_trees = run_all(scope)
    baseline = next(grown.accuracy for grown in grown_trees.values() if grown.accuracy)
    figure, axis = new_figure()
    for label in METHODS:
        accuracies = {k: grown_trees[k, label].accuracy for k in KS if (k, label) in grown_trees}
        means = {k: 100 * scores["tree", "release", "original"].mean for k, scores in accuracies.items() if scores}
        if means:  # rv-local leaves nothing to learn
            axis.plot(list(means), list(means.values()), ".-", label=label)
    for learner, name in (("tree", "tree of the raw table"), ("zero-r", "ZeroR")):
        axis.axhline(100 * baseline[learner, "original", "original"].mean, linestyle=":", color="grey")
        axis.text(
            KS[-1], 100 * baseline[learner, "original", "original"].mean, name, ha="right", va="bottom", fontsize=7
        )
    axis.set(xlabel="k", ylabel="accuracy on original rows (%)", xticks=KS)
    axis.legend(fontsize=6)
    scope.save(figure, "trees.svg")
    scope.write("trees.md", page(raw, grown_trees, baseline))


def page(
    raw: dict[str, Leaf],
    grown_trees: dict[tuple[int, str], Grown],
    baseline: dict[tuple[str, str, str], evaluate.Accuracy],
) -> str:
    """Write the page as Markdown."""
    rows: list[list[object]] = [["raw table", *(raw[name].describe() for name in CLASSES), "", ""]]
    scores: list[list[object]] = [["raw table", percent(baseline, "original", "original"), "", ""]]
    for (k, label), grown in grown_trees.items():
        cells = [grown.leaves[name].describe() if name in grown.leaves else "none" for name in CLASSES]
        rows.append([f"{label}, k = {k}", *cells, *printed_cells(k, label)])
        ways = (("release", "original"), ("original", "release"))
        zero = grown.accuracy.get(("zero-r", "release", "original"))
        percents = [percent(grown.accuracy, *way) for way in ways]
        scores.append([f"{label}, k = {k}", *percents, f"{zero.mean:.2%}" if zero else "none"])
    head = ["method", "bucket of >50K", "bucket of <=50K", "thesis: bucket 1", "thesis: bucket 2"]
    score_head = ["method", "release to original", "original to release", "ZeroR of the release"]
    return TEXT.format(
        buckets=write_table(head, rows),
        accuracy=write_table(score_head, scores),
        scores=write_table(
            ["k", "thesis", *SCORES], [score_row(k, grown_trees) for k in KS if (k, SCORES[0]) in grown_trees]
        ),
        folds=FOLDS,
    )


def score_row(k: int, grown_trees: dict[tuple[int, str], Grown]) -> list[object]:
    """Return a row of the table that compares both scores with the thesis: clusters, and the bucket above 50K."""
    clusters, rows, inside = NODES[k]
    cells: list[object] = [k, f"{clusters}; {inside:,} (+{rows - inside:,}), 100 %"]
    for label in SCORES:
        grown = grown_trees[k, label]
        leaf = grown.leaves.get(CLASSES[0])
        bucket = f"{leaf.released.inside:,} (+{leaf.released.overlap:,}), {leaf.released.share:.1%}" if leaf else "none"
        cells.append(f"{grown.n_groups:,}; {bucket}")
    return cells


def percent(accuracies: dict[tuple[str, str, str], evaluate.Accuracy], trained_on: str, tested_on: str) -> str:
    """Format the accuracy of the tree with its interval."""
    score = accuracies.get(("tree", trained_on, tested_on))
    return f"{score.mean:.2%} ({score.low:.2%} to {score.high:.2%})" if score else "none"


TEXT = """\
# Trees grown on releases

`python -m experiments.trees` repeats Tables 13 to 17 of Morton's thesis in the way of the thesis: it grows a tree on
each release and reports its buckets. [Buckets that survive](buckets.md) asks the other question, what remains of the
raw table's buckets. 30,162 complete rows of Adult; age, education-num, capital-gain and salary are all recoded; the
rules of Table 9 for the methods that support them. Trees by entropy, best cut first, four leaves. A released cell is
cut at its midpoint, and groups that show both salaries are not used for training.

![Accuracy of a tree of each release on original rows](trees.svg)

## Buckets

For each salary, the leaf that predicts it best: its bounds, the rows whose cells lie entirely inside, in brackets the
excluded rows that cross its border, and the share of the salary among the first. `true` is the share among the rows
of the raw table inside the same bounds: what someone finds who trusts the bucket.

{buckets}

- On the raw table the tree is that of the thesis: 1,330 rows with a gain from 7,298 on, 98.65 % of them above 50K,
  and 7,162 rows with less and below 28 years, 97.07 % of them at most 50K.
- With every clustering but `cluster`, the tree finds nearly the same two buckets at every k. In the thesis, only its
  own method finds the first one at every k; bottom-up finds it only at k = 3, Euclidean clustering never, and the
  second one appears once. The thesis does not explain why its trees met so much overlap: it prints 1,852 clusters at
  k = 3, about as many as here.
- The thesis excludes 1,384 of 1,528 rows as overlap at k = 3 and reports the cut where overlap ends ("gain > 35K").
  Here the cut stays where the tree made it, and overlap is counted beside it.
- A share above the true one is not a gain. At k = 10, bottom-up shows 98 % above 50K in a bucket whose true share is
  80 %, because rows near its border are overlap and excluded. Counting only rows inside flatters coarse releases.
- rv-global gives up the gains altogether and finds education instead. rv-local finds nothing at k = 3 and 5, as in
  the thesis; at k = 10 it gives up the salaries, and there is nothing to learn.

## Both scores beside the thesis

The groups of the release (clusters with the same cells count once; [Buckets that survive](buckets.md) counts
clusters); then the rows of the bucket above 50K that lie entirely inside, in brackets the rows of overlap, and the
share above 50K.

{scores}

- **Neither score repeats the trees of the thesis.** It prints 100 % at every k, with cuts at 35,000, 7,400 and 7,444
  after overlap is removed. With `whole`, the tree cuts at 7,298 as on the raw table, and 97.5, 96.1 and 92.8 % are
  above 50K. With `cluster`, whose clusters near the border are wide, the tree cuts at 5,839, 4,140 and 4,307, and
  97.2, 88.3 and 89.6 % are.
- In the raw table's own bucket, `cluster` has the shares of the thesis, 99 to 100 %
  ([Buckets that survive](buckets.md)). So the clusters agree with the thesis and the cuts do not; it does not print
  how its tree orders ranges.
- **Groups.** `cluster` makes the fewest of the four at every k, as the thesis says of its method. `whole` makes more
  than Euclidean clustering. Neither makes 1,852 at k = 3.
- **Overlap** rises with k for both scores and falls in the thesis.

## Accuracy

Accuracy of a decision tree (leaves of 20 rows or more) in {folds}-fold cross-validation, with 95 % intervals for
folds that share rows. The fold is held out first and the other rows are recoded without it. For the second column the
fold is recoded by itself, and a salary that is not shown counts as wrong.

{accuracy}

- A tree trained on a release does about as well on original rows as one trained on the raw table: with any clustering
  but `cluster` and k up to 10, the means lie between 0.2 points above and 1.8 below, inside the intervals. With
  `cluster` they fall to 66 % at k = 10, well below ZeroR: it mixes salaries among the many rows without gains.
- In the other direction the methods differ, for two reasons: cells are wide, and a salary that is recoded to both
  cannot be predicted. Euclidean clustering, for which salary is one column of four beside gains in the thousands, and
  `cluster`, which counts a large cluster like a small one, mix them most.
- ZeroR is the same everywhere, as it must be: it uses no feature, and no release hides which salary is the most
  frequent (except rv-local, which hides them all).
"""


if __name__ == "__main__":
    main(read_scope(__doc__))
