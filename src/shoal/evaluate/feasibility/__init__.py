"""Feasibility of k without recoding: simulation of random tables, and the probability of success."""
