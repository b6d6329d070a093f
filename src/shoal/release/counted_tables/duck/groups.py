"""Groups in files of the private folder: what was found in the sections of a table that DuckDB has."""

from __future__ import annotations

import secrets
import shutil
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.metrics.measure import GroupSizes
from shoal.metrics.partition_loss import CellFacts
from shoal.metrics.singled import Singled, added_figures
from shoal.release.counted_tables.sections.search import SectionGroups, added_verdicts
from shoal.rules import RuleVerdict
from shoal.tables.sorting import Packing
from shoal.tables.sources.base import Dealing
from shoal.tables.sources.dealing import Engine
from shoal.tables.sources.duck_session import DuckSession, literal
from shoal.tables.sources.numbering import Numbering
from shoal.tables.targets.folders import PrivateFolder

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DuckFound", "FiledGroups", "clear_runs", "keep_groups"]

Counts = NDArray[np.int64]
Again = Callable[[Engine], "DuckFound"]  # searches the groups again


class DuckFound:
    """The groups of all sections in files; see `shoal.release.counted_tables.searcher.Found`.

    An entry has its packed tuple or unit, `several`, `place`, `rows`, and the number of its cell in each column: c0 and
    so on. If groups show their centres, the numbers of what they show follow, and `group` numbers the groups. Entries
    whose rows are not released are in files of their own, without rows and cells.

    Args:
        engine: The source.
        packing: How tuples or units are packed.
        again: What searches the groups again.
        by_person: Whether the last code of a unit is that of its person.
    """

    def __init__(self, engine: Engine, packing: Packing, again: Again, *, by_person: bool = False) -> None:
        self.parts: list[Path] = []
        self._by_person = by_person
        self.left_out: list[Path] = []
        self._engine, self._packing, self._again = engine, packing, again
        # The path of the private folder may be that of a later one, so the name must tell them apart.
        self._folder = engine.session.folder / f"groups-{secrets.token_hex(8)}"
        self._folder.mkdir(mode=0o700)
        self._cells = [Numbering() for _ in range(packing.n_keys)]
        self._rows: list[Counts] = [np.zeros(0, dtype=np.int64) for _ in range(packing.n_keys)]
        self._n_groups = 0
        self._sse: list[float] = []
        self._singled: list[Singled] = []
        self._verdicts: list[tuple[RuleVerdict, ...]] = []

    def add(self, tuples: pl.DataFrame, groups: SectionGroups) -> None:
        """Store the groups of the next section; tuples: its tuples or units, packed."""
        import polars as pl

        entries = groups.entries(tuples)
        if not groups.kept.all():
            gone = entries.filter(pl.Series(~groups.kept)).drop("rows")
            self.left_out.append(self._write(f"left-out-{len(self.parts):06}", gone))
            entries = entries.filter(pl.Series(groups.kept))
        columns, rows_kept = [], groups.rows[groups.kept]
        for i, keys in enumerate((*groups.cells, *groups.shown)):
            if i == len(self._cells):
                self._cells.append(Numbering())
                self._rows.append(np.zeros(0, dtype=np.int64))
            cells = self._cells[i].number(pl.Series(keys[groups.kept].tolist(), dtype=pl.String))
            rows = np.bincount(cells, rows_kept, len(self._cells[i])).astype(np.int64)
            rows[: len(self._rows[i])] += self._rows[i]
            self._rows[i] = rows
            columns.append(pl.Series(f"c{i}", cells))
        if groups.shown:
            columns.append(pl.Series("group", groups.groups[groups.kept] + np.int64(self._n_groups)))
            self._n_groups += int(groups.groups.max(initial=-1)) + 1
        self.parts.append(self._write(f"entries-{len(self.parts):06}", entries.with_columns(columns)))
        self._sse.append(groups.sse)
        self._singled.append(groups.singled)
        self._verdicts.append(groups.verdicts)

    @property
    def cells(self) -> list[tuple[pl.Series, Counts]]:
        """For each attribute, the keys of its distinct cells, and the rows that show each."""
        return self._counted()[: self._packing.n_keys]

    @property
    def shown(self) -> list[tuple[pl.Series, Counts]]:
        """For each attribute, and then for the spread of each, the distinct texts and the rows that show each."""
        return self._counted()[self._packing.n_keys :]

    def _counted(self) -> list[tuple[pl.Series, Counts]]:
        found = []
        for numbering, rows in zip(self._cells, self._rows, strict=True):
            keys, ranks = numbering.ranks()
            in_order = np.empty_like(rows)
            in_order[ranks] = rows
            found.append((keys, in_order))
        return found

    @property
    def sse(self) -> float:
        """The sum of squares inside groups over that of the table."""
        return sum(self._sse)

    @property
    def singled(self) -> Singled:
        """What the cells show of single rows."""
        return added_figures(self._singled)

    @property
    def verdicts(self) -> tuple[RuleVerdict, ...]:
        """How all groups together keep each rule."""
        return added_verdicts(self._verdicts)

    def group_sizes(self, columns: Sequence[CellFacts], n_rows: int) -> GroupSizes:
        """Return the sizes of the groups that the release shows, and the rows that are exact in every column."""
        import polars as pl

        n_cells = self._packing.n_keys
        cards = [len(each) for each in self._cells[n_cells:]]  # groups that show the same centres are one
        ranking = Packing.of(cards or [int(each.ranks.max(initial=0)) + 1 for each in columns])
        names, sizes, n_exact, n_starred = [f"q{i}" for i in range(len(ranking.parts))], [], 0, 0
        for part, frame, places in self._entries():
            rows, places, shown_places = frame["rows"].to_numpy(), places[:n_cells], places[n_cells:]
            n_exact += int(rows[_all(each.exact[own] for each, own in zip(columns, places, strict=True))].sum())
            starred = _all(each.starred[own] for each, own in zip(columns, places, strict=True))
            n_starred += int(rows[starred].sum())
            ranks = [each.ranks[own] for each, own in zip(columns, places, strict=True)]
            packed = ranking.pack(shown_places or ranks)
            shown = pl.DataFrame(dict(zip(names, packed, strict=True))).with_columns(frame["rows"])
            if self._by_person:
                person = np.where(starred, -1, self._packing.codes(frame)[:, -1])
                shown = shown.group_by(*names, pl.Series("person", person)).agg(pl.col("rows").sum())
            else:
                shown = shown.group_by(names).agg(pl.col("rows").sum())
            sizes.append(self._write(part.stem.replace("entries", "sizes"), shown))
        found = f"read_parquet([{', '.join(map(literal, sizes))}])"
        groups = f"select sum(rows)::bigint as rows from {found} group by {', '.join(names)}"
        query = f"select rows, count(*)::bigint as times from ({groups}) group by rows"
        counted, people = self._engine.session.fetch(query).sort("rows"), None
        if self._by_person:
            pairs = f"select distinct {', '.join(names)}, person from {found} where person >= 0"
            held = f"select count(*)::bigint as n from ({pairs}) group by {', '.join(names)}"
            people = self._engine.session.fetch(held)["n"].sort().to_numpy().astype(np.int64)
        for path in sizes:
            path.unlink()
        rows, times = (counted[name].to_numpy().astype(np.int64) for name in ("rows", "times"))
        return GroupSizes(rows, n_rows, int(rows @ times), n_starred, n_exact, times, people)

    def count_rows(self, chosen: Sequence[Sequence[NDArray[np.bool_]]]) -> list[int]:
        """Count the rows whose cells are all chosen; several choices together."""
        found = [0] * len(chosen)
        for _, frame, places in self._entries():
            rows = frame["rows"].to_numpy()
            shown = self._shown(places)
            for i, flags in enumerate(chosen):
                found[i] += int(rows[_all(each[own] for each, own in zip(flags, shown, strict=False))].sum())
        return found

    def ranked(self, ranks: Sequence[NDArray[np.int32]]) -> FiledGroups:
        """Return the groups with the ranks of their cells, for dealing; ranks: by attribute, one for each cell."""
        cards = [int(own.max(initial=0)) + 1 for own in ranks]
        ranking = Packing.of([*cards, self._n_groups] if self._n_groups else cards)
        files = tuple(self.rank(ranks, ranking))
        return FiledGroups(
            self._packing, ranking, tuple(ranks), self._again, bool(self.left_out), files, tuple(self.left_out)
        )

    def rank(self, ranks: Sequence[NDArray[np.int32]], ranking: Packing) -> list[Path]:
        """Store the entries once more, with packed ranks in place of cells; return the files."""
        import polars as pl

        files = []
        for part, frame, places in self._entries():
            numbers = [own[place] for own, place in zip(ranks, self._shown(places), strict=True)]
            packed = ranking.pack([*numbers, frame["group"].to_numpy()] if self._n_groups else numbers)
            columns = [pl.Series(f"q{i}", numbers) for i, numbers in enumerate(packed)]
            kept = frame.select(*self._packing.names, "several", "place").with_columns(columns)
            files.append(self._write(part.stem.replace("entries", "ranked"), kept))
            part.unlink()
        return files

    def _entries(self) -> Iterator[tuple[Path, pl.DataFrame, list[NDArray[np.int32]]]]:
        """Yield the entries of each section, and the place of their cells among those of each column."""
        import polars as pl

        places = [numbering.ranks()[1] for numbering in self._cells]
        for part in self.parts:
            self._engine.session.watch.check()
            frame = pl.read_parquet(part, glob=False)
            yield part, frame, [place[frame[f"c{i}"].to_numpy()] for i, place in enumerate(places)]

    def _shown(self, places: Sequence[NDArray[np.int32]]) -> Sequence[NDArray[np.int32]]:
        """Return the places of what groups show: their centres, or else their cells."""
        return places[self._packing.n_keys :] or places

    def _write(self, name: str, frame: pl.DataFrame) -> Path:
        path = self._folder / f"{name}.parquet"
        self._engine.session.save(frame, path)
        return path


@dataclass(eq=False)
class FiledGroups:
    """Groups with the ranks of their cells, in files; see `shoal.tables.sources.dealing.SearchedGroups`.

    The files are gone with the source that was open, unless they are kept. A copy made by pickle has none. The groups
    are then searched again, which gives the same ones.

    Attributes:
        packing: How tuples or units are packed.
        ranking: How the ranks of a group are packed.
        ranks: For each attribute, the rank of each cell.
        again: What searches the groups again.
        leaves_out: Whether some rows are not released.
        paths: The files.
        gone: The files of entries whose rows are not released.
    """

    packing: Packing
    ranking: Packing
    ranks: tuple[NDArray[np.int32], ...]
    again: Again
    leaves_out: bool
    paths: tuple[Path, ...]
    gone: tuple[Path, ...]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"paths": (), "gone": ()}

    def keep(self) -> None:
        """Move the files to a private folder of their own, which is removed together with this object."""
        folder = PrivateFolder().__enter__()
        weakref.finalize(self, folder.__exit__, None, None, None)
        self.paths, self.gone = (
            tuple(path.rename(folder.path / path.name) for path in paths) for paths in (self.paths, self.gone)
        )

    def files(self, engine: Engine) -> tuple[Sequence[Path], Sequence[Path]]:
        """Return files of entries, and of those whose rows are not released; lost ones are searched again."""
        if self.paths and all(path.exists() for path in (*self.paths, *self.gone)):
            return self.paths, self.gone
        found = self.again(engine)
        return found.rank(self.ranks, self.ranking), found.left_out


def keep_groups(recoding: object) -> None:
    """Keep the files of groups for as long as the release that has them, after its source is closed."""
    if isinstance(recoding, Dealing) and isinstance(recoding.searched, FiledGroups):
        recoding.searched.keep()


def clear_runs(session: DuckSession) -> None:
    """Remove what runs left in a session that others will use: their tables, sections and groups."""
    session.drop_tables()
    for folder in session.folder.glob("groups-*"):
        shutil.rmtree(folder)
    for path in session.folder.glob("section-*.parquet"):
        path.unlink()


def _all(flags: Iterator[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.logical_and.reduce(list(flags))
    return found
