"""Shoaling, the flagship: agglomeration, dissolution and annealing over distinct tuples."""
