"""The content of a report as plain values: a public part, which reveals no count below k, and a private part."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from shoal.errors import Note
from shoal.report.columns import ReleasedColumn, centers_json, why_words
from shoal.report.criteria import conventions, mistakes, three_criteria
from shoal.report.figures import Evidence, Part, risk_before
from shoal.report.groups import SensitiveFacts, size_classes, target_json, target_words
from shoal.report.public import BASIS, extent_json, public_rule_row, public_rules
from shoal.report.repeat import as_toml, command
from shoal.report.spread import spread_of
from shoal.report.summary import rule_row
from shoal.report.warnings import warnings_of
from shoal.report.words import (
    band,
    center_sentences,
    chance,
    coding_words,
    ends_json,
    ends_sentence,
    extent_words,
    fold_rare,
    limit_words,
    percent,
    rounded,
    sized,
    unit,
)
from shoal.schema import Role
from shoal.settings.settings import SIGNOFF

__all__ = ["as_json", "private_part", "public_part"]

FORMAT = 1
MOST_CELLS = 8
MOST_NAMES = 10  # in a sentence


def public_part(evidence: Evidence) -> dict[str, Any]:
    """Return the part that may go to everyone who receives the release.

    It follows from the release and its settings, so it reveals nothing else about the original. It contains no count of
    rows or people from 1 to k - 1, and none can be derived from it.
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
        "reading": [_spelled(note, evidence.written.spell) for note in release.original.notes],
    }
    content["measures"] = release.measures.as_dict()
    content["ends"] |= ends_json(release.singled, release.request, release.measures.ncp)
    content["weights"] = {name: float(weight) for name, weight in release.request.weights.items()}
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
    part = evidence.part(private=private)
    names = [column.name for column in release.schema.qi]
    unexamined = list(release.schema.names(Role.INSENSITIVE))
    protected = {str(spec["column"]) for spec in request.specs if "column" in spec}
    return {
        "report": "private" if private else "public",
        "format": FORMAT,
        "shoal": __version__,
        "file": {"name": written.name, "sha256": written.sha256},
        "verdict": _verdict(evidence, part),
        "reached": _reached(evidence, part, private),
        "checks": _checks(evidence, part, private),
        "meaning": _meaning(evidence, part, private),
        "warnings": warnings_of(evidence, private=private),
        "signoff": {line: release.settings.signoff.get(line, "") for line in SIGNOFF},
        "columns": _roles(evidence, part),
        "loss_basis": "over the domain of the original" if private else BASIS,
        "loss": [
            {
                "column": facts.name,
                "kind": str(facts.kind),
                "share": facts.share if private else rounded(facts.share),
                "share_words": percent(facts.share),
                "loss": facts.loss if private else rounded(facts.loss),
                **(asdict(part.extents[facts.name]) if private else extent_json(part.extents[facts.name])),
                "why": why_words(facts, part.columns, centers=request.has_centers),
            }
            for facts in (part.columns if private or not request.has_centers else ())
        ],
        "groups": [asdict(size_class) for size_class in size_classes(part.sizes, part.k)],
        "groups_count": part.sizes_in,
        "cells": _cells(evidence, part),
        "ends": {"choice": None if request.has_centers else request.ends, "words": ends_sentence(request, part.k)},
        "centers": centers_json(release, evidence.released, private=private),
        "recoded": coding_words(release.schema),
        "limits": limit_words(release.schema),
        "target": None if release.target_facts is None else target_json(release.target_facts),
        "sensitive": [_sensitive(facts, private) for facts in evidence.sensitive],
        "risk": _risk(part),
        "conventions": conventions(part.risk.smallest_group, part.risk.counts),
        "attacks": [],
        "rules": [*map(rule_row, release.rules)] if private else [*map(public_rule_row, public_rules(release))],
        "criteria": three_criteria(
            part.smallest, names, evidence.sensitive, protected, evidence.one_value, words=part.smallest_words
        ),
        "mistakes": mistakes(part.k, unexamined, evidence.sensitive, evidence.one_value),
        "repeat": _repeat(evidence, private),
    }


def _verdict(evidence: Evidence, part: Part) -> str:
    written = evidence.written
    models = evidence.release.request.models[1:]
    found = f"found a smallest group of {sized(written.smallest_group, 'rows')}"
    if part.risk.counts != "rows":
        found = "counted the people of every group"
    return (
        f"Every combination of quasi-identifier cells in {written.name} is shared by at least "
        f"{sized(part.k, part.risk.counts)}, as required. Independent code read the written file again and {found}."
        + (f" Every group also meets {_listed(models)}." if models else "")
    )


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _reached(evidence: Evidence, part: Part, private: bool) -> dict[str, Any]:
    written = evidence.written
    bound = _bound(evidence) if private else None
    return {
        "loss_is_known": private or not evidence.release.request.has_centers,
        "k": part.k,
        "rows": written.rows,
        "groups": written.groups,
        "smallest_group": written.smallest_group,
        "smallest": part.smallest,
        "smallest_words": part.smallest_words,
        "rows_left_out": part.left_out,
        "left_out_words": _left_out_words(part),
        "rows_shown_as_stars": evidence.starred,
        "loss": part.loss if private else rounded(part.loss),
        "loss_unweighted": part.loss_unweighted if private else rounded(part.loss_unweighted),
        "weighted": part.weighted,
        "loss_unweighted_words": percent(part.loss_unweighted),
        "loss_weighted_words": percent(part.loss) if part.weighted else None,
        "loss_words": _loss_words(part) if private else f"{_loss_words(part)} {BASIS}",
        "cells_changed": part.cells_changed if private else rounded(part.cells_changed),
        "cells_changed_words": percent(part.cells_changed),
        "exact_rows": part.exact_rows if private else rounded(part.exact_rows),
        "exact_rows_words": percent(part.exact_rows),
        "mean_cells_words": extent_words(part.extents),
        "lower_bound": bound,
        "lower_bound_words": None if bound is None else percent(bound),
    }


def _left_out_words(part: Part) -> str:
    """Return how many rows were left out; in the public part, how many may have been."""
    if isinstance(part.left_out, int):
        return f"{part.left_out:,}"
    return part.left_out.replace("<=", "at most ").replace("<k", f"fewer than {part.k}")


def _loss_words(part: Part) -> str:
    """Return the loss in percent; a weighted one says so and never stands alone."""
    if not part.weighted:
        return percent(part.loss)
    return f"{percent(part.loss_unweighted)} ({percent(part.loss)} weighted)"


def _bound(evidence: Evidence) -> float | None:
    """Return the loss that no release of the table avoids. It depends on the original, so it is private."""
    return evidence.release.lower_bound if evidence.release.request.tells_bound else None


def _checks(evidence: Evidence, part: Part, private: bool) -> list[dict[str, str]]:
    request = evidence.release.request
    smallest = f"smallest group: {part.smallest_words}"
    checks = [
        {"what": words, "found": "met by every group" if i else smallest} for i, words in enumerate(request.models)
    ]
    limit = float(request.suppression_limit)
    checks.append(
        {
            "what": f"at most {percent(limit)} of the rows suppressed" if limit else "no row suppressed",
            "found": sized(int(part.left_out), "rows") if private else "checked against the original",
        }
    )
    if request.has_centers:
        checks.append({"what": "every cell the centre of its group", "found": "recomputed from the original"})
        checks.append({"what": "all other cells true to the original", "found": "checked row by row"})
    else:
        checks.append({"what": "every cell true to the original", "found": "checked row by row"})
    bound = _bound(evidence) if private else None
    if bound is not None:
        checks.append(
            {
                "what": f"loss; no k-anonymous release loses less than {bound * 100:.3g}%",
                "found": f"{part.loss * 100:.3g}%",
            }
        )
    return checks


def _meaning(evidence: Evidence, part: Part, private: bool) -> list[str]:
    names = [column.name for column in evidence.release.schema.qi]
    listed = _listed(names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} more"])
    if evidence.release.request.has_centers:
        measures = evidence.release.measures if private else None
        return [
            *center_sentences(evidence.release.request, measures, listed, sized(part.smallest, part.risk.counts)),
            *_made_for(evidence),
            *_rows_as_people(part),
            _not_hidden(evidence),
        ]
    fitting = f"at least {sized(part.smallest, part.risk.counts)}"
    fitting = fitting if part.risk.counts == "rows" else f"the rows of {fitting}"
    sentences = [
        f"Anyone who knows {listed} of a person finds {fitting} that match and cannot distinguish them by these."
    ]
    first = part.columns[0]
    if first.loss:
        basis = "" if private else f" {BASIS}"
        sentences.append(
            f"The released rows lost {_loss_words(part)} of the detail in these columns{basis}; the largest part, "
            f"{percent(first.share)}{' of the weighted loss' * part.weighted}, in {first.name}."
        )
        sentences.append(
            f"{_share_of(part.cells_changed, 'these cells')} were changed; {percent(part.exact_rows)} of the rows show "
            f"exact values in all of them."
        )
        if words := extent_words(part.extents):
            sentences.append(f"Mean width of a cell: {words}.")
    else:
        sentences.append("These columns lost no detail: every released row shows exact values.")
    return [*sentences, *_made_for(evidence), *_rows_as_people(part), _not_hidden(evidence)]


def _made_for(evidence: Evidence) -> list[str]:
    """Say what the release was made for, if it was."""
    facts = evidence.release.target_facts
    return [] if facts is None else [f"Made for {target_words(facts, evidence.release.measures.rows)}."]


def _rows_as_people(part: Part) -> list[str]:
    """Say that rows are counted, if they are."""
    words = "Each row counts as one person: k does not protect a person who has several rows as well."
    return [words] if part.risk.counts == "rows" else []


def _share_of(share: float, of: str) -> str:
    words = f"{percent(share)} of {of}"
    return f"{words[0].upper()}{words[1:]}"


def _not_hidden(evidence: Evidence) -> str:
    """Say what the requested models do not protect."""
    protected = {spec.get("column") for spec in evidence.release.request.specs}
    protects_values = all(facts.name in protected or not facts.one_value for facts in evidence.sensitive)
    protects_values &= protected.issuperset(name for name, share in evidence.one_value.items() if share)
    hides_presence = any(spec.get("name") == "delta-presence" for spec in evidence.release.request.specs)
    unprotected = [] if protects_values else ["a sensitive value that a whole group shares"]
    unprotected.append("what follows from data published elsewhere")
    unprotected += [] if hides_presence else ["whether a person is in the table at all"]
    return f"This does not hide {', '.join(unprotected[:-1])}{' or ' * (len(unprotected) > 1)}{unprotected[-1]}."


def _roles(evidence: Evidence, part: Part) -> list[dict[str, Any]]:
    kinds = {column.name: str(column.kind) for column in part.columns}
    treatment = {
        Role.QI: "centre of its group" if evidence.release.request.has_centers else "recoded",
        Role.SENSITIVE: "kept unchanged",
        Role.INSENSITIVE: "kept unchanged",
        Role.IDENTIFIER: "dropped",
    }
    return [
        {
            "name": column.name,
            "role": str(column.role),
            "kind": kinds.get(column.name, ""),
            "released": treatment.get(column.role, "not released"),
        }
        for column in evidence.release.schema.columns
    ]


def _cells(evidence: Evidence, part: Part) -> list[dict[str, Any]]:
    """Return the most frequent cells of categories; ranges of numbers and dates would show the ends of the table."""
    kinds, columns = {facts.name: facts.kind for facts in part.columns}, []
    for column in evidence.release.schema.qi:
        if kinds[column.name].is_measured:
            continue
        table = evidence.released
        counted = zip(table.factor(column.name).texts.to_list(), table.counts(column.name).tolist(), strict=True)
        frequent, folded, rows = fold_rare(list(counted), part.k, MOST_CELLS)
        listed = [{"cell": cell, "rows": count} for cell, count in frequent]
        columns.append({"column": column.name, "cells": listed, "others": folded, "other_rows": rows})
    return columns


def _sensitive(facts: SensitiveFacts, private: bool) -> dict[str, Any]:
    share = f"{facts.highest_share:.1%}" if private else band(facts.highest_share)
    return asdict(facts) | {"highest_share": share, "lift": rounded(facts.lift)}


def _risk(part: Part) -> dict[str, Any]:
    risk = part.risk
    largest = chance(Fraction(1, risk.smallest_group)) if risk.groups else "0%"
    average = chance(Fraction(risk.groups, risk.rows)) if risk.groups else "0%"
    return {
        "counts": risk.counts,
        "unit": unit(risk.counts),
        "smallest_group": part.smallest,
        "threshold": chance(risk.threshold),
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


def _spelled(note: str, spell: Callable[[str], str]) -> str:
    """Return a note in one line, with the settings that it mentions spelled for the reader."""
    return note if not isinstance(note, Note) else spell(note.marked)


def as_json(content: Mapping[str, Any]) -> str:
    """Return the content of a report as JSON; the same content gives the same bytes."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
