"""Published clustering methods with local recoding, one module each."""
