"""The files of a release: written unfinished, verified, and published together or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal import verification
from shoal.errors import FileError, Note, UsageError, setting
from shoal.release.files.dictionary import as_markdown, dictionary_of
from shoal.release.files.layout import file_layout, spreadsheet_safe
from shoal.release.files.manifest import as_json, dictionary_path, manifest_of, manifest_path, table_remark
from shoal.release.files.reading import read_typed, typed_columns
from shoal.release.files.signature import SigningKey, check_secret, sign
from shoal.release.gate import Gate
from shoal.report.warnings import about_one_value
from shoal.schema import INPUT, Role
from shoal.tables.formats import writers
from shoal.tables.formats.memory_limit import give_back
from shoal.tables.formats.sniff import Format, suffix_of
from shoal.tables.sources.base import Recoding, Source
from shoal.tables.targets.base import Target
from shoal.tables.targets.file import ReportTarget
from shoal.tables.targets.folders import PrivateFolder
from shoal.tables.targets.moves import Held, Move
from shoal.tables.targets.places import Place, check_distinct
from shoal.tables.watch import Watch

if TYPE_CHECKING:
    import polars as pl

    from shoal.release.release import Release, Request

__all__ = ["Published", "check_report", "check_signable", "check_text", "notes_of", "read_written", "write_to"]


class Published(NamedTuple):
    """A release that was written and has passed the gate.

    Attributes:
        manifest: The path of its manifest; None if it is not a file.
        notes: What the gate noticed.
    """

    manifest: Path | None
    notes: tuple[Note, ...] = ()


class Report(NamedTuple):
    """Where a report goes, and how it spells the settings that it mentions."""

    target: ReportTarget
    spell: Callable[[str], str]


@dataclass(frozen=True)
class Pages:
    """The files of a report, finished but not in their places."""

    public: list[Move] = field(default_factory=list)
    private: list[Move] = field(default_factory=list)


def write_to(
    release: Release,
    target: Target,
    *,
    key: bytes | None,
    sign_key: SigningKey | None,
    report: ReportTarget | None,
    watch: Watch,
    spell: Callable[[str], str],
) -> Published:
    """Write a release to an open target; see `Release.write_to`."""
    check_report(target, report)
    check_signable(target, sign_key)
    check_text(target.place, target.format, release.request)
    if key is not None:
        check_secret(key, "key")
    target.check_layout(plain=release.request.is_plain)
    try:
        with release.source.opened(target.folder, watch) as source:
            watch.stage("writing")
            pages = None if report is None else Report(report, spell)
            return _write(release, source, target, (key, sign_key), pages, watch)
    except BrokenPipeError:
        raise  # the reader of the stream is gone, which is not an error
    except OSError as error:
        raise FileError(f"{target.place}: cannot be written: {error.strerror}.") from None


def _write(
    release: Release,
    source: Source,
    target: Target,
    keys: tuple[bytes | None, SigningKey | None],
    report: Report | None,
    watch: Watch,
) -> Published:
    source.check_unchanged()
    key, sign_key = keys
    input_hash = None if key is None else source.signature(key)
    gate = Gate(release, watch)
    if isinstance(release.recoding, Recoding) and target.begin(source, release.recoding):
        watch.check()
        target.check(gate)
        target.publish(remark=table_remark(manifest_of(release, target.name, None, input_hash)))
        return Published(None)
    plain, written = _write_file(release, source, target, watch)
    watch.check()
    held = Held(written)  # from here on the file is known by its descriptor and its hash, not by its name
    verdict = gate.check_file(written)
    source.check_unchanged()
    target.write(held, [column.name for column in release.schema.released])
    target.check(gate)
    content = manifest_of(release, target.name, held.sha256, input_hash)
    watch.check()
    if target.files is None:
        target.publish(remark=table_remark(content))
        return Published(None, notes_of(release, verdict))
    pages = _write_report(report, release, verdict, content)
    public = [*_write_dictionary(release, target.files, plain), *pages.public]
    content["beside"] = {move.final.name: move.held.sha256 for move in public}
    content = content if sign_key is None else sign(content, sign_key)
    manifest = _write_text(target.files, manifest_path(target.files.path), as_json(content))
    watch.check()
    # The manifest comes last: whoever finds it with the right hashes has the complete release.
    target.publish([*public, *pages.private, manifest])
    return Published(manifest.final, notes_of(release, verdict))


def notes_of(release: Release, verdict: verification.Verdict) -> tuple[Note, ...]:
    """Return what the gate noticed of a release whose rows are not in memory."""
    return tuple(about_one_value(verdict.one_value, verdict.rows - release.public_figures.starred))


def _write_file(release: Release, source: Source, target: Target, watch: Watch) -> tuple[Path, Path]:
    """Write the release to an unfinished file; return the path as CSV, if there is one, and in the final format."""
    written = target.temporary(f"release{suffix_of(target.format)}")
    if release.recoding is None:
        types = _types(release) if target.format in (Format.PARQUET, Format.EXCEL) else {}
        delimiter = release.delimiter
        writers.write_release(release.file_text, written, target.format, watch, delimiter=delimiter, types=types)
        return written, written
    if target.format is Format.EXCEL:
        raise UsageError(
            f"{target.place}: a workbook is made in memory. Name a .csv or .parquet file, or use "
            f"{setting('engine', 'memory')}."
        )
    plain = target.temporary("release.csv")
    _write_recoded(release, source, plain)
    if target.format is Format.GZIP:
        writers.compress(plain, written, keep=True, watch=watch)
    elif target.format is Format.PARQUET:
        from shoal.tables.formats.columnar import sink_parquet

        sink_parquet(plain, written)
    return plain, written


def _write_recoded(release: Release, source: Source, path: Path) -> None:
    """Write the release of a table that was counted where it is."""
    if isinstance(release.recoding, Recoding):
        source.write(release.recoding, path)
        return
    dealer = source.dealer()
    assert dealer is not None
    assert release.recoding is not None
    give_back()
    dealer.deal(replace(release.recoding, layout=file_layout(release)), path)


def read_written(release: Release) -> pl.DataFrame:
    """Write a release to a private file, pass it through the gate and read it."""
    from shoal.tables.csv import read_csv

    release = replace(release, request=release.request.without_form)
    with PrivateFolder() as private, release.source.opened(private.path) as source:
        source.check_unchanged()
        written = private.path / "release.csv"
        _write_recoded(release, source, written)
        Gate(release).check_file(written)
        frame = read_csv(written, delimiter=",", encoding="utf-8", header=True).frame
    return read_typed(release, frame)


def _types(release: Release) -> dict[str, Any]:
    """Return the types of columns by their name in a file: those that are released unchanged keep theirs.

    Quasi-identifiers are among them if the whole table is released as it is. Centres and their spread have types, too.
    """
    request, schema, types = release.request, release.schema, release.original.types
    if request.has_centers:
        columns = typed_columns(release, release.lay_out(safe=False).table.frame).values()
        own = {each.name: each.dtype for some in columns for each in some}
        keeps_qi = False
    else:
        own, cells, before = {}, release.table.frame, release.original.frame
        is_bare = request.cells != "bounds" and release.recoding is None
        rows = release.source_rows
        is_bare = is_bare and bool((rows < before.height).all())  # else the gate stops the release
        keeps_qi = is_bare and all(cells[c.name].equals(before[c.name].gather(rows)) for c in schema.qi)
    unchanged = [column.name for column in schema.released if keeps_qi or column.role is not Role.QI]
    own |= {name: types[name] for name in unchanged if name in types}
    return {spreadsheet_safe(name) if request.spreadsheet_safe else name: dtype for name, dtype in own.items()}


def check_report(target: Target, report: ReportTarget | None) -> None:
    """Refuse a report without a release that is a file, or in the place of a file of the release."""
    if report is None:
        return
    if target.files is None:
        raise UsageError(
            f"{report.path}: a report goes with a file. Name a file with {setting('output')}, or leave out "
            f"{setting('report')}."
        )
    check_distinct([target.files, report])


def check_text(place: str, form: Format, request: Request) -> None:
    """Refuse a delimiter or a decimal mark for a release that is not text; place: where it goes, for messages."""
    if form in (Format.CSV, Format.GZIP):
        return
    for name, what, is_set in (
        ("output_delimiter", "delimiter", request.output_delimiter != ","),
        ("output_decimal", "decimal mark", request.output_decimal != INPUT),
    ):
        if is_set:
            raise UsageError(f"{place}: is {form}, which has no {what}. Leave out {setting(name)}.")


def check_signable(target: Target, sign_key: SigningKey | None) -> None:
    """Refuse to sign a release that is not a file: what is signed is the hash of the file."""
    if sign_key is not None and target.files is None:
        raise UsageError(
            f"{target.place}: a signature is over the hash of a file. Name a file with {setting('output')}, or leave "
            f"out {setting('sign_key')}."
        )


def _write_report(
    report: Report | None, release: Release, verdict: verification.Verdict, content: Mapping[str, Any]
) -> Pages:
    """Write the report of a release that passed the gate to unfinished files; content: of its manifest."""
    if report is None:
        return Pages()
    from shoal.report import Written, as_html, gather, private_part, public_part
    from shoal.report import as_json as report_json

    name = str(content["file"])
    written = Written(
        name,
        content["sha256"],
        manifest_path(Path(name)).name,
        verdict.rows,
        verdict.groups,
        verdict.smallest_group,
        content.get("input_hmac_sha256"),
        report.spell,
        verdict.one_value,
    )
    evidence, target = gather(release, written), report.target
    pages = Pages()
    for finals, part, files in (
        (target.public, public_part(evidence), pages.public),
        (target.private, private_part(evidence), pages.private),
    ):
        for final, text in zip(finals, (as_html(part), report_json(part)), strict=True):
            files.append(_write_text(target, final, text, private=final in target.private))
    return pages


def _write_dictionary(release: Release, target: Place, plain: Path) -> list[Move]:
    """Write the data dictionary as JSON and as a page to unfinished files."""
    content = dictionary_of(release, target.path.name, plain)
    texts = ((".json", as_json(content)), (".md", as_markdown(target.path.name, content)))
    return [_write_text(target, dictionary_path(target.path, suffix), text) for suffix, text in texts]


def _write_text(place: Place, final: Path, text: str, *, private: bool = False) -> Move:
    """Write a text to an unfinished file and hold it."""
    unfinished = place.temporary(f"text-{place.finals.index(final)}")
    with writers.create(unfinished) as file:
        # The name of a file may contain bytes that are not UTF-8; JSON reads their escapes as the same name.
        file.write(text.encode(errors="backslashreplace"))
    return place.move(Held(unfinished), final, private=private)
