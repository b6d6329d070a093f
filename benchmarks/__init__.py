"""How fast shoal is, how much memory it takes and how much it loses: `python -m benchmarks`."""
