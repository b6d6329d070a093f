"""Draw the pictures of the clustering methods in docs/concepts, with the same bytes on every run.

python scripts/make_method_pictures.py [NAME ...]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from make_shoaling_pictures import draw_boxes, loss, points, save

from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import tight_partition
from shoal.encoding.tree import plant
from shoal.hierarchy import intervals
from shoal.methods import Run, named
from shoal.models import KAnonymity
from shoal.rules import Rule

FOLDER = Path(__file__).parents[1] / "docs" / "concepts"
# The panels of each picture: the boxes of the method around sixty points, beside those of another method or of other
# options.
PICTURES: dict[str, list[tuple[str, str, dict[str, object]]]] = {
    "sbca": [
        ("sbca, rest to the last group", "sbca", {}),
        ("sbca, rest to the nearest", "sbca", {"remainder": "nearest"}),
    ],
    "kaca": [
        ("kaca, intervals of 5, 10, 20", "kaca", {}),
        ("kaca, near the root dearer", "kaca", {"weighting": "height", "beta": 2}),
    ],
    "bottom-up": [("mondrian", "mondrian", {}), ("bottom-up", "bottom-up", {})],
    "top-down": [("bottom-up", "bottom-up", {}), ("top-down", "top-down", {})],
    "utility-driven": [("no rules", "utility-driven", {}), ("x: 50|51, y: 50|51", "utility-driven", {})],
    "mnqia": [("bottom-up", "bottom-up", {}), ("mnqia", "mnqia", {})],
    "euclidean": [("bottom-up", "bottom-up", {}), ("euclidean", "euclidean", {})],
}
K = 7
RULES = (Rule("x", inflection=(50, 51), importance=20), Rule("y", inflection=(50, 51), importance=20))
# Methods that need hierarchies get intervals over each number.
WITH_INTERVALS = frozenset({"kaca"})


def main() -> None:
    """Write the pictures of the named methods, or of all."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "none", "font.size": 9})
    for name in sys.argv[1:] or PICTURES:
        draw_method(name)


def with_intervals(encoded: Encoded) -> Encoded:
    """Add a hierarchy of intervals to each coordinate of the points."""
    attributes = []
    for attribute in encoded.attributes:
        rule = intervals(widths=[5, 10, 20]).over(attribute.texts, column=attribute.name)
        tree = plant(attribute.texts, [rule.rows[text] for text in attribute.texts])
        attributes.append(replace(attribute, tree=tree, hierarchy=rule))
    return replace(encoded, attributes=tuple(attributes))


def draw_method(name: str) -> None:
    """Draw the boxes that groups of K points show."""
    import matplotlib.pyplot as plt

    plain = points()
    encoded = with_intervals(plain) if name in WITH_INTERVALS else plain
    panels = PICTURES[name]
    figure, axes = plt.subplots(1, len(panels), figsize=(3.6 * len(panels), 3.6), sharey=True)
    for axis, (title, method, options) in zip(axes, panels, strict=True):
        run = Run(rules=RULES) if "|" in title else Run()
        labels = named(method, **options).partition(encoded, (KAnonymity(K),), run).labels
        partition = tight_partition(plain, labels)
        draw_boxes(axis, plain, partition)
        axis.set_title(f"{title}: loss {loss(plain, partition):.3f}")
        axis.set_aspect("equal")
    save(figure, FOLDER / f"{name}-groups.svg")


if __name__ == "__main__":
    main()
