"""Models by name, as they are written in shoal.toml and on the command line."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from shoal.errors import UsageError
from shoal.models.base import PrivacyModel
from shoal.models.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from shoal.models.diversity import AlphaK, EntropyLDiversity, LDiversity, PSensitiveK, RecursiveLDiversity
from shoal.models.presence import DeltaPresence, KMap
from shoal.models.size import AverageRisk, MaximalRisk

__all__ = ["MODELS", "model_from", "parse_model"]

MODELS: dict[str, Any] = {
    kind.name: kind
    for kind in (
        LDiversity,
        EntropyLDiversity,
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
    )
}


def model_from(spec: Mapping[str, Any]) -> PrivacyModel:
    """Return the model that plain values describe: its name and its fields.

    >>> model_from({"name": "entropy-l", "column": "disease", "l": 2}).describe()
    'entropy l-diversity of disease with l = 2'
    """
    given = dict(spec)
    name = str(given.pop("name", ""))
    if name not in MODELS:
        near = difflib.get_close_matches(name, MODELS, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Models: {', '.join(MODELS)}."
        raise UsageError(f"model {name!r} is not known. {hint}")
    kind = MODELS[name]
    known = {f.name: f.default is MISSING for f in fields(kind)}
    strange = [key for key in given if key not in known]
    lacking = [key for key, needed in known.items() if needed and key not in given]
    if strange or lacking:
        fault = f"has no field {strange[0]!r}" if strange else f"needs {', '.join(lacking)}"
        raise UsageError(f"model {name!r} {fault}. Its fields: {', '.join(known)}.")
    model: PrivacyModel = kind(**given)
    return model


def parse_model(text: str) -> dict[str, Any]:
    """Return the plain values that a text describes: the name, the column where there is one, then field=value.

    >>> parse_model("t-closeness salary t=0.2 distance=ordered")
    {'name': 't-closeness', 'column': 'salary', 't': '0.2', 'distance': 'ordered'}
    """
    try:
        name, *words = shlex.split(text)
    except ValueError:
        raise UsageError(f"--model {text!r} cannot be read. Write --model 'entropy-l disease l=2'.") from None
    spec: dict[str, Any] = {"name": name}
    for i, word in enumerate(words):
        key, equals, value = word.partition("=")
        if not equals and i == 0:
            spec["column"] = word
        elif not equals or not value or key in spec:
            raise UsageError(f"--model {text!r}: {word!r} is no field=value. Write --model 'entropy-l disease l=2'.")
        else:
            spec[key] = tuple(value.split("|")) if key == "order" else {"true": True, "false": False}.get(value, value)
    return spec
