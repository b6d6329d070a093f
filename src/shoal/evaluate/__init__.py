"""Is a release still worth having, and which one? Comparison of methods, and the choice of k."""
