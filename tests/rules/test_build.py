"""The build: what is in the wheel, how it is compiled, and what it says where something is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IN_CI = os.environ.get("CI") == "true"
LEFTOVERS = ("leftover.cpp", "leftover.abi3.so", "leftover.cpython-311-x86_64-linux-gnu.so")


@dataclass(frozen=True)
class Built:
    wheel: Path
    log: str

    def names(self) -> set[str]:
        with zipfile.ZipFile(self.wheel) as archive:
            return set(archive.namelist())

    def read(self, name: str) -> str:
        with zipfile.ZipFile(self.wheel) as archive:
            return archive.read(f"{'-'.join(self.wheel.name.split('-')[:2])}.dist-info/{name}").decode()

    def compilations(self) -> list[list[str]]:
        return [line.split() for line in self.log.splitlines() if " -c build/" in line and " -o " in line]


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env=env, text=True, capture_output=True, stdin=subprocess.DEVNULL)


def environment(folder: Path, *, compiler: bool) -> dict[str, str]:
    """The environment of a build; without a compiler, PATH is one empty folder."""
    env = {
        name: value for name, value in os.environ.items() if name not in ("CXX", "CXXFLAGS", "LDFLAGS", "SHOAL_CHECKED")
    }
    env.pop("PIP_QUIET", None)
    if not compiler:
        (folder / "no-programs").mkdir()
        env["PATH"] = str(folder / "no-programs")
    return env


def kernels(tree: Path) -> list[str]:
    """Return the compiled modules by their path below `shoal`, without suffix."""
    folder = tree / "src/shoal"
    return sorted(str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.pyx"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, and in it what builds of other kinds leave behind."""
    copy = tmp_path_factory.mktemp("tree") / "shoal"
    copy.mkdir()
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, copy)
    for name in ("src", "build_backend"):
        shutil.copytree(
            ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.cpp", "*.egg-info")
        )
    for name in LEFTOVERS:
        (copy / "src/shoal/kernels" / name).write_text("left by an earlier build")
    return copy


@pytest.fixture(scope="module")
def built(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The wheel as pip builds it: in CI on a machine without a compiler, elsewhere with the one that is there."""
    folder = tmp_path_factory.mktemp("wheel")
    done = run(
        *(sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--verbose", "--wheel-dir", folder),
        cwd=tree,
        env=environment(folder, compiler=not IN_CI),
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    (wheel,) = folder.glob("*.whl")
    return Built(wheel, done.stdout + done.stderr)


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """The interpreter of a new virtual environment with nothing in it, not even pip."""
    venv.create(tmp_path / "venv", with_pip=False)
    return tmp_path / "venv/bin/python"


@pytest.mark.slow
def test_wheel_is_one_for_every_python_from_311(built: Built) -> None:
    assert "-cp311-abi3-" in built.wheel.name
    metadata = built.read("WHEEL").splitlines()
    assert [line for line in metadata if line.startswith("Tag: ")] == [f"Tag: {built.wheel.stem.split('-', 2)[2]}"]
    assert "Root-Is-Purelib: false" in metadata


@pytest.mark.slow
def test_wheel_holds_the_package_and_nothing_else(built: Built, tree: Path) -> None:
    source = tree / "src"
    expected = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    expected |= {f"shoal/{name}.abi3.so" for name in ("kernels/_cyutility", *kernels(tree))}
    expected |= {str(path.relative_to(source)) for path in source.glob("shoal/datasets/*.csv")}
    expected |= {str(path.relative_to(source)) for path in source.glob("shoal/hierarchy/builtin/*.csv")}
    expected |= {str(path.relative_to(source)) for path in source.glob("shoal/*/templates/*")}
    for pattern in ("locale/*.po", "pages/static/*", "server/*.html"):
        expected |= {str(path.relative_to(source)) for path in source.glob(f"shoal/web/{pattern}")}
    expected |= {"shoal/py.typed"}
    assert {name for name in built.names() if ".dist-info/" not in name} == expected


@pytest.mark.slow
def test_wheel_states_licence_version_and_command(built: Built) -> None:
    import shoal

    metadata = built.read("METADATA").splitlines()
    assert "License-Expression: Apache-2.0" in metadata
    assert f"Version: {shoal.__version__}" in metadata
    assert "Apache License" in built.read("licenses/LICENSE")
    assert "shoal = shoal.cli.supervisor:main" in built.read("entry_points.txt")


@pytest.mark.slow
def test_kernels_are_compiled_to_give_the_same_bytes_everywhere(built: Built, tree: Path) -> None:
    commands = built.compilations()
    assert len(commands) == 1 + len(kernels(tree))
    for command in commands:
        assert {"-std=c++17", "-O3", "-ffp-contract=off", "-DPy_LIMITED_API=0x030B0000"} <= set(command)
        assert not [option for option in command if option.startswith(("-march", "-mtune", "-ffast-math", "-Ofast"))]
        processor = [option for option in command if option.startswith("-m")]
        if sysconfig.get_platform().endswith("x86_64"):
            assert [each for each in processor if each != "-m"] == (
                ["-mcpu=x86_64_v2"] if IN_CI else ["-msse4.2", "-mpopcnt"]
            )


@pytest.mark.slow
@pytest.mark.skipif(not IN_CI, reason="takes two minutes; set CI=true to build without a compiler")
def test_wheel_built_without_a_compiler_is_importable_without_one(
    built: Built, bare_python: Path, tree: Path, tmp_path: Path
) -> None:
    env = environment(tmp_path, compiler=False)
    pip = [sys.executable, "-m", "pip", "--python", bare_python]
    installed = run(*pip, "install", "--no-deps", "--no-index", built.wheel, cwd=tmp_path, env=env)
    assert installed.returncode == 0, installed.stderr
    # The verifier's tokenizer is compiled too, but its package needs numpy, which a bare environment lacks.
    names = [name.replace("/", ".") for name in kernels(tree) if name.startswith("kernels/")]
    imports = "".join(f"import shoal.{name}; " for name in names)
    code = f"{imports}from shoal.kernels import build_info; print(build_info.COMPILER, build_info.CHECKED)"
    imported = run(bare_python, "-c", code, cwd=tmp_path, env=env)
    assert imported.returncode == 0, imported.stderr
    # zig is clang; what it leaves in the module is the proof that no other compiler was found.
    assert imported.stdout.startswith("Clang")
    assert imported.stdout.endswith("False\n")


@pytest.mark.parametrize(
    "hook",
    ["get_requires_for_build_wheel()", "get_requires_for_build_editable()", "build_wheel('.')", "build_editable('.')"],
)
def test_missing_headers_of_python_give_one_line(hook: str, tmp_path: Path) -> None:
    code = f"import sysconfig, shoal_build; sysconfig.get_path = lambda name: '/no/headers'; shoal_build.{hook}"
    done = run(sys.executable, "-c", code, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT / "build_backend")})
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert done.returncode == 1
    assert done.stderr == (
        f"shoal cannot be built: Python.h of Python {version} is not in /no/headers. Install the headers "
        f"(Debian, Ubuntu: apt install python{version}-dev; Fedora: dnf install python3-devel) and try again.\n"
    )


def test_missing_cython_without_build_isolation_gives_one_line(tree: Path, bare_python: Path, tmp_path: Path) -> None:
    done = run(
        *(sys.executable, "-m", "pip", "--python", bare_python, "install", "--no-deps", "--no-build-isolation", tree),
        cwd=tmp_path,
        env=environment(tmp_path, compiler=True),
    )
    output = done.stdout + done.stderr
    assert done.returncode == 1
    assert "[1 lines of output]" in output
    assert (
        "shoal cannot be built: setuptools>=77 and Cython>=3.1 are not in this environment. "
        "Run pip install 'setuptools>=77' 'Cython>=3.1', or leave out --no-build-isolation.\n"
    ) in output
    assert "Traceback" not in output


def test_missing_compiler_without_build_isolation_gives_one_line(tmp_path: Path) -> None:
    code = "import shoal_build; shoal_build.missing_tools = lambda: None; shoal_build.build_wheel('.')"
    done = run(
        *(sys.executable, "-S", "-c", code),  # -S, so that a ziglang of this environment is not seen
        cwd=tmp_path,
        env={**environment(tmp_path, compiler=False), "PYTHONPATH": str(ROOT / "build_backend")},
    )
    assert done.returncode == 1
    assert done.stderr == (
        "shoal cannot be built: no C++ compiler on PATH and no ziglang in this environment. "
        "Install one (pip install 'ziglang>=0.14'), or leave out --no-build-isolation.\n"
    )


def test_installed_kernels_are_the_build_asked_for() -> None:
    from shoal.kernels import build_info

    assert (os.environ.get("SHOAL_CHECKED", "") not in ("", "0")) == build_info.CHECKED
