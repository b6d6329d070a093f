"""Draw the pictures of docs/concepts/shoaling.md, with the same bytes on every run.

python scripts/make_shoaling_pictures.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.encoding.partition import Partition
from shoal.methods import Method, Mondrian, Run, Shoaling
from shoal.models import KAnonymity
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame

FOLDER = Path(__file__).parents[1] / "docs" / "concepts"
KS = (2, 3, 5, 10, 20, 50, 100)


def main() -> None:
    """Write both pictures."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "none", "font.size": 9})
    draw_groups(FOLDER / "shoaling-groups.svg")
    draw_losses(FOLDER / "shoaling-losses.svg")


def points() -> Encoded:
    """Return 60 points of two numbers: three clouds and a few outliers."""
    import polars as pl

    generator = np.random.Generator(np.random.PCG64(7))
    clouds = [generator.normal(centre, 7, (18, 2)) for centre in ((25, 30), (70, 25), (50, 75))]
    rows = np.clip(np.vstack([*clouds, generator.uniform(0, 100, (6, 2))]), 0, 100).round().astype(int).astype(str)
    frame = pl.DataFrame({"x": rows[:, 0], "y": rows[:, 1]})
    kinds = {"x": Kind.NUMERIC, "y": Kind.NUMERIC}
    return encode(from_frame(frame), Schema.build(["x", "y"], {Role.QI: ["x", "y"]}, kinds=kinds))


def draw_groups(path: Path) -> None:
    """Draw the boxes that groups of five points show: by Mondrian's cuts, and by shoaling."""
    import matplotlib.pyplot as plt

    encoded = points()
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), sharey=True)
    methods: tuple[Method, ...] = (Mondrian(), Shoaling(effort="high"))
    for axis, method in zip(axes, methods, strict=True):
        partition = method.partition(encoded, (KAnonymity(5),), Run())
        draw_boxes(axis, encoded, partition)
        axis.set_title(f"{method.name}: loss {loss(encoded, partition):.3f}")
        axis.set_aspect("equal")
    save(figure, path)


def draw_boxes(axis: Any, encoded: Encoded, partition: Partition) -> None:
    """Draw the rows as dots and each group as the box that it shows."""
    from matplotlib.patches import Rectangle

    sides = [attribute.values for attribute in encoded.attributes]
    rows = encoded.tuples[encoded.row_tuple]
    for group in range(partition.n_groups):
        coordinates = [side[rows[partition.labels == group, a]] for a, side in enumerate(sides)]
        low, high = [values.min() for values in coordinates], [values.max() for values in coordinates]
        colour = f"C{group % 10}"
        axis.add_patch(Rectangle(low, high[0] - low[0], high[1] - low[1], color=colour, alpha=0.25))
        axis.plot(*coordinates, ".", color=colour)


def loss(encoded: Encoded, partition: Partition) -> float:
    """Return the mean loss of a cell of a table of numbers."""
    total = 0.0
    for attribute, cells in zip(encoded.attributes, partition.cells, strict=True):
        widths = (attribute.values[cells.high] - attribute.values[cells.low]) / attribute.span
        total += float(widths[cells.index][partition.labels].mean())
    return total / len(partition.cells)


def draw_losses(path: Path) -> None:
    """Draw the loss over k on the built-in patients table, for Mondrian and each effort of shoaling."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(5.4, 3.4))
    methods = {"mondrian": Mondrian(), **{f"shoaling, {e}": Shoaling(effort=e) for e in ("fast", "normal", "high")}}
    for name, method in methods.items():
        losses = [patients_loss(method, k) for k in KS]
        axis.plot(KS, losses, ".-", label=name)
    axis.set(xscale="log", yscale="log", xlabel="k", ylabel="loss (mean NCP of a cell)", xticks=KS)
    axis.set_xticklabels(map(str, KS))
    axis.minorticks_off()
    axis.legend()
    save(figure, path)


def patients_loss(method: Method, k: int) -> float:
    """Return the loss of the built-in patients table with three quasi-identifiers."""
    release = shoal.anonymize(
        shoal.datasets.patients(), qi=["birth_date", "sex", "zip"], others="drop", k=k, method=method, threads=1
    )
    return float(release.measures.ncp)


def save(figure: Any, path: Path) -> None:
    """Save a figure without its date, so that the bytes repeat."""
    figure.savefig(path, metadata={"Date": None, "Creator": "shoal"}, bbox_inches="tight")
    text = "\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n"
    path.write_text(text)


if __name__ == "__main__":
    main()
