"""Settings from arguments and from shoal.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import UsageError
from shoal.settings.read import read_config
from shoal.settings.settings import Settings


def test_arguments_come_before_the_file() -> None:
    merged = Settings(k=3, qi=("age",), missing=("?",)).over(Settings(k=9, qi=("sex",), seed=4, missing=("NA",)))
    assert (merged.k, merged.seed, merged.missing) == (3, 4, ("?",))
    assert merged.qi == ("age", "sex")


def test_a_column_keeps_the_role_and_kind_given_first() -> None:
    given = Settings(qi=("age",), numeric=("age",))
    merged = given.over(Settings(sensitive=("age", "disease"), categorical=("age",), dates={"age": "%Y"}))
    assert (merged.qi, merged.sensitive) == (("age",), ("disease",))
    assert (merged.numeric, merged.categorical, merged.dates) == (("age",), (), {})


def test_roles_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "shoal.toml"
    path.write_text('[columns.zip]\nrole = "qi"\n[columns.age]\nrole = "qi"\nkind = "numeric"\n')
    settings = read_config(path)
    assert settings.qi == ("zip", "age")
    assert settings.numeric == ("age",)


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    """B24."""
    path = tmp_path / "shoal.toml"
    path.write_text('kk = 1\nmethd = "x"\n[columns.a]\nrole = "nobody"\n')
    with pytest.raises(UsageError) as caught:
        read_config(path)
    for key in ("'kk'", "'methd' is not known. Did you mean 'method'?", "'columns.a.role'"):
        assert key in str(caught.value)
