"""Hierarchies in the XML job files of the UTD Anonymization Toolbox."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Note, file_path, join_problems
from shoal.hierarchy.base import TOP, Hierarchy, HierarchyRule, LabelRule, Misfit
from shoal.hierarchy.check import Line, build
from shoal.hierarchy.range_label import Span, parse_span
from shoal.tables.csv import read_small
from shoal.tables.targets.text_file import write_text
from shoal.tables.values import NUMBER

__all__ = ["IntervalTree", "read_utd_xml", "write_utd_xml"]

DEEPEST = 60
MOST_VALUES = 1_000_000
CODE = re.compile("-?[0-9]{1,400}")
CODES = "the labels are ranges of the job file's codes, which mean nothing to a reader"
CODES_CURE = "convert the hierarchy to CSV and rename them"


@dataclass
class Element:
    """An element of an XML document and the line where it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def named(self, *tags: str) -> list[Element]:
        """Return the children with one of these tags."""
        return [child for child in self.children if child.tag in tags]


@dataclass(frozen=True)
class Node:
    """An interval of a tree and the intervals that it consists of."""

    low: Decimal
    high: Decimal
    includes_low: bool
    includes_high: bool
    line: int = field(compare=False)
    children: tuple[Node, ...] = ()

    @property
    def label(self) -> str:
        """The interval as text: [0, 10)."""
        return f"{'[' if self.includes_low else '('}{self.low}, {self.high}{']' if self.includes_high else ')'}"

    @property
    def codes(self) -> str:
        """The interval as codes of categories, worded so that it cannot be mistaken for a range of values."""
        low, high = self.low + (not self.includes_low), self.high - (not self.includes_high)
        return f"code {low}" if low == high else f"codes {low}-{high}"

    def path(self, value: Decimal) -> list[Node] | None:
        """Return the nodes that contain a value, lowest first, without the root; None if the tree does not cover it."""
        if not Span(self.low, self.high, self.includes_low, self.includes_high).contains(value):
            return None
        for child in self.children:
            nodes_below = child.path(value)
            if nodes_below is not None:
                return [*nodes_below, child]
        return None if self.children else []

    def depth(self) -> int:
        """Return the number of nodes below the root on the longest path."""
        return max((child.depth() + 1 for child in self.children), default=0)


@dataclass(frozen=True)
class IntervalTree(LabelRule):
    """A tree of intervals over numbers: a rule for the values of a numeric column.

    Attributes:
        root: The interval that contains all others.
        source: Where the tree comes from, for messages.
    """

    root: Node
    source: str = ""

    @property
    def _source_name(self) -> str:
        return self.source

    def _height_over(self, texts: Sequence[str]) -> int:
        return self.root.depth() + 1

    def _labels_of(self, text: str, height: int) -> tuple[str, ...] | None:
        path = self.root.path(Decimal(text)) if NUMBER.fullmatch(text) else None
        if path is None:
            return None
        labels = tuple(node.label for node in path)
        return (*(text,) * (height - 1 - len(labels)), *labels, TOP)

    def _misfit(self, texts: Sequence[str], positions: Sequence[int]) -> Misfit:
        reason = f"not a number inside the intervals, which cover {self.root.label}"
        return Misfit(positions, reason, "Widen the intervals")

    def whole_numbers(self) -> list[str]:
        """Return every integer that the tree covers, as text.

        Raises:
            InputError: The tree covers too many integers to list.
        """
        low, high = int(self.root.low), int(self.root.high)
        if high - low > MOST_VALUES:
            raise InputError(
                f"{self.source}: {self.root.label} contains too many integers to list; at most {MOST_VALUES:,} are "
                "possible."
            )
        return [str(n) for n in range(low, high + 1) if self.root.path(Decimal(n)) is not None]


def read_utd_xml(path: str | os.PathLike[str]) -> dict[str, HierarchyRule]:
    """Read the hierarchies of a job file.

    Args:
        path: The file.

    Returns:
        By attribute, a `Hierarchy` over the categories if the attribute maps categories to codes, else an
        `IntervalTree`. The root of the tree becomes "*".

    Raises:
        InputError: The file is malformed; the message gives the lines of all problems.
        FileError: The file cannot be read.
    """
    path = Path(path)
    document = _parse(read_small(path), path)
    rules: dict[str, HierarchyRule] = {}
    problems: list[str] = []
    attributes = [att for qid in document.named("qid") for att in qid.named("att")]
    if not attributes:
        raise InputError(f"{path}: there are no attributes. A job file has <qid> with an <att> for each of them.")
    for att in attributes:
        name = att.attributes.get("name", "").strip()
        if not name or name in rules:
            problem = "has the same name as an earlier one" if name else "has no name"
            problems.append(f"{path}, line {att.line}: the attribute {problem}. Give each a name of its own.")
            continue
        try:
            rules[name] = _attribute(att, f"{path} ({name})")
        except InputError as error:
            problems += error.text.splitlines()
    if problems:
        raise InputError(join_problems(problems))
    return rules


def _attribute(att: Element, source: str) -> HierarchyRule:
    trees, maps = att.named("vgh"), att.named("map")
    if len(trees) != 1 or len(maps) > 1:
        raise InputError(f"{source}, line {att.line}: the attribute needs exactly one <vgh> and at most one <map>.")
    problems: list[str] = []
    root = _node(trees[0], source, problems)
    codes: dict[str, tuple[int, str]] = {}
    for entry in maps[0].named("entry") if maps else []:
        code, place = entry.attributes.get("int", "").strip(), f"{source}, line {entry.line}"
        if not CODE.fullmatch(code) or "cat" not in entry.attributes:
            problems.append(f"{place}: an <entry> needs cat, and an integer as int.")
        elif code in codes:
            problems.append(f"{place}: the code is already on line {codes[code][0]}. Use each code once.")
        else:
            codes[code] = entry.line, entry.attributes["cat"]
    if problems or root is None:
        raise InputError(join_problems(problems))
    if not maps:
        return IntervalTree(root, source)
    lines = []
    for code, (number, category) in codes.items():
        path = root.path(Decimal(code))
        if path is None:
            problems.append(f"{source}, line {number}: the code is not in the tree. Widen the intervals of <vgh>.")
        else:
            lines.append(Line(number, category, (*(node.codes for node in path), TOP)))
    if problems:
        raise InputError(join_problems(problems))
    notes = [Note(file_path(source), CODES, CODES_CURE)] if root.children else []
    return build(lines, source=source, notes=notes)


def _node(element: Element, source: str, problems: list[str]) -> Node | None:
    """Return the tree below an element, and add what is wrong with it to the problems."""
    text = element.attributes.get("value", "").strip()
    single = text.removeprefix("[").removesuffix("]")
    span = parse_span(f"[{single}, {single}]" if NUMBER.fullmatch(single) else text)
    children = [_node(child, source, problems) for child in element.named("node")]
    if span is None or not isinstance(span.low, Decimal) or not isinstance(span.high, Decimal):
        problems.append(f"{source}, line {element.line}: the value is not an interval. Write it like [0:10) or [0:7].")
        return None
    if span.low > span.high or (span.low == span.high and not (span.includes_low and span.includes_high)):
        place = f"{source}, line {element.line}"
        problems.append(
            f"{place}: the bounds {span.low} and {span.high} are reversed or equal. Put the lower one first."
        )
        return None
    valid = tuple(child for child in children if child is not None)
    node = Node(span.low, span.high, span.includes_low, span.includes_high, element.line, valid)
    if valid and len(valid) == len(children):
        problems += [f"{source}, line {line}: {text}" for line, text in _misfits(node)]
    return node


def _misfits(node: Node) -> Iterator[tuple[int, str]]:
    """Yield the lines and problems where the children of a node do not cover it: gaps, overlaps, other ends."""
    first, last = node.children[0], node.children[-1]
    cure = "Cover each interval by the nodes below it, in rising order, without gap or overlap"
    if (first.low, first.includes_low) != (node.low, node.includes_low):
        yield first.line, f"the node begins at {first.low}, but the interval above begins at {node.low}. {cure}."
    if (last.high, last.includes_high) != (node.high, node.includes_high):
        yield last.line, f"the node ends at {last.high}, but the interval above ends at {node.high}. {cure}."
    for left, right in pairwise(node.children):
        if left.includes_high and right.includes_low:  # closed on both sides: integers
            fits, gap = right.low == left.high + 1, right.low > left.high
        else:
            fits = right.low == left.high and (left.includes_high or right.includes_low)
            gap = right.low >= left.high
        if not fits:
            kind = "gap" if gap else "overlap"
            yield right.line, f"{kind}: the node before ends at {left.high}, this one begins at {right.low}. {cure}."


def _parse(raw: bytes, path: Path) -> Element:
    """Return the root element. A DOCTYPE is refused, so no entity can fetch a file or expand without limit."""
    from xml.parsers import expat

    parser = expat.ParserCreate()
    top = Element("", {}, 0)
    open_elements = [top]

    def begin(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > DEEPEST:
            raise InputError(f"{path}, line {parser.CurrentLineNumber}: elements are nested more than {DEEPEST} deep.")
        element = Element(tag, attributes, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def refuse(*_: Any) -> None:
        raise InputError(f"{path}, line {parser.CurrentLineNumber}: the file has a DOCTYPE. Remove it.")

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(raw, True)
    except (expat.ExpatError, ValueError) as error:
        line, reason = getattr(error, "lineno", 1), expat.ErrorString(getattr(error, "code", 0)) or "not XML"
        raise InputError(f"{path}, line {line}: {reason}. Correct the XML.") from None
    return top.children[0]


def write_utd_xml(hierarchies: Mapping[str, Hierarchy], path: str | os.PathLike[str]) -> None:
    """Write hierarchies as the <qid> part of a job file.

    The format has only intervals of codes: it keeps the trees, but not the names of the labels.

    Args:
        hierarchies: The hierarchies by attribute.
        path: The file. An existing one is replaced, completely or not at all.

    Raises:
        FileError: The file cannot be written.
    """
    write_text(Path(path), utd_text(hierarchies))


def utd_text(hierarchies: Mapping[str, Hierarchy]) -> str:
    """Return the content of the job file of hierarchies."""
    from xml.sax.saxutils import quoteattr

    lines = ['<?xml version="1.0"?>', "<config>", "<qid>"]
    for index, (name, hierarchy) in enumerate(hierarchies.items()):
        values = _in_tree_order(hierarchy)
        lines += [f'<att index="{index}" name={quoteattr(name)}>', "<map>"]
        lines += [f'<entry cat={quoteattr(value)} int="{code}"/>' for code, value in enumerate(values)]
        lines += ["</map>", f'<vgh value="[0:{len(values) - 1}]">']
        lines += _write_nodes(hierarchy, values, 0, hierarchy.height - 1)
        lines += ["</vgh>", "</att>"]
    return "\n".join([*lines, "</qid>", "</config>", ""])


def _in_tree_order(hierarchy: Hierarchy) -> list[str]:
    """Return the values in an order that keeps those below one label together."""
    ranks = [{label: i for i, label in enumerate(hierarchy.labels(level))} for level in range(hierarchy.height + 1)]
    levels = range(hierarchy.height, -1, -1)
    return sorted(hierarchy.rows, key=lambda value: [ranks[level][hierarchy.label(value, level)] for level in levels])


def _write_nodes(hierarchy: Hierarchy, values: Sequence[str], start: int, level: int) -> Iterator[str]:
    """Yield the nodes of a level and those below it; a label that repeats the one above gets no node."""
    if level == 0:
        return
    begin = 0
    for end in range(1, len(values) + 1):
        label = hierarchy.label(values[begin], level)
        if end < len(values) and hierarchy.label(values[end], level) == label:
            continue
        if label == TOP:  # directly below the root: each value on its own
            yield from (f'<node value="[{code}:{code}]"/>' for code in range(start + begin, start + end))
        elif label == hierarchy.label(values[begin], level + 1):
            yield from _write_nodes(hierarchy, values[begin:end], start + begin, level - 1)
        else:
            yield f'<node value="[{start + begin}:{start + end - 1}]">'
            yield from _write_nodes(hierarchy, values[begin:end], start + begin, level - 1)
            yield "</node>"
        begin = end
