"""Blocks of work: values that can be pickled, with an id made of their content."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.methods.base import Run
from shoal.methods.shoaling.block import NO_BUDGET, Block, Budget, Task
from shoal.methods.shoaling.grouping import Grouping
from shoal.methods.shoaling.pricing import price_table
from shoal.methods.shoaling.problem import prepare
from shoal.methods.shoaling.search import Shoaling
from shoal.methods.shoaling.space import Points
from shoal.methods.shoaling.steps import EFFORTS, Search
from shoal.models import KAnonymity, PrivacyModel
from tests.unit.methods.shoaling.test_model_terms import table

MODELS: dict[str, tuple[PrivacyModel, ...]] = {
    "k": (KAnonymity(3),),
    "l": (KAnonymity(3), shoal.LDiversity("disease", l=2)),
}


def block_of(task: Task, models: tuple[PrivacyModel, ...], seed: int = 1) -> Block:
    """A block of all groups of a small table."""
    by_points = task in (Task.SCATTER, Task.GATHER)
    grown = prepare(table(seed), 3, models)
    pricing = Shoaling(objective="variance").price(table(seed), 3, Run())
    problem = prepare(table(seed), 3, models, pricing=pricing) if by_points else grown
    with ThreadPoolExecutor(1) as pool:
        search = Search(problem, EFFORTS["normal"], Run(), pool)
        grouping = Grouping.of_tuples(problem)
        if task not in (Task.GROW, Task.GROW_TWO_WAYS, Task.SCATTER):
            grouping = replace(search, problem=grown).grow(grouping)
        budget = Budget(50, 0.2, 7) if task in (Task.EXCHANGE, Task.GATHER) else NO_BUDGET
        return search.block(task, grouping.tuples, grouping.rows, grouping.groups, budget)


def as_lists(part: tuple[Any, ...]) -> list[list[int]]:
    return [array.tolist() for array in part]


@pytest.mark.parametrize("models", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("task", Task)
def test_block_works_the_same_after_a_pickle_round_trip(task: Task, models: tuple[PrivacyModel, ...]) -> None:
    block = block_of(task, models)
    before = pickle.dumps(block)
    again = pickle.loads(before)
    assert again.id == block.id
    assert as_lists(again.work()) == as_lists(block.work())
    assert pickle.loads(before).id == block.id  # the work left its block as it was
    assert replace(block).id == block.id
    picks, rows, groups = block.work()
    np.testing.assert_array_equal(np.bincount(picks, rows), block.rows)
    sizes = np.bincount(groups, rows)  # a group that is given up leaves a gap
    assert sizes[sizes > 0].min() >= 3


@pytest.mark.parametrize("task", Task)
def test_id_is_made_of_all_that_a_block_contains(task: Task) -> None:
    block = block_of(task, MODELS["l"])
    ids = {block.id}
    changes: dict[str, Any] = {
        "task": next(other for other in Task if other is not task),
        "prices": block.prices._replace(units=block.prices.units + 1),
        "k": block.k + 1,
        "charge": block.charge + 1,
        "people": np.arange(len(block.rows), dtype=np.int32),
        "cover": np.zeros((1, block.codes.shape[1]), dtype=np.int32),
        "crowd": np.ones(1, dtype=np.int64),
        "budget": block.budget._replace(seed=block.budget.seed + 1),
        "points": Points(*(np.ones((1, 1)) for _ in Points._fields)),  # type: ignore[arg-type]
        "breach": block.breach + 1,
    }
    for field in fields(Block):
        if field.name not in changes:
            array = getattr(block, field.name)
            array = array.copy() if array.size else np.zeros(1, dtype=array.dtype)
            array.flat[-1] += 1
            changes[field.name] = array
        ids.add(replace(block, **{field.name: changes[field.name]}).id)
    assert len(ids) == len(fields(Block)) + 1


def test_id_is_the_same_in_every_run() -> None:
    assert block_of(Task.GROW, MODELS["k"]).id == block_of(Task.GROW, MODELS["k"]).id
    assert block_of(Task.GROW, MODELS["k"], seed=2).id != block_of(Task.GROW, MODELS["k"], seed=1).id


def test_arrays_that_are_laid_out_in_another_way_are_the_same_content() -> None:
    block = block_of(Task.GROW, MODELS["k"])
    assert replace(block, codes=np.asfortranarray(block.codes)).id == block.id


def test_prices_of_the_whole_table_serve_a_block_of_its_rows() -> None:
    encoded = table(3)
    pricing = price_table(encoded.attributes, encoded.histograms, 3, Run())
    stays = np.arange(len(encoded.order)) % 2 == 0
    problem = prepare(encoded.part(stays), 3, pricing=pricing)
    whole = prepare(encoded, 3)
    for mine, others in zip(problem.prices, whole.prices, strict=True):
        np.testing.assert_array_equal(mine, others)
    rows = {tuple(codes) for codes in whole.codes.tolist()}
    assert {tuple(codes) for codes in problem.codes.tolist()} <= rows
    assert problem.counts.sum() == stays.sum()
