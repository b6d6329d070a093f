"""The documents: what they show runs, what they name exists, and what exists is named."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from pathlib import Path

import pytest

import shoal
from scripts import make_cli_reference, make_config_reference
from shoal import errors
from tests.command import Shoal

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
DATA = "name,ssn,age,sex,zip,disease\n" + "".join(
    f"n{i},s{i},{20 + i * 7 % 40},{'FM'[i % 2]},0{2130 + i % 5},d{i % 4}\n" for i in range(60)
)


def blocks(page: Path, language: str) -> list[str]:
    found = re.findall(r"^```([^\n]*)\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [block for told, block in found if told == language]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: str(p.relative_to(ROOT)))
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), {})


COMMANDS = [
    (page, line.partition("#")[0].strip())
    for page in PAGES
    if page.name not in ("cli.md", "several-rows-per-person.md")
    for block in blocks(page, "")
    for line in block.splitlines()
    if line.startswith("shoal ")
]


@pytest.mark.parametrize(("page", "line"), COMMANDS, ids=lambda x: x if isinstance(x, str) else x.name)
def test_commands_run(page: Path, line: str, shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command that a page shows ends with 0 on a table with the columns that it names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "shoal.toml").write_text('k = 2\nothers = "drop"\n[columns.age]\nrole = "qi"\n')
    words = shlex.split(line)[1:]
    signed = ()
    if {"--sign-key", "--public-key"} & set(words):
        assert shoal("keygen", "lab").code == 0
        signed = ("--sign-key", "lab.pem")
    if words[0] in ("verify", "describe", "measure", "evaluate", "explain", "risk"):
        roles = ("--qi", "age,sex,zip", "--sensitive", "disease", "--drop", "name,ssn")
        assert shoal("anonymize", "data.csv", "-o", "out.csv", "-k", 10, *roles, *signed).code == 0
    if "--drop" in words and "name,ssn" not in words:
        words += ["--drop", "ssn"]
    ended = shoal(*words)
    assert ended.code == 0, ended.err


def test_commands_on_visits_run_and_count_what_the_page_says(
    shoal: Shoal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands of the page in their order; a release of rows fails the check that counts people."""
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs/guides/several-rows-per-person.md"
    exec(compile("\n".join(blocks(page, "python")), str(page), "exec"), {})
    for line in "".join(blocks(page, "")).splitlines():
        effort = ["--effort", "fast"] if line.startswith("shoal anonymize") else []
        ended = shoal(*shlex.split(line)[1:], *effort)
        assert ended.code == 0, ended.err
    checked = next(line for line in page.read_text().splitlines() if line.startswith("    $ shoal verify"))
    ended = shoal(*shlex.split(checked)[2:])
    assert ended.code == 5
    assert "the smallest group has 1 person" in ended.err


def test_documents_show_commands() -> None:
    assert len(COMMANDS) >= 6


def test_config_page_is_a_config(tmp_path: Path) -> None:
    from shoal.settings.read import read_config

    (tmp_path / "shoal.toml").write_text(blocks(ROOT / "docs/reference/config.md", "toml")[0])
    settings = read_config(tmp_path / "shoal.toml")
    assert settings.k == 10
    assert settings.dates == {"born": "%d.%m.%Y"}


def test_rules_page_keeps_its_boundary_and_loses_it_without(shoal: Shoal, tmp_path: Path) -> None:
    """The page's shoal.toml on ages of the patients table, as it stands and without its rule."""
    from shoal.datasets import patients

    rows = patients().select("birth_date", "sex", "zip", "disease").fill_null("").rows()
    cells = [",".join((str(2024 - int(born[:4])), *rest)) for born, *rest in rows]
    (tmp_path / "patients.csv").write_text("\n".join(["age,sex,zip,disease", *cells]) + "\n")
    page = blocks(ROOT / "docs/guides/rules.md", "toml")[0]
    straddling = {}
    for name, text in (("ruled", page), ("plain", page.partition("[[rules]]")[0])):
        (tmp_path / "shoal.toml").write_text(text)
        words = ("anonymize", tmp_path / "patients.csv", "-o", tmp_path / f"{name}.csv")
        ended = shoal(*words, "--config", tmp_path / "shoal.toml")
        assert ended.code == 0, ended.err
        assert ("column 'age': inflection (64, 65): kept" in ended.out) == (name == "ruled")
        ranges = re.findall(r"\[(\d+), (\d+)\]", (tmp_path / f"{name}.csv").read_text())
        straddling[name] = sum(int(low) <= 64 and int(high) >= 65 for low, high in ranges)
    assert straddling["ruled"] == 0
    assert straddling["plain"] > 0


def test_command_line_reference_is_up_to_date() -> None:
    assert make_cli_reference.PATH.read_text() == make_cli_reference.reference(), "run scripts/make_cli_reference.py"


def test_config_reference_is_up_to_date() -> None:
    page = make_config_reference.PATH.read_text()
    assert page == make_config_reference.reference(), "run scripts/make_config_reference.py"
    assert make_config_reference.START in page


def test_nightly_page_tells_every_part_of_the_nightly_run() -> None:
    """Each setting of the recipe with its number, and a result of each."""
    recipe = (ROOT / "justfile").read_text().partition("\nnightly:\n")[2].partition("\n\n")[0]
    settings = re.findall(r"(SHOAL_[A-Z_]+)=(\w+)", recipe)
    assert len(settings) >= 4
    page = (ROOT / "docs/reference/nightly.md").read_text()
    for name, value in settings:
        number = f"{int(value):,}" if value.isdigit() else value
        row = next((line for line in page.splitlines() if line.startswith("| ") and f"`{name}`" in line), "")
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert len(cells) == 5, f"{name} has no row"
        assert cells[2] == number, f"{name}: the recipe says {number}"
        assert re.search(r"passed|failed|not run", cells[4]), f"{name} has no result"
    assert re.search(r"20\d\d-\d\d-\d\d", page)


def test_every_error_and_exit_code_is_documented() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text()
    for name in errors.__all__:
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, errors.ShoalError) and kind is not errors.ShoalError:
            assert f"| {kind.exit_code} | `{name}` |" in page


CLUSTERING = ("sbca", "kaca", "utility-driven", "bottom-up", "top-down", "euclidean", "mnqia")


def test_every_method_has_a_page() -> None:
    from shoal.methods.registry import infos

    for info in infos():
        assert (ROOT / f"docs/concepts/{info.name}.md").exists()


@pytest.mark.parametrize("name", CLUSTERING)
def test_page_of_a_clustering_method_has_picture_use_and_cost(name: str) -> None:
    text = (ROOT / f"docs/concepts/{name}.md").read_text()
    assert f"({name}-groups.svg)" in text
    assert f"--method {name}" in text
    assert "\n## When to use it\n" in text
    assert re.search(r"^Cost: .*\n?.*CPU", text, re.MULTILINE)


def test_every_model_has_a_page() -> None:
    from shoal.models import MODELS

    index = (ROOT / "docs/concepts/models.md").read_text()
    for name, kind in MODELS.items():
        assert f"`{name} " in index or f", `{name} " in index, name
        assert f"`{kind.__name__}(" in index
    for page in re.findall(r"\]\(([a-z-]+)\.md\)", index):
        text = (ROOT / f"docs/concepts/{page}.md").read_text()
        assert "|---|" in text, f"{page} shows no table"
        assert "rotects" in text
        assert "not protect" in text


DOCTESTED = [
    *(f"shoal.methods.clustering.{name.replace('-', '_')}" for name in CLUSTERING),
    *("shoal.hierarchy.level_weights", "shoal.rules"),
    *(f"shoal.models.{name}" for name in ("closeness", "diversity", "registry", "presence", "size")),
    *(
        "shoal.release.anonymize",
        "shoal.risks.estimate",
        "shoal.methods.registry",
        "shoal.release.files.layout",
        "shoal.encoding.grid",
    ),
    *(
        f"shoal.evaluate.{name}"
        for name in ("comparison.advise", "comparison.compare", "comparison.forecast", "transformer", "assessment")
    ),
    *(f"shoal.hierarchy.{name}" for name in ("base", "range_label", "interval", "prefix", "mapping", "propose")),
    *(f"shoal.evaluate.{name}" for name in ("feasibility.simulation", "feasibility.urn")),
]


@pytest.mark.parametrize("name", DOCTESTED)
def test_docstring_examples_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


def test_public_names_have_docstrings() -> None:
    for name in shoal.__all__:
        if name != "__version__":
            assert getattr(shoal, name).__doc__
