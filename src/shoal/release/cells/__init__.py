"""What the cells of a release must look like: the ends of ranges, and limits."""
