"""`shoal risk`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.cli.settings import with_settings
from shoal.settings.fields import Panel
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from shoal.risks import Exposure, Risk
    from shoal.tables.table import Table


@with_settings("risk")
def risk(
    released: Annotated[Path, typer.Argument(help=opt.RELEASE_HELP)],
    settings: Settings,
    saved: Settings,
    threshold: opt.Threshold = "0.2",
    population: Annotated[
        str | None,
        typer.Option(
            help="Size of the population from which the rows were drawn, or the file of its table.", metavar="N|FILE"
        ),
    ] = None,
    original: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The original table, to show its risk beside.")
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column with the number of people that each row represents.",
            rich_help_panel=Panel.ROLES,
        ),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Estimate how easily people are found in a release: prosecutor, journalist and marketer risk, and uniques.

    --delimiter, --encoding and --header apply to a file that cannot be read without them; --sheet applies to workbooks.

    Example: shoal risk out.csv --qi age,sex,zip --threshold 0.1 --population 100000
    """
    qi, reading = opt.require_qi(settings), settings.reading
    opt.use_threads(None)
    from shoal.risks.estimate import estimate_risk

    people: int | Table | None = None
    if population is not None:
        people = int(population) if population.isdecimal() else opt.read_one_of(Path(population), reading, qi)

    def estimate(path: Path) -> Risk:
        table = opt.read_one_of(path, reading, qi)
        # A release lacks the person column that a shoal.toml names.
        is_absent = settings.person == saved.person and settings.person not in table.names
        return estimate_risk(
            table,
            qi=qi,
            threshold=threshold,
            population=people,
            person=None if is_absent else settings.person,
            weight=weight,
            reading=reading,
            hierarchies=settings.rules(),
        )

    found = estimate(released)
    before = None if original is None else estimate(original)
    if as_json:
        terminal.print_json(found.as_dict() | ({"before": before.as_dict()} if before else {}))
        return
    facts = risk_facts(found)
    if before is not None:
        facts = [
            (name, f"{fact}\nbefore: {old}") for (name, fact), (_, old) in zip(facts, risk_facts(before), strict=True)
        ]
    terminal.print_table(f"shoal: {released}", facts)


def risk_facts(found: Risk) -> list[tuple[str, str]]:
    """Return the risk as facts for print_table; chances are rounded up, so that none looks smaller than it is."""
    from shoal.models.thresholds import round_up

    least, limit = found.least_group, round_up(found.threshold, 6)
    verdict = "all have" if found.met else "not all have"
    facts = [
        (found.counts, f"{found.rows:,} in groups, {found.suppressed_rows:,} rows suppressed"),
        ("groups", f"{found.groups:,}; the smallest has {found.smallest_group:,}, the mean {found.average_group:.1f}"),
        ("alone", f"{found.uniques:,} {found.counts} have a group to themselves"),
        ("threshold", f"{limit} asks for groups of {least}: {verdict}"),
        ("prosecutor", exposure_words(found.prosecutor)),
    ]
    if found.journalist_basis == "release":
        facts.append(("journalist", "at most as the prosecutor; --population with a file tells more"))
    else:
        facts.append(("journalist", f"{exposure_words(found.journalist)} (by the {found.journalist_basis})"))
    facts.append(
        ("marketer", f"{round_up(Fraction(str(found.marketer)))} of the {found.counts} are found if all are tried")
    )
    if found.estimates is not None:
        facts.append(("alone in population", estimate_words(found)))
    return facts


def exposure_words(exposure: Exposure) -> str:
    """Say the figures of one kind of risk."""
    from shoal.models.thresholds import round_up

    largest, average = round_up(Fraction(str(exposure.max))), round_up(Fraction(str(exposure.average)))
    return f"at most {largest}, {average} on average; {exposure.share_above:.1%} above the threshold"


def estimate_words(found: Risk) -> str:
    """Say each estimate of the people who are alone in the population, or that it is not available."""
    every = found.estimates
    assert every is not None

    def words(name: str, number: float | None) -> str:
        return f"{name} " + ("not available" if number is None else f"{number:,.1f}")

    each = [words("Zayatz", every.zayatz), words("Pitman", every.pitman), words("negative binomial", every.snb)]
    taken = words("estimate", every.dankar) + (f" (that of {every.chosen})" if every.chosen else "")
    return f"{taken} of {every.size:,} people; {', '.join(each)}"
