"""`shoal init`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.interview import check_terminal, interview
from shoal.cli.settings import with_settings
from shoal.errors import counted, for_command_line
from shoal.settings.settings import Settings
from shoal.tables.sources.url import parse_file_url

if TYPE_CHECKING:
    from shoal.profile import Profile


@with_settings("init")
def init(
    data: opt.Data,
    settings: Settings,
    saved: Settings,
    config: Path | None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write the proposal.")] = Path(
        "shoal.toml"
    ),
    interactive: Annotated[
        bool,
        typer.Option(
            "-i",
            "--interactive",
            help="Ask for the role of each column; Enter accepts the proposal.",
            show_default=False,
        ),
    ] = False,
    force: opt.Force = False,
    threads: opt.Threads = None,
    as_json: opt.AsJson = False,
) -> None:
    """Profile a table: propose a role and kind for every column and write them, with reasons, as a shoal.toml.

    With -i, the command asks column by column, in a terminal, and writes the roles that you choose. With --config, the
    proposal keeps the settings of that file and adds the columns that it lacks.

    Example: shoal init data.csv

    Example: shoal init data.csv -i
    """
    opt.use_threads(threads)
    from shoal.profile import profile_table
    from shoal.settings.proposal import apply_settings, document_for, without_lost_columns
    from shoal.tables.targets.text_file import TextFiles, check_suffix
    from shoal.tables.values import Marks

    if interactive:
        check_terminal()
    check_suffix(output, ".toml", "the proposal is a TOML file")
    with TextFiles([output], inputs=settings.input_files(data, config), force=force) as files:
        table = opt.read_file(data, settings.reading)
        settings, notes = without_lost_columns(settings, saved, table.names)
        profile = apply_settings(profile_table(table, Marks(*settings.reading.marks)), settings)
        if interactive:
            terminal.say_notes((*table.notes, *notes))
            settings = interview(profile).over(settings)
            profile = apply_settings(profile, settings)
        files.write({output: document_for(output, profile, settings)})
    if as_json:
        terminal.print_json(profile.as_dict() | {"output": str(output)})
        return
    if not interactive:
        terminal.say_notes((*table.notes, *notes))
        print_profile(profile)
    terminal.say(f"Written: {output}. Review and correct it, then run:")
    source = terminal.spelled(data)
    stem = parse_file_url(data).table if isinstance(data, str) else "table" if source == "-" else data.stem
    released = Path(f"{stem}-released.csv").name
    terminal.say_command(shlex.join(["shoal", "anonymize", source, "-o", released, "--config", str(output)]))


def print_profile(profile: Profile) -> None:
    """Print the columns, the combinations that single people out, and the warnings."""
    from shoal.report.summary import PROFILE_HEAD, combination_facts, profile_rows

    figures = ("distinct", "missing", "unique")
    title = f"shoal: {counted(profile.n_rows, 'row')}"
    terminal.print_grid(title, PROFILE_HEAD, profile_rows(profile), right=figures, below=(2, 5))
    if facts := combination_facts(profile):
        terminal.say("")
        terminal.print_table("Rows that a combination of columns singles out:", facts)
        terminal.say("")
    for warning in profile.warnings:
        terminal.say(f"CHECK: {for_command_line(warning.text)}")
