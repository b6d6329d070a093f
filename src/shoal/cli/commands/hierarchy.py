"""`shoal hierarchy show`, `propose`, `convert` and `builtin`."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.help import CommandHelp, GroupHelp
from shoal.cli.settings import split_names, with_settings
from shoal.errors import InputError, UsageError
from shoal.schema import ISO
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from rich.tree import Tree

    from shoal.hierarchy import Hierarchy

app = typer.Typer(cls=GroupHelp, help="Show, propose and convert hierarchies, and list the built-in ones.")

SHOWN_CHILDREN = 12
Trust = Annotated[
    bool,
    typer.Option(
        "--trust-hierarchies",
        help="Accept hierarchy labels that do not contain their values.",
        rich_help_panel=Panel.RUN,
    ),
]
KindName = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="numeric|categorical|date",
        help="Kind of the column; detected from the cells by default.",
        rich_help_panel=Panel.KINDS,
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="How to group values: widths or quantiles (numbers, dates), prefix (codes), cooccurrence (categories).",
    ),
]
With = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="COLUMNS",
        help="Columns by which to compare categories, comma-separated; all others by default.",
    ),
]
ShowAll = Annotated[bool, typer.Option("--all", help="Show every label and value.", rich_help_panel=Panel.OUTPUT)]


@app.command(cls=CommandHelp)
def show(
    file: Annotated[Path, typer.Argument(help="A hierarchy: ARX CSV, or a UTD job file (.xml).")],
    show_all: ShowAll = False,
    trust: Trust = False,
    as_json: opt.AsJson = False,
) -> None:
    """Check a hierarchy and show it as a tree.

    Example: shoal hierarchy show zip.csv
    """
    loaded = _load(file, trust)
    if as_json:
        from shoal.report.summary import hierarchy_json

        terminal.print_json({"file": str(file), "hierarchies": {name: hierarchy_json(h) for name, h in loaded.items()}})
        return
    for name, hierarchy in loaded.items():
        terminal.say_notes(hierarchy.notes)
        _print_tree(name, hierarchy, show_all)


@app.command(cls=CommandHelp)
@with_settings("propose")
def propose(
    data: opt.Data,
    settings: Settings,
    config: Path | None,
    column: Annotated[str, typer.Option(metavar="COLUMN", help="The column that needs a hierarchy.")],
    kind: KindName = None,
    by: By = None,
    others: With = None,
    date_format: Annotated[
        str | None, typer.Option(help="Format of dates; ISO by default.", rich_help_panel=Panel.KINDS)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="ARX CSV file to write.")
    ] = None,
    show_all: ShowAll = False,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Propose a hierarchy for a column, to review and edit.

    The file lists the values of the column: keep it as private as the table. --config supplies the kind of the column.

    Example: shoal hierarchy propose data.csv --column zip -o zip.csv
    """
    opt.use_threads(None)
    from shoal import hierarchy as hierarchies
    from shoal.hierarchy.arx_csv import arx_text
    from shoal.tables.targets.text_file import TextFiles

    reading = settings.reading
    with TextFiles([output], inputs=settings.input_files(data, config), force=force) as written:
        table = opt.read_file(data, replace(reading, named=(*reading.named, column)))
        proposed = hierarchies.propose_for(
            table,
            column,
            kind=kind or reading.kinds.get(column) or settings.kinds.get(column),
            by=by,
            others=None if others is None else split_names(others),
            missing=settings.missing,
            date_format=date_format or settings.dates.get(column, ISO),
        )
        if output is not None:
            written.write({output: arx_text(proposed)})
    if as_json:
        from shoal.report.summary import hierarchy_json

        terminal.print_json({"column": column, "output": output and str(output), **hierarchy_json(proposed)})
        return
    terminal.say_notes((*table.notes, *proposed.notes))
    _print_tree(column, proposed, show_all)
    if output is not None:
        terminal.say(f"Written: {output}. Review and edit it, then check it: shoal hierarchy show {output}")


@app.command(cls=CommandHelp)
def convert(
    files: Annotated[list[Path], typer.Argument(help="One UTD job file (.xml), or ARX CSV files.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A folder for the CSV files, one .csv file, or one .xml job file.")
    ],
    force: opt.Force = False,
    trust: Trust = False,
    as_json: opt.AsJson = False,
) -> None:
    """Convert hierarchies: a UTD job file to ARX CSV files, ARX CSV files to a UTD job file, or CSV to tidy CSV.

    A numeric attribute is written for every integer that its intervals cover. The job file stores trees, but not the
    names of labels.

    Example: shoal hierarchy convert job.xml -o hierarchies
    """
    from shoal.hierarchy.arx_csv import arx_text
    from shoal.hierarchy.utd_xml import utd_text
    from shoal.tables.targets.folders import new_folder
    from shoal.tables.targets.text_file import TextFiles

    loaded: dict[str, Hierarchy] = {}
    for file in files:
        for name, hierarchy in _load(file, trust).items():
            if name in loaded:
                raise UsageError(
                    f"{file}: an earlier file has a hierarchy for {name!r} too. Pass one for each attribute."
                )
            loaded[name] = hierarchy
            terminal.say_notes(() if as_json else hierarchy.notes)
    suffix = output.suffix.lower()
    if suffix == ".csv" and len(loaded) > 1:
        raise UsageError(f"{output}: {len(loaded)} hierarchies do not fit into one CSV file. Name a folder.")
    is_file = suffix in (".csv", ".xml")
    places = {name: output if is_file else output / _file_name(name) for name in loaded}
    texts = {place: arx_text(loaded[name]) for name, place in places.items()}
    if suffix == ".xml":
        texts = {output: utd_text(loaded)}
    with (
        nullcontext() if is_file else new_folder(output),
        TextFiles(texts, inputs=files, force=force) as written,
    ):
        written.write(texts)
    if as_json:
        terminal.print_json({"written": {name: str(place) for name, place in places.items()}})
    else:
        terminal.print_table("shoal: written", [(name, str(place)) for name, place in places.items()])


@app.command(cls=CommandHelp)
def builtin(
    name: Annotated[str | None, typer.Argument(help="The hierarchy to show; all are listed by default.")] = None,
    form: Annotated[
        str | None, typer.Option(help="How the values are written, such as alpha3; the list names the forms.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="ARX CSV file to write.")
    ] = None,
    show_all: ShowAll = False,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """List the built-in hierarchies, or show one and write it to a file.

    Use one with --hierarchy COLUMN=builtin:NAME.

    Example: shoal hierarchy builtin countries --form alpha2 -o countries.csv
    """
    from shoal.hierarchy.arx_csv import arx_text
    from shoal.report.summary import hierarchy_json
    from shoal.tables.targets.text_file import TextFiles

    if name is None:
        if form is not None or output is not None:
            raise UsageError("name the hierarchy to show or write. shoal hierarchy builtin lists them.")
        _list_builtins(as_json)
        return
    loaded, is_complete = _builtin(name, form)
    if output is not None:
        if not is_complete:
            raise UsageError(
                f"{name} generalises any value and has no list to write. Use it as it is: --hierarchy "
                f"COLUMN=builtin:{name}."
            )
        with TextFiles([output], inputs=[], force=force) as written:
            written.write({output: arx_text(loaded)})
    if as_json:
        shown = {} if is_complete else {"examples": {value: list(labels) for value, labels in loaded.rows.items()}}
        terminal.print_json({"name": name, "output": output and str(output), **hierarchy_json(loaded), **shown})
        return
    _print_tree(name if is_complete else f"{name}, for example", loaded, show_all)
    if output is not None:
        terminal.say(f"Written: {output}")


def _list_builtins(as_json: bool) -> None:
    from shoal.hierarchy import BUILTINS

    if as_json:
        terminal.print_json([{"name": b.name, "summary": b.summary, "forms": list(b.forms)} for b in BUILTINS.values()])
        return
    facts = [(b.name, f"{b.summary}; forms: {', '.join(b.forms)}" if b.forms else b.summary) for b in BUILTINS.values()]
    terminal.print_table("shoal: built-in hierarchies; use one with --hierarchy COLUMN=builtin:NAME", facts)


def _builtin(name: str, form: str | None) -> tuple[Hierarchy, bool]:
    """Return a built-in hierarchy, and whether it is complete; one over any values is shown with examples."""
    from shoal import hierarchy as hierarchies
    from shoal.hierarchy.builtin.lookup import LookupHierarchy

    rule = hierarchies.builtin(name)
    forms = hierarchies.BUILTINS[name].forms
    if form is not None and form not in forms:
        allowed = f"Use {' or '.join(forms)}." if forms else "It has no forms; leave --form out."
        raise UsageError(f"{name} has no form {form!r}. {allowed}")
    if isinstance(rule, LookupHierarchy):
        return rule.over(rule.values(form)), True
    return rule.over(hierarchies.BUILTINS[name].examples), False


def _load(file: Path, trust: bool) -> dict[str, Hierarchy]:
    """Read a file of either format; numeric intervals are listed for the integers that they cover."""
    from shoal import hierarchy as hierarchies

    if file.suffix.lower() != ".xml":
        return {file.stem: hierarchies.read_arx_csv(file, trust=trust)}
    loaded = {}
    for name, rule in hierarchies.read_utd_xml(file).items():
        listed = rule.whole_numbers() if isinstance(rule, hierarchies.IntervalTree) else None
        loaded[name] = rule if isinstance(rule, hierarchies.Hierarchy) else rule.over(listed or [], column=name)
    return loaded


def _file_name(name: str) -> str:
    if "/" in name or "\0" in name or name.startswith("."):
        raise InputError(f"attribute {name!r} cannot name a file. Rename it in the job file.")
    return f"{name}.csv"


def _print_tree(name: str, hierarchy: Hierarchy, show_all: bool) -> None:
    from rich.tree import Tree

    from shoal.report.summary import hierarchy_words

    terminal.say(hierarchy_words(name, hierarchy))
    tree = Tree(terminal.label(f"* ({len(hierarchy.rows):,})"))
    _grow(tree, hierarchy, list(hierarchy.rows), hierarchy.height - 1, None if show_all else SHOWN_CHILDREN)
    terminal.draw(tree)


def _grow(tree: Tree, hierarchy: Hierarchy, values: list[str], level: int, most: int | None) -> None:
    """Add the values below a label; a label that equals the one above it, or its value, appears once."""
    below: dict[str, list[str]] = {}
    for value in values:
        below.setdefault(hierarchy.label(value, level), []).append(value)
    if level > 0 and len(below) == 1 and next(iter(below)) == hierarchy.label(values[0], level + 1):
        _grow(tree, hierarchy, values, level - 1, most)
        return
    for i, (label, members) in enumerate(below.items()):
        if i == most:
            tree.add(terminal.label(f"... and {len(below) - i:,} more (--all shows them)"))
            break
        is_single = level == 0 or members == [label]
        branch = tree.add(terminal.label(label if is_single else f"{label} ({len(members):,})"))
        if not is_single:
            _grow(branch, hierarchy, members, level - 1, most)
