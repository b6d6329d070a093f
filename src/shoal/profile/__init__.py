"""Profile of a table: facts about its columns, a proposed role for each, and what singles people out."""

from shoal.profile.survey import Profile, ProfiledColumn, Warned, profile_table

__all__ = ["Profile", "ProfiledColumn", "Warned", "profile_table"]
