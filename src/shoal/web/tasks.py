"""What a worker process does: read and profile a table, make a release, lay out a hierarchy, estimate a run.

Every function takes plain values and a `Watch`, calls the library as the command line does, and returns plain values.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, Note
from shoal.schema import ISO
from shoal.settings.settings import Settings
from shoal.tables.watch import Watch
from shoal.web.words import in_words

if TYPE_CHECKING:
    from shoal.release.job import Outcome
    from shoal.tables.table import Table

__all__ = ["AFTER", "BEFORE", "CODES", "PROPOSED", "ROWS", "forecast", "load", "make_release", "show_hierarchy"]

ROWS = "rows.arrow"  # the cells of a loaded table
CODES = "codes.npy"  # the code of each cell, one row per column
PROPOSED = "proposed.toml"  # the settings that the profile proposes
BEFORE, AFTER = "before.arrow", "after.arrow"  # the rows of a release, before and after
BATCH_ROWS = 50_000
MOST_SHOWN = 2_000  # values of a hierarchy


def load(place: str, settings: Settings, folder: Path, watch: Watch) -> dict[str, Any]:
    """Read and profile a table, and write what the pages show of it to a folder.

    Args:
        place: A path, or the URL of a table.
        settings: How to read it.
        folder: Where the cells and their codes go.
        watch: Hears of progress.

    Returns:
        The number of rows, the profile as in `shoal init --json`, and notes.
    """
    import numpy as np

    from shoal.profile import profile_table
    from shoal.profile.columns import distinct_values
    from shoal.settings.proposal import apply_settings, proposed_settings
    from shoal.settings.write import to_toml
    from shoal.tables.values import Marks

    watch.stage("reading")
    table = _read(place, settings, watch)
    watch.stage("encoding")
    write_rows(table.frame, folder / ROWS)
    codes = np.lib.format.open_memmap(folder / CODES, "w+", np.int32, (len(table.names), table.n_rows))
    for i, name in enumerate(table.names):
        codes[i] = distinct_values(table.frame[name]).coded.codes
        watch.step((i + 1) / len(table.names))
    codes.flush()
    watch.stage("measuring")
    profile = profile_table(table, Marks(*settings.reading.marks))
    proposed = apply_settings(profile, settings)
    (folder / PROPOSED).write_text(
        to_toml(settings.over(proposed_settings(proposed)), columns=table.names), encoding="utf-8"
    )
    return {
        "rows": table.n_rows,
        "columns": list(table.names),
        "profile": _plain(profile.as_dict()),
        "missing": {c.name: c.facts.missing for c in profile.columns},
        "unique": {c.name: c.facts.unique for c in profile.columns},
        "sheets": _sheets(place),
        "notes": [_said(note) for note in table.notes],
    }


def _sheets(place: str) -> list[str]:
    """Return the sheets of a workbook to choose from; none for other tables."""
    from shoal.tables.formats.excel import visible_sheets
    from shoal.tables.formats.sniff import Format, sniff
    from shoal.tables.sources.url import is_file_url, is_url

    if is_url(place) or is_file_url(place) or sniff(Path(place)) is not Format.EXCEL:
        return []
    return list(visible_sheets(Path(place)))


def make_release(
    place: str, settings: Settings, output: Path, report: Path, folder: Path, threads: int, watch: Watch
) -> dict[str, Any]:
    """Make a release with its report, exactly as `shoal anonymize` does.

    Args:
        place: A path, or the URL of a table.
        settings: The settings.
        output: The file to write.
        report: The report to write.
        folder: Where the rows before and after go, for the pages.
        threads: How many threads to use.
        watch: Hears of progress.

    Returns:
        The JSON of `shoal anonymize --json`, and notes.
    """
    from shoal.release.job import Job
    from shoal.release.make import make_run
    from shoal.report.summary import Places, release_facts, release_json

    began = time.perf_counter()
    run = replace(make_run(settings, threads=threads), stage=watch.stage, progress=watch.progress)
    job = Job.from_settings(place, settings, output, run, report=report, spell=in_words)
    outcome = job.execute()
    seconds = time.perf_counter() - began
    places = Places(output.name, None if outcome.manifest is None else outcome.manifest.name, report.name)
    release = outcome.release
    _write_pairs(outcome, folder)
    return {
        "result": _plain(release_json(release, places, seconds)),
        "facts": [[name, _said(text)] for name, text in release_facts(release, places)],
        "notes": [_said(note) for note in (*job.notes, *release.notes)],
    }


def show_hierarchy(place: str, settings: Settings, column: str, rule: Any, watch: Watch) -> dict[str, Any]:
    """Lay out the hierarchy of a column over the values of the table.

    Args:
        place: A path, or the URL of a table.
        settings: How to read it.
        column: The column.
        rule: "auto" for a proposal; otherwise as in the settings.
        watch: Hears of progress.
    """
    from shoal import hierarchy
    from shoal.hierarchy.base import over_values
    from shoal.report.summary import hierarchy_json
    from shoal.tables.values import normalise
    from shoal.tables.values.forms import find_form

    watch.stage("reading")
    table = _read(place, settings, watch)
    if column not in table.names:
        raise InputError(f"column {column!r} is not in the table.")
    kind = settings.reading.kinds.get(column) or settings.kinds.get(column)
    if rule == hierarchy.AUTO:
        found = hierarchy.propose_for(
            table, column, kind=kind, missing=settings.missing, date_format=settings.dates.get(column, ISO)
        )
    else:
        texts = sorted(set(map(normalise, table.frame[column].unique().to_list())) - {"", *settings.missing})
        schema = replace(settings, qi=(column,), hierarchies={}, other_hierarchies=None, others="insensitive")
        schema = replace(schema, sensitive=(), insensitive=(), drop=(), person=None, k_column=None)
        form = schema.schema(table.names).qi[0]
        form = form if form.kind else find_form(form, texts).column
        resolved = replace(settings, hierarchies={column: rule}, other_hierarchies=None).rules()[column]
        found = over_values(resolved, texts, form, column=column)
    shown = dict(list(found.rows.items())[:MOST_SHOWN])
    return {
        **_plain(hierarchy_json(found)),
        "rows": {value: list(labels) for value, labels in shown.items()},
        "shown": len(shown),
    }


def forecast(place: str, settings: Settings, watch: Watch) -> dict[str, Any]:
    """Estimate loss and risk of a run without making it.

    Returns:
        "loss" and "risk", each with "value", "low" and "high"; "risk_max", "counts", "exact", "words", "seconds".
    """
    from shoal.evaluate.comparison.forecast import forecast as estimate

    found = estimate(_read(place, settings, watch), settings)

    def figure(name: str) -> dict[str, float]:
        return {
            "value": getattr(found, name),
            "low": getattr(found, f"{name}_low"),
            "high": getattr(found, f"{name}_high"),
        }

    facts = {"risk_max": found.risk_max, "counts": found.counts, "exact": found.exact, "seconds": found.seconds}
    return {"loss": figure("loss"), "risk": figure("risk"), "words": found.words(), **facts}


_kept: dict[str, Table] = {}  # the table of the last question; a worker has one


def _read(place: str, settings: Settings, watch: Watch) -> Table:
    """Read a table, or return that of the last question if it is the same one."""
    how = settings.reading
    key = repr((place, how.delimiter, how.encoding, how.header, how.sheet, how.duplicate_columns))
    if key not in _kept:
        _kept.clear()
        _kept[key] = _read_anew(place, settings, watch)
    return _kept[key]


def _read_anew(place: str, settings: Settings, watch: Watch) -> Table:
    from shoal.tables.sources.url import is_url

    if is_url(place):
        from shoal.tables.sources import find_source
        from shoal.tables.targets.folders import PrivateFolder

        with PrivateFolder() as private, find_source(place).opened(private.path, watch) as source:
            return source.read()
    from shoal.tables.formats import read_table

    reading = settings.reading
    return read_table(
        place,
        delimiter=reading.delimiter,
        encoding=reading.encoding,
        header=reading.header,
        named=reading.named,
        sheet=reading.sheet,
        duplicate_columns=reading.duplicate_columns,
        watch=watch,
    )


def write_rows(frame: Any, path: Path) -> None:
    """Write cells so that any page of them can be read without the rest."""
    frame.write_ipc(path, compression="uncompressed", record_batch_size=BATCH_ROWS)


def _write_pairs(outcome: Outcome, folder: Path) -> None:
    """Write the released rows, and beside them the cells of the quasi-identifiers that they were made from."""
    release = outcome.release
    if release.recoding is not None:
        return  # the rows were never in memory
    write_rows(release.file_text, folder / AFTER)
    names = [column.name for column in release.schema.qi]
    write_rows(release.original.frame.select(names)[release.file_rows], folder / BEFORE)


def _said(note: str) -> str:
    return in_words(note) if isinstance(note, Note) else str(note)


def _plain(value: Any) -> Any:
    """Return a value that JSON has, with notes as texts."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, str):
        return _said(value)
    if isinstance(value, Sequence | set | frozenset):
        return [_plain(each) for each in value]
    if isinstance(value, bool | int | float) or value is None:
        return value
    return float(value)
