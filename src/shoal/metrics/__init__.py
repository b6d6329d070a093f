"""Information loss: functions of an original and a release, so that the output of any tool can be measured."""

from shoal.metrics.extent import center_figures
from shoal.metrics.measure import Measures, measure_tables
from shoal.metrics.partition_loss import measure_partition

__all__ = ["Measures", "center_figures", "measure_partition", "measure_tables"]
