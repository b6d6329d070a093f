"""Command lines at random: every command and option, with sensible, wrong and hostile values, and files of settings.

The commands and options come from the parser, the forms of their values from the table of settings. A new option is
therefore drawn as soon as it exists.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import typer

from shoal.cli.main import make_app
from shoal.methods.registry import METHODS, named
from shoal.models.registry import MODELS
from shoal.settings.fields import Field, Form, Place
from shoal.settings.settings import FIELDS, SIGNOFF

__all__ = ["CANARY", "Draw", "draw_line", "leaves", "make_files", "plain_line"]

CANARY = "7391"  # in every cell of every table, and nowhere else
ODD = "=odd, \x1b[1m[bold]"
COLUMNS = ("age", "sex", "zip", "born", "disease", "cost", "own", "name", ODD)
# What a line has before anything goes wrong, where the command has the option.
BASE = {"qi": "age,sex", "sensitive": "disease", "others": "drop", "k": "2", "column": "zip", "jobs": "1"}
LESS = {"repetitions": "5", "queries": "10", "methods": "mondrian", "no_cache": "", "folder": "o/demo", "seeds": "1"}
ALWAYS = {"folder", "no_cache", "jobs"}  # what keeps a line from writing elsewhere, or from starting many processes
# Commands are drawn as often as they have options to try, the slow ones less.
SHARES = {"anonymize": 14, "demo": 0.1, "compare": 0.7, "advise": 0.7, "methods": 0.3}

SOURCES = ["in.csv", "in.parquet", "in.xlsx", "in.csv.gz", "in.arrow", "semicolon.csv", "link.csv"]
FILES = (
    *(*SOURCES, "out.csv", "one.csv", "odd.csv", "utf16.csv", "job.xml", "key.bin", "junk.bin", "empty.csv", "folder"),
    *("none.csv", "folder/none/x.csv", "settings.toml", "", "-", "\x1b[1m.csv", "n\nshoal: done.csv", "x" * 300),
    *("/dev/null", "/proc/self/mem", "postgresql://u:p@nohost.invalid/d?table=t", "\udcff.csv", "~", "in.csv/x"),
)
TARGETS = ("o/out.csv", "o/out.csv", "o/out.csv", "o/out.csv.gz", "o/out.parquet", "o/out.xlsx")
OUTPUTS = (
    *(*TARGETS, "o/x.svg", "o/x.html", "o/x.toml", "o", "o/\x1b[1m.csv", "o/a\nb.csv", "o/" + "x" * 250 + ".csv"),
    *("o/out.txt", "o/h", "o/job.xml", "", "-", "none/out.csv", "in.csv", "/dev/full", "/proc/x.csv"),
    *("o/out\udcff.csv", "o/[bold].html", "o/out.csv.manifest.json", "postgresql://u:p@nohost.invalid/d?table=t"),
)
NAMES = ("", " ", "age ", "AGE", "nobody", '"age', "a\nb", "\u202eage", "*", "age=5", "\x1b[2J", "🐟", "-k", "age,age")
NUMBERS = ("0", "1", "2", "3", "0.2", "0.5", "1")
ODD_NUMBERS = (
    *("", " ", "²", "٣", "½", "Ⅷ", "1e-999999999", "1e9999999", "1e999999999", "-1e9999999", "nan", "inf", "-inf"),
    *("1e400", "1e-400", "9" * 5000, "0." + "0" * 5000 + "1", "1/0", "0/0", "1/" + "9" * 400, "0x10", "1e", "1.2.3"),
    *(str(2**31), str(2**63 - 1), str(2**63), str(2**64), str(-(2**63)), str(10**30), "1,5", "None", "true", "-1"),
    *("1/5", "1.5", ".5", "10", "100", "-0", "+2", " 3 ", "1_0", "5.", "1e2", "0.0", "1.0", "1000000"),
)
TEXTS = ("auto", "all", "tab", ",", ".", "utf-8", "latin-1", "Sheet1", "year", "?,NA", "age=1")
ODD_TEXTS = (
    *("", " ", "\t", "\n", "\r", '"', "'", "\\", "\\t", "=", "==", ",", ",,", "a=b=c", "[bold]", "[/]", "{}", "%"),
    *("{0}", "%s", "--", "-", "--qi", "\x1b[31m", "\u202e", "\ufeff", "\udcff", "é", "e\u0301", "🐟", "0", "*", ".."),
    *("a" * 5000, "(" * 200, "[" * 200, "a|" * 500, "(a+)+$", "utf_8_sig", "idna", "punycode", "rot13", "hex", "zlib"),
    *("undefined", "unicode_escape", "cp037", "utf-32", "mbcs", "\ue000", "\ue000a\ue001b\ue002", "\ue005x", "{rows}"),
)
FORMATS = ("%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%Y", "%", "%q", "%Y%Y", "", "%s", "%-d", "%H:%M", "x" * 300, "%z")
METHOD_NAMES = tuple(info.name for info in METHODS)
METHOD_VALUES = (
    *("strict", "relaxed", "single-dimensional", "sensitive", "age=1", "age=0:100", "true", "nearest", "height"),
    *("attributes", "fast", "ncp", "2", "0.5"),
)
# What an option makes sense with.
NEEDS = {
    "memory": ["--engine", "duckdb", "--method", "optimal"],
    "objective": ["--method", "optimal"],
    "choose": ["--method", "rv-global"],
    "subsets": ["--method", "rv-global"],
}
# Sensible values of settings that their form does not tell.
SENSIBLE: dict[str, tuple[str, ...]] = {
    "numeric": ("age", "cost", "age,cost"),
    "categorical": ("age", "sex", "zip", "born"),
    "dates": ("born", "born=%Y-%m-%d"),
    "delimiter": (",", ","),
    "encoding": ("utf-8", "utf-8-sig"),
    "output_delimiter": (";", "tab", "input", ","),
    "output_decimal": (",", ".", "input"),
    "duplicate_columns": ("number", "error"),
    "sheet": ("Sheet1",),
    "decimal": (".", ","),
    "thousands": ("", "'"),
    "missing": ("?", "?,NA", ""),
    "person": ("name", "own"),
    "k_column": ("own",),
    "hierarchies": ("zip=zip.csv",),
    "population": SOURCES and ("in.csv", "in.parquet"),
    "insensitive": ("sex", "own", ""),
    "drop": ("name", "zip,born"),
    "accept_unique": ("disease", "own"),
    "grids": ("age=5", "born=year", "cost=0.5"),
    "weights": ("auto", "age=2", "age=0.5,sex=1"),
    "config": ("settings.toml",),
    "cardinalities": ("2,3", "5"),
    "target": ("disease", "sex"),
    "learner": ("tree", "zero-r"),
    "memory": ("1GB", "500MB"),
    "engine": ("memory", "duckdb"),
}


class Luck(random.Random):
    """Chance, and how often it makes a value that is odd."""

    odd = 0.0

    def of(self, sensible: tuple[str, ...], odd: tuple[str, ...]) -> str:
        """Return one of the sensible values, or an odd one."""
        return self.choice(odd if self.random() < self.odd else sensible)


@dataclass(frozen=True)
class Draw:
    """One command line, and the file of settings that it reads, if it reads one."""

    words: list[str]
    config: str | None = None

    def __str__(self) -> str:
        return f"{self.words!r}" + ("" if self.config is None else f"\ndrawn.toml:\n{self.config}")


def draw_line(seed: int) -> Draw:
    """Return a command line; the same for the same seed."""
    luck = Luck(seed)
    luck.odd = luck.choice((0.0, 0.0, 0.05, 0.2, 0.5))
    commands = leaves()
    path, parameters = luck.choices(commands, [SHARES.get(path[0], 2.0) for path, _ in commands])[0]
    words, config = [*path], None
    share = luck.choice((0.02, 0.05, 0.1, 0.2))
    settings = {field.name: field for field in FIELDS}
    for parameter in parameters:
        name = str(parameter.name)
        is_extra = luck.random() < share and name not in ALWAYS
        base = (BASE | LESS).get(name)
        if parameter.param_type_name == "argument":
            if parameter.required or luck.random() < 0.5:
                words.append(luck.of(_sources(name), FILES))
        elif name == "config":
            if is_extra or luck.random() < 0.25:
                config = draw_settings(luck)
                words += ["--config", "drawn.toml"]
        elif name == "options":
            if is_extra:
                method = luck.choice(METHOD_NAMES)
                words += ["--method", method, *_spelled(parameter, _method_option(luck, method), luck)]
        elif is_extra or (name == "output" and luck.random() < 0.95):
            for _ in range(luck.choice((1, 1, 1, 2)) if parameter.multiple else 1):
                words += _spelled(parameter, _value(path, parameter, settings.get(name), luck), luck)
            words += NEEDS.get(name, [])
        elif base is not None and (name in ALWAYS or luck.random() >= luck.odd / 4):
            words += _spelled(parameter, base, luck)
    if path == ("simulate",) and luck.random() < 0.7:
        words = ["simulate", "--attributes", luck.of(("3", "7"), ODD_NUMBERS), *(w for w in words[1:] if w != "in.csv")]
    if luck.random() < luck.odd / 10:
        words.insert(luck.randrange(len(words)), luck.choice((*ODD_TEXTS, "--debugging", "-x", "--k", "--json", "-h")))
    return Draw(words, config)


@cache
def leaves() -> tuple[tuple[tuple[str, ...], tuple[Any, ...]], ...]:
    """Return every command that ends by itself: the words that call it, and its parameters.

    `serve` runs until it is stopped; the tests of the web app start it.
    """

    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], tuple[Any, ...]]]:
        if not getattr(command, "commands", None):
            yield path, tuple(command.params)
        for name, below in getattr(command, "commands", {}).items():
            if (*path, name) != ("serve",):
                yield from walk(below, (*path, name))

    return tuple(walk(typer.main.get_command(make_app()), ()))


def plain_line(path: tuple[str, ...], parameters: tuple[Any, ...], name: str, value: str) -> list[str]:
    """Return the words of a command with what it needs, and one parameter with this value."""
    words = [*path]
    for parameter in parameters:
        own = str(parameter.name)
        base = value if own == name else (BASE | LESS | {"output": "o/out.csv"}).get(own)
        if parameter.param_type_name == "argument":
            words += [value if own == name else _sources(own)[0]] if parameter.required or own == name else []
        elif base is not None:
            words += [parameter.opts[0]] if parameter.is_flag else [parameter.opts[0], base]
    return words


def _sources(name: str) -> tuple[str, ...]:
    """Return sensible files for an argument."""
    others = {
        "released": ("out.csv",),
        "name": ("o/key",),
        "file": ("zip.csv", "job.xml"),
        "files": ("zip.csv", "job.xml"),
    }
    return others.get(name, ("in.csv", "in.csv", *SOURCES))


def _spelled(parameter: Any, value: str, luck: Luck) -> list[str]:
    """Return the words of an option with a value; a flag has none."""
    if parameter.is_flag:
        return [luck.choice((*parameter.opts, *parameter.secondary_opts))]
    option = luck.choice(parameter.opts)
    return [f"{option}={value}"] if option.startswith("--") and luck.random() < 0.3 else [option, value]


def _value(path: tuple[str, ...], parameter: Any, field: Field | None, luck: Luck) -> str:
    """Return a value of the form that an option has, or an odd one."""
    if luck.random() < luck.odd / 2:
        return luck.choice(luck.choice((ODD_TEXTS, ODD_NUMBERS, FILES, NAMES, TEXTS)))
    name, metavar = str(parameter.name), str(parameter.metavar or "")
    if name in SENSIBLE and luck.random() >= luck.odd:
        return luck.choice(SENSIBLE[name])
    if field is not None:
        return _of_form(field, luck)
    kind = str(getattr(parameter, "type_descriptor", "") or getattr(parameter, "type", "")).lower()
    if "|" in metavar and metavar.islower():
        return luck.of(tuple(metavar.split("|")), TEXTS)
    if "column" in metavar.lower():
        if "=" in metavar:
            return f"{luck.choice(COLUMNS)}={_numbers(luck)}"
        return _names(luck) if parameter.multiple else luck.of(COLUMNS, NAMES)
    if name in ("output", "report", "plot"):
        endings = {"report": ("o/r.html",), "plot": ("o/p.svg",), "init": ("o/x.toml",), "compare": ("o/out.csv",)}
        endings |= {"hierarchy": ("o/h", "o/x.csv")}
        return luck.of(endings.get(name) or endings.get(path[0], TARGETS), OUTPUTS)
    if "path" in kind or "file" in metavar.lower():
        return ("x=" if "=" in metavar else "") + luck.of(("in.csv", "out.csv", "key.bin"), FILES)
    if "int" in kind or "float" in kind:
        return luck.of(NUMBERS, ODD_NUMBERS)
    return luck.choice((luck.of(NUMBERS, ODD_NUMBERS), _numbers(luck), luck.of(TEXTS, ODD_TEXTS), _method(luck)))


def _of_form(field: Field, luck: Luck) -> str:
    if field.choices:
        return luck.of(field.choices, TEXTS)
    makers: dict[Form, Callable[[], str]] = {
        Form.INTEGER: lambda: luck.of(("1", "2", "3"), ODD_NUMBERS),
        Form.NUMBER: lambda: luck.of(("0", "0.1", "0.2", "0.5", "1"), ODD_NUMBERS),
        Form.TABLE: lambda: luck.of(("in.csv",), FILES),
        Form.NAMES: lambda: _names(luck),
        Form.TEXTS: lambda: luck.of(TEXTS, ODD_TEXTS),
        Form.DATES: lambda: f"{luck.choice(COLUMNS)}={luck.choice(FORMATS)}",
        Form.WEIGHTS: lambda: ",".join(f"{luck.choice(COLUMNS[:2])}={luck.of(NUMBERS, ODD_NUMBERS)}" for _ in "ab"),
        Form.PAIRS: lambda: _pair(field, luck),
        Form.MODELS: lambda: _model(luck),
    }
    if field.form in makers:
        return makers[field.form]()
    if "COLUMN" in (field.metavar or ""):
        return luck.of(COLUMNS, NAMES)
    return luck.choice(METHOD_NAMES) if field.name == "method" else luck.of(TEXTS, ODD_TEXTS)


def _numbers(luck: Luck) -> str:
    return luck.choice((",", "-", ":")).join(luck.of(NUMBERS, ODD_NUMBERS) for _ in range(luck.choice((1, 2, 3))))


def _names(luck: Luck) -> str:
    names = [luck.of(COLUMNS, NAMES) for _ in range(luck.choice((1, 1, 2, 3)))]
    return ",".join(f'"{name}"' if "," in name and luck.random() < 0.9 else name for name in dict.fromkeys(names))


def _method(luck: Luck) -> str:
    name = luck.choice(METHOD_NAMES)
    return name if luck.random() < 0.5 else f"{name}:{_method_option(luck, name)}"


def _method_option(luck: Luck, method: str) -> str:
    """Return an option of a method, with a value that may not be one of its own."""
    options = [each.name for each in fields(type(named(method)))] or ["nobody"]
    return f"{luck.of(tuple(options), NAMES)}={luck.choice((*METHOD_VALUES, luck.of(NUMBERS, ODD_NUMBERS)))}"


def _pair(field: Field, luck: Luck) -> str:
    if field.name == "signoff":
        return f"{luck.of(SIGNOFF, NAMES)}={luck.of(TEXTS, ODD_TEXTS)}"
    column = luck.of(COLUMNS, NAMES)
    if "FILE" in (field.metavar or ""):
        return f"{column}={luck.of(('zip.csv',), FILES)}"
    return f"{column}={luck.of(('5', '0.5', 'year', 'month', 'decade'), ODD_NUMBERS)}"


def _model(luck: Luck) -> str:
    kind = luck.choice(list(MODELS.values()))
    words = [kind.name]
    for each in fields(kind):
        if each.name == "column":
            words.append(luck.of(("disease",), ("cost", "age", "nobody")))
        elif luck.random() < 0.9:
            words.append(f"{each.name}={luck.of(('1', '2', '0.5', '0.9', 'ordered', 'true'), ODD_NUMBERS)}")
    return " ".join(words)


def draw_settings(luck: Luck) -> str:
    """Return the text of a shoal.toml: values of TOML, right and wrong, for the keys of the settings."""
    if luck.random() < luck.odd / 10:
        faults = ("", "k = ", "[", "[columns", "k = 5\nk = 6", "\x00", "a" * 10_000, "a = " + "[" * 3000, "\ufeffk = 2")
        return luck.choice(faults)
    lines = []
    for field in FIELDS:
        if field.place is Place.TOP and field.form is not Form.RULES and luck.random() < 0.1:
            lines.append(f"{field.key} = {_toml(field, luck)}")
    if luck.random() < luck.odd / 4:
        lines.append(f"{luck.choice(('nobody', 'columns', 'file', 'K', 'rules'))} = {_any_toml(luck)}")
    if luck.random() < 0.3:
        lines += ["[file]"]
        lines += [f"{f.key} = {_toml(f, luck)}" for f in FIELDS if f.place is Place.FILE and luck.random() < 0.2]
    roles = {"age": "qi", "sex": "qi", "zip": "qi", "born": "qi", "disease": "sensitive", "cost": "sensitive"}
    for column in dict.fromkeys((*COLUMNS, *NAMES) if luck.random() < luck.odd / 2 else COLUMNS):
        if luck.random() < 0.3:
            continue
        role = luck.of((roles.get(column, "identifier"),), ("qi", "insensitive", "person", "k", "weight", "nobody"))
        lines.append(f"[columns.{_quoted(column)}]\nrole = {_quoted(role)}")
        for key in ("kind", "format", "grid", "hierarchy", "accept_unique", "intervals", "prefixes", "nobody"):
            if luck.random() < (0.04 if key != "nobody" else luck.odd / 20):
                lines.append(f"{key} = {_of_column(key, luck)}")
    if luck.random() < 0.1:
        lines.append(f"[signoff]\n{luck.choice(SIGNOFF)} = {luck.of((_quoted('me'),), (_any_toml(luck),))}")
    for _ in range(luck.choice((0, 0, 0, 1, 2))):
        lines.append("[[rules]]\n" + _rule(luck))
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    def escaped(letter: str) -> str:
        is_plain = letter.isprintable() and letter not in '"\\'
        return letter if is_plain else f"\\u{min(ord(letter), 0xD7FF):04x}"

    return f'"{"".join(map(escaped, text))}"'


def _toml(field: Field, luck: Luck) -> str:
    """Return a value of the form of a setting, or any."""
    if luck.random() < luck.odd:
        return _any_toml(luck)
    if field.choices:
        return _quoted(luck.choice(field.choices))
    column = "column = 'disease'" if luck.random() < 0.7 else "l = 2"
    makers: dict[Form, Callable[[], str]] = {
        Form.INTEGER: lambda: luck.choice(("1", "2", "3")),
        Form.NUMBER: lambda: luck.choice(("0", "0.1", "1", "0.5", "1e-300")),
        Form.FLAG: lambda: luck.choice(("true", "false")),
        Form.TABLE: lambda: _quoted(luck.of(("in.csv",), FILES)),
        Form.TEXTS: lambda: f"[{_quoted(luck.of(TEXTS, ODD_TEXTS))}, {_quoted(luck.of(TEXTS, ODD_TEXTS))}]",
        Form.MODELS: lambda: f"[{{name = {_quoted(luck.choice(list(MODELS)))}, {column}}}]",
        Form.PAIRS: lambda: f"{{{luck.choice(('variant', 'alpha'))} = {luck.of(('0.5', _quoted('strict')), ('[]',))}}}",
        Form.WEIGHTS: lambda: f"{{age = {luck.choice(('1', '0.5', '1e300', '1e-300', '9' * 18))}}}",
    }
    if field.name == "method":
        return _quoted(luck.choice(METHOD_NAMES))
    return makers.get(field.form, lambda: _quoted(luck.choice(SENSIBLE.get(field.name, TEXTS))))()


def _any_toml(luck: Luck, depth: int = 0) -> str:
    """Return any value."""
    plain = (
        *("0", "1", "-1", "5", "true", "false", "1.5", "nan", "-inf", "1e308", "0x1F", "2020-01-01", "07:32:00", "''"),
        *(str(2**63 - 1), str(10**40), "9" * 4000, "1e999999999", "2020-01-01T00:00:00Z", "'a\tb'", '"""a\nb"""'),
        *(_quoted(luck.choice(TEXTS + ODD_TEXTS + ODD_NUMBERS)) for _ in range(8)),
    )
    if depth < 3 and luck.random() < 0.25:
        parts = [_any_toml(luck, depth + 1) for _ in range(luck.choice((0, 1, 2, 3)))]
        if luck.random() < 0.5:
            return f"[{', '.join(parts)}]"
        return "{" + ", ".join(f"k{i} = {part}" for i, part in enumerate(parts) if "\n" not in part) + "}"
    return luck.choice(plain)


def _of_column(key: str, luck: Luck) -> str:
    """Return a value of a key of a column."""
    if key == "nobody" or luck.random() < luck.odd / 2:
        return _any_toml(luck)
    numbers = ("0", "1", "5", "0.5"), ("-1", "1e-300", "1e300", "nan", "inf", '"1e-999999999"', "9" * 4000, '"²"')
    one, other = luck.of(*numbers), luck.of(*numbers)
    described = {
        "kind": _quoted(luck.choice(("numeric", "categorical", "date"))),
        "format": _quoted(luck.choice(FORMATS)),
        "grid": luck.choice((one, '"year"')),
        "hierarchy": _quoted(luck.of(("zip.csv",), FILES)),
        "accept_unique": luck.choice(("true", "false")),
        "intervals": f"{{{luck.of(('widths', 'cuts', 'widths'), NAMES[4:5])} = [{one}, {other}]}}",
        "prefixes": f"{{lengths = [{luck.of(('4', '3'), numbers[1])}, {luck.choice(('2', '1'))}]}}",
    }
    return described[key]


def _rule(luck: Luck) -> str:
    forms = {
        "apart": '["a", "b"]',
        "groupings": '[["a"], ["b", "c"]]',
        "inflection": "[1, 2]",
        "range": "[1, 80000]",
        "base": "3",
        "importance": "2",
        "ban": "true",
    }
    form = luck.choice(("inflection", "range", "base"))
    lines = [f"column = {_quoted(luck.of(('age', 'age', 'sex'), NAMES))}"]
    for key in luck.sample(list(forms), luck.choice((1, 2, 3))) if luck.random() < luck.odd else [form, "importance"]:
        lines.append(f"{key} = {forms[key] if luck.random() >= luck.odd else _any_toml(luck)}")
    return "\n".join(lines)


def make_files(folder: Path) -> None:
    """Write the tables and other files that command lines name; every cell of a table contains the canary."""
    import gzip

    import polars as pl

    import shoal

    def row(i: int) -> dict[str, str]:
        return {
            "age": f"{CANARY}{i % 5}",
            "sex": f"{'fm'[i % 2]}{CANARY}",
            "zip": f"0{CANARY}{i % 3}",
            "born": f"{CANARY}-0{1 + i % 9}-11",
            "disease": f"{('flu', 'cold', 'ulcer')[i % 3]}{CANARY}",
            "cost": f"{i % 7}.{CANARY}",
            "own": str(2 + i % 2),  # a k
            "name": f"n{i}{CANARY}",
            ODD: f"={CANARY}" if i % 2 else f"'={CANARY}",
        }

    table = pl.DataFrame([row(i) for i in range(24)])
    (folder / "o").mkdir()
    (folder / "folder").mkdir()
    table.write_csv(folder / "in.csv")
    table.write_csv(folder / "semicolon.csv", separator=";")
    (folder / "in.csv.gz").write_bytes(gzip.compress((folder / "in.csv").read_bytes()))
    (folder / "utf16.csv").write_bytes((folder / "in.csv").read_text().encode("utf-16"))
    table.write_parquet(folder / "in.parquet")
    table.write_ipc(folder / "in.arrow")
    table.write_excel(folder / "in.xlsx")
    table.head(1).write_csv(folder / "one.csv")
    (folder / "odd.csv").write_text(f'"",a,a\n"{CANARY}\n{CANARY}",{CANARY},"{CANARY}""\x1b[1m"\n')
    shoal.anonymize(table, qi=["age", "sex"], sensitive=["disease"], others="drop", k=2).write(folder / "out.csv")
    zips = sorted(set(table["zip"]))
    (folder / "zip.csv").write_text("".join(f"{z};{z[:3]}**;*\n" for z in zips))
    (folder / "job.xml").write_text(JOB)
    (folder / "key.bin").write_bytes(bytes(range(32)))
    (folder / "junk.bin").write_bytes(random.Random(0).randbytes(500))
    (folder / "empty.csv").write_bytes(b"")
    (folder / "settings.toml").write_text('k = 2\n[columns.age]\nrole = "qi"\n')
    (folder / "link.csv").symlink_to("in.csv")


JOB = """<config><qid><att name='age'><vgh value='[0:90000)'><node value='[0:40000)'/><node
value='[40000:90000)'/></vgh></att></qid></config>"""
