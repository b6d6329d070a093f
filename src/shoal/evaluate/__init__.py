"""What a release is still good for, and whether one can be had: `feasibility`."""
