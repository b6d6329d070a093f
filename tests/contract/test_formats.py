"""Every format through the same checks: in, out, and what the gate stops on the way."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import FileError, InputError, UsageError, VerificationError
from shoal.release.release import Release, Request
from shoal.tables.formats import columnar, writers
from shoal.tables.targets.file import FileTarget
from shoal.tables.targets.stream import StreamTarget

INPUTS = ("in.csv", "in.csv.gz", "in.csv.zst", "in.parquet", "in.feather", "in.arrow", "in.xlsx")
OUTPUTS = ("out.csv", "out.csv.gz", "out.parquet", "out.xlsx")
QI = ["age", "sex", "zip"]


def patients(n: int = 60) -> pl.DataFrame:
    """Rows with everything that a format could spoil: leading zeros, blanks, quotes, line ends, missing cells."""
    return pl.DataFrame(
        {
            "name": [f"person {i:02d}" for i in range(n)],
            "age": [str(20 + i * 37 % 50) for i in range(n)],
            "sex": [("Female", "Male", "")[i % 7 % 3] for i in range(n)],
            "zip": [f"0{2100 + i * i % 13}" for i in range(n)],
            "disease": [
                ('Ménière "x"', "=1+1", "a,b", " blank ", "two\nlines", "_x0041_")[i * 13 % 6] for i in range(n)
            ],
        }
    )


def store(frame: pl.DataFrame, path: Path) -> Path:
    """Write a table in the format that the name says."""
    text = frame.write_csv().encode()
    if path.name.endswith(".csv"):
        path.write_bytes(text)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(text))
    elif path.suffix == ".zst":
        path.write_bytes(pa.Codec("zstd").compress(text, asbytes=True))
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".feather":
        frame.write_ipc(path)
    elif path.suffix == ".arrow":
        frame.write_ipc_stream(path)
    else:
        writers.write_excel(frame, path)
    return path


def release_of(path: Path, k: int = 3) -> Release:
    from shoal.methods import named
    from shoal.methods.base import Run
    from shoal.release.make import anonymize_table
    from shoal.schema import Role, Schema

    table = shoal.read_table(path)
    roles = {Role.QI: QI, Role.SENSITIVE: ["disease"], Role.IDENTIFIER: ["name"]}
    schema = Schema.build(table.names, roles)
    return anonymize_table(table, schema, Request(k=k), named("mondrian"), (), Run())


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return release_of(store(patients(), tmp_path / "in.csv"))


@pytest.mark.parametrize("name", INPUTS)
def test_every_input_gives_the_same_release(tmp_path: Path, name: str) -> None:
    expected = release_of(store(patients(), tmp_path / "first.csv"))
    expected.write(tmp_path / "expected.csv")
    release_of(store(patients(), tmp_path / name)).write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output_holds_the_same_cells_and_verifies(tmp_path: Path, release: Release, name: str) -> None:
    """C01, L02: the declared columns exactly; the same text in every format; k counted by the verifier's reader."""
    manifest = release.write(tmp_path / name)
    assert manifest.name == f"{name}.manifest.json"
    read = shoal.read_table(tmp_path / name)
    assert read.names == ("age", "sex", "zip", "disease")
    assert read.frame.equals(release.text)
    source = tmp_path / "in.csv"
    verdict = shoal.verify(
        tmp_path / name, qi=QI, k=3, sensitive=["disease"], original=source, kinds={"age": "numeric"}
    )
    assert verdict.smallest_group == release.measures.smallest_group
    assert shoal.measure(source, tmp_path / name, qi=QI, numeric=["age"]).ncp == pytest.approx(release.measures.ncp)
    left = {path.name for path in tmp_path.iterdir()} - {"in.csv"}
    assert {name, manifest.name} <= left
    assert all(file.startswith(name) for file in left), "a private folder was left behind"


@pytest.mark.parametrize("name", OUTPUTS)
def test_two_runs_at_different_times_give_the_same_bytes(tmp_path: Path, release: Release, name: str) -> None:
    """L07."""
    seen = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        release.write(tmp_path / folder / name)
        seen.add(hashlib.sha256((tmp_path / folder / name).read_bytes()).hexdigest())
        time.sleep(1.1)
    assert len(seen) == 1


@pytest.mark.parametrize("name", OUTPUTS)
def test_no_file_tells_who_made_it_where_or_when(tmp_path: Path, release: Release, name: str) -> None:
    """L06, L07: no path, user, host or year of today; metadata that Arrow needs and no other."""
    release.write(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    if name.endswith(".xlsx"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            content += b"".join(archive.read(entry) for entry in archive.namelist())
            assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
    words = [str(tmp_path), "in.csv", os.uname().nodename, os.environ.get("USER") or "nobody-at-all", "pandas"]
    assert [word for word in words if word.encode() in content] == []
    if name.endswith(".parquet"):
        footer = pq.read_metadata(tmp_path / name)
        assert set(footer.metadata or {}) <= {b"ARROW:schema"}
        assert {footer.row_group(0).column(i).statistics for i in range(4)} == {None}
        assert {str(field.type) for field in pq.read_schema(tmp_path / name)} <= {
            "string",
            "large_string",
            "string_view",
        }
    if name.endswith(".gz"):
        assert content[3:8] == bytes(5)


# ---- what the gate stops in each format


def rewrite(
    change: Callable[[pl.DataFrame], pl.DataFrame],
) -> Callable[[Callable[..., None], pl.DataFrame, Path], None]:
    return lambda write, text, path: write(change(text), path)


def cell(text: pl.DataFrame) -> pl.DataFrame:
    return text.with_columns(pl.Series("disease", ["other", *text["disease"].to_list()[1:]]))


FAULTS: dict[str, Callable[[Callable[..., None], pl.DataFrame, Path], None]] = {
    "a row is lost": rewrite(lambda text: text.slice(1)),
    "a row stands twice": rewrite(lambda text: pl.concat([text.head(1), text])),
    "rows change places": rewrite(lambda text: text.reverse()),
    "a cell is changed": rewrite(cell),
    "a column is left": rewrite(lambda text: text.with_row_index("index").cast(pl.String)),
    "a column is lost": rewrite(lambda text: text.drop("disease")),
    "the file is cut": lambda write, text, path: (write(text, path), path.write_bytes(path.read_bytes()[:-40])),  # type: ignore[func-returns-value, return-value]
    "another format is written": lambda write, text, path: text.write_csv(path),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", ["out.parquet", "out.xlsx"])
def test_the_gate_stops_faults_of_writing(
    tmp_path: Path, release: Release, monkeypatch: pytest.MonkeyPatch, name: str, fault: str
) -> None:
    """C02: in every format; the old file stays."""
    place, function = (columnar, "write_parquet") if name == "out.parquet" else (writers, "write_excel")
    whole = getattr(place, function)
    monkeypatch.setattr(place, function, lambda text, path, *more: FAULTS[fault](whole, text, path))
    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(VerificationError, match="nothing was written"):
        release.write(tmp_path / name, force=True)
    assert (tmp_path / name).read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", name]


def add_parts(path: Path, **parts: str) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name.replace("__", "/"), (1980, 1, 31, 0, 0, 0)), content)


def by_xlsxwriter(text: pl.DataFrame, path: Path, spoil: Callable[..., None]) -> None:
    import datetime

    import xlsxwriter

    with xlsxwriter.Workbook(str(path)) as book:
        book.set_properties({"created": datetime.datetime(1980, 1, 1)})
        sheet = book.add_worksheet("release")
        for number, row in enumerate([text.columns, *text.rows()]):
            for column, content in enumerate(row):
                sheet.write_string(number, column, content)
        spoil(book, sheet)


LEFTOVERS: dict[str, tuple[str, Callable[[pl.DataFrame, Path], None], str]] = {
    "pandas metadata": ("out.parquet", lambda t, p: t.to_pandas().to_parquet(p, compression=None), "metadata"),
    "statistics": ("out.parquet", lambda t, p: t.write_parquet(p, statistics=True), "statistics"),
    "typed column": (
        "out.parquet",
        lambda t, p: t.with_columns(pl.col("zip").cast(pl.Categorical)).write_parquet(p, statistics=True),
        "statistics",
    ),
    "author": (
        "out.xlsx",
        lambda t, p: by_xlsxwriter(t, p, lambda b, s: b.set_properties({"author": "Ada"})),
        "document properties",
    ),
    "hidden sheet": ("out.xlsx", lambda t, p: by_xlsxwriter(t, p, lambda b, s: b.add_worksheet().hide()), "parts that"),
    "hidden column": (
        "out.xlsx",
        lambda t, p: by_xlsxwriter(t, p, lambda b, s: s.set_column(9, 9, None, None, {"hidden": True})),
        "hidden rows or columns",
    ),
    "comment": (
        "out.xlsx",
        lambda t, p: by_xlsxwriter(t, p, lambda b, s: s.write_comment("A1", "made by")),
        "parts that",
    ),
    "further part": (
        "out.xlsx",
        lambda t, p: (writers.write_excel(t, p), add_parts(p, xl__notes="x"))[0],
        "parts that",
    ),  # type: ignore[func-returns-value]
}


@pytest.mark.parametrize("name", LEFTOVERS)
def test_the_gate_stops_leftovers(tmp_path: Path, release: Release, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """L06, L07: metadata, statistics, hidden sheets, authors."""
    file, write, match = LEFTOVERS[name]
    if file == "out.parquet":
        monkeypatch.setattr(columnar, "write_parquet", write)
    else:
        whole = writers.write_excel
        monkeypatch.setattr(
            writers,
            "write_excel",
            lambda t, p, *_: (monkeypatch.setattr(writers, "write_excel", whole), write(t, p))[1],
        )
    with pytest.raises(VerificationError, match=match):
        release.write(tmp_path / file)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_gzip_header_with_a_name_is_stopped(tmp_path: Path, release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """L07."""

    def compress(plain: Path, path: Path, **options: object) -> None:
        with gzip.open(path, "wb") as file:
            file.write(plain.read_bytes())

    monkeypatch.setattr(writers, "compress", compress)
    with pytest.raises(VerificationError, match="gzip header contains a name, a time"):
        release.write(tmp_path / "out.csv.gz")


# ---- limits of a format


def test_a_sheet_that_is_too_small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, release: Release) -> None:
    monkeypatch.setattr(writers, "MOST_ROWS", 50)
    with pytest.raises(UsageError, match=r"at most 49 rows; the release has 60\. Name an output that ends in \.csv"):
        release.write(tmp_path / "out.xlsx")
    monkeypatch.setattr(writers, "MOST_ROWS", 1000)
    monkeypatch.setattr(writers, "MOST_LETTERS", 5)
    with pytest.raises(UsageError, match="a cell of column 'age' has more"):
        release.write(tmp_path / "out.xlsx")


@pytest.mark.parametrize("name", OUTPUTS)
def test_one_column_and_empty_cells(tmp_path: Path, name: str) -> None:
    release = shoal.anonymize(pl.DataFrame({"a": ["", "x", "", "x", None]}), qi=["a"], k=2, keep_order=True)
    release.write(tmp_path / name)
    verdict = shoal.verify(tmp_path / name, qi=["a"], k=2) if not name.endswith(".xlsx") else None
    assert verdict is None or verdict.rows == 5


@pytest.mark.parametrize("name", OUTPUTS)
def test_many_columns(tmp_path: Path, name: str) -> None:
    frame = pl.DataFrame({f"c{i}": ["1", "1", "2", "2"] for i in range(300)})
    shoal.anonymize(frame, qi=["c0"], k=2, others="insensitive").write(tmp_path / name)
    assert len(shoal.read_table(tmp_path / name, header=None).names) == 300


# ---- writing that fails, input that changes, streams


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("limit", [0, 1, 100, 700, 1500, 4000])
def test_a_full_disk_at_any_size_leaves_the_old_file(tmp_path: Path, name: str, limit: int) -> None:
    """O01: exit code 6 and no trace, wherever the space ends; or the whole release where it was enough."""
    store(patients(), tmp_path / "in.csv")
    (tmp_path / name).write_bytes(b"old")
    code = (
        "import resource, signal, sys\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "import polars, duckdb\nfrom shoal.cli.main import run\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\nrun()"
    )
    words = ["anonymize", "in.csv", "-o", name, "-k", "3", "--qi", "age,sex,zip", "--sensitive", "disease"]
    words += ["--drop", "name", "--force"]
    ended = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, cwd=tmp_path, check=False)
    assert ended.returncode in (0, 6), ended.stderr
    if ended.returncode:
        assert b"cannot be written" in ended.stderr
        assert (tmp_path / name).read_bytes() == b"old"
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["in.csv", name])
    else:
        assert limit > 100


def test_input_that_changes_before_the_gate_is_refused(tmp_path: Path, release: Release) -> None:
    """B27: exit code 3, nothing written."""
    (tmp_path / "in.csv").write_text((tmp_path / "in.csv").read_text() + "x,1,2,3,4\n")
    with pytest.raises(InputError, match="changed after it was read") as refused:
        release.write(tmp_path / "out.csv")
    assert refused.value.exit_code == 3
    assert not (tmp_path / "out.csv").exists()


def test_stream_gets_the_verified_release_and_nothing_is_left(
    tmp_path: Path, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O10, L15."""
    import io
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    stream = io.BytesIO()
    with StreamTarget(stream) as target:
        assert target.folder.stat().st_mode & 0o777 == 0o700
        assert release.write_to(target).manifest is None
    release.write(tmp_path / "out.csv")
    assert stream.getvalue() == (tmp_path / "out.csv").read_bytes()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_stream_of_a_release_that_fails_the_gate_is_empty(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """O10: verified first."""
    import io

    from shoal.tables.formats import writers as module

    whole = module.write_csv
    monkeypatch.setattr(module, "write_csv", lambda text, *more: whole(text.slice(1), *more))
    stream = io.BytesIO()
    with pytest.raises(VerificationError), StreamTarget(stream) as target:
        release.write_to(target)
    assert stream.getvalue() == b""


def test_stream_whose_reader_goes_away_ends_quietly(tmp_path: Path) -> None:
    """O10: as in `| head -1`."""
    store(patients(20_000), tmp_path / "in.csv")
    code = (
        "import sys\nsys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\nfrom shoal.tables.targets.stream import StreamTarget\n"
        "from tests.contract.test_formats import release_of\n"
        "try:\n    with StreamTarget() as target:\n        release_of(Path('in.csv')).write_to(target)\n"
        "except BrokenPipeError:\n    sys.exit(0)\n"
    )
    root = str(Path(__file__).parents[2])
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", code, root],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"age,sex,zip,disease\n"
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), said) == (0, b"")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_a_killed_stream_left_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """L15."""
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stale = tmp_path / f"shoal-{os.getuid()}-stale"
    stale.mkdir()
    (stale / "release.csv").write_text("rest")
    (stale / "lock").write_text(stale.name)
    os.utime(stale, (1, 1))
    with StreamTarget() as first, StreamTarget() as second:
        assert not stale.exists()
        assert first.folder != second.folder
        assert first.folder.exists()
    assert list(tmp_path.iterdir()) == []


def test_target_names_the_formats(tmp_path: Path) -> None:
    """L08."""
    with (
        pytest.raises(UsageError, match=r"ends in \.csv, \.csv\.gz, \.parquet or \.xlsx"),
        FileTarget(tmp_path / "out.pkl"),
    ):
        pass
    with pytest.raises(FileError, match="no such folder"), FileTarget(tmp_path / "no" / "out.parquet"):
        pass
