"""The gate: the verifier examines what was written, against the original and the request, before it is published."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import verification
from shoal.errors import VerificationError, join_problems
from shoal.hierarchy.base import values_under
from shoal.methods.full_domain.sampling import Drawable
from shoal.schema import Reading
from shoal.tables.formats.memory_limit import give_back
from shoal.tables.sources.base import Dealing, Recoding, Rows
from shoal.tables.watch import UNWATCHED, Watch

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["Gate", "verify_cells"]


@dataclass(frozen=True)
class Gate:
    """Holds one release against its source and its request.

    A release that was made in memory is compared row by row. Any other is compared as a bag of rows, which needs no row
    in memory: the recoding of a full-domain release says what becomes of every row, and the source of a release of
    groups says which cells each row was made from.
    """

    release: Release
    watch: Watch = UNWATCHED

    def check_file(self, written: Path) -> verification.Verdict:
        """Read the written bytes again; raise a VerificationError if they fail."""
        self.watch.stage("verifying")
        with self.release.source.guarded():
            if self.release.recoding is None:
                return _require(self._gate_rows(written))
            if isinstance(self.release.recoding, Dealing):
                return _require(self._gate_dealt(written))
            return _require(self._gate_recoded(written, self.release.recoding))

    def check_recoded(self, connection: Any, staging: tuple[str, str], source: tuple[str, str]) -> None:
        """Compare a staging table with the table of the same database that it was made from."""
        release = self.release
        assert isinstance(release.recoding, Recoding)
        verdict = verification.check_recoded(
            connection,
            staging,
            source,
            release.schema,
            release.request.k,
            self._claimed(release.recoding),
            **self.goal,
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
            population=self.population,
            center=request.center if request.has_centers else None,
            groups=() if release.groups is None else release.groups[release.file_rows],
            spread=request.spread,
            step=self._step(0.5),
            **self.goal,
        )

    def _gate_recoded(self, written: Path, recoding: Recoding) -> verification.Verdict:
        release, request = self.release, self.release.request
        names = [column.name for column in release.schema.released]
        coded = [column.name for column in release.schema.columns if column.codings]
        return verification.gate_recoded(
            written,
            release.schema,
            request.k,
            self._watched(self._rows(names)),
            self._claimed(recoding),
            outliers=self._rows(coded) if coded else None,
            step=self._step(0.0),
            **self.goal,
        )

    def _gate_dealt(self, written: Path) -> verification.Verdict:
        release, request = self.release, self.release.request
        dealer = release.source.dealer()
        assert dealer is not None
        give_back()
        return verification.gate_dealt(
            written,
            release.schema,
            request.k,
            dealer.original(verification),
            dealer.witness(),
            release.claims(),
            keep_order=request.keep_order,
            bounds=release.ends if request.cells == "bounds" else (),
            spreadsheet_safe=request.spreadsheet_safe,
            delimiter=release.delimiter,
            decimal=request.output_decimal,
            center=request.center if request.has_centers else None,
            spread=request.spread,
            population=self.population,
            step=self._step(0.0),
            **self.goal,
        )

    @property
    def layout(self) -> verification.Layout:
        """How a file shows the released columns."""
        release, request = self.release, self.release.request
        return verification.Layout(
            frozenset(release.ends if request.cells == "bounds" else ()),
            request.spreadsheet_safe,
            release.delimiter,
            request.output_decimal,
            request.center if request.has_centers else None,
            request.spread,
        )

    @property
    def population(self) -> dict[str, list[str]] | None:
        """The text of the population by column name."""
        population = self.release.population
        return None if population is None else {name: population.frame[name].to_list() for name in population.names}

    @property
    def goal(self) -> verification.Goal:
        """What the release must meet besides k."""
        release = self.release
        return {
            "suppression_limit": release.request.suppression_limit,
            "labels": _values_under(release),
            "models": release.request.specs,
            "paths": release.paths,
            "ladders": release.ladders,
        }

    def _claimed(self, recoding: Recoding) -> verification.Claimed:
        return verification.Claimed(recoding.maps, recoding.kept, self.release.claims())

    def _rows(self, names: list[str]) -> Rows:
        """Have the verifier read columns of the source, and pass on the rows that were drawn."""
        source, first = self.release.source, 0
        drawn = source.drawn if isinstance(source, Drawable) else None
        for block in source.verify_rows(verification, names):
            if drawn is None:
                yield block
                continue
            yield [
                row for row, is_drawn in zip(block, drawn[first : first + len(block)].tolist(), strict=True) if is_drawn
            ]
            first += len(block)

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
        labels=_values_under(release),
        models=request.specs,
        population=None if release.population is None else release.population.frame,
        paths=release.paths,
    )


def _values_under(release: Release) -> dict[str, Mapping[str, frozenset[str]]]:
    """Return by column the values below each label, those that only the population has among them."""
    more = {
        name: values_under({**release.ladders[name], **labels})
        for name, labels in release.population_labels.items()
        if labels
    }
    return {**release.labels, **more}


def _require(verdict: verification.Verdict) -> verification.Verdict:
    if not verdict.ok:
        reasons = join_problems(verdict.violations)
        raise VerificationError(f"the release was made but failed its own check; nothing was written.\n{reasons}")
    return verdict
