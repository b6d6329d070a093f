"""Names have no power over the terminal, the markup of its tables or the Markdown of the data dictionary."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.cli import terminal
from shoal.cli.main import COMMANDS
from shoal.errors import visible
from tests.command import Shoal

ESC, BELL, CSI, BIDI, ZERO = "\x1b", "\x07", "\x9b", "\u202e", "\u200b"
# A colour, a title of the window, a C1 sequence, another direction, nothing visible, a return, and markup of rich.
EVIL = (
    f"{ESC}[31m",
    f"{ESC}]0;x{BELL}",
    f"{CSI}2J",
    BIDI,
    ZERO,
    "a\rb",
    "[bold]",
    "[/]",
    "[link=x]",
    "\x7f",
    "\x00"[:0],
)
NAME = f"{ESC}[31m{CSI}2J{BIDI}{ZERO}[bold][/nobody]{BELL}"
FILE = NAME.replace("/", "")
CLI = Path(__file__).parents[2] / "src" / "shoal" / "cli"


def is_calm(text: str) -> bool:
    """Say whether a terminal would only show a text."""
    return all(letter.isprintable() or letter == "\n" for letter in text)


def calm(*printed: str) -> None:
    for text in printed:
        assert is_calm(text), [letter for letter in text if not (letter.isprintable() or letter == "\n")]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table whose file name and column names would like to rule the terminal."""
    path = tmp_path / f"{FILE}\nshoal: done.csv"
    rows = "".join(f"{20 + i % 3},{'fm'[i % 2]},{i % 4}\n" for i in range(24))
    path.write_text(f'"{NAME}","[red]sex",disease\n{rows}')
    return path


ROLES = ("--qi", f"{NAME},[red]sex", "--sensitive", "disease")


def test_every_command_shows_names_escaped(shoal: Shoal, table: Path, tmp_path: Path) -> None:
    """Names of columns, of files and of settings, in results, notes and errors."""
    out = tmp_path / f"out{FILE}.csv"
    report = tmp_path / f"report{FILE}.html"
    done = [
        shoal("anonymize", table, "-o", out, "-k", 3, *ROLES, "--report", report, "--weights", "auto"),
        shoal("anonymize", table, "-o", out, "-k", 3, *ROLES, "--force", "--json"),
        shoal("verify", out, "-k", 3, "--qi", f"{NAME},[red]sex"),
        shoal("measure", table, out, "--qi", f"{NAME},[red]sex"),
        shoal("risk", out, "--qi", f"{NAME},[red]sex", "--original", table),
        shoal("evaluate", table, out, "--qi", f"{NAME},[red]sex", "--queries", 20),
        shoal("compare", table, *ROLES, "--methods", "mondrian", "-k", "2,3", "--no-cache", "--jobs", 1),
        shoal("advise", table, *ROLES, "--methods", "mondrian", "-k", "2-4", "--no-cache", "--jobs", 1),
        shoal("init", table, "-o", tmp_path / f"{FILE}.toml"),
        shoal("hierarchy", "propose", table, "--column", NAME, "-o", tmp_path / f"zip{FILE}.csv"),
        shoal("hierarchy", "show", tmp_path / f"zip{FILE}.csv"),
        shoal("simulate", table, "--qi", NAME, "-k", 2, "--repetitions", 5),
    ]
    for ended in done:
        assert ended.code == 0, ended.err
        calm(ended.out, ended.err)
        assert "\nshoal: done.csv" not in ended.out + ended.err
    assert json.loads(done[1].out)["output"] == str(out)
    assert "\\x1b[31m" in done[3].out


@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_error_shows_its_arguments_escaped(shoal: Shoal, command: str, evil: str, tmp_path: Path) -> None:
    """Whatever is wrong with a word, the terminal only shows it."""
    ended = shoal(command, tmp_path / f"{evil}.csv", f"--qi={evil}", f"--k={evil}", f"--{evil}", evil)
    assert ended.code in (2, 6)
    calm(ended.out, ended.err)
    ended = shoal(command, tmp_path / f"{evil}\nshoal: all is well.csv", "--config", f"{evil}\nshoal: well")
    assert ended.code in (0, 2, 6)
    calm(ended.out, ended.err)
    assert "\nshoal: " not in ended.err


@pytest.mark.skipif(sys.platform == "darwin", reason="its file names are UTF-8")
def test_file_names_need_not_be_text(tmp_path: Path) -> None:
    """A name of bytes that are not UTF-8, with a terminal that shows ASCII only."""
    (tmp_path / "in.csv").write_text("age,sex\n" + "1,é\n2,é\n" * 4)
    name = os.fsencode(tmp_path) + b"/out\xff.csv"
    words = ["anonymize", b"in.csv", "-o", name, "-k", "2", "--qi", "age,sex", "--report", b"r\xff.html"]
    for encoding in ("utf-8", "ascii"):
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        command = [sys.executable, "-c", "from shoal.cli.main import run; run()", *words, "--force"]
        ended = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, check=False)
        assert ended.returncode == 0, ended.stderr.decode()
        assert b"\\udcff" in ended.stdout
        manifest = json.loads(Path(os.fsdecode(name + b".manifest.json")).read_text())
        assert manifest["file"] == "out\udcff.csv"


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_output_without_a_name_is_refused(name: str, shoal: Shoal, data: Path) -> None:
    """What names a folder is no file, for a release and for keys."""
    words = ("-k", 2, "--qi", "age,sex,zip", "--sensitive", "disease", "--drop", "name")
    assert shoal("anonymize", data, "-o", name, *words).code == 2
    assert shoal("keygen", name).code == 2


def test_dictionary_escapes_markdown(shoal: Shoal, tmp_path: Path) -> None:
    """The name of a file is no heading, image, link or HTML, and that of a column no cell of its own."""
    names = ("*a*", "<img src=x>", "![x](http://e.org)", "a|b", "a\nb", "`c`", "_d_", "e_f", f"{ESC}{BIDI}", "&amp;")
    (tmp_path / "in.csv").write_text(",".join(f'"{name}"' for name in names) + "\n" + (",".join("1" * 10) + "\n") * 2)
    out = tmp_path / "# <b>x<b>\n*y*[z](http:--e.org).csv"
    ended = shoal("anonymize", tmp_path / "in.csv", "-o", out, "-k", 2, "--qi", "e_f", "--others", "drop")
    assert ended.code == 0, ended.err
    page = Path(f"{out}.dictionary.md").read_text()
    assert page.splitlines()[0] == r"# \# &lt;b>x&lt;b>\\n\*y\*\[z\](http:--e.org).csv: data dictionary"
    sensitive = ("--sensitive", ",".join(f'"{name}"' for name in names if name != "e_f"))
    ended = shoal("anonymize", tmp_path / "in.csv", "-o", out, "-k", 2, "--qi", "e_f", *sensitive, "--force")
    assert ended.code in (0, 2), ended.err
    shoal("anonymize", tmp_path / "in.csv", "-o", out, "-k", 2, "--qi", "e_f", "--others", "insensitive", "--force")
    rows = [line for line in Path(f"{out}.dictionary.md").read_text().splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0][2:] for row in rows[1:]] == [
        r"\*a\*",
        "&lt;img src=x>",
        r"!\[x\](http\://e.org)",
        r"a\|b",
        r"a\\nb",
        r"\`c\`",
        r"\_d\_",
        "e_f",
        r"\\x1b\\u202e",
        "&amp;amp;",
    ]


def test_visible_escapes_as_python_does() -> None:
    assert visible(NAME, keep="") == ascii(NAME)[1:-1]
    assert visible("naïve, 東京, ε") == "naïve, 東京, ε"
    assert visible("a\nb") == "a\nb"
    assert visible("\ue000 marks \ue001") == r"\ue000 marks \ue001"


def test_commands_print_through_one_place() -> None:
    """Only terminal.py writes; everything else says, labels and draws."""
    for path in sorted(CLI.rglob("*.py")):
        if path.name == "terminal.py":
            continue
        calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
        assert not calls & {"print", "typer.echo", "typer.secho", "Console", "Text", "sys.stdout.write"}, path.name


def test_markup_in_the_label_of_a_run_is_text() -> None:
    assert terminal.label("[bold]x[/bold]").plain == "[bold]x[/bold]"
