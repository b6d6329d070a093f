"""Models that the verifier has no judge for, such as a user's own.

The verifier counts k and every model that it knows from the written bytes. It cannot count a model that it does not
know; such a model is checked by its own code on the groups of the released cells, and everything that names it says so.
"""

from __future__ import annotations

import numpy as np

from shoal.encoding.attributes import Encoded
from shoal.encoding.decode import Released
from shoal.errors import Note, VerificationError
from shoal.methods.base import failing_groups
from shoal.models import PrivacyModel
from shoal.schema import Schema
from shoal.verification.models.checks import has_judge

__all__ = ["check_custom_models", "models_in_words", "specs_to_verify"]

CHECKED_BY_ITSELF = "checked by the model itself, not by the verifier"


def models_in_words(models: tuple[PrivacyModel, ...]) -> tuple[str, ...]:
    """Describe the models; those without a judge are marked."""
    return tuple(
        model.describe() if has_judge(model.spec()) else f"{model.describe()} ({CHECKED_BY_ITSELF})" for model in models
    )


def specs_to_verify(models: tuple[PrivacyModel, ...]) -> tuple[dict[str, object], ...]:
    """Return the plain values of the models that the verifier has a judge for."""
    return tuple(model.spec() for model in models if has_judge(model.spec()))


def check_custom_models(
    models: tuple[PrivacyModel, ...], encoded: Encoded, released: Released, schema: Schema
) -> list[Note]:
    """Check the models without a judge on the groups that the released cells form.

    Args:
        models: All models of the release.
        encoded: The table as codes.
        released: The released cells.
        schema: The columns of the table.

    Returns:
        A note for each model that was checked here.

    Raises:
        VerificationError: A group fails such a model.
    """
    custom = tuple(model for model in models if not has_judge(model.spec()))
    if not custom:
        return []
    of_source = np.full(int(encoded.order.max(initial=-1)) + 1, -1, dtype=np.int32)
    of_source[released.source_rows] = released.table.group_labels([column.name for column in schema.qi])
    for model in custom:
        failing = failing_groups(encoded, (model,), of_source[encoded.order])
        if failing.any():
            raise VerificationError(
                f"{model.describe()}: {int(failing.sum())} of {len(failing)} groups of the release fail; nothing was "
                "written. Weaken the model, or allow rows to be suppressed."
            )
    return [
        Note(
            model.describe(),
            "the verifier has no judge for this model; the model itself checked the groups of this release",
            "shoal verify cannot check it in the written file",
        )
        for model in custom
    ]
