"""Which ends of ranges a run releases, and what the user should know about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from shoal.encoding.ends import EXACT, SAFE
from shoal.errors import Note, UsageError, setting
from shoal.methods.base import Method
from shoal.methods.registry import DEFAULT
from shoal.metrics.singled import Singled
from shoal.models import PrivacyModel

if TYPE_CHECKING:
    from shoal.release.release import Request

__all__ = ["about_ends", "choose_ends"]


def choose_ends(
    choice: str | None, method: Method, models: Sequence[PrivacyModel], grids: Mapping[str, str] | None = None
) -> str:
    """Return the ends of ranges of a run: the user's choice, or safe ends for our own method and exact ones for others.

    Args:
        choice: What the user chose; None if nothing.
        method: The method.
        models: The privacy models.
        grids: The columns that have a grid, and therefore round ends.

    Raises:
        UsageError: Ends that move would break what else the user asked for.
    """
    obstacle = _obstacle(models, non_overlapping=bool(getattr(method, "non_overlapping", False)))
    if grids and obstacle is not None:
        raise UsageError(f"{setting('grids')}: {obstacle}. Leave it out, and use {setting('ends', EXACT)}.")
    if choice is None:
        return SAFE if method.name == DEFAULT and obstacle is None else EXACT
    if choice != EXACT and obstacle is not None:
        raise UsageError(f"{setting('ends', choice)}: {obstacle}. Use {setting('ends', EXACT)}.")
    return choice


def _obstacle(models: Sequence[PrivacyModel], *, non_overlapping: bool) -> str | None:
    """Return why the ends of ranges must not move, if there is a reason."""
    if non_overlapping:
        return "ranges whose ends move may overlap, but non_overlapping is set"
    for model in models:
        if not model.closed:
            return f"groups with wider ranges may look alike, and together they may fail {model.describe()}"
    return None


def about_ends(singled: Singled, request: Request, models: Sequence[PrivacyModel]) -> Iterator[Note]:
    """Note how many rows show a value of their own as the end of a range that few others have."""
    rows = singled.rows_at_rare_ends
    if not rows or request.ends not in (SAFE, EXACT):
        return
    cure = "a ban or the date format keeps these ends in place"
    if request.ends == EXACT:
        non_overlapping = bool(request.options.get("non_overlapping"))
        obstacle = _obstacle(models, non_overlapping=non_overlapping)
        cure = obstacle or f"use {setting('ends', SAFE)} to move such ends out to a grid"
    text = (
        "{rows:row shows its exact value, which|rows show their exact values, each of which} fewer than "
        f"{request.k} rows have, as an end of a range"
    )
    yield Note("", text, cure, {"rows": rows})
