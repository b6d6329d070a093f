"""What a sheet of a workbook and its shared strings hold besides the cells."""

from __future__ import annotations

import re
import zipfile

from shoal.verification.reading.archive import bare, parse_xml

__all__ = ["SPACE", "sheet_faults", "string_faults"]

# The namespaces and types of links that tools write.
SPACE = (
    r"https?://(?:schemas\.openxmlformats\.org/(?:spreadsheetml/2006/main|markup-compatibility/2006|"
    r"drawingml/2006/(?:main|spreadsheetDrawing)|package/2006/(?:content-types|relationships|metadata/core-properties|"
    r"relationships/metadata/core-properties)|officeDocument/2006/(?:docPropsVTypes|extended-properties|relationships"
    r"(?:/(?:extended-properties|officeDocument|sharedStrings|styles|theme|worksheet|table))?))|"
    r"schemas\.microsoft\.com/office/(?:spreadsheetml|excel|drawing)/20[0-9]{2}(?:/[0-9]{1,2})?/"
    r"(?:ac|main|revision[0-9]{0,2})|"
    r"purl\.org/dc/(?:dcmitype/|elements/1\.1/|terms/)|www\.w3\.org/2001/XMLSchema-instance)"
)
PLACE = r"\$?[A-Z]{1,3}\$?[0-9]{1,7}"
VALUE = re.compile(
    rf"-?[0-9]{{1,9}}(?:\.[0-9]{{1,17}})?|true|false|{PLACE}(?::{PLACE})?|[0-9]{{1,5}}:[0-9]{{1,5}}|preserve|normal|"
    rf"frozen|topLeft|topRight|bottomLeft|bottomRight|portrait|landscape|s|n|b|d|str|inlineStr|x14ac|{SPACE}|"
)
RANGE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})(?::\$?([A-Z]{1,3})\$?([0-9]{1,7}))?")
# The elements that a release has, and those that other tools add without further cells.
RELEASE_TAGS = frozenset({"worksheet", "sheetData", "row", "c", "is", "t"})
OTHER_TAGS = frozenset(
    {
        "dimension",
        "sheetPr",
        "outlinePr",
        "pageSetUpPr",
        "sheetViews",
        "sheetView",
        "selection",
        "pane",
        "sheetFormatPr",
        "cols",
        "col",
        "v",
        "pageMargins",
        "pageSetup",
    }
)
CONTENTS = {
    "f": "formulas",
    "mergeCell": "merged cells",
    "hyperlink": "links",
    "legacyDrawing": "comments or drawings",
    "drawing": "comments or drawings",
    "picture": "images",
    "oleObject": "embedded objects",
    "control": "embedded objects",
    "dataValidation": "data validation",
    "conditionalFormatting": "conditional formats",
    "headerFooter": "headers or footers",
    "oddHeader": "headers or footers",
    "r": "rich text",
    "rPh": "phonetic text",
    "phoneticPr": "phonetic text",
}
# The attributes of the elements that a sheet has many of, and the prefixes of elements.
ATTRIBUTES = {
    "row": {"r", "spans", "s", "ht", "customHeight", "customFormat", "thickTop", "thickBot", "dyDescent", "ph"}
    | {"hidden", "collapsed", "outlineLevel"},
    "c": {"r", "s", "t", "cm", "vm", "ph"},
    "t": {"space"},
}
PREFIXES = {"", "x", "main", "ns0", "x14ac", "mc"}
HIDING = {"hidden", "collapsed", "zeroHeight", "outlineLevel"}
SIZES = {"width", "ht", "defaultRowHeight", "defaultColWidth"}


def sheet_faults(archive: zipfile.ZipFile, part: str, *, strict: bool) -> tuple[list[str], set[int]]:
    """Return what a sheet contains besides its cells, and the shared strings that its cells use.

    Args:
        archive: The workbook.
        part: The sheet.
        strict: Whether it must be as releases are written: nothing but cells with text of their own.
    """
    reader = _Reader(RELEASE_TAGS if strict else RELEASE_TAGS | OTHER_TAGS, strict)
    with archive.open(part) as file:
        parse_xml(file, reader.start, reader.end, reader.text, reader.other)
    return reader.faults(), reader.used


class _Reader:
    """Looks at everything in a sheet."""

    def __init__(self, tags: frozenset[str], strict: bool) -> None:
        self._tags, self._strict = tags, strict
        self.used: set[int] = set()
        self._contents: dict[str, None] = {}
        self._is_odd = self._is_hidden = self._is_outside = self._has_errors = False
        self._range: tuple[int, int, int, int] | None = None
        self._tag = self._kind = ""
        self._children: list[str] = []
        self._value: list[str] = []

    def faults(self) -> list[str]:
        """Return what was found."""
        checks = [
            (self._contents, f"its sheet contains {', '.join(self._contents)}"),
            (self._is_hidden, "it contains hidden rows or columns"),
            (self._has_errors, "it contains cells with errors"),
            (self._is_outside, "it contains cells outside the range that it declares"),
            (self._is_odd, "its sheet contains more than cells"),
        ]
        return [text for fault, text in checks if fault]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """See an element begin."""
        name = bare(tag)
        self._tag = name
        if name not in self._tags:
            if name in CONTENTS:
                self._contents[CONTENTS[name]] = None
            else:
                self._is_odd = True
        if name == "c":
            self._kind, self._children = attributes.get("t", "n"), []
            self._has_errors |= self._kind == "e"
            self._is_odd |= self._strict and self._kind != "inlineStr"
            if self._range is not None and "r" in attributes:
                self._is_outside |= not _is_inside(attributes["r"], self._range)
        elif name in ("is", "v"):
            self._children.append(name)
            self._value = []
        elif name == "dimension":
            self._range = _range(attributes.get("ref", ""))
        self._is_odd |= tag.rpartition(":")[0] not in PREFIXES
        self._is_odd |= name in ATTRIBUTES and not ATTRIBUTES[name].issuperset(map(bare, attributes))
        for key, value in attributes.items():
            self._look_at(name, bare(key), value)

    def _look_at(self, name: str, key: str, value: str) -> None:
        if (key in HIDING and value not in ("0", "false")) or (key in SIZES and not value.strip("0.")):
            self._is_hidden = True
        elif not VALUE.fullmatch(value) and (name, key, value) != ("c", "t", "e"):
            self._is_odd = True
        if self._strict and (name, key) not in {("row", "r"), ("c", "r"), ("c", "t"), ("t", "space")}:
            self._is_odd |= name != "worksheet"

    def end(self, tag: str) -> None:
        """See an element end."""
        name = bare(tag)
        self._tag = ""
        if name == "v" and self._kind == "s":
            self.used.add(int("".join(self._value)))
        elif name == "c":
            self._is_odd |= self._children not in ([], ["is"] if self._kind == "inlineStr" else ["v"])

    def text(self, text: str) -> None:
        """See a piece of text; outside of cells there must be none."""
        if self._tag == "v":
            self._value.append(text)
        elif self._tag not in ("t", "f") and text.strip():
            self._is_odd = True

    def other(self) -> None:
        """See a comment or a processing instruction."""
        self._is_odd = True


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _range(text: str) -> tuple[int, int, int, int] | None:
    match = RANGE.fullmatch(text)
    if match is None:
        return None
    left, top, right, bottom = match.groups()
    return _number(left), int(top), _number(right or left), int(bottom or top)


def _is_inside(place: str, limits: tuple[int, int, int, int]) -> bool:
    cell = _range(place)
    left, top, right, bottom = limits
    return cell is not None and left <= cell[0] <= right and top <= cell[1] <= bottom


def string_faults(archive: zipfile.ZipFile, part: str, used: set[int]) -> list[str]:
    """Return what the shared strings contain besides the plain texts of cells.

    Args:
        archive: The workbook.
        part: The shared strings.
        used: The strings that cells use.
    """
    count = 0
    is_odd = is_rich = False
    inside: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count, is_odd, is_rich
        name = bare(tag)
        inside.append(name)
        count += name == "si"
        is_rich |= name in ("r", "rPh", "phoneticPr")
        is_odd |= name not in ("sst", "si", "t", "r", "rPh", "phoneticPr", "rPr") and "rPr" not in inside
        is_odd |= not all(map(VALUE.fullmatch, attributes.values())) and "rPr" not in inside

    def text(content: str) -> None:
        nonlocal is_odd
        is_odd |= bool(content.strip()) and inside[-1] != "t"

    def other() -> None:
        nonlocal is_odd
        is_odd = True

    def end(_: str) -> None:
        inside.pop()

    with archive.open(part) as file:
        parse_xml(file, start, end, text, other)
    checks = [
        (len(used) != count, "it contains shared strings that no cell uses"),
        (is_rich, "its shared strings contain rich or phonetic text"),
        (is_odd, "its shared strings contain more than the texts of cells"),
    ]
    return [text for fault, text in checks if fault]
