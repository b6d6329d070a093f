"""shoal.toml in."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import UsageError
from shoal.settings.fields import Place
from shoal.settings.read import known_keys, read_config
from shoal.settings.settings import FIELDS


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


def test_keys_are_those_of_the_table() -> None:
    top = {each.key for each in FIELDS if each.place is Place.TOP}
    assert set(known_keys()) == top | {"columns", "file", "signoff"}
    assert set(known_keys("file")) == {each.key for each in FIELDS if each.place is Place.FILE}
    assert {each.key for each in FIELDS if each.place is Place.COLUMN} <= set(known_keys("columns"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("t = 1.5\n", "'t'"),
        ("suppression_limit = -0.1\n", "'suppression_limit'"),
        ("k = 0\n", "'k'"),
        ("snap = 1\n", "'snap'"),
        ('missing = "?"\n', "'missing'"),
        ('cells = "both"\n', "'cells'"),
        ("[file]\ndelimeter = ';'\n", "'file.delimeter' is not known. Did you mean 'delimiter'?"),
        ("[signoff]\nwhom = 'me'\n", "'signoff.whom' is not known. Did you mean 'who'?"),
        ("[columns.a]\nrole = 'qi'\nformt = '%Y'\n", "'columns.a.formt' is not known. Did you mean 'format'?"),
        ("[columns.a]\nrole='qi'\nhierarchy='a.csv'\nprefixes={lengths=[1]}\n", "are two hierarchies. Give one."),
        ("[columns.a]\nrole='qi'\nprefixes={length=[1]}\n", "'columns.a.prefixes' accepts: lengths"),
        ("[columns.a]\nrole='person'\n[columns.b]\nrole='person'\n", "all have the role person. Give it to one."),
    ],
)
def test_wrong_values_are_named_by_their_key(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "shoal.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_config(tmp_path / "shoal.toml")
    assert problem in str(caught.value)
