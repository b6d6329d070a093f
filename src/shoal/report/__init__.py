"""Reports: charts and pages over figures that are known already; nothing is computed here."""

from shoal.report.html import as_html
from shoal.report.json import as_json

__all__ = ["as_html", "as_json"]
