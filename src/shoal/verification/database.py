"""The gate in a database: check a staging table against its source by the verifier's own queries.

Nothing here knows how the release was made. The verifier's readers turn cells into text; everything else is counting:
of groups, and of the bag of rows by `except all`, which respects how often a row occurs. A connection has `execute` and
`cursor` like psycopg; the caller opens it.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Unpack

from shoal.schema import Dialect, Schema, check_k
from shoal.verification.gate_streamed import BAG, Claimed, bag_of, label_violations
from shoal.verification.models.checks import Goal, ModelChecks
from shoal.verification.reading import files
from shoal.verification.reading.tables import PathName, chunks
from shoal.verification.verdict import (
    NO_ROWS,
    Group,
    Verdict,
    Violation,
    claim_violations,
    judge,
    plural,
    read_limit,
    small_groups_violation,
    suppression_violations,
)

__all__ = ["check_copy", "check_recoded", "table_rows"]

PADDED = 1042  # the type char(n), which pads cells with blanks
CHUNK_ROWS = 2000
Name = tuple[str, str]  # schema and table


def table_rows(connection: Any, table: Name, names: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield the rows of a table as text, in chunks.

    Args:
        connection: An open connection.
        table: The schema and name of the table.
        names: The columns to return, in this order.
    """
    with connection.cursor(name="shoal_verifier") as cursor:
        cursor.itersize = CHUNK_ROWS
        cursor.execute(_bytes(f"select {', '.join(map(_quote, names))} from {_table(table)}"))
        while rows := cursor.fetchmany(CHUNK_ROWS):
            texts = [_reader(column.type_code) for column in cursor.description]
            yield [[text(cell) for text, cell in zip(texts, row, strict=True)] for row in rows]


def check_recoded(
    connection: Any,
    staging: Name,
    source: Name,
    schema: Schema,
    k: int,
    claimed: Claimed,
    **goal: Unpack[Goal],
) -> Verdict:
    """Return the verdict on a staging table that was made from a source table in the same database.

    Args:
        connection: An open connection.
        staging: The schema and name of the staging table.
        source: The schema and name of the source table.
        schema: The columns of the source.
        k: The size that every group must have.
        claimed: What the maker claims; all of it is checked.
        goal: What the release must meet besides k; see `Goal`.

    Returns:
        The verdict, good or bad.
    """
    names = [column.name for column in schema.released]
    violations, counts = _count(connection, staging, schema, check_k(k))
    n_source = connection.execute(_bytes(f"select count(*) from {_table(source)}")).fetchone()[0]
    counts["suppressed_rows"] = n_source - counts["rows"]
    violations += suppression_violations(
        counts["suppressed_rows"], n_source, read_limit(goal.get("suppression_limit", 0))
    )
    violations += claim_violations(claimed.counts, counts)
    violations += label_violations(schema, claimed.maps, goal.get("labels") or {})
    violations += _model_violations(connection, staging, schema, ModelChecks.of_goal(goal, schema))
    if not violations:
        expected, values = _recoded(connection, source, names, claimed)
        columns = ", ".join(_cell_text(name, name in claimed.maps) for name in names)
        released = f"select {columns} from {_table(staging)}"
        for rows, others, fault in ((released, expected, "unexpected"), (expected, released, "missing")):
            n_rows = connection.execute(
                f"select count(*) from (({rows}) except all ({others})) as d".encode(), values
            ).fetchone()[0]
            if n_rows:
                text = f"{plural(n_rows, f'{fault} row')} in comparison with what the labels make of the source"
                violations.append(Violation("rows", text))
    return _verdict(k, counts, violations)


def check_copy(
    connection: Any, staging: Name, path: PathName, schema: Schema, k: int, claims: Mapping[str, int]
) -> Verdict:
    """Return the verdict on a staging table that was loaded from a file that has passed the gate.

    Args:
        connection: An open connection.
        staging: The schema and name of the staging table.
        path: The file.
        schema: The columns of the source.
        k: The size that every group must have.
        claims: What the maker states; see `gate`.

    Returns:
        The verdict, good or bad.
    """
    names = [column.name for column in schema.released]
    violations, counts = _count(connection, staging, schema, check_k(k))
    violations += claim_violations({name: claims[name] for name in claims if name in counts}, counts)
    if not violations:
        key = secrets.token_bytes(32)
        written = (chunk[1:] if number == 0 else chunk for number, chunk in enumerate(chunks(path, Dialect())))
        loaded = table_rows(connection, staging, names)
        written_bag, loaded_bag = (sum(bag_of(rows, key) for rows in part) % BAG for part in (written, loaded))
        if written_bag != loaded_bag:
            violations.append(Violation("rows", "they differ from those of the file that passed the gate"))
    return _verdict(k, counts, violations)


def _verdict(k: int, counts: Mapping[str, int], violations: Sequence[Violation]) -> Verdict:
    verdict = judge(k, counts["rows"], {"smallest": counts["smallest_group"]}, violations)
    return replace(verdict, groups=counts["groups"])


def _count(connection: Any, staging: Name, schema: Schema, k: int) -> tuple[list[Violation], dict[str, int]]:
    """Return what is wrong with the columns and groups of a table, and the counts."""
    names = [column.name for column in schema.released]
    columns = connection.execute(
        b"select a.attname::text, a.atttypid::regtype::text from pg_attribute a join pg_class c on c.oid = a.attrelid "
        b"join pg_namespace n on n.oid = c.relnamespace where n.nspname = %s and c.relname = %s and a.attnum > 0 "
        b"order by a.attnum",
        staging,
    ).fetchall()
    if [name for name, _ in columns] != names:
        text = "the table does not have exactly the released columns in their order"
        return [Violation("columns", text)], {"rows": 0, "groups": 0, "smallest_group": 0}
    violations = [
        Violation(f"column {name!r}", "it is a quasi-identifier, but its type is not text")
        for name, kind in columns
        if kind != "text" and name in _qi(schema)
    ]
    grouped = f"select count(*) as n from {_table(staging)} group by {', '.join(map(_quote, _qi(schema)))}"
    rows, groups, smallest, small = connection.execute(
        f"select coalesce(sum(n), 0)::bigint, count(*), coalesce(min(n), 0), count(*) filter (where n < {k}) "
        f"from ({grouped}) as g".encode(),
        (),
    ).fetchone()
    if not rows:
        violations.append(NO_ROWS)
    if small:
        violations.append(small_groups_violation(k, small, groups, smallest))
    return violations, {"rows": rows, "groups": groups, "smallest_group": smallest}


def _qi(schema: Schema) -> list[str]:
    return [column.name for column in schema.qi]


def _model_violations(connection: Any, staging: Name, schema: Schema, checks: ModelChecks) -> list[Violation]:
    """Return the models besides k that groups fail."""
    if not checks.columns:
        return []
    columns = ", ".join(f"coalesce({_quote(name)}, '')" for name in _qi(schema))
    groups: dict[Group, int] = {}
    for name in checks.columns:
        cursor = connection.execute(
            _bytes(
                f"select {_quote(name)}, count(*), {columns} from {_table(staging)} group by {_quote(name)}, {columns}"
            )
        )
        text = _reader(cursor.description[0].type_code)
        counts: Counter[Group] = Counter()
        for cell, rows, *group in cursor.fetchall():
            checks.add(name, tuple(group), text(cell), rows)
            counts[tuple(group)] += rows
        groups = dict(counts)
    return checks.violations(groups, groups, None, {})


def _recoded(connection: Any, source: Name, names: Sequence[str], claimed: Claimed) -> tuple[str, list[Any]]:
    """Return the query for the rows that the labels make of the source, and its parameters."""
    cells, joins, labels, lists = [], [], [], []
    for i, name in enumerate(names):
        column = f"s.{_quote(name)}"
        if name not in claimed.maps:
            cells.append(f"{_cell_text(name, False, 's.')} as c{i}")
            continue
        natives, new_labels, missing = _native(connection, source, name, claimed.maps[name])
        cells.append(f"case when {column} is null then %s else l{i}.label end as c{i}")
        labels.append(missing)
        joins.append(f"left join unnest(%s::text[], %s::text[]) as l{i}(cell, label) on l{i}.cell = {column}::text")
        lists += [natives, new_labels]
    places = [names.index(name) for name in claimed.maps]
    if claimed.kept is not None:
        columns = ", ".join(f"k{i}" for i in places)
        arrays = ", ".join(["%s::text[]"] * len(places))
        lists += [list(column) for column in zip(*sorted(claimed.kept), strict=True)] or [[] for _ in places]
        kept_join = f"join unnest({arrays}) as k({columns}) on {' and '.join(f'k.k{i} = r.c{i}' for i in places)}"
    else:
        kept_join = ""
    columns = ", ".join(f"r.c{i}" for i in range(len(names)))
    recoded = f"select {', '.join(cells)} from {_table(source)} as s {' '.join(joins)}"
    has_labels = " and ".join(f"r.c{i} is not null" for i in places)
    return f"select {columns} from ({recoded}) as r {kept_join} where {has_labels}", [*labels, *lists]


def _native(
    connection: Any, source: Name, name: str, labels: Mapping[str, str]
) -> tuple[list[str], list[str], str | None]:
    """Return the server's text of each distinct cell, its label, and the label of a missing cell."""
    column = _quote(name)
    cursor = connection.execute(
        _bytes(f"select {column}, {column}::text from {_table(source)} where {column} is not null group by 1, 2")
    )
    text = _reader(cursor.description[0].type_code)
    all_pairs = [(native, labels.get(text(cell))) for cell, native in cursor.fetchall()]
    pairs = [(native, label) for native, label in all_pairs if label is not None]
    return [native for native, _ in pairs], [label for _, label in pairs], labels.get("")


def _cell_text(name: str, recoded: bool, prefix: str = "") -> str:
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
    """Return a query without parameters, in which percent signs are not doubled."""
    return query.replace("%%", "%").encode()
