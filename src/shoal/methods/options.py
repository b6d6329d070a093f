"""Readers of method options, which Python passes as values and the command line as text."""

from __future__ import annotations

from shoal.errors import UsageError

__all__ = ["read_flag", "read_number", "read_share"]


def read_number(method: str, option: str, value: float | str) -> float:
    """Return an option that is a number, 0 or greater."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(f"{method}: {option}={value!r} is not a number from 0 on.")
    return number


def read_flag(method: str, option: str, value: bool | str) -> bool:
    """Return an option that is true or false."""
    if str(value).lower() not in ("true", "false"):
        raise UsageError(f"{method}: {option}={value!r}. Use true or false.")
    return str(value).lower() == "true"


def read_share(method: str, option: str, value: float | str) -> float:
    """Return an option that is a number from 0 to 1."""
    share = read_number(method, option, value)
    if share > 1:
        raise UsageError(f"{method}: {option}={value!r} must be from 0 to 1.")
    return share
