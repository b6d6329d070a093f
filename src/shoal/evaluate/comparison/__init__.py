"""Comparisons of methods, k and seeds on one table, and advice on which k to choose."""
