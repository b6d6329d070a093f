"""Files that claim to be small tables, hierarchies or settings, and would take all memory or time.

Run as a script in a process with limits (see test_hostile.py): it runs the commands of a case list one after the other
and prints how each ended.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HEAD = b"age,sex,disease\n"
ROWS = b"".join(b"%d,%b,flu\n" % (30 + n, b"FM"[n % 2 : n % 2 + 1]) for n in range(10))


# Parquet from its parts, so that each part can lie.


def varint(number: int) -> bytes:
    """Return an unsigned integer of Thrift's compact protocol."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def thrift(*fields: tuple[int, object]) -> bytes:
    """Return a structure: ints are i64, bytes are finished structures, lists hold either, texts are binary."""
    out, last = b"", 0
    for key, value in fields:
        kind, raw = thrift_value(value)
        out += bytes([key - last << 4 | kind]) + raw
        last = key
    return out + b"\0"


def thrift_value(value: object) -> tuple[int, bytes]:
    if isinstance(value, int):
        return 6, varint((value << 1) ^ (value >> 63))
    if isinstance(value, str):
        return 8, varint(len(value)) + value.encode()
    if isinstance(value, list):
        items = [thrift_value(each) for each in value]
        return 9, bytes([0xF0 | items[0][0]]) + varint(len(items)) + b"".join(raw for _, raw in items)
    assert isinstance(value, bytes)
    return 12, value


def parquet(**lies: int) -> bytes:
    """Return a Parquet file with one column of 2 texts; lies replace its true numbers."""
    texts = b"".join(struct.pack("<I", 2) + text for text in (b"30", b"31"))
    truth = {"expanded": len(texts), "packed": len(texts), "in_page": 2, "in_chunk": 2, "rows": 2, "codec": 0}
    truth["chunk_expanded"] = len(texts) + 40
    facts = truth | lies
    data = thrift((1, facts["in_page"]), (2, 0), (3, 3), (4, 3))
    page = thrift((1, 0), (2, facts["expanded"]), (3, facts["packed"]), (5, data))
    size = len(page) + len(texts)
    column = thrift(
        (1, 6),
        (2, [0]),
        (3, ["age"]),
        (4, facts["codec"]),
        (5, facts["in_chunk"]),
        (6, facts["chunk_expanded"]),
        (7, facts.get("chunk_packed", size)),
        (9, facts.get("offset", 4)),
    )
    schema = [thrift((4, "root"), (5, 1)), thrift((1, 6), (3, 0), (4, "age"), (6, 0))]
    group = thrift((1, [thrift((2, 4), (3, column))]), (2, size), (3, facts["rows"]))
    footer = thrift((1, 1), (2, schema), (3, facts["rows"]), (4, [group]))
    length = facts.get("footer", len(footer))
    return b"PAR1" + page + texts + footer + struct.pack("<I", length & 0xFFFFFFFF) + b"PAR1"


# Workbooks from their parts.

SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}<sheetData>{}</sheetData></worksheet>'
BOOK = (
    '<workbook xmlns="x" xmlns:r="y"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
    '<Relationships xmlns="x"><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
)
GOOD = '<row r="1"><c r="A1" t="str"><v>age</v></c></row><row r="2"><c r="A2"><v>30</v></c></row>'


def xlsx(rows: str = GOOD, before: str = "", packing: int = zipfile.ZIP_DEFLATED, **parts: str) -> bytes:
    """Return a workbook with these rows; parts are further files, such as styles."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        archive.writestr("xl/workbook.xml", BOOK[0])
        archive.writestr("xl/_rels/workbook.xml.rels", BOOK[1])
        archive.writestr("xl/worksheets/sheet1.xml", SHEET.format(before, rows))
        for name, text in parts.items():
            archive.writestr(f"xl/{name}.xml", text)
    return out.getvalue()


def cell(place: str, value: str = "30", kind: str = "n") -> str:
    return f'<row r="3"><c r="{place}" t="{kind}"><v>{value}</v></c></row>'


FAR = "".join(f'<row r="{n}"><c r="A{n}"><v>1</v></c></row>' for n in range(4, 3000))
STYLES = '<styleSheet><numFmts><numFmt numFmtId="200" formatCode="{}"/></numFmts><cellXfs>{}</cellXfs></styleSheet>'


# Arrow and compressed files.


def arrow(old: int, new: int, *, stream: bool = False, compression: str | None = "lz4") -> bytes:
    """Return an Arrow file of 12,345 rows in which every 64-bit number `old` is replaced."""
    import pyarrow as pa

    table = pa.table({"age": pa.array(range(12_345), pa.int64()), "none": pa.nulls(12_345)})
    out = io.BytesIO()
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(out, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    raw = out.getvalue()
    assert struct.pack("<q", old) in raw
    return raw.replace(struct.pack("<q", old), struct.pack("<q", new))


def zstd_bomb(n_blocks: int) -> bytes:
    """Return a Zstandard frame of blocks that each repeat one byte 128 kB long."""
    frame = struct.pack("<IBB", 0xFD2FB528, 0, 0x38)
    for number in range(n_blocks):
        header = (128 * 1024 << 3) | 2 | (number == n_blocks - 1)
        frame += header.to_bytes(3, "little") + b"a"
    return frame


TABLES: dict[str, Callable[[], bytes]] = {
    "digits.csv": lambda: HEAD + ROWS + b"1" * 30_000 + b",F,flu\n",
    "exponent.csv": lambda: HEAD + ROWS + b"1e999999999,F,flu\n1e-999999999,M,flu\n0e999999999,F,flu\n",
    "blanks.csv": lambda: HEAD + ROWS + b"1" + b" " * 100_000 + b"x,F,flu\n",
    "marks.csv": lambda: HEAD + ROWS + ("a" + "\u0301\u0327" * 5_000).encode() + b",F,flu\n",
    "columns.csv": lambda: b",".join(b"c%d" % i for i in range(150_000)) + b"\n" + b"," * 149_999 + b"\n",
    "commas.csv": lambda: HEAD + ROWS + b"," * 2_000_000 + b"\n",
    "cell.csv": lambda: HEAD + ROWS + b"9" * 17_000_000 + b",F,flu\n",
    "quotes.csv": lambda: HEAD + b'"\n' + b'""\n' * 300_000,
    "members.csv.gz": lambda: gzip.compress(b"") * 60_000,
    "bomb.csv.gz": lambda: gzip.compress(HEAD) + gzip.compress(bytes(4_000_000)) * 300,
    "bomb.csv.zst": lambda: zstd_bomb(9_000),
    "letters.xlsx": lambda: xlsx(GOOD + cell("ZZZZZZZ3")),
    "beyond.xlsx": lambda: xlsx(GOOD + cell("XFE3")),
    "row.xlsx": lambda: xlsx(GOOD + '<row r="99999999999"><c><v>1</v></c></row>'),
    "negative row.xlsx": lambda: xlsx(GOOD + '<row r="-5"><c><v>1</v></c></row>'),
    "empty.xlsx": lambda: xlsx(GOOD + cell("XFD3") + FAR),
    "hidden.xlsx": lambda: xlsx(GOOD, '<cols><col min="-9999999999" max="16384" hidden="1"/></cols>'),
    "settings.xlsx": lambda: xlsx(GOOD, "<cols>" + '<col min="2" max="16384" hidden="1"/>' * 50_000 + "</cols>"),
    "number.xlsx": lambda: xlsx(GOOD + cell("A3", "1e999")),
    "string.xlsx": lambda: xlsx(GOOD + cell("A3", "-1", "s"), sharedStrings="<sst><si><t>x</t></si></sst>"),
    "surrogate.xlsx": lambda: xlsx(GOOD + cell("A3", "_xD800_", "str")),
    "format.xlsx": lambda: xlsx(styles=STYLES.format("[" * 500_000, '<xf numFmtId="200"/>' * 1000)),
    "packing.xlsx": lambda: xlsx(packing=zipfile.ZIP_LZMA),
    "page.parquet": lambda: parquet(expanded=2**31 - 1),
    "page and chunk.parquet": lambda: parquet(expanded=2**31 - 1, chunk_expanded=2**40, codec=6),
    "packed.parquet": lambda: parquet(packed=2**31 - 1),
    "values.parquet": lambda: parquet(in_page=2**31 - 1, in_chunk=2**31 - 1, rows=2**31 - 1),
    "page values.parquet": lambda: parquet(in_page=2**31 - 1),
    "rows.parquet": lambda: parquet(rows=2**50),
    "negative.parquet": lambda: parquet(in_page=-1, expanded=-5),
    "offset.parquet": lambda: parquet(offset=2**40),
    "footer.parquet": lambda: parquet(footer=2**31 - 1),
    "buffer.arrow": lambda: arrow(12_345 * 8, 2**60),
    "large buffer.arrow": lambda: arrow(12_345 * 8, 2**33),
    "negative buffer.arrow": lambda: arrow(12_345 * 8, -7),
    "rows.arrow": lambda: arrow(12_345, 2**40),
    "length.arrow": lambda: arrow(12_345 * 8, 2**40, compression=None),
    "stream.arrow": lambda: arrow(12_345 * 8, 2**60, stream=True),
    "stream rows.arrow": lambda: arrow(12_345, 2**62, stream=True),
}
# Files that take a second or so each: tried with a few commands.
SLOW = ("cell.csv", "members.csv.gz", "bomb.csv.gz")
# Files that the verifier reads, because it only compares texts.
COMPARABLE = ("cell.csv", "number.xlsx", "packing.xlsx")
# Files that are odd, not hostile: some commands can use them, because the cell is only a text to them.
USABLE = ("digits.csv", "exponent.csv", "blanks.csv", "marks.csv")


def job(attribute: str) -> bytes:
    """Return a job file of the UTD toolbox with one attribute."""
    return f'<config><qid><att name="age">{attribute}</att></qid></config>'.encode()


HIERARCHIES: dict[str, Callable[[], bytes]] = {
    "exponent.csv": lambda: b"30;1e999999999;*\n31;[0, 1e-999999999);*\n",
    "digits.csv": lambda: b"30;" + b"1" * 30_000 + b"-" + b"2" * 30_000 + b"x;*\n31;x;*\n",
    "long.csv": lambda: b"30;" + b"[" * 200_000 + b";*\n31;x;*\n",
    "deep.xml": lambda: b"<config>" + b"<a>" * 100_000,
    "entities.xml": lambda: b'<!DOCTYPE a [<!ENTITY b "' + b"c" * 1000 + b'">]><config>' + b"&b;" * 1000 + b"</config>",
    "codes.xml": lambda: job('<map><entry cat="30" int="²"/></map><vgh value="[0:1]"/>'),
    "exponent.xml": lambda: job('<vgh value="[0:1e999999999]"><node value="1e999999999"/></vgh>'),
    "digits.xml": lambda: job('<vgh value="[0:' + "9" * 100_000 + ']"/>'),
}

CONFIGS: dict[str, str] = {
    "lists": "x = " + "[" * 100_000,
    "inline tables": "x = " + "{a=" * 50_000,
    "parts": ".".join(["a"] * 100_000) + " = 1",
    "quoted parts": "[" + ".".join(['"a"'] * 100_000) + "]",
    "integer": "k = " + "9" * 5000,
    "hexadecimal": "k = 0x" + "f" * 50_000,
    "exponent": "t = 1e999999999",
    "small exponent": 'k = 2\nsuppression_limit = "1e-999999999"',
    "grid": 'k = 2\nsnap = true\n[columns]\nage = {role = "qi", grid = "1e-999999999"}\nsex = {role = "qi"}\n'
    'disease = {role = "sensitive"}',
    "weight": 'k = 2\n[weights]\nage = "1e999999999"',
    "size": "#" * (1 << 24) + "#",
    "bytes": "k = 2 # \udcff",
    "rule": 'k = 2\n[[rules]]\ncolumn = "age"\nrange = ["1e999999999", "1e-999999999"]',
    "importance": 'k = 2\n[[rules]]\ncolumn = "age"\ninflection = [30]\nimportance = ' + "9" * 390,
}

OPTIONS: dict[str, tuple[str, ...]] = {
    "t": ("--sensitive", "disease", "--t", "1e9999999"),
    "small t": ("--sensitive", "disease", "--t", "1e-9999999"),
    "grid": ("--grid", "age=1e-999999999"),
    "weight": ("--weights", "age=1e999999999"),
    "limit": ("--suppression-limit", "1e-999999999"),
    "model": ("--model", "distinct-l disease l=²"),
    "digits": ("--model", "distinct-l disease l=" + "9" * 5000),
    "decimal": ("--decimal", "5"),
    "thousands": ("--thousands", "e"),
    "delimiter": ("--delimiter", "3"),
    "memory": ("--engine", "duckdb", "--method", "datafly", "--memory", "9" * 400 + "GB"),
    "date": ("--date", "age=%d%d"),
    "encoding": ("--encoding", "idna"),
}

COMMANDS: dict[str, tuple[str, ...]] = {
    "anonymize": ("anonymize", "{0}", "-o", "{1}/out.csv", "-k", "2", "--qi", "age", "--others", "drop"),
    "init": ("init", "{0}", "-o", "{1}/shoal.toml"),
    "measure": ("measure", "{0}", "{0}", "--qi", "age"),
    "risk": ("risk", "{0}", "--qi", "age"),
    "evaluate": ("evaluate", "{0}", "{0}", "--qi", "age"),
    "compare": ("compare", "{0}", "--qi", "age", "-k", "2", "--no-cache", "--methods", "mondrian"),
    "advise": ("advise", "{0}", "--qi", "age", "-k", "2", "--no-cache", "--methods", "mondrian"),
    "simulate": ("simulate", "{0}", "--qi", "age", "-k", "2", "--repetitions", "2"),
    "verify": ("verify", "{0}", "-k", "2", "--qi", "age"),
    "verify original": ("verify", "{0}", "-k", "2", "--qi", "age", "--original", "{0}"),
    "describe": ("describe", "{0}", "--qi", "age"),
    "propose": ("hierarchy", "propose", "{0}", "--column", "age"),
}


DUCKDB = (*COMMANDS["anonymize"], "--engine", "duckdb", "--method", "datafly", "--suppression-limit", "1")


def say(content: dict[str, Any]) -> None:
    """Print a line of JSON."""
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def run_all(folder: Path, cases: list[dict[str, Any]]) -> None:
    """Run the commands of all cases, and print the name, the exit code and the messages of each."""
    from shoal.cli.main import run

    for case in cases:
        say({"name": case["name"]})
        code: object = 0
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                run(case["words"])
            except SystemExit as end:
                code = end.code
        left = sorted(path.name for path in folder.glob(".*"))
        say({"code": code, "err": err.getvalue()[:2000], "left": left})
        for name in ("out.csv", "shoal.toml"):
            for path in folder.glob(f"{name}*"):
                path.unlink()


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), json.loads(Path(sys.argv[1], "cases.json").read_text()))
