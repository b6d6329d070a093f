"""Profile of a table: facts about its columns, a proposed role for each, and what singles people out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.profile.survey import Profile, ProfiledColumn, Warned, profile_table

__all__ = ["Profile", "ProfiledColumn", "Warned", "profile_table"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from shoal.profile import survey

    return getattr(survey, name)


def __dir__() -> list[str]:
    return sorted(__all__)
