"""`shoal verify` accepts what shoal made, with the very settings that made it, and refuses it once it is changed.

Every setting has a case here; one that is added without a case fails the first test.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.settings.settings import FIELDS
from tests.command import Outcome, Shoal

N_ROWS = 36
NAMES = ["person", "own", "name", "age", "born", "zip", "sex", "ward", "disease", "cost"]
ILLS = ["flu", "Ménière", "gout", "=2+3", "cold"]


def rows(*, spell: Callable[[str, str], str] = lambda name, text: text) -> list[list[str]]:
    """Return a table with numbers, dates, codes, categories, a missing value, and two visits of most persons."""
    table = []
    for i in range(N_ROWS):
        cells = {
            "person": f"p{i // 2:02}",
            "own": str(2 + i % 3),
            "name": f"name{i:02}",
            "age": str(20 + i * 7 % 40),
            "born": f"19{60 + i % 30}-0{1 + i % 9}-1{i % 10}",
            "zip": f"0{2130 + i * 5 % 12}",
            "sex": "fm"[i * 7 // 3 % 2],
            "ward": "ABC"[i % 3],
            "disease": ILLS[i * 3 % 5],
            "cost": f"{100 + i * 11 % 60}.5",
        }
        table.append([spell(name, cells[name]) for name in NAMES])
    return table


def as_csv(table: list[list[str]], *, delimiter: str = ",", encoding: str = "utf-8", header: bool = True) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", delimiter=delimiter)
    writer.writerows([NAMES] * header + table)
    return text.getvalue().encode(encoding)


COLUMNS: dict[str, dict[str, Any]] = {
    "person": {"role": "identifier"},
    "own": {"role": "identifier"},
    "name": {"role": "identifier"},
    "age": {"role": "qi"},
    "born": {"role": "identifier"},
    "zip": {"role": "qi"},
    "sex": {"role": "qi"},
    "ward": {"role": "insensitive"},
    "disease": {"role": "sensitive"},
    "cost": {"role": "identifier"},
}
ORIGINAL = as_csv(rows())
ZIPS = "".join(f"0{zip_code};021**;*\n" for zip_code in range(2130, 2142))


@dataclass(frozen=True)
class Case:
    """A release: its settings and its original.

    Attributes:
        top: Keys of the top level of shoal.toml.
        columns: Changes of `COLUMNS`; None leaves a column out of the file.
        file: Keys of [file].
        tables: Other tables of shoal.toml, as text.
        words: Options of `anonymize` that shoal.toml does not have.
        verify_words: The same for `verify`.
        original: The original.
        source: The name of its file.
        output: The name of the release.
        files: Other files, such as hierarchies.
    """

    top: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    file: Mapping[str, Any] = field(default_factory=dict)
    tables: str = ""
    words: tuple[str, ...] = ()
    verify_words: tuple[str, ...] = ()
    original: bytes | Callable[[Path], None] = ORIGINAL
    source: str = "data.csv"
    output: str = "out.csv"
    files: Mapping[str, str] = field(default_factory=dict)

    def toml(self) -> str:
        """Return the shoal.toml."""
        top = {"k": 3, "method": "mondrian"} | dict(self.top)
        lines = [f"{key} = {_value(value)}" for key, value in top.items() if value is not None]
        lines += ["[file]", *(f"{key} = {_value(value)}" for key, value in self.file.items())]
        for name, facts in (COLUMNS | dict(self.columns)).items():
            if facts is not None:
                lines += [f"[columns.{name}]", *(f"{key} = {_value(value)}" for key, value in facts.items())]
        return "\n".join(lines) + "\n" + self.tables

    def write(self, folder: Path) -> None:
        """Write the original, the settings and the other files."""
        if callable(self.original):
            self.original(folder / self.source)
        else:
            (folder / self.source).write_bytes(self.original)
        (folder / "shoal.toml").write_text(self.toml())
        for name, text in self.files.items():
            (folder / name).write_text(text)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_value(part)}" for key, part in value.items()) + "}"
    return json.dumps(value)


def german(name: str, text: str) -> str:
    return "1." + text.replace(".", ",") if name == "cost" else text


COSTLY = {"cost": {"role": "qi", "kind": "numeric"}}
POPULATION = as_csv(rows() * 4).decode()
SETTINGS: dict[str, Case] = {
    "k": Case(top={"k": 4}),
    "l": Case(top={"l": 2}),
    "t": Case(top={"t": 0.6}),
    "models": Case(tables='[[models]]\nname = "entropy-l"\ncolumn = "disease"\nl = 1.5\n'),
    "k_column": Case(top={"k": None}, columns={"own": {"role": "k"}}),
    "population": Case(
        top={"population": "people.csv"},
        tables='[[models]]\nname = "k-map"\nk = 5\n',
        files={"people.csv": POPULATION},
    ),
    "suppression_limit": Case(
        top={"suppression_limit": 0.3, "method": "datafly"},
        columns={"zip": {"role": "qi", "hierarchy": "zip.csv"}, "age": {"role": "qi", "intervals": {"widths": [20]}}},
        files={"zip.csv": ZIPS},
        original=as_csv(rows(spell=lambda name, text: "92" if (name, text) == ("age", "27") else text)),
    ),
    "qi": Case(columns={"ward": {"role": "qi"}}),
    "sensitive": Case(columns={"cost": {"role": "sensitive"}}),
    "insensitive": Case(columns={"sex": {"role": "insensitive"}}),
    "drop": Case(columns={"ward": {"role": "identifier"}}),
    "person": Case(columns={"person": {"role": "person"}}, top={"method": None}),
    "others": Case(top={"others": "insensitive"}, columns={"ward": None}),
    "all_qi": Case(top={"all_qi": True}),
    "accept_unique": Case(columns={"cost": {"role": "insensitive", "accept_unique": True}}),
    "numeric": Case(columns={"zip": {"role": "qi", "kind": "numeric"}}),
    "categorical": Case(columns={"age": {"role": "qi", "kind": "categorical"}}),
    "dates": Case(
        columns={"born": {"role": "qi", "kind": "date", "format": "%d.%m.%Y"}},
        original=as_csv(rows(spell=lambda name, text: ".".join(text.split("-")[::-1]) if name == "born" else text)),
    ),
    "boolean": Case(
        columns={"sex": {"role": "qi", "kind": "boolean"}},
        original=as_csv(rows(spell=lambda name, text: str("fm".index(text)) if name == "sex" else text)),
    ),
    "ordered": Case(columns={"ward": {"role": "qi", "order": ["B", "A", "C"]}}),
    "units": Case(
        columns={"age": {"role": "qi", "unit": "years"}},
        original=as_csv(rows(spell=lambda name, text: f"{text} years" if (name, text) != ("age", "27") else text)),
    ),
    "hierarchies": Case(columns={"zip": {"role": "qi", "hierarchy": "zip.csv"}}, files={"zip.csv": ZIPS}),
    "other_hierarchies": Case(
        top={"hierarchies": "auto", "method": "datafly", "suppression_limit": 0.3},
        columns={"zip": {"role": "qi", "hierarchy": "zip.csv"}},
        files={"zip.csv": ZIPS},
    ),
    "trust_hierarchies": Case(
        top={"trust_hierarchies": True},
        columns={"zip": {"role": "qi", "hierarchy": "zip.csv"}},
        files={"zip.csv": ZIPS.replace("021**", "99***")},
    ),
    "unknown": Case(
        top={"unknown": "top"},
        columns={"zip": {"role": "qi", "hierarchy": "zip.csv"}},
        files={"zip.csv": ZIPS.replace("02130;021**;*\n", "")},
    ),
    "missing": Case(
        top={"missing": ["?"]},
        original=as_csv(rows(spell=lambda name, text: "?" if (name, text) == ("age", "27") else text)),
    ),
    "delimiter": Case(file={"delimiter": "^"}, original=as_csv(rows(), delimiter="^")),
    "encoding": Case(file={"encoding": "utf-16"}, original=as_csv(rows(), encoding="utf-16")),
    "header": Case(
        file={"header": False},
        columns={
            **dict.fromkeys(NAMES),
            **{f"column{n}": COLUMNS[name] for n, name in enumerate(NAMES, 1)},
        },
        original=as_csv(rows(), header=False),
    ),
    "sheet": Case(file={"sheet": "visits"}, source="data.xlsx", original=lambda path: write_workbook(path)),
    "duplicate_columns": Case(
        file={"duplicate_columns": "number"},
        columns={"ward": None, "age_2": {"role": "sensitive"}},
        original=ORIGINAL.replace(b"ward", b"age", 1).replace(b",A,", b",1,").replace(b",B,", b",2,"),
    ),
    "decimal": Case(
        file={"decimal": ",", "thousands": "."}, columns=COSTLY, original=as_csv(rows(spell=german), delimiter=";")
    ),
    "thousands": Case(
        file={"thousands": ",", "delimiter": ";"},
        columns=COSTLY,
        original=as_csv(rows(spell=lambda name, text: f"1,{text}" if name == "cost" else text), delimiter=";"),
    ),
    "method": Case(top={"method": "kaca"}),
    "effort": Case(top={"method": "shoaling", "effort": "fast"}),
    "options": Case(top={"options": {"variant": "relaxed"}}),
    "weights": Case(top={"weights": {"age": 2.0}, "method": "bottom-up"}),
    "constraints": Case(
        tables='[[rules]]\ncolumn = "sex"\napart = ["f", "m"]\nban = true\n', top={"method": "shoaling", "k": 2}
    ),
    "recode": Case(top={"recode": {"age": "bottom:5%,top:40", "disease": "rare:4"}}),
    "max_width": Case(top={"method": "shoaling"}, columns={"age": {"role": "qi", "max_width": 30}}),
    "finest": Case(top={"method": "shoaling"}, columns={"age": {"role": "qi", "finest": 5}}),
    "coarsest": Case(
        top={"method": "shoaling"},
        columns={"zip": {"role": "qi", "hierarchy": "zip.csv", "coarsest": "021**"}},
        files={"zip.csv": ZIPS},
    ),
    "uniform": Case(top={"method": "shoaling"}, columns={"age": {"role": "qi", "uniform": 50}}),
    "seed": Case(top={"seed": 7, "method": "shoaling"}),
    "target": Case(top={"target": "disease", "method": "shoaling"}),
    "ends": Case(top={"ends": "safe", "method": "shoaling"}),
    "snap": Case(top={"snap": True}),
    "grids": Case(top={"snap": True}, columns={"age": {"role": "qi", "grid": 5}}),
    "cells": Case(top={"cells": "bounds"}, columns={"born": {"role": "qi", "kind": "date"}}),
    "center": Case(top={"cells": "center", "center": "median"}, columns={"born": {"role": "qi", "kind": "date"}}),
    "spread": Case(top={"cells": "center", "spread": True}, columns={"born": {"role": "qi", "kind": "date"}}),
    "spreadsheet_safe": Case(top={"spreadsheet_safe": True}),
    "output_delimiter": Case(top={"output_delimiter": "^"}),
    "output_decimal": Case(
        top={"output_decimal": ","},
        original=as_csv(rows(spell=lambda name, text: f"1.{text}" if name in ("age", "cost") else text)),
    ),
    "signoff": Case(tables='[signoff]\nwho = "A. Steward"\n'),
    "kinds": Case(columns={"disease": {"role": "sensitive", "kind": "categorical"}}),
}


def write_workbook(path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("readme").write(0, 0, "see visits")
        sheet = book.add_worksheet("visits")
        for number, row in enumerate([NAMES, *rows()]):
            sheet.write_row(number, 0, row, book.add_format({"num_format": "@"}))


def write_frame(path: Path) -> None:
    frame = pl.DataFrame(rows(), schema=NAMES, orient="row")
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_ipc(path)


FORMS: dict[str, Callable[[int], str]] = {
    "date-times": lambda n: f"{1 + n % 12:02}/{1 + n % 28:02}/2016 {1 + n % 12:02}:30 {'AP'[n % 2]}M",
    "months": lambda n: f"{('Jan', 'Feb', 'Dec')[n % 3]}-{2010 + n % 9}",
    "times of day": lambda n: f"{n % 24:02}:{n * 7 % 60:02}:{n % 60:02}",
    "money": lambda n: f"€ {1 + n % 7}.{100 + n * 13 % 900},50",
    "shares": lambda n: f"{n * 3 % 100}%",
    "durations": lambda n: f"P{n % 5}DT{n % 24}H0M0S",
}


def with_form(name: str, **top: object) -> Case:
    """Return a case whose ages are written in another form, which is found in the cells."""
    ages = [row[NAMES.index("age")] for row in rows()]
    return Case(
        top=top, original=as_csv(rows(spell=lambda n, text: FORMS[name](ages.index(text)) if n == "age" else text))
    )


ENTRIES = "".join(f'<entry cat="0{2130 + n}" int="{n}"/>' for n in range(12))
NODES = '<node value="[0:5]"/><node value="[6:11]"/>'
JOB = f"""<?xml version="1.0"?>
<config><qid><att index="0" name="zip"><map>{ENTRIES}</map><vgh value="[0:11]">{NODES}</vgh></att></qid></config>
"""
FILES: dict[str, Case] = {
    "csv": Case(),
    **{name: with_form(name) for name in FORMS},
    "safe ends of date-times": with_form("date-times", method="shoaling"),
    "bounds of money": with_form("money", method="shoaling", cells="bounds"),
    "csv.gz": Case(output="out.csv.gz"),
    "parquet": Case(output="out.parquet"),
    "xlsx": Case(output="out.xlsx"),
    "latin-1": Case(file={"encoding": "latin-1"}, original=as_csv(rows(), encoding="latin-1")),
    "utf-8 with mark": Case(original=as_csv(rows(), encoding="utf-8-sig")),
    "semicolons": Case(original=as_csv(rows(), delimiter=";")),
    "tab": Case(file={"delimiter": "\t"}, original=as_csv(rows(), delimiter="\t")),
    "gzip input": Case(source="data.csv.gz", original=gzip.compress(as_csv(rows()))),
    "parquet input": Case(source="data.parquet", original=write_frame),
    "arrow input": Case(source="data.arrow", original=write_frame),
    "arrow to parquet": Case(source="data.feather", original=write_frame, output="out.parquet"),
    "order kept": Case(words=("--keep-order",), verify_words=("--keep-order",)),
    "intervals": Case(columns={"age": {"role": "qi", "intervals": {"widths": [10, 20]}}}),
    "prefixes": Case(columns={"zip": {"role": "qi", "prefixes": {"mask": 1}}}),
    "built-in hierarchy": Case(columns={"zip": {"role": "qi", "hierarchy": "builtin:zip"}}),
    "proposed hierarchy": Case(columns={"age": {"role": "qi", "hierarchy": "auto"}}),
    "prefixes that meet": Case(columns={"zip": {"role": "qi", "prefixes": {"lengths": [4, 2], "meet": True}}}),
    "prefixes by length": Case(columns={"zip": {"role": "qi", "prefixes": {"lengths": [4, 2]}}}),
    "hierarchy of a job file": Case(columns={"zip": {"role": "qi", "hierarchy": "job.xml"}}, files={"job.xml": JOB}),
    "hierarchy of a sensitive column": Case(
        top={"t": 0.6},
        columns={"disease": {"role": "sensitive", "hierarchy": "ills.csv"}},
        files={"ills.csv": "".join(f"{ill};{'mild' if ill in ('flu', 'cold') else 'bad'};*\n" for ill in ILLS)},
    ),
    "uniform dates": Case(columns={"born": {"role": "qi", "kind": "date", "uniform": "century"}}),
    "limits as bounds": Case(top={"cells": "bounds"}, columns={"age": {"role": "qi", "finest": 10, "max_width": 60}}),
    "limits of levels": Case(
        top={"method": "optimal", "suppression_limit": 0.5},
        columns={"zip": {"role": "qi", "hierarchy": "zip.csv", "uniform": 1}},
        files={"zip.csv": ZIPS},
    ),
    "bounds in a spreadsheet": Case(top={"cells": "bounds", "spreadsheet_safe": True}, output="out.xlsx"),
    **{f"centres of {name}": with_form(name, method="shoaling", cells="center", spread=True) for name in FORMS},
    "centres in a spreadsheet": Case(
        top={"cells": "center", "spread": True, "spreadsheet_safe": True}, columns=COSTLY, output="out.xlsx"
    ),
    "centres in parquet": Case(top={"cells": "center", "spread": True}, columns=COSTLY, output="out.parquet"),
    "centres with another mark": Case(
        top={"cells": "center", "spread": True, "output_decimal": ",", "output_delimiter": ";"}, columns=COSTLY
    ),
    "centres in order": Case(
        top={"cells": "center", "center": "median"}, words=("--keep-order",), verify_words=("--keep-order",)
    ),
    "centres of people": Case(
        columns={"person": {"role": "person"}}, top={"method": None, "l": 2, "k": 4, "cells": "center", "spread": True}
    ),
    "centres with personal k": Case(top={"k": None, "cells": "center"}, columns={"own": {"role": "k"}}),
    "centres of levels": Case(
        top={"method": "datafly", "suppression_limit": 0.3, "cells": "center"},
        columns={"zip": {"role": "qi", "hierarchy": "zip.csv"}, "age": {"role": "qi", "intervals": {"widths": [20]}}},
        files={"zip.csv": ZIPS},
    ),
    "centres within limits": Case(
        top={"method": "shoaling", "cells": "center"},
        columns={
            "age": {"role": "qi", "max_width": 30, "coarsest": 50},
            "zip": {"role": "qi", "hierarchy": "zip.csv", "coarsest": "021**"},
        },
        files={"zip.csv": ZIPS},
    ),
    "centres of recoded values": Case(
        top={"recode": {"age": "bottom:5%,top:40", "zip": "rare:4"}, "cells": "center", "spread": True}
    ),
    "centres and a ban": Case(
        tables='[[rules]]\ncolumn = "sex"\napart = ["f", "m"]\nban = true\n',
        top={"method": "shoaling", "k": 2, "cells": "center"},
    ),
    "centres of ordered values and missing ones": Case(
        top={"missing": ["?"], "cells": "center", "spread": True},
        columns={"ward": {"role": "qi", "order": ["B", "A", "C"]}},
        original=as_csv(
            rows(spell=lambda name, text: "?" if (name, text) in (("age", "27"), ("ward", "A"), ("sex", "f")) else text)
        ),
    ),
    "people and models": Case(columns={"person": {"role": "person"}}, top={"method": None, "l": 2, "k": 4}),
    "unchanged": Case(top={"k": 2}, columns={"age": {"role": "identifier"}, "zip": {"role": "identifier"}}),
    "counted by DuckDB": Case(
        top={"method": "datafly", "suppression_limit": 0.5},
        columns={"zip": {"role": "qi", "prefixes": {"mask": 2}}, "age": {"role": "qi", "intervals": {"widths": [20]}}},
        words=("--engine", "duckdb"),
    ),
}


def test_every_setting_has_a_case() -> None:
    assert set(SETTINGS) == {each.name for each in FIELDS}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=name) for name, case in (SETTINGS | FILES).items()],
)
def test_verify_accepts_what_was_made_and_refuses_what_was_changed(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    monkeypatch.chdir(tmp_path)
    case.write(tmp_path)
    made = shoal("anonymize", case.source, "-o", case.output, "--config", "shoal.toml", *case.words)
    assert made.code == 0, made.err
    by_settings = ("verify", case.output, "--config", "shoal.toml", "--original", case.source, *case.verify_words)
    accepted(shoal(*by_settings))
    accepted(shoal(*by_settings, "--no-manifest"))
    alone = tmp_path / "receiver"
    alone.mkdir()
    for name in (case.output, f"{case.output}.manifest.json"):
        shutil.copy(name, alone / name)
    accepted(shoal("verify", alone / case.output))
    tamper(Path(case.output))
    refused(shoal(*by_settings))
    refused(shoal(*by_settings, "--no-manifest"))
    shutil.copy(case.output, alone / case.output)
    refused(shoal("verify", alone / case.output))


def accepted(ended: Outcome) -> None:
    assert ended.code == 0, ended.err
    assert ": yes. " in ended.out


def refused(ended: Outcome) -> None:
    assert ended.code == 5, (ended.code, ended.err, ended.out)
    assert not any(cell in ended.err for cell in ("gout", "Ménière", "0213", "name0"))


def tamper(path: Path) -> None:
    """Release the last row once more: no group gets too small, but the original has no such row left."""
    if path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.load_workbook(path)
        sheet = book.active
        for _ in range(N_ROWS):
            sheet.append([cell.value for cell in sheet[sheet.max_row]])
        book.save(path)
    elif path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        pl.concat([frame, *[frame.tail(1)] * N_ROWS]).write_parquet(path, statistics=False)
    else:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        raw += raw.splitlines(keepends=True)[-1] * N_ROWS
        path.write_bytes(gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)
