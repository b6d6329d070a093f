"""Profiles of hypothesis, and the fixture that provides seeds."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

# No deadline: a test machine may be busy, and time is never asserted. "default" draws the same examples in every run
# (derandomize), so that a commit is never red for a table that the commit before was not tried on; looking for new
# tables is the work of "nightly", which draws other examples each night, many more of them, and prints what repeats a
# failure. Choose with SHOAL_HYPOTHESIS_PROFILE.
settings.register_profile(
    "default",
    max_examples=60,
    derandomize=True,
    deadline=None,
    phases=[phase for phase in Phase if phase is not Phase.explain],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "nightly", settings.get_profile("default"), max_examples=3000, derandomize=False, print_blob=True
)
PROFILE = os.environ.get("SHOAL_HYPOTHESIS_PROFILE", "default")
settings.load_profile(PROFILE)

# Rooms that start Spark or a browser.
LONG_ROOMS = ("spark", "web", "examples")
N_SEEDS = 50 if PROFILE == "nightly" else 2


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that has a `seed` argument with two seeds, at night with fifty."""
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(N_SEEDS))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the long files: one that starts last leaves the other workers idle."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.parent.name not in LONG_ROOMS, item.path not in slow))
