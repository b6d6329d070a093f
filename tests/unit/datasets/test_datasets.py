"""The patients table is what its script and its data dictionary say; the Adult files are found, never assumed."""

from __future__ import annotations

import hashlib
import http.server
import os
import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
import pytest

from scripts import make_patients, make_visits
from shoal import datasets
from shoal.errors import FileError, InputError, UsageError

ROOT = Path(__file__).parents[3]
TRAIN = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, <=50K\n"
    "54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander, Male, 0, 0, 60, South, >50K\n"
    "\n"
)
TEST = (
    "|1x3 Cross validator\n"
    "25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, "
    "United-States, <=50K.\n"
    "\n"
)


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return datasets.patients()


def count(frame: pl.DataFrame, column: str) -> dict[str, int]:
    return dict(frame[column].drop_nulls().value_counts(sort=True).rows())


def n_alone(frame: pl.DataFrame, *columns: str | pl.Expr) -> int:
    return frame.group_by(*columns).len().filter(pl.col("len") == 1).height


def test_script_makes_the_committed_file() -> None:
    assert make_patients.render() == datasets.patients_path().read_bytes()


def test_script_check_exits_1_when_the_file_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_patients, "PATH", tmp_path / "patients.csv")
    with pytest.raises(SystemExit, match="differs from the output of this script"):
        make_patients.main(["--check"])
    make_patients.main([])
    make_patients.main(["--check"])
    with make_patients.PATH.open("ab") as file:
        file.write(b"\n")
    with pytest.raises(SystemExit, match=r"Run python scripts/make_patients\.py") as stop:
        make_patients.main(["--check"])
    assert isinstance(stop.value.code, str)  # a text as exit code is printed and leaves with 1


def test_patients_file_is_plain_utf8_with_line_feeds() -> None:
    content = datasets.patients_path().read_bytes()
    assert b"\r" not in content
    assert content.endswith(b"\n")
    assert not content.startswith(b"\xef\xbb\xbf")
    assert not content.isascii()
    assert len(content) < 600_000
    content.decode("utf-8")


def test_patients_has_its_columns_as_text(patients: pl.DataFrame) -> None:
    names = "name,patient_id,birth_date,sex,zip,nationality,education,disease,cost,visit_date"
    assert ",".join(patients.columns) == names
    assert set(patients.dtypes) == {pl.String}
    assert patients.height == 5000


def test_patients_cells_have_the_forms_they_claim(patients: pl.DataFrame) -> None:
    for column, form in {
        "name": r"^\S+( [A-Z]\.)? \S+$",
        "patient_id": r"^P-\d{7}$",
        "birth_date": r"^\d{4}-\d\d-\d\d$",
        "sex": r"^[FMX]$",
        "zip": r"^\d{5}$",
        "cost": r"^\d+\.\d\d$",
        "visit_date": r"^202[34]-\d\d-\d\d$",
    }.items():
        assert patients[column].drop_nulls().str.contains(form).all(), column
    assert patients["patient_id"].n_unique() == patients.height
    assert patients["zip"].drop_nulls().str.starts_with("0").mean() > 0.9  # type: ignore[operator]
    assert set(patients["education"].drop_nulls()) == set(make_patients.YEARS)


def test_patients_missing_cells_are_null_and_as_rare_as_meant(patients: pl.DataFrame) -> None:
    meant = {"education": 0.02, "nationality": 0.01, "zip": 0.005, "cost": 0.01}
    for column in patients.columns:
        share = patients[column].null_count() / patients.height
        assert share == pytest.approx(meant.get(column, 0), rel=0.4, abs=0), column
        assert "" not in patients[column]


def test_patients_values_have_a_strong_head_and_a_long_tail(patients: pl.DataFrame) -> None:
    zips, nations, diseases = (count(patients, column) for column in ("zip", "nationality", "disease"))
    assert (len(zips), len(nations), len(diseases)) == (120, 35, 42)
    assert max(zips.values()) > 0.1 * patients.height
    assert sum(n < 10 for n in zips.values()) >= 20
    assert max(nations.values()) > 0.7 * patients.height
    assert sum(n < 5 for n in nations.values()) >= 5
    assert min(diseases.values()) < 5
    assert 0 < count(patients, "sex")["X"] < 0.01 * patients.height
    assert n_alone(patients, "birth_date", "sex", "zip") > 0.9 * patients.height


def test_patients_columns_depend_on_each_other(patients: pl.DataFrame) -> None:
    day = pl.col("birth_date", "visit_date").str.to_date()
    people = patients.with_columns(day, pl.col("cost").cast(pl.Float64)).with_columns(
        age=(pl.col("visit_date").dt.year() - pl.col("birth_date").dt.year())
    )
    assert (people["birth_date"] <= people["visit_date"]).all()
    pregnant = people.filter(pl.col("disease") == "Pregnancy")
    assert set(pregnant["sex"]) == {"F"}
    assert pregnant["age"].is_between(16, 48).all()
    assert "F" not in people.filter(pl.col("disease") == "Prostate cancer")["sex"]
    assert (people.filter(pl.col("disease") == "Neonatal jaundice")["age"] <= 1).all()
    assert set(people.filter(pl.col("age") < 10)["education"].drop_nulls()) == {"No schooling"}
    bill = dict(people.group_by("disease").agg(pl.col("cost").median()).rows())
    assert bill["Lung cancer"] > 20 * bill["Influenza"]


def test_data_dictionary_tells_the_figures_of_the_file(patients: pl.DataFrame) -> None:
    page = (ROOT / "docs" / "reference" / "patients.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)` \|.*\| (\d+) \| ([\d.]+) \|$", page, flags=re.MULTILINE)
    told = {name: (int(distinct), float(share)) for name, distinct, share in lines}
    found = {c.name: (c.drop_nulls().n_unique(), round(c.null_count() / len(c), 4)) for c in patients}
    assert told == found
    year, region = pl.col("birth_date").str.slice(0, 4), pl.col("zip").str.slice(0, 3)
    zips, nations, diseases = (count(patients, column) for column in ("zip", "nationality", "disease"))
    regions = count(patients.select(region), "zip")
    days = (patients["visit_date"].str.to_date() - patients["birth_date"].str.to_date()).dt.total_days()
    ages = [int(n / 365.25) for n in days]
    costs = [float(cost) for cost in patients["cost"].drop_nulls()]
    text = " ".join(page.split())
    for fact in (
        f"{n_alone(patients, 'birth_date', 'sex', 'zip')} of the {patients.height} rows are the only one",
        f"in place of the day, {n_alone(patients, year, 'sex', 'zip')} still are",
        f"of the code as well, {n_alone(patients, year, 'sex', region)}.",
        f"has {max(zips.values())} people, the last ten together {sum(sorted(zips.values())[:10])}.",
        f"{nations['United States']} people have the nationality",
        f"{sum(n < 5 for n in nations.values())} of the {len(nations)} nationalities have fewer than five",
        f"{max(diseases.values())} people have the most frequent",
        f"from `021` with {regions['021']} people to `112` with {regions['112']}.",
        f"{patients['birth_date'].str.ends_with('-01-01').sum()} people were born on a first of January",
        f"of life to {max(ages)}, half of the people are older than {median(ages):.0f}.",
        f"Half are below {median(costs):.2f}, the highest is {max(costs):.2f}.",
        f"{patients.drop_nulls().height} rows have none.",
        ", ".join(f"`{level}`" for level in make_patients.YEARS),
    ):
        assert fact in text


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No SHOAL_DATA, an empty cache, and no proxy between us and our own server."""
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "shoal" / "adult"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that stands for the archive, behind a server of our own, with the checksums of TRAIN and TEST."""
    for name, text in (("adult.data", TRAIN), ("adult.test", TEST)):
        monkeypatch.setitem(datasets.ADULT_SHA256, name, hashlib.sha256(text.encode()).hexdigest())
    folder = tmp_path / "archive"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(datasets, "ADULT_URL", f"http://127.0.0.1:{server.server_port}/")
        yield folder
        server.shutdown()
        thread.join()


def put(folder: Path, train: str | None = TRAIN, test: str | None = TEST) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("adult.data", train), ("adult.test", test)):
        if text is not None:
            (folder / name).write_bytes(text.encode())
    return folder


def of_age(age: int) -> str:
    return TRAIN.replace("39,", f"{age},")


def test_adult_cells_are_trimmed_text_under_their_names(tmp_path: Path) -> None:
    frame = datasets.adult(put(tmp_path))
    assert " ".join(frame.columns) == (
        "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
        "capital-gain capital-loss hours-per-week native-country salary"
    )
    assert set(frame.dtypes) == {pl.String}
    assert frame.row(0)[:3] == ("39", "State-gov", "77516")
    assert frame["salary"].to_list() == ["<=50K", ">50K"]


def test_adult_parts_and_complete_rows(tmp_path: Path) -> None:
    put(tmp_path)
    assert datasets.adult(tmp_path, part="test")["salary"].to_list() == ["<=50K"]
    assert datasets.adult(tmp_path, part="both")["age"].to_list() == ["39", "54", "25"]
    assert datasets.adult(tmp_path, part="both", complete=True)["age"].to_list() == ["39", "25"]
    assert datasets.adult(str(tmp_path), complete=True)["age"].to_list() == ["39"]


def test_adult_is_an_empty_frame_when_no_row_is_complete(tmp_path: Path) -> None:
    frame = datasets.adult(put(tmp_path, train=TRAIN.split("\n")[1]), complete=True)
    assert (frame.height, frame.width) == (0, 15)


def test_adult_looks_in_folder_then_environment_then_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache, of_age(71))
    assert datasets.adult()["age"][0] == "71"
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path / "env"))
    assert datasets.adult()["age"][0] == "71"
    put(tmp_path / "env", of_age(72))
    assert datasets.adult()["age"][0] == "72"
    put(tmp_path / "env" / "adult", of_age(73))
    assert datasets.adult()["age"][0] == "73"
    put(tmp_path / "given" / "adult", of_age(74))
    assert datasets.adult(tmp_path / "given")["age"][0] == "74"


def test_adult_looks_nowhere_else_when_a_folder_is_given(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache)
    monkeypatch.setenv("SHOAL_DATA", str(put(tmp_path / "env")))
    with pytest.raises(FileError, match=f"not found: no adult.data in {re.escape(str(tmp_path / 'given'))}") as error:
        datasets.adult(tmp_path / "given")
    assert str(cache) not in str(error.value)


def test_adult_cache_is_below_home_without_a_usable_xdg_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: cls(os.environ["HOME"])))
    put(tmp_path / ".cache" / "shoal" / "adult")
    for value in ("relative/folder", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert datasets.adult().height == 2
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert datasets.adult().height == 2


def test_adult_without_a_home_folder_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(FileError, match=r"no home folder to store the adult table in\. Set XDG_CACHE_HOME"):
        datasets.adult()
    monkeypatch.setenv("SHOAL_DATA", str(put(tmp_path / "env")))
    assert datasets.adult().height == 2


def test_adult_when_absent_says_where_it_looked_and_the_three_cures(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "_fetch", lambda *_: pytest.fail("a download that nobody asked for"))
    monkeypatch.setenv("SHOAL_DATA", str(put(tmp_path / "env", test=None)))
    with pytest.raises(FileError, match=r"not found: no adult\.data and adult\.test in ") as error:
        datasets.adult(part="both")
    text = str(error.value)
    for part in (str(tmp_path / "env"), str(cache), "folder=, or set", "SHOAL_DATA", "download=True"):
        assert part in text
    assert error.value.exit_code == 6


def test_adult_refuses_an_unknown_part(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"part='all' is unknown\. Use 'train', 'test', 'both'"):
        datasets.adult(tmp_path, part="all")  # type: ignore[arg-type]


def test_adult_damaged_file_is_told_by_line_without_its_cells(tmp_path: Path) -> None:
    put(tmp_path, train=TRAIN + "25, Private, Secret\n")
    with pytest.raises(InputError, match=r"adult\.data, line 4: 3 cells instead of 15") as error:
        datasets.adult(tmp_path)
    assert "Secret" not in str(error.value)


def test_adult_unreadable_file_is_a_file_error(tmp_path: Path) -> None:
    (tmp_path / "adult.data").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match=r"adult\.data cannot be read"):
        datasets.adult(tmp_path)


def test_download_keeps_both_files_and_is_not_repeated(
    served: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(served)
    assert datasets.adult(download=True).height == 2
    assert sorted(path.name for path in cache.iterdir()) == ["adult.data", "adult.test"]
    monkeypatch.setattr(datasets, "ADULT_URL", "http://127.0.0.1:9/")
    assert datasets.adult(part="both", download=True).height == 3
    assert datasets.adult(part="test").height == 1


def test_download_serves_a_given_folder_that_lacks_the_files(served: Path, tmp_path: Path) -> None:
    put(served)
    assert datasets.adult(tmp_path / "given", download=True).height == 2
    assert not (tmp_path / "given").exists()


def test_download_refuses_a_file_with_the_wrong_checksum(served: Path, cache: Path) -> None:
    put(served, test=TEST.replace("25,", "26,"))
    with pytest.raises(FileError, match=r"adult\.test is not the expected file: its SHA-256 is [0-9a-f]{64}, not"):
        datasets.adult(download=True)
    assert list(cache.iterdir()) == []


def test_download_stops_at_more_bytes_than_the_file_can_have(
    served: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(served)
    monkeypatch.setattr(datasets, "MOST_BYTES", len(TRAIN) - 1)
    with pytest.raises(FileError, match="is not the expected file"):
        datasets.adult(download=True)
    assert list(cache.iterdir()) == []


def test_download_failure_gives_the_reason(served: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match=r"adult\.data cannot be downloaded: HTTP Error 404.*Nothing was saved"):
        datasets.adult(download=True)
    monkeypatch.setattr(datasets, "ADULT_URL", "http://127.0.0.1:9/")
    with pytest.raises(FileError, match=r"cannot be downloaded: .*refused.*pass folder= or set SHOAL_DATA"):
        datasets.adult(download=True)
    assert list(cache.iterdir()) == []


def test_download_into_a_cache_that_cannot_be_made_gives_the_reason(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(FileError, match=r"cannot be stored in .*cache"):
        datasets.adult(download=True)


REAL = [Path(text) for text in (os.environ.get("SHOAL_DATA"),) if text] + [ROOT.parent / "shared" / "data"]


@pytest.fixture(scope="module")
def real() -> Path:
    for folder in REAL:
        if any((place / "adult.data").is_file() for place in (folder / "adult", folder)):
            return folder
    pytest.skip("adult.data is missing: set SHOAL_DATA to a folder that holds it and adult.test")


@pytest.mark.parametrize(
    ("part", "n_rows", "n_complete"), [("train", 32_561, 30_162), ("test", 16_281, 15_060), ("both", 48_842, 45_222)]
)
def test_real_adult_has_its_known_counts(real: Path, part: Any, n_rows: int, n_complete: int) -> None:
    frame = datasets.adult(real, part=part)
    assert frame.height == n_rows
    assert datasets.adult(real, part=part, complete=True).height == n_complete
    assert set(frame["salary"]) == {"<=50K", ">50K"}


def test_real_adult_is_what_the_checksums_are_of(real: Path) -> None:
    place = real / "adult" if (real / "adult" / "adult.data").is_file() else real
    for name, comment in (("adult.data", b""), ("adult.test", b"|1x3 Cross validator\n")):
        content = (place / name).read_bytes()
        as_served = comment + content.removeprefix(comment).rstrip(b"\n") + b"\n\n"
        assert hashlib.sha256(as_served).hexdigest() == datasets.ADULT_SHA256[name]


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    return datasets.visits()


def test_visits_file_is_what_its_script_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_visits.render() == datasets.visits_path().read_bytes()
    monkeypatch.setattr(make_visits, "PATH", tmp_path / "visits.csv")
    with pytest.raises(SystemExit, match=r"Run python scripts/make_visits\.py"):
        make_visits.main(["--check"])
    make_visits.main([])
    make_visits.main(["--check"])


def test_visits_has_several_rows_a_person(visits: pl.DataFrame) -> None:
    assert visits.shape == (12_000, len(make_visits.COLUMNS))
    assert set(visits.dtypes) == {pl.String}
    assert visits["visit_id"].n_unique() == 12_000
    sizes = visits.group_by("patient_id").len()["len"]
    assert len(sizes) == 4_000
    assert (sizes == 1).sum() == 1_327
    assert sizes.max() == 24


def test_visits_of_a_person_share_what_does_not_change(visits: pl.DataFrame) -> None:
    distinct = visits.group_by("patient_id").agg(pl.all().n_unique(), pl.len())
    for column in ("birth_date", "sex", "nationality", "education"):
        assert distinct[column].max() == 1, column
    assert 0 < (distinct["zip"] > 1).sum() < 400
    several = distinct.filter(pl.col("len") > 1)
    for column in ("visit_date", "ward", "diagnosis", "cost"):
        assert (several[column] > 1).mean() > 0.4, column  # type: ignore[operator]
