"""Example tables: the built-in tables of patients and visits, and access to the public Adult census table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from shoal.errors import FileError, InputError, UsageError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["adult", "patients", "patients_path", "visits", "visits_path"]

ADULT_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"
# Hashes of the files as the archive serves them. A file in the user's own folder need not match: copies without the
# first comment of adult.test or without the empty last line are common, and their rows are the same.
ADULT_SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
ADULT_PARTS = {"train": ("adult.data",), "test": ("adult.test",), "both": ("adult.data", "adult.test")}
ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary",
)
UNKNOWN = "?"
# The larger file has 4 MB; a response above this limit is not one of the files.
MOST_BYTES = 16_000_000
TIMEOUT_SECONDS = 60.0
DOWNLOAD_CURE = (
    "Nothing was saved. Try again later, or get adult.data and adult.test another way and pass folder= or set "
    "SHOAL_DATA."
)


def patients_path() -> Path:
    """Return the path of the CSV file of the built-in patients table.

    >>> patients_path().name
    'patients.csv'
    """
    return Path(__file__).with_name("patients.csv")


def patients() -> pl.DataFrame:
    """Return the built-in patients table: 5,000 invented people of a hospital register.

    Every column is text as in the file; an empty cell is null.

    >>> patients().columns[:5]
    ['name', 'patient_id', 'birth_date', 'sex', 'zip']
    """
    import polars as pl

    return pl.read_csv(patients_path(), infer_schema=False)


def visits_path() -> Path:
    """Return the path of the CSV file of the built-in visits table.

    >>> visits_path().name
    'visits.csv'
    """
    return Path(__file__).with_name("visits.csv")


def visits() -> pl.DataFrame:
    """Return the built-in visits table: 12,000 visits of 4,000 invented patients to a hospital.

    A `patient_id` occurs once for each visit. Birth date, sex, nationality and education are the same at all visits of
    a patient, and so is the zip code unless the patient moved; ward, date, diagnosis and cost differ. Every column is
    text as in the file; an empty cell is null.

    >>> visits()["patient_id"].n_unique()
    4000
    """
    import polars as pl

    return pl.read_csv(visits_path(), infer_schema=False)


def adult(
    folder: str | os.PathLike[str] | None = None,
    *,
    part: Literal["train", "test", "both"] = "train",
    complete: bool = False,
    download: bool = False,
) -> pl.DataFrame:
    """Return the Adult census table (Becker and Kohavi 1996, CC BY 4.0), every column as trimmed text.

    The files are not part of shoal. This function looks for them in `folder` and in its subfolder `adult`; without
    `folder`, in the folder named by the environment variable SHOAL_DATA and then in the cache (`$XDG_CACHE_HOME/shoal`
    or `~/.cache/shoal`). It downloads nothing unless `download` is true.

    Args:
        folder: Folder of adult.data and adult.test.
        part: "train" is adult.data (32,561 rows), "test" is adult.test (16,281 rows), "both" is the first followed by
            the second.
        complete: Leave out rows with an unknown value, "?" (30,162 rows remain of "train", 45,222 of "both").
        download: If the files are not found, download them (6 MB) from the UCI archive into the cache.

    Returns:
        The table as a polars frame.

    Raises:
        UsageError: `part` is unknown.
        FileError: The files are not found, or cannot be read or downloaded.
        InputError: A file is damaged.

    >>> adult("census", part="both", complete=True).height  # doctest: +SKIP
    45222
    """
    import polars as pl

    if part not in ADULT_PARTS:
        raise UsageError(f"part={part!r} is unknown. Use {', '.join(map(repr, ADULT_PARTS))}.")
    rows: list[list[str]] = []
    for path in _find_adult(None if folder is None else Path(folder), ADULT_PARTS[part], download=download):
        rows += _read_adult(path)
    if complete:
        rows = [row for row in rows if UNKNOWN not in row]
    return pl.DataFrame(rows, schema=dict.fromkeys(ADULT_COLUMNS, pl.String), orient="row")


def _find_adult(folder: Path | None, names: tuple[str, ...], *, download: bool) -> list[Path]:
    folders = []
    for place in _places(folder, download=download):
        paths = [place / name for name in names]
        if all(map(os.path.isfile, paths)):
            return paths
        folders.append(str(place))
    if not download:
        raise FileError(
            f"the adult table was not found: no {' and '.join(names)} in {', '.join(folders)}. Pass their "
            "folder as folder=, or set the environment variable SHOAL_DATA to it, or pass download=True to download "
            "them (6 MB) from the UCI archive."
        )
    _download_adult(_cache())
    return [_cache() / name for name in names]


def _places(folder: Path | None, *, download: bool) -> Iterator[Path]:
    """Yield the folders to search; the cache comes last, because it raises an error without a home folder."""
    named = folder or (Path(text) if (text := os.environ.get("SHOAL_DATA")) else None)
    if named is not None:
        yield named.expanduser() / "adult"
        yield named.expanduser()
    if folder is None or download:
        yield _cache()


def _cache() -> Path:
    try:
        return cache_folder() / "adult"
    except RuntimeError as error:
        raise FileError(
            "there is no home folder to store the adult table in. Set XDG_CACHE_HOME, or pass folder= or set "
            "SHOAL_DATA to a folder that contains adult.data and adult.test."
        ) from error


def cache_folder() -> Path:
    """Return the cache folder of the user.

    Raises:
        RuntimeError: There is no home folder.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # the XDG specification ignores a relative path
        base = Path.home() / ".cache"
    return base / "shoal"


def _read_adult(path: Path) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read: {error}.") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        # adult.test begins with a comment, and both files end with a blank line.
        if not line.strip() or line.startswith("|"):
            continue
        row = [cell.strip() for cell in line.split(",")]
        if len(row) != len(ADULT_COLUMNS):
            raise InputError(
                f"{path}, line {number}: {len(row)} cells instead of {len(ADULT_COLUMNS)}. The file is damaged or is "
                "not the adult table. Remove it and download it again."
            )
        row[-1] = row[-1].removesuffix(".")  # only adult.test has a dot after the class
        rows.append(row)
    return rows


def _download_adult(target: Path) -> None:
    """Download both files to a temporary folder, and move them to the target after both passed their check."""
    import tempfile

    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".download-", dir=target) as folder:
            for name in ADULT_SHA256:
                _fetch(name, Path(folder) / name)
            for name in ADULT_SHA256:
                os.replace(Path(folder) / name, target / name)
    except OSError as error:
        raise FileError(f"the adult table cannot be stored in {target}: {error}. {DOWNLOAD_CURE}") from error


def _fetch(name: str, path: Path) -> None:
    import hashlib
    import http.client
    import urllib.request

    url = ADULT_URL + name
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            content = answer.read(MOST_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise FileError(f"{url} cannot be downloaded: {error}. {DOWNLOAD_CURE}") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != ADULT_SHA256[name]:
        raise FileError(
            f"{url} is not the expected file: its SHA-256 is {digest}, not {ADULT_SHA256[name]}. {DOWNLOAD_CURE}"
        )
    path.write_bytes(content)
