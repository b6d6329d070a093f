"""Hierarchies in the job files of the UTD anonymization toolbox (XML)."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Note, file_path, join_problems
from shoal.hierarchy import files
from shoal.hierarchy.base import TOP, Hierarchy, RowsOf, Rule, lacking_text, settle
from shoal.hierarchy.check import Line, build
from shoal.hierarchy.range_label import Span, parse_span
from shoal.tables.values import NUMBER

__all__ = ["IntervalTree", "read_utd_xml", "write_utd_xml"]

DEEPEST = 60
MOST_VALUES = 1_000_000


@dataclass
class Element:
    """An element of a document, with the line on which it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def named(self, *tags: str) -> list[Element]:
        """Return the children with one of these tags."""
        return [child for child in self.children if child.tag in tags]


@dataclass(frozen=True)
class Node:
    """An interval of a tree, and the intervals that it is made of."""

    low: Decimal
    high: Decimal
    holds_low: bool
    holds_high: bool
    line: int = field(compare=False)
    children: tuple[Node, ...] = ()

    @property
    def label(self) -> str:
        """The interval as text: [0, 10)."""
        return f"{'[' if self.holds_low else '('}{self.low}, {self.high}{']' if self.holds_high else ')'}"

    @property
    def codes(self) -> str:
        """The interval as codes of categories, so that nobody takes it for a range of values."""
        low, high = self.low + (not self.holds_low), self.high - (not self.holds_high)
        return f"code {low}" if low == high else f"codes {low}-{high}"

    def way(self, value: Decimal) -> list[Node] | None:
        """Return the nodes that hold a value, lowest first and without the root; None if it has no place."""
        if not Span(self.low, self.high, self.holds_low, self.holds_high).holds(value):
            return None
        for child in self.children:
            below = child.way(value)
            if below is not None:
                return [*below, child]
        return None if self.children else []

    def depth(self) -> int:
        """Return the number of nodes below the root on the longest way."""
        return max((child.depth() + 1 for child in self.children), default=0)


@dataclass(frozen=True)
class IntervalTree:
    """A tree of intervals over numbers: a rule for the values of a numeric column."""

    root: Node
    source: str = ""

    def over(
        self,
        texts: Sequence[str],
        *,
        column: str = "",
        unknown: str = "error",
        missing: Collection[str] = (),
        rows_of: RowsOf | None = None,
    ) -> Hierarchy:
        """Return the hierarchy over exactly these values; the arguments are those of `Hierarchy.bind`."""
        height = self.root.depth() + 1

        def row(text: str) -> tuple[str, ...] | None:
            way = self.root.way(Decimal(text)) if NUMBER.fullmatch(text) else None
            if way is None:
                return None
            labels = tuple(node.label for node in way)
            return (*(text,) * (height - 1 - len(labels)), *labels, TOP)

        def lacking(which: Sequence[int]) -> str:
            what = f"no number inside the intervals, which cover {self.root.label}"
            return lacking_text(column, what, "Widen the intervals", texts, which, rows_of)

        rows = settle(texts, row, lacking, height=height, unknown=unknown, missing=missing)
        return Hierarchy(rows, source=self.source)

    def whole_numbers(self) -> list[str]:
        """Return every whole number that the tree covers, as text."""
        low, high = int(self.root.low), int(self.root.high)
        if high - low > MOST_VALUES:
            raise InputError(f"{self.source}: {self.root.label} holds too many whole numbers to list.")
        return [str(n) for n in range(low, high + 1) if self.root.way(Decimal(n)) is not None]


def read_utd_xml(path: str | os.PathLike[str]) -> dict[str, Rule]:
    """Read the hierarchies of a job file, by attribute.

    An attribute with a map of categories to codes becomes a `Hierarchy` over the categories; one without becomes an
    `IntervalTree`, a rule over numbers. The root is "*".
    """
    path = Path(path)
    document = _parse(files.read_bytes(path), path)
    found: dict[str, Rule] = {}
    problems: list[str] = []
    attributes = [att for qid in document.named("qid") for att in qid.named("att")]
    if not attributes:
        raise InputError(f"{path}: no attributes. A job file has <qid> with an <att> for each quasi-identifier.")
    for att in attributes:
        name = att.attributes.get("name", "").strip()
        if not name or name in found:
            problems.append(f"{path}, line {att.line}: the attribute has no name, or that of an earlier one.")
            continue
        try:
            found[name] = _attribute(att, f"{path} ({name})")
        except InputError as error:
            problems += error.text.splitlines()
    if problems:
        raise InputError(join_problems(problems))
    return found


def _attribute(att: Element, source: str) -> Rule:
    trees, maps = att.named("vgh"), att.named("map")
    if len(trees) != 1 or len(maps) > 1:
        raise InputError(f"{source}, line {att.line}: give the attribute one <vgh>, and at most one <map>.")
    problems: list[str] = []
    root = _node(trees[0], source, problems)
    codes: dict[str, tuple[int, str]] = {}
    for entry in maps[0].named("entry") if maps else []:
        code = entry.attributes.get("int", "").strip()
        if not code.lstrip("-").isdigit() or "cat" not in entry.attributes:
            problems.append(f"{source}, line {entry.line}: an entry needs cat and a whole number as int.")
        elif code in codes:
            problems.append(f"{source}, line {entry.line}: the code stands on line {codes[code][0]} too.")
        else:
            codes[code] = (entry.line, entry.attributes["cat"])
    if problems or root is None:
        raise InputError(join_problems(problems))
    if not maps:
        return IntervalTree(root, source)
    lines = []
    for code, (number, category) in codes.items():
        way = root.way(Decimal(code))
        if way is None:
            problems.append(f"{source}, line {number}: the code has no place in the tree.")
        else:
            lines.append(Line(number, category, (*(node.codes for node in way), TOP)))
    if problems:
        raise InputError(join_problems(problems))
    text = "the labels are ranges of the job file's codes, which readers of the release cannot resolve"
    note = Note(file_path(source), text, "convert the hierarchy to CSV and rename them")
    return build(lines, source=source, notes=[note] if root.children else [])


def _node(element: Element, source: str, problems: list[str]) -> Node | None:
    """Return the tree below an element; what is wrong with it is added to the problems."""
    text = element.attributes.get("value", "").strip()
    single = text.removeprefix("[").removesuffix("]")
    span = parse_span(f"[{single}, {single}]" if NUMBER.fullmatch(single) else text)
    children = [_node(child, source, problems) for child in element.named("node")]
    if span is None or not isinstance(span.low, Decimal) or not isinstance(span.high, Decimal):
        problems.append(f"{source}, line {element.line}: the value is not an interval such as [0:10) or [0:7].")
        return None
    if span.low > span.high or (span.low == span.high and not (span.holds_low and span.holds_high)):
        problems.append(f"{source}, line {element.line}: the bounds {span.low} and {span.high} are reversed or equal.")
        return None
    made = tuple(child for child in children if child is not None)
    node = Node(span.low, span.high, span.holds_low, span.holds_high, element.line, made)
    if made and len(made) == len(children):
        problems += [f"{source}, line {line}: {text}" for line, text in _misfits(node)]
    return node


def _misfits(node: Node) -> Iterator[tuple[int, str]]:
    """Yield where the children of a node do not make it up: gaps, overlaps, ends that differ."""
    first, last = node.children[0], node.children[-1]
    cure = "Let the nodes below an interval make it up without gap or overlap, in rising order"
    if (first.low, first.holds_low) != (node.low, node.holds_low):
        yield first.line, f"begins at {first.low}, but the interval above begins at {node.low}. {cure}."
    if (last.high, last.holds_high) != (node.high, node.holds_high):
        yield last.line, f"ends at {last.high}, but the interval above ends at {node.high}. {cure}."
    for left, right in pairwise(node.children):
        if left.holds_high and right.holds_low:  # closed on both sides: of whole numbers
            fits, gap = right.low == left.high + 1, right.low > left.high
        else:
            fits = right.low == left.high and (left.holds_high or right.holds_low)
            gap = right.low >= left.high
        if not fits:
            kind = "a gap" if gap else "an overlap"
            yield right.line, f"{kind}: the one before ends at {left.high}, this one begins at {right.low}. {cure}."


def _parse(raw: bytes, path: Path) -> Element:
    """Return the root element. Without a document type there are no entities, so nothing is fetched or blown up."""
    from xml.parsers import expat

    parser = expat.ParserCreate()
    top = Element("", {}, 0)
    ways = [top]

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if len(ways) > DEEPEST:
            raise InputError(f"{path}, line {parser.CurrentLineNumber}: elements more than {DEEPEST} deep.")
        element = Element(tag, attributes, parser.CurrentLineNumber)
        ways[-1].children.append(element)
        ways.append(element)

    def refuse(*_: Any) -> None:
        raise InputError(f"{path}, line {parser.CurrentLineNumber}: a DOCTYPE. Job files need none; remove it.")

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda tag: ways.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(raw, True)
    except (expat.ExpatError, ValueError) as error:
        line, reason = getattr(error, "lineno", 1), expat.ErrorString(getattr(error, "code", 0)) or "not XML"
        raise InputError(f"{path}, line {line}: {reason}. Mend the XML.") from None
    return top.children[0]


def write_utd_xml(hierarchies: Mapping[str, Hierarchy], path: str | os.PathLike[str]) -> None:
    """Write hierarchies as the <qid> part of a job file, whole or not at all.

    The form knows intervals of codes alone: the tree is kept, the names of the labels are not.
    """
    from xml.sax.saxutils import quoteattr

    lines = ['<?xml version="1.0"?>', "<config>", "<qid>"]
    for index, (name, hierarchy) in enumerate(hierarchies.items()):
        values = _in_tree_order(hierarchy)
        lines += [f'<att index="{index}" name={quoteattr(name)}>', "<map>"]
        lines += [f'<entry cat={quoteattr(value)} int="{code}"/>' for code, value in enumerate(values)]
        lines += ["</map>", f'<vgh value="[0:{len(values) - 1}]">']
        lines += _write_nodes(hierarchy, values, 0, hierarchy.height - 1)
        lines += ["</vgh>", "</att>"]
    files.write_text(Path(path), "\n".join([*lines, "</qid>", "</config>", ""]))


def _in_tree_order(hierarchy: Hierarchy) -> list[str]:
    """Return the values so that those below one label stand together."""
    ranks = [{label: i for i, label in enumerate(hierarchy.labels(level))} for level in range(hierarchy.height + 1)]
    levels = range(hierarchy.height, -1, -1)
    return sorted(hierarchy.rows, key=lambda value: [ranks[level][hierarchy.label(value, level)] for level in levels])


def _write_nodes(hierarchy: Hierarchy, values: Sequence[str], start: int, level: int) -> Iterator[str]:
    """Yield the nodes of a level and those below; a label that only repeats the one above is no node of its own."""
    if level == 0:
        return
    begin = 0
    for end in range(1, len(values) + 1):
        label = hierarchy.label(values[begin], level)
        if end < len(values) and hierarchy.label(values[end], level) == label:
            continue
        if label == TOP:  # straight below the root, each value by itself
            yield from (f'<node value="[{code}:{code}]"/>' for code in range(start + begin, start + end))
        elif label == hierarchy.label(values[begin], level + 1):
            yield from _write_nodes(hierarchy, values[begin:end], start + begin, level - 1)
        else:
            yield f'<node value="[{start + begin}:{start + end - 1}]">'
            yield from _write_nodes(hierarchy, values[begin:end], start + begin, level - 1)
            yield "</node>"
        begin = end
