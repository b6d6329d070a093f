"""shoal: give every row of a table its look-alikes, keep its meaning, and prove both on the file that is written.

To make a release: `anonymize` (a frame in, a `Release` out), `read_table` for a file, `Release.write` to pass the gate.
To work with one: `read_release` (a frame with typed bounds and lists).
To check and score one: `verify` (yes, or an error that says why not), `describe` (which k, l, t ... it reaches),
`measure` (what any tool's release lost), `explain` (why the cells of a row are as wide as they are) and `risk` (how
easily people are found in it).
To choose: `compare` (methods, k and seeds side by side), `advise` (which k, and why).
To choose how: `methods`, `hierarchy`, `Rule`, `Climb`; what to call a column: `Role`, `Kind`, `Schema`.
To say what every group must pass: `models`, each of them here by its name: `KAnonymity`, `LDiversity`, `TCloseness` ...
To see whether a release is still of use: `evaluate`, and `Release.to_numeric` for learners of your own.
To try it: `datasets`. What can go wrong: `errors`, all of them a `ShoalError`.

Nothing heavy is loaded until it is used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # without the module typing, which every command would wait for
if TYPE_CHECKING:
    from typing import Any

    from shoal import datasets, errors, evaluate, hierarchy, methods, models
    from shoal.errors import ShoalError
    from shoal.evaluate.comparison.advise import Advice, Limits, advise
    from shoal.evaluate.comparison.compare import Comparison, compare
    from shoal.hierarchy.level_weights import Climb
    from shoal.metrics import Measures
    from shoal.models import (
        AlphaK,
        AverageRisk,
        BetaLikeness,
        DeltaDisclosure,
        DeltaPresence,
        DifferentialPrivacy,
        EntropyLDiversity,
        GrassbergerLDiversity,
        JournalistProfit,
        KAnonymity,
        KMap,
        LDiversity,
        MaximalRisk,
        PersonalK,
        PopulationUniqueness,
        ProsecutorProfit,
        PSensitiveK,
        RecursiveLDiversity,
        SampleUniqueness,
        TCloseness,
    )
    from shoal.release.anonymize import anonymize, measure
    from shoal.release.explanation.explain import explain
    from shoal.release.files.reading import read_release
    from shoal.release.release import Release
    from shoal.risks import Risk, risk
    from shoal.rules import Rule
    from shoal.schema import Kind, Role, Schema
    from shoal.tables.csv import read_csv
    from shoal.tables.formats import read_table
    from shoal.tables.table import Table
    from shoal.verification import Description, Verdict, describe, verify

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "AlphaK",
    "AverageRisk",
    "BetaLikeness",
    "Climb",
    "Comparison",
    "DeltaDisclosure",
    "DeltaPresence",
    "Description",
    "DifferentialPrivacy",
    "EntropyLDiversity",
    "GrassbergerLDiversity",
    "JournalistProfit",
    "KAnonymity",
    "KMap",
    "Kind",
    "LDiversity",
    "Limits",
    "MaximalRisk",
    "Measures",
    "PSensitiveK",
    "PersonalK",
    "PopulationUniqueness",
    "ProsecutorProfit",
    "RecursiveLDiversity",
    "Release",
    "Risk",
    "Role",
    "Rule",
    "SampleUniqueness",
    "Schema",
    "ShoalError",
    "TCloseness",
    "Table",
    "Verdict",
    "__version__",
    "advise",
    "anonymize",
    "compare",
    "datasets",
    "describe",
    "errors",
    "evaluate",
    "explain",
    "hierarchy",
    "measure",
    "methods",
    "models",
    "read_csv",
    "read_release",
    "read_table",
    "risk",
    "verify",
]

_PLACES = {
    "Advice": "shoal.evaluate.comparison.advise",
    "AlphaK": "shoal.models",
    "AverageRisk": "shoal.models",
    "BetaLikeness": "shoal.models",
    "Climb": "shoal.hierarchy.level_weights",
    "Comparison": "shoal.evaluate.comparison.compare",
    "DeltaDisclosure": "shoal.models",
    "DeltaPresence": "shoal.models",
    "Description": "shoal.verification",
    "DifferentialPrivacy": "shoal.models",
    "EntropyLDiversity": "shoal.models",
    "GrassbergerLDiversity": "shoal.models",
    "JournalistProfit": "shoal.models",
    "KAnonymity": "shoal.models",
    "KMap": "shoal.models",
    "Kind": "shoal.schema",
    "LDiversity": "shoal.models",
    "Limits": "shoal.evaluate.comparison.advise",
    "MaximalRisk": "shoal.models",
    "Measures": "shoal.metrics",
    "PSensitiveK": "shoal.models",
    "PersonalK": "shoal.models",
    "PopulationUniqueness": "shoal.models",
    "ProsecutorProfit": "shoal.models",
    "RecursiveLDiversity": "shoal.models",
    "Release": "shoal.release.release",
    "Risk": "shoal.risks",
    "Role": "shoal.schema",
    "Rule": "shoal.rules",
    "SampleUniqueness": "shoal.models",
    "Schema": "shoal.schema",
    "ShoalError": "shoal.errors",
    "TCloseness": "shoal.models",
    "Table": "shoal.tables.table",
    "Verdict": "shoal.verification",
    "advise": "shoal.evaluate.comparison.advise",
    "anonymize": "shoal.release.anonymize",
    "compare": "shoal.evaluate.comparison.compare",
    "describe": "shoal.verification",
    "explain": "shoal.release.explanation.explain",
    "measure": "shoal.release.anonymize",
    "read_csv": "shoal.tables.csv",
    "read_release": "shoal.release.files.reading",
    "read_table": "shoal.tables.formats",
    "risk": "shoal.risks",
    "verify": "shoal.verification",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    if name in __all__:
        return importlib.import_module(f"shoal.{name}")
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
