"""Files of SPSS, Stata and SAS, read by pyreadstat.

The text of a cell is its value label, if it has one, and otherwise its value. Values that the file declares as missing
are missing. Dates and times become dates and times; a column of whole numbers becomes integers.
"""

from __future__ import annotations

import json
import subprocess
import sys
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import date, datetime, time
from functools import partial
from pathlib import Path
from typing import IO, Any

from shoal.errors import FileError, InputError, Note, TooLargeError, UsageError, counted, file_path
from shoal.tables.csv import check_file
from shoal.tables.formats.memory_limit import available_memory, check_memory, refuse_expansion
from shoal.tables.formats.sniff import Format
from shoal.tables.formats.writers import create
from shoal.tables.table import Stamp, Table, check_width, make_table
from shoal.tables.targets.folders import PrivateFolder
from shoal.tables.typed_text import cell_text
from shoal.tables.watch import UNWATCHED, Watch

__all__ = ["read_statistics"]

READERS = {
    Format.SPSS: "read_sav",
    Format.SPSS_PORTABLE: "read_por",
    Format.STATA: "read_dta",
    Format.SAS: "read_sas7bdat",
    Format.SAS_TRANSPORT: "read_xport",
}
# Measured: a cell is a Python object, at most 60 bytes with its place in a list, before it becomes text.
CELL_BYTES = 100
VALUE_BYTES = 8  # of a number in the file, before compression
NAMES: dict[type, str] = {date: "date", datetime: "moment", time: "time"}
POLL_SECONDS = 0.1
RESERVED_BYTES = 3 << 30  # address space that libraries reserve and do not use
MOST_BYTES = 1 << 40
LARGEST_WHOLE = 2**53  # whole numbers are exact in a float up to here


def read_statistics(path: Path, form: Format, watch: Watch = UNWATCHED) -> Table:
    """Read a file of SPSS, Stata or SAS.

    The library that reads it ends the process on some damaged files, so another process reads it.

    Args:
        path: The file.
        form: Its format.
        watch: Whom to ask whether the run was cancelled.

    Raises:
        UsageError: pyreadstat is not installed.
        InputError: The file is damaged, or has no rows.
        FileError: The table does not fit into memory.
    """
    import numpy as np
    import polars as pl

    stamp = check_file(path)
    _reader(path, form)
    with PrivateFolder() as private, open(path, "rb") as file, ExitStack() as stack:
        places = [private.path / name for name in ("answer", "codes")]
        written = [stack.enter_context(create(place)) for place in places]
        _have_read(form, [file, *written], watch)
        answer = _answer(path, form, places[0])
        codes = np.fromfile(places[1], dtype=np.int32).reshape(len(answer["columns"]), -1)
    if Stamp.of(path) != stamp:
        raise InputError(f"{path}: the file changed while it was read. Run again when nothing writes to it.")
    columns, types = {}, {}
    for number, (name, kind, texts) in enumerate(answer["columns"]):
        columns[name] = pl.Series(name, texts, dtype=pl.String).gather(codes[number])
        if kind:
            types[name] = _types()[kind]
    notes = _notes(path, form, columns, answer["labelled"])
    return make_table(columns, str(path), path=path, stamp=stamp, notes=notes, types=types)


def _have_read(form: Format, files: Sequence[IO[bytes]], watch: Watch) -> None:
    """Have another process convert a file to text; it inherits the open file, and those that it writes to."""
    numbers = [file.fileno() for file in files]
    code = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); import shoal.tables.formats.statistics_file as w; "
    worker = subprocess.Popen(
        [sys.executable, "-c", f"{code}w.work(*sys.argv[2:])", json.dumps(sys.path), form.name, *map(str, numbers)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=numbers,
    )
    try:
        while worker.poll() is None:
            watch.check()
            with suppress(subprocess.TimeoutExpired):
                worker.wait(POLL_SECONDS)
    finally:
        worker.kill()
        worker.wait()


def _answer(path: Path, form: Format, place: Path) -> dict[str, Any]:
    """Return what the worker found out; raise the error that it reports."""
    try:
        answer: dict[str, Any] = json.loads(place.read_text())
    except ValueError:  # it was ended
        raise _damaged(path, form) from None
    if "error" in answer:
        kinds = {kind.__name__: kind for kind in (InputError, FileError, TooLargeError)}
        raise kinds[answer["error"]](answer["text"].replace(answer["path"], str(path)))
    return answer


def work(form: str, file: str, answer_file: str, codes_file: str) -> None:
    """Convert a file to text, in a process of its own: distinct texts to one file, and their places to another.

    Args:
        form: The name of its format.
        file: The descriptor of the file.
        answer_file: That of the file for the columns with their types and distinct texts, or an error.
        codes_file: That of the file for the place of each cell among the texts of its column.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would contain cells
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = (available_memory() or MOST_BYTES) + RESERVED_BYTES
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    path = Path(f"/dev/fd/{file}")
    answer: dict[str, Any]
    try:
        with open(int(codes_file), "wb") as codes:
            answer = _convert(path, Format[form], codes)
    except (InputError, FileError) as error:
        answer = {"error": type(error).__name__, "text": error.text, "path": str(path)}
    except MemoryError:
        text = f"{path}: does not fit into memory. Use a machine with more memory."
        answer = {"error": "FileError", "text": text, "path": str(path)}
    with open(int(answer_file), "w") as written:
        json.dump(answer, written)


def _convert(path: Path, form: Format, codes: IO[bytes]) -> dict[str, Any]:
    """Write for each cell which text of its column it has; return the columns, and those with value labels."""
    size, read = path.stat().st_size, _reader(path, form)
    _, facts = _guarded(path, form, lambda: read(str(path), metadataonly=True, output_format="dict"))
    most_rows = _most_rows(path, size, facts.number_columns, facts.number_rows)
    cells, facts = _guarded(path, form, lambda: read(str(path), row_limit=most_rows + 1, output_format="dict"))
    n_rows = max(map(len, cells.values()), default=0)
    if n_rows > most_rows:
        refuse_expansion(path, size, n_rows * len(cells) * VALUE_BYTES)
        check_memory(path, 2 * n_rows * len(cells) * VALUE_BYTES, n_rows * len(cells))
        raise FileError(f"{path}: has more rows than fit into memory. Use a machine with more memory.")
    if n_rows == 0:
        raise InputError(f"{path}: no data rows.")
    if not all(isinstance(name, str) for name in cells):
        raise _damaged(path, form)
    labels = {name: dict(pairs) for name, pairs in facts.variable_value_labels.items() if pairs}
    columns: list[tuple[str, str, list[str]]] = []
    for name in list(cells):
        column = cells.pop(name)
        kind, texts = _guarded(path, form, partial(_texts, column, labels.get(name, {})))
        place = {text: number for number, text in enumerate(dict.fromkeys(["", *texts.values()]))}
        check_memory(path, sum(len(texts.get(cell, "")) for cell in column), n_rows * (len(columns) + 1))
        array("i", [place[texts.get(cell, "")] for cell in column]).tofile(codes)
        columns.append((name, kind, list(place)))
    return {"columns": columns, "labelled": [name for name, *_ in columns if name in labels]}


def _reader(path: Path, form: Format) -> Callable[..., Any]:
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise UsageError(
            f"{path}: is {form}, which needs pyreadstat. Install it with: pip install 'shoal[stats]'"
        ) from None
    return getattr(pyreadstat, READERS[form])  # type: ignore[no-any-return]


def _guarded(path: Path, form: Format, read: Callable[[], Any]) -> Any:
    """Read a file. An error of the library may contain cells, so its text is not passed on."""
    try:
        return read()
    except MemoryError:
        raise
    except Exception:
        raise _damaged(path, form) from None


def _damaged(path: Path, form: Format) -> InputError:
    return InputError(
        f"{path}: cannot be read as {form}: it is damaged, encrypted, or has a date that does not exist. Export it "
        "again, or as CSV."
    )


def _most_rows(path: Path, size: int, n_columns: int, n_rows: int | None) -> int:
    """Return the number of rows to read at most; refuse a file that states more than it can hold or memory can."""
    check_width(n_columns, str(path))
    if n_rows is not None and n_rows >= 0:
        refuse_expansion(path, size, n_rows * n_columns * VALUE_BYTES)
        check_memory(path, n_rows * n_columns * VALUE_BYTES, n_rows * n_columns)
        return n_rows
    memory = available_memory()
    return (1 << 31) - 2 if memory is None else max(1, memory // (CELL_BYTES * max(1, n_columns)))


def _texts(cells: Sequence[Any], labels: Mapping[Any, str]) -> tuple[str, dict[Any, str]]:
    """Return the type of a column, empty if it is text, and the text of each of its values that is not missing."""
    known = {cell for cell in cells if cell is not None and cell == cell and cell != ""}
    kinds = set(map(type, known))
    is_whole = kinds <= {int, float} and all(abs(cell) < LARGEST_WHOLE and cell == int(cell) for cell in known)
    texts = {cell: str(int(cell)) if is_whole else cell_text(cell) for cell in known}
    for text in texts.values():
        text.encode()  # half of a surrogate pair is an error
    if any(cell in labels for cell in known):
        return "", _labelled(texts, labels)
    if kinds and kinds <= {int, float}:
        return "integer" if is_whole else "float", texts
    return NAMES.get(next(iter(kinds)), "") if len(kinds) == 1 else "", texts


def _types() -> dict[str, Any]:
    """Return the types of polars by name."""
    import polars as pl

    return {"integer": pl.Int64, "float": pl.Float64, "date": pl.Date, "moment": pl.Datetime("us"), "time": pl.Time}


def _labelled(texts: Mapping[Any, str], labels: Mapping[Any, str]) -> dict[Any, str]:
    """Replace values by their labels; two values that would have the same text keep their value behind it."""
    shown = {cell: str(labels.get(cell, "")).strip() or text for cell, text in texts.items()}
    times: dict[str, int] = {}
    for text in shown.values():
        times[text] = times.get(text, 0) + 1
    return {
        cell: f"{text} ({texts[cell]})" if times[text] > 1 and text != texts[cell] else text
        for cell, text in shown.items()
    }


def _notes(path: Path, form: Format, columns: Mapping[str, Any], labels: Collection[str]) -> tuple[Note, ...]:
    about = Note(file_path(path), f"{form}, {counted(len(columns), 'column')}; values declared as missing are missing")
    named = [repr(name) for name in columns if name in labels]
    text = f"the value labels are the text of column{'s' * (len(named) > 1)} {', '.join(named[:10])}"
    more = f" and {len(named) - 10} more" if len(named) > 10 else ""
    return (about, Note(file_path(path), text + more)) if named else (about,)
