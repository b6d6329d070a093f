"""Plain-Python twins of the kernels, measures and recodings: slow, short, and readable against the definitions."""
