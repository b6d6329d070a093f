"""Draw the pictures of the clustering methods in docs/concepts: the same bytes on every run.

python scripts/make_method_pictures.py [NAME ...]
"""

from __future__ import annotations

import sys
from pathlib import Path

from make_shoaling_pictures import draw_boxes, loss, points, save

from shoal.methods import Run, named
from shoal.models import KAnonymity

FOLDER = Path(__file__).parents[1] / "docs" / "concepts"
# What is drawn of each method: its boxes around sixty points, beside those of another method or of other options.
PICTURES: dict[str, list[tuple[str, str, dict[str, object]]]] = {
    "sbca": [
        ("sbca, rest to the last group", "sbca", {}),
        ("sbca, rest to the nearest", "sbca", {"remainder": "nearest"}),
    ],
}
K = 7


def main() -> None:
    """Write the pictures of all methods, or of those named."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "none", "font.size": 9})
    for name in sys.argv[1:] or PICTURES:
        draw_method(name)


def draw_method(name: str) -> None:
    """Draw what groups of K show of the points."""
    import matplotlib.pyplot as plt

    encoded = points()
    panels = PICTURES[name]
    figure, axes = plt.subplots(1, len(panels), figsize=(3.6 * len(panels), 3.6), sharey=True)
    for axis, (title, method, options) in zip(axes, panels, strict=True):
        made = named(method, **options).partition(encoded, (KAnonymity(K),), Run())
        draw_boxes(axis, encoded, made)
        axis.set_title(f"{title}: loss {loss(encoded, made):.3f}")
        axis.set_aspect("equal")
    save(figure, FOLDER / f"{name}-groups.svg")


if __name__ == "__main__":
    main()
