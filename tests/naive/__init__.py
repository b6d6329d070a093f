"""Plain-Python twins of kernels, measures and models: slow, short, and easy to compare with the definitions."""
