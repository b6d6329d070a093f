"""The JSON twin of a report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["as_json"]


def as_json(content: Mapping[str, Any]) -> str:
    """Return the content of a report as JSON; the same content gives the same bytes."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
