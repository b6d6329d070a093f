"""Kernels that lower the sum of squares inside groups."""
