"""Readers of the verifier's own: bytes, CSV, workbooks and columnar files, shared with nothing that writes them."""
