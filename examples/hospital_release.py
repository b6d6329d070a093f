"""Release a hospital's register to a university: roles, diverse diagnoses, the files, and the proof.

python examples/hospital_release.py [folder]            writes the release to the folder; without one, keeps no file

The table is the built-in one of 5,000 invented patients.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl

import shoal

# Relatives, neighbours and employers know when somebody was born, where they live and how long they went to school.
QI = ["birth_date", "sex", "zip", "nationality", "education"]
# Nobody should learn these about a patient, although the university needs them.
SENSITIVE = ["disease", "cost"]
# These name a patient, or reveal when to look into the waiting room.
DROP = ["name", "patient_id", "visit_date"]
K, L = 10, 4
FILES = {
    "patients-released.csv": "for the university",
    "patients-released.csv.dictionary.md": "describes its columns",
    "patients-released.csv.manifest.json": "the settings, and the hashes of the files",
    "report.html": "for the data steward to sign; may be published",
    "report.private.html": "only for the hospital",
}


def main(folder: Path) -> None:
    """Make the release, write it, and check it as the university can."""
    patients = shoal.datasets.patients()
    before = shoal.risk(patients, qi=QI)
    print(
        f"The register: {patients.height:,} patients; {before.uniques:,} have a unique combination of {', '.join(QI)}."
    )

    # Ten look-alikes do not help if all ten have the same disease: each group must have four different ones.
    diversity = shoal.LDiversity("disease", l=L)
    release = shoal.anonymize(patients, qi=QI, sensitive=SENSITIVE, drop=DROP, k=K, models=[diversity])
    measures = release.measures
    print(f"\nRequired: {' and '.join(release.request.models)}.")
    print(f"Reached: {measures.groups:,} groups, the smallest of {measures.smallest_group} rows.")
    print(f"Lost: {measures.ncp:.1%} of the detail, by column:")
    for name, loss in sorted(measures.per_attribute.items(), key=lambda item: -item[1]):
        print(f"  {name:<12} {loss:6.1%}")
    for note in release.notes:
        print(f"Note: {note}")

    print("\nOne group of the release, as the university sees it:")
    with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, fmt_str_lengths=40):
        print(release.frame.select("birth_date", "sex", "education", "disease").head(4))

    # The gate: the bytes are written, read back by independent code and recounted; only then do the files appear.
    path = folder / "patients-released.csv"
    release.write(path, force=True, report=folder / "report.html")
    print("\nWritten:")
    for file in sorted(folder.iterdir()):
        print(f"  {file.name:<40}{FILES.get(file.name, 'the same, for programs')}")

    verdict = shoal.verify(path, qi=QI, k=K, sensitive=SENSITIVE, models=[diversity], original=patients)
    after = shoal.risk(path, qi=QI)
    print(f"Verified: {verdict.rows:,} rows in {verdict.groups:,} groups, each at least {verdict.smallest_group} rows.")
    print(f"Largest chance of finding a patient: {before.prosecutor.max:.2f} before, {after.prosecutor.max:.2f} now.")

    # Someone adds a forgotten row by hand. The check detects it.
    tampered = pl.concat([release.frame, release.frame.head(1).with_columns(birth_date=pl.lit("1950-01-01"))])
    try:
        shoal.verify(tampered, qi=QI, k=K)
    except shoal.errors.VerificationError as error:
        print(f"\nWith one row added by hand, verify says no: {error}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary_folder:
            main(Path(temporary_folder))
