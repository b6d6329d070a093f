"""The benchmarks measure what they say. No time is asserted here."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

import shoal
from benchmarks import __main__ as command
from benchmarks import big_table, cases, chart, gap, made_tables, markdown, peers, reference, targets, workloads
from benchmarks.child import run_child
from benchmarks.measuring import Bench
from benchmarks.report import Report, Row, find_worse, with_ratios
from benchmarks.score import score_columns, score_files
from shoal.errors import FileError

KINDS = {"age": "numeric", "job": "categorical", "born": "date"}
ORIGINAL = {
    "age": ["20", "30", "40", "60"],
    "job": ["cook", "nurse", "smith, black", "cook"],
    "born": ["2000-01-01", "2000-01-02", "2000-01-06", "2000-01-11"],
}
RELEASED = {
    "age": ["[20, 30]", "[20, 30]", "*", "60"],  # 1/4, 1/4, 1, 0
    "job": ["{cook, nurse}", "{cook, nurse}", '{cook, "smith, black"}', "cook"],  # 2/3, 2/3, 2/3, 0
    "born": ["2000-01-01", "[2000-01-02, 2000-01-06]", "[2000-01-02, 2000-01-06]", "[2000-01-06, 2000-01-11]"],
}  # 0, 4/10, 4/10, 5/10


def report(*rows: Row) -> Report:
    return Report("2026-01-02", {"processor": "made up", "cores": "2"}, (0.9, 1.0), with_ratios(rows))


def row(name: str = "kernel W8 k=10 mondrian threads=1", **figures: float) -> Row:
    return Row(name, "kernel", "W8", 10, "mondrian", 1, **figures)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def adult() -> Mapping[str, list[str]]:
    found = workloads.find_adult()
    if found is None:
        pytest.skip("the Adult table is not on this machine: set SHOAL_DATA")
    return found


def test_reference_loop_does_the_fixed_work() -> None:
    assert reference.ROUNDS == 10_000_000
    assert reference.spin(100) == sum(number**2 % 1024 for number in range(100))


def test_big_table_is_the_same_every_time(adult: Mapping[str, list[str]], tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        big_table.write_big_table(adult, 1000, tmp_path / name)
    big_table.write_big_table(adult, 1000, tmp_path / "c.csv", seed=12)
    first, again, other = ((tmp_path / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv"))
    assert first == again != other
    assert hashlib.sha256(first).hexdigest().startswith("a4e7c9d9a98933c2")


def test_big_table_has_the_documented_columns(adult: Mapping[str, list[str]], tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    big_table.write_big_table(adult, 1000, path)
    frame = pl.read_csv(path, infer_schema=False)
    assert tuple(frame.columns) == big_table.COLUMNS == (*workloads.W8, "salary")
    assert frame.height == 1000
    assert set(frame["salary"]) == {"<=50K", ">50K"}
    assert frame["age"].str.contains(r"^\d\d$").all()


def test_big_table_with_continuous_age_has_nearly_distinct_ages(adult: Mapping[str, list[str]], tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    big_table.write_big_table(adult, 1000, path, continuous_age=True, redraw=0.0)
    ages = pl.read_csv(path)["age"]
    assert ages.n_unique() > 950
    assert 17 <= ages.min() <= ages.max() <= 90  # type: ignore[operator]


def test_workload_without_adult_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="needs the Adult table"):
        workloads.Workloads(tmp_path, None).get("W8")


def test_score_is_what_a_hand_computes() -> None:
    score = score_columns(ORIGINAL, RELEASED, KINDS)
    assert score.per_attribute == pytest.approx({"age": 1.5 / 4, "job": 2 / 4, "born": 1.3 / 4})
    assert score.loss == pytest.approx((1.5 + 2 + 1.3) / 12)
    assert (score.rows, score.groups, score.smallest_group) == (4, 4, 1)


def test_score_is_what_shoal_measures(tmp_path: Path) -> None:
    original, released = tmp_path / "original.csv", tmp_path / "released.csv"
    pl.DataFrame(ORIGINAL).write_csv(original)
    pl.DataFrame(RELEASED).write_csv(released)
    own = shoal.measure(original, released, qi=list(KINDS))
    score = score_files(original, released, KINDS)
    assert score.loss == pytest.approx(own.ncp, abs=1e-12)
    assert score.per_attribute == pytest.approx(own.per_attribute, abs=1e-12)
    assert (score.groups, score.smallest_group) == (own.groups, own.smallest_group)


@pytest.mark.parametrize(
    ("cell", "loss"),
    [
        ("20-30", 0.25),
        ("20~30", 0.25),
        ("[20, 31[", 0.25),
        ("[20:31)", 0.25),
        ("(20, 30]", 0.25),
        ("25", 0.0),
        ("*", 1.0),
    ],
)
def test_score_reads_other_tools_ranges(cell: str, loss: float) -> None:
    numbers = {"age": ORIGINAL["age"]}
    assert score_columns(numbers, {"age": [cell] * 4}, {"age": "numeric"}).loss == pytest.approx(loss)


def test_score_reads_nodes_of_a_hierarchy() -> None:
    jobs = {"job": ORIGINAL["job"]}
    node = {"job": {"care": {"nurse", "cook", "doctor"}}}
    assert score_columns(jobs, {"job": ["care"] * 4}, {"job": "categorical"}, node).loss == pytest.approx(2 / 3)


def test_score_counts_missing_rows_as_lost() -> None:
    assert score_columns({"age": ["1", "2"]}, {"age": ["1"]}, {"age": "numeric"}).loss == 0.5


def test_score_keeps_untouched_missing_numbers() -> None:
    kinds = {"age": "numeric"}
    assert score_columns({"age": ["1", "2", ""]}, {"age": ["1", "2", ""]}, kinds).loss == 0.0
    assert score_columns({"age": ["1", "2", ""]}, {"age": ["", "2", ""]}, kinds).loss == pytest.approx(1 / 3)


@pytest.mark.parametrize(("kind", "cell"), [("numeric", "young"), ("categorical", "{cook, pilot}"), ("date", "[a, b]")])
def test_score_refuses_what_it_cannot_read(kind: str, cell: str) -> None:
    column = {"numeric": "age", "categorical": "job", "date": "born"}[kind]
    with pytest.raises(ValueError, match="cannot be read"):
        score_columns({column: ORIGINAL[column]}, {column: [cell] * 4}, {column: kind})


def test_child_tells_code_output_and_memory(tmp_path: Path) -> None:
    script = "import sys; held = bytearray(100_000_000); print('out'); print('err', file=sys.stderr); sys.exit(3)"
    ended = run_child([sys.executable, "-c", script], tmp_path)
    assert (ended.code, ended.output, ended.errors) == (3, "out\n", "err\n")
    assert ended.peak_mb >= 100
    assert ended.cpu_seconds > 0


def test_child_does_not_count_the_memory_of_its_parent(tmp_path: Path) -> None:
    held = bytearray(b"x") * 200_000_000
    ended = run_child([sys.executable, "-c", "pass"], tmp_path)
    assert len(held) > 150e6 > ended.peak_mb * 1e6


@pytest.mark.parametrize(("variant", "most"), [("mondrian", 0.09), ("shoaling fast", 0.04)])
def test_bench_scores_a_method_on_the_patients(variant: str, most: float, tmp_path: Path) -> None:
    bench = Bench(workloads.Workloads(tmp_path, None), tmp_path)
    found = bench.run(cases.Case("kernel", "patients", 10, variant, 1))
    assert found.error == ""
    assert found.rows == 5000
    assert found.loss is not None
    assert 0 < found.loss < most
    assert found.units == pytest.approx((found.cpu_seconds or 0) / bench.units[0])


def test_bench_measures_the_gap_on_samples(
    adult: Mapping[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gap, "SAMPLES", 2)
    monkeypatch.setattr(gap, "MOST", 26)
    bench = Bench(workloads.Workloads(tmp_path, adult), tmp_path)
    found = bench.run(cases.Case("gap", "W3", variant="shoaling fast"))
    assert (found.error, found.samples) == ("", 4)
    assert found.gap is not None
    assert found.gap_most is not None
    assert -1e-6 < found.gap <= found.gap_most


def test_unit_beside_a_case_takes_more_pieces_the_longer_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    monkeypatch.setattr(reference, "spin", rounds.append)
    beside = reference.Beside()
    assert rounds == [1_000_000]
    beside.measure(2.5)
    assert len(rounds) == 4
    beside.measure(1000)
    assert len(rounds) == 14


def test_case_names_are_unique_and_hold_every_target() -> None:
    names = [case.name for case in cases.list_cases()]
    assert len(set(names)) == len(names)
    for target in (*targets.TARGETS, *targets.GOALS):
        assert any(target.holds_for(name) for name in names), target


def test_target_of_many_cases_is_judged_by_the_worst() -> None:
    made = report(
        Row("kernel a k=2 mondrian threads=1", "kernel", "a", 2, "mondrian", 1, loss=0.1),
        Row("kernel a k=2 shoaling fast threads=1", "kernel", "a", 2, "shoaling fast", 1, loss=0.11),
        Row("kernel b k=2 mondrian threads=1", "kernel", "b", 2, "mondrian", 1, loss=0.1),
        Row("kernel b k=2 shoaling fast threads=1", "kernel", "b", 2, "shoaling fast", 1, loss=0.05),
    )
    (verdict,) = made.verdicts([targets.Target("kernel * shoaling *", "loss_ratio", 1.0)])
    assert (verdict.case, verdict.met) == ("kernel a k=2 shoaling fast threads=1", False)
    assert verdict.figure == pytest.approx(1.1)


def test_target_at_least_is_not_met_by_less() -> None:
    target = targets.Target("x", "speedup", 1.5, at_least=True)
    assert [target.met_by(figure) for figure in (1.4, 1.5, 1.6)] == [False, True, True]
    assert [targets.Target("x", "loss", 1.5).met_by(figure) for figure in (1.4, 1.5, 1.6)] == [True, True, False]


@pytest.mark.parametrize("name", made_tables.MADE)
def test_made_tables_are_the_same_every_time(name: str, tmp_path: Path) -> None:
    kinds = [made_tables.write_made_table(name, tmp_path / file, 500) for file in ("a.csv", "b.csv")]
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    frame = pl.read_csv(tmp_path / "a.csv", infer_schema=False)
    assert frame.columns == [*kinds[0], made_tables.SENSITIVE]
    assert frame.height == 500


def test_zips_have_more_values_than_a_word_has_bits(tmp_path: Path) -> None:
    workload = workloads.Workloads(tmp_path, None).get("zips")
    distinct = {name: column.n_unique() for name, column in pl.read_csv(workload.path).to_dict().items()}
    assert distinct["zip"] == made_tables.ZIPS == 20_000
    assert sum(count > 64 for count in distinct.values()) >= 5


def test_curve_shows_every_effort_and_tells_it_in_words() -> None:
    efforts = [
        Row(f"kernel W8 k=10 {v} threads=1", "kernel", "W8", 10, v, 1, units=0.5 * 4**i, loss=0.04 - 0.001 * i)
        for i, v in enumerate(cases.EFFORTS)
    ]
    root = ElementTree.fromstring(chart.draw(report(row(units=0.03, loss=0.064), *efforts)))
    name = "{http://www.w3.org/2000/svg}"
    assert root.get("role") == "img"
    assert "shoaling normal: 2 units, loss 0.0390" in (root.findtext(f"{name}desc") or "")
    (line,) = root.iter(f"{name}polyline")
    assert len((line.get("points") or "").split()) == 3
    texts = {text.text for text in root.iter(f"{name}text")}
    assert {*cases.EFFORTS, "mondrian", "ARX 3.9.2, local recoding"} <= texts
    assert chart.draw(report()) == ""


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["W8 k=10 relaxed"], {"kernel W8 k=10 mondrian relaxed threads=1"}),
        (
            ["command W8 mondrian", "help"],
            {"command W8 k=10 mondrian", "command W8 k=10 mondrian threads=1 no-bound", "start help"},
        ),
        (["big relaxed threads=2"], {"kernel big-1000 k=10 mondrian relaxed threads=2"}),
        (["nothing"], set()),
    ],
)
def test_only_chooses_by_words(wanted: list[str], expected: set[str]) -> None:
    assert {case.name for case in cases.choose(cases.list_cases(rows=[1000]), wanted)} == expected


def two_threads() -> Iterator[Row]:
    """Mondrian and shoaling on a big table, with one thread and with two."""
    for variant, loss in (("mondrian", 0.1), ("shoaling fast", 0.05)):
        for n in (1, 2):
            figures = {"units": 1.0, "cpu_seconds": 1.0, "wall_seconds": 2.0 / n, "loss": loss}
            name = f"kernel big-9 k=10 {variant} threads={n}"
            yield Row(name, "kernel", "big-9", 10, variant, n, rows=9, distinct=7, **figures)


def test_report_shows_figures_targets_and_peers() -> None:
    made = report(
        row(rows=30162, distinct=18000, units=0.03, cpu_seconds=0.03, wall_seconds=0.03, loss=0.07),
        *two_threads(),
        Row("gap W8 shoaling high", "gap", "W8", None, "shoaling high", samples=40, gap=0.00165, gap_most=0.042),
        Row("command W8 k=10 mondrian", "command", "W8", 10, "mondrian", error="exit code 5: no"),
        Row("start help", "start", "help", units=0.25, cpu_seconds=0.24, wall_seconds=0.3, peak_mb=25.4),
    )
    text = markdown.render(made)
    assert "Run of 2026-01-02: processor made up, cores 2." in text
    assert "| kernel W8 k=10 mondrian threads=1 | CPU, units | 0.03 | at most 0.06 | yes |" in text
    assert "| kernel W8 k=10 mondrian threads=1 | loss | 0.07 | at most 0.067 | **no** |" in text
    assert "| `kernel * shoaling *`, worst: kernel big-9 k=10 shoaling fast threads=1 | loss, x mondrian |" in text
    assert "| W8 | mondrian | 30,162 |  |  | 0.07000 |  |  |  |" in text
    assert "| W8 | mondrian | 30,162 |  |  | 0.0300 |  |  |  |" in text
    assert "| mondrian | 0.0300 | 0.07000 | 1.000 |" in text
    assert "| big-9 | shoaling fast | 7 | 10 | 2 | 1.00 | 1.00 | 2.00 | 0.05000 | 0.500 |" in text
    assert "| W8 | shoaling high | 40 | 0.165% | 4.20% |" in text
    assert "| `shoal --help` |  |  |  |  |  | 0.25 | 0.300 |  | 25 |  |" in text
    assert "busy" in text
    assert "- command W8 k=10 mondrian: exit code 5: no" in text
    for peer in peers.PEERS:
        assert f"| {peer.tool} |" in text


def test_report_survives_its_json(tmp_path: Path) -> None:
    made = report(row(units=0.03125, loss=1 / 3), Row("start help", "start", "help", units=0.25))
    (tmp_path / "run.json").write_text(made.as_json())
    assert Report.read(tmp_path / "run.json") == made


def test_ratios_compare_with_mondrian_and_one_thread_of_the_same_run() -> None:
    names = ("kernel", "W8", 10)
    rows = with_ratios(
        [
            Row("a", *names, "mondrian", 1, units=2.0, loss=0.1, wall_seconds=2.0),
            Row("b", *names, "mondrian", 2, units=2.2, loss=0.1, wall_seconds=1.0),
            Row("c", *names, "other", 1, units=3.0, loss=0.05, wall_seconds=3.0),
        ]
    )
    assert [r.units_ratio for r in rows] == [1.0, 1.0, 1.5]
    assert [r.loss_ratio for r in rows] == [1.0, 1.0, 0.5]
    assert [r.speedup for r in rows] == [None, 2.0, None]


def test_against_flags_a_row_30_percent_slower_and_not_one_of_10() -> None:
    old = report(row("a", units=1.0), row("b", units=1.0))
    assert find_worse(old, report(row("a", units=1.3), row("b", units=1.1))) == ["a: 30% slower (units 1 -> 1.3)"]


def test_against_flags_loss_memory_and_failure() -> None:
    old = report(row("a", loss=0.1, peak_mb=100.0), row("b", units=1.0), row("gone", units=1.0))
    failed = Row("b", "kernel", "W8", error="exit code 1: why")
    assert find_worse(old, report(row("a", loss=0.2, peak_mb=150.0), failed, row("new", units=9.0))) == [
        "a: 50% larger (peak_mb 100 -> 150)",
        "a: 100% lossier (loss 0.1 -> 0.2)",
        "b: failed: exit code 1: why",
    ]


def test_against_last_is_the_recorded_run_until_there_is_one(tmp_path: Path) -> None:
    assert command.recorded_run("last", tmp_path) == command.RECORDED
    (tmp_path / "last.json").touch()
    assert command.recorded_run("last", tmp_path) == tmp_path / "last.json"
    assert command.recorded_run("x.json", tmp_path) == Path("x.json")


def test_command_compares_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "run_cases", lambda cases: report(row(units=0.05)))
    (tmp_path / "old.json").write_text(report(row(units=0.03)).as_json())
    assert command.main(["--only", "W8", "--out", str(tmp_path), "--against", str(tmp_path / "old.json")]) == 0
    printed = capsys.readouterr().out
    assert "67% slower" in printed
    assert "met     kernel W8 k=10 mondrian threads=1, units: 0.05, target 0.06" in printed
    assert "goal" not in printed
    assert Report.read(tmp_path / "last.partial.json").rows[0].units == 0.05
    assert (tmp_path / "last.partial.md").read_text().startswith("# Benchmarks\n")
    assert command.main(["--against", str(tmp_path / "none.json"), "--out", str(tmp_path)]) == 2


def test_record_refuses_a_partial_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.parse(["--record", "--quick"])
    assert "--record needs a complete run" in capsys.readouterr().err


def test_renew_replaces_what_stands_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{markdown.BEGIN}\nold\n{markdown.END}\nafter\n")
    markdown.renew(page, "new\n")
    assert page.read_text() == f"before\n\n{markdown.BEGIN}\n\nnew\n\n{markdown.END}\nafter\n"
    page.write_text(f"{markdown.BEGIN}\nold\n{markdown.END}\n<!-- other -->\nold\n{markdown.END}\n")
    markdown.renew(page, "new\n", "<!-- other -->")
    assert page.read_text() == f"{markdown.BEGIN}\nold\n{markdown.END}\n<!-- other -->\n\nnew\n\n{markdown.END}\n"
    page.write_text("no marks")
    with pytest.raises(ValueError, match="not in it"):
        markdown.renew(page, "new")


def test_page_shows_the_recorded_run() -> None:
    recorded = Report.read(command.RECORDED)
    assert markdown.render(recorded) in command.PAGE.read_text()
    assert chart.draw(recorded) == command.CURVE.read_text()


def test_bench_compares_the_squares_of_groups_with_those_of_mdav(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    bench = Bench(workloads.Workloads(tmp_path, None), tmp_path)
    variants = [bench.run(cases.Case("squares", "wine", 10, v, 1)) for v in cases.BY_SQUARES]
    simple, ours = with_ratios(variants)
    assert (simple.error, ours.error, simple.rows) == ("", "", 178)
    assert simple.squares_saved is None
    assert simple.squares is not None
    assert ours.squares is not None
    assert ours.squares_saved == pytest.approx(1 - ours.squares / simple.squares)
    assert ours.squares_saved > 0.12
    assert "| wine | shoaling variance |" in markdown.render(report(*variants))
