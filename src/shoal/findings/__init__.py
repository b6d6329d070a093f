"""What a report says: figures and words worked out from a release; `shoal.report` renders them."""

from shoal.findings.document import private_part, public_part
from shoal.findings.evidence import Evidence, Written, gather

__all__ = ["Evidence", "Written", "gather", "private_part", "public_part"]
