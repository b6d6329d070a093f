"""Words and JSON of results, shared by terminal, pages and callers of the library.

Functions ending in `_facts` return (name, text) pairs, those in `_words` a text, those in `_json` plain values. A
text is a `Note`: printed, it spells settings as keywords; `for_command_line` spells them as options.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from shoal.errors import Note, counted, setting
from shoal.hierarchy.base import Hierarchy
from shoal.metrics import Measures
from shoal.metrics.singled import Singled
from shoal.report import words as say
from shoal.report.groups import SensitiveFacts, target_json, target_words
from shoal.report.words import coding_words, ends_json, ends_words, extent_words, limit_words, loss_words, percent
from shoal.rules import RuleVerdict
from shoal.schema import Role

if TYPE_CHECKING:
    from shoal.profile.survey import Profile
    from shoal.release.release import Request
    from shoal.schema import Schema

__all__ = [
    "PROFILE_HEAD",
    "Fact",
    "Places",
    "bound_words",
    "combination_facts",
    "detail_words",
    "further_facts",
    "hierarchy_json",
    "hierarchy_words",
    "level_choice_words",
    "measures_facts",
    "measures_json",
    "profile_rows",
    "release_facts",
    "release_json",
    "release_words",
    "rule_json",
    "rule_row",
    "rule_words",
    "verdict_words",
]

PROFILE_HEAD = ("column", "role", "kind", "distinct", "missing", "unique", "distribution", "why")
EACH_ROW = "rows: each row counts as one person"
SHOWN_CHOICES = 5  # level choices that pass

Fact = tuple[str, Note]


class Places(NamedTuple):
    """Where the files of a release are.

    Attributes:
        output: The release; None after a dry run.
        manifest: The manifest; None if it is the comment of a database table.
        report: The public page of the report, if there is one.
        private_report: The private page of the report.
    """

    output: str | None = None
    manifest: str | None = None
    report: str | None = None
    private_report: str | None = None


class ReleaseLike(Protocol):
    """The part of a release that this module describes."""

    @property
    def request(self) -> Request:
        """What was asked for."""

    @property
    def schema(self) -> Schema:
        """The columns."""

    @property
    def measures(self) -> Measures:
        """Information loss and group sizes."""

    @property
    def target_facts(self) -> SensitiveFacts | None:
        """What the groups disclose about the target."""

    @property
    def singled(self) -> Singled:
        """What the cells show of single rows, and the cost of ends that were moved."""

    @property
    def levels(self) -> Mapping[str, int] | None:
        """The level of each quasi-identifier of a full-domain release."""

    @property
    def rules(self) -> tuple[RuleVerdict, ...]:
        """How each data constraint rule is kept."""

    @property
    def search(self) -> Mapping[str, Any]:
        """What else the method found."""

    @property
    def labels(self) -> Mapping[str, Any]:
        """The values under the labels of each hierarchy."""

    @property
    def lower_bound(self) -> float | None:
        """Least loss that any release of the table has."""


class GroupFigures(Protocol):
    """Figures that both measures and the verdict of the verifier have."""

    @property
    def rows(self) -> int:
        """Rows of the release."""

    @property
    def groups(self) -> int:
        """Groups of the release."""

    @property
    def smallest_group(self) -> int:
        """Rows of the smallest group."""


def fact(name: str, text: str) -> Fact:
    """Return a named text whose mentions of settings can be spelled for every reader."""
    return name, Note("", text)


def release_words(release: ReleaseLike) -> Note:
    """Describe a release in one sentence."""
    measures, request = release.measures, release.request
    return Note("", f"{_group_words(measures, request.k)}; loss {loss_words(measures)} by {request.method}")


def detail_words(release: ReleaseLike) -> Note:
    """Say how much of a release is exact, and how wide its cells are."""
    measures = release.measures
    if measures.centers:
        kept = [f"{name}: {', '.join(each)}" for name, each in say.center_words(measures.centers).items() if each]
        return Note("", "; ".join([say.NOT_TRUE, *kept]))
    changed = (
        f"{percent(measures.modification_rate)} of the cells changed, {percent(measures.exact_rows)} of the rows exact"
    )
    return Note("", f"{changed}; mean cell: {extent_words(measures.columns)}")


def _group_words(figures: GroupFigures, k: int) -> str:
    return (
        f"{counted(figures.rows, 'row')} in {counted(figures.groups, 'group')}, the smallest of "
        f"{counted(figures.smallest_group, 'row')} (k = {k})"
    )


def release_facts(release: ReleaseLike, places: Places) -> list[Fact]:
    """Describe what was asked of a release, what it reached and lost, and where its files are."""
    request = release.request
    qi = ", ".join(f"{column.name} ({column.kind})" for column in release.schema.qi)
    facts = [fact("asked", f"{'; '.join(request.models)} over {qi}"), fact("method", request.method)]
    facts += measures_facts(release.measures)
    people = release.schema.names(Role.PERSON)
    counts = f"people, by the column {people[0]!r}: at least {request.k} in each group" if people else EACH_ROW
    facts.append(fact("k counts", counts))
    if release.singled.moved_ends or release.singled.rows_at_rare_ends:
        facts.append(("range ends", ends_words(release.singled, request, release.measures)))
    facts += [fact("made for", target_words(f, release.measures.rows))] if (f := release.target_facts) else []
    weights = ", ".join(f"{name} {float(weight):.4g}" for name, weight in request.weights.items())
    facts += [fact("weights", weights)] if weights else []
    facts += [fact("recoded", "; ".join(words))] if (words := coding_words(release.schema)) else []
    facts += [fact("limits", "; ".join(words))] if (words := limit_words(release.schema)) else []
    facts += [("rule", rule_words(verdict)) for verdict in release.rules]
    levels = ", ".join(f"{name} {level}" for name, level in (release.levels or {}).items())
    facts += [fact("levels", levels)] if levels else []
    facts += [("level choices", level_choice_words(release.search))] if "successful" in release.search else []
    facts += [("lower bound", bound_words(release))] if request.tells_bound else []
    if places.output is None:
        facts.append(fact("written", "nothing: this was a dry run"))
    else:
        facts.append(fact("release", f"{places.output} (verified)"))
        facts.append(fact("manifest", places.manifest or "the comment of the table"))
    report = fact("report", f"{places.report}; for your eyes only: {places.private_report}")
    return facts if places.report is None else [*facts, report]


def release_json(release: ReleaseLike, places: Places, seconds: float) -> dict[str, Any]:
    """Return a release in the form of `anonymize --json`."""
    request = release.request
    content = measures_json(release.measures, request.k) | {"method": request.method, "seconds": round(seconds, 3)}
    content |= {
        "levels": release.levels and dict(release.levels),
        "ends": ends_json(release.singled, request, release.measures.ncp),
    }
    if coded := [column for column in release.schema.released if column.codings]:
        content["recode"] = {column.name: [coding._asdict() for coding in column.codings] for column in coded}
    if limited := [column for column in release.schema.qi if any(column.limits)]:
        content["limits"] = {c.name: {key: text for key, text in c.limits._asdict().items() if text} for c in limited}
    content |= {"target": target_json(release.target_facts)} if release.target_facts else {}
    content |= {"rules": [rule_json(verdict) for verdict in release.rules]} if release.rules else {}
    content |= {"search": dict(release.search)} if release.search else {}
    content |= {"lower_bound": release.lower_bound} if request.tells_bound else {}
    content |= {"output": places.output, "manifest": places.manifest}
    return content if places.report is None else content | {"report": places.report}


def measures_facts(measures: Measures) -> list[Fact]:
    """Describe the most important measures of a release."""
    losses = sorted(measures.per_attribute.items(), key=lambda item: -item[1])
    by_column = fact("loss by column", ", ".join(f"{name} {loss:.2%}" for name, loss in losses))
    facts = [
        fact("rows", f"{measures.rows:,} released, {measures.suppressed_rows:,} suppressed"),
        fact("groups", f"{measures.groups:,}; the smallest has {counted(measures.smallest_group, 'row')}"),
    ]
    if measures.centers:
        facts.append(fact("cells", say.NOT_TRUE))
        if measures.has_loss:
            loss = f"{loss_words(measures)} (NCP of the ranges and sets that they span)"
            facts += [fact("loss of groups", loss), by_column]
        kept = say.squares_words(measures.sse) | say.center_words(measures.centers)
        facts += [fact(name, "; ".join(words)) for name, words in kept.items() if words]
    else:
        facts += [
            fact("loss (NCP)", f"{loss_words(measures)}; utility {_utility_words(measures)}"),
            by_column,
            fact("cells changed", f"{measures.modification_rate:.1%} of the quasi-identifier cells"),
            fact("exact rows", f"{percent(measures.exact_rows)} of the rows, in all quasi-identifiers"),
            fact("mean cell", extent_words(measures.columns)),
        ]
    return [*facts, fact("average group", f"{measures.c_avg:.2f} x k rows; discernibility {measures.dm:,}")]


def _utility_words(measures: Measures) -> str:
    if not measures.weighted:
        return f"{measures.utility:.2%}"
    return f"{1 - measures.ncp_unweighted:.2%} ({measures.utility:.2%} weighted)"


def further_facts(measures: Measures) -> list[Fact]:
    """Describe the measures that papers and other tools report."""
    changed = ", ".join(f"{name} {count:,}" for name, count in measures.md.items())
    value = ", ".join(f"{name} {worth:.4f}" for name, worth in measures.research_value.items())
    facts = [
        fact("ILoss, LM", f"{measures.iloss:.4f}, {measures.lm:.4f}; LM over all cells {measures.lm_total:,.2f}"),
        fact("cells changed (MD)", changed),
        fact("entropy", f"{measures.entropy:,.2f} bits"),
        fact("precision", f"{measures.precision:.4f}"),
        fact("distortion", f"{measures.distortion:,.2f}, ratio {measures.distortion_ratio:.4f}"),
        fact("research value", f"{measures.research_value_total:.4f}: {value}"),
    ]
    return facts if measures.cm is None else [*facts, fact("classification (CM)", f"{measures.cm:.4f}")]


def measures_json(measures: Measures, k: int | None) -> dict[str, Any]:
    """Return measures in the form that `anonymize --json` and `measure --json` share."""
    content = measures.as_dict()
    counts = {name: content.pop(name) for name in ("rows", "groups", "smallest_group", "suppressed_rows")}
    columns = content.pop("columns")
    return {"method": None, "k": k, **counts, "measures": content, "columns": columns, "levels": None}


def level_choice_words(search: Mapping[str, Any]) -> Note:
    """List the choices of levels that pass, so that the data owner can pick another one."""
    passing = search["successful"]
    lines = [
        f"{search['tested']:,} of {search['strings']:,} tested; these pass (select another with {setting('choose')}):"
    ]
    for i, choice in enumerate(passing[:SHOWN_CHOICES], 1):
        levels = " ".join(map(str, choice["levels"].values()))
        lines.append(f"{i}: levels {levels}; research value {choice['rv']:.4f}, {choice['roots']} at the root")
    if len(passing) > SHOWN_CHOICES:
        lines.append(f"and {len(passing) - SHOWN_CHOICES} more, listed in the JSON result")
    return Note("", "\n".join(lines))


def bound_words(release: ReleaseLike) -> Note:
    """Describe the lower bound of the loss, or say why it is not computed."""
    if release.lower_bound is not None:
        return Note("", f"{release.lower_bound:.2%}: no k-anonymous local recoding of this table loses less")
    request = release.request
    if request.weights or request.suppression_limit:
        return Note("", "not computed: it requires weights of 1 and no suppression")
    if any(column.codings for column in release.schema.qi):
        return Note("", "not computed for recoded quasi-identifiers")
    if release.labels:
        return Note("", "not computed for hierarchies")
    if request.bound:
        return Note("", "not computed")
    return Note("", f"not computed in the usual time; {setting('bound', True)} takes longer")


def rule_words(verdict: RuleVerdict) -> Note:
    """Say whether a release keeps a rule."""
    if verdict.kept:
        return Note("", f"{verdict.rule}: kept")
    counts = {"groups": verdict.broken_groups, "rows": verdict.broken_rows}
    return Note(verdict.rule, "broken in {groups:group} with {rows:row}", counts=counts)


def rule_json(verdict: RuleVerdict) -> dict[str, Any]:
    """Return a verdict on a rule in the form of `anonymize --json`."""
    return {
        "rule": verdict.rule,
        "importance": verdict.importance,
        "broken_groups": verdict.broken_groups,
        "broken_rows": verdict.broken_rows,
        "ban": verdict.ban,
    }


def rule_row(verdict: RuleVerdict) -> dict[str, Any]:
    """Return a verdict on a rule as a row of the private part of a report."""
    return {
        "rule": verdict.rule,
        "importance": verdict.importance,
        "kept": verdict.kept,
        "broken_rows": verdict.broken_rows,
    }


def verdict_words(
    verdict: GroupFigures,
    k: int,
    models: Sequence[str],
    *,
    against_original: bool,
    people: bool = False,
    centers: bool = False,
) -> Note:
    """Describe a release that passed verification.

    Args:
        verdict: The figures that the verifier counted.
        k: The k that was required.
        models: Descriptions of the other models that every group passes.
        against_original: Whether the rows were checked against the original.
        people: Whether k was counted in people.
        centers: Whether cells are centres of groups.
    """
    parts = [_group_words(verdict, k)]
    if people:
        parts.append(f", each of which can belong to {k} people or more")
    if models:
        parts.append(f"; every group passes {', '.join(models)}")
    if against_original:
        truth = (
            "all columns but the centres are true to the original" if centers else "every row is true to the original"
        )
        parts.append(f", and {truth}")
    return Note("", f"yes. {''.join(parts)}.")


def profile_rows(profile: Profile) -> list[tuple[str, ...]]:
    """Return a row of texts for each column of a profile, under `PROFILE_HEAD`."""
    rows: list[tuple[str, ...]] = []
    for column in profile.columns:
        facts, proposal = column.facts, column.proposal
        kind = f"{proposal.kind} {facts.date_format}" if facts.date_format else str(proposal.kind)
        shares = f"{facts.missing_share:.1%}", f"{facts.unique_share:.1%}"
        figures = f"{facts.distinct:,}", *shares, facts.sparkline
        reason = f"decide: {proposal.reason}" if proposal.decide else proposal.reason
        rows.append((_printable(column.name), str(proposal.role), kind, *figures, reason))
    return rows


def combination_facts(profile: Profile) -> list[Fact]:
    """Describe the combinations of columns that single people out."""
    return [
        fact(f"{combination.share:.1%}", " + ".join(map(_printable, combination.columns)))
        for combination in profile.singling.combinations
    ]


def _printable(name: str) -> str:
    """Return a column name without characters that a terminal would act on."""
    return name if name.isprintable() else repr(name)


def hierarchy_words(name: str, hierarchy: Hierarchy) -> Note:
    """Describe a hierarchy in one sentence."""
    counts = [f"level {level}: {len(hierarchy.labels(level)):,}" for level in range(hierarchy.height + 1)]
    size = f"{counted(len(hierarchy.rows), 'value')}, {counted(hierarchy.height, 'level')} above them"
    return Note(name, f"{size} ({', '.join(counts)})")


def hierarchy_json(hierarchy: Hierarchy) -> dict[str, Any]:
    """Return a hierarchy in the form of `hierarchy --json`."""
    return {
        "values": len(hierarchy.rows),
        "height": hierarchy.height,
        "labels": [len(hierarchy.labels(level)) for level in range(hierarchy.height + 1)],
        "trusted": hierarchy.trusted,
        "notes": list(hierarchy.notes),
    }
