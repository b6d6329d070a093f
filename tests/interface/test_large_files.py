"""Large files: verify, describe, risk and measure read distinct rows only, and say the same as with all rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from shoal import datasets, measure, risk
from shoal.schema import Dialect
from shoal.tables.sources import counted
from shoal.verification.gate_streamed import distinct
from tests.command import Outcome, Shoal

QI = "birth_date,sex,zip"
ROLES = ("--qi", QI, "--sensitive", "disease", "--categorical", "disease", "--others", "drop")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table with missing values, rows that are equal, and a column of weights."""
    path = tmp_path / "table.csv"
    frame = datasets.patients().head(150)
    frame = pl.concat([frame, frame.head(40)]).with_columns(pl.lit("2").alias("weight"))
    frame.with_columns(sex=pl.when(pl.int_range(pl.len()) % 17 == 0).then(pl.lit("")).otherwise("sex")).write_csv(path)
    return path


def small_blocks(patch: pytest.MonkeyPatch) -> None:
    """Read every file as a large one, a few rows at a time."""
    for module in (counted, distinct):
        patch.setattr(module, "LEAST_BYTES", 0)
        patch.setattr(module, "LEAST_PENDING", 7)


def both(run: Callable[[], Outcome]) -> Iterator[tuple[int, str, str]]:
    """Run a command as usual, and with every file as a large one; leave out what time it took."""
    for is_large in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if is_large:
                small_blocks(patch)
            ended = run()
        out = ended.out
        if out.startswith("{"):
            out = json.dumps({name: value for name, value in json.loads(out).items() if name != "seconds"})
        yield ended.code, out, ended.err


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        ("csv", ("--l", 2)),
        ("parquet", ("--suppression-limit", "0.1")),
        ("csv.gz", ("--cells", "bounds")),
        ("csv", ("--cells", "center", "--spread")),
        ("csv", ("--recode", "zip=rare:6", "--spreadsheet-safe")),
        ("csv", ("--keep-order",)),
    ],
)
def test_every_command_says_the_same(
    shoal: Shoal, table: Path, tmp_path: Path, suffix: str, options: tuple[object, ...]
) -> None:
    out = tmp_path / f"out.{suffix}"
    made = shoal("anonymize", table, "-o", out, "-k", 3, *ROLES, *options)
    assert made.code == 0, made.err
    commands = [
        ("verify", out, "--original", table, "--json"),
        ("verify", out, "--no-manifest", "-k", 4, "--qi", QI, "--original", table, "--json"),
        ("describe", out, "--json"),
        ("risk", out, "--original", table, "--population", 5000, "--json"),
        ("measure", table, out, "--target", "disease", "--json"),
        ("measure", table, out, "--qi", "nobody", "--no-manifest", "--json"),
    ]
    for command in commands:
        plain, large = both(lambda command=command: shoal(*command))
        assert plain == large, command


def test_every_verdict_is_the_same(shoal: Shoal, table: Path, tmp_path: Path) -> None:
    out, broken = tmp_path / "out.csv", tmp_path / "broken.csv"
    assert shoal("anonymize", table, "-o", out, "-k", 3, *ROLES).code == 0
    header, *rows = out.read_text().splitlines()
    age, sex, place, disease = rows[20].rsplit(",", 3)[0], *rows[20].rsplit(",", 3)[1:]
    changed = {
        "another sex": [*rows[:20], ",".join((age, "X", place, disease)), *rows[21:]],
        "another disease": [*rows[:20], ",".join((age, sex, place, "plague")), *rows[21:]],
        "a row less": rows[1:],
        "a row twice": [*rows[:20], rows[20], *rows[20:]],
        "another order": rows[::-1],
        "a ragged row": [*rows[:20], rows[20] + ",", *rows[21:]],
        "no rows": [],
    }
    codes = set()
    for name, lines in changed.items():
        broken.write_text("\n".join([header, *lines, ""]))
        for more in ((), ("--original", table), ("--original", table, "--keep-order")):
            words = ("verify", broken, "-k", 3, "--qi", QI, "--sensitive", "disease", *more, "--json")
            plain, large = both(lambda words=words: shoal(*words))
            assert plain == large, (name, more)
            codes.add(plain[0])
    assert codes >= {0, 5}


def test_people_and_each_row_s_own_k(shoal: Shoal, table: Path, tmp_path: Path) -> None:
    out, people = tmp_path / "out.csv", tmp_path / "people.csv"
    frame = pl.read_csv(table, infer_schema=False)
    frame.with_columns(person=(pl.int_range(pl.len()) % 60).cast(str), own=pl.lit("3")).write_csv(people)
    roles = (*ROLES, "--person", "person", "--k-column", "own")
    made = shoal("anonymize", people, "-o", out, "-k", 2, *roles)
    assert made.code == 0, made.err
    for k in (2, 30):
        words = ("verify", out, "-k", k, "--original", people, "--person", "person", "--k-column", "own", "--json")
        plain, large = both(lambda words=words: shoal(*words))
        assert plain == large
        assert plain[0] == (0 if k == 2 else 5)


def test_weights_and_people_of_a_risk(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def figures() -> list[object]:
        named = {"qi": ["sex", "zip"]}
        return [
            risk(table, **named, weight="weight"),
            risk(table, **named, person="birth_date"),
            risk(table, **named, population=table),
            measure(table, table, **named, target="disease", weights="auto"),
        ]

    plain = figures()
    small_blocks(monkeypatch)
    assert figures() == plain


def test_order_of_a_small_release_of_a_large_original(shoal: Shoal, table: Path, tmp_path: Path) -> None:
    """Both are compared row by row, although only one of them is large."""
    out, turned = tmp_path / "out.csv", tmp_path / "turned.csv"
    assert shoal("anonymize", table, "-o", out, "-k", 3, *ROLES, "--suppression-limit", "0.1").code == 0
    header, *rows = out.read_text().splitlines()
    turned.write_text("\n".join([header, *rows[:0:-1], ""]))
    assert turned.stat().st_size < table.stat().st_size
    words = ("verify", turned, "-k", 2, "--qi", QI, "--original", table, "--json")
    plain = shoal(*words)
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        patch.setattr(distinct, "LEAST_BYTES", table.stat().st_size)
        large = shoal(*words)
    assert plain.code == large.code == 0, large.err
    assert {**json.loads(plain.out), "seconds": 0} == {**json.loads(large.out), "seconds": 0}


def test_rows_of_parquet_count_not_its_bytes(tmp_path: Path) -> None:
    """Columns of few values take next to no room, however many rows they have."""
    path = tmp_path / "long.parquet"
    pl.DataFrame({"sex": ["F", "M"] * 300_000, "zip": ["10115"] * 600_000}).write_parquet(path)
    assert path.stat().st_size < 100_000
    assert distinct.distinct_original(path, Dialect()).times is not None
    assert counted.read_counted(path, ["sex", "zip"]).height == 2


def test_an_unreadable_cell_is_named_by_its_row(shoal: Shoal, tmp_path: Path) -> None:
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    before.write_text("age\n" + "20\n30\n" * 20)
    after.write_text("age\n" + "[20, 30]\n".replace("[20, 30]", '"[20, 30]"') * 31 + "?!\n" * 9)
    plain, large = both(lambda: shoal("measure", before, after, "--qi", "age"))
    assert plain == large
    assert plain[0] == 3
    assert "32" in plain[2]
