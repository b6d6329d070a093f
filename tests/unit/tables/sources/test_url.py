"""URLs of tables: what they name, and what of them is never shown."""

from __future__ import annotations

import pytest

from shoal.errors import UsageError
from shoal.tables.sources.url import is_url, mask, parse_url

SECRET = "s3cret"


@pytest.mark.parametrize(
    ("url", "schema", "table", "uri"),
    [
        ("postgresql://h/d?table=t", None, "t", "postgresql://h/d"),
        ("postgres://u:p@h:5/d?table=s.t&sslmode=require", "s", "t", "postgres://u:p@h:5/d?sslmode=require"),
        ("postgresql:///d?host=/tmp/x&table=Big%20Name", None, "Big Name", "postgresql:///d?host=/tmp/x"),
        ("postgresql://h/d?table=%22a.b%22.%22c%22%22d%22", "a.b", 'c"d', "postgresql://h/d"),
        ("postgresql://h/d?table=a+b", None, "a+b", "postgresql://h/d"),
    ],
)
def test_urls_are_taken_apart(url: str, schema: str | None, table: str, uri: str) -> None:
    found = parse_url(url)
    assert (found.schema, found.table, found.uri) == (schema, table, uri)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:{SECRET}@h/d?table=t",
        f"postgresql://ann:a@b/c:{SECRET}@h/d?table=t",
        f"postgresql://ann@h/d?password={SECRET}&table=t",
        f"postgresql://ann@h/d?table=t&PASSWORD={SECRET}",
        f"postgresql://ann@h/d?sslpassword={SECRET}&table=t",
        f"postgresql://ann@h/d?passcode={SECRET}&table=t",
        f"postgresql://ann:{SECRET}@h/d",
        f"postgresql://ann:{SECRET}@h/d?table=a.b.c",
        f"postgresql://ann:{SECRET}@h/d?table={'x' * 70}",
    ],
)
def test_secrets_are_never_shown(url: str) -> None:
    try:
        found = parse_url(url)
        told = f"{found.shown} {found!r}"
    except UsageError as error:
        told = str(error)
    assert SECRET not in told
    assert SECRET not in mask(url)
    assert "ann" in told


def test_only_postgresql_is_known() -> None:
    assert is_url("postgresql://h/d?table=t")
    assert not is_url("data.csv")
    assert not is_url("C:/data.csv")
    with pytest.raises(UsageError, match="mysql://"):
        is_url(f"mysql://a:{SECRET}@h/d")
