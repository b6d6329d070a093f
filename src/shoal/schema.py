"""What a table looks like and how it is read. The file is longer than others: the verifier may import no other one."""

from __future__ import annotations

import codecs
import operator
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypedDict, Unpack

from shoal.errors import UsageError, join_problems, setting

__all__ = [
    "DURATION",
    "ISO",
    "NO_LIMITS",
    "NUMBERED",
    "WIDTH",
    "Coding",
    "Column",
    "Dialect",
    "Kind",
    "Limits",
    "Reading",
    "ReadingKeywords",
    "Role",
    "Schema",
    "check_date_format",
    "check_delimiter",
    "check_encoding",
    "check_k",
    "check_text",
    "check_threads",
    "check_unit",
    "column_names",
    "limits_by_column",
    "parse_codings",
    "shorter_formats",
    "split_unit",
    "unknown_column",
]

ISO = "%Y-%m-%d"  # the format of dates by default
LONGEST_FORMAT = 100
MOST_THREADS = 256
TWICE = "a part of the date occurs twice"
YEAR, MONTH, DAY = range(3)
# What each directive of strptime states, from the year down to the fraction of a second.
PARTS: dict[str, tuple[int, ...]] = {"j": (MONTH, DAY), "c": (0, 1, 2, 3, 4, 5), "x": (0, 1, 2), "X": (3, 4, 5)}
for _part, _letters in enumerate(("YyG", "mbBUVW", "d", "HI", "M", "S", "f")):
    PARTS.update(dict.fromkeys(_letters, (_part,)))
RELEASED_CELL = re.compile(r"\*|\{.*\}|\[.*, .*[\])]", re.DOTALL)  # suppressed, a set, a range
NOT_OF_FILES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")  # encodings of other texts
BOUNDED = ("top", "bottom")  # recodings with a bound
WIDTH = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)([dwmy]?)")
SHARE = re.compile(r"(?=.*[1-9])[0-9]{1,2}(\.[0-9]{1,6})?%")  # above 0 % and below 100 %
LEAST_ROWS = re.compile(r"[2-9]|[1-9][0-9]{1,8}")
NUMBERED = "number"  # what to do with columns that share a name
INPUT = "input"  # the mark or the delimiter that the original has
OUTPUT_DECIMALS = (INPUT, ".", ",")
DECIMAL_MARKS = (".", ",", "·", "٫")
THOUSANDS_MARKS = (".", ",", "'", "’", "_", " ", "\u00a0", "\u202f", "·", "٬")
DURATION = "duration"  # the unit of ISO 8601 durations such as P1DT2H3M4S, which count as seconds
LONGEST_UNIT = 30
NOT_IN_UNIT = re.compile(r"[0-9,;\[\]{}()\"*<>=~|]|^[+-]|\s{2}")  # a number, a range or a set has them


class Role(StrEnum):
    """What a column tells about the people in the table."""

    IDENTIFIER = "identifier"  # identifies a person: never released
    QI = "qi"  # quasi-identifier, known to others: generalised until every row has its look-alikes
    SENSITIVE = "sensitive"  # nobody may learn it about a person: released unchanged
    INSENSITIVE = "insensitive"  # neither known nor harmful: released unchanged
    PERSON = "person"  # the person that the row belongs to: never released
    PERSONAL_K = "k"  # the row's own k: never released
    WEIGHT = "weight"  # the number of people that the row represents: never released


RELEASED_ROLES = frozenset({Role.QI, Role.SENSITIVE, Role.INSENSITIVE})


class Kind(StrEnum):
    """How the values of a column compare."""

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"
    DATE = "date"
    BOOLEAN = "boolean"
    ORDERED = "ordered"

    @property
    def is_measured(self) -> bool:
        """Whether values are numbers or dates, released as ranges."""
        return self in (Kind.NUMERIC, Kind.DATE)

    @property
    def is_ranked(self) -> bool:
        """Whether values are texts in an order, released as sets in that order: booleans and ordered categories."""
        return self in (Kind.BOOLEAN, Kind.ORDERED)


class Coding(NamedTuple):
    """A recoding of outliers, before anything else happens to a column.

    Attributes:
        form: "top" replaces the values from a bound up by the bound, "bottom" those from a bound down, and "rare" the
            values of few rows by a label.
        given: What the user gave: a bound, a share of the rows such as "99%", or the least number of rows of a value.
        text: The bound or the label, which the release shows; empty until the table is known.
    """

    form: str
    given: str
    text: str = ""

    @property
    def share(self) -> Fraction | None:
        """The share of the rows that do not lie above the bound; None if the bound is given."""
        return Fraction(self.given[:-1]) / 100 if self.given.endswith("%") else None

    @property
    def words(self) -> str:
        """What a coded cell means."""
        if self.form == "rare":
            return f"{self.text!r} means a value of fewer than {self.given} rows"
        return f"{self.text} means {self.text} or {'more' if self.form == 'top' else 'less'}"


class Limits(NamedTuple):
    """What the cells of a quasi-identifier must keep to; an empty text is no limit.

    Attributes:
        max_width: The widest range, as a number or, for dates, as a number of days or of a unit such as "5y"; of a set
            or label, the largest number of values.
        finest: The band, or the level of the hierarchy, that no cell is finer than.
        coarsest: The band, or the level of the hierarchy, that no cell is coarser than.
        uniform: The band, or the level of the hierarchy, that every cell is one of.
    """

    max_width: str = ""
    finest: str = ""
    coarsest: str = ""
    uniform: str = ""


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: The name of the column.
        role: Its role.
        kind: How its values compare; None if the kind is to be detected from the cells.
        date_format: The strptime format of its dates.
        decimal: The decimal mark of its numbers; German uses ",".
        thousands: The thousands mark of its numbers; empty for none.
        grid: The step, or the unit of the calendar, to which the ends of its ranges are widened.
        unit: How its numbers carry their unit, with # for the number: "# cm", "$#" or "#%"; "duration" for ISO 8601
            durations; empty for plain numbers.
        order: The values of ordered categories, lowest first.
        codings: How its outliers are recoded, before anything else.
        limits: What its released cells must keep to.
    """

    name: str
    role: Role
    kind: Kind | None = None
    date_format: str = ISO
    decimal: str = "."
    thousands: str = ""
    grid: str = ""
    unit: str = ""
    order: tuple[str, ...] = ()
    codings: tuple[Coding, ...] = ()
    limits: Limits = NO_LIMITS

    @property
    def marks(self) -> tuple[str, str, str]:
        """The decimal mark, the thousands mark and the unit of its numbers."""
        return self.decimal, self.thousands, self.unit


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes:
        delimiter: The separator of cells.
        encoding: The text encoding.
        header: Whether the first line contains the column names.
        initial_space: Whether blanks follow every delimiter and belong to it (``39, Private, 77516``).
        numbered: Whether columns that share a name are numbered: a, a_2, a_3. So are those of a sheet.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    header: bool = True
    initial_space: bool = False
    numbered: bool = False

    def describe(self) -> str:
        """Return the dialect in words: ``delimiter ',', encoding utf-8, with header``."""
        delimiter = {"\t": "tab"}.get(self.delimiter, f"'{self.delimiter}{' ' if self.initial_space else ''}'")
        return f"delimiter {delimiter}, encoding {self.encoding}, {'with' if self.header else 'without'} header"


class ReadingKeywords(TypedDict, total=False):
    """The keywords of the public functions that say how cells are read.

    Attributes:
        numeric: Columns to read as numbers. A kind that is not declared is detected.
        categorical: Columns to read as categories.
        dates: Columns to read as dates; a mapping gives the strptime format of each, ISO otherwise.
        boolean: Columns to read as yes or no; words such as true and no are detected.
        ordered: Ordered categories: by column, its values, lowest first.
        units: By column, the unit of its numbers, such as "cm" or "$#"; detected if every cell has it.
        missing: Texts that mean a missing value, besides the empty one.
        decimal: The decimal mark of numbers; a point by default.
        thousands: The thousands mark of numbers; none by default.
    """

    numeric: Sequence[str]
    categorical: Sequence[str]
    dates: Sequence[str] | Mapping[str, str] | None
    boolean: Sequence[str]
    ordered: Mapping[str, Sequence[str]] | None
    units: Mapping[str, str] | None
    missing: Sequence[str] | str
    decimal: str | None
    thousands: str | None


@dataclass(frozen=True)
class Reading:
    """How a file and its cells are read. What is None is detected.

    Attributes:
        numeric: The columns to read as numbers.
        categorical: The columns to read as categories.
        dates: The columns to read as dates, each with its strptime format.
        boolean: The columns to read as yes or no.
        ordered: The columns of ordered categories, each with its values, lowest first.
        units: The columns whose numbers carry a unit, such as "cm" or "$#".
        missing: The texts that mean a missing value, besides the empty cell.
        decimal: The decimal mark of numbers.
        thousands: The thousands mark of numbers; empty for none.
        delimiter: The separator of cells in a CSV file.
        encoding: The text encoding of a CSV file.
        header: Whether the first line of a CSV file or a sheet contains the column names.
        sheet: The sheet of a workbook.
        named: The columns that the settings name; a first line that contains all of them is a header.
        duplicate_columns: What to do with columns that share a name: "number" calls them a, a_2, a_3; otherwise they
            are an error.
        forms: Columns whose reading is known in full; what is declared above for one of them applies instead.

    Raises:
        UsageError: If a column has two kinds, or a mark, a unit, an order, a delimiter, an encoding or a date format
            cannot be used.
    """

    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict)
    boolean: tuple[str, ...] = ()
    ordered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    decimal: str = "."
    thousands: str = ""
    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    named: tuple[str, ...] = ()
    duplicate_columns: str | None = None
    forms: Mapping[str, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        numbers = {*self.numeric, *self.units}
        named = Counter([*numbers, *{*self.categorical}, *self.dates, *{*self.boolean}, *self.ordered])
        if shared := sorted(name for name, times in named.items() if times > 1):
            raise UsageError(f"column {shared[0]!r} has two kinds. Give it one.")
        for name, form in self.dates.items():
            check_date_format(form, name)
        for name, unit in self.units.items():
            check_unit(unit, name)
        for name, order in self.ordered.items():
            check_order(order, name)
        check_missing(self.missing)
        check_marks(self.decimal, self.thousands)
        if self.delimiter is not None:
            check_delimiter(self.delimiter)
        if self.encoding is not None:
            check_encoding(self.encoding)

    @classmethod
    def of_cells(cls, **cells: Unpack[ReadingKeywords]) -> Reading:
        """Return how cells are read, from the keywords that the public functions share."""
        if unknown := sorted(set(cells) - ReadingKeywords.__annotations__.keys()):
            known = ", ".join(ReadingKeywords.__annotations__)
            raise UsageError(f"{unknown[0]!r} is not a keyword of this function, nor of how cells are read: {known}.")
        ordered, units, dates = cells.get("ordered"), cells.get("units"), cells.get("dates")
        missing = cells.get("missing", ())
        check_mappings(ordered=ordered, units=units)
        dated = column_names("dates", dates or ())
        return cls(
            numeric=column_names("numeric", cells.get("numeric", ())),
            categorical=column_names("categorical", cells.get("categorical", ())),
            dates=dict(zip(dated, dates.values(), strict=True))
            if isinstance(dates, Mapping)
            else dict.fromkeys(dated, ISO),
            boolean=column_names("boolean", cells.get("boolean", ())),
            ordered={str(name): split_order(order) for name, order in (ordered or {}).items()},
            units={str(name): unit for name, unit in (units or {}).items()},
            missing=(missing,) if isinstance(missing, str) else tuple(missing),
            decimal=cells.get("decimal") or ".",
            thousands=cells.get("thousands") or "",
        )

    @property
    def cells(self) -> ReadingKeywords:
        """The keywords of `of_cells` that give this reading of cells."""
        return {
            "numeric": self.numeric,
            "categorical": self.categorical,
            "dates": self.dates,
            "boolean": self.boolean,
            "ordered": self.ordered,
            "units": self.units,
            "missing": self.missing,
            "decimal": self.decimal,
            "thousands": self.thousands,
        }

    @property
    def numbers_columns(self) -> bool:
        """Whether columns that share a name are numbered."""
        return self.duplicate_columns == NUMBERED

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds by column."""
        columns = {
            Kind.NUMERIC: (*self.numeric, *self.units),
            Kind.CATEGORICAL: self.categorical,
            Kind.DATE: self.dates,
            Kind.BOOLEAN: self.boolean,
            Kind.ORDERED: self.ordered,
        }
        declared = {name: kind for kind, names in columns.items() for name in names}
        return {name: column.kind for name, column in self.forms.items() if column.kind is not None} | declared

    def column(self, name: str, role: Role) -> Column:
        """Return a column as it is read."""
        if name in self.forms and self.kinds.get(name) == self.forms[name].kind:
            return replace(self.forms[name], role=role)
        form, unit, order = self.dates.get(name, ISO), self.units.get(name, ""), self.ordered.get(name, ())
        return Column(name, role, self.kinds.get(name), form, *self.marks, unit=unit, order=order)

    @property
    def marks(self) -> tuple[str, str]:
        """The decimal and the thousands mark."""
        return self.decimal, self.thousands


@dataclass(frozen=True)
class Schema:
    """Every column of a table with its role, in the order of the table.

    Attributes:
        columns: The columns.
        missing: The texts that mean a missing value; the empty cell always does.
        qi_order: The quasi-identifiers in the order of the user; ties between attributes go to the first.
        marks: The decimal and the thousands mark of columns that have none of their own.
    """

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = ("",)
    qi_order: tuple[str, ...] = ()
    marks: tuple[str, str] = (".", "")

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", tuple(dict.fromkeys(("", *self.missing))))
        check_missing(self.missing)

    @property
    def qi(self) -> tuple[Column, ...]:
        """The quasi-identifiers, in the order of the user."""
        position = {name: i for i, name in enumerate(self.qi_order)}
        return tuple(sorted((c for c in self.columns if c.role is Role.QI), key=lambda c: position.get(c.name, 0)))

    @property
    def released(self) -> tuple[Column, ...]:
        """The columns that are released, in the order of the table."""
        return tuple(c for c in self.columns if c.role in RELEASED_ROLES)

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with this role."""
        return tuple(c.name for c in self.columns if c.role is role)

    def with_kinds(self, kinds: Mapping[str, Kind]) -> Schema:
        """Return the schema with these kinds filled in."""
        return replace(self, columns=tuple(replace(c, kind=kinds.get(c.name, c.kind)) for c in self.columns))

    def with_columns(self, columns: Mapping[str, Column]) -> Schema:
        """Return the schema with these columns in place of those of the same names."""
        return replace(self, columns=tuple(columns.get(c.name, c) for c in self.columns))

    @classmethod
    def build(
        cls,
        names: Iterable[str],
        roles: Mapping[Role, Iterable[str]],
        *,
        reading: Reading | None = None,
        kinds: Mapping[str, Kind] | None = None,
        date_formats: Mapping[str, str] | None = None,
        others: str | None = None,
        missing: Iterable[str] = (),
        grids: Mapping[str, str] | None = None,
        codings: Mapping[str, tuple[Coding, ...]] | None = None,
        limits: Mapping[str, Limits] | None = None,
    ) -> Schema:
        """Give every column its role.

        Args:
            names: The columns of the table.
            roles: The columns by role.
            reading: How cells are read.
            kinds: Further kinds by column.
            date_formats: Further date columns, each with its format.
            others: What to do with columns without a role: None for an error, "drop" or "insensitive".
            missing: Further texts that mean a missing value.
            grids: The grid of a column, for ranges that are widened.
            codings: The recodings of outliers, by column.
            limits: The limits of quasi-identifiers.

        Returns:
            The schema.

        Raises:
            UsageError: If a column is unknown, has two roles or none, or no quasi-identifier is named. The message
                lists all problems.
        """
        names, reading = tuple(names), reading or Reading()
        date_formats = {**reading.dates, **(date_formats or {})}
        kinds = {**reading.kinds, **(kinds or {})}
        if others not in (None, "drop", "insensitive"):
            raise UsageError(f"{setting('others', others)} is not known. Use drop or insensitive.")
        role_of, problems = _assign(names, roles)
        settled = (("grid", grids or {}), ("recoding", codings or {}), ("limit", limits or {}))
        for what, named in (("kind", (*kinds, *date_formats)), *settled):
            problems += [unknown_column(name, names, what) for name in dict.fromkeys(named) if name not in names]
        unnamed = [name for name in names if name not in role_of]
        if unnamed and others is None and not problems:
            problems.append(
                f"no role for column{'s' * (len(unnamed) > 1)} {', '.join(map(repr, unnamed))}. Name each as "
                f"quasi-identifier, sensitive or dropped, or pass {setting('others', 'drop')} or "
                f"{setting('others', 'insensitive')} for all of them."
            )
        if not problems and Role.QI not in role_of.values():
            problems.append(f"no quasi-identifier is named. Name at least one column with {setting('qi')}.")
        if problems:
            raise UsageError(join_problems(problems))
        for what, named in settled[1:]:
            released = RELEASED_ROLES if what == "recoding" else {Role.QI}
            unfit = [name for name in named if role_of.get(name, Role.INSENSITIVE) not in released]
            unfit += [name for name in named if name not in role_of and (what == "limit" or others == "drop")]
            if unfit:
                allowed = "a released column" if what == "recoding" else "a quasi-identifier"
                raise UsageError(f"{what} for column {unfit[0]!r}: it is not {allowed}. Leave it out.")
        default_role = Role.INSENSITIVE if others == "insensitive" else Role.IDENTIFIER
        columns = tuple(
            replace(
                reading.column(name, role_of.get(name, default_role)),
                kind=Kind.DATE if name in date_formats else kinds.get(name),
                date_format=date_formats.get(name, ISO),
                grid=(grids or {}).get(name, ""),
                codings=(codings or {}).get(name, ()),
                limits=(limits or {}).get(name, NO_LIMITS),
            )
            for name in names
        )
        qi_order = tuple(name for name, role in role_of.items() if role is Role.QI)
        return cls(columns, (*reading.missing, *missing), qi_order, reading.marks)


def check_missing(markers: Iterable[str]) -> None:
    """Refuse a marker of missing values that a release could show for another reason, or that is no valid text."""
    check_text("missing", tuple(markers))
    for marker in (str(marker).strip() for marker in markers):
        if RELEASED_CELL.fullmatch(marker):
            shown = "suppressed cell" if marker == "*" else "range or a set"
            raise UsageError(
                f"{setting('missing', marker)}: a {shown} shows the same text. Rename the marker in the table."
            )


def check_text(name: str, value: object) -> None:
    """Refuse a setting with half a character (a surrogate), which no file can contain.

    Args:
        name: The name of the setting.
        value: A text, or a list or mapping of texts; other values pass.
    """
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{setting(name)} contains a character that is not valid Unicode. Correct it.") from None
    elif isinstance(value, Mapping):
        check_text(name, (*value, *value.values()))
    elif isinstance(value, list | tuple):
        for part in value:
            check_text(name, part)


def check_marks(decimal: str, thousands: str) -> None:
    """Refuse marks of numbers that a number or a released range could contain for another reason."""
    if decimal not in DECIMAL_MARKS or (thousands and thousands not in THOUSANDS_MARKS) or decimal == thousands:
        raise UsageError(
            f"{setting('decimal', decimal)} and {setting('thousands', thousands)} are not marks of numbers. The "
            "decimal mark is a point or a comma; the thousands mark is a point, a comma, an apostrophe, an underscore, "
            "a blank or nothing, and differs from it."
        )


def check_output_decimal(decimal: str) -> None:
    """Refuse a decimal mark of a release that is not a point, a comma, or that of the table."""
    if decimal not in OUTPUT_DECIMALS:
        raise UsageError(
            f"{setting('output_decimal', decimal)} is not a decimal mark. Use a point, a comma, or {INPUT!r} for the "
            "mark of the table."
        )


def check_delimiter(delimiter: str, name: str = "delimiter") -> None:
    """Refuse a delimiter that is not a single ASCII character, or that cells are made of; name: of the setting."""
    if len(delimiter) != 1 or delimiter in '"\r\n\0' or not delimiter.isascii() or delimiter.isalnum():
        raise UsageError(
            f"{setting(name, delimiter)} is not one ASCII character other than a letter, a digit or a quote. "
            "Use , ; | or tab."
        )


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that Python does not know, or that no text file has."""
    try:
        codec = codecs.lookup(encoding)
        is_usable = codec._is_text_encoding and codec.name not in NOT_OF_FILES
    except (LookupError, ValueError):  # a NUL character is a ValueError
        is_usable = False
    if not is_usable:
        raise UsageError(
            f"{setting('encoding', encoding)} is not known. Common encodings: utf-8, cp1252, latin-1, utf-16."
        )


def check_date_format(form: str, column: str = "") -> None:
    """Refuse a date format that strptime cannot use, or that does not determine the dates that it prints."""
    try:
        datetime.strptime("", form)
    except re.error:  # a part of the date occurs twice
        problem = TWICE
    except ValueError as error:
        is_unknown = "format" in str(error) and "match" not in str(error)
        problem = "it has a part that is not known" if is_unknown else _undetermined(form)
    else:
        problem = "it has no part of a date"
    if len(form) > LONGEST_FORMAT:
        problem = f"it is longer than {LONGEST_FORMAT} characters"
    if problem:
        raise UsageError(
            f"date format {form[:LONGEST_FORMAT]!r}{f' of column {column!r}' * bool(column)}: {problem}. Write it like "
            f"%d.%m.%Y, or read the column as {setting('categorical')}."
        )


def _undetermined(form: str) -> str:
    """Return why strptime would ignore or guess a part of the date; empty if it does neither."""
    letters = set(re.findall("%(.)", form, re.DOTALL))
    has_week, has_weekday = not letters.isdisjoint("UVW"), not letters.isdisjoint("aAuw")
    parts = [part for letter in letters for part in PARTS.get(letter, ())] + [DAY] * (has_week and has_weekday)
    problems = {
        "it has a time zone, which a release does not keep": not letters.isdisjoint("zZ"),
        TWICE: len(parts) > len(set(parts)) or ("G" in letters and "V" not in letters),
        "%p and %I need each other": ("p" in letters) != ("I" in letters),
        "a week needs its year and a day of the week": has_week and (not has_weekday or YEAR not in parts),
        "%V needs %G": "V" in letters and "G" not in letters,
        "a day of the week needs the other parts of the date": has_weekday and not {YEAR, MONTH, DAY} <= set(parts),
        "a part between two others is missing": max(parts, default=0) - min(parts, default=1) >= len(set(parts)),
    }
    return next((problem for problem, occurs in problems.items() if occurs), "")


def limits_by_column(*limits: Mapping[str, Any]) -> dict[str, Limits]:
    """Return the limits of released cells by column.

    Args:
        limits: For each field of `Limits`, in their order, the values by column.
    """
    names = dict.fromkeys(name for each in limits for name in each)
    return {
        str(name): Limits(
            *(
                check_limit(str(name), field, each[name]) if name in each else ""
                for field, each in zip(Limits._fields, limits, strict=True)
            )
        )
        for name in names
    }


def check_limit(name: str, field: str, text: object) -> str:
    """Return the text of a limit; refuse one that no column can have.

    Args:
        name: The column.
        field: The limit, a field of `Limits`.
        text: Its value.
    """
    text = str(text).strip()
    if field == "max_width" and not WIDTH.fullmatch(text):
        raise UsageError(
            f"{setting(field)} {name}={text}: use a number or, for dates, a number of days, weeks, months or years, "
            "such as 90, 6w, 18m or 5y."
        )
    if not text:
        raise UsageError(f"{setting(field)} of column {name!r} is empty. Give a band or a level, or leave it out.")
    return text


def parse_codings(column: str, text: str) -> tuple[Coding, ...]:
    """Return the recodings of a column.

    Args:
        column: The column.
        text: Such as "top:90", "bottom:1%,top:99%" or "rare:20".

    Raises:
        UsageError: A recoding is not known, or two of them do not go together.
    """
    codings = []
    for part in re.split(r",\s*(?=[a-z]+:)", str(text)):
        form, _, given = (each.strip() for each in part.partition(":"))
        is_share = given.endswith("%") and form != "rare"
        is_known = SHARE.fullmatch(given) if is_share else given and (form in BOUNDED or LEAST_ROWS.fullmatch(given))
        if not is_known or form not in (*BOUNDED, "rare"):
            raise UsageError(
                f"{setting('recode')} {column}={text}: {part!r} is not a recoding. Write top:90, bottom:1%, top:99% or "
                "rare:20; several are separated by commas."
            )
        codings.append(Coding(form, given))
    forms = [coding.form for coding in codings]
    if not forms or len(set(forms)) < len(forms) or ("rare" in forms and len(forms) > 1):
        raise UsageError(
            f"{setting('recode')} {column}={text}: give top and bottom once each, or rare alone, such as "
            "bottom:1%,top:99%."
        )
    return tuple(codings)


def shorter_formats(form: str) -> list[str]:
    """Return the formats in which a column may write some of its dates: without the fraction, or without the time.

    >>> shorter_formats("%Y-%m-%d %H:%M:%S.%f")
    ['%Y-%m-%d %H:%M:%S', '%Y-%m-%d']
    """
    if "%Y-%m-%d" not in form:
        return []
    whole = form.replace(".%f", "")
    return list(dict.fromkeys(short for short in (whole, re.sub("[ T]%H:%M(:%S)?$", "", whole)) if short != form))


def split_unit(unit: str) -> tuple[str, str]:
    """Return what a number has before and after it; a unit without # stands after the number.

    >>> split_unit("$#"), split_unit("# cm"), split_unit("cm"), split_unit("%")
    (('$', ''), ('', ' cm'), ('', ' cm'), ('', '%'))
    """
    if "#" in unit:
        before, _, after = unit.partition("#")
        return before, after
    return "", f" {unit}" if unit[:1].isalpha() else unit


def check_unit(unit: str, column: str = "") -> None:
    """Refuse a unit that a number, a range or a set could contain for another reason."""
    parts = split_unit(unit)
    if not "".join(parts).strip() or len(unit) > LONGEST_UNIT or any(map(NOT_IN_UNIT.search, parts)) or "#" in parts[1]:
        where = f" of column {column!r}" if column else ""
        raise UsageError(
            f"unit {unit[:LONGEST_UNIT]!r}{where} cannot be used. Write it like cm or %, or with # for the number: $# "
            "or # kg. It has no digits, brackets, commas or quotes."
        )


def split_order(order: Sequence[str] | str) -> tuple[str, ...]:
    """Return the values of an order, which the command line writes as low:mid:high."""
    return tuple(str(value).strip() for value in (order.split(":") if isinstance(order, str) else order))


def check_order(order: Sequence[str], column: str) -> None:
    """Refuse an order of fewer than two values, or that names one twice."""
    values = [value.strip() for value in order]
    if len(values) < 2 or "" in values or len(set(values)) < len(values):
        raise UsageError(
            f"the order of column {column!r} needs at least two values, each once, lowest first. Write it like "
            f"{setting('ordered', f'{column}=low:mid:high')}."
        )


def check_mappings(**mappings: object) -> None:
    """Refuse a value that is not a mapping from column names."""
    for name, value in mappings.items():
        if value is not None and not isinstance(value, Mapping):
            raise UsageError(f"{name}={value!r} is not a mapping. Give a value for each column by its name.")


def column_names(keyword: str, names: Iterable[object]) -> tuple[str, ...]:
    """Return column names as texts; the names of a pandas frame may be integers.

    Args:
        keyword: The keyword that has these names.
        names: The names.

    Raises:
        UsageError: If a single text is given in place of a list: its letters would be taken for names.
    """
    if isinstance(names, str):
        raise UsageError(f"{keyword}={names!r} is a text. Give a list of column names.")
    return tuple(map(str, names))


def check_k(k: object) -> int:
    """Return k as an integer.

    Raises:
        UsageError: If k is not a positive integer.
    """
    try:
        size = 0 if isinstance(k, bool) else operator.index(k)  # type: ignore[arg-type]
    except TypeError:
        size = 0
    if size < 1:
        raise UsageError(f"k={k!r} is not a positive integer. Use k >= 2; 5 is a common start.")
    return size


def check_threads(threads: int | None) -> int:
    """Return a number of threads, by default one for each core.

    Raises:
        UsageError: If it is below 1, or above both 256 and the number of cores.
    """
    cores = os.cpu_count() or 1
    most = max(MOST_THREADS, cores)
    if threads and not 1 <= threads <= most:
        raise UsageError(f"{setting('threads', threads)}: use a number from 1 to {most}. The machine has {cores}.")
    return threads or cores


def _assign(names: tuple[str, ...], roles: Mapping[Role, Iterable[str]]) -> tuple[dict[str, Role], list[str]]:
    known = set(names)
    role_of: dict[str, Role] = {}
    problems = []
    for role, columns in roles.items():
        for name in columns:
            if name not in known:
                problems.append(unknown_column(name, names, role))
            elif name in role_of and role_of[name] is role:
                problems.append(f"column {name!r} is named twice as {role}. Name it once.")
            elif name in role_of:
                problems.append(f"column {name!r} is named as {role_of[name]} and as {role}. Give it one role.")
            else:
                role_of[name] = role
    return role_of, problems


def unknown_column(name: str, names: Sequence[str], where: str = "") -> str:
    """Return the message for a column that the table does not have, with the nearest name if there is one.

    Args:
        name: The column.
        names: The columns of the table.
        where: What names the column, such as a role.
    """
    import difflib

    close_names = difflib.get_close_matches(name, names, n=1)
    hint = (
        f" Did you mean {close_names[0]!r}?"
        if close_names
        else f" The columns are: {', '.join(map(repr, names[:30]))}."
    )
    return f"column {name!r}{f' ({where})' if where else ''} is not in the table.{hint}"
