"""B29: random bytes as a table. No traceback, an exit code of the list, the target as it was.

The sample in CI is small; `just nightly` draws many more and other ones.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.cli.main import run

EXIT_CODES = {0, 2, 3, 4, 6}
SIGNS = (b",", b";", b"\t", b"\n", b"\r\n", b"\r", b'"', b'""', b" ", b"\0", b"\xff", b"\xef\xbb\xbf")
CELLS = (
    b"a",
    b"1",
    b"*",
    b"{a, b}",
    b"[1, 2]",
    b"1e400",
    b"2020-02-30",
    b"=1+1",
    b"\xc3\xa9",
    b"a,b\n",
    b"1,2\n",
    b"x,y,z\n",
)
PIECES = st.sampled_from((*SIGNS, *CELLS))
# CI takes a sample, the nightly run sets 100,000.
FILES_TRIED = int(os.environ.get("SHOAL_FUZZ", "2000"))
FILES = st.one_of(
    st.lists(PIECES, max_size=60).map(b"".join),
    st.lists(PIECES, max_size=40).map(lambda pieces: b"a,b\n1,x\n2,y\n" + b"".join(pieces)),
    st.binary(max_size=200),
)


@settings(max_examples=FILES_TRIED)
@given(content=FILES, suffix=st.sampled_from([".csv", ".csv", ".csv", ".csv.gz", ".parquet", ".xlsx", ".arrow"]))
def test_random_files_end_with_a_known_code(content: bytes, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, out = folder / f"in{suffix}", folder / "out.csv"
        source.write_bytes(content)
        out.write_bytes(b"old\n")
        words = ["anonymize", str(source), "-o", str(out), "-k", "2", "--qi", "a", "--others", "drop", "--force"]
        with pytest.raises(SystemExit) as ended:
            run(words)
        assert ended.value.code in EXIT_CODES
        if ended.value.code != 0:
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
                source.name: content,
                "out.csv": b"old\n",
            }
