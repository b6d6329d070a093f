"""The content of a report as plain values: a public part, which reveals no count below k, and a private part."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.report.columns import ReleasedColumn, why_words
from shoal.report.criteria import conventions, mistakes, three_criteria
from shoal.report.figures import Evidence, risk_before
from shoal.report.groups import SensitiveFacts, size_classes
from shoal.report.repeat import as_toml, command
from shoal.report.spread import spread_of
from shoal.report.summary import rule_row
from shoal.report.warnings import warnings_of
from shoal.report.words import band, chance, ends_json, ends_sentence, fold_rare, hide_small, percent, rounded
from shoal.schema import Kind, Role
from shoal.settings.settings import SIGNOFF

__all__ = ["private_part", "public_part"]

FORMAT = 1
MOST_CELLS = 8


def public_part(evidence: Evidence) -> dict[str, Any]:
    """Return the part that may go to everyone who receives the release.

    It contains no count of rows or people from 1 to k - 1, and none can be derived from it. About the original it
    contains the notes, redacted field by field, the weights derived from it and, only if every row was released, the
    number of distinct values of its columns.
    """
    return _common(evidence, private=False)


def private_part(evidence: Evidence) -> dict[str, Any]:
    """Return the part for the owner of the table only: all measures, suppressed rows, values before and after."""
    release = evidence.release
    content = _common(evidence, private=True)
    before = risk_before(release)
    content["source"] = {
        "rows": release.original.n_rows,
        "left_out": evidence.left_out,
        "alone_before": before.uniques,
        "alone_after": evidence.risk.uniques,
        "average_group_before": before.average_group,
        "average_group_after": evidence.risk.average_group,
        "reading": list(release.original.notes),
    }
    content["measures"] = release.measures.as_dict()
    content["ends"] |= ends_json(release.singled, release.request, release.measures.ncp)
    content["before_after"] = [
        {
            "column": column.name,
            "kind": str(column.kind),
            "rows": [asdict(share) for share in spread_of(ReleasedColumn.of(release, evidence.released, column))],
        }
        for column in release.schema.qi
    ]
    return content


def _common(evidence: Evidence, *, private: bool) -> dict[str, Any]:
    from shoal import __version__

    release, written, request = evidence.release, evidence.written, evidence.release.request
    source = private or evidence.left_out == 0
    names = [column.name for column in release.schema.qi]
    unexamined = list(release.schema.names(Role.INSENSITIVE))
    about_values = sum("column" in spec for spec in request.specs)
    return {
        "report": "private" if private else "public",
        "format": FORMAT,
        "shoal": __version__,
        "file": {"name": written.name, "sha256": written.sha256},
        "verdict": _verdict(evidence),
        "reached": _reached(evidence, private),
        "checks": _checks(evidence, private),
        "meaning": _meaning(evidence),
        "warnings": warnings_of(evidence, private=private),
        "signoff": {line: release.settings.signoff.get(line, "") for line in SIGNOFF},
        "columns": _roles(evidence),
        "loss": [
            {
                "column": facts.name,
                "kind": str(facts.kind),
                "share": facts.share if private else rounded(facts.share),
                "share_words": percent(facts.share),
                "loss": facts.loss if private else rounded(facts.loss),
                "why": why_words(facts, evidence.columns, source=source),
            }
            for facts in evidence.columns
        ],
        "groups": [asdict(size_class) for size_class in size_classes(evidence.sizes, request.k)],
        "cells": _cells(evidence),
        "ends": {"choice": request.ends, "words": ends_sentence(request)},
        "sensitive": [_sensitive(facts, private) for facts in evidence.sensitive],
        "risk": _risk(evidence),
        "conventions": conventions(evidence.risk.smallest_group, evidence.risk.counts),
        "attacks": [],
        "rules": [rule_row(verdict, request.k, private=private) for verdict in release.rules],
        "criteria": three_criteria(
            evidence.smallest, names, evidence.sensitive, about_values, counts=evidence.risk.counts
        ),
        "mistakes": mistakes(request.k, unexamined, evidence.sensitive),
        "repeat": _repeat(evidence, private),
    }


def _verdict(evidence: Evidence) -> str:
    request, written = evidence.release.request, evidence.written
    return (
        f"Every combination of quasi-identifier cells in {written.name} is shared by at least {request.k} "
        f"{evidence.risk.counts}, as required. Independent code read the written file again and found a smallest "
        f"group of {written.smallest_group:,} rows."
    )


def _reached(evidence: Evidence, private: bool) -> dict[str, Any]:
    release, written = evidence.release, evidence.written
    suppressed = evidence.left_out if private else hide_small(evidence.left_out, release.request.k)
    bound = release.lower_bound if release.request.tells_bound else None
    return {
        "k": release.request.k,
        "rows": written.rows,
        "groups": written.groups,
        "smallest_group": written.smallest_group,
        "rows_left_out": suppressed,
        "rows_shown_as_stars": evidence.starred,
        "loss": evidence.loss if private else rounded(evidence.loss),
        "loss_words": percent(evidence.loss),
        "lower_bound": bound if private or bound is None else rounded(bound),
        "lower_bound_words": None if bound is None else percent(bound),
    }


def _checks(evidence: Evidence, private: bool) -> list[dict[str, str]]:
    release, request = evidence.release, evidence.release.request
    smallest = f"smallest group: {evidence.smallest:,} {evidence.risk.counts}"
    checks = [
        {"what": words, "found": "met by every group" if i else smallest} for i, words in enumerate(request.models)
    ]
    suppressed = evidence.left_out if private else hide_small(evidence.left_out, request.k)
    limit = float(request.suppression_limit)
    checks.append(
        {
            "what": f"at most {limit:.4g} of the rows suppressed" if limit else "no row suppressed",
            "found": str(suppressed),
        }
    )
    checks.append({"what": "every cell true to the original", "found": "checked against it"})
    bound = release.lower_bound if request.tells_bound else None
    if bound is not None:
        least = f"{bound:.4f}" if private else percent(bound)
        loss = f"{evidence.loss:.4f}" if private else percent(evidence.loss)
        checks.append({"what": f"loss; no k-anonymous release loses less than {least}", "found": loss})
    return checks


def _meaning(evidence: Evidence) -> list[str]:
    names = [column.name for column in evidence.release.schema.qi]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    people = f"the rows of at least {evidence.smallest:,} persons"
    fitting = people if evidence.risk.counts == "persons" else f"at least {evidence.smallest:,} rows"
    sentences = [
        f"Anyone who knows {listed} of a person finds {fitting} that match and cannot distinguish them by these."
    ]
    first = evidence.columns[0]
    if first.loss:
        sentences.append(
            f"The released rows lost {percent(evidence.loss)} of the detail in these columns; the largest part, "
            f"{percent(first.share)}, in {first.name}."
        )
    else:
        sentences.append("These columns lost no detail: the table already met the requirement.")
    return [*sentences, _not_hidden(evidence)]


def _not_hidden(evidence: Evidence) -> str:
    """Say what the requested models do not protect."""
    protects_values = any("column" in spec for spec in evidence.release.request.specs)
    hides_presence = any(spec.get("name") == "delta-presence" for spec in evidence.release.request.specs)
    unprotected = [] if protects_values or not evidence.sensitive else ["a sensitive value that a whole group shares"]
    unprotected.append("what follows from data published elsewhere")
    unprotected += [] if hides_presence else ["whether a person is in the table at all"]
    return f"This does not hide {', '.join(unprotected[:-1])}{' or ' * (len(unprotected) > 1)}{unprotected[-1]}."


def _roles(evidence: Evidence) -> list[dict[str, Any]]:
    treatment = {Role.QI: "recoded", Role.SENSITIVE: "kept unchanged", Role.INSENSITIVE: "kept unchanged"}
    return [
        {
            "name": column.name,
            "role": str(column.role),
            "kind": str(column.kind) if column.role is Role.QI and column.kind else "",
            "released": treatment.get(column.role, "not released"),
        }
        for column in evidence.release.schema.columns
    ]


def _cells(evidence: Evidence) -> list[dict[str, Any]]:
    """Return the most frequent cells of categories; ranges of numbers and dates would show the ends of the table."""
    k, columns = evidence.release.request.k, []
    for column in evidence.release.schema.qi:
        if column.kind is not Kind.CATEGORICAL:
            continue
        table = evidence.released
        counted = zip(table.factor(column.name).texts.to_list(), table.counts(column.name).tolist(), strict=True)
        frequent, folded, rows = fold_rare(list(counted), k, MOST_CELLS)
        listed = [{"cell": cell, "rows": count} for cell, count in frequent]
        columns.append({"column": column.name, "cells": listed, "others": folded, "other_rows": rows})
    return columns


def _sensitive(facts: SensitiveFacts, private: bool) -> dict[str, Any]:
    share = round(facts.highest_share, 4) if private else band(facts.highest_share)
    return asdict(facts) | {"highest_share": share, "lift": rounded(facts.lift)}


def _risk(evidence: Evidence) -> dict[str, Any]:
    risk = evidence.risk
    largest = chance(Fraction(1, risk.smallest_group)) if risk.groups else "0"
    average = chance(Fraction(risk.groups, risk.rows)) if risk.groups else "0"
    return {
        "counts": risk.counts,
        "smallest_group": evidence.smallest,
        "threshold": str(float(risk.threshold)),
        "least_group": risk.least_group,
        "met": risk.met,
        "prosecutor": {"max": largest, "average": average, "share_above": percent(risk.prosecutor.share_above)},
        "marketer": average,
    }


def _repeat(evidence: Evidence, private: bool) -> dict[str, Any]:
    release, written = evidence.release, evidence.written
    path = release.original.path
    source = str(path) if private and path is not None else "INPUT"
    content: Mapping[str, Any] = {
        "command": command(release, written.name, source),
        "config": as_toml(release, private=private),
        "seed": release.request.seed,
        "method": release.request.method,
        "sha256": written.sha256,
        "manifest": written.manifest,
        "input_hmac_sha256": written.input_hash,
    }
    if not private:
        return dict(content)
    return dict(content) | {
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("numpy", "polars")},
        "folder": str(Path(path).parent) if path is not None else None,
    }
