"""Write a profile as a commented shoal.toml: the same bytes for the same table, and no cell but missing markers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from shoal.profile.survey import PROPOSED_K, Profile, ProfiledColumn, Warned
from shoal.schema import Kind
from shoal.settings.toml import key, string
from shoal.tables.targets.text_file import check_text_target, write_text

__all__ = ["check_target", "document", "write_document"]

WIDTH = 110
HEADER = """\
Made by shoal init: a proposal, to be read by somebody who knows the table.

role = "identifier"   names a person or is as good as a name: never released
role = "qi"           others may know it (quasi-identifier): recoded until every row has its look-alikes
role = "sensitive"    must not be learned about a person: released as it is
role = "insensitive"  neither known nor harmful: released as it is

Then: shoal anonymize DATA.csv -o OUT.csv --config shoal.toml
The comments hold counts and shares; no cell of the table stands here, but for the missing markers.
"""


def document(profile: Profile) -> str:
    """Return the text of the shoal.toml."""
    lines = [*_comment(HEADER.splitlines()), ""]
    lines += [
        "# Rows that must look alike at least. Larger hides better and costs more meaning.",
        f"k = {PROPOSED_K}",
        "",
    ]
    lines += _comment(
        " ".join(w.text.sentences()).strip()
        for w in profile.warnings
        if not w.columns or w.about in ("header", "roles")
    )
    if profile.missing:
        lines += _comment(
            ["CHECK: texts that seem to stand for a missing value, in every column, beside the empty cell."]
        )
        lines += [f"missing = [{', '.join(map(string, profile.missing))}]", ""]
    if profile.dialect is not None:
        lines += ["[file]", f"delimiter = {string(profile.dialect.delimiter)}"]
        lines += [f"encoding = {string(profile.dialect.encoding)}"]
        lines += [f"header = {'true' if profile.dialect.header else 'false'}", ""]
    for column in profile.columns:
        warnings = [w for w in profile.warnings if column.name in w.columns and w.about not in ("header", "roles")]
        notes = list(map(_sentences, warnings))
        lines += [*_column(column, notes), ""]
    return "\n".join(lines)


def _column(column: ProfiledColumn, notes: Iterable[str]) -> Iterator[str]:
    facts, proposal = column.facts, column.proposal
    counted = (
        f"{facts.distinct:,} distinct values; {facts.missing_share:.1%} of the cells missing; {facts.unique_share:.1%} "
        "of the others stand in one row alone."
    )
    yield from _comment([f"{proposal.reason[0].upper()}{proposal.reason[1:]}.", counted])
    yield from _comment(f"CHECK: {note}" for note in notes)
    yield f"[columns.{key(column.name)}]"
    yield f"role = {string(proposal.role)}"
    yield f"kind = {string(proposal.kind)}"
    if proposal.kind is Kind.DATE and facts.date_format is not None:
        yield f"format = {string(facts.date_format)}"


def _sentences(warning: Warned) -> str:
    return " ".join(warning.text.sentences()).strip()


def _comment(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        if len(text) <= WIDTH:
            yield f"# {text}".rstrip()
            continue
        for line in textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False):
            yield f"# {line}"


def check_target(path: Path, source: Path, *, force: bool) -> None:
    """Refuse a path that must not be written, before the work begins."""
    check_text_target(path, suffix=".toml", what="the proposal is a TOML file", source=source, force=force)


def write_document(profile: Profile, path: Path, source: Path, *, force: bool = False) -> None:
    """Write the shoal.toml whole or not at all; one that exists is replaced only with force."""
    check_target(path, source, force=force)
    write_text(path, document(profile))
