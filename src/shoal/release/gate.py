"""The gate: the verifier examines what was written, against the original and the request, before it is published."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import verification
from shoal.errors import VerificationError, join_problems
from shoal.schema import Reading
from shoal.tables.sources.base import Recoding, Rows
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["Gate", "verify_cells"]


@dataclass(frozen=True)
class Gate:
    """Holds one release against its source and its request.

    A release that was made row by row is compared row by row. A full-domain release is compared as a bag of rows, since
    its recoding says what becomes of every row; that needs no row in memory.
    """

    release: Release
    watch: Watch = UNWATCHED

    def check_file(self, written: Path) -> verification.Verdict:
        """Read the written bytes again; raise a VerificationError if they fail."""
        self.watch.stage("verifying")
        with self.release.source.guarded():
            if self.release.recoding is None:
                return _require(self._gate_rows(written))
            return _require(self._gate_recoded(written, self.release.recoding))

    def check_recoded(self, connection: Any, staging: tuple[str, str], source: tuple[str, str]) -> None:
        """Compare a staging table with the table of the same database that it was made from."""
        release = self.release
        assert release.recoding is not None
        verdict = verification.check_recoded(
            connection,
            staging,
            source,
            release.schema,
            release.request.k,
            self._claimed(release.recoding),
            **self._goal,
        )
        _require(verdict)

    def check_copy(self, connection: Any, staging: tuple[str, str], written: Path) -> None:
        """Compare a staging table with the verified file that was loaded into it."""
        release = self.release
        _require(
            verification.check_copy(connection, staging, written, release.schema, release.request.k, release.claims())
        )

    def _gate_rows(self, written: Path) -> verification.Verdict:
        release, request = self.release, self.release.request
        population = release.population
        return verification.gate(
            written,
            release.schema,
            request.k,
            release.source.verify_columns(verification, self._step(0.0)),
            release.file_rows,
            release.claims(),
            keep_order=request.keep_order,
            bounds=release.ends if request.cells == "bounds" else (),
            spreadsheet_safe=request.spreadsheet_safe,
            delimiter=release.delimiter,
            decimal=request.output_decimal,
            population=None
            if population is None
            else {name: population.frame[name].to_list() for name in population.names},
            step=self._step(0.5),
            **self._goal,
        )

    def _gate_recoded(self, written: Path, recoding: Recoding) -> verification.Verdict:
        release, request = self.release, self.release.request
        names = [column.name for column in release.schema.released]
        return verification.gate_recoded(
            written,
            release.schema,
            request.k,
            self._watched(release.source.verify_rows(verification, names)),
            self._claimed(recoding),
            step=self._step(0.0),
            **self._goal,
        )

    @property
    def _goal(self) -> verification.Goal:
        release = self.release
        return {
            "suppression_limit": release.request.suppression_limit,
            "labels": release.labels,
            "models": release.request.specs,
            "paths": release.paths,
            "ladders": release.ladders,
        }

    def _claimed(self, recoding: Recoding) -> verification.Claimed:
        return verification.Claimed(recoding.maps, recoding.kept, self.release.claims())

    def _watched(self, rows: Rows) -> Iterator[list[list[str]]]:
        n_read, step = 0, self._step(0.5)
        for block in rows:
            yield block
            n_read += len(block)
            step(n_read)

    def _step(self, start: float) -> Callable[[int], None]:
        """Return what reports progress from the number of rows; reading either table is half of the work."""
        n_rows = max(1, self.release.original.n_rows)
        return lambda n_read: self.watch.step(start + 0.5 * min(1.0, n_read / n_rows))


def verify_cells(release: Release) -> None:
    """Raise a VerificationError if the cells of a release in memory do not meet its request."""
    schema, request = release.schema, release.request
    verification.verify(
        release.text,
        qi=[column.name for column in schema.qi],
        k=request.k,
        reading=Reading(
            missing=schema.missing,
            decimal=schema.marks[0],
            thousands=schema.marks[1],
            forms={column.name: column for column in schema.released if column.kind is not None},
        ),
        labels=release.labels,
        models=request.specs,
        population=None if release.population is None else release.population.frame,
        paths=release.paths,
    )


def _require(verdict: verification.Verdict) -> verification.Verdict:
    if not verdict.ok:
        reasons = join_problems(verdict.violations)
        raise VerificationError(f"the release was made but failed its own check; nothing was written.\n{reasons}")
    return verdict
