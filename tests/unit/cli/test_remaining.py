"""How long the rest of a run takes: from the stages that are done, and only when it can be told."""

from __future__ import annotations

import pytest

from shoal.cli.terminal import remaining_in_words
from shoal.tables import watch
from shoal.tables.watch import STAGES, STAGES_ON_DISK, Progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that have passed."""
    now = [100.0]
    monkeypatch.setattr(watch.time, "monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("stages", [STAGES, STAGES_ON_DISK])
def test_shares_of_stages_add_up(stages: dict[str, float]) -> None:
    assert sum(stages.values()) == pytest.approx(1)


def test_remaining_time_follows_the_stages(clock: list[float]) -> None:
    done = Progress({"reading": 0.25, "grouping": 0.5, "writing": 0.25})
    done.update("reading", 0.0)
    clock[0] += 5
    assert remaining_in_words(done) == ""  # nothing is done yet
    done.update("grouping", 0.5)
    assert (done.fraction, done.remaining) == (0.5, 5.0)
    assert remaining_in_words(done) == "about 5 s left"
    clock[0] += 600
    assert remaining_in_words(done) == "about 10 min left"
    done.update("reading", 0.1)  # a stage that begins again takes nothing back
    assert done.fraction == 0.5


def test_first_seconds_promise_nothing(clock: list[float]) -> None:
    done = Progress()
    done.update("verifying", 0.5)
    clock[0] += 1
    assert remaining_in_words(done) == ""
