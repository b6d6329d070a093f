"""Mondrian: cut the table in two at the median of its widest attribute, recursively."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Attribute, Encoded
from shoal.encoding.partition import Partition, tight_partition
from shoal.errors import CancelledError, InfeasibleError, UsageError
from shoal.methods.base import Run, check_models, failing_groups
from shoal.methods.mondrian.cuts_under_models import Entries, split_under_models
from shoal.methods.mondrian.declared_domains import Region, read_domains, split_regions
from shoal.methods.mondrian.in_sections import MOST_SPARE, find_segments, works_in_sections
from shoal.methods.mondrian.single_dimensional import cut_tuples
from shoal.methods.sections import number_units
from shoal.methods.suppression import leave_out, leave_out_greedy, spread
from shoal.methods.suppression.all_groups import check_sample
from shoal.methods.suppression.leaving import SectionRows, join_sections, leave_sections
from shoal.models import PrivacyModel

if TYPE_CHECKING:
    from shoal.kernels.mondrian import Cuts

__all__ = ["Mondrian", "prepare"]

VARIANTS = ("strict", "relaxed", "single-dimensional")
# Segments of at most this share of the tuples are cut in parallel; fixed, so the number of threads has no effect.
SHARE_OF_A_TASK = 1 / 64
LEAST_TASK = 2_000  # tuples


@dataclass(frozen=True)
class Mondrian:
    """LeFevre, DeWitt, Ramakrishnan 2006: greedy cuts, each at the median of the attribute that spreads widest.

    The width of an attribute in a segment is its range (categories: number of values) over that in the whole table. The
    widest attribute is tried first, ties in the order of the quasi-identifiers. Numbers and dates are cut at the lower
    median; values up to it go to the left. If a cut leaves fewer than k rows on a side, the next attribute is tried.
    Cost: O(q m log m) for m distinct tuples (relaxed: rows) and q attributes.

    With a hierarchy, the width is the share of the values below the segment's node, and a cut separates all children of
    that node, each with k rows. If relaxed, the children with fewer rows stay together, with the first rows of the
    largest child if they need more.

    Departures: The paper orders categories by a hierarchy; without one, values are assigned, most frequent first, to
    the side with fewer rows. Missing numbers and dates are cut off first if possible, else they count as the largest. A
    relaxed cut of a category divides the rows of a value only if no cut between values is allowable: the left half then
    gets whole values, most frequent first, and the first rows of the next. Rows are in the order of their tuples, then
    of what models count, personal k and person, then in canonical order.

    Attributes:
        variant: "strict" (a value never falls on both sides of a cut), "relaxed" (rows of the median value are divided
            so that both sides are equal) or "single-dimensional" (a cut runs through the whole table).
        domains: Declared ranges by attribute (age=0:100). The width of a segment is then that of the region left by its
            cuts over its domain, whatever values it contains, as in the UTD toolbox. Only for numbers and dates, the
            strict variant and k-anonymity.
    """

    variant: str = "strict"
    domains: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    name: ClassVar[str] = "mondrian"

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise UsageError(f"mondrian: variant {self.variant!r} is not known. Use {', '.join(VARIANTS)}.")
        object.__setattr__(self, "domains", read_domains(self.domains))
        if self.domains and self.variant != "strict":
            raise UsageError("mondrian: domains need the strict variant. Use variant='strict', or leave out domains.")

    @property
    def size_only(self) -> bool:
        """Whether this variant honours group sizes only."""
        return bool(self.domains)

    @property
    def cuts_parts(self) -> bool:
        """Whether a cut divides a part of the table, whatever the other parts are."""
        return self.variant != "single-dimensional"

    @property
    def divides_values(self) -> bool:
        """Whether rows of one value may go to two sides of a cut."""
        return self.variant == "relaxed"

    @property
    def counts_people(self) -> bool:
        """Whether this variant can count people instead of rows."""
        return not self.domains and self.cuts_parts

    def check_table(self, encoded: Encoded) -> None:
        """Refuse hierarchies in the variant that does not support them."""
        if not self.cuts_parts and any(a.tree is not None for a in encoded.attributes):
            raise UsageError(
                "mondrian: the single-dimensional variant does not support hierarchies. Use strict or relaxed."
            )

    def partition(self, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run) -> Partition:
        """Form groups that pass all models; suppress the dearest rows within the suppression limit."""
        if self.domains:
            k = check_models(self, encoded, models)
            region = Region.whole(encoded, self.domains)
            return tight_partition(encoded, split_regions(encoded, k, region, run)[encoded.row_tuple])
        most = run.most_suppressed(encoded.n_rows)
        stays = leave_out_greedy(encoded, models, most)
        most -= int((~stays).sum())
        part = encoded if stays.all() else encoded.part(stays)
        k = check_models(self, part, models)
        if self.cuts_parts and works_in_sections(encoded, models, k, stays, most):
            return tight_partition(encoded, self._cut_sections(encoded, stays, k, models, run, most))
        if not self.cuts_parts:
            regions = cut_tuples(part, k, models, run)
            self.check_groups(part, models, regions.labels)
            return Partition.of_rows(encoded, spread(regions.labels, stays), regions.cells)
        labels = self.cut(part, k, models, run)
        self.check_groups(part, models, labels)
        if encoded.people is None:
            labels = leave_out(part, models, labels, k, most, lambda rest: self.cut(rest, k, models, run))
        return tight_partition(encoded, spread(labels, stays))

    def cut(
        self,
        encoded: Encoded,
        k: int,
        models: tuple[PrivacyModel, ...],
        run: Run,
        spare: Fraction = Fraction(0),
    ) -> NDArray[np.int32]:
        """Return the group of each canonical row.

        Args:
            encoded: The table.
            k: The least group size.
            models: The models.
            run: The run.
            spare: The share of the rows that may leave later without breaking a limit of all groups.
        """
        relaxed = self.divides_values
        codes, counts, people, unit = encoded.tuples, encoded.counts, encoded.people, encoded.row_tuple
        if relaxed:  # rows that models cannot tell apart follow each other, as engines deal them to groups
            order = np.argsort(number_units(encoded, models), kind="stable")
            codes, counts = codes[unit[order]], np.ones(len(order), dtype=np.int64)
            people = None if people is None else people[order]
            unit = np.empty(len(order), dtype=np.int32)
            unit[order] = np.arange(len(order))
        cuts = prepare(codes, counts, encoded.attributes, people)
        if all(model.size_only for model in models):
            return _split(cuts, len(codes), k, relaxed, run)[unit]
        entries = Entries.of(encoded, unit, models)
        return split_under_models(cuts, entries, len(codes), k, relaxed, models, run, spare)[unit]

    def _cut_sections(
        self,
        encoded: Encoded,
        stays: NDArray[np.bool_],
        k: int,
        models: tuple[PrivacyModel, ...],
        run: Run,
        most: int,
    ) -> NDArray[np.int32]:
        """Return the group of each row of a table of several sections, -1 if it is suppressed.

        Groups are compared with the distribution of all rows, and at last with that of the release.
        """
        check_sample(models, encoded.n_rows)
        spare, quiet = min(run.suppression_limit, MOST_SPARE), replace(run, progress=lambda share: None)
        segments = find_segments(encoded, k, models, stays, relaxed=self.divides_values)
        parts, done = [], 0
        for segment in segments:
            rows, own = segment.part, segment.stays
            part = rows if own.all() else rows.part(own)
            labels = self.cut(part, k, models, quiet if len(segments) > 1 else run, spare)
            self.check_groups(part, models, labels)
            parts.append(SectionRows(segment.rows, rows, spread(labels, own)))
            done += len(own)
            run.progress(done / len(stays))
        if not run.suppression_limit:
            return join_sections(parts, [each.labels for each in parts])
        left = leave_sections(encoded, models, parts, k, most)
        if left is None:
            raise self.no_groups(models)
        return left

    def check_groups(self, encoded: Encoded, models: tuple[PrivacyModel, ...], labels: NDArray[np.int32]) -> None:
        """Refuse groups that fail, which a model that is not closed may cause."""
        if all(model.closed for model in models) or not failing_groups(encoded, models, labels).any():
            return
        raise self.no_groups([model for model in models if not model.closed])

    def no_groups(self, models: Sequence[PrivacyModel]) -> InfeasibleError:
        """Return the refusal of a run that finds no groups under some models."""
        promises = " and ".join(model.describe() for model in models)
        return InfeasibleError(
            f"mondrian found no groups that pass {promises}. Weaken the goal, or widen the population."
        )


def prepare(
    codes: NDArray[np.int32],
    counts: NDArray[np.int64],
    attributes: tuple[Attribute, ...],
    people: NDArray[np.int32] | None = None,
) -> Cuts:
    """Return the tuples as the kernel needs them.

    Args:
        codes: The codes of each tuple.
        counts: The rows of each tuple.
        attributes: The attributes.
        people: The person of each row, tuple after tuple.
    """
    from shoal.kernels.mondrian import Cuts

    trees = [attribute.tree for attribute in attributes]
    numbers = [a.values if a.ordered else np.empty(0) for a in attributes]
    nodes = [tree.nodes.ravel() if tree else np.empty(0, dtype=np.int32) for tree in trees]
    # A category needs a counter for each value, as a tree does for each node.
    sizes = [
        tree.sizes if tree else np.ones(len(a.texts), dtype=np.int32) for a, tree in zip(attributes, trees, strict=True)
    ]
    return Cuts(
        np.ascontiguousarray(codes),
        counts,
        np.empty(0, dtype=np.int32) if people is None else people,
        np.array([2 if a.tree else int(a.ordered) for a in attributes], dtype=np.uint8),
        np.array([attribute.span for attribute in attributes]),
        np.array([attribute.missing for attribute in attributes], dtype=np.int32),
        np.concatenate(numbers),
        _starts(numbers),
        np.array([tree.height if tree else 0 for tree in trees], dtype=np.int32),
        np.concatenate(nodes),
        _starts(nodes),
        np.concatenate(sizes),
        _starts(sizes),
    )


def _starts(parts: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _split(cuts: Cuts, m: int, k: int, relaxed: bool, run: Run) -> NDArray[np.int32]:
    """Return the group of each tuple; large segments are cut first, then the small ones in parallel."""
    order = np.arange(m, dtype=np.int32)
    marks = np.zeros(m, dtype=np.uint8)
    cuts.split(k, relaxed, max(LEAST_TASK, int(m * SHARE_OF_A_TASK)), order, marks)
    begins = np.flatnonzero(marks)
    ends = np.append(begins[1:], m)
    tasks = [(b, e) for b, e in zip(begins.tolist(), ends.tolist(), strict=True) if marks[b] == 2]

    def finish(task: tuple[int, int]) -> int:
        begin, end = task
        if not run.cancelled():
            cuts.split(k, relaxed, 0, order[begin:end], marks[begin:end])
        return end - begin

    done = m - sum(end - begin for begin, end in tasks)
    with ThreadPoolExecutor(max_workers=max(1, run.threads)) as pool:
        for size in pool.map(finish, tasks):
            done += size
            run.progress(done / m)
    if run.cancelled():
        raise CancelledError
    labels = np.empty(m, dtype=np.int32)
    labels[order] = np.cumsum(marks != 0) - 1
    return labels
