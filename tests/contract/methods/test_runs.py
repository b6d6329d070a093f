"""Every method: seed, threads, progress and cancelling; the input is never changed."""

from __future__ import annotations

import pytest

import shoal
from shoal.errors import CancelledError
from shoal.methods import Method, Run
from shoal.models import KAnonymity
from tests.contract.subjects import (
    FULL_DOMAIN,
    MAY_SUPPRESS,
    every_method,
    partition,
    random_sheet,
    suppression_limit,
)


@every_method
def test_same_seed_gives_same_labels(method: Method, seed: int) -> None:
    """D01."""
    _, first = partition(random_sheet(seed), 3, method, seed=seed)
    _, second = partition(random_sheet(seed), 3, method, seed=seed)
    assert first.labels.tolist() == second.labels.tolist()


@every_method
def test_number_of_threads_does_not_matter(method: Method, seed: int) -> None:
    """D02: the table is large enough to be cut into many tasks."""
    sheet = random_sheet(seed, n_rows=3000)
    _, alone = partition(sheet, 2, method, threads=1)
    assert alone.n_groups > (1 if method.name in FULL_DOMAIN else 64)
    for threads in (2, 8):
        _, made = partition(sheet, 2, method, threads=threads)
        assert made.labels.tolist() == alone.labels.tolist()


@every_method
def test_progress_ends_at_the_whole(method: Method) -> None:
    seen: list[float] = []
    partition(random_sheet(0, n_rows=500), 2, method, progress=seen.append)
    assert seen
    assert seen == sorted(seen)
    assert all(0 <= share <= 1 for share in seen)
    assert seen[-1] == 1


@every_method
def test_cancelled_run_ends(method: Method) -> None:
    with pytest.raises(CancelledError):
        partition(random_sheet(0, n_rows=500), 2, method, cancelled=lambda: True)


@every_method
def test_encoded_table_is_left_as_it_was(method: Method, seed: int) -> None:
    sheet = random_sheet(seed)
    encoded = sheet.encoded
    arrays = ("tuples", "counts", "row_tuple", "order")
    before = {name: getattr(encoded, name).copy() for name in arrays}
    values = [attribute.values.copy() for attribute in encoded.attributes]
    method.partition(encoded, (KAnonymity(3),), Run(threads=2, suppression_limit=suppression_limit(method)))
    for name in arrays:
        assert (getattr(encoded, name) == before[name]).all(), name
    for attribute, old in zip(encoded.attributes, values, strict=True):
        assert (attribute.values == old).all()


@every_method
def test_source_frame_is_left_as_it_was(method: Method, seed: int) -> None:
    sheet = random_sheet(seed)
    frame = sheet.frame.to_pandas()
    before = frame.copy(deep=True)
    limit = suppression_limit(method)
    made = shoal.anonymize(
        frame, k=3, method=method, sensitive=sheet.sensitive, suppression_limit=limit, **sheet.arguments
    )
    assert len(made.frame) == len(before) or method.name in MAY_SUPPRESS
    assert frame.equals(before)
    assert list(frame.dtypes) == list(before.dtypes)
