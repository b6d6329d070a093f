"""Choose k: loss and risk over k on the patients table, and a recommendation with its reason.

python examples/choosing_k.py
"""

from __future__ import annotations

import shoal

QI = ["birth_date", "sex", "zip"]
KS = (2, 3, 5, 8, 10, 15, 20, 30)
# The limits that the people involved accept, agreed before anyone sees figures: the researchers lose at most 4 % of the
# detail, and the hospital's lawyers accept a chance of one in ten that a patient is found.
LIMITS = shoal.Limits(max_loss=0.04, max_risk=0.1)
METHOD = "shoaling:effort=fast"


def main() -> None:
    """Run every k, print its loss and risk, and the choice of each rule."""
    patients = shoal.datasets.patients().select(*QI, "disease")
    risk = shoal.risk(patients, qi=QI)
    print(f"{patients.height:,} patients; {risk.uniques:,} have a unique combination of {', '.join(QI)}.\n")

    advice = shoal.advise(patients, qi=QI, sensitive=["disease"], methods=[METHOD], k=KS, limits=LIMITS)
    assert advice.comparison is not None
    print(f"{'k':>3}{'loss':>8}{'groups':>8}{'largest risk':>14}{'average risk':>14}")
    for run in advice.comparison.frame.iter_rows(named=True):
        risks = f"{run['prosecutor_max']:14.3f}{run['prosecutor_average']:14.3f}"
        print(f"{run['k']:>3}{run['ncp']:8.1%}{run['groups']:>8,}{risks}")

    print("\nThe choice of each rule:")
    for opinion in advice.opinions:
        print(f"  {opinion.rule}: k = {opinion.outcome.k}. {opinion.reason}")
    if advice.chosen is None:
        print(f"\nNo recommendation: {advice.unmet}")
    else:
        print(f"\nRecommended: k = {advice.chosen.outcome.k}, by the rule of {advice.chosen.rule}.")


if __name__ == "__main__":
    main()
