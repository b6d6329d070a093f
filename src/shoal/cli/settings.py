"""Give commands the options of the settings, and make the settings from what the user passed."""

from __future__ import annotations

import csv
import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import UsageError, setting
from shoal.schema import ISO
from shoal.settings.fields import Field, Form, Panel
from shoal.settings.settings import AUTO, FIELDS, Settings, check_signoff

__all__ = ["split_names", "split_pairs", "with_settings"]

Command = Callable[..., None]

CONFIG_HELP = (
    "A shoal.toml. An option replaces its key; --qi and the other roles replace the role of the columns they name, and "
    "the other columns keep theirs."
)
# Options of methods that have an option of the command line: type and help.
METHOD_OPTIONS: dict[str, tuple[type, str]] = {
    "objective": (
        str,
        "What the method minimises. shoaling: ncp or variance (inside groups); optimal and incognito: height, "
        "precision, ncp, aecs, dm, entropy or rv.",
    ),
    "choose": (int, "Which of the transformations that pass an rv method releases; 1 is the best."),
    "subsets": (bool, "Allow rv methods to search subsets of the attributes."),
}


def with_settings(name: str) -> Callable[[Command], Command]:
    """Give a command `--config` and the options of every setting that belongs to it.

    The command has a parameter `settings`, which receives the merged settings. It may have a parameter `saved`, which
    receives those of the file alone, and a parameter `config`, which receives the path of the file.

    Args:
        name: The command, as in the table of settings.
    """
    entries = [field for field in FIELDS if name in field.commands]

    def decorate(command: Command) -> Command:
        declared = inspect.signature(command, eval_str=True).parameters

        @functools.wraps(command)
        def run(**values: Any) -> None:
            config = values.pop("config")
            settings, saved = _settings(entries, values, config)
            wanted = {"settings": settings, "saved": saved, "config": config}
            command(**values, **{name: value for name, value in wanted.items() if name in declared})

        parameters = [*map(_parameter, entries), *_method_parameters(entries), _config_parameter()]
        own = [p for p in declared.values() if p.name not in ("settings", "saved", "config")]
        first, rest = [p for p in own if not _panel(p)], [p for p in own if _panel(p)]
        ordered = [p.replace(kind=p.KEYWORD_ONLY) for p in (*first, *parameters, *rest)]
        run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in ordered}
        return run

    return decorate


def _panel(parameter: inspect.Parameter) -> str | None:
    """Return the heading of an option; None for an argument or a main option."""
    infos = getattr(parameter.annotation, "__metadata__", ())
    return next((info.rich_help_panel for info in infos if hasattr(info, "rich_help_panel")), None)


def _option(name: str, kind: Any, *spellings: str, panel: Panel, **arguments: Any) -> inspect.Parameter:
    info = typer.Option(*spellings, rich_help_panel=None if panel is Panel.MAIN else panel, **arguments)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind | None, info]
    )


def _parameter(field: Field) -> inspect.Parameter:
    """Return the option of a setting."""
    kinds: dict[Form, Any] = {Form.INTEGER: int, Form.NUMBER: str, Form.TEXT: str, Form.FLAG: bool, Form.TABLE: Path}
    spelling = f"{field.option}/--no-{field.option[2:]}" if field.form is Form.FLAG else field.option
    metavars = {Form.NAMES: "COLUMNS", Form.TEXTS: "TEXTS", Form.NUMBER: "NUMBER"}
    metavar = field.metavar or "|".join(field.choices) or metavars.get(field.form)
    spellings = (spelling, f"-{spelling}") if len(spelling) == 2 else (spelling,)  # --k beside -k, as --l and --t
    return _option(
        field.name, kinds.get(field.form, list[str]), *spellings, panel=field.panel, help=field.help, metavar=metavar
    )


def _method_parameters(entries: Iterable[Field]) -> list[inspect.Parameter]:
    """Return the options of single options of methods, for commands that have `--option`."""
    if all(field.name != "options" for field in entries):
        return []
    return [
        _option(name, kind, f"--{name}/--no-{name}" if kind is bool else f"--{name}", panel=Panel.RUN, help=words)
        for name, (kind, words) in METHOD_OPTIONS.items()
    ]


def _config_parameter() -> inspect.Parameter:
    return _option("config", Path, "--config", panel=Panel.RUN, help=CONFIG_HELP, metavar="FILE")


def _settings(entries: Iterable[Field], values: dict[str, Any], config: Path | None) -> tuple[Settings, Settings]:
    """Take the values of the settings out of those of the command; return the merged settings and the saved ones."""
    passed = {field.name: _value(field, values.pop(field.name)) for field in entries}
    if "options" in passed:
        named = {name: values.pop(name) for name in METHOD_OPTIONS}
        passed["options"] |= {name: value for name, value in named.items() if value is not None}
    settings = Settings(**{name: value for name, value in passed.items() if value is not None})
    check_signoff(settings.signoff)
    saved = Settings()
    if config is not None:
        from shoal.settings.read import read_config

        saved = read_config(config)
    merged = settings.over(saved)
    _ = merged.reading  # refuses marks, delimiters and encodings that are wrong
    return merged, saved


def _value(field: Field, value: Any) -> Any:
    """Return the value of an option in the form that Settings has; None if the option was not passed."""
    if field.choices and value is not None and value not in field.choices:
        choices = f"{', '.join(field.choices[:-1])} or {field.choices[-1]}"
        raise UsageError(f"{setting(field.name, value)} is not known. Use {choices}.")
    if field.name in ("delimiter", "output_delimiter") and value in ("\\t", "tab"):
        return "\t"
    if field.form in (Form.NAMES, Form.TEXTS):
        return split_names(value)
    if field.form is Form.DATES:
        return {column: form or ISO for column, _, form in (name.partition("=") for name in split_names(value))}
    if field.form is Form.WEIGHTS:
        names = split_names(value)
        return AUTO if names == (AUTO,) else split_pairs(names, field.option)
    if field.form is Form.PAIRS:
        return split_pairs(value, field.option)
    if field.form is Form.MODELS:
        return _split_models(value)
    return value


def split_names(texts: Iterable[str] | None) -> tuple[str, ...]:
    """Split comma-separated names; a name that contains a comma is in double quotes."""
    names: list[str] = []
    for text in texts or ():
        try:
            names += next(csv.reader([text], skipinitialspace=True), [])
        except csv.Error:
            raise UsageError(f"{text!r} is not a list of names. Write them on one line, separated by commas.") from None
    return tuple(name.strip() for name in names)


def split_pairs(texts: Iterable[str] | None, option: str) -> dict[str, str]:
    """Split the name=value pairs of an option that may be repeated."""
    pairs: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise UsageError(f"{option} {text!r} has no value. Write {option} name=value.")
        if name in pairs:
            raise UsageError(f"{option} names {name!r} twice. Name it once.")
        pairs[name] = value
    return pairs


def _split_models(texts: Iterable[str] | None) -> tuple[dict[str, Any], ...]:
    if not texts:
        return ()
    from shoal.models import parse_model

    return tuple(map(parse_model, texts))
