"""The gate in a database: a staging table is held against its source by queries of the verifier's own.

Nothing here knows how the release was made. Cells are read as Python values and turned into text by the verifier's
readers; the rest is counting: groups, and the bag of rows by `except all`, in which every row counts as often as it
stands. A connection is whatever has `execute` and `cursor` as psycopg has them; it is given, never opened here.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from shoal.schema import Dialect, Schema, check_k
from shoal.verification.gate import check_share, claim_violations
from shoal.verification.gate_streamed import BAG, Claimed, bag_of, label_violations
from shoal.verification.models import Promises
from shoal.verification.reading import files
from shoal.verification.reading.tables import PathName, chunks
from shoal.verification.verdict import Verdict, judge

__all__ = ["check_copy", "check_recoded", "table_rows"]

PADDED = 1042  # the type char(n), which is padded with blanks that belong to no cell
FETCHED = 2000
Name = tuple[str, str]  # schema and table


def table_rows(connection: Any, table: Name, names: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield the rows of a table as text, so many at a time."""
    with connection.cursor(name="shoal_verifier") as cursor:
        cursor.itersize = FETCHED
        cursor.execute(_bytes(f"select {', '.join(map(_quote, names))} from {_table(table)}"))
        while rows := cursor.fetchmany(FETCHED):
            texts = [_reader(column.type_code) for column in cursor.description]
            yield [[text(cell) for text, cell in zip(texts, row, strict=True)] for row in rows]


def check_recoded(
    connection: Any,
    staging: Name,
    source: Name,
    schema: Schema,
    k: int,
    claimed: Claimed,
    *,
    suppression_limit: float | Fraction = 0,
    labels: Mapping[str, Mapping[str, Iterable[str]]] | None = None,
    models: Iterable[Any] = (),
    paths: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> Verdict:
    """Return the verdict on a staging table that was made of a source table in the same database.

    The arguments are those of gate_recoded; tables are named by schema and name.
    """
    names = [column.name for column in schema.released]
    violations, counted = _count(connection, staging, schema, check_k(k))
    n_source = connection.execute(_bytes(f"select count(*) from {_table(source)}")).fetchone()[0]
    suppressed = n_source - counted["rows"]
    limit = check_share(suppression_limit)
    if suppressed > limit * n_source:
        most = int(limit * n_source)
        violations.append(f"suppression: {suppressed} of {n_source} rows are not in it; at most {most} may be.")
    counted["suppressed_rows"] = suppressed
    violations += claim_violations(claimed.counts, counted)
    violations += label_violations(schema, claimed.maps, labels or {})
    promises = Promises(models, schema.columns, schema.missing, paths or {})
    violations += _promise_violations(connection, staging, schema, promises)
    if not violations:
        query, values = _recoded(connection, source, names, claimed)
        held = ", ".join(_held(name, name in claimed.maps) for name in names)
        made = f"select {held} from {_table(staging)}"
        for one, other, lot in ((made, query, "too many"), (query, made, "missing")):
            found = connection.execute(
                f"select count(*) from (({one}) except all ({other})) as d".encode(), values
            ).fetchone()[0]
            if found:
                violations.append(f"rows: {found} are {lot}, held against what the labels make of the source.")
    return _verdict(k, counted, violations)


def check_copy(
    connection: Any, staging: Name, path: PathName, schema: Schema, k: int, claims: Mapping[str, int]
) -> Verdict:
    """Return the verdict on a staging table that was loaded from a file which has passed the gate."""
    names = [column.name for column in schema.released]
    violations, counted = _count(connection, staging, schema, check_k(k))
    violations += claim_violations({name: claims[name] for name in claims if name in counted}, counted)
    if not violations:
        key = secrets.token_bytes(32)
        written = (chunk[1:] if number == 0 else chunk for number, chunk in enumerate(chunks(path, Dialect())))
        bags = [
            sum(bag_of(rows, key) for rows in lot) % BAG for lot in (written, table_rows(connection, staging, names))
        ]
        if bags[0] != bags[1]:
            violations.append("rows: they are not those of the file that passed the gate.")
    return _verdict(k, counted, violations)


def _verdict(k: int, counted: Mapping[str, int], violations: Sequence[str]) -> Verdict:
    verdict = judge(k, counted["rows"], {"smallest": counted["smallest_group"]}, violations)
    return replace(verdict, groups=counted["groups"])


def _count(connection: Any, staging: Name, schema: Schema, k: int) -> tuple[list[str], dict[str, int]]:
    """Return what is wrong with the columns and groups of a table, and what was counted."""
    names = [column.name for column in schema.released]
    found = connection.execute(
        b"select a.attname::text, a.atttypid::regtype::text from pg_attribute a join pg_class c on c.oid = a.attrelid "
        b"join pg_namespace n on n.oid = c.relnamespace where n.nspname = %s and c.relname = %s and a.attnum > 0 "
        b"order by a.attnum",
        staging,
    ).fetchall()
    violations = []
    if [row[0] for row in found] != names:
        violations.append("columns: the table does not hold the released ones, in their order, and no other.")
        return violations, {"rows": 0, "groups": 0, "smallest_group": 0}
    wrong = [name for (name, kind), _ in zip(found, names, strict=True) if kind != "text" and name in _qi(schema)]
    violations += [f"column {name!r}: is a quasi-identifier and not text." for name in wrong]
    grouped = f"select count(*) as n from {_table(staging)} group by {', '.join(map(_quote, _qi(schema)))}"
    rows, groups, smallest, small = connection.execute(
        f"select coalesce(sum(n), 0)::bigint, count(*), coalesce(min(n), 0), count(*) filter (where n < {k}) "
        f"from ({grouped}) as g".encode(),
        (),
    ).fetchone()
    if not rows:
        violations.append("no rows: a release without data rows proves nothing.")
    if small:
        violations.append(f"k={k}: {small} of {groups} groups are smaller; the smallest group has {smallest} rows.")
    return violations, {"rows": rows, "groups": groups, "smallest_group": smallest}


def _qi(schema: Schema) -> list[str]:
    return [column.name for column in schema.qi]


def _promise_violations(connection: Any, staging: Name, schema: Schema, promises: Promises) -> list[str]:
    """Return the models beside k that groups break."""
    if not promises.columns:
        return []
    columns = ", ".join(f"coalesce({_quote(name)}, '')" for name in _qi(schema))
    groups: dict[tuple[str, ...], int] = {}
    for name in promises.columns:
        cursor = connection.execute(
            _bytes(
                f"select {_quote(name)}, count(*), {columns} from {_table(staging)} group by {_quote(name)}, {columns}"
            )
        )
        text = _reader(cursor.description[0].type_code)
        counts: Counter[tuple[str, ...]] = Counter()
        for cell, rows, *group in cursor.fetchall():
            promises.add(name, tuple(group), text(cell), rows)
            counts[tuple(group)] += rows
        groups = dict(counts)
    found = promises.violations(groups, groups, lambda group: 0, {})
    return [f"{text.partition(';')[0]}." for text in found]  # rows of a table have no number


def _recoded(connection: Any, source: Name, names: Sequence[str], claimed: Claimed) -> tuple[str, list[Any]]:
    """Return the query for the rows that the labels make of the source, and its values."""
    cells, joins, labels, lists = [], [], [], []
    for i, name in enumerate(names):
        column = f"s.{_quote(name)}"
        if name not in claimed.maps:
            cells.append(f"{_held(name, False, 's.')} as c{i}")
            continue
        native, told, missing = _native(connection, source, name, claimed.maps[name])
        cells.append(f"case when {column} is null then %s else l{i}.label end as c{i}")
        labels.append(missing)
        joins.append(f"left join unnest(%s::text[], %s::text[]) as l{i}(cell, label) on l{i}.cell = {column}::text")
        lists += [native, told]
    places = [names.index(name) for name in claimed.maps]
    if claimed.kept is not None:
        columns = ", ".join(f"k{i}" for i in places)
        arrays = ", ".join(["%s::text[]"] * len(places))
        lists += [list(column) for column in zip(*sorted(claimed.kept), strict=True)] or [[] for _ in places]
        kept = f"join unnest({arrays}) as k({columns}) on {' and '.join(f'k.k{i} = r.c{i}' for i in places)}"
    else:
        kept = ""
    picked = ", ".join(f"r.c{i}" for i in range(len(names)))
    made = f"select {', '.join(cells)} from {_table(source)} as s {' '.join(joins)}"
    left = " and ".join(f"r.c{i} is not null" for i in places)
    return f"select {picked} from ({made}) as r {kept} where {left}", [*labels, *lists]


def _native(
    connection: Any, source: Name, name: str, labels: Mapping[str, str]
) -> tuple[list[str], list[str], str | None]:
    """Return the server's own text of each distinct cell with its label, and the label of a missing cell."""
    column = _quote(name)
    cursor = connection.execute(
        _bytes(f"select {column}, {column}::text from {_table(source)} where {column} is not null group by 1, 2")
    )
    text = _reader(cursor.description[0].type_code)
    found = [(native, labels.get(text(cell))) for cell, native in cursor.fetchall()]
    pairs = [(native, label) for native, label in found if label is not None]
    return [native for native, _ in pairs], [label for _, label in pairs], labels.get("")


def _held(name: str, recoded: bool, prefix: str = "") -> str:
    column = prefix + _quote(name)
    return f"coalesce({column}, '')" if recoded else f'{column}::text collate "C"'


def _reader(type_code: int) -> Any:
    if type_code == PADDED:
        return lambda cell: "" if cell is None else cell.rstrip(" ")
    return _text


def _text(cell: Any) -> str:
    return "" if isinstance(cell, Decimal) and cell.is_nan() else files.cell_text(cell)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


def _table(name: Name) -> str:
    return f"{_quote(name[0])}.{_quote(name[1])}"


def _bytes(query: str) -> bytes:
    """Return a query without values: percent signs stand as they are."""
    return query.replace("%%", "%").encode()
