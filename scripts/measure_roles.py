"""Measure the roles that `shoal init` proposes: precision and recall on the two halves of tests/profile_corpus.

Use --missed to list the wrong proposals on the development half; those on the held-out half stay unseen.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Print the figures of both halves."""
    sys.path.insert(0, str(ROOT))
    from tests.profile_corpus.corpus import FRESH, HALVES, figures, read_corpus, score

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missed", action="store_true", help="list the wrong proposals on the development half")
    parser.add_argument("--half", choices=(*HALVES, FRESH), action="append", help="measure only this half")
    options = parser.parse_args()
    for half in options.half or (*HALVES, FRESH):
        tables = read_corpus(half)
        result = score(tables)
        print(f"{half} half: {len(tables)} tables")
        print(*figures(result), "", sep="\n")
        if options.missed and half == HALVES[0]:
            for table, column, expert, proposed, undecided in result.missed:
                print(f"  {table:28} {column:36} {expert:12} {proposed}{' (to decide)' * undecided}")


if __name__ == "__main__":
    main()
