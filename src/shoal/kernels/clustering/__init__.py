"""Kernels of the published clustering methods."""
