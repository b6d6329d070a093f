"""How large should k be? Loss and risk over k on the patients table, and a choice by limits set beforehand.

python examples/choosing_k.py
"""

from __future__ import annotations

import shoal

QI = ["birth_date", "sex", "zip"]
KS = (2, 3, 5, 8, 10, 15, 20, 30)
MOST_LOSS = 0.04  # of the detail; more, and the researchers would rather not have it
MOST_RISK = 0.1  # the largest chance to find a patient that the hospital's lawyers accept


def main() -> None:
    """Sweep k, print what each costs and gives, and choose."""
    patients = shoal.datasets.patients().select(*QI, "disease")
    alone = shoal.risk(patients, qi=QI)
    print(f"{patients.height:,} patients; {alone.uniques:,} are alone with their {', '.join(QI)}.\n")
    print(f"{'k':>3}{'loss':>8}{'groups':>8}{'largest risk':>14}{'average risk':>14}")
    fitting = []
    for k in KS:
        release = shoal.anonymize(patients, qi=QI, sensitive=["disease"], k=k, effort="fast")
        risk = shoal.risk(release.frame, qi=QI).prosecutor
        loss = release.measures.ncp
        fits = loss <= MOST_LOSS and risk.max <= MOST_RISK
        fitting += [(k, loss, risk.max)] if fits else []
        print(f"{k:>3}{loss:8.1%}{release.measures.groups:>8,}{risk.max:14.3f}{risk.average:14.3f}{'  fits' * fits}")
    print(f"\nLimits: loss at most {MOST_LOSS:.0%}, risk at most {MOST_RISK}.")
    if not fitting:
        print("No k keeps both. Recode a column beforehand, such as the day of birth to its month, or leave one out.")
        return
    k, loss, risk_left = fitting[-1]
    print(
        f"Choose k = {k}: of those that keep both limits it hides people best; loss {loss:.1%}, risk {risk_left:.3f}."
    )


if __name__ == "__main__":
    main()
