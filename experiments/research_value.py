"""Tables 5 and 6 of Morton's thesis on Adult-like data: global and local search for research value.

python -m experiments.research_value            writes experiments/research_value.md and .svg

The thesis used death certificates that are not public. Here a row is a couple: the 15 columns of an Adult row and
nine columns of another row drawn at random (p-...), 24 in all. Sets named m have the 3, 8 or 12 columns with most
levels, sets named r as many columns drawn at random; m24 has all columns. A run is cancelled after LIMIT CPU seconds.
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
from shoal.errors import CancelledError, InfeasibleError
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
`python -m experiments.research_value` repeats Tables 5 and 6 of Morton's thesis on 30,162 couples made from Adult,
because the death certificates of the thesis are not public. Sets m03 to m24 are the columns with most levels (m24 is
all 24 columns); r03 to r12 are columns drawn at random. Values are computed, with equal weights. Strings are counted
after pre-pruning. Sets of 12 and more columns are searched with `--subsets`, in memory bounded by 16,384 strings.

Global and hybrid search reach the same value in every run. The local search tests two strings and ends at the roots,
where a release is worth nothing, or close to them (r03); in the thesis, too, it found nothing useful on Adult.
Neither values nor times can be compared with those of the thesis, because the data, the columns and the machine
differ.

![Strings and tests of each search by set of columns, on a logarithmic scale](research_value.svg)"""
PARTNER = ("age", "workclass", "marital-status", "occupation", "race", "sex", "education", "hours-per-week", "salary")


def couples() -> tuple[dict[str, list[str]], dict[str, Rule], dict[str, Kind]]:
    """Return the columns, their hierarchies and kinds."""
    adult = find_adult()
    if adult is None:
        raise SystemExit("the Adult table is not on this machine: see shoal.datasets.adult")
    order = list(range(len(adult["age"])))
    random.Random(0).shuffle(order)
    columns = dict(adult) | {f"p-{name}": [adult[name][i] for i in order] for name in PARTNER}
    rules: dict[str, Rule] = {}
    kinds = {}
    for name, cells in columns.items():
        column = name.removeprefix("p-")
        kinds[name] = Kind.NUMERIC if column in WIDTHS else Kind.CATEGORICAL
        if column in WIDTHS:
            rules[name] = hierarchy.intervals(widths=WIDTHS[column])
        elif column in GROUPS:
            rules[name] = hierarchy.from_dict(
                {v: (GROUPS[column].get(v, f"other {column}"), "*") for v in sorted(set(cells))}
            )
    return columns, rules, kinds


def choose_sets(columns: dict[str, list[str]], rules: dict[str, Rule]) -> dict[str, list[str]]:
    """Return the columns of each set, in the order of the table."""
    heights = {name: len(WIDTHS.get(name.removeprefix("p-"), [])) or int(name in rules) for name in columns}
    tallest_first = sorted(columns, key=lambda name: (-heights[name], list(columns).index(name)))
    generator = random.Random(1)
    sets = {f"m{n:02}": tallest_first[:n] for n in (3, 8, 12, 24)}
    sets |= {f"r{n:02}": generator.sample(list(columns), n) for n in (3, 8, 12)}
    return {name: [column for column in columns if column in names] for name, names in sets.items()}


def encode_set(
    names: list[str], columns: dict[str, list[str]], rules: dict[str, Rule], kinds: dict[str, Kind]
) -> Encoded:
    """Encode the named columns, all of them quasi-identifiers."""
    table = from_frame(pl.DataFrame({name: columns[name] for name in names}))
    schema = Schema.build(names, {Role.QI: names}, kinds={name: kinds[name] for name in names})
    return encode(table, schema, {name: rules[name] for name in names if name in rules})


def run(table: Encoded, k: int, method: str, *, subsets: bool) -> list[str]:
    """Run one search.

    Returns:
        The cells of its row: CPU seconds, strings, tests, the highest RV of a string that passes, the minimum and the
        maximum RV.
    """
    start = time.process_time()

    def takes_too_long() -> bool:
        return time.process_time() - start > LIMIT

    search = named(method, **({"subsets": True, "budget": 2**14} if subsets else {}))
    try:
        facts = search.partition(table, (KAnonymity(k),), Run(cancelled=takes_too_long)).facts
    except InfeasibleError:
        return [f"{time.process_time() - start:.1f}", "", "", "none found", "", ""]
    except CancelledError:
        return [f"> {LIMIT}", "", "", "cancelled", "", ""]
    best = facts["successful"][0]
    cells = [f"{time.process_time() - start:.1f}", f"{facts['strings']:,}", f"{facts['tested']:,}"]
    return [*cells, f"{best['rv']:.4f}", f"{facts['minimum_rv']:.4f}", f"{facts['maximum_rv']:.4f}"]


def draw(strings: dict[str, int], tested: dict[str, dict[str, int]]) -> None:
    """Draw the number of strings, and how many of them each search tests at the larger k."""
    figure, axis = new_figure()
    axis.plot(list(strings), list(strings.values()), "k.--", label="strings")
    for method, counts in tested.items():
        axis.plot(list(counts), list(counts.values()), ".-", label=f"tested, {method}")
    axis.set(xlabel="set of columns", yscale="log", title=f"k = {KS[-1]}")
    axis.legend(fontsize=7)
    save(figure, "research_value.svg")


def main() -> None:
    """Run all searches, then write the page and the picture."""
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
    for name, set_columns in sets.items():
        table = encode_set(set_columns, columns, rules, kinds)
        for k in KS:
            for method, rows in lines.items():
                seconds, *cells = run(table, k, method, subsets=len(set_columns) > 8 and method != "rv-local")
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
