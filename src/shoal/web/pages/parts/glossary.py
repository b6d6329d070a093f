"""The technical words of the pages, each with an explanation for someone who never wrote a program."""

from __future__ import annotations

from shoal.web.pages.parts.language import _

__all__ = ["explain"]


def explain(key: str) -> tuple[str, str]:
    """Return a technical word and its explanation in the language of the page.

    Args:
        key: The short name of the word, such as `qi`.
    """
    title, explanation = _terms()[key]
    return title, explanation


def _terms() -> dict[str, tuple[str, str]]:
    return {**_column_terms(), **_goal_terms(), **_result_terms()}


def _column_terms() -> dict[str, tuple[str, str]]:
    return {
        "qi": (
            _("quasi-identifier"),
            _(
                "A column that other people may know about a person, such as age, sex or postal code. No single one "
                "names a person, but together they often do. shoal makes these columns coarser."
            ),
        ),
        "sensitive": (
            _("sensitive"),
            _("A column that nobody may learn about a person, such as a diagnosis. It is released unchanged."),
        ),
        "identifier": (
            _("identifier"),
            _("A column that names a person by itself, such as a name or an insurance number. It is never released."),
        ),
        "insensitive": (
            _("not sensitive"),
            _("A column that others do not know and that harms nobody. It is released unchanged."),
        ),
        "person": (
            _("person key"),
            _("A column with one value for each person. With it, shoal counts people instead of rows."),
        ),
        "kind": (_("kind"), _("How shoal reads the cells of a column: as numbers, dates, categories or yes and no.")),
        "ordered": (
            _("ordered"),
            _("Words that have an order, such as low, middle, high. A cell covers neighbours: low to middle."),
        ),
        "singles-out": (
            _("singles out"),
            _("The share of rows whose value in this column no other row has. 100% means that it names each row."),
        ),
        "distinct": (_("different values"), _("How many different values the column contains.")),
        "missing": (_("missing"), _("The share of cells that are empty or contain a mark such as NA.")),
        "hierarchy": (
            _("hierarchy"),
            _("A ladder from exact values to coarser ones: Boston, Massachusetts, United States, any."),
        ),
        "level": (_("level"), _("A step of a hierarchy. Level 0 is the exact value, the last level hides it.")),
    }


def _goal_terms() -> dict[str, tuple[str, str]]:
    return {
        "k": (
            "k",
            _("The smallest group: every row has at least k - 1 others that look the same in the quasi-identifiers."),
        ),
        "l-diversity": (
            _("l-diversity"),
            _("Each group contains at least l different values of a sensitive column, so a group does not reveal it."),
        ),
        "t-closeness": (
            _("t-closeness"),
            _(
                "In each group, the sensitive values are spread almost as in the whole table: they differ by at most "
                "t, from 0 (exactly alike) to 1."
            ),
        ),
        "suppression": (
            _("suppression"),
            _("Rows that are left out because they have too few look-alikes. The limit is the largest share of rows."),
        ),
        "weight": (
            _("weight"),
            _("How important it is to keep a column exact. A column with weight 2 counts twice as much as one with 1."),
        ),
        "rule": (_("rule"), _("Values that a group should not mix, such as children and adults.")),
        "effort": (_("effort"), _("How long shoal searches for a release with less loss.")),
        "method": (_("method"), _("The algorithm that forms the groups. The default suits almost every table.")),
        "seed": (_("seed"), _("A number from which the search draws. The same seed gives the same release again.")),
        "estimate": (
            _("estimate"),
            _("A figure computed from samples of your table, with the range in which the real figure probably lies."),
        ),
    }


def _result_terms() -> dict[str, tuple[str, str]]:
    return {
        "loss": (
            _("information loss"),
            _("How much detail the release gives up: 0% means nothing changed, 100% means everything is hidden."),
        ),
        "risk": (
            _("re-identification risk"),
            _("The chance that someone who knows a person's quasi-identifiers picks the right row."),
        ),
        "unique": (_("unique"), _("The only row with its combination of values. Such a row can be singled out.")),
        "gate": (
            _("independent check"),
            _("A second program that shares no code with the first reads the written file and counts it again."),
        ),
        "manifest": (
            _("manifest"),
            _("A small file beside the release that states how it was made and what was checked."),
        ),
        "public-report": (_("public report"), _("The part of the report that you may hand on with the release.")),
        "private-report": (
            _("private report"),
            _("The part with exact figures of your table. Keep it in your organisation."),
        ),
        "attack": (_("attack"), _("A test that tries to find people in the release, as an intruder would.")),
    }
