"""The figures of other tools on the same workloads, measured once and shown beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["BIG_NOTE", "BIG_PEERS", "COLUMNS", "NOTE", "PART_NOTE", "PEERS", "BigPeer", "Peer"]

COLUMNS = (("W3", 5), ("W3", 10), ("W3", 50), ("W8", 2), ("W8", 5), ("W8", 10), ("W8", 50), ("W8", 100))
NOTE = (
    "All on the 30,162 complete rows of Adult's training file, with age as a number, and scored only from the released "
    "cells, unless the note says otherwise. The other tools were measured once, on another day than ours; their "
    "seconds are CPU seconds of the library call on a busy machine with two cores, so read them as orders of "
    "magnitude. An empty field was not measured."
)
PART_NOTE = "5,000 rows only"
BIG_NOTE = (
    "The 1,000,000 rows for the other tools were drawn from Adult in the same way, but with 10 % of the categorical "
    "cells redrawn (167,612 distinct rows), while ours has 5 % of all cells (134,134): their loss is that of a "
    "somewhat harder table."
)


@dataclass(frozen=True)
class Peer:
    """Another tool.

    Attributes:
        tool: Its name and version.
        losses: Its losses by workload and k.
        seconds: Its CPU seconds on W8 at k = 10.
        note: What to know about the figures.
    """

    tool: str
    losses: Mapping[tuple[str, int], float]
    seconds: str = ""
    note: str = ""


def _row(text: str) -> dict[tuple[str, int], float]:
    """Read losses in the order of COLUMNS; "-" means not measured."""
    cells = text.split()
    return {column: float(cell) for column, cell in zip(COLUMNS, cells, strict=True) if cell != "-"}


PEERS = (
    Peer(
        "ARX 3.9.2, local recoding",
        _row(".0046 .0070 .0204 .0329 .0598 .0843 .1615 .2109"),
        "36",
        "at its best settings; 4 s give a loss of .0902 at W8, k = 10",
    ),
    Peer(
        "ARX 3.9.2, full-domain, suppressing",
        _row(".0472 .0719 .0961 .1781 .2452 .3007 .3983 .4486"),
        "3.3",
        "rows suppressed without limit",
    ),
    Peer(
        "ARX 3.9.2, full-domain",
        _row(".3510 .3510 .6667 .6065 .6672 .6672 .7315 .7315"),
        "0.05",
        "nothing suppressed",
    ),
    Peer("anonypy 0.2.1", _row(".0073 .0155 .0574 - - .0824 .195 -"), "49.5", "Mondrian with sets of values"),
    Peer("a public Python Mondrian", _row(".0043 .0059 .0137 .0557 .099 .135 .250 .342"), "0.5", "strict cuts"),
    Peer("sdcMicro 5.8.1, mdav", _row("- .0039 - - - .0678 - -"), "2.5", "loss implied by its groups"),
    Peer(
        "sdcMicro 5.8.1, localSuppression",
        _row(".023 .027 .046 - - - - -"),
        "",
        "k-anonymous only if a missing value matches every other",
    ),
    Peer("anjana 1.2.3", _row(".047 .121 .148 - .368 .383 .592 -"), "5.6", "at most 5 % of the rows suppressed"),
    Peer("crowds (OLA)", _row(".047 .128 .148 - - - - -"), "", "at most 5 % of the rows suppressed"),
    Peer("ai-privacy-toolkit", _row(".146 .146 .146 - .597 .598 .620 -"), "5.1", "loss implied by its groups"),
    Peer("k-member (public Python)", _row("- .0221 - - - - - -"), "63", PART_NOTE),
    Peer("OKA (public Python)", _row("- .0574 - - - .302 - -"), "16", PART_NOTE),
    Peer("KNN (public Python)", _row("- .0243 - - - .224 - -"), "7", PART_NOTE),
)


@dataclass(frozen=True)
class BigPeer:
    """Another tool on 1,000,000 rows, W8, k = 10."""

    tool: str
    loss: float
    seconds: str
    memory: str


BIG_PEERS = (
    BigPeer("ARX 3.9.2, local recoding", 0.0194, "36.6", "1.6 GB"),
    BigPeer("ARX 3.9.2, full-domain, suppressing", 0.1146, "11", ""),
)
