"""Settings: everything a user can set, in one table. The file is longer than others because of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.encoding.ends import CHOICES, ROUND
from shoal.encoding.grid import check_grid
from shoal.errors import UsageError, setting
from shoal.schema import (
    ISO,
    NUMBERED,
    OUTPUT_DECIMALS,
    Coding,
    Limits,
    Reading,
    Role,
    Schema,
    check_text,
    limits_by_column,
    parse_codings,
    split_order,
)
from shoal.settings.fields import Field, Form, Panel, Place, describe, entry
from shoal.settings.merge import merge
from shoal.tables.sources.url import is_file_url, parse_file_url
from shoal.tables.values import exact_fraction

if TYPE_CHECKING:
    from shoal.hierarchy.base import Rule
    from shoal.models import PrivacyModel
    from shoal.rules import Rule as ConstraintRule
    from shoal.tables.table import Table

__all__ = ["AUTO", "FIELDS", "SIGNOFF", "Settings", "check_signoff"]

AUTO = "auto"  # derive the weights from the table
# The lines of a report that can be filled in.
SIGNOFF = ("who", "when", "purpose", "legal_basis", "reviewer")

# The commands that have a setting.
ANONYMIZE = frozenset({"anonymize"})
SEARCH = ANONYMIZE | {"compare", "advise"}  # they run a method
PAIRS = frozenset({"measure", "evaluate", "explain"})  # they compare a release with its original
COUNT = frozenset({"verify", "risk", "describe"})  # they count the groups of a release
CELLS = SEARCH | PAIRS | COUNT | {"init"}  # they interpret cells
FILES = CELLS | {"simulate", "propose"}  # they read a file


@dataclass(frozen=True)
class Settings:
    """Everything a user can set about a run. A value that is None or empty leaves the setting open.

    Every field is declared by `entry`, from which its option, keyword and key in shoal.toml follow.
    """

    k: int | None = entry(
        Form.INTEGER,
        "Smallest group: every row has at least k-1 look-alikes. 5 is a common start.",
        commands=frozenset({"anonymize", "verify", "measure", "explain"}),
        least=1,
    )
    l: int | str | None = entry(
        Form.INTEGER,
        "Distinct l-diversity: the least number of distinct values of every sensitive column in each group.",
        panel=Panel.MODELS,
        commands=SEARCH | {"verify"},
        least=1,
    )
    t: float | str | None = entry(
        Form.NUMBER,
        "t-closeness: the largest distance of each group from the table in every sensitive column, such as 0.2.",
        panel=Panel.MODELS,
        commands=SEARCH | {"verify"},
    )
    models: tuple[Mapping[str, Any] | PrivacyModel, ...] = entry(
        Form.MODELS,
        "Another privacy model, such as 'entropy-l disease l=2'. May be repeated.",
        panel=Panel.MODELS,
        commands=SEARCH | {"verify"},
        in_python='Further privacy models, such as shoal.EntropyLDiversity("disease", l=2).',
        metavar="MODEL",
    )
    k_column: str | None = entry(
        Form.TEXT,
        "Column that contains each row's own k; never released.",
        panel=Panel.MODELS,
        commands=ANONYMIZE | {"verify"},
        place=Place.ROLE,
        key="k",
        metavar="COLUMN",
    )
    population: Any = entry(
        Form.TABLE,
        "Table of the population from which the rows were drawn, for k-map, delta-presence and journalist-profit.",
        panel=Panel.MODELS,
        commands=SEARCH | {"verify"},
        metavar="FILE",
        in_python="Table of the population, a frame or a path, for k-map, delta-presence and journalist-profit.",
    )
    suppression_limit: float | str | None = entry(
        Form.NUMBER,
        "Largest share of rows that may be suppressed, such as 0.02; 0 by default.",
        panel=Panel.MODELS,
        commands=SEARCH | {"verify"},
    )
    qi: tuple[str, ...] = entry(
        Form.NAMES,
        "Quasi-identifiers: columns that others may know, comma-separated.",
        panel=Panel.ROLES,
        commands=FILES - {"init", "propose"},
        place=Place.ROLE,
        in_python="Quasi-identifiers: columns that others may know.",
    )
    sensitive: tuple[str, ...] = entry(
        Form.NAMES,
        "Sensitive columns: nobody may learn them about a person; released unchanged.",
        panel=Panel.ROLES,
        commands=SEARCH | {"verify", "measure", "describe"},
        place=Place.ROLE,
    )
    insensitive: tuple[str, ...] = entry(
        Form.NAMES,
        "Columns that are neither known to others nor harmful; released unchanged.",
        panel=Panel.ROLES,
        commands=SEARCH | {"verify"},
        place=Place.ROLE,
    )
    drop: tuple[str, ...] = entry(
        Form.NAMES,
        "Columns that identify people, such as names; never released.",
        panel=Panel.ROLES,
        commands=SEARCH | {"verify"},
        place=Place.ROLE,
        key="identifier",
    )
    person: str | None = entry(
        Form.TEXT,
        "Column that identifies the person of each row; k then counts people (guide: several rows per person).",
        panel=Panel.ROLES,
        commands=SEARCH | {"verify", "risk", "explain"},
        place=Place.ROLE,
        metavar="COLUMN",
    )
    others: str | None = entry(
        Form.TEXT,
        "What to do with columns that have no role; an error by default.",
        panel=Panel.ROLES,
        commands=ANONYMIZE | {"verify"},
        choices=("drop", "insensitive"),
        in_python='What to do with columns that have no role: "drop" or "insensitive"; an error by default.',
    )
    all_qi: bool | None = entry(
        Form.FLAG, "Generalise the sensitive columns too.", panel=Panel.ROLES, commands=SEARCH | {"measure", "verify"}
    )
    accept_unique: tuple[str, ...] = entry(
        Form.NAMES,
        "Columns that may be released unchanged although their values are rare or seem to identify people.",
        panel=Panel.ROLES,
        commands=SEARCH,
        place=Place.COLUMN,
    )
    numeric: tuple[str, ...] = entry(
        Form.NAMES,
        "Columns to read as numbers; detected from the cells by default.",
        panel=Panel.KINDS,
        commands=CELLS,
        place=Place.KIND,
    )
    categorical: tuple[str, ...] = entry(
        Form.NAMES,
        "Columns to read as categories; detected from the cells by default.",
        panel=Panel.KINDS,
        commands=CELLS,
        place=Place.KIND,
    )
    dates: Mapping[str, str] = entry(
        Form.DATES,
        "Columns to read as dates, with the format unless it is ISO: born or born=%d.%m.%Y.",
        panel=Panel.KINDS,
        commands=CELLS,
        place=Place.KIND,
        key="date",
        metavar="COLUMN[=FORMAT]",
        in_python="Columns to read as dates: a list, or a mapping to their strptime formats.",
    )
    boolean: tuple[str, ...] = entry(
        Form.NAMES,
        "Columns to read as yes or no, such as 0 and 1; words such as true and no are detected by default.",
        panel=Panel.KINDS,
        commands=CELLS,
        place=Place.KIND,
    )
    ordered: Mapping[str, Any] = entry(
        Form.PAIRS,
        "Order of a column's values, lowest first, such as size=S:M:L. May be repeated.",
        panel=Panel.KINDS,
        commands=CELLS,
        place=Place.KIND,
        metavar="COLUMN=VALUES",
        in_python='Orders by column, lowest value first, such as {"size": ["S", "M", "L"]}.',
    )
    units: Mapping[str, str] = entry(
        Form.PAIRS,
        "Unit of a column's numbers, such as height=cm or price=$#; detected if every cell has it. May be repeated.",
        panel=Panel.KINDS,
        commands=CELLS,
        place=Place.COLUMN,
        key="unit",
        metavar="COLUMN=UNIT",
        in_python='Units of numbers by column, such as "cm" or "$#"; detected if every cell has it.',
    )
    hierarchies: Mapping[str, Any] = entry(
        Form.PAIRS,
        "Hierarchy of a column: a file (zip=zip.csv), a built-in one (country=builtin:countries) or auto. May be "
        "repeated.",
        panel=Panel.KINDS,
        commands=CELLS - {"init"},
        place=Place.COLUMN,
        key="hierarchy",
        metavar="COLUMN=FILE",
        in_python="Hierarchies by column: made or read by shoal.hierarchy, paths of hierarchy files, "
        '"builtin:NAME", or "auto" to have one proposed; "auto" alone proposes one for every quasi-identifier.',
    )
    other_hierarchies: str | None = entry(
        Form.TEXT,
        "Propose a hierarchy for every quasi-identifier that has none.",
        panel=Panel.KINDS,
        commands=CELLS - {"init"},
        key="hierarchies",
        keyword="",
        choices=(AUTO,),
    )
    trust_hierarchies: bool | None = entry(
        Form.FLAG,
        "Accept hierarchy labels that do not contain their values.",
        panel=Panel.KINDS,
        commands=CELLS - {"init"},
    )
    unknown: str | None = entry(
        Form.TEXT,
        "Values that a hierarchy lacks: an error, or top to release them as *.",
        panel=Panel.KINDS,
        commands=SEARCH,
        choices=("error", "top"),
        in_python='What to do with values that a hierarchy lacks: "error", or "top" to release them as *.',
    )
    missing: tuple[str, ...] = entry(
        Form.TEXTS,
        "Texts that mean a missing value, besides the empty cell: '?,NA'.",
        panel=Panel.FILES,
        commands=CELLS | {"propose"},
        in_python="Texts that mean a missing value, besides the empty cell.",
    )
    delimiter: str | None = entry(
        Form.TEXT,
        "Cell separator of a CSV file, or tab; detected from the file by default.",
        panel=Panel.FILES,
        commands=FILES,
        place=Place.FILE,
        in_python="Cell separator of a CSV file; detected from the file by default.",
    )
    encoding: str | None = entry(
        Form.TEXT,
        "Text encoding of a CSV file; UTF-8 by default.",
        panel=Panel.FILES,
        commands=FILES,
        place=Place.FILE,
    )
    header: bool | None = entry(
        Form.FLAG,
        "Whether the first line contains the column names; detected from the file by default.",
        panel=Panel.FILES,
        commands=FILES,
        place=Place.FILE,
    )
    sheet: str | None = entry(
        Form.TEXT,
        "Sheet of an Excel workbook; the first visible sheet by default.",
        panel=Panel.FILES,
        commands=FILES,
        place=Place.FILE,
    )
    duplicate_columns: str | None = entry(
        Form.TEXT,
        "Columns that share a name: an error, or number to call them a, a_2, a_3.",
        panel=Panel.FILES,
        commands=FILES,
        place=Place.FILE,
        choices=("error", NUMBERED),
        in_python='Columns that share a name: "error", or "number" to call them a, a_2, a_3.',
    )
    decimal: str | None = entry(
        Form.TEXT, "Decimal mark of numbers; a point by default.", panel=Panel.FILES, commands=CELLS, place=Place.FILE
    )
    thousands: str | None = entry(
        Form.TEXT, "Thousands mark of numbers; none by default.", panel=Panel.FILES, commands=CELLS, place=Place.FILE
    )
    method: str | None = entry(
        Form.TEXT, "The method; shoaling by default. `shoal methods` lists them.", panel=Panel.RUN, commands=ANONYMIZE
    )
    effort: str | None = entry(
        Form.TEXT,
        "How long shoaling searches for less loss.",
        panel=Panel.RUN,
        commands=ANONYMIZE,
        choices=("fast", "normal", "high"),
        in_python='How long shoaling searches for less loss: "fast", "normal" or "high".',
    )
    options: Mapping[str, object] = entry(
        Form.PAIRS,
        "Option of the method, such as variant=relaxed. May be repeated.",
        panel=Panel.RUN,
        commands=ANONYMIZE,
        metavar="NAME=VALUE",
        in_python="Options of the method by name; or pass an instance as method.",
    )
    weights: Mapping[str, Any] | str = entry(
        Form.WEIGHTS,
        "Weights of quasi-identifiers, such as age=2,sex=0.5; auto gives a column less weight the better the others "
        "predict it.",
        panel=Panel.RUN,
        commands=SEARCH | {"measure"},
        metavar="COLUMN=WEIGHT",
        in_python='Weights of quasi-identifiers by column; "auto" lowers that of a column which others predict.',
    )
    target: str | None = entry(
        Form.TEXT,
        "Column that the release will be asked about: groups are preferred whose categories say the same about it. "
        "Never a quasi-identifier.",
        panel=Panel.RUN,
        commands=ANONYMIZE,
        metavar="COLUMN",
    )
    constraints: tuple[Any, ...] = entry(
        Form.RULES,
        "Data constraint rules: values that groups should not mix.",
        panel=Panel.RUN,
        key="rules",
        keyword="rules",
        in_python="Data constraint rules, shoal.Rule: values that groups should not mix.",
    )
    recode: Mapping[str, str] = entry(
        Form.PAIRS,
        "Recode outliers first: age=top:90, income=bottom:1%,top:99%, or occupation=rare:20. May be repeated.",
        panel=Panel.RUN,
        commands=SEARCH | PAIRS | {"verify"},
        metavar="COLUMN=RECODING",
        in_python='Recoding of outliers by column: "top:90", "bottom:1%,top:99%", or "rare:20" for values of few rows.',
    )
    max_width: Mapping[str, str] = entry(
        Form.PAIRS,
        "Widest range of a column: age=10; of dates in days, weeks, months or years: born=5y; of sets: values.",
        panel=Panel.LIMITS,
        commands=SEARCH | {"verify"},
        place=Place.COLUMN,
        metavar="COLUMN=WIDTH",
        in_python='Widest range by column: "10"; of dates "90" (days), "6w", "18m" or "5y"; of sets, how many values.',
    )
    finest: Mapping[str, str] = entry(
        Form.PAIRS,
        "Finest cells of a column: visit=month, age=5, or a level of its hierarchy. May be repeated.",
        panel=Panel.LIMITS,
        commands=SEARCH | {"verify"},
        place=Place.COLUMN,
        metavar="COLUMN=BAND",
        in_python='Finest cells by column: a band such as "month" or "5", or a level of its hierarchy.',
    )
    coarsest: Mapping[str, str] = entry(
        Form.PAIRS,
        "Coarsest cells of a column: zip=2 or a label of that level of its hierarchy; age=20. May be repeated.",
        panel=Panel.LIMITS,
        commands=SEARCH | {"verify"},
        place=Place.COLUMN,
        metavar="COLUMN=LEVEL",
        in_python="Coarsest cells by column: a level of its hierarchy, by number or by one of its labels, or a band.",
    )
    uniform: Mapping[str, str] = entry(
        Form.PAIRS,
        "Cells of a column that are all one of these bands or labels: age=5, visit=month. May be repeated.",
        panel=Panel.LIMITS,
        commands=SEARCH | {"verify"},
        place=Place.COLUMN,
        metavar="COLUMN=BAND",
        in_python='Columns whose cells are all one of some bands, such as "5" or "month", or labels of a level.',
    )
    seed: int | None = entry(
        Form.INTEGER, "Seed for methods that use random numbers; 0 by default.", panel=Panel.RUN, commands=ANONYMIZE
    )
    ends: str | None = entry(
        Form.TEXT,
        "Ends of ranges. safe: an end that fewer than k rows have moves out to a grid; round: every end does; exact: "
        "none does. safe by default for shoaling, exact for the published methods.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE,
        choices=CHOICES,
        in_python='Ends of ranges. "safe": an end that fewer than k rows have moves out to a grid; "round": every end '
        'does; "exact": none does. "safe" by default for shoaling, "exact" for the published methods.',
    )
    snap: bool | None = entry(
        Form.FLAG,
        "Short for ends = round.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE,
        in_python='Same as ends="round".',
    )
    grids: Mapping[str, str] = entry(
        Form.PAIRS,
        "Round ends for one column: its ranges begin and end on this grid: age=5, born=year. May be repeated.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE,
        place=Place.COLUMN,
        key="grid",
        metavar="COLUMN=GRID",
        in_python='Columns whose ranges begin and end on a grid, such as "5" or "year".',
    )
    cells: str | None = entry(
        Form.TEXT,
        "Write a range as text, or as two columns of bounds, NAME_min and NAME_max. center: each cell is the mean, or "
        "the most frequent value, of its group.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE | {"verify", "measure"},
        choices=("text", "bounds", "center"),
        in_python='Write a range as "text", or as two columns of "bounds", NAME_min and NAME_max. "center": each cell '
        "is the mean, or the most frequent value, of its group.",
    )
    center: str | None = entry(
        Form.TEXT,
        "With --cells center: numbers and dates are the mean of their group, the default, or its median.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE | {"verify"},
        choices=("mean", "median"),
        in_python='With cells="center": numbers and dates are the "mean" of their group, the default, or its "median".',
    )
    spread: bool | None = entry(
        Form.FLAG,
        "With --cells center: add the standard deviation of numbers and dates, NAME_sd, and the share of the value "
        "that is shown, NAME_share.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE | {"verify"},
        in_python='With cells="center": add the standard deviation of numbers and dates, NAME_sd, and the share of the '
        "value that is shown, NAME_share.",
    )
    spreadsheet_safe: bool | None = entry(
        Form.FLAG,
        "Escape cells that a spreadsheet would run as formulas.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE | {"verify"},
    )
    output_delimiter: str | None = entry(
        Form.TEXT,
        "Cell separator of a released CSV file, or tab; input for that of the table that was read. A comma by default.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE | {"verify"},
        in_python='Cell separator of a released CSV file, or "input" for that of the table. A comma by default.',
    )
    output_decimal: str | None = entry(
        Form.TEXT,
        "Decimal mark of the numbers in a released CSV file: . or , or input for that of the table, the default.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE | {"verify", "measure", "evaluate", "explain"},
        choices=OUTPUT_DECIMALS,
        in_python='Decimal mark of the numbers in a released CSV file: ".", "," or "input" for that of the table.',
    )
    signoff: Mapping[str, str] = entry(
        Form.PAIRS,
        f"Line of the report: {', '.join(f'{line}=' for line in SIGNOFF[:-1])} or {SIGNOFF[-1]}=. May be repeated.",
        panel=Panel.OUTPUT,
        commands=ANONYMIZE,
        place=Place.SIGNOFF,
        keyword="",
        metavar="LINE=TEXT",
    )
    # The kinds that shoal.toml declares for columns other than quasi-identifiers; they serve to notice drift.
    kinds: Mapping[str, str] = entry(
        Form.PAIRS, "Kind of a column that is not a quasi-identifier.", place=Place.NOWHERE, keyword=""
    )

    def __post_init__(self) -> None:
        for each in FIELDS:
            if each.name not in ("hierarchies", "population"):  # a path may be any bytes
                check_text(each.name, getattr(self, each.name))

    def over(self, other: Settings) -> Settings:
        """Return these settings, completed by those of another source; they merge key by key.

        Columns, method options, weights, hierarchies, grids, sign-off lines and models that only the other names are
        added; where both name one, the value given here applies. A column has one role and one kind: if it has one
        here, the other's is ignored. A role given here replaces that of the columns it names, and no others; `others`
        replaces `others`. `ends` and `snap` are one choice.
        """
        ours, theirs = ({each.name: getattr(one, each.name) for each in FIELDS} for one in (self, other))
        if self.ends is not None or self.snap is not None:
            theirs |= {"ends": None, "snap": None}
        return Settings(**merge(FIELDS, ours, theirs))

    @property
    def range_ends(self) -> str | None:
        """The ends of ranges, whether they were chosen by `ends` or by `snap`; None if neither is set."""
        if self.snap and self.ends not in (None, ROUND):
            raise UsageError(f"{setting('snap', True)} means {setting('ends', ROUND)}, not {self.ends!r}. Use one.")
        return ROUND if self.snap else self.ends

    @property
    def generalised(self) -> tuple[str, ...]:
        """The columns that a method generalises."""
        return (*self.qi, *self.sensitive) if self.all_qi else self.qi

    @property
    def reading(self) -> Reading:
        """How files and their cells are read."""
        return Reading(
            numeric=self.numeric,
            categorical=self.categorical,
            dates=self.dates,
            boolean=self.boolean,
            ordered={name: split_order(order) for name, order in self.ordered.items()},
            units=self.units,
            missing=self.missing,
            decimal=self.decimal or ".",
            thousands=self.thousands or "",
            delimiter=self.delimiter,
            encoding=self.encoding,
            header=self.header,
            sheet=self.sheet,
            named=self.named,
            duplicate_columns=self.duplicate_columns,
        )

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that a setting names, once."""
        one_each = (self.person, self.k_column, self.target)
        lists = (self.qi, self.sensitive, self.insensitive, self.drop, self.accept_unique, self.numeric)
        more = (self.ordered, self.units, self.recode, *self._limits)
        by_column = (self.dates, self.hierarchies, self.grids, self.kinds, *more)
        weighted = self.weights if isinstance(self.weights, Mapping) else ()
        specs = (*self.models, *self.constraints)
        of_specs = (spec.get("column") if isinstance(spec, Mapping) else getattr(spec, "column", "") for spec in specs)
        names = (*chain(*lists), *self.categorical, *self.boolean, *chain(*by_column), *weighted, *one_each, *of_specs)
        return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name))

    @property
    def roles(self) -> dict[Role, tuple[str, ...]]:
        """The columns of each role."""
        return {
            Role.QI: self.generalised,
            Role.SENSITIVE: () if self.all_qi else self.sensitive,
            Role.INSENSITIVE: self.insensitive,
            Role.IDENTIFIER: self.drop,
            Role.PERSON: (self.person,) if self.person else (),
            Role.PERSONAL_K: (self.k_column,) if self.k_column else (),
        }

    def schema(self, names: tuple[str, ...]) -> Schema:
        """Return the schema of a table with these columns."""
        for name, grid in self.grids.items():
            check_grid(name, grid)
        return Schema.build(
            names,
            self.roles,
            reading=self.reading,
            others=self.others,
            grids=self.grids,
            codings=self.codings,
            limits=self.limits,
        )

    @property
    def _limits(self) -> tuple[Mapping[str, str], ...]:
        return tuple(getattr(self, field) for field in Limits._fields)

    @property
    def limits(self) -> dict[str, Limits]:
        """The limits of released cells, by column."""
        return limits_by_column(*self._limits)

    @property
    def codings(self) -> dict[str, tuple[Coding, ...]]:
        """The recodings of outliers, by column."""
        return {name: parse_codings(name, text) for name, text in self.recode.items()}

    def data_rules(self) -> tuple[ConstraintRule, ...]:
        """Return the data constraint rules."""
        from shoal.rules import Rule, rule_from

        return tuple(rule if isinstance(rule, Rule) else rule_from(rule) for rule in self.constraints)

    def column_weights(self) -> dict[str, Fraction]:
        """Return the weights of the quasi-identifiers; none if the table is to give them."""
        weights: dict[str, Fraction] = {}
        if self.weights == AUTO:
            return weights
        if isinstance(self.weights, str):
            raise UsageError(f"weights={self.weights!r} is not known. Use {AUTO!r}, or a weight for each column.")
        for name, weight in self.weights.items():
            weights[name] = (exact_fraction(weight) or Fraction(0)).limit_denominator(10**6)
            if weights[name] <= 0:
                raise UsageError(f"weight of {name!r} is {weight!r}. Use a number above 0.")
        return weights

    def privacy_models(self) -> tuple[PrivacyModel, ...]:
        """Return the models besides k; l and t apply to every sensitive column."""
        from shoal.models import PersonalK, model_from

        if (self.l is not None or self.t is not None) and not self.sensitive:
            raise UsageError(f"l and t need a sensitive column. Name one with {setting('sensitive')}.")
        specs: list[dict[str, Any]] = []
        specs += [{"name": "distinct-l", "l": self.l, "column": name} for name in self.sensitive if self.l is not None]
        specs += [{"name": "t-closeness", "t": self.t, "column": name} for name in self.sensitive if self.t is not None]
        return (
            *((PersonalK(),) if self.k_column else ()),
            *map(model_from, specs),
            *(model_from(model) if isinstance(model, Mapping) else model for model in self.models),
        )

    def input_files(self, *others: str | Path | None) -> list[Path]:
        """Return the files that a run with these settings reads, none of which an output may replace.

        Args:
            others: Further files, or URLs of tables in files; None stands for a table that is not a file.
        """
        from shoal.hierarchy import is_file

        named = [self.population, *filter(is_file, self.hierarchies.values()), *others]
        paths = [path for path in named if isinstance(path, str | os.PathLike)]
        return [parse_file_url(str(path)).path if is_file_url(path) else Path(path) for path in paths]

    @property
    def labelled(self) -> tuple[str, ...]:
        """The columns that have a hierarchy, given or proposed."""
        return tuple(dict.fromkeys((*self.hierarchies, *(self.generalised if self.other_hierarchies else ()))))

    def population_table(self) -> Table | None:
        """Return the table of the population; a path is read."""
        if self.population is None:
            return None
        from shoal.tables.formats import as_table

        return as_table(self.population, self.generalised)

    def rules(self) -> dict[str, Rule]:
        """Return the hierarchies by column; paths are read. One that is to be proposed is `shoal.hierarchy.Auto`."""
        from shoal import hierarchy
        from shoal.tables.values import Marks

        def rule_of(name: str) -> Any:
            rule = self.hierarchies.get(name, AUTO)
            if rule == AUTO:
                return hierarchy.Auto()
            if isinstance(rule, str) and not hierarchy.is_file(rule):
                marks = Marks(*self.reading.marks)
                name_of = rule.removeprefix(hierarchy.PREFIX)
                return hierarchy.builtin(name_of, date_format=self.dates.get(name, ISO), marks=marks)
            if hierarchy.is_file(rule):
                return hierarchy.read(rule, column=name, trust=bool(self.trust_hierarchies))
            return rule

        return {name: rule_of(name) for name in self.labelled}


# The one table of settings, in the order of their declaration.
FIELDS: tuple[Field, ...] = tuple(describe(each.name, each.metadata) for each in fields(Settings))


def check_signoff(lines: Mapping[str, str]) -> dict[str, str]:
    """Return the sign-off lines of a report; refuse a line that the report does not have."""
    unknown_lines = [line for line in lines if line not in SIGNOFF]
    if unknown_lines:
        raise UsageError(f"sign-off: the report has no line {unknown_lines[0]!r}. Lines: {', '.join(SIGNOFF)}.")
    return dict(lines)
