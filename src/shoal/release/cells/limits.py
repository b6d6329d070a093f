"""Limits of a run: the method that keeps to them, and the nearest that can be kept where they cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from shoal.encoding.attributes import Encoded
from shoal.encoding.ends import EXACT
from shoal.encoding.grid import DATE_GRIDS
from shoal.encoding.limits import FIELDS, Limited, apply_limits, breaches, compile_limits, level_of
from shoal.encoding.partition import Entries, Partition
from shoal.encoding.windows import plan_combinations, plan_windows
from shoal.errors import InfeasibleError, InternalError, UsageError, counted, join_problems, setting
from shoal.hierarchy.base import Rule
from shoal.methods import sections
from shoal.methods.base import Method, Run, failing_groups, group_in_windows
from shoal.methods.full_domain.base import FullDomain
from shoal.methods.mondrian import Mondrian
from shoal.methods.registry import DEFAULT
from shoal.methods.shoaling.limits.together import by_combinations, count_limited
from shoal.models import Basis, PrivacyModel
from shoal.schema import WIDTH, Column, Kind, Role, Schema

__all__ = ["Bounds", "check_limits", "group_within", "no_groups_within"]

Predicate = Callable[[str], bool]

MOST_BANDS = 400  # wider bands that are tried


class ByColumn(dict[str, str]):
    """A setting of one column, as Python and the command line write it."""

    def __str__(self) -> str:
        return ",".join(f"{name}={text}" for name, text in self.items())


@dataclass(frozen=True)
class Bounds:
    """The limits of a run, and what they depend on.

    Attributes:
        encoded: The table.
        schema: Its columns with their limits.
        hierarchies: The hierarchies as they were given.
        ends: Which ends of ranges move.
        k: The least group size.
        most: How many rows may be suppressed.
    """

    encoded: Encoded
    schema: Schema
    hierarchies: Mapping[str, Rule]
    ends: str
    k: int
    most: int

    def compiled(self) -> tuple[Limited, ...]:
        """Return the limits over the codes of the table."""
        return compile_limits(self.encoded, self.schema, self.hierarchies, ends=self.ends, k=self.k)

    def with_levels(self) -> Schema:
        """Return the schema with limits that give the levels of hierarchies by their numbers."""
        trees = {each.name: each.hierarchy for each in self.encoded.attributes if each.hierarchy is not None}
        columns = []
        for column in self.schema.columns:
            tree, rule = trees.get(column.name), self.hierarchies.get(column.name)
            if tree is not None and column.role is Role.QI:
                named = {
                    field: text for field, text in column.limits._asdict().items() if text and field != "max_width"
                }
                levels = {field: str(level_of(column.name, field, text, tree, rule)) for field, text in named.items()}
                column = replace(column, limits=column.limits._replace(**levels))
            columns.append(column)
        return replace(self.schema, columns=tuple(columns))

    def is_exact(self, limits: Sequence[Limited]) -> bool:
        """Say whether a plan of windows is the best there is, so that limits it cannot keep are infeasible."""
        return not any(limit.most for limit in limits) and sum(limit.has_windows for limit in limits) < 2

    def check(self, limits: Sequence[Limited]) -> None:
        """Refuse limits that leave too few rows for a group, with the nearest that do not.

        With several limits, one that can be kept by itself may still be too narrow beside the others.

        Raises:
            InfeasibleError: Some limit cannot be kept.
        """
        names = [self.encoded.attributes[limit.place].name for limit in limits]
        alone = [(name, [limit]) for name, limit in zip(names, limits, strict=True)]
        problems = [self._problem(name, each) for name, each in alone if self._left_out(each) > self.most]
        if not problems and self._left_out(limits) > self.most:
            problems = [text for name in names if (text := self._problem(name, limits))][:1]
        if problems:
            raise InfeasibleError(join_problems(problems))

    def _left_out(self, limits: Sequence[Limited]) -> int:
        labels = plan_windows(self.encoded, limits, self.k)
        return int(self.encoded.row_weights[labels < 0].sum())

    def _problem(self, name: str, limits: Sequence[Limited]) -> str:
        """Return the message about a limit that cannot be kept, beside those that are given here."""
        column = next(column for column in self.schema.qi if column.name == name)
        rows = counted(self._left_out(limits), "row has", "rows have")
        given = [(field, getattr(column.limits, field)) for field in FIELDS if getattr(column.limits, field)]
        words = " and ".join(setting(field, ByColumn({name: text})) for field, text in given)
        others = "" if len(limits) == 1 else " beside the other limits"
        allowed = f", and {self.most:,} may be suppressed" if self.most else ""
        message = f"{words} cannot be kept with k={self.k}{others}: {rows} too few others within it{allowed}."
        places = {limit.place for limit in limits}
        for field, text in given:
            if (near := self._nearest(column, field, text, places)) is not None:
                message += f" The nearest that can be kept: {setting(field, ByColumn({name: near}))}."
                break
        else:
            message += " No other value of it can be kept. Leave it out."
        cures = [f"use {setting('ends', EXACT)}"] if self._is_kept_by_exact_ends(places) else []
        cures += [f"raise {setting('suppression_limit')}", f"recode outliers with {setting('recode')}", "lower k"]
        return f"{message} You can also {', '.join(cures[:-1])} or {cures[-1]}."

    def _is_kept_by_exact_ends(self, places: set[int]) -> bool:
        """Say whether limits are too narrow only because ends of ranges move outwards."""
        if self.ends == EXACT:
            return False
        limits = [limit for limit in replace(self, ends=EXACT).compiled() if limit.place in places]
        return self._left_out(limits) <= self.most

    def _nearest(self, column: Column, field: str, text: str, places: set[int]) -> str | None:
        """Return the nearest value of a limit that can be kept, all others being as they are."""
        if field == "finest":
            return None

        def is_kept(value: str) -> bool:
            changed = replace(column, limits=column.limits._replace(**{field: value}))
            columns = tuple(changed if each.name == column.name else each for each in self.schema.columns)
            try:
                limits = replace(self, schema=replace(self.schema, columns=columns)).compiled()
            except UsageError:
                return False
            return self._left_out([limit for limit in limits if limit.place in places]) <= self.most

        if field == "max_width":
            return self._nearest_width(column, text, is_kept)
        return next((value for value in self._coarser(column, field, text) if is_kept(value)), None)

    def _nearest_width(self, column: Column, text: str, is_kept: Predicate) -> str | None:
        """Bisect the widths above one that is too narrow."""
        match = WIDTH.fullmatch(text)
        assert match is not None
        number, unit = Decimal(match[1]), match[2]
        attribute = next(each for each in self.encoded.attributes if each.name == column.name)
        step = Decimal(1)
        if attribute.ordered and attribute.kind is Kind.NUMERIC:
            decimals = max((len(each.partition(column.decimal)[2]) for each in attribute.texts), default=0)
            step = Decimal(1).scaleb(-min(decimals, 15))
        low, high = int(number // step), int(number // step) + 1

        def written(steps: int) -> str:
            return f"{(steps * step).normalize():f}{unit}"

        while not is_kept(written(high)):
            low, high = high, 2 * high
            if len(written(high)) > 15:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_kept(written(middle)) else (middle, high)
        return written(high)

    def _coarser(self, column: Column, field: str, text: str) -> Iterator[str]:
        """Yield coarser bands or levels, the nearest first."""
        attribute = next(each for each in self.encoded.attributes if each.name == column.name)
        if attribute.hierarchy is not None:
            yield from (str(level) for level in range(attribute.hierarchy.height + 1))
        elif attribute.kind is Kind.DATE:
            yield from DATE_GRIDS[DATE_GRIDS.index(text) + 1 :]
        else:
            band = Decimal(text)
            step = Decimal(1).scaleb(min(0, int(band.as_tuple().exponent)))
            yield from (f"{band + i * step:f}" for i in range(1, MOST_BANDS))
            yield from (f"{band * 2**i:f}" for i in range(1, 40) if band * 2**i > band + MOST_BANDS * step)


def _check_method(method: Method, models: Sequence[PrivacyModel]) -> None:
    """Refuse limits beside what a method or model does not support together with them."""
    if getattr(method, "non_overlapping", False):
        raise UsageError(f"method {method.name!r}: non_overlapping does not support limits. Leave out one of the two.")
    if method.name != DEFAULT and not isinstance(method, FullDomain):
        for model in models:
            if model.basis in (Basis.TABLE, Basis.POPULATION):
                raise UsageError(
                    f"method {method.name!r} does not support limits together with {model.describe()}. Use shoaling."
                )


def _searched(
    method: Method, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run, bounds: Bounds
) -> Partition:
    """Search for groups; where no plan is found, the search may still find groups that keep to the limits."""
    try:
        bounds.check(run.limits)
    except InfeasibleError as refusal:
        if bounds.is_exact(run.limits):
            raise
        try:
            return method.partition(encoded, models, run)
        except InfeasibleError:
            raise refusal from None
    return method.partition(encoded, models, run)


def group_within(
    method: Method, encoded: Encoded, models: tuple[PrivacyModel, ...], run: Run, bounds: Bounds
) -> Partition:
    """Group the rows of a table so that the limits of the run are kept.

    Our own method keeps to them in its search, full-domain methods by the levels that they may use. Any other method
    groups the rows of each window of a plan.

    Raises:
        InfeasibleError: The method found no groups that keep to the limits.
    """
    limits = run.limits
    if not limits:
        return method.partition(encoded, models, run)
    _check_method(method, models)
    if method.name == DEFAULT:
        if by_combinations(encoded, limits, models):
            bounds = replace(bounds, encoded=count_limited(encoded, limits)[0])
        partition = _searched(method, encoded, models, run, bounds)
    elif isinstance(method, FullDomain):
        return _at_levels(method, encoded, limits).partition(encoded, models, run)
    else:
        windows = _windows(method, encoded, models, limits, bounds)
        plain = replace(run, limits=(), suppression_limit=Fraction(0))
        # Windows of a table of several sections are compared with the whole table, as its sections are.
        by_sections = bool(encoded.sensitive) and sections.has_several(encoded, models)
        whole = encoded.section(np.ones(len(encoded.order), dtype=bool)) if by_sections else encoded
        partition = group_in_windows(method, whole, windows, models, plain)
    entries = partition.entries
    check_limits(method, encoded, entries, limits)
    if failing_groups(encoded, models, entries).any():
        raise no_groups_within(method)
    return apply_limits(encoded, partition, limits)


def _windows(
    method: Method, encoded: Encoded, models: Sequence[PrivacyModel], limits: Sequence[Limited], bounds: Bounds
) -> NDArray[np.int32]:
    """Return windows for a method that does not keep to limits itself; those that need no single rows come first."""
    if isinstance(method, Mondrian) and by_combinations(encoded, limits, models):
        counted, combination = count_limited(encoded, limits)
        if (labels := plan_combinations(counted, limits, bounds.k, bounds.most)) is not None:
            return np.asarray(labels[combination])
    bounds.check(limits)
    return plan_windows(encoded, limits, bounds.k)


def no_groups_within(method: Method) -> InfeasibleError:
    """Return the refusal of a method that found no groups which keep to the limits."""
    return InfeasibleError(
        f"method {method.name!r} found no groups that keep to the limits. Widen them, or use shoaling."
    )


def check_limits(method: Method, encoded: Encoded, entries: Entries, limits: Sequence[Limited]) -> None:
    """Raise an InternalError if groups break a limit."""
    kept = entries.groups >= 0
    if breaches(encoded, limits, entries.tuples[kept], entries.groups[kept]).any():
        raise InternalError(f"method {method.name!r} made groups that break a limit; nothing was written.")


def _at_levels(method: FullDomain, encoded: Encoded, limits: Sequence[Limited]) -> FullDomain:
    """Return a full-domain method that uses the levels within the limits only."""
    minimum, maximum = dict(method.minimum), dict(method.maximum)
    for limit in limits:
        attribute = encoded.attributes[limit.place]
        if limit.floor is not None:
            raise UsageError(
                f"column {attribute.name!r}: method {method.name!r} shows levels of a hierarchy, and the column has "
                f"none with these bands. Give one with {setting('hierarchies')}."
            )
        levels = [np.arange(len(limit.ranks)), np.zeros(len(limit.ranks), dtype=np.int64)]
        for level, nodes in enumerate(levels if attribute.tree is None else attribute.tree.nodes):
            groups = np.unique(nodes, return_inverse=True)[1]
            own = replace(limit, place=0)
            part = replace(encoded, tuples=np.arange(len(groups), dtype=np.int32)[:, None])
            if not breaches(part, [own], np.arange(len(groups)), groups).any():
                maximum[attribute.name] = level
        low = minimum[attribute.name] = max(limit.level, method.minimum.get(attribute.name, 0))
        if attribute.name in method.maximum:
            maximum[attribute.name] = min(maximum[attribute.name], method.maximum[attribute.name])
        if low > maximum[attribute.name]:
            raise UsageError(
                f"column {attribute.name!r}: the options of method {method.name!r} and the limits of the column leave "
                f"no level. Together they ask for level {low} or more, and for level {maximum[attribute.name]} or "
                "less. Change one of them."
            )
    return replace(method, minimum=minimum, maximum=maximum, levels={})  # they are in minimum and maximum
