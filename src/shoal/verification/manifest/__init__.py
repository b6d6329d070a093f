"""The manifest beside a release, and how it is read."""
