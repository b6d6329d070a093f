"""`shoal risk`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import options as opt
from shoal.cli import terminal
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from shoal.risks import Exposure, Risk


def risk(
    released: Annotated[Path, typer.Argument(help="The release, of whatever tool: CSV, Parquet, Arrow or Excel.")],
    qi: Annotated[
        list[str], typer.Option("--qi", help="Quasi-identifiers, comma separated.", rich_help_panel=opt.ROLES)
    ],
    threshold: Annotated[
        str, typer.Option(help="The largest chance to be found that is allowed: 0.2, 1/11 or cell-size-11.")
    ] = "0.2",
    population: Annotated[
        str | None,
        typer.Option(help="How many people the table was drawn from, or the file of their table.", metavar="N|FILE"),
    ] = None,
    original: Annotated[
        Path | None, typer.Option(help="The table before it was released, to show its risk beside.")
    ] = None,
    person: opt.Person = None,
    weight: Annotated[
        str | None,
        typer.Option(help="Column that says how many people each row stands for.", rich_help_panel=opt.ROLES),
    ] = None,
    numeric: opt.Numeric = None,
    categorical: opt.Categorical = None,
    date: opt.Dates = None,
    missing: opt.Missing = None,
    hierarchy: opt.HierarchyFiles = None,
    trust_hierarchies: opt.Trust = False,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
    encoding: opt.OtherEncoding = None,
    as_json: opt.AsJson = False,
) -> None:
    """Say how easily people are found in a release: prosecutor, journalist and marketer risk, and who is alone.

    Example: shoal risk out.csv --qi age,sex,zip --threshold 0.1 --population 100000
    """
    opt.use_threads(None)
    from shoal import risks

    settings: dict[str, Any] = {
        "qi": opt.split_names(qi),
        "threshold": threshold,
        "person": person,
        "weight": weight,
        **opt.split_kinds(numeric, categorical, date, missing),
        "hierarchies": Settings(
            hierarchies=opt.split_pairs(hierarchy, "--hierarchy"), trust_hierarchies=trust_hierarchies
        ).rules(),
        "decimal": decimal or ".",
        "thousands": thousands or "",
    }
    if population is not None:
        is_size = population.isdecimal()
        settings["population"] = int(population) if is_size else opt.read_given(Path(population), encoding)
    found = risks.risk(opt.read_given(released, encoding), **settings)
    before = None if original is None else risks.risk(opt.read_given(original, encoding), **settings)
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
