"""The experiments of the papers, repeated: one script each, with the page it writes."""
