"""The random sample that differential privacy needs: what it demands of a run, and how its rows are drawn.

Rows are drawn by the secure generator of the system or, with a key file, by a keyed hash of each row. The seed of a run
protects nothing and is not used.
"""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InfeasibleError, Note, UsageError, join_problems, setting
from shoal.hierarchy import Auto
from shoal.hierarchy.base import Rule
from shoal.methods.base import Method
from shoal.methods.full_domain.base import FullDomain
from shoal.models import DifferentialPrivacy, PrivacyModel
from shoal.schema import Role, Schema
from shoal.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Drawable",
    "about_sample",
    "check_given",
    "check_sample",
    "check_sampling",
    "draw_from",
    "draw_rows",
    "find_sampling",
]

DRAW_BITS = 64
PURPOSE = b"shoal: sample of rows\0"  # the same key may serve other purposes

Row = tuple[Any, ...]


@runtime_checkable
class Drawable(Protocol):
    """A source that can go on with some of its rows."""

    @property
    def drawn(self) -> NDArray[np.bool_] | None:
        """For each row, whether it belongs to the table; None for all."""

    def take(self, rows: NDArray[np.bool_]) -> None:
        """Go on with some rows; `blocks` and the verifier see all of them."""

    def blocks(self) -> Iterator[pl.DataFrame]:
        """Yield all rows as text, one block at a time."""

    def numbered_blocks(self) -> Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]:
        """Yield all rows as text, one block at a time, and how many equal rows come before each."""


def find_sampling(models: Sequence[PrivacyModel]) -> DifferentialPrivacy | None:
    """Return the model that needs a sample, if there is one.

    Raises:
        UsageError: There are several, or other models depend on more than sizes.
    """
    found = [model for model in models if isinstance(model, DifferentialPrivacy)]
    if not found:
        return None
    if len(found) > 1:
        raise UsageError("differential-privacy is given twice. Use one epsilon and one delta.")
    for model in models:
        if model is not found[0] and not model.size_only:
            raise UsageError(
                f"differential-privacy cannot be combined with {model.describe()}: groups may be suppressed by their "
                "size only. Leave out one of the two."
            )
    return found[0]


def check_sampling(schema: Schema, method: Method, *, keep_order: bool, suppression_limit: Fraction) -> None:
    """Refuse what breaks the argument for differential privacy.

    Args:
        schema: The columns.
        method: The method.
        keep_order: Whether the rows are to keep their order.
        suppression_limit: The share of rows that may be suppressed, if the user set one.

    Raises:
        UsageError: Levels are not fixed, a column is released that groups do not count, or rows keep their order.
    """
    problems = []
    levels = _fixed_levels(method)
    if levels is not None and (open_names := [column.name for column in schema.qi if column.name not in levels]):
        example = ",".join(f"{name}=1" for name in open_names)
        problems.append(
            f"differential-privacy needs a level for each column, fixed without looking at the data; "
            f"{', '.join(map(repr, open_names))} {'has' if len(open_names) == 1 else 'have'} none. Use "
            f"the option levels of the method ({setting('options')}), such as levels={example}."
        )
    released = [*schema.names(Role.SENSITIVE), *schema.names(Role.INSENSITIVE)]
    if released:
        problems.append(
            f"differential-privacy counts every released column, but {', '.join(map(repr, released))} would stay "
            f"unchanged. Make each a quasi-identifier ({setting('qi')}) or drop it ({setting('drop')})."
        )
    if schema.names(Role.PERSON) or schema.names(Role.PERSONAL_K):
        problems.append(
            f"differential-privacy protects rows: {setting('person')} and {setting('k_column')} are not supported. "
            "Aggregate the table to one row per person first."
        )
    if keep_order:
        problems.append(f"differential-privacy sorts the rows. Leave out {setting('keep_order', True)}.")
    if suppression_limit:
        problems.append(
            f"differential-privacy suppresses every group that is too small. Leave out {setting('suppression_limit')}."
        )
    if problems:
        raise UsageError(join_problems(problems))


def check_given(models: Sequence[PrivacyModel], hierarchies: Mapping[str, Rule]) -> None:
    """Raise a UsageError if a hierarchy is to be proposed from the table, on which levels must not depend."""
    proposed = [name for name, rule in hierarchies.items() if isinstance(rule, Auto)]
    if proposed and find_sampling(models):
        raise UsageError(
            f"differential-privacy: a hierarchy of {', '.join(map(repr, proposed))} would be proposed from the data. "
            f"Give hierarchies that were made without it ({setting('hierarchies')})."
        )


def _fixed_levels(method: Method) -> Mapping[str, int] | None:
    """Return the levels that the options fix; None if the method releases no levels, which is refused elsewhere."""
    if not isinstance(method, FullDomain):
        return None
    return {name: level for name, level in method.minimum.items() if method.maximum.get(name) == level}


def draw_rows(table: Table, share: Fraction, key: bytes | None) -> NDArray[np.int64]:
    """Draw each row with the same probability, independently of all others.

    With a key, the decision about a row depends on the key, on its cells and on how many equal rows come before it, so
    the order of the rows does not matter.

    Args:
        table: The table.
        share: The probability.
        key: The secret of a key file; None for the secure generator of the system.

    Returns:
        The numbers of the drawn rows, ascending.
    """
    if key is None:
        return np.flatnonzero(_draws(table.n_rows, share)).astype(np.int64)
    seen: Counter[Row] = Counter()
    chosen = []
    for number, row in enumerate(table.frame.iter_rows()):
        if _is_drawn(row, seen[row], share, key):
            chosen.append(number)
        seen[row] += 1
    return np.array(chosen, dtype=np.int64)


def draw_from(source: Drawable, share: Fraction, key: bytes | None) -> NDArray[np.bool_]:
    """Draw rows of a source that is not in memory, as `draw_rows` does; say of each row whether it is drawn."""
    if key is None:
        return np.concatenate([_draws(frame.height, share) for frame in source.blocks()])
    drawn = []
    for frame, before in source.numbered_blocks():
        rows = zip(frame.iter_rows(), before.tolist(), strict=True)
        drawn.append(np.fromiter((_is_drawn(row, n, share, key) for row, n in rows), bool, frame.height))
    return np.concatenate(drawn)


def _draws(n_rows: int, share: Fraction) -> NDArray[np.bool_]:
    """Draw rows by the secure generator of the system."""
    draws = np.frombuffer(secrets.token_bytes(n_rows * DRAW_BITS // 8), dtype="<u8")
    return draws < np.uint64(_least(share))


def _is_drawn(row: Row, before: int, share: Fraction, key: bytes) -> bool:
    """Say whether a row is drawn; before: how many equal rows come before it."""
    cells = [str(cell or "").encode() for cell in row]
    text = b"".join(len(cell).to_bytes(8, "little") + cell for cell in cells)
    digest = hmac.digest(key, PURPOSE + before.to_bytes(8, "little") + text, "sha256")
    return int.from_bytes(digest[: DRAW_BITS // 8], "little") < _least(share)


def _least(share: Fraction) -> int:
    return int(share * 2**DRAW_BITS)


def check_sample(n_drawn: int, model: DifferentialPrivacy, models: Sequence[PrivacyModel]) -> None:
    """Refuse a sample with fewer rows than a group needs."""
    least = max(each.minimum_size for each in models)
    if n_drawn < least:
        raise InfeasibleError(
            f"{model.describe()}: the sample has {n_drawn} rows, and every group needs {least}. Use a larger delta, "
            "or a table with more rows."
        )


def about_sample(model: DifferentialPrivacy, key: bytes | None) -> Note:
    """Note how the sample was drawn, and what the guarantee is about."""
    how = "the secure generator of the system, so another run gives another sample" if key is None else "your key"
    return Note(
        "differential-privacy",
        f"each row was drawn with probability {float(model.share):.4g} by {how}; every group has at least "
        f"{model.minimum_size} rows of the sample. The guarantee is about one row, for one release, and only if the "
        "levels and hierarchies were fixed without looking at the data",
    )
