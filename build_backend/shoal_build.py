"""The build backend: setuptools, with the `ziglang` wheel as C++ compiler on a machine that has none.

What a build needs and cannot find ends it with one line that says what is missing and what to do. `setup.py` takes the
compiler command from here, so that the question "is there a compiler" has one answer.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shlex
import shutil
import sys
import sysconfig
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
COMPILERS = ("g++", "c++", "clang++")
ZIG_REQUIREMENT = "ziglang>=0.14"

Settings = dict[str, Any] | None


def compiler_command() -> list[str]:
    """Give the C++ compiler to build with: $CXX, else the first known name on PATH, else zig."""
    chosen = shlex.split(os.environ.get("CXX", ""))
    if chosen:
        return chosen
    for name in COMPILERS:
        if shutil.which(name):
            return [name]
    # Baseline, because zig otherwise compiles for the processor of the machine it runs on.
    return [sys.executable, "-m", "ziglang", "c++", "-mcpu=baseline"]


def needs_zig() -> bool:
    """Tell whether the machine offers no C++ compiler of its own."""
    return "ziglang" in compiler_command()


def missing_headers(folder: str | None = None) -> str | None:
    """Say what to do where the C headers of Python are not installed; None where they are."""
    folder = folder or sysconfig.get_path("include")
    if Path(folder, "Python.h").is_file():
        return None
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"Python.h of Python {version} is not in {folder}. Install the headers "
        f"(Debian, Ubuntu: apt install python{version}-dev; Fedora: dnf install python3-devel) and try again."
    )


def missing_compiler() -> str | None:
    """Say what to do where the compiler of this build cannot be run; None where it can."""
    command = compiler_command()
    if needs_zig():
        if importlib.util.find_spec("ziglang"):
            return None
        return (
            f"no C++ compiler on PATH and no ziglang in this environment. "
            f"Install one (pip install '{ZIG_REQUIREMENT}'), or leave out --no-build-isolation."
        )
    if shutil.which(command[0]):
        return None
    return f"CXX names the compiler {command[0]!r}, which is not on PATH. Correct CXX, or unset it."


def missing_tools() -> str | None:
    """Say what to do where a build requirement of pyproject.toml is absent or too old; None where all are there."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        required: list[str] = tomllib.load(file)["build-system"]["requires"]
    absent = [requirement for requirement in required if not _is_installed(requirement)]
    if not absent:
        return None
    return (
        f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not in this environment. "
        f"Run pip install {' '.join(map(repr, absent))}, or leave out --no-build-isolation."
    )


def _is_installed(requirement: str) -> bool:
    """Tell whether `name>=major.minor` holds; that form is all that pyproject.toml uses."""
    name, _, least = requirement.partition(">=")
    try:
        found = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return _release(found) >= _release(least)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:2])


def _stop_at(problem: str | None) -> None:
    if problem:
        raise SystemExit(f"shoal cannot be built: {problem}")


def _stop_unless_buildable() -> None:
    _stop_at(missing_headers() or missing_tools() or missing_compiler())


def _setuptools() -> ModuleType:
    _stop_at(missing_tools())
    from setuptools import build_meta

    return build_meta  # type: ignore[no-any-return, unused-ignore]


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Ask for zig where there is no compiler, and refuse early what could only fail later."""
    _stop_at(missing_headers())
    return [ZIG_REQUIREMENT] if needs_zig() else []


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Ask for the same as for a wheel."""
    return get_requires_for_build_wheel(config_settings)


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    """Ask for nothing: a source archive is not compiled."""
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Write the metadata of the wheel."""
    return str(_setuptools().prepare_metadata_for_build_wheel(metadata_directory, config_settings))


def prepare_metadata_for_build_editable(metadata_directory: str, config_settings: Settings = None) -> str:
    """Write the metadata of an editable install."""
    return str(_setuptools().prepare_metadata_for_build_editable(metadata_directory, config_settings))


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Write the source archive."""
    return str(_setuptools().build_sdist(sdist_directory, config_settings))


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Compile the kernels and write the wheel."""
    _stop_unless_buildable()
    return str(_setuptools().build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Compile the kernels into the tree and write the wheel that points there."""
    _stop_unless_buildable()
    return str(_setuptools().build_editable(wheel_directory, config_settings, metadata_directory))
