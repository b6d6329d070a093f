"""The memory that a refusal suggests is enough."""

from __future__ import annotations

import re

import pytest

from shoal.errors import FileError
from shoal.tables.formats.memory_limit import parse_size
from shoal.tables.sources.duck_session import check_room, check_sections


@pytest.mark.parametrize("n", [800_000, 1_234_567, 3_000_001])
def test_suggested_memory_is_enough(n: int) -> None:
    """O08: whoever follows the message is not refused again."""
    for refused in (
        lambda memory: check_sections("table.csv", memory, n, 0),
        lambda memory: check_sections("table.csv", memory, 100, 0, n),
        lambda memory: check_room("table.csv", memory, n, 8, 0),
    ):
        with pytest.raises(FileError, match="Use memory=") as error:
            refused(500_000_000)
        suggested = re.search("memory='([^']+)'", str(error.value))
        assert suggested is not None
        refused(parse_size(suggested[1]))
