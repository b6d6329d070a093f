"""Sections of a table that stays where it is: planned, searched one by one, and what may leave them."""
