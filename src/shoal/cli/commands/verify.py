"""`shoal verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import demand as asked
from shoal.cli import on_spark as cluster
from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import with_settings
from shoal.errors import Note, UsageError, VerificationError, join_problems, setting
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings


@with_settings("verify")
def verify(
    released: opt.Released,
    settings: Settings,
    saved: Settings,
    original: Annotated[
        Any | None,
        typer.Option(
            parser=opt.table_place,
            metavar="FILE",
            help="The original; checks that each released row is true to a row of it.",
        ),
    ] = None,
    public_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Public Ed25519 key (PEM) of whoever must have signed the manifest."),
    ] = None,
    manifest: asked.ManifestFile = None,
    no_manifest: asked.NoManifest = False,
    keep_order: Annotated[
        bool,
        typer.Option("--keep-order", help="The rows are in the order of the original.", rich_help_panel=Panel.OUTPUT),
    ] = False,
    engine: opt.Engine = None,
    master: opt.Master = None,
    as_json: opt.AsJson = False,
) -> None:
    """Check whether every row of a file has k-1 look-alikes in its quasi-identifiers: yes or no.

    The exit code is 0 for yes and 5 for no. A manifest beside the file says what was promised: its hash, k, columns,
    models and counts are compared with the bytes, and no option is needed. Options ask for more; where they and the
    manifest differ, the stricter applies. With --config, every setting of the shoal.toml is applied.

    With --original, the command also checks that each released row covers an original row of its own, with all other
    columns unchanged. --delimiter, --encoding, --header and --sheet apply to the files that they fit.

    --public-key checks who signed the manifest; a missing or wrong signature is a no.

    With --engine spark, the release is a file, a folder of parts with its manifest, or a pattern.

    Example: shoal verify out.csv

    Example: shoal verify out.parquet/ --engine spark

    Example: shoal verify out.csv -k 10 --qi age,sex,zip --original data.csv
    """
    from shoal import verification

    on_spark = opt.is_on_spark(engine, master, released, original)
    if on_spark:
        cluster.refuse(settings, keep_order=keep_order)
    stated = (cluster if on_spark else asked).find_manifest(released, manifest, no_manifest)
    if stated is None and public_key is not None:
        raise VerificationError(f"{released}: no. {join_problems(verification.signature_violations(None, public_key))}")
    if stated is None:
        if settings.k is None and settings.k_column is None:
            raise UsageError(
                f"k is not given, and there is no manifest. Pass the smallest group size, such as {setting('k', 5)}, "
                f"or the manifest of the release with {setting('manifest')}."
            )
        opt.require_qi(settings)
    demand = asked.demand_of(settings, saved, stated, original=original, keep_order=keep_order)
    from shoal.report.summary import verdict_words

    if on_spark:
        verdict = cluster.check(released, demand, original, stated, master, public_key)
    else:
        verdict = verification.examine(
            released if stated is not None else asked.readable(released),
            demand,
            original=None if original is None else asked.readable(original),
            manifest=stated,
            public_key=public_key,
            file=None if isinstance(released, str) else released,
        )
    if as_json:
        facts = {"notes": verdict.notes, "unchecked": verdict.unchecked, "manifest": stated and stated.place}
        terminal.print_json(verdict.as_dict() | facts)
    else:
        compared = None if original is None else demand
        terminal.say_notes([] if stated is None else [asked.about_manifest(stated, compared)])
    if not verdict.ok:
        raise VerificationError(f"{released}: no. {join_problems(verdict.violations)}")
    if not as_json:
        words = verdict_words(
            verdict,
            verdict.k,
            verdict.models,
            against_original=original is not None,
            people=verdict.counts_people,
            centers=verdict.center is not None,
        )
        terminal.say(f"{released}: {words}")
        if public_key is not None:
            terminal.say(f"signed with the key of {public_key}")
        terminal.say_notes([*verdict.notes, *verdict.unchecked])
        if stated is not None and public_key is None and "signature" in stated.content:
            terminal.say_notes(
                [Note(stated.place, "it is signed", f"check the signature with {setting('public_key')}")]
            )
