"""The independent verifier: it reads and judges releases with code that shares nothing with what makes them.

`gate` proves a file just written against its source, row by row; `gate_recoded`, `check_recoded` and `check_copy` do so
for tables larger than memory and for tables in a database; `check` and `verify` take any released table, with or
without its original. Only errors and schema are shared with the rest of shoal. Counting is done with plain
codes; row numbers count the data rows from 1; no text holds a cell of a table.
"""

from shoal.verification.database import check_copy, check_recoded, table_rows
from shoal.verification.gate import gate
from shoal.verification.gate_streamed import Claimed, gate_recoded, source_rows
from shoal.verification.reading.coded import read_original
from shoal.verification.reading.tables import can_read
from shoal.verification.verdict import Verdict
from shoal.verification.verifier import check, verify

__all__ = [
    "Claimed",
    "Verdict",
    "can_read",
    "check",
    "check_copy",
    "check_recoded",
    "gate",
    "gate_recoded",
    "read_original",
    "source_rows",
    "table_rows",
    "verify",
]
