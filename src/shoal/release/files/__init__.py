"""The files of a release: their layout, the manifest, the data dictionary, and publishing them together."""
