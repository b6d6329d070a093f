"""Which rows paid: why the cells of a row are as wide as they are."""

from shoal.release.explanation.explanation import Explanation, explain_row

__all__ = ["Explanation", "explain_row"]
