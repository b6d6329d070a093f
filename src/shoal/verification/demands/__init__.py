"""What a release must meet: a demand, its manifest, and the signature of the manifest."""
