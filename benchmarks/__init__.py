"""Measure the speed, memory and information loss of shoal: `python -m benchmarks`."""
