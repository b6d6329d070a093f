"""The unit in which CPU time is told: a fixed loop of plain Python, so that figures of two machines can be compared."""

from __future__ import annotations

import statistics
import time

__all__ = ["REPETITIONS", "ROUNDS", "measure_unit", "spin"]

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


if __name__ == "__main__":
    print(f"one unit is {measure_unit():.4f} CPU seconds")
