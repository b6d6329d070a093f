"""Bans and limits of cells in the search."""
