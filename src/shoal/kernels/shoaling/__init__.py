"""Kernels of the flagship method, one step each."""
