"""Release a table on Spark: a frame in, a verified frame out, written as Parquet.

python examples/spark_release.py [folder]               on a small cluster on this machine
spark-submit examples/spark_release.py folder           on yours; every executor must reach the folder

The table is the built-in one of 5,000 invented patients.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import shoal
import shoal.spark

QI = ["birth_date", "sex", "zip", "nationality", "education"]
SENSITIVE = ["disease", "cost"]
K = 10


def main(folder: Path) -> None:
    """Make the release on Spark and write it."""
    patients = shoal.datasets.patients()
    with shoal.spark.open_session("local-cluster[2,1,1024]", {"spark.executor.memory": "1g"}) as spark:
        frame = spark.createDataFrame(patients.to_arrow()).repartition(4)
        with shoal.spark.anonymize(
            frame, k=K, qi=QI, sensitive=SENSITIVE, others="drop", effort="fast", folder=folder
        ) as release:
            verdict = release.verdict
            print(
                f"Verified: {verdict.rows:,} rows in {verdict.groups} groups, each at least {verdict.smallest_group}."
            )
            print(f"Information loss: {release.measures.ncp:.3f}")
            release.frame.write.parquet(f"file://{folder / 'released'}")
        rows = spark.read.parquet(f"file://{folder / 'released'}").count()
    print(f"Written: {rows:,} rows in {folder / 'released'}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]).resolve())
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
