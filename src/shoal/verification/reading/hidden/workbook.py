"""What a workbook holds besides the cells of one sheet."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Collection

from shoal.verification.reading.archive import bare, opened_archive, parse_xml
from shoal.verification.reading.hidden.canonical import is_plain_sheet
from shoal.verification.reading.hidden.sheet import SPACE, sheet_faults, string_faults
from shoal.verification.reading.hidden.zip_layout import zip_faults
from shoal.verification.reading.limits import PathName

__all__ = ["workbook_faults"]

SHEET, BOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"
STRINGS, STYLES, THEME = "xl/sharedStrings.xml", "xl/styles.xml", "xl/theme/theme1.xml"
CORE, APPLICATION = "docProps/core.xml", "docProps/app.xml"
TYPES, ROOT_LINKS, BOOK_LINKS = "[Content_Types].xml", "_rels/.rels", "xl/_rels/workbook.xml.rels"
# The parts that a release has, and those that other tools cannot leave out.
RELEASE_PARTS = frozenset({TYPES, ROOT_LINKS, BOOK_LINKS, BOOK, SHEET})
OTHER_PARTS = frozenset({CORE, APPLICATION, STRINGS, STYLES, THEME})
# What the name of any other part says about its content.
CONTENTS = {
    "document properties": re.compile(r"docProps/(?:core|app)", re.IGNORECASE),
    "styles": re.compile(r"styles|theme", re.IGNORECASE),
    "comments": re.compile(r"comments|threaded|persons/", re.IGNORECASE),
    "custom properties": re.compile(r"docProps/custom|customXml", re.IGNORECASE),
    "images, drawings or embedded objects": re.compile(r"media/|drawings/|embeddings/|activeX|charts/", re.IGNORECASE),
    "macros": re.compile(r"vba", re.IGNORECASE),
    "copies of cells of other workbooks": re.compile(r"externalLinks/", re.IGNORECASE),
    "pivot tables with copies of cells": re.compile(r"pivot", re.IGNORECASE),
    "further sheets": re.compile(r"worksheets/|chartsheets/|dialogsheets/|macrosheets/", re.IGNORECASE),
}
THEMES = frozenset(
    {  # SHA-256 of the themes of xlsxwriter and openpyxl
        "75104b2164c20dab2578383d827deac3a7eec077c3f7c99a4099a551fdebb134",
        "d15e8ebf78ef7b9720839d7ae8fdc81a7df5bc24706d8e137df61a5683c358d9",
    }
)
# SHA-256 of the parts of a release besides its sheet; some differ if columns keep their type.
PLAIN_PARTS = {
    TYPES: "03bc8dee110ee3c528e78bb95f8600474638f325f23a94570bf4a30f1bd5b4f6",
    ROOT_LINKS: "9f96bb683e71c45171c7ae310bf6c37fb5a834bb9738497ac7084c42ac9c2d9a",
    BOOK: "9f50285895aed5e7a49cac3bf3726d99ca405ded4eb675349f84a95a57d7d3d6",
    BOOK_LINKS: "1383f7ed84526efdb36373e9ee3ea5d69e68664c893d998812243af05dff88f5",
}
STYLED_PARTS = PLAIN_PARTS | {
    TYPES: "b34a1c9f5b5c0f54f1274272a429578b417e119fdc48bfcd96f25f93f301458f",
    BOOK_LINKS: "1b2fc82d18a622c89e94093d1d5a256857ac9641b8ee51a8290ea82796b1060f",
    STYLES: "4cf3f9ec1967ea04c9a1a6327c9d437dd40dacb49d0136c198053ef2fa6cbf2d",
}

NUMBER = r"-?[0-9]{1,9}(?:\.[0-9]{1,17})?"
KNOWN_PARTS = "|".join(map(re.escape, sorted(RELEASE_PARTS | OTHER_PARTS)))
SHORT_PARTS = r"worksheets/sheet1\.xml|styles\.xml|theme/theme1\.xml|sharedStrings\.xml"
LINKS = re.compile(rf"rId[0-9]{{1,4}}|/?(?:{KNOWN_PARTS})|(?:/xl/)?(?:{SHORT_PARTS})|{SPACE}|")
CONTENT_TYPES = re.compile(
    rf"/(?:{KNOWN_PARTS})|rels|xml|png|jpe?g|bin|vml|image/(?:png|jpe?g)|application/(?:xml|"
    r"vnd\.openxmlformats-package\.(?:core-properties|relationships)\+xml|vnd\.openxmlformats-officedocument\."
    r"(?:extended-properties|theme|vmlDrawing|spreadsheetml\.(?:sheet\.main|worksheet|sharedStrings|styles|table))(?:\+xml)?)|"
    rf"{SPACE}|",
    re.IGNORECASE,
)
BOOK_VALUES = re.compile(
    rf"{NUMBER}|true|false|xl|Calc|visible|hidden|veryHidden|rId[0-9]{{1,4}}|ThisWorkbook|{SPACE}|"
)
STYLE_VALUES = re.compile(
    rf"{NUMBER}|[0-9A-F]{{6,8}}|true|false|none|gray125|solid|minor|major|thin|medium|center|left|right|top|bottom|"
    rf"general|fill|Calibri|Arial|Aptos Narrow|Cambria|Liberation Sans|Normal|TableStyleMedium[0-9]|TableStyleLight16|"
    rf"PivotStyleLight16|PivotStyleMedium4|{SPACE}|"
)
FORMAT = re.compile(
    r"(?:General|[dmyhs0#?.,%/:;@ ()_+-]|\\[ ./:-]|E\+|AM/PM|\[(?:h|hh|m|mm|s|ss|Red|\$-[0-9A-Fa-f]{1,6})\]){1,64}",
    re.IGNORECASE,
)
PROPERTIES = re.compile(
    rf"{NUMBER}|true|false|Microsoft Excel|Microsoft Macintosh Excel|Worksheets|variant|lpstr|openpyxl|"
    r"Microsoft Excel Compatible / Openpyxl [0-9.]{1,12}|"
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}Z?|dcterms:W3CDTF|{SPACE}|"
)
SPELLINGS = "its parts contain blanks or spellings that a release does not have"
BOOK_TAGS = {
    "workbook", "fileVersion", "workbookPr", "workbookProtection", "bookViews", "workbookView", "sheets", "sheet",
    "definedNames", "calcPr",
}  # fmt: skip
FREE_NAMES = {("sheet", "name"), ("definedName", "name")}  # checked otherwise


def workbook_faults(path: PathName, *, strict: bool) -> list[str]:
    """Return what a workbook contains besides the cells of one visible sheet.

    Args:
        path: The file.
        strict: Whether it must be as releases are written: no properties, and no styles but those of typed columns.

    Raises:
        UnreadableError: It cannot be read as a workbook, or expands more than any table does.
    """
    with open(path, "rb") as file, opened_archive(path) as archive:
        faults = zip_faults(file, archive, strict=strict)
        names = set(archive.namelist())
        extra = names - RELEASE_PARTS - ({STYLES} if strict else OTHER_PARTS)
        kinds = [kind for kind, form in CONTENTS.items() if any(form.search(name) for name in extra)]
        if extra:
            listed = f": {', '.join(kinds)}" if kinds else ""
            faults.append(f"it contains parts that a table does not need{listed}")
        if SHEET not in names:
            return [*faults, "its sheet is not where a release has it"]
        book = _Book(archive)
        faults += book.faults(strict)
        faults += _plumbing_faults(archive, names - extra, {sheet["name"] for sheet in book.sheets})
        styled = STYLES in names
        if strict and not all(
            hashlib.sha256(archive.read(part)).hexdigest() == digest
            for part, digest in (STYLED_PARTS if styled else PLAIN_PARTS).items()
            if part in names
        ):
            faults.append(SPELLINGS)
        cells, used = _cells(archive, strict, styled)
        faults += [text for text in cells if text not in faults]
        if STRINGS in names:
            faults += string_faults(archive, STRINGS, used)
    return faults


def _cells(archive: zipfile.ZipFile, strict: bool, styled: bool) -> tuple[list[str], set[int]]:
    """Return what the sheet contains besides its cells, and the shared strings that they use."""
    if strict:
        with archive.open(SHEET) as file:
            if is_plain_sheet(file, typed=styled):
                return [], set()
    faults, used = sheet_faults(archive, SHEET, strict=strict)
    return faults + [SPELLINGS] * strict, used


class _Book:
    """Reads what a workbook says about its sheets."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.sheets: list[dict[str, str]] = []
        self._is_odd = self._has_names = False
        with archive.open(BOOK) as file:
            parse_xml(file, self._start, lambda _: None, self._text, self._other)

    def faults(self, strict: bool) -> list[str]:
        """Return what it says besides the name of one visible sheet."""
        is_other = strict and self.sheets != [{"name": "release", "sheetId": "1", "id": "rId1"}]
        checks = [
            (len(self.sheets) > 1, "it contains further sheets"),
            (any(sheet.get("state", "visible") != "visible" for sheet in self.sheets), "it contains a hidden sheet"),
            (self._has_names, "it contains defined names"),
            (self._is_odd or is_other, "it describes more than one plain sheet"),
        ]
        return [text for fault, text in checks if fault]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = bare(tag)
        self._has_names |= name == "definedName"
        self._is_odd |= name not in BOOK_TAGS and name != "definedName"
        if name == "sheet":
            self.sheets.append({bare(key): value for key, value in attributes.items()})
        values = [value for key, value in attributes.items() if (name, bare(key)) not in FREE_NAMES]
        self._is_odd |= not all(map(BOOK_VALUES.fullmatch, values))

    def _text(self, text: str) -> None:
        self._is_odd |= bool(text.strip()) and not self._has_names

    def _other(self) -> None:
        self._is_odd = True


def _plumbing_faults(archive: zipfile.ZipFile, names: Collection[str], sheet_names: Collection[str]) -> list[str]:
    """Check the parts that name other parts, styles and properties: they may contain only known words."""
    faults = []
    links = "it links to something else than its own parts"
    author = "it reveals who made it, or where"
    styles = "its styles or number formats contain text"
    for part, form, text in (
        (TYPES, CONTENT_TYPES, links),
        (ROOT_LINKS, LINKS, links),
        (BOOK_LINKS, LINKS, links),
        (CORE, PROPERTIES, author),
        (APPLICATION, PROPERTIES, author),
        (STYLES, STYLE_VALUES, styles),
    ):
        if part in names and _is_odd(archive, part, form, sheet_names if part == APPLICATION else ()):
            faults.append(text)
    if THEME in names and hashlib.sha256(archive.read(THEME)).hexdigest() not in THEMES:
        faults.append(styles)
    return list(dict.fromkeys(faults))


def _is_odd(archive: zipfile.ZipFile, part: str, form: re.Pattern[str], words: Collection[str] = ()) -> bool:
    """Return whether a part contains a value, a text or a comment that is not one of the known words."""
    is_odd = False
    texts: list[str] = []

    def check(text: str) -> None:
        nonlocal is_odd
        is_odd |= not form.fullmatch(text) and text not in words

    def start(tag: str, attributes: dict[str, str]) -> None:
        texts.clear()
        for name, value in attributes.items():
            if bare(name) == "formatCode":
                check("" if FORMAT.fullmatch(value) else "?")
            else:
                check(value)

    def end(_: str) -> None:
        check("".join(texts).strip())
        texts.clear()

    with archive.open(part) as file:
        parse_xml(file, start, end, texts.append, lambda: check("?"))
    return is_odd
