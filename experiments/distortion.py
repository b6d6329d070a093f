"""Figure 2 of the KACA paper: distortion ratio of KACA and Incognito over the number of quasi-identifiers.

python -m experiments.distortion            writes experiments/distortion.json, distortion.md and distortion.svg

Figures already in distortion.json are not computed again; delete the file to start over.

Data: the 45,222 complete rows of both Adult files, the nine quasi-identifiers of the paper's Table 2 in its order,
uniform weights, k = 2 and 10, KACA with ten seeds.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from experiments.pages import adult, encode_columns, new_figure, save, write_table
from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import NODE, Partition
from shoal.hierarchy.base import Rule
from shoal.methods import Run, named
from shoal.models import KAnonymity

PAGE = Path(__file__).with_suffix(".md")
FIGURES = Path(__file__).with_suffix(".json")
KS = (2, 10)
SEEDS = 10
PRINTED_FACTOR = 5.57
Rows = list[dict[str, float]]
# Hierarchies of our own, with the heights of the paper's Table 2: the labels of each value from level 1 up, without
# the root.
WORK = {
    "Private": ("private", "employed"),
    "Self-emp-not-inc": ("own account", "self-employed"),
    "Self-emp-inc": ("own account", "self-employed"),
    "Federal-gov": ("federal", "employed"),
    "Local-gov": ("state and local", "employed"),
    "State-gov": ("state and local", "employed"),
    "Without-pay": ("unpaid", "unpaid work"),
}
SCHOOL = {
    **dict.fromkeys(("Preschool", "1st-4th"), ("up to 4th", "primary", "school")),
    **dict.fromkeys(("5th-6th", "7th-8th"), ("5th-8th", "primary", "school")),
    **dict.fromkeys(("9th", "10th"), ("9th-10th", "secondary", "school")),
    **dict.fromkeys(("11th", "12th"), ("11th-12th", "secondary", "school")),
    "HS-grad": ("finished", "secondary", "school"),
    "Some-college": ("some college", "below bachelor", "higher"),
    **dict.fromkeys(("Assoc-voc", "Assoc-acdm"), ("associate", "below bachelor", "higher")),
    "Bachelors": ("bachelor", "degree", "higher"),
    **dict.fromkeys(("Masters", "Prof-school", "Doctorate"), ("graduate", "degree", "higher")),
}
MARRIED = {
    "Married-civ-spouse": ("together", "married"),
    "Married-AF-spouse": ("together", "married"),
    "Married-spouse-absent": ("absent", "married"),
    "Never-married": ("never", "single"),
    "Divorced": ("was married", "single"),
    "Separated": ("was married", "single"),
    "Widowed": ("was married", "single"),
}
OFFICE = ("Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support")
SERVICE = ("Other-service", "Priv-house-serv", "Protective-serv", "Armed-Forces")
COUNTRIES = {
    ("north America", "America"): "United-States Canada Outlying-US(Guam-USVI-etc)",
    ("central America", "America"): (
        "Mexico Honduras Guatemala Nicaragua El-Salvador Puerto-Rico Dominican-Republic Jamaica Cuba Haiti "
        "Trinadad&Tobago"
    ),
    ("south America", "America"): "Ecuador Peru Columbia",
    ("west Europe", "Europe"): "France England Ireland Scotland Holand-Netherlands Germany",
    ("other Europe", "Europe"): "Italy Greece Portugal Yugoslavia Hungary Poland",
    ("east Asia", "Asia"): "Japan China Hong Taiwan South",
    ("south-east Asia", "Asia"): "Philippines Thailand Cambodia Vietnam Laos",
    ("other Asia", "Asia"): "India Iran",
}


def trees(frame: pl.DataFrame) -> dict[str, Rule]:
    """Return the hierarchies by column, in the order of the paper's Table 2."""
    country = {name: labels for labels, names in COUNTRIES.items() for name in names.split()}
    job = {
        name: ("office" if name in OFFICE else "service" if name in SERVICE else "manual",)
        for name in frame["occupation"].unique()
    }
    race = {name: ("white" if name == "White" else "not white",) for name in frame["race"].unique()}
    flat = {column: dict.fromkeys(frame[column].unique(), ()) for column in ("sex", "salary")}
    paths_by_column = {
        "workclass": WORK,
        "education": SCHOOL,
        "marital-status": MARRIED,
        "occupation": job,
        "race": race,
        "sex": flat["sex"],
        "native-country": country,
        "salary": flat["salary"],
    }
    hierarchies: dict[str, Rule] = {"age": hierarchy.intervals(widths=[5, 10, 20])}
    for column, paths in paths_by_column.items():
        hierarchies[column] = hierarchy.Hierarchy({value: (*labels, "*") for value, labels in sorted(paths.items())})
    return hierarchies


def distortion_ratio(encoded: Encoded, partition: Partition) -> float:
    """Return the mean share of the way to the root that the cells climb, with uniform weights."""
    total = 0.0
    for attribute, cells in zip(encoded.attributes, partition.cells, strict=True):
        tree = attribute.tree
        assert tree is not None
        level = np.zeros(len(tree.labels))
        for height in range(tree.height, 0, -1):  # a node counts at its lowest level
            level[tree.nodes[height]] = height
        level[len(attribute.texts)] = tree.height
        shares = np.where(cells.form == NODE, level[cells.low], 0) / tree.height
        total += float(shares[cells.index][partition.labels].mean())
    return total / len(partition.cells)


def run_all() -> None:
    """Write a row of figures for each k and number of quasi-identifiers; existing rows are kept."""
    frame = adult(part="both")
    rules = trees(frame)
    rows: Rows = json.loads(FIGURES.read_text()) if FIGURES.exists() else []
    finished_runs = {(row["size"], row["k"]) for row in rows}
    for size in range(1, len(rules) + 1):
        names = list(rules)[:size]
        encoded = encode_columns(frame, names, {name: rules[name] for name in names})
        for k in KS:
            if (size, k) not in finished_runs:
                rows.append({"k": k, "size": size} | run_one(encoded, k))
                FIGURES.write_text(json.dumps(rows, indent=1) + "\n")


def run_one(encoded: Encoded, k: int) -> dict[str, float]:
    """Run KACA with ten seeds, and Incognito; return their ratios and CPU times."""
    models = (KAnonymity(k),)
    ratios, seconds = [], []
    for seed in range(SEEDS):
        start = time.process_time()
        ratios.append(distortion_ratio(encoded, named("kaca").partition(encoded, models, Run(seed=seed))))
        seconds.append(time.process_time() - start)
    best = named("incognito", objective="precision").partition(encoded, models, Run())
    start = time.process_time()
    lowest = named("incognito").partition(encoded, models, Run())
    incognito_seconds = time.process_time() - start
    return {
        "kaca": statistics.mean(ratios),
        "spread": max(ratios) - min(ratios),
        "seconds": statistics.median(seconds),
        "incognito_seconds": incognito_seconds,
        "incognito": distortion_ratio(encoded, best),
        "height": distortion_ratio(encoded, lowest),
    }


def main() -> None:
    """Run both methods, then write the page and the picture."""
    run_all()
    rows = json.loads(FIGURES.read_text())
    figure, axes = new_figure(7.2, 3.2, columns=2)
    for axis, k in zip(axes, KS, strict=True):
        rows_of_k = [row for row in rows if row["k"] == k]
        sizes = [row["size"] for row in rows_of_k]
        axis.plot(sizes, [row["incognito"] for row in rows_of_k], ".-", label="Incognito, least distortion")
        axis.plot(sizes, [row["kaca"] for row in rows_of_k], ".-", label="KACA, mean of ten seeds")
        axis.set(title=f"k = {k}", xlabel="quasi-identifiers", ylim=(0, None))
    axes[0].set_ylabel("distortion ratio")
    axes[0].legend(fontsize=7)
    save(figure, "distortion.svg")
    PAGE.write_text(page(rows))


def page(rows: list[dict[str, float]]) -> str:
    """Write the page as Markdown."""
    head = ["k", "quasi-identifiers", "KACA, mean", "largest - least", "Incognito", "by height", "factor"]
    table = write_table(
        [*head, "CPU s, KACA", "CPU s, Incognito"],
        [
            [
                int(row["k"]),
                int(row["size"]),
                f"{row['kaca']:.4f}",
                f"{row['spread']:.4f}",
                f"{row['incognito']:.4f}",
                f"{row['height']:.4f}",
                f"{row['incognito'] / row['kaca']:.2f}" if row["kaca"] else "",
                f"{row['seconds']:.1f}",
                f"{row['incognito_seconds']:.1f}",
            ]
            for row in sorted(rows, key=lambda row: (row["k"], row["size"]))
        ],
    )
    averages = write_table(
        ["average factor", *(f"k = {k}" for k in KS), "both"],
        [
            [name, *(f"{average([row for row in rows if row['k'] == k]):.2f}" for k in KS), f"{average(rows):.2f}"]
            for name, average in AVERAGES.items()
        ],
    )
    spread = max(row["spread"] for row in rows)
    return TEXT.format(table=table, averages=averages, spread=spread, printed=PRINTED_FACTOR)


def factors(rows: Rows, of: str = "incognito") -> list[float]:
    """Return by which factor the ratio of KACA is lower, for rows where it is above 0."""
    return [row[of] / row["kaca"] for row in rows if row["kaca"]]


AVERAGES: dict[str, Callable[[Rows], float]] = {
    "mean": lambda rows: statistics.mean(factors(rows)),
    "mean over sizes 5 to 9": lambda rows: statistics.mean(factors([row for row in rows if row["size"] >= 5])),
    "mean, Incognito by height": lambda rows: statistics.mean(factors(rows, "height")),
    "median": lambda rows: statistics.median(factors(rows)),
    "geometric mean": lambda rows: statistics.geometric_mean(factors(rows)),
    "ratio of the summed distortions": lambda rows: sum(r["incognito"] for r in rows) / sum(r["kaca"] for r in rows),
}
TEXT = """\
# Distortion of KACA against Incognito

`python -m experiments.distortion` repeats Figure 2 of the KACA paper: 45,222 complete rows of Adult, the nine
quasi-identifiers of its Table 2 in its order, hierarchies of our own with its heights, uniform weights. Among the
minimal vectors, Incognito chooses the one of least distortion; the column "by height" has the usual choice.

![Distortion ratio over the number of quasi-identifiers](distortion.svg)

{table}

The paper states that the distortion ratio of KACA is {printed} times lower on average. It does not say which average,
and ours depends on it:

{averages}

What repeats, and what does not:

- KACA stays below Incognito for every number of quasi-identifiers and both k, by at least a factor of four. Its ratio
  rises with the number of quasi-identifiers and with k, as in the paper.
- **The {printed} does not repeat as a mean over all sizes.** With one or two quasi-identifiers, KACA changes only the
  few rows that need it, while a full-domain method changes all rows. The resulting factors in the hundreds and
  thousands dominate the mean. With k = 10 and five or more quasi-identifiers, where both must generalise much, the
  factors are close to the paper's. The paper prints neither the figures behind its curves nor its hierarchies, only
  their heights.
- KACA takes longer than Incognito on average, as in the paper; with nine quasi-identifiers, Incognito's lattice is so
  large that the order is reversed.
- Incognito's ratio does not rise steadily with the number of quasi-identifiers, although the paper says that both do.
  The ratio is a mean over the columns, and falls when a further column adds less than the mean of those before it.
- Here a group shows the lowest common label of its own rows, which is never higher than the label that KACA merged
  by. So the ratios of KACA are, if anything, lower than those of the paper's method.
- The ratios of ten seeds differ by at most {spread:.4f}.
"""


if __name__ == "__main__":
    main()
