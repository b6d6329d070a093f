"""Compile `src/shoal/**/*.pyx`; everything else about the package is in pyproject.toml.

SHOAL_CHECKED=1 selects the checked build, which tests every index of a memoryview and of a C++ vector.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

sys.path.insert(0, str(Path(__file__).resolve().parent / "build_backend"))
from shoal_build import compiler_command, processor_options

CHECKED = os.environ.get("SHOAL_CHECKED", "") not in ("", "0")
COMPILER = compiler_command()
SOURCE = Path("src/shoal")
KERNELS = SOURCE / "kernels"
# By module: "kernels.mondrian", "kernels.shoaling.anneal" ...
SOURCES = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in sorted(SOURCE.rglob("*.pyx"))}
DECLARATIONS = sorted(map(str, [*KERNELS.rglob("*.pxd"), *KERNELS.rglob("*.h*")]))
# Cython's memoryviews, compiled once instead of into each kernel, where they would dominate code size and build time.
MEMORYVIEWS = "kernels._cyutility"

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": CHECKED,
    "initializedcheck": CHECKED,
    # The same in both builds: Python's rounding of negative quotients would change results rather than check them.
    "cdivision": True,
}
# The last two keep a released file the same on every machine; they follow the user's CXXFLAGS to override them.
COMPILE = [
    *processor_options(),
    *shlex.split(os.environ.get("CXXFLAGS", "")),
    *("-std=c++17", "-fPIC", "-fwrapv", "-fvisibility=hidden", "-Wall", "-Wno-unused-function"),
    *(["-O1", "-g"] if CHECKED else ["-O3", "-DNDEBUG"]),
    *("-fno-fast-math", "-ffp-contract=off"),
]
LINK = [
    *(["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]),
    # zig links its C++ library into the module, with debug information that would make up most of the wheel.
    *(["-Wl,--strip-debug"] if sys.platform == "linux" and not CHECKED else []),
    *shlex.split(os.environ.get("LDFLAGS", "")),
]
MACROS = [("Py_LIMITED_API", "0x030B0000")]
if CHECKED:
    # The first name is for libstdc++ (g++, clang++), the second for libc++ (zig, macOS).
    MACROS += [("_GLIBCXX_ASSERTIONS", "1"), ("_LIBCPP_HARDENING_MODE", "_LIBCPP_HARDENING_MODE_EXTENSIVE")]


def build_folder() -> str:
    """Return a build folder specific to these settings, so that no stale file is ever linked or packaged."""
    settings = [COMPILER, COMPILE, LINK, MACROS, DIRECTIVES, MEMORYVIEWS, importlib.metadata.version("Cython")]
    key = hashlib.sha256(repr(settings).encode()).hexdigest()[:8]
    return f"build/{'checked' if CHECKED else 'release'}-{key}"


class Build(build):
    """Build, after removing files of earlier builds that the tree no longer has."""

    def run(self) -> None:
        root = Path(self.build_lib) / "shoal"
        modules = {root.joinpath(*name.split(".")) for name in (*SOURCES, MEMORYVIEWS)}
        for path in Path(self.build_lib).rglob("*.*"):
            if path.is_file() and not (path.suffix == ".so" and path.with_name(path.name.partition(".")[0]) in modules):
                path.unlink()
        super().run()


class BuildKernels(build_ext):
    """Run Cython and the C++ compiler on every kernel that is newer than its extension module."""

    def build_extensions(self) -> None:
        from Cython.Build import cythonize

        # Cython's own check of ages includes its .pxd files, which are new in each isolated environment of pip.
        all_extensions = self.extensions
        self.extensions = [module for module in all_extensions if self.is_stale(module)]
        for module in self.extensions:
            module.sources = module.sources or [str(SOURCE.joinpath(*MEMORYVIEWS.split(".")).with_suffix(".cpp"))]
        translated = cythonize(
            self.extensions,
            force=True,
            quiet=True,
            build_dir=f"{self.build_temp}/cpp",
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=f"shoal.{MEMORYVIEWS}",
        )
        for module, source in zip(self.extensions, translated, strict=True):
            module.sources = source.sources
        compiler, linker = [*COMPILER, *COMPILE], [*COMPILER, *LINK]
        self.compiler.set_executables(
            compiler=COMPILER,
            compiler_cxx=COMPILER,
            compiler_so=compiler,
            compiler_so_cxx=compiler,
            linker_exe=COMPILER,
            linker_exe_cxx=COMPILER,
            linker_so=linker,
            linker_so_cxx=linker,
        )
        super().build_extensions()
        self.extensions = all_extensions

    def is_stale(self, module: Extension) -> bool:
        return self.force or newer_group([*module.sources, *module.depends], self.get_ext_fullpath(module.name))


def extension(name: str, **options: Any) -> Extension:
    """Describe one module; the caller sets its language, except for the shared one, where Cython chooses it."""
    return Extension(f"shoal.{name}", define_macros=MACROS, py_limited_api=True, **options)


setup(
    cmdclass={"build": Build, "build_ext": BuildKernels},
    ext_modules=[
        extension(MEMORYVIEWS, sources=[]),
        *(extension(name, sources=[str(path)], depends=DECLARATIONS, language="c++") for name, path in SOURCES.items()),
    ],
    options={
        "build": {"build_base": build_folder()},
        "build_ext": {"parallel": os.cpu_count()},
        "bdist_wheel": {"py_limited_api": "cp311"},
    },
)
