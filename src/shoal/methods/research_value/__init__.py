"""Research-value optimisation over generalisation strings."""
