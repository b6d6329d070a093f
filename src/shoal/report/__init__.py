"""Reports: charts and pages over figures that are known already; nothing is computed here."""
