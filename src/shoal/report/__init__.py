"""Reports: figures and words worked out from a release, rendered as a self-contained HTML page and its JSON twin.

A part is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.report.document import as_json, private_part, public_part
    from shoal.report.figures import Evidence, Written, gather
    from shoal.report.html import as_html

__all__ = ["Evidence", "Written", "as_html", "as_json", "gather", "private_part", "public_part"]

_MODULES = {
    "Evidence": "figures",
    "Written": "figures",
    "as_html": "html",
    "as_json": "document",
    "gather": "figures",
    "private_part": "document",
    "public_part": "document",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
