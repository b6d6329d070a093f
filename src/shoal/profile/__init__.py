"""Get to know a table: facts of its columns, a proposed role for each, what singles people out, a first shoal.toml."""

from shoal.profile.document import write_document
from shoal.profile.survey import Profile, ProfiledColumn, Warned, profile_table

__all__ = ["Profile", "ProfiledColumn", "Warned", "profile_table", "write_document"]
