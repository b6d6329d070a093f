"""The files of a release: written unfinished, verified, and published together or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import verification
from shoal.errors import FileError, UsageError, setting
from shoal.release.files.dictionary import as_markdown, dictionary_of
from shoal.release.files.manifest import as_json, dictionary_path, manifest_of, manifest_path, table_remark
from shoal.release.gate import Gate
from shoal.tables.formats import writers
from shoal.tables.formats.sniff import Format, suffix_of
from shoal.tables.sources.base import Source
from shoal.tables.targets.base import Target
from shoal.tables.targets.file import ReportTarget
from shoal.tables.watch import Watch

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["check_report", "write_to"]

Files = list[tuple[Path, Path]]  # the unfinished and the final path of each file


@dataclass(frozen=True)
class Pages:
    """The unfinished files of a report."""

    public: Files = field(default_factory=list)
    private: Files = field(default_factory=list)


def write_to(
    release: Release, target: Target, *, key: bytes | None, report: ReportTarget | None, watch: Watch
) -> Path | None:
    """Write a release to an open target; see `Release.write_to`."""
    check_report(target, report)
    target.check_layout(plain=release.request.is_plain)
    watch.stage("writing")
    try:
        with release.source.opened(target.folder, watch) as source:
            return _write(release, source, target, key, report, watch)
    except BrokenPipeError:
        raise  # the reader of the stream is gone, which is not an error
    except OSError as error:
        raise FileError(f"{target.place}: cannot be written: {error.strerror}.") from None


def _write(
    release: Release, source: Source, target: Target, key: bytes | None, report: ReportTarget | None, watch: Watch
) -> Path | None:
    source.check_unchanged()
    signature = None if key is None else source.signature(key)
    gate = Gate(release, watch)
    if release.recoding is not None and target.begin(source, release.recoding):
        watch.check()
        target.check(gate)
        target.publish(remark=table_remark(manifest_of(release, target.name, None, signature)))
        return None
    plain, written = _write_file(release, source, target, watch)
    watch.check()
    verdict = gate.check_file(written)
    source.check_unchanged()
    target.write(written, [column.name for column in release.schema.released])
    target.check(gate)
    content = manifest_of(release, target.name, sha256_of(written), signature)
    watch.check()
    if target.path is None:
        target.publish(remark=table_remark(content))
        return None
    pages = _write_report(report, release, verdict, content)
    public = [*_write_dictionary(release, target.path, target, plain), *pages.public]
    content["beside"] = {final.name: sha256_of(unfinished) for unfinished, final in public}
    manifest = target.temporary("manifest.json")
    _write_text(manifest, as_json(content))
    watch.check()
    # The manifest comes last: whoever finds it with the right hashes has the complete release.
    beside = [*public, *pages.private, (manifest, manifest_path(target.path))]
    target.publish(beside, private=[final for _, final in pages.private])
    return manifest_path(target.path)


def _write_file(release: Release, source: Source, target: Target, watch: Watch) -> tuple[Path, Path]:
    """Write the release to an unfinished file; return the path as CSV, if there is one, and in the final format."""
    written = target.temporary(f"release{suffix_of(target.format)}")
    if release.recoding is None:
        writers.write_release(release.file_text, written, target.format, watch)
        return written, written
    if target.format is Format.EXCEL:
        raise UsageError(
            f"{target.place}: a workbook is made in memory. Name a .csv or .parquet file, or use "
            f"{setting('engine', 'memory')}."
        )
    plain = target.temporary("release.csv")
    source.write(release.recoding, plain)
    if target.format is Format.GZIP:
        writers.compress(plain, written, keep=True, watch=watch)
    elif target.format is Format.PARQUET:
        from shoal.tables.formats.columnar import sink_parquet

        sink_parquet(plain, written)
    return plain, written


def check_report(target: Target, report: ReportTarget | None) -> None:
    """Refuse a report without a release that is a file, or in the place of a file of the release."""
    if report is None:
        return
    if target.path is None:
        raise UsageError(
            f"{report.path}: a report goes with a file. Name a file with {setting('output')}, or leave out "
            f"{setting('report')}."
        )
    names = {dictionary_path(target.path, ".json"), manifest_path(target.path)}
    if conflicts := names & set(report.public):
        raise UsageError(f"{conflicts.pop()}: is a file of the release. Name another report.")


def _write_report(
    report: ReportTarget | None, release: Release, verdict: verification.Verdict, content: Mapping[str, Any]
) -> Pages:
    """Write the report of a release that passed the gate to unfinished files; content: of its manifest."""
    from shoal.report import Written, as_html, gather, private_part, public_part
    from shoal.report import as_json as report_json

    if report is None:
        return Pages()
    name = str(content["file"])
    written = Written(
        name,
        content["sha256"],
        manifest_path(Path(name)).name,
        verdict.rows,
        verdict.groups,
        verdict.smallest_group,
        content.get("input_hmac_sha256"),
    )
    evidence = gather(release, written)
    pages = Pages()
    for finals, part, files in (
        (report.public, public_part(evidence), pages.public),
        (report.private, private_part(evidence), pages.private),
    ):
        for final, text in zip(finals, (as_html(part), report_json(part)), strict=True):
            unfinished = report.temporary(final.name)
            _write_text(unfinished, text)
            files.append((unfinished, final))
    return pages


def _write_dictionary(release: Release, path: Path, target: Target, plain: Path) -> Files:
    """Write the data dictionary as JSON and as a page to unfinished files."""
    content = dictionary_of(release, path.name, plain)
    files = []
    for suffix, text in ((".json", as_json(content)), (".md", as_markdown(path.name, content))):
        unfinished = target.temporary(f"dictionary{suffix}")
        _write_text(unfinished, text)
        files.append((unfinished, dictionary_path(path, suffix)))
    return files


def _write_text(path: Path, text: str) -> None:
    with writers.create(path) as file:
        file.write(text.encode())


def sha256_of(path: Path) -> str:
    """Return the hash of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
