"""B29: random bytes as a table. No traceback, an exit code of the list, the target as it was.

The sample in CI is small; `just nightly` draws many more and other ones.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.cli.main import run
from tests.command import Outcome, patience
from tests.gate.options import CANARY, make_files

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


# Tables of every format, damaged. CI takes a sample, the nightly run sets more.
DAMAGED = int(os.environ.get("SHOAL_DAMAGE", "120"))
TABLES = ("in.csv", "in.csv.gz", "in.parquet", "in.arrow", "in.xlsx", "utf16.csv", "out.csv", "zip.csv", "job.xml")
ROLES = ("-o", "out/x.csv", "-k", "2", "--qi", "age,sex", "--sensitive", "disease", "--others", "drop")
READERS: dict[str, tuple[str, ...]] = {
    "anonymize": ("anonymize", "FILE", *ROLES),
    "duckdb": ("anonymize", "FILE", *ROLES, "--method", "optimal", "--engine", "duckdb"),
    "verify": ("verify", "FILE", "-k", "2", "--qi", "age,sex"),
    "original": ("verify", "out.csv", "-k", "2", "--qi", "age,sex", "--original", "FILE"),
    "measure": ("measure", "in.csv", "FILE", "--qi", "age,sex"),
    "risk": ("risk", "FILE", "--qi", "age,sex"),
    "init": ("init", "FILE", "-o", "out/x.toml"),
    "show": ("hierarchy", "show", "FILE"),
    "hierarchy": ("anonymize", "in.csv", *ROLES, "--hierarchy", "age=FILE"),
}


def damage(raw: bytes, chance: random.Random) -> bytes:
    """Change some bytes: flip, cut, repeat, insert, blank or exchange them."""
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        place, length = chance.randrange(len(raw) + 1), chance.choice((1, 1, 2, 8, 64))
        piece = raw[place : place + length]
        change = chance.choice(("flip", "cut", "repeat", "insert", "blank", "end", "move"))
        if change == "flip" and piece:
            raw = raw[:place] + bytes([piece[0] ^ 1 << chance.randrange(8)]) + raw[place + 1 :]
        elif change == "cut":
            raw = raw[:place] + raw[place + length :]
        elif change == "repeat":
            raw = raw[:place] + piece * chance.choice((2, 3, 50)) + raw[place + length :]
        elif change == "insert":
            raw = raw[:place] + chance.choice((*SIGNS, *CELLS, chance.randbytes(length))) + raw[place:]
        elif change == "blank":
            raw = raw[:place] + bytes(len(piece)) + raw[place + length :]
        elif change == "end" and chance.random() < 0.3:
            raw = raw[:place]
        else:
            raw = raw[:place] + raw[place + length :] + piece
    return raw


def test_damaged_tables_end_with_a_known_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shoal: Callable[..., Outcome]
) -> None:
    """B29: files of every format that are almost valid, read by every command; no cell of them reaches stderr."""
    make_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    first = 0 if DAMAGED <= 120 else random.SystemRandom().randrange(10**9)
    for seed in range(first, first + DAMAGED):
        chance = random.Random(seed)
        source = chance.choice(TABLES)
        raw = damage((tmp_path / source).read_bytes(), chance)
        path = tmp_path / f"damaged{''.join(Path(source).suffixes)}"
        path.write_bytes(raw)
        reader = chance.choice(list(READERS))
        with patience():
            ended = shoal(*(word.replace("FILE", path.name) for word in READERS[reader]))
        about = f"seed {seed}, {source}, {reader}: {ended}"
        assert ended.code in {*EXIT_CODES, 5}, about
        assert "Traceback" not in ended.err, about
        if reader not in ("show", "hierarchy") and CANARY.encode() not in raw.split(b"\n")[0]:
            assert CANARY not in ended.err, about
        if ended.code:
            assert not any((tmp_path / "out").iterdir()), about
        shutil.rmtree(tmp_path / "out")
        (tmp_path / "out").mkdir()
