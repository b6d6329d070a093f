"""Figure 2 of the paper that brings KACA: distortion ratio of KACA and Incognito over the number of quasi-identifiers.

python -m experiments.distortion            writes experiments/distortion.md and distortion.svg

45,222 complete rows of both Adult files, the nine quasi-identifiers of the paper's Table 2 in its order, uniform
weights, k = 2 and 10, KACA with ten seeds.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
import polars as pl

from experiments.pages import adult, encode_columns, new_figure, save, write_table
from shoal import hierarchy
from shoal.encoding import Encoded
from shoal.hierarchy.base import Rule
from shoal.methods import Run, named
from shoal.models import KAnonymity
from shoal.partition import NODE, Partition

PAGE = Path(__file__).with_suffix(".md")
KS = (2, 10)
SEEDS = 10
PRINTED_FACTOR = 5.57
# Trees of our own, with the heights of the paper's Table 2: label of each value from level 1 up, without the root.
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
    given = {
        "workclass": WORK,
        "education": SCHOOL,
        "marital-status": MARRIED,
        "occupation": job,
        "race": race,
        "sex": flat["sex"],
        "native-country": country,
        "salary": flat["salary"],
    }
    made: dict[str, Rule] = {"age": hierarchy.intervals(widths=[5, 10, 20])}
    for column, paths in given.items():
        made[column] = hierarchy.Hierarchy({value: (*labels, "*") for value, labels in sorted(paths.items())})
    return made


def distortion_ratio(encoded: Encoded, made: Partition) -> float:
    """Return the mean share of the climb to the root over all cells, with uniform weights."""
    total = 0.0
    for attribute, cells in zip(encoded.attributes, made.cells, strict=True):
        tree = attribute.tree
        assert tree is not None
        level = np.zeros(len(tree.labels))
        for height in range(tree.height, 0, -1):  # a node is on its lowest level
            level[tree.nodes[height]] = height
        level[len(attribute.texts)] = tree.height
        climbed = np.where(cells.form == NODE, level[cells.low], 0) / tree.height
        total += float(climbed[cells.index][made.labels].mean())
    return total / len(made.cells)


def run_all() -> list[dict[str, float]]:
    """Return a row for each k and number of quasi-identifiers."""
    frame = adult(part="both")
    rules = trees(frame)
    rows = []
    for size in range(1, len(rules) + 1):
        names = list(rules)[:size]
        encoded = encode_columns(frame, names, {name: rules[name] for name in names})
        for k in KS:
            models = (KAnonymity(k),)
            ratios, seconds = [], []
            for seed in range(SEEDS):
                began = time.process_time()
                ratios.append(distortion_ratio(encoded, named("kaca").partition(encoded, models, Run(seed=seed))))
                seconds.append(time.process_time() - began)
            best = named("incognito", objective="precision").partition(encoded, models, Run())
            usual = named("incognito").partition(encoded, models, Run())
            rows.append(
                {
                    "k": k,
                    "size": size,
                    "kaca": statistics.mean(ratios),
                    "spread": max(ratios) - min(ratios),
                    "seconds": statistics.median(seconds),
                    "incognito": distortion_ratio(encoded, best),
                    "height": distortion_ratio(encoded, usual),
                }
            )
    return rows


def main() -> None:
    """Run everything and write the page and the picture."""
    rows = run_all()
    figure, axes = new_figure(7.2, 3.2, columns=2)
    for axis, k in zip(axes, KS, strict=True):
        own = [row for row in rows if row["k"] == k]
        sizes = [row["size"] for row in own]
        axis.plot(sizes, [row["incognito"] for row in own], ".-", label="Incognito, least distortion")
        axis.plot(sizes, [row["kaca"] for row in own], ".-", label="KACA, mean of ten seeds")
        axis.set(title=f"k = {k}", xlabel="quasi-identifiers", ylim=(0, None))
    axes[0].set_ylabel("distortion ratio")
    axes[0].legend(fontsize=7)
    save(figure, "distortion.svg")
    PAGE.write_text(page(rows))


def page(rows: list[dict[str, float]]) -> str:
    """Return the page."""
    told = write_table(
        ["k", "quasi-identifiers", "KACA, mean", "largest - least", "CPU s", "Incognito", "by height", "factor"],
        [
            [
                int(row["k"]),
                int(row["size"]),
                f"{row['kaca']:.4f}",
                f"{row['spread']:.4f}",
                f"{row['seconds']:.1f}",
                f"{row['incognito']:.4f}",
                f"{row['height']:.4f}",
                f"{row['incognito'] / row['kaca']:.2f}" if row["kaca"] else "",
            ]
            for row in sorted(rows, key=lambda row: (row["k"], row["size"]))
        ],
    )
    changed = [row for row in rows if row["kaca"]]
    factor = statistics.mean(row["incognito"] / row["kaca"] for row in changed)
    by_height = statistics.mean(row["height"] / row["kaca"] for row in changed)
    totals = sum(row["incognito"] for row in rows) / sum(row["kaca"] for row in rows)
    middle = statistics.median(row["incognito"] / row["kaca"] for row in changed)
    return TEXT.format(
        table=told, factor=factor, by_height=by_height, totals=totals, middle=middle, printed=PRINTED_FACTOR
    )


TEXT = """\
# Distortion of KACA against Incognito

Figure 2 of the paper that brings KACA, repeated by `python -m experiments.distortion`: 45,222 complete rows of Adult,
the nine quasi-identifiers of its Table 2 in its order, hierarchies of our own with its heights, uniform weights.
Incognito chooses, among the minimal vectors, the one of least distortion; the column "by height" has the usual choice.

![Distortion ratio over the number of quasi-identifiers](distortion.svg)

{table}

The paper says that the distortion ratio of KACA is {printed} times lower on average. Here the mean of the factors is
{factor:.2f} ({by_height:.2f} against the vector of least height), their median {middle:.2f}, and the ratio of the
summed distortions {totals:.2f}.

Where the figures differ:

- The paper does not print its hierarchies, only their heights, and not the figures behind its curves; how it took its
  average is not told. A single attribute with a few rare values (age, alone) makes a very large factor, since KACA
  touches the few rows that need it and a full-domain method all rows; the mean of factors is ruled by such cases.
- Both curves rise with the number of quasi-identifiers and with k, as in the paper, and KACA stays below Incognito
  throughout.
- Seeds matter little for a table of this size: the largest ratio of ten seeds is close to the least.
"""


if __name__ == "__main__":
    main()
