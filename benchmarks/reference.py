"""The unit of CPU time: a fixed loop of plain Python, so that figures of two machines can be compared."""

from __future__ import annotations

import math
import statistics
import time

__all__ = ["REPETITIONS", "ROUNDS", "Beside", "measure_unit", "spin"]

ROUNDS = 10_000_000
REPETITIONS = 5


def spin(rounds: int) -> int:
    """Do the fixed work; the time of a round depends only on the interpreter and the processor."""
    total = 0
    for number in range(rounds):
        total += number * number & 1023
    return total


def measure_unit() -> float:
    """Return the CPU seconds of ten million rounds, the median of five runs."""
    seconds = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        spin(ROUNDS)
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


class Beside:
    """The reference unit, measured beside a case.

    The speed of a shared machine varies from one second to the next. Short pieces of the unit, run between the
    repetitions of a case, are slowed in the same way as the case.
    """

    PIECES = 10  # per unit; also the most that run at a time

    def __init__(self) -> None:
        self._seconds: list[float] = []
        self.measure()

    def measure(self, seconds: float = 0.0) -> None:
        """Run one piece, plus one for each second that a repetition took."""
        for _ in range(min(self.PIECES, 1 + math.floor(seconds))):
            start = time.process_time()
            spin(ROUNDS // self.PIECES)
            self._seconds.append(time.process_time() - start)

    @property
    def unit(self) -> float:
        """The CPU seconds of one unit: the mean of the pieces."""
        return self.PIECES * statistics.fmean(self._seconds)


if __name__ == "__main__":
    print(f"one unit is {measure_unit():.4f} CPU seconds")
