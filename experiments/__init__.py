"""Experiments of the papers, repeated: each a script and the page that it wrote."""
