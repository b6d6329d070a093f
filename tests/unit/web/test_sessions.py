"""Sessions of the web app: what opens them, and when they end."""

from __future__ import annotations

import pytest

from shoal.web.server import sessions as module
from shoal.web.server.sessions import MOST_FAILURES, MOST_SESSIONS, Sessions, TooManyAttemptsError

PASSWORD = "correct horse battery"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def test_a_session_ends_for_want_of_use_and_only_use_prolongs_it(clock: Clock) -> None:
    """W15: looking whether it lasts, as an open websocket does all the time, is no use."""
    sessions = Sessions(PASSWORD)
    id = sessions.open(PASSWORD)
    assert id is not None
    clock.now += 0.9 * sessions.seconds
    assert sessions.is_open(id)
    clock.now += 0.9 * sessions.seconds
    assert sessions.lasts(id)
    clock.now += 0.2 * sessions.seconds
    assert not sessions.lasts(id)
    assert not sessions.is_open(id)


def test_wrong_passwords_are_counted_for_a_minute(clock: Clock) -> None:
    """W15: after too many, even the right one has to wait."""
    sessions = Sessions(PASSWORD)
    assert [sessions.open("wrong") for _ in range(MOST_FAILURES)] == [None] * MOST_FAILURES
    with pytest.raises(TooManyAttemptsError, match="Wait"):
        sessions.open(PASSWORD)
    clock.now += 61
    assert sessions.open(PASSWORD) is not None


def test_a_token_works_once_and_the_oldest_session_gives_way(clock: Clock) -> None:
    """W03, W16: tokens are used up, and sessions cannot pile up."""
    sessions = Sessions()
    token = sessions.new_token()
    first = sessions.open(token)
    assert first is not None
    assert sessions.open(token) is None
    for _ in range(MOST_SESSIONS):
        clock.now += 1
        assert sessions.open(sessions.new_token()) is not None
    assert not sessions.lasts(first)
