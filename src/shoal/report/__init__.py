"""Reports: figures and words worked out from a release, rendered as a self-contained HTML page and its JSON twin."""

from shoal.report.document import as_json, private_part, public_part
from shoal.report.figures import Evidence, Written, gather
from shoal.report.html import as_html

__all__ = ["Evidence", "Written", "as_html", "as_json", "gather", "private_part", "public_part"]
