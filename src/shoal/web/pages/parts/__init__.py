"""What all pages are made of: the frame, elements, explained words, languages, and settings as the pages show them."""
