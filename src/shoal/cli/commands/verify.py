"""`shoal verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import with_settings
from shoal.errors import UsageError, VerificationError, join_problems, setting
from shoal.settings.settings import Settings


@with_settings("verify")
def verify(
    released: Annotated[Path, typer.Argument(help="The release, made by any tool: CSV, Parquet or Excel.")],
    settings: Settings,
    original: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The original; checks that each released row is true to a row of it."),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Public Ed25519 key (PEM) of whoever must have signed the manifest beside the file."
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Check whether every row of a file has k-1 look-alikes in its quasi-identifiers: yes or no.

    The exit code is 0 for yes and 5 for no. --l, --t and --model demand more than k. With --original, the command also
    checks that each released row covers an original row of its own, with all other columns unchanged. --delimiter,
    --encoding, --header and --sheet apply to the files that they fit.

    Example: shoal verify out.csv -k 10 --qi age,sex,zip --original data.csv
    """
    if settings.k is None and settings.k_column is None:
        raise UsageError(f"k is not given. Pass the smallest group size, such as {setting('k', 5)}.")
    qi = opt.require_qi(settings)
    models = settings.privacy_models()
    from shoal import verification
    from shoal.hierarchy import Hierarchy

    rules = {name: rule for name, rule in settings.rules().items() if isinstance(rule, Hierarchy)}
    k = settings.k or 1
    verdict = verification.check(
        released,
        qi=qi,
        k=k,
        sensitive=() if settings.all_qi else settings.sensitive,
        original=original,
        reading=settings.reading,
        labels={name: rule.values_under() for name, rule in rules.items() if name in qi},
        models=models,
        k_column=settings.k_column,
        population=settings.population,
        paths={name: rule.rows for name, rule in rules.items() if name not in qi},
        public_key=public_key,
    )
    if as_json:
        terminal.print_json(verdict.as_dict())
    if not verdict.ok:
        raise VerificationError(f"{released}: no. {join_problems(verdict.violations)}")
    if not as_json:
        from shoal.report.summary import verdict_words

        descriptions = [model.describe() for model in models]
        words = verdict_words(verdict, k, descriptions, against_original=original is not None)
        terminal.say(f"{released}: {words}")
