"""The independent verifier: it reads and judges releases and shares no code with what makes them.

`gate` checks a file that was just written against its source, row by row; `gate_recoded`, `gate_dealt`, `check_recoded`
and `check_copy` do so for tables larger than memory and for tables in a database. `check` and `verify` accept any
released table, with or without its original and its manifest; `examine` takes all that they ask for as one `Demand`.
The verifier imports only errors and schema from the rest of shoal and counts on codes of its own. Row numbers count the
data rows from 1. No text contains a cell of a table. A part is loaded when it is first used, but for `gate`, whose
module has its name.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from shoal.verification.gate import gate

if TYPE_CHECKING:
    from shoal.verification.database import check_copy, check_recoded, table_rows
    from shoal.verification.demand import Demand
    from shoal.verification.examination.examination import examine
    from shoal.verification.gate_streamed import Claimed, gate_recoded, source_rows
    from shoal.verification.gate_streamed.dealt import gate_dealt
    from shoal.verification.gate_streamed.laid import Layout
    from shoal.verification.gate_streamed.source import SourceTable
    from shoal.verification.manifest.manifest import Manifest
    from shoal.verification.models.checks import Goal
    from shoal.verification.models.description import Description
    from shoal.verification.reading.coded import CodedTable, read_original
    from shoal.verification.reading.hidden import hidden_content
    from shoal.verification.reading.signature import signature_violations
    from shoal.verification.reading.tables import can_read
    from shoal.verification.verdict import Verdict, Violation
    from shoal.verification.verifier import check, describe, find_manifest, verify

__all__ = [
    "Claimed",
    "CodedTable",
    "Demand",
    "Description",
    "Goal",
    "Layout",
    "Manifest",
    "SourceTable",
    "Verdict",
    "Violation",
    "can_read",
    "check",
    "check_copy",
    "check_recoded",
    "describe",
    "examine",
    "find_manifest",
    "gate",
    "gate_dealt",
    "gate_recoded",
    "hidden_content",
    "read_original",
    "signature_violations",
    "source_rows",
    "table_rows",
    "verify",
]

_MODULES = {
    "Claimed": "gate_streamed",
    "CodedTable": "reading.coded",
    "Demand": "demand",
    "Description": "models.description",
    "Goal": "models.checks",
    "Layout": "gate_streamed.laid",
    "Manifest": "manifest.manifest",
    "SourceTable": "gate_streamed.source",
    "Verdict": "verdict",
    "Violation": "verdict",
    "can_read": "reading.tables",
    "check": "verifier",
    "check_copy": "database",
    "check_recoded": "database",
    "describe": "verifier",
    "examine": "examination.examination",
    "find_manifest": "verifier",
    "gate_dealt": "gate_streamed.dealt",
    "gate_recoded": "gate_streamed",
    "hidden_content": "reading.hidden",
    "read_original": "reading.coded",
    "signature_violations": "reading.signature",
    "source_rows": "gate_streamed",
    "table_rows": "database",
    "verify": "verifier",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
