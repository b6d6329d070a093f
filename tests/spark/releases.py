"""Releases on Spark, and the same in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import shoal
import shoal.spark
from shoal.release.job import Job
from shoal.settings.keywords import settings_from
from shoal.spark.engine import open_source, write_release
from shoal.tables.sources.base import Dealing
from tests.contract.test_dealing import QI

GIVEN: dict[str, Any] = {
    "k": 5,
    "effort": "fast",
    "seed": 3,
    "qi": QI,
    "sensitive": ["disease"],
    "insensitive": ["z other", "number"],
    "drop": ["name", "who", "own k"],
    "numeric": ["Age"],
    "accept_unique": ["number", "z other", "disease"],
    "missing": ["NULL", ""],
}

# The form of a file: ranges as two columns, numbers with another mark, cells that no spreadsheet runs.
LAID_OUT = {"cells": "bounds", "spreadsheet_safe": True, "output_delimiter": ";", "output_decimal": ","}


def in_memory(path: Path, output: Path, **given: Any) -> str:
    """Write the release of the memory engine; return it as CSV."""
    release = shoal.anonymize(path, **{name: each for name, each in (GIVEN | given).items() if each is not None})
    release.write(output)
    return output.read_bytes().decode(errors="replace")


def on_spark(spark: Any, data: str, output: str, *, searched: bool | None = None, **given: Any) -> Path:
    """Write a release in parts; return its folder. `searched` says whether executors must search, or must not."""
    settings = settings_from({name: each for name, each in (GIVEN | given).items() if each is not None})
    with open_source(data, settings, spark) as opened:
        job = Job.from_settings(opened, settings, output, engine="spark", force=True)
        release, target, manifest = write_release(job, output)
    assert json.loads(manifest.read_text())["k"] >= release.request.k  # models may ask for more
    assert isinstance(release.recoding, Dealing)
    assert searched in (None, release.recoding.searched is not None)
    return target.path


def text_of(parts: Path) -> str:
    """Return the parts of a CSV release as one file."""
    texts = [path.read_bytes().decode() for path in sorted(parts.glob("part-*.csv"))]
    return texts[0] + "".join(text.split("\n", 1)[1] for text in texts[1:])
