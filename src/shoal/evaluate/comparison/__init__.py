"""Methods, k and seeds side by side, and advice on which k to choose."""
