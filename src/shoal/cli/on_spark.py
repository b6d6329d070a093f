"""What the commands that examine a release do with --engine spark: executors read the tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli import demand as asked
from shoal.errors import UsageError, VerificationError, join_problems, setting
from shoal.settings.settings import Settings

if TYPE_CHECKING:
    from shoal.cli.options import Place
    from shoal.metrics import Measures
    from shoal.risks import Risk
    from shoal.verification import Demand, Manifest, Verdict

__all__ = ["check", "find_manifest", "measure", "refuse", "risk"]


def find_manifest(released: Place, manifest: Path | None, no_manifest: bool) -> Manifest | None:
    """Return the manifest of a release in parts: the one that is named, or the one in its folder."""
    if manifest is not None and no_manifest:
        raise UsageError("--manifest and --no-manifest contradict each other. Pass one of them.")
    from shoal.spark.folder import MANIFEST
    from shoal.verification.manifest.reader import read_manifest

    place = manifest or Path(released) / MANIFEST
    if no_manifest or (manifest is None and not os.path.lexists(place)):
        return None
    stated = read_manifest(place)
    if not stated.parts:
        raise UsageError(f"{place}: is not the manifest of a release in parts. Leave {setting('engine', 'spark')} out.")
    return stated


def refuse(settings: Settings, **given: object) -> None:
    """Refuse options that need rows one by one, or a table that executors do not read.

    Args:
        settings: The settings of the command.
        given: By name, the options that have a value.
    """
    if asked.has_proposals(settings):
        raise UsageError(f"{setting('hierarchies', 'auto')} reads the original on one machine. Name the hierarchies.")
    if names := [name for name, value in given.items() if value not in (None, False)]:
        raise UsageError(f"{setting(names[0])} needs {setting('engine', 'memory')}. Leave one of them out.")


@contextmanager
def _session(master: str | None) -> Iterator[Any]:
    from shoal.spark.session import check_installed, open_session, quiet

    check_installed()
    with quiet(), open_session(master) as session:
        yield session


def check(
    released: Place,
    demand: Demand,
    original: Place | None,
    manifest: Manifest | None,
    master: str | None,
    public_key: Path | None,
) -> Verdict:
    """Return the verdict on a release."""
    from shoal.spark.examining import check_release

    with _session(master) as session:
        return check_release(
            str(released),
            demand,
            original=None if original is None else str(original),
            manifest=manifest,
            public_key=public_key,
            spark=session,
        )


def _require_true(released: Place, manifest: Manifest | None, session: Any) -> None:
    """Raise a VerificationError if parts are not those of their manifest."""
    if manifest is None:
        return
    from shoal.spark.examining import check_files

    if violations := check_files(str(released), manifest, session):
        raise VerificationError(f"{released}: the parts and their manifest do not agree. {join_problems(violations)}")


def risk(
    released: Place,
    original: Place | None,
    manifest: Manifest | None,
    master: str | None,
    *,
    qi: list[str],
    threshold: object,
    population: str | None,
) -> tuple[Risk, Risk | None]:
    """Return the risk of a release, and that of its original."""
    from shoal.spark.examining import risk as risk_of

    if population is not None and not population.isdecimal():
        raise UsageError(f"{setting('population')}: executors do not read its table. Give the number of people.")
    given: dict[str, Any] = {
        "qi": qi,
        "threshold": threshold,
        "population": None if population is None else int(population),
    }
    with _session(master) as session:
        _require_true(released, manifest, session)
        before = None if original is None else risk_of(str(original), spark=session, **given)
        return risk_of(str(released), spark=session, **given), before


def measure(
    original: Place, released: Place, manifest: Manifest | None, master: str | None, options: dict[str, Any]
) -> Measures:
    """Return the measures of a release."""
    from shoal.spark.examining import measure as measure_release

    with _session(master) as session:
        _require_true(released, manifest, session)
        return measure_release(str(original), str(released), spark=session, **options)
