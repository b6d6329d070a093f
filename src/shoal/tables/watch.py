"""Progress and cancellation: what a caller hears of a run, how long the rest takes, and how it ends one."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from typing import Any, TypeVar

from shoal.errors import CancelledError

__all__ = ["STAGES", "STAGES_ON_DISK", "UNWATCHED", "Progress", "Watch", "make_watch", "pooled"]

# The stages of a run with the share of its time that each takes, roughly; in memory, and where rows stay on disk.
STAGES = {
    "reading": 0.1,
    "counting": 0.05,
    "encoding": 0.1,
    "grouping": 0.45,
    "measuring": 0.1,
    "writing": 0.08,
    "verifying": 0.12,
}
STAGES_ON_DISK = {
    "reading": 0.2,
    "counting": 0.05,
    "encoding": 0.05,
    "grouping": 0.3,
    "measuring": 0.1,
    "writing": 0.1,
    "verifying": 0.2,
}
LEAST_FRACTION = 0.05  # before, what remains is a guess
POLL_SECONDS = 0.1

Result = TypeVar("Result")


def _ignore(_: object) -> None:
    """Ignore a stage or a share."""


def _never() -> bool:
    """Do not cancel."""
    return False


@dataclass(frozen=True, kw_only=True)
class Watch:
    """The callbacks of a caller who watches a run. A copy made by pickle has none.

    Attributes:
        stage: Called with the name of each stage as it begins.
        progress: Called with the share of the stage that is done, in [0, 1].
        cancelled: Called several times a second, possibly from several threads; True ends the run.
    """

    stage: Callable[[str], None] = _ignore
    progress: Callable[[float], None] = _ignore
    cancelled: Callable[[], bool] = _never

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"stage": _ignore, "progress": _ignore, "cancelled": _never}

    @property
    def can_cancel(self) -> bool:
        """Whether the caller may cancel the run."""
        return self.cancelled is not _never

    def check(self) -> None:
        """Raise a CancelledError if the caller cancelled the run."""
        if self.cancelled():
            raise CancelledError

    def step(self, share: float) -> None:
        """Report progress, and raise a CancelledError if the caller cancelled the run."""
        self.check()
        self.progress(share)


UNWATCHED = Watch()


def make_watch(
    progress: Callable[[str, float], None] | None = None, cancelled: Callable[[], bool] | None = None
) -> Watch:
    """Make a watch of the two callbacks that Python users pass.

    Args:
        progress: Called with the name of the current stage and the share of it that is done.
        cancelled: Called several times a second; True ends the run with a CancelledError.
    """
    if progress is None:
        return Watch(cancelled=cancelled or _never)
    current = ""

    def stage(name: str) -> None:
        nonlocal current
        current = name
        progress(name, 0.0)

    return Watch(stage=stage, progress=lambda share: progress(current, share), cancelled=cancelled or _never)


class Progress:
    """The share of a run that is done, from its stages.

    Attributes:
        stage: The current stage.
        fraction: The share of the whole run that is done, in [0, 1].
    """

    def __init__(self, stages: Mapping[str, float] = STAGES) -> None:
        """Begin.

        Args:
            stages: The stages in order, with the share of the time that each takes; the shares add up to 1.
        """
        self.stage = ""
        self.fraction = 0.0
        self._stages = stages
        self._before = 0.0
        self._began = time.monotonic()

    def update(self, stage: str, share: float) -> None:
        """Take a report: the stage, and the share of it that is done."""
        if stage != self.stage:
            self.stage = stage
            names = list(self._stages)
            done = names[: names.index(stage)] if stage in names else []
            self._before = max(self._before, sum(self._stages[name] for name in done))
        self.fraction = max(self.fraction, min(1.0, self._before + share * self._stages.get(stage, 0.0)))

    @property
    def seconds(self) -> float:
        """The seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def remaining(self) -> float | None:
        """The seconds that the rest will take, if it goes on like this; None as long as that is a guess."""
        if self.fraction < LEAST_FRACTION:
            return None
        return self.seconds * (1 - self.fraction) / self.fraction


def pooled(
    jobs: Iterable[Callable[[], Result]], n_jobs: int, threads: int, watch: Watch, stopped: Event
) -> Iterator[Result]:
    """Run jobs in a pool of threads, no more than there are threads ahead of the caller; yield what each returns.

    Args:
        jobs: The jobs, in the order in which their results are yielded.
        n_jobs: Their number.
        threads: The number of threads.
        watch: Hears of progress, and may cancel.
        stopped: Is set if the rest is not wanted any more; jobs that run should end then.
    """
    pending: deque[Future[Result]] = deque()
    n_done = 0

    def take() -> Result:
        nonlocal n_done
        future = pending.popleft()
        while not future.done():
            wait([future], POLL_SECONDS)
            watch.check()
        n_done += 1
        watch.progress(n_done / n_jobs)
        return future.result()

    with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        try:
            for job in jobs:
                pending.append(pool.submit(job))
                if len(pending) > threads:
                    yield take()
            while pending:
                yield take()
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
