"""Bad input, one case each: the documented exit code, a helpful text, nothing left behind, no cell in any message."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.command import PATIENTS, ROLES, Shoal, folder_of

HEAD, *LINES = PATIENTS.splitlines()
CELLS = {cell for line in LINES for cell in line.split(",")} - {"35", "36", "37", "38"}


def refuse(shoal: Shoal, folder: Path, code: int, match: str, *words: object) -> str:
    """Run the command and demand the exit code, the text, an untouched folder and no cell in the output."""
    before = folder_of(folder)
    ended = shoal(*words)
    assert ended.code == code, f"{ended.code}: {ended.err}"
    assert match in " ".join(ended.err.split()), ended.err
    assert folder_of(folder) == before, "something was left behind"
    assert not [p for p in folder.iterdir() if p.name.startswith(".")], "a private folder was left behind"
    assert "Traceback" not in ended.err
    shown = ended.out + ended.err
    assert not [cell for cell in CELLS if cell in shown], "a cell was shown"
    return ended.err


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "bad.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table(*lines: str) -> str:
    return "\n".join([HEAD, *lines]) + "\n"


FILES = {
    "B02 empty file": ("", 3, "no data rows"),
    "B02 header only": (HEAD + "\n", 3, "no data rows"),
    "B02 blank lines only": ("\n\n\r\n", 3, "no data rows"),
    "B07 double header": ("age,sex,age\n1,2,3\n4,5,6\n", 3, "columns 1, 3 have the same name"),
    "B07 empty header": ("age,,sex\n1,2,3\n4,5,6\n", 3, "column at position 2 has no name"),
    "B08 longer row": (table(*LINES, "Gus,40,Male,02139,flu,extra"), 3, "line 8: 6 cells, but the first line has 5"),
    "B08 shorter row": (table(LINES[0], "Gus,40", *LINES[1:]), 3, "line 3: 2 cells"),
    "B08 all too long": ("\n".join([HEAD, *(line + ",x" for line in LINES)]) + "\n", 3, "(6 such rows)"),
    "B09 open quote": (table(LINES[0], 'Gus,40,Male,"02139,flu', *LINES[1:]), 3, "line 3: a quote opens here"),
    "B09 quote in a cell": (table(LINES[0], 'G"us,40,Male,02139,flu'), 3, "line 3: a quote is inside a cell"),
    "B09 text after a quote": (table(LINES[0], '"Gus"x,40,Male,02139,flu'), 3, "line 3: a quote is inside"),
    "B09 lone carriage return": (table(*LINES).replace("\n", "\r"), 3, "carriage return"),
    "B12 NUL byte": (table(LINES[0], "G\0s,40,Male,02139,flu"), 3, "line 3: a NUL byte"),
    "B11 invalid byte": (table(*LINES).encode() + b"G\xfcs,40,Male,02139,flu\n", 3, "is not utf-8"),
    "B11 UTF-16": (table(*LINES).encode("utf-16"), 3, "--encoding utf-16"),
    "B11 UTF-32": (table(*LINES).encode("utf-32"), 3, "--encoding utf-32"),
    "C22 suppression token": (table(*LINES, "Gus,40,*,02139,flu"), 3, "column 'sex': 1 distinct values look like"),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_file_is_refused(shoal: Shoal, tmp_path: Path, name: str) -> None:
    """B02, B07, B08, B09, B11, B12, C22: the id is the first word of the case."""
    content, code, match = FILES[name]
    path = write(tmp_path, content)
    refuse(shoal, tmp_path, code, match, "anonymize", path, "-o", tmp_path / "out.csv", "-k", 2, *ROLES)


def test_missing_folder_and_odd_inputs(shoal: Shoal, tmp_path: Path) -> None:
    """B01: missing file, folder, FIFO, device, unreadable."""
    out = ("-o", tmp_path / "out.csv", "-k", 2, *ROLES)
    refuse(shoal, tmp_path, 6, "no such file", "anonymize", tmp_path / "absent.csv", *out)
    refuse(shoal, tmp_path, 6, "not a regular file", "anonymize", tmp_path, *out)
    refuse(shoal, tmp_path, 6, "not a regular file", "anonymize", "/dev/null", *out)
    refuse(
        shoal, tmp_path, 6, "cannot be read", "anonymize", "/proc/self/mem", *out
    )  # a file that even root cannot read
    os.mkfifo(tmp_path / "fifo")
    refuse(shoal, tmp_path, 6, "not a regular file", "anonymize", tmp_path / "fifo", *out)


def test_fewer_rows_than_k(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """B03: n < k is infeasible; B04: so is a k beyond any table."""
    out = ("-o", tmp_path / "out.csv", *ROLES)
    refuse(shoal, tmp_path, 4, "the table has 6 rows. Use k <= 6.", "anonymize", data, "-k", 7, *out)
    refuse(shoal, tmp_path, 4, "the table has 6 rows", "anonymize", data, "-k", 10**30, *out)


@pytest.mark.parametrize("k", ["0", "-1", "1.5", "five", "NaN", "inf", "True", ""])
def test_k_that_is_no_positive_whole_number(shoal: Shoal, tmp_path: Path, k: str) -> None:
    """B04: refused before the data is read (there is none)."""
    words = ("anonymize", tmp_path / "absent.csv", "-o", tmp_path / "out.csv", *ROLES, "-k", k)
    refuse(shoal, tmp_path, 2, "", *words)


def test_k_missing_proposes_five(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """B04: no silent default."""
    refuse(shoal, tmp_path, 2, "-k 5", "anonymize", data, "-o", tmp_path / "out.csv", *ROLES)


def test_k_of_one_alone_is_refused_wherever_it_is_given(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """B04: by the option, by the config and in a list of k; a check of a file may count single rows."""
    config = tmp_path / "shoal.toml"
    config.write_text("k = 1\n")
    out = ("-o", tmp_path / "out.csv", *ROLES)
    refuse(shoal, tmp_path, 2, "k=1 promises nothing", "anonymize", data, *out, "-k", 1)
    refuse(shoal, tmp_path, 2, "k=1 promises nothing", "anonymize", data, *out, "--config", config)
    for command in ("compare", "advise"):
        refuse(shoal, tmp_path, 2, "k=1 promises nothing", command, data, *ROLES[:2], "-k", "1,2", "--jobs", 1)
    assert shoal("verify", data, *ROLES[:2], "-k", 1).code == 0


def test_k_in_config_must_be_a_positive_whole_number(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """B04: in a config too."""
    for text in ("k = 0", "k = 1.5", 'k = "five"', "k = true", "k = nan"):
        config = tmp_path / "shoal.toml"
        config.write_text(text + "\n")
        words = ("anonymize", data, "-o", tmp_path / "out.csv", *ROLES, "--config", config)
        refuse(shoal, tmp_path, 2, "key 'k'", *words)


ROLE_FAULTS = {
    "B17 unknown column": (
        ("--qi", "agee,sex", "--others", "drop"),
        "column 'agee' (qi) is not in the table. Did you mean",
    ),
    "B17 two roles": (("--qi", "age,sex", "--sensitive", "sex", "--others", "drop"), "named as qi and as sensitive"),
    "B17 named twice": (("--qi", "age,age", "--others", "drop"), "named twice as qi"),
    "B17 no QI": (("--sensitive", "disease", "--others", "drop"), "no quasi-identifier"),
    "undeclared columns": (("--qi", "age,sex"), "no role for columns 'name', 'zip', 'disease'"),
    "unknown others": (("--qi", "age", "--others", "keep"), "--others keep is not known"),
    "unknown method": (("--qi", "age", "--others", "drop", "--method", "mondrain"), "Did you mean 'mondrian'"),
    "unknown option": (("--qi", "age", "--others", "drop", "--option", "mode=x"), "has no option 'mode'"),
    "unknown variant": (
        ("--qi", "age", "--others", "drop", "--method", "mondrian", "--option", "variant=x"),
        "variant 'x' is not known",
    ),
    "two kinds": (("--qi", "age", "--others", "drop", "--numeric", "age", "--categorical", "age"), "two kinds"),
    "kind of unknown column": (("--qi", "age", "--others", "drop", "--numeric", "agee"), "column 'agee' (kind)"),
}


@pytest.mark.parametrize("name", ROLE_FAULTS)
def test_bad_roles_are_refused(shoal: Shoal, data: Path, tmp_path: Path, name: str) -> None:
    """B17: unknown or doubly used columns, no quasi-identifier."""
    words, match = ROLE_FAULTS[name]
    refuse(shoal, tmp_path, 2, match, "anonymize", data, "-o", tmp_path / "out.csv", "-k", 2, *words)


def test_all_role_problems_are_reported_together(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    words = ("--qi", "agee,sexx", "--sensitive", "diseasee")
    text = refuse(shoal, tmp_path, 2, "agee", "anonymize", data, "-o", tmp_path / "out.csv", "-k", 2, *words)
    assert "sexx" in text
    assert "diseasee" in text


def test_target_faults_are_found_before_the_work(shoal: Shoal, tmp_path: Path) -> None:
    """O02: missing folder, a folder as target, a name too long: found although the input does not even exist."""
    absent = tmp_path / "absent.csv"
    (tmp_path / "folder").mkdir()
    rest = ("-k", 2, *ROLES)
    refuse(shoal, tmp_path, 6, "no such folder", "anonymize", absent, "-o", tmp_path / "no" / "out.csv", *rest)
    refuse(shoal, tmp_path, 6, "is a folder", "anonymize", absent, "-o", tmp_path / "folder", *rest)
    refuse(shoal, tmp_path, 6, "too long", "anonymize", absent, "-o", tmp_path / ("x" * 300 + ".csv"), *rest)


def test_unwritable_target_folder(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """O02: a file system that takes no files (root ignores permissions, /proc refuses everybody)."""
    refuse(shoal, tmp_path, 6, "cannot be written", "anonymize", data, "-o", "/proc/out.csv", "-k", 2, *ROLES)


def test_existing_target_needs_force(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """O06: refused without --force; replaced with it."""
    out = tmp_path / "out.csv"
    out.write_text("old")
    refuse(shoal, tmp_path, 6, "exists already", "anonymize", data, "-o", out, "-k", 2, *ROLES)
    assert shoal("anonymize", data, "-o", out, "-k", 2, *ROLES, "--force").code == 0
    assert out.read_text() != "old"


def test_input_as_output_is_refused(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """B27: the same path, a hard link and a symbolic link to the input."""
    os.link(data, tmp_path / "hard.csv")
    os.symlink(data, tmp_path / "soft.csv")
    for out in (data, tmp_path / "hard.csv", tmp_path / "soft.csv"):
        words = ("anonymize", data, "-o", out, "-k", 2, *ROLES, "--force")
        refuse(shoal, tmp_path, 3, "input and output are the same file", *words)


def test_pickle_is_no_release_format(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """L08: nothing but the formats that the gate can read."""
    refuse(shoal, tmp_path, 2, "CSV", "anonymize", data, "-o", tmp_path / "out.pkl", "-k", 2, *ROLES)


def test_wrong_delimiter_is_named(shoal: Shoal, tmp_path: Path) -> None:
    """B10: one column found under the delimiter that was given."""
    path = write(tmp_path, table(*LINES).replace(",", ";"))
    words = ("anonymize", path, "-o", tmp_path / "out.csv", "-k", 2, *ROLES)
    refuse(shoal, tmp_path, 3, "has only one column; with ';' it has more", *words, "--delimiter", ",")


NUMBERS = ["1e400", "NaN", "inf", "1_000", "0x1F", "٣", "1,5", "--3"]


@pytest.mark.parametrize("number", NUMBERS)
def test_odd_numbers_in_a_numeric_column(shoal: Shoal, tmp_path: Path, number: str) -> None:
    """B13: exact decimals or a refusal with the row."""
    path = write(tmp_path, table(*LINES, f'Gus,"{number}",Male,02139,flu'))
    words = ("anonymize", path, "-o", tmp_path / "out.csv", "-k", 2, *ROLES, "--numeric", "age")
    text = refuse(shoal, tmp_path, 3, "(for example at row 7)", *words)
    assert number not in text


@pytest.mark.parametrize("born", ["2023-02-29", "01/02/2020", "2020-1-2", "yesterday"])
def test_odd_dates_in_a_date_column(shoal: Shoal, tmp_path: Path, born: str) -> None:
    """B14: the declared format only; an ambiguous date is an error."""
    path = write(tmp_path, f"born,sex\n2020-01-01,F\n2020-01-02,F\n{born},M\n2021-01-01,M\n")
    words = ("anonymize", path, "-o", tmp_path / "out.csv", "-k", 2, "--qi", "born,sex", "--date", "born")
    text = refuse(shoal, tmp_path, 3, "column 'born' is declared date", *words)
    assert "(for example at row 3)" in text
    assert born not in text


def test_a_text_among_numbers_is_not_silently_a_category(shoal: Shoal, tmp_path: Path) -> None:
    """B15: mixed types name the first row, or are declared."""
    path = write(tmp_path, "age,sex\n" + "".join(f"{age},F\n" for age in range(20, 40)) + "unknown,F\n")
    words = ("anonymize", path, "-o", tmp_path / "out.csv", "-k", 2, "--qi", "age,sex")
    refuse(shoal, tmp_path, 3, "looks like numbers", *words)
    assert shoal(*words, "--missing", "unknown").code == 0
    assert shoal(*words, "--categorical", "age", "--force").code == 0


def test_config_faults_name_their_keys(shoal: Shoal, data: Path, tmp_path: Path) -> None:
    """B24: unknown key with a hint, wrong type, double key, not TOML."""
    config = tmp_path / "shoal.toml"
    cases = {
        "kk = 5\n": "key 'kk' is not known. Did you mean 'k'?",
        '[columns.age]\nrole = "qui"\n': "key 'columns.age.role'",
        '[columns.age]\nrole = "qi"\nkin = "numeric"\n': "Did you mean 'kind'",
        "seed = 'x'\n": "key 'seed'",
        "k = 5\nk = 6\n": "not a valid TOML file",
        "k: 5\n": "not a valid TOML file",
    }
    for content, match in cases.items():
        config.write_text(content)
        words = ("anonymize", data, "-o", tmp_path / "out.csv", *ROLES, "--config", config)
        refuse(shoal, tmp_path, 2, match, *words)
    words = ("anonymize", data, "-o", tmp_path / "out.csv", *ROLES, "--config", tmp_path / "absent.toml")
    refuse(shoal, tmp_path, 6, "cannot be read", *words)


def test_an_unexpected_exception_shows_no_cell(
    shoal: Shoal, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L14: a bug is reported by type and place, never by its text."""
    from shoal.release.cells import show

    def broken(*_: object, **__: object) -> None:
        raise ValueError("gastritis")

    monkeypatch.setattr(show, "decode", broken)
    words = ("anonymize", data, "-o", tmp_path / "out.csv", "-k", 2, *ROLES)
    refuse(shoal, tmp_path, 1, "ValueError in", *words)
