"""The build backend: setuptools, with the `ziglang` wheel as C++ compiler on a machine that has none.

If a build requirement is missing, the build stops with one line that says what is missing and what to do. `setup.py`
imports the compiler command from here, so that both use the same compiler.
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
    """Return the command of the C++ compiler: $CXX, else the first known name on PATH, else zig."""
    user_command = shlex.split(os.environ.get("CXX", ""))
    if user_command:
        return user_command
    for name in COMPILERS:
        if shutil.which(name):
            return [name]
    # zig otherwise compiles for the local processor.
    processor = "x86_64_v2" if is_x86_64() else "baseline"
    return [sys.executable, "-m", "ziglang", "c++", f"-mcpu={processor}"]


def processor_options() -> list[str]:
    """Return the options of a compiler other than zig for the oldest processors that shoal runs on."""
    return ["-msse4.2", "-mpopcnt"] if is_x86_64() and not needs_zig() else []


def is_x86_64() -> bool:
    """Return whether the wheel is for x86-64 processors."""
    return sysconfig.get_platform().endswith(("x86_64", "amd64"))


def needs_zig() -> bool:
    """Return whether the machine has no C++ compiler of its own."""
    return "ziglang" in compiler_command()


def missing_headers(folder: str | None = None) -> str | None:
    """Return what to do if the C headers of Python are not installed, else None."""
    folder = folder or sysconfig.get_path("include")
    if Path(folder, "Python.h").is_file():
        return None
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"Python.h of Python {version} is not in {folder}. Install the headers "
        f"(Debian, Ubuntu: apt install python{version}-dev; Fedora: dnf install python3-devel) and try again."
    )


def missing_compiler() -> str | None:
    """Return what to do if the compiler of this build cannot be run, else None."""
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
    """Return what to do if a build requirement of pyproject.toml is missing or too old, else None."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        requirements: list[str] = tomllib.load(file)["build-system"]["requires"]
    missing = [requirement for requirement in requirements if not _is_installed(requirement)]
    if not missing:
        return None
    return (
        f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not in this environment. "
        f"Run pip install {' '.join(map(repr, missing))}, or leave out --no-build-isolation."
    )


def _is_installed(requirement: str) -> bool:
    """Return whether `name>=major.minor` is met; pyproject.toml uses no other form."""
    name, _, minimum = requirement.partition(">=")
    try:
        installed_version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return _release(installed_version) >= _release(minimum)


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
    """Require zig if there is no compiler; stop early if the headers are missing."""
    _stop_at(missing_headers())
    return [ZIG_REQUIREMENT] if needs_zig() else []


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Require the same as for a wheel."""
    return get_requires_for_build_wheel(config_settings)


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    """Require nothing: a source archive is not compiled."""
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
