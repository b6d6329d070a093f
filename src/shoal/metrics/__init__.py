"""What a release lost: functions of the original and the released table, so any tool's file can be scored."""

from shoal.metrics.measure import Measures, measure_tables

__all__ = ["Measures", "measure_tables"]
