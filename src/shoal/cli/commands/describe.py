"""`shoal describe`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.cli import demand as asked
from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import with_settings
from shoal.errors import counted
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from shoal.verification import Description
    from shoal.verification.models.description import ReachedModels


@with_settings("describe")
def describe(
    released: opt.Released,
    settings: Settings,
    manifest: asked.ManifestFile = None,
    no_manifest: asked.NoManifest = False,
    as_json: opt.AsJson = False,
) -> None:
    """Say which k, l, t, alpha and beta a file reaches.

    The manifest beside the file names its columns; without one, --qi and --sensitive do. Parameters that are not
    integers have four decimals: shoal verify passes with the printed value and fails with the next stronger one.

    Example: shoal describe out.csv

    Example: shoal describe out.csv --qi age,sex,zip --sensitive disease
    """
    from shoal import verification

    stated = asked.find_manifest(released, manifest, no_manifest)
    if stated is None:
        opt.require_qi(settings)
    elif not as_json:
        terminal.say_notes([asked.about_manifest(stated), *([asked.BY_ROW] if stated.counts_people else [])])
    merged = settings if stated is None else asked.take_from_manifest(settings, stated)
    demand = asked.demand_of(merged, merged, stated, original=None, keep_order=False)
    description = verification.describe(
        released if stated is not None else asked.readable(released),
        qi=merged.generalised,
        sensitive=() if merged.all_qi else merged.sensitive,
        reading=demand.reading,
        paths=demand.paths,
        manifest=False if stated is None else stated.place,
    )
    if as_json:
        terminal.print_json(description.as_dict() | {"manifest": stated and stated.place})
    else:
        terminal.print_table(f"shoal: {released}", _facts(description))
        terminal.say_notes(list(description.notes))


def _facts(description: Description) -> list[tuple[str, str]]:
    """Return the description in words."""
    rows, groups = counted(description.rows, "row"), counted(description.groups, "group")
    facts = [("k", f"{description.k}: the smallest of {groups} with {rows} in all")]
    for column in description.columns:
        facts.append((column.column, "\n".join(_models(column, description.k))))
    return facts


def _models(reached: ReachedModels, k: int) -> list[str]:
    """Return the models of one sensitive column, one in a line."""
    recursive = ", ".join(f"c = {_number(c)} for l = {l}" for l, c in reached.recursive_c.items())
    delta = f"delta = {_number(reached.delta)}" if reached.delta is not None else "not reached: a group lacks a value"
    enhanced = f"{_number(reached.enhanced_beta)}" if reached.enhanced_beta is not None else "not reached"
    return [
        f"distinct l-diversity: l = {reached.l}",
        f"entropy l-diversity: l = {_number(reached.entropy_l)}",
        f"recursive (c, l)-diversity: {recursive or 'not reached: a group has one value'}",
        f"(alpha, k)-anonymity: alpha = {_number(reached.alpha)}, k = {k}",
        f"p-sensitive k-anonymity: p = {reached.l}, k = {k}",
        f"t-closeness: t = {_number(reached.t)} ({reached.distance} distance)",
        f"delta-disclosure privacy: {delta}",
        f"beta-likeness: beta = {_number(reached.beta)}; enhanced: {enhanced}",
    ]


def _number(value: float) -> str:
    """Return a parameter with all its decimals."""
    return f"{value:.4f}".rstrip("0").rstrip(".")
