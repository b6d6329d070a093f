"""Comparisons: one row a run, kept by content, failing runs with their reason."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError, UsageError
from shoal.evaluate.comparison import workers
from shoal.evaluate.comparison.cache import Cache
from shoal.evaluate.comparison.compare import Comparison, ComparisonKeywords, compare_table, make_cases, parse_method
from shoal.evaluate.comparison.page import charts_of, comparison_page, failed_rows, head_of, shown_rows, verdict_of
from shoal.evaluate.comparison.scoring import Subject, prepare, score
from shoal.methods.registry import infos
from shoal.settings.keywords import SettingsKeywords, settings_from
from shoal.tables.table import from_frame

FRAME = shoal.datasets.patients().head(120)
ROLES: dict[str, Any] = {"qi": ["birth_date", "sex"], "sensitive": ["disease"]}


@pytest.fixture
def subject() -> Subject:
    return prepare(from_frame(FRAME), settings_from(ROLES))


@pytest.fixture(scope="module")
def found() -> Comparison:
    """Two methods that work, one that needs a suppression limit, and the file of another tool."""
    released = shoal.anonymize(FRAME, qi=ROLES["qi"], others="drop", k=4, method="mondrian").frame
    methods = ["mondrian", "kaca", "mnqia:variant=sensitive"]
    return shoal.compare(FRAME, methods=methods, k=[5, 2], seeds=2, add={"other": released}, jobs=1, qi=ROLES["qi"])


def test_one_row_a_run_in_the_order_of_the_request(found: Comparison) -> None:
    runs = found.frame.select("method", "k", "seed").rows()
    assert runs[:4] == [("mondrian", 2, 0), ("mondrian", 2, 1), ("mondrian", 5, 0), ("mondrian", 5, 1)]
    assert len(runs) == 3 * 2 * 2 + 1
    assert runs[-1] == ("other", 4, None)


def test_rows_hold_measures_risk_time_and_memory(found: Comparison) -> None:
    row = found.frame.row(0, named=True)
    release = shoal.anonymize(FRAME, qi=ROLES["qi"], others="drop", k=2, method="mondrian")
    told = release.measures.as_dict()
    for name in ("ncp", "dm", "groups", "smallest_group", "lm", "entropy", "precision", "distortion"):
        assert row[name] == pytest.approx(told[name])
    assert row["loss_sex"] == pytest.approx(told["per_attribute"]["sex"])
    assert row["md_birth_date"] == told["md"]["birth_date"]
    assert row["mean_width_birth_date"] == pytest.approx(told["columns"]["birth_date"]["mean_width"])
    assert (row["exact_rows"], row["weighted"]) == (told["exact_rows"], False)
    assert row["prosecutor_max"] == 1 / row["smallest_group"]
    assert row["prosecutor_average"] == row["marketer"] == pytest.approx(row["groups"] / 120)
    assert row["cpu_seconds"] >= 0
    assert row["peak_memory"] > 10**7


def test_failing_run_is_a_row_with_its_reason(found: Comparison) -> None:
    failed = found.frame.filter(pl.col("method") == "mnqia:variant=sensitive")
    assert failed["failed"].null_count() == 0
    assert failed["ncp"].null_count() == 4
    assert len(failed_rows(found)) == 2
    assert "sensitive" in failed_rows(found)[0][2]


def test_file_of_another_tool_is_scored_as_a_row(found: Comparison) -> None:
    row = found.frame.row(-1, named=True)
    assert row["added"]
    assert (row["k"], row["smallest_group"], row["failed"]) == (4, 4, None)
    assert 0 < row["ncp"] < 1


def test_file_that_cannot_be_scored_is_a_row_with_its_reason(subject: Subject) -> None:
    wrong = from_frame(pl.DataFrame({"birth_date": ["young"] * 3, "sex": ["F"] * 3}))
    found = compare_table(subject, [], {"wrong": wrong, "short": from_frame(pl.DataFrame({"sex": ["F"]}))})
    assert found.frame["failed"].null_count() == 0
    assert "young" not in str(found.frame["failed"].to_list())


def test_means_are_over_seeds(found: Comparison) -> None:
    means = found.means()
    assert means.select("method", "k", "runs").rows()[:3] == [("mondrian", 2, 2), ("mondrian", 5, 2), ("kaca", 2, 2)]
    kaca = found.frame.filter((pl.col("method") == "kaca") & (pl.col("k") == 2))["ncp"].to_list()
    row = means.row(2, named=True)
    assert row["ncp"] == pytest.approx(sum(kaca) / 2)
    assert row["ncp_spread"] == pytest.approx(max(kaca) - min(kaca))


def test_charts_have_a_curve_for_each_method_and_a_map(found: Comparison) -> None:
    """[S0] Figure 4-2: loss over k by method, and beside it utility and groups."""
    charts = {chart.title: chart for chart in charts_of(found)}
    assert list(charts)[:3] == ["Loss over k", "Utility over k", "Risk and utility"]
    assert charts["Loss over k"].head == ("k", "mondrian", "kaca", "other")
    assert [row[0] for row in charts["Groups over k"].rows] == ["2", "4", "5"]
    assert len(charts["Risk and utility"].rows) == 5


def test_page_is_whole_and_fetches_nothing(found: Comparison) -> None:
    page = comparison_page(found)
    assert verdict_of(found).split(".")[0] in page
    assert "Failed runs" in page
    assert page.count("<svg") == 5
    assert "<script" not in page
    assert "http://www.w3.org/2000/svg" in page
    assert page.replace("http://www.w3.org/2000/svg", "").count("http:") == 0
    assert len(page.encode()) < 400_000


def test_page_escapes_what_it_shows(found: Comparison) -> None:
    page = comparison_page(replace(found, qi=("<b>sex",)))
    assert "<b>" not in page
    assert "&lt;b&gt;sex" in page


def test_verdict_when_nothing_worked(subject: Subject) -> None:
    none = compare_table(subject, make_cases(["mondrian"], [500]), jobs=1)
    assert verdict_of(none) == "No run gave a release."
    assert charts_of(none) == []
    assert "500 cannot be met" in comparison_page(none)


def test_finished_runs_are_found_again(subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path)
    first = compare_table(subject, make_cases(["mondrian"], [2, 500]), cache=cache, jobs=1)
    monkeypatch.setattr(workers, "Worker", None)  # no process may be needed
    again = compare_table(subject, make_cases(["mondrian"], [2, 500]), cache=cache, jobs=1)
    assert again.frame["cached"].to_list() == [True, True]
    assert again.frame.drop("cached").equals(first.frame.drop("cached"))


def test_fresh_runs_again_what_is_kept(subject: Subject, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    case = make_cases(["mondrian"], [2])
    cache.keep(subject.fingerprint(), case[0].spec(), {"method": "mondrian", "k": 2, "seed": 0, "ncp": 0.9})
    assert compare_table(subject, case, cache=cache, jobs=1).frame["ncp"].item() == 0.9
    assert compare_table(subject, case, cache=cache, jobs=1, fresh=True).frame["ncp"].item() < 0.9


def test_cache_holds_no_cell(subject: Subject, tmp_path: Path) -> None:
    compare_table(subject, make_cases(["mondrian"], [2]), cache=Cache(tmp_path), jobs=1)
    kept = [path.read_text() for path in tmp_path.glob("*.json")]
    assert len(kept) == 1
    cells = {cell for name in ("birth_date", "disease", "name", "patient_id") for cell in FRAME[name].to_list()}
    assert not any(cell in text for cell in cells for text in kept)
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "change",
    [
        {"frame": FRAME.head(119)},
        {"roles": {"qi": ["birth_date"]}},
        {"roles": ROLES | {"suppression_limit": 0.1}},
        {"roles": ROLES | {"l": 2}},
        {"roles": ROLES | {"categorical": ["birth_date"]}},
        {"roles": ROLES | {"hierarchies": {"sex": shoal.hierarchy.from_dict({"F": ["any"], "M": ["any"]})}}},
        {"threshold": "0.1"},
        {"target": "disease"},
    ],
)
def test_other_content_is_another_run(subject: Subject, change: dict[str, Any]) -> None:
    frame, roles = change.pop("frame", FRAME), change.pop("roles", ROLES)
    other = prepare(from_frame(frame), settings_from(roles), **change)
    assert other.fingerprint() != subject.fingerprint()
    assert prepare(from_frame(FRAME), settings_from(ROLES)).fingerprint() == subject.fingerprint()


def test_options_are_part_of_the_run() -> None:
    plain, relaxed = make_cases(["mondrian", "mondrian:variant=relaxed"], [2])
    assert plain.spec() != relaxed.spec()


def test_half_written_entry_is_run_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.keep("print", {"k": 2}, {"ncp": 0.5})
    assert cache.find("print", {"k": 2}) == {"ncp": 0.5}
    entry = next(tmp_path.glob("*.json"))
    entry.write_text(json.dumps({"ncp": 0.5})[:5])
    assert cache.find("print", {"k": 2}) is None


def test_broken_off_comparison_goes_on(subject: Subject, tmp_path: Path) -> None:
    """What was finished before the interruption is kept, the rest is run."""
    cases = make_cases(["mondrian"], [2, 3, 5])

    def interrupt(done: int, total: int, label: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_table(subject, cases, cache=Cache(tmp_path), jobs=1, progress=interrupt)
    whole = compare_table(subject, cases, cache=Cache(tmp_path), jobs=1)
    assert whole.frame["cached"].to_list() == [True, True, False]


def test_process_that_dies_costs_its_own_run_alone(
    subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = workers.Worker.give

    def shoot(worker: workers.Worker, case: Any) -> None:
        if case.k == 3:
            worker.process.kill()
            worker.process.wait()
        begin(worker, case)

    monkeypatch.setattr(workers.Worker, "give", shoot)
    found = compare_table(subject, make_cases(["mondrian"], [2, 3, 5]), cache=Cache(tmp_path), jobs=1)
    assert [reason is None for reason in found.frame["failed"].to_list()] == [True, False, True]
    assert "process ended" in found.frame["failed"].to_list()[1]
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_bug_in_a_method_is_a_row_without_the_text_of_the_exception(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise ValueError("a cell: flu")

    monkeypatch.setattr("shoal.evaluate.comparison.scoring.anonymize_table", fail)
    row = score(subject, make_cases(["mondrian"], [2])[0])
    assert row["failed"].startswith("ValueError in ")
    assert "flu" not in row["failed"]


def test_jobs_and_row_order_do_not_change_measures() -> None:
    cases = {"methods": ["kaca"], "k": [3], "seeds": 2} | ROLES
    one = shoal.compare(FRAME, jobs=1, **cases).frame
    two = shoal.compare(FRAME.sample(fraction=1, shuffle=True, seed=1), jobs=2, **cases).frame
    timed = ["cpu_seconds", "seconds", "peak_memory"]
    assert one.drop(timed).equals(two.drop(timed))


def test_target_gives_the_classification_metric() -> None:
    found = shoal.compare(FRAME, methods=["mondrian"], k=[5], target="disease", jobs=1, qi=ROLES["qi"])
    cm = found.frame["cm"].item()
    assert 0 < cm < 1


def visits() -> pl.DataFrame:
    """Twelve people with five rows each."""
    people = [(f"p{i}", str(20 + i % 4), "MF"[i % 2]) for i in range(12)]
    return pl.DataFrame([one for one in people for _ in range(5)], schema=["who", "age", "sex"], orient="row")


def test_risk_counts_persons_where_k_does() -> None:
    """Rows of one person hide nobody: by rows the chance would be a fifth of what it is."""
    asked: dict[str, Any] = {"qi": ["age", "sex"], "person": "who", "methods": ["mondrian"], "jobs": 1}
    found = shoal.compare(visits(), k=[3], add={"alike": visits(), "without": visits().drop("who")}, **asked)
    own, alike, without = found.frame.to_dicts()
    assert own["prosecutor_max"] == alike["prosecutor_max"] == pytest.approx(1 / 3)
    assert own["smallest_group"] == 15
    assert alike["k"] == 3
    assert "the risk counts persons" in without["failed"]
    assert found.as_dict()["counts"] == "persons"
    assert "1 divided by the number of people in its group" in comparison_page(found)
    limits = shoal.Limits(max_risk=0.1)
    assert shoal.advise(visits(), k=[2, 3], limits=limits, **asked).chosen is None


@pytest.mark.parametrize("target", ["same", "all_differ"])
def test_target_that_cannot_be_learned_is_refused_before_any_run(target: str) -> None:
    frame = FRAME.with_columns(same=pl.lit("a"), all_differ=pl.int_range(pl.len()).cast(pl.String))
    with pytest.raises(UsageError, match=r"nothing to learn|120 distinct values"):
        shoal.compare(frame, target=target, learner="zero-r", **ROLES)


def test_accuracy_is_among_the_figures_shown() -> None:
    found = shoal.compare(
        FRAME, methods=["mondrian"], k=[5], target="disease", learner="zero-r", jobs=1, qi=ROLES["qi"]
    )
    assert head_of(found)[-2:] == ("accuracy", "accuracy before")
    assert shown_rows(found)[0][-2:] == (f"{found.frame['accuracy'][0]:.1%}",) * 2


def test_weights_by_association_are_those_of_anonymize() -> None:
    """A method that takes weights, and one that says that it takes none."""
    asked: dict[str, Any] = {"qi": ROLES["qi"], "weights": "auto"}
    found = shoal.compare(FRAME, methods=["bottom-up", "mondrian"], k=[3], jobs=1, **asked).frame
    told = shoal.anonymize(FRAME, k=3, method="bottom-up", others="drop", **asked).measures
    assert found["ncp"][0] == pytest.approx(told.ncp)
    assert "does not support weights" in found["failed"][1]


def test_file_of_a_release_has_the_figures_of_its_run() -> None:
    """Under weights that are derived, and under rules."""
    asked: dict[str, Any] = {"qi": ROLES["qi"], "weights": "auto", "rules": [shoal.Rule("sex", apart=("F", "M"))]}
    released = shoal.anonymize(FRAME, k=3, others="drop", **asked)
    found = shoal.compare(FRAME, methods="shoaling", k=3, add={"file": released.frame}, jobs=1, **asked).frame
    for name in ("ncp", "research_value_total", "prosecutor_average", "dm"):
        assert found[name][0] == pytest.approx(found[name][1])
    told = shoal.measure(FRAME, released.frame, qi=ROLES["qi"], weights="auto")
    assert told.ncp == pytest.approx(released.measures.ncp)
    with pytest.raises(UsageError, match="weights='some' is not known"):
        shoal.measure(FRAME, released.frame, qi=ROLES["qi"], weights="some")


def test_bad_requests_are_refused_before_any_run() -> None:
    with pytest.raises(UsageError, match="method 'mondrain' is not known"):
        shoal.compare(FRAME, methods=["mondrain"], **ROLES)
    with pytest.raises(UsageError, match="nothing to compare"):
        shoal.compare(FRAME, methods=[], **ROLES)
    with pytest.raises(UsageError, match="k=0 is not a positive"):
        shoal.compare(FRAME, k=[0], **ROLES)
    with pytest.raises(UsageError, match="'quasi' is not a setting"):
        shoal.compare(FRAME, quasi=["sex"], **ROLES)
    with pytest.raises(UsageError, match="an option has no value"):
        parse_method("mondrian:variant")
    with pytest.raises(InputError, match="declared numeric"):
        shoal.compare(FRAME, numeric=["sex"], **ROLES)

    with pytest.raises(UsageError, match="qi='sex' is a text"):
        shoal.compare(FRAME, qi="sex")
    with pytest.raises(UsageError, match="qi='sex' is a text"):
        shoal.risk(FRAME, qi="sex")
    with pytest.raises(UsageError, match="qi='sex' is a text"):
        shoal.measure(FRAME, FRAME, qi="sex")
    with pytest.raises(UsageError, match="jobs=-1 is not a positive"):
        shoal.compare(FRAME, methods="mondrian", k=5, jobs=-1, **ROLES)
    with pytest.raises(UsageError, match="max_loss='a tenth' is not a share"):
        shoal.Limits(max_loss="a tenth")  # type: ignore[arg-type]


def test_one_method_and_one_k_need_no_list() -> None:
    """A column named total does not take the place of the table's total."""
    frame = FRAME.rename({"sex": "total"})
    found = shoal.compare(frame, methods="mondrian", k=5, qi=["birth_date", "total"], jobs=1).frame
    same = shoal.compare(FRAME, methods=["mondrian"], k=[5], qi=ROLES["qi"], jobs=1).frame
    assert found["research_value_total"].to_list() == same["research_value_total"].to_list()


def test_all_stands_for_every_method() -> None:
    assert len(make_cases(["all", "mondrian"], [2])) == len(shoal.methods.infos())


def test_keywords_for_editors_are_those_of_compare() -> None:
    """`advise` passes on what it does not use itself."""
    own = set(inspect.signature(shoal.compare).parameters) - {"settings"}
    advised = set(inspect.signature(shoal.advise).parameters)
    assert set(ComparisonKeywords.__annotations__) - set(SettingsKeywords.__annotations__) == own - advised


def test_weighted_losses_say_so_beside_the_unweighted_ones() -> None:
    found = shoal.compare(FRAME, methods=["bottom-up"], k=[4], jobs=1, qi=ROLES["qi"], weights={"sex": 5})
    row = found.frame.row(0, named=True)
    assert found.weighted
    assert shown_rows(found)[0][2] == f"{row['ncp_unweighted']:.2%} ({row['ncp']:.2%} weighted)"
    assert f"the weighted loss of bottom-up is {row['ncp']:.2%}" in verdict_of(found)


def test_hierarchies_only_for_the_methods_that_need_them() -> None:
    """Mondrian then releases ranges and sets, as without hierarchies; KACA climbs."""
    settings: dict[str, Any] = {"qi": ROLES["qi"], "methods": ["mondrian", "kaca"], "k": 5, "jobs": 1}
    trees = {"birth_date": shoal.hierarchy.builtin("dates"), "sex": shoal.hierarchy.from_dict({"F": ["*"], "M": ["*"]})}

    def losses(**more: Any) -> dict[str, float]:
        return dict(shoal.compare(FRAME, **settings, **more).frame.select("method", "ncp").rows())

    without = losses()
    everywhere = losses(hierarchies=trees)
    needed = losses(hierarchies=trees, hierarchies_for="needed")
    assert needed["mondrian"] == without["mondrian"] != everywhere["mondrian"]
    assert needed["kaca"] == everywhere["kaca"] != without["kaca"]


def test_methods_that_need_hierarchies_are_those_that_only_climb() -> None:
    """Without a hierarchy they release a column as it is or as "*"."""
    climbing = {info.name for info in infos() if info.climbs}
    assert climbing == {"datafly", "incognito", "optimal", "rv-global", "rv-local", "rv-hybrid", "kaca"}


def test_unknown_choice_of_methods_for_hierarchies() -> None:
    with pytest.raises(UsageError, match=r"hierarchies_for=.some. is not known\. Use all or needed"):
        shoal.compare(FRAME, qi=["sex"], k=2, hierarchies_for="some")


def test_choice_of_methods_for_hierarchies_is_part_of_the_key_of_a_run() -> None:
    trees = {"birth_date": shoal.hierarchy.builtin("dates")}
    settings = settings_from({**ROLES, "hierarchies": trees})
    subjects = [prepare(from_frame(FRAME), settings, hierarchies_for=who) for who in ("all", "needed")]
    assert subjects[0].fingerprint() != subjects[1].fingerprint()
