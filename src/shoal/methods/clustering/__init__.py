"""Published clustering methods with local recoding, one file each."""
