"""The verifier's own readers for bytes, CSV, workbooks and columnar files; they share no code with the writers."""
