"""Reports: figures and words worked out from a release, rendered as a self-contained HTML page and its JSON twin."""

from shoal.report.document import private_part, public_part
from shoal.report.figures import Evidence, Written, gather
from shoal.report.html import as_html
from shoal.report.json import as_json

__all__ = ["Evidence", "Written", "as_html", "as_json", "gather", "private_part", "public_part"]
