"""The questions of `shoal init -i`: one for each column, with the proposed role as the default."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shoal.cli import terminal
from shoal.errors import UsageError, counted, for_command_line
from shoal.schema import Role
from shoal.settings.fields import Place
from shoal.settings.settings import FIELDS, Settings

if TYPE_CHECKING:
    from shoal.profile.survey import Profile, ProfiledColumn

__all__ = ["check_terminal", "interview"]

KEYS = {"q": Role.QI, "s": Role.SENSITIVE, "i": Role.INSENSITIVE, "d": Role.IDENTIFIER, "p": Role.PERSON}
NAMES = {
    Role.QI: ("quasi-identifier", "others may know it; generalised until every row has its look-alikes"),
    Role.SENSITIVE: ("sensitive", "nobody may learn it about a person; released unchanged"),
    Role.INSENSITIVE: ("insensitive", "neither known nor harmful; released unchanged"),
    Role.IDENTIFIER: ("drop", "names a person; never released"),
    Role.PERSON: ("person", "identifies the person of each row, so that k counts people; never released"),
    Role.PERSONAL_K: ("personal k", "the row's own k; never released"),
}
BACK, REST, HELP = "b", "r", "?"
COMMANDS = {
    "Enter": "accept the proposed role",
    BACK: "go back one column",
    REST: "accept the proposed roles of the remaining columns",
    HELP: "show these keys",
    "Ctrl-C": "end without writing a file",
}
MOST_WARNINGS = 2  # for each column
ALLOWED = f"{', '.join(KEYS)}, {BACK}, {REST} or {HELP}"


def check_terminal() -> None:
    """Refuse to ask questions that nobody could see or answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "-i asks questions, but standard input or standard error is not a terminal. Run it in a terminal, or leave "
            "out -i and edit the file that is written."
        )


def interview(profile: Profile, ask: Callable[[str], str] | None = None) -> Settings:
    """Ask for the role of each column.

    Args:
        profile: The profile, which proposes a role for every column.
        ask: Shows a prompt and returns the answer; by default it reads a line from the terminal.

    Returns:
        The roles that the user decided: those that differ from the proposal, and those that the proposal left open.
    """
    answers = _Answers({column.name: column.proposal.role for column in profile.columns})
    ask = ask or _ask
    _tell_keys()
    at = 0
    while at < len(profile.columns):
        column = profile.columns[at]
        _tell_column(column, at, len(profile.columns))
        own = [each for each in profile.warnings if column.name in each.columns and each.about != "decide"]
        for warned in own[:MOST_WARNINGS]:
            terminal.say(f"  CHECK: {for_command_line(warned.text)}", err=True)
        answer = _choose(ask, answers.roles[column.name])
        if answer == BACK:
            at = max(0, at - 1)
            continue
        if answer == REST:
            break
        if displaced := answers.decide(column, KEYS.get(answer)):
            terminal.say(f"  {displaced!r} was the person column; it is dropped now.", err=True)
        at += 1
    terminal.say(f"\n{_summary(answers.roles)}", err=True)
    return answers.settings()


@dataclass
class _Answers:
    """The role of each column, and the columns whose role the user decided."""

    roles: dict[str, Role]
    decided: set[str] = field(default_factory=set)

    def decide(self, column: ProfiledColumn, role: Role | None) -> str | None:
        """Give a column a role, None for the present one; return the person column that gives way, if one does."""
        displaced = None
        if role is Role.PERSON:
            displaced = next((name for name, each in self.roles.items() if each is role and name != column.name), None)
        if displaced is not None:
            self._set(displaced, Role.IDENTIFIER)
        if role not in (None, self.roles[column.name]) or _is_open(column):
            self._set(column.name, role or self.roles[column.name])
        return displaced

    def _set(self, name: str, role: Role) -> None:
        self.roles[name] = role
        self.decided.add(name)

    def settings(self) -> Settings:
        """Return the decided roles as settings."""
        values: dict[str, tuple[str, ...] | str | None] = {}
        for each in FIELDS:
            if each.place is Place.ROLE:
                names = tuple(name for name in self.roles if name in self.decided and self.roles[name] == each.key)
                values[each.name] = names if each.form.is_list else next(iter(names), None)
        return Settings(**values)  # type: ignore[arg-type]


def _is_open(column: ProfiledColumn) -> bool:
    """Say whether the proposal leaves the role to the user."""
    return bool(getattr(column.proposal, "decide", False))


def _choose(ask: Callable[[str], str], role: Role) -> str:
    """Ask until the answer is one of the keys; return it, or an empty text to accept the role."""
    key = next((key for key, each in KEYS.items() if each is role), "")
    while True:
        answer = ask(f"  Role [{key or NAMES[role][0]}]: ").strip().lower()
        if answer in ("", BACK, REST, *KEYS):
            return answer
        if answer == HELP:
            _tell_keys()
        else:
            terminal.say(f"  Not a key. Type {ALLOWED}, or press Enter to accept.", err=True)


def _ask(prompt: str) -> str:
    """Read a line from the terminal; the end of the input ends the questions like Ctrl-C."""
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise KeyboardInterrupt
    return line


def _tell_keys() -> None:
    roles = [(key, f"{NAMES[role][0]}: {NAMES[role][1]}") for key, role in KEYS.items()]
    terminal.say_facts([*roles, *COMMANDS.items()])


def _tell_column(column: ProfiledColumn, at: int, n_columns: int) -> None:
    facts, proposal = column.facts, column.proposal
    kind = f"{proposal.kind} {facts.date_format}" if facts.date_format else str(proposal.kind)
    proposed = "Decide; proposed" if _is_open(column) else "Proposed"
    figures = f"{counted(facts.distinct, 'distinct value')}, {facts.missing_share:.1%} missing"
    lines: Sequence[str] = (
        f"\n{at + 1} of {n_columns}: {column.name}",
        f"  {kind}; {figures}, {facts.unique_share:.1%} unique {facts.sparkline}",
        f"  {proposed}: {NAMES[proposal.role][0]}. {proposal.reason[0].upper()}{proposal.reason[1:]}.",
    )
    for line in lines:
        terminal.say(line, err=True)


def _summary(roles: Mapping[str, Role]) -> str:
    counts = Counter(roles.values())
    names = {role: name for role, (name, _) in NAMES.items()} | {Role.IDENTIFIER: "dropped"}
    if counts[Role.QI] > 1:
        names[Role.QI] += "s"
    words = [f"{counts[role]} {name}" for role, name in names.items() if counts[role]]
    if not counts[Role.QI]:
        words.append("no quasi-identifier: name at least one before you anonymise")
    return f"Roles: {', '.join(words)}."
