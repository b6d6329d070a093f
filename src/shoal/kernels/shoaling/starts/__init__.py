"""Kernels that cut a table into blocks, or into the groups that a search starts from."""
