"""The unit in which CPU time is told: a fixed loop of plain Python, so that figures of two machines can be compared."""

from __future__ import annotations

import math
import statistics
import time

__all__ = ["REPETITIONS", "ROUNDS", "Beside", "measure_unit", "spin"]

ROUNDS = 10_000_000
REPETITIONS = 5


def spin(rounds: int) -> int:
    """Do the fixed work; how long one round takes is up to the interpreter and the processor alone."""
    total = 0
    for number in range(rounds):
        total += number * number & 1023
    return total


def measure_unit() -> float:
    """Return the CPU seconds of ten million rounds, the median of five."""
    seconds = []
    for _ in range(REPETITIONS):
        began = time.process_time()
        spin(ROUNDS)
        seconds.append(time.process_time() - began)
    return statistics.median(seconds)


class Beside:
    """The unit as the machine gives it while something else is measured.

    A machine that others use too is not equally fast from one second to the next: short pieces of the unit, done
    between the repetitions of a case, meet the same hindrances as these.
    """

    PIECES = 10  # of a unit; as many at most are done at a time

    def __init__(self) -> None:
        self._seconds: list[float] = []
        self.measure()

    def measure(self, seconds: float = 0.0) -> None:
        """Do a piece, and one more for each second that a repetition took."""
        for _ in range(min(self.PIECES, 1 + math.floor(seconds))):
            began = time.process_time()
            spin(ROUNDS // self.PIECES)
            self._seconds.append(time.process_time() - began)

    @property
    def unit(self) -> float:
        """The CPU seconds of one unit: the mean of the pieces."""
        return self.PIECES * statistics.fmean(self._seconds)


if __name__ == "__main__":
    print(f"one unit is {measure_unit():.4f} CPU seconds")
