"""Whether every group of a release passes its privacy models."""
