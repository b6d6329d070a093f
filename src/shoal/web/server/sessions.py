"""Sessions: a token that is used once, or a password, is exchanged for a cookie."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from pathlib import Path

from shoal.errors import FileError, UsageError

__all__ = ["Sessions", "TooManyAttemptsError", "read_password"]

SHORTEST_PASSWORD = 12
MOST_FAILURES, FAILURE_SECONDS = 5, 60.0
MOST_SESSIONS = 200
LOCAL_SECONDS = 7 * 24 * 3600.0
SHARED_SECONDS = 30 * 60.0  # without a request, where others reach the server


class TooManyAttemptsError(UsageError):
    """Too many wrong tokens or passwords in a short time."""


def read_password(path: Path) -> str:
    """Read a password from the first line of a file.

    Raises:
        FileError: The file cannot be read.
        UsageError: The password is too short.
    """
    try:
        password = path.read_text(encoding="utf-8").split("\n")[0].strip()
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read ({type(error).__name__}).") from None
    if len(password) < SHORTEST_PASSWORD:
        raise UsageError(f"{path}: the password has fewer than {SHORTEST_PASSWORD} characters. Choose a longer one.")
    return password


class Sessions:
    """Who may use the server. Safe to use from several threads.

    Attributes:
        needs_password: Whether a password opens a session; otherwise a token does.
    """

    def __init__(self, password: str | None = None) -> None:
        self.needs_password = password is not None
        self._salt = secrets.token_bytes(16)
        self._hash = None if password is None else self._hashed(password)
        self._tokens: set[str] = set()
        self._sessions: dict[str, float] = {}  # by hashed id, the time of its end
        self._failures: list[float] = []
        self._lock = threading.Lock()

    def new_token(self) -> str:
        """Return a token that opens one session."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens.add(_digest(token))
        return token

    def open(self, secret: str) -> str | None:
        """Exchange a token or the password for the id of a new session; None if it is wrong or was used.

        Raises:
            TooManyAttemptsError: There were too many wrong ones in the last minute.
        """
        with self._lock:
            now = time.monotonic()
            self._failures = [moment for moment in self._failures if now - moment < FAILURE_SECONDS]
            if len(self._failures) >= MOST_FAILURES:
                raise TooManyAttemptsError("too many wrong attempts. Wait for a minute.")
            if not self._is_right(secret):
                self._failures.append(now)
                return None
            self._sessions = {id: end for id, end in self._sessions.items() if end > now}
            while len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[min(self._sessions, key=lambda id: self._sessions[id])]
            id = secrets.token_urlsafe(32)
            self._sessions[_digest(id)] = now + self.seconds
            return id

    def is_open(self, id: str) -> bool:
        """Return whether a session exists; each question prolongs it."""
        digest, now = _digest(id), time.monotonic()
        with self._lock:
            if self._sessions.get(digest, 0.0) <= now:
                self._sessions.pop(digest, None)
                return False
            self._sessions[digest] = now + self.seconds
            return True

    def lasts(self, id: str) -> bool:
        """Return whether a session exists, without prolonging it."""
        with self._lock:
            return self._sessions.get(_digest(id), 0.0) > time.monotonic()

    def close(self, id: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(_digest(id), None)

    @property
    def seconds(self) -> float:
        """How long a session lasts without a request."""
        return SHARED_SECONDS if self.needs_password else LOCAL_SECONDS

    def _is_right(self, secret: str) -> bool:
        if self._hash is not None:
            return hmac.compare_digest(self._hashed(secret), self._hash)
        digest = _digest(secret)
        if digest not in self._tokens:
            return False
        self._tokens.remove(digest)
        return True

    def _hashed(self, password: str) -> bytes:
        return hashlib.scrypt(password.encode("utf-8", "surrogatepass"), salt=self._salt, n=2**14, r=8, p=1)


def _digest(text: str) -> str:
    """Return what is kept of a secret, so that looking it up takes the same time for every wrong one."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
