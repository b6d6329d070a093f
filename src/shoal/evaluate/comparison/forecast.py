"""What-if: the loss and risk that a run would have, from quick runs on samples of the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from shoal import metrics
from shoal.encoding.attributes import Encoded
from shoal.encoding.partition import cell_losses
from shoal.errors import InfeasibleError
from shoal.evaluate.comparison.law import Crowd, Estimate, Point, forecast_loss, forecast_risk
from shoal.methods.full_domain.base import FullDomain
from shoal.methods.shoaling.search import Shoaling
from shoal.models import Groups
from shoal.release.cells.show import Shown, ends_of
from shoal.release.job import Job
from shoal.release.make import Plan, make_run
from shoal.schema import check_threads
from shoal.settings.keywords import SettingsKeywords, settings_from
from shoal.settings.settings import Settings
from shoal.tables.watch import make_watch

__all__ = ["Forecast", "Trial", "forecast"]

# A search takes time in proportion to the distinct combinations of quasi-identifiers, and to their number. Up to this
# many cells, the run itself is quick enough, by its effort.
FEW = {"fast": 20_000, "normal": 10_000, "high": 1_500}
# The combinations of the largest sample: as many as this share of the rows of the table, within these bounds.
SHARE, LEAST, MOST = 1 / 20, 4_000, 30_000
MODEL_SHARE = 0.6  # models besides k make a search slower, so its samples are smaller
NEARLY_ALL = 0.6  # a sample of more than this share of the table becomes the whole table
GROUPS = 24  # that many groups of k at least fit into the largest sample
SIZES = (4, 4, 2, 1)  # what the samples are of the largest one: a quarter twice, a half, all
# The loss of an effort over that of the next lower one.
LARGEST_GAIN, HIGH_GAIN = 0.75, 0.975
MODEL_DOUBT = 3.0  # models besides k decide about the size of groups, and hold them together less in larger tables
STEP_DOUBT = 2.5  # full-domain methods change all cells of a column at once, so their loss falls in steps


@dataclass(frozen=True)
class Trial:
    """A quick run on a sample.

    Attributes:
        rows: The number of rows of the sample.
        loss: Its information loss (NCP), with the domains of the whole table.
        risk: The mean probability that a row or person is re-identified.
        seconds: How long it took.
    """

    rows: int
    loss: float
    risk: float
    seconds: float


@dataclass(frozen=True)
class Forecast:
    """An estimate of what a run would give, unless `exact` says that it is what the run gives.

    In 9 of 10 cases, the figure of the run is expected inside the interval.

    Attributes:
        loss: The information loss (NCP), from 0 to 1.
        loss_low: The lower end of its interval.
        loss_high: The upper end of its interval.
        risk: The mean probability that a row, or a person if people are counted, is re-identified.
        risk_low: The lower end of its interval.
        risk_high: The upper end of its interval.
        risk_max: The largest probability that the run allows, 1 / k: a promise, not an estimate.
        counts: What the risk counts: "rows" or "persons".
        rows: The number of rows of the table.
        exact: Whether the run was quick enough to be made; low and high are then the figure itself.
        samples: The quick runs behind the estimate, smallest first.
        seconds: How long the forecast took, reading included.
    """

    loss: float
    loss_low: float
    loss_high: float
    risk: float
    risk_low: float
    risk_high: float
    risk_max: float
    counts: str
    rows: int
    exact: bool
    samples: tuple[Trial, ...]
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        return asdict(self) | {"samples": [asdict(trial) for trial in self.samples]}

    def words(self) -> str:
        """Return the forecast as one sentence."""
        if self.exact:
            return f"The run loses {self.loss:.2%} of the information; the mean risk is {self.risk:.2%}."
        return (
            f"Estimate: the run loses about {self.loss:.2%} of the information ({self.loss_low:.2%} to "
            f"{self.loss_high:.2%}); the mean risk is about {self.risk:.2%} ({self.risk_low:.2%} to "
            f"{self.risk_high:.2%}), and nobody's risk exceeds {self.risk_max:.2%}."
        )


def forecast(
    data: Any,
    settings: Settings | None = None,
    *,
    k: int | None = None,
    method: str | None = None,
    threads: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **keywords: Unpack[SettingsKeywords],
) -> Forecast:
    """Forecast the loss and the risk of a run without making it.

    The table is checked and encoded as for the run. A table of few distinct combinations of quasi-identifiers is then
    anonymised, so that the forecast is exact. Otherwise samples of three sizes are searched quickly, and their figures
    extrapolated to the whole table: the more rows, the less loss. The seed of the settings draws the samples; the order
    of the rows does not matter.

    Args:
        data: A frame, a `Table`, a path or the URL of a database table. A `Table` keeps what was read of its columns,
            so that the next forecast is quicker.
        settings: The settings of the run, as an object; keywords override it.
        k: The smallest group.
        method: The name of a method; "shoaling" by default.
        threads: The number of threads; all cores by default.
        progress: A function that is called with the name of the current stage and the completed share of it.
        cancelled: A function that is called several times a second; when it returns True, the forecast stops with a
            `CancelledError`.
        keywords: Settings of `shoal.anonymize`.

    Returns:
        The forecast, marked as an estimate unless it is exact.

    Raises:
        UsageError: A setting is wrong, or k is missing.
        InputError: The table or a hierarchy cannot be used.
        InfeasibleError: The run cannot meet its requirement, or would release a column that seems to identify people.
        FileError: A file cannot be read.
        CancelledError: If `cancelled` returned True.

    >>> import shoal
    >>> outlook = forecast(shoal.datasets.patients(), qi=["sex", "zip"], others="drop", k=5)
    >>> outlook.loss_low <= outlook.loss <= outlook.loss_high
    True
    """
    started = time.perf_counter()
    settings = settings_from({**keywords, "k": k, "method": method}).over(settings or Settings())
    run = make_run(settings, threads=check_threads(threads), watch=make_watch(progress, cancelled))
    plan = Job.from_settings(data, settings, run=run, bound=False).plan()
    run.stage("sampling")
    crowd = Crowd.of(plan.encoded, plan.request.k)
    if plan.unchanged is not None:
        only = Trial(crowd.n_rows, 0.0, crowd.safe_groups / crowd.safe, 0.0)
    elif _costs(plan.encoded)[-1] * len(plan.encoded.attributes) < FEW.get(_effort(plan), FEW["normal"]):
        shown, point, only = _try(plan)
        measures = _measure(shown, plan)
        # Groups whose ends move to the same places are one group in the release.
        groups = measures.groups if plan.encoded.people is None else point.groups
        only = replace(only, loss=measures.ncp, risk=groups / point.size)
    else:
        return _estimate(plan, crowd, started)
    loss, risk = Estimate(only.loss, only.loss, only.loss), Estimate(only.risk, only.risk, only.risk)
    return _state(loss, risk, plan, [only], started, exact=True)


def _state(
    loss: Estimate, risk: Estimate, plan: Plan, trials: Sequence[Trial], started: float, *, exact: bool = False
) -> Forecast:
    return Forecast(
        loss=loss.value,
        loss_low=loss.low,
        loss_high=loss.high,
        risk=risk.value,
        risk_low=risk.low,
        risk_high=risk.high,
        risk_max=1 / plan.request.k,
        counts="rows" if plan.encoded.people is None else "persons",
        rows=plan.encoded.n_rows,
        exact=exact,
        samples=tuple(sorted(trials, key=lambda trial: trial.rows)),
        seconds=time.perf_counter() - started,
    )


def _estimate(plan: Plan, crowd: Crowd, started: float) -> Forecast:
    """Search samples of the table, and extrapolate their figures."""
    quick = plan
    if isinstance(plan.method, Shoaling):
        quick = replace(plan, method=replace(plan.method, effort="fast"))
    tried = list(_try_samples(quick))
    points = [point for _, _, point, _ in tried]
    part, shown, point, _ = tried[len(tried) // 2]  # half of the largest one, whose cells are priced sooner
    ratio = _measure(shown, part).ncp / point.loss if point.loss else 1.0
    if quick is not plan:
        ratio *= _gain(plan, tried[0][0], tried[0][2].loss)
    doubt = STEP_DOUBT if isinstance(plan.method, FullDomain) else 1.0
    loss = forecast_loss(points, crowd, ratio, doubt)
    others = MODEL_DOUBT if len(plan.models) > 1 else 1.0
    risk = forecast_risk(points, crowd, plan.request.k, doubt * others)
    return _state(loss, risk, plan, [trial for _, _, _, trial in tried], started)


def _gain(plan: Plan, part: Plan, loss: float) -> float:
    """Return the loss of the run's effort over that of "fast", with which the samples are searched.

    Args:
        plan: The run.
        part: The smallest sample.
        loss: Its loss with the effort "fast".
    """
    effort = _effort(plan)
    if effort == "fast" or not loss:
        return 1.0
    assert isinstance(plan.method, Shoaling)
    _, point, _ = _try(replace(part, method=replace(plan.method, effort="normal")), 1.0, 0.0)
    gain = min(max(point.loss / loss, LARGEST_GAIN), 1.0)
    return gain * HIGH_GAIN if effort == "high" else gain


def _effort(plan: Plan) -> str:
    return plan.method.effort if isinstance(plan.method, Shoaling) else "normal"


def _try_samples(plan: Plan) -> Iterator[tuple[Plan, Shown, Point, Trial]]:
    """Search samples, small ones first; larger ones follow as long as fewer than three are feasible."""
    units = _units(plan.encoded)
    n_units = int(units.max()) + 1
    turn = np.random.default_rng(plan.run.seed).permutation(n_units)
    top = _largest_sample(plan, units, turn)
    found, first = 0, 0
    sizes = [max(top // part, 1) for part in SIZES]
    done, total = 0, sum(sizes)
    while sizes:
        size = sizes.pop(0)
        chosen = np.zeros(n_units, dtype=bool)
        chosen[turn[np.arange(first, first + size) % n_units]] = True
        first += size
        part = plan if size >= n_units else plan.part(np.flatnonzero(chosen[units]))
        try:
            yield part, *_try(part, done / total, size / total)
            found += 1
        except InfeasibleError:  # too few rows for the limits or the models: more may do
            if size >= n_units:
                raise
        done += size
        if not sizes and found < 3 and size < n_units:
            sizes.append(min(2 * size, n_units))
            total += sizes[0]


def _units(encoded: Encoded) -> NDArray[np.int64]:
    """Return what samples are drawn from, for each row: the rows or, if people are counted, the people."""
    if encoded.people is None:
        return np.arange(len(encoded.order), dtype=np.int64)
    return np.unique(encoded.people, return_inverse=True)[1].astype(np.int64)


def _costs(encoded: Encoded, turn: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Return how many combinations the first rows have, for each number of rows; turn: the order of the rows."""
    combinations = encoded.row_tuple if turn is None else encoded.row_tuple[turn]
    if encoded.people is not None:  # a search tells people apart
        people = encoded.people if turn is None else encoded.people[turn]
        combinations = combinations.astype(np.int64) * (int(people.max()) + 1) + people
    is_new = np.zeros(len(combinations), dtype=np.int64)
    is_new[np.unique(combinations, return_index=True)[1]] = 1
    return np.cumsum(is_new)


def _largest_sample(plan: Plan, units: NDArray[np.int64], turn: NDArray[np.int64]) -> int:
    """Return the number of rows or people of the largest sample."""
    n_units = len(turn)
    most = min(max(int(len(units) * SHARE), LEAST), MOST)
    if len(plan.models) > 1:
        most = int(most * MODEL_SHARE)
    by_turn = turn
    if plan.encoded.people is not None:
        places = np.empty(n_units, dtype=np.int64)
        places[turn] = np.arange(n_units)
        by_turn = np.argsort(places[units], kind="stable")
    rows = int(np.searchsorted(_costs(plan.encoded, by_turn), most, side="right"))
    size = max(rows * n_units // len(units), GROUPS * plan.request.k)
    return n_units if size > NEARLY_ALL * n_units else size


def _try(plan: Plan, done: float = 0.0, share: float = 1.0) -> tuple[Shown, Point, Trial]:
    """Search a sample and price its cells; done and share: what comes before it, and its share of all samples."""
    started = time.perf_counter()
    whole = plan.run
    whole.step(done)
    quiet = replace(whole, progress=lambda part: whole.progress(done + share * part))
    shown = replace(plan, run=quiet).group()
    cells, entries = shown.partition.cells, shown.partition.entries
    rows = entries.sizes(shown.partition.n_groups)
    weights = [float(whole.weights.get(attribute.name, 1)) for attribute in shown.encoded.attributes]
    lost = np.zeros(len(rows))
    for attribute, each, weight in zip(shown.encoded.attributes, cells, weights, strict=True):
        lost += weight * cell_losses(attribute, each)[each.index]
    n_rows, kept = plan.encoded.n_rows, int(rows.sum())
    loss = (float(lost @ rows) / sum(weights) + n_rows - kept) / n_rows  # a suppressed row loses everything
    groups = len(np.unique(np.stack([each.index for each in cells]), axis=1).T)  # equal cells are one group
    size = max(int(Groups.of(shown.encoded, shown.partition.labels).sizes.sum()), 1)
    point = Point(Crowd.of(plan.encoded, plan.request.k), loss, groups, size)
    return shown, point, Trial(n_rows, loss, groups / size, time.perf_counter() - started)


def _measure(shown: Shown, plan: Plan) -> metrics.Measures:
    """Return the measures of the released cells, whose ranges may end farther out than their values."""
    weights = {name: float(weight) for name, weight in plan.run.weights.items()}
    ends = ends_of(shown, plan.request)
    return metrics.measure_partition(
        shown.encoded, shown.partition, shown.schema, ends=ends, k=plan.request.k, weights=weights
    )
