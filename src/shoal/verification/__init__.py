"""The independent verifier: it reads and judges releases with code that shares nothing with what makes them.

`gate` proves a file just written against its source, row by row; `check` and `verify` take any released table, with or
without its original. Only errors and schema are shared with the rest of shoal. Counting is done with plain
dictionaries; row numbers count the data rows from 1; no text holds a cell of a table.
"""

from shoal.verification.judging import check, verify
from shoal.verification.recount import gate
from shoal.verification.tables import can_read, read_original
from shoal.verification.verdict import Verdict

__all__ = ["Verdict", "can_read", "check", "gate", "read_original", "verify"]
