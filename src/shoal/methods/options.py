"""Options of methods, as the command line or Python gives them."""

from __future__ import annotations

from shoal.errors import UsageError

__all__ = ["read_flag", "read_number", "read_share"]


def read_number(method: str, option: str, given: float | str) -> float:
    """Return an option that is a number from 0 on; the command line gives it as text."""
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UsageError(f"{method}: {option}={given!r} is not a number from 0 on.")
    return number


def read_flag(method: str, option: str, given: bool | str) -> bool:
    """Return an option that is true or false; the command line gives it as text."""
    if str(given).lower() not in ("true", "false"):
        raise UsageError(f"{method}: {option}={given!r}. Use true or false.")
    return str(given).lower() == "true"


def read_share(method: str, option: str, given: float | str) -> float:
    """Return an option that is a number from 0 to 1; the command line gives it as text."""
    share = read_number(method, option, given)
    if share > 1:
        raise UsageError(f"{method}: {option}={given!r} must be from 0 to 1.")
    return share
