"""Every regular expression of the source matches in linear time, whatever the text.

Each pattern is tried on many hostile texts of two lengths. Where a match takes long enough to be noticed, four times
the text must not take much more than four times as long: a quadratic pattern takes sixteen times as long anywhere.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[2] / "src" / "shoal"
FILES = sorted(SOURCE.rglob("*.py"))
LENGTH = 2_500
NOTICED = 0.01  # seconds
CPU_SECONDS = 60
SIGNS = '1a. -,"[{@?\ue000\ue001\ue003\ue005'
SEARCHES = ("search", "sub", "findall", "finditer", "split")


def literal_patterns(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the patterns that a file passes to the functions of `re`, each with whether it is searched for."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr != "compile":
            pattern = node.args[0]
            if isinstance(pattern, ast.Constant):
                yield str(pattern.value), node.func.attr in SEARCHES


def module_patterns(path: Path) -> Iterator[tuple[re.Pattern[str], bool]]:
    """Yield the compiled patterns of a module, each with whether the module searches for it."""
    text = path.read_text(encoding="utf-8")
    if "re.compile" not in text:
        return
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(parts))
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern) and re.search(rf"^{name} = ", text, re.MULTILINE):
            yield value, re.search(rf"\b{name}\.({'|'.join(SEARCHES)})\(", text) is not None


def hostile_texts(length: int) -> Iterator[str]:
    """Yield long texts: runs of one sign or of two in turn, after a start and before an end that spoils the match."""
    for one, other in itertools.product(SIGNS, repeat=2):
        yield (one + other) * (length // 2) + "!"
    for start in ("1", "www.", "http://", "a@", "[1", "{a:", "1e", "_x", '"', "A", "?a"):
        for sign in SIGNS:
            yield start + sign * length + "!"


TEXTS = list(zip(hostile_texts(LENGTH), hostile_texts(4 * LENGTH), strict=True))


def cost(pattern: re.Pattern[Any], text: str, searched: bool) -> float:
    """Return the CPU seconds that a pattern of text or bytes takes on a text."""
    given = text if isinstance(pattern.pattern, str) else text.encode()
    began = time.process_time()
    pattern.fullmatch(given)
    if searched:
        for _ in pattern.finditer(given):
            pass
    return time.process_time() - began


def attack(path: Path) -> Iterator[str]:
    """Yield the patterns of a file whose cost grows faster than the text."""
    patterns = [*module_patterns(path)]
    patterns += [(re.compile(pattern), searched) for pattern, searched in literal_patterns(path)]
    for pattern, searched in patterns:
        for short, long in TEXTS:
            if cost(pattern, long, searched) < NOTICED:
                continue
            costs = [min(cost(pattern, text, searched) for _ in range(3)) for text in (short, long)]
            if costs[1] > NOTICED and costs[1] > 9 * costs[0]:
                yield pattern.pattern
                break


# The verifier shares no code with the rest; its patterns are tested with it.
WITH_PATTERNS = [
    str(path.relative_to(SOURCE))
    for path in FILES
    if "re." in path.read_text(encoding="utf-8") and path.relative_to(SOURCE).parts[0] != "verification"
]


def test_the_attack_finds_a_quadratic_pattern(tmp_path: Path) -> None:
    """The pattern for numbers of version 0.1 is found."""
    source = tmp_path / "old.py"
    source.write_text('import re\nre.fullmatch(r"[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)", "1")\n')
    assert [*attack(source)]


def test_patterns_are_linear() -> None:
    """B29: no text of a cell, an option or a file makes a pattern hang."""
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE.parents[1])!r})\n"
        "from tests.rules.test_patterns import SOURCE, WITH_PATTERNS, attack\n"
        "for name in WITH_PATTERNS:\n    print(name, *attack(SOURCE / name), sep='\\t', flush=True)\n"
    )

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))

    ended = subprocess.run([sys.executable, "-c", code], preexec_fn=limit, capture_output=True, text=True, check=False)
    lines = ended.stdout.splitlines()
    assert [line for line in lines if "\t" in line] == []
    assert len(lines) == len(WITH_PATTERNS), f"the file after {lines[-1:]} hangs: {ended.stderr[-500:]}"
