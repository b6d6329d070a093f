"""The bodies of requests."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["BuiltinForm", "ChangeForm", "LoginForm", "NewForm", "ReadingForm", "RolesForm", "RunForm", "URLForm"]

Name = Annotated[str, Field(min_length=1, max_length=100, examples=["Hospital 2026"])]


class Form(BaseModel):
    """A body without keys that it does not know."""

    model_config = ConfigDict(extra="forbid", strict=True)


class LoginForm(Form):
    """What opens a session: the token of the address that `shoal serve` printed, or the password."""

    token: str | None = Field(None, max_length=200)
    password: str | None = Field(None, max_length=1000)


class NewForm(Form):
    """A new project."""

    name: Name


class ChangeForm(Form):
    """What to change of a project: its name, or whether its data stays on the machine."""

    name: Name | None = None
    keep_data: bool | None = None


class BuiltinForm(Form):
    """The name of a built-in table."""

    name: Literal["patients", "visits"]


class URLForm(Form):
    """The URL of a table of a database."""

    url: str = Field(min_length=1, max_length=4000, examples=["postgresql://user@host/database?table=schema.name"])


class ReadingForm(Form):
    """How to read the table; what is left out is detected."""

    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    duplicate_columns: Literal["error", "number"] | None = None
    decimal: str | None = None
    thousands: str | None = None

    def given(self) -> dict[str, Any]:
        """Return what was given."""
        return self.model_dump(exclude_none=True)


class RolesForm(Form):
    """A role for some columns."""

    columns: list[str] = Field(min_length=1, max_length=10_000)
    role: Literal["qi", "sensitive", "insensitive", "identifier", "person", "k"]


class RunForm(Form):
    """What a run writes."""

    format: Literal["csv", "csv.gz", "parquet", "xlsx"] = "csv"
