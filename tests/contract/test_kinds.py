"""What every method, engine, format and frame must do with the kinds of real cells."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError, UsageError, VerificationError
from shoal.methods.registry import infos
from tests.command import Shoal
from tests.forms import FORMS

NAMES = {"seen": "month first", "since": "month names", "at": "seconds", "pay": "dollars", "well": "boolean"}
SIZES = ["XS", "S", "M", "L", "XL"]
QI = [*NAMES, "size"]
ORDER = {"size": SIZES}


def frame(n_rows: int = 36) -> pl.DataFrame:
    columns = {
        name: [FORMS[form].cell(i * 7 % (FORMS[form].most + 1)) for i in range(n_rows)] for name, form in NAMES.items()
    }
    return pl.DataFrame(
        columns | {"size": [SIZES[i % 5] for i in range(n_rows)], "ill": ["xyz"[i % 3] for i in range(n_rows)]}
    )


@pytest.mark.parametrize("method", [info.name for info in infos()])
def test_every_method_takes_every_kind(method: str) -> None:
    options: dict[str, Any] = {"suppression_limit": 1} if method == "datafly" else {}
    release = shoal.anonymize(frame(), qi=QI, sensitive=["ill"], k=3, method=method, ordered=ORDER, **options)
    kinds = {column.name: str(column.kind) for column in release.schema.qi}
    assert kinds == dict(zip(QI, ["date", "date", "date", "numeric", "boolean", "ordered"], strict=True))
    assert shoal.verify(release.frame, original=frame(), qi=QI, k=3, ordered=ORDER).ok
    cells = set(release.frame["size"].to_list()) - {"*", *SIZES}
    runs = {"{" + ", ".join(SIZES[i:j]) + "}" for i in range(5) for j in range(i + 2, 6)}
    assert cells <= runs  # neighbours, in their order


def test_intervals_over_dates_and_units(tmp_path: Path) -> None:
    bands = {
        "seen": shoal.hierarchy.intervals([1, 6], unit="month"),
        "at": shoal.hierarchy.intervals([1, 12], unit="hour"),
        "pay": shoal.hierarchy.intervals([50_000, 100_000]),
    }
    release = shoal.anonymize(
        frame().select([*bands, "ill"]), qi=list(bands), sensitive=["ill"], k=4, method="optimal", hierarchies=bands
    )
    cells = release.frame["pay"].unique().to_list()
    assert all(cell == "*" or cell.startswith("[$") for cell in cells)
    release.write(tmp_path / "out.csv")
    assert shoal.verify(tmp_path / "out.csv").ok


def test_prices_follow_the_rank() -> None:
    """Neighbours in the order cost less than the ends of it; without the order every pair costs the same."""
    original = pl.DataFrame({"size": SIZES * 2})
    near, far = (pl.DataFrame({"size": [*pair, *SIZES[2:], *SIZES]}) for pair in (["{XS, S}"] * 2, ["{XS, S, M}"] * 2))
    losses = [shoal.measure(original, each, qi=["size"], ordered=ORDER).ncp for each in (near, far)]
    assert losses == [pytest.approx(2 * 0.25 / 10), pytest.approx(2 * 0.5 / 10)]


@pytest.mark.parametrize(
    ("column", "wrong"),
    [
        ("seen", "[01/01/2016 12:47 AM, 01/01/2016 12:48 AM]"),
        ("since", "[Jan-1990, Feb-1990]"),
        ("at", "[23:59:58, 23:59:59]"),
        ("pay", "[$1, $2]"),
        ("pay", "[1000, 2000] cm"),
        ("well", "maybe"),
        ("size", "{XS, L}"),  # S and M lie between
        ("size", "{XL, L, M, S, XS}"),  # not in the order
    ],
)
def test_the_verifier_notices_a_wrong_cell(column: str, wrong: str) -> None:
    release = shoal.anonymize(frame(), qi=QI, k=3, method="mondrian", ordered=ORDER, others="drop")
    assert shoal.verify(release.frame, original=frame(), qi=QI, k=1, ordered=ORDER).ok
    false = release.frame.with_columns(pl.lit(wrong).alias(column))
    with pytest.raises(VerificationError, match=r"cover no value|cannot be matched"):
        shoal.verify(false, original=frame(), qi=QI, k=1, ordered=ORDER)


def test_the_manifest_states_the_forms(tmp_path: Path) -> None:
    release = shoal.anonymize(frame(), qi=QI, sensitive=["ill"], k=3, ordered=ORDER)
    release.write(tmp_path / "out.csv")
    columns = {
        entry["name"]: entry for entry in shoal.verification.find_manifest(tmp_path / "out.csv").content["columns"]
    }  # type: ignore[union-attr]
    assert columns["seen"]["format"] == "%m/%d/%Y %I:%M %p"
    assert columns["pay"] | {"name": "pay"} == {
        "name": "pay", "role": "qi", "kind": "numeric", "unit": "$#", "decimal": ".", "thousands": ",",
    }  # fmt: skip
    assert columns["size"]["order"] == SIZES
    assert columns["well"]["kind"] == "boolean"
    assert shoal.verify(tmp_path / "out.csv", original=frame()).ok


def test_an_order_in_a_manifest_names_only_what_the_release_shows(tmp_path: Path) -> None:
    table = pl.DataFrame({"size": ["S"] * 5 + ["M"] * 5 + ["L"]})
    release = shoal.anonymize(
        table, qi=["size"], k=5, method="optimal", suppression_limit=0.2, ordered={"size": ["S", "M", "L", "huge"]}
    )
    release.write(tmp_path / "out.csv")
    text = (tmp_path / "out.csv.manifest.json").read_text()
    assert '"M"' in text
    assert "huge" not in text
    assert '"L"' not in text


def typed() -> pl.DataFrame:
    seconds = [datetime(2016, 1, 1) + timedelta(hours=6 * i) for i in range(24)]  # some are at midnight
    return pl.DataFrame(
        {
            "seen": seconds,
            "well": [i % 3 == 0 for i in range(24)],
            "size": pl.Series([SIZES[i % 4] for i in range(24)], dtype=pl.Enum(SIZES)),
            "ill": ["xyz"[i % 3] for i in range(24)],
        }
    )


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow", "parquet"])
def test_typed_columns(library: str, tmp_path: Path) -> None:
    """A datetime column is a column of dates, also where some cells are at midnight; a categorical keeps its order."""
    made: Any = typed()
    if library == "pandas":
        import pandas as pd

        made = pd.DataFrame({name: typed()[name].to_list() for name in typed().columns})
        made["size"] = pd.Categorical(made["size"], categories=SIZES, ordered=True)
    elif library == "pyarrow":
        import pyarrow as pa

        made = typed().with_columns(pl.col("size").cast(pl.String)).to_arrow()
        codes = pa.array([SIZES.index(size) for size in typed()["size"]], pa.int8())
        sizes = pa.DictionaryArray.from_arrays(codes, pa.array(SIZES), ordered=True)
        made = made.set_column(2, "size", sizes)
    elif library == "parquet":
        made = tmp_path / "in.parquet"
        typed().write_parquet(made)
    release = shoal.anonymize(made, qi=["seen", "well", "size"], sensitive=["ill"], k=4)
    assert [str(column.kind) for column in release.schema.qi] == ["date", "boolean", "ordered"]
    assert release.schema.qi[2].order == tuple(SIZES[:4])
    assert type(release.frame).__module__.split(".")[0] == ("polars" if library == "parquet" else library)
    assert shoal.verify(release.text, original=made, qi=["seen", "well", "size"], k=4, ordered=ORDER).ok
    release.write(tmp_path / "out.parquet")
    assert shoal.verify(tmp_path / "out.parquet", original=made).ok


def test_durations_of_frames() -> None:
    spans = pl.DataFrame({"wait": [timedelta(minutes=7 * i, microseconds=i) for i in range(12)]})
    for made in (spans, spans.to_pandas(), spans.to_arrow()):
        release = shoal.anonymize(made, qi=["wait"], k=3, ends="exact")
        assert str(release.schema.qi[0].kind) == "numeric"
        assert release.text["wait"][0] == "[P0DT0H0M0S, P0DT0H14M0.000002S]"
        assert shoal.verify(release.text, original=made, qi=["wait"], k=3).ok


def test_numbers_for_learners() -> None:
    release = shoal.anonymize(frame(), qi=QI, sensitive=["ill"], k=3, ordered=ORDER)
    numbers = release.to_numeric(domain="original")
    assert {"seen", "pay", "well", "size"} <= set(numbers.columns)
    assert numbers["well"].is_between(0, 1).all()
    assert numbers["size"].is_between(0, 4).all()


def test_day_or_month_is_asked_for() -> None:
    table = pl.DataFrame({"seen": ["01/02/2016", "03/04/2016", "05/06/2016"] * 4, "y": list("abcdefghijkl")})
    with pytest.raises(InputError, match="%d/%m/%Y and %m/%d/%Y") as caught:
        shoal.anonymize(table, qi=["seen", "y"], k=2)
    assert caught.value.exit_code == 3
    assert "dates='seen=%m/%d/%Y'" in str(caught.value)
    release = shoal.anonymize(table, qi=["seen", "y"], k=2, dates={"seen": "%m/%d/%Y"})
    assert str(release.schema.qi[0].kind) == "date"


def test_mixed_cells_stay_categories_with_a_note() -> None:
    table = pl.DataFrame({"height": ["170 cm", "180", "165 cm", "190"] * 3, "y": list("abcdefghijkl")})
    release = shoal.anonymize(table, qi=["height", "y"], k=2)
    assert str(release.schema.qi[0].kind) == "categorical"
    assert any("with and without the unit 'cm'" in note and "units='height=cm'" in note for note in release.notes)
    declared = shoal.anonymize(table, qi=["height", "y"], k=2, units={"height": "cm"})
    assert str(declared.schema.qi[0].kind) == "numeric"
    assert shoal.verify(declared.frame, original=table, qi=["height", "y"], k=2, units={"height": "cm"}).ok


def test_rules_name_values_as_the_column_writes_them() -> None:
    rules = [
        {"column": "pay", "inflection": ["$9,500", "$10,000"], "ban": True},
        {"column": "seen", "inflection": ["2016-06-30", "07/01/2016 12:00 AM"], "ban": True},
        {"column": "size", "inflection": ["S", "M"], "ban": True},
        {"column": "well", "apart": ["yes", "NO"], "ban": True},
    ]
    for rule in rules:
        table = frame().select([rule["column"], "ill"])
        release = shoal.anonymize(
            table,
            qi=[rule["column"]],
            sensitive=["ill"],
            k=3,
            ordered=ORDER if rule["column"] == "size" else None,
            rules=[rule],
        )
        assert release.rules[0].broken_groups == 0
    with pytest.raises(UsageError, match="not a value of the order"):
        shoal.anonymize(
            frame(), qi=["size"], others="drop", k=3, ordered=ORDER, rules=[{"column": "size", "range": ["S", "huge"]}]
        )


def test_an_order_must_list_every_value() -> None:
    with pytest.raises(InputError, match="2 distinct values are not in its order"):
        shoal.anonymize(frame(), qi=["size"], others="drop", k=9, ordered={"size": ["S", "M", "L"]})
    with pytest.raises(UsageError, match="at least two values"):
        shoal.anonymize(frame(), qi=["size"], others="drop", k=3, ordered={"size": ["S"]})


def test_engines_agree(tmp_path: Path, shoal: Shoal) -> None:
    frame().write_csv(tmp_path / "data.csv")
    common = (
        "--qi",
        "size,well,pay",
        "--others",
        "drop",
        "-k",
        "3",
        "--method",
        "datafly",
        "--suppression-limit",
        "0.5",
        "--ordered",
        f"size={':'.join(SIZES)}",
        "--ends",
        "exact",
    )
    for engine in ("memory", "duckdb"):
        made = shoal(
            "anonymize", str(tmp_path / "data.csv"), "-o", str(tmp_path / f"{engine}.csv"), *common, "--engine", engine
        )
        assert made.code == 0, made.err
    assert (tmp_path / "memory.csv").read_bytes() == (tmp_path / "duckdb.csv").read_bytes()
    checked = shoal("verify", str(tmp_path / "duckdb.csv"), "--original", str(tmp_path / "data.csv"))
    assert checked.code == 0, checked.err


@pytest.mark.parametrize("method", ["datafly", "optimal"])
def test_hierarchies_are_proposed_for_every_kind(method: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"suppression_limit": 1} if method == "datafly" else {}
    release = shoal.anonymize(
        frame(), qi=QI, sensitive=["ill"], k=3, method=method, hierarchies="auto", ordered=ORDER, **options
    )
    assert any("neighbours in the order" in note for note in release.notes)
    release.write(tmp_path / "out.csv")
    assert shoal.verify(tmp_path / "out.csv").ok
    proposed = shoal.hierarchy.propose_for(shoal.read_table(frame_file(tmp_path)), "at")
    assert proposed.rows[frame()["at"][0]][0] == "[00:00:00, 01:00:00)"


def frame_file(folder: Path) -> Path:
    frame().write_csv(folder / "data.csv")
    return folder / "data.csv"
