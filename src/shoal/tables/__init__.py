"""Tables of text: reading files, frames and databases, and writing releases."""
