"""Figure 2 of the KACA paper: distortion ratio of KACA and Incognito over the number of quasi-identifiers.

python -m experiments.distortion            writes experiments/distortion.json, distortion.md and distortion.svg

Figures already in distortion.json are not computed again; delete the file to start over.

Data: the 45,222 complete rows of both Adult files, the nine quasi-identifiers of the paper's Table 2 in its order,
k = 2 and 10; uniform weights as in the figure, with ten seeds of KACA, and height weights, which the paper ran but does
not show, with at least three.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from experiments.pages import FULL, Scope, encode_columns, new_figure, read_scope, write_table
from shoal import Climb, hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import NODE, Partition
from shoal.hierarchy.base import Rule
from shoal.methods import Run, named
from shoal.models import KAnonymity

KS = (2, 10)
SEEDS = {"uniform": 10, "height, beta 1": 3, "height, beta 2": 3}
PRINTED_FACTOR = 5.57
WEIGHTINGS = {"uniform": Climb(), "height, beta 1": Climb("height", 1), "height, beta 2": Climb("height", 2)}
Row = dict[str, Any]
Rows = list[Row]
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


def distortion_ratio(encoded: Encoded, partition: Partition, climb: Climb = WEIGHTINGS["uniform"]) -> float:
    """Return the mean share of the way to the root that the cells climb; a climb weighs the steps of the way."""
    total = 0.0
    for attribute, cells in zip(encoded.attributes, partition.cells, strict=True):
        tree = attribute.tree
        assert tree is not None
        level = np.zeros(len(tree.labels), dtype=np.int64)
        for height in range(tree.height, 0, -1):  # a node counts at its lowest level
            level[tree.nodes[height]] = height
        level[len(attribute.texts)] = tree.height
        weighted = np.array([float(share) for share in climb.to_levels(attribute.name, tree.height)])
        shares = weighted[np.where(cells.form == NODE, level[cells.low], 0)]
        total += float(shares[cells.index][partition.labels].mean())
    return total / len(partition.cells)


def run_all(scope: Scope) -> Rows:
    """Return a row of figures for each weighting, k and number of quasi-identifiers; stored rows are kept."""
    frame = scope.adult(part="both")
    rules = trees(frame)
    path = scope.folder / "distortion.json"
    rows: Rows = json.loads(path.read_text()) if path.exists() else []
    finished_runs = {(row["weighting"], row["size"], row["k"]) for row in rows}
    for size in range(1, (4 if scope.is_sample else len(rules)) + 1):
        names = list(rules)[:size]
        encoded = encode_columns(frame, names, {name: rules[name] for name in names})
        for k in KS:
            open_weightings = [name for name in WEIGHTINGS if (name, size, k) not in finished_runs]
            rows += run_one(encoded, k, open_weightings, 2 if scope.is_sample else None) if open_weightings else []
            path.write_text(json.dumps(rows, indent=1) + "\n")
    return rows


def run_one(encoded: Encoded, k: int, weightings: list[str], n_seeds: int | None) -> Rows:
    """Run KACA with several seeds, and Incognito; return their ratios and CPU times by weighting."""
    models = (KAnonymity(k),)
    start = time.process_time()
    lowest = named("incognito").partition(encoded, models, Run())
    incognito_seconds = time.process_time() - start
    rows = []
    for name in weightings:
        climb = WEIGHTINGS[name]
        ratios, seconds = [], []
        for seed in range(n_seeds or SEEDS[name]):
            start = time.process_time()
            method = named("kaca", weighting=climb.weighting, beta=climb.beta)
            ratios.append(distortion_ratio(encoded, method.partition(encoded, models, Run(seed=seed)), climb))
            seconds.append(time.process_time() - start)
        rows.append(
            {
                "weighting": name,
                "k": k,
                "size": len(encoded.attributes),
                "kaca": statistics.mean(ratios),
                "spread": max(ratios) - min(ratios),
                "seconds": statistics.median(seconds),
                "incognito_seconds": incognito_seconds,
                "incognito": min(ratio_of_levels(encoded, levels, climb) for levels in lowest.facts["minimal"]),
                "height": distortion_ratio(encoded, lowest, climb),
            }
        )
    return rows


def ratio_of_levels(encoded: Encoded, levels: dict[str, int], climb: Climb) -> float:
    """Return the distortion ratio of a full-domain release at these levels."""
    shares = []
    for attribute in encoded.attributes:
        assert attribute.tree is not None
        shares.append(float(list(climb.to_levels(attribute.name, attribute.tree.height))[levels[attribute.name]]))
    return statistics.mean(shares)


def main(scope: Scope = FULL) -> None:
    """Run both methods, then write the page and the picture."""
    rows = run_all(scope)
    figure, axes = new_figure(7.2, 3.2, columns=2)
    for axis, k in zip(axes, KS, strict=True):
        for name, line in zip(WEIGHTINGS, ("-", "--", ":"), strict=True):
            rows_of_k = [row for row in rows if (row["k"], row["weighting"]) == (k, name)]
            sizes = [row["size"] for row in rows_of_k]
            axis.plot(sizes, [row["incognito"] for row in rows_of_k], f"C0.{line}", label=f"Incognito, {name}")
            axis.plot(sizes, [row["kaca"] for row in rows_of_k], f"C1.{line}", label=f"KACA, {name}")
        axis.set(title=f"k = {k}", xlabel="quasi-identifiers", ylim=(0, None))
    axes[0].set_ylabel("distortion ratio")
    axes[0].legend(fontsize=6)
    scope.save(figure, "distortion.svg")
    scope.write("distortion.md", page(rows))


def page(rows: Rows) -> str:
    """Write the page as Markdown."""
    uniform = [row for row in rows if row["weighting"] == "uniform"]
    averages = write_table(
        ["average factor", *(f"k = {k}" for k in KS), "both"],
        [
            [
                name,
                *(f"{average([row for row in uniform if row['k'] == k]):.2f}" for k in KS),
                f"{average(uniform):.2f}",
            ]
            for name, average in AVERAGES.items()
        ],
    )
    spread = max(row["spread"] for row in uniform)
    return TEXT.format(
        table=ratio_table(uniform),
        averages=averages,
        weighted=weighted_table(rows),
        spread=spread,
        printed=PRINTED_FACTOR,
    )


def ratio_table(rows: Rows) -> str:
    """Format the ratios with uniform weights."""
    head = ["k", "quasi-identifiers", "KACA, mean", "largest - least", "Incognito", "by height", "factor"]
    return write_table(
        [*head, "CPU s, KACA", "CPU s, Incognito"],
        [
            [
                row["k"],
                row["size"],
                *(f"{row[name]:.4f}" for name in ("kaca", "spread", "incognito", "height")),
                f"{row['incognito'] / row['kaca']:.2f}" if row["kaca"] else "",
                *(f"{row[name]:.1f}" for name in ("seconds", "incognito_seconds")),
            ]
            for row in sorted(rows, key=lambda row: (row["k"], row["size"]))
        ],
    )


def weighted_table(rows: Rows) -> str:
    """Format the ratios of all weightings side by side, as KACA and Incognito with the factor between them."""
    by_run = {(row["weighting"], row["k"], row["size"]): row for row in rows}
    runs = sorted({(row["k"], row["size"]) for row in rows})

    def cell(row: Row) -> str:
        factor = f", {row['incognito'] / row['kaca']:.1f}" if row["kaca"] else ""
        return f"{row['kaca']:.4f}, {row['incognito']:.4f}{factor}"

    return write_table(
        ["k", "quasi-identifiers", *WEIGHTINGS],
        [[k, size, *(cell(by_run[name, k, size]) for name in WEIGHTINGS)] for k, size in runs],
    )


def factors(rows: Rows, of: str = "incognito") -> list[float]:
    """Return by which factor the ratio of KACA is lower, for rows where it is above 0."""
    return [row[of] / row["kaca"] for row in rows if row["kaca"]]


AVERAGES: dict[str, Callable[[Rows], float]] = {
    "mean": lambda rows: statistics.mean(factors(rows)),
    "mean over sizes 5 to 9": lambda rows: statistics.mean(factors([row for row in rows if row["size"] >= 5] or rows)),
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

## Height weights

The paper also ran both methods with height weights, by which a step near the root counts more than one near the leaves,
and says without figures that the results are similar. A cell has the ratio of KACA (mean of at least three seeds), that
of Incognito (least distortion by these weights), and the factor between them:

{weighted}

- **They are similar.** KACA stays below Incognito for every number of quasi-identifiers and both k, and its ratio
  rises with both.
- The ratios are lower, because most steps are near the leaves, and the factors are larger: where KACA climbs at all, it
  mostly climbs one step, while a full-domain method climbs to levels near the root. With k = 10 and five to nine
  quasi-identifiers the factors are 5.8 to 8.0 with beta 1, and 8.8 to 14.2 with beta 2.
"""


if __name__ == "__main__":
    main(read_scope(__doc__))
