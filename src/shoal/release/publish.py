"""The files of a release: written unfinished, checked, and published together or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import verification
from shoal.errors import UsageError, VerificationError, join_problems
from shoal.release.data_dictionary import Seen, as_markdown, describe_columns
from shoal.tables.targets.database import TableTarget
from shoal.tables.targets.file import Beside, Stream, Target

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = [
    "Pages",
    "check_report",
    "load_table",
    "manifest_path",
    "publish_files",
    "require",
    "sha256_of",
    "table_remark",
    "write_dictionary",
    "write_report",
]


@dataclass(frozen=True)
class Pages:
    """The files of a report that are not in their places yet: unfinished paths with their final ones."""

    public: list[tuple[Path, Path]] = field(default_factory=list)
    private: list[tuple[Path, Path]] = field(default_factory=list)


def require(verdict: verification.Verdict) -> verification.Verdict:
    """Return the verdict of the gate, or raise a VerificationError where it said no."""
    if not verdict.ok:
        reasons = join_problems(verdict.violations)
        raise VerificationError(f"the release was made but did not pass its own check; nothing was written.\n{reasons}")
    return verdict


def check_report(target: Target | Stream | TableTarget, report: Beside | None) -> None:
    """Refuse a report where it cannot come with the release, or would take the place of one of its files."""
    if report is None:
        return
    if not isinstance(target, Target):
        raise UsageError(f"{report.path}: a report is written with a file. Name a file with -o, or leave --report out.")
    names = {dictionary_path(target.path, ".json"), manifest_path(target.path)}
    if taken := names & set(report.public):
        raise UsageError(f"{taken.pop()}: is a file of the release. Name another report.")


def write_report(
    report: Beside | None, release: Release, verdict: verification.Verdict, content: Mapping[str, Any]
) -> Pages:
    """Write the report of a release that has passed the gate to unfinished files; content: of its manifest."""
    from shoal.report import Written, as_html, as_json, gather, private_part, public_part

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
        for final, text in zip(finals, (as_html(part), as_json(part)), strict=True):
            unfinished = report.temporary(final.name)
            _write_text(unfinished, text)
            files.append((unfinished, final))
    return pages


def publish_files(
    target: Target, unfinished: Path, beside: list[tuple[Path, Path]], content: dict[str, Any], pages: Pages
) -> Path:
    """Write the manifest and bring all files of a release to their places; return the path of the manifest."""
    manifest = target.temporary("manifest.json")
    public = [*beside, *pages.public]
    content["beside"] = {final.name: sha256_of(written) for written, final in public}
    _write_text(manifest, _json(content))
    # The manifest comes last: whoever finds it with the right hashes has all of the release.
    files = [(unfinished, target.path), *public, *pages.private, (manifest, manifest_path(target.path))]
    target.publish(files, private=[final for _, final in pages.private])
    return manifest_path(target.path)


def load_table(target: TableTarget, checked: Path, release: Release, content: dict[str, Any]) -> None:
    """Load a file that has passed the gate into a staging table, recount it there, and give it its name."""
    target.begin()
    target.stage_file(checked, [column.name for column in release.schema.released])
    with target.guarded():
        verdict = verification.check_copy(
            target.connection, target.staging, checked, release.schema, release.request.k, release.claims()
        )
    require(verdict)
    target.publish(table_remark(content))


def table_remark(content: dict[str, Any]) -> str:
    """Return the manifest of a release that is a table: there is no file, and so no hash of one."""
    return _json({"table" if name == "file" else name: fact for name, fact in content.items() if name != "sha256"})


def write_dictionary(target: Target, release: Release, cells: Mapping[str, Seen], rows: int) -> list[tuple[Path, Path]]:
    """Write the data dictionary as JSON and as a page; return the unfinished files with their final paths."""
    k = release.request.k
    columns = describe_columns(cells, release.schema, k, release.labels, release.measures.per_attribute)
    content = {"file": target.path.name, "rows": rows, "k": k, "columns": columns}
    written = []
    for suffix, text in ((".json", _json(content)), (".md", as_markdown(target.path.name, content))):
        unfinished = target.temporary(f"dictionary{suffix}")
        _write_text(unfinished, text)
        written.append((unfinished, dictionary_path(target.path, suffix)))
    return written


def dictionary_path(path: Path, suffix: str) -> Path:
    """Return where the data dictionary of a release stands: beside it, as .json and as .md."""
    return path.with_name(f"{path.name}.dictionary{suffix}")


def manifest_path(path: Path) -> Path:
    """Return where the manifest of a release stands: beside it."""
    return path.with_name(path.name + ".manifest.json")


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _write_text(path: Path, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def sha256_of(path: Path) -> str:
    """Return the hash of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
