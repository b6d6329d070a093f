"""Models by name, as users write them in shoal.toml and on the command line."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from typing import Any

from shoal.errors import UsageError, setting
from shoal.models.base import Basis, PrivacyModel
from shoal.models.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from shoal.models.diversity import (
    AlphaK,
    EntropyLDiversity,
    GrassbergerLDiversity,
    LDiversity,
    PSensitiveK,
    RecursiveLDiversity,
)
from shoal.models.presence import DeltaPresence, KMap
from shoal.models.profit import JournalistProfit, ProsecutorProfit
from shoal.models.sampling import DifferentialPrivacy
from shoal.models.size import AverageRisk, MaximalRisk
from shoal.models.uniqueness import PopulationUniqueness, SampleUniqueness

__all__ = ["MODELS", "model_from", "names_of", "parse_model"]

EXAMPLE = f"Write for example {setting('models', 'entropy-l disease l=2')}."

MODELS: dict[str, Any] = {
    kind.name: kind
    for kind in (
        LDiversity,
        EntropyLDiversity,
        GrassbergerLDiversity,
        RecursiveLDiversity,
        AlphaK,
        PSensitiveK,
        TCloseness,
        DeltaDisclosure,
        BetaLikeness,
        KMap,
        DeltaPresence,
        MaximalRisk,
        AverageRisk,
        SampleUniqueness,
        PopulationUniqueness,
        ProsecutorProfit,
        JournalistProfit,
        DifferentialPrivacy,
    )
}


def names_of(bases: Collection[Basis]) -> list[str]:
    """Return the names of the models that depend on one of these.

    >>> names_of([Basis.POPULATION])
    ['k-map', 'delta-presence', 'journalist-profit']
    """
    return [name for name, kind in MODELS.items() if object.__new__(kind).basis in bases]  # no basis reads a field


def model_from(spec: Mapping[str, Any]) -> PrivacyModel:
    """Return the model that plain values describe.

    Args:
        spec: The name of the model and its fields.

    Raises:
        UsageError: The model or one of its fields is unknown, or a field is missing.

    >>> model_from({"name": "entropy-l", "column": "disease", "l": 2}).describe()
    'entropy l-diversity of disease with l = 2'
    """
    values = dict(spec)
    name = str(values.pop("name", ""))
    if name not in MODELS:
        close_names = difflib.get_close_matches(name, MODELS, n=1)
        hint = f"Did you mean {close_names[0]!r}?" if close_names else f"Models: {', '.join(MODELS)}."
        raise UsageError(f"model {name!r} is not known. {hint}")
    kind = MODELS[name]
    required = {f.name: f.default is MISSING for f in fields(kind)}
    unknown_fields = [key for key in values if key not in required]
    missing_fields = [key for key, needed in required.items() if needed and key not in values]
    if unknown_fields or missing_fields:
        fault = f"has no field {unknown_fields[0]!r}" if unknown_fields else f"needs {', '.join(missing_fields)}"
        raise UsageError(f"model {name!r} {fault}. Its fields: {', '.join(required)}.")
    model: PrivacyModel = kind(**values)
    return model


def parse_model(text: str) -> dict[str, Any]:
    """Read a model as users write it on the command line.

    Args:
        text: The name, the column if the model has one, then field=value for each field.

    Returns:
        The plain values of the model.

    Raises:
        UsageError: The text cannot be read.

    >>> parse_model("t-closeness salary t=0.2 distance=ordered")
    {'name': 't-closeness', 'column': 'salary', 't': '0.2', 'distance': 'ordered'}
    """
    try:
        name, *words = shlex.split(text)
    except ValueError:
        raise UsageError(f"model {text!r} cannot be read. {EXAMPLE}") from None
    spec: dict[str, Any] = {"name": name}
    for i, word in enumerate(words):
        key, equals, value = word.partition("=")
        if not equals and i == 0:
            spec["column"] = word
        elif not equals or not value or key in spec:
            raise UsageError(f"model {text!r}: {word!r} is not of the form field=value. {EXAMPLE}")
        else:
            spec[key] = tuple(value.split("|")) if key == "order" else {"true": True, "false": False}.get(value, value)
    return spec
