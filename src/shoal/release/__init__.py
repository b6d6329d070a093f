"""From a table to a checked release: orchestration, the gate, and the files that are published together."""
