# The recipes of the project. `just check` runs what CI runs.

set shell := ["bash", "-euo", "pipefail", "-c"]

[private]
default:
    @just --list --unsorted

# all of CI, in the active environment
check:
    bash .ci/run --here

# the tests; `just test tests/unit -k loss`
test *arguments:
    pytest {{ arguments }}

lint:
    ruff check .
    ruff format --check .
    codespell
    vulture

format:
    ruff check --fix .
    ruff format .

types:
    mypy --strict

# install the tree with the tools; `SHOAL_CHECKED=1 just build` for the checked build
build:
    pip install '.[dev]'

# one wheel for this platform, in dist/
wheel:
    pip wheel . --no-deps --wheel-dir dist

# time and loss of the methods; `just bench --against last`
bench *arguments:
    python -m benchmarks {{ arguments }}

# the long runs: fuzz, kills, soak
nightly:
    SHOAL_HYPOTHESIS_PROFILE=nightly SHOAL_KILLS=200 SHOAL_FUZZ=100000 SHOAL_SOAK=200 SHOAL_OPTIONS=20000 SHOAL_CALLS=10000 \
        SHOAL_TABLES=4000 SHOAL_DAMAGE=4000 SHOAL_MUTATIONS=20000 SHOAL_ENGINES=1000 pytest -m ""

demo:
    shoal demo
