"""A release as a folder of parts: staged, verified by executors, and published by one rename, or not at all."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.errors import FileError, VerificationError, join_problems, setting
from shoal.release.files.layout import file_layout
from shoal.release.files.manifest import as_json, manifest_of
from shoal.release.files.signature import SigningKey, sign
from shoal.release.gate import Gate
from shoal.release.release import Release
from shoal.spark.dealing import Dealt, deal_rows, recode_rows
from shoal.spark.gate import Asked, examine_release
from shoal.spark.parts import Part, write_parts
from shoal.spark.source import SparkSource
from shoal.tables.formats.sniff import Format, suffix_of
from shoal.tables.formats.writers import create
from shoal.tables.sources.base import Dealing, Recoding
from shoal.tables.targets import witness
from shoal.tables.targets.folders import WorkFolder
from shoal.tables.watch import Watch
from shoal.verification import Claimed, Verdict
from shoal.verification.gate_streamed.parts import held_back
from shoal.verification.reading.coded import code_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MANIFEST", "FolderTarget", "Parts", "format_of", "write_parts_of"]

MANIFEST, SUCCESS = "_manifest.json", "_SUCCESS"  # Spark ignores names that begin with an underscore
EXCHANGE = 2  # of renameat2


@dataclass(frozen=True)
class Parts:
    """Verified parts of a release.

    Attributes:
        folder: Where they are.
        parts: The parts in order.
        verdict: What the verifier found.
        hashes: The hash of each part, as the verifier read it.
        names: The columns of the parts.
    """

    folder: Path
    parts: tuple[Part, ...]
    verdict: Verdict
    hashes: tuple[str, ...]
    names: tuple[str, ...] = ()


def format_of(path: Path) -> Format:
    """Return the format of the parts of a folder, from its name."""
    return Format.PARQUET if path.suffix in (".parquet", ".pq") else Format.CSV


def write_parts_of(release: Release, source: SparkSource, folder: Path, form: Format, watch: Watch) -> Parts:
    """Write the parts of a release to a private folder, and have executors verify them.

    Args:
        release: The release.
        source: Its open source.
        folder: A private folder that every executor can reach.
        form: CSV or Parquet.
        watch: Hears of stages and may cancel.

    Raises:
        VerificationError: If the parts fail.
    """
    recoding, spark = release.recoding, source.spark
    watch.stage("writing")
    dealt: Dealt | None = None
    if isinstance(recoding, Dealing):
        laid = replace(recoding, layout=file_layout(release))
        dealt = deal_rows(source.cells, laid, spark, held_back(release.schema))
        rows, rendering = dealt.rows, dealt.rendering
        claimed = Claimed({}, None, release.claims())
    else:
        assert isinstance(recoding, Recoding)
        rows, rendering = recode_rows(source.cells, recoding)
        claimed = Claimed(recoding.maps, recoding.kept, release.claims())
    parts = source.run(lambda: write_parts(rows, rendering, folder, form))
    source.check_unchanged()
    watch.stage("verifying")
    gate = Gate(release)
    people = None if gate.population is None else code_columns(gate.population)
    asked = Asked(release.schema, release.request.k, gate.goal, claimed, gate.layout, people)
    verdict, hashes = source.run(lambda: examine_release(spark, source.cells, folder, parts, rendering, dealt, asked))
    source.check_unchanged()
    if not verdict.ok:
        reasons = join_problems(verdict.violations)
        raise VerificationError(f"the release was made but failed its own check; nothing was written.\n{reasons}")
    return Parts(folder, tuple(parts), verdict, tuple(hashes), rendering.names)


class FolderTarget:
    """A folder that does not exist yet, or that may be replaced; a context manager that stages beside it."""

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Name the folder.

        Args:
            path: The folder; a name that ends with .parquet makes parts of that format, any other CSV.
            force: Whether to replace a release that exists.
        """
        self.path = Path(os.path.abspath(path))
        self.form = format_of(self.path)
        self._force = force

    @contextmanager
    def staged(self) -> Iterator[Path]:
        """Make the private folder beside it in which parts are written."""
        self._refuse()
        try:
            with WorkFolder(
                self.path.parent, f".{self.path.name}.shoal-", busy=f"{self.path}: another run writes to it."
            ) as work:
                folder = Path(os.path.realpath(work.path)) / "parts"
                folder.mkdir(mode=0o700)
                yield folder
        except OSError as error:
            raise FileError(f"{self.path}: cannot be written: {error.strerror}.") from None

    def _refuse(self) -> None:
        if not os.path.isdir(self.path.parent):
            raise FileError(f"{self.path.parent}: is not a folder. Make it first.")
        if not os.path.lexists(self.path):
            return
        is_release = self.path.is_dir() and not self.path.is_symlink() and (self.path / MANIFEST).is_file()
        if not is_release and (not self.path.is_dir() or any(self.path.iterdir())):
            raise FileError(f"{self.path}: exists and is not a release in parts. Name another folder.")
        if is_release and not self._force:
            raise FileError(f"{self.path}: exists. Name another folder, or use {setting('force', True)} to replace it.")

    def publish(self, parts: Parts, content: Mapping[str, Any], sign_key: SigningKey | None = None) -> Path:
        """Put the parts and the manifest into their place by one rename; return the path of the manifest."""
        final = parts.folder.parent / "release"
        final.mkdir(mode=0o755)
        hashes = {}
        for number, (part, sha256) in enumerate(zip(parts.parts, parts.hashes, strict=True)):
            name = f"part-{number:05}{suffix_of(self.form)}"
            os.rename(parts.folder / part.name, final / name)
            os.chmod(final / name, 0o644)
            hashes[name] = sha256
        whole = {**content, "sha256": None, "parts": hashes}
        whole = whole if sign_key is None else sign(whole, sign_key)
        for name, text in ((MANIFEST, as_json(whole)), (SUCCESS, "")):
            with create(final / name) as file:
                file.write(text.encode(errors="backslashreplace"))
                file.flush()
                os.fsync(file.fileno())
            os.chmod(final / name, 0o644)
        self._refuse()
        witness.current().committing()
        _put(final, self.path)
        witness.current().committed()
        return self.path / MANIFEST


def _put(staged: Path, final: Path) -> None:
    """Rename a folder to its place. If one is there already, exchange the two, which no crash can interrupt."""
    if not final.exists():
        os.rename(staged, final)
        return
    library = ctypes.CDLL(None, use_errno=True)
    here = -100  # AT_FDCWD
    exchanged = getattr(library, "renameat2", None)
    if exchanged is None or exchanged(here, os.fsencode(staged), here, os.fsencode(final), EXCHANGE):
        raise FileError(f"{final}: cannot be replaced at once on this system. Remove it, and run again.")


def manifest_content(release: Release, target: FolderTarget, input_hash: str | None = None) -> dict[str, Any]:
    """Return what the manifest of a release in parts says besides the hashes of the parts."""
    return manifest_of(release, target.path.name, None, input_hash)
