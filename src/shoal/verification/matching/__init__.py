"""The assignment of released rows to original rows when nobody says which row is which."""
