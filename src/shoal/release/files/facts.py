"""What a receiver needs to verify a release without typing anything, besides the settings in the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shoal.hierarchy import is_file
from shoal.settings.settings import AUTO

if TYPE_CHECKING:
    from shoal.release.release import Release

__all__ = ["verification_facts"]


def verification_facts(release: Release) -> dict[str, Any]:
    """Return how the columns are laid out in the file, for `shoal verify`; nothing of it comes from original values.

    The columns with a hierarchy are named, but neither its labels nor the values below them: the release shows the
    labels that it uses, and the others could be values of the original. They are those of the settings, whether or not
    the release needed them.
    """
    return {
        "layout": {
            "bounds": [name for name in release.ends if release.request.cells == "bounds"],
            "spread": list(release.spread),
            "delimiter": release.delimiter,
            "decimal": release.request.output_decimal,
            "numbers": list(release.numbers),
            "hierarchies": sorted(release.settings.labelled),
        },
        "hierarchies": _origins(release),
    }


def _origins(release: Release) -> dict[str, str]:
    """Return where the hierarchy of each column comes from; one of the user is not named, as its path may tell more."""
    given = {name: release.settings.hierarchies.get(name, AUTO) for name in sorted(release.settings.labelled)}
    return {name: "given" if not isinstance(rule, str) or is_file(rule) else rule for name, rule in given.items()}
