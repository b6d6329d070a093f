"""Sections searched by executors, each in one task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InfeasibleError
from shoal.release.counted_tables.sections.plan import PIECE
from shoal.release.counted_tables.sections.search import SectionSearch
from shoal.release.counted_tables.sections.suppression import SectionSuppression
from shoal.spark.jobs import kernel_of_batches, polars_of
from shoal.spark.search.cutting import Run, cut_tuples
from shoal.spark.search.entries import (
    arrow_of,
    entries_of,
    held_columns,
    reported,
    reports_of,
    schema_of,
    shown_columns,
)
from shoal.spark.search.found import SectionFacts, SparkFound
from shoal.spark.search.pieces import Cuts, Units
from shoal.spark.search.suppression import SparkHeld
from shoal.tables.sorting import Packing

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

__all__ = ["search_sections", "tuples_pass"]


def search_sections(
    units: DataFrame,
    packing: Packing,
    search: SectionSearch,
    n_units: int,
    largest: int,
    run: Run,
    keep: Callable[[DataFrame], None],
) -> SparkFound:
    """Cut tuples or units into sections and have executors search them.

    Where no groups are found in a section, the section that it was cut from is searched; see `sections.Tree.work`.

    Args:
        units: Packed tuples or units, and n.
        packing: How they are packed.
        search: Searches a section.
        n_units: Their number.
        largest: The most of them in a section.
        run: Runs a job.
        keep: Hears of frames that are kept until the end of the run.

    Raises:
        InfeasibleError: No groups that pass were found.
    """
    cuts = cut_tuples(units, packing, search.plan, n_units, largest, run)
    if search.plan.may_fail and search.joins_failing:
        _join_failing(units, packing, search, cuts, run)
    numbers = cuts.numbers()
    pending = dict(numbers)
    done: dict[int, tuple[DataFrame, SectionFacts]] = {}
    while pending:
        found = _search(units, packing, search, cuts, pending)
        keep(found)
        outcomes: dict[int, SectionFacts | str] = run(lambda: reports_of(found))  # noqa: B023 - run at once
        done |= {node: (found, each) for node, each in outcomes.items() if isinstance(each, SectionFacts)}
        failures = {node: each for node, each in outcomes.items() if isinstance(each, str)}
        if 0 in failures:
            raise InfeasibleError(failures[0])
        if failures and not search.plan.may_fail:
            raise InfeasibleError(failures[min(failures, key=numbers.__getitem__)])
        wider = _widen(cuts, set(failures))
        pending = {node: min(numbers[each] for each in inside) for node, inside in wider.items()}
        numbers |= pending
    order = [done[node] for node in cuts.numbers()]
    if not all(facts.passing for _, facts in order):
        raise search.plan.refusal(search.models)
    by_frame: dict[int, tuple[DataFrame, list[int]]] = {}
    for node in cuts.numbers():
        frame = done[node][0]
        by_frame.setdefault(id(frame), (frame, []))[1].append(node)
    parts = [
        frame.where("facts is null").where(frame["section"].isin(nodes)).drop("facts")
        for frame, nodes in by_frame.values()
    ]
    entries = reduce(lambda one, other: one.unionByName(other), parts)
    if search.suppresses:
        places = {node: numbers[node] for node in cuts.numbers()}
        return SparkHeld(entries, SectionSuppression(search, packing), places, run, keep).show()
    facts = [each for _, each in order]
    groups: SparkFound = run(lambda: SparkFound.of(entries, facts, packing, search.n_shown, run))
    return groups


def tuples_pass(units: DataFrame, packing: Packing, search: SectionSearch) -> bool:
    """Say whether every tuple passes the models as a group by itself."""

    def kernel(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        for block in packing.whole_tuples(frames):
            codes, counts = packing.codes(block), block["n"].to_numpy().astype(np.int64)
            if not search.meets(codes[:, : packing.n_keys], codes[:, packing.n_keys :], counts):
                yield pl.DataFrame({"failing": [1]})
                return

    # All units of a tuple meet in one task, one after another.
    together = units.repartition(*packing.key_names).sortWithinPartitions(*packing.names)
    return polars_of(together.mapInArrow(kernel_of_batches(kernel), "failing bigint")).height == 0


def _join_failing(units: DataFrame, packing: Packing, search: SectionSearch, cuts: Cuts, run: Run) -> None:
    """Undo the cuts that leave a section in which no grouping can pass; see `sections.Tree.whole_where`."""

    def judge(table: Any) -> Any:
        import polars as pl

        frame = _sorted(table, packing)
        codes, counts = packing.codes(frame), frame["n"].to_numpy().astype(np.int64)
        failing = search.fails(codes[:, : packing.n_keys], codes[:, packing.n_keys :], counts)
        return arrow_of(pl.DataFrame({"section": [int(frame["section"][0])], "failing": [int(failing)]}))

    unseen = set(cuts.numbers())
    while unseen - {0}:
        placed = _placed(units, packing, search, cuts, unseen)
        judged = placed.groupBy("section").applyInArrow(judge, "section bigint, failing bigint")
        found = run(lambda: polars_of(judged))  # noqa: B023 - run at once
        unseen = set(_widen(cuts, set(found.filter(found["failing"] == 1)["section"].to_list()) - {0}))


def _widen(cuts: Cuts, failing: set[int]) -> dict[int, list[int]]:
    """Replace failing sections by those that they were cut from; return these, each with the sections inside it.

    If one of these lies inside another, only the outer one counts.
    """
    parents = cuts.parents()
    wider = {parents[node] for node in failing}
    inside: dict[int, list[int]] = {}
    for leaf in cuts.numbers():
        path = [leaf]
        while path[-1] in parents:
            path.append(parents[path[-1]])
        outer = [node for node in path if node in wider]
        if outer:
            inside.setdefault(outer[-1], []).append(leaf)
    for node in inside:
        cuts.close(node)
    return inside


def _search(
    units: DataFrame, packing: Packing, search: SectionSearch, cuts: Cuts, numbers: Mapping[int, int]
) -> DataFrame:
    """Return the entries of sections, and what each reports as `facts`; numbers: that of each section, by its node."""
    from pyspark import StorageLevel

    suppression = SectionSuppression(search, packing)
    kinds = held_columns(suppression) if search.suppresses else shown_columns(packing, search.n_shown)

    def group(table: Any) -> Any:
        frame = _sorted(table, packing)
        node = int(frame["section"][0])
        outcome: SectionFacts | str
        try:
            if search.suppresses:
                held = suppression.hold(frame, numbers[node])
                entries, outcome = held.entries, SectionFacts.of_held(passing=held.passing)
            else:
                codes, counts = packing.codes(frame), frame["n"].to_numpy().astype(np.int64)
                tuples, beside = np.ascontiguousarray(codes[:, : packing.n_keys]), codes[:, packing.n_keys :]
                found = search.group(tuples, counts, numbers[node], beside if search.by_units else None)
                entries, outcome = entries_of(frame.drop("n", "section"), found, node), SectionFacts.of(found)
        except InfeasibleError as error:
            return reported(None, node, error.text, kinds)
        return reported(entries, node, outcome, kinds)

    placed = _placed(units, packing, search, cuts, set(numbers))
    return placed.groupBy("section").applyInArrow(group, schema_of(kinds)).persist(StorageLevel.DISK_ONLY)


def _placed(units: DataFrame, packing: Packing, search: SectionSearch, cuts: Cuts, nodes: set[int]) -> DataFrame:
    """Return the tuples or units of some sections, with the node of each, spread over tasks."""
    plan = search.plan
    names = [*packing.names, "n", *(PIECE if search.plan.divides_units else ()), "section"]

    def place(frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        import polars as pl

        for frame in frames:
            found = {node: own for node, own in cuts.place(Units.of(frame, packing, plan)).items() if node in nodes}
            if not found:
                continue
            unit, start, rows = (np.concatenate(each) for each in zip(*found.values(), strict=True))
            own, section = frame[unit], np.repeat(list(found), [len(each.unit) for each in found.values()])
            if plan.divides_units:
                own = own.with_columns(own["n"].alias("total"), pl.Series("start", start))
            yield own.with_columns(pl.Series("n", rows), pl.Series("section", section, dtype=pl.Int32)).select(names)

    columns = ", ".join(f"{name} {'int' if name == 'section' else 'bigint'}" for name in names)
    placed = units.mapInArrow(kernel_of_batches(place), columns)
    # By a number of our own: adaptive execution would join small parts, and few tasks would search.
    return placed.repartition(2 * len(nodes), "section")


def _sorted(table: Any, packing: Packing) -> pl.DataFrame:
    """Return the tuples or units of a section in order."""
    import polars as pl

    return pl.DataFrame(pl.from_arrow(table)).sort(packing.names)
