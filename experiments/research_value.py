"""Tables 5 and 6 of Morton's thesis on Adult-like data: global and local search for research value.

    python -m experiments.research_value            writes experiments/research_value.md and .svg

The thesis ran on death certificates that are not public. Here a row is a couple: the 15 columns of an Adult row and
nine columns of another row drawn at random (p-...), 24 in all. Sets named m take the columns with most levels, sets
named r columns drawn at random; 3, 8 or 12 of them; m24 is all. A run that takes longer than LIMIT seconds of CPU is
given up.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import polars as pl

from benchmarks.workloads import find_adult
from experiments.pages import new_figure, save
from shoal import hierarchy
from shoal.encoding.attributes import Encoded
from shoal.encoding.encode import encode
from shoal.errors import InfeasibleError
from shoal.hierarchy.base import Rule
from shoal.methods import Run, named
from shoal.models import KAnonymity
from shoal.schema import Kind, Role, Schema
from shoal.tables.table import from_frame

PAGE = Path(__file__).with_suffix(".md")
LIMIT = 600
KS = (3, 5)
WIDTHS = {
    "age": [5, 10, 20],
    "fnlwgt": [50_000, 200_000],
    "education-num": [4, 8],
    "capital-gain": [10_000, 50_000],
    "capital-loss": [1_000],
    "hours-per-week": [10, 20, 40],
}
GROUPS = {
    "workclass": {"Private": "private", "Self-emp-inc": "self", "Self-emp-not-inc": "self"},
    "marital-status": {"Never-married": "single", "Divorced": "single", "Separated": "single", "Widowed": "single"},
    "relationship": {"Husband": "spouse", "Wife": "spouse"},
    "race": {"White": "white"},
    "native-country": {"United-States": "home"},
}
INTRODUCTION = """\
Tables 5 and 6 of Morton's thesis, repeated by `python -m experiments.research_value` on 30,162 couples made of
Adult, since the death certificates of the thesis are not public. m03 to m24: the columns with most levels; r03
to r12: columns drawn at random; m24 is all 24 columns. Values are computed, weights alike. Strings are counted
after pre-pruning; sets of 12 and more columns are searched with `--subsets`, in memory bounded by 16,384
strings.

Global and hybrid reach the same value in every run. The local search tests two strings and ends at the roots,
where a release is worth nothing, or close to them (r03); in the thesis, too, it found nothing of use on Adult.
Neither values nor times can be held against those of the thesis: the data, the columns and the machine are
other ones.

![Strings and tests of each search by set of columns, on a logarithmic scale](research_value.svg)"""
PARTNER = ("age", "workclass", "marital-status", "occupation", "race", "sex", "education", "hours-per-week", "salary")


def couples() -> tuple[dict[str, list[str]], dict[str, Rule], dict[str, Kind]]:
    """Return the columns, their hierarchies and kinds."""
    adult = find_adult()
    if adult is None:
        raise SystemExit("the Adult table is not here: see shoal.datasets.adult")
    order = list(range(len(adult["age"])))
    random.Random(0).shuffle(order)
    columns = dict(adult) | {f"p-{name}": [adult[name][i] for i in order] for name in PARTNER}
    rules: dict[str, Rule] = {}
    kinds = {}
    for name, cells in columns.items():
        own = name.removeprefix("p-")
        kinds[name] = Kind.NUMERIC if own in WIDTHS else Kind.CATEGORICAL
        if own in WIDTHS:
            rules[name] = hierarchy.intervals(widths=WIDTHS[own])
        elif own in GROUPS:
            rules[name] = hierarchy.from_dict(
                {v: (GROUPS[own].get(v, f"other {own}"), "*") for v in sorted(set(cells))}
            )
    return columns, rules, kinds


def choose_sets(columns: dict[str, list[str]], rules: dict[str, Rule]) -> dict[str, list[str]]:
    """Return the columns of each set, in the order of the table."""
    heights = {name: len(WIDTHS.get(name.removeprefix("p-"), [])) or int(name in rules) for name in columns}
    most = sorted(columns, key=lambda name: (-heights[name], list(columns).index(name)))
    draw = random.Random(1)
    chosen = {f"m{n:02}": most[:n] for n in (3, 8, 12, 24)}
    chosen |= {f"r{n:02}": draw.sample(list(columns), n) for n in (3, 8, 12)}
    return {name: [column for column in columns if column in names] for name, names in chosen.items()}


def encoded(names: list[str], columns: dict[str, list[str]], rules: dict[str, Rule], kinds: dict[str, Kind]) -> Encoded:
    """Return some columns as codes."""
    table = from_frame(pl.DataFrame({name: columns[name] for name in names}))
    schema = Schema.build(names, {Role.QI: names}, kinds={name: kinds[name] for name in names})
    return encode(table, schema, {name: rules[name] for name in names if name in rules})


def run(table: Encoded, k: int, method: str, *, subsets: bool) -> list[str]:
    """Return the row of a run: seconds, strings, tested, highest RV of a string that passes, minimum, maximum."""
    began = time.process_time()

    def too_long() -> bool:
        return time.process_time() - began > LIMIT

    made = named(method, **({"subsets": True, "budget": 2**14} if subsets else {}))
    try:
        found = made.partition(table, (KAnonymity(k),), Run(cancelled=too_long)).facts
    except InfeasibleError:
        return [f"{time.process_time() - began:.1f}", "", "", "none found", "", ""]
    except KeyboardInterrupt:
        return [f"> {LIMIT}", "", "", "given up", "", ""]
    best = found["successful"][0]
    cells = [f"{time.process_time() - began:.1f}", f"{found['strings']:,}", f"{found['tested']:,}"]
    return [*cells, f"{best['rv']:.4f}", f"{found['minimum_rv']:.4f}", f"{found['maximum_rv']:.4f}"]


def draw(strings: dict[str, int], tested: dict[str, dict[str, int]]) -> None:
    """Draw how many strings there are and how many each search tests at the larger k."""
    figure, axis = new_figure()
    axis.plot(list(strings), list(strings.values()), "k.--", label="strings")
    for method, counts in tested.items():
        axis.plot(list(counts), list(counts.values()), ".-", label=f"tested, {method}")
    axis.set(xlabel="set of columns", yscale="log", title=f"k = {KS[-1]}")
    axis.legend(fontsize=7)
    save(figure, "research_value.svg")


def main() -> None:
    """Run everything and write the page and the picture."""
    columns, rules, kinds = couples()
    sets = choose_sets(columns, rules)
    head = (
        "| k | CPU s | set | strings | tested | highest RV that passes | minimum RV | maximum RV |\n"
        + "|---" * 8
        + "|\n"
    )
    lines: dict[str, list[str]] = {"rv-global": [], "rv-local": [], "rv-hybrid": []}
    strings: dict[str, int] = {}
    tested: dict[str, dict[str, int]] = {method: {} for method in lines}
    for name, chosen in sets.items():
        table = encoded(chosen, columns, rules, kinds)
        for k in KS:
            for method, rows in lines.items():
                seconds, *cells = run(table, k, method, subsets=len(chosen) > 8 and method != "rv-local")
                rows.append("| " + " | ".join([str(k), seconds, name, *cells]) + " |")
                if cells[0]:
                    strings[name], tested[method][name] = (int(cell.replace(",", "")) for cell in cells[:2])
    draw(strings, tested)
    text = [INTRODUCTION, ""]
    for method, title in (("rv-global", "Table 5: global"), ("rv-local", "Table 6: local"), ("rv-hybrid", "Hybrid")):
        text += [f"## {title}", "", head + "\n".join(lines[method]), ""]
    PAGE.write_text("# Research value on Adult-like data\n\n" + "\n".join(text).rstrip() + "\n")


if __name__ == "__main__":
    main()
