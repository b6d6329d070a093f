"""The papers' figures that can be repeated exactly, on Adult where it is here."""

from __future__ import annotations

import polars as pl
import pytest

from benchmarks.workloads import find_adult
from experiments import buckets, distortion, mnqia, similarity
from experiments.pages import distinct_tuples, encode_columns
from shoal import hierarchy
from shoal.methods import Run, named
from shoal.models import KAnonymity
from tests.naive import kaca


@pytest.fixture(scope="module")
def adult() -> pl.DataFrame:
    found = find_adult()
    if found is None:
        pytest.skip("the Adult table is not here (SHOAL_DATA)")
    return pl.DataFrame(found)


def test_steadiest_k_is_that_of_s4_table_6() -> None:
    """[S4]: "minimum deviation" at k = 8."""
    assert mnqia.steadiest([printed[0] for printed in mnqia.PRINTED.values()], list(mnqia.PRINTED)) == 8


@pytest.mark.parametrize(("k", "tuples"), [(2, 393), (50, 100), (100, 50)])
def test_sbca_releases_as_many_tuples_as_s0_prints_or_as_there_can_be(adult: pl.DataFrame, k: int, tuples: int) -> None:
    """[S0] Tables 4-1 and 4-2: 100 and 50; the 582 at k = 2 cannot be reached from 493 distinct tuples."""
    encoded = encode_columns(adult.head(5000), similarity.NAMES)
    assert len(encoded.tuples) == 493
    assert distinct_tuples(named("sbca").partition(encoded, (KAnonymity(k),), Run())) == tuples


@pytest.mark.parametrize(("k", "tuples"), [(2, 209), (50, 42), (100, 35)])
def test_mondrian_of_the_toolbox_gives_the_tuples_of_s0(adult: pl.DataFrame, k: int, tuples: int) -> None:
    """[S0] Tables 4-1 and 4-2."""
    frame = adult.head(5000).with_columns(pl.col("native-country").str.replace("&", "", literal=True))
    job = dict(hierarchy.read_utd_xml(similarity.ROOT / "tests" / "golden" / "hierarchies" / "adult_job.xml"))
    codes = similarity.toolbox_codes(encode_columns(frame, similarity.NAMES), job)
    assert similarity.toolbox_mondrian(codes, k)[0] == tuples


def test_buckets_of_the_raw_table_are_those_of_s1(adult: pl.DataFrame) -> None:
    """[S1] Figure 15: 1,330 rows, 98.65 %; 7,162, 97.07 %; 5,691, 50.3 %."""
    raw = buckets.raw_shown(encode_columns(adult, buckets.NAMES))
    found = [raw.count(bucket) for bucket in buckets.BUCKETS]
    assert [inside for inside, _, _ in found] == [1330, 7162, 5691]
    assert [overlap for _, overlap, _ in found] == [0, 0, 0]
    assert [round(100 * share, 1) for _, _, share in found] == [98.6, 97.1, 50.3]


def test_trees_have_the_heights_of_s2_table_2(adult: pl.DataFrame) -> None:
    """[S2] Table 2, and the ratio of a release is that of its labels."""
    rules = distortion.trees(adult)
    encoded = encode_columns(adult.head(400), list(rules), rules)
    heights = [attribute.tree.height for attribute in encoded.attributes if attribute.tree is not None]
    assert heights == [4, 3, 4, 3, 2, 2, 1, 3, 1]
    made = named("kaca").partition(encoded, (KAnonymity(400),), Run())
    levels = []
    for attribute in encoded.attributes:
        assert attribute.tree is not None
        nodes = tuple(map(tuple, attribute.tree.nodes.tolist()))
        plain = kaca.Attribute(nodes, ())
        top = 0
        for code in range(len(attribute.texts)):
            top = plain.common(top, code)
        levels.append(plain.level(top) / attribute.tree.height)
    assert distortion.distortion_ratio(encoded, made) == pytest.approx(sum(levels) / len(levels))
